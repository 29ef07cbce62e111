// SPDX-License-Identifier: MIT
// fingerprint.c: a known-answer run of every arithmetic path. Each part mixes the bits of its
// results into one word; the golden words are compiled in, so that a build that breaks a rule
// reports which.
#include "sim/math/math_internal.h"

#include "base/bytes.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "foliot/query.h"
#include "foliot/digest.h"
#include "foliot/world.h"
#include "sim/selftest/fingerprint.h"
#include "sim/force/force_simd.h"
#include "sim/math/hash.h"
#include "sim/scene/scene.h"
#include "sim/selftest/probe.h"
#include "sim/state/state.h"

#include <string.h>

#include "sim/selftest/fingerprint_golden.h"

// Name and text of each part, in the order in which they are tried: parts on which later ones
// depend come first.
#define PART_LIST(X)                                                                               \
    X(integers, "integers")                                                                        \
    X(rng, "rng")                                                                                  \
    X(arithmetic, "arithmetic")                                                                    \
    X(contraction, "contraction")                                                                  \
    X(subnormals, "subnormals")                                                                    \
    X(binary32, "binary32")                                                                        \
    X(conversion, "conversion")                                                                    \
    X(floor, "floor")                                                                              \
    X(exp, "exp")                                                                                  \
    X(expm1, "expm1")                                                                              \
    X(log, "log")                                                                                  \
    X(sin, "sin")                                                                                  \
    X(cos, "cos")                                                                                  \
    X(atan2, "atan2")                                                                              \
    X(hyperbolic, "sinh, cosh, phi1, phi2")                                                        \
    X(hash, "XXH3")                                                                                \
    X(gravity, "gravity in lanes")                                                                 \
    X(tangle, "springs, drag, pulses, rotation")                                                   \
    X(crew, "players")                                                                             \
    X(orbits, "newton, attractor")                                                                 \
    X(tops, "rotation")                                                                            \
    X(balls, "contacts")                                                                           \
    X(net, "distance constraints")                                                                 \
    X(rods, "rods")                                                                                \
    X(crates, "contacts of boxes and capsules")                                                    \
    X(linkage, "joints")                                                                           \
    X(queries, "queries, contact events")                                                          \
    X(soft, "fast joints")

#define TICKS_FACTOR_ALONE 4 // of a probe with one integrator; twice what was seen to be enough

enum {
#define COUNT(name, text) +1
    PART_COUNT = 0 PART_LIST(COUNT)
#undef COUNT
};
enum {
#define ENUM(name, text) PART_##name,
    PART_LIST(ENUM)
#undef ENUM
};

// -- mixing

typedef struct mixer {
    uint64_t word;
    foliot__rng rng;
    foliot_integrator only; // of the probes; FOLIOT_INTEGRATOR_NONE: every one
    bool no_memory;         // for a world: the word says nothing
} mixer;

static void mix(mixer *m, uint64_t bits)
{
    m->word = (m->word ^ bits) * 0x9e3779b97f4a7c15u;
    m->word ^= m->word >> 29;
}

// The sign and payload of a NaN differ between machines; that it is one does not.
static void mix_f64(mixer *m, double value)
{
    mix(m, value == value ? foliot__f64_bits(value) : 0x7ff8000000000000u);
}

// A significand at random, binary exponents from -size to size.
static double draw(mixer *m, int size)
{
    uint64_t bits = foliot__rng_u64(&m->rng);
    uint64_t exponent = 1023 - (unsigned)size + foliot__rng_below(&m->rng, 2 * (unsigned)size + 1);
    return foliot__f64_of((bits & 0x800fffffffffffffu) | exponent << 52);
}

// -- parts

static void run_integers(mixer *m)
{
    uint64_t a = 0x0123456789abcdefu;
    for (int i = 0; i < 64; i++) {
        a = a * 6364136223846793005u + 1442695040888963407u;
        mix(m, a / (1 + (a >> 40)) ^ a % 1000003);
        mix(m, (uint64_t)(uint32_t)a << (a >> 59) | (uint16_t)a);
    }
}

