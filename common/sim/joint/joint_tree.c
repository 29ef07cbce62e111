// SPDX-License-Identifier: MIT
// joint_tree.c: joints that form trees, solved exactly in one sweep up and one down for any ratio
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
#include "sim/joint/joint_internal.h"

#include <string.h>

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

static void start_mass(foliot__joint_body *body)
{
    memset(body->factor, 0, sizeof body->factor);
    for (int i = 0; i < 3; i++) {
        body->factor[i][i] = body->mass;
        vec3_store(body->inertia.row[i], body->factor[3 + i] + 3);
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

void foliot__tree_factor(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t i = 0; i < island->bodies; i++)
        start_mass(&j->bodies[island->body + i]);
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

void foliot__tree_solve(foliot__joints *j, const foliot__island *island, bool held)
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
