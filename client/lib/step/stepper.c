// SPDX-License-Identifier: MIT
// stepper.c: lets a client step: the table that client/lib/shared calls, the traffic of lockstep,
// and the host's queries on the simulation. An update steps a bounded number of ticks.
#include "stepper.h"

#include <math.h>

#include "sim/selftest/fingerprint.h"

#define LEAST_AHEAD_MAX 600u
#define SHOWN_BACKLOG_MAX 32 // ticks: a client farther behind does not show what it steps

static foliot_status configure(foliot_client *c)
{
    const foliot_client_config *config = &c->config;
    if ((config->simulation && !foliot_simulation_kind_valid(config->simulation)) ||
        (config->predicts &&
         (config->input_delay >= 256 || config->rollback_ticks_max == 0 ||
          config->rollback_ticks_max > FOLIOT__PREDICTED_TICKS_MAX || config->rollback_steps == 0)))
        return FOLIOT_STATUS_INVALID;
    c->simulation.kind = config->simulation ? *config->simulation : foliot_world_kind;
    if ((c->simulation.fingerprint.high | c->simulation.fingerprint.low) == 0)
        c->simulation.fingerprint =
            config->force_stepping || config->simulation
                ? foliot_simulation_kind_get_fingerprint(&c->simulation.kind)
                : foliot__fingerprint_base(); // the rest is compared with the scene
    if (config->step_host)
        c->simulation.host = *config->step_host;
    return FOLIOT_STATUS_OK;
}

static void destroy(foliot_client *c)
{
    foliot__predict_end(c);
    foliot__lockstep_client_destroy(c->lockstep);
}

static void forget_setup(foliot_client *c)
{
    foliot__predict_forget(c);
    if (c->lockstep)
        foliot__lockstep_client_forget(c->lockstep);
}

static bool steps_worlds(const foliot_client *c)
{
    return c->simulation.kind.create == foliot_world_kind.create;
}

// A diverged state is only needed for the search.
static bool stands_still(const foliot_client *c)
{
    return c->lockstep->diverged && (!foliot__client_steps(c) || !c->welcome.watchable);
}

// -- receiving

static void receive_packet(foliot_client *c, const uint8_t *bytes, size_t length)
{
    switch (bytes[0]) {
    case FOLIOT__RELAY_PACKET:
    case FOLIOT__RELAY_COMMANDS_PACKET:
        foliot__predict_receive_relay(c, bytes, length);
        break;
    case FOLIOT__LOCKSTEP_STATUS_PACKET:
        foliot__lockstep_client_receive_status(c->lockstep, bytes, length, c->now_ns,
                                               foliot__client_tick_ns(c));
        break;
    case FOLIOT__EARLY_PACKET:
        foliot__predict_receive_early(c, bytes, length);
        break;
    default:
        break;
    }
}

static void receive_state_part(foliot_client *c, const foliot__keyframe_part *part)
{
    if (part->tick > FOLIOT__TICK_MAX) {
        c->statistics.pieces_malformed++;
        return;
    }
    if (c->role.stepping == FOLIOT__STEPPING_GIVEN_UP)
        return;
    uint64_t begins = c->lockstep->begins;
    c->work += part->offset == 0 ? FOLIOT__RESTART_WORK : 0;
    bool acknowledges = foliot__lockstep_client_receive_state(c->lockstep, part);
    if (c->lockstep->begins != begins) {
        foliot__catch_up_state_begun(c);
        foliot__stepped_state_begun(c);
    }
    if (c->lockstep->unfit && c->welcome.watchable) {
        foliot__kind_watch_instead(c, FOLIOT__KIND_FINGERPRINT);
    } else if (c->lockstep->unfit) {
        foliot_client_leave(c, c->now_ns);
        c->connection.refusal = FOLIOT__REFUSE_SIMULATION;
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED,
                               "the server's state does not fit the world that this build makes of "
                               "its setup: the two compute differently");
    } else if (acknowledges) {
        foliot__message m = {.kind = FOLIOT__KEYFRAME_ACKNOWLEDGE};
        m.as.keyframe_acknowledge.tick = part->tick;
        m.as.keyframe_acknowledge.offset = part->offset + part->length;
        foliot__connection_send(c, &m);
    }
}

