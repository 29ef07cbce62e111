// SPDX-License-Identifier: MIT
// bind.c: see bind.h. Each family has its own socket: one socket for both would show IPv4 clients
// under two addresses, and would hide that a machine has no IPv6.
#include "arguments.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "net/address.h"

#define PORTS_TRIED 16 // any port that is free for both

static struct {
    const char *four, *six; // NULL: not there
} bound = {.four = "127.0.0.1"};

// `text` in brackets, as in [::1], or without.
static bool read_address(const char *text, foliot__net_address *address)
{
    char inner[FOLIOT__ADDRESS_TEXT_BYTES];
    size_t length = strlen(text);
    if (length > 2 && length - 2 < sizeof inner && text[0] == '[' && text[length - 1] == ']') {
        memcpy(inner, text + 1, length - 2);
        inner[length - 2] = 0;
        return foliot__net_address_read(inner, 0, address) && !foliot__net_address_is_ip4(address);
    }
    return foliot__net_address_read(text, 0, address);
}

int foliot__bind_check(const foliot__server_choices *choices, const foliot__arguments *arguments)
{
    static char kept[FOLIOT__ADDRESS_TEXT_BYTES];
    if (choices->network.binds.count > 0)
        bound.four = NULL;
    for (uint32_t i = 0; i < choices->network.binds.count; i++) {
        const char *text = choices->network.binds.items[i];
        foliot__net_address address;
        if (!read_address(text, &address))
            return foliot__options_wrong(&foliot__server_program, arguments,
                                         "--bind: '%s' is not an IPv4 or IPv6 address of a host",
                                         text);
        bool four = foliot__net_address_is_ip4(&address);
        if (four ? bound.four : bound.six)
            return foliot__options_wrong(&foliot__server_program, arguments,
                                         "--bind: one %s address at most: '%s' is one more",
                                         four ? "IPv4" : "IPv6", text);
        if (four)
            bound.four = text;
        else
            bound.six = kept;
        if (!four)
            snprintf(kept, sizeof kept, "%.*s", (int)strcspn(text + (*text == '['), "]"),
                     text + (*text == '['));
    }
    return 0;
}

static bool is_loopback(const char *text)
{
    foliot__net_address address;
    return !text || (foliot__net_address_read(text, 0, &address) &&
                     foliot__net_address_is_loopback(&address));
}

bool foliot__bind_is_loopback(void)
{
    return is_loopback(bound.four) && is_loopback(bound.six);
}

uint32_t foliot__bind_count(void)
{
    return bound.four && bound.six ? 2 : 1;
}

const char *foliot__bind_widest(void)
{
    return !is_loopback(bound.four) || !bound.six ? bound.four : bound.six;
}

// -- addresses that tokens may name

static bool is_any(const foliot__net_address *a)
{
    static const uint8_t none[16];
    return foliot__net_address_is_ip4(a) ? foliot__net_address_get_ip4(a) == htonl(INADDR_ANY)
                                         : memcmp(a->ip, none, sizeof none) == 0;
}

static uint32_t add_own(foliot_token_address *own, uint32_t count, uint32_t capacity,
                        const foliot__net_address *address)
{
    if (count == capacity)
        return count;
    memcpy(own[count].ip, address->ip, sizeof address->ip);
    own[count].port = 0; // the transport's
    return count + 1;
}

// Adds the addresses of all interfaces, of that family.
static uint32_t add_interfaces(foliot_token_address *own, uint32_t count, uint32_t capacity,
                               int family)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return count;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        foliot__socket_address at;
        if (!i->ifa_addr || i->ifa_addr->sa_family != family)
            continue;
        memcpy(&at, i->ifa_addr, family == AF_INET ? sizeof at.four : sizeof at.six);
        foliot__net_address address = foliot__net_address_of_socket(&at);
        count = add_own(own, count, capacity, &address);
    }
    freeifaddrs(all);
    return count;
}

