// SPDX-License-Identifier: MIT
// arguments.c: see arguments.h.
#include "arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "foliot/foliot.h"
#include "foliot/transport.h"
#include "program/session/host.h"
#include "program/step_workers.h"

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
     .help = "IPv4 or IPv6 address to listen on, or one of each; 127.0.0.1 unless said"},
    {"key", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.key,
     .help = "only who has a token made with this key may join ('foliotctl key' and 'token')"},
    {"used-tokens", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.used_tokens,
     .help = "keeps which tokens were used, so that a restarted server still knows"},
    {"password", "FILE", FOLIOT__OPTION_TEXT, &parsed.access.password,
     .help = "only who knows the password in this file may join; - reads it from stdin"},
    {"insecure", NULL, FOLIOT__OPTION_FLAG, &parsed.access.insecure,
     .help = "anybody who reaches this server may join, and in clear text"},
    {"public-address", "ADDR[:PORT]", FOLIOT__OPTION_TEXTS, &parsed.network.public_addresses,
     .help =
         "where others find this server: tokens name it, and data channels of browsers; where it "
         "listens unless said"},
    {"record", "FILE", FOLIOT__OPTION_TEXT, &parsed.recording.file,
     .help = "recording; NAME-DATE.foliot unless said"},
    {"sign", "FILE", FOLIOT__OPTION_TEXT, &parsed.recording.sign,
     .help = "signs recordings with this secret key ('foliot-replay keys' makes one)"},
    {"no-record", NULL, FOLIOT__OPTION_FLAG, &parsed.recording.off, .help = "records nothing"},
    {"recordings", "DIR", FOLIOT__OPTION_TEXT, &parsed.recording.folder,
     .help = "folder of recordings that --record does not name; --resume-all's, else the working "
             "folder"},
    {"recordings-max-bytes", "N", FOLIOT__OPTION_COUNT, &parsed.recording.bytes_max, 1, 0,
     .help = "all recordings in that folder; the oldest finished ones are deleted beyond that"},
    {"recordings-minutes", "N", FOLIOT__OPTION_REAL, &parsed.recording.minutes, 0.01, 1e6,
     .help = "a recording ends after so long, and the next begins with the same tick"},
    {"on-recording", "COMMAND", FOLIOT__OPTION_TEXT, &parsed.recording.command,
     .help = "runs by sh for each finished recording, one at a time; $1 is the file"},
    {"integrator", "NAME", FOLIOT__OPTION_TEXT, &parsed.sessions.integrator,
     .help = "instead of the scene's"},
    {"tick-hz", "HZ", FOLIOT__OPTION_REAL, &parsed.sessions.tick_hz, FOLIOT__PACE_HZ_MIN,
     FOLIOT__PACE_HZ_MAX,
     .help = "ticks a second; dt is 1 / HZ where the scene's time is in seconds, else its own"},
    {"snapshot-hz", "HZ", FOLIOT__OPTION_POSITIVE, &parsed.network.snapshot_hz,
     .help = "at most; every tick unless said"},
    {"mode", "MODE", FOLIOT__OPTION_TEXT, &parsed.play.mode,
     .help =
         "of clients that ask for neither: snapshot (default), they watch; lockstep, they step"},
    {"input-delay", "TICKS", FOLIOT__OPTION_COUNT, &parsed.play.input_delay, 0, 600,
     .help = "of steppers: ticks from an input to its effect, for all who can keep to it; 3 unless "
             "said"},
    {"spectators", "N", FOLIOT__OPTION_COUNT, &parsed.network.spectators, 0, FOLIOT_PEERS_MAX,
     .help = "connections for spectators; 64 unless said"},
    {"per-address", "N", FOLIOT__OPTION_COUNT, &parsed.network.per_address, 1, FOLIOT_PEERS_MAX,
     .help = "connections that one address may hold; a quarter of all unless said; no limit on the "
             "loopback"},
    {"players-per-address", "N", FOLIOT__OPTION_COUNT, &parsed.network.players_per_address, 1,
     FOLIOT_PLAYERS_MAX,
     .help = "places of players that one address may have; a quarter of a session's unless said; "
             "no limit on the loopback"},
    {"spectator-delay", "SECONDS", FOLIOT__OPTION_REAL, &parsed.play.spectator_delay, 0,
     SPECTATOR_DELAY_MAX, .help = "spectators are shown what was so long ago"},
    {"interest", "FAR[,NEAR[,KBIT]]", FOLIOT__OPTION_TEXT, &parsed.play.interest_text,
     .help =
         "everybody is sent what is within FAR of the own body alone, within NEAR (5) most often, "
         "in KBIT (256) kbit/s"},
    {"no-force", NULL, FOLIOT__OPTION_FLAG, &parsed.play.no_force,
     .help = "builds that compute otherwise only watch, though they ask with --force"},
    {"resume", "FILE", FOLIOT__OPTION_TEXTS, &parsed.sessions.resumes,
     .help = "goes on with a recording; no SCENE then"},
    {"resume-all", "DIR", FOLIOT__OPTION_TEXT, &parsed.sessions.resume_all,
     .help = "goes on with all unfinished recordings of a folder; sessions of their names are not "
             "begun anew"},
    {"session", "NAME=SCENE", FOLIOT__OPTION_TEXTS, &parsed.sessions.named,
     .help = "one more session"},
    {"sessions", "N", FOLIOT__OPTION_COUNT, &parsed.sessions.copies, 1, FOLIOT_SESSIONS_MAX,
     .help = "so many sessions of SCENE, named NAME-1, NAME-2 and so on"},
    {"rules", "FILE", FOLIOT__OPTION_TEXT, &parsed.sessions.rules,
     .help = "a game's rules: a script in Lua instead of the scene's, or a module (.so)"},
    {"strict-rules", NULL, FOLIOT__OPTION_FLAG, &parsed.sessions.strict_rules,
     .help = "a session ends whose rules fail or exceed the budget of a tick; else it goes on"},
    {"allow-modules", NULL, FOLIOT__OPTION_FLAG, &parsed.sessions.allow_modules,
     .help = "modules may be loaded, which run with all rights of this server"},
    {"simulation", "FILE", FOLIOT__OPTION_TEXT, &parsed.sessions.simulation,
     .help = "a module (.so) with a simulation of its own; SCENE is its configuration then, or "
             "nothing"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &parsed.sessions.ticks, 1, 0,
     .help = "ends after N ticks"},
    {"drain-seconds", "S", FOLIOT__OPTION_COUNT, &parsed.process.drain_seconds, 0, 86400,
     .help = "after SIGTERM sessions may end by themselves for so long, and are then left "
             "resumable; 0 (default): they end at once"},
    {"user", "NAME", FOLIOT__OPTION_TEXT, &parsed.access.user,
     .help = "started by root: the user to be once ports are taken and secrets are read"},
    {"no-sandbox", NULL, FOLIOT__OPTION_FLAG, &parsed.access.no_sandbox,
     .help = "keeps all system calls and files, to debug or for modules that need more"},
    {"life-cycle", "NAME", FOLIOT__OPTION_TEXT, &parsed.process.life_cycle,
     .help = "who is told that the server is ready, alive and draining: none, systemd or agones; "
             "found from the environment unless said"},
    {"mtu", "BYTES", FOLIOT__OPTION_COUNT, &parsed.network.mtu, FOLIOT_MTU_MIN, FOLIOT_MTU_MAX,
     .help = "the largest network packet, headers included (default 1280); probes find what each "
             "path supports"},
    {"impair", "SPEC", FOLIOT__OPTION_TEXT, &parsed.network.impair,
     .help = "a bad network, both ways: loss=5%,delay=50ms,jitter=0-100ms,..."},
    {"config", "FILE", FOLIOT__OPTION_TEXT, &parsed.process.config,
     .help =
         "a YAML file of options, by their names, and `scene`; the command line goes before it"},
    {"print-config", NULL, FOLIOT__OPTION_FLAG, &parsed.process.print_config,
     .help = "prints every option, its value and where it comes from, and ends"},
    {"reconnect-seconds", "N", FOLIOT__OPTION_COUNT, &parsed.network.reconnect_seconds, 0, 86400,
     .help = "the place of a player whose connection is gone is kept so long; 10 unless said"},
    {"http", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.http,
     .help = "TCP port for /livez, /readyz, /metrics and foliotctl, which looks at 7780 unless "
             "told; on "
             "127.0.0.1 unless said; 0 takes a free one"},
    {"web", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.page,
     .help = "TCP port for players in browsers, who open its page; on 127.0.0.1 unless said"},
    {"web-create", NULL, FOLIOT__OPTION_FLAG, &parsed.web.create,
     .help =
         "the page's list of sessions creates new ones, for who has the token of --admin-token"},
    {"webrtc", "[ADDR:]PORT", FOLIOT__OPTION_TEXT, &parsed.web.channels,
     .help = "UDP port of their data channels, which losses hold up less; as --web unless said; "
             "off: there are none"},
    {"http-host", "NAME", FOLIOT__OPTION_TEXTS, &parsed.web.hosts,
     .help = "a name that HTTP requests may have in Host, beside localhost and addresses"},
    {"admin-token", "FILE", FOLIOT__OPTION_TEXT, &parsed.web.admin_token,
     .help = "the admin API takes requests with the bearer token in this file"},
    {"admin-socket", "PATH", FOLIOT__OPTION_TEXT, &parsed.web.admin_socket,
     .help = "the same on a Unix socket, which only this user may open; no token then"},
    {"scenes", "DIR", FOLIOT__OPTION_TEXT, &parsed.sessions.scenes,
     .help =
         "the admin API and Agones may host the scenes in DIR; the server stays without a session"},
    {"bans", "FILE", FOLIOT__OPTION_TEXT, &parsed.web.bans,
     .help = "keeps the bans of the admin API, so that they outlast the server"},
    {"threads", "N", FOLIOT__OPTION_COUNT, &parsed.process.threads, 1, 256,
     .help = "inside a step; the bits are the same"},
    {"workers", "N", FOLIOT__OPTION_COUNT, &parsed.process.workers, 1, FOLIOT__STEP_WORKERS_MAX,
     .help = "threads that step sessions, one at a time each; as many as processors, at least 2, "
             "unless said"},
    {"verbose", NULL, FOLIOT__OPTION_FLAG, &parsed.process.verbose,
     .help = "at its end the server prints every counter; else six of them"},
    {"log-format", "FORMAT", FOLIOT__OPTION_TEXT, &parsed.process.log_format,
     .help = "text or json, on stderr"},
    {0}};
