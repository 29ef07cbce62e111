// SPDX-License-Identifier: MIT
// requests.c: a request is checked once its headers are there, passed to a file or a route, and
// answered in pieces as the peer reads them. A connection has one request at a time.
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/text.h"
#include "crypto/crypto.h"

#define PIECE_BYTES 16384u
#define HEADER_BYTES 2048
#define JSON_TYPE "application/json"

// A page may load only from here, and is shown in no other site's frame. The hash is that of the
// one script within index.html, which tests/program/test_browser.sh compares.
static const struct {
    const char *name, *value;
} headers[] = {
    {"x-content-type-options:", "nosniff"},
    {"referrer-policy:", "no-referrer"},
    {"cross-origin-opener-policy:", "same-origin"},
    {"cross-origin-embedder-policy:", "require-corp"},
    {"cross-origin-resource-policy:", "same-origin"},
    {"content-security-policy:",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' "
     "'sha256-859qqz5vidc7Y23xL5RqETRPi+Tti5UzYSPiAGtnRyg='; connect-src 'self'; worker-src "
     "'self'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
     "form-action 'none'"},
};

// -- answers

static bool add_header(struct lws *wsi, const char *name, const char *value, uint8_t **at,
                       uint8_t *end)
{
    return lws_add_http_header_by_name(wsi, (const uint8_t *)name, (const uint8_t *)value,
                                       (int)strlen(value), at, end) == 0;
}

static int finish(foliot__http_connection *c)
{
    bool closes = c->request.closes;
    foliot__http_request_forget(c); // and `closes` with it
    if (closes) {
        // Closing a socket with unread bytes resets it, and the peer loses the answer. So the
        // socket is read for a moment, until the peer closes it.
        bool reads = c->intake.state == FOLIOT__INTAKE_BODY && !lws_partial_buffered(c->wsi);
        if (!reads)
            return -1;
        shutdown(c->descriptor, SHUT_WR);
        foliot__intake_drop(&c->intake);
        lws_set_timer_usecs(c->wsi, FOLIOT__HTTP_PART_SECONDS * LWS_USEC_PER_SEC);
        return 0;
    }
    lws_set_timer_usecs(c->wsi, FOLIOT__HTTP_IDLE_SECONDS * LWS_USEC_PER_SEC);
    if (lws_http_transaction_completed(c->wsi))
        return -1;
    c->http->answered += !c->answered;
    c->answered = true;
    return 0;
}

// `owned` is freed after the answer and contains `bytes`; or NULL. Returns a callback's result.
int foliot__http_reply(foliot__http_connection *c, int status, const char *type, uint8_t *owned,
                       const void *bytes, size_t length, const foliot__http_file *file)
{
    c->http->counters.requests_refused += status >= 400;
    free(c->answer.owned);
    c->answer.owned = owned;
    c->answer.bytes = bytes;
    c->answer.length = c->request.head ? 0 : length;
    c->answer.sent = 0;
    c->request.sending = true;
    lws_set_timer_usecs(c->wsi, FOLIOT__HTTP_REPLY_SECONDS * LWS_USEC_PER_SEC);
    uint8_t buffer[LWS_PRE + HEADER_BYTES], *start = buffer + LWS_PRE, *at = start,
                                            *end = buffer + sizeof buffer;
    bool fine = lws_add_http_header_status(c->wsi, (unsigned)status, &at, end) == 0 &&
                add_header(c->wsi, "content-type:", type, &at, end) &&
                lws_add_http_header_content_length(c->wsi, length, &at, end) == 0 &&
                add_header(c->wsi, "cache-control:", file ? "no-cache" : "no-store", &at, end);
    for (size_t i = 0; fine && i < sizeof headers / sizeof headers[0]; i++)
        fine = add_header(c->wsi, headers[i].name, headers[i].value, &at, end);
    if (fine && file && file->etag)
        fine = add_header(c->wsi, "etag:", file->etag, &at, end);
    if (fine && file && file->gzipped)
        fine = add_header(c->wsi, "content-encoding:", "gzip", &at, end);
    if (fine && status == HTTP_STATUS_UNAUTHORIZED)
        fine = add_header(c->wsi, "www-authenticate:", "Bearer", &at, end);
    if (fine && status == HTTP_STATUS_METHOD_NOT_ALLOWED)
        fine = add_header(c->wsi, "allow:", c->request.allow, &at, end);
    if (!fine || lws_finalize_write_http_header(c->wsi, start, &at, end) != 0)
        return -1;
    if (c->answer.length == 0)
        return finish(c);
    lws_callback_on_writable(c->wsi);
    return 0;
}

