// SPDX-License-Identifier: MIT
// joint_solve.c: solves one island of joined bodies: its tree exactly, the joints that close loops
// by conjugate gradients over the tree, and the bounded rows (limits, motors, ropes) by a search
// for their states.
//
// With T the answer of the tree to an impulse, loops ask for (Jl T Jl^t) p = goal - Jl change. The
// system is symmetric and of rank at most the loops' rows, so as many iterations would do in exact
// arithmetic (Hestenes and Stiefel 1952). Loops that hold each other twice (a planar ring of
// hinges) make it singular. Their goals then agree but for rounding, and the search stops where the
// error no longer falls.
#include "sim/joint/joint_internal.h"

#include <string.h>

#define PASSES 6               // of the search; a later substep corrects what is still wrong
#define LOOP_TOLERANCE 0x1p-48 // of the squared error
#define LOOP_ITERATIONS 100
#define CURVATURE_MIN 0x1p-40 // of the diagonal's: below it, rows repeat others

static foliot__joint *joint_at(const foliot__joints *j, const foliot__island *island, uint32_t i)
{
    return &j->joints[island->joint + i];
}

static double speed_of(const foliot__joints *j, const foliot__joint *joint, uint32_t row)
{
    double a =
        joint->a == FOLIOT__NONE ? 0 : foliot__dot6(joint->ja[row], j->bodies[joint->a].change);
    double b =
        joint->b == FOLIOT__NONE ? 0 : foliot__dot6(joint->jb[row], j->bodies[joint->b].change);
    return a + b;
}

static void push_row(foliot__joints *j, const foliot__joint *joint, uint32_t row, double impulse)
{
    for (int c = 0; c < 6 && joint->a != FOLIOT__NONE; c++)
        j->bodies[joint->a].impulse_in[c] += joint->ja[row][c] * impulse;
    for (int c = 0; c < 6 && joint->b != FOLIOT__NONE; c++)
        j->bodies[joint->b].impulse_in[c] += joint->jb[row][c] * impulse;
}

// -- the bounded row

static bool is_held(const foliot__joint *joint)
{
    return joint->bound.present && joint->bound.state >= FOLIOT__BOUND_LOW;
}

// The impulse of a bounded row that is not held, beyond what it has had in this substep.
static double free_impulse(const foliot__joint *joint, double h)
{
    if (!joint->bound.present || is_held(joint))
        return 0;
    double torque = joint->bound.strength * h;
    return (joint->bound.state == FOLIOT__BOUND_FREE ? torque : -torque) -
           joint->impulse_sum[joint->rows];
}

// The state that a row of this impulse and speed belongs to.
static uint32_t state_after(const foliot__joint *joint, double impulse, double speed, double torque)
{
    bool up = joint->bound.drive > joint->bound.low, down = joint->bound.drive < joint->bound.high;
    switch ((foliot__bound_state)joint->bound.state) {
    case FOLIOT__BOUND_LOW:
        if (impulse < (up ? torque : -torque))
            return up ? FOLIOT__BOUND_FREE : FOLIOT__BOUND_BRAKED;
        break;
    case FOLIOT__BOUND_HIGH:
        if (impulse > (down ? -torque : torque))
            return down ? FOLIOT__BOUND_BRAKED : FOLIOT__BOUND_FREE;
        break;
    case FOLIOT__BOUND_DRIVEN:
        if (impulse > torque)
            return FOLIOT__BOUND_FREE;
        if (impulse < -torque)
            return FOLIOT__BOUND_BRAKED;
        break;
    case FOLIOT__BOUND_FREE:
        if (speed < joint->bound.low)
            return FOLIOT__BOUND_LOW;
        if (speed > (down ? joint->bound.drive : joint->bound.high))
            return down ? FOLIOT__BOUND_DRIVEN : FOLIOT__BOUND_HIGH;
        break;
    case FOLIOT__BOUND_BRAKED:
        if (speed > joint->bound.high)
            return FOLIOT__BOUND_HIGH;
        if (speed < (up ? joint->bound.drive : joint->bound.low))
            return up ? FOLIOT__BOUND_DRIVEN : FOLIOT__BOUND_LOW;
        break;
    }
    return joint->bound.state;
}

