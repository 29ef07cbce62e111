// SPDX-License-Identifier: MIT
// ctl.h: the commands of foliotctl, for main.c, which has their table. The functions return an exit
// code, and print errors.
#ifndef FOLIOT_TOOLS_CTL_H
#define FOLIOT_TOOLS_CTL_H

#include "base/options.h"

// token.c
extern const foliot__option foliot__ctl_token_options[], foliot__ctl_show_options[];
int foliot__ctl_key(const foliot__arguments *arguments);
int foliot__ctl_token(const foliot__program *program, const foliot__arguments *arguments);
int foliot__ctl_show(const foliot__arguments *arguments);

// admin.c: the commands that talk to a running server's admin API. request.c sends a request.

typedef struct foliot__ctl_server {
    const char *url;    // NULL: FOLIOT_SERVER, else http://127.0.0.1:7780
    const char *socket; // a Unix socket; NULL: FOLIOT_SOCKET, if --server is not given
    const char *token;  // file; NULL: FOLIOT_TOKEN_FILE
    bool json;
} foliot__ctl_server;

extern const foliot__command foliot__ctl_admin_commands[];
int foliot__ctl_admin(const foliot__arguments *arguments);

// Prints errors; exit code 75 if nobody answers, 1 if the server refuses. *answer is to be freed.
int foliot__ctl_request(const foliot__ctl_server *server, const char *method,
                        const char *const *parts, const char *body, char **answer);

#endif
