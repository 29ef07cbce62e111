// SPDX-License-Identifier: MIT
// test_rtc_parsers.c: STUN against the vectors of RFC 5769; session descriptions as browsers make
// them, and with one line more, less or other; the seeds of their fuzzers.
#include "check.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "corpus.h"
#include "rtc/ice.h"

#define LLVMFuzzerTestOneInput fuzz_stun_one
#include "../fuzz/fuzz_stun.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_sdp_one
#include "../fuzz/fuzz_sdp.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_rtc_one
#define offer rtc_offer
#include "../fuzz/fuzz_rtc.c"
#undef offer
#undef LLVMFuzzerTestOneInput

#define PASSWORD "VOkJxbRl1RmTxUk/WvJxBt"

// RFC 5769, 2.1 to 2.4.
static const uint8_t request[] =
    "\x00\x01\x00\x58\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x10STUN test client"
    "\x00\x24\x00\x04\x6e\x00\x01\xff"
    "\x80\x29\x00\x08\x93\x2f\xf9\xb1\x51\x26\x3b\x36"
    "\x00\x06\x00\x09\x65\x76\x74\x6a\x3a\x68\x36\x76\x59\x20\x20\x20"
    "\x00\x08\x00\x14\x9a\xea\xa7\x0c\xbf\xd8\xcb\x56\x78\x1e\xf2\xb5\xb2\xd3\xf2\x49\xc1\xb5"
    "\x71\xa2\x80\x28\x00\x04\xe5\x7a\x3b\xcf";
static const uint8_t answer_4[] =
    "\x01\x01\x00\x3c\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x0btest vector\x20"
    "\x00\x20\x00\x08\x00\x01\xa1\x47\xe1\x12\xa6\x43"
    "\x00\x08\x00\x14\x2b\x91\xf5\x99\xfd\x9e\x90\xc3\x8c\x74\x89\xf9\x2a\xf9\xba\x53\xf0\x6b"
    "\xe7\xd7\x80\x28\x00\x04\xc0\x7d\x4c\x96";
static const uint8_t answer_6[] =
    "\x01\x01\x00\x48\x21\x12\xa4\x42\xb7\xe7\xa7\x01\xbc\x34\xd6\x86\xfa\x87\xdf\xae"
    "\x80\x22\x00\x0btest vector\x20"
    "\x00\x20\x00\x14\x00\x02\xa1\x47\x01\x13\xa9\xfa\xa5\xd3\xf1\x79\xbc\x25\xf4\xb5\xbe\xd2"
    "\xb9\xd9"
    "\x00\x08\x00\x14\xa3\x82\x95\x4e\x4b\xe6\x7b\xf1\x17\x84\xc9\x7c\x82\x92\xc2\x75\xbf\xe3"
    "\xed\x41\x80\x28\x00\x04\xc8\xfb\x0b\x4c";
static const uint8_t long_term[] =
    "\x00\x01\x00\x60\x21\x12\xa4\x42\x78\xad\x34\x33\xc6\xad\x72\xc0\x29\xda\x41\x2e"
    "\x00\x06\x00\x12\xe3\x83\x9e\xe3\x83\x88\xe3\x83\xaa\xe3\x83\x83\xe3\x82\xaf\xe3\x82\xb9"
    "\x00\x00\x00\x15\x00\x1c"
    "f//499k954d6OL34oL9FSTvy64sA"
    "\x00\x14\x00\x0b"
    "example.org\x00"
    "\x00\x08\x00\x14\xf6\x70\x24\x65\x6d\xd6\x4a\x3e\x02\xb8\xe0\x71\x2e\x85\xc9\xa2\x8c\xa8"
    "\x96\x66";

