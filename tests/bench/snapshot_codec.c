// SPDX-License-Identifier: MIT
// snapshot_codec.c: bytes and time of snapshots against a baseline, on recorded frames of cubes:
// int32 x 8 a body (orientation_largest, three of 9 bits, x, y, z in 1/512 m, interacting). Frame i
// is encoded as the server does it, given that the receiver has frame i - N and what that one was
// decoded against: a body's velocity in frame i is its move since frame i - N, which the receiver
// knows when it comes to frame i + N. Without a file: ready scenes as a server sends them, and the
// file that FOLIOT_CUBES names, if it is there.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "foliot/snapshot.h"
#include "worlds.h"

#define FIELDS 8
#define FALL (-20 * 512 * 16 * 64 / 3600) // 20 m/s^2 in 1/64 velocity step a tick, at 60 Hz
#define KEEP 64881                        // 0.99 of the velocity a tick

typedef struct frames {
    const char *file;
    int32_t *data;
    uint32_t bodies, baseline, count;
} frames;

static bool frames_read(frames *f)
{
    FILE *stream = fopen(f->file, "rb");
    if (!stream)
        return false;
    fseek(stream, 0, SEEK_END);
    size_t length = (size_t)ftell(stream);
    rewind(stream);
    f->count = (uint32_t)(length / (sizeof(int32_t) * FIELDS * f->bodies));
    f->data = malloc(length + 1);
    bool good = f->data && fread(f->data, 1, length, stream) == length;
    fclose(stream);
    return good;
}

static const int32_t *fields_of(const frames *f, uint32_t frame, uint32_t body)
{
    return f->data + ((size_t)frame * f->bodies + body) * FIELDS;
}

static const foliot_snapshot_format format_template = {0x1p-9, 0x1p-13, {0, 0, FALL},     KEEP,
                                                       true,   true,    FOLIOT_BODIES_MAX};

static void body_of(const int32_t *fields, foliot_snapshot_body *b)
{
    *b = (foliot_snapshot_body){.largest = (uint8_t)fields[0]};
    for (int k = 0; k < 3; k++) {
        b->orientation[k] = (uint16_t)fields[1 + k];
        b->position[k] = fields[4 + k];
    }
    b->flags = (uint8_t)(FOLIOT_SNAPSHOT_ALIVE | (fields[7] ? 0 : FOLIOT_SNAPSHOT_FROZEN));
}

static void snapshot_of(const frames *f, uint32_t frame, foliot_snapshot *s)
{
    s->tick = frame + f->baseline;
    s->count = f->bodies;
    for (uint32_t i = 0; i < f->bodies; i++) {
        foliot_snapshot_body then;
        body_of(fields_of(f, frame, i), &s->bodies[i]);
        body_of(fields_of(f, frame < f->baseline ? frame : frame - f->baseline, i), &then);
        foliot_snapshot_derive_motion(&format_template, &then, f->baseline, &s->bodies[i]);
    }
}

typedef struct tally {
    double *bytes, *encode_us, *decode_us;
    uint32_t count, mismatches;
} tally;

static void one_frame(foliot_snapshot_coder *coder, foliot_snapshot_pieces *pieces,
                      const foliot_snapshot *base, const foliot_snapshot *s, foliot_snapshot *got,
                      tally *t)
{
    foliot_status status = FOLIOT_STATUS_OK;
    double start, best = 1e9;
    for (int i = 0; i < 3 && status == FOLIOT_STATUS_OK;
         i++) { // the best of three: others use the machine too
        start = bench_now();
        status = foliot_snapshot_encode(coder, s, base, pieces);
        double took = (bench_now() - start) * 1e6;
        best = took < best ? took : best;
    }
    t->encode_us[t->count] = best;
    t->bytes[t->count] = pieces->offsets[pieces->count];
    got->tick = s->tick;
    got->count = s->count;
    memset(got->bodies, 0xff, sizeof *got->bodies * got->count);
    start = bench_now();
    for (uint32_t i = 0; i < pieces->count && status == FOLIOT_STATUS_OK; i++) {
        foliot_snapshot_head head;
        status = foliot_snapshot_decode(coder, pieces->bytes + pieces->offsets[i],
                                        pieces->offsets[i + 1] - pieces->offsets[i], s->tick, base,
                                        got, &head);
    }
    t->decode_us[t->count++] = (bench_now() - start) * 1e6;
    t->mismatches += status != FOLIOT_STATUS_OK || !foliot_snapshot_equal(s, got);
}

static foliot_snapshot room_for(uint32_t bodies)
{
    return (foliot_snapshot){.capacity = bodies,
                             .bodies = calloc(bodies, sizeof(foliot_snapshot_body))};
}

