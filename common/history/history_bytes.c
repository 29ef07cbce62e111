// SPDX-License-Identifier: MIT
// history_bytes.c: a history as canonical bytes and back. docs/reference/rules.md, "The past as
// bytes", gives the layout. Equal histories have equal bytes.
#include "history/history.h"

#include <string.h>

#include "base/bytes.h"

#define FORMAT 1
#define VARINT_BYTES 5 // of 32 bits
#define FLAGS_KNOWN                                                                                \
    (FOLIOT_BODY_ALIVE | FOLIOT_BODY_PLAYER | FOLIOT_BODY_STATIC | FOLIOT_BODY_FROZEN |            \
     FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_SENSOR)

static const foliot__past_pose no_pose;
static const foliot__past_body no_body;

static uint32_t zigzag(uint32_t difference)
{
    return difference << 1 ^ (difference >> 31 ? UINT32_MAX : 0);
}

// -- writing

// Places of each slot in a tick and in the tick before: a slot changed where they differ.
typedef struct row_pair {
    const uint8_t *now, *before; // before NULL: everything that is not zero
} row_pair;

static row_pair rows_of(const foliot_history *h, const uint8_t *rows, uint64_t tick)
{
    const uint8_t *now = rows + (size_t)(tick % h->ticks) * h->slots;
    bool first = tick == foliot__history_oldest(h);
    return (row_pair){now, first ? NULL : rows + (size_t)((tick - 1) % h->ticks) * h->slots};
}

// A place differs from the one before only where what is in it does.
static bool pose_changes(const foliot_history *h, const row_pair *rows, uint32_t slot)
{
    if (rows->before)
        return rows->before[slot] != rows->now[slot];
    return memcmp(&no_pose, foliot__history_pose(h, rows->now[slot], slot), sizeof no_pose) != 0;
}

static bool body_changes(const foliot_history *h, const row_pair *rows, uint32_t slot)
{
    if (rows->before)
        return rows->before[slot] != rows->now[slot];
    return memcmp(&no_body, foliot__history_body(h, rows->now[slot], slot), sizeof no_body) != 0;
}

