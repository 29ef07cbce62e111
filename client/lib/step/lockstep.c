// SPDX-License-Identifier: MIT
// lockstep.c: the simulation of a lockstep client (lockstep.h). Trusts the server for the inputs of
// closed ticks, but for no length or number.
#include "lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "recording/keyframe_codec.h"
#include "simulation/simulation.h"
#include "wire/lockstep_message.h"

#define ACK_EVERY_BYTES                                                                            \
    (foliot__lockstep_limits_now()->heard_bytes) // bytes of a state between two acknowledgements
#define STATE_BYTES_FREE ((uint64_t)16 << 20)    // that a compressed state may have
#define STATE_BYTES_A_BYTE 1024
#define DEADLINE_GAIN 0.1
#define DEADLINE_JUMP_TICKS 30
#define MARGIN_TICKS 1.5
#define MARGIN_DEVIATIONS 3
#define LATE_DECAY 0.997 // a tenth of a second
#define LATE_TICKS_MAX 12

foliot_status foliot__lockstep_client_create(const foliot_simulation_kind *kind,
                                             const foliot_host *host, foliot__lockstep_client **out)
{
    foliot__lockstep_client *l = calloc(1, sizeof *l);
    if (!l)
        return FOLIOT_STATUS_MEMORY;
    l->kind = kind ? *kind : foliot_world_kind;
    if (!kind && host) {
        l->host = *host;
        l->kind.user = &l->host;
    }
    if (foliot__tick_log_init(&l->log, FOLIOT__CLIENT_TICKS, FOLIOT__CLIENT_INPUTS) !=
            FOLIOT_STATUS_OK ||
        foliot__tick_log_init(&l->own.log, FOLIOT__OWN_TICKS, FOLIOT__OWN_TICKS) !=
            FOLIOT_STATUS_OK) {
        foliot__lockstep_client_destroy(l);
        return FOLIOT_STATUS_MEMORY;
    }
    foliot__command_log_init(&l->commands, FOLIOT__CLIENT_TICKS, FOLIOT__CLIENT_COMMAND_BYTES);
    *out = l;
    return FOLIOT_STATUS_OK;
}

void foliot__lockstep_client_destroy(foliot__lockstep_client *l)
{
    if (!l)
        return;
    foliot_simulation_destroy(&l->simulation);
    foliot__tick_log_free(&l->log);
    foliot__tick_log_free(&l->own.log);
    foliot__command_log_free(&l->commands);
    foliot_command_list_destroy(&l->step.commands);
    free(l->state.bytes);
    free(l->kept.bytes);
    foliot__buffer_free(&l->base.state);
    foliot__buffer_free(&l->next.state);
    foliot__rewind_free(&l->search.rewind);
    free(l);
}

void foliot__lockstep_client_restart(foliot__lockstep_client *l)
{
    l->state.expected = l->begun = l->state.pending = l->diverged = l->counts.stalled =
        l->search.going_back = false;
    l->base.valid = l->next.valid = false;
    l->search.rewind.active = l->search.rewind.finished =
        false; // it is of ticks that may come again, and be others
    l->state.tick = UINT64_MAX;
    foliot__command_log_clear(&l->commands);
}

void foliot__lockstep_client_reconnect(foliot__lockstep_client *l)
{
    foliot__lockstep_client_restart(l);
    foliot__rewind_release(&l->search.rewind);
    l->setup_here = l->unfit = l->own.begun = l->deadline.known = false;
}

void foliot__lockstep_client_forget(foliot__lockstep_client *l)
{
    foliot__lockstep_client_reconnect(l);
    foliot__lockstep_client_drop_case(l);
    foliot__rewind_free(&l->search.rewind);
    foliot_simulation_destroy(&l->simulation);
    l->made = false;
}

foliot_status foliot__lockstep_client_setup(foliot__lockstep_client *l, const uint8_t *setup,
                                            size_t length)
{
    l->setup_here = l->made && l->simulation.setup == setup && l->simulation.setup_bytes == length;
    if (l->setup_here)
        return FOLIOT_STATUS_OK;
    foliot__lockstep_client_forget(l);
    foliot_status status = foliot_simulation_create(&l->kind, setup, length, &l->simulation);
    l->made = l->setup_here = status == FOLIOT_STATUS_OK;
    return status;
}

const foliot_world *foliot__lockstep_client_world(const foliot__lockstep_client *l)
{
    return l->begun ? foliot_simulation_get_world(&l->simulation) : NULL;
}

