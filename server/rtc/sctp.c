// SPDX-License-Identifier: MIT
// sctp.c: see sctp.h. usrsctp knows an association by a number, never by an address of memory: it
// writes it into cookies, which travel. A number whose association is gone is ignored. usrsctp is
// configured for the largest packets, since it never raises the size of a path that was once
// smaller: its messages are cut to the path's size (SCTP_MAXSEG), and its packets are divided
// before they are sent.
#include "rtc/sctp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <usrsctp.h>

#include "crypto/crypto.h"
#include "net/path_mtu.h"

#define PPID_BINARY 53
#define CHECKSUM_AT 8       // of a packet's head
#define RECEIVE_BYTES 65536 // holds fragments that wait for the rest of a message
#define SEND_BYTES 16384
#define CHUNKS_MAX 64  // on the queues of one association
#define RTO_MIN_MS 400 // the other side may wait 200 ms before it acknowledges
#define RTO_MAX_MS 1000
#define RETRANSMISSIONS_MAX 20
#define STOP_TRIES 100
#define MESSAGE_PARTS_OVER 48 // that SCTP_MAXSEG counts beyond a piece and its heads: an IP head
#define CHUNK_HEAD_BYTES 4
#define CHUNK_PAD 132 // RFC 4820: peers that do not know it skip it
#define PROBE_INFO_BYTES 12
#define PROBE_MARK "foliot p"

struct foliot__sctp {
    struct socket *socket;
    const foliot__sctp_hook *hook;
    void *user;
    uintptr_t number;
    foliot__sctp_state state;
    bool clogged, emitted; // emitted: a packet with data has gone out
    uint64_t silent_ns;
    foliot__sctp_due due;
    foliot__path_mtu path;
    uint64_t seen_ns;                      // the time of the last foliot__sctp_probe
    uint32_t cut_bytes;                    // the packets that messages are cut for
    uint8_t head[FOLIOT__SCTP_HEAD_BYTES]; // of a packet to the other side
};

static struct {
    bool started;
    foliot__sctp **associations; // by number % count
    uint32_t count;
    uintptr_t serial; // of the last round of numbers
} all;

// -- packets no larger than the path takes

static size_t packet_bytes(uint32_t datagram_bytes)
{
    return (datagram_bytes - FOLIOT__DTLS_OVER_BYTES) / 4 * 4;
}

static void seal(uint8_t *packet, size_t length)
{
    memset(packet + CHECKSUM_AT, 0, sizeof(uint32_t));
    uint32_t checksum = usrsctp_crc32c(packet, length);
    memcpy(packet + CHECKSUM_AT, &checksum, sizeof checksum);
}

static void emit(foliot__sctp *s, const uint8_t *packet, size_t length)
{
    s->path.large |= length > packet_bytes(FOLIOT__PATH_BYTES_MIN);
    s->hook->send(s->user, packet, length);
}

// A packet with chunks that do not fit is sent in several packets. A single chunk stays as it is.
static void divide(foliot__sctp *s, const uint8_t *packet, size_t length, size_t room)
{
    uint8_t part[FOLIOT__SCTP_FILTER_BYTES_MAX];
    size_t used = FOLIOT__SCTP_HEAD_BYTES, bytes;
    memcpy(part, packet, FOLIOT__SCTP_HEAD_BYTES);
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= length; at += bytes) {
        bytes = (((size_t)packet[at + 2] << 8 | packet[at + 3]) + 3) / 4 * 4;
        if (bytes == 0 || bytes > length - at) // the last one, without its padding
            bytes = length - at;
        if (used > FOLIOT__SCTP_HEAD_BYTES && used + bytes > room) {
            seal(part, used);
            emit(s, part, used);
            used = FOLIOT__SCTP_HEAD_BYTES;
        }
        memcpy(part + used, packet + at, bytes);
        used += bytes;
    }
    seal(part, used);
    emit(s, part, used);
}