static void run_rng(mixer *m)
{
    for (int i = 0; i < 32; i++) {
        mix(m, foliot__rng_u64(&m->rng));
        mix(m, foliot__rng_below(&m->rng, 1000000007u));
        mix_f64(m, foliot__rng_unit(&m->rng));
    }
}

static void run_arithmetic(mixer *m)
{
    for (int i = 0; i < 200; i++) {
        double a = draw(m, i), b = draw(m, i);
        mix_f64(m, a + b);
        mix_f64(m, a - b);
        mix_f64(m, a * b);
        mix_f64(m, a / b);
        mix_f64(m, foliot_sqrt(a < 0 ? -a : a));
    }
}

// Every shape in which a compiler may fuse a product into a sum; scalar, and in loops that it
// vectorises.
static void run_contraction(mixer *m)
{
    double a[32], b[32], c[32], sum[32];
    for (int i = 0; i < 32; i++) {
        a[i] = draw(m, 1);
        b[i] = draw(m, 1);
        c[i] = draw(m, 1);
    }
    for (int i = 0; i < 32; i++)
        sum[i] = a[i] * b[i] + c[i];
    for (int i = 0; i < 32; i++) {
        mix_f64(m, sum[i]);
        mix_f64(m, c[i] - a[i] * b[i]);
        mix_f64(m, a[i] * b[i] - c[i] * a[31 - i]);
        mix_f64(m, a[i] * a[i] - (a[i] * a[i])); // the rounding error of the square, if fused
    }
}

static void run_subnormals(mixer *m)
{
    for (int i = 0; i < 100; i++) {
        double a = draw(m, 10) * 0x1p-1022, b = draw(m, 20);
        mix_f64(m, a);
        mix_f64(m, a * b);
        mix_f64(m, a / b);
        mix_f64(m, a + 0x1p-1060 * b);
        mix_f64(m, foliot_sqrt(a < 0 ? -a : a));
    }
}

// Contacts and joints, and the seed of pairwise gravity's inverse roots, are its users.
static void run_binary32(mixer *m)
{
    for (int i = 0; i < 100; i++) {
        double a = draw(m, 60);
        float root = __builtin_sqrtf((float)(a < 0 ? -a : a));
        mix_f64(m, 1.0f / root);
        mix_f64(m, (float)(a * 0.1) * root);
    }
}

static void run_conversion(mixer *m)
{
    static const double edges[] = {0x1p63,  -0x1p63,      0x1p62, 0x1p31,
                                   -0x1p31, 2147483647.9, -0.9,   0.9};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        mix(m, (uint64_t)foliot__to_i64(edges[i]));
        mix(m, (uint64_t)(int64_t)foliot__to_i32(edges[i]));
    }
    for (int i = 0; i < 100; i++) {
        double a = draw(m, 62);
        mix(m, (uint64_t)foliot__to_i64(a));
        mix(m, (uint64_t)(int64_t)foliot__to_i32(a));
        mix_f64(m, (double)(int64_t)(foliot__rng_u64(&m->rng) >> 1));
        mix_f64(m, (double)(uint32_t)foliot__rng_u64(&m->rng));
    }
}

static void run_floor(mixer *m)
{
    for (int i = 0; i < 100; i++) {
        double a = draw(m, 55);
        mix_f64(m, foliot_floor(a));
        mix_f64(m, foliot_clamp(a, -1.25, 3.5));
        mix_f64(m, foliot_min(a, 0.1) + foliot_max(a, -0.1));
    }
}

static void run_exp(mixer *m)
{
    for (int i = 0; i < 300; i++)
        mix_f64(m, foliot_exp(-745.0 + 1454.7 * foliot__rng_unit(&m->rng)));
}

