// SPDX-License-Identifier: MIT
// Goal: digests cover all state and nothing else, their bytes are those of docs/reference/state.md,
// and a restore takes what a capture gave and nothing damaged. Method: probe worlds some ticks old;
// an independent reader of the captured bytes; every field of the state changed by one bit; every
// prefix and thousands of flipped bits as hostile captures. SEED=n repeats a run.
#include "../support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/math/hash.h"
#include "sim/selftest/probe.h"
#include "sim/state/state.h"
#include "slots.h"

static foliot__probe probe;

static foliot_world *probe_world(foliot__probe_kind kind, foliot_integrator integrator, int ticks)
{
    foliot__probe_make(&probe, kind);
    probe.scene.integrator = integrator;
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_create(&probe.scene, &world, NULL), FOLIOT_STATUS_OK);
    for (int tick = 0; tick < ticks; tick++) {
        foliot_input inputs[FOLIOT__PROBE_INPUTS];
        uint32_t count = foliot__probe_inputs(&probe.scene, foliot_world_get_tick(world), inputs);
        assert_int_equal(foliot_world_step(world, inputs, count, NULL), FOLIOT_STATUS_OK);
    }
    return world;
}

static uint8_t *captured(const foliot_world *world, size_t *length)
{
    assert_int_equal(foliot_world_capture(world, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_int_equal(foliot_world_capture(world, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

// -- an independent reader: docs/reference/state.md, and nothing of state_io.c

static uint64_t little(const uint8_t *at, int width)
{
    uint64_t value = 0;
    for (int i = width; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

// Length of the motion section of captured bytes.
static size_t motion_length(const uint8_t *bytes, bool fast_joints)
{
    uint32_t bodies = (uint32_t)little(bytes + 56, 4), fields = (uint32_t)little(bytes + 60, 4);
    size_t at = 64;
    for (int f = 0; f < 22; f++) // all but the flags are 64 bits wide
        at += fields >> f & 1 ? 8 * (size_t)bodies : 0;
    at += 4 * (size_t)bodies;
    at += 4 + 12 * (size_t)little(bytes + at, 4);
    at += 4 + 56 * (size_t)little(bytes + at, 4);
    return fast_joints ? at + 4 + 32 * (size_t)little(bytes + at, 4) : at;
}

// Length of the definition section, at `definition`: 17 arrays of 8 bytes and 6 of 4, then
// constraints.
static size_t definition_length(const uint8_t *bytes, const uint8_t *definition)
{
    size_t bodies = 160 * (size_t)little(bytes + 56, 4);
    return bodies + 4 + (size_t)little(definition + bodies, 4);
}

static void append_hash(uint8_t *at, const uint8_t *section, size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(section, length);
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(hash.low64 >> (8 * i));
        at[8 + i] = (uint8_t)(hash.high64 >> (8 * i));
    }
}

static foliot_digest digest_of_capture(const uint8_t *bytes, size_t length, bool fast_joints)
{
    size_t motion = motion_length(bytes, fast_joints);
    size_t session = motion + definition_length(bytes, bytes + motion);
    uint8_t *all = malloc(motion + 32);
    assert_non_null(all);
    memcpy(all, bytes, motion);
    append_hash(all + motion, bytes + motion, session - motion);
    append_hash(all + motion + 16, bytes + session, length - session);
    XXH128_hash_t hash = XXH3_128bits(all, motion + 32);
    free(all);
    return (foliot_digest){hash.low64, hash.high64};
}

TEST(a_reader_of_the_documented_bytes_finds_the_digest)
{
    const foliot_integrator schemes[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                         FOLIOT_INTEGRATOR_VERLET,
                                         FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG};
    for (int kind = 0; kind < FOLIOT__PROBE_COUNT; kind++)
        for (size_t i = 0; i < 3; i++) {
            foliot__probe_make(&probe, (foliot__probe_kind)kind);
            probe.scene.integrator = schemes[i];
            if (foliot_scene_check(&probe.scene, NULL) != FOLIOT_STATUS_OK)
                continue;
            foliot_world *world = probe_world((foliot__probe_kind)kind, schemes[i], 15);
            size_t length = 0;
            uint8_t *bytes = captured(world, &length);
            bool fast = probe.scene.joint_solver == FOLIOT_JOINT_SOLVER_FAST;
            assert_true(foliot_digest_equal(digest_of_capture(bytes, length, fast),
                                            foliot_world_get_digest(world)));
            free(bytes);
            foliot_world_destroy(world);
        }
}

// -- what is digested

TEST(every_bit_of_the_state_changes_the_digest)
{
    const struct {
        foliot__probe_kind kind;
        foliot_integrator integrator;
    } worlds[] = {{FOLIOT__PROBE_crew, FOLIOT_INTEGRATOR_VERLET},
                  {FOLIOT__PROBE_orbits, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG},
                  {FOLIOT__PROBE_balls, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER}};
    for (size_t i = 0; i < 3; i++) {
        foliot_world *world = probe_world(worlds[i].kind, worlds[i].integrator, 5);
        foliot_digest before = foliot_world_get_digest(world);
        for (uint32_t slot = 0; slot < foliot_world_get_body_count(world); slot++)
            for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++) {
                if (!(world->scene.state_fields >> f & 1))
                    continue;
                foliot_field field = (foliot_field)f;
                uint64_t bits = slot_field(world, slot, field);
                // A body that is not alive has no id.
                uint64_t other = field == FOLIOT_FIELD_flags ? FOLIOT_BODY_STARTED : 1;
                (void)!slot_set_field(world, slot, field, bits ^ other);
                assert_false(foliot_digest_equal(foliot_world_get_digest(world), before));
                (void)!slot_set_field(world, slot, field, bits);
                assert_true(foliot_digest_equal(foliot_world_get_digest(world), before));
            }
        foliot_world_destroy(world);
    }
}

#define CHECK_CHANGES(lvalue, other)                                                               \
    do {                                                                                           \
        foliot_digest before_ = foliot_world_get_digest(world);                                    \
        __typeof__(lvalue) kept_ = (lvalue);                                                       \
        (lvalue) = (other);                                                                        \
        world->digests.definition_dirty = world->digests.session_dirty = 1;                        \
        assert_false(foliot_digest_equal(foliot_world_get_digest(world), before_));                \
        (lvalue) = kept_;                                                                          \
        assert_true(foliot_digest_equal(foliot_world_get_digest(world), before_));                 \
    } while (0)

TEST(the_rest_of_the_state_changes_the_digest)
{
    foliot_world *world =
        probe_world(FOLIOT__PROBE_balls, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 30);
    check_gt(world->contact_count, 0);
    CHECK_CHANGES(world->tick, world->tick + 1);
    CHECK_CHANGES(world->rng.state[3], 1);
    CHECK_CHANGES(world->lab.time, 1.0);
    CHECK_CHANGES(world->lab.dt, 1.0);
    CHECK_CHANGES(world->contact_count, world->contact_count - 1);
    CHECK_CHANGES(foliot__contact(world)[0].normal_impulse_0, 77.0f);
    CHECK_CHANGES(foliot__contact(world)[0].feature_0, 77);
    CHECK_CHANGES(foliot__players(world)[0].axes[2], 99);
    CHECK_CHANGES(foliot__players(world)[2].buttons, 0xf00f);
    CHECK_CHANGES(foliot__players(world)[1].body, 3);
#define DEFINITION(type, name) CHECK_CHANGES(foliot__##name(world)[4], 4711);
    FOLIOT__BODY_DEFINITION(DEFINITION)
#undef DEFINITION
    CHECK_CHANGES(foliot__tag(world)[4], 4711);
    CHECK_CHANGES(foliot__driven(world)[1], 3);
    CHECK_CHANGES(world->session.gravity[1], 4711);
    CHECK_CHANGES(world->session.ended, 1);
    CHECK_CHANGES(world->session.end_reason[0], 'a');
    CHECK_CHANGES(world->session.end_next[255], 'a');
    foliot_world_destroy(world);
    world = probe_world(FOLIOT__PROBE_net, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 3);
    CHECK_CHANGES(foliot__constraint_state(world)[1], 1);
    foliot_world_destroy(world);
}

TEST(cache_does_not_change_the_digest)
{
    foliot_world *world =
        probe_world(FOLIOT__PROBE_balls, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 12);
    foliot_digest before = foliot_world_get_digest(world);
#define SPOIL(type, name) foliot__##name(world)[2] = 4711;
    FOLIOT__BODY_CACHE(SPOIL)
#undef SPOIL
    world->counters.force_evaluations = 0;
    world->acceleration_valid = 0;
    assert_true(foliot_digest_equal(foliot_world_get_digest(world), before));
    foliot_world_destroy(world);
}

TEST(a_broken_constraint_and_a_spawn_are_in_the_next_digest)
{
    foliot_world *world = probe_world(FOLIOT__PROBE_net, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 30);
    uint32_t broken = 0;
    for (uint32_t i = 0; i < world->constraint_count; i++)
        broken += index_joint(world, i).broken;
    check_gt(broken, 0);
    assert_false(world->digests.definition_dirty);
    size_t length = 0;
    uint8_t *bytes = captured(world, &length);
    assert_true(foliot_digest_equal(digest_of_capture(bytes, length, false),
                                    foliot_world_get_digest(world)));
    free(bytes);
    foliot_world_destroy(world);
}

// -- restore

TEST(truncated_bytes_are_refused_and_change_nothing)
{
    for (int kind = 0; kind < FOLIOT__PROBE_COUNT; kind++) {
        foliot_world *world =
            probe_world((foliot__probe_kind)kind, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 9);
        size_t length = 0;
        uint8_t *bytes = captured(world, &length);
        foliot_world *other =
            probe_world((foliot__probe_kind)kind, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 2);
        size_t size = foliot_world_get_bytes(other);
        foliot_world *before = aligned_alloc(64, size);
        assert_non_null(before);
        memcpy(before, other, size);
        for (size_t cut = 0; cut < length; cut++) {
            // In a block of exactly this length, so that a sanitizer sees a read beyond it.
            uint8_t *part = malloc(cut ? cut : 1);
            memcpy(part, bytes, cut);
            assert_int_equal(foliot_world_restore(other, part, cut), FOLIOT_STATUS_TRUNCATED);
            free(part);
            assert_memory_equal(other, before, size);
        }
        uint8_t *longer = malloc(length + 1);
        memcpy(longer, bytes, length);
        longer[length] = 0;
        assert_int_equal(foliot_world_restore(other, longer, length + 1), FOLIOT_STATUS_CORRUPT);
        assert_memory_equal(other, before, size);
        assert_int_equal(foliot_world_restore(other, bytes, length), FOLIOT_STATUS_OK);
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(other), foliot_world_get_digest(world)));
        free(longer);
        free(bytes);
        free(before);
        foliot_world_destroy(world);
        foliot_world_destroy(other);
    }
}

// A damaged capture is refused and changes nothing, or is a state of the world in its own right:
// then it captures to the same bytes, and the world can be stepped.
TEST(damaged_bytes_never_hurt)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(1));
    uint32_t refused = 0, taken = 0;
    for (int kind = 0; kind < FOLIOT__PROBE_COUNT; kind++) {
        foliot_world *world =
            probe_world((foliot__probe_kind)kind, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 9);
        size_t length = 0, again = 0, size = foliot_world_get_bytes(world);
        uint8_t *bytes = captured(world, &length), *damaged = malloc(length);
        foliot_world *other = aligned_alloc(64, size);
        assert_true(damaged);
        assert_true(other);
        for (int round = 0; round < 1500; round++) {
            memcpy(damaged, bytes, length);
            for (uint32_t flips = 1 + foliot__rng_below(&rng, 3); flips > 0; flips--) {
                uint32_t at = foliot__rng_below(&rng, (uint32_t)length);
                damaged[at] ^= (uint8_t)(1u << foliot__rng_below(&rng, 8));
            }
            memcpy(other, world, size);
            foliot_status status = foliot_world_restore(other, damaged, length);
            if (status != FOLIOT_STATUS_OK) {
                refused++;
                assert_true(status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED);
                assert_memory_equal(other, world, size);
                continue;
            }
            taken++;
            uint8_t *bytes_again = captured(other, &again);
            assert_int_equal(again, length);
            assert_memory_equal(bytes_again, damaged, length);
            free(bytes_again);
            for (int tick = 0; tick < 2; tick++)
                assert_int_equal(foliot_world_step(other, NULL, 0, NULL), FOLIOT_STATUS_OK);
        }
        free(bytes);
        free(damaged);
        free(other);
        foliot_world_destroy(world);
    }
    print_message("%u refused, %u taken\n", refused, taken);
    check_gt(refused, 0);
    check_gt(taken, 0);
}

TEST(a_state_of_another_scene_is_refused)
{
    foliot_world *crew = probe_world(FOLIOT__PROBE_crew, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 9);
    foliot_world *balls =
        probe_world(FOLIOT__PROBE_balls, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 9);
    size_t length = 0;
    uint8_t *bytes = captured(crew, &length);
    check_ne(foliot_world_restore(balls, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
    foliot_world_destroy(crew);
    foliot_world_destroy(balls);
}

// Where a scene takes no commands, a state keeps what the scene fixes: definitions, tags, gravity,
// what a player drives.
TEST(what_the_scene_fixes_is_refused_where_it_is_changed)
{
    foliot_world *world = probe_world(FOLIOT__PROBE_crew, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 9);
    uint32_t player = 0;
    while (player_slot(world, player) == FOLIOT_NO_BODY)
        player++;
    uint32_t slots[] = {0, player_slot(world, player)};
    foliot_world *to = NULL;
    assert_int_equal(foliot_world_create(&probe.scene, &to, NULL), FOLIOT_STATUS_OK);
#define CHECK_REFUSED(lvalue, other)                                                               \
    do {                                                                                           \
        __typeof__(lvalue) kept_ = (lvalue);                                                       \
        size_t length_ = 0;                                                                        \
        (lvalue) = (other);                                                                        \
        uint8_t *bytes_ = captured(world, &length_);                                               \
        assert_int_equal(foliot_world_restore(to, bytes_, length_), FOLIOT_STATUS_CORRUPT);        \
        (lvalue) = kept_;                                                                          \
        free(bytes_);                                                                              \
    } while (0)
    for (size_t i = 0; i < 2; i++) {
        uint32_t slot = slots[i], *flags = &foliot__flags(world)[slot];
        CHECK_REFUSED(foliot__mass(world)[slot], foliot__mass(world)[slot] + 1);
        CHECK_REFUSED(foliot__gravity_scale(world)[slot], 2);
        CHECK_REFUSED(foliot__linear_damping(world)[slot], 1);
        CHECK_REFUSED(foliot__category(world)[slot], 2);
        CHECK_REFUSED(foliot__group(world)[slot], 2);
        CHECK_REFUSED(foliot__tag(world)[slot], 1);
        CHECK_REFUSED(*flags, *flags | FOLIOT_BODY_KINEMATIC);
        CHECK_REFUSED(*flags, *flags ^ FOLIOT_BODY_STATIC);
        CHECK_REFUSED(*flags, *flags ^ FOLIOT_BODY_PLAYER);
    }
    CHECK_REFUSED(world->session.gravity[2], world->session.gravity[2] + 1);
    CHECK_REFUSED(world->session.ended, 1);
    CHECK_REFUSED(foliot__driven(world)[player], 0);
    CHECK_REFUSED(foliot__driven(world)[player], FOLIOT_NO_BODY);
#undef CHECK_REFUSED
    size_t length = 0;
    uint8_t *bytes = captured(world, &length);
    assert_int_equal(foliot_world_restore(to, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
    foliot_world_destroy(to);
    foliot_world_destroy(world);
}

// Where nothing turns, orientations are no state. A player that a restore brings stands as one that
// joins.
TEST(a_restored_player_stands_as_its_scene_says)
{
    static const double at[1][3] = {{1, 2, 3}};
    foliot_scene scene = foliot_scene_default();
    scene.name = "spinner";
    scene.dt = 0.01;
    scene.players = foliot_players_definition_default();
    scene.players.limit = 1;
    scene.players.positions = at;
    scene.players.position_count = 1;
    scene.players.body.orientation[0] = 0;
    scene.players.body.orientation[1] = 2;
    foliot_world *world = NULL, *to = NULL;
    assert_int_equal(foliot_world_create(&scene, &world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(&scene, &to, NULL), FOLIOT_STATUS_OK);
    const foliot_input join = {.kind = FOLIOT_INPUT_JOIN};
    assert_int_equal(foliot_world_step(world, &join, 1, NULL), FOLIOT_STATUS_OK);
    size_t length = 0;
    uint8_t *bytes = captured(world, &length);
    assert_int_equal(foliot_world_restore(to, bytes, length), FOLIOT_STATUS_OK);
    foliot_body_state one = slot_state(world, 0), other = slot_state(to, 0);
    check_eq(one.orientation[1], 1);
    assert_memory_equal(&one, &other, sizeof one);
    free(bytes);
    foliot_world_destroy(to);
    foliot_world_destroy(world);
}

TEST(a_capture_that_does_not_fit_says_how_long_it_is)
{
    foliot_world *world = probe_world(FOLIOT__PROBE_tops, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 1);
    size_t length = 0, needed = 0;
    uint8_t *bytes = captured(world, &length);
    assert_int_equal(foliot_world_capture(world, bytes, length - 1, &needed), FOLIOT_STATUS_FULL);
    assert_int_equal(needed, length);
    free(bytes);
    foliot_world_destroy(world);
}

// -- fields, digests, hashes

TEST(fields_are_found_by_their_names)
{
    for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++)
        assert_int_equal(foliot_field_find(foliot_field_get_name((foliot_field)f)), f);
    assert_int_equal(foliot_field_find("position.w"), FOLIOT_FIELD_COUNT);
    assert_int_equal(foliot_field_find("none"), FOLIOT_FIELD_COUNT);
    assert_string_equal(foliot_field_get_name(FOLIOT_FIELD_angular_velocity_z),
                        "angular_velocity.z");
}

TEST(digests_have_one_spelling)
{
    foliot_digest digest = {.low = 0xfedcba9876543210u, .high = 0x00123456789abcdeu}, back;
    char text[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(digest, text);
    assert_string_equal(text, "00123456789abcdefedcba9876543210");
    assert_int_equal(foliot_digest_parse(text, &back), FOLIOT_STATUS_OK);
    assert_true(foliot_digest_equal(digest, back));
    assert_int_equal(foliot_digest_parse("00123456789ABCDEfedcba9876543210", &back),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_digest_parse("00123456789abcdefedcba987654321", &back),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_digest_parse("00123456789abcdefedcba98765432100", &back),
                     FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_digest_parse("", &back), FOLIOT_STATUS_INVALID);
}

TEST(every_vector_unit_gives_the_same_hash)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(1));
    static uint64_t words[3000];
    for (size_t i = 0; i < 3000; i++)
        words[i] = foliot__rng_u64(&rng);
    for (size_t n = 0; n < 400; n++) {
        size_t bytes = n < 300 ? n : foliot__rng_below(&rng, 20000);
        size_t cut = foliot__rng_below(&rng, (uint32_t)bytes + 1) / 8 * 8;
        // Whole, and in spans of several widths.
        XXH128_hash_t whole = XXH3_128bits(words, bytes);
        const foliot__span spans[] = {
            {words, cut / 8, 8}, {(uint8_t *)words + cut, bytes - cut, 1}, {NULL, 0, 4}};
        foliot_digest expected = {whole.low64, whole.high64};
        assert_true(foliot_digest_equal(foliot__hash(spans, 3), expected));
        assert_true(foliot_digest_equal(foliot__hash_base(spans, 3), expected));
#ifdef __x86_64__
        if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX2)
            assert_true(foliot_digest_equal(foliot__hash_avx2(spans, 3), expected));
        if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX512)
            assert_true(foliot_digest_equal(foliot__hash_avx512(spans, 3), expected));
#endif
    }
}
