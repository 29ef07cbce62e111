// SPDX-License-Identifier: MIT
// encoder.c: encodes ticks as records. An input costs bytes only where it differs from the
// prediction by the last inputs.
#include "recording/encoder.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "foliot/status.h"

#include <string.h>

// A tick that makes a block larger than this begins another one.
#define BLOCK_BYTES ((size_t)1 << 20)

// -- commands and orders

void foliot__session_encoder_free(foliot__session_encoder *encoder)
{
    foliot__buffer_free(&encoder->commands);
    foliot__buffer_free(&encoder->orders);
}

void foliot__session_encoder_begin(foliot__session_encoder *encoder, uint64_t tick)
{
    encoder->command_tick = encoder->order_tick = tick;
    encoder->commands.length = encoder->orders.length = 0;
    encoder->command_count = encoder->order_count = 0;
}

bool foliot__session_encoder_fits(const foliot__session_encoder *encoder,
                                  const foliot__recorded_tick *recorded)
{
    uint32_t commands = recorded->inputs.command_count, orders = recorded->order_count;
    size_t bytes = encoder->commands.length + encoder->orders.length;
    return commands <= FOLIOT__RECORDING_BLOCK_COMMANDS_MAX - encoder->command_count &&
           orders <= FOLIOT__RECORDING_BLOCK_ORDERS_MAX - encoder->order_count &&
           (commands + orders == 0 || bytes < BLOCK_BYTES);
}

static void put_varint(foliot__buffer *buffer, uint64_t value)
{
    uint8_t bytes[10];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_varint(&w, value);
    foliot__pack_raw(buffer, bytes, w.at);
}

// Commands of one tick and source whose sequences follow one another.
static void put_run(foliot__session_encoder *encoder, uint64_t tick, const foliot_command *commands,
                    uint32_t count)
{
    uint32_t first = commands[0].sequence;
    bool expected = first == encoder->known.command_sequence;
    put_varint(&encoder->commands, tick - encoder->command_tick);
    put_varint(&encoder->commands, (uint64_t)(count - 1) << FOLIOT__RUN_COUNT | commands[0].source |
                                       (expected ? 0 : FOLIOT__RUN_SEQUENCE));
    if (!expected)
        put_varint(&encoder->commands, first);
    for (uint32_t i = 0; i < count; i++) {
        size_t length = foliot_command_encode(&commands[i], NULL, 0);
        if (encoder->commands.length + length <= encoder->commands.capacity ||
            foliot__buffer_reserve(&encoder->commands,
                                   2 * (encoder->commands.length + length) + 256)) {
            encoder->commands.length += foliot_command_encode(
                &commands[i], encoder->commands.bytes + encoder->commands.length,
                encoder->commands.capacity - encoder->commands.length);
        }
    }
    encoder->command_tick = tick;
    encoder->known.command_sequence = first + count;
}

void foliot__session_encode_tick(foliot__session_encoder *encoder, uint64_t tick,
                                 const foliot__recorded_tick *recorded)
{
    const foliot_command *commands = recorded->inputs.commands;
    uint32_t count = recorded->inputs.command_count;
    for (uint32_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && commands[end].source == commands[from].source &&
                             commands[end].sequence == commands[end - 1].sequence + 1;
             end++) {
        }
        put_run(encoder, tick, commands + from, end - from);
    }
    for (uint32_t i = 0; i < recorded->order_count; i++) {
        if (encoder->no_rules && recorded->orders[i].kind >= FOLIOT_ORDER_AIMED)
            continue;
        uint32_t *known = &encoder->known.order_sequences[recorded->orders[i].player];
        bool expected = recorded->orders[i].sequence == *known;
        put_varint(&encoder->orders, tick - encoder->order_tick);
        put_varint(&encoder->orders, (uint64_t)recorded->orders[i].player << FOLIOT__PLACE_PLAYER |
                                         (unsigned)recorded->orders[i].kind << FOLIOT__PLACE_KIND |
                                         (expected ? 0 : FOLIOT__PLACE_SEQUENCE));
        if (!expected)
            put_varint(&encoder->orders, recorded->orders[i].sequence);
        put_varint(&encoder->orders, recorded->orders[i].length);
        foliot__pack_raw(&encoder->orders, recorded->orders[i].bytes, recorded->orders[i].length);
        encoder->order_tick = tick;
        *known = recorded->orders[i].sequence + 1;
        encoder->order_count++;
    }
    encoder->command_count += count;
}

