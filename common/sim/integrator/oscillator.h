// SPDX-License-Identifier: MIT
// oscillator.h: the exact motion under a constant force, linear drag and a linear spring together.
#ifndef FOLIOT_SIM_INTEGRATOR_OSCILLATOR_H
#define FOLIOT_SIM_INTEGRATOR_OSCILLATOR_H

// u'' = f - drag u' - stiffness u with u(0) = 0 and u'(0) = v has, after the time t,
//
//     u  = v (t + lag) + f reach        u' = v (1 + loss) + f gain
//
// whatever the damping. All per unit of mass. Kept as differences from free motion, which stay
// accurate where the forces are weak.
typedef struct foliot__oscillator {
    double gain;  // integral of the response to a push: t where there is only f
    double reach; // integral of gain: t^2 / 2 where there is only f
    double lag;   // gain - t
    double loss;  // derivative of gain, less 1
} foliot__oscillator;

// stiffness >= 0, drag >= 0, t >= 0. Errors of some units in the last place of t, t^2, t and 1,
// plus that of the phase sqrt(stiffness) t (tests/unit/test_kinematic.c).
foliot__oscillator foliot__oscillator_after(double stiffness, double drag, double t);

#endif
