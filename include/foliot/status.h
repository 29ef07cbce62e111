// SPDX-License-Identifier: MIT
// status.h: the result of every call that can fail, and versions. Zero is success, negative is an
// error.
//
// Three kinds of failure are treated in three ways. A mistake of the caller that no status
// can report is an assertion and ends the program, in release builds too. A fault of the world
// outside (no memory, no such file, a bad scene) is a status. Bytes from a network or a file are
// never trusted: they give FOLIOT_STATUS_TRUNCATED, FOLIOT_STATUS_CORRUPT, FOLIOT_STATUS_NEWER or
// FOLIOT_STATUS_UNSUPPORTED, never an assertion.
//
// Unless a function says otherwise, results passed back through pointers are written on success
// alone.
#ifndef FOLIOT_STATUS_H
#define FOLIOT_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Stands before every function whose status must not be ignored.
#if defined(__GNUC__)
#define FOLIOT_MUST_CHECK __attribute__((warn_unused_result))
#else
#define FOLIOT_MUST_CHECK
#endif

// Every status once. X(code, value, text): the code's name, its number (never reused) and a
// sentence for people.
#define FOLIOT_STATUS_LIST(X)                                                                      \
    X(OK, 0, "fine")                                                                               \
    X(INVALID, -1, "an argument or a definition is outside its range")                             \
    X(FULL, -2, "a table or a buffer has no room left")                                            \
    X(NOT_FOUND, -3, "nothing has that name or id")                                                \
    X(TRUNCATED, -4, "the bytes end before the value does")                                        \
    X(CORRUPT, -5, "the bytes are not what they claim to be")                                      \
    X(NEWER, -6, "written by a newer format than this build reads")                                \
    X(UNSUPPORTED, -7, "this build cannot do that")                                                \
    X(FLOATING_POINT, -8, "the rounding or flush-to-zero mode was changed outside the library")    \
    X(IO, -9, "the system refused to read or write")                                               \
    X(AGAIN, -10, "not possible now; try again later")                                             \
    X(DIVERGED, -11, "two runs differ that must be equal")                                         \
    X(REFUSED, -12, "this combination is not permitted")                                           \
    X(MEMORY, -13, "no memory")                                                                    \
    X(BUSY, -14, "another program has the port")                                                   \
    X(MISCOUNTED, -15, "a step did not advance `tick` of the simulation by one")

typedef enum foliot_status {
#define FOLIOT_STATUS_ENUM(code, value, text) FOLIOT_STATUS_##code = (value),
    FOLIOT_STATUS_LIST(FOLIOT_STATUS_ENUM)
#undef FOLIOT_STATUS_ENUM
} foliot_status;

// The code without its prefix ("CORRUPT"; "UNKNOWN" for any other number) and its sentence. Static
// strings, never NULL; safe from any thread.
const char *foliot_status_get_name(foliot_status status);
const char *foliot_status_get_text(foliot_status status);

// An error and its place. A function with such a parameter accepts NULL, fills in every field when
// it returns an error, and leaves it unchanged on success. `text` is complete and ready to be
// shown: it begins with the place, as in "ball.yaml:7:12: bodies[0].mass: must be greater than 0".
typedef struct foliot_error {
    foliot_status status;
    uint32_t line, column; // in `file`, from 1; 0: no certain line
    char file[256];        // empty: the error is of no file
    char path[256];        // of the value, such as "bodies[0].mass"; empty: the whole
    char text[1280];
} foliot_error;

// Fills in *error, if it is not NULL, with a text without a place. Returns `status`.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
foliot_status
foliot_error_set(foliot_error *error, foliot_status status, const char *format, ...);

// -- versions
//
// The version of these headers, and of the library that a program has linked.

// Semantic versioning. Before 1.0 a new minor version may change the API and the ABI.
#define FOLIOT_VERSION_MAJOR 0
#define FOLIOT_VERSION_MINOR 1
#define FOLIOT_VERSION_PATCH 0
// The same in one number, to compare by: 1.2.3 is 10203.
#define FOLIOT_VERSION_NUMBER                                                                      \
    (FOLIOT_VERSION_MAJOR * 10000 + FOLIOT_VERSION_MINOR * 100 + FOLIOT_VERSION_PATCH)
// The same as text. tests/unit/test_headers.sh checks that the three numbers agree with it.
#define FOLIOT_VERSION "0.1.0"

// The version of the protocol, for watching and stepping, in native programs and in pages. Peers of
// other versions refuse each other.
#define FOLIOT_PROTOCOL 1

// Version and build of the linked library. Static strings; safe from any thread.
const char *foliot_get_version(void); // "0.1.0"
const char *foliot_get_build(void); // compiler and instruction set, for people: "gcc 12.2.0 x86_64"

#ifdef __cplusplus
}
#endif

#endif
