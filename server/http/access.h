// SPDX-License-Identifier: MIT
// access.h: checks Host, Origin, bearer tokens, and paths of routes. Pure functions of untrusted
// text.
#ifndef FOLIOT_SERVER_HTTP_ACCESS_H
#define FOLIOT_SERVER_HTTP_ACCESS_H

#include "http.h"

// Whether a Host header names this server: localhost, a numeric address (no name of an attacker can
// point to it), or one of the names. A port may follow.
bool foliot__http_host_allowed(const char *host, const char *const *names, uint32_t count);
// Whether an Origin header is of the page's own site: http or https, and what follows is `host`.
bool foliot__http_origin_allowed(const char *origin, const char *host);
// Whether an Authorization header has the token, in a time that depends only on its length.
bool foliot__http_token_fits(const char *authorization, const char *token);
// Whether a path matches the route's path; copies the parts that match {}.
bool foliot__http_path_fits(const char *pattern, const char *path,
                            char arguments[FOLIOT__HTTP_ARGUMENTS][FOLIOT__HTTP_ARGUMENT_BYTES]);
// Reads a token from a file that only its owner can read, without blanks. False with a sentence.
bool foliot__http_token_read(const char *file, char token[FOLIOT__HTTP_TOKEN_BYTES_MAX + 1],
                             char *problem, size_t problem_bytes);
// "[ADDRESS:]PORT", "[::1]:8080"; 127.0.0.1 is the default address.
bool foliot__http_listen_parse(const char *text, char address[64], uint16_t *port);
bool foliot__http_is_loopback(const char *address);

#endif