// -- the initial state

static void save_checkpoint(foliot__checkpoint *c, const foliot_simulation *simulation)
{
    c->valid = foliot__simulation_save(simulation, &c->state) == FOLIOT_STATUS_OK;
    c->tick = foliot_simulation_get_tick(simulation);
}

// A state has outgrown its slot: the saved states of earlier ticks move to larger slots. Without
// memory, or beyond the limit, nothing changes.
static bool enlarge_states(foliot__lockstep_client *l, size_t length)
{
    size_t stride = length + length / 4 + 256;
    if (stride >= FOLIOT__HELD_BYTES / 16)
        return false;
    uint32_t ticks = (uint32_t)(FOLIOT__HELD_BYTES / stride);
    if (ticks > l->kept.ticks)
        ticks = l->kept.ticks;
    uint8_t *held = malloc(stride * ticks);
    size_t *lengths = calloc(ticks, sizeof *lengths);
    if (!held || !lengths) {
        free(held);
        free(lengths);
        return false;
    }
    uint64_t first = l->tick - l->start < ticks ? l->start : l->tick - ticks + 1;
    for (uint64_t t = first; t < l->tick; t++) {
        size_t from = t % l->kept.ticks, to = t % ticks;
        lengths[to] = l->kept.lengths[from];
        memcpy(held + to * stride, l->kept.bytes + from * l->kept.stride, lengths[to]);
    }
    memset(l->kept.lengths, 0, sizeof l->kept.lengths);
    memcpy(l->kept.lengths, lengths, ticks * sizeof *lengths);
    free(lengths);
    free(l->kept.bytes);
    l->kept.bytes = held;
    l->kept.stride = stride;
    l->kept.ticks = ticks;
    return true;
}

static void store_state(foliot__lockstep_client *l)
{
    size_t length = 0;
    if (!l->kept.bytes)
        return;
    size_t place = l->tick % l->kept.ticks;
    foliot_status status = foliot_simulation_capture(
        &l->simulation, l->kept.bytes + place * l->kept.stride, l->kept.stride, &length);
    if (status == FOLIOT_STATUS_FULL && enlarge_states(l, length)) {
        place = l->tick % l->kept.ticks;
        status = foliot_simulation_capture(&l->simulation, l->kept.bytes + place * l->kept.stride,
                                           l->kept.stride, &length);
    }
    l->kept.lengths[place] = status == FOLIOT_STATUS_OK ? length : 0;
}

const uint8_t *foliot__lockstep_client_state_of(const foliot__lockstep_client *l, uint64_t tick,
                                                size_t *length)
{
    *length = 0;
    if (!l->begun || !l->kept.bytes || tick < l->start || tick > l->tick ||
        l->tick - tick >= l->kept.ticks)
        return NULL;
    size_t place = tick % l->kept.ticks;
    *length = l->kept.lengths[place];
    return *length ? l->kept.bytes + place * l->kept.stride : NULL;
}

static bool begin_from_bytes(foliot__lockstep_client *l, const uint8_t *state)
{
    size_t head = 4 * (size_t)l->state.players;
    if (!l->setup_here || l->state.unpacked < head ||
        foliot_simulation_restore(&l->simulation, state + head, l->state.unpacked - head) !=
            FOLIOT_STATUS_OK ||
        foliot_simulation_get_tick(&l->simulation) != l->state.tick)
        return false;
    foliot__reader r = foliot__reader_of(state, head);
    memset(l->sequences, 0, sizeof l->sequences);
    for (uint32_t p = 0; p < l->state.players; p++)
        l->sequences[p] = foliot__read_u32(&r);
    l->tick = l->start = l->checked = l->state.tick;
    l->digests = 0;
    l->history[l->tick % FOLIOT__CLIENT_TICKS] = foliot_simulation_get_digest(&l->simulation);
    save_checkpoint(&l->base, &l->simulation);
    l->next.valid = false;
    size_t stride = l->base.valid ? l->base.state.length + l->base.state.length / 4 + 256
                                  : 0;               // bodies may come
    if (!l->kept.bytes || stride > l->kept.stride) { // room for as many ticks as fit
        free(l->kept.bytes);
        l->kept.bytes = NULL;
        l->kept.stride = stride;
        l->kept.ticks = stride && stride < FOLIOT__HELD_BYTES / 16
                            ? (uint32_t)(FOLIOT__HELD_BYTES / stride)
                            : 0;
        if (l->kept.ticks > FOLIOT__CLIENT_TICKS / 4)
            l->kept.ticks = FOLIOT__CLIENT_TICKS / 4;
        if (l->kept.ticks)
            l->kept.bytes = malloc(stride * l->kept.ticks);
    }
    memset(l->kept.lengths, 0, sizeof l->kept.lengths); // of other ticks
    store_state(l);
    l->begun = true;
    l->begins++;
    return true;
}

