// SPDX-License-Identifier: MIT
// sleep.c: which bodies are still, which sleep and which wake. Islands are found by union in index
// order over the contacts that pushed in the last step, constraints and springs. An island is named
// by its lowest slot, so the result does not depend on the order of finding.
#include "sim/island/sleep.h"

#include <string.h>

#include "sim/force/force.h"
#include "sim/math/vec3.h"
#include "sim/state/contact_cache.h"
#include "sim/state/workspace.h"
#include "sim/state/state.h"

#define COLUMNS 1024 // along x, in the search for sleepers near a moving body
#define NO_SLOT UINT32_MAX
#define WAKE_REQUESTED 31u // in place of the ticks at rest: wakes at the next foliot__sleep_begin
#define PLACES_MAX 1024    // of changes in a tick; beyond them the last place is everywhere

typedef struct box {
    vec3 min, max;
} box;

// Where a body was before it was changed, or where it is since. Sleepers there wake.
typedef struct place {
    box bounds;
    vec3 normal; // of a plane
    double offset;
    uint32_t is_plane;
} place;

// The support of an island that might fall asleep.
enum {
    SUPPORT_FIXED = 1,
    SUPPORT_STAYS_AWAKE = 2
}; // it rests on a body that does not move; it may not

// The table `sleep_workspace`, laid out: cache, rebuilt in every tick.
typedef struct sleepers {
    foliot_world *world;
    uint32_t *parent, *next, *column; // next: in a column's list
    uint32_t *must_wake;              // 1: the sleeper must wake
    uint32_t *support;         // of an island's root, SUPPORT_*; it shares memory with must_wake
    box *boxes;                // of sleepers
    foliot__contact_row *rows; // laid aside
    place *places;             // world->sleep.changed_places of them
} sleepers;

static uint64_t lay_out(sleepers *s, char *base, size_t slots, size_t contacts)
{
    foliot__carver from = {base, 0};
    FOLIOT__CARVE(&from, s->parent, slots);
    FOLIOT__CARVE(&from, s->must_wake, slots);
    s->support = s->must_wake; // one is read before the other is written
    FOLIOT__CARVE(&from, s->next, slots);
    FOLIOT__CARVE(&from, s->column, COLUMNS);
    FOLIOT__CARVE(&from, s->boxes, slots);
    FOLIOT__CARVE(&from, s->rows, contacts);
    FOLIOT__CARVE(&from, s->places, PLACES_MAX);
    return from.at;
}

uint64_t foliot__sleep_workspace_bytes(const foliot_world_config *config)
{
    sleepers s;
    size_t slots = foliot__slots_of(config->bodies_max);
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

static bool any_body(const foliot_world *world, bool (*is)(const foliot_world *, uint32_t))
{
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is(world, i))
            return true;
    return false;
}

static bool is_carrier(const foliot_world *world, uint32_t i)
{
    return i != FOLIOT_NO_BODY && foliot__is_carrier(world, i);
}

// Kinematic bodies never sleep. While one moves the world steps, and bodies that it touches are
// awake.
static bool any_carrier(const foliot_world *world)
{
    return world->counts.kinematic > 0 && any_body(world, foliot__is_carrier);
}

static bool any_motion(const foliot_world *world)
{
    return any_body(world, is_awake) || any_carrier(world);
}

