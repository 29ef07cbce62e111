// SPDX-License-Identifier: MIT
// bind.h: where the server listens for clients: at an IPv4 address, an IPv6 address, or one of each
// on the same port.
#ifndef FOLIOT_SERVER_BIND_H
#define FOLIOT_SERVER_BIND_H

#include "arguments.h"
#include "foliot/transport.h"

// Reads what --bind says. Returns an exit code, with a sentence on stderr.
int foliot__bind_check(const foliot__server_choices *choices, const foliot__arguments *arguments);
// All addresses are of the loopback: clients come from this machine alone.
bool foliot__bind_is_loopback(void);
uint32_t foliot__bind_count(void); // 2: one address of each family
// What --bind says, of one that is not the loopback; else the first.
const char *foliot__bind_widest(void);
// The addresses that tokens may name, unless the user says others: with port 0. Returns how many.
uint32_t foliot__bind_own_addresses(foliot_token_address *own, uint32_t capacity);
// Opens one transport, or two as one. `config` without its address. Returns an exit code, with a
// sentence on stderr.
int foliot__bind_open(const foliot_transport_config *config, uint64_t now_ns,
                      foliot_transport **transport);
void foliot__bind_announce(uint16_t port);   // "listening on ...", a line each
void foliot__bind_print_host(uint16_t port); // "127.0.0.1:7777", for who joins

#endif
