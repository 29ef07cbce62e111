// SPDX-License-Identifier: MIT
// verify.c: foliot-replay verify: replays many recordings, a line each; the exit status is the
// worst.
#include "checks.h"
#ifndef FOLIOT_REPLAY_CORE
#include "foliot/replay.h"
#include "module/module.h"
#endif
#include "tool.h"

#include "base/array.h"
#include "base/text.h"
#include "divergence/divergence.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef FOLIOT_REPLAY_CORE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#endif

static uint64_t jobs;
static bool json_wanted, rules_wanted, rules_left_out;
static const char *files_from, *shard_text, *perturb_text;
#ifndef FOLIOT_REPLAY_CORE
static const char *key_text; // whose signature is wanted
static uint8_t key[FOLIOT_KEY_BYTES];
#endif

const foliot__option verify_options[] = {
    {"jobs", "N", FOLIOT__OPTION_COUNT, &jobs, .low = 1, .high = 1024,
     .help = "files to verify at a time (default: as many as there are cores)"},
    {"files-from", "FILE", FOLIOT__OPTION_TEXT, &files_from,
     .help = "reads names of more recordings, one per line; - is stdin"},
    {"shard", "I/N", FOLIOT__OPTION_TEXT, &shard_text,
     .help = "verifies every N-th of all files, beginning with the I-th",
     .details = "Several machines share a list this way."},
    {"perturb", "TICK[/STAGE]:BODY:FIELD:ULPS", FOLIOT__OPTION_TEXT, &perturb_text,
     .help = "puts a fault into the state, to test that it is found",
     .details = FOLIOT__PERTURB_DETAILS},
#ifndef FOLIOT_REPLAY_CORE
    {"rules", NULL, FOLIOT__OPTION_FLAG, &rules_wanted,
     .help = "requires that the session's rules run again and agree",
     .details = "Rules that are a script run again from the recording. Every "
                "command of theirs and their saved state are compared with the recorded ones. The "
                "first difference is named by tick, command and field, and the exit status is 3. "
                "With --rules the exit status is 5 if the rules cannot run here, or if there are "
                "none. Rules that take more than 10 s of processor time and 5 ms per tick, which "
                "is more than a server permits, are not compared."},
    {"no-rules", NULL, FOLIOT__OPTION_FLAG, &rules_left_out,
     .help = "does not run the session's rules again (default: those of scripts run)"},
    {"key", "FILE", FOLIOT__OPTION_TEXT, &key_text,
     .help = "requires that all of each recording is signed by this public key",
     .details = "FILE may also be the key's 64 hexadecimal digits. If the signature does not cover "
                "all, or is by another key, a line names the signed part or the other key, and the "
                "exit status is 5. The exit "
                "status is 4 if a signature does not fit the recording."},
#endif
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted,
     .help = "prints one JSON object per file, each on a line"},
    SIMULATION_OPTION{0}};

#ifndef FOLIOT_REPLAY_CORE
typedef enum signature_verdict {
    SIGNATURE_WHOLE,   // all of it, by that key
    SIGNATURE_PART,    // by that key, but not up to its end
    SIGNATURE_FOREIGN, // by another key, also
    SIGNATURE_NONE,
    SIGNATURE_FALSE, // one does not fit what is before it, or damage stands before the first
    SIGNATURE_FAILED // the file cannot be read
} signature_verdict;
#endif

typedef struct result {
    const char *file;
    int exit_code;
    bool opened, has_verdict, fingerprint_differs;
    foliot_verdict verdict;
    char message[256]; // for stderr, may be empty
    char scene[FOLIOT_NAME_BYTES], integrator[32], body[FOLIOT_NAME_BYTES];
    char simulation[FOLIOT_KIND_NAME_BYTES]; // "": a world
    double dt, realtime_factor;              // 0: not known
    uint32_t players;
    int rules; // rules_result; -1: there are none, or they are left out
#ifndef FOLIOT_REPLAY_CORE
    rules_counts rules_counts;
#endif
    char rules_text[1024];
    int signature; // signature_verdict; -1: not asked for
    char signature_text[256];
} result;

typedef struct verify_run {
    const char **files;
    result *results;
    const perturb_request *request; // NULL: none
} verify_run;

#ifndef FOLIOT_REPLAY_CORE
// -- signatures

