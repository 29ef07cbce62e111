// SPDX-License-Identifier: MIT
// security.c: see security.h. Secrets are read from files alone: everybody on a machine sees its
// command lines.
#include "security.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "base/exit_code.h"
#include "bind.h"
#include "crypto/crypto.h"
#include "crypto/secret_file.h"

#define USED_TOKENS_A_PEER 16u // that are remembered, in the middle
#define USED_TOKENS_MIN 4096u

static struct {
    uint8_t key[FOLIOT_KEY_BYTES];
    char line[FOLIOT_PASSWORD_BYTES_MAX + 1];
    foliot_token_address own[FOLIOT_TOKEN_ADDRESSES_MAX];
    uint32_t own_count;
} secrets;

int foliot__security_check(const foliot__arguments *arguments)
{
    int given = !!foliot__given.key + !!foliot__given.password + foliot__given.insecure;
    if (given > 1)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--key, --password and --insecure exclude each other");
    if (foliot__given.used_tokens && !foliot__given.key)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--used-tokens is for tokens: it goes with --key");
    if (foliot__given.public_addresses.count > 0 && !foliot__given.key && !foliot__given.web)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--public-address is what tokens name, and data channels of "
                                     "browsers: it goes with --key or --web");
    if (given == 0 && !foliot__bind_is_loopback())
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--bind %s lets others reach this server: say who may join, by --key FILE (who has a "
            "token), --password FILE (who knows it) or --insecure (anybody)",
            foliot__bind_widest());
    return 0;
}

// Those that the user names, or where the server listens.
static int find_own(void)
{
    for (uint32_t i = 0; i < foliot__given.public_addresses.count; i++) {
        const char *text = foliot__given.public_addresses.items[i];
        if (secrets.own_count == FOLIOT_TOKEN_ADDRESSES_MAX ||
            foliot_token_address_read(text, 0, &secrets.own[secrets.own_count++]) !=
                FOLIOT_STATUS_OK) {
            fprintf(stderr,
                    "foliot-server: --public-address: '%s' is no ADDRESS[:PORT], or one too many\n",
                    text);
            return FOLIOT__EXIT_USAGE;
        }
    }
    if (secrets.own_count == 0)
        secrets.own_count = foliot__bind_own_addresses(secrets.own, FOLIOT_TOKEN_ADDRESSES_MAX);
    return 0;
}

static int read_secret(const char *option, const char *file, size_t bytes)
{
    char why[256];
    if (foliot__secret_read(file, true, secrets.line, bytes, why, sizeof why))
        return 0;
    fprintf(stderr, "foliot-server: --%s %s: %s\n", option, file, why);
    return FOLIOT__EXIT_ERROR;
}

int foliot__security_read(foliot_transport_config *config)
{
    int code = 0;
    if (foliot__given.password) {
        code = read_secret("password", foliot__given.password, sizeof secrets.line);
        config->security = FOLIOT_SECURITY_PASSWORD;
        config->password = secrets.line;
    } else if (foliot__given.key) {
        code = read_secret("key", foliot__given.key, sizeof secrets.line);
        if (code == 0 && foliot_key_read(secrets.line, secrets.key) != FOLIOT_STATUS_OK) {
            fprintf(stderr,
                    "foliot-server: --key %s: a key is 64 hexadecimal digits ('foliotctl key FILE' "
                    "makes one)\n",
                    foliot__given.key);
            code = FOLIOT__EXIT_ERROR;
        }
        if (code == 0)
            code = find_own();
        config->security = FOLIOT_SECURITY_TOKEN;
        config->key = secrets.key;
        config->own_addresses = secrets.own;
        config->own_address_count = secrets.own_count;
    }
    return code;
}

int foliot__security_open_used(uint32_t peers_max, foliot_used_tokens **used)
{
    const char *file = foliot__given.used_tokens;
    if (!foliot__given.key)
        return 0;
    uint32_t most = USED_TOKENS_A_PEER * peers_max;
    foliot_status status =
        foliot_used_tokens_open(file, most < USED_TOKENS_MIN ? USED_TOKENS_MIN : most, used);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    fprintf(stderr, "foliot-server: --used-tokens %s: %s\n", file ? file : "",
            status == FOLIOT_STATUS_AGAIN     ? "another server uses it"
            : status == FOLIOT_STATUS_REFUSED ? "others may open it: 'chmod 600' it"
            : status == FOLIOT_STATUS_CORRUPT ? "it is no file of used tokens of this version"
            : status == FOLIOT_STATUS_IO      ? strerror(errno)
                                              : foliot_status_get_text(status));
    return status == FOLIOT_STATUS_AGAIN ? FOLIOT__EXIT_AGAIN : FOLIOT__EXIT_ERROR;
}

void foliot__security_forget(void)
{
    foliot__forget(&secrets, sizeof secrets);
}

const char *foliot__security_client_options(void)
{
    return foliot__given.key ? " --token FILE" : foliot__given.password ? " --password FILE" : "";
}

void foliot__security_announce(void)
{
    if (!foliot__given.key && !foliot__given.password && !foliot__bind_is_loopback())
        fprintf(stderr,
                "foliot-server: anybody may join, and nobody proves who he is: --key or --password "
                "changes that\n");
}