static void run_expm1(mixer *m)
{
    for (int i = 0; i < 300; i++)
        mix_f64(m, foliot_expm1(draw(m, i % 60 < 7 ? i % 60 : -(i % 60) + 66)));
}

static void run_log(mixer *m)
{
    for (int i = 0; i < 150; i++) {
        double a = draw(m, 1022);
        mix_f64(m, foliot_log(a < 0 ? -a : a));
        mix_f64(m, foliot_log(0.9 + 0.2 * foliot__rng_unit(&m->rng)));
    }
}

static void run_sin(mixer *m)
{
    for (int i = 0; i < 300; i++)
        mix_f64(m, foliot_sin(draw(m, 4 + i * 3)));
}

static void run_cos(mixer *m)
{
    for (int i = 0; i < 300; i++)
        mix_f64(m, foliot_cos(draw(m, 4 + i * 3)));
}

static void run_atan2(mixer *m)
{
    for (int i = 0; i < 300; i++) {
        double y = draw(m, 2 + i);
        mix_f64(m, foliot_atan2(y, draw(m, 2 + i)));
        y = draw(m, 1);
        mix_f64(m, foliot_atan2(y, draw(m, 1)));
    }
}

static void run_hyperbolic(mixer *m)
{
    for (int i = 0; i < 100; i++) {
        double a = draw(m, 3);
        mix_f64(m, foliot__sinh(a));
        mix_f64(m, foliot__cosh(a));
        mix_f64(m, foliot__sinhc(a) + foliot__sinc(a));
        mix_f64(m, foliot__phi1(a));
        mix_f64(m, foliot__phi2(a));
    }
}

static void run_hash(mixer *m)
{
    uint64_t words[300];
    for (size_t i = 0; i < 300; i++)
        words[i] = foliot__rng_u64(&m->rng);
    for (size_t i = 0; i < 300; i += 7) {
        uint32_t half = (uint32_t)words[i];
        const foliot__span spans[] = {{words, i, 8}, {&half, 1, 4}, {words, i / 3, 8}};
        foliot_digest digest = foliot__hash(spans, 3);
        mix(m, digest.low);
        mix(m, digest.high);
    }
}

// Pairwise gravity on every vector unit that this machine has; all must give what the base gives.
static void run_gravity(mixer *m)
{
    enum { BLOCKS = 5, ROWS = FOLIOT__LANES * (BLOCKS + FOLIOT__NEWTON_AHEAD) };
    _Alignas(64) double body[4][ROWS] = {{0}}, force[3][3][ROWS] = {{{0}}};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < FOLIOT__LANES * BLOCKS - 3; i++)
            body[k][i] = k == 3 ? 1.0 + foliot__rng_unit(&m->rng) : draw(m, 2);
    const foliot__newton_bodies bodies = {body[0], body[1], body[2], body[3], 0.0123, BLOCKS};
    foliot__newton_kernel *kernels[3] = {foliot__newton_base, NULL, NULL};
#if defined(__x86_64__)
    foliot__simd simd = foliot__cpu_simd();
    kernels[1] = simd >= FOLIOT__SIMD_AVX2 ? foliot__newton_avx2 : NULL;
    kernels[2] = simd >= FOLIOT__SIMD_AVX512 ? foliot__newton_avx512 : NULL;
#endif
    for (int k = 0; k < 3; k++) {
        const foliot__v3 sum = {force[k][0], force[k][1], force[k][2]};
        for (uint32_t block = 0; kernels[k] && block < BLOCKS; block++)
            kernels[k](&bodies, block, sum);
        mix(m, kernels[k] && memcmp(force[k], force[0], sizeof force[0]) != 0);
    }
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < FOLIOT__LANES * BLOCKS; i++)
            mix_f64(m, force[0][axis][i]);
}

