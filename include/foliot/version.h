// SPDX-License-Identifier: MIT
// version.h: the version of these headers, and of the library that a program has linked.
#ifndef FOLIOT_VERSION_H
#define FOLIOT_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

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

// Of the linked library. Static strings; safe from any thread.
const char *foliot_get_version(void); // "0.1.0"
const char *foliot_get_build(void); // compiler and instruction set, for people: "gcc 12.2.0 x86_64"

#ifdef __cplusplus
}
#endif

#endif
