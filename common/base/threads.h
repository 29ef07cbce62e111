// SPDX-License-Identifier: MIT
// threads.h: whether there is room for threads that a library starts, and that it ends the process
// without.
#ifndef FOLIOT_BASE_THREADS_H
#define FOLIOT_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether so many threads can be there at once, each with such a stack: starts them and lets them
// end.
bool foliot__threads_left(uint32_t count, size_t stack_bytes);

#endif
