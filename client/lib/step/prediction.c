// SPDX-License-Identifier: MIT
// prediction.c: guesses, and the worlds that are stepped by them (prediction.h). Reads the
// confirmed world and never changes it.
#include "prediction.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING_WRONG UINT64_MAX

foliot_status foliot__prediction_create(foliot__prediction **out)
{
    foliot__prediction *p = calloc(1, sizeof *p);
    if (!p)
        return FOLIOT_STATUS_MEMORY;
    p->predicted = &p->lines[0];
    p->shadow = &p->lines[1];
    for (int i = 0; i < 2; i++)
        if (foliot__tick_log_init(&p->lines[i].used, 2 * FOLIOT__PREDICTED_TICKS_MAX,
                                  FOLIOT__PREDICTED_INPUTS) != FOLIOT_STATUS_OK) {
            foliot__prediction_destroy(p);
            return FOLIOT_STATUS_MEMORY;
        }
    foliot__prediction_restart(p);
    *out = p;
    return FOLIOT_STATUS_OK;
}

void foliot__prediction_destroy(foliot__prediction *p)
{
    if (!p)
        return;
    foliot__prediction_forget(p);
    for (int i = 0; i < 2; i++)
        foliot__tick_log_free(&p->lines[i].used);
    free(p);
}

void foliot__prediction_restart(foliot__prediction *p)
{
    p->lines[0].begun = p->lines[1].begun = false;
    p->own_end = 0;
    p->early.count = 0;
    for (uint32_t i = 0; i < FOLIOT__OWN_TICKS; i++)
        p->own[i].tick = UINT64_MAX;
}

void foliot__prediction_forget(foliot__prediction *p)
{
    foliot__prediction_restart(p);
    foliot_simulation_destroy(&p->lines[0].simulation);
    foliot_simulation_destroy(&p->lines[1].simulation);
    p->state = FOLIOT__PREDICTION_UNMADE;
}

const foliot_world *foliot__line_world(const foliot__line *line)
{
    return line->begun ? foliot_simulation_get_world(&line->simulation) : NULL;
}

static bool make_simulations(foliot__prediction *p, const foliot__lockstep_client *l)
{
    if (p->state != FOLIOT__PREDICTION_UNMADE)
        return p->state == FOLIOT__PREDICTION_MADE;
    p->kind = l->kind;
    if (p->kind.create == foliot_world_kind.create) {
        // The host's callback after stages (faults planted by a test, a watcher) applies only to
        // the confirmed world.
        p->host = p->kind.user ? *(const foliot_host *)p->kind.user : (foliot_host){0};
        p->host.after_stage = NULL;
        p->kind.user = &p->host;
    }
    // The server chose the size of the world, of which these are two more.
    const foliot_world *world = foliot__lockstep_client_world(l);
    bool made = !world || foliot_world_get_bytes(world) <= FOLIOT__PREDICTED_BYTES_MAX;
    for (int i = 0; i < 2 && made; i++)
        made = foliot_simulation_create(&p->kind, l->simulation.setup, l->simulation.setup_bytes,
                                        &p->lines[i].simulation) == FOLIOT_STATUS_OK;
    p->state = made ? FOLIOT__PREDICTION_MADE : FOLIOT__PREDICTION_FAILED;
    for (int i = 0; i < 2 && !made; i++)
        foliot_simulation_destroy(&p->lines[i].simulation);
    return made;
}

// -- the inputs of a tick, known and guessed

static const struct foliot__own_controls *own_controls(const foliot__prediction *p, uint64_t tick)
{
    const struct foliot__own_controls *own = &p->own[tick % FOLIOT__OWN_TICKS];
    return own->tick == tick && own->changed ? own : NULL;
}

