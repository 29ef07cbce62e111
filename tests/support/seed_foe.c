// SPDX-License-Identifier: MIT
// seed_foe.c: those who speak the protocol well, and mean harm. Each scheme is something that a
// server must bear: what others are owed is checked where they are (seed_client.c), here only that
// no foe is given what is somebody else's.
#include "seed_run.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/pack.h"
#include "wire/lockstep_message.h"
#include "wire/partial_snapshot.h"
#include "status.h"

#define AGAIN_NS (SEED_SECOND / 2) // before what was refused or ended is tried again
#define STAGGER_NS (7 * (uint64_t)SEED_SECOND / 10) // between two who pin: each pins another state
#define CRAWL_NS (SEED_SECOND / 10)
#define LIE_NS (SEED_SECOND / 20)
#define HEARD_OUT_NS (SEED_SECOND * 3 / 10)
#define TOKEN_NS (SEED_SECOND / 4)
#define LOOKERS 12

typedef struct foe { // what is at hand in a turn
    seed_run *run;
    seed_caller *c;
    uint64_t local_ns;
} foe;

void seed_foe_begin(seed_caller *c)
{
    memset(c->links, 0, sizeof c->links);
    c->turn = 0; // tokens stay
}

// -- talking

static void send_packet(foe *f, const seed_link *l, foliot_delivery delivery, const uint8_t *bytes,
                        size_t length)
{
    allow_failure(foliot_transport_send(f->c->wire, l->peer, delivery, bytes, length));
    f->run->result.tally.hostile_packets++;
}

static void say_message(foe *f, const seed_link *l, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(m, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        send_packet(f, l, FOLIOT_DELIVERY_RELIABLE, bytes, length);
}

static void open_link(foe *f, seed_link *l)
{
    *l = (seed_link){.began_ns = f->run->now_ns, .player = FOLIOT_NO_PLAYER};
    if (foliot_transport_connect(f->c->wire, "127.0.0.1", 7777, f->local_ns, &l->peer) !=
        FOLIOT_STATUS_OK)
        l->peer = (foliot_peer_id){0};
    f->run->result.tally.foe_links++;
}

static void close_link(foe *f, seed_link *l)
{
    if (l->peer.value)
        foliot_transport_disconnect(f->c->wire, l->peer, 0, true);
    *l = (seed_link){.began_ns = f->run->now_ns};
}

// The one place that knows what a token is made of.
static void take_token(foliot__hello_message *hello, const foliot__welcome *welcome)
{
    memcpy(&hello->token, &welcome->token, sizeof hello->token);
}

static foliot__message hello_of(const foe *f, const seed_link *l, bool spectates)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    foliot__hello_message *h = &m.as.hello;
    h->protocol = FOLIOT_PROTOCOL;
    snprintf(h->session, sizeof h->session, "session-%u", f->c->plan->session);
    snprintf(h->name, sizeof h->name, "foe-%u-%u", f->c->index, (unsigned)(l - f->c->links));
    h->spectates = spectates;
    h->fingerprint = f->run->resources->fingerprint;
    snprintf(h->simulation, sizeof h->simulation, "%s", foliot_world_kind.name);
    h->rules = foliot_world_kind.version;
    h->kind = f->c->plan->scheme == SEED_changes ? FOLIOT__KIND_STEPPER : FOLIOT__KIND_ANY;
    return m;
}

static void say_hello(foe *f, seed_link *l, bool spectates)
{
    foliot__message m = hello_of(f, l, spectates);
    say_message(f, l, &m);
    l->greeted = true;
}

static void say_heard(foe *f, seed_link *l, uint32_t offset)
{
    foliot__message m = {.kind = FOLIOT__KEYFRAME_ACKNOWLEDGE};
    m.as.keyframe_acknowledge.tick = l->keyframe_tick;
    m.as.keyframe_acknowledge.offset = l->heard = offset;
    say_message(f, l, &m);
}

static void say_bye(foe *f, const seed_link *l)
{
    foliot__message m = {.kind = FOLIOT__BYE};
    say_message(f, l, &m);
}

// -- hearing

