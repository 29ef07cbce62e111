// SPDX-License-Identifier: MIT
// hand_over.h: a player goes on in another module of the page, as after a lost connection. The
// ticket is what the next client says to the server. Whoever has it is the player.
#ifndef FOLIOT_WEB_HAND_OVER_H
#define FOLIOT_WEB_HAND_OVER_H

#include "foliot/client.h"

// Writes the client's ticket. False: it plays no player.
bool web_hand_over_give(const foliot_client *client);
// The client was just made: it goes on as the player of the ticket, if the page has put one here.
void web_hand_over_take(foliot_client *client);

#endif