static int send_piece(foliot__http_connection *c)
{
    uint8_t buffer[LWS_PRE + PIECE_BYTES];
    if (!c->request.sending)
        return 0;
    size_t left = c->answer.length - c->answer.sent,
           count = left < PIECE_BYTES ? left : PIECE_BYTES;
    memcpy(buffer + LWS_PRE, c->answer.bytes + c->answer.sent, count);
    int sent = lws_write(c->wsi, buffer + LWS_PRE, count,
                         count == left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
    if (sent < (int)count)
        return -1;
    c->answer.sent += count;
    c->http->counters.bytes_sent += count;
    if (c->answer.sent == c->answer.length)
        return finish(c);
    lws_callback_on_writable(c->wsi);
    return 0;
}

// A request whose body is not read: the connection ends after the answer.
static int refuse_and_close(foliot__http_connection *c, int status, const char *why)
{
    c->request.closes = true;
    // {"error": "sentence"}; the sentences are constants without quotation marks.
    char text[512];
    int length = snprintf(text, sizeof text, "{\"error\": \"%s\"}\n", why);
    uint8_t *owned = malloc((size_t)length);
    if (!owned)
        return -1;
    memcpy(owned, text, (size_t)length);
    return foliot__http_reply(c, status, JSON_TYPE, owned, owned, (size_t)length, NULL);
}

// -- requests

static const char *method_of(struct lws *wsi)
{
    static const struct {
        enum lws_token_indexes token;
        const char *name;
    } methods[] = {{WSI_TOKEN_GET_URI, "GET"},       {WSI_TOKEN_POST_URI, "POST"},
                   {WSI_TOKEN_PUT_URI, "PUT"},       {WSI_TOKEN_DELETE_URI, "DELETE"},
                   {WSI_TOKEN_HEAD_URI, "HEAD"},     {WSI_TOKEN_PATCH_URI, "PATCH"},
                   {WSI_TOKEN_OPTIONS_URI, "OPTION"}};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (lws_hdr_total_length(wsi, methods[i].token))
            return methods[i].name;
    return "";
}

// Adds a method that the path has.
static void allow(foliot__http_connection *c, const char *method)
{
    size_t length = strlen(c->request.allow);
    snprintf(c->request.allow + length, sizeof c->request.allow - length, "%s%s",
             length ? ", " : "", method);
}

// NULL: none; if the path has other methods, they are in c->request.allow.
static const foliot__http_route *find_route(foliot__http_connection *c)
{
    char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES];
    const char *method = c->request.head ? "GET" : c->request.method;
    c->request.allow[0] = 0;
    for (const foliot__http_route *r = c->http->config.routes; r && r->method; r++) {
        if (!foliot__http_path_fits(r->path, c->request.path, arguments))
            continue;
        if (strcmp(r->method, method) == 0)
            return r;
        allow(c, strcmp(r->method, "GET") == 0 ? "GET, HEAD" : r->method);
    }
    return NULL;
}

