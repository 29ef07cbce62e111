// SPDX-License-Identifier: MIT
// arguments.c: see arguments.h.
#include "arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "foliot/transport.h"
#include "net/transport.h"
#include "program/session/host.h"
#include "program/step_workers.h"
#include "sim/selftest/fingerprint.h"

#define SPECTATOR_DELAY_MAX 3600
#define INTEREST_NEAR 5.0
#define INTEREST_KBIT 256
#define INTEREST_MOST 1e9

// The targets of the table below. foliot__arguments_read gives its caller a copy.
static foliot__server_choices parsed = {
    .network = {.port = FOLIOT_PORT_DEFAULT, .spectators = 64, .reconnect_seconds = 10},
    .play.input_delay = 3,
    .process = {.threads = 1, .log_format = "text"}};

static const foliot__option host_options[] = {
    {"port", "PORT", FOLIOT__OPTION_COUNT, &parsed.network.port, 0, 65535, &parsed.network.has_port,
     .help = "UDP port; 0 takes a free one"},
    {"bind", "ADDR", FOLIOT__OPTION_TEXTS, &parsed.network.binds,
     .help = "IPv4 or IPv6 address to listen on (default 127.0.0.1)",
     .details = "It is given at most twice: for one address of each family, on the same port. An "
                "address beyond the loopback needs --key, --password or --insecure."},
    {"key", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.key,
     .help = "admits only clients with a connect token made with this key",
     .details =
         "A token is used once. `foliotctl key` makes keys, and `foliotctl token` makes tokens. "
         "FILE holds 64 hexadecimal digits; a file that others may read is refused."},
    {"used-tokens", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.used_tokens,
     .help = "keeps the list of used tokens in FILE, for a restarted server",
     .details = "It is for --key. A server that starts again with FILE refuses the tokens in it, "
                "and lets the clients that used them come back. One server uses FILE at a time, "
                "and only its owner may read it."},
    {"password", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.password,
     .help = "admits only clients with the password, the one line of FILE; - reads stdin",
     .details = "Recorded network traffic does not help to guess it."},
    {"insecure", NULL, FOLIOT__OPTION_FLAG, &parsed.access.insecure,
     .help = "admits every client that reaches the server, in clear text too"},
    {"public-address", "ADDR[:PORT]", FOLIOT__OPTION_TEXTS, &parsed.network.public_addresses,
     .help = "address under which clients find this server (default: where it listens)",
     .details = "Tokens name these addresses. The first one is also where browsers look for data "
                "channels. At most eight are given."},
    {"record", "FILE", FOLIOT__OPTION_TEXT, &parsed.recording.file,
     .help = "file of the recording (default: NAME-DATE.foliot)",
     .details = "An existing file is overwritten, but an unfinished recording is kept as "
                "`FILE.unfinished`. It excludes --no-record."},
    {"sign", "FILE", FOLIOT__OPTION_TEXT, &parsed.recording.sign,
     .help = "signs recordings with the secret key in FILE",
     .details = "A recording is signed at every keyframe and at its end. `foliot-replay keys` "
                "makes keys, and `foliot-replay verify --key` checks signatures."},
    {"no-record", NULL, FOLIOT__OPTION_FLAG, &parsed.recording.off, .help = "records nothing"},
    {"recordings", "DIR", FOLIOT__OPTION_TEXT, &parsed.recording.folder,
     .help = "folder of recordings that --record does not name (default: that of --resume-all, "
             "else the working folder)"},
    {"recordings-max-bytes", "N", FOLIOT__OPTION_COUNT, &parsed.recording.bytes_max, 1, 0,
     .help = "deletes the oldest finished recordings in that folder beyond N bytes",
     .details = "All `*.foliot` in the folder count, whichever program wrote them. The server "
                "looks at its start, when a recording is finished, and every minute. It never "
                "deletes a recording that is unfinished or being written."},
    {"recordings-minutes", "N", FOLIOT__OPTION_REAL, &parsed.recording.minutes, 0.01, 1e6,
     .help = "ends each recording after N minutes and begins the next",
     .details =
         "The next recording begins with the same tick and with a keyframe. Each is finished in "
         "order, and verifies alone. It is for worlds, and excludes --record and --no-record."},
    {"on-recording", "COMMAND", FOLIOT__OPTION_TEXT, &parsed.recording.command,
     .help = "runs COMMAND by sh for each finished recording; $1 is the file",
     .details = "A separate process runs `sh -c COMMAND` for one recording at a time. At its end "
                "the server waits 30 s for commands that run."},
    {"integrator", "NAME", FOLIOT__OPTION_TEXT, &parsed.sessions.integrator,
     .help = "replaces the scene's integrator"},
    {"tick-hz", "HZ", FOLIOT__OPTION_REAL, &parsed.sessions.tick_hz, FOLIOT__PACE_HZ_MIN,
     FOLIOT__PACE_HZ_MAX, .help = "ticks per real second",
     .details = "dt becomes 1 / HZ if the scene's unit of time is the second. Otherwise dt stays, "
                "and the server prints a note."},
    {"snapshot-hz", "HZ", FOLIOT__OPTION_POSITIVE, &parsed.network.snapshot_hz,
     .help = "maximum number of snapshots per second (default: one per tick)",
     .details = "A client whose network does not carry them all is sent fewer."},
    {"mode", "snapshot|lockstep", FOLIOT__OPTION_TEXT, &parsed.play.mode,
     .help = "role of clients that request none: they watch or step (default snapshot)",
     .details = "Clients watch snapshots, or step their own worlds. Every client that steps "
                "reports digests; the server compares them with its world, and sends its state to "
                "a client that differs."},
    {"input-delay", "TICKS", FOLIOT__OPTION_COUNT, &parsed.play.input_delay, 0, 600,
     .help = "stepping clients: ticks from an input to its effect",
     .details = "It is the same for all players whose round trip allows it. The inputs of a player "
                "farther away act in later ticks; no other player waits for them."},
    {"spectators", "N", FOLIOT__OPTION_COUNT, &parsed.network.spectators, 0, FOLIOT_PEERS_MAX,
     .help = "connections for spectators, of all sessions together",
     .details = "Players and spectators together have at most 4,000 connections."},
    {"per-address", "N", FOLIOT__OPTION_COUNT, &parsed.network.per_address, 1, FOLIOT_PEERS_MAX,
     .help = "connections that one address may hold (default: a quarter of all)",
     .details = "The ports of an address count together. The default is at least 8. There is no "
                "limit on the loopback. Connections beyond it are refused."},
    {"players-per-address", "N", FOLIOT__OPTION_COUNT, &parsed.network.players_per_address, 1,
     FOLIOT_PLAYERS_MAX,
     .help = "player slots that one address may hold (default: a quarter of a session's)",
     .details = "The limit is for each session, and slots kept for a return count. The default is "
                "at least 2. There is no limit on the loopback."},
    {"spectator-delay", "SECONDS", FOLIOT__OPTION_REAL, &parsed.play.spectator_delay, 0,
     SPECTATOR_DELAY_MAX, .help = "delays spectators by SECONDS",
     .details = "Delayed spectators cannot tell players what others are about to do, and can only "
                "watch. While the session is younger than the delay, they see nothing, or its "
                "first state. Joins, leaves and refusals are logged at once."},
    {"interest", "FAR[,NEAR[,KBIT]]", FOLIOT__OPTION_TEXT, &parsed.play.interest_text,
     .help = "sends each client only bodies within FAR of its body",
     .details = "Bodies within NEAR (default 5) are sent most often. A client is sent at most KBIT "
                "(default 256) kbit/s. The option is for big worlds, and not for lockstep."},
    {"no-force", NULL, FOLIOT__OPTION_FLAG, &parsed.play.no_force,
     .help = "clients whose fingerprint differs only watch, even with --force"},
    {"resume", "FILE", FOLIOT__OPTION_TEXTS, &parsed.sessions.resumes,
     .help = "continues a recording, instead of a SCENE",
     .details =
         "The recording may have ended early, or in order: it is cut after its last whole block "
         "and appended to. The scene, the mode and the name of the session come from it. The slots "
         "of players are kept as after a lost connection, and their clients reconnect by "
         "themselves.\n\nThe session continues as it was recorded: --integrator, --tick-hz and "
         "--no-record are for new sessions next to it. The server prints what is cut off, and "
         "keeps it in `FILE.cut-OFFSET` if it is more than an interrupted write leaves."},
    {"resume-all", "DIR", FOLIOT__OPTION_TEXT, &parsed.sessions.resume_all,
     .help = "continues all unfinished recordings in a folder",
     .details = "A recording that another process writes to is left alone. If several are of one "
                "session, the newest is continued. A recording that cannot be resumed stays as it "
                "is, and does not hinder the others. A session that is also named on the command "
                "line begins only if none of its name continues."},
    {"session", "NAME=SCENE", FOLIOT__OPTION_TEXTS, &parsed.sessions.named,
     .help = "one more session"},
    {"sessions", "N", FOLIOT__OPTION_COUNT, &parsed.sessions.copies, 1, FOLIOT_SESSIONS_MAX,
     .help = "hosts SCENE N times, as NAME-1, NAME-2 and so on",
     .details = "A server has at most 1024 sessions."},
    {"rules", "FILE", FOLIOT__OPTION_TEXT, &parsed.sessions.rules,
     .help = "a game's rules: a script in Lua, or a module (.so)",
     .details = "They replace those that the scene's `script` names. Scripts are in Lua 5.4."},
    {"strict-rules", NULL, FOLIOT__OPTION_FLAG, &parsed.sessions.strict_rules,
     .help = "ends a session whose rules fail or exceed the budget of a tick",
     .details = "Without this option the session continues without its rules, or without the "
                "callback that the budget left out."},
    {"allow-modules", NULL, FOLIOT__OPTION_FLAG, &parsed.sessions.allow_modules,
     .help = "permits modules, which run with all rights of this server",
     .details = "Modules are machine code."},
    {"simulation", "FILE", FOLIOT__OPTION_TEXT, &parsed.sessions.simulation,
     .help = "hosts another simulation, in lockstep: a module (.so)",
     .details = "SCENE is its configuration, and may be left out. The same holds for --session. "
                "With --resume the recording has the configuration."},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &parsed.sessions.ticks, 1, 0,
     .help = "ends after N ticks"},
    {"drain-seconds", "S", FOLIOT__OPTION_COUNT, &parsed.process.drain_seconds, 0, 86400,
     .help = "SIGTERM lets sessions continue for up to S seconds (default 0)",
     .details =
         "A session may end by itself, and ends when nobody plays in it. Sessions that still run "
         "after "
         "S seconds are recorded to their last tick and left without an end, for --resume-all; "
         "their clients look for the next server. With 0 SIGTERM ends all sessions at once."},
    {"user", "NAME", FOLIOT__OPTION_TEXT, &parsed.access.user,
     .help = "started by root: becomes this user after taking ports and reading secrets",
     .details = "The change precedes every new recording: the folder of recordings must belong to "
                "that user. The process of --on-recording belongs to that user too."},
    {"no-sandbox", NULL, FOLIOT__OPTION_FLAG, &parsed.access.no_sandbox,
     .help = "keeps all system calls and files: for debuggers and some modules",
     .details =
         "Without this option the server gives up, before it serves, the system calls that it does "
         "not need: it can neither run a program nor make a process, and loads code only with "
         "--allow-modules. A forbidden call ends it with a message and the signal SIGSYS. It also "
         "opens files only in the folders that its options name, as they are at the start, in the "
         "working folder, and where system libraries need them. A folder that is put there later, "
         "and a scene that is a link to another place, cause \"Permission denied\". The line that "
         "begins with \"sandbox:\" at the start shows which of the two this system has."},
    {"life-cycle", "none|systemd|agones", FOLIOT__OPTION_TEXT, &parsed.process.life_cycle,
     .help = "service that learns when the server is ready, alive and draining (default: from the "
             "environment)",
     .details = "`systemd` is a service manager, notified as by sd_notify(3), its watchdog "
                "included. `agones` is the SDK server of Agones. The default is found from "
                "`NOTIFY_SOCKET` and `AGONES_SDK_HTTP_PORT`."},
    {"mtu", "BYTES", FOLIOT__OPTION_COUNT, &parsed.network.mtu, FOLIOT_MTU_MIN, FOLIOT_MTU_MAX,
     .help = "largest network packet, IP and UDP headers included (default 1280)",
     .details = "The server starts with datagrams of 1,200 bytes, and finds by probes what the "
                "path to each client supports. Without this option packets of browsers' data "
                "channels have up to 1,313 bytes where the path supports them."},
    FOLIOT__IMPAIR_OPTION(&parsed.network.impair),
    {"config", "FILE", FOLIOT__OPTION_TEXT, &parsed.process.config,
     .help = "reads options from a YAML file; the command line takes precedence",
     .details = "The file is a mapping whose keys are the names of options, and `scene`. A flag is "
                "true or false, and an option that may be repeated takes a list."},
    {"print-config", NULL, FOLIOT__OPTION_FLAG, &parsed.process.print_config,
     .help = "prints every option, its value and its source, and ends",
     .details = "The source is the command line, a line of the file, or the default."},
    {"reconnect-seconds", "N", FOLIOT__OPTION_COUNT, &parsed.network.reconnect_seconds, 0, 86400,
     .help = "keeps a player's slot for N seconds after a lost connection",
     .details = "In a full session a newcomer gets the slot N seconds after the player's last "
                "packet, if N is 5 or more."},
    {"http", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.http,
     .help = "TCP port for /livez, /readyz, /metrics and foliotctl (which tries 7780)",
     .details = "`/metrics` is for Prometheus. A separate thread serves it: no request delays a "
                "tick. The address is 127.0.0.1 by default; an IPv6 address is in brackets; port 0 "
                "takes a free one."},
    {"web", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.page,
     .help = "TCP port of the page for players in browsers (address: 127.0.0.1)",
     .details = "The page joins through a WebSocket. The server prints its link, on a terminal as "
                "a QR code too. The address is written as that of --http, which is another port, "
                "for the operator. Traffic is not encrypted; a proxy in front of the server does "
                "that.\n\nAn address beyond this machine needs --key, --password or --insecure, "
                "which apply to browsers too: a link has a token (see `foliotctl`), and the page "
                "asks for a password, which it sends only by https or within this machine."},
    {"web-create", NULL, FOLIOT__OPTION_FLAG, &parsed.web.create,
     .help = "the page creates sessions for the bearer of --admin-token's token",
     .details = "The page that lists sessions creates new ones from the scenes of --scenes. It "
                "needs --http too."},
    {"webrtc", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.channels,
     .help = "UDP port of browsers' data channels, or off (default: as --web)",
     .details = "Browsers have data channels next to their WebSockets. They carry packets that may "
                "be lost; a lost one delays no other. `off` leaves them out. Behind NAT "
                "--public-address names the address, and the port is forwarded under the same "
                "number."},
    {"http-host", "NAME", FOLIOT__OPTION_TEXTS, &parsed.web.hosts,
     .help = "name that HTTP requests may have in Host",
     .details = "localhost and numeric addresses are always permitted. Others are refused, since a "
                "page of another site could reach this server under its own name (DNS rebinding)."},
    {"admin-token", "FILE", FOLIOT__OPTION_TEXT, &parsed.web.admin_token,
     .help = "serves the admin API on --http, for the bearer token in FILE",
     .details =
         "The token is one word of 16 to 512 characters, in a file that only its owner may read."},
    {"admin-socket", "PATH", FOLIOT__OPTION_TEXT, &parsed.web.admin_socket,
     .help = "serves the admin API on a Unix socket for this user, without a token"},
    {"scenes", "DIR", FOLIOT__OPTION_TEXT, &parsed.sessions.scenes,
     .help = "lets the admin API and Agones host the scenes in DIR",
     .details = "The server then needs no scene to start with, and stays when the last session has "
                "ended."},
    {"bans", "FILE", FOLIOT__OPTION_TEXT, &parsed.web.bans,
     .help = "keeps the bans of the admin API in FILE",
     .details =
         "The server reads bans from FILE and writes new ones to it, one JSON object per line."},
    {"threads", "N", FOLIOT__OPTION_COUNT, &parsed.process.threads, 1, 256,
     .help = "threads inside a step; the bits are the same for any number"},
    {"workers", "N", FOLIOT__OPTION_COUNT, &parsed.process.workers, 1, FOLIOT__STEP_WORKERS_MAX,
     .help = "threads that step sessions (default: as many as processors, at least 2)",
     .details =
         "A thread steps one session at a time. Slow sessions never occupy the last thread."},
    {"verbose", NULL, FOLIOT__OPTION_FLAG, &parsed.process.verbose,
     .help = "prints every counter at the end, instead of six",
     .details = "The six are ticks, late ticks, joins, inputs, late inputs, and the delay within "
                "which 99 % of the ticks began."},
    {"log-format", "text|json", FOLIOT__OPTION_TEXT, &parsed.process.log_format,
     .help = "format of the lines on stderr"},
    {0}};
