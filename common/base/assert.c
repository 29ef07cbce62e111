// SPDX-License-Identifier: MIT
// assert.c: prints the condition that failed, and aborts.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void foliot__assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "foliot: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
