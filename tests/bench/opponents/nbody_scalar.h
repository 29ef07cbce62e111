// SPDX-License-Identifier: MIT
// nbody_scalar.h: pairwise gravity as one writes it down, the opponent of the bench `nbody`.
#ifndef FOLIOT_BENCH_NBODY_SCALAR_H
#define FOLIOT_BENCH_NBODY_SCALAR_H

// a := accelerations of n bodies, constant 1, each pair once.
void nbody_scalar(int n, const double *restrict x, const double *restrict y,
                  const double *restrict z, const double *restrict mass, double softening2,
                  double *restrict ax, double *restrict ay, double *restrict az);

#endif