// Messages are cut to the largest size that has arrived.
static void fit(foliot__sctp *s)
{
    uint32_t bytes = (uint32_t)packet_bytes(s->path.proven);
    const struct sctp_assoc_value cut = {.assoc_value = bytes - MESSAGE_PARTS_OVER};
    if (bytes == s->cut_bytes)
        return;
    s->cut_bytes = bytes;
    usrsctp_setsockopt(s->socket, IPPROTO_SCTP, SCTP_MAXSEG, &cut, sizeof cut);
}

// A HEARTBEAT that fills a packet with padding. The other side echoes its content, the probe's
// number and size, but not the padding.
static void send_probe(foliot__sctp *s, uint32_t datagram_bytes)
{
    uint8_t packet[FOLIOT__SCTP_PACKET_BYTES] = {0};
    uint8_t *beat = packet + FOLIOT__SCTP_HEAD_BYTES, *info = beat + 8,
            *pad = info + PROBE_INFO_BYTES;
    size_t length = packet_bytes(datagram_bytes), padding = length - (size_t)(pad - packet);
    memcpy(packet, s->head, sizeof s->head);
    beat[0] = FOLIOT__CHUNK_HEARTBEAT;
    beat[3] = CHUNK_HEAD_BYTES + 4 + PROBE_INFO_BYTES;
    beat[5] = 1; // its only parameter
    beat[7] = 4 + PROBE_INFO_BYTES;
    memcpy(info, PROBE_MARK, 8);
    const uint16_t words[2] = {htons(s->path.number), htons((uint16_t)datagram_bytes)};
    memcpy(info + 8, words, sizeof words);
    pad[0] = CHUNK_PAD;
    pad[2] = (uint8_t)(padding >> 8);
    pad[3] = (uint8_t)padding;
    seal(packet, length);
    s->hook->send(s->user, packet, length);
}

bool foliot__sctp_probe(foliot__sctp *sctp, uint64_t now_ns)
{
    sctp->seen_ns = now_ns;
    if (sctp->state != FOLIOT__SCTP_OPEN || now_ns < foliot__path_due_ns(&sctp->path))
        return false;
    struct sctp_status status = {.sstat_assoc_id = 0};
    socklen_t status_bytes = sizeof status;
    bool known =
        usrsctp_getsockopt(sctp->socket, IPPROTO_SCTP, SCTP_STATUS, &status, &status_bytes) == 0;
    uint64_t round_trip_ns = known ? status.sstat_primary.spinfo_srtt * (uint64_t)1000000u : 0;
    uint32_t bytes = foliot__path_probe(&sctp->path, now_ns, round_trip_ns);
    fit(sctp); // a size may have been given up
    if (bytes > 0)
        send_probe(sctp, bytes);
    return bytes > 0;
}

void foliot__sctp_move(foliot__sctp *sctp)
{
    foliot__path_begin(&sctp->path, sctp->path.most, sctp->seen_ns);
    fit(sctp);
}

uint32_t foliot__sctp_get_datagram_bytes(const foliot__sctp *sctp)
{
    return sctp->path.proven;
}

// -- callbacks of usrsctp

static int on_output(void *address, void *packet, size_t length, uint8_t tos, uint8_t set_df)
{
    uintptr_t number = (uintptr_t)address;
    foliot__sctp *s = all.count ? all.associations[number % all.count] : NULL;
    (void)tos;
    (void)set_df;
    if (!s || s->number != number)
        return 0;
    if (foliot__sctp_find_chunk(packet, length, FOLIOT__CHUNK_DATA)) {
        s->emitted = true;
        s->clogged = false;
    }
    uint8_t type = ((const uint8_t *)packet)[FOLIOT__SCTP_HEAD_BYTES];
    if (type == FOLIOT__CHUNK_COOKIE_ECHO || type == FOLIOT__CHUNK_DATA ||
        type == FOLIOT__CHUNK_COOKIE_ACK)
        memcpy(s->head, packet, sizeof s->head);
    if (length > packet_bytes(s->path.proven) && length <= FOLIOT__SCTP_FILTER_BYTES_MAX)
        divide(s, packet, length, packet_bytes(s->path.proven));
    else
        emit(s, packet, length);
    return 0;
}