bool foliot__sleep_everywhere(const foliot_world *world)
{
    return world->scene.sleeps && !any_motion(world);
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

static void unite_islands(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

// Calls link(context, a, b) for every constraint and spring. b is FOLIOT_NO_BODY where a is held to
// a point of the world.
typedef void link_visitor(void *context, uint32_t a, uint32_t b);
static void each_tie(const foliot_world *world, link_visitor *link, void *context)
{
    const foliot_constraint_definition *constraint = foliot__constraint(world);
    for (uint32_t i = 0; i < world->constraint_count; i++)
        if (!foliot__constraint_is_broken(world, i))
            link(context, constraint[i].a, constraint[i].b);
    const foliot_force_definition *force = foliot__force(world);
    for (uint32_t i = 0; i < world->force_count; i++)
        if (force[i].kind == FOLIOT_FORCE_SPRING && foliot__spring_holds(world, &force[i]))
            link(context, force[i].a, force[i].b);
}

// The same for every link between two bodies, contacts included.
static void each_link(const foliot_world *world, link_visitor *link, void *context)
{
    const foliot__contact_row *row = foliot__contact(world);
    for (uint32_t i = 0; i < world->contact_count; i++)
        link(context, row[i].a, row[i].b);
    each_tie(world, link, context);
}

static void unite_sleepers(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    if (b != FOLIOT_NO_BODY && is_asleep(s->world, a) && is_asleep(s->world, b))
        unite_islands(s->parent, a, b);
}

static void unite_awake(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    if (b != FOLIOT_NO_BODY && is_awake(s->world, a) && is_awake(s->world, b))
        unite_islands(s->parent, a, b);
}

static void find_islands(sleepers *s, link_visitor *linked)
{
    for (uint32_t i = 0; i < s->world->body_count; i++)
        s->parent[i] = i;
    each_link(s->world, linked, s);
}

// -- waking

static void wake_islands(sleepers *s)
{
    foliot_world *world = s->world;
    bool any = false;
    for (uint32_t i = 0; i < world->body_count; i++)
        any |= s->must_wake[i] != 0;
    if (!any)
        return;
    find_islands(s, unite_sleepers);
    for (uint32_t i = 0; i < world->body_count; i++) // a root is the first of its island
        if (s->must_wake[i])
            s->must_wake[root_of(s->parent, i)] = 1;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_asleep(world, i) && s->must_wake[root_of(s->parent, i)]) {
            // The body keeps a velocity that an input has given it meanwhile (a jump). It counts as
            // still for one tick, so that a body which a neighbour woke wakes no other unless it
            // really moves.
            foliot__flags(world)[i] &= ~(uint32_t)FOLIOT_BODY_ASLEEP;
            set_still(world, i, 1);
            foliot__body_refresh(world, i);
        }
    world->acceleration_valid = 0;
    foliot__joints_changed(world);
}

static void request_wake(sleepers *s, uint32_t i)
{
    if (is_asleep(s->world, i))
        s->must_wake[i] = 1;
}

static void wake_sleeper(foliot_world *world, uint32_t slot)
{
    if (is_asleep(world, slot))
        set_still(world, slot, WAKE_REQUESTED);
}

void foliot__sleep_wake(foliot_world *world, uint32_t slot)
{
    if (world->scene.sleeps && slot != FOLIOT_NO_BODY)
        wake_sleeper(world, slot);
}

static bool player_acts(const foliot_world *world, uint32_t p)
{
    const foliot__player *player = &foliot__players(world)[p];
    bool axes = player->axes[0] || player->axes[1] || player->axes[2] || player->axes[3];
    return foliot__player_body(world, p) != FOLIOT_NO_BODY && (axes || player->buttons);
}

// Wakes the player's body and those that it pulls or pushes.
static void wake_gripped(foliot_world *world, uint32_t player)
{
    foliot__v3 x = foliot__position(world);
    uint32_t me = foliot__player_body(world, player);
    if (me == FOLIOT_NO_BODY)
        return;
    vec3 at = foliot__v3_get(x, me);
    wake_sleeper(world, me);
    for (uint32_t i = 0; foliot__player_grip(world, player) != 0 && i < world->body_count; i++) {
        vec3 d = vec3_sub(foliot__v3_get(x, i), at);
        if (vec3_dot(d, d) < world->player.reach * world->player.reach)
            wake_sleeper(world, i);
    }
}

void foliot__sleep_change_player(foliot_world *world, uint32_t player)
{
    if (world->scene.sleeps)
        wake_gripped(world, player);
}

// Wakes a body that is tied to a kinematic body on its way.
static void wake_if_carried(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    if (is_carrier(s->world, a) && b != FOLIOT_NO_BODY)
        request_wake(s, b);
    if (is_carrier(s->world, b))
        request_wake(s, a);
}

// -- sleepers near moving bodies

// Radius of the sphere around a shape; 0 for points and planes.
static double bounding_radius_of(const foliot_world *world, uint32_t i)
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

// The absolute values of v's parts, times `half`.
static vec3 sizes_of(vec3 v, double half)
{
    return (vec3){(v.x < 0 ? -v.x : v.x) * half, (v.y < 0 ? -v.y : v.y) * half,
                  (v.z < 0 ? -v.z : v.z) * half};
}

// Bounds of the body's shape along its displacement in dt, with a margin where dt is not 0.
static box bounds_of(const foliot_world *world, uint32_t i, double dt)
{
    double half[3] = {foliot__half_x(world)[i], foliot__half_y(world)[i], foliot__half_z(world)[i]};
    uint32_t kind = foliot__shape_kind(world)[i];
    double round = kind == FOLIOT_SHAPE_BOX ? 0 : foliot__radius(world)[i];
    if (kind != FOLIOT_SHAPE_BOX)
        half[0] = half[1] = 0;
    if (kind == FOLIOT_SHAPE_SPHERE)
        half[2] = 0;
    mat3 axis = quat_axes(foliot__quat_get(world, i));
    vec3 x = sizes_of(axis.row[0], half[0]), y = sizes_of(axis.row[1], half[1]);
    vec3 extent = vec3_add(vec3_add((vec3){round, round, round}, x),
                           vec3_add(y, sizes_of(axis.row[2], half[2])));
    if (dt > 0) {
        double radius = bounding_radius_of(world, i), scale = foliot__gravity_scale(world)[i];
        double turn = vec3_length(foliot__v3_get(foliot__angular_velocity(world), i)) * dt;
        double spare = radius * (turn < 1 ? turn : 1) + radius * 0x1p-6;
        vec3 gained =
            vec3_scale(vec3_scale(sizes_of(vec3_scale(vec3_of(world->gravity), scale), 1), dt), dt);
        extent = vec3_add(extent, vec3_add((vec3){spare, spare, spare}, gained));
    }
    vec3 at = foliot__v3_get(foliot__position(world), i);
    vec3 d = vec3_scale(foliot__v3_get(foliot__velocity(world), i), dt);
    const vec3 back = {d.x < 0 ? d.x : 0, d.y < 0 ? d.y : 0, d.z < 0 ? d.z : 0};
    const vec3 on = {d.x > 0 ? d.x : 0, d.y > 0 ? d.y : 0, d.z > 0 ? d.z : 0};
    return (box){vec3_sub(vec3_add(at, back), extent), vec3_add(vec3_add(at, on), extent)};
}

// Columns of equal width along x. A body is in the list of its lower bound.
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
        double min = s->boxes[i].min.x, wide = s->boxes[i].max.x - min;
        begin = min < begin ? min : begin;
        end = min > end ? min : end;
        c.widest = wide > c.widest ? wide : c.widest;
    }
    c.begin = begin;
    c.per_width = end > begin ? COLUMNS / (end - begin) : 0;
    memset(s->column, 0xff, COLUMNS * sizeof *s->column);
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_asleep(world, i)) {
            uint32_t *list = &s->column[column_of(&c, s->boxes[i].min.x)];
            s->next[i] = *list;
            *list = i;
        }
    return c;
}

