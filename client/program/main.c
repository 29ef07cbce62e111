// SPDX-License-Identifier: MIT
// main.c: foliot-client: the command line, and the life of the process. Plays for a person at a
// terminal, as a bot, or as many bots.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/options.h"
#include "base/terminal.h"
#include "base/watchdog.h"
#include "divergence/perturb.h"
#include "net/transport.h"
#include "sim/selftest/fingerprint.h"
#include "view/view.h"

#define GRACE_SECONDS 0.6    // that steps may continue for when a signal has come
#define STEPS_SECONDS 10.0   // of processor time for one update, by default
#define CONNECT_SECONDS 10.0 // until a server that does not answer is given up, by default
#define CONNECT_SECONDS_MIN 0.1
#define CONNECT_SECONDS_MAX 3600
#define INPUT_DELAY_MAX 255

static foliot__client_options given = {.session = "",
                                       .clients = 1,
                                       .steps_seconds = STEPS_SECONDS,
                                       .connect_seconds = CONNECT_SECONDS};

static const foliot__option options[] = {
    {"session", "NAME", FOLIOT__OPTION_TEXT, &given.session, .high = FOLIOT_NAME_BYTES - 1,
     .help = "session to join (default: the server's first)"},
    {"name", "NAME", FOLIOT__OPTION_TEXT, &given.name, .high = FOLIOT_NAME_BYTES - 1,
     .help = "name of the player, as others see it"},
    {"bot", "idle|random|circle|play|FILE", FOLIOT__OPTION_TEXT, &given.bot,
     .help = "plays without a person; play knows the games of games/, FILE has inputs",
     .details = "`idle` does nothing, `random` holds each key for a while, `circle` pushes in a "
                "circle, and "
                "`play` plays a game of `games/`. Any other value is a file of inputs in the "
                "format of `foliot-lab`; the "
                "controls of its player 0 are used."},
    {"clients", "N", FOLIOT__OPTION_COUNT, &given.clients, 1, 4000,
     .help = "runs N clients in this process", .details = "They are bots."},
    {"seconds", "S", FOLIOT__OPTION_POSITIVE, &given.seconds,
     .help = "leaves after S seconds of play"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &given.ticks, 1, 0,
     .help = "leaves after N ticks of play"},
    {"connect-timeout", "S", FOLIOT__OPTION_REAL, &given.connect_seconds, CONNECT_SECONDS_MIN,
     CONNECT_SECONDS_MAX, .help = "gives up after S seconds without progress towards play",
     .details =
         "The exit status is 75. The limit applies to a server that does not answer, and to one "
         "that lets the client in "
         "and then sends nothing that brings the beginning of play nearer. The client prints the "
         "address on standard error at once, and after 3 seconds that there is no answer yet."},
    {"mtu", "BYTES", FOLIOT__OPTION_COUNT, &given.mtu, FOLIOT_MTU_MIN, FOLIOT_MTU_MAX,
     .help = "largest network packet, IP and UDP headers included (default 1280)",
     .details = "Probes find the size that the path to the server supports."},
    FOLIOT__IMPAIR_OPTION(&given.impair),
    {"token", "FILE", FOLIOT__OPTION_TEXT, &given.token,
     .help = "presents the connect token in FILE; - reads it from stdin",
     .details = "A server with a key asks for one. Without a HOST the client connects to the "
                "server that the token "
                "names. It excludes --password and --insecure."},
    {"password", "FILE", FOLIOT__OPTION_TEXT, &given.password,
     .help = "presents the server's password, the one line of FILE; - reads stdin",
     .details = "It excludes --token and --insecure."},
    {"insecure", NULL, FOLIOT__OPTION_FLAG, &given.insecure,
     .help = "sends clear text to a server that is not on the loopback",
     .details = "Without this option such a connection is encrypted, but the server is not "
                "authenticated. It excludes --token and "
                "--password."},
    {"spectate", NULL, FOLIOT__OPTION_FLAG, &given.spectate, .help = "watches without playing",
     .details = "The client has no player and no body, and sends no inputs."},
    {"interest", NULL, FOLIOT__OPTION_FLAG, &given.interest,
     .help = "draws the range that the server sends to this client",
     .details = "It applies where the session has an interest. Spectators always see the range."},
    {"kind", "watch|step", FOLIOT__OPTION_TEXT, &given.kind,
     .help = "receives snapshots (watch), or computes the world (step); default: what the "
             "session and this machine allow",
     .details = "Without this option a person who plays watches first, then steps and predicts as "
                "soon as the session allows "
                "it and a step costs less than a quarter of a tick. Where a step costs more, the "
                "client prints that and "
                "watches; it tries again after 10 s, 20 s and so on. `watch` turns this off. Bots, "
                "spectators and clients with --no-predict "
                "follow the mode of the session.\n\nA client that cannot step, because its build "
                "computes differently, "
                "watches. A client that could not keep up watches for 10 seconds, and for longer "
                "each time that it tries again."},
    {"force", NULL, FOLIOT__OPTION_FLAG, &given.force,
     .help = "steps although this build's fingerprint differs from the server's",
     .details = "The server detects and reports where the client diverges. The client writes its "
                "states before "
                "and after that step to `SESSION-divergence-TICK-PLAYER-client.foliot`. If it "
                "makes different bodies "
                "from the same scene, it cannot step at all, and watches."},
    {"predict", NULL, FOLIOT__OPTION_FLAG, &given.predict,
     .help = "stepping: predicts even where a step takes over a quarter of a tick",
     .details = "In a predicted world the player's own controls act at once, and wrong guesses "
                "about others are corrected. "
                "Without --predict and --no-predict a player who steps predicts unless a step "
                "takes more than a quarter of a "
                "tick."},
    {"no-predict", NULL, FOLIOT__OPTION_FLAG, &given.no_predict,
     .help = "stepping: shows only closed ticks, a round trip later"},
    {"input-delay", "N", FOLIOT__OPTION_COUNT, &given.input_delay, 0, INPUT_DELAY_MAX,
     .help = "stepping: shows own controls N ticks later, guesses less (default 0)"},
    {"divergence-ends", NULL, FOLIOT__OPTION_FLAG, &given.divergence_ends,
     .help = "lockstep: leaves when a divergence is found (exit status 3)",
     .details = "Without this option a divergence is reported, and play continues."},
    {"step-limit", "S", FOLIOT__OPTION_POSITIVE, &given.steps_seconds,
     .help = "lockstep: gives up when one update steps for over S processor seconds",
     .details = "The exit status is 1: the scene of a server may be too much for this machine. "
                "SIGINT and SIGTERM end the client "
                "within a second of processor time in the middle of a step, with status 1 and "
                "without a report."},
    {"perturb", "TICK[/STAGE]:BODY:FIELD:ULPS", FOLIOT__OPTION_TEXT, &given.perturb,
     .help = "lockstep: puts a fault into this client's world, to test that it is found",
     .details = FOLIOT__PERTURB_DETAILS},
    {"trace", "FILE", FOLIOT__OPTION_TEXT, &given.trace,
     .help = "writes one JSON line for every rendered sample",
     .details = "A line has the render time, and the position and orientation of every body. With "
                "--clients it is "
                "written for the first client."},
    {"simulation", "FILE", FOLIOT__OPTION_TEXT, &given.simulation,
     .help = "lockstep: module (.so) of the simulation that the server hosts",
     .details = "The module runs with all rights of this program. It must compute what the "
                "server's module computes."},
    {"view", "top|front|side|corner", FOLIOT__OPTION_TEXT, &given.view,
     .help = "side to look from at first (default: what fits the scene)",
     .details = "By default a flat scene is seen at a right angle to its plane, any other from a "
                "corner. Near "
                "bodies hide those behind them, static bodies hide nothing, and joints are lines."},
    {"json", NULL, FOLIOT__OPTION_FLAG, &given.json,
     .help = "prints statistics as JSON, one line per client, and nothing else on stdout"},
    {0}};
