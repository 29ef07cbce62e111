// SPDX-License-Identifier: MIT
// agones.c: see agones.h. The input comes from this machine, and is still bounded and checked.
#include "life.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "program/process.h"

#define REQUEST_MS 2000
#define AGAIN_NS 500000000u
#define AGAIN_NS_MAX 10000000000u
#define HEALTH_PERIOD_S 5 // Agones's own default
#define KEY_BYTES 320     // a label's key has 253 bytes, a slash and 63 more at most

// -- a GameServer

typedef void member_reader(foliot__json_reader *r, const char *key, foliot__agones_server *out);

// null counts as missing.
static void each_member(foliot__json_reader *r, member_reader *read, foliot__agones_server *out)
{
    char key[KEY_BYTES];
    if (foliot__json_peek(r) != '{') {
        foliot__json_skip(r);
        return;
    }
    foliot__json_enter(r, '{');
    while (foliot__json_more(r))
        if (foliot__json_key(r, key, sizeof key))
            read(r, key, out);
}

static void read_text(foliot__json_reader *r, char out[FOLIOT__AGONES_TEXT_BYTES])
{
    char text[FOLIOT__AGONES_TEXT_BYTES];
    if (foliot__json_peek(r) != '"')
        foliot__json_skip(r);
    else if (foliot__json_text_value(r, text, sizeof text))
        foliot__text_clean(out, FOLIOT__AGONES_TEXT_BYTES, text);
}

// 64-bit numbers are strings, 32-bit numbers are not.
static uint64_t read_count(foliot__json_reader *r)
{
    char text[FOLIOT__JSON_NUMBER_BYTES] = "";
    uint64_t value = 0;
    char kind = foliot__json_peek(r);
    bool fine = kind == '"'   ? foliot__json_text_value(r, text, sizeof text)
                : kind == '0' ? foliot__json_number(r, text)
                              : (foliot__json_skip(r), false);
    return fine && foliot__parse_count(text, &value) ? value : 0;
}

// A label or an annotation. Those of other programs may be long.
static void read_mark(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "foliot/scene") == 0)
        read_text(r, out->scene);
    else if (strcmp(key, "foliot/session") == 0)
        read_text(r, out->session);
    else if (strcmp(key, "agones.dev/last-allocated") == 0)
        read_text(r, out->allocated);
    else
        foliot__json_skip(r);
}

static void read_meta(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "name") == 0)
        read_text(r, out->name);
    else if (strcmp(key, "annotations") == 0 || strcmp(key, "labels") == 0)
        each_member(r, read_mark, out);
    else
        foliot__json_skip(r);
}

static void read_counter(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    out->counted |= strcmp(key, "sessions") == 0;
    foliot__json_skip(r);
}

static void read_health(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "period_seconds") == 0) {
        uint64_t seconds = read_count(r);
        out->health_period_s = seconds > 0 && seconds <= 3600 ? seconds : HEALTH_PERIOD_S;
    } else if (strcmp(key, "disabled") == 0 && foliot__json_peek(r) == 't') {
        out->health_disabled = foliot__json_word(r, "true");
    } else {
        foliot__json_skip(r);
    }
}

static void read_spec(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "health") == 0)
        each_member(r, read_health, out);
    else
        foliot__json_skip(r);
}

static void read_port(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "port") == 0 && !out->port) {
        uint64_t port = read_count(r);
        out->port = port <= 65535 ? (uint16_t)port : 0;
    } else {
        foliot__json_skip(r);
    }
}

static void read_status(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "state") == 0) {
        read_text(r, out->state);
    } else if (strcmp(key, "address") == 0 && foliot__json_peek(r) == '"') {
        read_text(r, out->address);
    } else if (strcmp(key, "ports") == 0 && foliot__json_peek(r) == '[') {
        foliot__json_enter(r, '[');
        while (foliot__json_more(r))
            each_member(r, read_port, out);
    } else if (strcmp(key, "counters") == 0) {
        each_member(r, read_counter, out);
    } else {
        foliot__json_skip(r);
    }
}

static void read_server(foliot__json_reader *r, const char *key, foliot__agones_server *out)
{
    if (strcmp(key, "object_meta") == 0)
        each_member(r, read_meta, out);
    else if (strcmp(key, "spec") == 0)
        each_member(r, read_spec, out);
    else if (strcmp(key, "status") == 0)
        each_member(r, read_status, out);
    else if (strcmp(key, "result") == 0) // of a watch
        each_member(r, read_server, out);
    else
        foliot__json_skip(r);
}

