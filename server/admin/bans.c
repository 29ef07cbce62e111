// SPDX-License-Identifier: MIT
// bans.c: see bans.h. Linear scans: they run only at joins.
#include "bans.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "net/address.h"

#define FILE_BYTES_MAX ((size_t)8 << 20)

void foliot__address_without_port(const char *address, char text[FOLIOT_ADDRESS_BYTES])
{
    const char *colon = strrchr(address, ':'), *first = strchr(address, ':');
    bool bracketed = address[0] == '[';
    size_t length = strlen(address);
    if (bracketed)
        length = strcspn(address, "]") - 1;
    else if (colon && colon == first) // more colons: IPv6 without a port
        length = (size_t)(colon - address);
    snprintf(text, FOLIOT_ADDRESS_BYTES, "%.*s", (int)length, address + bracketed);
}

static bool same(const foliot__ban *a, const foliot__ban *b)
{
    return strcmp(a->address, b->address) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->client, b->client) == 0;
}

// -- networks

// "192.0.2.1", "10.0.0.0/8", "2001:db8::/32", optionally with a port or brackets.
static bool read_network(const char *text, foliot__ban_network *n)
{
    char host[FOLIOT_ADDRESS_BYTES];
    const char *slash = strchr(text, '/');
    uint64_t bits = 0;
    foliot__address_without_port(text, host);
    if (slash) {
        if (!foliot__parse_count(slash + 1, &bits) || slash - text >= FOLIOT_ADDRESS_BYTES)
            return false;
        snprintf(host, sizeof host, "%.*s", (int)(slash - text), text);
    }
    host[strcspn(host, "%")] = 0; // an address of a link counts by itself
    if (!foliot__net_address_read(host, 0, &n->address))
        return false;
    uint32_t most = foliot__net_address_is_ip4(&n->address) ? 32 : 128;
    if (bits > most)
        return false;
    n->bits = slash ? (uint32_t)bits + 128 - most : 128;
    return true;
}

static bool within(const foliot__net_address *a, const foliot__ban_network *n)
{
    uint32_t bytes = n->bits / 8, rest = n->bits % 8;
    if (foliot__net_address_is_ip4(a) != foliot__net_address_is_ip4(&n->address))
        return false;
    return memcmp(a->ip, n->address.ip, bytes) == 0 &&
           (rest == 0 || (a->ip[bytes] ^ n->address.ip[bytes]) >> (8 - rest) == 0);
}

// Writes the canonical form.
static void keep_network(foliot__ban *ban, foliot__ban_network n)
{
    char *text = ban->address;
    char host[FOLIOT__ADDRESS_TEXT_BYTES], alone[FOLIOT_ADDRESS_BYTES];
    uint32_t most = foliot__net_address_is_ip4(&n.address) ? 32 : 128;
    for (uint32_t i = n.bits; i < 128; i++)
        n.address.ip[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
    foliot__net_address_print(&n.address, host, sizeof host);
    foliot__address_without_port(host, alone);
    if (n.bits == 128)
        snprintf(text, FOLIOT_ADDRESS_BYTES, "%s", alone);
    else
        snprintf(text, FOLIOT_ADDRESS_BYTES, "%.50s/%u", alone, n.bits + most - 128);
    ban->network = n;
}

bool foliot__ban_normalise(foliot__ban *ban)
{
    foliot__ban_network n;
    uint64_t client;
    if (!!*ban->address + !!*ban->name + !!*ban->client != 1)
        return false;
    if (*ban->client) {
        if (!foliot__parse_count(ban->client, &client) || client == 0)
            return false;
        snprintf(ban->client, sizeof ban->client, "%llu", (unsigned long long)client);
    }
    if (!*ban->address)
        return true;
    if (!read_network(ban->address, &n))
        return false;
    keep_network(ban, n);
    return true;
}

bool foliot__ban_of_peer(foliot__ban *ban, const char *address)
{
    foliot__ban_network n;
    if (!read_network(address, &n))
        return false;
    bool of_link = n.address.ip[0] == 0xfe && (n.address.ip[1] & 0xc0) == 0x80;
    if (!foliot__net_address_is_ip4(&n.address) && !of_link &&
        !foliot__net_address_is_loopback(&n.address))
        n.bits = 64;
    keep_network(ban, n);
    return true;
}

// -- the list

bool foliot__bans_add(foliot__bans *bans, const foliot__ban *ban)
{
    for (uint32_t i = 0; i < bans->count; i++)
        if (same(&bans->items[i], ban)) {
            bans->items[i] = *ban;
            return true;
        }
    if (bans->count == FOLIOT__BANS_MAX)
        return false;
    if (bans->count == bans->capacity) {
        uint32_t capacity = bans->capacity ? 2 * bans->capacity : 16;
        foliot__ban *larger = realloc(bans->items, capacity * sizeof *larger);
        if (!larger)
            return false;
        bans->items = larger;
        bans->capacity = capacity;
    }
    bans->items[bans->count++] = *ban;
    return true;
}

bool foliot__bans_remove(foliot__bans *bans, const char *text)
{
    uint32_t before = bans->count;
    foliot__ban meant = {0}; // an address in its one form
    snprintf(meant.address, sizeof meant.address, "%s", text);
    if (!foliot__ban_normalise(&meant))
        snprintf(meant.address, sizeof meant.address, "%s", text);
    // A player's name may equal another's address: the first matching kind counts.
    for (int kind = 0; kind < 3 && bans->count == before; kind++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < before; i++) {
            const foliot__ban *ban = &bans->items[i];
            bool same = kind == 0   ? strcmp(ban->address, meant.address) == 0
                        : kind == 1 ? strcmp(ban->client, text) == 0
                                    : strcmp(ban->name, text) == 0;
            if (!same)
                bans->items[kept++] = *ban;
        }
        bans->count = kept;
    }
    return bans->count < before;
}

