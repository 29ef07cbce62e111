// SPDX-License-Identifier: MIT
// history.c: keeps the last ticks of a world, and shows it as it was. Copies what changed. Knows
// nothing of players and rules.
#include "history/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/math/simd.h"
#include "sim/world/layout.h"

#define FLAGS_KEPT                                                                                 \
    (FOLIOT_BODY_ALIVE | FOLIOT_BODY_PLAYER | FOLIOT_BODY_STATIC | FOLIOT_BODY_FROZEN |            \
     FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_SENSOR)
#define JUMP_FACTOR                                                                                \
    4.0 // as clients have it: a move beyond this factor of what its speeds explain ...
#define JUMP_STEPS 256.0 // ... and this number of steps is a jump

// -- creation

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

// The step of foliot_snapshot_format_default, so that ticks are as watchers show them: 2^-14 of the
// extent, a power of two from 2^-16 to 2^-9.
static double position_step(const foliot_scene *scene)
{
    double extent = 1, step = 0x1p-16;
    uint32_t bodies = scene->body_count, spawns = scene->players.position_count;
    for (uint32_t i = 0; i < bodies + spawns; i++) {
        const double *position =
            i < bodies ? scene->bodies[i].position : scene->players.positions[i - bodies];
        for (int k = 0; k < 3; k++)
            extent = magnitude(position[k]) > extent ? magnitude(position[k]) : extent;
    }
    while (step < 0x1p-9 && 2 * step <= extent * 0x1p-14)
        step *= 2;
    return step;
}

foliot_status foliot__history_create_like(const foliot_history *like, foliot_history **history)
{
    foliot_history *h = calloc(1, sizeof *h);
    if (!h)
        return FOLIOT_STATUS_MEMORY;
    h->config = like->config;
    h->ticks = like->ticks;
    h->step = like->step;
    h->dt = like->dt;
    // The world that shows a tick.
    size_t bytes = foliot_world_config_get_bytes(&h->config);
    h->view = bytes ? aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes) : NULL;
    foliot_status status = bytes ? FOLIOT_STATUS_MEMORY : FOLIOT_STATUS_INVALID;
    if (h->view)
        status = foliot__block_init((void *)h->view, bytes, &h->config, false);
    if (status != FOLIOT_STATUS_OK) {
        foliot_history_destroy(h);
        return status;
    }
    h->view->past = 1;
    h->view->scene.dt = h->dt;
    h->slots = h->view->capacity.slots;
    // The tables. Zeroed pages that nothing was written to cost nothing.
    size_t places = (size_t)h->ticks * h->slots;
    h->poses = calloc(places, sizeof *h->poses);
    h->bodies = calloc(places, sizeof *h->bodies);
    h->pose_rows = calloc(places, 1);
    h->body_rows = calloc(places, 1);
    h->pose_head = calloc(h->slots, 1);
    h->body_head = calloc(h->slots, 1);
    h->pose_there = malloc(h->slots);
    h->body_there = malloc(h->slots);
    h->awake = calloc(h->slots, 1);
    h->counts = calloc(h->ticks, sizeof *h->counts);
    if (!h->poses || !h->bodies || !h->pose_rows || !h->body_rows || !h->pose_head ||
        !h->body_head || !h->pose_there || !h->body_there || !h->awake || !h->counts) {
        foliot_history_destroy(h);
        return FOLIOT_STATUS_MEMORY;
    }
    foliot_history_clear(h);
    *history = h;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_history_create(const foliot_scene *scene, uint32_t ticks,
                                    foliot_history **history)
{
    foliot_world_config needed = foliot_world_config_default(scene);
    if (ticks < FOLIOT_HISTORY_TICKS_MIN || ticks > FOLIOT_HISTORY_TICKS_MAX ||
        needed.bodies_max > FOLIOT_HISTORY_POSES_MAX / ticks)
        return FOLIOT_STATUS_INVALID;
    foliot_history like = {.config = {.bodies_max = needed.bodies_max,
                                      .integrator = FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER},
                           .ticks = ticks,
                           .step = position_step(scene),
                           .dt = scene->dt};
    return foliot__history_create_like(&like, history);
}

