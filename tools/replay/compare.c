// SPDX-License-Identifier: MIT
// compare.c: foliot-replay compare: another build replays the same recording in a process of its
// own; both are asked for hashes until the first tick, stage, body and field are found in which
// they differ.
#include "run.h"

#include "base/bytes.h"
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *with;
static bool json_wanted;

const foliot__option compare_options[] = {
    {"with", "COMMAND", FOLIOT__OPTION_TEXT, &with, .help = "runs the other foliot-replay"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "one JSON object on stdout"},
    {0}};

typedef struct other {
    pid_t process;
    int to, from;
    bool failed;
    foliot_status status;
    foliot_digest fingerprint;
    uint64_t first_tick, last_tick;
    uint64_t exchanged, dumped; // bytes, both ways; of the final dump
} other;

// -- the other process
// ----------------------------------------------------------------------------------

static bool move_all(int file, uint8_t *bytes, size_t count, bool reads)
{
    while (count > 0) {
        ssize_t moved = reads ? read(file, bytes, count) : write(file, bytes, count);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        bytes += moved;
        count -= (size_t)moved;
    }
    return true;
}

static _Noreturn void become_other(const char *file, const int to[2], const int from[2])
{
    size_t length = strlen(with) + 16;
    char *line = malloc(length);
    if (line) {
        snprintf(line, length, "%s \"$@\"", with);
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        execl("/bin/sh", "sh", "-c", line, "sh", "serve", file, (char *)NULL);
    }
    _exit(127);
}

static bool start_other(other *o, const char *file)
{
    int to[2], from[2];
    signal(SIGPIPE, SIG_IGN);
    if (pipe(to) != 0 || pipe(from) != 0)
        return false;
    o->process = fork();
    if (o->process < 0)
        return false;
    if (o->process == 0)
        become_other(file, to, from);
    close(to[0]);
    close(from[1]);
    o->to = to[1];
    o->from = from[0];
    return true;
}

static void end_other(other *o)
{
    int status;
    close(o->to);
    close(o->from);
    while (waitpid(o->process, &status, 0) < 0 && errno == EINTR)
        ;
}

static bool hear_hello(other *o)
{
    uint8_t bytes[HELLO_BYTES];
    if (!move_all(o->from, bytes, sizeof bytes, true) || memcmp(bytes, HELLO, 8) != 0)
        return false;
    foliot__reader r = foliot__reader_of(bytes, sizeof bytes);
    foliot__read_bytes(&r, 8);
    o->status = (foliot_status)-foliot__read_u8(&r);
    o->fingerprint.high = foliot__read_u64(&r);
    o->fingerprint.low = foliot__read_u64(&r);
    o->first_tick = foliot__read_u64(&r);
    o->last_tick = foliot__read_u64(&r);
    o->exchanged += sizeof bytes;
    return true;
}

static void ask(other *o, foliot__writer *question, uint8_t *answer, size_t count)
{
    o->failed |= !move_all(o->to, question->bytes, question->at, false) ||
                 !move_all(o->from, answer, count, true);
    o->exchanged += question->at + count;
}