// -- inputs and digests

bool foliot__recording_encoder_init(foliot__recording_encoder *encoder, uint64_t tick,
                                    uint32_t digest_every, uint32_t digest_bytes)
{
    *encoder = (foliot__recording_encoder){.first_tick = tick,
                                           .tick = tick,
                                           .digest_every = digest_every,
                                           .digest_bytes = digest_bytes};
    foliot__session_encoder_begin(&encoder->session, tick);
    return foliot__buffer_reserve(&encoder->entries, 16384) &&
           foliot__buffer_reserve(&encoder->digests, 16384) &&
           foliot__buffer_reserve(&encoder->payload, 65536);
}

void foliot__recording_encoder_free(foliot__recording_encoder *encoder)
{
    foliot__buffer_free(&encoder->entries);
    foliot__buffer_free(&encoder->digests);
    foliot__buffer_free(&encoder->payload);
    foliot__buffer_free(&encoder->record);
    foliot__buffer_free(&encoder->notes);
    foliot__buffer_free(&encoder->messages);
    foliot__session_encoder_free(&encoder->session);
}

void foliot__recording_encoder_reset(foliot__recording_encoder *encoder)
{
    FOLIOT_ASSERT(encoder->tick == encoder->first_tick);
    memset(encoder->players, 0, sizeof encoder->players);
    memset(encoder->input_tick, 0, sizeof encoder->input_tick);
    memset(&encoder->session.known, 0, sizeof encoder->session.known);
    encoder->player_count = 0;
}

static void put_value(foliot__recording_encoder *encoder, int64_t value)
{
    foliot__pack_int(&encoder->entries, value);
    encoder->entry_values++;
}

static void put_place(foliot__recording_encoder *encoder, uint32_t player, unsigned code)
{
    put_value(encoder, (int64_t)(encoder->tick - encoder->entry_tick));
    put_value(encoder, (int64_t)player * FOLIOT__RECORDING_CODES + code);
    encoder->entry_tick = encoder->tick;
}

// `last`: the player has no other input in this tick.
static void put_input(foliot__recording_encoder *encoder, const foliot_input *input, bool last)
{
    foliot__recording_player *player = &encoder->players[input->player];
    // The prediction: a player with an input in one tick has one in the next.
    bool steady = player->streams || encoder->input_tick[input->player] == encoder->tick;
    unsigned mask = 0, code = last && steady ? FOLIOT__RECORDING_STREAM : FOLIOT__RECORDING_CONTROL;
    if (input->kind == FOLIOT_INPUT_JOIN)
        code = FOLIOT__RECORDING_JOIN;
    else if (input->kind == FOLIOT_INPUT_LEAVE)
        code = FOLIOT__RECORDING_LEAVE;
    for (unsigned i = 0; i < FOLIOT_AXIS_COUNT; i++)
        mask |= input->axes[i] != player->axes[i] ? 1u << i : 0;
    mask |= input->buttons != player->buttons ? FOLIOT__RECORDING_MASK_BUTTONS : 0;
    mask |= input->sequence != player->sequence ? FOLIOT__RECORDING_MASK_SEQUENCE : 0;
    put_place(encoder, input->player, code);
    put_value(encoder, mask);
    for (unsigned i = 0; i < FOLIOT_AXIS_COUNT; i++)
        if (mask >> i & 1)
            put_value(encoder, input->axes[i]);
    if (mask & FOLIOT__RECORDING_MASK_BUTTONS)
        put_value(encoder, input->buttons);
    if (mask & FOLIOT__RECORDING_MASK_SEQUENCE)
        put_value(encoder, input->sequence);
    player->sequence = input->sequence + 1;
    memcpy(player->axes, input->axes, sizeof player->axes);
    player->buttons = input->buttons;
    player->streams = code == FOLIOT__RECORDING_STREAM;
}

