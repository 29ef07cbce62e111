// SPDX-License-Identifier: MIT
// snapshot_codec.c: snapshots against baselines. One walk over the bodies serves both directions: it
// codes a value where it encodes and reads it where it decodes, so that the two cannot disagree. Models
// start anew in every piece; nothing but the baseline is needed, whatever else was lost.
#include "base/bytes.h"
#include "foliot/snapshot.h"
#include "wire/range_coder.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES_MAX 24
#define BODY_BYTES_MAX 96 // a body's worst case: what a piece keeps free at its end
#define BASELINE_AGE_MAX 65535

// An integer's models: is it zero, its sign, its bit length in unary, its first bits after the leading one.
typedef struct number {
    foliot__model zero, sign, length[34], mantissa[34][4];
} number;

typedef struct models {
    foliot__model same[9]; // the body equals its baseline: by whether the last one did and this one moved
    foliot__model flags_same, incarnation_same;
    number position[2][3], velocity[2][3]; // by whether the baseline moved
    foliot__model turned[2], largest_same;
    number orientation[3];
} models;

struct foliot_snapshot_coder {
    foliot_snapshot_format format;
    models start, now;
};

typedef struct walk {
    foliot__range_encoder *out; // one of the two is NULL
    foliot__range_decoder *in;
    models *models;
    const foliot_snapshot_format *format;
    int64_t age; // ticks from the baseline
    unsigned last_same;
} walk;

static bool code_bit(walk *w, foliot__model *model, bool bit)
{
    if (w->in)
        return foliot__range_decode(w->in, model);
    foliot__range_encode(w->out, model, bit);
    return bit;
}

static uint32_t code_raw(walk *w, uint32_t value, unsigned bits)
{
    if (w->in)
        return foliot__range_decode_raw(w->in, bits);
    foliot__range_encode_raw(w->out, value, bits);
    return value;
}

static unsigned bit_length(uint32_t x)
{
    return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

static uint32_t code_magnitude(walk *w, number *n, uint32_t magnitude)
{
    unsigned length = bit_length(magnitude), got = 1;
    while (got < 32 && code_bit(w, &n->length[got], length > got))
        got++;
    if (got == 1)
        return 1;
    unsigned rest = got - 1, modelled = rest < 2 ? rest : 2, context = 1;
    for (unsigned i = 0; i < modelled; i++)
        context = context << 1 | code_bit(w, &n->mantissa[got][context], magnitude >> (rest - 1 - i) & 1);
    uint32_t head = context; // the leading one and the modelled bits
    rest -= modelled;
    return rest ? head << rest | code_raw(w, magnitude & ((1u << rest) - 1), rest) : head;
}

// A difference, taken and given modulo 2^32.
static int32_t code_number(walk *w, number *n, int32_t value)
{
    if (!code_bit(w, &n->zero, value != 0))
        return 0;
    bool negative = code_bit(w, &n->sign, value < 0);
    uint32_t magnitude = negative ? 0u - (uint32_t)value : (uint32_t)value;
    magnitude = code_magnitude(w, n, magnitude);
    return (int32_t)(negative ? 0u - magnitude : magnitude);
}

static int32_t code_against(walk *w, number *n, int32_t value, int32_t predicted)
{
    int32_t difference = code_number(w, n, (int32_t)((uint32_t)value - (uint32_t)predicted));
    return (int32_t)((uint32_t)predicted + (uint32_t)difference);
}

static bool moves(const foliot_snapshot_body *body)
{
    return body->velocity[0] != 0 || body->velocity[1] != 0 || body->velocity[2] != 0;
}

// Where the baseline's velocity takes it. Four velocity steps are one position step.
static int32_t predict(const walk *w, const foliot_snapshot_body *base, int k)
{
    int64_t moved = ((int64_t)base->velocity[k] * w->age + 2) >> 2;
    return (int32_t)(uint32_t)((uint64_t)(int64_t)base->position[k] + (uint64_t)moved);
}

static void code_orientation(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base, bool moved)
{
    models *m = w->models;
    bool turned = body->largest != base->largest ||
                  memcmp(body->orientation, base->orientation, sizeof body->orientation) != 0;
    if (!code_bit(w, &m->turned[moved], turned)) {
        body->largest = base->largest;
        memcpy(body->orientation, base->orientation, sizeof body->orientation);
        return;
    }
    if (code_bit(w, &m->largest_same, body->largest != base->largest)) {
        body->largest = (uint8_t)code_raw(w, body->largest, 2);
        for (int k = 0; k < 3; k++)
            body->orientation[k] = (uint16_t)code_raw(w, body->orientation[k], FOLIOT_ORIENTATION_BITS);
        return;
    }
    body->largest = base->largest;
    for (int k = 0; k < 3; k++) {
        int32_t value = code_against(w, &m->orientation[k], body->orientation[k], base->orientation[k]);
        body->orientation[k] = (uint16_t)(value & ((1 << FOLIOT_ORIENTATION_BITS) - 1));
    }
}

static bool same_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    return memcmp(a->position, b->position, sizeof a->position) == 0 &&
           memcmp(a->velocity, b->velocity, sizeof a->velocity) == 0 &&
           memcmp(a->orientation, b->orientation, sizeof a->orientation) == 0 &&
           a->largest == b->largest && a->flags == b->flags && a->incarnation == b->incarnation;
}