static int on_received(struct socket *socket, union sctp_sockstore address, void *bytes,
                       size_t length, struct sctp_rcvinfo info, int flags, void *user)
{
    foliot__sctp *s = user;
    (void)socket;
    (void)address;
    if (!bytes) {
        s->state = FOLIOT__SCTP_OVER;
        return 1;
    }
    const union sctp_notification *n = bytes;
    if (flags & MSG_NOTIFICATION) {
        bool changes = length >= sizeof n->sn_header && n->sn_header.sn_type == SCTP_ASSOC_CHANGE &&
                       length >= sizeof n->sn_assoc_change;
        bool up = changes && n->sn_assoc_change.sac_state == SCTP_COMM_UP;
        if (up && s->state == FOLIOT__SCTP_OPENING)
            s->state = FOLIOT__SCTP_OPEN;
        else if (changes && !up) // lost, shut down, cannot start, or restarted by the other side
            s->state = FOLIOT__SCTP_OVER;
    } else if (!(flags & MSG_EOR) || length > FOLIOT__SCTP_MESSAGE_BYTES)
        s->state = FOLIOT__SCTP_OVER; // longer than negotiated
    else if (ntohl(info.rcv_ppid) == PPID_BINARY && s->state == FOLIOT__SCTP_OPEN)
        s->hook->received(s->user, bytes, length);
    free(bytes);
    return 1;
}

bool foliot__sctp_start(uint32_t associations_max)
{
    if (all.started)
        return false;
    all.associations = calloc(associations_max, sizeof *all.associations);
    if (!all.associations)
        return false;
    all.count = associations_max;
    all.serial = 1;
    all.started = true;
    usrsctp_init_nothreads(0, on_output, NULL);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auto_asconf(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_reconfig_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(1);
    usrsctp_sysctl_set_sctp_blackhole(2); // packets of no association are not answered
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(CHUNKS_MAX);
    usrsctp_sysctl_set_sctp_nr_incoming_streams_default(1);
    usrsctp_sysctl_set_sctp_nr_outgoing_streams_default(1);
    usrsctp_sysctl_set_sctp_rto_min_default(RTO_MIN_MS);
    usrsctp_sysctl_set_sctp_rto_max_default(RTO_MAX_MS);
    usrsctp_sysctl_set_sctp_rto_initial_default(RTO_MIN_MS);
    usrsctp_sysctl_set_sctp_init_rto_max_default(RTO_MAX_MS);
    usrsctp_sysctl_set_sctp_init_rtx_max_default(RETRANSMISSIONS_MAX);
    usrsctp_sysctl_set_sctp_assoc_rtx_max_default(RETRANSMISSIONS_MAX);
    usrsctp_sysctl_set_sctp_path_rtx_max_default(RETRANSMISSIONS_MAX);
    usrsctp_sysctl_set_sctp_heartbeat_interval_default(5000);
    // Freed ones are freed, not kept for later.
    usrsctp_sysctl_set_sctp_system_free_resc_limit(0);
    usrsctp_sysctl_set_sctp_asoc_free_resc_limit(0);
    return true;
}

void foliot__sctp_stop(void)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    if (!all.started)
        return;
    for (int i = 0; i < STOP_TRIES && usrsctp_finish() != 0; i++) {
        usrsctp_handle_timers(10);
        nanosleep(&moment, NULL);
    }
    free(all.associations);
    all.associations = NULL;
    all.count = 0;
    all.started = false;
}

void foliot__sctp_tick(uint32_t elapsed_ms)
{
    usrsctp_handle_timers(elapsed_ms);
}

static bool set(struct socket *socket, int level, int name, const void *value, size_t bytes)
{
    return usrsctp_setsockopt(socket, level, name, value, (socklen_t)bytes) == 0;
}

