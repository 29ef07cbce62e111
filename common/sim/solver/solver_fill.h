// SPDX-License-Identifier: MIT
// solver_fill.h: fills blocks of COLUMNS pairs (8 or 1) from manifolds, and copies accumulated
// impulses back. Included by solver_simd.c after solver_lanes.h, whose macros it undefines at
// its end.

#if COLUMNS != 16

// -- filling in and taking out

IN LANE_NAME(load_inertia)(const LANES rows[6], INERTIA *e)
{
    LANE_NAME(get_inertia)(rows, 0, e);
}

IN LANE_NAME(load_side)(const foliot__solver_mass *masses, const uint32_t *slot, LANES *mass,
                        LANES inertia[6])
{
    const float *row[COLUMNS];
    LANES out[8];
    EACH (l, COLUMNS)
        row[l] = &masses[slot[l]].inverse_mass;
    LANE_NAME(gather)(row, out);
    *mass = out[0];
    EACH (k, 6)
        inertia[k] = out[1 + k];
}

IN LANE_NAME(negate)(VEC *v)
{
    v->x = -v->x;
    v->y = -v->y;
    v->z = -v->z;
}

// out := 1 / x, or 0 where x is 0.
LEAF LANE_NAME(invert)(const LANES *x, LANES *out)
{
    const LANES zero = {0}, one = SPLAT(1);
    MARKS weighs = *x > 0;
    LANES safe = CHOOSE(weighs, *x, one);
    *out = CHOOSE(weighs, one / safe, zero);
}

// The inverse effective mass for an impulse along n with these torques.
IN LANE_NAME(resistance)(const LANES *masses, const INERTIA *inertia_a, const VEC *turn_a,
                         const INERTIA *inertia_b, const VEC *turn_b, LANES *out)
{
    VEC ta, tb;
    LANE_NAME(turned)(inertia_a, turn_a, &ta);
    LANE_NAME(turned)(inertia_b, turn_b, &tb);
    *out = *masses + (DOT(ta, *turn_a) + DOT(tb, *turn_b));
}

IN LANE_NAME(prepare_friction)(HEAD *t, const VEC *n, const LANES *masses, const INERTIA *ia,
                               const INERTIA *ib, const LANES warm[8], const int points)
{
    VEC s, q, arm_a, arm_b, sa, sb, qa, qb, ta, tb;
    const LANES zero = {0};
    // Across the normal and in a plane of two axes, away from the axis that is nearest to the
    // normal.
    LANES ax = CHOOSE(n->x < 0, -n->x, n->x), az = CHOOSE(n->z < 0, -n->z, n->z);
    MARKS flat = ax > az;
    s.x = CHOOSE(flat, -n->y, zero);
    s.y = CHOOSE(flat, n->x, -n->z);
    s.z = CHOOSE(flat, zero, n->y);
    LANES length = DOT(s, s);
    LANE_NAME(root)(&length);
    LANE_NAME(invert)(&length, &length);
    s.x *= length;
    s.y *= length;
    s.z *= length;
    LANE_NAME(cross)(n, &s, &q);
    LANE_NAME(store_vec)(t->tangent, &s);
    LANE_NAME(load_vec)(t->arm_a, &arm_a);
    LANE_NAME(load_vec)(t->arm_b, &arm_b);
    LANE_NAME(cross)(&arm_a, &s, &sa);
    LANE_NAME(cross)(&arm_b, &s, &sb);
    LANE_NAME(cross)(&arm_a, &q, &qa);
    LANE_NAME(cross)(&arm_b, &q, &qb);
    LANES k00, k11, k01;
    LANE_NAME(resistance)(masses, ia, &sa, ib, &sb, &k00);
    LANE_NAME(resistance)(masses, ia, &qa, ib, &qb, &k11);
    LANE_NAME(turned)(ia, &sa, &ta);
    LANE_NAME(turned)(ib, &sb, &tb);
    k01 = DOT(ta, qa) + DOT(tb, qb);
    LANES determinant = k00 * k11 - k01 * k01;
    LANE_NAME(invert)(&determinant, &determinant);
    t->friction_mass[0] = k11 * determinant;
    t->friction_mass[1] = -k01 * determinant;
    t->friction_mass[2] = k00 * determinant;
    LANES none = {0}, turning;
    LANE_NAME(resistance)(&none, ia, n, ib, n, &turning);
    LANE_NAME(invert)(&turning, &t->twist_mass[0]);
    t->friction_impulse[0] = warm[4] * s.x + warm[5] * s.y + warm[6] * s.z;
    t->friction_impulse[1] = warm[4] * q.x + warm[5] * q.y + warm[6] * q.z;
    // A single point has no twist impulse: nothing would ever remove it.
    t->twist_impulse[0] = points > 1 ? warm[7] : none;
}

