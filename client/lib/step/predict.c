// SPDX-License-Identifier: MIT
// predict.c: lets a client predict (predict.h). Nothing that happens in predicted worlds is sent:
// digests, responses and acknowledgements come from lockstep.c, from the confirmed world.
#include "stepper.h"

#include <math.h>

#define STEPS_TIMED 64      // before a step is called slow
#define STEP_SHARE_MAX 0.25 // of a tick
#define COPY_SHARE_MAX 0.5  // of a tick: each rollback begins with one
#define EARLIER_TICKS 1.25  // a tick is decided as it begins: no margin for a late packet is needed
#define JUMP_STEPS 64       // of a snapshot's position: less is not a jump
#define ASK_EVERY_NS 1000000000u
#define UPDATE_TICKS_MAX 8 // of a slow host's update that are made up for at once

static bool predicts_here(const foliot_client *c)
{
    return c->predictor.worlds && foliot__client_steps(c) && foliot__client_in_lockstep(c) &&
           c->welcome.player != FOLIOT_NO_PLAYER;
}

// -- callbacks of the worlds

static uint32_t line_index(const foliot__prediction *p, const foliot__line *line)
{
    return line == &p->lines[1];
}

static uint32_t own_slot(const foliot_client *c, const foliot_world *world)
{
    return foliot_body_id_get_slot(foliot_world_get_player_body(world, c->welcome.player));
}

// A line that cannot be shown is not predicted.
static void line_stepped(void *user, const foliot__line *line)
{
    foliot_client *c = user;
    foliot__prediction *p = c->predictor.worlds;
    const foliot_world *world = foliot__line_world(line);
    if (!world)
        return;
    if (foliot__prediction_view_append(&c->predictor.view, line_index(p, line), world) !=
        FOLIOT_STATUS_OK)
        p->state = FOLIOT__PREDICTION_FAILED;
    if (line->tick > c->lockstep->tick)
        foliot__stepped_predict(c, world);
}

static void line_replaced(void *user)
{
    foliot_client *c = user;
    const foliot__prediction *p = c->predictor.worlds;
    const foliot_world *world = foliot__line_world(p->predicted);
    if (world)
        foliot__prediction_view_replace(
            &c->predictor.view, line_index(p, p->shadow), line_index(p, p->predicted),
            fmax(foliot__prediction_clock_shown(&c->predictor.clock), c->shown_tick),
            own_slot(c, world));
}

// -- beginning and ending

