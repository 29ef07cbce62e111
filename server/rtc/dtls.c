// SPDX-License-Identifier: MIT
// dtls.c: see dtls.h. OpenSSL reads from a BIO that holds one datagram at a time, and writes each
// datagram by the hook.
#include "rtc/dtls.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BYTES 2048 // of a record: larger ones are not sent, and kept in pieces
#define CERTIFICATE_DAYS 365
#define COOKIE_BYTES 16
// OpenSSL does not count the bytes that encryption adds to the last message.
#define MTU (FOLIOT__DTLS_HANDSHAKE_BYTES - 32)
#define FIRST_WAIT_US 250000u // for an answer to a flight
#define LAST_WAIT_US 1000000u
#define CIPHERS                                                                                    \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384"

struct foliot__dtls_context {
    SSL_CTX *ssl;
    BIO_METHOD *method;
    uint8_t fingerprint[FOLIOT__DTLS_FINGERPRINT_BYTES];
};

struct foliot__dtls {
    SSL *ssl;
    const foliot__dtls_hook *hook;
    void *user;
    const uint8_t *in; // the datagram that is read; NULL: none
    size_t in_length;
    foliot__dtls_state state;
    bool foreign;
    uint8_t fingerprint[FOLIOT__DTLS_FINGERPRINT_BYTES];
    uint8_t cookie[COOKIE_BYTES]; // of a server, for the address where the other side is
};

// -- the BIO

static int bio_write(BIO *bio, const char *bytes, int length)
{
    foliot__dtls *d = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (length > 0)
        d->hook->send(d->user, (const uint8_t *)bytes, (size_t)length);
    return length;
}

static int bio_read(BIO *bio, char *bytes, int room)
{
    foliot__dtls *d = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!d->in || room <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    int length = d->in_length < (size_t)room ? (int)d->in_length : room;
    memcpy(bytes, d->in, (size_t)length);
    d->in = NULL;
    return length;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU:
        return MTU;
    default:
        return 0;
    }
}

// -- the cookie, bound to one address: a peer with a spoofed address never receives it

static int make_cookie(SSL *ssl, unsigned char *cookie, unsigned int *length)
{
    const foliot__dtls *d = SSL_get_app_data(ssl);
    memcpy(cookie, d->cookie, COOKIE_BYTES);
    *length = COOKIE_BYTES;
    return 1;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, unsigned int length)
{
    const foliot__dtls *d = SSL_get_app_data(ssl);
    return length == COOKIE_BYTES && CRYPTO_memcmp(cookie, d->cookie, COOKIE_BYTES) == 0;
}

// A flight is repeated sooner than after OpenSSL's second.
static unsigned int next_wait_us(SSL *ssl, unsigned int before_us)
{
    (void)ssl;
    return before_us == 0 ? FIRST_WAIT_US : before_us < LAST_WAIT_US ? 2 * before_us : before_us;
}

// -- the certificate

static int verify(X509_STORE_CTX *store, void *unused)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    foliot__dtls *d = SSL_get_app_data(ssl);
    X509 *certificate = X509_STORE_CTX_get0_cert(store);
    uint8_t print[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    (void)unused;
    d->foreign = !certificate || !X509_digest(certificate, EVP_sha256(), print, &length) ||
                 length != sizeof d->fingerprint ||
                 CRYPTO_memcmp(print, d->fingerprint, sizeof d->fingerprint) != 0;
    return d->foreign ? 0 : 1;
}

static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *x = X509_new();
    uint64_t serial = 0;
    if (!x)
        return NULL;
    X509_NAME *name = X509_get_subject_name(x);
    bool made = RAND_bytes((unsigned char *)&serial, sizeof serial) == 1 &&
                X509_set_version(x, X509_VERSION_3) &&
                ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) &&
                X509_gmtime_adj(X509_getm_notBefore(x), -86400L) &&
                X509_gmtime_adj(X509_getm_notAfter(x), CERTIFICATE_DAYS * 86400L) &&
                X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                           (const unsigned char *)"foliot", -1, -1, 0) &&
                X509_set_issuer_name(x, name) && X509_set_pubkey(x, key) &&
                X509_sign(x, key, EVP_sha256()) > 0;
    if (made)
        return x;
    X509_free(x);
    return NULL;
}