// False, and *problem, if it is not a GameServer.
static bool read_game_server(const char *text, size_t length, foliot__agones_server *out,
                             const char **problem)
{
    foliot__json_reader r = foliot__json_reader_of(text, length);
    *out = (foliot__agones_server){.health_period_s = HEALTH_PERIOD_S};
    each_member(&r, read_server, out);
    bool fine = foliot__json_end(&r) && !r.problem;
    *problem = r.problem ? r.problem : !*out->state ? "it has no status.state" : NULL;
    return fine && *out->state;
}

// -- connections

// The process that connects for this one, which may connect to nothing once it serves: sandbox.h.
static struct {
    int socket; // -1: there is none, and this process connects itself
    pthread_mutex_t mutex;
} connector = {.socket = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};

static int open_connection(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = REQUEST_MS / 1000};
    int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened < 0)
        return -1;
    setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(opened, (const struct sockaddr *)&to, sizeof to) == 0)
        return opened;
    int error = errno;
    close(opened);
    errno = error;
    return -1;
}

bool foliot__agones_start_connector(uint16_t port, int (*drop)(void))
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        if (drop() != 0)
            _exit(1);
        // Answers each byte with a connection to that one port, or with an errno. Ends with the
        // server, when its socket closes. Signals that are meant for the server also reach this
        // process, since it is in its group.
        char asked;
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        for (;;) {
            ssize_t length = recv(ends[1], &asked, sizeof asked, 0);
            if (length < 0 && errno == EINTR)
                continue;
            if (length <= 0)
                _exit(0);
            int opened = open_connection(port), error = opened < 0 ? errno : 0;
            (void)!foliot__descriptor_send(ends[1], &error, sizeof error, opened, 0);
            if (opened >= 0)
                close(opened);
        }
    }
    close(ends[1]);
    if (process < 0)
        close(ends[0]);
    else
        connector.socket = ends[0];
    return process >= 0;
}

static int ask_for_connection(void)
{
    int error = EPIPE, opened = -1;
    pthread_mutex_lock(&connector.mutex);
    if (send(connector.socket, "", 1, MSG_NOSIGNAL) > 0)
        (void)!foliot__descriptor_receive(connector.socket, &error, sizeof error, &opened);
    pthread_mutex_unlock(&connector.mutex);
    errno = error;
    return opened;
}

static int connect_to(uint16_t port)
{
    return connector.socket >= 0 ? ask_for_connection() : open_connection(port);
}

// -- requests

static bool send_request(int opened, uint16_t port, const char *method, const char *path,
                         const char *body)
{
    char text[1024];
    int length =
        snprintf(text, sizeof text,
                 "%s %s HTTP/1.1\r\nHost: localhost:%u\r\nContent-Type: application/json\r\n"
                 "Connection: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 method, path, port, strncmp(path, "/watch", 6) ? "close" : "keep-alive",
                 strlen(body), body);
    return length > 0 && (size_t)length < sizeof text &&
           send(opened, text, (size_t)length, MSG_NOSIGNAL) == length;
}

static uint64_t now_ms(void)
{
    return foliot__clock_now_ns() / 1000000u;
}

