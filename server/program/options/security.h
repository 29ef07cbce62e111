// SPDX-License-Identifier: MIT
// security.h: who may join, as the command line says: by token, by password, or anybody.
#ifndef FOLIOT_SERVER_SECURITY_H
#define FOLIOT_SERVER_SECURITY_H

#include "arguments.h"
#include "foliot/transport.h"

// Refuses what excludes each other, and a server that everybody can reach without saying so.
// Returns an exit code; 0 is success.
int foliot__security_check(const foliot__server_choices *choices,
                           const foliot__arguments *arguments);
// Reads the secrets into `config`, which points to them until foliot__security_forget. Returns an
// exit code, with a sentence on stderr.
int foliot__security_read(const foliot__server_choices *choices, foliot_transport_config *config);
// Which tokens were used, for all transports of a server with tokens; else it stays as it is.
// Returns an exit code, with a sentence on stderr.
int foliot__security_open_used(const foliot__server_choices *choices, uint32_t peers_max,
                               foliot_used_tokens **used);
// Those of the keys that the configuration has no room for.
void foliot__security_apply_keys(const foliot__server_choices *choices,
                                 foliot_transport *transport);
void foliot__security_forget(void);
// The file of --key, once more: FOLIOT_KEYS_MAX keys at most, which the caller wipes. False, with
// a sentence in `problem`.
bool foliot__security_read_again(const foliot__server_choices *choices, uint8_t *keys,
                                 uint32_t *count, char *problem, size_t problem_bytes);
// The consequences for those who join, on stderr where it is a warning. `client_options`: what
// clients add to their command line.
const char *foliot__security_client_options(const foliot__server_choices *choices);
void foliot__security_announce(const foliot__server_choices *choices);

#endif