// As foliot__write_varint, without its checks: a keyframe has a hundred thousand.
static inline uint8_t *put_varint(uint8_t *at, uint32_t value)
{
    for (; value > 127; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

// The position that the velocity before predicts; sums are modulo 2^32.
static uint32_t expected_position(const foliot__past_pose *before, int k)
{
    int32_t v = before->velocity[k];
    return (uint32_t)before->position[k] + (uint32_t)(v / 4);
}

static void write_bodies(foliot__writer *w, const foliot_history *h, uint64_t tick, uint32_t count)
{
    row_pair rows = rows_of(h, h->body_rows, tick);
    uint32_t changes = 0, next = 0;
    for (uint32_t i = 0; i < count; i++)
        changes += body_changes(h, &rows, i);
    foliot__write_varint(w, changes);
    for (uint32_t i = 0; i < count && changes; i++) {
        if (!body_changes(h, &rows, i))
            continue;
        foliot__write_varint(w, i - next);
        const foliot__past_body *body = foliot__history_body(h, rows.now[i], i);
#define WRITE(name) foliot__write_f64(w, body->name);
        FOLIOT__PAST_DOUBLES(WRITE)
#undef WRITE
#define WRITE(name) foliot__write_u32(w, body->name);
        FOLIOT__PAST_WORDS(WRITE)
#undef WRITE
        next = i + 1;
        changes--;
    }
}

static void write_poses(foliot__writer *w, const foliot_history *h, uint64_t tick, uint32_t count)
{
    row_pair rows = rows_of(h, h->pose_rows, tick);
    uint32_t changes = 0, next = 0;
    for (uint32_t i = 0; i < count; i++)
        changes += pose_changes(h, &rows, i);
    foliot__write_varint(w, changes);
    for (uint32_t i = 0; i < count && changes; i++) {
        if (!pose_changes(h, &rows, i))
            continue;
        // Behind `skipped` slots that did not change.
        const foliot__past_pose *before =
            rows.before ? foliot__history_pose(h, rows.before[i], i) : &no_pose;
        const foliot__past_pose *now = foliot__history_pose(h, rows.now[i], i);
        uint8_t bytes[11 * VARINT_BYTES], *at = put_varint(bytes, i - next);
        for (int k = 0; k < 3; k++)
            at = put_varint(at, zigzag((uint32_t)now->position[k] - expected_position(before, k)));
        for (int k = 0; k < 3; k++)
            at = put_varint(at, zigzag((uint32_t)now->velocity[k] - (uint32_t)before->velocity[k]));
        for (int k = 0; k < 4; k++)
            at = put_varint(at, zigzag((uint32_t)now->orientation.part[k] -
                                       (uint32_t)before->orientation.part[k]));
        foliot__write_bytes(w, bytes, (size_t)(at - bytes));
        next = i + 1;
        changes--;
    }
}

foliot_status foliot_history_capture(const foliot_history *h, uint8_t *bytes, size_t capacity,
                                     size_t *length)
{
    foliot__writer w = foliot__writer_of(bytes, capacity);
    foliot__write_u8(&w, FORMAT);
    foliot__write_u8(&w, (uint8_t)h->ticks);
    foliot__write_u8(&w, (uint8_t)h->count);
    foliot__write_u64(&w, foliot_history_get_oldest(h));
    for (uint32_t i = 0; i < h->count; i++) {
        uint64_t tick = foliot__history_oldest(h) + i;
        uint32_t count = h->counts[tick % h->ticks];
        foliot__write_varint(&w, count);
        write_bodies(&w, h, tick, count);
        write_poses(&w, h, tick, count);
    }
    if (w.status == FOLIOT_STATUS_OK)
        *length = w.at;
    return w.status;
}

// -- reading

static bool sound(double x, double least)
{
    return x >= least && x <= FOLIOT_POSITION_MAX;
}

// Whether a world may have such a body: the results of queries with it are finite.
static bool body_valid(const foliot__past_body *b)
{
    foliot__past_body free_slot = no_body;
    free_slot.generation = b->generation;
    if (!(b->flags & FOLIOT_BODY_ALIVE))
        return memcmp(b, &free_slot, sizeof free_slot) == 0;
    double turn2 = (b->orientation_w * b->orientation_w + b->orientation_x * b->orientation_x) +
                   (b->orientation_y * b->orientation_y + b->orientation_z * b->orientation_z);
    bool still = b->flags & FOLIOT_BODY_STATIC, plane = b->shape_kind == FOLIOT_SHAPE_PLANE;
    double least = plane ? -FOLIOT_POSITION_MAX : 0;
    return (b->flags & ~(uint32_t)FLAGS_KNOWN) == 0 && b->shape_kind <= FOLIOT_SHAPE_CAPSULE &&
           sound(b->mass, 0) && sound(b->radius, 0) && sound(b->half_x, least) &&
           sound(b->half_y, least) && sound(b->half_z, least) &&
           sound(b->plane_offset, -FOLIOT_POSITION_MAX) &&
           sound(b->position_x, -FOLIOT_POSITION_MAX) &&
           sound(b->position_y, -FOLIOT_POSITION_MAX) &&
           sound(b->position_z, -FOLIOT_POSITION_MAX) &&
           (still ? turn2 > 0.99 && turn2 < 1.01 : turn2 == 0);
}

static uint32_t read_signed(foliot__reader *r, uint32_t expected)
{
    uint32_t value = (uint32_t)foliot__read_varint(r, UINT32_MAX);
    return expected + (value >> 1 ^ (value & 1 ? UINT32_MAX : 0));
}

// The slot of the next change: behind the one before.
static bool read_slot(foliot__reader *r, uint32_t count, uint32_t *next, uint32_t *slot)
{
    uint32_t skipped = (uint32_t)foliot__read_varint(r, FOLIOT_BODIES_MAX);
    if (r->status == FOLIOT_STATUS_OK && (*next >= count || skipped >= count - *next))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (r->status != FOLIOT_STATUS_OK)
        return false;
    *slot = *next + skipped;
    *next = *slot + 1;
    return true;
}

static void read_bodies(foliot__reader *r, foliot_history *h, uint32_t count)
{
    uint32_t changes = (uint32_t)foliot__read_varint(r, count), next = 0, slot;
    while (changes-- > 0 && read_slot(r, count, &next, &slot)) {
        foliot__past_body body;
        memset(&body, 0, sizeof body);
#define READ(name) body.name = foliot__read_f64(r);
        FOLIOT__PAST_DOUBLES(READ)
#undef READ
#define READ(name) body.name = foliot__read_u32(r);
        FOLIOT__PAST_WORDS(READ)
#undef READ
        const foliot__past_body *before = foliot__history_body(h, h->body_head[slot], slot);
        if (r->status == FOLIOT_STATUS_OK &&
            (!body_valid(&body) || memcmp(before, &body, sizeof body) == 0))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (r->status == FOLIOT_STATUS_OK)
            foliot__history_put_body(h, slot, &body);
    }
}

static void read_poses(foliot__reader *r, foliot_history *h, uint32_t count)
{
    uint32_t changes = (uint32_t)foliot__read_varint(r, count), next = 0, slot;
    while (changes-- > 0 && read_slot(r, count, &next, &slot)) {
        foliot__past_pose before = *foliot__history_pose(h, h->pose_head[slot], slot);
        foliot__past_pose now;
        memset(&now, 0, sizeof now);
        int64_t turn2 = 0;
        for (int k = 0; k < 3; k++)
            now.position[k] = (int32_t)read_signed(r, expected_position(&before, k));
        for (int k = 0; k < 3; k++)
            now.velocity[k] = (int32_t)read_signed(r, (uint32_t)before.velocity[k]);
        for (int k = 0; k < 4; k++) {
            int32_t part = (int32_t)read_signed(r, (uint32_t)before.orientation.part[k]);
            if (part < -32767 || part > 32767)
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            else
                now.orientation.part[k] = (int16_t)part;
            turn2 += (int64_t)now.orientation.part[k] * now.orientation.part[k];
        }
        bool unit = turn2 > 32700 * 32700 && turn2 < 32900 * (int64_t)32900;
        if (!unit && memcmp(&now, &no_pose, sizeof no_pose) != 0)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (memcmp(&before, &now, sizeof now) == 0)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (r->status == FOLIOT_STATUS_OK)
            foliot__history_put_pose(h, slot, &now);
    }
}

// Whatever is alive and moves has a pose, and nothing else has.
static bool poses_fit(const foliot_history *h, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const foliot__past_body *body = foliot__history_body(h, h->body_head[i], i);
        bool placed = (body->flags & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC)) == FOLIOT_BODY_ALIVE;
        const foliot__past_pose *pose = foliot__history_pose(h, h->pose_head[i], i);
        if (placed == (memcmp(pose, &no_pose, sizeof no_pose) == 0))
            return false;
    }
    return true;
}

