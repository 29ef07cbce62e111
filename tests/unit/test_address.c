// SPDX-License-Identifier: MIT
// Goal: addresses of both IP families (common/net/address.h): what is read is what is printed, and
// what counts as one address for limits. Method: examples of each kind.
#include "check.h"

#include <string.h>

#include "net/address.h"

static foliot__net_address read_one(const char *text)
{
    foliot__net_address address;
    assert_true(foliot__net_address_read(text, 7777, &address));
    return address;
}

static uint64_t key(const char *text)
{
    foliot__net_address address = read_one(text);
    return foliot__net_address_host_key(&address);
}

TEST(what_is_printed_is_what_was_read)
{
    static const char *const pairs[][2] = {
        {"192.0.2.1", "192.0.2.1:7777"},         {"::1", "[::1]:7777"},
        {"2001:DB8:0::1", "[2001:db8::1]:7777"}, {"::ffff:192.0.2.1", "192.0.2.1:7777"},
        {"fe80::1%1", "[fe80::1%lo]:7777"},
    };
    char text[FOLIOT__ADDRESS_TEXT_BYTES];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        foliot__net_address address = read_one(pairs[i][0]);
        foliot__net_address_print(&address, text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
}

TEST(what_is_no_address_is_refused)
{
    static const char *const bad[] = {
        "",      "localhost",    "192.0.2",  "192.0.2.1.1", "[::1]",
        "::1::", "fe80::1%none", "fe80::1%", "1:2",         "2001:db8::g",
        ":"};
    foliot__net_address address = {.port = 5};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(foliot__net_address_read(bad[i], 7777, &address));
    check_eq(address.port, 5);
}

TEST(a_socket_address_survives_the_way_there_and_back)
{
    static const char *const texts[] = {"192.0.2.1", "2001:db8::1", "fe80::2%1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        foliot__socket_address socket;
        foliot__net_address address = read_one(texts[i]);
        socklen_t bytes = foliot__net_address_to_socket(&address, &socket);
        foliot__net_address back = foliot__net_address_of_socket(&socket);
        check_eq(bytes, i == 0 ? sizeof socket.four : sizeof socket.six);
        assert_true(foliot__net_address_same(&address, &back));
    }
}

TEST(a_network_of_ipv6_counts_as_one_address)
{
    check_eq(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::2"));
    check_ne(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
    check_ne(key("192.0.2.1"), key("192.0.2.2"));
    check_eq(key("::ffff:192.0.2.1"), key("192.0.2.1")); // not through the other family
    check_ne(key("::1"), 0u);
    check_ne(key("0.0.0.0"), 0u);
}

TEST(the_loopback_is_known_in_both_families)
{
    static const char *const here[] = {"127.0.0.1", "127.9.9.9", "::1"};
    static const char *const elsewhere[] = {"128.0.0.1", "::2", "::", "1::1"};
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
        foliot__net_address address = read_one(here[i]);
        assert_true(foliot__net_address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        foliot__net_address address = read_one(elsewhere[i]);
        assert_false(foliot__net_address_is_loopback(&address));
    }
}
