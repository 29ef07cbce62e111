// SPDX-License-Identifier: MIT
// security.h: who may join, as the command line states: by token, by password, or anybody.
#ifndef FOLIOT_SERVER_SECURITY_H
#define FOLIOT_SERVER_SECURITY_H

#include "arguments.h"
#include "foliot/transport.h"

// Refuses options that exclude each other, and a server that everybody can reach without an
// explicit option. Returns an exit code; 0 is success.
int foliot__security_check(const foliot__server_choices *choices,
                           const foliot__arguments *arguments);
// Reads the secrets into `config`, which points to them until foliot__security_forget. Returns an
// exit code, with a sentence on stderr.
int foliot__security_read(const foliot__server_choices *choices, foliot_transport_config *config);
// Opens the list of used tokens, for all transports of a server with tokens; without tokens it
// stays NULL. Returns an exit code, with a sentence on stderr.
int foliot__security_open_used(const foliot__server_choices *choices, uint32_t peers_max,
                               foliot_used_tokens **used);
// Adds the keys for which the configuration has no room.
void foliot__security_apply_keys(const foliot__server_choices *choices,
                                 foliot_transport *transport);
void foliot__security_forget(void);
// Reads the file of --key again: FOLIOT_KEYS_MAX keys at most, which the caller wipes. False, with
// a sentence in `problem`.
bool foliot__security_read_again(const foliot__server_choices *choices, uint8_t *keys,
                                 uint32_t *count, char *problem, size_t problem_bytes);
// Prints the consequences for clients, warnings on stderr. `client_options`: those that they need.
const char *foliot__security_client_options(const foliot__server_choices *choices);
void foliot__security_announce(const foliot__server_choices *choices);

#endif
