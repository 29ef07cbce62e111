// SPDX-License-Identifier: MIT
// watches.c: the viewer's client watches, and never steps (kind.h).
#include "kind.h"

void web_kind_configure(foliot_client_config *config)
{
    config->kind = FOLIOT_PEER_WATCHER;
    config->fingerprint = (foliot_digest){1, 0}; // that no build has: it does not step
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