void foliot_history_destroy(foliot_history *h)
{
    if (!h)
        return;
    free(h->poses);
    free(h->bodies);
    free(h->pose_rows);
    free(h->body_rows);
    free(h->pose_head);
    free(h->body_head);
    free(h->pose_there);
    free(h->body_there);
    free(h->awake);
    free(h->counts);
    free(h->view);
    free(h);
}

void foliot_history_clear(foliot_history *h)
{
    static const foliot__past_pose no_pose;
    static const foliot__past_body no_body;
    h->count = 0;
    h->newest = 0;
    h->definitions = h->session = (foliot_digest){0, 0};
    memset(h->pose_head, 0, h->slots);
    memset(h->body_head, 0, h->slots);
    memset(h->pose_there, FOLIOT__HISTORY_UNLOADED, h->slots);
    memset(h->body_there, FOLIOT__HISTORY_UNLOADED, h->slots);
    memset(h->awake, 0, h->slots);
    for (uint32_t i = 0; i < h->slots; i++) {
        *foliot__history_pose(h, 0, i) = no_pose;
        *foliot__history_body(h, 0, i) = no_body;
    }
}

uint64_t foliot_history_get_oldest(const foliot_history *h)
{
    return h->count ? foliot__history_oldest(h) : 0;
}

uint64_t foliot_history_get_newest(const foliot_history *h)
{
    return h->newest;
}

// -- keeping

void foliot__history_open_tick(foliot_history *h, uint64_t tick, uint32_t count)
{
    if (h->count == 0) {
        memset(foliot__history_poses_at(h, tick), 0, h->slots);
        memset(foliot__history_bodies_at(h, tick), 0, h->slots);
    } else {
        FOLIOT_ASSERT(tick == h->newest + 1);
        memcpy(foliot__history_poses_at(h, tick), h->pose_head, h->slots);
        memcpy(foliot__history_bodies_at(h, tick), h->body_head, h->slots);
    }
    h->newest = tick;
    h->count += h->count < h->ticks;
    h->counts[tick % h->ticks] = count;
}

static uint8_t next_place(const foliot_history *h, uint8_t place)
{
    return place + 1u < h->ticks ? (uint8_t)(place + 1) : 0;
}

void foliot__history_put_pose(foliot_history *h, uint32_t slot, const foliot__past_pose *pose)
{
    uint8_t place = h->pose_head[slot];
    if (memcmp(foliot__history_pose(h, place, slot), pose, sizeof *pose) == 0)
        return;
    place = next_place(h, place);
    *foliot__history_pose(h, place, slot) = *pose;
    h->pose_head[slot] = foliot__history_poses_at(h, h->newest)[slot] = place;
    if (h->pose_there[slot] == place)
        h->pose_there[slot] = FOLIOT__HISTORY_UNLOADED;
}

void foliot__history_put_body(foliot_history *h, uint32_t slot, const foliot__past_body *body)
{
    uint8_t place = h->body_head[slot];
    if (memcmp(foliot__history_body(h, place, slot), body, sizeof *body) == 0)
        return;
    place = next_place(h, place);
    *foliot__history_body(h, place, slot) = *body;
    h->body_head[slot] = foliot__history_bodies_at(h, h->newest)[slot] = place;
    if (h->body_there[slot] == place)
        h->body_there[slot] = FOLIOT__HISTORY_UNLOADED;
}

