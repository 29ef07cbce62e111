// SPDX-License-Identifier: MIT
// trial.h: measures one integrator at one step on a scene: cost, energy error over time, distance
// from the reference, states for a phase portrait. It also computes the reference.
#ifndef FOLIOT_TOOLS_LAB_TRIAL_H
#define FOLIOT_TOOLS_LAB_TRIAL_H

#include "lab.h"

#define TRIAL_BINS 400    // of the energy error over time: the largest in each
#define TRIAL_POINTS 4000 // of the phase portrait

typedef struct trial {
    foliot_integrator integrator;
    double dt;
    uint64_t ticks;
    bool ran, had_contacts; // else `refusal` says why it did not run; bodies have had contacts
    char refusal[sizeof((foliot_error){0}.text)];
    uint64_t evaluations, solver_iterations, solver_failures, frozen_bodies;
    double seconds; // of stepping
    double energy_error_max, energy_error_end;
    double position_error; // largest of any body at the end; NaN without a reference
    double *bin_time, *bin_error;
    uint32_t bin_count;
    double *x, *v; // portrait: coordinate and velocity of one body along one axis
    uint32_t point_count;
    double *final; // positions at the end, x y z a slot
    uint32_t slots;
} trial;

// Measurements while running.
typedef struct trial_view {
    uint32_t body; // slot for the portrait, FOLIOT_NO_BODY: none
    uint32_t axis;
} trial_view;

// Runs `scene` with that integrator at that step for `ticks`. The scene is changed for the time of
// the call. A scheme that the scene refuses leaves ran false. FOLIOT_STATUS_MEMORY,
// FOLIOT_STATUS_AGAIN (interrupted), or FOLIOT_STATUS_OK.
foliot_status trial_run(foliot_scene *scene, foliot_integrator integrator, double dt,
                        uint64_t ticks, const trial_view *view, trial *trial);
void trial_free(trial *trial);

// The final positions against which errors are measured.
typedef struct trial_reference {
    double *final; // x y z a slot
    uint32_t slots;
    char text[256];      // its description
    char integrator[40]; // "" if from a file
    double dt;           // 0 if from a file
    double uncertainty;  // its distance from the same at twice the step; NaN: unknown
    // By reference_watch:
    uint32_t body, axis; // of the phase portrait: the axis along which the body moves most
    double extent;       // how far the body moves along it: the scale of errors
    double x_range[2], v_range[2]; // of its coordinate and its velocity
} trial_reference;

// Runs the best scheme that the scene admits at a fraction of the finest step.
foliot_status reference_make(foliot_scene *scene, double finest, double time,
                             trial_reference *reference);
// Runs the same scheme at the finest step and samples one body during it. FOLIOT_NO_BODY: the one
// that oscillates the furthest (an orbit, say); if none does, the one that moves furthest.
foliot_status reference_watch(foliot_scene *scene, double finest, double time, uint32_t body,
                              trial_reference *reference);
// Reads the output of `run --json` or `run --csv`. False with a sentence in *message.
bool reference_read(const char *file, const foliot_scene *scene, double time,
                    trial_reference *reference, char *message, size_t bytes);
void reference_free(trial_reference *reference);
double reference_distance(const trial_reference *reference, const foliot_scene *scene,
                          const double *final, uint32_t slots);

#endif
