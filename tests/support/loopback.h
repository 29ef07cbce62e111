// SPDX-License-Identifier: MIT
// loopback.h: both families of the loopback, for tests that run over each.
#ifndef FOLIOT_TESTS_LOOPBACK_H
#define FOLIOT_TESTS_LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "net/address.h"

extern bool loopback_six; // the family of the two below; IPv4 at first
const char *loopback_text(void);
foliot__net_address loopback_at(uint16_t port);
// A socket without waiting that is bound to the loopback; *at is where. -1: there is none.
int loopback_open(uint16_t port, foliot__net_address *at);
// Changes to IPv6. False, with a sentence for the log: this machine has none.
bool loopback_use_six(void);

#endif
