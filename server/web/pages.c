// SPDX-License-Identifier: MIT
// pages.c: the files that a browser loads: those of `make web`, which scripts/embed_web.sh puts
// into the program, or a page that explains how to build them; and the link to them.
#include "web/web.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <qrencode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char missing[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>foliot</title>\n"
    "<p>This server takes players from browsers, but it was built without its page. To build it,\n"
    "run <code>make web</code>, which installs what it needs, and start the server again. Players "
    "with <code>foliot-client</code> can join.\n";

static const foliot__http_file alone[] = {
    {"/", "text/html; charset=utf-8", missing, sizeof missing - 1, false, NULL}, {0}};

bool foliot__web_has_page(void)
{
    const foliot__http_file *f = foliot__web_embedded;
    while (f && f->path && strcmp(f->path, "/index.html") != 0)
        f++;
    return f && f->path;
}

foliot__http_file *foliot__web_files(void)
{
    const foliot__http_file *from = foliot__web_has_page() ? foliot__web_embedded : alone;
    size_t count = 1; // with the entry that ends them
    while (from[count - 1].path)
        count++;
    foliot__http_file *files = malloc((count + 1) * sizeof *files);
    if (!files)
        return NULL;
    memcpy(files + 1, from, count * sizeof *files);
    files[0] = from[0];
    files[0].path = "/";
    (void)foliot__web_set_home(files, "/index.html");
    return files;
}

bool foliot__web_set_home(foliot__http_file *files, const char *path)
{
    for (const foliot__http_file *f = files + 1; f->path; f++)
        if (strcmp(f->path, path) == 0) {
            files[0] = *f;
            files[0].path = "/";
            return true;
        }
    return false;
}

// -- a player's link, and its QR code, which a phone reads from the terminal

#define QUIET 2 // modules around it, which readers need

static bool dark(const QRcode *code, int x, int y)
{
    return x >= 0 && y >= 0 && x < code->width && y < code->width &&
           (code->data[y * code->width + x] & 1);
}

// Two rows a line; light is drawn, so that it is read on dark and on light terminals alike.
static void print_code(const char *link)
{
    QRcode *code = QRcode_encodeString(link, 0, QR_ECLEVEL_L, QR_MODE_8, 1);
    if (!code)
        return;
    for (int y = -QUIET; y < code->width + QUIET; y += 2) {
        printf("\033[97;40m");
        for (int x = -QUIET; x < code->width + QUIET; x++) {
            bool upper = !dark(code, x, y), lower = !dark(code, x, y + 1);
            fputs(upper && lower ? "\u2588" : upper ? "\u2580" : lower ? "\u2584" : " ", stdout);
        }
        printf("\033[0m\n");
    }
    QRcode_free(code);
}

void foliot__web_print_link(const char *address, uint16_t port)
{
    char host[64], link[128];
    // An address of this machine that others may reach; `address` if there is none.
    size_t bytes = sizeof host;
    struct ifaddrs *all, *i;
    bool six = strchr(address, ':') != NULL;
    snprintf(host, bytes, "%s", address);
    if ((strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0) && getifaddrs(&all) == 0) {
        snprintf(host, bytes, "%s", six ? "::1" : "127.0.0.1");
        for (i = all; i; i = i->ifa_next)
            if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
                !(i->ifa_flags & IFF_LOOPBACK)) {
                const struct sockaddr_in *found =
                    (const struct sockaddr_in *)(const void *)i->ifa_addr;
                inet_ntop(AF_INET, &found->sin_addr, host, (socklen_t)bytes);
                break;
            }
        freeifaddrs(all);
    }
    if (!foliot__web_has_page()) {
        printf("web: listening on %s:%u, without the page for browsers: `make web` builds it in\n",
               host, port);
        return;
    }
    snprintf(link, sizeof link, strchr(host, ':') ? "http://[%s]:%u/" : "http://%s:%u/", host,
             port);
    printf("in a browser: %s\n", link);
    if (isatty(STDOUT_FILENO) && !foliot__http_is_loopback(host)) // for other devices
        print_code(link);
}