static const foliot__option no_options[] = {{0}};

static const foliot__command commands[] = {
    {"", "SCENE | --resume FILE [options]", "hosts a session",
     "  foliot-server scenes/spacewar.yaml\n"
     "  foliot-server scenes/marbles.yaml --port 0 --record match.foliot\n"
     "  foliot-server --resume match.foliot\n",
     host_options, 0, 1,
     "SCENE is left out with --resume, and may be with --resume-all, --session, --scenes and "
     "--simulation."},
    {"check", "SCENE...", "only checks scenes", "  foliot-server check scenes/cloth.yaml\n",
     no_options, 1, UINT32_MAX,
     "It prints what is wrong with a scene: file, line, column, key and a sentence. An integrator "
     "that does not admit the scene's contacts, joints or players is refused, and those that do "
     "are named.\n\nThe keys of a scene are in `docs/reference/scenes.md`. Among them are "
     "`substeps`, the steps of "
     "the integrator in a tick (4 where shapes can touch), and `sleep: true`, with which bodies "
     "that have come to rest cost nothing until something wakes them."},
    {0},
};

const foliot__program foliot__server_program = {
    "foliot-server", "hosts multiplayer physics sessions, and records them",
    "  foliot-server scenes/spacewar.yaml        then, elsewhere: foliot-client 127.0.0.1\n"
    "  foliot-server scenes/marbles.yaml --ticks 600 --record marbles.foliot\n"
    "  foliot-server check my-scene.yaml\n",
    commands, foliot__fingerprint_print};