// Behind those of the same player: inputs stay in the order in which they were made.
static uint32_t insert_input(foliot_input *inputs, uint32_t count, const foliot_input *input)
{
    uint32_t at = count;
    if (count == FOLIOT__BLOCK_INPUTS_MAX)
        return count;
    for (; at > 0 && inputs[at - 1].player > input->player; at--)
        inputs[at] = inputs[at - 1];
    inputs[at] = *input;
    return count + 1;
}

// Writes the known inputs of a tick to p->inputs and returns their number. A player without known
// changes is guessed to hold its controls.
static uint32_t guess_inputs(foliot__prediction *p, const foliot__lockstep_client *l, uint64_t tick)
{
    if (foliot__tick_log_has(&l->log, tick)) // closed, behind one that is missing
        return foliot__tick_log_read(&l->log, tick, p->inputs, FOLIOT__BLOCK_INPUTS_MAX);
    const struct foliot__own_controls *own = own_controls(p, tick);
    uint32_t count = 0;
    if (own)
        count = insert_input(p->inputs, count, &own->input);
    for (uint32_t i = 0; i < p->early.count; i++)
        if (p->early.held[i].tick == tick)
            count = insert_input(p->inputs, count, &p->early.held[i].input);
    return count;
}

static bool same_input(const foliot_input *a, const foliot_input *b)
{
    return a->player == b->player && a->kind == b->kind && a->buttons == b->buttons &&
           memcmp(a->axes, b->axes, sizeof a->axes) == 0;
}

// Whether the line's tick was stepped with these inputs.
static bool used_these(const foliot__line *line, uint64_t tick, const foliot_input *inputs,
                       uint32_t count)
{
    const foliot__tick_log *used = &line->used;
    if (!foliot__tick_log_has(used, tick))
        return false;
    uint32_t node = used->ticks[tick & (used->capacity - 1)].node, i = 0;
    for (; node != FOLIOT__NO_NODE && i < count; node = used->nodes[node].next, i++)
        if (!same_input(&used->nodes[node].input, &inputs[i]))
            return false;
    return node == FOLIOT__NO_NODE && i == count;
}

static void check_guesses(foliot__prediction *p, const foliot__lockstep_client *l,
                          foliot__line *line)
{
    for (uint64_t t = l->tick; line->begun && t < line->tick && t < line->wrong; t++) {
        uint32_t count = guess_inputs(p, l, t);
        if (!used_these(line, t, p->inputs, count))
            line->wrong = t;
    }
}

// -- new information

void foliot__prediction_decide(foliot__prediction *p, uint64_t tick, const foliot_input *controls)
{
    struct foliot__own_controls *own = &p->own[tick % FOLIOT__OWN_TICKS];
    *own = (struct foliot__own_controls){.tick = tick, .changed = controls != NULL};
    if (controls)
        own->input = *controls;
    if (tick >= p->own_end)
        p->own_end = tick + 1;
    p->unchecked = true;
}

void foliot__prediction_learn(foliot__prediction *p)
{
    p->unchecked = true;
}

// Own controls that missed their tick: they count in the next tick, unless others do.
static void move_late_controls(foliot__prediction *p, const foliot__lockstep_client *l,
                               uint64_t tick)
{
    const struct foliot__own_controls *own = own_controls(p, tick);
    struct foliot__own_controls *next = &p->own[(tick + 1) % FOLIOT__OWN_TICKS];
    bool came = false;
    for (uint32_t i = 0; i < l->step.input_count; i++)
        came |=
            l->step.inputs[i].player == p->player && l->step.inputs[i].kind == FOLIOT_INPUT_CONTROL;
    if (!own || came || tick + 1 >= p->own_end || (next->tick == tick + 1 && next->changed))
        return;
    *next = *own;
    next->tick = tick + 1;
}

static void confirm_line(const foliot__lockstep_client *l, foliot__line *line, uint64_t tick)
{
    if (!line->begun)
        return;
    bool right = line->tick > tick && l->step.commands.count == 0 &&
                 used_these(line, tick, l->step.inputs, l->step.input_count);
    if (!right && tick < line->wrong)
        line->wrong = tick;
    foliot__tick_log_forget(&line->used, tick + 1);
}

