// SPDX-License-Identifier: MIT
// nbody_scalar.c: compiled with -O3 for the baseline ISA (Makefile.tests). With the inner sums in
// variables it is as fast as a loop over pairs gets without vectors.
#include "nbody_scalar.h"

#include <math.h>
#include <string.h>

void nbody_scalar(int n, const double *restrict x, const double *restrict y,
                  const double *restrict z, const double *restrict mass, double softening2,
                  double *restrict ax, double *restrict ay, double *restrict az)
{
    memset(ax, 0, sizeof *ax * (size_t)n);
    memset(ay, 0, sizeof *ay * (size_t)n);
    memset(az, 0, sizeof *az * (size_t)n);
    for (int i = 0; i < n; i++) {
        double sx = ax[i], sy = ay[i], sz = az[i];
        for (int j = i + 1; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            double r2 = dx * dx + dy * dy + dz * dz + softening2;
            double f = 1 / (r2 * sqrt(r2));
            sx += mass[j] * f * dx;
            sy += mass[j] * f * dy;
            sz += mass[j] * f * dz;
            ax[j] -= mass[i] * f * dx;
            ay[j] -= mass[i] * f * dy;
            az[j] -= mass[i] * f * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
