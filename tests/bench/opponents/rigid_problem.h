// SPDX-License-Identifier: MIT
// rigid_problem.h: the scenes of the rigid-body bench for every engine: bodies from a CSV file (y is up),
// and how a program that runs an opponent is talked to, here and in the bench of joints, so that engines can be timed in
// turn within one run:
//
//     in   step N       N ticks; out: N lines, CPU ms of each
//     in   bodies       out: one line a body, in the file's order: position, orientation w x y z, velocity,
//                       angular velocity
//
// and the end of its input ends it.
#ifndef FOLIOT_TESTS_RIGID_PROBLEM_H
#define FOLIOT_TESTS_RIGID_PROBLEM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RIGID_DT (1.0 / 60)
#define RIGID_GRAVITY 9.81
#define RIGID_FRICTION 0.6

// A row of the file.
typedef struct rigid_body {
    int is_sphere; // else a box
    double half[3], radius, position[3], mass; // mass 0: static
} rigid_body;

// Where an engine has taken it.
typedef struct rigid_state {
    double position[3], orientation[4], velocity[3], angular_velocity[3];
} rigid_state;
#define RIGID_STATE_VALUES (sizeof(rigid_state) / sizeof(double))

// All rows of `file`, a CSV compressed by xz, on the heap; NULL if it cannot be read.
static inline rigid_body *rigid_read(const char *file, uint32_t *count)
{
    char command[700], line[256];
    rigid_body *bodies = NULL;
    *count = 0;
    snprintf(command, sizeof command, "xz -dc '%s'", file);
    FILE *pipe = popen(command, "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        return NULL;
    while (fgets(line, sizeof line, pipe)) {
        rigid_body b;
        char kind[16];
        if (sscanf(line, "%15[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", kind, &b.half[0], &b.half[1],
                   &b.half[2], &b.radius, &b.position[0], &b.position[1], &b.position[2],
                   &b.mass) != 9)
            break;
        b.is_sphere = strcmp(kind, "sphere") == 0;
        if ((*count & (*count - 1)) == 0) // a power of two: full
            bodies = (rigid_body *)realloc(bodies, (*count ? 2 * *count : 1) * sizeof *bodies);
        bodies[(*count)++] = b;
    }
    pclose(pipe);
    return bodies;
}

// Kinetic energy of a body with these principal moments per unit of its mass.
static inline double rigid_kinetic(double mass, const double moments[3], const rigid_state *s)
{
    const double *q = s->orientation, *v = s->velocity, *w = s->angular_velocity;
    double sum = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    for (int k = 0; k < 3; k++) { // w along the body's axis k: w . (q e_k q*)
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double a = q[0] * q[0] + q[1 + k] * q[1 + k] - q[1 + i] * q[1 + i] - q[1 + j] * q[1 + j];
        double b = 2 * (q[1 + k] * q[1 + i] + q[0] * q[1 + j]);
        double c = 2 * (q[1 + k] * q[1 + j] - q[0] * q[1 + i]);
        double turn = a * w[k] + b * w[i] + c * w[j];
        sum += moments[k] * turn * turn;
    }
    return 0.5 * mass * sum;
}

// CPU time of this process: other programs on the machine are no part of a figure.
static inline double rigid_cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// An opponent's main loop. `step` makes one tick, `look` tells where body i is.
static inline int rigid_serve(uint32_t count, void (*step)(void *), void (*look)(void *, uint32_t, rigid_state *),
                              void *engine)
{
    char line[64];
    unsigned ticks;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "step %u", &ticks) == 1) {
            for (unsigned t = 0; t < ticks; t++) {
                const double begin = rigid_cpu_now();
                step(engine);
                printf("%.17g\n", (rigid_cpu_now() - begin) * 1e3);
            }
        } else {
            for (uint32_t i = 0; i < count; i++) {
                rigid_state s;
                look(engine, i, &s);
                const double *value = s.position;
                for (unsigned k = 0; k < RIGID_STATE_VALUES; k++)
                    printf("%.17g%c", value[k], k + 1 < RIGID_STATE_VALUES ? ' ' : '\n');
            }
        }
        fflush(stdout);
    }
    return 0;
}

#endif
