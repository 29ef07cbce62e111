// SPDX-License-Identifier: MIT
// composition.h: weights w with which symmetric second-order steps S(w dt) compose to a higher
// order,
//
//     S(w1 dt) S(w2 dt) ... S(centre dt) ... S(w2 dt) S(w1 dt).
//
// X(weight) from the first to the last; the palindrome is written out. Translation (splitting.c)
// and rotation (rotation.c) share them. Digits are given beyond binary64; the compiler rounds to
// nearest.
#ifndef FOLIOT_SIM_INTEGRATOR_COMPOSITION_H
#define FOLIOT_SIM_INTEGRATOR_COMPOSITION_H

// Yoshida 1990, Phys. Lett. A 150, 262; Forest and Ruth 1990, Physica D 43, 105.
// w1 = 1 / (2 - 2^(1/3)), centre = -2^(1/3) w1.
#define FOLIOT__YOSHIDA4_W1 1.3512071919596576340476878089715
#define FOLIOT__YOSHIDA4_W2 -1.7024143839193152680953756179429
#define FOLIOT__YOSHIDA4(X)                                                                        \
    X(FOLIOT__YOSHIDA4_W1)                                                                         \
    X(FOLIOT__YOSHIDA4_W2)                                                                         \
    X(FOLIOT__YOSHIDA4_W1)

// Yoshida 1990, solution A; 40 digits as in SUNDIALS' ARKODE_SPRK_YOSHIDA_6_8.
#define FOLIOT__YOSHIDA6_W1 0.7845136104775572638194976338663498757768
#define FOLIOT__YOSHIDA6_W2 0.2355732133593581336847931829785346016865
#define FOLIOT__YOSHIDA6_W3 -1.177679984178871006946415680964315734639
#define FOLIOT__YOSHIDA6_W4 1.315186320683911218884249728238862514351
#define FOLIOT__YOSHIDA6(X)                                                                        \
    X(FOLIOT__YOSHIDA6_W1)                                                                         \
    X(FOLIOT__YOSHIDA6_W2)                                                                         \
    X(FOLIOT__YOSHIDA6_W3)                                                                         \
    X(FOLIOT__YOSHIDA6_W4)                                                                         \
    X(FOLIOT__YOSHIDA6_W3)                                                                         \
    X(FOLIOT__YOSHIDA6_W2)                                                                         \
    X(FOLIOT__YOSHIDA6_W1)

// Kahan and Li 1997, Math. Comp. 66, 1089: s17odr8a. Also in Hairer, Lubich and Wanner, Geometric
// Numerical Integration, V.3.2.
#define FOLIOT__KAHAN_LI8_W1 0.13020248308889008087881763
#define FOLIOT__KAHAN_LI8_W2 0.56116298177510838456196441
#define FOLIOT__KAHAN_LI8_W3 -0.3894749626448472864080786
#define FOLIOT__KAHAN_LI8_W4 0.15884190655515560089621075
#define FOLIOT__KAHAN_LI8_W5 -0.39590389413323757733623154
#define FOLIOT__KAHAN_LI8_W6 0.18453964097831570709183254
#define FOLIOT__KAHAN_LI8_W7 0.25837438768632204729397911
#define FOLIOT__KAHAN_LI8_W8 0.29501172360931029887096624
#define FOLIOT__KAHAN_LI8_W9 -0.60550853383003451169892108
#define FOLIOT__KAHAN_LI8(X)                                                                       \
    X(FOLIOT__KAHAN_LI8_W1)                                                                        \
    X(FOLIOT__KAHAN_LI8_W2)                                                                        \
    X(FOLIOT__KAHAN_LI8_W3)                                                                        \
    X(FOLIOT__KAHAN_LI8_W4)                                                                        \
    X(FOLIOT__KAHAN_LI8_W5)                                                                        \
    X(FOLIOT__KAHAN_LI8_W6)                                                                        \
    X(FOLIOT__KAHAN_LI8_W7)                                                                        \
    X(FOLIOT__KAHAN_LI8_W8)                                                                        \
    X(FOLIOT__KAHAN_LI8_W9)                                                                        \
    X(FOLIOT__KAHAN_LI8_W8)                                                                        \
    X(FOLIOT__KAHAN_LI8_W7)                                                                        \
    X(FOLIOT__KAHAN_LI8_W6)                                                                        \
    X(FOLIOT__KAHAN_LI8_W5)                                                                        \
    X(FOLIOT__KAHAN_LI8_W4)                                                                        \
    X(FOLIOT__KAHAN_LI8_W3)                                                                        \
    X(FOLIOT__KAHAN_LI8_W2)                                                                        \
    X(FOLIOT__KAHAN_LI8_W1)

#endif
