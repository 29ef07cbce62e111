// SPDX-License-Identifier: MIT
// sleep.c: who is still, who sleeps, who wakes. Islands are found by union in index order over the
// contacts that pushed in the last step, constraints and springs; an island's name is its lowest
// slot, so that nothing depends on the order of finding.
#include "sim/math/floating_point.h"

#include "sim/island/sleep.h"

#include <string.h>

#include "sim/state/controls.h"
#include "sim/state/joint_table.h"

#define COLUMNS 1024 // of the search for sleepers near a moving body, along x
#define NOBODY UINT32_MAX
#define CALLED 31u // instead of the ticks at rest: wakes at the next foliot__sleep_begin

typedef struct box {
    double min[3], max[3];
} box;

// The table `sleep_workspace`, laid out: cache, made anew in every tick.
typedef struct sleepers {
    foliot_world *world;
    uint32_t *parent, *next, *column; // next: in a column's list
    uint32_t *roused;          // who must wake; when islands fall asleep, what holds for them
    box *boxes;                // of sleepers
    foliot__contact_row *rows; // laid aside
} sleepers;

static size_t lay_out(sleepers *s, char *base, size_t slots, size_t contacts)
{
    size_t at = 0;
#define CARVE(member, count)                                                                       \
    s->member = base ? (void *)(base + at) : NULL;                                                 \
    at += ((count) * sizeof *s->member + 63) & ~(size_t)63;
    CARVE(parent, slots)
    CARVE(roused, slots)
    CARVE(next, slots)
    CARVE(column, COLUMNS)
    CARVE(boxes, slots)
    CARVE(rows, contacts)
#undef CARVE
    return at;
}

size_t foliot__sleep_workspace_bytes(const foliot_world_config *config)
{
    sleepers s;
    size_t slots = (config->bodies_max + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
    return config->sleeps ? lay_out(&s, NULL, slots, config->contacts_max) : 0;
}

static sleepers sleepers_of(foliot_world *world)
{
    sleepers s = {.world = world};
    lay_out(&s, (char *)foliot__sleep_workspace(world), world->capacity.slots,
            world->capacity.contacts);
    return s;
}

static bool is_asleep(const foliot_world *world, uint32_t i)
{
    return foliot__flags(world)[i] & FOLIOT_BODY_ASLEEP;
}

static bool is_awake(const foliot_world *world, uint32_t i)
{
    return foliot__inverse_mass(world)[i] > 0;
}

static uint32_t still_ticks(const foliot_world *world, uint32_t i)
{
    return (foliot__flags(world)[i] & FOLIOT__STILL_BITS) >> FOLIOT__STILL_SHIFT;
}

static void set_still(foliot_world *world, uint32_t i, uint32_t ticks)
{
    uint32_t *flags = &foliot__flags(world)[i];
    *flags = (*flags & ~FOLIOT__STILL_BITS) | ticks << FOLIOT__STILL_SHIFT;
}

static bool anybody(const foliot_world *world, bool (*is)(const foliot_world *, uint32_t))
{
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is(world, i))
            return true;
    return false;
}

bool foliot__sleep_everywhere(const foliot_world *world)
{
    return world->sleeps && !anybody(world, is_awake);
}

// -- islands

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

// Calls link(context, a, b) for all that holds two bodies together; b is NOBODY where it is a point
// of the world.
typedef void linker(void *context, uint32_t a, uint32_t b);
static void each_link(const foliot_world *world, linker *link, void *context)
{
    const foliot__contact_row *row = foliot__contact(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        link(context, row[i].a, row[i].b);
    const foliot_constraint_definition *constraint = foliot__constraint(world);
    for (uint32_t i = 0; i < world->constraint_count; i++)
        if (!foliot__constraint_broken(world)[i])
            link(context, constraint[i].a, constraint[i].b);
    const foliot_force_definition *force = foliot__force(world);
    for (uint32_t i = 0; i < world->force_count; i++)
        if (force[i].kind == FOLIOT_FORCE_SPRING)
            link(context, force[i].a, force[i].b);
}

static void join_sleepers(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    if (b != FOLIOT_NO_BODY && is_asleep(s->world, a) && is_asleep(s->world, b))
        join(s->parent, a, b);
}

static void join_awake(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    if (b != FOLIOT_NO_BODY && is_awake(s->world, a) && is_awake(s->world, b))
        join(s->parent, a, b);
}

static void find_islands(sleepers *s, linker *linked)
{
    for (uint32_t i = 0; i < s->world->body_count; i++)
        s->parent[i] = i;
    each_link(s->world, linked, s);
}

// -- waking

// A velocity that an input has given meanwhile (a jump) is kept. Still for one tick: who was woken
// by a neighbour wakes nobody else unless it really moves.
static void wake(foliot_world *world, uint32_t i)
{
    foliot__flags(world)[i] &= ~(uint32_t)FOLIOT_BODY_ASLEEP;
    set_still(world, i, 1);
    foliot__body_refresh(world, i);
}

static void wake_islands(sleepers *s)
{
    foliot_world *world = s->world;
    bool any = false;
    for (uint32_t i = 0; i < world->body_count; i++)
        any |= s->roused[i] != 0;
    if (!any)
        return;
    find_islands(s, join_sleepers);
    for (uint32_t i = 0; i < world->body_count; i++) // a root is its island's first
        if (s->roused[i])
            s->roused[root_of(s->parent, i)] = 1;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_asleep(world, i) && s->roused[root_of(s->parent, i)])
            wake(world, i);
    world->acceleration_valid = 0;
    foliot__joints_changed(world);
}