// Wakes the sleepers within the box a: those that `mover` may touch, or all where it is NO_SLOT.
static void wake_within(sleepers *s, const columns *c, const box *a, uint32_t mover)
{
    uint32_t last = column_of(c, a->max.x);
    for (uint32_t k = column_of(c, a->min.x - c->widest); k <= last; k++)
        for (uint32_t i = s->column[k]; i != NO_SLOT; i = s->next[i])
            if (a->min.x <= s->boxes[i].max.x && s->boxes[i].min.x <= a->max.x &&
                a->min.y <= s->boxes[i].max.y && s->boxes[i].min.y <= a->max.y &&
                a->min.z <= s->boxes[i].max.z && s->boxes[i].min.z <= a->max.z &&
                (mover == NO_SLOT || foliot__may_touch(s->world, mover, i)))
                s->must_wake[i] = 1;
}

// Sleepers where something has changed, and sleepers in the path of moving bodies: they must be
// able to yield when they are hit.
static void wake_for_neighbours(sleepers *s, uint32_t places)
{
    foliot_world *world = s->world;
    columns c = sort_sleepers(s);
    for (uint32_t k = 0; k < places; k++) {
        const place *changed = &s->places[k];
        if (!changed->is_plane)
            wake_within(s, &c, &changed->bounds, NO_SLOT);
        for (uint32_t i = 0; changed->is_plane && i < world->body_count; i++) {
            double radius = bounding_radius_of(world, i);
            vec3 x = foliot__v3_get(foliot__position(world), i);
            double height = vec3_dot(x, changed->normal) - changed->offset;
            s->must_wake[i] |= is_asleep(world, i) && radius > 0 && height <= radius * (1 + 0x1p-6);
        }
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        bool moves = is_awake(world, i) ? still_ticks(world, i) == 0 : is_carrier(world, i);
        if (!moves || foliot__flags(world)[i] & FOLIOT_BODY_SENSOR ||
            bounding_radius_of(world, i) == 0)
            continue;
        box path = bounds_of(world, i, world->scene.dt);
        wake_within(s, &c, &path, i);
    }
}

