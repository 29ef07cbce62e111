// SPDX-License-Identifier: MIT
// intake.c: see intake.h. libwebsockets reads its sockets by recv and waits for them by poll. A
// program may define these functions: the linker then finds them before the C library's. They
// behave like the C library's, except for watched descriptors. The same holds for send.
#include "intake.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "crypto/crypto.h"

#define DESCRIPTORS 65536
#define PIECE_BYTES 4096
#define AUTHORITY_BYTES_MAX 255

static _Atomic(foliot__intake *) watched[DESCRIPTORS];

// -- heads

static size_t refuse(foliot__intake *in, int status, const char *why, size_t taken)
{
    in->status = status;
    in->why = why;
    return taken;
}

static bool is_token(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_named(const uint8_t *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && strncasecmp((const char *)name, wanted, length) == 0;
}

typedef struct span {
    uint8_t *at, *end;
} span;

// The parts of a head that are needed once all of it is read.
typedef struct head {
    bool has_body;  // one may follow
    bool old;       // HTTP/1.0
    span prefix;    // of a target in absolute form: the scheme and the authority
    span authority; // of these
    span host;      // the value of the Host header
    uint32_t seen;  // headers, as bits
} head;

// Returns the text before the next CRLF and skips both.
static span next_line(span *rest)
{
    span line = {rest->at, rest->at};
    while (line.end + 1 < rest->end && line.end[0] != '\r')
        line.end++;
    rest->at = line.end + 2;
    return line;
}

// A target in absolute form, which proxies and some clients send to every server (RFC 9112, section
// 3.2.2): a scheme, an authority, and everything that origin form has. False: it was refused.
static bool read_absolute(foliot__intake *in, span target, head *h)
{
    static const char *const schemes[] = {"http://", "https://"};
    uint8_t *at = NULL, *end;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0] && !at; i++) {
        size_t length = strlen(schemes[i]);
        if ((size_t)(target.end - target.at) > length && is_named(target.at, length, schemes[i]))
            at = target.at + length;
    }
    if (!at)
        return refuse(in, 400, "the target of a request must be a path or an HTTP URL", 0);
    for (end = at; end < target.end && !strchr("/?#", *end); end++)
        if (*end == '@')
            return refuse(in, 400, "the target of a request names a user", 0);
    if (end == at || end - at > AUTHORITY_BYTES_MAX)
        return refuse(in, 400, "the target of a request has no host, or one that is too long", 0);
    h->prefix = (span){target.at, end};
    h->authority = (span){at, end};
    return true;
}

// False: it was refused.
static bool read_request_line(foliot__intake *in, span line, head *h)
{
    static const char *const methods[] = {"GET",    "HEAD",  "POST",   "PUT",
                                          "DELETE", "PATCH", "OPTIONS"};
    uint8_t *at = line.at, *target;
    bool known = false;
    while (at < line.end && is_token(*at))
        at++;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        known = known || ((size_t)(at - line.at) == strlen(methods[i]) &&
                          memcmp(line.at, methods[i], (size_t)(at - line.at)) == 0);
    h->has_body = *line.at == 'P' && (line.at[1] == 'O' || line.at[1] == 'U');
    if (at == line.at || at == line.end || *at++ != ' ')
        return refuse(in, 400, "this is not an HTTP request", 0);
    target = at;
    while (at<line.end && * at> ' ')
        at++;
    if (line.end - at == 9 && memcmp(at, " HTTP/", 6) == 0 && at[6] != '1')
        return refuse(in, 505, "this server speaks HTTP/1.1 and HTTP/1.0", 0);
    if (line.end - at != 9 || memcmp(at, " HTTP/1.", 8) != 0 || (at[8] != '0' && at[8] != '1'))
        return refuse(in, 400, "this is not an HTTP request", 0);
    if (!known)
        return refuse(in, 501, "the method is not known", 0);
    h->old = at[8] == '0';
    if (*target != '/' && !read_absolute(in, (span){target, at}, h))
        return false;
    for (const uint8_t *c = target; c < at; c++) // its end, a blank, is not a digit
        if (*c == '%' && (!isxdigit(c[1]) || !isxdigit(c[2]) || (c[1] == '0' && c[2] == '0')))
            return refuse(in, 400, "the target of a request has an invalid escape", 0);
    return true;
}

// Headers that the library or this server reads. Two parsers could understand a repeated header
// differently, so some of them may occur only once.
static const struct {
    const char *name;
    bool once;
} known_headers[] = {{"host", true},
                     {"content-length", true},
                     {"authorization", true},
                     {"origin", true},
                     {"sec-websocket-key", true},
                     {"connection", false},
                     {"upgrade", false},
                     {"sec-websocket-version", false},
                     {"sec-websocket-protocol", false},
                     {"sec-websocket-extensions", false},
                     {"if-none-match", false},
                     {"x-forwarded-for", false}};