static void encode_player(foliot__recording_encoder *encoder, const foliot_input *inputs,
                          uint32_t count, uint32_t index)
{
    foliot__recording_player *player = &encoder->players[index];
    if (count == 0 && player->streams) {
        put_place(encoder, index, FOLIOT__RECORDING_NONE);
        player->streams = false;
    } else if (count == 1 && player->streams && inputs->kind == FOLIOT_INPUT_CONTROL &&
               inputs->sequence == player->sequence && inputs->buttons == player->buttons &&
               memcmp(inputs->axes, player->axes, sizeof player->axes) == 0) {
        player->sequence++;
    } else {
        for (uint32_t i = 0; i < count; i++)
            put_input(encoder, &inputs[i], i + 1 == count);
    }
    if (count)
        encoder->input_tick[index] = encoder->tick + 1;
}

bool foliot__recording_encode_tick(foliot__recording_encoder *encoder,
                                   const foliot__recorded_tick *recorded, foliot_digest digest)
{
    const foliot_input *inputs = recorded->inputs.inputs;
    uint32_t count = recorded->inputs.input_count;
    if (encoder->tick - encoder->first_tick >= FOLIOT__RECORDING_BLOCK_TICKS_MAX ||
        count > FOLIOT__RECORDING_BLOCK_INPUTS_MAX - encoder->input_count ||
        !foliot__session_encoder_fits(&encoder->session, recorded))
        return false;
    if (encoder->tick == encoder->first_tick)
        encoder->entry_tick = encoder->tick;
    encoder->input_count += count;
    if (count && inputs[count - 1].player >= encoder->player_count)
        encoder->player_count = inputs[count - 1].player + 1;
    for (uint32_t player = 0, at = 0; player < encoder->player_count; player++) {
        uint32_t end = at;
        while (end < count && inputs[end].player == player)
            end++;
        encode_player(encoder, inputs + at, end - at, player);
        at = end;
    }
    foliot__session_encode_tick(&encoder->session, encoder->tick, recorded);
    encoder->tick++;
    if (encoder->tick % encoder->digest_every == 0) {
        uint8_t bytes[16];
        foliot__recording_digest_bytes(digest, bytes);
        if (encoder->digests.length == 0)
            encoder->digest_first = encoder->tick;
        foliot__pack_raw(&encoder->digests, bytes, encoder->digest_bytes);
    }
    return true;
}

// Entries of commands or of orders, if there are any.
static void encode_entries(foliot__recording_encoder *encoder, unsigned type,
                           const foliot__buffer *entries)
{
    if (entries->length == 0)
        return;
    foliot__pack_array(&encoder->payload, 3);
    foliot__pack_uint(&encoder->payload, type);
    foliot__pack_uint(&encoder->payload, encoder->first_tick);
    foliot__pack_bin(&encoder->payload, entries->bytes, (uint32_t)entries->length);
}

void foliot__recording_encode_block(foliot__recording_encoder *encoder, size_t *input_bytes,
                                    size_t *digest_bytes)
{
    encoder->payload.length = 0;
    if (encoder->entry_values) {
        foliot__pack_array(&encoder->payload, 2 + encoder->entry_values);
        foliot__pack_uint(&encoder->payload, FOLIOT__RECORDING_INPUTS);
        foliot__pack_uint(&encoder->payload, encoder->first_tick);
        foliot__pack_raw(&encoder->payload, encoder->entries.bytes, encoder->entries.length);
    }
    encode_entries(encoder, FOLIOT__RECORDING_COMMANDS, &encoder->session.commands);
    encode_entries(encoder, FOLIOT__RECORDING_ORDERS, &encoder->session.orders);
    *input_bytes = encoder->payload.length;
    if (encoder->digests.length) {
        foliot__pack_array(&encoder->payload, 5);
        foliot__pack_uint(&encoder->payload, FOLIOT__RECORDING_DIGESTS);
        foliot__pack_uint(&encoder->payload, encoder->digest_first);
        foliot__pack_uint(&encoder->payload, encoder->digest_every);
        foliot__pack_uint(&encoder->payload, encoder->digest_bytes);
        foliot__pack_bin(&encoder->payload, encoder->digests.bytes,
                         (uint32_t)encoder->digests.length);
    }
    *digest_bytes = encoder->payload.length - *input_bytes;
    if (encoder->notes.length)
        foliot__pack_raw(&encoder->payload, encoder->notes.bytes, encoder->notes.length);
    if (encoder->messages.length)
        foliot__pack_raw(&encoder->payload, encoder->messages.bytes, encoder->messages.length);
    encoder->payload.failed |= encoder->entries.failed || encoder->digests.failed ||
                               encoder->notes.failed || encoder->messages.failed ||
                               encoder->session.commands.failed || encoder->session.orders.failed;
    encoder->first_tick = encoder->tick;
    foliot__session_encoder_begin(&encoder->session, encoder->tick);
    encoder->entries.length = encoder->digests.length = 0;
    encoder->notes.length = encoder->messages.length = 0;
    encoder->entry_values = encoder->input_count = encoder->message_count = 0;
}

