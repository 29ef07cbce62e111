// SPDX-License-Identifier: MIT
// signature.c: signatures inside a recording (signature.h), and the files that keys lie in.
#include "recording/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "recording/block_reader.h"
#include "recording/block_content.h"
#include "recording/format.h"

// Begins every signed message: no other use of the key can be mistaken for it.
static const char domain[] = "foliot recording signature 1";
#define MESSAGE_BYTES (sizeof domain + FOLIOT__HASH_BYTES + 9)

static size_t message_of(uint8_t bytes[MESSAGE_BYTES], const foliot__signed_chain *chain,
                         uint64_t tick, bool final)
{
    foliot__writer w = foliot__writer_of(bytes, MESSAGE_BYTES);
    foliot__write_bytes(&w, domain, sizeof domain); // with its zero
    foliot__write_bytes(&w, chain->hash, sizeof chain->hash);
    foliot__write_u64(&w, tick);
    foliot__write_u8(&w, final);
    return w.at;
}

void foliot__signed_chain_add(foliot__signed_chain *chain, const void *bytes, size_t count)
{
    foliot__hash_chain(chain->hash, chain->hash, bytes, count);
}

static foliot_status add_part(foliot__signed_chain *chain, foliot__byte_source *source,
                              uint64_t offset, size_t count)
{
    const uint8_t *bytes = foliot__byte_source_at(source, offset, count, 0);
    if (!bytes)
        return source->status != FOLIOT_STATUS_OK ? source->status : FOLIOT_STATUS_IO;
    foliot__signed_chain_add(chain, bytes, count);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__signed_chain_read(foliot__signed_chain *chain, foliot__byte_source *source,
                                        uint64_t end)
{
    uint64_t at = FOLIOT__RECORDING_START_BYTES;
    foliot_status status = add_part(chain, source, 0, FOLIOT__RECORDING_START_BYTES);
    while (status == FOLIOT_STATUS_OK && at < end) {
        foliot__recording_block block;
        const uint8_t *header =
            foliot__byte_source_at(source, at, FOLIOT__RECORDING_BLOCK_BYTES, 0);
        if (!header || !foliot__recording_block_read(header, &block))
            return FOLIOT_STATUS_IO;
        size_t count = FOLIOT__RECORDING_BLOCK_BYTES + block.length;
        status = add_part(chain, source, at, count);
        at += count;
    }
    return status;
}

void foliot__signature_encode(foliot__buffer *out, const foliot_signer *signer,
                              const foliot__signed_chain *chain, uint64_t tick, bool final)
{
    uint8_t message[MESSAGE_BYTES], signature[FOLIOT__SIGNATURE_BYTES];
    foliot__sign(&signer->key, message, message_of(message, chain, tick, final), signature);
    foliot__pack_array(out, 5);
    foliot__pack_uint(out, FOLIOT__RECORDING_SIGNATURE);
    foliot__pack_uint(out, tick);
    foliot__pack_uint(out, final);
    foliot__pack_bin(out, foliot__signing_key_public(&signer->key), FOLIOT_KEY_BYTES);
    foliot__pack_bin(out, signature, sizeof signature);
}

// -- checking

typedef struct checking {
    foliot__byte_source source;
    foliot__block_reader reader;
    foliot__recording_header header;
    foliot__recording_content content;
    foliot__signed_chain chain;
    bool final; // the last block was a signature that says so
} checking;

// Checks one block that was read, and its signature if it has one; the reader stands behind it.
static foliot_status check_block(checking *c, foliot_signature_summary *summary,
                                 foliot_damage *damage)
{
    const foliot__recording_content *content = &c->content;
    const foliot__recorded_signature *s = &content->signature;
    if (content->has_signature) {
        uint8_t message[MESSAGE_BYTES];
        size_t count = message_of(message, &c->chain, s->tick, s->final);
        if (s->tick != content->tick || !foliot__signature_fits(s->key, message, count, s->bytes))
            return foliot__damage_set(
                damage, FOLIOT_STATUS_CORRUPT, content->number, content->offset,
                "the bytes before this signature are not those that were signed");
        summary->one_key = summary->signatures == 0 ||
                           (summary->one_key && memcmp(summary->key, s->key, sizeof s->key) == 0);
        memcpy(summary->key, s->key, sizeof s->key);
        summary->signatures++;
        summary->signed_tick = s->tick;
    }
    summary->last_tick = content->tick;
    summary->whole = content->has_closing && c->final;
    c->final = content->has_signature && s->final;
    return add_part(&c->chain, &c->source, content->offset,
                    (size_t)(c->reader.offset - content->offset));
}

static foliot_status check_all(checking *c, foliot_signature_summary *summary,
                               foliot_damage *damage)
{
    foliot_status status =
        foliot__block_reader_begin(&c->reader, &c->source, &c->header, &c->content, damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    summary->first_tick = summary->signed_tick = summary->last_tick = c->reader.tick;
    status = foliot__signed_chain_read(&c->chain, &c->source, c->reader.offset);
    while (status == FOLIOT_STATUS_OK) {
        status = foliot__block_reader_next(&c->reader, &c->content, damage);
        if (status == FOLIOT_STATUS_NOT_FOUND) // the end
            return summary->signatures ? FOLIOT_STATUS_OK : FOLIOT_STATUS_NOT_FOUND;
        if (status != FOLIOT_STATUS_OK) { // damage: what is before it may be signed
            summary->whole = false;
            bool cut = status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED;
            return cut && summary->signatures ? FOLIOT_STATUS_OK : status;
        }
        status = check_block(c, summary, damage);
    }
    return status;
}

foliot_status foliot_signature_check(const char *file, foliot_signature_summary *summary,
                                     foliot_damage *damage)
{
    foliot_damage unwanted;
    checking *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    *summary = (foliot_signature_summary){0};
    damage = damage ? damage : &unwanted;
    *damage = (foliot_damage){0};
    foliot_status status = foliot__byte_source_open(&c->source, file);
    if (status == FOLIOT_STATUS_OK) {
        status = check_all(c, summary, damage);
        foliot__recording_header_free(&c->header);
        foliot__recording_content_free(&c->content);
        foliot__byte_source_close(&c->source);
    }
    free(c);
    return status;
}

// -- keys

foliot_status foliot_signer_create(const uint8_t seed[FOLIOT_KEY_BYTES], foliot_signer **signer)
{
    foliot_signer *s = foliot__secret_memory(sizeof *s);
    if (!s)
        return FOLIOT_STATUS_MEMORY;
    foliot__signing_key_of(&s->key, seed);
    *signer = s;
    return FOLIOT_STATUS_OK;
}

void foliot_signer_destroy(foliot_signer *signer)
{
    foliot__secret_memory_free(signer, sizeof *signer);
}

const uint8_t *foliot_signer_get_key(const foliot_signer *signer)
{
    return foliot__signing_key_public(&signer->key);
}

// -- their files

#define SECRET_WORD "foliot-secret-key "
#define PUBLIC_WORD "foliot-public-key "
#define LINE_BYTES 128

void foliot_signature_print_key(const uint8_t key[FOLIOT_KEY_BYTES],
                                char text[FOLIOT_KEY_TEXT_BYTES])
{
    foliot__hex_print(text, key, FOLIOT_KEY_BYTES);
}

// 64 digits and nothing more.
static bool read_digits(const char *text, uint8_t key[FOLIOT_KEY_BYTES])
{
    return foliot__hex_read(text, key, FOLIOT_KEY_BYTES) && text[2 * FOLIOT_KEY_BYTES] == '\0';
}

// The key behind `word` in a file of one line. `line` is overwritten.
static foliot_status read_line(int descriptor, const char *file, const char *word,
                               uint8_t key[FOLIOT_KEY_BYTES], foliot_error *error)
{
    char line[LINE_BYTES] = "";
    size_t length = strlen(word);
    ssize_t count = read(descriptor, line, sizeof line - 1);
    if (count < 0)
        return foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", file,
                                foliot__file_problem(errno));
    line[foliot__text_plain(line, (size_t)count)] = '\0';
    line[strcspn(line, "\n")] = '\0';
    bool fine = strncmp(line, word, length) == 0 && read_digits(line + length, key);
    foliot__forget(line, sizeof line);
    return fine
               ? FOLIOT_STATUS_OK
               : foliot_error_set(error, FOLIOT_STATUS_INVALID,
                                  "%s: this is not a key: one line, '%s' and 64 hexadecimal digits",
                                  file, word);
}

foliot_status foliot_signer_read(const char *file, foliot_signer **signer, foliot_error *error)
{
    uint8_t seed[FOLIOT_KEY_BYTES];
    int descriptor = foliot__file_open(file);
    if (descriptor < 0)
        return foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", file,
                                foliot__file_problem(errno));
    struct stat about;
    foliot_status status;
    if (fstat(descriptor, &about) != 0)
        status =
            foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", file, foliot__file_problem(errno));
    else if (about.st_mode & 077)
        status = foliot_error_set(error, FOLIOT_STATUS_INVALID,
                                  "%s: other users may read or change this secret key; 'chmod "
                                  "600' it, or make another if they did",
                                  file);
    else
        status = read_line(descriptor, file, SECRET_WORD, seed, error);
    close(descriptor);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_signer_create(seed, signer);
    foliot__forget(seed, sizeof seed);
    return status == FOLIOT_STATUS_OK
               ? status
               : foliot_error_set(error, status, "%s: %s", file, foliot_status_get_text(status));
}