static int check_token(foliot__http_connection *c)
{
    char authorization[FOLIOT__HTTP_TOKEN_BYTES_MAX + 16];
    char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1];
    if (!c->request.route->guarded || c->local)
        return 0;
    // Guesses are counted by address. 0: not counted, such as requests of this machine.
    char address[FOLIOT__HTTP_PEER_BYTES];
    uint64_t guesser = foliot__http_forwarded(c, address) ? foliot__http_host_of(address) : c->host;
    if (guesser && !foliot__admission_allows(&c->http->guesses, guesser, uv_hrtime()))
        return refuse_and_close(c, 429, // Too Many Requests
                                "too many wrong bearer tokens came from this address: wait");
    uv_mutex_lock(&c->http->mutex);
    memcpy(token, c->http->token, sizeof token);
    uv_mutex_unlock(&c->http->mutex);
    bool none = !*token;
    bool read = foliot__http_header(c->wsi, WSI_TOKEN_HTTP_AUTHORIZATION, authorization,
                                    sizeof authorization);
    bool given = *authorization, fits = read && foliot__http_token_fits(authorization, token);
    foliot__forget(token, sizeof token);
    foliot__forget(authorization, sizeof authorization);
    if (none)
        return refuse_and_close(c, HTTP_STATUS_FORBIDDEN,
                                "this server was started without --admin-token FILE");
    if (fits)
        return 0;
    if (given) {
        if (guesser && foliot__admit(&c->http->guesses, guesser, uv_hrtime()) == FOLIOT__ADMITTED)
            foliot__admission_release(&c->http->guesses, guesser);
    }
    return refuse_and_close(c, HTTP_STATUS_UNAUTHORIZED,
                            given ? "the bearer token is wrong" : "this needs a bearer token");
}

// The whole request is here.
static int hand_over(foliot__http_connection *c)
{
    foliot__http_request request = {.id = c->request.id,
                                    .method = c->request.route->method,
                                    .path = c->request.path,
                                    .body = c->request.body ? c->request.body : "",
                                    .body_bytes = c->request.body_bytes};
    foliot__http_path_fits(c->request.route->path, c->request.path, request.arguments);
    c->request.route->handler(c->http->config.user, &request);
    return 0;
}

