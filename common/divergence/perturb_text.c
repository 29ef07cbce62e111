// SPDX-License-Identifier: MIT
// perturb_text.c: parses a planted fault, TICK[/STAGE]:BODY:FIELD:ULPS. Refuses all else with a
// reason.
#include "divergence/perturb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static foliot_stage find_stage(const char *name)
{
    int stage = 0;
    while (stage < FOLIOT_STAGE_COUNT &&
           strcmp(foliot_stage_get_name((foliot_stage)stage), name) != 0)
        stage++;
    return (foliot_stage)stage;
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
    request->fault =
        (foliot_perturbation){.tick = (uint64_t)tick,
                              .ulps = ulps,
                              .field = foliot_field_find(at_field),
                              .stage = at_stage ? find_stage(at_stage) : FOLIOT_STAGE_finish};
    if (request->fault.field == FOLIOT_FIELD_COUNT)
        return "names no field (position.x, velocity.y, orientation.w, angular_velocity.z ...)";
    if (request->fault.stage == FOLIOT_STAGE_COUNT)
        return "names no stage (input, force, integrate, collide, solve, finish)";
    if (!*at_body || strlen(at_body) >= sizeof request->body)
        return "names no body";
    strcpy(request->body, at_body);
    return NULL;
}
