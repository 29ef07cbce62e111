// SPDX-License-Identifier: MIT
// address.c: see address.h.
#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

foliot__net_address foliot__net_address_of_ip4(uint32_t host, uint16_t port)
{
    foliot__net_address a = {.port = port};
    memcpy(a.ip, mapped, sizeof mapped);
    memcpy(a.ip + sizeof mapped, &host, sizeof host);
    return a;
}

bool foliot__net_address_is_ip4(const foliot__net_address *a)
{
    return memcmp(a->ip, mapped, sizeof mapped) == 0;
}

uint32_t foliot__net_address_get_ip4(const foliot__net_address *a)
{
    uint32_t host;
    memcpy(&host, a->ip + sizeof mapped, sizeof host);
    return host;
}

foliot__net_address foliot__net_address_of_socket(const foliot__socket_address *s)
{
    foliot__net_address a = {.port = 0};
    if (s->any.sa_family == AF_INET)
        return foliot__net_address_of_ip4(s->four.sin_addr.s_addr, ntohs(s->four.sin_port));
    memcpy(a.ip, &s->six.sin6_addr, sizeof a.ip);
    a.port = ntohs(s->six.sin6_port);
    a.scope = s->six.sin6_scope_id;
    return a;
}

socklen_t foliot__net_address_to_socket(const foliot__net_address *a, foliot__socket_address *s)
{
    if (foliot__net_address_is_ip4(a)) {
        s->four = (struct sockaddr_in){.sin_family = AF_INET,
                                       .sin_port = htons(a->port),
                                       .sin_addr.s_addr = foliot__net_address_get_ip4(a)};
        return sizeof s->four;
    }
    s->six = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(a->port), .sin6_scope_id = a->scope};
    memcpy(&s->six.sin6_addr, a->ip, sizeof a->ip);
    return sizeof s->six;
}

// The interface behind '%': its name or its number; 0: there is none of that name.
static uint32_t scope_of(const char *text)
{
    char *end;
    uint32_t named = if_nametoindex(text);
    unsigned long number = strtoul(text, &end, 10);
    return named ? named : *text >= '0' && *text <= '9' && !*end ? (uint32_t)number : 0;
}

bool foliot__net_address_read(const char *text, uint16_t port, foliot__net_address *address)
{
    struct in_addr four;
    foliot__net_address read = {.port = port};
    char host[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "%");
    if (inet_pton(AF_INET, text, &four) == 1) {
        *address = foliot__net_address_of_ip4(four.s_addr, port);
        return true;
    }
    if (length >= sizeof host)
        return false;
    memcpy(host, text, length);
    host[length] = 0;
    if (inet_pton(AF_INET6, host, read.ip) != 1)
        return false;
    if (text[length] && !(read.scope = scope_of(text + length + 1)))
        return false;
    *address = read;
    return true;
}

void foliot__net_address_print(const foliot__net_address *a, char *text, size_t bytes)
{
    char host[INET6_ADDRSTRLEN] = "?", name[IF_NAMESIZE] = "";
    if (foliot__net_address_is_ip4(a)) {
        inet_ntop(AF_INET, a->ip + sizeof mapped, host, sizeof host);
        snprintf(text, bytes, "%s:%u", host, a->port);
        return;
    }
    inet_ntop(AF_INET6, a->ip, host, sizeof host);
    if (a->scope && !if_indextoname(a->scope, name))
        snprintf(name, sizeof name, "%u", a->scope);
    snprintf(text, bytes, "[%s%s%s]:%u", host, *name ? "%" : "", name, a->port);
}

uint64_t foliot__net_address_host_key(const foliot__net_address *a)
{
    uint64_t key = 0;
    size_t first = foliot__net_address_is_ip4(a) ? sizeof mapped : 0, count = first ? 4 : 8;
    for (size_t i = 0; i < count; i++)
        key = key << 8 | a->ip[first + i];
    return key ? key : 1; // ::1, among others
}

bool foliot__net_address_is_loopback(const foliot__net_address *a)
{
    static const uint8_t loopback[16] = {[15] = 1};
    return foliot__net_address_is_ip4(a) ? a->ip[12] == IN_LOOPBACKNET
                                         : memcmp(a->ip, loopback, sizeof loopback) == 0;
}

void foliot__set_fragments(int fd, bool may)
{
    int four = may ? IP_PMTUDISC_DONT : IP_PMTUDISC_PROBE;
    int six = may ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_PROBE;
    // One of the two is not of this socket's family.
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &four, sizeof four);
    setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &six, sizeof six);
}
