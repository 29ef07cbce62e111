// SPDX-License-Identifier: MIT
// test_recording_corpus.c: the fuzzer's corpus without the fuzzer, and 400 seeded mutations of each
// file, with checksums as they are and made right. It tests that nothing crashes: run it under the
// sanitizers as well.
#include "check.h"

#include "../fuzz/fuzz_recording.c"

#include "base/rng.h"
#include "corpus.h"

#define MUTATIONS 400
#define FILE_MAX 65536

static void mutate(uint8_t *bytes, size_t length, foliot__rng *rng)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xc1, 0xc6, 0xcf, 0xdd, 0xff};
    uint32_t changes = 1 + foliot__rng_below(rng, 4);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t at = foliot__rng_below(rng, (uint32_t)length);
        uint32_t which = foliot__rng_below(rng, 2 * sizeof telling);
        bytes[at] = which < sizeof telling ? telling[which] : (uint8_t)foliot__rng_u64(rng);
    }
}

// A seed whose header is refused would find nothing behind it.
static void check_opens(const uint8_t *bytes, size_t length)
{
    foliot_replay *replay;
    foliot_damage damage;
    if (foliot_replay_open_bytes(bytes, length, NULL, &replay, &damage) != FOLIOT_STATUS_OK)
        fail_msg("%s", damage.text);
    foliot_replay_close(replay);
}

static int check_mutations(const uint8_t *bytes, size_t length)
{
    static foliot__rng rng;
    static uint8_t copy[FILE_MAX];
    if (!rng.state[0])
        rng = foliot__rng_seeded(99);
    check_opens(bytes, length);
    LLVMFuzzerTestOneInput(bytes, length);
    for (int k = 0; k < MUTATIONS && length > 0; k++) {
        memcpy(copy, bytes, length);
        mutate(copy, length, &rng);
        LLVMFuzzerTestOneInput(copy, length);
    }
    return 0;
}

TEST(mutated_recordings_end_in_a_status)
{
    check_ge(corpus_run("recording", check_mutations, 0), 11);
}
