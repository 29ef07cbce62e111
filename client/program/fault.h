// SPDX-License-Identifier: MIT
// fault.h: divergences of a lockstep client: reported on stderr and written to files. Also plants a
// fault on the user's request, to test that it is found.
#ifndef FOLIOT_CLIENT_FAULT_H
#define FOLIOT_CLIENT_FAULT_H

#include "foliot/client.h"
#include "divergence/perturb.h"

#define FOLIOT__FAULT_FILES_MAX 16 // written by one run

typedef struct foliot__fault {
    bool planted;
    foliot__perturb_request request;
    foliot_perturbation fault; // its body is found by name once the scene has arrived
    foliot__perturber perturber;
    foliot_host host; // for the steps
    unsigned files;
    uint64_t reported; // divergences so far; beyond the files they are reported at counts of 100,
                       // 1,000, ...
} foliot__fault;

// Plants the fault that `text` describes (as foliot-replay's --perturb), or none if it is NULL.
// Returns NULL, or what is wrong with the text.
const char *foliot__fault_plant(foliot__fault *fault, const char *text);
// To be called after every update: finds the body and reports a divergence. True if there was one.
bool foliot__fault_update(foliot__fault *fault, foliot_client *client);

#endif
