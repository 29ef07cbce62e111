// SPDX-License-Identifier: MIT
// sdp.c: see sdp.h. Lines that are not needed are skipped; a line that is needed occurs once, or
// several times with the same value.
#include "rtc/sdp.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define SECTION "UDP/DTLS/SCTP webrtc-datachannel"

typedef struct reader {
    foliot__sdp_offer *offer;
    bool has_section, has_fingerprint, has_setup;
    const char *problem;
} reader;

// The value of a line that begins with `name`; NULL: it does not.
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static bool is_ice_text(const char *text, size_t least, size_t most)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    return length >= least && length <= most && strspn(text, allowed) == length;
}

// A number of 1 to 5 digits, which is not 0; 0: none.
static uint32_t number_of(const char *text, size_t length)
{
    uint32_t value = 0;
    if (length == 0 || length > 5 || strspn(text, "0123456789") < length)
        return 0;
    for (size_t i = 0; i < length; i++)
        value = value * 10 + (uint32_t)(text[i] - '0');
    return value <= 65535 ? value : 0;
}

static bool refuse(reader *r, const char *problem)
{
    r->problem = problem;
    return false;
}

// Copies the value, unless the target holds a different one.
static bool keep_once(char *place, size_t bytes, const char *text)
{
    if (place[0])
        return strcmp(place, text) == 0;
    snprintf(place, bytes, "%s", text);
    return true;
}

static bool read_section(reader *r, const char *text)
{
    const char *port = value_of(text, "application "), *end = port ? strchr(port, ' ') : NULL;
    if (r->has_section)
        return refuse(r, "it has more than one section");
    if (!end || !number_of(port, (size_t)(end - port)) || strcmp(end + 1, SECTION) != 0)
        return refuse(r, "its section is not a data channel's");
    r->has_section = true;
    return true;
}

static bool read_line(reader *r, const char *line)
{
    const char *v;
    foliot__sdp_offer *o = r->offer;
    if ((v = value_of(line, "m=")))
        return read_section(r, v);
    if ((v = value_of(line, "a=fingerprint:"))) {
        uint8_t print[FOLIOT__SDP_FINGERPRINT_BYTES];
        const char *hex = value_of(v, "sha-256 ");
        if (!hex || strlen(hex) != 3 * sizeof print - 1)
            return refuse(r, "its fingerprint is not one of SHA-256");
        for (size_t i = 0; i < sizeof print; i++) {
            int high = foliot__hex_value(hex[3 * i]), low = foliot__hex_value(hex[3 * i + 1]);
            if (high < 0 || low < 0 || (i + 1 < sizeof print && hex[3 * i + 2] != ':'))
                return refuse(r, "its fingerprint is not one of SHA-256");
            print[i] = (uint8_t)(high * 16 + low);
        }
        if (r->has_fingerprint && memcmp(print, r->offer->fingerprint, sizeof print) != 0)
            return refuse(r, "it has two fingerprints");
        memcpy(r->offer->fingerprint, print, sizeof print);
        r->has_fingerprint = true;
        return true;
    }
    if ((v = value_of(line, "a=ice-ufrag:")))
        return (is_ice_text(v, 4, FOLIOT__SDP_UFRAG_MAX) &&
                keep_once(o->ufrag, sizeof o->ufrag, v)) ||
               refuse(r, "its ice-ufrag is malformed, or there are two");
    if ((v = value_of(line, "a=ice-pwd:")))
        return (is_ice_text(v, 22, FOLIOT__SDP_PASSWORD_MAX) &&
                keep_once(o->password, sizeof o->password, v)) ||
               refuse(r, "its ice-pwd is malformed, or there are two");
    if ((v = value_of(line, "a=mid:")))
        return (is_ice_text(v, 1, FOLIOT__SDP_MID_MAX) && keep_once(o->mid, sizeof o->mid, v)) ||
               refuse(r, "its mid is malformed, or there are two");
    if ((v = value_of(line, "a=setup:"))) {
        r->has_setup = true;
        o->waits = strcmp(v, "actpass") == 0;
        return o->waits || strcmp(v, "active") == 0 ||
               refuse(r, "it does not let the browser begin with DTLS");
    }
    if ((v = value_of(line, "a=sctp-port:"))) {
        uint32_t port = number_of(v, strlen(v));
        bool fits = port && (!o->sctp_port || o->sctp_port == port);
        o->sctp_port = (uint16_t)port;
        return fits || refuse(r, "its sctp-port is malformed, or there are two");
    }
    return true;
}