static bool set_up(struct socket *socket)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const int on = 1, received = RECEIVE_BYTES, sent = SEND_BYTES;
    const struct sctp_initmsg streams = {.sinit_num_ostreams = 1, .sinit_max_instreams = 1};
    const struct sctp_event change = {
        .se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
    return usrsctp_set_non_blocking(socket, 1) == 0 &&
           set(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) &&
           set(socket, SOL_SOCKET, SO_RCVBUF, &received, sizeof received) &&
           set(socket, SOL_SOCKET, SO_SNDBUF, &sent, sizeof sent) &&
           set(socket, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on) &&
           set(socket, IPPROTO_SCTP, SCTP_INITMSG, &streams, sizeof streams) &&
           set(socket, IPPROTO_SCTP, SCTP_EVENT, &change, sizeof change);
}

static struct sockaddr_conn address_of(const foliot__sctp *s, uint16_t port)
{
    struct sockaddr_conn a = {.sconn_family = AF_CONN};
    a.sconn_port = htons(port);
    a.sconn_addr = (void *)s->number; // NOLINT: is never followed
    return a;
}

static bool connect_to(foliot__sctp *s, uint16_t port)
{
    struct sockaddr_conn own = address_of(s, FOLIOT__SCTP_PORT), other = address_of(s, port);
    struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE,
                                    .spp_pathmtu =
                                        FOLIOT__SCTP_PACKET_BYTES - FOLIOT__SCTP_HEAD_BYTES};
    if (usrsctp_bind(s->socket, (struct sockaddr *)&own, sizeof own) != 0)
        return false;
    if (usrsctp_connect(s->socket, (struct sockaddr *)&other, sizeof other) != 0 &&
        errno != EINPROGRESS)
        return false;
    memcpy(&path.spp_address, &other, sizeof other);
    return set(s->socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
}

foliot__sctp *foliot__sctp_create(uint16_t peer_port, uint32_t datagram_bytes,
                                  const foliot__sctp_hook *hook, void *user)
{
    uint32_t slot = 0;
    while (slot < all.count && all.associations[slot])
        slot++;
    foliot__sctp *s = slot < all.count ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    uintptr_t number = all.serial++ * all.count + slot; // the serial makes it unique
    *s = (foliot__sctp){.hook = hook, .user = user, .number = number};
    s->due = (foliot__sctp_due){.source = peer_port, .destination = FOLIOT__SCTP_PORT};
    foliot__path_begin(&s->path, datagram_bytes, 0);
    all.associations[number % all.count] = s;
    usrsctp_register_address((void *)number);
    s->socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, on_received, NULL, 0, s);
    if (s->socket && set_up(s->socket) && connect_to(s, peer_port)) {
        fit(s);
        return s;
    }
    foliot__sctp_destroy(s);
    return NULL;
}

void foliot__sctp_destroy(foliot__sctp *sctp)
{
    if (!sctp)
        return;
    if (sctp->socket) {
        usrsctp_set_ulpinfo(sctp->socket, sctp);
        usrsctp_close(sctp->socket);
    }
    usrsctp_deregister_address((void *)sctp->number);
    all.associations[sctp->number % all.count] = NULL;
    free(sctp);
}

foliot__sctp_state foliot__sctp_get_state(const foliot__sctp *sctp)
{
    return sctp->state;
}

