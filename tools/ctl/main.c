// SPDX-License-Identifier: MIT
// main.c: foliotctl: the command line for operators of servers.
#include <signal.h>
#include <string.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/terminal.h"
#include "ctl.h"
#include "foliot/foliot.h"
#include "sim/selftest/fingerprint.h"

#define COMMANDS_MAX 64

static const foliot__option no_options[] = {{0}};

static const foliot__command token_commands[] = {
    {"key", "FILE", "makes a key for connect tokens, in a new file",
     "  foliotctl key arena.key\n"
     "  foliot-server scenes/spacewar.yaml --bind 0.0.0.0 --key arena.key\n",
     no_options, 1, 1,
     "No other user may read FILE. A server that is started with it (--key) admits only clients "
     "with a token."},
    {"token", "--key FILE [options]", "prints a connect token, which admits one client",
     "  foliotctl token --key arena.key --server 203.0.113.5:7777 > ada.token\n"
     "  foliot-client --token ada.token\n"
     "  foliotctl token --key arena.key --role spectator --session main --seconds 3600\n",
     foliot__ctl_token_options, 0, 0,
     "A token is one line of text, and a secret of one client. The client may come back with it "
     "after a lost connection. No running server is needed."},
    {"show", "FILE [--key FILE]", "shows what a token is good for",
     "  foliotctl show ada.token\n"
     "  foliotctl show ada.token --key arena.key\n",
     foliot__ctl_show_options, 1, 1, NULL},
    {0}};

static foliot__command commands[COMMANDS_MAX]; // of both tables, and zeros

static const foliot__program program = {
    "foliotctl", "runs servers: sessions, players, recordings, and who may join",
    "  foliot-server --admin-socket ./admin --scenes scenes      then, elsewhere:\n"
    "  foliotctl create arena spacewar.yaml --socket ./admin\n"
    "  foliotctl players arena --socket ./admin\n"
    "  foliotctl key arena.key\n"
    "  foliotctl token --key arena.key --server 203.0.113.5:7777 > ada.token\n",
    commands, foliot__fingerprint_print};

static void gather(const foliot__command *from)
{
    size_t count = 0;
    while (commands[count].name)
        count++;
    for (; from->name; from++) {
        FOLIOT_ASSERT(count + 1 < COMMANDS_MAX);
        commands[count++] = *from;
    }
}

int main(int argc, char **argv)
{
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    gather(foliot__ctl_admin_commands);
    gather(token_commands);
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    const char *name = arguments.command->name;
    code = strcmp(name, "key") == 0     ? foliot__ctl_key(&arguments)
           : strcmp(name, "token") == 0 ? foliot__ctl_token(&program, &arguments)
           : strcmp(name, "show") == 0  ? foliot__ctl_show(&arguments)
                                        : foliot__ctl_admin(&arguments);
    return foliot__stdout_done("foliotctl", code);
}