// Copies a line without its end, and returns where the next begins; NULL: it is malformed.
static const char *next_line(const char *text, const char *end, char *line, size_t bytes)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    if (!stop)
        return NULL;
    size_t length = (size_t)(stop - text);
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (length < 2 || length >= bytes || text[1] != '=')
        return NULL;
    for (size_t i = 0; i < length; i++)
        if ((uint8_t)text[i] < ' ' || (uint8_t)text[i] == 127)
            return NULL;
    memcpy(line, text, length);
    line[length] = 0;
    return stop + 1;
}

bool foliot__sdp_read(const char *text, size_t length, foliot__sdp_offer *offer,
                      const char **problem)
{
    reader r = {.offer = offer, .problem = "it lacks what a data channel needs"};
    const char *end = text + length;
    char line[600];
    uint32_t lines = 0;
    bool read = length <= FOLIOT__SDP_BYTES_MAX;
    memset(offer, 0, sizeof *offer);
    *problem = "it is too long";
    while (read && text < end) {
        text = next_line(text, end, line, sizeof line);
        if (!text || ++lines > FOLIOT__SDP_LINES_MAX || (lines == 1 && strcmp(line, "v=0") != 0)) {
            *problem = "it is not a session description";
            return false;
        }
        read = read_line(&r, line);
        *problem = r.problem;
    }
    if (!read)
        return false;
    *problem = "it lacks what a data channel needs";
    return r.has_section && r.has_fingerprint && r.has_setup && offer->ufrag[0] &&
           offer->password[0] && offer->mid[0] && offer->sctp_port;
}

size_t foliot__sdp_write(const foliot__sdp_answer *a, char text[FOLIOT__SDP_ANSWER_BYTES])
{
    char print[3 * FOLIOT__SDP_FINGERPRINT_BYTES + 1];
    for (int i = 0; i < FOLIOT__SDP_FINGERPRINT_BYTES; i++)
        snprintf(print + 3 * i, 4, "%02X:", a->fingerprint[i]);
    print[3 * FOLIOT__SDP_FINGERPRINT_BYTES - 1] = 0;
    int length =
        snprintf(text, FOLIOT__SDP_ANSWER_BYTES,
                 "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=ice-lite\r\n"
                 "a=group:BUNDLE %s\r\nm=application %u " SECTION "\r\n"
                 "c=IN IP4 0.0.0.0\r\na=mid:%s\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\n"
                 "a=fingerprint:sha-256 %s\r\na=setup:%s\r\na=sctp-port:%u\r\n"
                 "a=max-message-size:%u\r\n",
                 a->mid, a->port, a->mid, a->ufrag, a->password, print,
                 a->begins ? "active" : "passive", a->sctp_port, (unsigned)a->message_bytes_max);
    for (int i = 0; i < FOLIOT__SDP_CANDIDATES_MAX && a->candidates[i][0]; i++)
        length += snprintf(text + length, FOLIOT__SDP_ANSWER_BYTES - (size_t)length,
                           "a=candidate:%d 1 udp %u %s %u typ host\r\n", i + 1,
                           2130706431u - 256u * (unsigned)i, a->candidates[i], a->port);
    length += snprintf(text + length, FOLIOT__SDP_ANSWER_BYTES - (size_t)length,
                       "a=end-of-candidates\r\n");
    return (size_t)length;
}
