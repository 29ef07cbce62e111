// SPDX-License-Identifier: MIT
// admin.h: the commands of foliotctl that speak with a running server's admin API. admin.c: what
// each asks for. request.c: sends it. table.c: shows what comes back.
#ifndef FOLIOT_TOOLS_CTL_ADMIN_H
#define FOLIOT_TOOLS_CTL_ADMIN_H

#include "base/options.h"

typedef struct foliot__ctl_server {
    const char *url;    // NULL: FOLIOT_SERVER, else http://127.0.0.1:7780
    const char *socket; // a Unix socket; NULL: FOLIOT_SOCKET, if --server is not given
    const char *token;  // file; NULL: FOLIOT_TOKEN_FILE
    bool json;
} foliot__ctl_server;

extern const foliot__command foliot__ctl_admin_commands[];
bool foliot__ctl_is_admin(const char *command);
int foliot__ctl_admin(const foliot__arguments *arguments);

// Prints what is wrong and returns an exit code: 75 where nobody answers, 1 where the server
// refuses. *answer is to be freed.
int foliot__ctl_request(const foliot__ctl_server *server, const char *method,
                        const char *const *parts, const char *body, char **answer);
// An object with one array of objects is a table; other objects are lines of key and value.
void foliot__ctl_show_answer(const char *json, FILE *out);

#endif