// The length of the body that follows. False: the request was refused, with *code to return.
static bool body_length(foliot__http_connection *c, size_t *length, int *code)
{
    char text[32];
    uint64_t value = 0;
    bool has = lws_hdr_total_length(c->wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
    bool wants = strcmp(c->request.method, "POST") == 0 || strcmp(c->request.method, "PUT") == 0;
    *length = 0;
    *code = 0;
    if (lws_hdr_total_length(c->wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING)) {
        *code = refuse_and_close(c, HTTP_STATUS_NOT_IMPLEMENTED,
                                 "a body needs Content-Length; chunks are not supported");
    } else if (has &&
               (!foliot__http_header(c->wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text, sizeof text) ||
                !foliot__parse_count(text, &value))) {
        *code = refuse_and_close(c, HTTP_STATUS_BAD_REQUEST, "Content-Length is not a number");
    } else if (value > FOLIOT__HTTP_BODY_BYTES) {
        *code = refuse_and_close(c, HTTP_STATUS_REQ_ENTITY_TOO_LARGE, "the body is too long");
    } else if (value > 0 && !wants) {
        *code = refuse_and_close(c, HTTP_STATUS_BAD_REQUEST, "this method has no body");
    } else {
        *length = (size_t)value;
        c->request.closes = wants && !has; // there is no body, but libwebsockets waits for one
        return true;
    }
    return false;
}

static int begin_request(foliot__http_connection *c, const char *uri, size_t length)
{
    const char *why;
    int code;
    size_t follows;
    foliot__http *http = c->http;
    foliot__http_request_forget(c);
    http->counters.requests++;
    http->serial += http->connections_max;
    c->request.id = http->serial + (uint32_t)((foliot__http_socket *)c - http->connections);
    lws_set_timer_usecs(c->wsi, FOLIOT__HTTP_REQUEST_SECONDS * LWS_USEC_PER_SEC);
    snprintf(c->request.method, sizeof c->request.method, "%s", method_of(c->wsi));
    c->request.head = strcmp(c->request.method, "HEAD") == 0;
    int refused = foliot__http_refused(c, &why);
    if (refused)
        return refuse_and_close(c, refused, why);
    if (length >= sizeof c->request.path || !foliot__utf8_text(uri, length + 1, &length))
        return refuse_and_close(c, HTTP_STATUS_NOT_FOUND, "there is nothing at this path");
    memcpy(c->request.path, uri, length);
    c->request.path[length] = 0;
    if (!body_length(c, &follows, &code))
        return code;
    const foliot__http_file *found = c->http->config.files;
    while (found && found->path && strcmp(found->path, c->request.path) != 0)
        found++;
    const foliot__http_file *file = found && found->path ? found : NULL;
    if (file) {
        char known[128];
        if (strcmp(c->request.method, "GET") != 0 && !c->request.head) {
            strcpy(c->request.allow, "GET, HEAD");
            return refuse_and_close(c, HTTP_STATUS_METHOD_NOT_ALLOWED, "this is a file: use GET");
        }
        if (file->etag &&
            foliot__http_header(c->wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, known, sizeof known) &&
            strcmp(known, file->etag) == 0) {
            c->request.head = true;
            return foliot__http_reply(c, HTTP_STATUS_NOT_MODIFIED, file->type, NULL, NULL, 0, file);
        }
        return foliot__http_reply(c, HTTP_STATUS_OK, file->type, NULL, file->bytes, file->length,
                                  file);
    }
    c->request.route = find_route(c);
    if (!c->request.route)
        return *c->request.allow
                   ? refuse_and_close(c, HTTP_STATUS_METHOD_NOT_ALLOWED,
                                      "this path does not support the method")
                   : refuse_and_close(c, HTTP_STATUS_NOT_FOUND, "there is nothing at this path");
    code = check_token(c);
    if (code || c->request.sending)
        return code;
    c->request.awaits_body =
        lws_hdr_total_length(c->wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0 &&
        (strcmp(c->request.method, "POST") == 0 || strcmp(c->request.method, "PUT") == 0);
    c->request.body = follows ? malloc(follows + 1) : NULL;
    c->request.body_capacity = follows;
    if (follows && !c->request.body)
        return refuse_and_close(c, HTTP_STATUS_SERVICE_UNAVAILABLE, "no memory");
    return c->request.awaits_body ? 0 : hand_over(c); // one of no bytes is completed, too
}

int foliot__http_on_request(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                            size_t length)
{
    foliot__http_connection *c;
    const char *why;
    int status;
    (void)user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    case LWS_CALLBACK_HTTP_WRITEABLE:
    case LWS_CALLBACK_TIMER:
        c = foliot__http_connection_of(wsi);
        if (!c)
            return -1;
        break;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        c = foliot__http_connection_of(wsi);
        if (!c || !in || strncasecmp(in, "websocket", 9) != 0)
            return -1; // no HTTP/2 in the clear
        status = foliot__http_socket_refused(c, &why);
        if (!status)
            return 0;
        foliot__intake_refuse(&c->intake, c->descriptor, status, why);
        lws_set_timer_usecs(wsi, FOLIOT__HTTP_PART_SECONDS * LWS_USEC_PER_SEC);
        return 1; // it is answered
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return -1; // the library chose "http" of the subprotocols: nothing else is let in
    default:
        return 0;
    }
    if (reason == LWS_CALLBACK_HTTP)
        return begin_request(c, in, length);
    if (reason == LWS_CALLBACK_HTTP_BODY) {
        if (length == 0)
            return 0;
        if (!c->request.body || length > c->request.body_capacity - c->request.body_bytes)
            return c->request.sending ? 0 : -1;
        memcpy(c->request.body + c->request.body_bytes, in, length);
        c->request.body_bytes += length;
        c->request.body[c->request.body_bytes] = 0;
        return 0;
    }
    if (reason == LWS_CALLBACK_TIMER) {
        if (c->socket.state != FOLIOT__SOCKET_NONE)
            return 0;
        c->http->counters.requests_timed_out += c->request.id != 0;
        return -1;
    }
    if (reason == LWS_CALLBACK_HTTP_WRITEABLE)
        return send_piece(c);
    if (!c->request.awaits_body || c->request.sending ||
        c->request.body_bytes != c->request.body_capacity)
        return 0;
    c->request.awaits_body = false;
    return hand_over(c);
}
