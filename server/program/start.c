// SPDX-License-Identifier: MIT
// start.c: opens the sessions, the transport and the server that the command line asks for.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "program/options/arguments.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "process.h"
#include "program/session/recordings.h"

#define PEERS_EXTRA 16    // connections beyond players and spectators: for refused clients
#define PEERS_COMING 1024 // at least, if sessions come and go

// The session of that name that is already resumed; NULL: none.
static foliot__hosted *goes_on(foliot__app *a, const foliot__hosted *h)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (&a->hosted[i] != h && a->hosted[i].resumed && strcmp(a->hosted[i].name, h->name) == 0)
            return &a->hosted[i];
    return NULL;
}

static uint64_t tick_of(const foliot__hosted *h)
{
    return h->world ? foliot_world_get_tick(h->world) : foliot_simulation_get_tick(&h->simulation);
}

// Closes the session that was opened last.
static void leave_out(foliot__app *a, foliot__hosted *h)
{
    foliot_world_destroy(h->world);
    if (h->recording)
        foliot_recording_abandon(h->recording);
    foliot__hosted_destroy_rules(h);
    foliot__hosted_destroy_simulation(h);
    foliot_scene_destroy(h->scene);
    memset(h, 0, sizeof *h);
    a->hosted_count--;
}

// A recording that cannot be resumed is left as it is, and does not prevent the others.
static void resume_found(foliot__app *a, const char *file, const foliot__host_options *options)
{
    foliot__hosted *h = &a->hosted[a->hosted_count++];
    if (foliot__hosted_resume(h, file, options) != 0) {
        fprintf(stderr, "foliot-server: --resume-all: %s is left as it is\n", file);
        leave_out(a, h);
        return;
    }
    foliot__hosted *other = goes_on(a, h);
    if (other) {
        // A crash may leave two, if one was about to replace the other.
        if (h->world && other->world && tick_of(h) > tick_of(other)) {
            foliot__hosted further = *h;
            *h = *other;
            *other = further;
        }
        // Without an end a later start would resume it, when the other has ended.
        fprintf(stderr,
                "foliot-server: --resume-all: %s ends here: a newer recording of the session '%s' "
                "continues\n",
                h->recording_file, h->name);
        (void)!foliot__hosted_end_recording(h);
        leave_out(a, h);
    }
}

static int resume_all(foliot__app *a, const foliot__host_options *options)
{
    uint32_t count, empties;
    char **files = foliot__recordings_unfinished(a->choices->sessions.resume_all, &count, &empties);
    if (!files) {
        fprintf(stderr, "foliot-server: --resume-all %s: %s\n", a->choices->sessions.resume_all,
                strerror(errno));
        return FOLIOT__EXIT_SCENE;
    }
    for (uint32_t i = 0; i < count; i++) {
        foliot__life_resuming(a, i + 1, count);
        if (a->hosted_count < FOLIOT_SESSIONS_MAX)
            resume_found(a, files[i], options);
        else
            fprintf(stderr,
                    "foliot-server: --resume-all: %s is left as it is: at most %d sessions\n",
                    files[i], FOLIOT_SESSIONS_MAX);
        free(files[i]);
    }
    for (uint32_t i = count; i < count + empties; i++) {
        // A part without ticks gets its end: its ticks are in no file, or in the part before it.
        if (a->hosted_count < FOLIOT_SESSIONS_MAX) {
            foliot__hosted *h = &a->hosted[a->hosted_count++];
            if (foliot__hosted_resume(h, files[i], options) == 0) {
                fprintf(stderr, "foliot-server: --resume-all: %s has no ticks, and ends here\n",
                        files[i]);
                (void)!foliot__hosted_end_recording(h);
            }
            leave_out(a, h);
        }
        free(files[i]);
    }
    free(files);
    return 0;
}