// Reads the whole file. `text` gets a sentence: the signing key, and how far signatures reach.
static signature_verdict signature_verify(const char *file, char *text, size_t bytes)
{
    foliot_signature_summary found;
    foliot_damage damage;
    char who[FOLIOT_KEY_TEXT_BYTES];
    foliot_status status = foliot_signature_check(file, &found, &damage);
    foliot_signature_print_key(found.key, who);
    if (status == FOLIOT_STATUS_NOT_FOUND) {
        snprintf(text, bytes, "it is not signed");
        return SIGNATURE_NONE;
    }
    if (status != FOLIOT_STATUS_OK) {
        snprintf(text, bytes, "%s", damage.text[0] ? damage.text : foliot_status_get_text(status));
        return status == FOLIOT_STATUS_CORRUPT ? SIGNATURE_FALSE : SIGNATURE_FAILED;
    }
    if (!found.one_key || memcmp(found.key, key, sizeof found.key) != 0) {
        snprintf(text, bytes, "it is signed by %s%s", found.one_key ? "another key: " : who,
                 found.one_key ? who : " and others");
        return SIGNATURE_FOREIGN;
    }
    if (!found.whole) {
        snprintf(text, bytes,
                 "signed up to tick %" PRIu64 " of %" PRIu64 ": what follows may have been cut off",
                 found.signed_tick, found.last_tick);
        return SIGNATURE_PART;
    }
    snprintf(text, bytes, "signed, all %" PRIu64 " ticks, by %s",
             found.last_tick - found.first_tick, who);
    return SIGNATURE_WHOLE;
}

#endif

// -- one file

static void verify_recording(result *r, foliot_replay *replay, const perturb_request *request)
{
    foliot_perturbation fault;
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    if (request) {
        fault = request->fault;
        fault.body = tool_find_body(about->scene, request->body);
        if (fault.body == FOLIOT_NO_BODY) {
            snprintf(r->message, sizeof r->message, "--perturb: no body \"%.60s\"", request->body);
            r->exit_code = FOLIOT__EXIT_USAGE;
            return;
        }
    }
    double start = tool_now();
    foliot_status status = foliot_replay_verify(replay, request ? &fault : NULL, &r->verdict);
    double elapsed = tool_now() - start;
    if (status != FOLIOT_STATUS_OK || r->verdict.status == FOLIOT_STATUS_INVALID) {
        snprintf(r->message, sizeof r->message, "%s",
                 status != FOLIOT_STATUS_OK
                     ? foliot_status_get_text(status)
                     : "--perturb: the recording has no such tick, stage or body then");
        r->exit_code = status != FOLIOT_STATUS_OK ? FOLIOT__EXIT_ERROR : FOLIOT__EXIT_USAGE;
        return;
    }
    r->has_verdict = true;
    r->exit_code = tool_exit_of(r->verdict.status);
    double pace = 0; // ticks a second; 0: not known
    if (about->scene)
        pace = about->scene->pace_hz > 0 ? about->scene->pace_hz : 1 / about->dt;
#ifndef FOLIOT_REPLAY_CORE
    else
        pace = tool_terms(about).pace_hz;
#endif
    if (r->verdict.ticks && elapsed > 0 && pace > 0)
        r->realtime_factor = (double)r->verdict.ticks / pace / elapsed;
    if (r->verdict.damage.text[0] && r->verdict.status != FOLIOT_STATUS_TRUNCATED)
        snprintf(r->message, sizeof r->message, "%s", r->verdict.damage.text);
    if (about->scene)
        snprintf(r->scene, sizeof r->scene, "%s", about->scene->name ? about->scene->name : "");
    else
        snprintf(r->simulation, sizeof r->simulation, "%s", about->kind);
    memcpy(r->integrator, about->integrator, sizeof r->integrator);
    r->dt = about->dt;
    r->players = about->counts.players;
    foliot_divergence_labels names = tool_names(NULL, about, &r->verdict.divergence, NULL, NULL);
    snprintf(r->body, sizeof r->body, "%s", names.part ? names.part : "");
}