static void rouse(sleepers *s, uint32_t i)
{
    if (is_asleep(s->world, i))
        s->roused[i] = 1;
}

void foliot__sleep_leave(foliot_world *world, uint32_t slot)
{
    if (!world->sleeps)
        return;
    const foliot__contact_row *row = foliot__contact(world);
    for (uint32_t i = 0; i < world->contact_count; i++) {
        uint32_t other = row[i].a == slot ? row[i].b : row[i].a;
        if ((row[i].a == slot || row[i].b == slot) && is_asleep(world, other))
            set_still(world, other, CALLED);
    }
}

static void rouse_the_called(sleepers *s)
{
    for (uint32_t i = 0; i < s->world->body_count; i++)
        s->roused[i] = is_asleep(s->world, i) && still_ticks(s->world, i) == CALLED;
}

static bool player_acts(const foliot__player *player)
{
    bool axes = player->axes[0] || player->axes[1] || player->axes[2] || player->axes[3];
    return player->joined && (axes || player->buttons);
}

// Players who steer, and whom they grip.
static void rouse_by_players(sleepers *s)
{
    foliot_world *world = s->world;
    foliot__v3 x = foliot__position(world);
    for (uint32_t p = 0; p < world->player_limit; p++) {
        const foliot__player *player = &foliot__players(world)[p];
        if (!player_acts(player))
            continue;
        uint32_t me = player->body;
        rouse(s, me);
        for (uint32_t i = 0; foliot__player_grip(world, p) != 0 && i < world->body_count; i++) {
            double dx = x.x[i] - x.x[me], dy = x.y[i] - x.y[me], dz = x.z[i] - x.z[me];
            if ((dx * dx + dy * dy) + dz * dz < world->reach * world->reach)
                rouse(s, i);
        }
    }
}

// Pushes that begin or end in this tick.
static void rouse_by_pulses(sleepers *s)
{
    foliot_world *world = s->world;
    double now = foliot_world_get_time(world), then = now + world->dt;
    const foliot_force_definition *force = foliot__force(world);
    for (uint32_t i = 0; i < world->force_count; i++) {
        if (force[i].kind != FOLIOT_FORCE_CONSTANT)
            continue;
        double start = force[i].as.constant.start, end = force[i].as.constant.end;
        if ((start >= now && start < then) || (end >= now && end < then))
            rouse(s, force[i].a);
    }
}

// -- who comes near

