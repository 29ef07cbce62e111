// SPDX-License-Identifier: MIT
// snapshot_codec.c: snapshots in pieces that fit a packet, each with its own head and bodies.
#include "foliot/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "wire/message.h"
#include "wire/motion.h"
#include "wire/range_coder.h"

#define HEAD_BYTES_MAX 24
#define PIECES_FROM_END 8 // in the head of several pieces: their number
#define AGE_MAX 65535     // ticks from the baseline
#define FORM_MAX (2 * AGE_MAX + 1)
#define UNSENT_BYTES_MAX 12 // that a decoder may read behind the end of a piece
#define BODY_BYTES_USUAL 64 // what a packet keeps free at its end for one more

// -- bodies

// The bytes of a quantised body against a baseline's. One walk over the bodies serves both
// directions: it writes a value when encoding and reads it when decoding, so that the two cannot
// disagree. Models adapt from body to body within a packet, and are reset in every packet: it
// decodes without any other.

#define MISS_MAX (1 << 20)

enum {
    SPEEDS = 5,
    DRIFTS = 10,
    KINDS = 4,
    RECENT = 12,
    BEFORE = 9,
    HITS = 9,
    LENGTHS = 13,
    TURN_LENGTHS = 10,
    SPINS = 4
};

// Every model of a piece, in the order of snapshot_priors.h. Contexts come from the baseline's body
// (how far its velocity takes it, of what kind it is) and from what of the body is coded already.
typedef struct models {
    foliot__model changed[KINDS][SPEEDS][RECENT];
    foliot__model flags_changed[KINDS][SPEEDS], flag_changed[8], incarnation_changed;
    foliot__model moved[KINDS][SPEEDS];
    foliot__model length[2][DRIFTS][BEFORE]
                        [LENGTHS]; // of a position's difference; [0]: x and y, [1]: z
    foliot__model sign[2][DRIFTS][3], mantissa[2][LENGTHS][7];
    foliot__model turned[SPEEDS][2], largest_changed[HITS], largest[2];
    foliot__model turn_length[SPINS][HITS][BEFORE][TURN_LENGTHS];
    foliot__model turn_sign[3][HITS], turn_mantissa[2][TURN_LENGTHS][7];
    foliot__model motion_unexpected;
    foliot__model velocity_length[BEFORE][LENGTHS], velocity_sign[2], velocity_mantissa[LENGTHS][7];
    foliot__model spin_length[LENGTHS], spin_sign, spin_mantissa[LENGTHS][7];
} models;
#define MODEL_COUNT (sizeof(models) / sizeof(foliot__model))

static const uint16_t priors[] = {
#include "wire/snapshot_priors.h"
};
_Static_assert(sizeof priors / sizeof *priors == MODEL_COUNT, "a prior for every model");

typedef struct walk {
    foliot__range_pass pass;
    models *models;
    const foliot_snapshot_format *format;
    foliot__course course; // of the ticks from the baseline
    const foliot_snapshot_body
        *changed;       // the baseline's of the last body that changed; NULL: none did
    unsigned recent;    // of the last two bodies, how many changed: bits
    int32_t last[3];    // position of the last body that lives
    int64_t hung, fell; // by how much a move without gravity was off lately, and one with it
    int64_t missed[3];  // by how much each guess at a velocity was off lately
} walk;

struct foliot_snapshot_coder {
    foliot_snapshot_format format;
    models start, now;
};

static inline bool code_bit(walk *w, foliot__model *model, bool bit)
{
    return foliot__range_bit(&w->pass, model, bit);
}

static uint32_t code_raw(walk *w, uint32_t value, unsigned bits)
{
    return foliot__range_raw(&w->pass, value, bits);
}