// Reports where a run with the planted fault of a module's simulation differs from one without.
static void explain_fault(result *r, foliot_replay *replay)
{
#ifndef FOLIOT_REPLAY_CORE
    foliot_replay *plain = NULL;
    foliot_damage damage;
    foliot_divergence *d = &r->verdict.divergence;
    foliot_step_trace *trace[2] = {NULL, NULL};
    if (!perturb_text || !tool_module)
        return;
    if (foliot__module_perturb_count() == 0) {
        const char *why = foliot__module_perturb_problem();
        snprintf(r->message, sizeof r->message, "--perturb: %s",
                 why ? why : "the recording has no such tick");
        r->exit_code = FOLIOT__EXIT_USAGE;
        r->has_verdict = false;
        return;
    }
    if (r->verdict.status == FOLIOT_STATUS_DIVERGED && !d->field_known &&
        foliot_replay_open(r->file, &tool_module->kind, &plain, &damage) == FOLIOT_STATUS_OK &&
        foliot_replay_seek(plain, d->tick) == FOLIOT_STATUS_OK &&
        foliot_replay_get_tick(replay) == d->tick &&
        foliot_step_trace_create(&trace[0]) == FOLIOT_STATUS_OK &&
        foliot_step_trace_create(&trace[1]) == FOLIOT_STATUS_OK) {
        foliot_step_trace_reset(trace[0], d->tick);
        foliot_step_trace_reset(trace[1], d->tick);
        if (foliot_step_trace_capture_held(trace[0], foliot_replay_get_simulation(plain)) ==
                FOLIOT_STATUS_OK &&
            foliot_step_trace_capture_held(trace[1], foliot_replay_get_simulation(replay)) ==
                FOLIOT_STATUS_OK)
            foliot_step_trace_compare(trace[0], trace[1], d);
    }
    foliot_step_trace_destroy(trace[0]);
    foliot_step_trace_destroy(trace[1]);
    if (plain)
        foliot_replay_close(plain);
#else
    (void)r;
    (void)replay;
#endif
}

// The replay matches; now the rules are checked. Their state is not part of the world, and only
// running them again proves it.
static void verify_rules(result *r, foliot_replay *replay)
{
#ifndef FOLIOT_REPLAY_CORE
    r->rules = rules_verify(replay, RULES_ALLOWANCE_DEFAULT, r->rules_text, sizeof r->rules_text,
                            &r->rules_counts);
    if (r->rules == RULES_DIFFER)
        r->exit_code = FOLIOT__EXIT_DIVERGED;
    else if (r->rules != RULES_MATCH && rules_wanted)
        r->exit_code = foliot__exit_worse(r->exit_code, FOLIOT__EXIT_NOT_VERIFIABLE);
#else
    (void)r;
    (void)replay;
#endif
}

static void verify_signature(result *r)
{
    r->signature = -1;
#ifndef FOLIOT_REPLAY_CORE
    if (!key_text)
        return;
    r->signature = (int)signature_verify(r->file, r->signature_text, sizeof r->signature_text);
    static const int codes[] = {FOLIOT__EXIT_FINE,           FOLIOT__EXIT_NOT_VERIFIABLE,
                                FOLIOT__EXIT_NOT_VERIFIABLE, FOLIOT__EXIT_NOT_VERIFIABLE,
                                FOLIOT__EXIT_CORRUPT,        FOLIOT__EXIT_ERROR};
    r->exit_code = foliot__exit_worse(r->exit_code, codes[r->signature]);
#endif
}

// Up to the end of the recording.
static bool all_agrees(const result *r)
{
    return r->verdict.status == FOLIOT_STATUS_OK || r->verdict.status == FOLIOT_STATUS_TRUNCATED;
}