foliot_status foliot_signature_read_key(const char *text, uint8_t key[FOLIOT_KEY_BYTES],
                                        foliot_error *error)
{
    if (strlen(text) == 2 * FOLIOT_KEY_BYTES && read_digits(text, key))
        return FOLIOT_STATUS_OK;
    int descriptor = foliot__file_open(text);
    if (descriptor < 0)
        return foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", text,
                                foliot__file_problem(errno));
    foliot_status status = read_line(descriptor, text, PUBLIC_WORD, key, error);
    close(descriptor);
    return status;
}

// A new file of one line.
static bool write_line(const char *file, mode_t mode, const char *word,
                       const uint8_t key[FOLIOT_KEY_BYTES])
{
    char digits[FOLIOT_KEY_TEXT_BYTES], line[LINE_BYTES];
    int descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor < 0)
        return false;
    foliot_signature_print_key(key, digits);
    int length = snprintf(line, sizeof line, "%s%s\n", word, digits);
    bool fine = foliot__file_write(descriptor, line, (size_t)length) == length &&
                fchmod(descriptor, mode) == 0;
    foliot__forget(digits, sizeof digits);
    foliot__forget(line, sizeof line);
    fine = fsync(descriptor) == 0 && fine;
    fine = close(descriptor) == 0 && fine;
    if (!fine) {
        int reason = errno;
        unlink(file);
        errno = reason;
    }
    return fine;
}

foliot_status foliot_signer_write_new(const char *file, foliot_error *error)
{
    uint8_t seed[FOLIOT_KEY_BYTES];
    foliot_signer *signer;
    size_t length = strlen(file) + sizeof ".pub";
    char *beside = malloc(length);
    if (!beside)
        return foliot_error_set(error, FOLIOT_STATUS_MEMORY, "no memory");
    snprintf(beside, length, "%s.pub", file);
    foliot__system_random(NULL, seed, sizeof seed);
    foliot_status status = foliot_signer_create(seed, &signer);
    if (status != FOLIOT_STATUS_OK) {
        status = foliot_error_set(error, status, "no memory");
    } else {
        if (!write_line(file, 0600, SECRET_WORD, seed)) {
            status = foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", file, strerror(errno));
        } else if (!write_line(beside, 0644, PUBLIC_WORD, foliot_signer_get_key(signer))) {
            status = foliot_error_set(error, FOLIOT_STATUS_IO, "%s: %s", beside, strerror(errno));
            unlink(file); // half a pair is none
        }
        foliot_signer_destroy(signer);
    }
    foliot__forget(seed, sizeof seed);
    free(beside);
    return status;
}