static inline unsigned bit_length(uint32_t x)
{
    return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

static inline unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static inline uint32_t magnitude_of(int32_t x)
{
    return x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
}

// The models of a signed number: its bit length in unary, its sign, the two bits behind its leading
// one.
typedef struct number {
    foliot__model *length, *sign, (*mantissa)[7];
    unsigned last; // index of the last length that has its own models
} number;

// A difference, taken and given modulo 2^32.
static int32_t code_number(walk *w, const number *n, int32_t value)
{
    uint32_t magnitude = magnitude_of(value);
    unsigned wanted = bit_length(magnitude), length = 0;
    while (length < 32 && code_bit(w, &n->length[lesser(length, n->last)], wanted > length))
        length++;
    if (length == 0)
        return 0;
    bool negative = code_bit(w, n->sign, value < 0);
    unsigned rest = length - 1, context = 1;
    foliot__model *mantissa = n->mantissa[lesser(length, n->last)];
    for (unsigned modelled = lesser(rest, 3); modelled > 0; modelled--)
        context = context << 1 | code_bit(w, &mantissa[context - 1], magnitude >> --rest & 1);
    magnitude =
        rest ? context << rest | code_raw(w, magnitude & ((1u << rest) - 1), rest) : context;
    return (int32_t)(negative ? 0u - magnitude : magnitude);
}

static int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

// -- contexts

static unsigned kind_of(const foliot_snapshot_body *base)
{
    if (!(base->flags & FOLIOT_SNAPSHOT_ALIVE))
        return 3;
    if (base->flags & FOLIOT_SNAPSHOT_PLAYER)
        return 2;
    return base->flags & (FOLIOT_SNAPSHOT_FROZEN | FOLIOT_SNAPSHOT_STATIC) ? 1 : 0;
}

// -- the parts of a body

static uint8_t code_flags(walk *w, uint8_t flags, uint8_t base)
{
    uint8_t differ = 0;
    for (int i = 0; i < 8; i++)
        differ |= (uint8_t)(code_bit(w, &w->models->flag_changed[i], (flags ^ base) >> i & 1) << i);
    return base ^ differ;
}

// Returns the class of the greatest difference, for what is coded after it.
static unsigned code_position(walk *w, foliot_snapshot_body *body, const int32_t from[3],
                              const int32_t drifts[3])
{
    models *m = w->models;
    unsigned before = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t drift = magnitude_of(drifts[k]);
        unsigned z = k == 2, speed = lesser(bit_length(drift), DRIFTS - 1);
        number n = {m->length[z][speed][before],
                    &m->sign[z][speed][(drifts[k] > 0) + 2 * (drifts[k] < 0)], m->mantissa[z],
                    LENGTHS - 1};
        int32_t expected = plus(from[k], drifts[k]);
        int32_t difference = code_number(w, &n, minus(body->position[k], expected));
        body->position[k] = plus(expected, difference);
        unsigned now = lesser(bit_length(magnitude_of(difference)), BEFORE - 2);
        before = k == 0 ? now + 1 : (now + 1 > before ? now + 1 : before);
    }
    return before;
}

static unsigned code_largest(walk *w, unsigned largest, unsigned likely)
{
    foliot__model *m = w->models->largest;
    unsigned step = (largest - likely) & 3; // 1..3
    if (code_bit(w, &m[0], step == 3))
        return (likely + 3) & 3;
    return (likely + (code_bit(w, &m[1], step == 2) ? 2 : 1)) & 3;
}

static void code_orientation(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base,
                             unsigned speed, unsigned hit)
{
    models *m = w->models;
    bool turned = body->largest != base->largest ||
                  memcmp(body->orientation, base->orientation, sizeof body->orientation) != 0;
    if (!code_bit(w, &m->turned[speed][hit > 0], turned)) {
        body->largest = base->largest;
        memcpy(body->orientation, base->orientation, sizeof body->orientation);
        return;
    }
    int32_t q[4];
    unsigned spin = foliot__turned(&w->course, base, q), likely = foliot__largest(q);
    bool other = code_bit(w, &m->largest_changed[hit], body->largest != likely);
    body->largest = (uint8_t)(other ? code_largest(w, body->largest, likely) : likely);
    uint16_t from[3];
    foliot__smallest(q, body->largest, from);
    unsigned before = 0;
    bool near = body->largest == base->largest;
    spin = lesser((bit_length(spin) + 1) / 2, SPINS - 1);
    for (int k = 0; k < 3; k++) {
        int32_t turn = near ? (int32_t)from[k] - base->orientation[k] : 0;
        number n = {m->turn_length[spin][hit][before],
                    &m->turn_sign[(turn > 0) + 2 * (turn < 0)][hit], m->turn_mantissa[other],
                    TURN_LENGTHS - 1};
        int32_t difference = code_number(w, &n, body->orientation[k] - from[k]);
        body->orientation[k] =
            (uint16_t)(plus(from[k], difference) & ((1 << FOLIOT_ORIENTATION_BITS) - 1));
        unsigned now = lesser(bit_length(magnitude_of(difference)), BEFORE - 2);
        before = k == 0 ? now + 1 : (now + 1 > before ? now + 1 : before);
    }
}

