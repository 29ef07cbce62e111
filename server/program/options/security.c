// SPDX-License-Identifier: MIT
// security.c: see security.h. Reads secrets only from files: command lines are visible to
// everybody.
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_code.h"
#include "crypto/crypto.h"
#include "crypto/token.h"
#include "program/process.h"
#include "program/lifecycle/life.h"

#define USED_TOKENS_A_PEER 16u // that are remembered, in the middle
#define USED_TOKENS_MIN 4096u

static struct {
    uint8_t keys[FOLIOT_KEYS_MAX * FOLIOT_KEY_BYTES]; // the first, at first
    char line[FOLIOT_PASSWORD_BYTES_MAX + 1];
    foliot_token_address own[FOLIOT_OWN_ADDRESSES_MAX];
    uint32_t own_count, key_count;
} secrets;

int foliot__security_check(const foliot__server_choices *choices,
                           const foliot__arguments *arguments)
{
    int given = !!choices->access.key + !!choices->access.password + choices->access.insecure;
    if (given > 1)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--key, --password and --insecure exclude each other");
    if (choices->access.used_tokens && !choices->access.key)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--used-tokens is for tokens: it requires --key");
    if (choices->network.public_addresses.count > 0 && !choices->access.key && !choices->web.page)
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--public-address is for tokens and data channels: it requires --key or --web");
    if (given == 0 && !foliot__bind_is_loopback())
        return foliot__options_wrong(
            &foliot__server_program, arguments,
            "--bind %s lets others reach this server: choose who may join, by --key FILE (holders "
            "of a token), --password FILE (those who know it) or --insecure (everybody)",
            foliot__bind_widest());
    return 0;
}

// The addresses that the user names, or those of the server, and the one that Agones reports.
static int find_own(const foliot__server_choices *choices)
{
    const char *agones = foliot__life_agones_address();
    for (uint32_t i = 0; i < choices->network.public_addresses.count; i++) {
        const char *text = choices->network.public_addresses.items[i];
        if (secrets.own_count == FOLIOT_TOKEN_ADDRESSES_MAX ||
            foliot_token_address_read(text, 0, &secrets.own[secrets.own_count++]) !=
                FOLIOT_STATUS_OK) {
            fprintf(
                stderr,
                "foliot-server: --public-address: '%s' is not ADDRESS[:PORT], or one too many\n",
                text);
            return FOLIOT__EXIT_USAGE;
        }
    }
    if (choices->network.public_addresses.count == 0)
        secrets.own_count = foliot__bind_own_addresses(secrets.own, FOLIOT_OWN_ADDRESSES_MAX);
    if (choices->network.public_addresses.count == 0 && *agones) {
        secrets.own_count -= secrets.own_count == FOLIOT_OWN_ADDRESSES_MAX;
        if (foliot_token_address_read(agones, 0, &secrets.own[secrets.own_count]) ==
            FOLIOT_STATUS_OK) // else it is a name
            secrets.own_count++;
    }
    return 0;
}

static int refuse(const char *option, const char *file, const char *why)
{
    fprintf(stderr, "foliot-server: --%s %s: %s\n", option, file, why);
    return FOLIOT__EXIT_SCENE;
}

int foliot__security_read(const foliot__server_choices *choices, foliot_transport_config *config)
{
    int code = 0;
    char why[256];
    if (choices->access.password) {
        if (!foliot__secret_read(choices->access.password, true, secrets.line, sizeof secrets.line,
                                 why, sizeof why))
            code = refuse("password", choices->access.password, why);
        config->security = FOLIOT_SECURITY_PASSWORD;
        config->password = secrets.line;
    } else if (choices->access.key) {
        if (!foliot__secret_read_keys(choices->access.key, secrets.keys, &secrets.key_count, why,
                                      sizeof why))
            code = refuse("key", choices->access.key, why);
        else
            code = find_own(choices);
        config->security = FOLIOT_SECURITY_TOKEN;
        config->key = secrets.keys;
        config->own_addresses = secrets.own;
        config->own_address_count = secrets.own_count;
    }
    return code;
}

int foliot__security_open_used(const foliot__server_choices *choices, uint32_t peers_max,
                               foliot_used_tokens **used)
{
    const char *file = choices->access.used_tokens;
    if (!choices->access.key)
        return 0;
    uint32_t most = USED_TOKENS_A_PEER * peers_max;
    foliot_status status =
        foliot_used_tokens_open(file, most < USED_TOKENS_MIN ? USED_TOKENS_MIN : most, used);
    int error = errno;
    if (status == FOLIOT_STATUS_OK)
        return 0;
    fprintf(stderr, "foliot-server: --used-tokens %s: %s\n", file ? file : "",
            status == FOLIOT_STATUS_AGAIN     ? "another server uses it"
            : status == FOLIOT_STATUS_REFUSED ? "other users may open it: 'chmod 600' it"
            : status == FOLIOT_STATUS_CORRUPT ? "it is not a list of used tokens of this version"
            : status == FOLIOT_STATUS_IO      ? strerror(error)
                                              : foliot_status_get_text(status));
    if (status == FOLIOT_STATUS_IO)
        return foliot__host_exit_for(error);
    return status == FOLIOT_STATUS_AGAIN ? FOLIOT__EXIT_AGAIN : FOLIOT__EXIT_SCENE;
}

void foliot__security_apply_keys(const foliot__server_choices *choices, foliot_transport *transport)
{
    if (choices->access.key && secrets.key_count > 1)
        (void)!foliot_transport_set_keys(transport, secrets.keys, secrets.key_count);
}

bool foliot__security_read_again(const foliot__server_choices *choices, uint8_t *keys,
                                 uint32_t *count, char *problem, size_t problem_bytes)
{
    char why[256];
    if (foliot__secret_read_keys(choices->access.key, keys, count, why, sizeof why))
        return true;
    snprintf(problem, problem_bytes, "%s: %s", choices->access.key, why);
    return false;
}

void foliot__security_forget(void)
{
    foliot__forget(&secrets, sizeof secrets);
}

const char *foliot__security_client_options(const foliot__server_choices *choices)
{
    return choices->access.key        ? " --token FILE"
           : choices->access.password ? " --password FILE"
                                      : "";
}

void foliot__security_announce(const foliot__server_choices *choices)
{
    if (!choices->access.key && !choices->access.password && !foliot__bind_is_loopback())
        fprintf(stderr, "foliot-server: everybody may join, without a proof of identity: --key or "
                        "--password changes that\n");
}