const char *foliot__session_name(const foliot__arguments *arguments, const char *text,
                                 char name[FOLIOT_NAME_BYTES])
{
    char clean[FOLIOT_NAME_BYTES];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        foliot__options_wrong(&foliot__server_program, arguments,
                              "--session expects NAME=SCENE, not '%s'", text);
        return NULL;
    }
    if (equals - text >= FOLIOT_NAME_BYTES) {
        foliot__options_wrong(&foliot__server_program, arguments,
                              "--session: a name has at most %d bytes", FOLIOT_NAME_BYTES - 1);
        return NULL;
    }
    snprintf(name, FOLIOT_NAME_BYTES, "%.*s", (int)(equals - text), text);
    if (strcmp(foliot__text_clean(clean, sizeof clean, name), name) != 0) {
        foliot__options_wrong(&foliot__server_program, arguments,
                              "--session: a name has no control characters, and is UTF-8");
        return NULL;
    }
    return equals + 1;
}

// FAR[,NEAR[,KBIT]], of which NEAR is at most FAR.
static bool read_interest(const char *text, foliot_interest *interest)
{
    double values[3] = {0, INTEREST_NEAR, INTEREST_KBIT};
    int count = 0;
    for (bool more = true; more; count++) {
        char *end;
        bool number = (*text >= '0' && *text <= '9') || *text == '.'; // no sign, no space, no nan
        if (count == 3 || !number)
            return false;
        values[count] = strtod(text, &end);
        more = *end == ',';
        if (end == text || (*end && !more) || !(values[count] <= INTEREST_MOST))
            return false;
        text = end + 1;
    }
    if (count == 1)
        values[1] = fmin(values[1], values[0]);
    *interest = (foliot_interest){values[1], values[0], (uint32_t)values[2]};
    return interest->budget_kbit == values[2] && foliot_interest_valid(interest);
}

