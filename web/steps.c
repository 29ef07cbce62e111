// SPDX-License-Identifier: MIT
// steps.c: the stepper's client runs the world itself and predicts it, as a native one does, and
// the server compares its digests (page.h). If a step takes more than a quarter of a tick, it
// watches from then on. It computes the world only through the library.
#include "page.h"

#include "foliot/simulation.h"
#include "foliot/world.h"
#include "shared/internal.h"
#include "sim/state/state.h"

__attribute__((import_module("page"), import_name("clock"))) double page_clock(void);

static foliot_client *client;
static bool slow; // a step took too long here
static double slow_step_us;

static uint64_t clock_ns(void *user)
{
    (void)user;
    return (uint64_t)(page_clock() * 1e6);
}

foliot_status web_kind_create(foliot_client_config *config, uint64_t now_ns,
                              foliot_client **created)
{
    client = NULL;
    slow = false;
    config->kind = FOLIOT_PEER_STEPPER;
    config->predicts = !config->spectates;
    config->clock = clock_ns;
    return foliot_client_create(config, now_ns, created);
}

bool web_kind_reads(uint8_t packet)
{
    (void)packet;
    return true;
}

void web_kind_updated(foliot_client *updated)
{
    client = updated;
    if (!client || slow || foliot_client_get_prediction(client) != FOLIOT_PREDICTION_SLOW)
        return;
    slow_step_us = foliot_client_get_statistics(client).step_us;
    slow = foliot_client_set_kind(client, FOLIOT_PEER_WATCHER) == FOLIOT_STATUS_OK;
}

void web_kind_write(foliot__json *j, const foliot_client *c)
{
    static const char *const predictions[] = {[FOLIOT_PREDICTION_OFF] = "off",
                                              [FOLIOT_PREDICTION_WAITS] = "waits",
                                              [FOLIOT_PREDICTION_ON] = "on",
                                              [FOLIOT_PREDICTION_SLOW] = "slow",
                                              [FOLIOT_PREDICTION_MEMORY] = "memory"};
    foliot_client_statistics s = foliot_client_get_statistics(c);
    bool steps = foliot_client_get_kind(c) == FOLIOT_PEER_STEPPER;
    foliot__json_text(j, "kind", steps ? "stepper" : "watcher");
    foliot__json_text(j, "prediction", predictions[foliot_client_get_prediction(c)]);
    foliot__json_bool(j, "slow", slow);
    foliot__json_real(j, "step_ms", 1e-3 * (slow ? slow_step_us : s.step_us));
    foliot__json_real(j, "key_ms", s.key_to_screen_ms);
    foliot__json_real(j, "key_max_ms", s.key_to_screen_max_ms);
    foliot__json_real(j, "ahead", s.prediction_ticks);
    foliot__json_real(j, "input_delay", s.input_delay_ticks);
    foliot__json_count(j, "compared", s.ticks_compared);
    foliot__json_count(j, "divergences", s.divergences);
    foliot__json_count(j, "heals", s.heals);
    foliot__json_count(j, "rollbacks", s.rollbacks);
    foliot__json_count(j, "corrections_own", s.corrections_own);
}

// The kind that the player wishes from now on. A page that was too slow may try again.
WEB_EXPORT(set_steps) int web_set_steps(uint32_t steps)
{
    if (!client)
        return FOLIOT_STATUS_INVALID;
    slow = false;
    return foliot_client_set_kind(client, steps ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
}

static foliot_world *world_of(const foliot_simulation *simulation)
{
    return simulation ? (foliot_world *)foliot_simulation_get_world(simulation) : NULL;
}

double web_kind_rounding(const foliot_client *c)
{
    return foliot_client_get_kind(c) == FOLIOT_PEER_STEPPER ? 0 : c->welcome.format.position_step;
}

// Commands may change a body's collision filter, and the world here has applied them.
void web_kind_filter(const foliot_client *c, uint32_t slot, web_detail_body *body)
{
    const foliot_world *world = world_of(foliot_client_get_simulation(c));
    if (!world || foliot_world_get_body_id(world, slot).value == 0)
        return;
    foliot__filter filter = foliot__filter_of(world, slot);
    body->category = filter.category;
    body->mask = filter.mask;
    body->group = filter.group;
}

// Flips one bit of the first body that moves, as a cosmic ray would, so that healing can be seen.
// Returns its slot, -1 if there is nothing to flip.
WEB_EXPORT(perturb) int web_perturb(void)
{
    foliot_world *world = client ? world_of(foliot_client_get_simulation(client)) : NULL;
    for (uint32_t i = 0; world && i < foliot_world_get_body_count(world); i++) {
        foliot_body_id body = foliot_world_get_body_id(world, i);
        uint32_t flags = foliot_world_get_body_state(world, body).flags;
        if (!(flags & FOLIOT_BODY_ALIVE) || flags & FOLIOT_BODY_STATIC)
            continue;
        uint64_t bits = foliot_world_get_field(world, body, FOLIOT_FIELD_position_x);
        (void)!foliot_world_set_field(world, body, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
        return (int)i;
    }
    return -1;
}
