// SPDX-License-Identifier: MIT
// perturb.h: plants a chosen fault in a world during a step, to test that it is found.
#ifndef FOLIOT_DIVERGENCE_PERTURB_H
#define FOLIOT_DIVERGENCE_PERTURB_H

#include "foliot/divergence.h"

// The option --perturb in manual pages.
#define FOLIOT__PERTURB_DETAILS                                                                    \
    "The fault goes into the state that TICK produces, after STAGE (default: `finish`). BODY is "  \
    "a "                                                                                           \
    "name or an index. FIELD is `position.x`, `velocity.y`, `orientation.w`, "                     \
    "`angular_velocity.z` and so on. ULPS is how many representable numbers the value moves by. "  \
    "The fault in a module's state is `TICK:PART:FIELD:N`, with the names that "                   \
    "`foliot-replay state` prints, or `TICK:byte:OFFSET:N` in the captured bytes; it comes after " \
    "the whole step."

// As a user names it.
typedef struct foliot__perturb_request {
    char body[256];            // a name or an index
    foliot_perturbation fault; // all but the body
} foliot__perturb_request;
// TICK[/STAGE]:BODY:FIELD:ULPS. NULL, or what is wrong with it, to be put behind the text.
const char *foliot__perturb_parse(const char *text, foliot__perturb_request *request);

typedef struct foliot__perturber {
    const foliot_perturbation *fault; // NULL: none
    bool done;
} foliot__perturber;

// *host with a hook that puts the fault in where it is due. The perturber must stay.
foliot_host foliot__perturbing_host(const foliot_host *host, foliot__perturber *perturber);
// Now.
void foliot__perturb(foliot_world *world, const foliot_perturbation *fault);

#endif
