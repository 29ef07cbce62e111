// SPDX-License-Identifier: MIT
// connection.c: the connection of one client: it begins, sends its hello, is given up after a
// silence, reconnects after a loss, and ends. It carries messages and does not read any: join.c and
// stream.c do. Invariant: a client that is over (refused, closed, lost) neither sends nor connects.
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/status.h"

#define HELLO_EVERY_NS 20000000u // unreliable copies of the hello, until the welcome
#define RECONNECT_EVERY_NS 500000000u
#define RECONNECT_FOR_NS 10000000000u
// A server that is silent for this long, and for this many snapshots, counts as dead or
// unreachable. A new connection is tried long before the transport gives up the old one.
#define SILENCE_NS 1000000000u
#define SILENCE_SNAPSHOTS 5
#define ATTEMPT_NS 2000000000u // for one attempt, and four round trips more

double foliot__client_tick_ns(const foliot_client *c)
{
    return 1e9 / c->welcome.pace_hz;
}

bool foliot__connection_is_over(const foliot_client *c)
{
    return c->connection.state == FOLIOT_CLIENT_REFUSED ||
           c->connection.state == FOLIOT_CLIENT_CLOSED || c->connection.state == FOLIOT_CLIENT_LOST;
}

void foliot__connection_end(foliot_client *c, foliot_client_state state, const char *reason)
{
    c->connection.state = state;
    snprintf(c->connection.reason, sizeof c->connection.reason, "%s", reason);
}

// -- sending

// Nothing is sent to a peer that is gone: its end arrives as an event.
void foliot__connection_send_packet(foliot_client *c, foliot_delivery delivery,
                                    const uint8_t *bytes, size_t length)
{
    foliot_status status =
        foliot_transport_send(c->config.transport, c->connection.peer, delivery, bytes, length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK ||
                  status == FOLIOT_STATUS_NOT_FOUND); // none is too large
}

void foliot__connection_send(foliot_client *c, const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        foliot__connection_send_packet(c, FOLIOT_DELIVERY_RELIABLE, bytes, length);
}

static void write_hello(const foliot_client *c, foliot__message *m)
{
    m->kind = FOLIOT__HELLO_MESSAGE;
    foliot__hello_message *h = &m->as.hello;
    h->protocol = FOLIOT_PROTOCOL;
    strcpy(h->session, c->session);
    strcpy(h->name, c->name);
    h->spectates = c->config.spectates;
    h->token = foliot__client_welcomed(c) ? c->welcome.token : c->join.takes_over;
    h->fingerprint = c->simulation.fingerprint;
    snprintf(h->build, sizeof h->build, "%s", foliot_get_build());
    h->force_stepping = c->config.force_stepping;
    snprintf(h->simulation, sizeof h->simulation, "%s", c->simulation.kind.name);
    h->rules = c->simulation.kind.version;
    h->kind = c->role.asked;
}

void foliot__connection_send_hello(foliot_client *c)
{
    foliot__message m = {0};
    write_hello(c, &m);
    foliot__connection_send(c, &m);
    c->connection.hello_ns = 0;
}

void foliot_client_leave(foliot_client *client, uint64_t now_ns)
{
    foliot__message m = {.kind = FOLIOT__BYE};
    client->now_ns = now_ns;
    client->connection.leaving = true;
    if (foliot__connection_is_over(client))
        return;
    if (!client->connection.peer.value) {
        foliot__connection_end(client, FOLIOT_CLIENT_CLOSED, "left");
        return;
    }
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "leaving");
    foliot__connection_send(client, &m);
    foliot_transport_flush(client->config.transport, now_ns);
}

// -- beginning and end

foliot_status foliot__connection_open(foliot_client *c)
{
    c->connection.tried_ns = c->now_ns;
    // The previous connection's welcome is void.
    c->join.state = foliot__client_welcomed(c) ? FOLIOT__WELCOME_PAST : FOLIOT__WELCOME_AWAITED;
    c->join.piece_count = 0;
    return foliot_transport_connect(c->config.transport, c->host, c->config.port, c->now_ns,
                                    &c->connection.peer);
}

// The reason why the server dropped this client for misbehaviour; NULL: it did not.
static const char *misbehaviour_of(uint32_t reason)
{
    return reason == FOLIOT__DISCONNECT_REFUSED + FOLIOT__REFUSE_MALFORMED
               ? "dropped by the server: this client sent an invalid message"
           : reason == FOLIOT__DISCONNECT_REFUSED + FOLIOT__REFUSE_VIOLATION
               ? "dropped by the server: this client sent what no honest client sends"
               : NULL;
}