static bool holds(const foliot__ban *ban, int64_t now)
{
    return ban->until == 0 || now < ban->until;
}

void foliot__bans_forget_over(foliot__bans *bans, int64_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bans->count; i++)
        if (holds(&bans->items[i], now))
            bans->items[kept++] = bans->items[i];
    bans->count = kept;
}

static bool is_meant(const foliot__ban *ban, const char *name, const foliot__ban_network *from,
                     uint64_t client)
{
    uint64_t number;
    if (*ban->name)
        return strcmp(ban->name, name) == 0;
    if (*ban->client)
        return client != 0 && foliot__parse_count(ban->client, &number) && number == client;
    return from && *ban->address && within(&from->address, &ban->network);
}

const foliot__ban *foliot__bans_find(const foliot__bans *bans, const char *name,
                                     const char *address, uint64_t client, int64_t now)
{
    foliot__ban_network from;
    bool known = read_network(address, &from);
    for (uint32_t i = 0; i < bans->count; i++) {
        const foliot__ban *b = &bans->items[i];
        if (holds(b, now) && is_meant(b, name, known ? &from : NULL, client))
            return b;
    }
    return NULL;
}

void foliot__bans_destroy(foliot__bans *bans)
{
    free(bans->items);
    *bans = (foliot__bans){0};
}

// -- files

static bool read_line(const char *line, size_t length, foliot__ban *ban)
{
    foliot__json_reader r = foliot__json_reader_of(line, length);
    char key[32], number[FOLIOT__JSON_NUMBER_BYTES];
    uint64_t until = 0;
    *ban = (foliot__ban){0};
    foliot__json_enter(&r, '{');
    while (foliot__json_more(&r)) {
        if (!foliot__json_key(&r, key, sizeof key))
            break;
        if (strcmp(key, "address") == 0)
            foliot__json_text_value(&r, ban->address, sizeof ban->address);
        else if (strcmp(key, "name") == 0)
            foliot__json_text_value(&r, ban->name, sizeof ban->name);
        else if (strcmp(key, "client") == 0)
            foliot__json_text_value(&r, ban->client, sizeof ban->client);
        else if (strcmp(key, "reason") == 0)
            foliot__json_text_value(&r, ban->reason, sizeof ban->reason);
        else if (strcmp(key, "until") != 0 || !foliot__json_number(&r, number) ||
                 !foliot__parse_count(number, &until))
            return false;
    }
    ban->until = (int64_t)until;
    return foliot__json_end(&r) && !r.problem && foliot__ban_normalise(ban);
}

bool foliot__bans_read(foliot__bans *bans, const char *file, char *problem, size_t problem_bytes)
{
    size_t length, line = 0;
    foliot__ban ban;
    errno = 0;
    char *text = foliot__file_slurp_text(file, FILE_BYTES_MAX, &length);
    if (!text && errno == ENOENT)
        return true;
    if (!text) {
        snprintf(problem, problem_bytes, "%s: %s", file, foliot__file_problem(errno));
        return false;
    }
    bool fine = true;
    for (char *at = text; fine && at < text + length;) {
        char *end = memchr(at, '\n', (size_t)(text + length - at));
        size_t bytes = end ? (size_t)(end - at) : (size_t)(text + length - at);
        line++;
        fine = bytes == 0 || (read_line(at, bytes, &ban) && foliot__bans_add(bans, &ban));
        at += bytes + 1;
    }
    free(text);
    if (!fine)
        snprintf(problem, problem_bytes,
                 "%s: line %zu is not a ban: {\"address\": \"192.0.2.1\", \"reason\": \"...\", "
                 "\"until\": 0}, or with a network, \"name\" or \"client\"",
                 file, line);
    return fine;
}

bool foliot__bans_write(const foliot__ban *items, uint32_t count, const char *file)
{
    char fresh[600];
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", file) >= sizeof fresh)
        return false; // another file's name
    int descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!out) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        foliot__json j = foliot__json_to(out);
        foliot__json_object(&j, NULL);
        foliot__json_text(&j,
                          *items[i].address  ? "address"
                          : *items[i].client ? "client"
                                             : "name",
                          *items[i].address  ? items[i].address
                          : *items[i].client ? items[i].client
                                             : items[i].name);
        foliot__json_text(&j, "reason", items[i].reason);
        foliot__json_integer(&j, "until", items[i].until);
        foliot__json_line(&j);
    }
    bool fine = fflush(out) == 0 && !ferror(out) && fsync(descriptor) == 0;
    fine = fclose(out) == 0 && fine;
    return fine && rename(fresh, file) == 0;
}
