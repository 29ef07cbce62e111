// SPDX-License-Identifier: MIT
// answer.c: see page.h.
#include "page.h"

#include <stdlib.h>

static char *answer; // NULL: nothing
static size_t answer_bytes;

foliot__json begin_answer(FILE **out)
{
    free(answer);
    answer = NULL;
    *out = open_memstream(&answer, &answer_bytes);
    if (!*out)
        abort();
    return foliot__json_to(*out);
}

const char *end_answer(FILE *out)
{
    fclose(out);
    return answer;
}
