// SPDX-License-Identifier: MIT
// admin.c: the commands that talk to a running server: a table of their requests, and answers as
// tables. Names are made printable: players choose them.
#include "ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/terminal.h"
#include "base/text.h"

static foliot__ctl_server server;
static struct {
    const char *reason, *player, *every;
    uint64_t seconds, times;
    double interval;
    bool no_record;
} given = {.interval = 1};

#define SERVER_OPTIONS                                                                             \
    {"server",                                                                                     \
     "URL",                                                                                        \
     FOLIOT__OPTION_TEXT,                                                                          \
     &server.url,                                                                                  \
     .help = "address of the server (default http://127.0.0.1:7780)",                              \
     .details = "URL may also be HOST:PORT, or PORT. `FOLIOT_SERVER` in the environment replaces " \
                "the default. It excludes --socket."},                                             \
        {"socket",                                                                                 \
         "PATH",                                                                                   \
         FOLIOT__OPTION_TEXT,                                                                      \
         &server.socket,                                                                           \
         .help = "Unix socket of the server's --admin-socket",                                     \
         .details =                                                                                \
             "The default is `FOLIOT_SOCKET` in the environment, unless --server is given."},      \
        {"token-file",                                                                             \
         "FILE",                                                                                   \
         FOLIOT__OPTION_TEXT,                                                                      \
         &server.token,                                                                            \
         .help = "file with the bearer token of the server's --admin-token",                       \
         .details = "The default is `FOLIOT_TOKEN_FILE` in the environment."},                     \
    {                                                                                              \
        "json", NULL, FOLIOT__OPTION_FLAG, &server.json,                                           \
            .help = "prints the server's answer unchanged"                                         \
    }
#define REASON_OPTION                                                                              \
    {                                                                                              \
        "reason", "TEXT", FOLIOT__OPTION_TEXT, &given.reason, .help = "reason that players see"    \
    }
#define SECONDS_OPTION                                                                             \
    {                                                                                              \
        "seconds", "N", FOLIOT__OPTION_COUNT, &given.seconds, 1, 3153600000.0,                     \
            .help = "duration of the ban (default: no end)"                                        \
    }
static const foliot__option plain[] = {SERVER_OPTIONS, {0}};
static const foliot__option reasoned[] = {REASON_OPTION, SERVER_OPTIONS, {0}};
static const foliot__option banning[] = {REASON_OPTION, SECONDS_OPTION, SERVER_OPTIONS, {0}};
static const foliot__option creating[] = {
    {"no-record", NULL, FOLIOT__OPTION_FLAG, &given.no_record, .help = "records nothing"},
    SERVER_OPTIONS,
    {0}};
static const foliot__option saying[] = {
    {"player", "N", FOLIOT__OPTION_TEXT, &given.player, .help = "sends to this player only"},
    SERVER_OPTIONS,
    {0}};
static const foliot__option watching[] = {
    {"interval", "SECONDS", FOLIOT__OPTION_REAL, &given.interval, 0.1, 3600,
     .help = "seconds between two requests"},
    {"times", "N", FOLIOT__OPTION_COUNT, &given.times, 1, 0, .help = "ends after N requests"},
    SERVER_OPTIONS,
    {0}};