TEST(the_vectors_of_the_standard_are_read)
{
    foliot__stun_message m;
    assert_true(foliot__stun_read(request, sizeof request - 1, &m));
    assert_int_equal(m.type, FOLIOT__STUN_BINDING_REQUEST);
    assert_int_equal(m.username_bytes, 9);
    assert_memory_equal(m.username, "evtj:h6vY", 9);
    assert_true(m.has_fingerprint && !m.use_candidate && !m.unknown);
    assert_true(foliot__stun_authentic(request, &m, PASSWORD, strlen(PASSWORD)));
    assert_false(foliot__stun_authentic(request, &m, PASSWORD, strlen(PASSWORD) - 1));
    assert_true(foliot__stun_read(answer_4, sizeof answer_4 - 1, &m));
    assert_int_equal(m.type, FOLIOT__STUN_BINDING_SUCCESS);
    assert_true(foliot__stun_authentic(answer_4, &m, PASSWORD, strlen(PASSWORD)));
    assert_true(foliot__stun_read(answer_6, sizeof answer_6 - 1, &m));
    assert_true(foliot__stun_authentic(answer_6, &m, PASSWORD, strlen(PASSWORD)));
    uint8_t key[16];
    static const char text[] = "\xe3\x83\x9e\xe3\x83\x88\xe3\x83\xaa\xe3\x83\x83\xe3\x82\xaf\xe3"
                               "\x82\xb9:example.org:TheMatrIX";
    assert_int_equal(EVP_Digest(text, sizeof text - 1, key, NULL, EVP_md5(), NULL), 1);
    assert_true(foliot__stun_read(long_term, sizeof long_term - 1, &m));
    assert_true(m.unknown && !m.has_fingerprint); // a realm and a nonce: not for ICE
    assert_true(foliot__stun_authentic(long_term, &m, key, sizeof key));
}

// As in the vectors, but for the line that names the software.
TEST(answers_have_the_vectors_addresses)
{
    uint8_t answer[FOLIOT__STUN_ANSWER_BYTES];
    foliot__stun_message m;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(32853)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(32853)};
    assert_true(foliot__stun_read(request, sizeof request - 1, &m));
    assert_int_equal(inet_pton(AF_INET, "192.0.2.1", &four.sin_addr), 1);
    size_t length = foliot__stun_answer(&m, (struct sockaddr *)&four, "k", 1, answer);
    assert_int_equal(length, 64);
    assert_memory_equal(answer + 20, answer_4 + 36, 12);
    assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &six.sin6_addr), 1);
    assert_int_equal(foliot__stun_answer(&m, (struct sockaddr *)&six, "k", 1, answer), 64);
    assert_memory_equal(answer + 20, answer_4 + 36, 12);
    assert_int_equal(inet_pton(AF_INET6, "2001:db8:1234:5678:11:2233:4455:6677", &six.sin6_addr),
                     1);
    assert_int_equal(foliot__stun_answer(&m, (struct sockaddr *)&six, "k", 1, answer), 76);
    assert_memory_equal(answer + 20, answer_6 + 36, 24);
    assert_true(length <= sizeof request - 1); // nobody is sent more than he sent
}

TEST(no_changed_bit_is_authentic)
{
    uint8_t bytes[sizeof request - 1];
    foliot__stun_message m;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        memcpy(bytes, request, sizeof bytes);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(foliot__stun_read(bytes, sizeof bytes, &m) && m.has_fingerprint &&
                     foliot__stun_authentic(bytes, &m, PASSWORD, strlen(PASSWORD)));
    }
    for (size_t length = 0; length < sizeof bytes; length++)
        assert_false(foliot__stun_read(request, length, &m) && m.has_fingerprint);
}

TEST(the_first_byte_says_the_protocol)
{
    for (int b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        assert_int_equal(foliot__rtc_protocol_of(&byte, 1), b <= 3 ? FOLIOT__RTC_STUN
                                                            : b >= 20 && b <= 63
                                                                ? FOLIOT__RTC_DTLS
                                                                : FOLIOT__RTC_OTHER);
    }
    assert_int_equal(foliot__rtc_protocol_of(NULL, 0), FOLIOT__RTC_OTHER);
}

// -- session descriptions

#define PRINT                                                                                      \
    "EE:31:FD:9F:DA:DB:D0:5B:46:29:65:41:F9:E3:D4:EB:12:1B:F8:B7:9C:E3:A6:BB:7C:32:18:27:25:BD:"   \
    "FA:6D"
