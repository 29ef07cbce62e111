// SPDX-License-Identifier: MIT
// signature.c: foliot-replay keys, and what verify --key says of a recording's signatures.
#include "checks.h"

#include "foliot/signature.h"
#include "tool.h"

#include <inttypes.h>
#include <string.h>

signature_verdict signature_verify(const char *file, const uint8_t *key, char *text, size_t bytes)
{
    foliot_signature_summary found;
    foliot_damage damage;
    char who[FOLIOT_KEY_TEXT_BYTES];
    foliot_status status = foliot_signature_check(file, &found, &damage);
    foliot_signature_print_key(found.key, who);
    if (status == FOLIOT_STATUS_NOT_FOUND) {
        snprintf(text, bytes, "it is not signed");
        return SIGNATURE_NONE;
    }
    if (status != FOLIOT_STATUS_OK) {
        snprintf(text, bytes, "%s", damage.text[0] ? damage.text : foliot_status_get_text(status));
        return status == FOLIOT_STATUS_CORRUPT ? SIGNATURE_FALSE : SIGNATURE_FAILED;
    }
    if (!found.one_key || memcmp(found.key, key, sizeof found.key) != 0) {
        snprintf(text, bytes, "it is signed by %s%s", found.one_key ? "another key: " : who,
                 found.one_key ? who : " and others");
        return SIGNATURE_FOREIGN;
    }
    if (!found.whole) {
        snprintf(text, bytes,
                 "signed up to tick %" PRIu64 " of %" PRIu64 ": what follows may have been cut off",
                 found.signed_tick, found.last_tick);
        return SIGNATURE_PART;
    }
    snprintf(text, bytes, "signed, all %" PRIu64 " ticks, by %s",
             found.last_tick - found.first_tick, who);
    return SIGNATURE_WHOLE;
}

const char *signature_verdict_name(signature_verdict verdict)
{
    static const char *const names[] = {"whole", "part", "another key", "none", "false", "failed"};
    return names[verdict];
}

int signature_exit(signature_verdict verdict)
{
    static const int codes[] = {FOLIOT__EXIT_FINE,           FOLIOT__EXIT_NOT_VERIFIABLE,
                                FOLIOT__EXIT_NOT_VERIFIABLE, FOLIOT__EXIT_NOT_VERIFIABLE,
                                FOLIOT__EXIT_CORRUPT,        FOLIOT__EXIT_ERROR};
    return codes[verdict];
}

// -- keys

const foliot__option keys_options[] = {{0}};

int keys_command(const foliot__program *program, const foliot__arguments *arguments)
{
    char problem[512];
    foliot_signer *signer;
    char key[FOLIOT_KEY_TEXT_BYTES];
    const char *file = arguments->operands[0];
    (void)program;
    foliot_status status = foliot_signer_write_new(file, problem, sizeof problem);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_signer_read(file, &signer, problem, sizeof problem);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-replay keys: %s\n", problem);
        return FOLIOT__EXIT_ERROR;
    }
    foliot_signature_print_key(foliot_signer_get_key(signer), key);
    foliot_signer_destroy(signer);
    printf("%s: the secret key, for 'foliot-server --sign %s' alone\n"
           "%s.pub: the public key, for 'foliot-replay verify --key %s.pub'\n%s\n",
           file, file, file, file, key);
    return FOLIOT__EXIT_FINE;
}