foliot__dtls_context *foliot__dtls_context_create(void)
{
    foliot__dtls_context *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->ssl = SSL_CTX_new(DTLS_method());
    c->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = key ? make_certificate(key) : NULL;
    unsigned length = 0;
    bool done = certificate && c->ssl && c->method &&
                X509_digest(certificate, EVP_sha256(), c->fingerprint, &length) &&
                SSL_CTX_use_certificate(c->ssl, certificate) == 1 &&
                SSL_CTX_use_PrivateKey(c->ssl, key) == 1 &&
                SSL_CTX_set_min_proto_version(c->ssl, DTLS1_2_VERSION) == 1 &&
                SSL_CTX_set_cipher_list(c->ssl, CIPHERS) == 1;
    X509_free(certificate);
    EVP_PKEY_free(key);
    if (!done) {
        foliot__dtls_context_destroy(c);
        ERR_clear_error();
        return NULL;
    }
    BIO_meth_set_write(c->method, bio_write);
    BIO_meth_set_read(c->method, bio_read);
    BIO_meth_set_ctrl(c->method, bio_control);
    SSL_CTX_set_verify(c->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(c->ssl, verify, NULL);
    SSL_CTX_set_options(c->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU |
                                    SSL_OP_NO_COMPRESSION | SSL_OP_COOKIE_EXCHANGE);
    SSL_CTX_set_cookie_generate_cb(c->ssl, make_cookie);
    SSL_CTX_set_cookie_verify_cb(c->ssl, check_cookie);
    SSL_CTX_set_session_cache_mode(c->ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_send_fragment(c->ssl, PLAIN_BYTES);
    SSL_CTX_set_mode(c->ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_cert_list(c->ssl, 8192);
    return c;
}

void foliot__dtls_context_destroy(foliot__dtls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->method);
    free(context);
}

const uint8_t *foliot__dtls_context_get_fingerprint(const foliot__dtls_context *context)
{
    return context->fingerprint;
}

// -- one connection

foliot__dtls *foliot__dtls_create(foliot__dtls_context *context, bool client,
                                  const uint8_t fingerprint[FOLIOT__DTLS_FINGERPRINT_BYTES],
                                  const foliot__dtls_hook *hook, void *user)
{
    foliot__dtls *d = calloc(1, sizeof *d);
    BIO *bio = BIO_new(context->method);
    SSL *ssl = SSL_new(context->ssl);
    if (!d || !bio || !ssl || RAND_bytes(d->cookie, COOKIE_BYTES) != 1) {
        free(d);
        BIO_free(bio);
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    d->ssl = ssl;
    d->hook = hook;
    d->user = user;
    memcpy(d->fingerprint, fingerprint, sizeof d->fingerprint);
    BIO_set_data(bio, d);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, d);
    DTLS_set_timer_cb(ssl, next_wait_us);
    SSL_set_mtu(ssl, MTU);
    if (client)
        SSL_set_connect_state(ssl);
    else
        SSL_set_accept_state(ssl);
    return d;
}

void foliot__dtls_destroy(foliot__dtls *dtls)
{
    if (!dtls)
        return;
    SSL_free(dtls->ssl);
    free(dtls);
}

foliot__dtls_state foliot__dtls_get_state(const foliot__dtls *dtls)
{
    return dtls->state;
}

bool foliot__dtls_is_foreign(const foliot__dtls *dtls)
{
    return dtls->foreign;
}

// Interprets a result of OpenSSL: true if it only waits for more data.
static bool goes_on(foliot__dtls *d, int returned)
{
    int error = SSL_get_error(d->ssl, returned);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return true;
    d->state = FOLIOT__DTLS_OVER;
    return false;
}

static void shake(foliot__dtls *d)
{
    ERR_clear_error();
    int returned = SSL_do_handshake(d->ssl);
    if (returned == 1)
        d->state = FOLIOT__DTLS_OPEN;
    else
        goes_on(d, returned);
}

void foliot__dtls_move(foliot__dtls *dtls)
{
    if (RAND_bytes(dtls->cookie, COOKIE_BYTES) != 1)
        dtls->state = FOLIOT__DTLS_OVER;
}

void foliot__dtls_start(foliot__dtls *dtls)
{
    shake(dtls);
}

void foliot__dtls_receive(foliot__dtls *dtls, const uint8_t *datagram, size_t length)
{
    uint8_t plain[PLAIN_BYTES];
    dtls->in = datagram;
    dtls->in_length = length;
    if (dtls->state == FOLIOT__DTLS_SHAKING)
        shake(dtls);
    // A datagram may hold several records.
    while (dtls->state == FOLIOT__DTLS_OPEN) {
        ERR_clear_error();
        int got = SSL_read(dtls->ssl, plain, sizeof plain);
        if (got <= 0) {
            goes_on(dtls, got);
            break;
        }
        dtls->hook->received(dtls->user, plain, (size_t)got);
    }
    dtls->in = NULL;
}

void foliot__dtls_tick(foliot__dtls *dtls)
{
    ERR_clear_error();
    if (dtls->state == FOLIOT__DTLS_SHAKING && DTLSv1_handle_timeout(dtls->ssl) < 0)
        dtls->state = FOLIOT__DTLS_OVER;
    ERR_clear_error();
}

bool foliot__dtls_send(foliot__dtls *dtls, const uint8_t *bytes, size_t length)
{
    if (dtls->state != FOLIOT__DTLS_OPEN || length > PLAIN_BYTES - 48)
        return false;
    ERR_clear_error();
    int sent = SSL_write(dtls->ssl, bytes, (int)length);
    return sent > 0 || (goes_on(dtls, sent) && false);
}

void foliot__dtls_close(foliot__dtls *dtls)
{
    if (dtls->state == FOLIOT__DTLS_OPEN)
        SSL_shutdown(dtls->ssl);
    ERR_clear_error();
    dtls->state = FOLIOT__DTLS_OVER;
}
