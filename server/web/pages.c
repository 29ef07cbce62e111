// SPDX-License-Identifier: MIT
// pages.c: what a browser loads: the files of `make web`, which scripts/embed_web.sh puts into the
// program, or a page that says how they get there.
#include "web/web.h"

#include <string.h>

static const char missing[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>foliot</title>\n"
    "<p>This server takes players from browsers, but it was built without its page. To build it,\n"
    "run <code>make web</code> and then <code>make</code>, which need clang-19, lld-19,\n"
    "libclang-rt-19-dev-wasm32 and wasi-libc. Players with <code>foliot-client</code> can join.\n";

static const foliot__http_file alone[] = {
    {"/", "text/html; charset=utf-8", missing, sizeof missing - 1, false, NULL}, {0}};

const foliot__http_file *foliot__web_files(void)
{
    for (const foliot__http_file *f = foliot__web_embedded; f->path; f++)
        if (strcmp(f->path, "/") == 0)
            return foliot__web_embedded;
    return alone;
}