#define KNOWN_HEADERS (sizeof known_headers / sizeof known_headers[0])

static bool read_header(foliot__intake *in, span line, head *h)
{
    span value = {line.at, line.end};
    while (value.at < line.end && is_token(*value.at))
        value.at++;
    size_t length = (size_t)(value.at - line.at);
    if (length == 0 || value.at == line.end || *value.at++ != ':')
        return refuse(in, 400, "a header is a name, a colon and a value", 0);
    while (value.at < value.end && (*value.at == ' ' || *value.at == '\t'))
        value.at++;
    while (value.at < value.end && (value.end[-1] == ' ' || value.end[-1] == '\t'))
        value.end--;
    if (is_named(line.at, length, "transfer-encoding"))
        return refuse(in, 501, "a body needs Content-Length; chunks are not supported", 0);
    // The library closes a connection that asks for another protocol. Here it continues.
    if (is_named(line.at, length, "upgrade") &&
        !is_named(value.at, (size_t)(value.end - value.at), "websocket"))
        *line.at = '!';
    if (is_named(line.at, length, "expect")) {
        if (!is_named(value.at, (size_t)(value.end - value.at), "100-continue"))
            return refuse(in, 417, "Expect supports only 100-continue", 0);
        in->continues = true;
    }
    for (size_t i = 0; i < KNOWN_HEADERS; i++) {
        if (!known_headers[i].once || !is_named(line.at, length, known_headers[i].name))
            continue;
        if (h->seen & 1u << i)
            return refuse(in, 400, "a header that must be unique is given twice", 0);
        h->seen |= 1u << i;
        if (i == 0)
            h->host = value;
        if (i != 1)
            continue;
        in->left = 0;
        if (value.at == value.end || value.end - value.at > 15)
            return refuse(in, 400, "Content-Length is not a number", 0);
        for (const uint8_t *digit = value.at; digit < value.end; digit++) {
            if (*digit < '0' || *digit > '9')
                return refuse(in, 400, "Content-Length is not a number", 0);
            in->left = in->left * 10 + (*digit - '0');
        }
    }
    // The library waits for ever after a name that is the beginning of a longer one that it knows
    // ("X:", "Get:"). It gets the names above, and others whose first letter begins no known name.
    bool known = false;
    for (size_t i = 0; i < KNOWN_HEADERS; i++)
        known = known || is_named(line.at, length, known_headers[i].name);
    if (!known)
        *line.at = '!';
    return true;
}

// Replaces the bytes `old` of the head, and moves the others.
static void replace(foliot__intake *in, span old, const char *bytes, size_t length)
{
    memmove(old.at + length, old.end, (size_t)(in->head + in->head_bytes - old.end));
    memcpy(old.at, bytes, length);
    in->head_bytes = (uint32_t)(in->head_bytes + length - (size_t)(old.end - old.at));
}

// The library gets origin form, and a Host header with the host of the target, which takes
// precedence over the one that was sent. HTTP/1.0 may lack the header. False: it was refused.
static bool to_origin_form(foliot__intake *in, const head *h)
{
    char host[AUTHORITY_BYTES_MAX + 16];
    bool adds = h->old && !h->host.at;
    int length = snprintf(host, sizeof host, adds ? "Host: %.*s\r\n" : "%.*s",
                          (int)(h->authority.end - h->authority.at), (char *)h->authority.at);
    if (!h->authority.at)
        return true;
    if (in->head_bytes + (size_t)length > FOLIOT__INTAKE_HEAD_BYTES)
        return refuse(in, 431, "the headers are too long", 0);
    // From the back to the front: text before the edit stays where it is.
    uint8_t *headers = memchr(in->head, '\n', in->head_bytes);
    if (adds)
        replace(in, (span){headers + 1, headers + 1}, host, (size_t)length);
    else if (h->host.at)
        replace(in, h->host, host, (size_t)length);
    replace(in, h->prefix, "/", *h->prefix.end == '/' ? 0 : 1);
    return true;
}

static void read_head(foliot__intake *in)
{
    span rest = {in->head, in->head + in->head_bytes};
    head h = {0};
    uint32_t count = 0;
    in->left = 0;
    in->continues = false;
    if (!read_request_line(in, next_line(&rest), &h))
        return;
    for (span line; rest.end - rest.at > 2;) {
        line = next_line(&rest);
        if (++count > FOLIOT__INTAKE_HEADERS) {
            refuse(in, 431, "the request has too many headers", 0);
            return;
        }
        if (!read_header(in, line, &h))
            return;
    }
    if (in->left > 0 && !h.has_body) {
        refuse(in, 400, "this method has no body", 0);
        return;
    }
    if (!to_origin_form(in, &h))
        return;
    in->continues = in->continues && in->left > 0 && in->left <= FOLIOT__INTAKE_BODY_BYTES;
    in->given = 0;
    in->state = FOLIOT__INTAKE_GIVE;
}