// Of the sphere around a shape; 0 for points and planes.
static double reach_of(const foliot_world *world, uint32_t i)
{
    double r = foliot__radius(world)[i], x = foliot__half_x(world)[i];
    double y = foliot__half_y(world)[i], z = foliot__half_z(world)[i];
    switch (foliot__shape_kind(world)[i]) {
    case FOLIOT_SHAPE_SPHERE:
        return r;
    case FOLIOT_SHAPE_CAPSULE:
        return r + z;
    case FOLIOT_SHAPE_BOX:
        return foliot__sqrt((x * x + y * y) + z * z);
    default:
        return 0;
    }
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

// Half the extents of the body along the world's axes.
static void extents_of(const foliot_world *world, uint32_t i, double extent[3])
{
    double w = foliot__orientation_w(world)[i], x = foliot__orientation_x(world)[i];
    double y = foliot__orientation_y(world)[i], z = foliot__orientation_z(world)[i];
    double hx = foliot__half_x(world)[i], hy = foliot__half_y(world)[i];
    double hz = foliot__half_z(world)[i], r = foliot__radius(world)[i];
    uint32_t kind = foliot__shape_kind(world)[i];
    if (kind != FOLIOT_SHAPE_BOX)
        hx = hy = 0;
    if (kind == FOLIOT_SHAPE_SPHERE)
        hz = 0;
    const double turn[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int k = 0; k < 3; k++)
        extent[k] = ((kind == FOLIOT_SHAPE_BOX ? 0 : r) + magnitude(turn[k][0]) * hx) +
                    (magnitude(turn[k][1]) * hy + magnitude(turn[k][2]) * hz);
}

// Bounds of the body as it is, and of its way in this tick with something to spare.
static box bounds_of(const foliot_world *world, uint32_t i, double dt)
{
    foliot__v3 p = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 w = foliot__angular_velocity(world);
    const double at[3] = {p.x[i], p.y[i], p.z[i]}, way[3] = {v.x[i] * dt, v.y[i] * dt, v.z[i] * dt};
    double reach = reach_of(world, i), extent[3];
    double turn = foliot__sqrt((w.x[i] * w.x[i] + w.y[i] * w.y[i]) + w.z[i] * w.z[i]) * dt;
    double spare = reach * (turn < 1 ? turn : 1) + reach * 0x1p-6;
    extents_of(world, i, extent);
    box b;
    for (int k = 0; k < 3; k++) {
        double fall = magnitude(world->gravity[k]) * dt * dt;
        double half = extent[k] + (dt > 0 ? spare + fall : 0);
        b.min[k] = at[k] + (way[k] < 0 ? way[k] : 0) - half;
        b.max[k] = at[k] + (way[k] > 0 ? way[k] : 0) + half;
    }
    return b;
}

static bool boxes_meet(const box *a, const box *b)
{
    return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] &&
           b->min[1] <= a->max[1] && a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

// Columns of equal width along x; a body's list is that of its lower bound.
typedef struct columns {
    double begin, per_width, widest;
} columns;

static uint32_t column_of(const columns *c, double x)
{
    double at = (x - c->begin) * c->per_width;
    return !(at > 0) ? 0 : at < COLUMNS - 1 ? (uint32_t)at : COLUMNS - 1;
}

static columns sort_sleepers(sleepers *s)
{
    foliot_world *world = s->world;
    double begin = FOLIOT_POSITION_MAX, end = -FOLIOT_POSITION_MAX;
    columns c = {0, 0, 0};
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!is_asleep(world, i))
            continue;
        s->boxes[i] = bounds_of(world, i, 0);
        double min = s->boxes[i].min[0], wide = s->boxes[i].max[0] - min;
        begin = min < begin ? min : begin;
        end = min > end ? min : end;
        c.widest = wide > c.widest ? wide : c.widest;
    }
    c.begin = begin;
    c.per_width = end > begin ? COLUMNS / (end - begin) : 0;
    memset(s->column, 0xff, COLUMNS * sizeof *s->column);
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_asleep(world, i)) {
            uint32_t *list = &s->column[column_of(&c, s->boxes[i].min[0])];
            s->next[i] = *list;
            *list = i;
        }
    return c;
}

// Sleepers in the way of bodies that move: they must be able to give way when they are met.
static void rouse_by_touch(sleepers *s)
{
    foliot_world *world = s->world;
    columns c = sort_sleepers(s);
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!is_awake(world, i) || still_ticks(world, i) > 0 || reach_of(world, i) == 0)
            continue;
        box mine = bounds_of(world, i, world->dt);
        uint32_t last = column_of(&c, mine.max[0]);
        for (uint32_t k = column_of(&c, mine.min[0] - c.widest); k <= last; k++)
            for (uint32_t other = s->column[k]; other != NOBODY; other = s->next[other])
                if (boxes_meet(&mine, &s->boxes[other]))
                    s->roused[other] = 1;
    }
}

// -- contacts of sleepers

// The solver sees nothing of a contact of which neither body can move.
static void lay_aside(sleepers *s)
{
    foliot_world *world = s->world;
    foliot__contact_row *row = foliot__contact(world);
    uint32_t kept = 0, aside = 0;
    for (uint32_t i = 0; i < world->contact_count; i++)
        if (is_awake(world, row[i].a) || is_awake(world, row[i].b))
            row[kept++] = row[i];
        else if (is_asleep(world, row[i].a) || is_asleep(world, row[i].b))
            s->rows[aside++] = row[i];
    world->contact_count = kept;
    world->contacts_aside = aside;
}