static void take_values(const uint8_t *bytes, uint64_t *values, uint32_t count)
{
    foliot__reader r = foliot__reader_of(bytes, 8 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = foliot__read_u64(&r);
}

static uint64_t ask_chain(other *o, uint64_t tick)
{
    uint8_t question[9], answer[8] = {0};
    uint64_t value;
    foliot__writer w = foliot__writer_of(question, sizeof question);
    foliot__write_u8(&w, ASK_CHAIN);
    foliot__write_u64(&w, tick);
    ask(o, &w, answer, sizeof answer);
    take_values(answer, &value, 1);
    return value;
}

static uint32_t ask_stages(other *o, uint64_t tick, uint64_t hashes[FOLIOT_STAGE_COUNT])
{
    uint8_t question[9], answer[4 + 8 * FOLIOT_STAGE_COUNT] = {0};
    foliot__writer w = foliot__writer_of(question, sizeof question);
    foliot__write_u8(&w, ASK_STAGES);
    foliot__write_u64(&w, tick);
    ask(o, &w, answer, sizeof answer);
    take_values(answer + 4, hashes, FOLIOT_STAGE_COUNT);
    foliot__reader r = foliot__reader_of(answer, 4);
    return foliot__read_u32(&r);
}

static void ask_groups(other *o, unsigned stage, uint32_t first, uint32_t group,
                       uint64_t hashes[FOLIOT__TREE_FANOUT])
{
    uint8_t question[10], answer[8 * FOLIOT__TREE_FANOUT] = {0};
    foliot__writer w = foliot__writer_of(question, sizeof question);
    foliot__write_u8(&w, ASK_GROUPS);
    foliot__write_u8(&w, (uint8_t)stage);
    foliot__write_u32(&w, first);
    foliot__write_u32(&w, group);
    ask(o, &w, answer, sizeof answer);
    take_values(answer, hashes, FOLIOT__TREE_FANOUT);
}

static void ask_fields(other *o, unsigned stage, uint32_t body, uint64_t fields[FOLIOT_FIELD_COUNT])
{
    uint8_t question[6], answer[8 * FOLIOT_FIELD_COUNT] = {0};
    foliot__writer w = foliot__writer_of(question, sizeof question);
    foliot__write_u8(&w, ASK_FIELDS);
    foliot__write_u8(&w, (uint8_t)stage);
    foliot__write_u32(&w, body);
    ask(o, &w, answer, sizeof answer);
    take_values(answer, fields, FOLIOT_FIELD_COUNT);
}

// -- the search
// -----------------------------------------------------------------------------------------

// The first tick from which on the chains differ; beyond `last` if none does.
static uint64_t first_other_tick(const run *r, other *o, uint64_t last)
{
    uint64_t low = r->first_tick, high = last + 1;
    while (low < high && !o->failed) {
        uint64_t middle = low + (high - low) / 2;
        // The last is asked first: mostly they agree, and then that is all.
        if (high == last + 1)
            middle = low == r->first_tick ? last : middle;
        if (ask_chain(o, middle) == r->chain[middle - r->first_tick])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t first_other_body(run *r, other *o, unsigned stage, uint32_t bodies)
{
    uint32_t first = 0;
    for (uint32_t group = foliot__tree_group(bodies);; group /= FOLIOT__TREE_FANOUT) {
        uint64_t ours[FOLIOT__TREE_FANOUT], theirs[FOLIOT__TREE_FANOUT];
        uint32_t i = 0;
        run_group_hashes(r, stage, first, group, ours);
        ask_groups(o, stage, first, group, theirs);
        while (i < FOLIOT__TREE_FANOUT - 1 && ours[i] == theirs[i])
            i++;
        first += i * group;
        if (group == 1 || o->failed)
            return first;
    }
}

// All fields of all bodies: how far it has spread already, and nothing that the search needs.
static void count_all(const run *r, other *o, unsigned stage, uint32_t bodies, foliot_divergence *d)
{
    uint8_t question[2] = {ASK_STATE, (uint8_t)stage};
    if (bodies != r->states.stage[stage].body_count || !move_all(o->to, question, 2, false))
        return;
    for (uint32_t body = 0; body < bodies; body++) {
        uint8_t answer[8 * FOLIOT_FIELD_COUNT] = {0};
        uint64_t ours[FOLIOT_FIELD_COUNT], theirs[FOLIOT_FIELD_COUNT];
        uint32_t fields = 0;
        if (!move_all(o->from, answer, sizeof answer, true))
            return;
        o->dumped += sizeof answer;
        take_values(answer, theirs, FOLIOT_FIELD_COUNT);
        run_fields(r, stage, body, ours);
        for (int f = 0; f < FOLIOT_FIELD_COUNT; f++)
            fields += ours[f] != theirs[f];
        d->fields += fields;
        d->bodies += fields > 0;
    }
}

static foliot_status search(run *r, other *o, foliot_divergence *d)
{
    uint64_t ours[FOLIOT_STAGE_COUNT], theirs[FOLIOT_STAGE_COUNT];
    uint32_t bodies, their_bodies;
    unsigned stage = 0;
    foliot_status status = run_stage_hashes(r, d->tick, &bodies, ours);
    if (status != FOLIOT_OK)
        return status;
    their_bodies = ask_stages(o, d->tick, theirs);
    while (stage < FOLIOT_STAGE_COUNT && ours[stage] == theirs[stage])
        stage++;
    if (stage == FOLIOT_STAGE_COUNT) // not in a body: players, random generator, definitions
        return FOLIOT_OK;
    d->stage_known = d->tick > r->first_tick;
    d->stage = (foliot_stage)stage;
    uint32_t most = bodies > their_bodies ? bodies : their_bodies;
    uint32_t body = first_other_body(r, o, stage, most);
    uint64_t mine[FOLIOT_FIELD_COUNT], their[FOLIOT_FIELD_COUNT];
    run_fields(r, stage, body, mine);
    ask_fields(o, stage, body, their);
    int f = 0;
    while (f < FOLIOT_FIELD_COUNT && mine[f] == their[f])
        f++;
    if (f == FOLIOT_FIELD_COUNT)
        return FOLIOT_OK;
    d->field_known = true;
    d->body = body;
    d->field = (foliot_field)f;
    d->expected = mine[f];
    d->actual = their[f];
    d->ulps = foliot__field_ulps(d->field, d->expected, d->actual);
    count_all(r, o, stage, their_bodies, d);
    return FOLIOT_OK;
}

// -- the report
// -----------------------------------------------------------------------------------------

static void put_bits(foliot__json *json, const char *key, const foliot_divergence *d, uint64_t bits)
{
    char text[24];
    snprintf(text, sizeof text, "0x%016" PRIx64, bits);
    foliot__json_text(json, key, d && d->field_known ? text : NULL);
}

static void put_json(const char *file, const run *r, const other *o, const foliot_divergence *d)
{
    const foliot_scene *scene = foliot_replay_about(r->replay)->scene;
    foliot__json json = foliot__json_to(stdout);
    uint64_t last = r->last_tick < o->last_tick ? r->last_tick : o->last_tick;
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "file", file);
    foliot__json_text(&json, "with", with);
    foliot__json_count(&json, "ticks", (d ? d->tick : last) - r->first_tick);
    foliot__json_text(&json, "verdict", d ? "diverged" : "match");
    tool_put_divergence(&json, d && d->field_known ? tool_body_name(scene, d->body) : NULL, d);
    put_bits(&json, "ours", d, d ? d->expected : 0);
    put_bits(&json, "theirs", d, d ? d->actual : 0);
    foliot__json_bool(&json, "fingerprints_equal",
                      foliot_digest_equal(foliot_fingerprint(), o->fingerprint));
    foliot__json_count(&json, "bytes_exchanged", o->exchanged);
    foliot__json_count(&json, "bytes_dumped", o->dumped);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

static void put_text(const char *file, const run *r, const other *o, const foliot_divergence *d)
{
    const foliot_replay_summary *about = foliot_replay_about(r->replay);
    if (d)
        tool_report(stdout, file, about->dt, tool_body_name(about->scene, d->body), d, "ours",
                    "theirs");
    else
        printf("%s: both builds agree in all %" PRIu64 " ticks\n", file,
               r->last_tick - r->first_tick);
    if (!foliot_digest_equal(foliot_fingerprint(), o->fingerprint))
        printf("  %-10s their fingerprints differ: these builds do not compute alike\n", "builds");
    printf("  %-10s %" PRIu64 " bytes, and %" PRIu64 " of states\n", "exchanged", o->exchanged,
           o->dumped);
}

static int say_failed(const other *o)
{
    if (o->status != FOLIOT_OK)
        fprintf(stderr, "--with '%s': %s\n", with, foliot_status_text(o->status));
    else
        fprintf(stderr, "--with '%s': it does not answer as a foliot-replay of this format does\n",
                with);
    return FOLIOT__EXIT_ERROR;
}

static int compare(const char *file, foliot_replay *replay, other *o)
{
    run r;
    foliot_divergence divergence = {.body = FOLIOT_NO_BODY};
    foliot_status status = run_open(&r, replay, NULL); // while the other does the same
    bool answers = hear_hello(o);
    if (status != FOLIOT_OK || !answers || o->status != FOLIOT_OK ||
        o->first_tick != r.first_tick) {
        run_close(&r);
        return status != FOLIOT_OK ? tool_exit_of(status) : say_failed(o);
    }
    uint64_t last = r.last_tick < o->last_tick ? r.last_tick : o->last_tick;
    divergence.tick = first_other_tick(&r, o, last);
    bool diverged = divergence.tick <= last;
    if (diverged && !o->failed)
        status = search(&r, o, &divergence);
    int code = diverged ? FOLIOT__EXIT_DIVERGED : FOLIOT__EXIT_FINE;
    if (o->failed || status != FOLIOT_OK)
        code = say_failed(o);
    else
        (json_wanted ? put_json : put_text)(file, &r, o, diverged ? &divergence : NULL);
    if (r.last_tick != o->last_tick) {
        fprintf(stderr, "%s: we reach tick %" PRIu64 ", they %" PRIu64 "\n", file, r.last_tick,
                o->last_tick);
        code = foliot__exit_worse(code, FOLIOT__EXIT_DIVERGED);
    }
    run_close(&r);
    return code;
}

int compare_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code;
    other o = {.process = -1};
    const char *file = arguments->operands[0];
    if (!with)
        return foliot__options_wrong(program, arguments, "--with is missing");
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    if (start_other(&o, file)) {
        code = compare(file, replay, &o);
        end_other(&o);
    } else {
        fprintf(stderr, "--with '%s': %s\n", with, strerror(errno));
        code = FOLIOT__EXIT_ERROR;
    }
    tool_tell_damage(file, replay);
    foliot_replay_close(replay);
    return code;
}