// If all sessions of a folder are resumed, named sessions begin only if they were not among them.
static void begin_or_leave(foliot__app *a, foliot__hosted *h)
{
    char note[FOLIOT_NAME_BYTES + 80];
    if (!a->choices->sessions.resume_all || !goes_on(a, h))
        return;
    snprintf(note, sizeof note,
             "foliot-server: the session '%s' continues; it is not started again", h->name);
    fprintf(stderr, "%s\n", note);
    leave_out(a, h);
}

static int too_many(const foliot__arguments *arguments)
{
    return foliot__options_wrong(&foliot__server_program, arguments, "at most %d sessions",
                                 FOLIOT_SESSIONS_MAX);
}

// SCENE, once or --sessions times: then each copy has its number after its name.
static int open_copies(foliot__app *a, const foliot__arguments *arguments,
                       const foliot__host_options *options)
{
    const char *file = arguments->operand_count ? arguments->operands[0] : NULL;
    uint64_t copies = a->choices->sessions.copies ? a->choices->sessions.copies : 1;
    for (uint64_t i = 1; i <= copies; i++) {
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return too_many(arguments);
        foliot__hosted *h = &a->hosted[a->hosted_count++];
        int code = foliot__hosted_open(h, NULL, file, options);
        if (code)
            return code;
        if (a->choices->sessions.copies)
            foliot__hosted_number(h, i);
        begin_or_leave(a, h);
    }
    return 0;
}

static int open_listed(foliot__app *a, const foliot__arguments *arguments,
                       const foliot__host_options *options)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < a->choices->sessions.resumes.count; i++) {
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return too_many(arguments);
        code = foliot__hosted_resume(&a->hosted[a->hosted_count++],
                                     a->choices->sessions.resumes.items[i], options);
    }
    if (code == 0 && a->choices->sessions.resume_all)
        code = resume_all(a, options);
    bool alone =
        options->simulation && a->hosted_count == 0 && a->choices->sessions.named.count == 0;
    if (code == 0 && (arguments->operand_count == 1 || alone))
        code = open_copies(a, arguments, options);
    for (uint32_t i = 0; code == 0 && i < a->choices->sessions.named.count; i++) {
        char name[FOLIOT_NAME_BYTES];
        const char *file =
            foliot__session_name(arguments, a->choices->sessions.named.items[i], name);
        if (!file)
            return FOLIOT__EXIT_USAGE;
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return too_many(arguments);
        foliot__hosted *h = &a->hosted[a->hosted_count++];
        code = foliot__hosted_open(h, name, file, options);
        if (code == 0)
            begin_or_leave(a, h);
    }
    if (code == 0 && a->hosted_count == 0 && !a->choices->sessions.scenes) {
        fprintf(stderr, "foliot-server: --resume-all %s: no recording there is unfinished\n",
                a->choices->sessions.resume_all);
        return FOLIOT__EXIT_ERROR;
    }
    return code;
}

int foliot__app_read_signer(foliot__app *a)
{
    foliot_error error;
    if (!a->choices->recording.sign ||
        foliot_signer_read(a->choices->recording.sign, &a->signer, &error) == FOLIOT_STATUS_OK)
        return 0;
    fprintf(stderr, "foliot-server: --sign: %s\n", error.text);
    return FOLIOT__EXIT_SCENE;
}