void foliot__sctp_receive(foliot__sctp *sctp, const uint8_t *packet, size_t length)
{
    uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX];
    sctp->due.opening = sctp->state == FOLIOT__SCTP_OPENING;
    size_t bytes = foliot__sctp_filter(&sctp->due, packet, length, kept);
    if (bytes == 0)
        return;
    if (bytes != length || memcmp(kept, packet, length) != 0)
        seal(kept, bytes); // DTLS has authenticated it
    const uint8_t *beat = foliot__sctp_find_chunk(kept, bytes, FOLIOT__CHUNK_HEARTBEAT_ACK);
    if (beat) {
        // The other side's answer is untrusted: only the size of one of our probes counts.
        uint16_t words[2];
        if (beat[2] == 0 && beat[3] == CHUNK_HEAD_BYTES + 4 + PROBE_INFO_BYTES &&
            memcmp(beat + 8, PROBE_MARK, 8) == 0) {
            memcpy(words, beat + 16, sizeof words);
            foliot__path_answered(&sctp->path, ntohs(words[0]), ntohs(words[1]), sctp->seen_ns);
            fit(sctp);
        }
    }
    if (beat || foliot__sctp_find_chunk(kept, bytes, FOLIOT__CHUNK_SACK))
        sctp->silent_ns = 0;
    usrsctp_conninput((void *)sctp->number, kept, bytes, 0);
}

foliot__sctp_sent foliot__sctp_send(foliot__sctp *sctp, const uint8_t *message, size_t length,
                                    uint64_t now_ns)
{
    struct sctp_sendv_spa how = {.sendv_flags = SCTP_SEND_SNDINFO_VALID | SCTP_SEND_PRINFO_VALID};
    how.sendv_sndinfo.snd_flags = SCTP_UNORDERED;
    how.sendv_sndinfo.snd_ppid = htonl(PPID_BINARY);
    how.sendv_prinfo.pr_policy = SCTP_PR_SCTP_RTX;
    if (sctp->state != FOLIOT__SCTP_OPEN || sctp->clogged)
        return FOLIOT__SCTP_NOT_SENT;
    sctp->emitted = false;
    if (usrsctp_sendv(sctp->socket, message, length, NULL, 0, &how, sizeof how, SCTP_SENDV_SPA, 0) <
        0)
        return FOLIOT__SCTP_NOT_SENT;
    if (!sctp->silent_ns)
        sctp->silent_ns = now_ns;
    sctp->clogged = !sctp->emitted;
    return sctp->emitted ? FOLIOT__SCTP_SENT : FOLIOT__SCTP_WAITS;
}

bool foliot__sctp_is_clogged(const foliot__sctp *sctp)
{
    return sctp->clogged;
}

uint64_t foliot__sctp_get_silent_ns(const foliot__sctp *sctp)
{
    return sctp->silent_ns;
}

// -- the filter. A pre-negotiated data channel needs unordered messages on stream 0, chunks that
// acknowledge or skip them, one handshake, heartbeats, and an end. It never needs ECN, AUTH,
// ASCONF, RE-CONFIG, I-DATA, NR-SACK, packet drop reports, padding, and error reports.

#define DATA_BYTES_MIN 17 // its head, and one byte
#define DATA_UNORDERED 4
#define INIT_BYTES 20 // without its parameters
#define INIT_BYTES_MAX 1280
#define SACK_BYTES 16
#define GAP_END_MAX 1024 // far beyond the chunks that are ever on their way
#define FORWARD_BYTES 8
#define HEARTBEAT_BYTES_MAX 256
#define ABORT_BYTES 4
#define PARAMETER_COOKIE 7
#define PARAMETER_FORWARD_TSN 0xC000

static uint32_t u16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t u32(const uint8_t *bytes)
{
    return u16(bytes) << 16 | u16(bytes + 2);
}