static tally run(const frames *f, uint32_t first, uint32_t end)
{
    tally t = {.bytes = calloc(f->count, sizeof(double)),
               .encode_us = calloc(f->count, sizeof(double)),
               .decode_us = calloc(f->count, sizeof(double))};
    foliot_snapshot_coder *coder = NULL;
    foliot_snapshot_pieces pieces = {0};
    foliot_snapshot base = room_for(f->bodies), now = room_for(f->bodies),
                    got = room_for(f->bodies);
    if (foliot_snapshot_coder_create(&format_template, &coder) != FOLIOT_STATUS_OK)
        exit(2);
    for (uint32_t i = first; i < end; i++) {
        snapshot_of(f, i - f->baseline, &base);
        snapshot_of(f, i, &now);
        one_frame(coder, &pieces, &base, &now, &got, &t);
    }
    foliot_snapshot_coder_destroy(coder);
    foliot_snapshot_pieces_destroy(&pieces);
    free(base.bodies);
    free(now.bodies);
    free(got.bodies);
    return t;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// -- ready scenes

#define WORLD_TICKS 600
static const char *const worlds[] = {"cubes", "marbles", "spacewar", "billiards",
                                     "cloth", "jelly",   "ragdoll"};

typedef struct world_run {
    const char *name;
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces;
    foliot_snapshot got;
    tally tally;
} world_run;

// Size of a snapshot where nothing has moved since the baseline.
static void unchanged_row(const char *name, world_run *r, const worlds_pair *pair)
{
    char text[128];
    foliot_snapshot base = room_for(pair->now->count), now;
    base.tick = pair->base->tick;
    base.count = pair->now->count;
    memcpy(base.bodies, pair->now->bodies, base.count * sizeof *base.bodies);
    for (uint32_t i = 0; i < base.count; i++)
        memset(base.bodies[i].velocity, 0, sizeof base.bodies[i].velocity);
    now = base;
    now.tick = pair->now->tick;
    if (foliot_snapshot_encode(r->coder, &now, &base, &r->pieces) != FOLIOT_STATUS_OK)
        exit(2);
    snprintf(text, sizeof text, "%s at rest, bytes a snapshot", name);
    bench_report("snapshot_codec", text, r->pieces.offsets[r->pieces.count], "B", NULL, 0);
    free(base.bodies);
}

static void world_frame(void *user, const worlds_pair *pair)
{
    world_run *r = user;
    if (!r->coder) {
        if (foliot_snapshot_coder_create(pair->format, &r->coder) != FOLIOT_STATUS_OK)
            exit(2);
        r->got = room_for(pair->format->bodies_max + 1);
    }
    if (r->tally.count == 0)
        unchanged_row(r->name, r, pair);
    one_frame(r->coder, &r->pieces, pair->base, pair->now, &r->got, &r->tally);
}

// Returns mismatches.
static uint32_t world_rows(const char *name)
{
    double bytes[WORLD_TICKS], encode[WORLD_TICKS], decode[WORLD_TICKS], sum = 0;
    char text[128];
    world_run r = {.name = name,
                   .tally = {.bytes = bytes, .encode_us = encode, .decode_us = decode}};
    snprintf(text, sizeof text, "scenes/%s.yaml", name);
    if (!worlds_run(text, WORLD_TICKS, 6, world_frame, &r))
        return 0; // not there (yet)
    for (uint32_t i = 0; i < r.tally.count; i++)
        sum += bytes[i];
    snprintf(text, sizeof text, "%s, bytes a snapshot", name);
    bench_report("snapshot_codec", text, sum / r.tally.count, "B", NULL, 0);
    snprintf(text, sizeof text, "%s, encode", name);
    bench_report("snapshot_codec", text, bench_median(encode, r.tally.count), "us", NULL, 0);
    foliot_snapshot_coder_destroy(r.coder);
    foliot_snapshot_pieces_destroy(&r.pieces);
    free(r.got.bodies);
    return r.tally.mismatches;
}

static void report_rows(tally *t)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->count; i++)
        sum += t->bytes[i];
    bench_report("snapshot_codec", "901 cubes data set, bytes a snapshot", sum / t->count, "B",
                 "adaptive arithmetic coding (published)", 233);
    bench_report("snapshot_codec", "901 cubes data set, encode",
                 bench_median(t->encode_us, t->count), "us", NULL, 0);
}

static void report(tally *t)
{
    double sum = 0, halves[2] = {0, 0};
    for (uint32_t i = 0; i < t->count; i++) {
        sum += t->bytes[i];
        halves[i >= t->count / 2] += t->bytes[i];
    }
    qsort(t->bytes, t->count, sizeof *t->bytes, compare);
    printf("{\"bytes_mean\":%.2f,\"bytes_p99\":%.0f,\"encode_us\":%.2f,\"decode_us\":%.2f,"
           "\"mismatches\":%u,"
           "\"frames\":%u,\"bytes_mean_first_half\":%.2f,\"bytes_mean_second_half\":%.2f}\n",
           sum / t->count, t->bytes[(size_t)(0.99 * (t->count - 1))],
           bench_median(t->encode_us, t->count), bench_median(t->decode_us, t->count),
           t->mismatches, t->count, halves[0] / (t->count / 2),
           halves[1] / (t->count - t->count / 2));
}

int main(int argc, char **argv)
{
    frames f = {.bodies = 901, .baseline = 6};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--baseline") == 0 && i + 1 < argc)
            f.baseline = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--bodies") == 0 && i + 1 < argc)
            f.bodies = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            f.file = argv[i];
    }
    bool rows = !f.file;
    uint32_t mismatches = 0;
    if (rows) {
        for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++)
            mismatches += world_rows(worlds[i]);
        f.file = getenv("FOLIOT_CUBES");
        if (!f.file)
            return mismatches ? 1 : 0;
    }
    if (!f.bodies || !f.baseline || !frames_read(&f) || f.count <= f.baseline) {
        fprintf(stderr, "snapshot_codec: '%s' cannot be read, or is too short\n", f.file);
        return 2;
    }
    tally t = run(&f, f.baseline, f.count);
    if (rows)
        report_rows(&t);
    else
        report(&t);
    mismatches += t.mismatches;
    free(t.bytes);
    free(t.encode_us);
    free(t.decode_us);
    free(f.data);
    return mismatches ? 1 : 0;
}