static void verify_file(void *context, uint32_t index)
{
    verify_run *run = context;
    result *r = &run->results[index];
    foliot_replay *replay = NULL;
    foliot_damage damage = {0};
#ifndef FOLIOT_REPLAY_CORE
    foliot__module_perturb_begin();
#endif
    r->file = run->files[index];
    r->rules = r->signature = -1;
    const foliot_simulation_kind *kind = tool_kind() ? tool_kind() : &foliot_world_kind;
    foliot_status status = foliot_replay_open(r->file, kind, &replay, &damage);
    if (status == FOLIOT_STATUS_OK) {
        r->opened = true;
        const foliot_replay_summary *about = foliot_replay_get_summary(replay);
        verify_recording(r, replay, run->request);
        if (r->has_verdict)
            explain_fault(r, replay);
        bool rules = !rules_left_out && (rules_wanted || about->rules_name[0]);
        if (rules && about->scene && r->has_verdict && all_agrees(r))
            verify_rules(r, replay);
        if (r->has_verdict && r->verdict.status == FOLIOT_STATUS_DIVERGED)
            r->fingerprint_differs = !tool_fingerprint_fits(about, about->fingerprint);
        foliot_replay_close(replay);
        verify_signature(r);
        return;
    }
    snprintf(r->message, sizeof r->message, "%s",
             damage.text[0] ? damage.text : foliot_status_get_text(status));
    r->exit_code = tool_exit_of(status);
    r->has_verdict = r->exit_code != FOLIOT__EXIT_ERROR;
    r->verdict = (foliot_verdict){
        .status = r->exit_code == FOLIOT__EXIT_CORRUPT      ? FOLIOT_STATUS_CORRUPT
                  : r->exit_code == FOLIOT__EXIT_UNFINISHED ? FOLIOT_STATUS_TRUNCATED
                                                            : FOLIOT_STATUS_UNSUPPORTED,
        .damage = damage,
        .cut_at = damage.offset};
}

// -- output

static const char *verdict_name(const result *r)
{
    if (!r->has_verdict)
        return NULL;
    return r->verdict.status == FOLIOT_STATUS_OK          ? "match"
           : r->verdict.status == FOLIOT_STATUS_DIVERGED  ? "diverged"
           : r->verdict.status == FOLIOT_STATUS_CORRUPT   ? "corrupt"
           : r->verdict.status == FOLIOT_STATUS_TRUNCATED ? "unfinished"
                                                          : "unsupported";
}

static foliot_divergence_labels names_of(const result *r)
{
    foliot_replay_summary about = {.dt = r->dt};
    snprintf(about.kind, sizeof about.kind, "%s", r->simulation); // "": a world
    foliot_divergence_labels names = tool_names(r->file, &about, NULL, "recorded", "replayed");
    names.part = r->body;
    return names;
}

static void put_json(const result *r)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot__json json = foliot__json_to(stdout);
    foliot_digest_print(r->verdict.digest, digest);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "file", r->file);
    bool world = r->opened && !r->simulation[0];
    foliot__json_text(&json, "scene", world ? r->scene : NULL);
    if (r->simulation[0])
        foliot__json_text(&json, "simulation", r->simulation);
    foliot__json_text(&json, "integrator", world ? r->integrator : NULL);
    foliot__json_real(&json, "dt", world ? r->dt : NAN);
    foliot__json_count(&json, "ticks", r->verdict.ticks);
    foliot__json_count(&json, "players", r->players);
    foliot__json_text(&json, "digest", r->verdict.digest_known ? digest : NULL);
    foliot__json_text(&json, "verdict", verdict_name(r));
    foliot__json_count_if(&json, "cut_at",
                          r->has_verdict && r->verdict.damage.status != FOLIOT_STATUS_OK,
                          r->verdict.cut_at);
    bool diverged = r->has_verdict && r->verdict.status == FOLIOT_STATUS_DIVERGED;
    foliot_divergence_labels names = names_of(r);
    foliot__divergence_put(&json, diverged ? &r->verdict.divergence : NULL, &names);
#ifndef FOLIOT_REPLAY_CORE
    if (rules_wanted || r->rules >= 0) {
        const char *verdict = r->rules == RULES_MATCH            ? "match"
                              : r->rules == RULES_PART           ? "part"
                              : r->rules == RULES_DIFFER         ? "differ"
                              : r->rules == RULES_NOT_COMPARABLE ? "not comparable"
                              : r->rules == RULES_FAILED         ? "failed"
                                                                 : NULL;
        foliot__json_object(&json, "rules");
        foliot__json_text(&json, "verdict", verdict);
        foliot__json_count(&json, "first_tick", r->rules_counts.first_tick);
        foliot__json_count(&json, "commands", r->rules_counts.commands);
        foliot__json_count(&json, "dropped", r->rules_counts.drops);
        foliot__json_text(&json, "text",
                          r->rules >= RULES_MATCH && r->rules_text[0] ? r->rules_text : NULL);
        foliot__json_close(&json);
    }
    if (key_text) {
        foliot__json_object(&json, "signature");
        static const char *const verdicts[] = {"whole", "part",  "another key",
                                               "none",  "false", "failed"};
        foliot__json_text(&json, "verdict", r->signature < 0 ? NULL : verdicts[r->signature]);
        foliot__json_text(&json, "text", r->signature < 0 ? NULL : r->signature_text);
        foliot__json_close(&json);
    }
