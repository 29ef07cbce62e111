// SPDX-License-Identifier: MIT
// log.c: one table of events, each a sentence; base/log.h writes them and limits their rate. A
// separate thread writes lines to stderr, so that no tick waits for a slow reader. Lines that do
// not fit into its ring are dropped and counted.
#include "report.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#include "base/clock.h"
#include "base/log.h"

#define RING_BYTES (256u << 10)
#define WRITE_BYTES 4096u // at once
#define FLUSH_MS 1000u    // that the end waits for a reader

static foliot__log log_;

static struct {
    bool runs, closing, writing;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t filled, emptied;
    size_t first, count;
    uint64_t lost; // lines
    char bytes[RING_BYTES];
} ring;

// -- the thread that writes

static void write_all(const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, length);
        struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
        if (written < 0 && errno == EAGAIN)
            poll(&ready, 1, -1);
        else if (written < 0 && errno != EINTR)
            return; // stderr has no reader
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
}

static void write_lines(void *user)
{
    char bytes[WRITE_BYTES];
    (void)user;
    uv_mutex_lock(&ring.mutex);
    for (;;) {
        while (ring.count == 0 && !ring.closing)
            uv_cond_wait(&ring.filled, &ring.mutex);
        if (ring.count == 0)
            break;
        size_t length = RING_BYTES - ring.first < ring.count ? RING_BYTES - ring.first : ring.count;
        length = length < WRITE_BYTES ? length : WRITE_BYTES;
        memcpy(bytes, ring.bytes + ring.first, length);
        ring.first = (ring.first + length) % RING_BYTES;
        ring.count -= length;
        ring.writing = true;
        uv_mutex_unlock(&ring.mutex);
        write_all(bytes, length);
        uv_mutex_lock(&ring.mutex);
        ring.writing = false;
        if (ring.count == 0)
            uv_cond_broadcast(&ring.emptied);
    }
    uv_mutex_unlock(&ring.mutex);
}

static void push(const char *bytes, size_t length)
{
    if (!ring.runs) {
        write_all(bytes, length);
        return;
    }
    uv_mutex_lock(&ring.mutex);
    bool fits = length <= RING_BYTES - ring.count;
    for (size_t i = 0; fits && i < length; i++)
        ring.bytes[(ring.first + ring.count++) % RING_BYTES] = bytes[i];
    ring.lost += !fits;
    uv_cond_signal(&ring.filled);
    uv_mutex_unlock(&ring.mutex);
}

static ssize_t push_line(void *cookie, const char *bytes, size_t length)
{
    (void)cookie;
    push(bytes, length);
    return (ssize_t)length;
}

static FILE *open_ring(void)
{
    static char line[16384]; // one write a line
    FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = push_line});
    if (!out)
        return NULL;
    setvbuf(out, line, _IOFBF, sizeof line);
    uv_mutex_init(&ring.mutex);
    uv_cond_init(&ring.filled);
    uv_cond_init(&ring.emptied);
    ring.runs = uv_thread_create(&ring.thread, write_lines, NULL) == 0;
    return out;
}

void foliot__log_flush(void)
{
    if (!ring.runs)
        return;
    uint64_t end = uv_hrtime() + FLUSH_MS * 1000000u, now;
    uv_mutex_lock(&ring.mutex);
    while ((ring.count > 0 || ring.writing) && (now = uv_hrtime()) < end)
        uv_cond_timedwait(&ring.emptied, &ring.mutex, end - now);
    uv_mutex_unlock(&ring.mutex);
}

static uint64_t reset_lost(void)
{
    if (!ring.runs)
        return 0;
    uv_mutex_lock(&ring.mutex);
    uint64_t lost = ring.count < RING_BYTES / 2 ? ring.lost : 0;
    ring.lost -= lost;
    uv_mutex_unlock(&ring.mutex);
    return lost;
}

// -- lines

static const struct {
    foliot__log_level level;
    const char *name, *text; // the words around the event's own text
} events[] = {
    [FOLIOT_SERVER_JOINED] = {FOLIOT__LOG_INFO, "joined", "%s joined as %s"},
    [FOLIOT_SERVER_RESUMED] = {FOLIOT__LOG_INFO, "resumed", "%s came back as %s"},
    [FOLIOT_SERVER_LOST] = {FOLIOT__LOG_INFO, "lost",
                            "%s (%s) lost its connection; its slot is kept for a while"},
    [FOLIOT_SERVER_LEFT] = {FOLIOT__LOG_INFO, "left", "%s (%s) left"},
    [FOLIOT_SERVER_REFUSED] = {FOLIOT__LOG_INFO, "refused", "refused: %s"},
    [FOLIOT_SERVER_DROPPED] = {FOLIOT__LOG_WARNING, "dropped", "%s"},
    [FOLIOT_SERVER_LATE] = {FOLIOT__LOG_WARNING, "late", "ticks are up to %s late; catching up"},
    [FOLIOT_SERVER_FROZEN] = {FOLIOT__LOG_WARNING, "frozen",
                              "a body's state is non-finite or beyond 2^40; the body is frozen%s"},
    [FOLIOT_SERVER_RECORDING_STOPPED] = {FOLIOT__LOG_ERROR, "recording-stopped",
                                         "the recording stopped: %s"},
    [FOLIOT_SERVER_ENDED] = {FOLIOT__LOG_INFO, "ended", "the session reached its last tick%s"},
    [FOLIOT_SERVER_VIOLATION] = {FOLIOT__LOG_WARNING, "lied", "%s (%s)"},
    [FOLIOT_SERVER_DIVERGED] = {FOLIOT__LOG_WARNING, "diverged", "%s (%s) has diverged"},
    [FOLIOT_SERVER_FOUND] = {FOLIOT__LOG_WARNING, "found", "the divergence of %s (%s) was located"},
    [FOLIOT_SERVER_SPENT] = {FOLIOT__LOG_WARNING, "token-spent",
                             "somebody presented a token of %s (%s) that has been replaced: the "
                             "player lost the new one, or a token was stolen"},
    [FOLIOT_SERVER_REFUSALS] = {FOLIOT__LOG_WARNING, "refusals",
                                "datagrams from the network are refused: %s"},
    [FOLIOT_SERVER_STEP_FAILED] = {FOLIOT__LOG_ERROR, "step-failed", "the session has ended: %s"},
    [FOLIOT_SERVER_RULES_STOPPED] =
        {FOLIOT__LOG_ERROR, "rules-stopped",
         "the rules stopped, and the session continues without them: %s"},
    [FOLIOT_SERVER_RULES_DROPPED] = {FOLIOT__LOG_WARNING, "rules-dropped",
                                     "a callback of the rules was dropped: %s"},
    [FOLIOT_SERVER_ORDERS_REFUSED] = {FOLIOT__LOG_WARNING, "orders-refused",
                                      "orders of %s (%s) exceeded a player's budget of a tick"},
    [FOLIOT_SERVER_GAME_ENDED] = {FOLIOT__LOG_INFO, "game-ended", "the game has ended: %s"},
    [FOLIOT_SERVER_KIND] = {FOLIOT__LOG_INFO, "kind", "%s (%s)"},
    [FOLIOT_SERVER_HEALED] = {FOLIOT__LOG_INFO, "healed", "%s (%s) has the server's state again"},
    [FOLIOT_SERVER_BEHIND] = {FOLIOT__LOG_WARNING, "behind",
                              "%s (%s) fell behind, and is sent the state again"},
};