static bool begin_from_state(foliot__lockstep_client *l)
{
    if (l->state.unpacked == l->state.total)
        return begin_from_bytes(l, l->state.bytes);
    // A frame of a few bytes may claim gigabytes: a world's state is smaller than the world, and
    // the state of another simulation has a limit for each byte that was sent.
    uint64_t most = STATE_BYTES_FREE + (uint64_t)l->state.total * STATE_BYTES_A_BYTE;
    const foliot_world *world = l->setup_here ? foliot_simulation_get_world(&l->simulation) : NULL;
    if (world) {
        uint64_t bytes = foliot_world_get_bytes(world) + 4 * (uint64_t)l->state.players;
        most = bytes < most ? bytes : most;
    }
    if (l->state.unpacked > most || l->state.unpacked > FOLIOT_SIMULATION_BYTES_MAX)
        return false;
    uint8_t *state = malloc(l->state.unpacked + 1);
    bool begun = state &&
                 foliot__keyframe_decompress(l->state.bytes, l->state.total, state,
                                             l->state.unpacked) == FOLIOT_STATUS_OK &&
                 begin_from_bytes(l, state);
    free(state);
    return begun;
}

// Discards a state from before that tick.
static void begin_anew(foliot__lockstep_client *l, uint64_t tick)
{
    bool is_searched = l->state.pending && l->search.rewind.finished; // of a tick before this one
    foliot__lockstep_client_restart(l);
    l->search.rewind.finished = is_searched;
    if (!is_searched)
        foliot__rewind_release(&l->search.rewind);
    l->state.expected = true;
    l->state.tick = tick;
    foliot__tick_log_clear(&l->log, tick);
}

bool foliot__lockstep_client_receive_state(foliot__lockstep_client *l,
                                           const foliot__keyframe_part *part)
{
    if (part->offset == 0 && part->tick != l->state.tick) {
        l->state.pending = l->begun && l->diverged; // the server may request its past states
        if (!l->state.pending)
            begin_anew(l, part->tick);
        l->state.tick = part->tick;
        l->state.players = part->players;
        l->state.total = part->total;
        l->state.unpacked = part->state_bytes;
        l->state.have = l->state.acked = 0;
    }
    // Room for twice the received bytes: the rest may never arrive.
    size_t wanted = l->state.have + part->length,
           room = 2 * wanted < l->state.total ? 2 * wanted : l->state.total;
    if (!l->state.expected || (l->begun && !l->state.pending) || part->tick != l->state.tick ||
        part->offset != l->state.have || part->total != l->state.total ||
        part->state_bytes != l->state.unpacked || part->length > l->state.total - l->state.have ||
        part->total > FOLIOT_SIMULATION_BYTES_MAX ||
        !foliot__array_reserve(&l->state.bytes, &l->state.capacity, wanted, room, 1)) {
        l->counts.malformed++;
        return false;
    }
    memcpy(l->state.bytes + l->state.have, part->bytes, part->length);
    l->state.have += part->length;
    if (l->state.have == l->state.total && l->state.pending)
        begin_anew(l, part->tick);
    if (l->state.have == l->state.total)
        l->unfit = !begin_from_state(l);
    // During a search few parts are in flight: the server waits for each of them.
    if (!l->state.pending && l->state.have < l->state.total &&
        l->state.have - l->state.acked < ACK_EVERY_BYTES)
        return false;
    l->state.acked = l->state.have;
    return true;
}

// -- closed ticks

static void receive_block(foliot__lockstep_client *l, const uint8_t *bytes, size_t length,
                          uint32_t ticks, uint64_t first)
{
    if (foliot__block_decode(bytes, length, ticks, &l->block) != FOLIOT_STATUS_OK)
        l->counts.malformed++;
    else
        foliot__block_apply(&l->log, &l->block, first);
}