static const foliot__command commands[] = {
    {"", "[HOST[:PORT]] [options]", "joins a session",
     "  foliot-client 127.0.0.1\n"
     "  foliot-client game.example:7777 --name ada\n"
     "  foliot-client 127.0.0.1 --bot random --seconds 10 --impair loss=5%,jitter=0-100ms\n",
     options, 0, 1,
     "The client connects to the first address of a HOST that answers, IPv6 or IPv4. A HOST in "
     "brackets is joined only by IPv6. Without a HOST the token of --token names the server."},
    {0}};

static const foliot__program program = {
    "foliot-client", "joins sessions: live in the terminal, or as bots",
    "  foliot-client 127.0.0.1                   arrows push, Esc leaves\n"
    "  foliot-client 127.0.0.1 --bot random --seconds 10\n",
    commands, foliot__fingerprint_print};

// HOST[:PORT], [IPv6][:PORT], or an IPv6 address alone, which contains colons.
static bool read_address(foliot__app *a, const char *text)
{
    char bracketed[sizeof a->host];
    if (text[0] != '[' && strchr(text, ':') != strrchr(text, ':')) {
        snprintf(bracketed, sizeof bracketed, "[%.*s]", (int)sizeof bracketed - 3, text);
        return read_address(a, bracketed);
    }
    const char *close = text[0] == '[' ? strchr(text, ']') : NULL, *colon = strrchr(text, ':');
    if (text[0] == '[' && (!close || (close[1] && close[1] != ':') || close == text + 1))
        return false;
    if (close)
        colon = close[1] ? close + 1 : NULL;
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : FOLIOT_PORT_DEFAULT;
    if (length == 0 || length >= sizeof a->host || (colon && (end == colon + 1 || *end)) ||
        port < 1 || port > 65535)
        return false;
    memcpy(a->host, text, length);
    a->port = (uint16_t)port;
    snprintf(a->address, sizeof a->address, "%s:%ld", a->host, port);
    return true;
}