IN LANE_NAME(prepare_point)(POINT *point, const foliot__manifold *const manifold[COLUMNS],
                            const foliot__solver_block *block, int k, const VEC *n,
                            const LANES *masses, const INERTIA *ia, const INERTIA *ib, VEC *arm_a,
                            VEC *arm_b, LANES *used)
{
    const float *row[COLUMNS];
    LANES out[8], weight;
    VEC turn_a, turn_b;
    const LANES zero = {0}, far = SPLAT(FOLIOT__FAR), one = SPLAT(1);
    LANES count = {0};
    EACH (l, COLUMNS) {
        row[l] = manifold[l]->point[k].arm_a;
        ((float *)&count)[l] = (float)manifold[l]->count;
    }
    LANE_NAME(gather)(row, out);
    MARKS there = count > (float)k;
    EACH (i, 6)
        out[i] = CHOOSE(there, out[i], zero);
    LANE_NAME(load_vec)(out + (block->swapped ? 3 : 0), arm_a);
    LANE_NAME(load_vec)(out + (block->swapped ? 0 : 3), arm_b);
    LANE_NAME(cross)(arm_a, n, &turn_a);
    LANE_NAME(cross)(arm_b, n, &turn_b);
    LANE_NAME(store_vec)(point->turn_a, &turn_a);
    LANE_NAME(store_vec)(point->turn_b, &turn_b);
    LANE_NAME(resistance)(masses, ia, &turn_a, ib, &turn_b, &weight);
    LANE_NAME(invert)(&weight, &weight);
    point->mass[0] = CHOOSE(there, weight, zero);
    point->gap[0] = CHOOSE(there, out[6], far);
    *used += CHOOSE(there, one, zero);
}

// The place of contact of two round bodies moves on both of them, by their curvature. That of a
// flat and a round one moves on the flat one only, and that of two flat ones is fixed to b. Unused
// columns have radii of 0.
IN LANE_NAME(find_shares)(HEAD *t, const LANES *flat_a, const LANES *flat_b, const LANES *radius_a,
                          const LANES *radius_b)
{
    const LANES one = SPLAT(1);
    LANES both = *radius_a + *radius_b, some = *flat_a + *flat_b;
    LANES share = *radius_a / CHOOSE(both > 0, both, one);
    t->share_a[0] = CHOOSE(some > 0, *flat_a, share);
    t->flat[0] = *flat_a * *flat_b;
}

// The greatest speed at which an overlap of two bodies is resolved: an eighth of the smaller
// inradius in a tick. Bodies that cannot move are ignored.
IN LANE_NAME(find_push_max)(HEAD *t, const LANES *radius_a, const LANES *radius_b, float dt)
{
    const LANES zero = {0}, far = SPLAT(FOLIOT__FAR), eighth = SPLAT(0.125f), tick = SPLAT(dt);
    LANES a = CHOOSE(t->mass_a[0] > 0, *radius_a, far),
          b = CHOOSE(t->mass_b[0] > 0, *radius_b, far);
    LANES least = CHOOSE(a < b, a, b);
    t->push_max[0] = CHOOSE(*radius_b > 0, least * eighth / tick, zero);
}

