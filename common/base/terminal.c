// SPDX-License-Identifier: MIT
// terminal.c: queries the system about streams (terminal.h).
#include "base/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if !defined(__wasm__)
#include <sys/ioctl.h>
#endif

#include "base/exit_code.h"

bool foliot__is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool foliot__may_colour(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return foliot__is_terminal(stream) && !(no_color && no_color[0]) && term && term[0] &&
           strcmp(term, "dumb") != 0;
}

void foliot__terminal_size(FILE *stream, uint32_t *columns, uint32_t *rows)
{
    *columns = 80;
    *rows = 24;
#if defined(TIOCGWINSZ)
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
        *columns = size.ws_col;
        *rows = size.ws_row;
    }
#else
    (void)stream;
#endif
}

int foliot__stdout_done(const char *program, int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: cannot write to stdout%s%s\n", program, errno ? ": " : "",
            errno ? strerror(errno) : "");
    return code ? code : errno == ENOSPC ? FOLIOT__EXIT_AGAIN : FOLIOT__EXIT_ERROR;
}

foliot__progress foliot__progress_begin(const char *what, uint64_t total)
{
    return (foliot__progress){what, total, UINT32_MAX, foliot__is_terminal(stderr)};
}

void foliot__progress_at(foliot__progress *progress, uint64_t done)
{
    if (!progress->draws || progress->total == 0)
        return;
    uint32_t percent = (uint32_t)((double)done / (double)progress->total * 100);
    if (percent == progress->percent)
        return;
    progress->percent = percent;
    char bar[26] = "";
    memset(bar, '.', sizeof bar - 1);
    memset(bar, '#', percent / 4 < sizeof bar ? percent / 4 : sizeof bar - 1);
    fprintf(stderr, "\r%s [%s] %3u %%", progress->what, bar, percent);
    fflush(stderr);
}

void foliot__progress_end(foliot__progress *progress)
{
    if (progress->draws && progress->percent != UINT32_MAX)
        fprintf(stderr, "\r\033[K");
}
