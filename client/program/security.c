// SPDX-License-Identifier: MIT
// security.c: see security.h. To the loopback it speaks in clear: nobody is on that way. Everywhere
// else it has keys, though with neither token nor password nobody proves who he is.
#include "security.h"

#include <string.h>

#include "base/exit_code.h"
#include "crypto/crypto.h"
#include "crypto/secret_file.h"

static char secret[FOLIOT_TOKEN_TEXT_BYTES]; // longer than any password

static int read_token(foliot__app *app, const char *file)
{
    foliot_token token;
    char why[256], text[FOLIOT_TOKEN_ADDRESS_TEXT_BYTES];
    if (!foliot__secret_read(file, false, secret, sizeof secret, why, sizeof why)) {
        fprintf(stderr, "foliot-client: --token %s: %s\n", file, why);
        return FOLIOT__EXIT_ERROR;
    }
    foliot_status status = foliot_token_read(secret, &token);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-client: --token %s: %s\n", file,
                status == FOLIOT_STATUS_NEWER ? "a token of a later version than this client knows"
                                              : "that is no token, or not a whole one");
        return FOLIOT__EXIT_ERROR;
    }
    if (app->host[0])
        return 0;
    if (token.address_count == 0) {
        fprintf(stderr, "foliot-client: --token %s: it names no server: say HOST[:PORT]\n", file);
        return FOLIOT__EXIT_USAGE;
    }
    foliot_token_address_print(&token.addresses[0], text);
    memcpy(app->address, text, sizeof text);
    memcpy(app->host, text, text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":"));
    app->port = token.addresses[0].port;
    return 0;
}

int foliot__security_read(foliot__app *app)
{
    char why[256];
    const char *file = app->options->password;
    if (app->options->token)
        return read_token(app, app->options->token);
    if (!file ||
        foliot__secret_read(file, true, secret, FOLIOT_PASSWORD_BYTES_MAX + 1, why, sizeof why))
        return 0;
    fprintf(stderr, "foliot-client: --password %s: %s\n", file, why);
    return FOLIOT__EXIT_ERROR;
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 ||
           strcmp(host, "[localhost]") == 0 || strcmp(host, "[::1]") == 0;
}

void foliot__security_apply(const foliot__app *app, foliot_transport_config *config)
{
    config->token = config->password = secret;
    config->security = app->options->token      ? FOLIOT_SECURITY_TOKEN
                       : app->options->password ? FOLIOT_SECURITY_PASSWORD
                       : app->options->insecure || is_loopback(app->host)
                           ? FOLIOT_SECURITY_CLEAR
                           : FOLIOT_SECURITY_ANONYMOUS;
}

void foliot__security_forget(void)
{
    foliot__forget(secret, sizeof secret);
}
