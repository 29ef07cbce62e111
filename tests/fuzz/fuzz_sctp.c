// SPDX-License-Identifier: MIT
// fuzz_sctp.c: any SCTP packets inside a data channel, while it opens and when it is open: from a
// peer that has the keys of DTLS. Two associations of this process are the two ends. A byte says
// what a record is, two say how long, and the chunks of a packet follow. Whatever comes costs
// little time and is answered with little, and the channel works afterwards, or is over. Its
// packets become no larger than a probe was.
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <usrsctp.h>

#include "base/assert.h"
#include "rtc/sctp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Flags in the first byte.
#define NO_TAG 1 // as an INIT has it
#define RELATIVE                                                                                   \
    2           // bytes 4 to 7 of each chunk count from what is due there; an answer to a
                // heartbeat is one to a probe, and its number counts from the last one's
#define OPENS 4 // before it, the handshake goes on to its end
#define TICKS 8
#define TALKS 16 // before it, both ends send messages: those of the victim stay on their way
#define PAD 132
#define RAW 32    // the packet's head is among the bytes
#define PROBES 64 // before it, time passes and the victim looks for its path's size
#define STEP_NS 120000000u
#define ANSWERS 4 // bytes for one that a packet may cause, and for a small one ...
#define ANSWER_BYTES 4000
#define CPU_NS_MAX 2000000000u // of a whole input

typedef struct end {
    foliot__sctp *sctp;
    uint8_t head[FOLIOT__SCTP_HEAD_BYTES]; // of its last packet that has a tag
    uint32_t tsn;                          // of its last data
    uint8_t probe[12];                     // what its last probe is answered with
    size_t emitted, probed;                // probed: the largest one
    uint32_t probes, packets, lost;        // packets, lost: without the probes
    struct {
        size_t length;
        uint8_t bytes[FOLIOT__SCTP_FILTER_BYTES_MAX];
    } queue[64]; // to the other
    uint32_t count;
} end;

static end victim, peer;
static uint32_t datagram_bytes = FOLIOT__SCTP_DATAGRAM_BYTES; // of the victim, at most
static size_t path_bytes = SIZE_MAX; // larger datagrams of the victim are lost
static bool
    disturbed; // something else than the two has been received or lost since they were created
static uint64_t messages;

