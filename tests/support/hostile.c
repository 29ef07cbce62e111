// SPDX-License-Identifier: MIT
// hostile.c: see hostile.h.
#include "hostile.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "foliot/divergence.h"
#include "wire/lockstep_message.h"
#include "status.h"

#define SAY_EVERY_NS 50000000u
#define TRICKLE_EVERY_NS 900000000u
#define ACKNOWLEDGE_BYTES 16384u
#define UNASKED_NS 1000000000u
#define CRAM_TICKS 600u // that a server holds controls for

static void connect_again(hostile *h, uint64_t now_ns)
{
    h->connected = h->greeted = h->welcomed = h->gone = h->state_whole = false;
    h->state_tick = UINT64_MAX;
    h->state_have = h->state_bytes = h->state_said = 0;
    if (foliot_transport_connect(h->wire, "127.0.0.1", h->port, now_ns, &h->peer) !=
        FOLIOT_STATUS_OK)
        h->gone = true;
}

void hostile_begin(hostile *h, hostile_kind kind, bool spectates, foliot_transport *wire,
                   uint16_t port, uint64_t now_ns)
{
    static foliot_digest fingerprint; // takes milliseconds
    if ((fingerprint.high | fingerprint.low) == 0)
        fingerprint = foliot_get_fingerprint();
    *h = (hostile){.kind = kind,
                   .spectates = spectates,
                   .wire = wire,
                   .port = port,
                   .salt = now_ns | 1,
                   .stepped = &foliot_world_kind};
    h->fingerprint = fingerprint;
    connect_again(h, now_ns);
}

void hostile_end(hostile *h)
{
    foliot_transport_destroy(h->wire);
    h->wire = NULL;
}

void hostile_leave(hostile *h, uint64_t now_ns)
{
    if (!h->gone)
        foliot_transport_disconnect(h->wire, h->peer, 0, true);
    foliot_transport_flush(h->wire, now_ns);
    h->gone = true;
}

static void send_message(hostile *h, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    FOLIOT_ASSERT(foliot__message_encode(m, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK);
    allow_failure(foliot_transport_send(h->wire, h->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length));
}

static void greet(hostile *h)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.spectates = h->spectates;
    m.as.hello.fingerprint = h->fingerprint;
    m.as.hello.rules = h->stepped->version;
    snprintf(m.as.hello.simulation, sizeof m.as.hello.simulation, "%s", h->stepped->name);
    snprintf(m.as.hello.name, sizeof m.as.hello.name, "mallory");
    send_message(h, &m);
    h->greeted = true;
}

static void acknowledge_state(hostile *h, uint32_t offset)
{
    foliot__message m = {.kind = FOLIOT__KEYFRAME_ACKNOWLEDGE};
    m.as.keyframe_acknowledge.tick = h->state_tick;
    m.as.keyframe_acknowledge.offset = h->state_said = offset;
    send_message(h, &m);
}

static void take_state(hostile *h, const foliot__keyframe_part *part)
{
    h->state_parts++;
    if (part->offset == 0) {
        h->state_tick = h->next = part->tick;
        h->state_have = h->state_said = 0;
        h->state_whole = false;
    }
    h->state_bytes = part->total;
    h->state_have = part->offset + part->length;
    h->state_whole = h->state_have == part->total;
    h->states_whole += h->state_whole;
    bool acknowledges = h->kind == HOSTILE_LIAR || h->kind == HOSTILE_CRAMMER ||
                        h->kind == HOSTILE_DEAF || h->kind == HOSTILE_HOARDER;
    if (acknowledges && (h->state_whole || h->state_have - h->state_said >= ACKNOWLEDGE_BYTES))
        acknowledge_state(h, h->state_have);
}

