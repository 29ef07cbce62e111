// SPDX-License-Identifier: MIT
// Goal: bans by address, network, name and client of tokens: who is meant, and who is not; they
// outlast the server in a file. Method: lists made by hand.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/bans.h"

static bool add(foliot__bans *bans, const char *address, const char *name, const char *client)
{
    foliot__ban ban = {0};
    snprintf(ban.address, sizeof ban.address, "%s", address);
    snprintf(ban.name, sizeof ban.name, "%s", name);
    snprintf(ban.client, sizeof ban.client, "%s", client);
    return foliot__ban_normalise(&ban) && foliot__bans_add(bans, &ban);
}

static bool banned(const foliot__bans *bans, const char *name, const char *address, uint64_t client)
{
    return foliot__bans_find(bans, name, address, client, 1000) != NULL;
}

TEST(a_network_keeps_out_what_is_in_it)
{
    foliot__bans bans = {0};
    assert_true(add(&bans, "10.1.2.3/8", "", ""));
    assert_true(add(&bans, "2001:db8:ff::/32", "", ""));
    assert_true(add(&bans, "192.0.2.128/25", "", ""));
    assert_true(add(&bans, "203.0.113.9", "", ""));
    assert_string_equal(bans.items[0].address, "10.0.0.0/8");
    assert_string_equal(bans.items[1].address, "2001:db8::/32");
    assert_true(banned(&bans, "ann", "10.255.0.1:4000", 0));
    assert_false(banned(&bans, "ann", "11.0.0.1:4000", 0));
    assert_true(banned(&bans, "ann", "[2001:db8:1:2::3]:4000", 0));
    assert_false(banned(&bans, "ann", "[2001:db9::1]:4000", 0));
    assert_true(banned(&bans, "ann", "192.0.2.200:1", 0));
    assert_false(banned(&bans, "ann", "192.0.2.127:1", 0));
    assert_true(banned(&bans, "ann", "203.0.113.9:1", 0));
    assert_false(banned(&bans, "ann", "203.0.113.90:1", 0));
    assert_true(foliot__bans_remove(&bans, "10.9.9.9/8")); // the same network
    assert_false(banned(&bans, "ann", "10.255.0.1:4000", 0));
    foliot__bans_destroy(&bans);
}

TEST(one_family_is_not_the_other)
{
    foliot__bans bans = {0};
    assert_true(add(&bans, "0.0.0.0/0", "", ""));
    assert_true(banned(&bans, "ann", "192.0.2.1:1", 0));
    assert_true(banned(&bans, "ann", "[::ffff:192.0.2.1]:1", 0)); // that is IPv4
    assert_false(banned(&bans, "ann", "[2001:db8::1]:1", 0));
    assert_true(add(&bans, "::/0", "", ""));
    assert_true(banned(&bans, "ann", "[2001:db8::1]:1", 0));
    foliot__bans_destroy(&bans);
}

TEST(a_client_is_known_wherever_it_comes_from)
{
    foliot__bans bans = {0};
    assert_true(add(&bans, "", "", "0042"));
    assert_string_equal(bans.items[0].client, "42");
    assert_true(banned(&bans, "ann", "192.0.2.1:1", 42));
    assert_false(banned(&bans, "ann", "192.0.2.1:1", 43));
    assert_false(banned(&bans, "ann", "192.0.2.1:1", 0));
    foliot__bans_destroy(&bans);
}

TEST(a_peer_by_ipv6_is_banned_with_its_network)
{
    foliot__ban ban = {0};
    assert_true(foliot__ban_of_peer(&ban, "[2001:db8:1:2:3:4:5:6]:4000"));
    assert_string_equal(ban.address, "2001:db8:1:2::/64");
    assert_true(foliot__ban_of_peer(&ban, "192.0.2.1:4000"));
    assert_string_equal(ban.address, "192.0.2.1");
    assert_true(foliot__ban_of_peer(&ban, "[::1]:4000"));
    assert_string_equal(ban.address, "::1");
    assert_true(foliot__ban_of_peer(&ban, "[fe80::5%lo]:4000"));
    assert_string_equal(ban.address, "fe80::5");
    assert_false(foliot__ban_of_peer(&ban, ""));
}

TEST(what_is_no_ban_is_refused)
{
    static const char *const bad[][3] = {{"", "", ""},
                                         {"192.0.2.1", "ann", ""},
                                         {"", "ann", "7"},
                                         {"192.0.2", "", ""},
                                         {"10.0.0.0/33", "", ""},
                                         {"::/129", "", ""},
                                         {"::/", "", ""},
                                         {"10.0.0.0/x", "", ""},
                                         {"", "", "0"},
                                         {"", "", "-1"},
                                         {"", "", "x"},
                                         {"/8", "", ""}};
    foliot__bans bans = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(add(&bans, bad[i][0], bad[i][1], bad[i][2]));
    check_eq(bans.count, 0u);
}

TEST(they_outlast_the_server)
{
    char file[] = "/tmp/foliot-bans-XXXXXX", problem[700];
    foliot__bans bans = {0}, back = {0};
    close(mkstemp(file));
    assert_true(add(&bans, "2001:db8::/32", "", ""));
    assert_true(add(&bans, "", "eve", ""));
    assert_true(add(&bans, "", "", "42"));
    assert_true(foliot__bans_write(bans.items, bans.count, file));
    assert_true(foliot__bans_read(&back, file, problem, sizeof problem));
    check_eq(back.count, 3u);
    assert_true(banned(&back, "ann", "[2001:db8::1]:1", 0));
    assert_true(banned(&back, "eve", "192.0.2.1:1", 0));
    assert_true(banned(&back, "ann", "192.0.2.1:1", 42));
    foliot__bans_destroy(&bans);
    foliot__bans_destroy(&back);
    unlink(file);
}

// A player may be called like another's address, or like a client's number in an old file.
TEST(a_pardon_is_of_one_kind)
{
    foliot__bans bans = {0};
    assert_true(add(&bans, "", "203.0.113.9", ""));
    assert_true(add(&bans, "203.0.113.9", "", ""));
    assert_true(add(&bans, "", "42", ""));
    assert_true(add(&bans, "", "", "42"));
    assert_true(foliot__bans_remove(&bans, "203.0.113.9"));
    assert_false(banned(&bans, "ann", "203.0.113.9:1", 0));
    assert_true(banned(&bans, "203.0.113.9", "192.0.2.1:1", 0));
    assert_true(foliot__bans_remove(&bans, "42"));
    assert_false(banned(&bans, "ann", "192.0.2.1:1", 42));
    assert_true(banned(&bans, "42", "192.0.2.1:1", 0));
    assert_true(foliot__bans_remove(&bans, "42"));
    assert_true(foliot__bans_remove(&bans, "203.0.113.9"));
    check_eq(bans.count, 0u);
    foliot__bans_destroy(&bans);
}

TEST(one_that_is_over_takes_no_room)
{
    foliot__bans bans = {0};
    for (int i = 0; i < 4; i++) {
        foliot__ban ban = {.until = i % 2 ? 1000 + i : 0};
        snprintf(ban.name, sizeof ban.name, "p%d", i);
        assert_true(foliot__bans_add(&bans, &ban));
    }
    foliot__bans_forget_over(&bans, 1000);
    check_eq(bans.count, 4u);
    foliot__bans_forget_over(&bans, 1001);
    check_eq(bans.count, 3u);
    foliot__bans_forget_over(&bans, 5000);
    check_eq(bans.count, 2u);
    assert_string_equal(bans.items[1].name, "p2");
    foliot__bans_destroy(&bans);
}