static bool review_bounds(foliot__joints *j, foliot__island *island, double h)
{
    bool changed = false;
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = joint_at(j, island, i);
        if (!joint->bound.present)
            continue;
        uint32_t row = joint->rows;
        double impulse = joint->impulse_sum[row] + (is_held(joint) ? joint->impulse[row] : 0);
        uint32_t state =
            state_after(joint, impulse, speed_of(j, joint, row), joint->bound.strength * h);
        changed |= state != joint->bound.state;
        island->unfactored |= state != joint->bound.state && joint->friction.moment > 0;
        joint->bound.state = state;
    }
    return changed;
}

// -- loops

typedef struct loops {
    foliot__joints *j;
    const foliot__island *island;
    uint32_t first, count; // joints
    double *error, *search, *product, *impulse, *scale;
} loops;

#define EACH_ROW(l, joint, r, n)                                                                   \
    for (uint32_t i_ = 0, n = 0; i_ < (l)->count; i_++)                                            \
        for (foliot__joint *joint = &(l)->j->joints[(l)->first + i_], *once_ = joint; once_;       \
             once_ = NULL)                                                                         \
            for (uint32_t r = 0; r < joint->active; r++, n++)

static void clear_impulses_in(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        memset(j->bodies[island->body + i].impulse_in, 0, sizeof j->bodies->impulse_in);
}

// The reciprocal of what a unit of impulse would gain if the bodies were not joined to others.
static double scale_of(const foliot__joints *j, const foliot__joint *joint, uint32_t r)
{
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t body = side ? joint->b : joint->a;
        const double *row = side ? joint->jb[r] : joint->ja[r];
        if (body == FOLIOT__NONE)
            continue;
        const foliot__joint_body *m = &j->bodies[body];
        double trace = (m->inertia.row[0].x + m->inertia.row[1].y) + m->inertia.row[2].z;
        sum += ((row[0] * row[0] + row[1] * row[1]) + row[2] * row[2]) / m->mass +
               ((row[3] * row[3] + row[4] * row[4]) + row[5] * row[5]) * 3 / trace;
    }
    return sum > 0 ? 1 / sum : 0;
}

static double refresh_search(const loops *l, double before)
{
    double sum = 0;
    EACH_ROW (l, joint, r, n)
        sum += l->error[n] * l->error[n] * l->scale[n];
    double blend = before > 0 ? sum / before : 0;
    EACH_ROW (l, joint, r, n)
        l->search[n] = l->error[n] * l->scale[n] + blend * l->search[n];
    return sum;
}

// Sets the impulses of the loops' rows, after the tree has answered to all else.
static void solve_loops(const loops *l)
{
    EACH_ROW (l, joint, r, n) {
        l->error[n] = joint->goal[r] - speed_of(l->j, joint, r);
        l->scale[n] = scale_of(l->j, joint, r);
        l->impulse[n] = l->search[n] = 0;
    }
    double first = refresh_search(l, 0), rest = first;
    for (uint32_t k = 0; k < LOOP_ITERATIONS && rest > first * LOOP_TOLERANCE; k++) {
        // product := Jl T Jl^t search
        clear_impulses_in(l->j, l->island);
        EACH_ROW (l, joint, r, n)
            push_row(l->j, joint, r, l->search[n]);
        foliot__tree_solve(l->j, l->island, true);
        EACH_ROW (l, joint, r, n)
            l->product[n] = speed_of(l->j, joint, r);
        double curvature = 0, flat = 0;
        EACH_ROW (l, joint, r, n) {
            curvature += l->search[n] * l->product[n];
            flat += l->scale[n] > 0 ? l->search[n] * l->search[n] / l->scale[n] : 0;
        }
        if (!(curvature > flat * CURVATURE_MIN))
            break;
        double length = rest / curvature;
        EACH_ROW (l, joint, r, n) {
            l->impulse[n] += length * l->search[n];
            l->error[n] -= length * l->product[n];
        }
        rest = refresh_search(l, rest);
    }
}