// Answers each question falsely, in the form that it expects.
static void answer(hostile *h, const foliot__search_message *question)
{
    uint8_t bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__reader r = foliot__reader_of(question->bytes, question->length);
    uint8_t letter = foliot__read_u8(&r);
    foliot__read_u64(&r);
    h->questions++;
    if (letter == 'L') {
        foliot__write_u16(&w, 1);
    } else if (letter == 'R') {
        foliot__read_u8(&r);
        foliot__read_u32(&r);
        uint32_t first = foliot__read_u32(&r), group = foliot__read_u32(&r);
        foliot__write_u32(&w, first + group);
        foliot__write_u8(&w, 1);
    }
    foliot__write_u64(&w, foliot__splitmix64(&h->salt));
    foliot__message m = {.kind = FOLIOT__SEARCH_RESPONSE};
    m.as.search.number = question->number;
    m.as.search.bytes = bytes;
    m.as.search.length = (uint32_t)w.at;
    send_message(h, &m);
}

static void take_control(hostile *h, const uint8_t *bytes, size_t length)
{
    static foliot__message m;
    if (foliot__message_decode(bytes, length, &m) != FOLIOT_STATUS_OK)
        return;
    if (m.kind == FOLIOT__WELCOME && !h->welcomed) {
        h->welcomed = true;
        h->welcomes++;
        h->welcome = m.as.welcome;
    } else if (m.kind == FOLIOT__REFUSE) {
        h->refused = m.as.refuse;
    } else if (m.kind == FOLIOT__KEYFRAME_PART) {
        take_state(h, &m.as.keyframe_part);
    } else if (m.kind == FOLIOT__TICKS_PART && m.as.ticks_part.first <= h->next) {
        h->next = m.as.ticks_part.first + m.as.ticks_part.ticks;
    } else if (m.kind == FOLIOT__SEARCH_REQUEST && h->kind == HOSTILE_LIAR) {
        answer(h, &m.as.search);
    } else if (m.kind == FOLIOT__DIVERGED) {
        h->found++;
    }
}

static void take_packet(hostile *h, const uint8_t *bytes, size_t length)
{
    foliot__relay relay;
    if (foliot__message_is_control(bytes, length)) {
        take_control(h, bytes, length);
    } else if (length && bytes[0] == FOLIOT__RELAY_PACKET &&
               foliot__relay_decode(bytes, length, &relay) == FOLIOT_STATUS_OK) {
        uint64_t end = foliot__tick_near(relay.end, h->next);
        if (end > h->next && end - relay.ticks <= h->next)
            h->next = end;
    }
}

static void receive(hostile *h, uint64_t now_ns)
{
    foliot_transport_event event;
    while (foliot_transport_poll(h->wire, now_ns, &event)) {
        if (event.peer.value != h->peer.value)
            continue;
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED) {
            h->connected = true;
        } else if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED) {
            h->gone = true;
            h->ends++;
        } else {
            h->packets += event.delivery == FOLIOT_DELIVERY_UNRELIABLE;
            h->bytes += event.length;
            if (event.delivery == FOLIOT_DELIVERY_RELIABLE)
                take_control(h, event.bytes, event.length);
            else
                take_packet(h, event.bytes, event.length);
        }
    }
}

static void say(hostile *h, const foliot__lockstep_input *packet)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t length = foliot__lockstep_input_encode(packet, bytes);
    if (length != SIZE_MAX)
        allow_failure(
            foliot_transport_send(h->wire, h->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length));
}

static void lie(hostile *h, uint64_t now_ns)
{
    if (!h->state_whole)
        return;
    say(h, &(foliot__lockstep_input){.acks.next = (uint32_t)h->next,
                                     .digests = foliot__splitmix64(&h->salt),
                                     .state = (uint8_t)h->state_tick,
                                     .sent_ms = (uint16_t)(now_ns / 1000000)});
}