// -- changes by commands and players

// Notes the region that the body can reach in this tick from its present pose. Collision filters
// are ignored, since they may be changing.
static void note_place(foliot_world *world, uint32_t slot)
{
    uint32_t flags = foliot__flags(world)[slot], kind = foliot__shape_kind(world)[slot];
    bool plane = kind == FOLIOT_SHAPE_PLANE;
    if (!(flags & FOLIOT_BODY_ALIVE) || flags & FOLIOT_BODY_SENSOR ||
        (!plane && bounding_radius_of(world, slot) == 0))
        return;
    sleepers s = sleepers_of(world);
    place here = {.is_plane = plane};
    if (plane) {
        here.normal = (vec3){foliot__half_x(world)[slot], foliot__half_y(world)[slot],
                             foliot__half_z(world)[slot]};
        here.offset = foliot__plane_offset(world)[slot];
    } else {
        here.bounds = bounds_of(world, slot, world->scene.dt);
    }
    if (world->sleep.changed_places < PLACES_MAX) {
        s.places[world->sleep.changed_places++] = here;
        return;
    }
    const double far = 2 * FOLIOT_POSITION_MAX; // too many to tell apart: everywhere
    s.places[PLACES_MAX - 1] = (place){.bounds = {{-far, -far, -far}, {far, far, far}}};
}

typedef struct tied_body {
    foliot_world *world;
    uint32_t slot;
} tied_body;

static void wake_other_end(void *context, uint32_t a, uint32_t b)
{
    const tied_body *body = context;
    if (a == body->slot)
        foliot__sleep_wake(body->world, b);
    else if (b == body->slot)
        foliot__sleep_wake(body->world, a);
}

void foliot__sleep_change(foliot_world *world, uint32_t slot)
{
    if (!world->scene.sleeps || slot == FOLIOT_NO_BODY)
        return;
    if (is_asleep(world, slot))
        wake_sleeper(world, slot);
    else if (still_ticks(world, slot) == WAKE_REQUESTED) // it slept before this change
        set_still(world, slot, 0);
    foliot__contact_visit(world, slot, wake_sleeper);
    tied_body body = {world, slot};
    if (!is_awake(world, slot)) // a body tied to an awake body is awake
        each_tie(world, wake_other_end, &body);
    note_place(world, slot);
}

// -- contacts of sleepers

// The solver drops contacts of which neither body can move.
static void set_contacts_aside(sleepers *s)
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
    world->sleep.contacts_aside = aside;
}

// Merges two ascending lists from the end. Without room, the last rows of the sleepers are dropped.
static void restore_contacts(sleepers *s)
{
    foliot_world *world = s->world;
    foliot__contact_row *row = foliot__contact(world);
    uint32_t awake = world->contact_count, asleep = world->sleep.contacts_aside;
    uint32_t room = world->capacity.contacts - awake;
    if (asleep > room) {
        world->counters.contacts_dropped += asleep - room;
        asleep = room;
    }
    uint32_t at = awake + asleep;
    world->contact_count = at;
    world->sleep.contacts_aside = 0;
    while (asleep > 0) {
        const foliot__contact_row *x = &s->rows[asleep - 1], *y = &row[awake > 0 ? awake - 1 : 0];
        bool from_mine = awake > 0 && (x->a != y->a ? x->a < y->a : x->b < y->b);
        row[--at] = from_mine ? row[--awake] : s->rows[--asleep];
    }
}

// -- falling asleep