// The reason why a server refuses this client's form of access; NULL: it does not.
static const char *security_of(uint32_t reason)
{
    switch (reason) {
    case FOLIOT_DISCONNECT_SECURITY:
        return "the server expects other credentials: a token (--token), a password (--password), "
               "or none";
    case FOLIOT_DISCONNECT_TOKEN:
        return "the server does not know the token: it was made with another key, or for another "
               "server";
    case FOLIOT_DISCONNECT_TOKEN_EXPIRED:
        return "the token is not valid now: it has expired, or a clock is wrong";
    case FOLIOT_DISCONNECT_TOKEN_USED:
        return "the token was used before: it admits one client";
    case FOLIOT_DISCONNECT_PASSWORD:
        return "the password is wrong";
    default:
        return NULL;
    }
}

// A spectator with a delay may see nothing for a long time, once it has the scene.
bool foliot__connection_awaits_play(const foliot_client *c)
{
    bool begun = c->statistics.join_ms > 0;
    return !begun && !(foliot__client_welcomed(c) && c->config.spectates && c->setup.complete);
}

// Ends a client that had no welcome, or one that does not reconnect.
static void end_unanswered(foliot_client *c)
{
    char why[FOLIOT__SENTENCE_BYTES];
    char seconds[24]; // not as a double: the printf of a page has none
    uint64_t tenths = (c->now_ns - c->began_ns + 50000000) / 100000000;
    c->connection.try_again = true;
    if (foliot__client_welcomed(c) && foliot__connection_awaits_play(c)) {
        foliot__connection_end(c, FOLIOT_CLIENT_LOST,
                               "the server admitted this client, and then sent nothing to show: is "
                               "the network too slow?");
        return;
    }
    if (foliot__client_welcomed(c)) {
        foliot__connection_end(c, FOLIOT_CLIENT_LOST, "the connection was lost");
        return;
    }
    if (tenths < 10)
        snprintf(seconds, sizeof seconds, "0.%u", (unsigned)tenths);
    else
        snprintf(seconds, sizeof seconds, "%u", (unsigned)((tenths + 5) / 10));
    if (c->config.port)
        snprintf(why, sizeof why, "no answer from %.100s:%u in %s s: is a server running there?",
                 c->host, c->config.port, seconds);
    else // a page's transport has its address, and may be refused at once
        snprintf(why, sizeof why, "no answer from %.100s: is a server running there?", c->host);
    foliot__connection_end(c, FOLIOT_CLIENT_LOST, why);
}

void foliot__connection_lost(foliot_client *c, uint32_t reason)
{
    c->connection.peer = (foliot_peer_id){0};
    if (foliot__connection_is_over(c))
        return;
    if (c->connection.leaving) {
        foliot__connection_end(c, FOLIOT_CLIENT_CLOSED, "left");
    } else if (misbehaviour_of(reason)) {
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED, misbehaviour_of(reason));
    } else if (foliot__client_welcomed(c) &&
               (c->config.reconnects || reason == FOLIOT__DISCONNECT_NEXT)) {
        if (c->connection.reconnect == FOLIOT__RECONNECT_NONE) {
            c->connection.lost_ns = c->now_ns;
            c->connection.reconnect = FOLIOT__RECONNECT_LOST;
        }
        if (reason == FOLIOT__DISCONNECT_NEXT)
            c->connection.reconnect = FOLIOT__RECONNECT_NEXT;
        c->connection.state = FOLIOT_CLIENT_CONNECTING;
    } else if (reason == FOLIOT_DISCONNECT_FULL) {
        c->connection.try_again = true;
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED,
                               "the server accepts no more connections, or no more from this "
                               "address or with this token");
    } else if (security_of(reason)) {
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED, security_of(reason));
    } else if (reason == FOLIOT_DISCONNECT_PROTOCOL) {
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED,
                               "the server speaks another version of the protocol: the client or "
                               "the server is too old");
    } else {
        end_unanswered(c);
    }
}

static void drop_connection(foliot_client *c)
{
    if (c->connection.peer.value)
        foliot_transport_disconnect(c->config.transport, c->connection.peer, 0, true);
    c->connection.peer = (foliot_peer_id){0};
}

