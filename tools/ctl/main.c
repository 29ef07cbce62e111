// SPDX-License-Identifier: MIT
// main.c: foliotctl: the command line of who runs servers.
#include <signal.h>
#include <string.h>

#include "admin.h"
#include "base/file.h"
#include "base/terminal.h"
#include "foliot/foliot.h"

static void fingerprint_text(char text[33])
{
    foliot_digest_print(foliot_get_fingerprint(), text);
}

static const foliot__program program = {
    "foliotctl", "runs servers: sessions, players, recordings",
    "  foliot-server --admin-socket ./admin --scenes scenes      then, elsewhere:\n"
    "  foliotctl create arena spacewar.yaml --socket ./admin\n"
    "  foliotctl players arena --socket ./admin\n",
    foliot__ctl_admin_commands, fingerprint_text};

int main(int argc, char **argv)
{
    foliot__arguments arguments;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    return foliot__stdout_done("foliotctl", foliot__ctl_admin(&arguments));
}
