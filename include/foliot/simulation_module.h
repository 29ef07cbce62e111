// SPDX-License-Identifier: MIT
// simulation_module.h: a simulation of your own as a module: a shared object that foliot-server,
// foliot-client, foliot-replay and foliot-lab load with --simulation FILE.
//
// A module exports one object:
//     const foliot_simulation_module foliot_simulation_entry = FOLIOT_SIMULATION_MODULE(
//         .kind = &my_kind, .describe = my_describe);
// It is linked with the libfoliot of the same ABI if it calls the library; a module that only fills
// tables is linked with nothing. examples/modules/ring.c is one. A module runs with all rights of
// the program that loads it: load none that you would not run.
//
// Nothing in it may depend on the program that loads it. It stays loaded until the program ends.
#ifndef FOLIOT_SIMULATION_MODULE_H
#define FOLIOT_SIMULATION_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/input.h"
#include "foliot/rules.h"
#include "foliot/simulation.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_SIMULATION_ABI 1u // grows with every change of what modules share with their host
#define FOLIOT_SIMULATION_CONFIG_BYTES_MAX (1u << 24)

// What a host must know of a simulation beside its state. It follows from the setup alone.
typedef struct foliot_simulation_terms {
    double pace_hz;               // ticks in a real second, 0.01 .. 100000
    uint32_t player_limit;        // 0 .. FOLIOT_PLAYERS_MAX; 0: it can only be watched
    char name[FOLIOT_NAME_BYTES]; // of the session, unless the host has another; ends with a zero
} foliot_simulation_terms;

typedef struct foliot_simulation_module {
    uint32_t abi;          // FOLIOT_SIMULATION_ABI
    uint32_t module_bytes; // sizeof, here and below
    uint32_t kind_bytes, part_bytes, field_bytes, terms_bytes;
    uint32_t input_bytes, tick_bytes, command_bytes, order_bytes;
    const foliot_simulation_kind *kind; // lives as long as the module. Without `fingerprint` the
                                        // loader uses a known-answer run: 64 ticks of the setup
                                        // that no configuration gives
    // Required. FOLIOT_STATUS_INVALID for a setup that `create` would refuse.
    foliot_status (*describe)(const void *setup, size_t setup_bytes,
                              foliot_simulation_terms *terms);
    // Turns what a person wrote (the file that a host names; no bytes where it names none) into the
    // setup. As snprintf: returns the setup's length, and writes it if it fits into `capacity`.
    // SIZE_MAX: the configuration is wrong, and `problem` takes a sentence. NULL: the file's bytes
    // are the setup.
    size_t (*configure)(const void *config, size_t config_bytes, void *setup, size_t capacity,
                        char *problem, size_t problem_bytes);
    // A picture of the state as lines of UTF-8 text, for a terminal of `columns` by `rows`; what is
    // beyond is cut. As snprintf. NULL: programs list parts and fields instead.
    size_t (*draw)(const void *self, uint32_t columns, uint32_t rows, char *text, size_t capacity);
} foliot_simulation_module;

// The object that a module exports; `...` sets kind and functions.
#define FOLIOT_SIMULATION_MODULE(...)                                                              \
    {                                                                                              \
        .abi = FOLIOT_SIMULATION_ABI, .module_bytes = sizeof(foliot_simulation_module),            \
        .kind_bytes = sizeof(foliot_simulation_kind),                                              \
        .part_bytes = sizeof(foliot_simulation_part),                                              \
        .field_bytes = sizeof(foliot_simulation_field),                                            \
        .terms_bytes = sizeof(foliot_simulation_terms), .input_bytes = sizeof(foliot_input),       \
        .tick_bytes = sizeof(foliot_tick_inputs), .command_bytes = sizeof(foliot_command),         \
        .order_bytes = sizeof(foliot_order), __VA_ARGS__                                           \
    }

// Declared here, so that it is exported from C++ as well, where a const object is otherwise local
// to its file.
extern const foliot_simulation_module foliot_simulation_entry;

#ifdef __cplusplus
}
#endif

#endif