static const foliot__option no_options[] = {{0}};

static const foliot__command commands[] = {
    {"", "SCENE [options]", "hosts a session",
     "  foliot-server scenes/spacewar.yaml\n"
     "  foliot-server scenes/marbles.yaml --port 0 --record match.foliot\n"
     "  foliot-server --resume match.foliot\n",
     host_options, 0, 1, NULL},
    {"check", "SCENE...", "only checks scenes", "  foliot-server check scenes/cloth.yaml\n",
     no_options, 1, UINT32_MAX, NULL},
    {0}};

static void fingerprint_text(char text[33])
{
    foliot_digest_print(foliot_get_fingerprint(), text);
}

const foliot__program foliot__server_program = {
    "foliot-server", "hosts multiplayer physics sessions, and records them",
    "  foliot-server scenes/spacewar.yaml        then, elsewhere: foliot-client 127.0.0.1\n"
    "  foliot-server scenes/marbles.yaml --ticks 600 --record marbles.foliot\n"
    "  foliot-server check my-scene.yaml\n",
    commands, fingerprint_text};

const char *foliot__session_name(const foliot__arguments *arguments, const char *text,
                                 char name[FOLIOT_NAME_BYTES])
{
    char clean[FOLIOT_NAME_BYTES];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        foliot__options_wrong(&foliot__server_program, arguments,
                              "--session wants NAME=SCENE, not '%s'", text);
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
    if (choices->play.mode && strcmp(choices->play.mode, "lockstep") != 0 &&
        strcmp(choices->play.mode, "snapshot") != 0)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--mode is snapshot or lockstep, not '%s'",
                                     choices->play.mode);
    if (strcmp(choices->process.log_format, "text") != 0 &&
        strcmp(choices->process.log_format, "json") != 0)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--log-format is text or json, not '%s'",
                                     choices->process.log_format);
    if (choices->process.life_cycle && strcmp(choices->process.life_cycle, "none") != 0 &&
        strcmp(choices->process.life_cycle, "systemd") != 0 &&
        strcmp(choices->process.life_cycle, "agones") != 0)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--life-cycle is none, systemd or agones, not '%s'",
                                     choices->process.life_cycle);
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
            "%s is of worlds: what --simulation names is hosted in lockstep", wrong);
    const char *text = choices->play.interest_text;
    if (text && (choices->sessions.simulation ||
                 (choices->play.mode && strcmp(choices->play.mode, "lockstep") == 0)))
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--interest is for --mode snapshot: in lockstep everybody "
                                     "steps everything");
    if (!text || read_interest(text, &choices->play.interest))
        return 0;
    return foliot__options_wrong(&foliot__server_program, arguments,
                                 "--interest wants FAR[,NEAR[,KBIT]]: lengths up to 1e9, NEAR at "
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
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--scenes is for the admin API: it wants --admin-socket, or "
                                     "--http with --admin-token, or Agones");
    if (choices->web.create && (!choices->web.page || !choices->sessions.scenes ||
                                !choices->web.http || !choices->web.admin_token))
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--web-create wants --web, --scenes FOLDER, and --http with "
                                     "--admin-token FILE, whose bearer may create");
    uint32_t scenes = arguments->operand_count + choices->sessions.named.count; // that are new
    if (choices->sessions.copies > 0 && arguments->operand_count == 0 &&
        !choices->sessions.simulation)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--sessions is of a SCENE: none is given");
    if (choices->sessions.copies > 1 && choices->recording.file)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--record names one file for one new session");
    if (choices->sessions.simulation && scenes == 0 && choices->sessions.resumes.count == 0)
        scenes = 1; // of no configuration
    if (choices->sessions.resumes.count == 0 && scenes == 0 && !choices->sessions.resume_all &&
        !choices->sessions.scenes)
        return foliot__options_wrong(&foliot__server_program, arguments, "a SCENE is missing");
    if (choices->recording.minutes > 0 && (choices->recording.file || choices->recording.off))
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--recordings-minutes names recordings by their dates: it goes "
            "with neither --record nor --no-record");
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
            "--resume goes on as it was recorded, and records: --%s is for new sessions",
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
    foliot__config_take_scene(arguments);
    *choices = parsed;
    return -1;
}