const foliot__command foliot__ctl_admin_commands[] = {
    {"status", "[options]", "shows the server as a whole", "  foliotctl status\n", plain, 0, 0,
     NULL},
    {"top", "[options]", "shows the server and its sessions again and again",
     "  foliotctl top --socket /run/foliot/admin\n", watching, 0, 0, NULL},
    {"sessions", "[options]", "lists sessions", "  foliotctl sessions --server game.example:7780\n",
     plain, 0, 0, NULL},
    {"create", "NAME SCENE [options]", "hosts a scene from the server's folder",
     "  foliotctl create arena spacewar.yaml\n", creating, 2, 2,
     "The folder is that of the server's --scenes. The session is recorded."},
    {"pause", "SESSION", "pauses a session; players stay connected", "  foliotctl pause arena\n",
     plain, 1, 1, "None of its ticks is due."},
    {"resume", "SESSION", "continues a paused session", "  foliotctl resume arena\n", plain, 1, 1,
     "The ticks of the pause are not made up for."},
    {"end", "SESSION [options]", "ends a session", "  foliotctl end arena --reason 'time is up'\n",
     reasoned, 1, 1, "Its players see the reason, and its recording is complete."},
    {"drain", "[SESSION]", "admits no new players; without SESSION also ends the server",
     "  foliotctl drain\n", plain, 0, 1,
     "Without SESSION it applies to all: no new session is hosted, and the server ends with its "
     "last one."},
    {"undrain", "[options]", "admits new players again", "  foliotctl undrain\n", plain, 0, 0,
     NULL},
    {"players", "SESSION", "lists players", "  foliotctl players arena\n", plain, 1, 1,
     "It shows the number, name and address of each, and whether it watches or steps."},
    {"kick", "SESSION PLAYER [options]", "removes a player, by number or name",
     "  foliotctl kick arena ann --reason 'be nice'\n", reasoned, 2, 2,
     "A number is written 3 or #3; no name is a number."},
    {"ban", "SESSION PLAYER [options]", "removes a player and bans its address",
     "  foliotctl ban arena 3 --seconds 86400\n", banning, 2, 2,
     "The name is banned instead if the player's connection is gone."},
    {"bans", "[options]", "lists bans", "  foliotctl bans\n", plain, 0, 0, NULL},
    {"refuse", "address|name|client WHO [options]",
     "bans an address or network, a name, or the client of a token",
     "  foliotctl refuse address 203.0.113.9 --reason 'floods'\n"
     "  foliotctl refuse address 2001:db8::/32\n"
     "  foliotctl refuse client 1042\n",
     banning, 2, 2,
     "A client is given by its number in its token. Players who are already in stay until they "
     "leave or are kicked."},
    {"unban", "WHO", "lifts the bans of an address or network, a name or a client",
     "  foliotctl unban 203.0.113.9\n", plain, 1, 1, NULL},
    {"say", "SESSION TEXT [options]", "sends a message to all players, or to one",
     "  foliotctl say arena 'five minutes'\n", saying, 2, 2, NULL},
    {"command", "SESSION JSON", "gives a command to the next tick",
     "  foliotctl command arena '{\"command\": \"gravity\", \"acceleration\": [0, 0, -1]}'\n",
     plain, 2, 2, NULL},
    {"vars", "SESSION", "shows session variables", "  foliotctl vars arena\n", plain, 1, 1, NULL},
    {"record", "SESSION [FILE]", "begins a recording at the present tick",
     "  foliotctl record arena\n", plain, 1, 2, NULL},
    {"unrecord", "SESSION", "ends the recording, which is then complete",
     "  foliotctl unrecord arena\n", plain, 1, 1, NULL},
    {0}};

// The request of a command: # stands for its first operand, + for its second.
static const struct {
    const char *name, *method, *parts[6];
} requests[] = {
    {"status", "GET", {"server"}},
    {"sessions", "GET", {"sessions"}},
    {"create", "POST", {"sessions"}},
    {"pause", "POST", {"sessions", "#", "pause"}},
    {"resume", "POST", {"sessions", "#", "resume"}},
    {"end", "POST", {"sessions", "#", "end"}},
    {"drain", "POST", {"sessions", "#", "drain"}},
    {"undrain", "DELETE", {"drain"}},
    {"players", "GET", {"sessions", "#", "players"}},
    {"kick", "POST", {"sessions", "#", "players", "+", "kick"}},
    {"ban", "POST", {"sessions", "#", "players", "+", "ban"}},
    {"bans", "GET", {"bans"}},
    {"refuse", "POST", {"bans"}},
    {"unban", "DELETE", {"bans", "#"}},
    {"say", "POST", {"sessions", "#", "messages"}},
    {"command", "POST", {"sessions", "#", "commands"}},
    {"vars", "GET", {"sessions", "#", "vars"}},
    {"record", "POST", {"sessions", "#", "recording"}},
    {"unrecord", "DELETE", {"sessions", "#", "recording"}},
};

// -- answers for people

#define COLUMNS_MAX 16
#define CELL_BYTES 96

typedef struct table {
    char heads[COLUMNS_MAX][32];
    int widths[COLUMNS_MAX];
    uint32_t columns;
} table;