// Reads until the body has its stated length, or the connection ends. NULL: no whole answer.
static const char *receive_answer(int opened, char *text, size_t capacity)
{
    size_t length = 0, wanted = SIZE_MAX;
    char *body = NULL;
    uint64_t end = now_ms() + REQUEST_MS;
    while (length < wanted && length + 1 < capacity && now_ms() < end) {
        ssize_t got = recv(opened, text + length, capacity - 1 - length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
        text[length] = 0;
        if (!body && (body = strstr(text, "\r\n\r\n"))) {
            const char *said = strcasestr(text, "\r\ncontent-length:");
            body += 4;
            if (said && said < body)
                wanted = (size_t)(body - text) + strtoul(said + 17, NULL, 10);
        }
    }
    text[length] = 0;
    return body && (wanted == SIZE_MAX || length >= wanted) ? body : NULL;
}

bool foliot__agones_request(uint16_t port, const char *method, const char *path, const char *body,
                            char *answer, size_t capacity)
{
    char own[4096];
    char *text = answer ? answer : own;
    int opened = connect_to(port);
    if (opened < 0)
        return false;
    const char *said = send_request(opened, port, method, path, body)
                           ? receive_answer(opened, text, answer ? capacity : sizeof own)
                           : NULL;
    int status = 0;
    close(opened);
    bool fine = said && sscanf(text, "HTTP/1.%*d %3d", &status) == 1 && status / 100 == 2;
    if (said && answer)
        memmove(answer, said, strlen(said) + 1);
    return fine;
}

bool foliot__agones_get_server(uint16_t port, foliot__agones_server *out, char *problem,
                               size_t problem_bytes)
{
    static char answer[FOLIOT__AGONES_ANSWER_BYTES];
    const char *why = "";
    errno = 0;
    if (!foliot__agones_request(port, "GET", "/gameserver", "", answer, sizeof answer)) {
        snprintf(problem, problem_bytes, "%s",
                 errno ? strerror(errno) : "the answer's status is not 200");
        return false;
    }
    if (read_game_server(answer, strlen(answer), out, &why))
        return true;
    snprintf(problem, problem_bytes, "/gameserver is not understood: %s", why);
    return false;
}

// -- the watch

static void lose_watch(foliot__agones_watch *w, uint64_t now_ns)
{
    if (w->socket >= 0)
        close(w->socket);
    w->socket = -1;
    w->again_ns = now_ns + w->wait_ns;
    w->wait_ns = w->wait_ns * 2 < AGAIN_NS_MAX ? w->wait_ns * 2 : AGAIN_NS_MAX;
}

void foliot__agones_watch_start(foliot__agones_watch *w)
{
    w->socket = -1;
    w->again_ns = 0;
    w->wait_ns = AGAIN_NS;
}

void foliot__agones_watch_stop(foliot__agones_watch *w)
{
    if (w->socket >= 0)
        close(w->socket);
    w->socket = -1;
}

// Reads more bytes. False: there are none now.
static bool receive(foliot__agones_watch *w, uint64_t now_ns)
{
    ssize_t got = recv(w->socket, w->bytes, sizeof w->bytes, 0);
    w->taken = 0;
    w->got = got > 0 ? (size_t)got : 0;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        lose_watch(w, now_ns);
    return got > 0;
}

// One byte of the head, which ends with an empty line. False: the status is not 200.
static bool read_head(foliot__agones_watch *w, char byte)
{
    if (w->length + 1 >= sizeof w->line)
        return false;
    w->line[w->length++] = byte;
    w->line[w->length] = 0;
    if (w->length < 4 || memcmp(w->line + w->length - 4, "\r\n\r\n", 4) != 0)
        return true;
    int status = 0;
    w->head = true;
    w->length = 0;
    return sscanf(w->line, "HTTP/1.%*d %3d", &status) == 1 && status == 200 &&
           strcasestr(w->line, "\r\ntransfer-encoding: chunked");
}

// One byte between chunks: the end of the last one, then the size of the next.
static bool read_size(foliot__agones_watch *w, char byte)
{
    if (byte == '\r')
        return true;
    if (byte != '\n') {
        w->size[w->size_count] = byte;
        return ++w->size_count < sizeof w->size - 1;
    }
    if (w->ends_chunk) {
        w->ends_chunk = false;
        return w->size_count == 0;
    }
    w->size[w->size_count] = 0;
    char *end;
    w->chunk_left = strtoull(w->size, &end, 16);
    bool fine = end != w->size && (*end == 0 || *end == ';') && w->chunk_left > 0;
    w->size_count = 0;
    w->in_chunk = true;
    return fine;
}

// One byte of a line. True: the line is whole.
static bool read_line(foliot__agones_watch *w, char byte)
{
    if (--w->chunk_left == 0) {
        w->in_chunk = false;
        w->ends_chunk = true;
    }
    if (byte == '\n')
        return true;
    if (w->length + 1 >= sizeof w->line)
        w->too_long = true;
    else
        w->line[w->length++] = byte;
    return false;
}

static bool read_bytes(foliot__agones_watch *w, uint64_t now_ns, foliot__agones_server *out)
{
    const char *problem;
    while (w->taken < w->got) {
        char byte = w->bytes[w->taken++];
        if (!w->in_chunk || !w->head) {
            if (!(w->head ? read_size(w, byte) : read_head(w, byte))) {
                lose_watch(w, now_ns);
                return false;
            }
            continue;
        }
        if (!read_line(w, byte))
            continue;
        bool fine = !w->too_long && read_game_server(w->line, w->length, out, &problem);
        w->length = 0;
        w->too_long = false;
        if (fine) {
            w->wait_ns = AGAIN_NS;
            return true;
        }
    }
    return false;
}

bool foliot__agones_watch_poll(foliot__agones_watch *w, uint16_t port, uint64_t now_ns,
                               foliot__agones_server *out)
{
    if (w->socket < 0 && now_ns >= w->again_ns) {
        w->socket = connect_to(port);
        w->head = w->in_chunk = w->ends_chunk = w->too_long = false;
        w->size_count = 0;
        w->length = w->got = w->taken = 0;
        if (w->socket < 0 || !send_request(w->socket, port, "GET", "/watch/gameserver", "") ||
            fcntl(w->socket, F_SETFL, O_NONBLOCK) != 0)
            lose_watch(w, now_ns);
    }
    while (w->socket >= 0) {
        if (read_bytes(w, now_ns, out))
            return true;
        if (w->socket < 0 || !receive(w, now_ns))
            return false;
    }
    return false;
}