// The response to a request of the divergence search; length SIZE_MAX: there is none yet.
static void send_response(foliot_client *c, const uint8_t *bytes, size_t length)
{
    foliot__message m = {.kind = FOLIOT__SEARCH_RESPONSE};
    if (length == SIZE_MAX)
        return;
    m.as.search.number = c->lockstep->search.number;
    m.as.search.bytes = bytes;
    m.as.search.length = (uint32_t)length;
    foliot__connection_send(c, &m);
}

static void receive_message(foliot_client *c, const foliot__message *m)
{
    uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
    if (m->kind == FOLIOT__DIVERGED && c->lockstep)
        foliot__lockstep_client_receive_diverged(c->lockstep, &m->as.diverged);
    if (!foliot__client_in_lockstep(c))
        return;
    switch (m->kind) {
    case FOLIOT__KEYFRAME_PART:
        receive_state_part(c, &m->as.keyframe_part);
        break;
    case FOLIOT__TICKS_PART:
        foliot__lockstep_client_receive_ticks(c->lockstep, &m->as.ticks_part);
        break;
    case FOLIOT__COMMANDS:
        foliot__lockstep_client_receive_commands(c->lockstep, &m->as.commands);
        break;
    case FOLIOT__SEARCH_REQUEST:
        c->work += FOLIOT__REQUEST_WORK;
        send_response(c, response,
                      foliot__lockstep_client_respond(c->lockstep, &m->as.search, response));
        break;
    default:
        break;
    }
}

// -- stepping and sending

bool foliot__buffer_put(foliot__snapshot_buffer *buffer, const foliot_world *world)
{
    uint64_t tick = foliot_world_get_tick(world);
    foliot_snapshot *snapshot =
        foliot__buffer_open(buffer, tick, foliot_world_get_body_count(world));
    if (!snapshot || foliot_snapshot_quantise(&buffer->format, world, snapshot) != FOLIOT_STATUS_OK)
        return false;
    foliot__buffer_complete(buffer, tick);
    return true;
}

// Steps the closed ticks that have arrived, a bounded number at once, and keeps their states.
static uint32_t step_closed_ticks(foliot_client *c)
{
    uint32_t steps = 0, most = foliot__predict_closed_steps(c);
    uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
    send_response(c, response,
                  foliot__lockstep_client_go_back(c->lockstep, c->config.catch_up_ticks, response));
    while (steps < most && !stands_still(c) && foliot__predict_step(c)) {
        const foliot_world *world = foliot__lockstep_client_world(c->lockstep);
        steps++;
        c->connection.progress_ns = c->now_ns;
        if (foliot__client_steps(c))
            foliot__stepped_update(c);
        if (foliot__lockstep_client_backlog(c->lockstep) < SHOWN_BACKLOG_MAX &&
            (world ? foliot__buffer_put(&c->stepped, world) : !steps_worlds(c)) &&
            foliot__client_steps(c))
            foliot__stream_complete(c, c->lockstep->tick);
    }
    return steps;
}

