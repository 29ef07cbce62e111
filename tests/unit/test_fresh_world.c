// SPDX-License-Identifier: MIT
// Goal: what a world keeps for speed must not show in what it computes. Sleepers that woke left the
// order of the joints as it was sorted before, so that a world brought back from a keyframe went on
// with other bits than the one it was taken from. Method: every 50 ticks a keyframe goes into a
// world that has never been stepped, and both go on side by side under random players who come,
// steer and leave. (A world that had lived along hides this: it has the same past.)
#include "../support/check.h"

#include <stdlib.h>

#include "base/rng.h"
#include "foliot/foliot.h"
#include "foliot/scene.h"

#define TICKS 600
#define FRESH_TICKS 50
#define SEEDS 6

typedef struct pair {
    foliot_scene *scene;
    foliot_world *first, *fresh;
    bool joined[16];
} pair;

static void make_fresh(pair *p)
{
    size_t length = 0;
    foliot_world_destroy(p->fresh);
    assert_int_equal(foliot_world_create(p->scene, &p->fresh, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_capture(p->first, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(length);
    assert_non_null(bytes);
    assert_int_equal(foliot_world_capture(p->first, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(p->fresh, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
}

static uint32_t draw_inputs(pair *p, foliot__rng *rng, foliot_input inputs[16])
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < p->scene->players.limit; player++) {
        foliot_input input = {.player = player};
        uint32_t draw = foliot__rng_below(rng, 1000);
        if (draw >= 60 || (!p->joined[player] && draw >= 10))
            continue;
        input.kind = FOLIOT_INPUT_CONTROL;
        if (!p->joined[player] || draw < 3) {
            input.kind = p->joined[player] ? FOLIOT_INPUT_LEAVE : FOLIOT_INPUT_JOIN;
            p->joined[player] = !p->joined[player];
        } else {
            for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
                input.axes[k] = (int8_t)((int)foliot__rng_below(rng, 255) - 127);
            input.buttons = (uint16_t)foliot__rng_below(rng, 8);
        }
        inputs[count++] = input;
    }
    return count;
}

static void go_on_alike(const char *file, uint64_t seed)
{
    foliot_error error;
    pair p = {0};
    foliot__rng rng = foliot__rng_seeded(seed);
    if (foliot_scene_read(file, &p.scene, &error) != FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    check_le(p.scene->players.limit, 16);
    assert_int_equal(foliot_world_create(p.scene, &p.first, NULL), FOLIOT_STATUS_OK);
    for (int tick = 0; tick < TICKS; tick++) {
        foliot_input inputs[16];
        uint32_t count = draw_inputs(&p, &rng, inputs);
        if (tick % FRESH_TICKS == 0)
            make_fresh(&p);
        assert_int_equal(foliot_world_step(p.first, inputs, count, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(p.fresh, inputs, count, NULL), FOLIOT_STATUS_OK);
        if (!foliot_digest_equal(foliot_world_get_digest(p.first),
                                 foliot_world_get_digest(p.fresh)))
            fail_msg("%s, seed %llu: they differ at tick %d", file, (unsigned long long)seed, tick);
    }
    foliot_world_destroy(p.first);
    foliot_world_destroy(p.fresh);
    foliot_scene_destroy(p.scene);
}

TEST(a_fresh_world_goes_on_like_the_old_one)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        go_on_alike("tests/cluster/scenes/workshop.yaml", seed);
        go_on_alike("tests/cluster/scenes/crates.yaml", seed);
        go_on_alike("scenes/billiards.yaml", seed);
    }
}
