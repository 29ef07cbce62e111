// SPDX-License-Identifier: MIT
// fuzz_interest.c: any bytes as what watchers of a session with interest say, at any moment: their
// acknowledgements and focuses (packet 28), and which packets reached them. Nothing beyond `far`
// travels but that it left, budgets hold, memory is bounded, and an honest client next to hostile
// ones understands each of its packets.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../client/lib/watch/tracks.h"
#include "../../server/lib/interest_view.h"
#include "base/assert.h"
#include "net/transport.h"
#include "wire/partial_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_BODIES 96
#define FUZZ_KEPT 128 // snapshots
#define FUZZ_FAR 20.0
#define FUZZ_KBIT 64
#define FUZZ_TICKS 600
#define FUZZ_SECOND 60
#define FUZZ_BYTES_MAX (64u << 10) // of a watcher

static const foliot_snapshot_format fuzz_format = {.position_step = 0x1p-9,
                                                   .velocity_step = 0x1p-11,
                                                   .acceleration = {0, 0, -357},
                                                   .damping = 65536,
                                                   .rotates = true,
                                                   .bodies_max = FUZZ_BODIES};

typedef struct fuzz_input {
    const uint8_t *data;
    size_t size;
} fuzz_input;

typedef struct fuzz_world {
    foliot_scene scene;
    foliot_body_definition definitions[FUZZ_BODIES / 2]; // the others come and go
    foliot_snapshot snapshots[FUZZ_KEPT];
    foliot_snapshot_body bodies[FUZZ_KEPT][FUZZ_BODIES];
    foliot__interest_map *map;
    uint64_t tick;
} fuzz_world;

// A watcher that says anything, and one that says what came.
typedef struct fuzz_watcher {
    foliot__interest_view *view;
    foliot__tracks *tracks; // NULL: lies
    uint32_t sent[FUZZ_SECOND];
} fuzz_watcher;

static uint8_t take(fuzz_input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

static const foliot_snapshot *find(const void *user, uint64_t tick)
{
    const fuzz_world *w = user;
    const foliot_snapshot *s = &w->snapshots[tick % FUZZ_KEPT];
    return s->tick == tick ? s : NULL;
}

// Bodies on a line, 1 m apart; a byte moves, stops, kills or makes one.
static void advance(fuzz_world *w, uint8_t what)
{
    const foliot_snapshot *before = find(w, w->tick);
    foliot_snapshot *now = &w->snapshots[(w->tick + 1) % FUZZ_KEPT];
    now->tick = ++w->tick;
    memcpy(now->bodies, before->bodies, FUZZ_BODIES * sizeof *now->bodies);
    foliot_snapshot_body *body = &now->bodies[what % FUZZ_BODIES];
    for (uint32_t i = 0; i < FUZZ_BODIES; i++)
        for (int k = 0; k < 3; k++)
            now->bodies[i].position[k] += now->bodies[i].velocity[k] / 4;
    if (what & 128)
        *body = (foliot_snapshot_body){.generation = (uint8_t)(body->generation + 1),
                                       .flags = body->flags ? 0 : FOLIOT_SNAPSHOT_ALIVE};
    else if (body->flags && body->velocity[0])
        body->velocity[0] = body->velocity[1] = 0;
    else if (body->flags)
        body->velocity[0] = (what % 5 - 2) * 100, body->velocity[1] = what % 7 * 30;
    foliot__interest_map_update(w->map, now, before);
}

static void begin_world(fuzz_world *w)
{
    const foliot_interest interest = {.near = 4, .far = FUZZ_FAR, .budget_kbit = FUZZ_KBIT};
    w->scene = foliot_scene_default();
    w->scene.bodies = w->definitions;
    w->scene.body_count = FUZZ_BODIES / 2;
    for (uint32_t i = 0; i < FUZZ_KEPT; i++)
        w->snapshots[i] = (foliot_snapshot){.tick = UINT64_MAX,
                                            .count = FUZZ_BODIES,
                                            .capacity = FUZZ_BODIES,
                                            .bodies = w->bodies[i]};
    for (uint32_t i = 0; i < FUZZ_BODIES; i++) {
        foliot_snapshot_body *body = &w->bodies[0][i];
        *body = (foliot_snapshot_body){.flags = FOLIOT_SNAPSHOT_ALIVE,
                                       .position = {(int32_t)(i << 9)},
                                       .orientation = {256, 256, 256}};
        if (i >= FUZZ_BODIES / 2)
            continue;
        w->definitions[i] = foliot_body_definition_default();
        w->definitions[i].position[0] = i;
    }
    w->snapshots[0].tick = w->tick = 0;
    FOLIOT_ASSERT(foliot__interest_map_create(&interest, &w->scene, &fuzz_format, FUZZ_SECOND, 1,
                                              &w->map) == FOLIOT_STATUS_OK);
    foliot__interest_map_update(w->map, &w->snapshots[0], NULL);
}

static void check_packet(const fuzz_world *w, fuzz_watcher *f, size_t length)
{
    uint64_t sum = 0;
    f->sent[w->tick % FUZZ_SECOND] = length ? (uint32_t)length + FOLIOT__TRANSPORT_OVERHEAD : 0;
    for (int i = 0; i < FUZZ_SECOND; i++)
        sum += f->sent[i];
    FOLIOT_ASSERT(sum <= FUZZ_KBIT * 125);
    FOLIOT_ASSERT(foliot__interest_view_get_bytes(f->view) <= FUZZ_BYTES_MAX);
    for (uint32_t i = 0; length > 0 && i < w->map->packing.item_count; i++) {
        const foliot__partial_item *item = &w->map->packing.items[i];
        const foliot_snapshot_body *is = &find(w, w->tick)->bodies[item->slot];
        FOLIOT_ASSERT(item->leaves ||
                      (is->flags && distance_squared(w->map, f->view->focus, is->position) <=
                                        FUZZ_FAR * FUZZ_FAR));
    }
}

// The server's packets to it in this tick, and, if they arrive, its answers.
static void serve(const fuzz_world *w, fuzz_watcher *f, uint32_t own, bool arrives, bool answers)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    uint64_t tick;
    const foliot__interest_look look = {.snapshot = find(w, w->tick),
                                        .own = own,
                                        .overhead = FOLIOT__TRANSPORT_OVERHEAD,
                                        .now_ns = 1000000000u + w->tick * 1000000000u / FUZZ_SECOND,
                                        .round_trip_ns = 50000000,
                                        .find = find,
                                        .user = w};
    foliot__interest_look_at(f->view, &look);
    size_t length = foliot__interest_pack(w->map, f->view, &look, bytes);
    check_packet(w, f, length);
    if (!f->tracks || length == 0 || !arrives)
        return;
    f->tracks->received += length;
    foliot__tracks_taken taken = foliot__tracks_receive(f->tracks, bytes, length, &tick);
    FOLIOT_ASSERT(taken == FOLIOT__TRACKS_TAKEN && tick == w->tick);
    foliot__partial_acknowledge packet = {0};
    foliot__tracks_acknowledge(f->tracks, &packet);
    if (answers)
        foliot__interest_acknowledge(w->map, f->view, &packet);
}

