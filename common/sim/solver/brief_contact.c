// SPDX-License-Identifier: MIT
// brief_contact.c: events between the ends of two ticks: collisions that the solver resolves, as
// hit events, and contacts that begin and end within one tick. Only manifolds without an earlier
// impulse, whose points can meet in the rest of the tick, are watched: a resting contact costs one
// read of its impulses.
#include "sim/solver/solver_kernel.h"

#include "sim/math/simd.h"
#include "sim/math/vec3.h"
#include "sim/state/contact_cache.h"
#include "sim/state/workspace.h"

#include <string.h>

#define NO_ROOM (UINT32_MAX - 1)
#define SLOW 0x1p-9 // of the inradius in a tick: no hit
#define STRUCK 2.0f // the struck body is at most this many times as fast as the striker

// -- keys, to sort rows by pair or by substep: the row is in the lowest bits

#define ROW_BITS 12
_Static_assert(2 * FOLIOT_HIT_EVENTS_MAX <= 1 << ROW_BITS, "a row fits into a key");
_Static_assert(FOLIOT_BODIES_MAX <= 1 << (32 - ROW_BITS), "a pair fits into a key");

static uint64_t pair_key(const foliot_hit_event *hit, uint32_t row)
{
    uint32_t a = foliot_body_id_get_slot(hit->a), b = foliot_body_id_get_slot(hit->b);
    return (uint64_t)a << 32 | b << ROW_BITS | row;
}

static uint32_t row_of(uint64_t key)
{
    return (uint32_t)key & ((1u << ROW_BITS) - 1);
}

// -- pairs that pressed earlier in the tick, for contacts that are found again within it

