// SPDX-License-Identifier: MIT
// perturb.c: a planted fault: as text, and in a world after a chosen stage of a step.
#include "divergence/perturb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

// -- the text form, TICK[/STAGE]:BODY:FIELD:ULPS

static bool parse_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

// The last two parts are split off from the back: a body's name may hold colons.
const char *foliot__perturb_parse(const char *text, foliot__perturb_request *request)
{
    char copy[512];
    int64_t tick, ulps;
    if (strlen(text) >= sizeof copy)
        return "is too long";
    strcpy(copy, text);
    char *at_ulps = strrchr(copy, ':');
    if (!at_ulps)
        return "is not TICK[/STAGE]:BODY:FIELD:ULPS";
    *at_ulps++ = 0;
    char *at_field = strrchr(copy, ':'), *at_body = strchr(copy, ':');
    if (!at_field || at_field == at_body)
        return "is not TICK[/STAGE]:BODY:FIELD:ULPS";
    *at_field++ = 0;
    *at_body++ = 0;
    char *at_stage = strchr(copy, '/');
    if (at_stage)
        *at_stage++ = 0;
    if (!parse_number(copy, &tick) || tick < 0)
        return "does not begin with a tick";
    if (!parse_number(at_ulps, &ulps) || ulps == 0)
        return "does not end with a number of ulps other than 0";
    int stage = at_stage ? 0 : FOLIOT_STAGE_finish;
    while (at_stage && stage < FOLIOT_STAGE_COUNT &&
           strcmp(foliot_stage_get_name((foliot_stage)stage), at_stage) != 0)
        stage++;
    request->fault = (foliot_perturbation){.tick = (uint64_t)tick,
                                           .ulps = ulps,
                                           .field = foliot_field_find(at_field),
                                           .stage = (foliot_stage)stage};
    if (request->fault.field == FOLIOT_FIELD_COUNT)
        return "names no field (position.x, velocity.y, orientation.w, angular_velocity.z ...)";
    if (request->fault.stage == FOLIOT_STAGE_COUNT)
        return "names no stage (input, force, integrate, collide, solve, finish)";
    if (!*at_body || strlen(at_body) >= sizeof request->body)
        return "names no body";
    strcpy(request->body, at_body);
    return NULL;
}