static bool row_before(const foliot__contact_row *x, const foliot__contact_row *y)
{
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

// Two ascending lists become one, from the end. The last sleepers' go where there is no room.
static void put_back(sleepers *s)
{
    foliot_world *world = s->world;
    foliot__contact_row *row = foliot__contact(world);
    uint32_t mine = world->contact_count, theirs = world->contacts_aside;
    uint32_t room = world->capacity.contacts - mine;
    if (theirs > room) {
        world->counters.contacts_dropped += theirs - room;
        theirs = room;
    }
    uint32_t at = mine + theirs;
    world->contact_count = at;
    world->contacts_aside = 0;
    while (theirs > 0) {
        bool from_mine = mine > 0 && row_before(&s->rows[theirs - 1], &row[mine - 1]);
        row[--at] = from_mine ? row[--mine] : s->rows[--theirs];
    }
}

// -- falling asleep

// Slower than what gravity gives in a quarter of a tick, and than 1/512 of its size a tick: free of
// any unit.
static bool is_still(const foliot_world *world, uint32_t i, double gravity)
{
    double reach = reach_of(world, i), limit = reach / (512 * world->dt);
    if (gravity > 0 && gravity * world->dt / 4 < limit)
        limit = gravity * world->dt / 4;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    double along = (v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i];
    double about = (w.x[i] * w.x[i] + w.y[i] * w.y[i]) + w.z[i] * w.z[i];
    return along + about * (reach * reach) < limit * limit;
}

// Returns whether somebody has been still for long enough.
static bool count_still(foliot_world *world)
{
    const double *g = world->gravity;
    double gravity = foliot__sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
    bool any = false;
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!is_awake(world, i))
            continue;
        uint32_t ticks = still_ticks(world, i);
        if (!is_still(world, i, gravity))
            ticks = 0;
        else if (ticks < FOLIOT__STILL_TICKS)
            ticks++;
        set_still(world, i, ticks);
        any |= ticks == FOLIOT__STILL_TICKS;
    }
    for (uint32_t p = 0; p < world->player_limit; p++)
        if (player_acts(&foliot__players(world)[p]))
            set_still(world, foliot__players(world)[p].body, 0);
    return any;
}

// `roused` of an island's root says what holds for it: 1 where it rests on something that does not
// move, 2 where it must stay awake.
static void find_support(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    bool a_moves = is_awake(s->world, a), b_moves = b != FOLIOT_NO_BODY && is_awake(s->world, b);
    if (a_moves != b_moves)
        s->roused[root_of(s->parent, a_moves ? a : b)] |= 1;
}

static void keep_awake(sleepers *s)
{
    foliot_world *world = s->world;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_awake(world, i) && still_ticks(world, i) < FOLIOT__STILL_TICKS)
            s->roused[root_of(s->parent, i)] |= 2;
    const foliot_constraint_definition *constraint = foliot__constraint(world);
    for (uint32_t i = 0; i < world->constraint_count; i++) // a pendulum never rests
        if (constraint[i].kind == FOLIOT_CONSTRAINT_ROD && !foliot__constraint_broken(world)[i]) {
            s->roused[root_of(s->parent, constraint[i].a)] |= 2;
            if (constraint[i].b != FOLIOT_NO_BODY)
                s->roused[root_of(s->parent, constraint[i].b)] |= 2;
        }
}

static void fall_asleep(foliot_world *world, uint32_t i)
{
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    v.x[i] = v.y[i] = v.z[i] = 0;
    if (world->rotates)
        w.x[i] = w.y[i] = w.z[i] = 0;
    foliot__velocity_changed(world, i);
    foliot__flags(world)[i] |= FOLIOT_BODY_ASLEEP;
}

static void put_to_sleep(sleepers *s)
{
    foliot_world *world = s->world;
    bool any = false;
    memset(s->roused, 0, world->body_count * sizeof *s->roused);
    find_islands(s, join_awake);
    each_link(world, find_support, s);
    keep_awake(s);
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_awake(world, i) && s->roused[root_of(s->parent, i)] == 1) {
            fall_asleep(world, i);
            any = true;
        }
    for (uint32_t i = 0; any && i < world->body_count; i++)
        if (is_asleep(world, i))
            foliot__body_refresh(world, i);
    if (!any)
        return;
    world->acceleration_valid = 0;
    foliot__joints_changed(world);
}

// -- the tick

void foliot__sleep_begin(foliot_world *world)
{
    if (!world->sleeps)
        return;
    sleepers s = sleepers_of(world);
    world->contacts_aside = 0;
    if (!anybody(world, is_asleep))
        return;
    rouse_the_called(&s);
    rouse_by_players(&s);
    rouse_by_pulses(&s);
    if (anybody(world, is_awake))
        rouse_by_touch(&s);
    wake_islands(&s);
    if (anybody(world, is_awake))
        lay_aside(&s);
}

void foliot__sleep_end(foliot_world *world)
{
    if (!world->sleeps || !anybody(world, is_awake))
        return;
    sleepers s = sleepers_of(world);
    put_back(&s);
    if (count_still(world))
        put_to_sleep(&s);
}