void foliot__prediction_confirm(foliot__prediction *p, const foliot__lockstep_client *l)
{
    uint64_t tick = l->tick - 1;
    confirm_line(l, p->predicted, tick);
    confirm_line(l, p->shadow, tick);
    move_late_controls(p, l, tick);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->early.count; i++)
        if (p->early.held[i].tick >= l->tick)
            p->early.held[kept++] = p->early.held[i];
    p->early.count = kept;
    p->unchecked = true;
}

// An input that is late, far away, or never guessed is left out: closed ticks keep their inputs.
static void keep_early(foliot__prediction *p, const foliot__lockstep_client *l, uint64_t tick,
                       const foliot_input *input)
{
    p->early.received++;
    if (tick < l->tick || foliot__tick_log_has(&l->log, tick))
        return;
    uint32_t there = 0;
    bool copy = false; // of the network's
    for (uint32_t i = 0; i < p->early.count; i++) {
        const foliot__early_input *e = &p->early.held[i];
        if (e->tick != tick || e->input.player != input->player)
            continue;
        copy |= same_input(&e->input, input);
        there++;
    }
    if (input->kind != FOLIOT_INPUT_CONTROL || input->player == p->player ||
        tick - l->tick >= FOLIOT__EARLY_TICKS_MAX || p->early.count == FOLIOT__EARLY_HELD ||
        there >= FOLIOT__EARLY_A_TICK || copy) {
        p->early.dropped++;
        return;
    }
    p->early.held[p->early.count++] = (foliot__early_input){tick, *input};
    p->unchecked = true;
}

bool foliot__prediction_receive_early(foliot__prediction *p, const foliot__lockstep_client *l,
                                      const uint8_t *bytes, size_t length)
{
    foliot__early packet;
    if (length > FOLIOT_PACKET_BYTES_MAX ||
        foliot__early_decode(bytes, length, &packet) != FOLIOT_STATUS_OK ||
        foliot__block_decode(packet.block, packet.block_length, packet.ticks, &p->block) !=
            FOLIOT_STATUS_OK)
        return false;
    uint64_t first = foliot__tick_near(packet.first, l->tick);
    for (uint32_t i = 0; l->begun && i < p->block.count; i++)
        keep_early(p, l, first + p->block.ages[i], &p->block.inputs[i]);
    return true;
}

// -- stepping

// Makes a line equal to the confirmed world.
static bool begin_line(foliot__prediction *p, const foliot__lockstep_client *l, foliot__line *line)
{
    foliot__copy_timer *copy = &p->copy;
    uint64_t began = copy->clock ? copy->clock(copy->user) : 0;
    line->begun = foliot_simulation_copy(&line->simulation, &l->simulation) == FOLIOT_STATUS_OK;
    p->state = line->begun ? FOLIOT__PREDICTION_MADE : FOLIOT__PREDICTION_FAILED;
    if (copy->clock) {
        double taken_ns = (double)(copy->clock(copy->user) - began);
        if (taken_ns > copy->ns_max) // the machine did something else meanwhile
            taken_ns = copy->ns_max;
        copy->timed += copy->timed < FOLIOT__COPIES_TIMED;
        copy->ns += (taken_ns - copy->ns) / copy->timed;
    }
    line->tick = l->tick;
    line->wrong = NOTHING_WRONG;
    memcpy(line->sequences, l->sequences, sizeof line->sequences);
    foliot__tick_log_clear(&line->used, l->tick);
    if (line->begun && p->stepped)
        p->stepped(p->user, line);
    return line->begun;
}