int foliot__app_open_sessions(foliot__app *a, const foliot__arguments *arguments,
                              const foliot__host_options *options)
{
    const foliot__server_choices *choices = a->choices;
    // Folders are checked early, since they may be needed only much later.
    const char *recordings = choices->recording.off ? NULL : choices->recording.folder;
    bool named =
        choices->sessions.scenes && !foliot__folder_usable(choices->sessions.scenes, false);
    if (named || (recordings && !foliot__folder_usable(recordings, true))) {
        int error = errno;
        fprintf(stderr, "foliot-server: %s %s: %s\n", named ? "--scenes" : "--recordings",
                named ? choices->sessions.scenes : recordings, foliot__file_problem(error));
        return foliot__host_exit_for(error);
    }
    int code = open_listed(a, arguments, options);
    for (uint32_t i = 0; code == 0 && i < a->hosted_count; i++)
        for (uint32_t k = 0; code == 0 && k < i; k++)
            if (strcmp(a->hosted[i].name, a->hosted[k].name) == 0) {
                fprintf(stderr, "foliot-server: there are two sessions named '%s'\n",
                        a->hosted[i].name);
                code = FOLIOT__EXIT_USAGE;
            }
    // A recording of lockstep is resumed in lockstep.
    for (uint32_t i = 0; code == 0 && i < a->hosted_count; i++)
        if (choices->play.interest_text && foliot__app_lockstep(a, &a->hosted[i]))
            code = foliot__options_wrong(
                &foliot__server_program, arguments,
                "--interest is for --mode snapshot: the session '%s' continues in lockstep",
                a->hosted[i].name);
    return code;
}

int foliot__app_open_transport(foliot__app *a)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_error error;
    uint32_t peers = PEERS_EXTRA + (uint32_t)a->choices->network.spectators;
    for (uint32_t i = 0; i < a->hosted_count; i++)
        peers += 2 * foliot__hosted_player_limit(&a->hosted[i]);
    if (a->choices->sessions.scenes && peers < PEERS_COMING)
        peers = PEERS_COMING;
    config.port = (uint16_t)a->port;
    config.batches = true;
    config.peers_max = peers < FOLIOT_PEERS_MAX ? peers : FOLIOT_PEERS_MAX;
    config.peers_per_address_max = (uint32_t)a->choices->network.per_address;
    config.mtu = (uint32_t)a->choices->network.mtu;
    if (a->choices->network.impair &&
        foliot_impairment_parse(a->choices->network.impair, &config.send, &error) !=
            FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-server: --impair: %s\n", error.text);
        return FOLIOT__EXIT_USAGE;
    }
    config.receive = config.send;
    int code = foliot__browser_plan(a, &config);
    if (code == 0)
        code = foliot__security_read(a->choices, &config);
    if (code) {
        foliot__security_forget();
        return code;
    }
    code = foliot__security_open_used(a->choices, config.peers_max, &a->used_tokens);
    config.used_tokens = a->used_tokens;
    if (code == 0)
        code = foliot__bind_open(&config, foliot__clock_now_ns(), &a->transport);
    if (code == 0)
        foliot__security_apply_keys(a->choices, a->transport);
    foliot__security_forget();
    return code ? code : foliot__browser_open(a);
}

int foliot__app_start_server(foliot__app *a)
{
    foliot_server_config config = foliot_server_config_default();
    config.transport = a->transport;
    config.start = foliot__app_start_step;
    config.start_user = a;
    config.spreads_ticks = true;
    config.snapshot_hz = a->choices->network.snapshot_hz;
    config.reconnect_ms = (uint32_t)a->choices->network.reconnect_seconds * 1000;
    config.players_per_address_max = (uint32_t)a->choices->network.players_per_address;
    if (!a->choices->network.players_per_address &&
        (a->choices->network.impair || foliot__bind_is_loopback()))
        config.players_per_address_max = FOLIOT_PLAYERS_MAX; // all are of one address
    if (foliot_server_create(&config, foliot__clock_now_ns(), &a->server) != FOLIOT_STATUS_OK)
        return foliot__host_lacks("enough memory");
    if (a->choices->process.threads > 1 &&
        !(a->pool = foliot__pool_create((uint32_t)a->choices->process.threads)))
        return foliot__host_lacks("enough threads");
    a->host = (foliot_host){.run = a->pool ? foliot__pool_run : NULL,
                            .run_user = a->pool,
                            .threads = (uint32_t)a->choices->process.threads,
                            .yield = foliot__pool_yield};
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < a->hosted_count; i++)
        code = foliot__app_add_session(a, &a->hosted[i]);
    return code;
}