// Any value other than an object or array, as text.
static bool read_cell(foliot__json_reader *r, char cell[CELL_BYTES])
{
    char number[FOLIOT__JSON_NUMBER_BYTES], text[1024];
    double value;
    switch (foliot__json_peek(r)) {
    case '"':
        if (!foliot__json_text_value(r, text, sizeof text))
            return false;
        foliot__text_mend(text);
        return snprintf(cell, CELL_BYTES, "%.*s", CELL_BYTES - 1, text) >= 0;
    case 't':
        return snprintf(cell, CELL_BYTES, "yes") && foliot__json_word(r, "true");
    case 'f':
        return snprintf(cell, CELL_BYTES, "no") && foliot__json_word(r, "false");
    case 'n':
        return snprintf(cell, CELL_BYTES, "-") && foliot__json_word(r, "null");
    default:
        if (!foliot__json_number(r, number))
            return false;
        if (strpbrk(number, ".eE") && foliot__parse_real(number, &value))
            snprintf(number, sizeof number, "%.6g", value);
        return snprintf(cell, CELL_BYTES, "%.*s", CELL_BYTES - 1, number) >= 0;
    }
}

// A length of time in its two largest units.
static void print_duration(uint64_t seconds, char *text, size_t bytes)
{
    unsigned long long minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (days)
        snprintf(text, bytes, "%llu d %llu h", days, hours % 24);
    else if (hours)
        snprintf(text, bytes, "%llu h %llu min", hours, minutes % 60);
    else
        snprintf(text, bytes, "%llu min %llu s", minutes, (unsigned long long)seconds % 60);
}

// The end of a ban as a date in UTC, and the time that is left.
static void print_until(char cell[CELL_BYTES])
{
    char left[48];
    struct tm date;
    time_t until = (time_t)strtoll(cell, NULL, 10), now = time(NULL);
    if (until == 0 || !gmtime_r(&until, &date)) {
        snprintf(cell, CELL_BYTES, "for good");
        return;
    }
    print_duration(until > now ? (uint64_t)(until - now) : 0, left, sizeof left);
    size_t length = strftime(cell, CELL_BYTES, "%Y-%m-%d %H:%M:%S UTC", &date);
    snprintf(cell + length, CELL_BYTES - length, ", in %s", left);
}

// A cell; times are written for people.
static bool read_named_cell(foliot__json_reader *r, const char *key, char cell[CELL_BYTES])
{
    if (!read_cell(r, cell))
        return false;
    if (strcmp(key, "until") == 0)
        print_until(cell);
    else if (strcmp(key, "uptime_seconds") == 0)
        print_duration(strtoull(cell, NULL, 10), cell, CELL_BYTES);
    return true;
}

// All rows are read twice: for their widths, and to be printed.
static void walk_rows(foliot__json_reader *r, table *t, FILE *out)
{
    char key[32], cell[CELL_BYTES];
    foliot__json_enter(r, '[');
    while (foliot__json_more(r)) {
        uint32_t column = 0;
        foliot__json_enter(r, '{');
        while (foliot__json_more(r) && foliot__json_key(r, key, sizeof key)) {
            if (!read_named_cell(r, key, cell))
                return;
            if (column == COLUMNS_MAX)
                continue;
            if (column == t->columns) {
                memcpy(t->heads[t->columns], key, sizeof key);
                t->widths[t->columns++] = (int)strlen(key);
            }
            int width = (int)strlen(cell);
            if (out)
                fprintf(out, "%-*s  ", t->widths[column], cell);
            else if (width > t->widths[column])
                t->widths[column] = width;
            column++;
        }
        if (out)
            fputc('\n', out);
    }
}

static void print_lines(foliot__json_reader *r, FILE *out)
{
    char key[FOLIOT__JSON_NUMBER_BYTES], cell[CELL_BYTES];
    foliot__json_enter(r, '{');
    while (foliot__json_more(r) && foliot__json_key(r, key, sizeof key)) {
        char next = foliot__json_peek(r);
        if (next == '[') {
            table t = {.columns = 0};
            foliot__json_reader again = *r;
            walk_rows(r, &t, NULL);
            for (uint32_t i = 0; i < t.columns; i++)
                fprintf(out, "%-*s  ", t.widths[i], t.heads[i]);
            fputs(t.columns ? "\n" : "none\n", out);
            walk_rows(&again, &t, out);
        } else if (next == '{') {
            print_lines(r, out); // variables
        } else if (read_named_cell(r, key, cell) && strcmp(key, "ok") != 0) {
            fprintf(out, "%-16s %s\n", foliot__text_mend(key), cell);
        }
    }
}

