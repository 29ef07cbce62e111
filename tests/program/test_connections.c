// SPDX-License-Identifier: MIT
// test_connections.c: many requests on one connection. Goal: each has its answer, in order, however
// they are cut and whenever bodies come; nothing that a connection sends keeps the service from
// answering others. Method: a real service on the loopback; every split of some sequences; and
// scripts of a seed, as the fuzzer of connections has them.
// Tier: test
#include "check.h"

#include <pthread.h>

#include "../fuzz/http_connection.h"
#include "http/intake.h"

#define SCRIPTS 600
#define SCRIPT_BYTES 40
#define H "Host: localhost\r\n"

typedef struct sequence {
    const char *bytes, *statuses; // "200 200 ": of the answers that come
} sequence;

static const sequence sequences[] = {
    {"GET /livez HTTP/1.1\r\n" H "\r\nPOST /length HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}",
     "200 200 "},
    {"GET /livez HTTP/1.1\r\n" H "\r\nGET /livez HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}",
     "200 400 "},
    {"PUT /length HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}GET /later HTTP/1.1\r\n" H "\r\n",
     "200 200 "},
    {"POST /length HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\nGET /livez HTTP/1.1\r\n" H "\r\n",
     "200 200 "},
    {"GET /later HTTP/1.1\r\n" H "\r\nGET /livez HTTP/1.1\r\n" H "\r\nTRACE / HTTP/1.1\r\n\r\n",
     "200 200 501 "},
    {"POST /guarded HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n{}GET /livez HTTP/1.1\r\n" H "\r\n",
     "401 "},
    // Targets in absolute form (RFC 9112, section 3.2.2): their host counts, and not the header's.
    {"GET http://localhost/livez HTTP/1.1\r\n" H
     "\r\nPOST HTTPS://127.0.0.1:81/length HTTP/1.1\r\nContent-Length: 2\r\n"
     "Host: other.example\r\n\r\n{}",
     "200 200 "},
    {"GET http://other.example/livez HTTP/1.1\r\n" H "\r\n", "421 "},
    {"GET http://localhost/livez HTTP/1.0\r\n\r\n", "200 "},
    {"GET http://localhost/livez HTTP/1.1\r\n\r\n", "400 "}, // a Host header is due
    {"GET http://localhost HTTP/1.1\r\nHost:\r\n\r\n", "404 "},
    {"GET http://localhost?q HTTP/1.1\r\n" H "\r\n", "404 "},
    {"GET http:///livez HTTP/1.1\r\n" H "\r\n", "400 "},
    {"GET http://ann@localhost/livez HTTP/1.1\r\n" H "\r\n", "400 "},
    {"GET ftp://localhost/livez HTTP/1.1\r\n" H "\r\n", "400 "},
    {"GET localhost/livez HTTP/1.1\r\n" H "\r\n", "400 "},
    // Names with which names begin that libwebsockets knows: it waited for their rest.
    {"GET /livez HTTP/1.1\r\n" H "X: 1\r\nGet: 1\r\nSec-WebSocket-K: 1\r\n\r\n"
     "GET /livez HTTP/1.1\r\nx-real-i: 1\r\n" H "\r\n",
     "200 200 "},
};

// The statuses in what came so far.
static void read_statuses(const char *answers, char *statuses, size_t bytes)
{
    *statuses = 0;
    for (const char *at = answers; (at = strstr(at, "HTTP/1.")); at += 9) {
        size_t length = strlen(statuses);
        if (strncmp(at + 9, "100", 3) != 0)
            snprintf(statuses + length, bytes - length, "%.3s ", at + 9);
    }
}

