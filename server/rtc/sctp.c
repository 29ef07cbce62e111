// SPDX-License-Identifier: MIT
// sctp.c: see sctp.h. usrsctp knows an association by a number, never by an address of memory: it
// writes it into cookies, which travel. A number whose association is gone is ignored.
#include "rtc/present.h"

#if FOLIOT__RTC_PRESENT

#include "rtc/sctp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <usrsctp.h>

#include "rtc/sctp_filter.h"

#define PPID_BINARY 53
#define CHECKSUM_AT 8       // of a packet's head
#define RECEIVE_BYTES 65536 // holds fragments that wait for the rest of a message
#define SEND_BYTES 16384
#define CHUNKS_MAX 64  // on the queues of one association
#define RTO_MIN_MS 400 // the other side may wait 200 ms before it acknowledges
#define RTO_MAX_MS 1000
#define RETRANSMISSIONS_MAX 20
#define STOP_TRIES 100

struct foliot__sctp {
    struct socket *socket;
    const foliot__sctp_hook *hook;
    void *user;
    uintptr_t number;
    foliot__sctp_state state;
    bool clogged, emitted; // emitted: a packet with data has gone out
    uint64_t silent_ns;
    foliot__sctp_due due;
};

static struct {
    bool started;
    foliot__sctp **associations; // by number % count
    uint32_t count;
    uintptr_t serial; // of the last round of numbers
} all;

static foliot__sctp *find(const void *address)
{
    uintptr_t number = (uintptr_t)address;
    foliot__sctp *s = all.count ? all.associations[number % all.count] : NULL;
    return s && s->number == number ? s : NULL;
}

static int on_output(void *address, void *packet, size_t length, uint8_t tos, uint8_t set_df)
{
    foliot__sctp *s = find(address);
    (void)tos;
    (void)set_df;
    if (!s)
        return 0;
    if (foliot__sctp_has_chunk(packet, length, FOLIOT__CHUNK_DATA)) {
        s->emitted = true;
        s->clogged = false;
    }
    s->hook->send(s->user, packet, length);
    return 0;
}

static void on_notification(foliot__sctp *s, const union sctp_notification *n, size_t length)
{
    if (length < sizeof n->sn_header || n->sn_header.sn_type != SCTP_ASSOC_CHANGE ||
        length < sizeof n->sn_assoc_change)
        return;
    uint16_t what = n->sn_assoc_change.sac_state;
    if (what == SCTP_COMM_UP && s->state == FOLIOT__SCTP_OPENING)
        s->state = FOLIOT__SCTP_OPEN;
    else if (what != SCTP_COMM_UP) // lost, shut down, cannot start, or begun anew by the other side
        s->state = FOLIOT__SCTP_OVER;
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
    if (flags & MSG_NOTIFICATION)
        on_notification(s, bytes, length);
    else if (!(flags & MSG_EOR) || length > FOLIOT__SCTP_MESSAGE_BYTES)
        s->state = FOLIOT__SCTP_OVER; // longer than was agreed on
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
                                    .spp_pathmtu = FOLIOT__SCTP_PACKET_BYTES};
    if (usrsctp_bind(s->socket, (struct sockaddr *)&own, sizeof own) != 0)
        return false;
    if (usrsctp_connect(s->socket, (struct sockaddr *)&other, sizeof other) != 0 &&
        errno != EINPROGRESS)
        return false;
    memcpy(&path.spp_address, &other, sizeof other);
    return set(s->socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
}

static uintptr_t free_number(void)
{
    for (uint32_t i = 0; i < all.count; i++)
        if (!all.associations[i]) // none beside it has its place; the round makes it new
            return all.serial++ * all.count + i;
    return 0;
}

foliot__sctp *foliot__sctp_create(uint16_t peer_port, const foliot__sctp_hook *hook, void *user)
{
    uintptr_t number = free_number();
    foliot__sctp *s = number ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    *s = (foliot__sctp){.hook = hook, .user = user, .number = number};
    s->due = (foliot__sctp_due){.source = peer_port, .destination = FOLIOT__SCTP_PORT};
    all.associations[number % all.count] = s;
    usrsctp_register_address((void *)number);
    s->socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, on_received, NULL, 0, s);
    if (s->socket && set_up(s->socket) && connect_to(s, peer_port))
        return s;
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
    if (bytes != length || memcmp(kept, packet, length) != 0) { // DTLS has authenticated it
        memset(kept + CHECKSUM_AT, 0, sizeof(uint32_t));
        uint32_t checksum = usrsctp_crc32c(kept, bytes);
        memcpy(kept + CHECKSUM_AT, &checksum, sizeof checksum);
    }
    if (foliot__sctp_has_chunk(kept, bytes, FOLIOT__CHUNK_SACK) ||
        foliot__sctp_has_chunk(kept, bytes, FOLIOT__CHUNK_HEARTBEAT_ACK))
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

#endif