uint32_t foliot__bind_own_addresses(foliot_token_address *own, uint32_t capacity)
{
    const char *texts[] = {bound.four, bound.six};
    uint32_t count = 0;
    for (int i = 0; i < 2; i++) {
        foliot__net_address address;
        if (!texts[i] || !foliot__net_address_read(texts[i], 0, &address))
            continue;
        count = is_any(&address) ? add_interfaces(own, count, capacity, i ? AF_INET6 : AF_INET)
                                 : add_own(own, count, capacity, &address);
    }
    return count;
}

// -- transports

static int why_not(foliot_status status, const char *address, uint16_t port)
{
    bool six = strchr(address, ':') != NULL;
    if (status == FOLIOT_STATUS_NOT_FOUND || status == FOLIOT_STATUS_REFUSED) {
        fprintf(stderr,
                status == FOLIOT_STATUS_REFUSED
                    ? "foliot-server: port %u needs rights that this user does not have\n"
                    : "foliot-server: port %u on %s: this machine has no such address%s\n",
                port, address, six ? ", or no IPv6" : "");
        return FOLIOT__EXIT_ERROR;
    }
    if (status == FOLIOT_STATUS_UNSUPPORTED) {
        fprintf(stderr,
                "foliot-server: --bind %s: this system does not permit the IPv6 sockets that the "
                "server needs\n",
                address);
        return FOLIOT__EXIT_ERROR;
    }
    if (status != FOLIOT_STATUS_BUSY) {
        fprintf(stderr, "foliot-server: port %u on %s: %s\n", port, address,
                foliot_status_get_text(status));
        return FOLIOT__EXIT_AGAIN;
    }
    fprintf(stderr, "foliot-server: port %u on %s is busy; --port 0 takes a free one\n", port,
            address);
    return FOLIOT__EXIT_AGAIN;
}

// The second transport uses the first one's port.
static foliot_status open_second(const foliot_transport_config *config, uint64_t now_ns,
                                 foliot_transport **transport)
{
    foliot_transport_config other = *config;
    foliot_transport *second;
    other.bind = bound.six;
    other.port = foliot_transport_get_port(*transport);
    foliot_status status = foliot_transport_create_enet(&other, now_ns, &second);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_transport_create_both(*transport, second, transport);
    if (status != FOLIOT_STATUS_OK)
        foliot_transport_destroy(second);
    return status;
}

int foliot__bind_open(const foliot_transport_config *asked, uint64_t now_ns,
                      foliot_transport **transport)
{
    foliot_transport_config config = *asked;
    bool two = bound.four && bound.six;
    foliot_status status = FOLIOT_STATUS_OK;
    config.bind = bound.four ? bound.four : bound.six;
    if (two && 2 * config.peers_max > FOLIOT_PEERS_MAX) // all places are for either family
        config.peers_max = FOLIOT_PEERS_MAX / 2;
    for (int i = 0; i < PORTS_TRIED; i++) {
        status = foliot_transport_create_enet(&config, now_ns, transport);
        if (status != FOLIOT_STATUS_OK)
            return why_not(status, config.bind, config.port);
        if (two)
            status = open_second(&config, now_ns, transport);
        if (status == FOLIOT_STATUS_OK)
            return 0;
        foliot_transport_destroy(*transport);
        *transport = NULL;
        if (status != FOLIOT_STATUS_BUSY || config.port != 0)
            break;
    }
    return why_not(status, bound.six, config.port);
}

// -- output

void foliot__bind_announce(uint16_t port)
{
    if (bound.four)
        printf("listening on %s:%u\n", bound.four, port);
    if (bound.six)
        printf("listening on [%s]:%u\n", bound.six, port);
}

void foliot__bind_print_host(uint16_t port)
{
    foliot__net_address address;
    const char *text = bound.four ? bound.four : bound.six;
    bool any = foliot__net_address_read(text, 0, &address) && is_any(&address);
    printf(bound.four || any ? "%s:%u" : "[%s]:%u", any ? "HOST" : text, port);
}