// The answer of a connection to bytes sent in two parts, with or without a look at the answer
// between them, by a sender that closes its end or does not.
static void ask(const sequence *s, size_t cut, bool waits, bool half_closed)
{
    static char answers[65536];
    char statuses[64];
    size_t got = 0, length = strlen(s->bytes);
    int fd = http_connect();
    http_send(fd, s->bytes, cut);
    if (waits)
        got += http_read(fd, answers + got, sizeof answers - got - 1, 2);
    http_answer_noted();
    http_send(fd, s->bytes + cut, length - cut);
    if (half_closed)
        shutdown(fd, SHUT_WR);
    for (int i = 0; i < HTTP_PATIENCE_MS; i++) {
        http_answer_noted();
        got += http_read(fd, answers + got, sizeof answers - got - 1, 1);
        answers[got] = 0;
        read_statuses(answers, statuses, sizeof statuses);
        if (strcmp(statuses, s->statuses) == 0)
            break;
    }
    close(fd);
    if (strcmp(statuses, s->statuses) != 0)
        fail_msg("%s, cut at %zu: answers %s, not %s", s->bytes, cut, statuses, s->statuses);
}

TEST(every_split_of_requests_has_the_same_answers)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        size_t length = strlen(sequences[i].bytes);
        for (size_t cut = 0; cut <= length; cut++)
            ask(&sequences[i], cut, cut % 4 == 0, cut % 2 == 0);
        assert_true(http_is_alive());
    }
}

// A head that fills all the room has none for the Host header that HTTP/1.0 may lack.
TEST(long_heads_in_absolute_form_are_taken_or_refused)
{
    static char request[FOLIOT__INTAKE_HEAD_BYTES + 64];
    for (int room = 0; room < 200; room += 50) {
        sequence s = {request, room < 50 ? "431 " : "200 "};
        int length =
            snprintf(request, sizeof request, "GET http://localhost/livez HTTP/1.0\r\nX: ");
        int end = FOLIOT__INTAKE_HEAD_BYTES - room;
        memset(request + length, 'x', (size_t)(end - length));
        memcpy(request + end - 4, "\r\n\r\n", 5);
        ask(&s, 100, false, false);
    }
    assert_true(http_is_alive());
}

// The bytes that libwebsockets 4.1 loops over for ever, if it gets them.
TEST(a_body_behind_another_request_stops_nothing)
{
    static const char *const bodies[] = {"{}", "", "{"}; // there, later, and never whole
    for (size_t i = 0; i < 3; i++) {
        char request[256];
        int length = snprintf(request, sizeof request,
                              "GET /livez HTTP/1.1\r\n" H "\r\nPOST /later HTTP/1.1\r\n" H
                              "Content-Length: 2\r\n\r\n%s",
                              bodies[i]);
        int fd = http_connect();
        http_send(fd, request, (size_t)length);
        assert_true(http_is_alive());
        http_send(fd, "{}", 2);
        assert_true(http_is_alive());
        close(fd);
    }
}

// The answers of one who takes nothing wait; he is served on, and so are others.
TEST(who_reads_slowly_gets_all)
{
    static const char request[] = "GET /file HTTP/1.1\r\n" H "\r\n";
    static char bytes[65536];
    int fd = http_connect(), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 3; i++)
        http_send(fd, request, sizeof request - 1);
    assert_true(http_is_alive());
    size_t got = 0, more;
    while (got < 3 * HTTP_FILE_BYTES && (more = http_read(fd, bytes, sizeof bytes, 5000)) > 0)
        got += more;
    check_ge(got, 3 * HTTP_FILE_BYTES);
    close(fd);
}

TEST(scripts_of_a_seed_stop_nothing)
{
    uint64_t seed = check_seed((uint64_t)time(NULL)), random = seed | 1;
    for (int n = 0; n < SCRIPTS; n++) {
        uint8_t script[SCRIPT_BYTES];
        for (size_t i = 0; i < sizeof script; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            script[i] = (uint8_t)(random >> 32);
        }
        http_run(script, sizeof script);
        if (n % 10 == 0 && !http_is_alive())
            fail_msg("the service hangs: SEED=%llu, script %d", (unsigned long long)seed, n);
    }
    assert_true(http_is_alive());
}

static int begin(void **state)
{
    (void)state;
    http_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    return foliot__http_stop(http_service.http) ? 0 : -1;
}

int main(void)
{
    return check_run(begin, end);
}