static void send_packet(foliot_client *c, const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return;
    foliot__connection_send_packet(c, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
    c->statistics.inputs_sent++;
}

// The tick that controls sent now are for.
static uint64_t input_tick(const foliot_client *c)
{
    const foliot__lockstep_client *l = c->lockstep;
    uint64_t tick, end = foliot__lockstep_client_undecided(l);
    if (foliot__predict_leads(c)) {
        // It is never a tick that the server has closed.
        uint64_t least = end > l->log.end ? end - 1 : end;
        tick = foliot__predict_input_tick(c);
        tick = tick < least ? least : tick;
    } else {
        tick = foliot__lockstep_client_input_tick(l, c->now_ns, foliot__client_tick_ns(c),
                                                  c->welcome.input_delay);
    }
    // Nor one before the ticks of controls that were sent by change.
    return c->controls.by_ticks && tick < c->controls.least_meant &&
                   c->controls.least_meant - tick < LEAST_AHEAD_MAX
               ? c->controls.least_meant
               : tick;
}

static void send_lockstep(foliot_client *c, bool stepped)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    uint64_t tick = input_tick(c), undecided = foliot__lockstep_client_undecided(c->lockstep);
    uint64_t period = foliot__stream_period_ns(c), since = c->now_ns - c->outgoing.lockstep_ns;
    bool decided, plays = c->welcome.player != FOLIOT_NO_PLAYER;
    // Sent once per tick, right after a step: the server should get digests early. A client that
    // predicts sends when its own next tick begins: pressed keys are shown from then on.
    bool due =
        foliot__predict_leads(c)
            ? since >= 2 * period ||
                  (since >= (c->config.input_hz > 0 ? period : period / 2) && tick >= undecided)
            : since >= period || (stepped && since >= period / 2);
    if (c->connection.state != FOLIOT_CLIENT_PLAYING || !due)
        return;
    foliot_input controls = {.player = c->welcome.player, .buttons = c->controls.buttons};
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        controls.axes[k] = c->controls.axes[k] < -127 ? -127 : c->controls.axes[k];
    c->lockstep->shown = c->controls.changed ? c->controls.aimed : foliot__client_shown(c);
    foliot__own_inputs own = !plays                 ? FOLIOT__OWN_NONE
                             : c->controls.by_ticks ? FOLIOT__OWN_NEW
                                                    : FOLIOT__OWN_REPEATED;
    size_t length = foliot__lockstep_client_packet(
        c->lockstep, c->now_ns, tick, own, c->controls.changed ? &controls : NULL, &decided, bytes);
    if (decided) {
        foliot__stream_key_decided(c, tick);
        c->controls.last_meant = tick;
    }
    if (own == FOLIOT__OWN_NEW && c->lockstep->own.begun && (decided || tick >= undecided))
        foliot__predict_decided(c, tick, decided ? &controls : NULL);
    c->controls.changed &= !decided;
    send_packet(c, bytes, length);
    send_packet(c, bytes, foliot__lockstep_client_repeat(c->lockstep, c->now_ns, bytes));
    c->outgoing.lockstep_ns = c->now_ns;
}

static void advance(foliot_client *c)
{
    // A step may take long: none is started after the end.
    bool steps = !c->connection.leaving && c->connection.state <= FOLIOT_CLIENT_PLAYING;
    uint32_t closed = steps ? step_closed_ticks(c) : 0;
    foliot__predict_tick(c);
    send_lockstep(c, closed > 0);
    if (steps)
        foliot__predict_update(c, closed);
}

static uint64_t wake_ns(const foliot_client *c)
{
    if (!stands_still(c) && foliot__lockstep_client_ready(c->lockstep))
        return 0;
    return foliot__predict_leads(c) ? foliot__predict_wake_ns(c) : UINT64_MAX;
}

// -- the shown state

static foliot_status sample(foliot_client *c, uint64_t now_ns, foliot_sample *sample)
{
    if (foliot__client_steps(c) && !steps_worlds(c))
        return FOLIOT_STATUS_UNSUPPORTED;
    return c->playout.started && foliot__client_welcomed(c) &&
                   foliot__predict_sample(c, now_ns, sample)
               ? FOLIOT_STATUS_OK
               : FOLIOT_STATUS_AGAIN;
}

static double shown_max(const foliot_client *c)
{
    return c->lockstep->begun && !foliot__predict_leads(c) ? (double)c->lockstep->tick : INFINITY;
}

// The size that the given share of all packets does not exceed.
static double size_quantile(const uint64_t *sizes, uint64_t total, double share)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i <= FOLIOT_PACKET_BYTES_MAX; i++) {
        seen += sizes[i];
        if (total && (double)seen >= share * (double)total)
            return i;
    }
    return 0;
}

