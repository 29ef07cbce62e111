// SPDX-License-Identifier: MIT
// oscillator.c: the damped oscillator in closed form, accurate over the whole range: no spring, no
// drag, weak, under-, critically and over-damped. Knows no bodies. The solution is in every
// textbook; the forms below are chosen so that nothing large cancels.

#include "sim/integrator/oscillator.h"

#include "foliot/math.h"
#include "sim/math/floating_point.h"

#define SERIES_TERMS                                                                               \
    24 // of which the last is below 1e-20 where drag t and stiffness t^2 are at most 1

// Power series of the push's response, in t: s'' + A s' + B s = 0, s(0) = 0, s'(0) = 1 over unit
// time.
static foliot__oscillator weak(double stiffness, double drag, double t)
{
    double A = drag * t, B = stiffness * t * t;
    double before = 0, term = 1, lag = 0, reach = 0.5;
    for (int n = 0; n < SERIES_TERMS; n++) {
        double next = -(A * (n + 1) * term + B * before) / ((n + 1) * (n + 2));
        before = term;
        term = next;
        lag += term;
        reach += term / (n + 3);
    }
    foliot__oscillator o = {.gain = t + t * lag, .reach = t * t * reach, .lag = t * lag};
    o.loss = -(drag * o.gain + stiffness * o.reach);
    return o;
}

// (1 - exp(-rate t)) / rate.
static double saturation(double rate, double t)
{
    return rate * t > 0 ? -foliot_expm1(-(rate * t)) / rate : t;
}

static foliot__oscillator underdamped(double stiffness, double drag, double frequency, double t)
{
    double decay = foliot_exp(-0.5 * drag * t);
    double sine = foliot_sin(frequency * t) / frequency;
    double cosine = foliot_cos(frequency * t) - 0.5 * drag * sine;
    foliot__oscillator o = {.gain = decay * sine, .loss = decay * cosine - 1};
    o.lag = o.gain - t;
    o.reach = -(o.loss + drag * o.gain) / stiffness;
    return o;
}

// Two real rates half +- split; split is 0 for critical damping.
static foliot__oscillator overdamped(double stiffness, double drag, double split, double t)
{
    double fast = 0.5 * drag + split, slow = stiffness / fast;
    double decay = foliot_exp(-(slow * t));
    foliot__oscillator o = {.gain = decay * saturation(2 * split, t)};
    o.lag = o.gain - t;
    o.loss = decay - fast * o.gain - 1;
    // Where the rates lie close together the first form would cancel, where they lie far apart the
    // second.
    if (split > 0.25 * drag)
        o.reach = (saturation(slow, t) - saturation(fast, t)) / (2 * split);
    else
        o.reach = -(o.loss + drag * o.gain) / stiffness;
    return o;
}

foliot__oscillator foliot__oscillator_after(double stiffness, double drag, double t)
{
    if (stiffness == 0 && drag == 0)
        return (foliot__oscillator){.gain = t, .reach = 0.5 * t * t};
    if (drag * t <= 1 && stiffness * t * t <= 1)
        return weak(stiffness, drag, t);
    double discriminant = stiffness - 0.25 * drag * drag;
    if (discriminant > 0)
        return underdamped(stiffness, drag, foliot__sqrt(discriminant), t);
    return overdamped(stiffness, drag, foliot__sqrt(-discriminant), t);
}