const char *foliot__recordings_folder(const foliot__server_choices *choices)
{
    return choices->recording.folder ? choices->recording.folder : choices->sessions.resume_all;
}

int foliot__check_words(foliot__server_choices *choices, const foliot__arguments *arguments)
{
    // Options that are for worlds alone.
    const char *wrong = choices->sessions.rules            ? "--rules"
                        : choices->sessions.integrator     ? "--integrator"
                        : choices->network.snapshot_hz > 0 ? "--snapshot-hz"
                        : choices->play.mode && strcmp(choices->play.mode, "lockstep") != 0
                            ? "--mode snapshot"
                            : NULL;
    if (choices->sessions.simulation && wrong)
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "%s is for worlds: what --simulation names is hosted in lockstep", wrong);
    const char *text = choices->play.interest_text;
    if (text && (choices->sessions.simulation ||
                 (choices->play.mode && strcmp(choices->play.mode, "lockstep") == 0)))
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--interest is for --mode snapshot: in lockstep everybody "
                                     "steps everything");
    if (!text || read_interest(text, &choices->play.interest))
        return 0;
    return foliot__options_wrong(&foliot__server_program, arguments,
                                 "--interest expects FAR[,NEAR[,KBIT]]: lengths up to 1e9, NEAR at "
                                 "most FAR, and %d to %d kbit/s, not '%s'",
                                 FOLIOT_INTEREST_KBIT_MIN, FOLIOT_INTEREST_KBIT_MAX, text);
}