// Raw bytes, as the server reads them; or an acknowledgement near what was sent.
static void lie(const fuzz_world *w, fuzz_watcher *f, fuzz_input *in)
{
    foliot__partial_acknowledge packet = {0};
    uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES + 1] = {FOLIOT__PARTIAL_ACKNOWLEDGE_PACKET};
    uint8_t how = take(in);
    if (how & 1) {
        packet.newest = f->view->next_sequence - 1 - (how >> 1) % 80;
        for (int i = 0; i < 8; i++)
            packet.before = packet.before << 8 | take(in);
    } else {
        size_t length = 1 + (how >> 1) % FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES;
        for (size_t i = 1; i < length; i++)
            bytes[i] = take(in);
        if (foliot__partial_acknowledge_decode(bytes, length, &packet) != FOLIOT_STATUS_OK)
            return;
    }
    foliot__interest_acknowledge(w->map, f->view, &packet);
    if (packet.has_focus)
        foliot__interest_focus(f->view, packet.focus);
    FOLIOT_ASSERT(foliot__interest_view_get_bytes(f->view) <= FUZZ_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, size};
    fuzz_world *w = calloc(1, sizeof *w);
    fuzz_watcher liar = {0}, honest = {0};
    FOLIOT_ASSERT(w);
    begin_world(w);
    FOLIOT_ASSERT(foliot__interest_view_create(w->map, &liar.view) == FOLIOT_STATUS_OK &&
                  foliot__interest_view_create(w->map, &honest.view) == FOLIOT_STATUS_OK &&
                  foliot__tracks_create(&fuzz_format, 1.0 / FUZZ_SECOND, 0, &honest.tracks) ==
                      FOLIOT_STATUS_OK);
    for (int i = 0; i < FUZZ_TICKS && in.size > 0; i++) {
        uint8_t what = take(&in);
        advance(w, take(&in));
        serve(w, &liar, FOLIOT_NO_BODY, true, true);
        serve(w, &honest, 7, what & 2, what & 4);
        if (what & 1)
            lie(w, &liar, &in);
    }
    foliot__interest_view_destroy(liar.view);
    foliot__interest_view_destroy(honest.view);
    foliot__tracks_destroy(honest.tracks);
    foliot__interest_map_destroy(w->map);
    free(w);
    return 0;
}