// From the tick that is acknowledged on, in packets as large as they may be.
static void cram(hostile *h, uint64_t now_ns)
{
    static foliot__block block;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX - 64];
    if (!h->state_whole)
        return;
    for (uint32_t ahead = 0; ahead + 32 <= CRAM_TICKS - 64; ahead += 32) {
        block = (foliot__block){.ticks = 32};
        for (uint32_t age = 0; age < block.ticks; age++)
            for (int twice = 0; twice < 2; twice++) {
                foliot_input *input = &block.inputs[block.count];
                block.ages[block.count++] = age;
                input->player = h->welcome.player;
                input->kind = FOLIOT_INPUT_CONTROL;
                input->axes[0] = (int8_t)(twice ? 127 : -127);
            }
        size_t length = foliot__block_encode(&block, bytes, sizeof bytes);
        FOLIOT_ASSERT(length != SIZE_MAX);
        say(h, &(foliot__lockstep_input){.acks.next = (uint32_t)h->next,
                                         .ahead = ahead + block.ticks - 1,
                                         .state = (uint8_t)h->state_tick,
                                         .sent_ms = (uint16_t)(now_ns / 1000000),
                                         .ticks = block.ticks,
                                         .block = bytes,
                                         .block_length = length});
    }
}

// For the last ticks that were closed, four for each.
static void hoard(hostile *h, uint64_t now_ns)
{
    static foliot__block block;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX - 64];
    bool bursts = now_ns / 1000000000u != h->burst && h->state_whole && h->next > 8;
    foliot__lockstep_input packet = {.acks.next = (uint32_t)h->next,
                                     .state = (uint8_t)h->state_tick,
                                     .sent_ms = (uint16_t)(now_ns / 1000000)};
    if (bursts) {
        h->burst = now_ns / 1000000000u;
        block = (foliot__block){.ticks = 8};
        for (uint32_t i = 0; i < 32; i++) {
            foliot_input *input = &block.inputs[block.count];
            block.ages[block.count++] = i / 4;
            *input = (foliot_input){.player = h->welcome.player, .kind = FOLIOT_INPUT_CONTROL};
            for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
                input->axes[k] = (int8_t)((int)(foliot__splitmix64(&h->salt) % 253) - 126);
            input->buttons = (uint16_t)foliot__splitmix64(&h->salt);
        }
        packet.block_length = foliot__block_encode(&block, bytes, sizeof bytes);
        FOLIOT_ASSERT(packet.block_length != SIZE_MAX);
        packet.block = bytes;
        packet.ticks = block.ticks;
        packet.back = 1;
    }
    say(h, &packet);
}

void hostile_update(hostile *h, uint64_t now_ns)
{
    receive(h, now_ns);
    bool returns = h->kind == HOSTILE_LIAR || h->kind == HOSTILE_STORM;
    if (!h->state_whole || h->questions != h->answered)
        h->asked_ns = now_ns;
    h->answered = h->questions;
    bool done =
        h->kind == HOSTILE_STORM ? h->welcomed : h->found > 0 || now_ns - h->asked_ns > UNASKED_NS;
    if (returns && done && !h->gone)
        hostile_leave(h, now_ns);
    if (h->gone && returns) {
        h->found = 0;
        connect_again(h, now_ns);
    }
    if (h->connected && !h->greeted && !h->gone)
        greet(h);
    if (h->kind == HOSTILE_TRICKLE && h->state_have > h->state_said &&
        now_ns - h->trickled_ns >= TRICKLE_EVERY_NS) {
        h->trickled_ns = now_ns;
        acknowledge_state(h, h->state_said + 1);
    }
    if (h->welcomed && !h->gone && now_ns - h->said_ns >= SAY_EVERY_NS) {
        h->said_ns = now_ns;
        if (h->kind == HOSTILE_LIAR)
            lie(h, now_ns);
        else if (h->kind == HOSTILE_DEAF && h->state_whole)
            say(h, &(foliot__lockstep_input){.acks.next = (uint32_t)h->state_tick,
                                             .state = (uint8_t)h->state_tick,
                                             .sent_ms = (uint16_t)(now_ns / 1000000)});
        else if (h->kind == HOSTILE_HOARDER)
            hoard(h, now_ns);
        else if (h->kind == HOSTILE_CRAMMER)
            cram(h, now_ns);
    }
    foliot_transport_flush(h->wire, now_ns);
}
