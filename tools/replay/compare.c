// SPDX-License-Identifier: MIT
// compare.c: foliot-replay compare: another build replays the same recording in a separate process;
// hashes of both are compared until the first difference is found: tick, stage, body, field.
#include "run.h"

#include "base/bytes.h"
#include "divergence/divergence.h"
#include "divergence/state_layers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *with, *with_simulation;
static bool json_wanted;

const foliot__option compare_options[] = {
    {"with", "COMMAND", FOLIOT__OPTION_TEXT, &with, .help = "starts the other foliot-replay"},
    {"with-simulation", "FILE", FOLIOT__OPTION_TEXT, &with_simulation,
     .help = "other build of the module (default: the same)",
     .details = "This program runs it in a second process, unless --with names another program."},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "prints one JSON object on stdout"},
    SIMULATION_OPTION{0}};

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

// If this process is killed, so is the other one, though it replays for hours. Without a terminal
// it has a separate group, as the shell that runs it may have started more. With one it stays in
// this group: it may have to prompt there (ssh does), and Ctrl-C reaches both.
static volatile sig_atomic_t other_process, other_group;

static void end_both(int number)
{
    if (other_process > 0)
        kill(other_group ? -(pid_t)other_process : (pid_t)other_process, SIGTERM);
    signal(number, SIG_DFL);
    raise(number);
}

static bool start_other(other *o, const char *file)
{
    int to[2], from[2];
    signal(SIGPIPE, SIG_IGN);
    if (pipe(to) != 0 || pipe(from) != 0)
        return false;
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal >= 0)
        close(terminal);
    other_group = terminal < 0;
    o->process = fork();
    if (o->process < 0)
        return false;
    if (o->process == 0) {
        const char *module = with_simulation ? with_simulation : tool_simulation_file;
        char line[4096];
        if (other_group)
            setpgid(0, 0);
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        if (!with)
            execl("/proc/self/exe", "foliot-replay", "serve", file, "--simulation", module,
                  (char *)NULL);
        else if (snprintf(line, sizeof line, "%s \"$@\"", with) < (int)sizeof line)
            execl("/bin/sh", "sh", "-c", line, "sh", "serve", file, module ? "--simulation" : NULL,
                  module, (char *)NULL);
        _exit(127);
    }
    if (other_group)
        setpgid(o->process, o->process); // both processes do so; the first wins
    other_process = o->process;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before, action = {.sa_handler = end_both};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    close(to[0]);
    close(from[1]);
    o->to = to[1];
    o->from = from[0];
    return true;
}

static bool receive_hello(other *o)
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

static uint32_t receive_u32(other *o)
{
    uint8_t bytes[4] = {0};
    o->failed |= !move_all(o->from, bytes, sizeof bytes, true);
    foliot__reader r = foliot__reader_of(bytes, sizeof bytes);
    return foliot__read_u32(&r);
}

// -- the search

static foliot_status run_search(run *r, other *o, foliot_search *search, uint64_t last)
{
    foliot_status status = FOLIOT_STATUS_OK;
    foliot_search_begin_chain(search, r->first_tick, last, r->chain);
    while (status == FOLIOT_STATUS_OK && !o->failed) {
        if (search->state == FOLIOT_SEARCH_NEEDS_TRACE) {
            status = run_trace(r, foliot_search_get_tick(search));
            foliot_search_set_trace(search, r->trace);
        } else if (search->state == FOLIOT_SEARCH_REQUESTS) {
            uint8_t request[1 + FOLIOT_SEARCH_REQUEST_BYTES_MAX], response[255], length = 0;
            size_t count = foliot_search_get_request(search, request + 1);
            request[0] = (uint8_t)count;
            o->failed |= !move_all(o->to, request, count + 1, false) ||
                         !move_all(o->from, &length, 1, true) ||
                         !move_all(o->from, response, length, true);
            if (!o->failed)
                o->failed =
                    foliot_search_handle_response(search, response, length) != FOLIOT_STATUS_OK;
            o->exchanged += 2; // the lengths; the search counts the rest
        } else {
            break;
        }
    }
    o->exchanged += search->exchanged;
    return status;
}

// -- the report

static void put_json(const char *file, const run *r, const other *o, const foliot_divergence *d)
{
    foliot_divergence_labels names =
        tool_names(file, foliot_replay_get_summary(r->replay), d, "ours", "theirs");
    foliot__json json = foliot__json_to(stdout);
    uint64_t last = r->last_tick < o->last_tick ? r->last_tick : o->last_tick;
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "file", file);
    foliot__json_text(&json, "with", with);
    if (tool_kind())
        foliot__json_text(&json, "with_simulation", with_simulation);
    foliot__json_count(&json, "ticks", (d ? d->tick : last) - r->first_tick);
    foliot__json_text(&json, "verdict", d ? "diverged" : "match");
    foliot__divergence_put(&json, d, &names);
    foliot__divergence_put_bits(&json, d, &names);
    foliot__json_bool(&json, "fingerprints_equal",
                      tool_fingerprint_fits(foliot_replay_get_summary(r->replay), o->fingerprint));
    foliot__json_count(&json, "bytes_exchanged", o->exchanged);
    foliot__json_count(&json, "bytes_dumped", o->dumped);
    foliot__json_line(&json);
}

