// SPDX-License-Identifier: MIT
// fuzz_recording.c: hostile recordings. The bytes as they are, and once more with every checksum
// made right, and with the digests of keyframes too, so that what lies behind them is reached.
// Nothing may crash, and nothing that is not whole may match.
#include "base/pack.h"
#include "foliot/foliot.h"
#include "sim/world/state_io.h"
#include "mend_recording.h"
#include "recording/keyframe_codec.h"
#include "status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_MAX 200
#define BODIES_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Everything that is given out is valid.
static void look_at_session(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    for (uint64_t tick = about->first_tick; tick < about->last_tick; tick++) {
        const foliot_command *commands;
        const foliot_order *orders;
        uint32_t count;
        size_t length;
        if (foliot_replay_get_commands(replay, tick, &commands, &count) != FOLIOT_STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++)
            if (!foliot_command_valid(&commands[i], NULL) ||
                (i && commands[i].sequence <= commands[i - 1].sequence))
                abort();
        if (foliot_replay_get_orders(replay, tick, &orders, &count) != FOLIOT_STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++)
            if (orders[i].player >= FOLIOT_PLAYERS_MAX || orders[i].length > FOLIOT_ORDER_BYTES_MAX)
                abort();
        foliot_replay_get_rules_state(replay, tick, &length);
    }
}

static void walk_about(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    const foliot_input *inputs;
    uint32_t count;
    uint8_t digest[16];
    size_t length;
    if (foliot_world_get_body_count(foliot_replay_get_world(replay)) > BODIES_MAX)
        return;
    for (int i = 0; i < TICKS_MAX && foliot_replay_step(replay) == FOLIOT_STATUS_OK; i++)
        ;
    for (int i = 0; i < 3; i++)
        allow_failure(foliot_replay_step_back(replay));
    if (about->last_tick - about->first_tick > TICKS_MAX)
        return;
    allow_failure(foliot_replay_seek(replay, about->last_tick));
    allow_failure(foliot_replay_get_inputs(replay, about->first_tick, &inputs, &count));
    foliot_replay_get_digest(replay, about->last_tick, digest);
    foliot_replay_get_keyframe(replay, about->last_tick, &length);
    look_at_session(replay);
    foliot_verdict verdict;
    foliot_status status = foliot_replay_verify(replay, NULL, &verdict);
    if (status == FOLIOT_STATUS_OK && verdict.status == FOLIOT_STATUS_OK && !about->closed)
        abort(); // a match without its end
}

static void try_bytes(const uint8_t *data, size_t size)
{
    foliot_replay *replay;
    if (foliot_replay_open_bytes(data, size, NULL, &replay, NULL) != FOLIOT_STATUS_OK)
        return;
    allow_failure(foliot_replay_scan(replay));
    if (!foliot_replay_get_simulation(replay)->self) { // of a kind that nobody here knows
        foliot_replay_close(replay);
        return;
    }
    walk_about(replay);
    foliot_replay_close(replay);
}

// A zstd frame and the size of the state behind it.
static void mend_packed(const foliot_world *world, const uint8_t *frame, size_t length,
                        uint8_t digest_bytes[16])
{
    static uint8_t state[65536];
    foliot_digest digest;
    foliot__reader r = foliot__reader_of(frame, length);
    for (size_t at = length > 9 ? length - 9 : 0; at < length; at++) {
        r.at = at;
        r.status = FOLIOT_STATUS_OK;
        uint64_t size = foliot__unpack_uint(&r);
        if (r.status == FOLIOT_STATUS_OK && r.at == length && size <= sizeof state &&
            foliot__keyframe_decompress(frame, at, state, (size_t)size) == FOLIOT_STATUS_OK &&
            foliot__captured_digest(world, state, (size_t)size, &digest) == FOLIOT_STATUS_OK)
            foliot__recording_digest_bytes(digest, digest_bytes);
    }
}

static void mend_keyframe(const foliot_world *world, uint8_t *block, uint32_t length)
{
    static const uint8_t widths[] = {1, 2, 4, 8};
    uint8_t *payload = block + FOLIOT__RECORDING_BLOCK_BYTES;
    foliot_digest digest;
    if (length < 40 || (payload[0] != 0x95 && payload[0] != 0x96) ||
        payload[1] != FOLIOT__RECORDING_KEYFRAME || payload[2] > 0xcf)
        return;
    size_t at = payload[2] < 0x80    ? 3
                : payload[2] >= 0xcc ? 3u + widths[payload[2] - 0xcc]
                                     : length;
    if (at + 20 > length || payload[at + 19] < 0xc4 || payload[at + 19] > 0xc6)
        return;
    size_t state = at + 20 + widths[payload[at + 19] - 0xc4];
    if (state <= length && payload[0] == 0x96)
        mend_packed(world, payload + state, length - state, payload + at + 2);
    else if (state <= length && foliot__captured_digest(world, payload + state, length - state,
                                                        &digest) == FOLIOT_STATUS_OK)
        foliot__recording_digest_bytes(digest, payload + at + 2);
}

// Digests of keyframes, where the keyframe is all of its block.
static void mend_keyframes(uint8_t *bytes, size_t size)
{
    foliot_replay *replay;
    if (foliot_replay_open_bytes(bytes, size, NULL, &replay, NULL) != FOLIOT_STATUS_OK)
        return;
    const foliot_world *world = foliot_replay_get_world(replay);
    for (size_t at = FOLIOT__RECORDING_START_BYTES;
         world && size - at >= FOLIOT__RECORDING_BLOCK_BYTES;) {
        uint32_t length = take_u32(bytes + at + 4);
        mend_keyframe(world, bytes + at, length);
        at += FOLIOT__RECORDING_BLOCK_BYTES + length;
    }
    foliot_replay_close(replay);
    mend(bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    try_bytes(copy, size);
    mend_keyframes(copy, size);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
