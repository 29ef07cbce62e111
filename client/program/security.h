// SPDX-License-Identifier: MIT
// security.h: what the client shows to be let in: a token, a password or nothing.
#ifndef FOLIOT_CLIENT_SECURITY_H
#define FOLIOT_CLIENT_SECURITY_H

#include "app.h"

// Reads the secret that the options name. Without a HOST the token says where to connect. Returns
// an exit code, with a sentence on stderr.
int foliot__security_read(foliot__app *app);
// Towards app->host. The configuration points to the secret until foliot__security_forget.
void foliot__security_apply(const foliot__app *app, foliot_transport_config *config);
void foliot__security_forget(void);

#endif
