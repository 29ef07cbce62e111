// SPDX-License-Identifier: MIT
// assert.c: says which condition failed, and stops.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void foliot__assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "foliot: %s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