// A probe scene for a few ticks with one integrator. The memory of the world is the heap's.
static void run_probe_with(mixer *m, foliot__probe *probe, foliot_integrator id, uint64_t ticks)
{
    probe->scene.integrator = id;
    foliot_world *world = NULL;
    foliot_status status = foliot_world_create(&probe->scene, &world, NULL);
    if (status != FOLIOT_STATUS_OK) {
        mix(m, (uint64_t)id); // refused: as much a part of the answer
        m->no_memory = m->no_memory || status == FOLIOT_STATUS_MEMORY;
        return;
    }
    for (uint64_t tick = 0; tick < ticks; tick++) {
        foliot_input inputs[FOLIOT__PROBE_INPUTS];
        uint32_t count = foliot__probe_inputs(&probe->scene, tick, inputs);
        mix(m, (uint64_t)(unsigned)-foliot_world_step(world, inputs, count, NULL));
    }
    foliot_digest digest = foliot_world_get_digest(world);
    foliot_invariants sums = foliot_world_get_invariants(world, NULL);
    foliot_world_destroy(world);
    mix_f64(m, sums.kinetic + 3.0 * sums.potential);
    mix_f64(m, sums.angular_momentum[1] - 3.0 * sums.momentum[2]);
    mix(m, digest.low);
    mix(m, digest.high);
}

// With every integrator that the probe's scene admits; or with the mixer's alone, and longer, since
// a sum in another order rounds differently only now and then.
static void run_probe(mixer *m, foliot__probe_kind kind, uint64_t ticks)
{
    foliot__probe probe;
    if (m->only != FOLIOT_INTEGRATOR_NONE)
        ticks *= TICKS_FACTOR_ALONE;
    foliot__probe_make(&probe, kind);
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++)
        if (m->only == FOLIOT_INTEGRATOR_NONE || m->only == (foliot_integrator)id)
            run_probe_with(m, &probe, (foliot_integrator)id, ticks);
}

static void run_tangle(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_tangle, 5);
}
static void run_crew(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_crew, 9);
}
static void run_orbits(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_orbits, 3);
}
static void run_tops(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_tops, 3);
}
static void run_balls(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_balls, 9);
}
static void run_net(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_net, 5);
}
static void run_rods(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_rods, 4);
}
static void run_crates(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_crates, 5);
}
static void run_linkage(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_linkage, 5);
}

static void run_soft(mixer *m)
{
    run_probe(m, FOLIOT__PROBE_soft_linkage, 5);
    run_probe(m, FOLIOT__PROBE_soft_limbs, 5);
}

static void mix_hit(mixer *m, bool found, const foliot_query_hit *hit)
{
    mix(m, found ? foliot_body_id_get_slot(hit->body) : FOLIOT_NO_BODY);
    for (int k = 0; found && k < 3; k++)
        mix_f64(m, (hit->distance + 3.0 * hit->point[k]) - 7.0 * hit->normal[k]);
}

// Mixes in the contact events of a step.
static void mix_contact_events(mixer *m, const foliot_world *world)
{
    uint32_t count, contact_count = foliot_world_get_contact_events(world, NULL, 0);
    const foliot_hit_event *impact = foliot_world_get_hit_events(world, &count);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            mix_f64(m, (impact[i].time + impact[i].speed) - impact[i].impulse);
            mix_f64(m, impact[i].point[k] + 7.0 * impact[i].normal[k]);
        }
    foliot_contact_event contacts[64];
    foliot_world_get_contact_events(world, contacts, 64);
    for (uint32_t i = 0; i < contact_count && i < 64; i++)
        for (int k = 0; k < 3; k++) {
            mix(m, contacts[i].change + contacts[i].points * 8);
            mix_f64(m, (contacts[i].force + contacts[i].speed) - contacts[i].friction[k]);
            mix_f64(m, contacts[i].point[k] + 7.0 * contacts[i].normal[k]);
        }
}

