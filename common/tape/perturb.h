// SPDX-License-Identifier: MIT
// perturb.h: a fault of one's choice put into a world while it steps, to see that it is found.
#ifndef FOLIOT_TAPE_PERTURB_H
#define FOLIOT_TAPE_PERTURB_H

#include "foliot/replay.h"

typedef struct foliot__perturber {
    const foliot_perturbation *fault; // NULL: none
    bool done;
} foliot__perturber;

// *host with a hook that puts the fault in where it is due. The perturber must stay.
foliot_host foliot__perturbing_host(const foliot_host *host, foliot__perturber *perturber);
// Now.
void foliot__perturb(foliot_world *world, const foliot_perturbation *fault);

#endif