// Returns whether some body has been still for long enough: slower than the speed that gravity
// gives in a quarter of a tick, and than 1/512 of the body's size a tick. Neither depends on the
// units of the scene.
static bool count_still(foliot_world *world)
{
    double gravity = vec3_length(vec3_of(world->gravity)), dt = world->scene.dt;
    bool any = false;
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!is_awake(world, i))
            continue;
        uint32_t ticks = still_ticks(world, i);
        double radius = bounding_radius_of(world, i), limit = radius / (512 * dt);
        if (gravity > 0 && gravity * dt / 4 < limit)
            limit = gravity * dt / 4;
        vec3 v = foliot__v3_get(foliot__velocity(world), i);
        vec3 w = foliot__v3_get(foliot__angular_velocity(world), i);
        if (!(vec3_dot(v, v) + vec3_dot(w, w) * (radius * radius) < limit * limit))
            ticks = 0;
        else if (ticks < FOLIOT__STILL_TICKS)
            ticks++;
        set_still(world, i, ticks);
        any |= ticks == FOLIOT__STILL_TICKS;
    }
    for (uint32_t p = 0; p < world->player.limit; p++)
        if (player_acts(world, p))
            set_still(world, foliot__player_body(world, p), 0);
    return any;
}

static void find_support(void *context, uint32_t a, uint32_t b)
{
    sleepers *s = context;
    bool a_moves = is_awake(s->world, a), b_moves = b != FOLIOT_NO_BODY && is_awake(s->world, b);
    uint32_t other = a_moves ? b : a;
    if (a_moves != b_moves)
        s->support[root_of(s->parent, a_moves ? a : b)] |=
            is_carrier(s->world, other) ? SUPPORT_STAYS_AWAKE : SUPPORT_FIXED;
}

static void sleep_islands(sleepers *s)
{
    foliot_world *world = s->world;
    bool any = false;
    memset(s->support, 0, world->body_count * sizeof *s->support);
    find_islands(s, unite_awake);
    each_link(world, find_support, s);
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_awake(world, i) && still_ticks(world, i) < FOLIOT__STILL_TICKS)
            s->support[root_of(s->parent, i)] |= SUPPORT_STAYS_AWAKE;
    const foliot_constraint_definition *constraint = foliot__constraint(world);
    for (uint32_t i = 0; i < world->constraint_count; i++) // a pendulum never rests
        if (constraint[i].kind == FOLIOT_CONSTRAINT_ROD &&
            !foliot__constraint_is_broken(world, i)) {
            s->support[root_of(s->parent, constraint[i].a)] |= SUPPORT_STAYS_AWAKE;
            if (constraint[i].b != FOLIOT_NO_BODY)
                s->support[root_of(s->parent, constraint[i].b)] |= SUPPORT_STAYS_AWAKE;
        }
    const vec3 none = {0, 0, 0};
    for (uint32_t i = 0; i < world->body_count; i++)
        if (is_awake(world, i) && s->support[root_of(s->parent, i)] == SUPPORT_FIXED) {
            foliot__v3_put(foliot__velocity(world), i, none);
            if (world->scene.rotates)
                foliot__v3_put(foliot__angular_velocity(world), i, none);
            foliot__velocity_changed(world, i);
            foliot__flags(world)[i] |= FOLIOT_BODY_ASLEEP;
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
    if (!world->scene.sleeps)
        return;
    sleepers s = sleepers_of(world);
    uint32_t places = world->sleep.changed_places;
    world->sleep.contacts_aside = world->sleep.changed_places = 0;
    if (!any_body(world, is_asleep))
        return;
    for (uint32_t p = 0; p < world->player.limit; p++)
        if (player_acts(world, p))
            wake_gripped(world, p);
    for (uint32_t i = 0; i < world->body_count; i++)
        s.must_wake[i] = is_asleep(world, i) && still_ticks(world, i) == WAKE_REQUESTED;
    // Constant forces that begin or end in this tick.
    double now = foliot_world_get_time(world), then = now + world->scene.dt;
    const foliot_force_definition *force = foliot__force(world);
    for (uint32_t i = 0; i < world->force_count; i++) {
        if (force[i].kind != FOLIOT_FORCE_CONSTANT)
            continue;
        double start = force[i].as.constant.start, end = force[i].as.constant.end;
        if ((start >= now && start < then) || (end >= now && end < then))
            request_wake(&s, force[i].a);
    }
    if (any_carrier(world))
        each_link(world, wake_if_carried, &s);
    if (any_motion(world) || places > 0)
        wake_for_neighbours(&s, places);
    wake_islands(&s);
    if (any_motion(world))
        set_contacts_aside(&s);
}

void foliot__sleep_end(foliot_world *world)
{
    if (!world->scene.sleeps || !any_motion(world))
        return;
    sleepers s = sleepers_of(world);
    restore_contacts(&s);
    if (count_still(world))
        sleep_islands(&s);
}
