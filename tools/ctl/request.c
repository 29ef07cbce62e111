// SPDX-License-Identifier: MIT
// request.c: one request to the admin API, by libcurl.
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"

#define SERVER_DEFAULT "http://127.0.0.1:7780"
#define SECONDS 20L
#define ANSWER_BYTES_MAX ((size_t)64 << 20)
#define TOKEN_BYTES_MAX 512

typedef struct growing {
    char *bytes;
    size_t length;
} growing;

static int fail(int code, const char *what, const char *why)
{
    fprintf(stderr, "foliotctl: %s%s%s\n", what, *what ? ": " : "", why);
    return code;
}

static size_t append(char *bytes, size_t size, size_t count, void *user)
{
    growing *g = user;
    size_t length = size * count;
    char *larger =
        g->length + length < ANSWER_BYTES_MAX ? realloc(g->bytes, g->length + length + 1) : NULL;
    if (!larger)
        return 0;
    memcpy(larger + g->length, bytes, length);
    g->bytes = larger;
    g->length += length;
    g->bytes[g->length] = 0;
    return length;
}

// "7780", "host:7780" or a whole URL. False: it is too long.
static bool base_of(const char *server, char *url, size_t bytes)
{
    uint64_t port;
    bool number = foliot__parse_count(server, &port);
    int length = snprintf(url, bytes, "%s%s",
                          number                  ? "http://127.0.0.1:"
                          : strstr(server, "://") ? ""
                                                  : "http://",
                          server);
    return length >= 0 && (size_t)length < bytes;
}

// A variable of the environment; an empty one counts as none.
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool of_this_machine(const char *base)
{
    const char *host = strstr(base, "://") + 3;
    size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    return strncmp(host, "127.", 4) == 0 ||
           (length == 9 && strncasecmp(host, "localhost", 9) == 0) ||
           (length == 5 && strncmp(host, "[::1]", 5) == 0);
}

// Whether the part would leave its place in the path: servers decode a path before they split it.
static bool leads_elsewhere(const char *part)
{
    size_t length;
    for (;; part += length + 1) {
        length = strcspn(part, "/");
        if (length == 0 || (length <= 2 && strspn(part, ".") >= length))
            return true;
        if (!part[length])
            return false;
    }
}

static bool write_url(CURL *curl, const char *base, const char *const *parts, char *url,
                      size_t bytes)
{
    int used = snprintf(url, bytes, "%s/v1", base);
    for (; used > 0 && (size_t)used < bytes && *parts; parts++) {
        if (leads_elsewhere(*parts))
            return false;
        char *escaped = curl_easy_escape(curl, *parts, 0);
        used += snprintf(url + used, bytes - (size_t)used, "/%s", escaped ? escaped : "");
        curl_free(escaped);
    }
    return used > 0 && (size_t)used < bytes;
}

// The reason why nobody answers on that socket: curl's message names a port.
static const char *socket_problem(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path)
        return "the path of a socket has at most 107 bytes";
    memcpy(name.sun_path, path, strlen(path));
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = probe >= 0 && connect(probe, (struct sockaddr *)&name, sizeof name) != 0;
    int why = refused ? errno : 0;
    if (probe >= 0)
        close(probe);
    return why == ECONNREFUSED ? "no server listens on it"
           : why == EACCES     ? "only the server's own user may open it"
           : why               ? strerror(why)
                               : NULL;
}

static int perform(CURL *curl, const char *where, const char *path, growing *answer)
{
    char problem[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, SECONDS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        const char *why = path && code == CURLE_COULDNT_CONNECT ? socket_problem(path) : NULL;
        return fail(FOLIOT__EXIT_AGAIN, where,
                    why        ? why
                    : *problem ? problem
                               : curl_easy_strerror(code));
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200)
        return 0;
    const char *body = answer->bytes ? answer->bytes : "";
    char key[32], text[600] = "";
    foliot__json_reader r = foliot__json_reader_of(body, strlen(body));
    foliot__json_enter(&r, '{');
    while (foliot__json_more(&r) && foliot__json_key(&r, key, sizeof key))
        if (strcmp(key, "error") == 0)
            foliot__json_text_value(&r, text, sizeof text);
        else
            foliot__json_skip(&r);
    if (!*text)
        snprintf(text, sizeof text, "the server answers with status %ld", status);
    fprintf(stderr, "foliotctl: %s\n", foliot__text_mend(text));
    return FOLIOT__EXIT_ERROR;
}

int foliot__ctl_request(const foliot__ctl_server *server, const char *method,
                        const char *const *parts, const char *body, char **answer)
{
    char base[512], url[2048], header[TOKEN_BYTES_MAX + 64];
    const char *named = server->url ? server->url : variable("FOLIOT_SERVER"),
               *file = server->token ? server->token : variable("FOLIOT_TOKEN_FILE"),
               *path = server->socket ? server->socket
                       : server->url  ? NULL
                                      : variable("FOLIOT_SOCKET");
    growing got = {0};
    struct curl_slist *headers = NULL;
    if (!base_of(path ? "http://localhost" : named ? named : SERVER_DEFAULT, base, sizeof base))
        return fail(FOLIOT__EXIT_USAGE, "", "the server's address is too long");
    CURL *curl = curl_easy_init();
    if (!curl)
        return fail(FOLIOT__EXIT_ERROR, "", "no memory");
    int code = write_url(curl, base, parts, url, sizeof url)
                   ? 0
                   : fail(FOLIOT__EXIT_USAGE, "", "a name is empty, too long, or part of a path");
    if (code == 0 && file && !path) {
        // "Authorization: Bearer ..." from a file.
        size_t length;
        char *text = foliot__file_slurp_text(file, TOKEN_BYTES_MAX, &length);
        if (!text) {
            code = fail(FOLIOT__EXIT_ERROR, file,
                        errno == EFBIG ? "a token has at most 512 bytes"
                                       : foliot__file_problem(errno));
        } else {
            length = strcspn(text, " \t\r\n");
            snprintf(header, sizeof header, "Authorization: Bearer %.*s", (int)length, text);
            free(text);
        }
    }
    if (code == 0 && file && !path)
        headers = curl_slist_append(headers, header);
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (path)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, path);
    if (path || of_this_machine(base)) // no proxy gets there, nor is the token for one
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (code == 0)
        code = perform(curl, path ? path : base, path, &got);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (code)
        free(got.bytes);
    else
        *answer = got.bytes;
    return code;
}