static void pack_digest(foliot__buffer *out, foliot_digest digest)
{
    uint8_t bytes[16];
    foliot__recording_digest_bytes(digest, bytes);
    foliot__pack_bin(out, bytes, sizeof bytes);
}

#define RULES_KEYS 4 // with FOLIOT_RECORDING_RULES

// Features and the writer's version come first, where readers of every format find them.
static void pack_head(foliot__buffer *out, uint32_t keys, uint32_t features)
{
    foliot__pack_array(out, 2);
    foliot__pack_uint(out, FOLIOT__RECORDING_HEADER);
    foliot__pack_map(out, 2 + keys + (features & FOLIOT_RECORDING_RULES ? RULES_KEYS : 0));
    foliot__pack_str(out, "features");
    foliot__pack_array(out, (uint32_t)__builtin_popcount(features));
    for (uint32_t left = features; left; left &= left - 1)
        foliot__pack_str(out, foliot__recording_feature_name(left & -left));
    foliot__pack_str(out, "version");
    foliot__pack_str(out, foliot_get_version());
}

static void pack_build(foliot__buffer *out, uint64_t tick, foliot_digest fingerprint)
{
    foliot__pack_str(out, "tick");
    foliot__pack_uint(out, tick);
    foliot__pack_str(out, "fingerprint");
    pack_digest(out, fingerprint);
    foliot__pack_str(out, "build");
    foliot__pack_str(out, foliot_get_build());
}

// Name, version and text of the session's rules, for readers and for a later run.
static void pack_rules(foliot__buffer *out, const foliot_recording_rules *rules)
{
    foliot__pack_str(out, "rules_name");
    foliot__pack_str(out, rules->name);
    foliot__pack_str(out, "rules_version");
    foliot__pack_uint(out, rules->version);
    foliot__pack_str(out, "rules_text");
    foliot__pack_bin(out, rules->text, rules->text ? (uint32_t)rules->text_bytes : 0);
    foliot__pack_str(out, "rules_build");
    foliot__pack_str(out, rules->build ? rules->build : "");
}

void foliot__recording_encode_foreign_head(foliot__buffer *out, const foliot_simulation *simulation,
                                           uint64_t tick, foliot_digest fingerprint,
                                           uint32_t features, const foliot_recording_rules *rules)
{
    pack_head(out, 6, features);
    foliot__pack_str(out, "simulation");
    foliot__pack_str(out, simulation->kind->name);
    foliot__pack_str(out, "simulation_version");
    foliot__pack_uint(out, simulation->kind->version);
    foliot__pack_str(out, "setup");
    foliot__pack_bin(out, simulation->setup, (uint32_t)simulation->setup_bytes);
    pack_build(out, tick, fingerprint);
    if (features & FOLIOT_RECORDING_RULES)
        pack_rules(out, rules);
}

