// SPDX-License-Identifier: MIT
// test_history.c: the past of a world against whole copies of it: every tick that is kept, in any
// order, while bodies move, sleep, are spawned, removed, thrown and changed; between two ticks;
// as bytes, and from hostile ones. SEED=.
#include "text_world.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "foliot/query.h"
#include "foliot/snapshot.h"

#define SCENE                                                                                      \
    "foliot: 1\nname: t\ntick_hz: 60\ngravity: [0, 0, -9.8]\nsleep: true\n"                        \
    "limits: {bodies_max: 40, commands_max: 20}\n"                                                 \
    "bodies:\n"                                                                                    \
    "  - {name: floor, static: true, shape: {kind: plane, normal: [0, 0, 1]}}\n"                   \
    "  - {name: wall, static: true, position: [3.3, 0, 1], shape: {kind: box, half: [0.1, 4, "     \
    "1]}}\n"                                                                                       \
    "  - {name: top, position: [0, 0, 2], angular_velocity: [1, 2, 3],\n"                          \
    "     shape: {kind: box, half: [0.3, 0.2, 0.1]}}\n"                                            \
    "  - {name: rest, position: [-2, 0, 0.5], shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"        \
    "  - {name: ball, position: [-6, 0, 0.3], velocity: [3, 1, 0],\n"                              \
    "     shape: {kind: sphere, radius: 0.3}}\n"                                                   \
    "prototypes:\n"                                                                                \
    "  - {name: crate, mass: 1, tag: 5, shape: {kind: box, half: [0.2, 0.2, 0.2]}}\n"              \
    "  - {name: rod, mass: 1, shape: {kind: capsule, radius: 0.1, half_length: 0.4}}\n"            \
    "players: {limit: 2, spawn: {mass: 1, shape: {kind: sphere, radius: 0.4},\n"                   \
    "  positions: [[0, -3, 0.4], [0, 3, 0.4]]}, controls: {kind: thrust, force: 20}}\n"

enum { TICKS = 12, COPIES = 64 };
#define GOLDEN_PAST 0xb9c6c637b0c91549u

typedef struct past {
    foliot_scene *scene;
    foliot_world *world;
    foliot_history *history;
    foliot_world *copies[COPIES]; // by tick
    foliot__rng rng;
    uint32_t sequence, command_sequence;
    double step;
} past;

static past begin(uint32_t ticks)
{
    past p = {.scene = text_scene(SCENE), .rng = foliot__rng_seeded(check_seed(20265))};
    assert_int_equal(foliot_world_create(p.scene, &p.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_create(p.scene, ticks, &p.history), FOLIOT_STATUS_OK);
    p.step = foliot_snapshot_format_default(p.scene).position_step;
    return p;
}

static void end(past *p)
{
    for (int i = 0; i < COPIES; i++)
        free(p->copies[i]);
    foliot_history_destroy(p->history);
    foliot_world_destroy(p->world);
    foliot_scene_destroy(p->scene);
}

static double between(past *p, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&p->rng);
}

static foliot_body_id some_body(past *p)
{
    uint32_t slot = (uint32_t)(foliot__rng_u64(&p->rng) % foliot_world_get_body_count(p->world));
    return foliot_world_get_body_id(p->world, slot);
}

static foliot_command some_command(past *p)
{
    foliot_command c = {.sequence = ++p->command_sequence};
    foliot_body_id body = some_body(p);
    switch (foliot__rng_u64(&p->rng) % 6) {
    case 0:
    case 1:
        c.kind = FOLIOT_COMMAND_spawn;
        c.as.spawn.prototype = foliot__rng_u64(&p->rng) % 2;
        for (int k = 0; k < 3; k++)
            c.as.spawn.position[k] = (float)between(p, 0.5, 3);
        c.fields = FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position);
        return c;
    case 2:
        c.kind = FOLIOT_COMMAND_despawn;
        c.as.despawn.body = body;
        c.fields = FOLIOT_COMMAND_HAS(despawn, body);
        return c;
    case 3: // static ones, too
        c.kind = FOLIOT_COMMAND_set_motion;
        c.as.set_motion.body = body;
        for (int k = 0; k < 3; k++)
            c.as.set_motion.position[k] = (float)between(p, 0, 4);
        c.fields = FOLIOT_COMMAND_HAS(set_motion, body) | FOLIOT_COMMAND_HAS(set_motion, position);
        return c;
    case 4:
        c.kind = FOLIOT_COMMAND_set_body;
        c.as.set_body.body = body;
        c.as.set_body.motion = foliot__rng_u64(&p->rng) % 3;
        c.as.set_body.tag = (uint32_t)foliot__rng_u64(&p->rng);
        c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, motion) |
                   FOLIOT_COMMAND_HAS(set_body, tag);
        return c;
    default:
        c.kind = FOLIOT_COMMAND_set_body;
        c.as.set_body.body = body;
        c.as.set_body.category = 1u << foliot__rng_u64(&p->rng) % 4;
        c.as.set_body.mask = (uint32_t)foliot__rng_u64(&p->rng) | 1;
        c.fields = FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, category) |
                   FOLIOT_COMMAND_HAS(set_body, mask);
        return c;
    }
}