// Three predictions of a velocity: the baseline's, the one that moved the body here, and the linear
// extrapolation of the two. The recently best one is used: springs, orbits and balls differ.
static const int32_t *guess_velocity(const walk *w, const foliot_snapshot_body *base,
                                     const foliot_snapshot_body *expected, int32_t guesses[3][3])
{
    unsigned best = 0;
    for (int k = 0; k < 3; k++) {
        guesses[0][k] = base->velocity[k];
        guesses[1][k] = expected->velocity[k];
        guesses[2][k] =
            minus(plus(expected->velocity[k], expected->velocity[k]), base->velocity[k]);
    }
    for (unsigned i = 1; i < 3; i++)
        if (w->missed[i] < w->missed[best])
            best = i;
    return guesses[best];
}

static void note_guesses(walk *w, const foliot_snapshot_body *body, int32_t guesses[3][3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t off = 0;
        for (int k = 0; k < 3; k++)
            off += lesser(magnitude_of(minus(body->velocity[k], guesses[i][k])), MISS_MAX);
        w->missed[i] += off - w->missed[i] / 8;
    }
}

// Velocity and spin: a bit if they are those that moved it here, else the difference from them.
static void code_motion(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base)
{
    models *m = w->models;
    foliot_snapshot_body expected = *body;
    foliot__follow(&w->course, base, &expected);
    bool unexpected = memcmp(body->velocity, expected.velocity, sizeof body->velocity) != 0 ||
                      memcmp(body->spin, expected.spin, sizeof body->spin) != 0;
    if (!code_bit(w, &m->motion_unexpected, unexpected)) {
        memcpy(body->velocity, expected.velocity, sizeof body->velocity);
        memcpy(body->spin, expected.spin, sizeof body->spin);
        return;
    }
    int32_t guesses[3][3];
    const int32_t *guess = guess_velocity(w, base, &expected, guesses);
    unsigned before = 0;
    for (int k = 0; k < 3; k++) {
        number n = {m->velocity_length[before], &m->velocity_sign[k == 2], m->velocity_mantissa,
                    LENGTHS - 1};
        int32_t difference = code_number(w, &n, minus(body->velocity[k], guess[k]));
        body->velocity[k] = plus(guess[k], difference);
        before = 1 + lesser(bit_length(magnitude_of(difference)), BEFORE - 2);
    }
    note_guesses(w, body, guesses);
    for (int k = 0; w->format->spins && k < 3; k++) {
        number n = {m->spin_length, &m->spin_sign, m->spin_mantissa, LENGTHS - 1};
        int32_t difference = code_number(w, &n, minus(body->spin[k], expected.spin[k]));
        body->spin[k] = (int16_t)(uint16_t)plus(expected.spin[k], difference);
    }
}

static inline uint64_t word(const foliot_snapshot_body *body, size_t at)
{
    uint64_t x;
    memcpy(&x, (const uint8_t *)body + at, sizeof x);
    return x;
}

// Word by word: nearly all of a snapshot's time is spent here, and the last word overlaps.
static inline bool same_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    enum { END = offsetof(foliot_snapshot_body, generation) + 1 };
    uint64_t differ = word(a, END - 8) ^ word(b, END - 8);
    for (size_t at = 0; at + 8 <= END; at += 8)
        differ |= word(a, at) ^ word(b, at);
    return differ == 0;
}