static void put_text(const char *file, const run *r, const other *o, const foliot_divergence *d)
{
    foliot_divergence_labels names =
        tool_names(file, foliot_replay_get_summary(r->replay), d, "ours", "theirs");
    names.unknown = "in no part that has a name";
    if (d)
        tool_report(stdout, d, &names);
    else
        printf("%s: both builds agree in all %" PRIu64 " ticks\n", file,
               r->last_tick - r->first_tick);
    if (!tool_fingerprint_fits(foliot_replay_get_summary(r->replay), o->fingerprint))
        printf("  %-10s their fingerprints differ: these builds compute differently\n", "builds");
    printf("  %-10s %" PRIu64 " bytes, and %" PRIu64 " of states\n", "exchanged", o->exchanged,
           o->dumped);
}

static int report_failed(const other *o)
{
    tool_complain(with ? "--with" : "--with-simulation", "'%s': %s", with ? with : with_simulation,
                  o->status != FOLIOT_STATUS_OK
                      ? foliot_status_get_text(o->status)
                      : "it does not answer as a foliot-replay of this format does");
    return FOLIOT__EXIT_ERROR;
}

static int compare_builds(const char *file, foliot_replay *replay, other *o)
{
    run r;
    foliot_search search;
    foliot_status status = run_open(&r, replay, NULL); // while the other does the same
    bool answers = receive_hello(o);
    if (status != FOLIOT_STATUS_OK || !answers || o->status != FOLIOT_STATUS_OK ||
        o->first_tick != r.first_tick) {
        run_close(&r);
        if (status == FOLIOT_STATUS_MISCOUNTED)
            tool_complain(file, "%s", foliot_status_get_text(status));
        return status != FOLIOT_STATUS_OK ? tool_exit_of(status) : report_failed(o);
    }
    uint64_t last = r.last_tick < o->last_tick ? r.last_tick : o->last_tick;
    status = run_search(&r, o, &search, last);
    bool diverged = search.state == FOLIOT_SEARCH_FOUND;
    if (diverged && search.found.field_known && status == FOLIOT_STATUS_OK && !o->failed) {
        // All fields of all parts: how far the difference has spread. The search needs none of it.
        uint8_t request[2] = {0, search.layer};
        const foliot__trace_layer *layer = &r.trace->layer[search.layer];
        o->failed |= !move_all(o->to, request, sizeof request, false);
        uint32_t parts = receive_u32(o);
        for (uint32_t part = 0; part < parts && !o->failed; part++) {
            uint32_t theirs = receive_u32(o), ours = foliot__layer_entries(layer, part), fields = 0;
            o->dumped += 4 + 8 * (uint64_t)theirs;
            for (uint32_t field = 0; (field < theirs || field < ours) && !o->failed; field++) {
                uint8_t bytes[8] = {0};
                if (field < theirs)
                    o->failed |= !move_all(o->from, bytes, sizeof bytes, true);
                foliot__reader reader = foliot__reader_of(bytes, sizeof bytes);
                bool both = field < theirs && field < ours;
                uint64_t bits = foliot__read_u64(&reader);
                fields += !both || bits != foliot__layer_bits(layer, part, field);
            }
            search.found.fields += fields;
            search.found.parts += fields > 0;
        }
    }
    int code = diverged ? FOLIOT__EXIT_DIVERGED : FOLIOT__EXIT_FINE;
    if (o->failed || status != FOLIOT_STATUS_OK)
        code = report_failed(o);
    else
        (json_wanted ? put_json : put_text)(file, &r, o, diverged ? &search.found : NULL);
    if (r.last_tick != o->last_tick) {
        tool_complain(file, "this build reaches tick %" PRIu64 ", the other %" PRIu64, r.last_tick,
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
    if (with_simulation && !tool_kind())
        return foliot__options_wrong(program, arguments,
                                     "--with-simulation is for the recording of a module: "
                                     "--simulation is missing");
    if (!with && !with_simulation)
        return foliot__options_wrong(program, arguments, "--with is missing");
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    if (start_other(&o, file)) {
        code = compare_builds(file, replay, &o);
        int status;
        close(o.to);
        close(o.from);
        while (waitpid(o.process, &status, 0) < 0 && errno == EINTR)
            ;
        other_process = 0;
    } else {
        tool_complain("the other process", "%s", strerror(errno));
        code = FOLIOT__EXIT_ERROR;
    }
    tool_tell_damage(file, replay);
    foliot_replay_close(replay);
    return code;
}
