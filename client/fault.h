// SPDX-License-Identifier: MIT
// fault.h: divergences of a lockstep client: reported, written to files; and one that the user
// plants to see it found.
#ifndef FOLIOT_CLIENT_FAULT_H
#define FOLIOT_CLIENT_FAULT_H

#include "foliot/client.h"
#include "recording/perturb.h"

#define FOLIOT__FAULT_FILES_MAX 16 // that one run writes

typedef struct foliot__fault {
    bool planted;
    foliot__perturb_request request;
    foliot_perturbation fault; // its body is looked for as soon as the scene is here
    foliot__perturber perturber;
    foliot_host host; // for the steps
    unsigned files;
    uint64_t told; // divergences: those beyond the files are told of at counts of 100, 1,000, ...
} foliot__fault;

// `text` as foliot-replay's --perturb, or NULL. NULL, or what is wrong with it.
const char *foliot__fault_plant(foliot__fault *fault, const char *text);
// After every update: looks for the body, and tells of divergences on stderr. True if there was
// one.
bool foliot__fault_look(foliot__fault *fault, foliot_client *client);

#endif
