// SPDX-License-Identifier: MIT
// snapshot_priors.c: counts how often each model of the snapshot codec meets a zero, over a file of
// frames and over ready scenes, and prints common/wire/snapshot_priors.h anew (models that are
// never used keep their prior). A changed table is a changed protocol. From the root of the tree,
// built:
//   cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude -Icommon -Itests/support -o build/snapshot_priors
//   scripts/snapshot_priors.c
//     tests/support/bench.c tests/support/worlds.c build/libfoliot.a -lyaml -lenet -lxxhash -lm
//     -pthread
//   build/snapshot_priors FILE >new && mv new common/wire/snapshot_priors.h; again, as contexts do
//   not depend on it but
//     what is learnt within a piece does.
#include "wire/range_coder.h"

static void count_bit(foliot__range_encoder *coder, foliot__model *model, bool bit);
#define foliot__range_encode count_bit
#include "../common/wire/snapshot_codec.c"
#undef foliot__range_encode
#define main bench_main
#include "../tests/bench/snapshot_codec.c"
#undef main

#define FILE_WEIGHT 260.0 // of the file against the scenes: where it says much, it decides

static foliot_snapshot_coder *counted;
static double counts[MODEL_COUNT][2], weight = 1;

static void count_bit(foliot__range_encoder *coder, foliot__model *model, bool bit)
{
    counts[model - (foliot__model *)&counted->now][bit] += weight;
    foliot__range_encode(coder, model, bit);
}

static void print_priors(void)
{
    printf("// SPDX-License-Identifier: MIT\n"
           "// snapshot_priors.h: the share of zeros, in 2^-16, that each of the models of a "
           "snapshot starts with: counted over the\n"
           "// 901-cube data set (a half of it predicts the other within 0.6 %%) and, with less "
           "weight, over ready scenes.\n"
           "// Part of the protocol (docs/reference/protocol.md).\n");
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        double all = counts[i][0] + counts[i][1];
        int share = all > 0 ? (int)((counts[i][0] + 2) / (all + 4) * 65535 + 0.5) : priors[i];
        printf("%d,%s", share < 64 ? 64 : share > 65471 ? 65471 : share, i % 16 == 15 ? "\n" : " ");
    }
    printf("\n");
}

static void count_world(void *user, const worlds_pair *pair)
{
    foliot_snapshot_pieces *pieces = user;
    counted->format = *pair->format;
    weight = 400.0 / (pair->now->count + 10); // a small scene says as much as a large one
    if (foliot_snapshot_encode(counted, pair->now, pair->base, pieces) != FOLIOT_STATUS_OK)
        exit(2);
}

int main(int argc, char **argv)
{
    frames f = {.file = argc > 1 ? argv[1] : NULL, .bodies = 901, .baseline = 6};
    if (!f.file || !frames_read(&f) ||
        foliot_snapshot_coder_create(&format_template, &counted) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "snapshot_priors: it needs a file of frames\n");
        return 2;
    }
    weight = FILE_WEIGHT;
    foliot_snapshot_pieces pieces = {0};
    foliot_snapshot base = room_for(f.bodies), now = room_for(f.bodies);
    for (uint32_t i = f.baseline; i < f.count; i++) {
        snapshot_of(&f, i - f.baseline, &base);
        snapshot_of(&f, i, &now);
        if (foliot_snapshot_encode(counted, &now, &base, &pieces) != FOLIOT_STATUS_OK)
            return 2;
    }
    weight = 1;
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "scenes/%s.yaml", worlds[i]);
        worlds_run(name, WORLD_TICKS, 6, count_world, &pieces);
    }
    print_priors();
    return 0;
}