// An answer that differs everywhere, in the requested form.
static void answer_falsely(foe *f, seed_link *l, const foliot__search_message *question)
{
    uint8_t bytes[FOLIOT_SEARCH_RESPONSE_BYTES_MAX] = {0};
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__message m = {.kind = FOLIOT__SEARCH_RESPONSE};
    uint8_t kind = question->length ? question->bytes[0] : 0;
    if (kind == 'L') {
        foliot__write_u16(&w, 1u << 15);
    } else if (kind == 'R') {
        foliot__write_u32(&w, 1 + foliot__rng_below(&f->c->rng, 16));
        foliot__write_u8(&w, 1);
    }
    foliot__write_u64(&w, foliot__rng_u64(&f->c->rng));
    m.as.search.number = question->number;
    m.as.search.bytes = bytes;
    m.as.search.length = (uint32_t)(kind == 'L' ? 10 : kind == 'R' ? 13 : 8);
    say_message(f, l, &m);
}

static void take_message(foe *f, seed_link *l, const foliot__message *m)
{
    switch (m->kind) {
    case FOLIOT__WELCOME:
        f->run->result.tally.foe_joins += !l->in;
        l->in = true;
        l->player = m->as.welcome.player;
        if (l->player != FOLIOT_NO_PLAYER)
            f->c->tokens[f->c->token_count++ % SEED_TOKENS] = m->as.welcome;
        break;
    case FOLIOT__KEYFRAME_PART:
        l->keyframe_tick = l->end = m->as.keyframe_part.tick;
        l->keyframe_total = m->as.keyframe_part.total;
        l->keyframe_have = m->as.keyframe_part.offset + m->as.keyframe_part.length;
        break;
    case FOLIOT__TICKS_PART:
        l->end = m->as.ticks_part.first + m->as.ticks_part.ticks;
        break;
    case FOLIOT__SEARCH_REQUEST:
        if (f->c->plan->scheme == SEED_lies)
            answer_falsely(f, l, &m->as.search);
        break;
    case FOLIOT__DIVERGED:
        l->told = true;
        break;
    default:
        break;
    }
}

static void hear_packet(foe *f, seed_link *l, const foliot_transport_event *event)
{
    foliot__message m;
    foliot__relay relay;
    if (event->delivery == FOLIOT_DELIVERY_UNRELIABLE && event->length &&
        (event->bytes[0] == FOLIOT__RELAY_PACKET ||
         event->bytes[0] == FOLIOT__RELAY_COMMANDS_PACKET)) {
        if (foliot__relay_decode(event->bytes, event->length, &relay) == FOLIOT_STATUS_OK && l->end)
            l->end = foliot__tick_near(relay.end, l->end);
    } else if (foliot__message_is_control(event->bytes, event->length) &&
               foliot__message_decode(event->bytes, event->length, &m) == FOLIOT_STATUS_OK) {
        take_message(f, l, &m);
    }
}

static void receive_packets(foe *f)
{
    foliot_transport_event event;
    while (foliot_transport_poll(f->c->wire, f->local_ns, &event)) {
        seed_link *l = f->c->links;
        while (l < f->c->links + SEED_LINKS && l->peer.value != event.peer.value)
            l++;
        if (l == f->c->links + SEED_LINKS)
            continue;
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED)
            l->connected = true;
        else if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            *l = (seed_link){.began_ns = f->run->now_ns};
        else
            hear_packet(f, l, &event);
    }
}

// -- schemes

// Opens it, and again a while after it was closed. True when it may say hello.
static bool is_ready(foe *f, seed_link *l)
{
    bool fresh = l->began_ns == 0;
    if (!l->peer.value && (fresh || f->run->now_ns - l->began_ns > AGAIN_NS))
        open_link(f, l);
    return l->connected && !l->greeted;
}

static bool is_player(const foe *f, const seed_link *l)
{
    return l == f->c->links && f->run->hosts[f->c->plan->session].scene.players.limit > 0;
}

// One player and five spectators: some hear their state to the end, and nothing else.
static void withhold_acknowledgements(foe *f)
{
    for (seed_link *l = f->c->links; l < f->c->links + 6; l++) {
        if (is_ready(f, l))
            say_hello(f, l, !is_player(f, l));
        if ((l - f->c->links) % 2 && l->keyframe_total && l->heard < l->keyframe_have)
            say_heard(f, l, l->keyframe_have);
    }
}