// Bodies on springs, or resting on others, do not fall as free bodies do.
static void note_fall(walk *w, const foliot_snapshot_body *body, const foliot_snapshot_body *base)
{
    uint32_t hung = 0, fell = 0;
    for (int k = 0; k < 3; k++) {
        int32_t move = minus(body->position[k], base->position[k]);
        hung +=
            lesser(magnitude_of(minus(move, foliot__drift(&w->course, base, k, false))), MISS_MAX);
        fell +=
            lesser(magnitude_of(minus(move, foliot__drift(&w->course, base, k, true))), MISS_MAX);
    }
    w->hung += hung - w->hung / 8;
    w->fell += fell - w->fell / 8;
}

// The motion predicted from a baseline's body.
typedef struct motion {
    unsigned kind, speed;
    int32_t drifts[3];
} motion;

static inline motion motion_of(const walk *w, const foliot_snapshot_body *base)
{
    motion m = {.kind = kind_of(base)};
    if (base->velocity[0] | base->velocity[1] | base->velocity[2]) {
        uint32_t far = 0;
        for (int k = 0; k < 3; k++) {
            m.drifts[k] = foliot__drift(&w->course, base, k, w->fell <= 2 * w->hung);
            far |= magnitude_of(m.drifts[k]);
        }
        m.speed = 1 + lesser(bit_length(far) / 2, SPEEDS - 2);
    }
    return m;
}

static void code_rest(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base,
                      const motion *expected)
{
    static const int32_t still[3];
    unsigned kind = expected->kind, speed = expected->speed;
    models *m = w->models;
    body->flags = code_bit(w, &m->flags_changed[kind][speed], body->flags != base->flags)
                      ? code_flags(w, body->flags, base->flags)
                      : base->flags;
    body->generation = code_bit(w, &m->incarnation_changed, body->generation != base->generation)
                           ? (uint8_t)code_raw(w, body->generation, 8)
                           : base->generation;
    if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE)) {
        *body = (foliot_snapshot_body){.generation = body->generation};
        return;
    }
    unsigned hit = 0;
    bool moved = memcmp(body->position, base->position, sizeof body->position) != 0;
    moved = code_bit(w, &m->moved[kind][speed], moved);
    if (!moved)
        memcpy(body->position, base->position, sizeof body->position);
    else
        hit = kind == 3 ? code_position(w, body, w->last, still)
                        : code_position(w, body, base->position, expected->drifts);
    if (moved && kind != 3 && speed > 0)
        note_fall(w, body, base);
    if (w->format->rotates)
        code_orientation(w, body, base, speed, hit);
    code_motion(w, body, base);
}

// The closeness of the last body that changed, 0 to 3: a pushed body pushes its neighbours.
static unsigned nearness(const walk *w, const foliot_snapshot_body *base)
{
    uint32_t far = 0;
    if (!w->changed)
        return 0;
    for (int k = 0; k < 3; k++)
        far |= magnitude_of(minus(base->position[k], w->changed->position[k]));
    return far < 256 ? 3 : far < 512 ? 2 : far < 2048 ? 1 : 0;
}

static void code_body(walk *w, foliot_snapshot_body *body, const foliot_snapshot_body *base)
{
    unsigned recent = (w->recent & 1) + (w->recent >> 1 & 1) + 3 * nearness(w, base);
    motion m = motion_of(w, base);
    bool changed = w->pass.out && !same_body(body, base);
    changed = code_bit(w, &w->models->changed[m.kind][m.speed][recent], changed);
    w->recent = w->recent << 1 | changed;
    if (changed)
        w->changed = base;
    if (changed)
        code_rest(w, body, base, &m);
    else if (w->pass.in)
        *body = *base;
    if (body->flags & FOLIOT_SNAPSHOT_ALIVE)
        memcpy(w->last, body->position, sizeof w->last);
}

// -- the start and the end