// To the nearest, ties away from zero, as snapshots are rounded.
static int32_t rounded(double scaled)
{
    scaled = scaled > -2147483647.0 ? scaled : -2147483647.0; // what is not a number, too
    scaled = scaled < 2147483647.0 ? scaled : 2147483647.0;
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static int16_t packed(double part)
{
    double scaled = part * FOLIOT__PAST_UNIT;
    return (int16_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static foliot__past_pose pose_of(const foliot_world *world, uint32_t slot, double step)
{
    double place = 1 / step, speed = world->scene.dt * (4 / step); // powers of two
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    return (foliot__past_pose){
        .position = {rounded(x.x[slot] * place), rounded(x.y[slot] * place),
                     rounded(x.z[slot] * place)},
        .velocity = {rounded(v.x[slot] * speed), rounded(v.y[slot] * speed),
                     rounded(v.z[slot] * speed)},
        .orientation.part = {packed(foliot__orientation_w(world)[slot]),
                             packed(foliot__orientation_x(world)[slot]),
                             packed(foliot__orientation_y(world)[slot]),
                             packed(foliot__orientation_z(world)[slot])},
    };
}

static foliot__past_body body_of(const foliot_world *world, uint32_t slot)
{
    uint32_t flags = foliot__flags(world)[slot] & FLAGS_KEPT;
    foliot__past_body body = {.generation = foliot__generation(world)[slot]};
    if (!(flags & FOLIOT_BODY_ALIVE))
        return body;
#define TAKE(name) body.name = foliot__##name(world)[slot];
    FOLIOT__PAST_DOUBLES(TAKE)
    FOLIOT__PAST_WORDS(TAKE)
#undef TAKE
    body.flags = flags;
    if (flags & FOLIOT_BODY_STATIC)
        return body;
    body.position_x = body.position_y = body.position_z = 0;
    body.orientation_w = body.orientation_x = body.orientation_y = body.orientation_z = 0;
    return body;
}

static bool moves_by_itself(uint32_t flags)
{
    return (flags & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC | FOLIOT_BODY_ASLEEP)) ==
           FOLIOT_BODY_ALIVE;
}

static void keep_pose(foliot_history *h, const foliot_world *world, uint32_t slot)
{
    static const foliot__past_pose none;
    uint32_t flags = foliot__flags(world)[slot];
    bool placed = (flags & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC)) == FOLIOT_BODY_ALIVE;
    foliot__past_pose pose = placed ? pose_of(world, slot, h->step) : none;
    foliot__history_put_pose(h, slot, &pose);
    h->awake[slot] = moves_by_itself(flags);
}

static bool same_digest(foliot_digest a, foliot_digest b)
{
    return a.low == b.low && a.high == b.high;
}

foliot_status foliot_history_append(foliot_history *h, const foliot_world *world)
{
    if (world->bodies_max > h->config.bodies_max)
        return FOLIOT_STATUS_FULL;
    bool begins = h->count == 0 || world->tick != h->newest + 1;
    if (begins)
        foliot_history_clear(h);
    bool changed = begins || world->input.commands ||
                   !same_digest(h->definitions, world->digests.definition) ||
                   !same_digest(h->session, world->digests.session);
    foliot__history_open_tick(h, world->tick, world->body_count);
    for (uint32_t i = 0; changed && i < world->body_count; i++) {
        foliot__past_body body = body_of(world, i);
        foliot__history_put_body(h, i, &body);
        keep_pose(h, world, i);
    }
    if (!changed) {
        // Bodies that sleep or are static move by commands alone.
        enum { AT_ONCE = 8 };
        _Static_assert(FOLIOT__LANES % AT_ONCE == 0, "slots come in whole lanes");
        const uint32_t *flags = foliot__flags(world);
        for (uint32_t first = 0; first < h->slots; first += AT_ONCE) {
            uint64_t before;
            uint32_t now = 0;
            memcpy(&before, h->awake + first, sizeof before);
            for (uint32_t k = 0; k < AT_ONCE; k++)
                now |= moves_by_itself(flags[first + k]);
            if (before == 0 && now == 0)
                continue;
            for (uint32_t k = 0; k < AT_ONCE; k++)
                if (h->awake[first + k] || moves_by_itself(flags[first + k]))
                    keep_pose(h, world, first + k);
        }
    }
    h->definitions = world->digests.definition;
    h->session = world->digests.session;
    return FOLIOT_STATUS_OK;
}

// -- showing

// Loads the bodies whose definitions differ from the shown ones, and skips eight at a time where
// none does.
static void load_bodies(foliot_history *h, const uint8_t *row)
{
    for (uint32_t first = 0; first < h->slots; first += 8) {
        if (memcmp(h->body_there + first, row + first, 8) == 0)
            continue;
        for (uint32_t i = first; i < first + 8; i++) {
            if (h->body_there[i] == row[i])
                continue;
            foliot_world *view = h->view;
            const foliot__past_body *body = foliot__history_body(h, row[i], i);
#define PUT(name) foliot__##name(view)[i] = body->name;
            FOLIOT__PAST_DOUBLES(PUT)
            FOLIOT__PAST_WORDS(PUT)
#undef PUT
            foliot__velocity_z(view)[i] = -1;
            h->body_there[i] = row[i];
            h->pose_there[i] = FOLIOT__HISTORY_UNLOADED;
        }
    }
}

// Weights of the poses around a fractional tick (the cubic of Hermite).
typedef struct weights {
    double share, move, from_speed, to_speed;
} weights;

// Whether the body jumped, as clients decide it.
static bool has_jumped(const foliot__past_pose *a, const foliot__past_pose *b)
{
    double moved2 = 0, speed = 0;
    for (int k = 0; k < 3; k++) {
        double d = (double)b->position[k] - a->position[k];
        double from = magnitude(a->velocity[k]), to = magnitude(b->velocity[k]);
        moved2 += d * d;
        speed += from > to ? from : to;
    }
    double far = JUMP_FACTOR * 0.25 * speed + JUMP_STEPS;
    return moved2 > far * far;
}

// Two lanes: every machine has such vectors. x and y share a vector; z is paired with anything.
typedef double two FOLIOT__SIMD(double, 2);
typedef int64_t two_marks FOLIOT__SIMD(int64_t, 2);
typedef int32_t two_whole FOLIOT__SIMD_ALIGNED(int32_t, 2, 4);

#define TWO_OF(values) __builtin_convertvector(*(const two_whole *)(const void *)(values), two)
#define MAGNITUDES(x) ((two)((two_marks)(x)&INT64_MAX))

// The tables of the view that are written.
typedef struct shown {
    double *x, *y, *z, *from, *to, *share;
    const uint32_t *flags;
} shown;

static inline void put_turn(const shown *t, uint32_t slot, const foliot__past_pose *a,
                            const foliot__past_pose *b, double share)
{
    memcpy(&t->from[slot], &a->orientation, sizeof a->orientation);
    memcpy(&t->to[slot], &b->orientation, sizeof b->orientation);
    t->share[slot] = share;
}

// Axes k and k + 1 between the two; *far marks those that moved farther than their speed explains.
#define BETWEEN(k, at, far)                                                                        \
    do {                                                                                           \
        two from = TWO_OF(a->position + (k)), move = TWO_OF(b->position + (k)) - from;             \
        two from_speed = TWO_OF(a->velocity + (k)), to_speed = TWO_OF(b->velocity + (k));          \
        two slow = MAGNITUDES(from_speed), fast = MAGNITUDES(to_speed);                            \
        fast = FOLIOT__SELECT(two, fast > slow, fast, slow);                                       \
        (far) = MAGNITUDES(move) > fast + JUMP_STEPS / 4;                                          \
        (at) = from + (move * w->move + (from_speed * w->from_speed + to_speed * w->to_speed));    \
        (at) *= h->step;                                                                           \
    } while (0)

// False, and nothing is shown, for a body that jumped.
static inline bool show_moving(const foliot_history *h, const shown *t, uint32_t slot,
                               const foliot__past_pose *a, const foliot__past_pose *b,
                               const weights *w)
{
    two at_xy, at_z;
    two_marks far_xy, far_z;
    BETWEEN(0, at_xy, far_xy);
    BETWEEN(2, at_z, far_z); // the second lane reads what follows z, and is not used
    // If no axis alone is far, the sum of the three is not, and the distance is less than the sum.
    if ((far_xy[0] | far_xy[1] | far_z[0]) && has_jumped(a, b))
        return false;
    t->x[slot] = at_xy[0];
    t->y[slot] = at_xy[1];
    t->z[slot] = at_z[0];
    put_turn(t, slot, a, b, w->share);
    return true;
}

// Whether the definitions of two ticks are of one body. Another kind of motion has another pose.
static bool same_body(const foliot_history *h, uint32_t slot, uint8_t from, uint8_t to)
{
    const foliot__past_body *a = foliot__history_body(h, from, slot),
                            *b = foliot__history_body(h, to, slot);
    return a->generation == b->generation && !((a->flags ^ b->flags) & FOLIOT_BODY_STATIC) &&
           (b->flags & FOLIOT_BODY_ALIVE);
}

// Poses and definitions of a tick and of the next one.
typedef struct span {
    const uint8_t *from, *to, *body_from, *body_to;
} span;

// `w` NULL: the tick itself.
static void show_poses(foliot_history *h, uint64_t tick, const weights *w)
{
    uint64_t next = w ? tick + 1 : tick;
    const span s = {foliot__history_poses_at(h, tick), foliot__history_poses_at(h, next),
                    foliot__history_bodies_at(h, tick), foliot__history_bodies_at(h, next)};
    foliot__v3 x = foliot__position(h->view), v = foliot__velocity(h->view);
    const shown t = (shown){x.x, x.y, x.z, v.x, v.y, v.z, foliot__flags(h->view)};
    for (uint32_t first = 0; first < h->slots; first += 8) {
        if (memcmp(h->pose_there + first, s.from + first, 8) == 0 &&
            memcmp(s.from + first, s.to + first, 8) == 0)
            continue;
        for (uint32_t i = first; i < first + 8; i++)
            if (h->pose_there[i] != s.from[i] || s.from[i] != s.to[i]) {
                uint8_t from = s.from[i], to = s.to[i];
                const foliot__past_pose *a = foliot__history_pose(h, from, i);
                bool placed =
                    (t.flags[i] & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC)) == FOLIOT_BODY_ALIVE;
                bool same =
                    s.body_from[i] == s.body_to[i] || same_body(h, i, s.body_from[i], s.body_to[i]);
                h->pose_there[i] = from;
                if (placed && from != to && same &&
                    show_moving(h, &t, i, a, foliot__history_pose(h, to, i), w)) {
                    h->pose_there[i] = FOLIOT__HISTORY_UNLOADED;
                } else if (placed) {
                    t.x[i] = a->position[0] * h->step;
                    t.y[i] = a->position[1] * h->step;
                    t.z[i] = a->position[2] * h->step;
                    put_turn(&t, i, a, a, 0);
                }
            }
    }
}

const foliot_world *foliot_history_view(foliot_history *h, double tick)
{
    if (h->count == 0)
        return NULL;
    uint64_t at = foliot__history_oldest(h);
    double u = 0;
    if (tick >= (double)h->newest) {
        at = h->newest;
    } else if (tick > (double)at) { // false for what is not a number
        at = (uint64_t)tick;
        u = tick - (double)at;
    }
    double u2 = u * u, u3 = u2 * u;
    const weights w = {.share = u,
                       .move = 3 * u2 - 2 * u3,
                       .from_speed = ((u3 - 2 * u2) + u) * 0.25,
                       .to_speed = (u3 - u2) * 0.25};
    load_bodies(h, foliot__history_bodies_at(h, at));
    show_poses(h, at, u > 0 ? &w : NULL);
    h->view->body_count = h->counts[at % h->ticks];
    h->view->tick = at;
    return h->view;
}