#define OTHER_PRINT                                                                                \
    "00:31:FD:9F:DA:DB:D0:5B:46:29:65:41:F9:E3:D4:EB:12:1B:F8:B7:9C:E3:A6:BB:7C:32:18:27:25:BD:"   \
    "FA:6D"
#define HEAD "v=0\r\no=- 1097255656861844382 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
#define SECTION_LINE "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"
#define CHROMIUM                                                                                   \
    HEAD "a=group:BUNDLE 0\r\na=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n" SECTION_LINE       \
         "c=IN IP4 0.0.0.0\r\na=candidate:2815061630 1 udp 2113937151 "                            \
         "2291ebe3-8d59-4ce4-8418-ed36f5a2dcb1.local 39303 typ host generation 0\r\n"              \
         "a=ice-ufrag:cD4T\r\na=ice-pwd:yBtUPgO4YDbycBVRxxvOaU/F\r\na=ice-options:trickle\r\n"     \
         "a=fingerprint:sha-256 " PRINT "\r\na=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\n"   \
         "a=max-message-size:262144\r\n"
#define FIREFOX                                                                                    \
    "v=0\r\no=mozilla...THIS_IS_SDPARTA-99.0 1 0 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"               \
    "a=sendrecv\r\na=fingerprint:sha-256 " PRINT "\r\na=group:BUNDLE 0\r\n"                        \
    "a=ice-options:trickle\r\na=msid-semantic:WMS *\r\n" SECTION_LINE                              \
    "c=IN IP4 0.0.0.0\r\na=sendrecv\r\na=ice-pwd:0123456789abcdef0123456789abcdef\r\n"             \
    "a=ice-ufrag:0123abcd\r\na=mid:0\r\na=setup:actpass\r\na=sctp-port:5000\r\n"                   \
    "a=max-message-size:1073741823\r\n"

TEST(offers_of_browsers_are_read)
{
    foliot__sdp_offer o;
    const char *problem;
    assert_true(foliot__sdp_read(CHROMIUM, strlen(CHROMIUM), &o, &problem));
    assert_string_equal(o.ufrag, "cD4T");
    assert_string_equal(o.mid, "0");
    assert_int_equal(o.sctp_port, 5000);
    assert_int_equal(o.fingerprint[0], 0xEE);
    assert_int_equal(o.fingerprint[31], 0x6D);
    assert_true(foliot__sdp_read(FIREFOX, strlen(FIREFOX), &o, &problem));
    assert_string_equal(o.ufrag, "0123abcd");
    for (size_t length = 0; length < strlen(CHROMIUM) - 80; length++)
        assert_false(foliot__sdp_read(CHROMIUM, length, &o, &problem));
}

// The offer of Chromium with one text in place of another.
static void refuse(const char *old, const char *other, const char *wants)
{
    char text[4096];
    foliot__sdp_offer o;
    const char *problem = "", *at = strstr(CHROMIUM, old);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - CHROMIUM), CHROMIUM, other,
             at + strlen(old));
    if (foliot__sdp_read(text, strlen(text), &o, &problem))
        fail_msg("read with '%s'", other);
    if (!strstr(problem, wants))
        fail_msg("'%s' is refused since %s, not %s", other, problem, wants);
}