static uint32_t read_u32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void write_u32(uint8_t *b, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void on_packet(void *user, const uint8_t *packet, size_t length)
{
    end *e = user;
    e->emitted += length;
    FOLIOT_ASSERT(length <= FOLIOT__SCTP_FILTER_BYTES_MAX);
    if (read_u32(packet + 4) != 0)
        memcpy(e->head, packet, sizeof e->head);
    if (packet[12] == FOLIOT__CHUNK_DATA)
        e->tsn = read_u32(packet + 16);
    const uint8_t *beat = foliot__sctp_find_chunk(packet, length, FOLIOT__CHUNK_HEARTBEAT);
    bool probe = beat && foliot__sctp_find_chunk(packet, length, PAD);
    if (probe) {
        memcpy(e->probe, beat + 8, sizeof e->probe);
        e->probed = length > e->probed ? length : e->probed;
        e->probes++;
    }
    bool arrives = e != &victim || length + FOLIOT__DTLS_OVER_BYTES <= path_bytes;
    e->packets += !probe && packet[12] == FOLIOT__CHUNK_DATA;
    e->lost += !arrives && !probe;
    if (!arrives || e->count == 64)
        return;
    memcpy(e->queue[e->count].bytes, packet, length);
    e->queue[e->count++].length = length;
}

static void on_received(void *user, const uint8_t *message, size_t length)
{
    (void)user, (void)message;
    FOLIOT_ASSERT(length > 0 && length <= FOLIOT__SCTP_MESSAGE_BYTES);
    messages++;
}

static const foliot__sctp_hook hook = {on_packet, on_received};

static void hang_up(void)
{
    foliot__sctp_destroy(victim.sctp);
    foliot__sctp_destroy(peer.sctp);
    memset(&victim, 0, sizeof victim);
    memset(&peer, 0, sizeof peer);
    for (int i = 0; i < 5; i++) // what the library frees by timers
        foliot__sctp_tick(20);
}

static void dial(void)
{
    static bool started;
    started = started || foliot__sctp_start(2);
    FOLIOT_ASSERT(started);
    hang_up();
    victim.sctp = foliot__sctp_create(FOLIOT__SCTP_PORT, datagram_bytes, &hook, &victim);
    peer.sctp = foliot__sctp_create(FOLIOT__SCTP_PORT, FOLIOT__SCTP_DATAGRAM_BYTES, &hook, &peer);
    FOLIOT_ASSERT(victim.sctp && peer.sctp);
    disturbed = false;
}

static void deliver(end *from, end *to)
{
    for (uint32_t i = 0; i < from->count; i++)
        foliot__sctp_receive(to->sctp, from->queue[i].bytes, from->queue[i].length);
    from->count = 0;
}

static bool is_open(void)
{
    return foliot__sctp_get_state(victim.sctp) == FOLIOT__SCTP_OPEN &&
           foliot__sctp_get_state(peer.sctp) == FOLIOT__SCTP_OPEN;
}

static void open_both(void)
{
    for (int round = 0; round < 8; round++) {
        deliver(&victim, &peer);
        deliver(&peer, &victim);
    }
    FOLIOT_ASSERT(disturbed || is_open());
}

// Its mark is right, its number is near, and its size is what the bytes say.
static void answer_probe(uint8_t *chunk)
{
    memcpy(chunk + 8, victim.probe, 8);
    chunk[17] = (uint8_t)(chunk[17] + victim.probe[9]);
    chunk[16] = (uint8_t)(chunk[16] + victim.probe[8]);
}

// Puts a packet together from chunks, as the peer's. Returns its length.
static size_t make_packet(uint8_t kind, const uint8_t *bytes, size_t length, uint8_t *packet)
{
    size_t head = kind & RAW ? 0 : FOLIOT__SCTP_HEAD_BYTES;
    memcpy(packet, peer.head, head);
    if (head && (kind & NO_TAG))
        memset(packet + 4, 0, 4);
    memcpy(packet + head, bytes, length);
    memset(packet + head + length, 0, 4);
    length += head;
    if (length < FOLIOT__SCTP_HEAD_BYTES)
        return length;
    for (size_t at = FOLIOT__SCTP_HEAD_BYTES; (kind & RELATIVE) && at + 8 <= length;) {
        size_t chunk = (size_t)packet[at + 2] << 8 | packet[at + 3];
        uint32_t due = packet[at] == FOLIOT__CHUNK_SACK ? victim.tsn : peer.tsn;
        if (packet[at] != FOLIOT__CHUNK_HEARTBEAT_ACK)
            write_u32(packet + at + 4, read_u32(packet + at + 4) + due);
        else if (length - at >= 8 + sizeof victim.probe)
            answer_probe(packet + at);
        if (chunk < 4)
            break;
        at += (chunk + 3) / 4 * 4;
    }
    memset(packet + 8, 0, 4);
    uint32_t checksum = usrsctp_crc32c(packet, length);
    memcpy(packet + 8, &checksum, sizeof checksum);
    return length;
}

static void inject(uint8_t kind, const uint8_t *bytes, size_t length)
{
    uint8_t packet[FOLIOT__SCTP_FILTER_BYTES_MAX + 64];
    length =
        length < FOLIOT__SCTP_FILTER_BYTES_MAX - 16 ? length : FOLIOT__SCTP_FILTER_BYTES_MAX - 16;
    size_t packet_bytes = make_packet(kind, bytes, length, packet);
    victim.emitted = 0;
    disturbed = true;
    foliot__sctp_receive(victim.sctp, packet, packet_bytes);
    // Waiting and lost data may go out now, but no more than that.
    FOLIOT_ASSERT(victim.emitted <= ANSWERS * packet_bytes + 64 * FOLIOT__SCTP_PACKET_BYTES);
    uint32_t most = (uint32_t)victim.probed + FOLIOT__DTLS_OVER_BYTES + 3;
    FOLIOT_ASSERT(foliot__sctp_get_datagram_bytes(victim.sctp) <=
                  (most > FOLIOT__PATH_BYTES_MIN ? most : FOLIOT__PATH_BYTES_MIN));
    if (foliot__sctp_get_state(victim.sctp) == FOLIOT__SCTP_OPENING)
        FOLIOT_ASSERT(victim.emitted <= packet_bytes + ANSWER_BYTES);
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void talk(uint64_t now_ns)
{
    static const uint8_t message[100];
    foliot__sctp_send(victim.sctp, message, sizeof message, now_ns);
    foliot__sctp_send(peer.sctp, message, sizeof message, now_ns);
    victim.count = 0;
    disturbed = true;
    deliver(&peer, &victim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t begun_ns = cpu_ns(), now_ns = 1;
    dial();
    for (size_t at = 0; at + 3 <= size;) {
        uint8_t kind = data[at];
        size_t length = (size_t)data[at + 1] << 8 | data[at + 2];
        at += 3;
        length = length < size - at ? length : size - at;
        if (kind & OPENS)
            open_both();
        if (kind & TALKS)
            talk(++now_ns);
        if (kind & PROBES)
            foliot__sctp_probe(victim.sctp, now_ns += STEP_NS);
        inject(kind, data + at, length);
        at += length;
        if (kind & TICKS)
            foliot__sctp_tick(20);
        if (foliot__sctp_get_state(victim.sctp) == FOLIOT__SCTP_OVER)
            dial();
    }
    open_both();
    hang_up();
    FOLIOT_ASSERT(cpu_ns() - begun_ns < CPU_NS_MAX);
    return 0;
}
