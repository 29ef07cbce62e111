// SPDX-License-Identifier: MIT
// csv.h: the states of a run as a table. The functions that return int return 0, or the exit code
// after a sentence on stderr.
#ifndef FOLIOT_TOOLS_LAB_CSV_H
#define FOLIOT_TOOLS_LAB_CSV_H

#include "lab.h"

// All zero: no table is wanted, and nothing is written.
typedef struct lab_csv {
    FILE *out;
    const char *file;
    uint64_t every; // ticks from one state to the next
} lab_csv;

// `file` is "-" for stdout.
int lab_csv_open(lab_csv *csv, const lab_context *context, const char *file, uint64_t every);
// Whether the world's present tick is one of those that are written.
bool lab_csv_due(const lab_csv *csv, const foliot_world *world);
// A row for each body that lives, if the tick is due.
void lab_csv_write(const lab_csv *csv, const foliot_scene *scene, const foliot_world *world,
                   double energy);
int lab_csv_close(lab_csv *csv, const lab_context *context);

#endif