static void run_queries(mixer *m)
{
    static const foliot_shape shapes[] = {
        {.kind = FOLIOT_SHAPE_BOX, .half = {0.31, 0.23, 0.17}},
        {.kind = FOLIOT_SHAPE_CAPSULE, .radius = 0.13, .half = {0, 0, 0.37}},
        {.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.29},
    };
    foliot__probe probe;
    foliot__probe_make(&probe, FOLIOT__PROBE_crates);
    foliot_world *world = NULL;
    foliot_status status = foliot_world_create(&probe.scene, &world, NULL);
    m->no_memory = status == FOLIOT_STATUS_MEMORY;
    if (status != FOLIOT_STATUS_OK)
        return; // the parts before have reported it
    for (int i = 0; i < 24; i++) {
        if (i % 3 == 0 && foliot_world_step(world, NULL, 0, NULL) == FOLIOT_STATUS_OK)
            mix_contact_events(m, world);
        const foliot_shape *shape = &shapes[i % 3];
        double from[3], way[3], turn[4];
        for (int k = 0; k < 4; k++) {
            from[k % 3] = -1.5 + 3.0 * foliot__rng_unit(&m->rng);
            way[k % 3] = -1.0 + 2.0 * foliot__rng_unit(&m->rng);
            turn[k] = -1.0 + 2.0 * foliot__rng_unit(&m->rng);
        }
        foliot_query_hit hits[4];
        mix_hit(m, foliot_world_cast_ray(world, from, way, 9.7, NULL, hits), hits);
        uint32_t met = foliot_world_cast_ray_all(world, from, way, 9.7, NULL, hits, 4);
        for (uint32_t k = 0; k < met && k < 4; k++)
            mix_hit(m, true, &hits[k]);
        mix_hit(m, foliot_world_cast_shape(world, shape, from, turn, way, 9.7, NULL, hits), hits);
        mix_hit(m, foliot_world_find_nearest(world, from, 3.1, NULL, hits), hits);
        foliot_body_id bodies[8];
        uint32_t count = foliot_world_overlap_shape(world, shape, from, turn, NULL, bodies, 8);
        mix(m, count);
        for (uint32_t k = 0; k < count && k < 8; k++)
            mix(m, foliot_body_id_get_slot(bodies[k]));
    }
    foliot_world_destroy(world);
}

// -- the run

static const struct part {
    const char *name;
    void (*run)(mixer *m);
    uint64_t golden;
} parts[PART_COUNT] = {
#define PART(name, text) {text, run_##name, GOLDEN_##name},
    PART_LIST(PART)
#undef PART
};

// False: there was no memory for its worlds.
static bool find_word(unsigned part, foliot_integrator only, uint64_t *word)
{
    mixer m = {.word = part, .rng = foliot__rng_seeded(part), .only = only};
    parts[part].run(&m);
    *word = m.word;
    return !m.no_memory;
}

const char *foliot__fingerprint_part(unsigned part, uint64_t *word)
{
    static const char *const identifiers[] = {
#define IDENTIFIER(name, text) #name,
        PART_LIST(IDENTIFIER)
#undef IDENTIFIER
    };
    if (part >= PART_COUNT)
        return NULL;
    (void)find_word(part, FOLIOT_INTEGRATOR_NONE, word);
    return identifiers[part];
}

static foliot_digest digest_of_words(const uint64_t *words, size_t count)
{
    const foliot__span span = {words, count, 8};
    return foliot__hash(&span, 1);
}

foliot_digest foliot_get_fingerprint(void)
{
    uint64_t words[PART_COUNT];
    for (unsigned i = 0; i < PART_COUNT; i++)
        if (!find_word(i, FOLIOT_INTEGRATOR_NONE, &words[i]))
            return (foliot_digest){0};
    return digest_of_words(words, PART_COUNT);
}

// -- what a scene uses

typedef uint32_t part_set; // bit p: PART_p
_Static_assert(PART_COUNT <= 32, "a part_set has a bit for every part");

// Parts that every scene uses: arithmetic, functions and the hash.
static bool is_base(unsigned part)
{
    return part <= PART_hash;
}