// Each wait is twice as long as the one before. The server's random token spreads the players whom
// it refused in one tick.
void foliot__connection_refused(foliot_client *c, const foliot__refuse *refuse)
{
    foliot__client_connection *own = &c->connection;
    own->try_again = refuse->again;
    own->refusal = refuse->reason;
    if (own->refused_ns == 0 || c->now_ns - own->refused_ns > RECONNECT_FOR_NS) {
        own->refused_since_ns = c->now_ns;
        own->wait_ns = RECONNECT_EVERY_NS;
    }
    bool passes = refuse->reason == FOLIOT__REFUSE_BUSY ||
                  (foliot__client_welcomed(c) && refuse->reason != FOLIOT__REFUSE_CLOSING);
    if (!refuse->again || !passes || !c->config.reconnects || own->leaving ||
        c->now_ns - own->refused_since_ns >= RECONNECT_FOR_NS) {
        foliot__connection_end(c, FOLIOT_CLIENT_REFUSED, refuse->sentence);
        return;
    }
    drop_connection(c);
    foliot__connection_end(c, FOLIOT_CLIENT_CONNECTING, refuse->sentence);
    if (own->reconnect == FOLIOT__RECONNECT_NONE) {
        own->lost_ns = c->now_ns;
        own->reconnect = FOLIOT__RECONNECT_LOST;
    }
    own->refused_ns = c->now_ns;
    own->tried_ns = c->now_ns + own->wait_ns / 256 * c->welcome.token.bytes[0];
    own->tried_ns += own->wait_ns - RECONNECT_EVERY_NS;
    own->wait_ns *= 2;
}

// Gives up a server that never answers, or connects and never sends a welcome, and a path that
// loses the packets after the welcome.
static void check_connect_timeout(foliot_client *c)
{
    double limit_ns = c->config.connect_timeout_ms * 1e6;
    if (!foliot__connection_awaits_play(c) || c->connection.leaving || limit_ns == 0 ||
        foliot__connection_is_over(c) || (double)(c->now_ns - c->connection.progress_ns) < limit_ns)
        return;
    drop_connection(c);
    end_unanswered(c);
}

// Ends a connection on which nothing arrives. While the client waits for a state, all traffic is
// reliable and in order: a resend takes one or two round trips, a second resend twice that, and
// nothing arrives until it is through.
static void check_silence(foliot_client *c)
{
    double round_trip_ns =
        fmax((double)c->connection.round_trip_ns, 1e6 * c->statistics.round_trip_ms);
    bool plays = c->connection.state == FOLIOT_CLIENT_PLAYING, silent;
    if (!c->config.reconnects || !foliot__client_welcomed(c) || !c->connection.peer.value ||
        c->connection.leaving || foliot__connection_is_over(c))
        return;
    if (plays) {
        double patience = SILENCE_NS + SILENCE_SNAPSHOTS * 1e9 / c->welcome.snapshot_hz;
        if (foliot__client_in_lockstep(c) && !c->lockstep->begun)
            patience += 8 * round_trip_ns;
        silent = (double)(c->now_ns - c->connection.received_ns) > patience;
    } else {
        silent = c->connection.reconnect != FOLIOT__RECONNECT_NONE &&
                 (double)(c->now_ns - c->connection.tried_ns) > ATTEMPT_NS + 4 * round_trip_ns;
    }
    if (!silent)
        return;
    drop_connection(c);
    foliot__connection_lost(c, FOLIOT_DISCONNECT_TIMEOUT);
}

static void reconnect(foliot_client *c)
{
    if (c->connection.reconnect == FOLIOT__RECONNECT_NONE || c->connection.peer.value ||
        c->now_ns < c->connection.tried_ns + RECONNECT_EVERY_NS)
        return;
    if (c->now_ns - c->connection.lost_ns > RECONNECT_FOR_NS) {
        c->connection.try_again = true;
        if (c->connection.refused_ns >= c->connection.lost_ns) {
            c->connection.state = FOLIOT_CLIENT_REFUSED; // for the last server's reason
            return;
        }
        foliot__connection_end(c, FOLIOT_CLIENT_LOST,
                               "the connection was lost, and reconnecting did not help");
        return;
    }
    if (foliot__connection_open(c) != FOLIOT_STATUS_OK)
        c->connection.peer = (foliot_peer_id){0};
}

void foliot__connection_update(foliot_client *c)
{
    check_connect_timeout(c);
    check_silence(c);
    reconnect(c);
    if (c->connection.state != FOLIOT_CLIENT_JOINING ||
        c->now_ns - c->connection.hello_ns < HELLO_EVERY_NS)
        return;
    // Copies of the hello do not wait for a resend.
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    foliot__message m = {0};
    c->connection.hello_ns = c->now_ns;
    write_hello(c, &m);
    if (foliot__message_encode(&m, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        foliot__connection_send_packet(c, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
}