// Commands are processed before their inputs: a tick whose inputs arrive without the mark of its
// commands would be stepped without them.
static void mark_commands(foliot__lockstep_client *l, uint64_t first, uint32_t ticks,
                          const uint8_t *runs, size_t length)
{
    if (length > 0 && !foliot__command_runs_read(&l->commands, first, first + ticks, runs, length))
        l->counts.malformed++;
}

void foliot__lockstep_client_receive_ticks(foliot__lockstep_client *l,
                                           const foliot__ticks_part *part)
{
    if (!l->state.expected)
        return;
    mark_commands(l, part->first, part->ticks, part->commands, part->commands_length);
    receive_block(l, part->block, part->length, part->ticks, part->first);
}

void foliot__lockstep_client_receive_commands(foliot__lockstep_client *l,
                                              const foliot__commands_part *part)
{
    if (l->state.expected && part->tick >= l->log.first &&
        !foliot__command_log_receive(&l->commands, part))
        l->counts.malformed++;
}

void foliot__lockstep_client_receive_relay(foliot__lockstep_client *l, const uint8_t *bytes,
                                           size_t length)
{
    foliot__relay relay;
    if (length > FOLIOT_PACKET_BYTES_MAX ||
        foliot__relay_decode(bytes, length, &relay) != FOLIOT_STATUS_OK) {
        l->counts.malformed++;
        return;
    }
    l->counts.relay_packets++;
    l->counts.relay_bytes += length;
    l->counts.relay_sizes[length]++;
    uint64_t end = foliot__tick_near(relay.end, l->log.end);
    if (!l->state.expected || relay.ticks > end)
        return;
    mark_commands(l, end - relay.ticks, relay.ticks, relay.runs, relay.runs_length);
    receive_block(l, relay.block, relay.block_length, relay.ticks, end - relay.ticks);
}

// Once the server has compared up to the next checkpoint, no earlier data is needed any more.
static void advance_checkpoints(foliot__lockstep_client *l)
{
    bool pressed = l->log.end - l->log.first > FOLIOT__CLIENT_TICKS / 2;
    if (l->next.valid && (l->checked >= l->next.tick || pressed)) {
        foliot__checkpoint old = l->base;
        l->base = l->next;
        l->next = old;
        l->next.valid = false;
    }
    if (!l->next.valid && l->tick - l->base.tick >= FOLIOT__CHECKPOINT_TICKS)
        save_checkpoint(&l->next, &l->simulation);
    uint64_t first = l->log.first, needed = l->base.valid ? l->base.tick : l->tick;
    foliot__tick_log_forget(&l->log, needed);
    for (; first < needed; first++)
        foliot__command_log_forget(&l->commands, first);
}

bool foliot__lockstep_client_ready(const foliot__lockstep_client *l)
{
    if (!l->begun || !foliot__tick_log_has(&l->log, l->tick))
        return false;
    const foliot__tick_commands *c = foliot__command_log_find(&l->commands, l->tick);
    return !c || foliot__tick_commands_whole(c);
}

bool foliot__lockstep_client_step(foliot__lockstep_client *l)
{
    bool stalled = l->begun && l->tick == l->log.next && l->log.end > l->log.next;
    l->counts.stalls += stalled && !l->counts.stalled;
    l->counts.stalled = stalled;
    if (!foliot__lockstep_client_ready(l))
        return false;
    if (foliot__command_log_read(&l->commands, l->tick, &l->step.commands) != FOLIOT_STATUS_OK)
        l->counts.malformed++; // left out: the server compares digests
    uint32_t count =
        foliot__tick_log_read(&l->log, l->tick, l->step.inputs, FOLIOT__BLOCK_INPUTS_MAX);
    for (uint32_t i = 0; i < count; i++)
        l->step.inputs[i].sequence = ++l->sequences[l->step.inputs[i].player];
    foliot__tick_log_rewrite(&l->log, l->tick,
                             l->step.inputs); // numbered: the step may have to be repeated
    l->step.input_count = count;
    foliot_tick_inputs tick = {l->step.inputs, count, l->step.commands.commands,
                               l->step.commands.count};
    if (foliot_simulation_step_tick(&l->simulation, &tick) != FOLIOT_STATUS_OK)
        l->counts.malformed++; // continues: the server compares digests
    l->tick++;
    foliot_digest digest = foliot_simulation_get_digest(&l->simulation);
    l->history[l->tick % FOLIOT__CLIENT_TICKS] = digest;
    l->digests += foliot__digest_share(l->tick, digest);
    l->counts.ticks_stepped++;
    store_state(l);
    advance_checkpoints(l);
    return true;
}