static size_t padded(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

// Copies a chunk, or its first `bytes`, with padding of zeros. Returns the padded length.
static size_t copy_chunk(const uint8_t *chunk, size_t bytes, uint8_t *kept)
{
    memset(kept + padded(bytes) - 4, 0, 4);
    memcpy(kept, chunk, bytes);
    kept[2] = (uint8_t)(bytes >> 8);
    kept[3] = (uint8_t)bytes;
    return padded(bytes);
}

// Whether parameters, or causes of an error, fill `length` bytes, padded; the last may not be.
static bool parameters_fill(const uint8_t *at, size_t length)
{
    while (length > 0) {
        size_t bytes = length >= 4 ? u16(at + 2) : 0;
        if (bytes < 4 || bytes > length)
            return false;
        bytes = padded(bytes) < length ? padded(bytes) : length;
        at += bytes;
        length -= bytes;
    }
    return true;
}

// Copies an INIT or INIT-ACK. It keeps two parameters: the state cookie of an INIT-ACK, and the
// support of partial reliability. usrsctp follows the lengths of others without end.
static size_t keep_init(const uint8_t *chunk, size_t length, bool acknowledges, uint8_t *kept)
{
    size_t used = INIT_BYTES;
    unsigned cookies = 0, partial = 0;
    if (length < INIT_BYTES || length > INIT_BYTES_MAX || u32(chunk + 4) == 0 ||
        u16(chunk + 12) == 0 || u16(chunk + 14) == 0 ||
        !parameters_fill(chunk + INIT_BYTES, length - INIT_BYTES))
        return 0;
    memcpy(kept, chunk, INIT_BYTES);
    for (size_t at = INIT_BYTES; at < length; at += padded(u16(chunk + at + 2))) {
        uint32_t type = u16(chunk + at);
        size_t bytes = u16(chunk + at + 2);
        bool is_partial = type == PARAMETER_FORWARD_TSN && bytes == 4,
             is_cookie = acknowledges && type == PARAMETER_COOKIE && bytes > 4;
        cookies += is_cookie;
        partial += is_partial;
        if ((is_cookie && cookies == 1) || (is_partial && partial == 1))
            used += copy_chunk(chunk + at, bytes, kept + used);
    }
    if (acknowledges && cookies != 1)
        return 0;
    kept[2] = (uint8_t)(used >> 8);
    kept[3] = (uint8_t)used;
    return used;
}

// Whether the gap blocks are in order, disjoint, and near: usrsctp walks through each one.
static bool sack_is_good(const uint8_t *chunk, size_t length)
{
    uint32_t before = 0;
    if (length < SACK_BYTES)
        return false;
    size_t gaps = u16(chunk + 12), duplicates = u16(chunk + 14);
    if (length != SACK_BYTES + 4 * (gaps + duplicates))
        return false;
    for (size_t i = 0; i < gaps; i++) {
        uint32_t start = u16(chunk + SACK_BYTES + 4 * i), end = u16(chunk + SACK_BYTES + 4 * i + 2);
        if (start <= before || end < start || end > GAP_END_MAX)
            return false;
        before = end;
    }
    return true;
}

static bool handshake_is_due(foliot__sctp_due *due)
{
    return due->opening && due->handshakes++ < FOLIOT__SCTP_HANDSHAKES_MAX;
}

// The cookie that opened the association comes again when its acknowledgement is lost. Any other
// cookie would restart the association.
static bool cookie_is_due(foliot__sctp_due *due, const uint8_t *chunk, size_t length)
{
    // The key is not a secret: no cookie is accepted whose own MAC is wrong.
    static const foliot__mac_key key = {"foliot cookies."};
    uint64_t hash = foliot__mac(&key, chunk, length);
    if (!due->opening)
        return hash == due->cookie;
    due->cookie = hash;
    return handshake_is_due(due);
}

typedef enum fate { MALFORMED, LEFT_OUT, KEPT } fate;

// `alone`: it is the only chunk of its packet; `first`: none came before it. `used`: bytes of
// `kept` that it takes.
static fate judge(foliot__sctp_due *due, const uint8_t *chunk, size_t length, bool first,
                  bool alone, uint8_t *kept, size_t *used)
{
    uint8_t type = chunk[0];
    size_t bytes = length;
    bool good;
    switch (type) {
    case FOLIOT__CHUNK_DATA:
        good = length >= DATA_BYTES_MIN && u16(chunk + 8) == 0 && (chunk[1] & DATA_UNORDERED);
        break;
    case FOLIOT__CHUNK_INIT:
    case FOLIOT__CHUNK_INIT_ACK:
        *used = alone && handshake_is_due(due)
                    ? keep_init(chunk, length, type == FOLIOT__CHUNK_INIT_ACK, kept)
                    : 0;
        return *used > 0 ? KEPT : MALFORMED;
    case FOLIOT__CHUNK_SACK:
        good = sack_is_good(chunk, length);
        break;
    case FOLIOT__CHUNK_HEARTBEAT:
    case FOLIOT__CHUNK_HEARTBEAT_ACK:
        good = length >= 8 && length <= HEARTBEAT_BYTES_MAX && u16(chunk + 4) == 1 &&
               u16(chunk + 6) == length - CHUNK_HEAD_BYTES;
        break;
    case FOLIOT__CHUNK_ABORT:
        good = parameters_fill(chunk + CHUNK_HEAD_BYTES, length - CHUNK_HEAD_BYTES);
        bytes = ABORT_BYTES; // nobody reads why
        break;
    case FOLIOT__CHUNK_COOKIE_ECHO:
        good = first && length > CHUNK_HEAD_BYTES && cookie_is_due(due, chunk, length);
        break;
    case FOLIOT__CHUNK_SHUTDOWN:
    case FOLIOT__CHUNK_SHUTDOWN_ACK:
    case FOLIOT__CHUNK_SHUTDOWN_COMPLETE:
    case FOLIOT__CHUNK_COOKIE_ACK:
        // Chunks of one length.
        good = length == (type == FOLIOT__CHUNK_SHUTDOWN ? 8 : CHUNK_HEAD_BYTES);
        break;
    case FOLIOT__CHUNK_FORWARD_TSN: // streams that it lists are of ordered messages
        good = length >= FORWARD_BYTES && length % 4 == 0;
        bytes = FORWARD_BYTES;
        break;
    default:
        return LEFT_OUT;
    }
    if (good)
        *used = copy_chunk(chunk, bytes, kept);
    return good ? KEPT : MALFORMED;
}

size_t foliot__sctp_filter(foliot__sctp_due *due, const uint8_t *packet, size_t length,
                           uint8_t kept[FOLIOT__SCTP_FILTER_BYTES_MAX])
{
    size_t end = FOLIOT__SCTP_HEAD_BYTES, used = 0;
    uint64_t seen[4] = {0}; // bits of types
    if (length < FOLIOT__SCTP_HEAD_BYTES + CHUNK_HEAD_BYTES ||
        length > FOLIOT__SCTP_FILTER_BYTES_MAX || length % 4 != 0 || u16(packet) != due->source ||
        u16(packet + 2) != due->destination ||
        (u32(packet + 4) == 0) != (packet[FOLIOT__SCTP_HEAD_BYTES] == FOLIOT__CHUNK_INIT))
        return 0;
    memcpy(kept, packet, FOLIOT__SCTP_HEAD_BYTES);
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; at < length;) {
        uint8_t type = packet[at];
        size_t bytes = u16(packet + at + 2); // there are 4 bytes at least
        uint64_t bit = (uint64_t)1 << type % 64;
        bool first = at == FOLIOT__SCTP_HEAD_BYTES, data = seen[0] & 1;
        if (bytes < CHUNK_HEAD_BYTES || bytes > length - at)
            return 0;
        bool alone = first && at + padded(bytes) == length;
        fate is = judge(due, packet + at, bytes, first, alone, kept + end, &used);
        // Data comes last, and nothing else twice.
        if (is == MALFORMED ||
            (is == KEPT && type != FOLIOT__CHUNK_DATA && (data || (seen[type / 64] & bit))))
            return 0;
        seen[type / 64] |= bit;
        end += is == KEPT ? used : 0;
        at += padded(bytes);
    }
    return end > FOLIOT__SCTP_HEAD_BYTES ? end : 0;
}

const uint8_t *foliot__sctp_find_chunk(const uint8_t *packet, size_t length, uint8_t type)
{
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= length;) {
        size_t bytes = u16(packet + at + 2);
        if (packet[at] == type)
            return packet + at;
        if (bytes < CHUNK_HEAD_BYTES)
            return NULL;
        at += padded(bytes);
    }
    return NULL;
}