// As many as there are places for states, and two more; each holds another state.
static void pin_states(foe *f, bool crawls)
{
    for (uint32_t i = 0; i < 6 && f->run->now_ns >= f->c->joined_ns + i * STAGGER_NS; i++) {
        seed_link *l = &f->c->links[i];
        if (is_ready(f, l))
            say_hello(f, l, !is_player(f, l));
        if (crawls && l->keyframe_have > l->heard && f->run->now_ns - l->said_ns >= CRAWL_NS) {
            say_heard(f, l, l->heard + 1);
            l->said_ns = f->run->now_ns;
        }
    }
}

static void report_false_digest(foe *f, seed_link *l)
{
    foliot__lockstep_input packet = {.acks = {.next = (uint32_t)l->end},
                                     .digests = foliot__rng_u64(&f->c->rng),
                                     .state = (uint8_t)l->keyframe_tick,
                                     .sent_ms = (uint16_t)(f->local_ns / 1000000u),
                                     .shown = (uint16_t)foliot__rng_u64(&f->c->rng)};
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t length = foliot__lockstep_input_encode(&packet, bytes);
    if (length != SIZE_MAX)
        send_packet(f, l, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
    f->run->result.tally.foe_lies++;
}

static void report_false_digests(foe *f)
{
    for (seed_link *l = f->c->links; l < f->c->links + 4; l++) {
        if (is_ready(f, l))
            say_hello(f, l, true);
        if (l->keyframe_total && l->heard < l->keyframe_have)
            say_heard(f, l, l->keyframe_have);
        bool whole = l->keyframe_total && l->keyframe_have == l->keyframe_total;
        if (!whole || l->end <= l->keyframe_tick || f->run->now_ns - l->said_ns < LIE_NS)
            continue;
        if (l->told || (l->said_ns && f->run->now_ns - l->began_ns >
                                          HEARD_OUT_NS)) { // answered: again, as a newcomer
            close_link(f, l);
            open_link(f, l);
            continue;
        }
        report_false_digest(f, l);
        l->said_ns = f->run->now_ns;
    }
}

static void say_kind(foe *f, seed_link *l, foliot__kind kind, foliot__kind_reason reason)
{
    foliot__message m = {.kind = FOLIOT__KIND,
                         .as.kind = {.kind = kind, .tick = l->end, .reason = reason}};
    say_message(f, l, &m);
}

// Two wish to be what they are not, or say that they are ready for it, which they may not be; two
// take every state that they are given, say that they are ready, and that it differs.
static void change_kinds(foe *f)
{
    for (uint32_t i = 0; i < 4; i++) {
        seed_link *l = &f->c->links[i];
        if (is_ready(f, l))
            say_hello(f, l, !is_player(f, l));
        if (!l->in || f->run->now_ns - l->said_ns < LIE_NS)
            continue;
        l->said_ns = f->run->now_ns;
        if (l->keyframe_total && l->heard < l->keyframe_have)
            say_heard(f, l, l->keyframe_have);
        bool ready = foliot__rng_below(&f->c->rng, 3) == 0;
        if (i % 2)
            say_kind(f, l, (foliot__kind)foliot__rng_below(&f->c->rng, 3),
                     ready ? FOLIOT__KIND_READY
                           : (foliot__kind_reason)foliot__rng_below(&f->c->rng,
                                                                    FOLIOT__KIND_IMPOSSIBLE + 1));
        else if (l->keyframe_total && l->keyframe_have == l->keyframe_total && ready)
            say_kind(f, l, FOLIOT__KIND_STEPPER, FOLIOT__KIND_READY);
        if (l->end > l->keyframe_tick)
            report_false_digest(f, l);
    }
}

// Four at once, in all states of coming and going.
static void join_repeatedly(foe *f)
{
    for (uint32_t i = 0; i < 4; i++) {
        seed_link *l = &f->c->links[i];
        if (!l->peer.value) {
            open_link(f, l);
        } else if (l->in) {
            uint32_t how = foliot__rng_below(&f->c->rng, 3);
            if (how == 0)
                say_bye(f, l);
            close_link(f, l);
        } else if (l->connected && !l->greeted) {
            foliot__message m = hello_of(f, l, foliot__rng_below(&f->c->rng, 4) == 0);
            if (f->c->token_count && foliot__rng_below(&f->c->rng, 2))
                take_token(&m.as.hello,
                           &f->c->tokens[foliot__rng_below(
                               &f->c->rng,
                               f->c->token_count < SEED_TOKENS ? f->c->token_count : SEED_TOKENS)]);
            say_message(f, l, &m);
            l->greeted = true;
        }
    }
}

static void hold_connections(foe *f)
{
    for (seed_link *l = f->c->links; l < f->c->links + SEED_LINKS; l++)
        if (!l->peer.value && (l->began_ns == 0 || f->run->now_ns - l->began_ns > AGAIN_NS))
            open_link(f, l);
}

// splitmix64, forwards and back: what a token that is its output gives away.
static uint64_t unmixed(uint64_t z)
{
    z ^= z >> 31 ^ z >> 62;
    z *= 0x319642b2d24d8ec3u;
    z ^= z >> 27 ^ z >> 54;
    z *= 0x96de1b173f119089u;
    return z ^ z >> 30 ^ z >> 60;
}

static uint64_t mixed(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void guess_token(foliot__hello_message *hello, uint32_t turn)
{
    uint64_t word;
    int64_t step = turn % 2 ? -(int64_t)(turn / 2 % 8 + 1) : (int64_t)(turn / 2 % 8 + 1);
    memcpy(&word, &hello->token, sizeof word);
    word = mixed(unmixed(word) + (uint64_t)step * 0x9e3779b97f4a7c15u);
    memcpy(&hello->token, &word, sizeof word);
}

static void turn_bits(foe *f, foliot__hello_message *hello)
{
    uint8_t *bytes = (uint8_t *)&hello->token;
    uint32_t at = foliot__rng_below(&f->c->rng, sizeof hello->token),
             bit = foliot__rng_below(&f->c->rng, 8);
    bytes[at] ^= (uint8_t)(1u << bit);
}

// Its own token first; then, one after another, those that may be somebody's.
static void try_tokens(foe *f)
{
    seed_link *l = &f->c->links[f->c->turn % 2];
    if (l->in || (l->greeted && f->run->now_ns - l->began_ns > AGAIN_NS)) {
        if (f->run->now_ns - l->began_ns < TOKEN_NS)
            return;
        if (foliot__rng_below(&f->c->rng, 2))
            say_bye(f, l);
        close_link(f, l);
        f->c->turn++;
        return;
    }
    if (!l->peer.value)
        open_link(f, l);
    if (!l->connected || l->greeted)
        return;
    foliot__message m = hello_of(f, l, false);
    uint32_t kept = f->c->token_count < SEED_TOKENS ? f->c->token_count : SEED_TOKENS;
    if (kept && f->c->plan->scheme == SEED_guesses) {
        take_token(&m.as.hello, &f->c->tokens[0]);
        guess_token(&m.as.hello, f->c->turn);
    } else if (kept) {
        take_token(&m.as.hello, &f->c->tokens[foliot__rng_below(&f->c->rng, kept)]);
        if (foliot__rng_below(&f->c->rng, 3) == 0)
            turn_bits(f, &m.as.hello);
    }
    say_message(f, l, &m);
    l->greeted = true;
}

// One order, or what looks like it. The first byte is none that the game of seeds acts on.
static void say_order(foe *f, const seed_link *l, uint32_t sequence)
{
    uint8_t bytes[512], body[300] = {0x80};
    foliot__buffer out = {.bytes = bytes, .capacity = sizeof bytes, .fixed = true};
    uint32_t length = l == f->c->links || foliot__rng_below(&f->c->rng, 20)
                          ? 1 + foliot__rng_below(&f->c->rng, 240)
                          : 241 + foliot__rng_below(&f->c->rng, 50);
    foliot__pack_array(&out, 5);
    foliot__pack_uint(&out, FOLIOT__ORDER);
    foliot__pack_uint(&out, sequence);
    foliot__pack_uint(&out, l == f->c->links || foliot__rng_below(&f->c->rng, 30)
                                ? 0
                                : foliot__rng_below(&f->c->rng, 5));
    foliot__pack_bin(&out, body, length);
    // Shown of the future, of the far past, jumping.
    foliot__pack_uint(&out, foliot__rng_u64(&f->c->rng) >> foliot__rng_below(&f->c->rng, 64));
    send_packet(f, l, FOLIOT_DELIVERY_RELIABLE, bytes, out.length);
}

// Messages that only a server sends.
static void say_as_server(foe *f, seed_link *l)
{
    uint8_t bytes[40];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)foliot__rng_u64(&f->c->rng);
    foliot__message m = {.kind = FOLIOT__ORDER_ACKNOWLEDGE,
                         .as.order_acknowledge.sequence = (uint32_t)foliot__rng_u64(&f->c->rng)};
    uint32_t draw = foliot__rng_below(&f->c->rng, 3);
    if (draw == 0)
        m = (foliot__message){.kind = FOLIOT__UPDATE,
                              .as.update = {.full = bytes[0] & 1, .bytes = bytes, .length = 40}};
    if (draw == 1)
        m = (foliot__message){.kind = FOLIOT__MESSAGE,
                              .as.message = {.bytes = bytes, .length = 40}};
    say_message(f, l, &m);
}

// A player who floods, one who forges sequences, a spectator, and one who never says hello.
static void give_orders(foe *f)
{
    for (uint32_t i = 0; i < 4; i++) {
        seed_link *l = &f->c->links[i];
        bool ready = is_ready(f, l);
        if (ready && i < 3)
            say_hello(f, l, i == 2 || f->run->hosts[f->c->plan->session].scene.players.limit == 0);
        if (!l->connected || (i < 3 && !l->in))
            continue;
        for (uint32_t n = i == 0 ? 1 + foliot__rng_below(&f->c->rng, 8) : 1; n > 0; n--)
            say_order(f, l,
                      i == 0 ? 2 + l->heard++ : (uint32_t)foliot__rng_u64(&f->c->rng) >> (i * 8));
        if (i > 0 && foliot__rng_below(&f->c->rng, 4) == 0)
            say_as_server(f, l);
        f->run->result.tally.foe_lies++;
    }
}

// Twelve spectators, each of whom names another focus in every turn.
static void look_everywhere(foe *f)
{
    uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES];
    for (seed_link *l = f->c->links; l < f->c->links + LOOKERS; l++) {
        if (is_ready(f, l))
            say_hello(f, l, true);
        if (!l->in)
            continue;
        foliot__partial_acknowledge packet = {.has_focus = true};
        for (int k = 0; k < 3; k++)
            packet.focus[k] = (int32_t)((uint32_t)foliot__rng_u64(&f->c->rng) >>
                                        foliot__rng_below(&f->c->rng, 32));
        size_t length = foliot__partial_acknowledge_encode(&packet, bytes);
        send_packet(f, l, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
    }
    seed_check_foci(f->run, f->c->plan->session);
}

void seed_foe_act(seed_run *run, seed_caller *c)
{
    foe f = {run, c, seed_clock_local(&c->clock)};
    receive_packets(&f);
    switch (c->plan->scheme) {
    case SEED_withholds:
        withhold_acknowledgements(&f);
        break;
    case SEED_pins:
    case SEED_crawls:
        pin_states(&f, c->plan->scheme == SEED_crawls);
        break;
    case SEED_lies:
        report_false_digests(&f);
        break;
    case SEED_storms:
        join_repeatedly(&f);
        break;
    case SEED_holds:
        hold_connections(&f);
        break;
    case SEED_replays:
    case SEED_guesses:
        try_tokens(&f);
        break;
    case SEED_orders:
        give_orders(&f);
        break;
    case SEED_changes:
        change_kinds(&f);
        break;
    case SEED_looks:
        look_everywhere(&f);
        break;
    case SEED_SCHEME_COUNT:
    default:
        break;
    }
    foliot_transport_flush(c->wire, f.local_ns);
}