// libuv aborts the process without descriptors for its signals; it returns other errors.
#define LOOP_DESCRIPTORS 6

static int prepare(foliot__app *a, const foliot__arguments *arguments,
                   foliot_impairment *impairment)
{
    char message[512];
    const char *address = arguments->operand_count ? arguments->operands[0] : NULL;
    if (!address && !given.token)
        return foliot__options_wrong(&program, arguments, "HOST[:PORT] is missing");
    if (!!given.token + !!given.password + given.insecure > 1)
        return foliot__options_wrong(&program, arguments,
                                     "--token, --password and --insecure exclude each other");
    if (given.token && given.clients > 1)
        return foliot__options_wrong(&program, arguments, "--clients: a token admits one client");
    if (address && !read_address(a, address))
        return foliot__options_wrong(&program, arguments, "'%s' is not HOST[:PORT] or [IPv6]:PORT",
                                     address);
    if (given.seconds > 0 && given.ticks > 0)
        return foliot__options_wrong(&program, arguments,
                                     "--seconds and --ticks exclude each other");
    if (given.no_predict && (given.predict || given.input_delay > 0))
        return foliot__options_wrong(&program, arguments,
                                     "--no-predict excludes --predict and --input-delay");
    if (given.interest && (given.bot || given.json || given.clients > 1 || given.simulation))
        return foliot__options_wrong(
            &program, arguments,
            "--interest draws on the screen: it excludes --bot, --json, --clients "
            "and --simulation");
    *impairment = (foliot_impairment){.seed = 1};
    foliot_error error;
    if (given.impair && foliot_impairment_parse(given.impair, impairment, &error))
        return foliot__options_wrong(&program, arguments, "--impair: %s", error.text);
    if (given.bot && foliot__bot_kind_of(given.bot) == FOLIOT__BOT_FILE &&
        foliot__input_script_read(given.bot, &a->script, message, sizeof message) !=
            FOLIOT_STATUS_OK) {
        fprintf(stderr,
                "foliot-client: --bot %s: a bot is idle, random, circle, play, or a file of "
                "inputs: %s\n",
                given.bot, message);
        return FOLIOT__EXIT_ERROR;
    }
    const char *wrong =
        given.simulation ? NULL : foliot__fault_plant(&(foliot__fault){0}, given.perturb);
    if (wrong)
        return foliot__options_wrong(&program, arguments, "--perturb %s %s", given.perturb, wrong);
    if (given.trace && !(a->trace = fopen(given.trace, "w"))) {
        fprintf(stderr, "foliot-client: %s: %s\n", given.trace, strerror(errno));
        return FOLIOT__EXIT_ERROR;
    }
    return 0;
}