static void code_body(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base)
{
    static const foliot_snapshot_body empty;
    models *m = w->models;
    unsigned moved = moves(base), context = w->last_same & 3;
    bool same = w->out && same_body(body, base);
    same = !code_bit(w, &m->same[context * 2 + moved], !same);
    w->last_same = w->last_same << 1 | !same;
    if (same) {
        *body = *base;
        return;
    }
    body->flags = code_bit(w, &m->flags_same, body->flags != base->flags)
                      ? (uint8_t)code_raw(w, body->flags, 8)
                      : base->flags;
    body->incarnation = code_bit(w, &m->incarnation_same, body->incarnation != base->incarnation)
                            ? (uint8_t)code_raw(w, body->incarnation, 8)
                            : base->incarnation;
    if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE)) {
        uint8_t incarnation = body->incarnation;
        *body = empty;
        body->incarnation = incarnation;
        return;
    }
    for (int k = 0; k < 3; k++)
        body->position[k] = code_against(w, &m->position[moved][k], body->position[k], predict(w, base, k));
    for (int k = 0; k < 3; k++)
        body->velocity[k] = code_against(w, &m->velocity[moved][k], body->velocity[k], base->velocity[k]);
    if (w->format->rotates)
        code_orientation(w, body, base, moved);
}

// -- models at the start of a piece -------------------------------------------------------------------

static number number_start(double zero, double shorter)
{
    number n;
    n.zero = foliot__model_of(zero);
    n.sign = foliot__model_of(0.5);
    for (int i = 0; i < 34; i++) {
        n.length[i] = foliot__model_of(shorter);
        for (int k = 0; k < 4; k++)
            n.mantissa[i][k] = foliot__model_of(0.5);
    }
    return n;
}

static models models_start(void)
{
    models m;
    for (int i = 0; i < 9; i++)
        m.same[i] = foliot__model_of(i & 1 ? 0.1 : 0.97);
    m.flags_same = foliot__model_of(0.99);
    m.incarnation_same = foliot__model_of(0.99);
    for (int moved = 0; moved < 2; moved++)
        for (int k = 0; k < 3; k++) {
            m.position[moved][k] = number_start(0.3, 0.35);
            m.velocity[moved][k] = number_start(0.3, 0.3);
        }
    m.turned[0] = foliot__model_of(0.5);
    m.turned[1] = foliot__model_of(0.3);
    m.largest_same = foliot__model_of(0.97);
    for (int k = 0; k < 3; k++)
        m.orientation[k] = number_start(0.2, 0.3);
    return m;
}

foliot_status foliot_snapshot_coder_create(const foliot_snapshot_format *format,
                                           foliot_snapshot_coder **coder)
{
    foliot_snapshot_coder *c = malloc(sizeof *c);
    if (!c)
        return FOLIOT_MEMORY;
    c->format = *format;
    c->start = models_start();
    *coder = c;
    return FOLIOT_OK;
}

void foliot_snapshot_coder_destroy(foliot_snapshot_coder *coder)
{
    free(coder);
}

void foliot_snapshot_pieces_close(foliot_snapshot_pieces *pieces)
{
    free(pieces->bytes);
    free(pieces->offsets);
    *pieces = (foliot_snapshot_pieces){0};
}

// -- pieces: a head in whole bytes, then the coded bodies ---------------------------------------------

static void write_head(foliot__writer *w, const foliot_snapshot_head *head)
{
    foliot__write_u32(w, (uint32_t)head->tick);
    foliot__write_u16(w, (uint16_t)(head->has_baseline ? head->tick - head->baseline_tick : 0));
    foliot__write_u16(w, (uint16_t)head->piece);
    foliot__write_u16(w, (uint16_t)head->pieces);
    foliot__write_u24(w, head->first);
    foliot__write_u24(w, head->count);
    foliot__write_u24(w, head->bodies);
}

static void read_head(foliot__reader *r, foliot_snapshot_head *head)
{
    uint32_t tick = foliot__read_u32(r);
    uint32_t age = foliot__read_u16(r);
    *head = (foliot_snapshot_head){.tick = tick, .has_baseline = age != 0, .baseline_tick = tick - age};
    head->piece = foliot__read_u16(r);
    head->pieces = foliot__read_u16(r);
    head->first = foliot__read_u24(r);
    head->count = foliot__read_u24(r);
    head->bodies = foliot__read_u24(r);
    if (head->piece >= head->pieces || head->first + head->count > head->bodies || age > tick ||
        head->bodies > FOLIOT_BODIES_MAX)
        foliot__reader_fail(r, FOLIOT_CORRUPT);
}