void foliot__recording_encode_head(foliot__buffer *out, const foliot__recording_head *head)
{
    pack_head(out, 8, head->features);
    foliot__pack_str(out, "scene");
    foliot__pack_bin(out, head->scene, head->scene_bytes);
    foliot__pack_str(out, "integrator");
    foliot__pack_str(out, head->integrator);
    foliot__pack_str(out, "dt");
    foliot__pack_f64(out, head->dt);
    foliot__pack_str(out, "seed");
    foliot__pack_uint(out, head->seed);
    const foliot_world_config *c = head->capacities;
    const uint32_t capacities[] = {c->bodies_max,   c->forces_max,  c->constraints_max,
                                   c->contacts_max, c->players_max, c->spawns_max};
    foliot__pack_str(out, "capacities");
    foliot__pack_array(out, sizeof capacities / sizeof capacities[0]);
    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++)
        foliot__pack_uint(out, capacities[i]);
    pack_build(out, head->tick, head->fingerprint);
    if (head->features & FOLIOT_RECORDING_RULES)
        pack_rules(out, head->rules);
}

void foliot__recording_encode_keyframe(foliot__buffer *out, uint64_t tick, foliot_digest digest,
                                       foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                       uint32_t count)
{
    size_t length = foliot__keyframe_compress(encoder, bytes, count);
    foliot__pack_array(out, length ? 6 : 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_KEYFRAME);
    foliot__pack_uint(out, tick);
    pack_digest(out, digest);
    foliot__pack_uint(out, length ? FOLIOT__RECORDING_ZSTD : FOLIOT__RECORDING_RAW);
    foliot__pack_bin(out, length ? encoder->packed : bytes, length ? (uint32_t)length : count);
    if (length)
        foliot__pack_uint(out, count);
}

void foliot__recording_encode_closing(foliot__buffer *out, uint64_t tick, foliot_digest digest,
                                      const uint64_t (*index)[2], uint32_t index_count,
                                      uint64_t block_offset)
{
    foliot__pack_array(out, 3);
    foliot__pack_uint(out, FOLIOT__RECORDING_CLOSING);
    foliot__pack_uint(out, tick);
    pack_digest(out, digest);
    foliot__pack_array(out, 1 + 2 * index_count);
    foliot__pack_uint(out, FOLIOT__RECORDING_INDEX);
    uint64_t at[2] = {0, 0};
    for (uint32_t i = 0; i < index_count; i++) {
        foliot__pack_uint(out, index[i][0] - at[0]);
        foliot__pack_uint(out, index[i][1] - at[1]);
        at[0] = index[i][0];
        at[1] = index[i][1];
    }
    foliot__pack_array(out, 2);
    foliot__pack_uint(out, FOLIOT__RECORDING_END);
    foliot__pack_u64_fixed(out, block_offset);
}

void foliot__recording_encode_rules(foliot__buffer *out, uint64_t tick, foliot_digest keyframe,
                                    foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                    uint32_t count)
{
    size_t length = foliot__keyframe_compress(encoder, bytes, count);
    foliot__pack_array(out, length ? 6 : 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_STATE);
    foliot__pack_uint(out, tick);
    foliot__pack_uint(out, length ? FOLIOT__RECORDING_ZSTD : FOLIOT__RECORDING_RAW);
    foliot__pack_bin(out, length ? encoder->packed : bytes, length ? (uint32_t)length : count);
    if (length)
        foliot__pack_uint(out, count);
    pack_digest(out, foliot__recording_rules_digest(keyframe, bytes, count));
}

void foliot__recording_encode_message(foliot__buffer *out, uint64_t tick, uint32_t player,
                                      bool reliable, const void *bytes, uint32_t count)
{
    foliot__pack_array(out, 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_MESSAGE);
    foliot__pack_uint(out, tick);
    foliot__pack_uint(out, player);
    foliot__pack_uint(out, reliable);
    foliot__pack_bin(out, bytes, count);
}

void foliot__recording_encode_note(foliot__buffer *out, uint64_t tick, const char *what,
                                   const char *text)
{
    foliot__pack_array(out, 4);
    foliot__pack_uint(out, FOLIOT__RECORDING_NOTE);
    foliot__pack_uint(out, tick);
    foliot__pack_str(out, what);
    foliot__pack_str(out, text);
}
