// SPDX-License-Identifier: MIT
// fuzz_http.c: any bytes as what the HTTP service reads itself, behind libwebsockets: frames in
// pieces, Host and Origin, a path against routes, a bearer token, an address to listen on, and the
// body of a call of the admin API. The first byte says which. Frames in pieces are judged as they
// are in one; what is refused gives a status and one clean line.
#include <string.h>

#include "base/assert.h"
#include "../../server/admin/call.c"
#include "http/access.c"
#include "http/frames.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_frames(const uint8_t *data, size_t size)
{
    foliot__frames whole, cut;
    foliot__frames_begin(&whole);
    foliot__frames_begin(&cut);
    uint16_t code = foliot__frames_read(&whole, data, size, 1), in_pieces = 0;
    for (size_t at = 0, piece = 1; at < size; at += piece, piece = piece % 7 + 1) {
        piece = piece < size - at ? piece : size - at;
        in_pieces = foliot__frames_read(&cut, data + at, piece, 1);
    }
    FOLIOT_ASSERT(code == in_pieces && cut.refused == whole.refused);
    FOLIOT_ASSERT(code || (whole.left == cut.left && whole.head_bytes == cut.head_bytes));
}

// A text that the service has: closed by a zero, and without one inside.
static void try_access(const char *text)
{
    static const char *const names[] = {"game.example"};
    static const char *const routes[] = {"/v1/sessions/{}/players/{}/kick", "/v1/sessions", "/{}"};
    char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES], address[64];
    uint16_t port;
    bool named = foliot__http_host_allowed(text, names, 1);
    FOLIOT_ASSERT(named || !foliot__http_host_allowed(text, NULL, 0));
    if (foliot__http_origin_allowed(text, "game.example"))
        FOLIOT_ASSERT(strlen(text) <= strlen("https://game.example"));
    FOLIOT_ASSERT(!foliot__http_token_fits(text, "0123456789abcdef") ||
                  strlen(text) == sizeof "Bearer 0123456789abcdef" - 1);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        if (foliot__http_path_fits(routes[i], text, arguments))
            FOLIOT_ASSERT(text[0] == '/' && !strchr("/", routes[i][1]));
    if (foliot__http_listen_parse(text, address, &port))
        FOLIOT_ASSERT(numeric(address));
}

static void try_call(const char *keys, const char *body, size_t length)
{
    const foliot__action action = {.method = "POST", .path = "/", .keys = keys};
    foliot__call *call = foliot__call_create(NULL, &action);
    FOLIOT_ASSERT(call);
    if (!foliot__call_read(call, body, length)) {
        FOLIOT_ASSERT(call->status >= 400 && call->problem[0]);
        for (const char *at = call->problem; *at; at++)
            FOLIOT_ASSERT((unsigned char)*at >= 0x20 && *at != 0x7f);
    }
    foliot__call_destroy(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); // its own block: reading beyond it shows
    if (!text || size == 0) {
        free(text);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    switch (data[0] % 4) {
    case 0:
        try_frames(data + 1, size - 1);
        break;
    case 1:
        try_access(text);
        break;
    case 2:
        try_call("name scene record reason text seconds player address file ", text, size - 1);
        break;
    default:
        try_call(NULL, text, size - 1); // a command
    }
    free(text);
    return 0;
}
