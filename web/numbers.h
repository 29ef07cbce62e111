// SPDX-License-Identifier: MIT
// numbers.h: included before what the viewer compiles of common/base. Its libc prints no numbers
// with a point, which is 2 kB less to load: the browser prints them.
#ifndef FOLIOT_WEB_NUMBERS_H
#define FOLIOT_WEB_NUMBERS_H

#include <stddef.h>
#include <stdio.h> // before the macro

// As snprintf; "%.17g" and "%.*g" give the shortest text that is read back as the same number.
int web_print(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define snprintf web_print

#endif
