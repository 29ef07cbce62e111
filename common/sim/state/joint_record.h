// SPDX-License-Identifier: MIT
// joint_record.h: the definition of a joint that a command made, as the bytes that the state holds.
// The rows of the tables `constraint` and `joint_start` beyond the scene's are decoded from them.
//
// A row whose joint is broken may be used again; its generation then grows.
#ifndef FOLIOT_SIM_STATE_JOINT_RECORD_H
#define FOLIOT_SIM_STATE_JOINT_RECORD_H

#include "sim/state/state.h"

typedef struct foliot__joint_record {
    uint32_t generation; // how many joints had this row before
    foliot_constraint_definition definition;
    double start[4]; // b's orientation against a's as the joint was made
} foliot__joint_record;

// Whether all numbers but axis and stiffness are in their ranges: of a command and of captured
// bytes.
bool foliot__joint_numbers_valid(const foliot_constraint_definition *definition);

// `row` counts from the first one beyond the scene's.
void foliot__joint_record_write(foliot_world *world, uint32_t row,
                                const foliot__joint_record *record);
// From FOLIOT__JOINT_RECORD_BYTES bytes.
foliot__joint_record foliot__joint_record_read(const uint8_t *bytes);
uint32_t foliot__joint_record_generation(const foliot_world *world, uint32_t row);
// Puts it into the tables `constraint` and `joint_start`.
void foliot__joint_record_load(foliot_world *world, uint32_t row);

#endif
