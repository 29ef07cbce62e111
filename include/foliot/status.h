// SPDX-License-Identifier: MIT
// status.h: what can go wrong, once. 0 is fine, negative is an error; every code has a name and a
// text.
#ifndef FOLIOT_STATUS_H
#define FOLIOT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

// The world's faults. Our own mistakes are assertions, hostile bytes are FOLIOT_STATUS_CORRUPT or
// FOLIOT_STATUS_TRUNCATED. X(code, value, text)
#define FOLIOT_STATUS_LIST(X)                                                                      \
    X(OK, 0, "fine")                                                                               \
    X(INVALID, -1, "an argument or a definition is outside its range")                             \
    X(FULL, -2, "a table or a buffer has no room left")                                            \
    X(NOT_FOUND, -3, "there is nothing by that name or id")                                        \
    X(TRUNCATED, -4, "the bytes end before the value does")                                        \
    X(CORRUPT, -5, "the bytes are not what they claim to be")                                      \
    X(NEWER, -6, "written by a newer format than this build reads")                                \
    X(UNSUPPORTED, -7, "this build cannot do that")                                                \
    X(FLOATING_POINT, -8, "rounding or flush-to-zero was changed behind the library's back")       \
    X(IO, -9, "the system refused to read or write")                                               \
    X(AGAIN, -10, "not now; trying later makes sense")                                             \
    X(DIVERGED, -11, "two runs that must be equal are not")                                        \
    X(REFUSED, -12, "the combination asked for is not admitted")                                   \
    X(MEMORY, -13, "no memory")

typedef enum foliot_status {
#define FOLIOT_STATUS_ENUM(code, value, text) FOLIOT_STATUS_##code = (value),
    FOLIOT_STATUS_LIST(FOLIOT_STATUS_ENUM)
#undef FOLIOT_STATUS_ENUM
} foliot_status;

// The code's name ("CORRUPT") and its sentence. Never NULL.
const char *foliot_status_get_name(foliot_status status);
const char *foliot_status_get_text(foliot_status status);

#ifdef __cplusplus
}
#endif

#endif
