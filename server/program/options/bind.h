// SPDX-License-Identifier: MIT
// bind.h: the addresses on which the server listens for clients: an IPv4 address, an IPv6 address,
// or one of each on the same port.
#ifndef FOLIOT_SERVER_BIND_H
#define FOLIOT_SERVER_BIND_H

#include "arguments.h"
#include "foliot/transport.h"

// Parses the value of --bind. Returns an exit code, with a sentence on stderr.
int foliot__bind_check(const foliot__server_choices *choices, const foliot__arguments *arguments);
// All addresses are on the loopback: clients are on this machine.
bool foliot__bind_is_loopback(void);
uint32_t foliot__bind_count(void); // 2: one address of each family
// The address of --bind that is not on the loopback; otherwise the first.
const char *foliot__bind_widest(void);
// The addresses that tokens may name, with port 0, unless the user sets others; their number.
uint32_t foliot__bind_own_addresses(foliot_token_address *own, uint32_t capacity);
// Opens one transport, or two as one. `config` without its address. An exit code, with a sentence.
int foliot__bind_open(const foliot_transport_config *config, uint64_t now_ns,
                      foliot_transport **transport);
void foliot__bind_announce(uint16_t port);   // "listening on ...", a line each
void foliot__bind_print_host(uint16_t port); // "127.0.0.1:7777", to be given to clients

#endif