foliot_status foliot_snapshot_coder_create(const foliot_snapshot_format *format,
                                           foliot_snapshot_coder **coder)
{
    foliot_snapshot_coder *c = malloc(sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    c->format = *format;
    foliot__model *each = (foliot__model *)&c->start;
    for (size_t i = 0; i < MODEL_COUNT; i++)
        each[i] = (foliot__model){priors[i], priors[i]};
    *coder = c;
    return FOLIOT_STATUS_OK;
}

void foliot_snapshot_coder_destroy(foliot_snapshot_coder *coder)
{
    free(coder);
}

// -- all of a snapshot, in a row

static walk walk_of(foliot_snapshot_coder *coder, const foliot_snapshot_head *head)
{
    walk w = {.models = &coder->now, .format = &coder->format};
    w.course = foliot__course_of(
        w.format, head->has_baseline ? (uint32_t)(head->tick - head->baseline_tick) : 0);
    coder->now = coder->start;
    return w;
}

static const foliot_snapshot_body *base_of(const foliot_snapshot *baseline, uint32_t slot)
{
    static const foliot_snapshot_body empty;
    return baseline && slot < baseline->count ? &baseline->bodies[slot] : &empty;
}

void foliot_snapshot_pieces_destroy(foliot_snapshot_pieces *pieces)
{
    free(pieces->bytes);
    free(pieces->offsets);
    *pieces = (foliot_snapshot_pieces){0};
}

// -- the head of a piece, in whole bytes. Refuses a head whose numbers contradict each other, and
// one that claims more bodies than its bytes can carry.

// The usual snapshot is one piece, all of its slots: then it needs no more than their number.
static void write_head(foliot__writer *w, const foliot_snapshot_head *head)
{
    bool whole = head->pieces == 1;
    uint32_t age = (uint32_t)(head->has_baseline ? head->tick - head->baseline_tick : 0);
    foliot__write_u32(w, (uint32_t)head->tick);
    foliot__write_varint(w, age << 1 | whole);
    foliot__write_varint(w, head->bodies);
    if (whole)
        return;
    foliot__write_u16(w, (uint16_t)head->piece);
    foliot__write_u16(w, (uint16_t)head->pieces);
    foliot__write_u24(w, head->first);
    foliot__write_u24(w, head->count);
}

static void read_head(foliot__reader *r, uint64_t near, foliot_snapshot_head *head)
{
    uint64_t tick = foliot__tick_near(foliot__read_u32(r), near);
    uint32_t form = (uint32_t)foliot__read_varint(r, FORM_MAX);
    uint32_t bodies = (uint32_t)foliot__read_varint(r, FOLIOT_BODIES_MAX), age = form >> 1;
    *head = (foliot_snapshot_head){
        .tick = tick, .has_baseline = age != 0, .baseline_tick = tick - age, .pieces = 1};
    if (age > tick || r->status != FOLIOT_STATUS_OK) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return;
    }
    head->bodies = head->count = bodies;
    if (!(form & 1)) {
        head->piece = foliot__read_u16(r);
        head->pieces = foliot__read_u16(r);
        head->first = foliot__read_u24(r);
        head->count = foliot__read_u24(r);
        if (head->piece >= head->pieces || head->first + head->count > head->bodies)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    }
    // Before anything is allocated for them.
    if (head->count > (foliot__reader_left(r) + UNSENT_BYTES_MAX) * FOLIOT_SNAPSHOT_BODIES_PER_BYTE)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

// -- pieces: a head, then the coded bodies

static foliot_status grow(foliot_snapshot_pieces *p)
{
    size_t needed = ((size_t)p->count + 1) * FOLIOT_SNAPSHOT_PIECE_BYTES;
    if (p->bytes_capacity < needed) {
        if (!foliot__array_resize(&p->bytes, 2 * needed, 1))
            return FOLIOT_STATUS_MEMORY;
        p->bytes_capacity = 2 * needed;
    }
    return foliot__array_reserve(&p->offsets, &p->offsets_capacity, p->count + 2, 2 * p->count + 8,
                                 sizeof *p->offsets)
               ? FOLIOT_STATUS_OK
               : FOLIOT_STATUS_MEMORY;
}

// One piece. A body beyond the expected size, which no model predicts, goes into the next one.
static size_t encode_piece(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                           const foliot_snapshot *baseline, foliot_snapshot_head *head,
                           uint8_t *bytes)
{
    for (uint32_t limit = UINT32_MAX;; limit = head->count - 1) {
        foliot__range_encoder out = foliot__range_encoder_of(
            bytes + HEAD_BYTES_MAX, FOLIOT_SNAPSHOT_PIECE_BYTES - HEAD_BYTES_MAX);
        walk w = walk_of(coder, head);
        w.pass.out = &out;
        uint32_t slot = head->first;
        while (slot < snapshot->count && slot - head->first < limit &&
               foliot__range_encoder_length(&out) + BODY_BYTES_USUAL <= out.capacity) {
            foliot_snapshot_body body = snapshot->bodies[slot];
            code_body(&w, &body, base_of(baseline, slot));
            slot++;
        }
        head->count = slot - head->first;
        size_t length = foliot__range_encoder_finish(&out);
        if (!out.full)
            return length;
    }
}

foliot_status foliot_snapshot_encode(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                                     const foliot_snapshot *baseline,
                                     foliot_snapshot_pieces *pieces)
{
    if (baseline && (baseline->tick >= snapshot->tick || snapshot->tick - baseline->tick > AGE_MAX))
        return FOLIOT_STATUS_INVALID;
    foliot_snapshot_head head = {.tick = snapshot->tick,
                                 .has_baseline = baseline != NULL,
                                 .baseline_tick = baseline ? baseline->tick : 0,
                                 .bodies = snapshot->count};
    size_t head_bytes = 0;
    pieces->count = 0;
    uint32_t at = 0;
    do {
        if (pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX || grow(pieces) != FOLIOT_STATUS_OK)
            return pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX ? FOLIOT_STATUS_FULL
                                                               : FOLIOT_STATUS_MEMORY;
        head.piece = pieces->count;
        size_t length = encode_piece(coder, snapshot, baseline, &head, pieces->bytes + at);
        head.pieces = head.piece == 0 && head.count == snapshot->count ? 1 : 0;
        foliot__writer w = foliot__writer_of(pieces->bytes + at, HEAD_BYTES_MAX);
        write_head(&w, &head);
        memmove(pieces->bytes + at + w.at, pieces->bytes + at + HEAD_BYTES_MAX, length);
        pieces->offsets[pieces->count++] = at;
        head_bytes = w.at; // the same for all
        at += (uint32_t)(w.at + length);
        pieces->offsets[pieces->count] = at;
        head.first += head.count;
    } while (head.first < snapshot->count);
    for (uint32_t i = 0; i < pieces->count && pieces->count > 1;
         i++) { // now that their number is known
        uint8_t *total = pieces->bytes + pieces->offsets[i] + head_bytes - PIECES_FROM_END;
        total[0] = (uint8_t)pieces->count;
        total[1] = (uint8_t)(pieces->count >> 8);
    }
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_snapshot_decode(foliot_snapshot_coder *coder, const uint8_t *bytes,
                                     size_t length, uint64_t near, const foliot_snapshot *baseline,
                                     foliot_snapshot *into, foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    read_head(&r, near, head);
    if (r.status != FOLIOT_STATUS_OK)
        return r.status;
    if (head->has_baseline != (baseline != NULL) ||
        (baseline && baseline->tick != head->baseline_tick) || into->capacity < head->bodies)
        return FOLIOT_STATUS_INVALID;
    foliot__range_decoder in = foliot__range_decoder_of(bytes + r.at, length - r.at);
    walk w = walk_of(coder, head);
    w.pass.in = &in;
    for (uint32_t i = 0; i < head->count && foliot__range_decoder_good(&in); i++) {
        into->bodies[head->first + i] = (foliot_snapshot_body){0};
        code_body(&w, &into->bodies[head->first + i], base_of(baseline, head->first + i));
    }
    return foliot__range_decoder_good(&in) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}

foliot_status foliot_snapshot_decode_head(const uint8_t *bytes, size_t length, uint64_t near,
                                          foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    read_head(&r, near, head);
    return r.status;
}
