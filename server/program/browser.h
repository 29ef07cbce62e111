// SPDX-License-Identifier: MIT
// browser.h: --web: players from browsers, beside those by UDP. Each returns an exit code.
#ifndef FOLIOT_SERVER_BROWSER_H
#define FOLIOT_SERVER_BROWSER_H

#include "foliot/transport.h"
#include "web/web.h"

struct foliot__app;

typedef struct foliot__browsers {
    foliot__web *web;            // NULL: there is none
    foliot_transport *transport; // until it is part of the app's
    char address[64], channels_address[64], public_address[64];
} foliot__browsers;

// Makes the app's transport one of two. `udp` is the configuration of the first; how many peers it
// has is decided here.
int foliot__browser_plan(struct foliot__app *app, foliot_transport_config *udp);
int foliot__browser_open(struct foliot__app *app); // behind the app's own transport
int foliot__browser_start(struct foliot__app *app);
void foliot__browser_announce(const struct foliot__app *app);
void foliot__browser_flush(struct foliot__app *app); // after every update of the server
void foliot__browser_stop(struct foliot__app *app);

#endif