uint64_t foliot__lockstep_client_backlog(const foliot__lockstep_client *l)
{
    return l->begun ? l->log.next - l->tick : 0;
}

// -- our own inputs

// The deadline of a tick does not depend on when the last packet was sent: there is no feedback
// loop that could oscillate, whatever the round trip.
static void learn_deadline(foliot__lockstep_client *l, double deadline_ns, double tick_ns)
{
    double off = deadline_ns - l->deadline.ns;
    if (!l->deadline.known || fabs(off) > DEADLINE_JUMP_TICKS * tick_ns) {
        l->deadline.known = true;
        l->deadline.ns = deadline_ns;
        l->deadline.deviation_ns = 0;
        return;
    }
    l->deadline.ns += off * DEADLINE_GAIN;
    l->deadline.deviation_ns += (fabs(off) - l->deadline.deviation_ns) * DEADLINE_GAIN;
}

void foliot__lockstep_client_receive_status(foliot__lockstep_client *l, const uint8_t *bytes,
                                            size_t length, uint64_t now_ns, double tick_ns)
{
    foliot__lockstep_status status;
    if (foliot__lockstep_status_decode(bytes, length, &status) != FOLIOT_STATUS_OK) {
        l->counts.malformed++;
        return;
    }
    uint64_t checked = foliot__tick_near(status.checked, l->tick),
             acked = foliot__tick_near(status.acks.next, l->own.log.end);
    if (l->begun && checked > l->checked && checked <= l->tick)
        l->checked = checked;
    // A comparison up to a tick before our initial state belongs to another state.
    l->diverged |= l->begun && status.diverged && checked >= l->start;
    if (l->own.begun && acked >= l->own.acked && acked <= l->own.log.end) {
        l->own.acked = acked;
        l->own.acks = status.acks;
        foliot__tick_log_forget(&l->own.log, acked);
    }
    // Late inputs raise the margin, which decays slowly.
    l->deadline.late_margin_ns =
        fmin(l->deadline.late_margin_ns * LATE_DECAY + (l->deadline.late != status.late) * tick_ns,
             LATE_TICKS_MAX * tick_ns);
    l->deadline.late = status.late;
    l->deadline.missing = status.missing;
    double age_ms = (uint16_t)((uint16_t)(now_ns / 1000000) - status.echo_ms);
    double stamp = (double)foliot__tick_near(status.stamp, l->log.end);
    learn_deadline(l, (double)now_ns - age_ms * 1e6 + status.slack_us * 1e3 - stamp * tick_ns,
                   tick_ns);
    double round_trip_ns = (age_ms - status.held_ms) * 1e6;
    if (round_trip_ns >= 0)
        l->deadline.round_trip_ns +=
            (l->deadline.round_trip_ns > 0 ? 0.1 : 1) * (round_trip_ns - l->deadline.round_trip_ns);
}

bool foliot__lockstep_client_input_time(const foliot__lockstep_client *l, uint64_t now_ns,
                                        double tick_ns, uint32_t input_delay, double *tick)
{
    double margin = MARGIN_TICKS * tick_ns + MARGIN_DEVIATIONS * l->deadline.deviation_ns +
                    l->deadline.late_margin_ns;
    margin = fmax(margin, input_delay * tick_ns - l->deadline.round_trip_ns / 2);
    *tick = ((double)now_ns + margin - l->deadline.ns) / tick_ns;
    return l->deadline.known;
}

uint64_t foliot__lockstep_client_undecided(const foliot__lockstep_client *l)
{
    return l->own.begun && l->own.log.end > l->log.end ? l->own.log.end : l->log.end;
}

uint64_t foliot__lockstep_client_input_tick(const foliot__lockstep_client *l, uint64_t now_ns,
                                            double tick_ns, uint32_t input_delay)
{
    double time;
    bool known = foliot__lockstep_client_input_time(l, now_ns, tick_ns, input_delay, &time);
    double tick = ceil(time);
    uint64_t least = l->own.begun && l->own.log.end > l->log.end ? l->own.log.end - 1 : l->log.end;
    return known && tick > (double)least && tick < (double)least + 1e6 ? (uint64_t)tick : least;
}

