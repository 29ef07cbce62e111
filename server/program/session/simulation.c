// SPDX-License-Identifier: MIT
// simulation.c: sessions of a simulation other than a world: a module, a configuration in place of
// a scene, and the data of both in a recording.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "program/complain.h"
#include "host.h"

#define PROBLEM_BYTES 512

static int complain(const char *what, const char *why)
{
    return foliot__host_complain(FOLIOT__EXIT_SCENE, what, why);
}

// All sessions of a process step the simulation of one module.
static int load(foliot__hosted *h, const foliot__host_options *options)
{
    static const foliot__module *module;
    char problem[PROBLEM_BYTES];
    if (!options->allows_modules)
        return complain(options->simulation,
                        "a module runs with all rights of this server: --allow-modules permits it");
    if (!module)
        module = foliot__module_load(options->simulation, problem, sizeof problem);
    h->simulation_module = module;
    return module ? 0 : complain(options->simulation, problem);
}

// From a setup that `h` has.
static int create(foliot__hosted *h, const char *file, const foliot__host_options *options)
{
    char problem[PROBLEM_BYTES];
    const foliot__module *module = h->simulation_module;
    if (!foliot__module_describe(module, h->setup, h->setup_bytes, &h->terms, problem,
                                 sizeof problem))
        return complain(file, problem);
    foliot_status status =
        foliot_simulation_create(&module->kind, h->setup, h->setup_bytes, &h->simulation);
    if (status != FOLIOT_STATUS_OK)
        return complain(file, foliot_status_get_text(status));
    h->pace_hz = options->tick_hz > 0 ? options->tick_hz : h->terms.pace_hz;
    return 0;
}

int foliot__hosted_open_simulation(foliot__hosted *h, const char *file,
                                   const foliot__host_options *options)
{
    char problem[PROBLEM_BYTES];
    int code = load(h, options);
    if (code)
        return code;
    if (!foliot__module_configure(h->simulation_module, file, &h->setup, &h->setup_bytes, problem,
                                  sizeof problem))
        return complain(file ? file : options->simulation, problem);
    return create(h, file ? file : options->simulation, options);
}

// The setup in the recording, if the recording is of this simulation.
static int copy_setup(foliot__hosted *h, const char *file)
{
    foliot_replay *replay = NULL;
    foliot_damage damage = {0};
    foliot_status status = foliot_replay_open(file, &h->simulation_module->kind, &replay, &damage);
    if (status != FOLIOT_STATUS_OK)
        return complain(file, *damage.text ? damage.text : foliot_status_get_text(status)),
               status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED
                   ? FOLIOT__EXIT_CORRUPT
               : status == FOLIOT_STATUS_UNSUPPORTED ? FOLIOT__EXIT_SCENE
                                                     : FOLIOT__EXIT_ERROR;
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    h->setup_bytes = about->setup_bytes;
    h->setup = malloc(h->setup_bytes + 1);
    if (h->setup && h->setup_bytes)
        memcpy(h->setup, about->setup, h->setup_bytes);
    foliot_replay_close(replay);
    return h->setup ? 0 : complain(file, foliot_status_get_text(FOLIOT_STATUS_MEMORY));
}

int foliot__hosted_open_recorded(foliot__hosted *h, const char *file,
                                 const foliot__host_options *options)
{
    int code = load(h, options);
    if (code == 0)
        code = copy_setup(h, file);
    return code ? code : create(h, file, options);
}

void foliot__hosted_destroy_simulation(foliot__hosted *h)
{
    foliot_simulation_destroy(&h->simulation);
    free(h->setup);
    h->setup = NULL;
}