#endif
    foliot__json_decimals(&json, "realtime_factor",
                          r->realtime_factor > 0 ? r->realtime_factor : NAN, 3);
    foliot__json_line(&json);
}

static void put_text(const result *r)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(r->verdict.digest, digest);
    if (r->verdict.status == FOLIOT_STATUS_DIVERGED) {
        foliot_divergence_labels names = names_of(r);
        tool_report(stdout, &r->verdict.divergence, &names);
        if (r->fingerprint_differs)
            printf("  %-10s not that of the build that recorded: their arithmetic differs\n",
                   "fingerprint");
    } else if (all_agrees(r) && !r->verdict.digest_known) {
        printf("%s: " TOOL_UNFINISHED ", and its header is not whole\n", r->file);
    } else if (all_agrees(r)) {
        printf("%s: %s: %" PRIu64 " ticks, digest %s%s", r->file,
               r->verdict.status == FOLIOT_STATUS_OK ? "match"
                                                     : TOOL_UNFINISHED
                   ", and the whole part matches",
               r->verdict.ticks, digest, r->realtime_factor > 0 ? "" : "\n");
    } else {
        printf("%s: %s: %" PRIu64 " ticks verified, the file is whole up to byte %" PRIu64 "\n",
               r->file, verdict_name(r), r->verdict.ticks, r->verdict.cut_at);
    }
    if (all_agrees(r) && r->realtime_factor > 0)
        printf(", %.0f x real time\n", r->realtime_factor);
#ifndef FOLIOT_REPLAY_CORE
    if (r->rules == RULES_MATCH || r->rules == RULES_PART)
        printf("%s: rules match%s: %" PRIu64 " commands%s%s\n", r->file,
               r->rules == RULES_PART ? " in part" : "", r->rules_counts.commands,
               r->rules_text[0] ? "; " : "", r->rules_text);
    else if (r->rules == RULES_DIFFER)
        printf("%s: RULES DIFFER: %s\n", r->file, r->rules_text);
    else if (r->rules > 0)
        printf("%s: rules not verified: %s\n", r->file, r->rules_text);
    if (r->signature >= 0)
        printf("%s: %s%s\n", r->file,
               r->signature == SIGNATURE_WHOLE ? "" : "NOT PROVED: ", r->signature_text);
#endif
}

// -- which files

typedef struct file_list {
    const char **names;
    uint32_t count, capacity;
    char *text; // what --files-from held
} file_list;

static bool list_put(file_list *list, const char *name)
{
    if (!foliot__array_grow(&list->names, list->count, &list->capacity, 256, sizeof *list->names))
        return false;
    list->names[list->count++] = name;
    return true;
}

static bool list_read(file_list *list, const char *file)
{
    size_t length;
    list->text = tool_read_lines(file, &length);
    bool fine = list->text != NULL;
    for (char *line = list->text; fine && line && *line;) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        if (*line && !list_put(list, line)) {
            tool_complain(file, "%s", strerror(ENOMEM));
            fine = false;
        }
        line = next;
    }
    return fine;
}

// -- many files over all cores: each thread takes the next one. Without threads, sequentially.

#ifdef FOLIOT_REPLAY_CORE

static void run_jobs(uint32_t threads_max, uint32_t count,
                     void (*task)(void *context, uint32_t index), void *context)
{
    (void)threads_max;
    for (uint32_t i = 0; i < count; i++)
        task(context, i);
}

static uint32_t core_count(void)
{
    return 1;
}

#else

typedef struct queue {
    _Atomic uint32_t next;
    uint32_t count;
    void (*task)(void *context, uint32_t index);
    void *context;
} queue;

static void *worker(void *user)
{
    queue *q = user;
    for (uint32_t i; (i = atomic_fetch_add(&q->next, 1)) < q->count;)
        q->task(q->context, i);
    return NULL;
}