size_t foliot__intake_read_head(foliot__intake *in, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint8_t c = bytes[i], before = in->head_bytes ? in->head[in->head_bytes - 1] : 0;
        if (before == '\r' ? c != '\n'
                           : c == '\n' || c == 0x7f || (c < ' ' && !strchr("\t\r", c)) || !c)
            return refuse(in, 400, "the lines of a request's head must be text and end with CR LF",
                          i + 1);
        if (in->head_bytes == FOLIOT__INTAKE_HEAD_BYTES)
            return refuse(in, 431, "the headers are too long", i + 1);
        in->head[in->head_bytes++] = c;
        if (in->head_bytes == 2 && c == '\n') {
            in->head_bytes = 0; // an empty line before a request is skipped
        } else if (in->head_bytes >= 4 &&
                   memcmp(in->head + in->head_bytes - 4, "\r\n\r\n", 4) == 0) {
            read_head(in);
            return i + 1;
        }
    }
    return length;
}

// -- the rest of a request

size_t foliot__intake_give(foliot__intake *in, uint8_t *bytes, size_t length)
{
    size_t left = in->head_bytes - in->given, count = left < length ? left : length;
    memcpy(bytes, in->head + in->given, count);
    in->given += (uint32_t)count;
    if (in->given == in->head_bytes) {
        foliot__forget(in->head, in->head_bytes); // a bearer token may be in it
        in->head_bytes = in->given = 0;
        in->state = in->left > 0 ? FOLIOT__INTAKE_BODY : FOLIOT__INTAKE_ANSWER;
    }
    return count;
}

void foliot__intake_read_body(foliot__intake *in, size_t length)
{
    in->left -= length;
    if (in->left == 0)
        in->state = FOLIOT__INTAKE_ANSWER;
}

void foliot__intake_next(foliot__intake *in)
{
    if (in->state == FOLIOT__INTAKE_ANSWER)
        in->state = FOLIOT__INTAKE_HEAD;
}

void foliot__intake_upgrade(foliot__intake *in)
{
    in->state = FOLIOT__INTAKE_FRAMES;
    foliot__frames_begin(&in->frames);
    foliot__intake_close(in);
}

void foliot__intake_drop(foliot__intake *in)
{
    in->state = FOLIOT__INTAKE_DROP;
    in->left = FOLIOT__INTAKE_DROPPED_BYTES;
}

bool foliot__intake_open(foliot__intake *in)
{
    *in = (foliot__intake){.head = malloc(FOLIOT__INTAKE_HEAD_BYTES)};
    return in->head != NULL;
}

void foliot__intake_close(foliot__intake *in)
{
    if (in->head)
        foliot__forget(in->head, FOLIOT__INTAKE_HEAD_BYTES);
    free(in->head);
    in->head = NULL;
}

// -- descriptors

bool foliot__intake_watch(int descriptor, foliot__intake *intake)
{
    if (descriptor < 0 || descriptor >= DESCRIPTORS)
        return false;
    atomic_store(&watched[descriptor], intake);
    return true;
}

void foliot__intake_unwatch(int descriptor, foliot__intake *intake)
{
    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        (void)atomic_compare_exchange_strong(&watched[descriptor], &intake, NULL);
}

static foliot__intake *intake_of(int descriptor)
{
    return descriptor >= 0 && descriptor < DESCRIPTORS ? atomic_load(&watched[descriptor]) : NULL;
}

static ssize_t later(void)
{
    errno = EAGAIN;
    return -1;
}

static ssize_t broken(void)
{
    errno = ECONNRESET;
    return -1;
}

