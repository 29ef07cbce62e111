// SPDX-License-Identifier: MIT
// divergence.c: see divergence.h. Knows nothing of files and peers: replay, compare and lockstep
// share it.
#include "tape/divergence.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

// -- one field ------------------------------------------------------------------------------------

bool foliot__field_is_real(foliot_field field)
{
#define IS_f64 true
#define IS_i64 false
#define IS_u32 false
    static const bool real[] = {
#define ROW(type, name, text) IS_##type,
        FOLIOT_BODY_TRUTH(ROW)
#undef ROW
    };
    return real[field];
}

// Bit patterns in the order of the numbers: neighbours differ by one, -0 and 0 too.
static uint64_t ordered(uint64_t bits)
{
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint64_t disordered(uint64_t order)
{
    return order >> 63 ? order & ~((uint64_t)1 << 63) : ~order;
}

uint64_t foliot__field_ulps(foliot_field field, uint64_t a, uint64_t b)
{
    if (foliot__field_is_real(field)) {
        a = ordered(a);
        b = ordered(b);
    } else { // two's complement in the order of the numbers
        a ^= (uint64_t)1 << 63;
        b ^= (uint64_t)1 << 63;
    }
    return a > b ? a - b : b - a;
}

uint64_t foliot__field_moved(foliot_field field, uint64_t bits, int64_t ulps)
{
    if (foliot__field_is_real(field))
        return disordered(ordered(bits) + (uint64_t)ulps);
    bits += (uint64_t)ulps;
    return field == FOLIOT_FIELD_flags ? bits & UINT32_MAX : bits;
}

// -- states ---------------------------------------------------------------------------------------

void foliot__state_take(foliot__state *state, const foliot_world *world, foliot_status *status)
{
    uint32_t count = foliot_world_body_count(world);
    if (count > state->body_capacity || !state->bits) {
        uint64_t *bits = realloc(state->bits, sizeof *bits * FOLIOT_FIELD_COUNT * (count + 1));
        if (!bits) {
            *status = FOLIOT_MEMORY;
            return;
        }
        state->bits = bits;
        state->body_capacity = count;
    }
    for (uint32_t body = 0; body < count; body++)
        for (uint32_t field = 0; field < FOLIOT_FIELD_COUNT; field++)
            state->bits[(size_t)body * FOLIOT_FIELD_COUNT + field] =
                foliot_world_field_bits(world, body, (foliot_field)field);
    state->body_count = count;
    state->taken = true;
}

void foliot__tick_states_free(foliot__tick_states *states)
{
    for (int s = 0; s < FOLIOT_STAGE_COUNT; s++)
        free(states->stage[s].bits);
    memset(states, 0, sizeof *states);
}

// While a stage runs the world's tick is the one before; `finish` has counted it.
static uint64_t produced_tick(const foliot_world *world, foliot_stage stage)
{
    return foliot_world_tick(world) + (stage == FOLIOT_STAGE_finish ? 0 : 1);
}

static void observe(void *user, foliot_world *world, foliot_stage stage)
{
    foliot__observer *observer = user;
    const foliot_perturbation *fault = observer->perturbation;
    if (fault && fault->stage == stage && fault->tick == produced_tick(world, stage) &&
        fault->body < foliot_world_body_count(world)) {
        uint64_t bits = foliot_world_field_bits(world, fault->body, fault->field);
        foliot_world_field_put(world, fault->body, fault->field,
                               foliot__field_moved(fault->field, bits, fault->ulps));
        observer->perturbed = true;
    }
    if (observer->states)
        foliot__state_take(&observer->states->stage[stage], world, &observer->states->status);
}

foliot_host foliot__observing_host(const foliot_host *host, foliot__observer *observer)
{
    foliot_host observing = *host;
    observing.after_stage = observe;
    observing.stage_user = observer;
    return observing;
}

// -- the tree -------------------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t seed = hash ^ value;
    return foliot__splitmix64(&seed);
}

uint64_t foliot__state_hash(const foliot__state *state, uint32_t first, uint32_t count)
{
    uint64_t hash = mix(state->taken, state->body_count);
    for (uint32_t body = first; body - first < count && body < state->body_count; body++)
        for (uint32_t field = 0; field < FOLIOT_FIELD_COUNT; field++)
            hash = mix(hash, state->bits[(size_t)body * FOLIOT_FIELD_COUNT + field]);
    return hash;
}

uint32_t foliot__tree_group(uint32_t count)
{
    uint32_t group = 1;
    while ((count + group - 1) / group > FOLIOT__TREE_FANOUT)
        group *= FOLIOT__TREE_FANOUT;
    return group;
}

// -- comparing ------------------------------------------------------------------------------------

static uint64_t bits_at(const foliot__state *state, uint32_t body, uint32_t field)
{
    return body < state->body_count ? state->bits[(size_t)body * FOLIOT_FIELD_COUNT + field] : 0;
}

static void found(foliot_divergence *divergence, uint32_t body, uint32_t field, uint64_t expected,
                  uint64_t actual)
{
    divergence->field_known = true;
    divergence->body = body;
    divergence->field = (foliot_field)field;
    divergence->expected = expected;
    divergence->actual = actual;
    divergence->ulps = foliot__field_ulps((foliot_field)field, expected, actual);
}

bool foliot__state_compare(const foliot__state *expected, const foliot__state *actual,
                           foliot_divergence *divergence)
{
    uint32_t count =
        expected->body_count > actual->body_count ? expected->body_count : actual->body_count;
    divergence->bodies = divergence->fields = 0;
    for (uint32_t body = 0; body < count; body++) {
        uint32_t fields = 0;
        for (uint32_t field = 0; field < FOLIOT_FIELD_COUNT; field++) {
            uint64_t a = bits_at(expected, body, field), b = bits_at(actual, body, field);
            if (a == b)
                continue;
            if (divergence->fields + fields == 0)
                found(divergence, body, field, a, b);
            fields++;
        }
        divergence->fields += fields;
        divergence->bodies += fields > 0;
    }
    return divergence->fields > 0;
}

bool foliot__tick_states_compare(const foliot__tick_states *expected,
                                 const foliot__tick_states *actual, foliot_divergence *divergence)
{
    for (int s = 0; s < FOLIOT_STAGE_COUNT; s++) {
        if (!foliot__state_compare(&expected->stage[s], &actual->stage[s], divergence))
            continue;
        divergence->stage_known = true;
        divergence->stage = (foliot_stage)s;
        return true;
    }
    return false;
}