static void run_jobs(uint32_t threads_max, uint32_t count,
                     void (*task)(void *context, uint32_t index), void *context)
{
    queue q = {.count = count, .task = task, .context = context};
    uint32_t started = 0, helpers = threads_max < count ? threads_max : count;
    pthread_t *threads = helpers > 1 ? calloc(helpers - 1, sizeof *threads) : NULL;
    while (threads && started + 1 < helpers &&
           pthread_create(&threads[started], NULL, worker, &q) == 0)
        started++;
    worker(&q); // this thread is one of them
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static uint32_t core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : (uint32_t)cores;
}

#endif

static int verify_list(const file_list *list, const perturb_request *request)
{
    verify_run run = {.files = list->names,
                      .request = request,
                      .results = calloc(list->count + 1, sizeof *run.results)};
    if (!run.results) {
        fprintf(stderr, "foliot-replay verify: no memory\n");
        return FOLIOT__EXIT_ERROR;
    }
    run_jobs(jobs ? (uint32_t)jobs : core_count(), list->count, verify_file, &run);
    int worst = FOLIOT__EXIT_FINE;
    for (uint32_t i = 0; i < list->count; i++) {
        const result *r = &run.results[i];
        if (json_wanted)
            put_json(r);
        else if (r->has_verdict)
            put_text(r);
        if (r->message[0]) {
            fflush(stdout);
            tool_complain(r->file, "%s", r->message);
        }
        worst = foliot__exit_worse(worst, r->exit_code);
    }
    free(run.results);
    return worst;
}

int verify_command(const foliot__program *program, const foliot__arguments *arguments)
{
    file_list list = {0};
    perturb_request request;
    int code = -1;
    const char *wrong = tool_plant(perturb_text, &request);
    if (wrong)
        return foliot__options_wrong(program, arguments, "--perturb %s %s", perturb_text, wrong);
    if (tool_kind() && rules_wanted)
        return foliot__options_wrong(
            program, arguments, "--rules is for worlds: --simulation names another simulation");
#ifndef FOLIOT_REPLAY_CORE
    foliot_error error;
    if (key_text && foliot_signature_read_key(key_text, key, &error) != FOLIOT_STATUS_OK) {
        tool_complain("--key", "%s", error.text);
        return FOLIOT__EXIT_SCENE;
    }
#endif
    unsigned index = 1, of = 1;
    char rest;
    if (shard_text && (sscanf(shard_text, "%u/%u%c", &index, &of, &rest) != 2 || index < 1 ||
                       of < 1 || index > of))
        of = 0; // it is wrong
    for (uint32_t i = 0; i < arguments->operand_count; i++)
        list_put(&list, arguments->operands[i]);
    if (files_from && !list_read(&list, files_from)) {
        code = FOLIOT__EXIT_SCENE;
    } else if (list.count == 0 && !files_from) {
        code = foliot__options_wrong(program, arguments, "no recording is named");
    } else if (of == 0) {
        code = foliot__options_wrong(program, arguments, "--shard %s is not I/N with 1 <= I <= N",
                                     shard_text);
    } else {
        // Every n-th file from the i-th on, so that shards are alike in size.
        uint32_t kept = 0;
        for (uint64_t i = index - 1; i < list.count; i += of)
            list.names[kept++] = list.names[i];
        list.count = kept;
    }
    if (code < 0)
        code = verify_list(&list, perturb_text && !tool_kind() ? &request : NULL);
    free(list.names);
    free(list.text);
    return code;
}

#ifndef FOLIOT_REPLAY_CORE
// -- foliot-replay keys: a new pair

const foliot__option keys_options[] = {{0}};

int keys_command(const foliot__program *program, const foliot__arguments *arguments)
{
    foliot_error error;
    foliot_signer *signer;
    char text[FOLIOT_KEY_TEXT_BYTES];
    const char *file = arguments->operands[0];
    (void)program;
    foliot_status status = foliot_signer_write_new(file, &error);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_signer_read(file, &signer, &error);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-replay keys: %s\n", error.text);
        return FOLIOT__EXIT_ERROR;
    }
    foliot_signature_print_key(foliot_signer_get_key(signer), text);
    foliot_signer_destroy(signer);
    printf("%s: the secret key, for 'foliot-server --sign %s' alone\n"
           "%s.pub: the public key, for 'foliot-replay verify --key %s.pub'\n%s\n",
           file, file, file, file, text);
    return FOLIOT__EXIT_FINE;
}
#endif
