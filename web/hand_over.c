// SPDX-License-Identifier: MIT
// hand_over.c: see hand_over.h. A ticket is a token and the next sequence of controls.
#include "hand_over.h"
#include "instances.h"
#include "internal.h"

#include <string.h>

#define TICKET_BYTES (sizeof(foliot__token) + 4)

static uint8_t ticket[TICKET_BYTES];
static bool put; // by the page

WEB_EXPORT(ticket) uint8_t *web_ticket(void)
{
    return ticket;
}

WEB_EXPORT(ticket_bytes) uint32_t web_ticket_bytes(void)
{
    return TICKET_BYTES;
}

// The page has written a ticket, for the next client.
WEB_EXPORT(take_over) void web_take_over(void)
{
    put = true;
}

bool web_hand_over_give(const foliot_client *client)
{
    if (!client->join.welcomed || client->welcome.player == FOLIOT__NO_PLAYER)
        return false;
    memcpy(ticket, &client->welcome.token, sizeof client->welcome.token);
    memcpy(ticket + sizeof(foliot__token), &client->controls.next_sequence, 4);
    return true;
}

void web_hand_over_take(foliot_client *client)
{
    if (!put)
        return;
    memcpy(&client->join.takes_over, ticket, sizeof client->join.takes_over);
    memcpy(&client->join.takes_over_sequence, ticket + sizeof(foliot__token), 4);
    memset(ticket, 0, sizeof ticket);
    put = false;
}