// -- the commands

static bool is(const foliot__arguments *a, const char *name)
{
    return strcmp(a->command->name, name) == 0;
}

// The body of a POST; to be freed.
static char *write_body(const foliot__arguments *a)
{
    char *text = NULL;
    size_t length;
    uint64_t player;
    if (is(a, "command"))
        return strdup(a->operands[1]);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    foliot__json j = foliot__json_to(out);
    foliot__json_object(&j, NULL);
    if (is(a, "create")) {
        foliot__json_text(&j, "name", a->operands[0]);
        foliot__json_text(&j, "scene", a->operands[1]);
        if (given.no_record)
            foliot__json_bool(&j, "record", false);
    } else if (is(a, "say")) {
        foliot__json_text(&j, "text", a->operands[1]);
        if (given.player && foliot__parse_count(given.player, &player))
            foliot__json_count(&j, "player", player);
    } else if (is(a, "refuse")) {
        foliot__json_text(&j, a->operands[0], a->operands[1]);
    } else if (is(a, "record") && a->operand_count > 1) {
        foliot__json_text(&j, "file", a->operands[1]);
    }
    if (given.reason)
        foliot__json_text(&j, "reason", given.reason);
    if (given.seconds)
        foliot__json_count(&j, "seconds", given.seconds);
    foliot__json_close(&j);
    fclose(out);
    return text;
}

static int ask(const char *method, const char *const *parts, const char *body)
{
    char *answer = NULL;
    int code = foliot__ctl_request(&server, method, parts, body, &answer);
    const char *text = answer ? answer : "";
    foliot__json_reader r = foliot__json_reader_of(text, strlen(text));
    if (code == 0 && server.json)
        fputs(text, stdout);
    else if (code == 0)
        print_lines(&r, stdout);
    free(answer);
    return code;
}

int foliot__ctl_admin(const foliot__arguments *a)
{
    static const char *const all[] = {"drain", NULL};
    const char *parts[7] = {0};
    uint64_t number;
    size_t r = 0;
    if (is(a, "top")) {
        static const char *const whole[] = {"server", NULL}, *const sessions[] = {"sessions", NULL};
        bool clears = foliot__is_terminal(stdout) && !server.json;
        for (uint64_t i = 0; given.times == 0 || i < given.times; i++) {
            if (i)
                usleep((useconds_t)(given.interval * 1e6));
            if (clears)
                fputs("\033[H\033[2J", stdout);
            int code = ask("GET", whole, NULL);
            if (code == 0 && !server.json)
                putchar('\n');
            code = code ? code : ask("GET", sessions, NULL);
            fflush(stdout);
            if (code || ferror(stdout))
                return code;
        }
        return 0;
    }
    if (given.player && !foliot__parse_count(given.player, &number)) {
        fprintf(stderr, "foliotctl say: --player expects a number; foliotctl players lists them\n");
        return FOLIOT__EXIT_USAGE;
    }
    if (is(a, "refuse") && strcmp(a->operands[0], "address") != 0 &&
        strcmp(a->operands[0], "name") != 0 && strcmp(a->operands[0], "client") != 0) {
        fprintf(stderr, "foliotctl refuse: expected 'address', 'name' or 'client', not '%s'\n",
                a->operands[0]);
        return FOLIOT__EXIT_USAGE;
    }
    while (strcmp(requests[r].name, a->command->name) != 0)
        r++;
    for (size_t i = 0; i < 6 && requests[r].parts[i]; i++)
        parts[i] = strcmp(requests[r].parts[i], "#") == 0   ? a->operands[0]
                   : strcmp(requests[r].parts[i], "+") == 0 ? a->operands[1]
                                                            : requests[r].parts[i];
    char *body = strcmp(requests[r].method, "POST") == 0 ? write_body(a) : NULL;
    int code = ask(requests[r].method, is(a, "drain") && a->operand_count == 0 ? all : parts, body);
    free(body);
    return code;
}
