// SPDX-License-Identifier: MIT
// numbers.c: see numbers.h.
#include "numbers.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define REAL_BYTES 32 // of any number that a browser prints, with a closing zero

// Writes the number as text with a closing zero.
__attribute__((import_module("page"), import_name("print_real"))) void page_print_real(double value,
                                                                                       char *text);

int web_print(char *text, size_t bytes, const char *format, ...)
{
    va_list list;
    int length;
    va_start(list, format);
    bool digits = strcmp(format, "%.*g") == 0;
    if (digits)
        (void)va_arg(list, int);
    if ((digits || strcmp(format, "%.17g") == 0) && bytes >= REAL_BYTES) {
        page_print_real(va_arg(list, double), text);
        length = (int)strlen(text);
    } else {
        length = vsnprintf(text, bytes, format, list);
    }
    va_end(list);
    return length;
}
