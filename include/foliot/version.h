// SPDX-License-Identifier: MIT
#ifndef FOLIOT_VERSION_H
#define FOLIOT_VERSION_H

#define FOLIOT_VERSION "0.1.0"

const char *foliot_get_version(void); // of the library, "0.1.0"
const char *foliot_get_build(void);   // compiler and ISA, for people: "gcc 12.2.0 x86_64"

#endif