static part_set parts_of_forces(const foliot_scene *scene)
{
    part_set set = 0;
    for (uint32_t i = 0; i < scene->force_count; i++) {
        foliot_force_kind kind = scene->forces[i].kind;
        if (kind == FOLIOT_FORCE_NEWTON)
            set |= 1u << PART_gravity | 1u << PART_orbits;
        if (kind == FOLIOT_FORCE_ATTRACTOR)
            set |= 1u << PART_orbits;
    }
    return set;
}

static part_set parts_of_constraints(const foliot_scene *scene)
{
    part_set set = 0;
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        set |= foliot__constraint_is_joint(&scene->constraints[i])   ? 1u << PART_linkage
               : scene->constraints[i].kind == FOLIOT_CONSTRAINT_ROD ? 1u << PART_rods
                                                                     : 1u << PART_net;
    if (foliot__scene_fast_joints(scene) != FOLIOT__FAST_JOINTS_NONE)
        set |= 1u << PART_soft;
    return set;
}

// The parts besides the base that decide what a world of this scene computes. Queries decide
// nothing.
static part_set parts_of(const foliot_scene *scene)
{
    part_set set = 1u << PART_tangle;
    if (scene->integrator == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG) // it refuses the drag of tangle
        set |= 1u << PART_orbits;
    if (scene->players.limit > 0)
        set |= 1u << PART_crew;
    bool rotates = scene->players.limit > 0 && foliot__body_rotates(&scene->players.body);
    for (uint32_t i = 0; i < scene->body_count; i++)
        rotates |= foliot__body_rotates(&scene->bodies[i]);
    if (rotates)
        set |= 1u << PART_tops;
    if (foliot__scene_collides(scene))
        set |= 1u << PART_balls | 1u << PART_crates;
    return set | parts_of_forces(scene) | parts_of_constraints(scene);
}

foliot_digest foliot__fingerprint_base(void)
{
    uint64_t words[PART_COUNT] = {0};
    for (unsigned i = 0; i < PART_COUNT; i++)
        if (is_base(i))
            (void)find_word(i, FOLIOT_INTEGRATOR_NONE, &words[i]); // which makes no worlds
    return digest_of_words(words, PART_hash + 1);
}

foliot_digest foliot__fingerprint_of_scene(const foliot_scene *scene)
{
    uint64_t words[PART_COUNT + 1] = {0};
    part_set used = parts_of(scene);
    for (unsigned i = 0; i < PART_COUNT; i++)
        if ((is_base(i) || used >> i & 1) && !find_word(i, scene->integrator, &words[i]))
            return (foliot_digest){0};
    words[PART_COUNT] = (uint64_t)scene->integrator;
    return digest_of_words(words, PART_COUNT + 1);
}

uint64_t foliot__fingerprint_scope(const foliot_scene *scene)
{
    return (uint64_t)scene->integrator << 32 | parts_of(scene);
}

bool foliot__fingerprint_fits(const foliot_scene *scene, foliot_digest theirs)
{
    if (!foliot__fingerprint_is_known(theirs))
        return false;
    return (scene && foliot_digest_equal(theirs, foliot__fingerprint_of_scene(scene))) ||
           foliot_digest_equal(theirs, foliot_get_fingerprint());
}

foliot_status foliot_self_test(const char **part)
{
    for (unsigned i = 0; i < PART_COUNT; i++) {
        uint64_t word;
        bool ran = find_word(i, FOLIOT_INTEGRATOR_NONE, &word);
        if (ran && word == parts[i].golden)
            continue;
        *part = parts[i].name;
        return ran ? FOLIOT_STATUS_DIVERGED : FOLIOT_STATUS_MEMORY;
    }
    return FOLIOT_STATUS_OK;
}

void foliot__fingerprint_print(char text[FOLIOT_DIGEST_TEXT_BYTES])
{
    foliot_digest_print(foliot_get_fingerprint(), text);
}
