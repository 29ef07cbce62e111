// SPDX-License-Identifier: MIT
// joint_solve.c: solves one island of joined bodies: its tree exactly, the joints that close loops
// by conjugate gradients over the tree, and the limit rows (limits, motors, ropes) by a search
// for their states.
//
// With T the answer of the tree to an impulse, loops ask for (Jl T Jl^t) p = goal - Jl change. The
// system is symmetric and of rank at most the loops' rows, so as many iterations would do in exact
// arithmetic (Hestenes and Stiefel 1952). Loops that hold each other twice (a planar ring of
// hinges) make it singular. Their goals then agree but for rounding, and the search stops where the
// error no longer falls.
#include "sim/joint/joint_internal.h"

#include <string.h>

// -- trees
//
// Joints that form trees are solved exactly in one pass up and one down for any ratio
// of masses: a heavy ball on a light chain is as stiff as the reverse.
//
// The equations M dv = J^t p, J dv = goal of a tree have no fill-in when bodies and joints are
// eliminated from the leaves to the root (Baraff, "Linear-time dynamics using Lagrange
// multipliers", SIGGRAPH 1996). A body's mass with the contribution of its subtree is the
// articulated inertia of Featherstone (Rigid Body Dynamics Algorithms, 2008). With A = L L^t the
// mass of a body and all below it, and S = K K^t the joint's:
//
//     G = L^-1 Jc^t,  S = G^t G,  H = K^-1 Jp,  A of the parent += H^t H
//
// where Jc and Jp are the joint's rows for the child and the parent. Square roots, not an LDL^t:
// their rows are shorter here, and both orders are fixed.

#define PIVOT_MIN 1e-13 // of the diagonal: a row that repeats others gets no impulse

// a := its Cholesky factor, below the diagonal; on it the reciprocals, 0 where a row depends on
// others.
static void factor_block(double a[6][6], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double diagonal = a[i][i], rest = diagonal;
        for (uint32_t k = 0; k < i; k++) {
            double sum = a[i][k];
            for (uint32_t l = 0; l < k; l++)
                sum -= a[i][l] * a[k][l];
            a[i][k] = sum *= a[k][k];
            rest -= sum * sum;
        }
        a[i][i] = rest > PIVOT_MIN * diagonal ? 1 / foliot__sqrt(rest) : 0;
    }
}

// x := L^-1 x
static void solve_lower(double l[6][6], uint32_t n, double *x)
{
    for (uint32_t i = 0; i < n; i++) {
        double sum = x[i];
        for (uint32_t k = 0; k < i; k++)
            sum -= l[i][k] * x[k];
        x[i] = sum * l[i][i];
    }
}

// x := L^-t x
static void solve_upper(double l[6][6], uint32_t n, double *x)
{
    for (uint32_t i = n; i-- > 0;) {
        double sum = x[i];
        for (uint32_t k = i + 1; k < n; k++)
            sum -= l[k][i] * x[k];
        x[i] = sum * l[i][i];
    }
}

static void factor_joint(foliot__joints *j, foliot__joint *joint)
{
    foliot__joint_body *child = &j->bodies[joint->child];
    const double(*jc)[6] = (const double(*)[6])(joint->child == joint->a ? joint->ja : joint->jb);
    uint32_t n = joint->active;
    for (uint32_t r = 0; r < n; r++) {
        memcpy(joint->factor.g[r], jc[r], sizeof joint->factor.g[r]);
        solve_lower(child->factor, 6, joint->factor.g[r]);
    }
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t s = 0; s <= r; s++)
            joint->factor.k[r][s] = foliot__dot6(joint->factor.g[r], joint->factor.g[s]);
    for (uint32_t r = 0; r < n; r++)
        joint->factor.k[r][r] += joint->factor.soft[r];
    factor_block(joint->factor.k, n);
    if (joint->parent == FOLIOT__NONE)
        return;
    const double(*jp)[6] = (const double(*)[6])(joint->child == joint->a ? joint->jb : joint->ja);
    foliot__joint_body *parent = &j->bodies[joint->parent];
    for (uint32_t c = 0; c < 6; c++) {
        double column[FOLIOT__ROWS];
        for (uint32_t r = 0; r < n; r++)
            column[r] = jp[r][c];
        solve_lower(joint->factor.k, n, column);
        for (uint32_t r = 0; r < n; r++)
            joint->factor.h[r][c] = column[r];
    }
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t k = 0; k <= i; k++) {
            double sum = 0;
            for (uint32_t r = 0; r < n; r++)
                sum += joint->factor.h[r][i] * joint->factor.h[r][k];
            parent->factor[i][k] += sum;
        }
}