foliot_status foliot__predict_begin(foliot_client *c)
{
    foliot__predictor *predictor = &c->predictor;
    if (!c->config.predicts || c->config.spectates)
        return FOLIOT_STATUS_OK;
    if (!predictor->worlds && foliot__prediction_create(&predictor->worlds) != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_MEMORY;
    if (foliot__prediction_events_open(&predictor->events) != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_MEMORY;
    foliot__prediction *p = predictor->worlds;
    foliot__prediction_restart(p);
    p->ticks_max = c->config.rollback_ticks_max;
    p->player = c->welcome.player;
    p->stepped = line_stepped;
    p->replaced = line_replaced;
    p->user = c;
    p->copy = (foliot__copy_timer){.clock = c->config.clock,
                                   .user = c->config.clock_user,
                                   .ns_max = foliot__client_tick_ns(c)};
    foliot__prediction_view_restart(&predictor->view);
    predictor->view.dt = c->welcome.dt;
    predictor->view.jump = JUMP_STEPS * c->welcome.format.position_step;
    foliot__prediction_events_clear(&predictor->events);
    predictor->clock = (foliot__prediction_clock){0};
    predictor->asked_ns = 0;
    predictor->slow = false;
    predictor->steps_timed = 0;
    predictor->step_ns = 0;
    return FOLIOT_STATUS_OK;
}

void foliot__predict_forget(foliot_client *c)
{
    if (c->predictor.worlds)
        foliot__prediction_forget(c->predictor.worlds);
    foliot__prediction_view_restart(&c->predictor.view);
}

void foliot__predict_end(foliot_client *c)
{
    foliot__prediction_destroy(c->predictor.worlds);
    c->predictor.worlds = NULL;
    foliot__prediction_view_close(&c->predictor.view);
    foliot__prediction_events_close(&c->predictor.events);
}

// Takes back the events that the world at `tick` should have had.
static void cancel_events(foliot_client *c, uint64_t tick)
{
    foliot_client_event event;
    while (foliot__prediction_events_cancel(&c->predictor.events, tick, &event)) {
        c->predictor.cancelled++;
        foliot__events_add(c, &event, "", 0);
    }
}

void foliot__predict_leave(foliot_client *c)
{
    cancel_events(c, UINT64_MAX);
    foliot__predict_end(c);
}

// -- time

static uint64_t backlog(const foliot_client *c)
{
    return foliot__lockstep_client_backlog(c->lockstep);
}

bool foliot__predict_leads(const foliot_client *c)
{
    return predicts_here(c) && c->lockstep->begun && c->predictor.clock.known &&
           !c->predictor.slow && c->predictor.worlds->state != FOLIOT__PREDICTION_FAILED;
}

void foliot__predict_tick(foliot_client *c)
{
    foliot__prediction_clock_aim aim = {.ticks_max = c->config.rollback_ticks_max,
                                        .input_delay = c->config.input_delay};
    double tick_ns = foliot__client_tick_ns(c);
    if (!predicts_here(c) || !c->lockstep->begun || c->connection.state != FOLIOT_CLIENT_PLAYING ||
        backlog(c) > c->config.rollback_ticks_max ||
        !foliot__lockstep_client_input_time(c->lockstep, c->now_ns, tick_ns, c->welcome.input_delay,
                                            &aim.input))
        return;
    aim.confirmed = c->lockstep->tick;
    aim.input -= EARLIER_TICKS;
    if (fabs(aim.input - (double)aim.confirmed) < FOLIOT__OWN_TICKS / 2) // else the server's
        foliot__prediction_clock_update(&c->predictor.clock, c->now_ns, tick_ns, &aim);
}

uint64_t foliot__predict_input_tick(const foliot_client *c)
{
    return foliot__prediction_clock_input_tick(&c->predictor.clock);
}

uint64_t foliot__predict_wake_ns(const foliot_client *c)
{
    const foliot__prediction_clock *clock = &c->predictor.clock;
    double ticks = (double)foliot__lockstep_client_undecided(c->lockstep) - 1 - clock->input;
    double ns = fmax(ticks, 0) * foliot__client_tick_ns(c);
    return clock->now_ns + (uint64_t)fmin(ns, 1e9) + 1;
}

void foliot__predict_decided(foliot_client *c, uint64_t tick, const foliot_input *controls)
{
    if (predicts_here(c))
        foliot__prediction_decide(c->predictor.worlds, tick, controls);
}

// -- steps

// A host that updates seldom has more steps to make up for at once.
static uint32_t due_ticks(const foliot_client *c)
{
    double passed = ceil(c->predictor.clock.passed - 0.5);
    return passed < 1 ? 1 : passed > UPDATE_TICKS_MAX ? UPDATE_TICKS_MAX : (uint32_t)passed;
}

uint32_t foliot__predict_closed_steps(const foliot_client *c)
{
    uint32_t most = c->config.catch_up_ticks, due = due_ticks(c) * (1 + c->config.rollback_steps);
    bool calm = foliot__predict_leads(c) && backlog(c) <= c->config.rollback_ticks_max;
    return calm && due < most ? due : most;
}

bool foliot__predict_step(foliot_client *c)
{
    uint64_t (*clock)(void *) = c->config.clock;
    uint64_t began = clock ? clock(c->config.clock_user) : 0;
    if (!foliot__lockstep_client_step(c->lockstep))
        return false;
    if (clock) {
        // A step of more than a tick counts as one tick: the machine did something else meanwhile,
        // and a few such steps must not end the prediction of cheap ones.
        foliot__predictor *predictor = &c->predictor;
        double tick_ns = foliot__client_tick_ns(c);
        double step_ns = fmin((double)(clock(c->config.clock_user) - began), tick_ns);
        predictor->steps_timed += predictor->steps_timed < STEPS_TIMED;
        predictor->step_ns += (step_ns - predictor->step_ns) / predictor->steps_timed;
        predictor->slow |=
            predictor->steps_timed == STEPS_TIMED && predictor->step_ns > STEP_SHARE_MAX * tick_ns;
    }
    if (predicts_here(c))
        foliot__prediction_confirm(c->predictor.worlds, c->lockstep);
    return true;
}

void foliot__predict_update(foliot_client *c, uint32_t closed_steps)
{
    foliot__predictor *predictor = &c->predictor;
    if (!foliot__predict_leads(c)) {
        if (predicts_here(c) && (predictor->slow || !c->lockstep->begun))
            foliot__prediction_restart(predictor->worlds);
        return;
    }
    uint32_t due = due_ticks(c), most = due * (2 + c->config.rollback_steps);
    double shown = ceil(foliot__prediction_clock_shown(&predictor->clock));
    uint64_t target = shown > 0 ? (uint64_t)shown : 0;
    if (target > predictor->worlds->own_end)
        target = predictor->worlds->own_end; // undecided ticks are not shown
    foliot__prediction_update(predictor->worlds, c->lockstep, target,
                              most > closed_steps ? most - closed_steps : 1);
    if (predictor->worlds->copy.timed == FOLIOT__COPIES_TIMED)
        predictor->slow |= predictor->worlds->copy.ns > COPY_SHARE_MAX * foliot__client_tick_ns(c);
    cancel_events(c, c->lockstep->tick);
    if (c->connection.state == FOLIOT_CLIENT_PLAYING &&
        (!predictor->asked_ns || c->now_ns - predictor->asked_ns >= ASK_EVERY_NS)) {
        const uint8_t packet = FOLIOT__EARLY_PACKET;
        predictor->asked_ns = c->now_ns;
        foliot__connection_send_packet(c, FOLIOT_DELIVERY_UNRELIABLE, &packet, 1);
    }
}

void foliot__predict_receive_relay(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__lockstep_client_receive_relay(c->lockstep, bytes, length);
    if (c->predictor.worlds)
        foliot__prediction_learn(c->predictor.worlds);
}

void foliot__predict_receive_early(foliot_client *c, const uint8_t *bytes, size_t length)
{
    if (predicts_here(c) &&
        !foliot__prediction_receive_early(c->predictor.worlds, c->lockstep, bytes, length))
        c->lockstep->counts.malformed++;
}

// -- the host's queries

static const foliot__line *shown_line(const foliot_client *c)
{
    return foliot__predict_leads(c) ? foliot__prediction_shown(c->predictor.worlds) : NULL;
}

bool foliot__predict_sample(foliot_client *c, uint64_t now_ns, foliot_sample *sample)
{
    foliot__predictor *predictor = &c->predictor;
    const foliot__line *line = shown_line(c);
    const foliot_world *world = line ? foliot__line_world(line) : NULL;
    if (!world)
        return false;
    double since = now_ns > predictor->clock.now_ns
                       ? (double)(now_ns - predictor->clock.now_ns) / foliot__client_tick_ns(c)
                       : 0;
    double tick = foliot__prediction_clock_shown(&predictor->clock) + since;
    if (!foliot__prediction_view_sample(&predictor->view, line_index(predictor->worlds, line),
                                        fmax(tick, c->shown_tick), own_slot(c, world), sample))
        return false;
    sample->starved = tick > sample->render_tick + 1; // the closed ticks do not come
    return true;
}

foliot_prediction foliot_client_get_prediction(const foliot_client *client)
{
    if (!predicts_here(client))
        return FOLIOT_PREDICTION_OFF;
    if (client->predictor.worlds->state == FOLIOT__PREDICTION_FAILED)
        return FOLIOT_PREDICTION_MEMORY;
    if (client->predictor.slow)
        return FOLIOT_PREDICTION_SLOW;
    return shown_line(client) ? FOLIOT_PREDICTION_ON : FOLIOT_PREDICTION_WAITS;
}

const foliot_simulation *foliot_client_get_predicted(const foliot_client *client)
{
    const foliot__line *line = shown_line(client);
    return line ? &line->simulation : NULL;
}

void foliot__predict_count(const foliot_client *c, foliot_client_statistics *s)
{
    const foliot__predictor *predictor = &c->predictor;
    const foliot__prediction *p = predictor->worlds;
    s->step_us = predictor->step_ns * 1e-3;
    if (!p)
        return;
    const foliot__line *line = shown_line(c);
    s->rollbacks = p->rollbacks;
    s->corrections = predictor->view.corrections;
    s->corrections_own = predictor->view.corrections_own;
    s->ticks_predicted = p->steps;
    s->early_received = p->early.received;
    s->early_dropped = p->early.dropped;
    s->events_cancelled = predictor->cancelled;
    s->input_delay_ticks = predictor->clock.delay;
    s->prediction_ticks = line ? (double)line->tick - (double)c->lockstep->tick : 0;
}