static void now(uint64_t *monotonic_ns, int64_t *unix_ns)
{
    *monotonic_ns = foliot__clock_now_ns();
    *unix_ns = (int64_t)foliot__clock_ns(CLOCK_REALTIME);
}

bool foliot__log_start(const char *format)
{
    bool json = strcmp(format, "json") == 0;
    uint64_t monotonic_ns;
    int64_t unix_ns;
    now(&monotonic_ns, &unix_ns);
    FILE *out = json || strcmp(format, "text") == 0 ? open_ring() : NULL;
    return out && foliot__log_open(&log_, out, json, FOLIOT__LOG_INFO, monotonic_ns);
}

void foliot__log_stop(void)
{
    foliot__log_close(&log_);
    // The thread is abandoned if stderr is blocked.
    foliot__log_flush();
    if (!ring.runs)
        return;
    uv_mutex_lock(&ring.mutex);
    bool empty = ring.count == 0 && !ring.writing;
    ring.closing = true;
    uv_cond_signal(&ring.filled);
    uv_mutex_unlock(&ring.mutex);
    if (empty)
        uv_thread_join(&ring.thread);
}

void foliot__log_lines(const char *text)
{
    push(text, strlen(text));
}

// Sets the time, and reports lines that nobody read.
static void prepare(void)
{
    uint64_t monotonic_ns;
    int64_t unix_ns;
    now(&monotonic_ns, &unix_ns);
    foliot__log_at(&log_, monotonic_ns, unix_ns);
    uint64_t lost = reset_lost();
    if (lost && foliot__log_begin(&log_, FOLIOT__LOG_WARNING, "lines-lost",
                                  "lines were left out: nobody read them in time")) {
        foliot__log_count(&log_, "lines", lost);
        foliot__log_end(&log_);
    }
}

static bool begin(foliot__log_level level, const char *event, const char *sentence)
{
    prepare();
    return foliot__log_begin(&log_, level, event, sentence);
}

void foliot__log_note(const char *event, const char *sentence)
{
    if (begin(FOLIOT__LOG_INFO, event, sentence))
        foliot__log_end(&log_);
}

void foliot__log_admin(const char *action)
{
    char sentence[FOLIOT__LOG_TEXT_BYTES];
    snprintf(sentence, sizeof sentence, "admin: %s", action);
    prepare();
    if (foliot__log_begin_unlimited(&log_, FOLIOT__LOG_INFO, "admin", sentence))
        foliot__log_end(&log_);
}

void foliot__log_warning(const char *event, const char *session, const char *sentence,
                         foliot_status status)
{
    char line[FOLIOT_NAME_BYTES + FOLIOT__LOG_TEXT_BYTES];
    snprintf(line, sizeof line, "%s: %s", session, sentence);
    if (!begin(FOLIOT__LOG_WARNING, event, line))
        return;
    foliot__log_text(&log_, "session", session);
    foliot__log_text(&log_, "status", foliot_status_get_name(status));
    foliot__log_end(&log_);
}

void foliot__log_event(const foliot_server_event *event)
{
    char sentence[FOLIOT__LOG_TEXT_BYTES];
    char who[24] = "a spectator";
    if (event->player != FOLIOT_NO_PLAYER)
        snprintf(who, sizeof who, "player %u", event->player);
    int used =
        snprintf(sentence, sizeof sentence, "%s%s", event->session, *event->session ? ": " : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sentence + used, sizeof sentence - (size_t)used, events[event->kind].text, event->text,
             who);
#pragma GCC diagnostic pop
    if (!begin(events[event->kind].level, events[event->kind].name, sentence))
        return;
    foliot__log_text(&log_, "session", event->session);
    foliot__log_count(&log_, "tick", event->tick);
    if (event->player != FOLIOT_NO_PLAYER)
        foliot__log_count(&log_, "player", event->player);
    foliot__log_count(&log_, "value", event->value);
    if (event->status != FOLIOT_STATUS_OK)
        foliot__log_text(&log_, "status", foliot_status_get_name(event->status));
    foliot__log_end(&log_);
}