static void step_and_keep(past *p, uint32_t commands, const foliot_input *inputs,
                          uint32_t input_count)
{
    foliot_command list[8];
    for (uint32_t i = 0; i < commands; i++)
        list[i] = some_command(p);
    foliot_tick_inputs tick = {inputs, input_count, list, commands};
    assert_int_equal(foliot_world_step_tick(p->world, &tick, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_append(p->history, p->world), FOLIOT_STATUS_OK);
    uint64_t at = foliot_world_get_tick(p->world) % COPIES;
    if (!p->copies[at])
        p->copies[at] = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, foliot_world_get_bytes(p->world));
    assert_non_null(p->copies[at]);
    foliot_world_copy(p->copies[at], p->world);
}

// Some ticks with commands, most without; players come and go.
static void run(past *p, uint32_t ticks)
{
    for (uint32_t t = 0; t < ticks; t++) {
        foliot_input input = {.sequence = ++p->sequence, .kind = FOLIOT_INPUT_CONTROL};
        uint64_t chance = foliot__rng_u64(&p->rng) % 40;
        bool joined = player_slot(p->world, 0) != FOLIOT_NO_BODY;
        if (chance == 0)
            input.kind = joined ? FOLIOT_INPUT_LEAVE : FOLIOT_INPUT_JOIN;
        input.axes[0] = (int8_t)(foliot__rng_u64(&p->rng) % 200 - 100);
        step_and_keep(p, foliot__rng_u64(&p->rng) % 9 ? 0 : 3, &input,
                      chance < 5 && (joined || chance == 0));
    }
}

static void check_rotation(const double a[4], const double b[4])
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    assert_true(fabs(dot) > 1 - 1e-8);
}

static void check_same_body(const past *p, const foliot_world *then, const foliot_world *view,
                            uint32_t slot)
{
    assert_int_equal(slot_alive(view, slot), slot_alive(then, slot));
    assert_int_equal(slot_generation(view, slot), slot_generation(then, slot));
    if (!slot_alive(view, slot))
        return;
    foliot_body_state a = state_of(then, slot), b = state_of(view, slot);
    bool still = a.flags & FOLIOT_BODY_STATIC;
    for (int k = 0; k < 3; k++) {
        check_near(b.position[k], a.position[k], still ? 0 : p->step / 2 * 1.0001);
        check_bits(b.velocity[k], 0.0);
    }
    check_rotation(a.orientation, b.orientation);
    foliot_shape x = slot_body(then, slot).shape, y = slot_body(view, slot).shape;
    assert_int_equal(x.kind, y.kind);
    check_bits(x.radius, y.radius);
    check_bits(x.offset, y.offset);
    assert_memory_equal(x.half, y.half, sizeof x.half);
    assert_memory_equal(x.normal, y.normal, sizeof x.normal);
    assert_true(foliot_world_get_body_id(then, slot).value ==
                foliot_world_get_body_id(view, slot).value);
    assert_int_equal(slot_body(then, slot).tag, slot_body(view, slot).tag);
    assert_int_equal(slot_body(then, slot).prototype, slot_body(view, slot).prototype);
    check_bits(slot_body(view, slot).mass, slot_body(then, slot).mass);
}

static void check_tick(const past *p, foliot_history *history, uint64_t tick)
{
    const foliot_world *then = p->copies[tick % COPIES];
    const foliot_world *view = foliot_history_view(history, (double)tick);
    assert_true(foliot_world_get_tick(view) == tick);
    assert_int_equal(foliot_world_get_body_count(view), foliot_world_get_body_count(then));
    for (uint32_t i = 0; i < foliot_world_get_body_count(view); i++)
        check_same_body(p, then, view, i);
}