int foliot__check_sessions(const foliot__server_choices *choices,
                           const foliot__arguments *arguments, bool takes_orders)
{
    if (choices->sessions.resumes.count > 0 && arguments->operand_count > 0)
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--resume takes one recording and no SCENE: several are --resume %s --resume %s, and "
            "new sessions are named with --session",
            choices->sessions.resumes.items[0], arguments->operands[0]);
    for (uint32_t i = 1; i < choices->sessions.resumes.count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(choices->sessions.resumes.items[i], choices->sessions.resumes.items[k]) == 0)
                return foliot__options_wrong(&foliot__server_program, arguments,
                                             "--resume %s is given twice",
                                             choices->sessions.resumes.items[i]);
    if (choices->sessions.scenes && !choices->web.admin_token && !choices->web.admin_socket &&
        !takes_orders)
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--scenes is for the admin API: it requires --admin-socket, or "
            "--http with --admin-token, or Agones");
    if (choices->web.create && (!choices->web.page || !choices->sessions.scenes ||
                                !choices->web.http || !choices->web.admin_token))
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--web-create requires --web, --scenes FOLDER, and --http with "
            "--admin-token FILE, whose bearer may create");
    uint32_t scenes = arguments->operand_count + choices->sessions.named.count; // that are new
    if (choices->sessions.copies > 0 && arguments->operand_count == 0 &&
        !choices->sessions.simulation)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--sessions requires a SCENE");
    if (choices->sessions.copies > 1 && choices->recording.file)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--record names one file for one new session");
    if (choices->sessions.simulation && scenes == 0 && choices->sessions.resumes.count == 0)
        scenes = 1; // of no configuration
    if (choices->sessions.resumes.count == 0 && scenes == 0 && !choices->sessions.resume_all &&
        !choices->sessions.scenes)
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "there is nothing to host: name a SCENE, or give --resume FILE, "
            "--session NAME=SCENE or --scenes DIR");
    if (choices->recording.minutes > 0 && (choices->recording.file || choices->recording.off))
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--recordings-minutes names recordings by their dates: it "
                                     "excludes --record and --no-record");
    if (choices->recording.file && choices->recording.off)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--record and --no-record exclude each other");
    if (choices->recording.file && (scenes > 1 || choices->sessions.resumes.count > 0))
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--record names one file for one new session");
    if (scenes == 0 && !choices->sessions.scenes && !choices->sessions.resume_all &&
        (choices->sessions.integrator ||
         (choices->sessions.tick_hz > 0 && !choices->sessions.simulation) ||
         choices->recording.off))
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--resume continues as recorded, and records: --%s is for new sessions",
            choices->sessions.integrator ? "integrator"
            : choices->recording.off     ? "no-record"
                                         : "tick-hz");
    return 0;
}

int foliot__arguments_read(int argc, char **argv, foliot__server_choices *choices,
                           foliot__arguments *arguments)
{
    int code = foliot__config_read(&foliot__server_program, &argc, &argv);
    if (code)
        return code;
    code = foliot__options_start(&foliot__server_program, argc, argv, arguments);
    if (code >= 0)
        return code;
    foliot__config_apply_scene(arguments);
    *choices = parsed;
    return -1;
}
