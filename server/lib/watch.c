// SPDX-License-Identifier: MIT
// watch.c: what is refused of a hostile network reaches the log: each counter at its first, tenth,
// hundredth count and so on, looked at once a second, so that an attack can neither hide nor fill
// the disk.
#include "peer.h"
#include "session.h"

#include "foliot/transport.h"

#define WATCH_EVERY_NS 1000000000u

#define WATCHED_TRANSPORT(X)                                                                       \
    X(datagrams_dropped_source)                                                                    \
    X(datagrams_dropped_cookie)                                                                    \
    X(datagrams_dropped_unproven)                                                                  \
    X(datagrams_dropped_malformed)                                                                 \
    X(datagrams_dropped_fragment)                                                                  \
    X(service_errors)                                                                              \
    X(connects_refused)                                                                            \
    X(connects_over_address)                                                                       \
    X(connects_too_fast)
#define WATCHED_SERVER(X)                                                                          \
    X(messages_malformed)                                                                          \
    X(messages_unexpected)                                                                         \
    X(inputs_refused)                                                                              \
    X(refusals_reserved)                                                                           \
    X(refusals_over_address)                                                                       \
    X(events_dropped)

static void watch_counter(foliot_server *server, uint32_t at, const char *name, uint64_t count)
{
    uint64_t *due = &server->watched[at], before = *due;
    if (*due == 0)
        *due = 1;
    while (*due <= count && *due <= UINT64_MAX / 10)
        *due *= 10;
    if (*due != before && count > 0)
        foliot__server_event(server, FOLIOT_SERVER_REFUSALS, NULL, FOLIOT__NO_PLAYER, count, name);
}

void foliot__watch_update(foliot_server *server)
{
    const foliot_transport_counters *network =
        foliot_transport_get_counters(server->config.transport);
    const foliot_server_counters *counters = &server->counters;
    uint32_t at = 0;
    if (server->now_ns < server->watch_ns)
        return;
    server->watch_ns = server->now_ns + WATCH_EVERY_NS;
#define LOOK(name) watch_counter(server, at++, #name, network->name);
    WATCHED_TRANSPORT(LOOK)
#undef LOOK
#define LOOK(name) watch_counter(server, at++, #name, counters->name);
    WATCHED_SERVER(LOOK)
#undef LOOK
    _Static_assert(sizeof server->watched / sizeof *server->watched >= 20, "room for all");
}