static foliot_status grow(foliot_snapshot_pieces *p)
{
    size_t needed = ((size_t)p->count + 1) * FOLIOT_SNAPSHOT_PIECE_BYTES;
    if (p->bytes_capacity < needed) {
        uint8_t *bytes = realloc(p->bytes, 2 * needed);
        if (!bytes)
            return FOLIOT_MEMORY;
        p->bytes = bytes;
        p->bytes_capacity = 2 * needed;
    }
    if (p->offsets_capacity < p->count + 2) {
        uint32_t *offsets = realloc(p->offsets, sizeof *offsets * (2 * p->count + 8));
        if (!offsets)
            return FOLIOT_MEMORY;
        p->offsets = offsets;
        p->offsets_capacity = 2 * p->count + 8;
    }
    return FOLIOT_OK;
}

static const foliot_snapshot_body *base_of(const foliot_snapshot *baseline, uint32_t slot)
{
    static const foliot_snapshot_body empty;
    return baseline && slot < baseline->count ? &baseline->bodies[slot] : &empty;
}

// One piece from `first` on; how many bodies it took goes into head->count.
static size_t encode_piece(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                           const foliot_snapshot *baseline, foliot_snapshot_head *head, uint8_t *bytes)
{
    foliot__range_encoder out =
        foliot__range_encoder_of(bytes + HEAD_BYTES_MAX, FOLIOT_SNAPSHOT_PIECE_BYTES - HEAD_BYTES_MAX);
    walk w = {.out = &out, .models = &coder->now, .format = &coder->format};
    w.age = head->has_baseline ? (int64_t)(head->tick - head->baseline_tick) : 0;
    coder->now = coder->start;
    uint32_t slot = head->first;
    while (slot < snapshot->count &&
           foliot__range_encoder_length(&out) + BODY_BYTES_MAX <= out.capacity) {
        foliot_snapshot_body body = snapshot->bodies[slot];
        code_body(&w, &body, base_of(baseline, slot));
        slot++;
    }
    head->count = slot - head->first;
    return foliot__range_encoder_finish(&out);
}

foliot_status foliot_snapshot_encode(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                                     const foliot_snapshot *baseline, foliot_snapshot_pieces *pieces)
{
    if (baseline && (baseline->tick >= snapshot->tick || snapshot->tick - baseline->tick > BASELINE_AGE_MAX))
        return FOLIOT_INVALID;
    foliot_snapshot_head head = {.tick = snapshot->tick, .has_baseline = baseline != NULL,
                                 .baseline_tick = baseline ? baseline->tick : 0, .bodies = snapshot->count};
    pieces->count = 0;
    uint32_t at = 0;
    do {
        if (pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX || grow(pieces) != FOLIOT_OK)
            return pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX ? FOLIOT_FULL : FOLIOT_MEMORY;
        head.piece = pieces->count;
        size_t length = encode_piece(coder, snapshot, baseline, &head, pieces->bytes + at);
        foliot__writer w = foliot__writer_of(pieces->bytes + at, HEAD_BYTES_MAX);
        write_head(&w, &head);
        memmove(pieces->bytes + at + w.at, pieces->bytes + at + HEAD_BYTES_MAX, length);
        pieces->offsets[pieces->count++] = at;
        at += (uint32_t)(w.at + length);
        pieces->offsets[pieces->count] = at;
        head.first += head.count;
    } while (head.first < snapshot->count);
    for (uint32_t i = 0; i < pieces->count; i++) { // now that their number is known
        pieces->bytes[pieces->offsets[i] + 8] = (uint8_t)pieces->count;
        pieces->bytes[pieces->offsets[i] + 9] = (uint8_t)(pieces->count >> 8);
    }
    return FOLIOT_OK;
}

foliot_status foliot_snapshot_peek(const uint8_t *bytes, size_t length, foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    read_head(&r, head);
    return r.status;
}

foliot_status foliot_snapshot_decode(foliot_snapshot_coder *coder, const uint8_t *bytes, size_t length,
                                     const foliot_snapshot *baseline, foliot_snapshot *into,
                                     foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    read_head(&r, head);
    if (r.status != FOLIOT_OK)
        return r.status;
    if (head->has_baseline != (baseline != NULL) ||
        (baseline && (uint32_t)baseline->tick != head->baseline_tick) || into->capacity < head->bodies)
        return FOLIOT_INVALID;
    foliot__range_decoder in = foliot__range_decoder_of(bytes + r.at, length - r.at);
    walk w = {.in = &in, .models = &coder->now, .format = &coder->format};
    w.age = head->has_baseline ? (int64_t)(head->tick - head->baseline_tick) : 0;
    coder->now = coder->start;
    for (uint32_t i = 0; i < head->count && foliot__range_decoder_good(&in); i++) {
        into->bodies[head->first + i] = (foliot_snapshot_body){0};
        code_body(&w, &into->bodies[head->first + i], base_of(baseline, head->first + i));
    }
    return foliot__range_decoder_good(&in) ? FOLIOT_OK : FOLIOT_CORRUPT;
}
