// SPDX-License-Identifier: MIT
// Goal: numbers that a peer or a file chooses are converted where they fit only: a double beyond
// 2^64 to an integer, and a null pointer that is moved, were undefined behaviour. Method: the two
// places are given such numbers; the sanitizer's build ends where the conversion is undefined, and
// on every machine the count of expected snapshots must be one that there can be.
#include "../support/check.h"

#include <stdlib.h>

#include "../../client/lib/internal.h"
#include "base/bytes.h"

static void rates_of_a_hostile_server(void **state)
{
    (void)state;
    static const struct {
        double pace_hz, snapshot_hz;
        uint64_t first, newest;
    } cases[] = {{60, 20, 30, 90},
                 {1e-300, 1e300, 0, 90},
                 {1e300, 1e-300, 0, 90},
                 {0x1p-1074, 4, 0, 1},
                 {60, 60, 0, UINT64_MAX - 1},
                 {60, 60, 90, 30},
                 {0x1p-1074, 0x1p-1074, 3, 3},
                 {0x1p-1074, 4, 3, 3},
                 {1, 0x1p1023, 0, UINT64_MAX - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foliot_client *client = calloc(1, sizeof *client);
        client->welcome.pace_hz = cases[i].pace_hz;
        client->welcome.snapshot_hz = cases[i].snapshot_hz;
        client->first_snapshot = cases[i].first;
        client->buffer.has_newest = true;
        client->buffer.newest = cases[i].newest;
        client->buffer.capacity = 1;
        client->buffer.entries[0].snapshot.tick = cases[i].newest;
        foliot__client_keep_figures(client);
        check_le(client->expected_before, (uint64_t)1 << 53);
        if (i == 0)
            assert_int_equal(client->expected_before, 21);
        free(client);
    }
}

static void no_bytes_of_nothing(void **state)
{
    (void)state;
    foliot__reader r = foliot__reader_of(NULL, 0);
    assert_null(foliot__read_bytes(&r, 0));
    assert_int_equal(r.status, FOLIOT_STATUS_OK);
    assert_null(foliot__read_bytes(&r, 1));
    assert_int_equal(r.status, FOLIOT_STATUS_TRUNCATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_of_a_hostile_server),
        cmocka_unit_test(no_bytes_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