// Factors of the tree joints of an island. They must be made again after rows or `active` have
// changed.
static void factor_tree(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        memset(body->factor, 0, sizeof body->factor);
        for (int k = 0; k < 3; k++) {
            body->factor[k][k] = body->mass;
            vec3_store(body->inertia.row[k], body->factor[3 + k] + 3);
        }
    }
    for (uint32_t i = island->bodies; i-- > 0;) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        factor_block(body->factor, 6);
        if (body->joint != FOLIOT__NONE)
            factor_joint(j, &j->joints[body->joint]);
    }
}

// half := K^-1 (goal - G^t impulse_in); H^t half is added to the parent's impulse_in.
static void pass_up(foliot__joints *j, foliot__joint *joint, const double *pushed, bool held)
{
    uint32_t n = joint->active;
    for (uint32_t r = 0; r < n; r++)
        joint->factor.half[r] =
            (held ? 0 : joint->goal[r]) - foliot__dot6(joint->factor.g[r], pushed);
    solve_lower(joint->factor.k, n, joint->factor.half);
    if (joint->parent == FOLIOT__NONE)
        return;
    double *to = j->bodies[joint->parent].impulse_in;
    for (uint32_t c = 0; c < 6; c++) {
        double sum = 0;
        for (uint32_t r = 0; r < n; r++)
            sum += joint->factor.h[r][c] * joint->factor.half[r];
        to[c] += sum;
    }
}

// Solves for `change` of the bodies and `impulse` of the tree joints, from their `goal` (`held`:
// from 0) and the bodies' `impulse_in`, which is used up.
static void solve_tree(foliot__joints *j, const foliot__island *island, bool held)
{
    for (uint32_t i = island->bodies; i-- > 0;) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        solve_lower(body->factor, 6, body->impulse_in);
        if (body->joint != FOLIOT__NONE)
            pass_up(j, &j->joints[body->joint], body->impulse_in, held);
    }
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        if (body->joint != FOLIOT__NONE) {
            // impulse := K^-t (half - H change of the parent); G impulse is added to the child's
            // impulse_in.
            foliot__joint *joint = &j->joints[body->joint];
            uint32_t n = joint->active;
            for (uint32_t r = 0; r < n; r++)
                joint->impulse[r] = joint->factor.half[r];
            for (uint32_t r = 0; r < n && joint->parent != FOLIOT__NONE; r++)
                joint->impulse[r] -=
                    foliot__dot6(joint->factor.h[r], j->bodies[joint->parent].change);
            solve_upper(joint->factor.k, n, joint->impulse);
            for (uint32_t r = n; r < FOLIOT__ROWS; r++)
                joint->impulse[r] = 0;
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = 0; c < 6; c++)
                    body->impulse_in[c] += joint->factor.g[r][c] * joint->impulse[r];
        }
        memcpy(body->change, body->impulse_in, sizeof body->change);
        solve_upper(body->factor, 6, body->change);
    }
}

#define PASSES 6               // of the search; a later substep corrects what is still wrong
#define LOOP_TOLERANCE 0x1p-48 // of the squared error
#define LOOP_ITERATIONS 100
#define CURVATURE_MIN 0x1p-40 // of the diagonal's: below it, rows repeat others

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

// -- the limit row

static bool is_held(const foliot__joint *joint)
{
    return joint->limit.present && joint->limit.state >= FOLIOT__LIMIT_LOW;
}

// The impulse of a limit row that is not held, beyond what it has had in this substep.
static double free_impulse(const foliot__joint *joint, double h)
{
    if (!joint->limit.present || is_held(joint))
        return 0;
    double torque = joint->limit.strength * h;
    return (joint->limit.state == FOLIOT__LIMIT_FREE ? torque : -torque) -
           joint->impulse_sum[joint->rows];
}

