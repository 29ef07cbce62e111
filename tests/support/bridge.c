// SPDX-License-Identifier: MIT
// bridge.c: see bridge.h.
#include "bridge.h"

#include "base/assert.h"
#include "net/transport.h"
#include "status.h"

void bridge_open(bridge *b, foliot_hub *hub, uint16_t port, foliot_queues *queues, uint64_t now_ns)
{
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.port = port;
    config.peers_max = BRIDGE_PEERS;
    *b = (bridge){.queues = queues};
    demand(foliot_transport_create_memory(hub, &config, now_ns, &b->listener));
}

static void drop(bridge *b, unsigned i)
{
    b->count--;
    b->near[i] = b->near[b->count];
    b->far[i] = b->far[b->count];
    b->stopped[i] = b->stopped[b->count];
}

static void carry_event(bridge *b, const foliot_transport_event *e, uint64_t now_ns)
{
    unsigned i = 0;
    while (i < b->count && b->far[i].value != e->peer.value)
        i++;
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED) {
        FOLIOT_ASSERT(i < BRIDGE_PEERS);
        demand(foliot_queues_join(
            b->queues, "bridge",
            b->address_key ? b->address_key
                           : foliot__transport_get_peer_address_key(b->listener, e->peer),
            b->identity, now_ns, &b->near[i]));
        b->far[i] = e->peer;
        b->stopped[i] = false;
        b->count++;
    } else if (i < b->count && e->kind == FOLIOT_TRANSPORT_RECEIVED) {
        allow_failure(foliot_queues_put(b->queues, b->near[i], e->delivery, e->bytes, e->length,
                                        e->arrived_ns));
    } else if (i < b->count) {
        foliot_queues_leave(b->queues, b->near[i], e->reason);
        drop(b, i);
    }
}

// False: it has ended.
static bool carry_out(bridge *b, unsigned i, uint64_t now_ns)
{
    foliot_queues_packet packet;
    while (foliot_queues_read(b->queues, b->near[i], now_ns, &packet)) {
        if (packet.ended) {
            foliot_transport_disconnect(b->listener, b->far[i], packet.reason, false);
            foliot_queues_leave(b->queues, b->near[i], 0);
            foliot_queues_release(&packet);
            return false;
        }
        allow_failure(foliot_transport_send(b->listener, b->far[i], packet.delivery, packet.bytes,
                                            packet.length));
        foliot_queues_release(&packet);
    }
    return true;
}

void bridge_carry(bridge *b, uint64_t now_ns)
{
    foliot_transport_event event;
    while (foliot_transport_poll(b->listener, now_ns, &event))
        carry_event(b, &event, now_ns);
    while (foliot_queues_next(b->queues).value)
        ;
    for (unsigned i = 0; i < b->count;)
        if (b->stopped[i] || carry_out(b, i, now_ns))
            i++;
        else
            drop(b, i);
    foliot_transport_flush(b->listener, now_ns);
}

void bridge_close(bridge *b)
{
    foliot_queues_close(b->queues);
    foliot_transport_destroy(b->listener);
}