// -- the island

static void push_free_rows(foliot__joints *j, const foliot__island *island, double h)
{
    clear_impulses_in(j, island);
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = joint_at(j, island, i);
        if (joint->bound.present && !is_held(joint))
            push_row(j, joint, joint->rows, free_impulse(joint, h));
    }
}

static void solve_once(foliot__joints *j, foliot__island *island, double h)
{
    push_free_rows(j, island, h);
    foliot__tree_solve(j, island, false);
    if (island->loops == 0)
        return;
    uint32_t first = island->joint + island->joints - island->loops;
    size_t at = (size_t)first * FOLIOT__ROWS;
    loops l = (loops){j,
                      island,
                      first,
                      island->loops,
                      j->loop[0] + at,
                      j->loop[1] + at,
                      j->loop[2] + at,
                      j->loop[3] + at,
                      j->loop[4] + at};
    solve_loops(&l);
    push_free_rows(j, island, h);
    EACH_ROW (&l, joint, r, n) {
        push_row(j, joint, r, l.impulse[n]);
        joint->impulse[r] = l.impulse[n];
    }
    foliot__tree_solve(j, island, false);
}

void foliot__island_solve(foliot__joints *j, foliot__island *island, double h)
{
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < island->joints; i++) {
            foliot__joint *joint = joint_at(j, island, i);
            uint32_t active = joint->active, state = joint->bound.state;
            // A motor never drives beyond a limit.
            if (joint->bound.state == FOLIOT__BOUND_DRIVEN &&
                joint->bound.drive <= joint->bound.low)
                joint->bound.state = FOLIOT__BOUND_LOW;
            if (joint->bound.state == FOLIOT__BOUND_DRIVEN &&
                joint->bound.drive >= joint->bound.high)
                joint->bound.state = FOLIOT__BOUND_HIGH;
            uint32_t first = joint->rows,
                     rubs = joint->friction.moment > 0 && !is_held(joint) ? 6 - first : 0;
            joint->active = first + is_held(joint) + rubs;
            for (uint32_t r = 0; r < joint->active; r++) {
                joint->factor.soft[r] = r >= first && rubs ? 1 / joint->friction.moment : 0;
                if (r >= first && rubs)
                    joint->goal[r] =
                        joint->friction.goal[r] - joint->factor.soft[r] * joint->friction.sum[r];
            }
            if (is_held(joint))
                joint->goal[joint->rows] =
                    joint->bound.state == FOLIOT__BOUND_LOW    ? joint->bound.low
                    : joint->bound.state == FOLIOT__BOUND_HIGH ? joint->bound.high
                                                               : joint->bound.drive;
            island->unfactored |= active != joint->active || state != joint->bound.state;
        }
        if (island->unfactored)
            foliot__tree_factor(j, island);
        island->unfactored = false;
        solve_once(j, island, h);
        if (pass + 1 == PASSES || !review_bounds(j, island, h))
            break;
    }
    // Adds the impulses to their sums, those of rows that are not held included.
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = joint_at(j, island, i);
        bool rubs = joint->friction.moment > 0 && !is_held(joint);
        for (uint32_t r = 0; r < joint->active; r++)
            (rubs && r >= joint->rows ? joint->friction.sum : joint->impulse_sum)[r] +=
                joint->impulse[r];
        if (joint->bound.present && !is_held(joint))
            joint->impulse_sum[joint->rows] += free_impulse(joint, h);
    }
}