// Writes straight to the socket.
static void say(int descriptor, const char *text)
{
    (void)!sendto(descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

void foliot__intake_send_refusal(int descriptor, int status, const char *why)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {{400, "Bad Request"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {417, "Expectation Failed"},
                 {421, "Misdirected Request"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {501, "Not Implemented"},
                 {503, "Service Unavailable"},
                 {505, "HTTP Version Not Supported"}};
    char text[512], body[160];
    size_t i = 0;
    while (names[i].status != status)
        i++;
    int body_bytes = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", why);
    snprintf(text, sizeof text,
             "HTTP/1.1 %d %s\r\nserver: foliot\r\ncontent-type: application/json\r\n"
             "content-length: %d\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n"
             "content-security-policy: default-src 'none'\r\nconnection: close\r\n\r\n%s",
             names[i].status, names[i].name, body_bytes, body);
    say(descriptor, text);
    shutdown(descriptor, SHUT_WR);
}

void foliot__intake_refuse(foliot__intake *in, int descriptor, int status, const char *why)
{
    in->status = status;
    in->why = why;
    foliot__intake_send_refusal(descriptor, status, why);
    foliot__intake_drop(in);
}

// Takes no byte after the head out of the kernel.
static ssize_t read_of_head(int descriptor, foliot__intake *in, uint8_t *bytes, size_t length)
{
    uint8_t piece[PIECE_BYTES];
    ssize_t got = recvfrom(descriptor, piece, sizeof piece, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
    if (got <= 0)
        return got;
    size_t taken = foliot__intake_read_head(in, piece, (size_t)got);
    (void)!recvfrom(descriptor, piece, taken, MSG_DONTWAIT, NULL, NULL);
    foliot__forget(piece, (size_t)got);
    if (in->status)
        foliot__intake_refuse(in, descriptor, in->status, in->why);
    if (in->state != FOLIOT__INTAKE_GIVE)
        return later();
    if (in->continues)
        say(descriptor, "HTTP/1.1 100 Continue\r\n\r\n");
    return (ssize_t)foliot__intake_give(in, bytes, length);
}

static ssize_t read_frames(int descriptor, foliot__frames *frames, void *bytes, size_t length,
                           int flags)
{
    ssize_t got = recvfrom(descriptor, bytes, length, flags, NULL, NULL);
    if (got <= 0 || (flags & MSG_PEEK))
        return got;
    uint64_t now_ns = foliot__clock_now_ns();
    bool refused = frames->refused;
    uint16_t code = foliot__frames_read(frames, bytes, (size_t)got, now_ns);
    if (!code)
        return got;
    if (!refused) {
        // A close frame of the server, straight to the socket: nothing more is read from it.
        const uint8_t frame[4] = {0x88, 2, (uint8_t)(code >> 8), (uint8_t)code};
        (void)!sendto(descriptor, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
    }
    return broken();
}

ssize_t recv(int descriptor, void *bytes, size_t length, int flags)
{
    foliot__intake *in = intake_of(descriptor);
    if (!in)
        return recvfrom(descriptor, bytes, length, flags, NULL, NULL);
    switch (in->state) {
    case FOLIOT__INTAKE_HEAD:
        return read_of_head(descriptor, in, bytes, length);
    case FOLIOT__INTAKE_GIVE:
        return (ssize_t)foliot__intake_give(in, bytes, length);
    case FOLIOT__INTAKE_BODY: {
        length = length < in->left ? length : (size_t)in->left;
        ssize_t got = recvfrom(descriptor, bytes, length, flags, NULL, NULL);
        if (got > 0)
            foliot__intake_read_body(in, (size_t)got);
        return got;
    }
    case FOLIOT__INTAKE_FRAMES:
        return read_frames(descriptor, &in->frames, bytes, length, flags);
    case FOLIOT__INTAKE_DROP: {
        uint8_t piece[PIECE_BYTES];
        ssize_t got = recvfrom(descriptor, piece, sizeof piece, MSG_DONTWAIT, NULL, NULL);
        if (got <= 0)
            return got;
        if ((uint64_t)got > in->left)
            return broken();
        in->left -= (uint64_t)got;
        return later();
    }
    default:
        return later();
    }
}

// A connection that waits for its answer is not polled for reading: further bytes would wake the
// loop for ever. The rest of a collected head counts as readable.
int poll(struct pollfd *all, nfds_t count, int timeout)
{
    bool gives = false;
    for (nfds_t i = 0; i < count; i++) {
        const foliot__intake *in = intake_of(all[i].fd);
        if (in && in->state == FOLIOT__INTAKE_ANSWER)
            all[i].events &= ~POLLIN;
        gives = gives || (in && in->state == FOLIOT__INTAKE_GIVE && (all[i].events & POLLIN));
    }
    struct timespec t = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000};
    if (gives)
        t = (struct timespec){0};
    int ready = ppoll(all, count, timeout < 0 && !gives ? NULL : &t, NULL);
    for (nfds_t i = 0; i < count; i++) {
        const foliot__intake *in = intake_of(all[i].fd);
        if (in && in->state == FOLIOT__INTAKE_ANSWER)
            all[i].events |= POLLIN;
        if (ready < 0 || !in || in->state != FOLIOT__INTAKE_GIVE || !(all[i].events & POLLIN))
            continue;
        ready += all[i].revents == 0;
        all[i].revents |= POLLIN;
    }
    return ready;
}

static _Thread_local bool more_follows;

void foliot__frames_follow(bool follows)
{
    more_follows = follows;
}

ssize_t send(int descriptor, const void *bytes, size_t length, int flags)
{
    return sendto(descriptor, bytes, length, more_follows ? flags | MSG_MORE : flags, NULL, 0);
}
