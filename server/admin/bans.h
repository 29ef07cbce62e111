// SPDX-License-Identifier: MIT
// bans.h: refuses players by address or network, by name or by the client of a token, for a time or
// for good. If a file is named, bans are kept in it as JSON lines, so that they outlast the server.
#ifndef FOLIOT_SERVER_ADMIN_BANS_H
#define FOLIOT_SERVER_ADMIN_BANS_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/server.h"
#include "net/address.h"

#define FOLIOT__BANS_MAX 10000
#define FOLIOT__BAN_REASON_BYTES 128
#define FOLIOT__BAN_CLIENT_BYTES 24

typedef struct foliot__ban_network {
    foliot__net_address address;
    uint32_t bits; // of the 128 that count
} foliot__ban_network;

typedef struct foliot__ban {
    // One of these; the others are "".
    char address[FOLIOT_ADDRESS_BYTES]; // without a port: "192.0.2.1", or "2001:db8::/32"
    foliot__ban_network network;        // what `address` says
    char name[FOLIOT_NAME_BYTES];
    char client[FOLIOT__BAN_CLIENT_BYTES]; // its number in tokens, not 0
    char reason[FOLIOT__BAN_REASON_BYTES];
    int64_t until; // Unix time, seconds; 0: for good
} foliot__ban;

typedef struct foliot__bans {
    foliot__ban *items;
    uint32_t count, capacity;
} foliot__bans;

// Converts to the stored form: a canonical address without a port, the host bits of a network zero;
// a client without leading zeros. False: not exactly one is given, or it is invalid.
bool foliot__ban_normalise(foliot__ban *ban);
// The /64 of an IPv6 address, since a ban of a single address is easily evaded. An IPv4 address
// stays one. False: it is not an address.
bool foliot__ban_of_peer(foliot__ban *ban, const char *address);
// Adds a ban, or replaces an equal one. False: there is no room or no memory.
bool foliot__bans_add(foliot__bans *bans, const foliot__ban *ban);
bool foliot__bans_remove(foliot__bans *bans, const char *whom); // address, name or client
void foliot__bans_forget_over(foliot__bans *bans, int64_t now); // whose time is over
// The ban that applies to a newcomer now, or NULL. `address` may have a port; client 0: none.
const foliot__ban *foliot__bans_find(const foliot__bans *bans, const char *name,
                                     const char *address, uint64_t client, int64_t now);
void foliot__bans_destroy(foliot__bans *bans);
// Removes the port: "127.0.0.1:40312", "[::1]:40312".
void foliot__address_without_port(const char *address, char text[FOLIOT_ADDRESS_BYTES]);
// A missing file is empty. False with a sentence.
bool foliot__bans_read(foliot__bans *bans, const char *file, char *problem, size_t problem_bytes);
// Writes a new file and renames it over the old one.
bool foliot__bans_write(const foliot__ban *items, uint32_t count, const char *file);

#endif
