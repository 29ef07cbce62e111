// SPDX-License-Identifier: MIT
// perturb.c: applies a planted fault to a world after a chosen stage of a step.
#include "divergence/perturb.h"

#define VALUE_f64 FOLIOT_VALUE_F64
#define VALUE_i64 FOLIOT_VALUE_I64
#define VALUE_u32 FOLIOT_VALUE_U64

void foliot__perturb(foliot_world *world, const foliot_perturbation *fault)
{
    static const foliot_value_type types[] = {
#define ROW(type, name, text) VALUE_##type,
        FOLIOT_BODY_STATE(ROW)
#undef ROW
    };
    foliot_body_id body = foliot_world_get_body_id(world, fault->body);
    uint64_t bits = foliot_world_get_field(world, body, fault->field);
    (void)!foliot_world_set_field(world, body, fault->field,
                                  foliot_value_advance(types[fault->field], bits, fault->ulps));
}

static void after_stage(void *user, foliot_world *world, foliot_stage stage)
{
    foliot__perturber *perturber = user;
    const foliot_perturbation *fault = perturber->fault;
    // During a stage the world still has the tick before the step; `finish` has already counted it.
    if (!fault || fault->stage != stage ||
        fault->tick != (foliot_world_get_tick(world) + (stage == FOLIOT_STAGE_finish ? 0 : 1)) ||
        fault->body >= foliot_world_get_body_count(world))
        return;
    foliot__perturb(world, fault);
    perturber->done = true;
}

foliot_host foliot__perturbing_host(const foliot_host *host, foliot__perturber *perturber)
{
    foliot_host perturbing = *host;
    if (perturber->fault) {
        perturbing.after_stage = after_stage;
        perturbing.stage_user = perturber;
    }
    return perturbing;
}