// The module of a simulation other than foliot's world. 0 or an exit code.
static int load_simulation(foliot__app *a, const foliot__arguments *arguments)
{
    char problem[512];
    if (!given.simulation)
        return 0;
    bool games = given.bot && foliot__bot_kind_of(given.bot) == FOLIOT__BOT_PLAY;
    if (given.view || games)
        return foliot__options_wrong(&program, arguments,
                                     "%s is for worlds, and --simulation names another simulation",
                                     given.view ? "--view" : "--bot play");
    a->module = foliot__module_load(given.simulation, problem, sizeof problem);
    if (a->module && given.perturb) {
        const char *wrong;
        a->faulty = foliot__module_perturb(a->module, given.perturb, &wrong);
        if (!a->faulty)
            return foliot__options_wrong(&program, arguments, "--perturb %s %s", given.perturb,
                                         wrong);
    }
    if (a->module)
        return 0;
    fprintf(stderr, "foliot-client: %s: %s\n", given.simulation, problem);
    return FOLIOT__EXIT_SCENE;
}

// All players, and the loop that runs them. 0 or an exit code.
static int open_app(foliot__app *a, const foliot_impairment *impairment)
{
    if (!foliot__descriptors_left(LOOP_DESCRIPTORS))
        return foliot__no_loop(UV_EMFILE);
    int wrong = uv_loop_init(&a->loop);
    if (wrong)
        return foliot__no_loop(wrong);
    a->count = (uint32_t)given.clients;
    a->players = calloc(a->count, sizeof *a->players);
    if (!a->players)
        return foliot__no_loop(UV_ENOMEM);
    a->fingerprint = a->module     ? foliot_simulation_kind_get_fingerprint(&a->module->kind)
                     : given.force ? foliot_get_fingerprint()
                                   : foliot__fingerprint_base();
    // Before the lookup of the host's name, which may take long.
    fprintf(stderr, "foliot-client: connecting to %s ...\n", a->address);
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < a->count; i++)
        code = foliot__player_open(a, i, impairment);
    foliot__security_forget();
    return code ? code : foliot__app_start(a);
}

int main(int argc, char **argv)
{
    static foliot__app a = {.options = &given};
    foliot__arguments arguments;
    foliot_impairment impairment;
    if (!foliot__standard_open())
        return FOLIOT__EXIT_ERROR;
    int code = foliot__options_start(&program, argc, argv, &arguments);
    if (code >= 0)
        return code;
    code = prepare(&a, &arguments, &impairment);
    if (code == 0)
        code = foliot__security_read(&a);
    if (code == 0)
        code = load_simulation(&a, &arguments);
    if (code == 0)
        code = open_app(&a, &impairment);
    if (code)
        return code;
    const foliot__watchdog_config watchdog = {.program = "foliot-client",
                                              .work = "stepping the server's scene",
                                              .lost = "nothing was reported",
                                              .grace_seconds = GRACE_SECONDS,
                                              .limit_seconds = given.steps_seconds,
                                              .abandon = foliot__screen_abandon};
    foliot__watchdog_start(&watchdog);
    if (!given.bot && a.count == 1 && !given.json)
        a.screen = foliot__screen_open(given.view, a.module);
    if (a.screen && given.interest)
        foliot__screen_show_interest(a.screen);
    uv_run(&a.loop, UV_RUN_DEFAULT);
    foliot__screen_close(a.screen);
    code = foliot__app_exit_code(&a);
    foliot__report(&a);
    if (a.faulty && foliot__module_perturb_problem())
        fprintf(stderr, "foliot-client: --perturb %s: %s\n", given.perturb,
                foliot__module_perturb_problem());
    int traced = foliot__trace_close(&a);
    for (uint32_t i = 0; i < a.count; i++) {
        foliot_client_destroy(a.players[i].client);
        foliot_transport_destroy(a.players[i].transport);
    }
    foliot__input_script_free(&a.script);
    uv_loop_close(&a.loop);
    free(a.players);
    return foliot__stdout_done("foliot-client", code ? code : traced);
}
