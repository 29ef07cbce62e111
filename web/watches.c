// SPDX-License-Identifier: MIT
// watches.c: the viewer's client watches, and never steps (page.h). The tables of partial
// snapshots, a tenth of the module, are loaded when a session sends such packets.
#include "page.h"

#include "shared/internal.h"
#include "partial_tables.h"
#include "wire/partial_snapshot.h"

#define ASK_EVERY 64 // packets that come in vain

struct web_tables web_tables;
static bool tables_here;

__attribute__((import_module("page"), import_name("want_tables"))) void page_want_tables(void);

// Room for the tables (tables.bin); NULL: `bytes` is not the size that this build needs.
WEB_EXPORT(tables) void *web_tables_room(uint32_t bytes)
{
    return bytes == sizeof web_tables ? &web_tables : NULL;
}

// That many bytes of them have arrived. Returns 0 for those of another build.
WEB_EXPORT(tables_come) int web_tables_come(uint32_t bytes)
{
    tables_here = bytes == sizeof web_tables;
    return tables_here;
}

bool web_kind_reads(uint8_t packet)
{
    static uint32_t asked;
    if (packet == FOLIOT__PARTIAL_PACKET && !tables_here && asked++ % ASK_EVERY == 0)
        page_want_tables();
    return packet != FOLIOT__PARTIAL_PACKET || tables_here;
}

foliot_status web_kind_create(foliot_client_config *config, uint64_t now_ns, foliot_client **client)
{
    config->kind = FOLIOT_PEER_WATCHER;
    config->fingerprint = (foliot_digest){1, 0}; // that no build has: it does not step
    return foliot__client_create(config, NULL, now_ns, client);
}

void web_kind_updated(foliot_client *client)
{
    (void)client;
}

void web_kind_write(foliot__json *j, const foliot_client *client)
{
    (void)client;
    foliot__json_text(j, "kind", "watcher");
}

double web_kind_rounding(const foliot_client *client)
{
    return client->welcome.format.position_step;
}

void web_kind_filter(const foliot_client *client, uint32_t slot, web_detail_body *body)
{
    (void)client;
    (void)slot;
    (void)body;
}
