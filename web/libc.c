// SPDX-License-Identifier: MIT
// libc.c: replaces parts of libc in the viewer, since the browser has them or they are never
// needed: 17 kB less to load.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// -- numbers. The viewer's libc prints no number with a point: the browser does. Code of
// common/base calls this function in place of snprintf; "%.17g" and "%.*g" give the shortest text
// that is read back as the same number.

#define REAL_BYTES 32 // of any number that a browser prints, with a closing zero

// Writes the number as text with a closing zero.
__attribute__((import_module("page"), import_name("print_real"))) void page_print_real(double value,
                                                                                       char *text);

__attribute__((format(printf, 3, 4))) int web_print(char *text, size_t bytes, const char *format,
                                                    ...);
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

// -- mathematical functions are the browser's. The picture may differ in the last bit from
// browser to browser; nothing that the viewer computes enters a digest.

#define FROM_PAGE(name)                                                                            \
    __attribute__((import_module("math"), import_name(#name))) double page_##name(double x);       \
    double name(double x)                                                                          \
    {                                                                                              \
        return page_##name(x);                                                                     \
    }
FROM_PAGE(sin)
FROM_PAGE(cos)
FROM_PAGE(acos)
FROM_PAGE(exp)

double exp2(double x)
{
    return page_exp(x * 0.69314718055994530942);
}

__attribute__((import_module("math"), import_name("atan2"))) double page_atan2(double y, double x);
double atan2(double y, double x)
{
    return page_atan2(y, x);
}

// The viewer opens no files, so it needs no sentences on their errors.
char *strerror(int error)
{
    static char none[] = "no files";
    (void)error;
    return none;
}