// A simulation that refuses the guess is not stepped with it; early inputs of others are forgotten.
static void step_line(foliot__prediction *p, const foliot__lockstep_client *l, foliot__line *line)
{
    uint32_t count = guess_inputs(p, l, line->tick);
    if (foliot__tick_log_put(&line->used, line->tick, p->inputs, count) != FOLIOT_STATUS_OK)
        line->wrong = line->tick < line->wrong ? line->tick : line->wrong; // too many to compare
    for (uint32_t i = 0; i < count; i++)
        p->inputs[i].sequence = ++line->sequences[p->inputs[i].player];
    foliot_tick_inputs tick = {.inputs = p->inputs, .input_count = count};
    p->steps++;
    if (foliot_simulation_step_tick(&line->simulation, &tick) != FOLIOT_STATUS_OK) {
        line->begun = false;
        p->early.count = 0;
        return;
    }
    line->tick++;
    if (p->stepped)
        p->stepped(p->user, line);
}

// A shadow that is wrong too begins again, but not for ever: after that it continues, since it is
// nearer to the confirmed state than the shown world.
static bool begin_shadow(foliot__prediction *p, const foliot__lockstep_client *l)
{
    bool wrong = !p->predicted->begun || p->predicted->wrong != NOTHING_WRONG;
    foliot__line *shadow = p->shadow;
    if (!wrong)
        return false;
    if (shadow->begun &&
        (shadow->wrong == NOTHING_WRONG || p->restarts >= FOLIOT__SHADOW_RESTARTS) &&
        shadow->tick >= l->tick)
        return true;
    p->restarts += shadow->begun;
    p->rollbacks += !shadow->begun && p->predicted->begun;
    return begin_line(p, l, shadow);
}

static void step_shadow(foliot__prediction *p, const foliot__lockstep_client *l, uint64_t target,
                        uint64_t last)
{
    foliot__line *shadow = p->shadow, *old = p->predicted;
    while (shadow->begun && shadow->tick < target && p->steps < last)
        step_line(p, l, shadow);
    if (!shadow->begun || shadow->tick < target)
        return;
    p->predicted = shadow;
    p->shadow = old;
    p->restarts = 0;
    if (old->begun && p->replaced)
        p->replaced(p->user);
    old->begun = false;
}

uint32_t foliot__prediction_update(foliot__prediction *p, const foliot__lockstep_client *l,
                                   uint64_t target, uint32_t most)
{
    uint64_t before = p->steps, farthest = l->tick + p->ticks_max + (p->ticks_max + 7) / 8;
    if (!l->begun || !make_simulations(p, l))
        return 0;
    if (p->begins != l->begins)
        p->lines[0].begun = p->lines[1].begun = false;
    p->begins = l->begins;
    if (target > farthest)
        target = farthest;
    if (target < l->tick)
        target = l->tick;
    if (p->unchecked) {
        check_guesses(p, l, p->predicted);
        check_guesses(p, l, p->shadow);
        p->unchecked = false;
    }
    // A shadow that catches up in this update takes the predicted world's place before the next
    // tick: the world that is known to be wrong need not be stepped to it.
    if (p->predicted->begun && begin_shadow(p, l) && p->shadow->begun) {
        uint64_t end = p->predicted->tick > target ? p->predicted->tick : target;
        if (end - p->shadow->tick <= most)
            step_shadow(p, l, p->predicted->tick, before + most);
    }
    while (p->predicted->begun && p->predicted->tick < target && p->steps < before + most)
        step_line(p, l, p->predicted);
    if (begin_shadow(p, l))
        step_shadow(p, l, p->predicted->begun ? p->predicted->tick : target, before + most);
    return (uint32_t)(p->steps - before);
}

const foliot__line *foliot__prediction_shown(const foliot__prediction *p)
{
    return p->predicted->begun && p->state != FOLIOT__PREDICTION_FAILED ? p->predicted : NULL;
}

bool foliot__prediction_holds(const foliot__prediction *p)
{
    return p->predicted->begun && p->predicted->wrong == NOTHING_WRONG && !p->unchecked;
}
