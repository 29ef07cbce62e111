// SPDX-License-Identifier: MIT
// serve.c: foliot-replay serve: the other side of compare. Replays the recording, then reads
// requests from standard input and writes responses to standard output until the input ends. Needs
// only libc, so that every build has it.
#include "run.h"

#include "base/bytes.h"
#include "divergence/state_layers.h"

#include <errno.h>
#include <time.h>

static const char *perturb_text;

const foliot__option serve_options[] = {
    {"perturb", "TICK[/STAGE]:BODY:FIELD:ULPS", FOLIOT__OPTION_TEXT, &perturb_text,
     .help = "puts a fault into the state, to test that it is found",
     .details = FOLIOT__PERTURB_DETAILS},
    SIMULATION_OPTION{0}};

// The next byte, EOF at the end. A runtime may hand us a pipe that does not wait (node does).
static int read_byte(void)
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

static bool read_bytes(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int byte = read_byte();
        if (byte == EOF)
            return false;
        bytes[i] = (uint8_t)byte;
    }
    return true;
}

static bool write_bytes(const uint8_t *bytes, size_t count)
{
    return fwrite(bytes, 1, count, stdout) == count;
}

// A request's length was read.
static bool respond(run *r, uint8_t length)
{
    uint8_t request[FOLIOT_SEARCH_REQUEST_BYTES_MAX], bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
    size_t count = 0;
    uint64_t tick;
    foliot_search_responder responder = {r->chain, r->first_tick, r->last_tick, r->trace};
    if (length > sizeof request || !read_bytes(request, length))
        return false;
    foliot_status status = foliot_search_respond(&responder, request, length, bytes, &count, &tick);
    if (status == FOLIOT_STATUS_AGAIN && run_trace(r, tick) == FOLIOT_STATUS_OK)
        status = foliot_search_respond(&responder, request, length, bytes, &count, &tick);
    uint8_t answered = (uint8_t)(status == FOLIOT_STATUS_OK ? count : 0);
    return write_bytes(&answered, 1) && write_bytes(bytes, answered) && fflush(stdout) == 0 &&
           status == FOLIOT_STATUS_OK;
}

static bool write_u32(uint32_t value)
{
    uint8_t bytes[4];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_u32(&w, value);
    return write_bytes(bytes, sizeof bytes);
}

static bool write_layer(const run *r)
{
    uint8_t index, bytes[8];
    if (!read_bytes(&index, 1) || index >= FOLIOT__LAYERS_MAX)
        return false;
    const foliot__trace_layer *layer = &r->trace->layer[index];
    bool fine = write_u32(layer->part_count);
    for (uint32_t part = 0; part < layer->part_count && fine; part++) {
        fine = write_u32(layer->parts[part].field_count);
        for (uint32_t f = 0; f < layer->parts[part].field_count && fine; f++) {
            foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
            foliot__write_u64(&w, foliot__layer_bits(layer, part, f));
            fine = write_bytes(bytes, sizeof bytes);
        }
    }
    return fflush(stdout) == 0 && fine;
}

static void write_hello(const run *r, foliot_status status)
{
    uint8_t bytes[HELLO_BYTES];
    foliot_digest fingerprint =
        tool_fingerprint(r->replay ? foliot_replay_get_summary(r->replay) : NULL);
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
    int code, length;
    run r = {0};
    perturb_request request;
    const char *wrong = tool_plant(perturb_text, &request);
    if (wrong)
        return foliot__options_wrong(program, arguments, "--perturb %s %s", perturb_text, wrong);
    foliot_replay *replay = tool_open(arguments->operands[0], &code);
    if (!replay) {
        write_hello(&r, FOLIOT_STATUS_CORRUPT);
        return code;
    }
    foliot_status status = run_open(&r, replay, perturb_text && !tool_kind() ? &request : NULL);
    write_hello(&r, status);
    while (status == FOLIOT_STATUS_OK && (length = read_byte()) != EOF)
        if (!(length ? respond(&r, (uint8_t)length) : write_layer(&r)))
            break;
    run_close(&r);
    foliot_replay_close(replay);
    return tool_exit_of(status);
}