TEST(other_offers_are_refused_with_a_sentence)
{
    static const char print[] = "a=fingerprint:sha-256 " PRINT "\r\n";
    refuse("v=0", "v=1", "not a session description");
    refuse("s=-\r\n", "s\r\n", "not a session description");
    refuse("s=-", "s=\001", "not a session description");
    refuse("a=mid:0\r\n", "", "lacks");
    refuse(print, "", "lacks");
    refuse(SECTION_LINE, "", "lacks");
    refuse("a=setup:actpass\r\n", "", "lacks");
    refuse("a=ice-pwd:yBtUPgO4YDbycBVRxxvOaU/F\r\n", "", "lacks");
    refuse("a=sctp-port:5000\r\n", "", "lacks");
    refuse(SECTION_LINE, SECTION_LINE SECTION_LINE, "more than one section");
    refuse(SECTION_LINE, SECTION_LINE "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", "more than one");
    refuse("m=application 9 UDP", "m=application 9 TCP", "not a data channel's");
    refuse("m=application 9 UDP", "m=application 0 UDP", "not a data channel's");
    refuse("a=setup",
           "a=fingerprint:sha-256 00"
           "\r\na=setup",
           "SHA-256");
    refuse("sha-256 EE:31", "sha-256 EE:3X", "SHA-256");
    refuse("sha-256 EE:31", "sha-256 EE.31", "SHA-256");
    refuse("sha-256 ", "sha-1 ", "SHA-256");
    refuse(":6D\r\n", ":6D:6D\r\n", "SHA-256");
    refuse("a=mid", "a=fingerprint:sha-256 " OTHER_PRINT "\r\na=mid", "two fingerprints");
    refuse("setup:actpass", "setup:passive", "begin with DTLS");
    refuse("cD4T", "cD4", "ice-ufrag");
    refuse("cD4T", "cD 4T", "ice-ufrag");
    refuse("a=mid", "a=ice-ufrag:other\r\na=mid", "ice-ufrag");
    refuse("yBtUPgO4YDbycBVRxxvOaU/F", "short", "ice-pwd");
    refuse("a=mid:0", "a=mid:01234567890123456", "mid");
    refuse("a=mid:0", "a=mid:0\r\na=mid:1", "mid");
    refuse("sctp-port:5000", "sctp-port:65536", "sctp-port");
    refuse("sctp-port:5000", "sctp-port:5000x", "sctp-port");
    refuse("sctp-port:5000", "sctp-port:5000\r\na=sctp-port:5001", "sctp-port");
}

TEST(long_offers_are_refused)
{
    static char text[FOLIOT__SDP_BYTES_MAX + 2];
    foliot__sdp_offer o;
    const char *problem;
    memset(text, 'a', sizeof text);
    assert_false(foliot__sdp_read(text, FOLIOT__SDP_BYTES_MAX, &o, &problem));
    assert_false(foliot__sdp_read(text, FOLIOT__SDP_BYTES_MAX + 1, &o, &problem));
    assert_non_null(strstr(problem, "too long"));
    snprintf(text, sizeof text, "v=0\n");
    for (size_t at = 4; at + 4 < sizeof text - 1; at += 4) // more lines than an offer may have
        memcpy(text + at, "a=x\n", 5);
    assert_false(foliot__sdp_read(text, 8000, &o, &problem));
    assert_non_null(strstr(problem, "not a session description"));
}

TEST(answers_have_what_the_offer_needs)
{
    uint8_t print[FOLIOT__SDP_FINGERPRINT_BYTES] = {0xAB, 0xCD};
    char text[FOLIOT__SDP_ANSWER_BYTES];
    foliot__sdp_answer a = {.ufrag = "ours",
                            .password = "secret",
                            .mid = "0",
                            .fingerprint = print,
                            .sctp_port = 5000,
                            .port = 8080,
                            .message_bytes_max = 16384,
                            .begins = true,
                            .candidates = {"192.0.2.1", "2001:db8::1"}};
    size_t length = foliot__sdp_write(&a, text);
    assert_int_equal(length, strlen(text));
    static const char *const lines[] = {
        "v=0\r\n",
        "a=ice-lite\r\n",
        "m=application 8080 UDP/DTLS/SCTP webrtc-datachannel\r\n",
        "a=fingerprint:sha-256 AB:CD:00:",
        "a=setup:active\r\n",
        "a=candidate:1 1 udp 2130706431 192.0.2.1 8080 typ host\r\n",
        "a=candidate:2 1 udp 2130706175 2001:db8::1 8080 typ host\r\na=end-of-candidates\r\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no %s in %s", lines[i], text);
    a.begins = false;
    foliot__sdp_write(&a, text);
    assert_non_null(strstr(text, "a=setup:passive\r\n"));
}

TEST(seeds_of_the_fuzzers_hold)
{
    check_ge(corpus_run("stun", fuzz_stun_one, 20), 4);
    check_ge(corpus_run("sdp", fuzz_sdp_one, 20), 2);
    check_ge(corpus_run("rtc", fuzz_rtc_one, 20), 2);
    foliot__rtc_destroy(rtc);
}
