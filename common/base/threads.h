// SPDX-License-Identifier: MIT
// threads.h: whether threads can be started, for libraries that abort the process if they cannot.
#ifndef FOLIOT_BASE_THREADS_H
#define FOLIOT_BASE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether `count` threads with such stacks can exist at once: starts them and lets them end.
bool foliot__threads_left(uint32_t count, size_t stack_bytes);

#endif
