// SPDX-License-Identifier: MIT
// pages.c: the files that a browser loads: those of `make web`, which scripts/embed_web.sh puts
// into the program, or a page that explains how to build them.
#include "web/web.h"

#include <stdlib.h>
#include <string.h>

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
    while (f->path && strcmp(f->path, "/index.html") != 0)
        f++;
    return f->path != NULL;
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