// Fills a block. Where the second body of the manifold cannot move, the two bodies are swapped.
IN LANE_NAME(prepare_block)(HEAD *t, const foliot__solver *s, const foliot__solver_block *block,
                            const int points)
{
    static const foliot__manifold nothing;
    static const foliot__warm cold;
    POINT *point = (POINT *)(void *)(t + 1);
    const foliot__manifold *manifold[COLUMNS];
    const float *row[COLUMNS];
    LANES out[8], warm[8], radius_a, radius_b;
    uint32_t spare = s->world->capacity.slots;
    const bool carries = block->side == FOLIOT__SIDE_CARRIES;
    const float *inradius = s->ccd.collider.inradius, *body_a[COLUMNS], *body_b[COLUMNS];
    EACH (l, COLUMNS) {
        uint32_t m = t->manifold[l];
        bool there = m != FOLIOT__NOTHING;
        manifold[l] = there ? &s->manifolds[m] : &nothing;
        uint32_t a = !there ? spare : block->swapped ? manifold[l]->b : manifold[l]->a;
        uint32_t b = !there ? spare : block->swapped ? manifold[l]->a : manifold[l]->b;
        t->a[l] = carries || s->masses[a].inverse_mass > 0 ? a : spare;
        t->b[l] = s->masses[b].inverse_mass > 0 ? b : spare;
        ((float *)&radius_a)[l] = there ? inradius[a] : 0;
        ((float *)&radius_b)[l] = there ? inradius[b] : 0;
        body_a[l] = s->bodies[a].moved;
        body_b[l] = s->bodies[b].moved;
        ((float *)&t->friction[0])[l] = s->masses[a].friction * s->masses[b].friction;
        row[l] = there ? s->warm[m].impulse : cold.impulse;
    }
    LANE_NAME(gather)(body_a, out);
    LANES flat_a = out[7];
    LANE_NAME(gather)(body_b, out);
    LANE_NAME(find_shares)(t, &flat_a, &out[7], &radius_a, &radius_b);
    LANE_NAME(gather)(row, warm);
    EACH (l, COLUMNS)
        row[l] = (const float *)(const void *)manifold[l];
    LANE_NAME(gather)(row, out);
    VEC n, middle_a, middle_b, arm_a[4], arm_b[4];
    middle_a.x = middle_a.y = middle_a.z = middle_b.x = middle_b.y = middle_b.z = SPLAT(0);
    INERTIA ia, ib;
    LANE_NAME(load_vec)(out + 3, &n);
    if (block->swapped) {
        LANE_NAME(negate)(&n);
        for (int k = 4; k < 7; k++)
            warm[k] = -warm[k];
    }
    LANE_NAME(store_vec)(t->normal, &n);
    LANE_NAME(load_side)(s->masses, t->a, &t->mass_a[0], t->inertia_a);
    LANE_NAME(load_side)(s->masses, t->b, &t->mass_b[0], t->inertia_b);
    LANE_NAME(find_push_max)(t, &radius_a, &radius_b, (float)s->world->scene.dt);
    LANE_NAME(load_inertia)(t->inertia_a, &ia);
    LANE_NAME(load_inertia)(t->inertia_b, &ib);
    LANES masses = t->mass_a[0] + t->mass_b[0], used = {0}, share;
    const LANES one = SPLAT(1);
    EACH (k, points) {
        LANE_NAME(prepare_point)
        (&point[k], manifold, block, k, &n, &masses, &ia, &ib, &arm_a[k], &arm_b[k], &used);
        point[k].normal_impulse[0] = warm[k];
        LANE_NAME(add)(&middle_a, &one, &arm_a[k]);
        LANE_NAME(add)(&middle_b, &one, &arm_b[k]);
    }
    LANE_NAME(invert)(&used, &share);
    middle_a.x *= share;
    middle_a.y *= share;
    middle_a.z *= share;
    middle_b.x *= share;
    middle_b.y *= share;
    middle_b.z *= share;
    LANE_NAME(store_vec)(t->arm_a, &middle_a);
    LANE_NAME(store_vec)(t->arm_b, &middle_b);
    EACH (k, points) {
        // From the arms of the body that moves: a plane's arms are 0.
        VEC d;
        MARKS mine = t->mass_a[0] > 0;
        d.x = CHOOSE(mine, arm_a[k].x - middle_a.x, arm_b[k].x - middle_b.x);
        d.y = CHOOSE(mine, arm_a[k].y - middle_a.y, arm_b[k].y - middle_b.y);
        d.z = CHOOSE(mine, arm_a[k].z - middle_a.z, arm_b[k].z - middle_b.z);
        LANES along = DOT(d, n), length = LARGER(DOT(d, d) - along * along, (LANES){0});
        LANE_NAME(root)(&length);
        point[k].lever[0] = length;
    }
    LANE_NAME(prepare_friction)(t, &n, &masses, &ia, &ib, warm, points);
}

