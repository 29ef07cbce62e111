// SPDX-License-Identifier: MIT
// seal.c: what it costs to seal a datagram and to open it, as connections with keys do with each:
// bytes on the wire, and processor time. Median of rounds.
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "crypto/crypto.h"
#include "crypto/sealed.h"

#define ROUNDS 9
#define DATAGRAMS 20000
#define BYTES_MAX 1200

static void measure(size_t bytes)
{
    static uint8_t plain[BYTES_MAX], sealed[BYTES_MAX + FOLIOT__SEAL_BYTES], opened[BYTES_MAX];
    double sealing[ROUNDS], opening[ROUNDS];
    uint8_t key[FOLIOT__SEAL_KEY_BYTES];
    foliot__sealer sealer;
    foliot__opener opener;
    char name[64];
    unsigned wrong = 0;
    foliot__system_random(NULL, key, sizeof key);
    foliot__sealer_init(&sealer, key, 1);
    foliot__opener_init(&opener, key);
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t seal_ns = 0, open_ns = 0;
        for (int i = 0; i < DATAGRAMS; i += 100) {
            static uint8_t batch[100][sizeof sealed];
            uint64_t began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
            for (int k = 0; k < 100; k++)
                foliot__seal(&sealer, 0x68, 7, plain, bytes, 2, batch[k]);
            uint64_t between = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
            for (int k = 0; k < 100; k++)
                wrong += foliot__unseal(&opener, batch[k], bytes + FOLIOT__SEAL_BYTES, opened,
                                        NULL) != FOLIOT__OPENED;
            seal_ns += between - began;
            open_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - between;
        }
        sealing[r] = (double)seal_ns * 1e-3 / DATAGRAMS;
        opening[r] = (double)open_ns * 1e-3 / DATAGRAMS;
    }
    if (wrong)
        fprintf(stderr, "seal: %u datagrams could not be opened\n", wrong);
    snprintf(name, sizeof name, "%zu bytes, sealing", bytes);
    bench_report("seal", name, bench_median(sealing, ROUNDS), "us", NULL, 0);
    snprintf(name, sizeof name, "%zu bytes, opening", bytes);
    bench_report("seal", name, bench_median(opening, ROUNDS), "us", NULL, 0);
}

int main(void)
{
    static const size_t sizes[] = {32, 64, 128, 256, BYTES_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        measure(sizes[i]);
    bench_report("seal", "bytes a datagram", FOLIOT__SEAL_BYTES, "B", NULL, 0);
    return 0;
}
