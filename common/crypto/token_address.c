// SPDX-License-Identifier: MIT
// token_address.c: the addresses in tokens, to text and back. IPv4 lies in IPv6 as ::ffff:a.b.c.d.
#include "foliot/token.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool port_of(const char *text, uint16_t *port)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 65535)
        return false;
    *port = (uint16_t)value;
    return true;
}

foliot_status foliot_token_address_read(const char *text, uint16_t port,
                                        foliot_token_address *address)
{
    char host[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES];
    foliot_token_address read = {.port = port};
    bool six = text[0] == '[';
    const char *end = six ? strchr(text, ']') : text + strcspn(text, ":");
    size_t length = end ? (size_t)(end - text) - six : 0;
    if (length == 0 || length >= sizeof host)
        return FOLIOT_STATUS_INVALID;
    memcpy(host, text + six, length);
    host[length] = 0;
    end += six;
    if (*end && (*end != ':' || !port_of(end + 1, &read.port)))
        return FOLIOT_STATUS_INVALID;
    if (!six)
        memcpy(read.ip, mapped, sizeof mapped);
    if (inet_pton(six ? AF_INET6 : AF_INET, host, read.ip + (six ? 0 : sizeof mapped)) != 1)
        return FOLIOT_STATUS_INVALID;
    *address = read;
    return FOLIOT_STATUS_OK;
}

void foliot_token_address_print(const foliot_token_address *address,
                                char text[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN];
    bool four = memcmp(address->ip, mapped, sizeof mapped) == 0;
    inet_ntop(four ? AF_INET : AF_INET6, address->ip + (four ? sizeof mapped : 0), host,
              sizeof host);
    snprintf(text, FOLIOT_TOKEN_ADDRESS_TEXT_BYTES, four ? "%s:%u" : "[%s]:%u", host,
             address->port);
}