// A ray through the world finds the same body as then; where it grazes one, nearly so.
static void check_rays(past *p, foliot_history *history, uint64_t tick, uint32_t *same,
                       uint32_t *all)
{
    const foliot_world *then = p->copies[tick % COPIES];
    const foliot_world *view = foliot_history_view(history, (double)tick);
    for (int i = 0; i < 8; i++) {
        double from[3], direction[3];
        for (int k = 0; k < 3; k++) {
            from[k] = between(p, -5, 5) + (k == 2 ? 5.5 : 0);
            direction[k] = between(p, -3, 3) - from[k];
        }
        foliot_query_filter filter = {.category = i % 3 ? 0 : 2};
        foliot_query_hit a, b;
        bool met = foliot_world_cast_ray(then, from, direction, 20, &filter, &a);
        bool found = foliot_world_cast_ray(view, from, direction, 20, &filter, &b);
        *all += 1;
        *same += met == found &&
                 (!met || (a.body.value == b.body.value && fabs(a.distance - b.distance) < 0.02));
    }
}

TEST(every_tick_that_is_kept_is_as_it_was)
{
    past p = begin(TICKS);
    uint32_t same = 0, all = 0;
    for (int round = 0; round < 120; round++) {
        run(&p, 1 + (uint32_t)(foliot__rng_u64(&p.rng) % 9));
        uint64_t oldest = foliot_history_get_oldest(p.history),
                 newest = foliot_history_get_newest(p.history);
        assert_true(newest == foliot_world_get_tick(p.world));
        assert_true(newest - oldest + 1 == (newest < TICKS ? newest : TICKS));
        for (int i = 0; i < 6; i++) {
            uint64_t tick = oldest + foliot__rng_u64(&p.rng) % (newest - oldest + 1);
            check_tick(&p, p.history, tick);
            check_rays(&p, p.history, tick, &same, &all);
        }
    }
    assert_true(same > all * 0.99);
    end(&p);
}

// Beyond what is kept: the oldest, the newest.
TEST(other_ticks_are_clamped)
{
    past p = begin(TICKS);
    assert_null(foliot_history_view(p.history, 3));
    assert_null(foliot_history_view(p.history, 0));
    run(&p, 30);
    static const double odd[] = {-1, 0, 1e300, INFINITY, -INFINITY, NAN, 18.999, 30.0001};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        uint64_t tick = foliot_world_get_tick(foliot_history_view(p.history, odd[i]));
        assert_true(tick == (odd[i] >= 30 ? 30u : 19u));
    }
    end(&p);
}

static double shown_x(past *p, double tick, uint32_t slot)
{
    return state_of(foliot_history_view(p->history, tick), slot).position[0];
}

// Under a constant acceleration positions at ticks lie on a parabola, and so do those between.
TEST(between_ticks_bodies_move_as_they_fell)
{
    past p = begin(TICKS);
    for (int t = 0; t < 20; t++)
        step_and_keep(&p, 0, NULL, 0);
    for (double tick = 10; tick < 19.9; tick += 0.23) {
        const foliot_world *a = p.copies[(uint64_t)tick], *b = p.copies[(uint64_t)tick + 1];
        double u = tick - floor(tick), z0 = state_of(a, 2).position[2],
               z1 = state_of(b, 2).position[2], drop = 9.8 / 3600 / 2 * u * (1 - u);
        foliot_body_state seen = state_of(foliot_history_view(p.history, tick), 2);
        check_near(seen.position[2], z0 + (z1 - z0) * u + drop, 1.5 * p.step);
        // Its orientation is on the arc: as far from both ends as the share says.
        double from[4], to[4], dot = 0, ends = 0;
        memcpy(from, state_of(a, 2).orientation, sizeof from);
        memcpy(to, state_of(b, 2).orientation, sizeof to);
        for (int k = 0; k < 4; k++) {
            dot += from[k] * seen.orientation[k];
            ends += from[k] * to[k];
        }
        check_near(acos(fmin(dot, 1)), u * acos(fmin(ends, 1)), 1e-3);
    }
    end(&p);
}