static uint32_t bucket_of(uint32_t a, uint32_t b)
{
    return (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> (32 - FOLIOT__BRIEF_BUCKET_BITS);
}

// A bucket has row + 1 of its first one; the others are chained by the keys.
void foliot__find_known_brief(foliot__solver *s)
{
    if (s->step->index == 0)
        s->counts->brief = 0;
    s->counts->known = s->counts->brief;
    if (s->counts->known == 0)
        return;
    memset(s->buckets, 0, sizeof *s->buckets << FOLIOT__BRIEF_BUCKET_BITS);
    for (uint32_t i = 0; i < s->counts->known; i++) {
        const foliot_hit_event *hit = &s->brief[i].hit;
        uint32_t *first = &s->buckets[bucket_of(foliot_body_id_get_slot(hit->a),
                                                foliot_body_id_get_slot(hit->b))];
        s->keys[i] = *first;
        *first = i + 1;
    }
}

uint32_t foliot__brief_of(const foliot__solver *s, uint32_t a, uint32_t b)
{
    uint32_t row = s->counts->known > 0 ? s->buckets[bucket_of(a, b)] : 0;
    while (row > 0 && (foliot_body_id_get_slot(s->brief[row - 1].hit.a) != a ||
                       foliot_body_id_get_slot(s->brief[row - 1].hit.b) != b))
        row = (uint32_t)s->keys[row - 1];
    return row > 0 ? row - 1 : FOLIOT__NOT_BRIEF;
}

// -- manifolds that may begin to press, by index among the live ones

// Whether two bodies with that approach until the tick's end are faster than a tick's acceleration
// gives.
static bool strikes(const foliot__solver *s, const foliot__manifold *m, float closes)
{
    const double *threshold = s->ccd.collider.paths.restitution_threshold;
    return (double)closes > foliot__larger(threshold[m->a], threshold[m->b]) *
                                s->world->scene.substeps * (s->step->left + s->step->dt);
}

// Watches manifolds whose bodies can meet by their own speeds, and those that pressed earlier in
// the tick; then those that a body struck in this tick may reach.
void foliot__watch_approaches(foliot__solver *s)
{
    float most = 0; // the largest approach of two bodies that collide
    uint32_t others = 0, near = 0;
    for (uint32_t from = 0; from < s->counts->live; from += FOLIOT__GRAIN_PAIRS)
        for (uint32_t n = from; n < from + s->first_row[from / FOLIOT__GRAIN_PAIRS]; n++) {
            if (s->watched[n].columns == 0)
                continue;
            const foliot__manifold *m = &s->manifolds[s->live[s->watched[n].manifold]];
            float closes = s->travel[m->a] + s->travel[m->b];
            if (closes > most && strikes(s, m, closes))
                most = closes;
        }
    for (uint32_t from = 0; from < s->counts->live; from += FOLIOT__GRAIN_PAIRS)
        for (uint32_t n = from; n < from + s->first_row[from / FOLIOT__GRAIN_PAIRS]; n++) {
            foliot__approach *idle = &s->watched[n];
            if (idle->columns == 0 && most == 0)
                continue;
            foliot__approach watched = *idle;
            s->watched[others] = watched;
            if (watched.columns > 0) {
                s->watched[others] = s->watched[near];
                s->watched[near++] = watched;
            }
            others++;
        }
    for (uint32_t n = near; n < others; n++)
        if (foliot__least_gap(&s->manifolds[s->live[s->watched[n].manifold]]) <= STRUCK * most)
            s->watched[near++] = s->watched[n];
    s->counts->watched = near;
}

// -- those that pressed

static vec3 widen(const float v[3])
{
    return (vec3){(double)v[0], (double)v[1], (double)v[2]};
}

// The velocity of the body's point at `arm` now or, if `before`, before the impulses of this
// substep.
static vec3 velocity_at(const foliot__solver *s, uint32_t i, const float arm[3], bool before)
{
    vec3 v = foliot__v3_get(foliot__velocity(s->world), i);
    vec3 w = foliot__v3_get(foliot__angular_velocity(s->world), i);
    if (before && s->masses[i].inverse_mass > 0 && s->colours_taken[i]) {
        const float(*row)[8] = s->given[i / 8].row;
        const float given[6] = {row[0][i % 8], row[1][i % 8], row[2][i % 8],
                                row[3][i % 8], row[4][i % 8], row[5][i % 8]};
        v = vec3_sub(v, widen(given));
        w = vec3_sub(w, widen(given + 3));
    }
    return vec3_add(vec3_cross(w, widen(arm)), v);
}

// The impulse of a watched manifold's point.
static float impulse_of(const foliot__solver *s, const foliot__approach *watched, uint32_t point)
{
    float impulse;
    memcpy(&impulse,
           &s->arena[watched->impulses + (size_t)point * FOLIOT__POINT_ROWS * watched->columns],
           sizeof impulse);
    return impulse;
}

// The greatest speed of approach of the points that press.
static double approach_of(const foliot__solver *s, const foliot__approach *watched, bool before)
{
    const foliot__manifold *m = &s->manifolds[watched->manifold];
    double most = -(double)FOLIOT__FAR;
    for (uint32_t p = 0; p < m->count; p++) {
        if (!(impulse_of(s, watched, p) > 0))
            continue;
        vec3 va = velocity_at(s, m->a, m->point[p].arm_a, before);
        vec3 vb = velocity_at(s, m->b, m->point[p].arm_b, before);
        double speed = vec3_dot(vec3_sub(va, vb), widen(m->normal));
        most = speed > most ? speed : most;
    }
    return most;
}

// The speed along the normal that a unit of impulse at the arm gives the body.
static double inverse_mass_along(const foliot__solver_mass *mass, vec3 arm, vec3 n)
{
    vec3 turn = vec3_cross(arm, n);
    double x = turn.x, y = turn.y, z = turn.z;
    double spun =
        ((double)mass->xx * x * x + (double)mass->yy * y * y) + (double)mass->zz * z * z +
        2 * (((double)mass->xy * x * y + (double)mass->xz * x * z) + (double)mass->yz * y * z);
    return (double)mass->inverse_mass + spun;
}

// The impulse that will end the remaining approach: a collision that begins in a tick's last
// substep is completed by the next tick.
static double impulse_left(const foliot__solver *s, const foliot__approach *watched)
{
    const foliot__manifold *m = &s->manifolds[watched->manifold];
    double speed = approach_of(s, watched, false), count = 0;
    vec3 arm_a = {0, 0, 0}, arm_b = {0, 0, 0}, n = widen(m->normal);
    if (!(speed > 0))
        return 0;
    for (uint32_t p = 0; p < m->count; p++) {
        if (!(impulse_of(s, watched, p) > 0))
            continue;
        arm_a = vec3_add(arm_a, widen(m->point[p].arm_a));
        arm_b = vec3_add(arm_b, widen(m->point[p].arm_b));
        count++;
    }
    return speed / (inverse_mass_along(&s->masses[m->a], vec3_divide(arm_a, count), n) +
                    inverse_mass_along(&s->masses[m->b], vec3_divide(arm_b, count), n));
}

// Describes a pair that presses for the first time in this tick. NO_ROOM: it is dropped, and
// counted.
static uint32_t begin_brief(foliot__solver *s, const foliot__approach *watched)
{
    foliot_world *world = s->world;
    const foliot__manifold *m = &s->manifolds[watched->manifold];
    const double *threshold = s->ccd.collider.paths.restitution_threshold;
    if (s->counts->brief == world->capacity.impacts) {
        world->counters.events_dropped++;
        return NO_ROOM;
    }
    foliot__brief *brief = &s->brief[s->counts->brief];
    *brief = (foliot__brief){
        .hit = {.a = foliot__body_id(s->world, m->a), .b = foliot__body_id(s->world, m->b)},
        .substep = s->step->index};
    foliot_hit_event *hit = &brief->hit;
    hit->time = (s->step->index + 1) * s->step->dt;
    hit->speed = approach_of(s, watched, true);
    double gain = foliot__larger(threshold[m->a], threshold[m->b]) * world->scene.substeps;
    double slow = (double)foliot__inradius_min(s, m->a, m->b) * SLOW / world->scene.dt;
    brief->hits = hit->speed > foliot__larger(gain, slow);
    bool plane = foliot__shape_kind(world)[m->a] == FOLIOT_SHAPE_PLANE; // its arm is 0
    vec3 place = foliot__v3_get(s->found, plane ? m->b : m->a), sum = {0, 0, 0};
    for (uint32_t p = 0; p < m->count; p++) {
        if (!(impulse_of(s, watched, p) > 0))
            continue;
        sum = vec3_add(sum, vec3_add(place, widen(plane ? m->point[p].arm_b : m->point[p].arm_a)));
        brief->points++;
    }
    vec3 normal = widen(m->normal);
    vec3_store(vec3_divide(sum, brief->points), hit->point);
    vec3_store(vec3_divide(normal, vec3_length(normal)), hit->normal);
    return s->counts->brief++;
}

void foliot__note_brief(foliot__solver *s)
{
    for (uint32_t n = 0; n < s->counts->watched; n++) {
        foliot__approach *watched = &s->watched[n];
        double sum = 0;
        for (uint32_t p = 0; p < s->manifolds[watched->manifold].count; p++)
            sum += (double)impulse_of(s, watched, p);
        if (!(sum > 0) || watched->brief == NO_ROOM)
            continue;
        if (watched->brief == FOLIOT__NOT_BRIEF)
            watched->brief = begin_brief(s, watched);
        if (watched->brief == NO_ROOM)
            continue;
        s->brief[watched->brief].hit.impulse +=
            s->step->last && s->brief[watched->brief].hits ? sum + impulse_left(s, watched) : sum;
    }
}

// -- the lists

static bool was_in_contact(const foliot_world *world, const foliot_hit_event *hit)
{
    const foliot__contact_before *before = foliot__contacts_before(world);
    uint32_t low = 0, high = world->reported.contacts_before_count;
    uint32_t a = foliot_body_id_get_slot(hit->a), b = foliot_body_id_get_slot(hit->b);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, slot = foliot_body_id_get_slot(before[middle].a);
        if (slot < a || (slot == a && foliot_body_id_get_slot(before[middle].b) < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < world->reported.contacts_before_count && before[low].a.value == hit->a.value &&
           before[low].b.value == hit->b.value;
}

// Whether the bodies' acceleration brings them together again within a tick: they are landing, and
// the contact begins in the next step. A pair that bounced stays apart for longer.
static bool lands(const foliot__solver *s, const foliot_hit_event *hit)
{
    foliot__v3 x = foliot__position(s->world), acceleration = s->ccd.collider.paths.acceleration;
    const uint32_t body[2] = {foliot_body_id_get_slot(hit->a), foliot_body_id_get_slot(hit->b)};
    vec3 v[2], n = vec3_of(hit->normal);
    for (int k = 0; k < 2; k++) {
        vec3 arm = vec3_sub(vec3_of(hit->point), foliot__v3_get(x, body[k]));
        const float rounded[3] = {(float)arm.x, (float)arm.y, (float)arm.z};
        v[k] = velocity_at(s, body[k], rounded, false);
    }
    double speed = vec3_dot(vec3_sub(v[1], v[0]), n);
    double gain = vec3_dot(
        vec3_sub(foliot__v3_get(acceleration, body[0]), foliot__v3_get(acceleration, body[1])), n);
    return gain > 0 && speed < gain * s->world->scene.dt;
}

// Lists the pair of keys [from, to) if it was not in contact before, is not now, and will not be
// after the next step. Impacts come first among its keys.
static void list_brief(foliot__solver *s, uint32_t impacts, uint32_t from, uint32_t to)
{
    foliot_world *world = s->world;
    const foliot_hit_event *first = NULL;
    double impulse = 0;
    uint32_t points = 1;
    for (uint32_t k = from; k < to; k++) {
        uint32_t row = row_of(s->keys[k]);
        const foliot__brief *brief = row < impacts ? NULL : &s->brief[row - impacts];
        const foliot_hit_event *hit = brief ? &brief->hit : &foliot__impacts(world)[row];
        first = first ? first : hit;
        points = brief && brief->points > points ? brief->points : points;
        impulse += hit->impulse;
    }
    uint32_t a = foliot_body_id_get_slot(first->a), b = foliot_body_id_get_slot(first->b);
    if (foliot__contact_was_active(world, a, b) || lands(s, first))
        return;
    foliot__brief_contact *row = &foliot__brief_contacts(world)[world->reported.brief_count++];
    *row = (foliot__brief_contact){.a = a, .b = b, .points = points};
    row->impulse = impulse;
    vec3_store(vec3_of(first->point), row->point);
    vec3_store(vec3_of(first->normal), row->normal);
}

// Merges the hits whose rows are in keys [0, count) into those of impacts, by time; at one instant
// the impacts come first.
static void merge_hits(foliot__solver *s, uint32_t count)
{
    foliot_world *world = s->world;
    foliot_hit_event *hits = foliot__impacts(world);
    uint32_t impacts = world->reported.impact_count, room = world->capacity.impacts - impacts;
    foliot__sort_keys(s->keys, count);
    if (count > room) {
        world->counters.events_dropped += count - room;
        count = room;
    }
    world->reported.impact_count += count;
    for (uint32_t to = impacts + count; count > 0;) {
        const foliot_hit_event *hit = &s->brief[row_of(s->keys[count - 1])].hit;
        bool later = impacts == 0 || hits[impacts - 1].time <= hit->time;
        hits[--to] = later ? *hit : hits[impacts - 1];
        count -= later;
        impacts -= !later;
    }
}

void foliot__report_brief(foliot__solver *s)
{
    foliot_world *world = s->world;
    uint32_t impacts = world->reported.impact_count, count = impacts + s->counts->brief, hits = 0;
    const foliot_hit_event *impact = foliot__impacts(world);
    world->reported.brief_count = 0;
    if (count == 0)
        return;
    for (uint32_t i = 0; i < impacts; i++)
        s->keys[i] = pair_key(&impact[i], i);
    for (uint32_t i = 0; i < s->counts->brief; i++)
        s->keys[impacts + i] = pair_key(&s->brief[i].hit, impacts + i);
    foliot__sort_keys(s->keys, count);
    for (uint32_t from = 0, to; from < count; from = to) {
        uint64_t pair = s->keys[from] >> ROW_BITS;
        uint32_t row = row_of(s->keys[from]);
        for (to = from + 1; to < count && s->keys[to] >> ROW_BITS == pair;)
            to++;
        const foliot_hit_event *hit = row < impacts ? &impact[row] : &s->brief[row - impacts].hit;
        if (was_in_contact(world, hit))
            continue;
        list_brief(s, impacts, from, to);
        if (row >= impacts && s->brief[row - impacts].hits) // keys before `from` are done
            s->keys[hits++] =
                (uint64_t)s->brief[row - impacts].substep << ROW_BITS | (row - impacts);
    }
    merge_hits(s, hits);
}