static void count(const foliot_client *c, foliot_client_statistics *s)
{
    const foliot__lockstep_client *l = c->lockstep;
    bool steps = foliot__client_steps(c);
    foliot__predict_count(c, s);
    if (!l)
        return;
    const foliot__lockstep_counts *n = &l->counts;
    if (l->begun && steps) {
        s->newest_tick = l->tick;
        s->digest = l->history[l->tick % FOLIOT__CLIENT_TICKS];
        s->ticks_compared = l->checked - l->start;
    }
    s->ticks_stepped = n->ticks_stepped;
    s->ticks_behind = foliot__lockstep_client_backlog(l);
    uint64_t differed = s->heals + l->diverged;
    s->divergences = l->search.divergences > differed ? l->search.divergences : differed;
    s->stalls = n->stalls;
    s->inputs_late += l->deadline.late;
    s->inputs_missing = l->deadline.missing;
    s->pieces_malformed += n->malformed;
    s->relay_bytes_mean = n->relay_packets ? (double)n->relay_bytes / (double)n->relay_packets : 0;
    s->relay_bytes_p99 = size_quantile(n->relay_sizes, n->relay_packets, 0.99);
    s->relay_bytes_max = size_quantile(n->relay_sizes, n->relay_packets, 1);
    s->input_bytes_mean = n->input_packets ? (double)n->input_bytes / (double)n->input_packets : 0;
    s->input_bytes_p99 = size_quantile(n->input_sizes, n->input_packets, 0.99);
    s->input_bytes_max = size_quantile(n->input_sizes, n->input_packets, 1);
    if (!steps)
        return;
    s->round_trip_ms = l->deadline.round_trip_ns * 1e-6;
    s->snapshot_bytes_mean = s->relay_bytes_mean;
}

foliot_status foliot_client_create(const foliot_client_config *config, uint64_t now_ns,
                                   foliot_client **client)
{
    static const foliot__stepper stepper = {
        .configure = configure,
        .destroy = destroy,
        .forget_setup = forget_setup,
        .enter = foliot__catch_up_enter,
        .close = foliot__catch_up_close,
        .create_simulation = foliot__catch_up_create_simulation,
        .catch_up = foliot__catch_up_begin,
        .stop = foliot__catch_up_stop,
        .update_role = foliot__catch_up_update,
        .receive_packet = receive_packet,
        .receive_message = receive_message,
        .advance = advance,
        .wake_ns = wake_ns,
        .sample = sample,
        .shown_max = shown_max,
        .count = count,
    };
    return foliot__client_create(config, &stepper, now_ns, client);
}

// -- the host's queries

foliot_status foliot_client_sample_simulation(foliot_client *client, uint64_t now_ns,
                                              foliot_simulation_sample *sample)
{
    const foliot__lockstep_client *l = client->lockstep;
    if (foliot__client_welcomed(client) && !foliot__client_steps(client))
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!foliot__client_welcomed(client) || !l->begun || !client->playout.started)
        return FOLIOT_STATUS_AGAIN;
    double wanted = fmax(foliot__playout_render(&client->playout, now_ns), client->shown_tick);
    // After a new state from a restarted server, the newest tick is the only one.
    double tick = fmax(fmin(wanted, (double)l->tick), client->shown_tick);
    *sample = (foliot_simulation_sample){.render_tick = tick, .tick = (uint64_t)tick};
    sample->fraction = tick - (double)sample->tick;
    sample->starved = wanted > (double)l->tick;
    sample->before = foliot__lockstep_client_state_of(l, sample->tick, &sample->before_bytes);
    sample->after = foliot__lockstep_client_state_of(l, sample->tick + 1, &sample->after_bytes);
    client->shown_tick = tick;
    const foliot_simulation *predicted = foliot_client_get_predicted(client);
    double shown = predicted ? (double)foliot_simulation_get_tick(predicted) : 0;
    foliot__client_count_sample(client, now_ns, fmax(shown, tick), sample->starved);
    client->latency.delay_sum_ms += foliot__playout_delay_ms(&client->playout);
    client->latency.delay_count++;
    return FOLIOT_STATUS_OK;
}

const foliot_simulation *foliot_client_get_simulation(const foliot_client *client)
{
    return foliot__client_steps(client) && client->lockstep->begun ? &client->lockstep->simulation
                                                                   : NULL;
}

bool foliot_client_poll_divergence(foliot_client *client, foliot_divergence_report *found)
{
    foliot__lockstep_client *l = client->lockstep;
    if (!l || !l->search.has_report)
        return false;
    l->search.has_report = false;
    *found = l->search.found;
    found->session = client->welcome.session;
    found->player = client->welcome.player;
    found->name = client->name;
    found->kind = &l->kind;
    found->setup = l->simulation.setup;
    found->setup_bytes = l->simulation.setup_bytes;
    return true;
}
