// SPDX-License-Identifier: MIT
// address.h: an address of either IP family, with its port. IPv4 lies in IPv6 as ::ffff:a.b.c.d, so
// that one type serves both. Opens no socket.
#ifndef FOLIOT_NET_ADDRESS_H
#define FOLIOT_NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct foliot__net_address {
    uint8_t ip[16]; // in the network's order
    uint32_t scope; // of a link-local IPv6 address: its interface; else 0
    uint16_t port;  // 0: no peer's
} foliot__net_address;

// A socket's address of either family.
typedef union foliot__socket_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} foliot__socket_address;

#define FOLIOT__ADDRESS_TEXT_BYTES (INET6_ADDRSTRLEN + 32) // brackets, interface and port

// `host` as struct in_addr has it, `port` as a number.
foliot__net_address foliot__net_address_of_ip4(uint32_t host, uint16_t port);
bool foliot__net_address_is_ip4(const foliot__net_address *address);
uint32_t
foliot__net_address_get_ip4(const foliot__net_address *address); // as struct in_addr has it
foliot__net_address foliot__net_address_of_socket(const foliot__socket_address *socket);
// Returns how many bytes of *socket count.
socklen_t foliot__net_address_to_socket(const foliot__net_address *address,
                                        foliot__socket_address *socket);
// "192.0.2.1", "2001:db8::1", "fe80::1%eth0"; no name is looked up. False: not an address.
bool foliot__net_address_read(const char *text, uint16_t port, foliot__net_address *address);
// "192.0.2.1:40312", "[2001:db8::1]:40312"
void foliot__net_address_print(const foliot__net_address *address, char *text, size_t bytes);
// A number that is equal for all addresses that one person may hold, and never 0: an IPv4 address,
// or the /64 of an IPv6 address, since a /64 usually has a single owner.
uint64_t foliot__net_address_host_key(const foliot__net_address *address);
bool foliot__net_address_is_loopback(const foliot__net_address *address);

// Whether routers, and this system, may cut a UDP socket's datagrams. Fragmentation is forbidden
// except for data that cannot be sent otherwise: messages of the network about its paths are not
// trusted, and fragments are often dropped.
void foliot__set_fragments(int fd, bool may);

static inline bool foliot__net_address_same(const foliot__net_address *a,
                                            const foliot__net_address *b)
{
    return a->port == b->port && a->scope == b->scope && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

#endif