// The state that a row of this impulse and speed belongs to.
static uint32_t state_after(const foliot__joint *joint, double impulse, double speed, double torque)
{
    bool up = joint->limit.drive > joint->limit.low, down = joint->limit.drive < joint->limit.high;
    switch ((foliot__limit_state)joint->limit.state) {
    case FOLIOT__LIMIT_LOW:
        if (impulse < (up ? torque : -torque))
            return up ? FOLIOT__LIMIT_FREE : FOLIOT__LIMIT_BRAKED;
        break;
    case FOLIOT__LIMIT_HIGH:
        if (impulse > (down ? -torque : torque))
            return down ? FOLIOT__LIMIT_BRAKED : FOLIOT__LIMIT_FREE;
        break;
    case FOLIOT__LIMIT_DRIVEN:
        if (impulse > torque)
            return FOLIOT__LIMIT_FREE;
        if (impulse < -torque)
            return FOLIOT__LIMIT_BRAKED;
        break;
    case FOLIOT__LIMIT_FREE:
        if (speed < joint->limit.low)
            return FOLIOT__LIMIT_LOW;
        if (speed > (down ? joint->limit.drive : joint->limit.high))
            return down ? FOLIOT__LIMIT_DRIVEN : FOLIOT__LIMIT_HIGH;
        break;
    case FOLIOT__LIMIT_BRAKED:
        if (speed > joint->limit.high)
            return FOLIOT__LIMIT_HIGH;
        if (speed < (up ? joint->limit.drive : joint->limit.low))
            return up ? FOLIOT__LIMIT_DRIVEN : FOLIOT__LIMIT_LOW;
        break;
    }
    return joint->limit.state;
}

static bool review_limits(foliot__joints *j, foliot__island *island, double h)
{
    bool changed = false;
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        if (!joint->limit.present)
            continue;
        uint32_t row = joint->rows;
        double impulse = joint->impulse_sum[row] + (is_held(joint) ? joint->impulse[row] : 0);
        uint32_t state =
            state_after(joint, impulse, speed_of(j, joint, row), joint->limit.strength * h);
        changed |= state != joint->limit.state;
        island->unfactored |= state != joint->limit.state && joint->friction.moment > 0;
        joint->limit.state = state;
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
        solve_tree(l->j, l->island, true);
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
        foliot__joint *joint = &j->joints[island->joint + i];
        if (joint->limit.present && !is_held(joint))
            push_row(j, joint, joint->rows, free_impulse(joint, h));
    }
}

static void solve_once(foliot__joints *j, foliot__island *island, double h)
{
    push_free_rows(j, island, h);
    solve_tree(j, island, false);
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
    solve_tree(j, island, false);
}

void foliot__island_solve(foliot__joints *j, foliot__island *island, double h)
{
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < island->joints; i++) {
            foliot__joint *joint = &j->joints[island->joint + i];
            uint32_t active = joint->active, state = joint->limit.state;
            // A motor never drives beyond a limit.
            if (joint->limit.state == FOLIOT__LIMIT_DRIVEN &&
                joint->limit.drive <= joint->limit.low)
                joint->limit.state = FOLIOT__LIMIT_LOW;
            if (joint->limit.state == FOLIOT__LIMIT_DRIVEN &&
                joint->limit.drive >= joint->limit.high)
                joint->limit.state = FOLIOT__LIMIT_HIGH;
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
                    joint->limit.state == FOLIOT__LIMIT_LOW    ? joint->limit.low
                    : joint->limit.state == FOLIOT__LIMIT_HIGH ? joint->limit.high
                                                               : joint->limit.drive;
            island->unfactored |= active != joint->active || state != joint->limit.state;
        }
        if (island->unfactored)
            factor_tree(j, island);
        island->unfactored = false;
        solve_once(j, island, h);
        if (pass + 1 == PASSES || !review_limits(j, island, h))
            break;
    }
    // Adds the impulses to their sums, those of rows that are not held included.
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        bool rubs = joint->friction.moment > 0 && !is_held(joint);
        for (uint32_t r = 0; r < joint->active; r++)
            (rubs && r >= joint->rows ? joint->friction.sum : joint->impulse_sum)[r] +=
                joint->impulse[r];
        if (joint->limit.present && !is_held(joint))
            joint->impulse_sum[joint->rows] += free_impulse(joint, h);
    }
}
