// SPDX-License-Identifier: MIT
// cases.h: what the golden digests and the matrix run: every probe scene and every ready scene with
// every integrator that the check admits. Needs libc alone.
#ifndef FOLIOT_TESTS_CASES_H
#define FOLIOT_TESTS_CASES_H

#include <stddef.h>

#include "foliot/foliot.h"
#include "sim/selftest/probe.h"

// Number of scenes, and scene number `index` on the heap (free with foliot_scene_destroy).
unsigned cases_scene_count(void);
foliot_scene *cases_scene(unsigned index);

// Ticks that a case runs: fewer for larger scenes, so that all take about as long.
uint64_t cases_ticks(const foliot_scene *scene);

// A world of `scene` with another integrator; NULL where the check refuses it.
foliot_world *cases_world(foliot_scene *scene, foliot_integrator integrator);

// One tick with the scripted inputs. Ends the program if the step is refused.
void cases_step(foliot_world *world, const foliot_scene *scene);

#endif
