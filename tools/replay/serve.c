// SPDX-License-Identifier: MIT
// serve.c: foliot-replay serve: the other side of compare. Replays the recording, then answers on
// standard output what is asked on standard input, until that ends. Needs nothing but libc: any
// build can be asked.
#include "run.h"

#include "base/bytes.h"

#include <errno.h>
#include <time.h>

static const char *perturb_text;

const foliot__option serve_options[] = {{"perturb", "TICK[/STAGE]:BODY:FIELD:ULPS",
                                         FOLIOT__OPTION_TEXT, &perturb_text,
                                         .help = "puts a fault in, to see that it is found"},
                                        {0}};

static void say(foliot__writer *w, const uint64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        foliot__write_u64(w, values[i]);
}

// The next byte, EOF at the end. A runtime may hand us a pipe that does not wait (node does).
static int hear_byte(void)
{
    for (;;) {
        errno = 0;
        int byte = getchar();
        if (byte != EOF || !ferror(stdin) || errno != EAGAIN)
            return byte;
        struct timespec moment = {.tv_nsec = 1000000};
        clearerr(stdin);
        nanosleep(&moment, NULL);
    }
}

static bool hear(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int byte = hear_byte();
        if (byte == EOF)
            return false;
        bytes[i] = (uint8_t)byte;
    }
    return true;
}

static bool answer_chain(const run *r, foliot__writer *w)
{
    uint8_t bytes[8];
    if (!hear(bytes, sizeof bytes))
        return false;
    foliot__reader reader = foliot__reader_of(bytes, sizeof bytes);
    uint64_t tick = foliot__read_u64(&reader);
    bool there = tick >= r->first_tick && tick <= r->last_tick;
    foliot__write_u64(w, there ? r->chain[tick - r->first_tick] : 0);
    return true;
}

static bool answer_stages(run *r, foliot__writer *w)
{
    uint8_t bytes[8];
    uint32_t bodies;
    uint64_t hashes[FOLIOT_STAGE_COUNT];
    if (!hear(bytes, sizeof bytes))
        return false;
    foliot__reader reader = foliot__reader_of(bytes, sizeof bytes);
    run_stage_hashes(r, foliot__read_u64(&reader), &bodies, hashes);
    foliot__write_u32(w, bodies);
    say(w, hashes, FOLIOT_STAGE_COUNT);
    return true;
}

static bool answer_groups(const run *r, foliot__writer *w)
{
    uint8_t bytes[9];
    uint64_t hashes[FOLIOT__TREE_FANOUT];
    if (!hear(bytes, sizeof bytes) || bytes[0] >= FOLIOT_STAGE_COUNT)
        return false;
    foliot__reader reader = foliot__reader_of(bytes, sizeof bytes);
    unsigned stage = foliot__read_u8(&reader);
    uint32_t first = foliot__read_u32(&reader), group = foliot__read_u32(&reader);
    run_group_hashes(r, stage, first, group, hashes);
    say(w, hashes, FOLIOT__TREE_FANOUT);
    return true;
}

static bool answer_fields(const run *r, foliot__writer *w)
{
    uint8_t bytes[5];
    uint64_t fields[FOLIOT_FIELD_COUNT];
    if (!hear(bytes, sizeof bytes) || bytes[0] >= FOLIOT_STAGE_COUNT)
        return false;
    foliot__reader reader = foliot__reader_of(bytes, sizeof bytes);
    unsigned stage = foliot__read_u8(&reader);
    run_fields(r, stage, foliot__read_u32(&reader), fields);
    say(w, fields, FOLIOT_FIELD_COUNT);
    return true;
}

static bool answer_state(const run *r)
{
    uint8_t stage;
    if (!hear(&stage, 1) || stage >= FOLIOT_STAGE_COUNT)
        return false;
    for (uint32_t body = 0; body < r->states.stage[stage].body_count; body++) {
        uint64_t fields[FOLIOT_FIELD_COUNT];
        uint8_t bytes[8 * FOLIOT_FIELD_COUNT];
        foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
        run_fields(r, stage, body, fields);
        say(&w, fields, FOLIOT_FIELD_COUNT);
        fwrite(bytes, 1, w.at, stdout);
    }
    return true;
}

static bool answer(run *r, int question)
{
    uint8_t bytes[512];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    bool known = question == ASK_CHAIN    ? answer_chain(r, &w)
                 : question == ASK_STAGES ? answer_stages(r, &w)
                 : question == ASK_GROUPS ? answer_groups(r, &w)
                 : question == ASK_FIELDS ? answer_fields(r, &w)
                 : question == ASK_STATE  ? answer_state(r)
                                          : false;
    fwrite(bytes, 1, w.at, stdout);
    return known && fflush(stdout) == 0;
}

static void hello(const run *r, foliot_status status)
{
    uint8_t bytes[HELLO_BYTES];
    foliot_digest fingerprint = foliot_fingerprint();
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_bytes(&w, HELLO, 8);
    foliot__write_u8(&w, (uint8_t)-status);
    foliot__write_u64(&w, fingerprint.high);
    foliot__write_u64(&w, fingerprint.low);
    foliot__write_u64(&w, r->first_tick);
    foliot__write_u64(&w, r->last_tick);
    fwrite(bytes, 1, sizeof bytes, stdout);
    fflush(stdout);
}

int serve_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code, question;
    run r = {0};
    perturb_request request;
    const char *wrong = perturb_text ? tool_parse_perturb(perturb_text, &request) : NULL;
    if (wrong)
        return foliot__options_wrong(program, arguments, "--perturb %s %s", perturb_text, wrong);
    foliot_replay *replay = tool_open(arguments->operands[0], &code);
    if (!replay) {
        hello(&r, FOLIOT_CORRUPT);
        return code;
    }
    foliot_status status = run_open(&r, replay, perturb_text ? &request : NULL);
    hello(&r, status);
    while (status == FOLIOT_OK && (question = hear_byte()) != EOF)
        if (!answer(&r, question))
            break;
    run_close(&r);
    foliot_replay_close(replay);
    return tool_exit_of(status);
}