IN LANE_NAME(store_block)(const HEAD *t, const foliot__solver *solver,
                          const foliot__solver_block *block, const int points)
{
    const POINT *point = (const POINT *)(const void *)(t + 1);
    float *row[COLUMNS];
    bool there[COLUMNS];
    LANES out[8];
    EACH (k, 8)
        out[k] = SPLAT(0);
    VEC n, s, q;
    LANE_NAME(load_vec)(t->normal, &n);
    LANE_NAME(load_vec)(t->tangent, &s);
    LANE_NAME(cross)(&n, &s, &q);
    EACH (k, points)
        out[k] = point[k].normal_impulse[0];
    LANES along = block->swapped ? -t->friction_impulse[0] : t->friction_impulse[0];
    LANES across = block->swapped ? -t->friction_impulse[1] : t->friction_impulse[1];
    out[4] = along * s.x + across * q.x;
    out[5] = along * s.y + across * q.y;
    out[6] = along * s.z + across * q.z;
    out[7] = t->twist_impulse[0];
    EACH (l, COLUMNS) {
        there[l] = t->manifold[l] != FOLIOT__NOTHING;
        row[l] = solver->warm[there[l] ? t->manifold[l] : 0].impulse;
    }
    LANE_NAME(scatter)(row, there, out);
}

#if !FOLIOT__VECTORS
#define ON_POINTS(points, call) call(points);
#else
#define ON_POINTS(points, call)                                                                    \
    switch (points) {                                                                              \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(4);                                                                                   \
        break;                                                                                     \
    }
#endif

static void LANE_NAME(prepare_one)(HEAD *t, const foliot__solver *s,
                                   const foliot__solver_block *block)
{
#define CALL(n) LANE_NAME(prepare_block)(t, s, block, n)
    ON_POINTS(block->points, CALL)
#undef CALL
}

static void LANE_NAME(store_one)(const HEAD *t, const foliot__solver *s,
                                 const foliot__solver_block *block)
{
#define CALL(n) LANE_NAME(store_block)(t, s, block, n)
    ON_POINTS(block->points, CALL)
#undef CALL
}

#undef ON_POINTS
#endif

#undef ON_KIND
#undef ON_POINTS_AND
#undef LANES
#undef MARKS
#undef CHOOSE
#undef ANY
#undef MARK
#undef SPLAT
#undef LARGER
#undef DOT
#undef VEC
#undef INERTIA
#undef ROWS
#undef HEAD
#undef POINT
#undef GET
#undef PUT
#undef SLOT
#undef PAIR
#undef PLACE
#undef GRIP
#undef TWIST_MIN
#undef SWINGS
#undef APART
#undef IN
#undef LEAF
#undef COLUMNS
#undef LANE_NAME
