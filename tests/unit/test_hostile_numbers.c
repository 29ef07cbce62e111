// SPDX-License-Identifier: MIT
// Goal: numbers that a peer or a file chooses give figures that there can be, and a null pointer is
// not moved, which was undefined behaviour. Method: the two places are given such numbers; the
// sanitizer's build ends where something is undefined.
#include "../support/check.h"

#include <stdlib.h>

#include "../../client/lib/shared/internal.h"
#include "base/bytes.h"

TEST(counts_of_a_hostile_server)
{
    static const struct {
        uint32_t sent;
        uint64_t arrived, lost;
    } cases[] = {{21, 20, 1}, {0, 20, 0}, {UINT32_MAX, 0, UINT32_MAX}, {3, UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foliot_client *client = calloc(1, sizeof *client);
        client->join.state = FOLIOT__WELCOME_PRESENT;
        client->loss.counted = cases[i].sent;
        client->loss.arrived = client->loss.arrived_counted = cases[i].arrived;
        client->statistics.snapshots_received = cases[i].arrived / 2;
        foliot_client_statistics seen = foliot_client_get_statistics(client);
        assert_int_equal(seen.snapshots_expected - seen.snapshots_received, cases[i].lost);
        assert_true(seen.loss >= 0 && seen.loss <= 1);
        foliot__client_keep_figures(client);
        assert_int_equal(client->loss.lost_before, cases[i].lost);
        free(client);
    }
}

TEST(no_bytes_of_nothing)
{
    foliot__reader r = foliot__reader_of(NULL, 0);
    assert_null(foliot__read_bytes(&r, 0));
    assert_int_equal(r.status, FOLIOT_STATUS_OK);
    assert_null(foliot__read_bytes(&r, 1));
    assert_int_equal(r.status, FOLIOT_STATUS_TRUNCATED);
}