// Decides all ticks up to this one: unchanged, except that the controls change with it.
static bool decide_inputs(foliot__lockstep_client *l, uint64_t tick, const foliot_input *controls)
{
    // (Where all have been acknowledged the log is empty, and the tick may be the one before it.)
    if (!l->own.begun ||
        (tick > l->own.log.first && tick - l->own.log.first >= FOLIOT__OWN_TICKS)) {
        foliot__tick_log_clear(&l->own.log, tick);
        l->own.begun = true;
        l->own.acked = tick;
        l->own.acks.count = 0;
    }
    if (tick < l->own.log.end)
        return false;
    for (uint64_t t = l->own.log.end; t < tick; t++)
        foliot__tick_log_put(&l->own.log, t, NULL, 0);
    foliot__tick_log_put(&l->own.log, tick, controls, controls != NULL);
    return controls != NULL;
}

static size_t encode_packet(foliot__lockstep_client *l, uint64_t now_ns, uint64_t tick,
                            uint64_t first, uint64_t end, const uint8_t *block, size_t block_length,
                            uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__lockstep_input packet = {
        .acks = foliot__tick_acks_of(&l->log),
        .behind = (uint32_t)(l->log.next - (l->begun ? l->tick : l->state.tick)),
        .digests = l->begun ? l->digests : 0,
        .ahead = (uint32_t)(tick - l->log.next),
        .sent_ms = (uint16_t)(now_ns / 1000000),
        .shown = foliot__shown_before(tick, l->shown),
        .state = (uint8_t)(l->begun ? l->start : l->state.tick),
        .back = (uint32_t)(tick + 1 - end),
        .ticks = (uint32_t)(end - first),
        .block = block,
        .block_length = block_length,
    };
    size_t length = foliot__lockstep_input_encode(&packet, bytes);
    if (length == SIZE_MAX)
        return 0;
    l->counts.input_packets++;
    l->counts.input_bytes += length;
    l->counts.input_sizes[length]++;
    return length;
}

size_t foliot__lockstep_client_packet(foliot__lockstep_client *l, uint64_t now_ns, uint64_t tick,
                                      foliot__own_inputs own, const foliot_input *controls,
                                      bool *decided, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    uint8_t block[FOLIOT_PACKET_BYTES_MAX / 2];
    uint64_t first = tick + 1;
    size_t length = 0;
    *decided = false;
    if (!l->state.expected)
        return 0;
    if (own == FOLIOT__OWN_NEW)
        *decided = decide_inputs(l, tick, controls);
    uint64_t end = tick + 1;
    if (own == FOLIOT__OWN_REPEATED && l->own.begun && l->own.log.end > 0) {
        tick = l->own.log.end > tick ? l->own.log.end - 1 : tick;
        end = l->own.log.end;
        first = end;
    }
    if (own == FOLIOT__OWN_NEW || (own == FOLIOT__OWN_REPEATED && l->own.begun)) {
        uint64_t from = l->own.acked > l->own.log.first ? l->own.acked : l->own.log.first;
        length = from < end ? foliot__block_of_newest(&l->own.log, from, end, &l->block, block,
                                                      sizeof block, &first)
                            : 0;
        if (length == SIZE_MAX) {
            length = 0;
            first = end;
        }
    }
    return encode_packet(l, now_ns, tick, first, end, block, length, bytes);
}

bool foliot__lockstep_client_own_known(const foliot__lockstep_client *l)
{
    return !l->own.begun || l->own.acked >= l->own.log.end;
}

size_t foliot__lockstep_client_repeat(foliot__lockstep_client *l, uint64_t now_ns,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    uint8_t block[FOLIOT_PACKET_BYTES_MAX / 2];
    uint64_t from, to, next;
    if (!l->own.begun || l->own.acks.count == 0 ||
        (double)(now_ns - l->own.hole_ns) < l->deadline.round_trip_ns + 50e6 ||
        !foliot__tick_hole(&l->own.acks, l->own.acked, 0, &from, &to) || to > l->own.log.end ||
        from < l->own.log.first)
        return 0;
    l->own.hole_ns = now_ns;
    size_t length =
        foliot__block_of_oldest(&l->own.log, from, to, &l->block, block, sizeof block, &next);
    uint64_t tick = l->own.log.end > l->log.end ? l->own.log.end - 1 : l->log.end;
    return length == SIZE_MAX ? 0
                              : encode_packet(l, now_ns, tick, from, next, block, length, bytes);
}