static void move_ball(past *p, float x)
{
    foliot_command c = {.kind = FOLIOT_COMMAND_set_motion, .sequence = ++p->command_sequence};
    c.as.set_motion.body = foliot_world_get_body_id(p->world, 4);
    c.as.set_motion.position[0] = x;
    c.as.set_motion.position[2] = 0.3f;
    c.fields = FOLIOT_COMMAND_HAS(set_motion, body) | FOLIOT_COMMAND_HAS(set_motion, position);
    foliot_tick_inputs tick = {.commands = &c, .command_count = 1};
    assert_int_equal(foliot_world_step_tick(p->world, &tick, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_append(p->history, p->world), FOLIOT_STATUS_OK);
}

TEST(a_teleported_body_is_not_interpolated)
{
    past p = begin(TICKS);
    for (int t = 0; t < 5; t++)
        step_and_keep(&p, 0, NULL, 0);
    double before = state_of(p.world, 4).position[0];
    move_ball(&p, 2);
    check_near(shown_x(&p, 5.5, 4), before, p.step);
    check_near(shown_x(&p, 5.99, 4), before, p.step);
    check_near(shown_x(&p, 6, 4), state_of(p.world, 4).position[0], p.step);
    end(&p);
}

// The ray goes where a player was: spawned at tick 3, gone at tick 8.
TEST(a_ray_finds_who_is_gone)
{
    past p = begin(TICKS);
    const double from[3] = {-4, -3, 0.4}, direction[3] = {1, 0, 0};
    foliot_query_hit hit;
    for (uint32_t t = 1; t <= 10; t++) {
        foliot_input input = {.sequence = t,
                              .kind = t == 3 ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_LEAVE};
        step_and_keep(&p, 0, &input, t == 3 || t == 8);
    }
    for (uint32_t t = 1; t <= 10; t++) {
        const foliot_world *view = foliot_history_view(p.history, t + (t == 7 ? 0.9 : 0));
        bool met = foliot_world_cast_ray(view, from, direction, 6, NULL, &hit);
        assert_int_equal(met, t >= 3 && t < 8);
        assert_true(!met || foliot_world_get_body_state(p.world, hit.body).flags == 0);
    }
    end(&p);
}

// -- bytes

static uint8_t *captured(const foliot_history *history, size_t *length)
{
    assert_int_equal(foliot_history_capture(history, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(foliot_history_capture(history, bytes, *length - 1, length),
                     FOLIOT_STATUS_FULL);
    assert_int_equal(foliot_history_capture(history, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

static void check_same_bytes(const foliot_history *a, const foliot_history *b)
{
    size_t p, q;
    uint8_t *x = captured(a, &p), *y = captured(b, &q);
    assert_int_equal(p, q);
    assert_memory_equal(x, y, p);
    free(x);
    free(y);
}

// However it was come by: it is restored at any tick, and both go on.
TEST(a_past_has_one_encoding)
{
    past p = begin(TICKS);
    for (int round = 0; round < 40; round++) {
        foliot_history *other;
        size_t length;
        run(&p, 1 + (uint32_t)(foliot__rng_u64(&p.rng) % 7));
        uint8_t *bytes = captured(p.history, &length);
        assert_int_equal(foliot_history_create(p.scene, TICKS, &other), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_history_restore(other, bytes, length), FOLIOT_STATUS_OK);
        check_same_bytes(p.history, other);
        for (uint32_t t = 0; t < 2 * TICKS; t++) {
            run(&p, 1);
            assert_int_equal(foliot_history_append(other, p.world), FOLIOT_STATUS_OK);
            check_same_bytes(p.history, other);
            check_tick(&p, other, foliot_history_get_oldest(other));
            check_tick(&p, other, foliot_history_get_newest(other) - 1);
        }
        free(bytes);
        foliot_history_destroy(other);
    }
    end(&p);
}

static uint64_t mixed(uint64_t sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (sum ^ bits) * 0x100000001b3u;
}

// Golden: the same bits on every machine, by every compiler.
TEST(the_past_has_the_same_bits_everywhere)
{
    past p = begin(TICKS);
    uint64_t sum = 0xcbf29ce484222325u;
    size_t length;
    p.rng = foliot__rng_seeded(77);
    run(&p, 50);
    uint8_t *bytes = captured(p.history, &length);
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    free(bytes);
    for (double tick = 38.7; tick < 50.2; tick += 0.37) {
        const foliot_world *view = foliot_history_view(p.history, tick);
        for (uint32_t i = 0; i < foliot_world_get_body_count(view); i++) {
            foliot_body_state seen = state_of(view, i);
            for (int k = 0; k < 4; k++)
                sum = mixed(mixed(sum, seen.orientation[k]), k < 3 ? seen.position[k] : 0);
        }
    }
    if (sum != GOLDEN_PAST)
        fail_msg("0x%016llx", (unsigned long long)sum);
    end(&p);
}

TEST(hostile_bytes_leave_it_as_it_was)
{
    past p = begin(TICKS);
    foliot_history *other;
    size_t length;
    run(&p, 40);
    uint8_t *bytes = captured(p.history, &length);
    assert_int_equal(foliot_history_create(p.scene, TICKS, &other), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_restore(other, bytes, length), FOLIOT_STATUS_OK);
    for (size_t cut = 0; cut < length; cut += 1 + cut / 64) {
        uint8_t *some = malloc(cut + 1); // its end is where a sanitizer sees it
        memcpy(some, bytes, cut);
        assert_int_not_equal(foliot_history_restore(other, some, cut), FOLIOT_STATUS_OK);
        free(some);
    }
    check_same_bytes(p.history, other);
    for (int i = 0; i < 2000; i++) {
        size_t at = foliot__rng_u64(&p.rng) % length;
        uint8_t was = bytes[at];
        bytes[at] ^= (uint8_t)(1u << foliot__rng_u64(&p.rng) % 8);
        foliot_history *third;
        assert_int_equal(foliot_history_create(p.scene, TICKS, &third), FOLIOT_STATUS_OK);
        if (foliot_history_restore(third, bytes, length) == FOLIOT_STATUS_OK) {
            uint32_t same = 0, all = 0;
            uint64_t oldest = foliot_history_get_oldest(third);
            for (double u = 0.25; u < TICKS && oldest < 1000; u += 3)
                foliot_history_view(third, (double)oldest + u);
            if (oldest == foliot_history_get_oldest(other))
                check_rays(&p, third, oldest, &same, &all);
        }
        foliot_history_destroy(third);
        bytes[at] = was;
    }
    // A history of another number of ticks.
    foliot_history *fourth;
    assert_int_equal(foliot_history_create(p.scene, TICKS + 1, &fourth), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_restore(fourth, bytes, length), FOLIOT_STATUS_CORRUPT);
    foliot_history_destroy(fourth);
    foliot_history_destroy(other);
    free(bytes);
    end(&p);
}

TEST(a_gap_begins_it_anew)
{
    past p = begin(TICKS);
    run(&p, 20);
    step_ticks(p.world, 1);
    step_and_keep(&p, 0, NULL, 0);
    assert_int_equal(foliot_history_get_newest(p.history), foliot_history_get_oldest(p.history));
    check_tick(&p, p.history, 22);
    run(&p, 5);
    for (uint64_t t = 22; t <= 27; t++)
        check_tick(&p, p.history, t);
    foliot_history_clear(p.history);
    assert_null(foliot_history_view(p.history, 27));
    end(&p);
}

// Both round alike, in small scenes and in wide ones: what a watcher shows at a tick is what the
// rules see of it.
TEST(positions_are_rounded_as_in_snapshots)
{
    for (double far = 0.3; far < 1e4; far *= 1.7) {
        foliot_scene *scene = text_scene(SCENE);
        foliot_body_definition bodies[5];
        foliot_world *world;
        foliot_history *history;
        memcpy(bodies, scene->bodies, sizeof bodies);
        bodies[4].position[1] = -far;
        scene->bodies = bodies;
        assert_int_equal(foliot_world_create(scene, &world, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_history_create(scene, 2, &history), FOLIOT_STATUS_OK);
        step_ticks(world, 1);
        assert_int_equal(foliot_history_append(history, world), FOLIOT_STATUS_OK);
        foliot_snapshot_format format = foliot_snapshot_format_default(scene);
        foliot_snapshot_body body[8];
        foliot_snapshot snapshot = {.capacity = 8, .bodies = body};
        assert_int_equal(foliot_snapshot_quantise(&format, world, &snapshot), FOLIOT_STATUS_OK);
        foliot_body_state shown = foliot_snapshot_dequantise(&format, &body[4], scene->dt);
        foliot_body_state seen = state_of(foliot_history_view(history, 1), 4);
        for (int k = 0; k < 3; k++)
            check_bits(seen.position[k], shown.position[k]);
        foliot_history_destroy(history);
        foliot_world_destroy(world);
        foliot_scene_destroy(scene);
    }
}

TEST(limits_are_kept)
{
    past p = begin(TICKS);
    foliot_history *history;
    assert_int_equal(foliot_history_create(p.scene, 1, &history), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_history_create(p.scene, 251, &history), FOLIOT_STATUS_INVALID);
    foliot_scene wide = *p.scene;
    wide.bodies_max = 10000;
    assert_int_equal(foliot_history_create(&wide, 27, &history), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_history_create(&wide, 26, &history), FOLIOT_STATUS_OK);
    foliot_history_destroy(history);
    // A world with more slots than the scene asks for.
    foliot_world_config config = foliot_world_config_default(p.scene);
    config.bodies_max += 8;
    size_t bytes = foliot_world_config_get_bytes(&config);
    void *block = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes);
    foliot_world *world;
    assert_int_equal(foliot_world_init(block, bytes, &config, p.scene, &world), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_history_append(p.history, world), FOLIOT_STATUS_FULL);
    free(block);
    end(&p);
}