static void read_all(foliot__reader *r, foliot_history *h)
{
    uint8_t format = foliot__read_u8(r), ticks = foliot__read_u8(r), kept = foliot__read_u8(r);
    uint64_t oldest = foliot__read_u64(r);
    uint32_t count = 0;
    if (r->status == FOLIOT_STATUS_OK && (format != FORMAT || ticks != h->ticks || kept > ticks ||
                                          oldest > UINT64_MAX / 2 || (kept == 0 && oldest != 0)))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    for (uint32_t i = 0; i < kept && r->status == FOLIOT_STATUS_OK; i++) {
        uint32_t before = count;
        count = (uint32_t)foliot__read_varint(r, h->config.bodies_max);
        if (count < before) // slots are never given back
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (r->status != FOLIOT_STATUS_OK)
            return;
        foliot__history_open_tick(h, oldest + i, count);
        read_bodies(r, h, count);
        read_poses(r, h, count);
        if (r->status == FOLIOT_STATUS_OK && !poses_fit(h, count))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    }
    if (r->status == FOLIOT_STATUS_OK && foliot__reader_left(r) != 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

// Into an empty history first: hostile bytes leave this one as it was.
foliot_status foliot_history_restore(foliot_history *h, const uint8_t *bytes, size_t length)
{
    foliot_history *other;
    foliot__reader r = foliot__reader_of(bytes, length);
    foliot_status status = foliot__history_create_like(h, &other);
    if (status != FOLIOT_STATUS_OK)
        return status;
    read_all(&r, other);
    if (r.status == FOLIOT_STATUS_OK) {
        foliot_history taken = *other;
        *other = *h;
        *h = taken;
    }
    foliot_history_destroy(other);
    return r.status;
}
