// SPDX-License-Identifier: MIT
// test_interest_told.c: a session with interest and commands, over the virtual network with a tenth
// lost. Goal: of bodies and joints that are far nothing travels, neither when they change nor to
// those who join late; a client that comes near is sent their present state. Method: bodies in a
// row; every record that the server sends is read, and players are set down where the test wants
// them.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "../../client/lib/shared/internal.h"
#undef FOLIOT__CHANGES_HELD // both sides hold changes
#include "../../server/lib/session.h"
#include "cluster.h"
#include "net/transport.h"
#include "status.h"
#include "slots.h"

#define BODIES 60
#define SPACING 10.0
#define FAR 30.0
#define PLAYERS 4
#define NETWORK "loss=10%,delay=30ms,jitter=0-20ms,seed=5"
#define HERE 0
#define THERE 480 // metres along the row

static const double spawns[1][3] = {{HERE, 5, 0}};

typedef struct row {
    cluster *a;
    foliot_scene scene;
    foliot_body_definition bodies[BODIES], prototypes[2];
    foliot_constraint_definition joint;
    // The server's records so far: a record is read against those before it.
    foliot__session_state read;
    uint64_t far_records, records, bytes;
    uint32_t reason; // of the last message of kinds
    double to;       // receivers may know only of the surroundings of this place
} row;

static bool may_name(const row *r, uint32_t slot)
{
    const foliot_world *world = foliot_server_get_world(r->a->server, "main");
    foliot_body_state body = slot_state(world, slot);
    double d = body.position[0] - r->to;
    return body.flags == 0 || (d > -FAR - 1 && d < FAR + 1); // its leaving may be reported
}

static void read_record(void *user, const foliot__record *record)
{
    row *r = user;
    bool fine = true;
    if (record->kind == FOLIOT__RECORD_JOINT)
        fine = may_name(r, record->joint->a) || may_name(r, record->joint->b);
    else if (record->kind == FOLIOT__RECORD_TAGS || record->kind == FOLIOT__RECORD_SPAWNED)
        fine = may_name(r, record->slot);
    r->records++;
    r->far_records += !fine;
}

static void watch_server(void *user, unsigned from, foliot_delivery delivery, const uint8_t *bytes,
                         size_t length)
{
    row *r = user;
    foliot__message m;
    if (from == CLUSTER_SERVER && length > 0 &&
        (bytes[0] == FOLIOT__PARTIAL_PACKET || delivery == FOLIOT_DELIVERY_RELIABLE))
        r->bytes += length + (bytes[0] == FOLIOT__PARTIAL_PACKET ? FOLIOT__TRANSPORT_OVERHEAD : 0);
    if (from != CLUSTER_SERVER || foliot__message_decode(bytes, length, &m) != FOLIOT_STATUS_OK)
        return;
    if (m.kind == FOLIOT__KIND)
        r->reason = m.as.kind.reason;
    if (m.kind != FOLIOT__UPDATE)
        return;
    demand(foliot__session_state_apply(&r->read, m.as.update.tick, m.as.update.bytes,
                                       m.as.update.length, read_record, r));
}

static void make_scene(row *r)
{
    r->scene = foliot_scene_default();
    r->scene.name = "row";
    r->scene.dt = 1.0 / 60;
    r->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    for (int i = 0; i < BODIES; i++) {
        r->bodies[i] = foliot_body_definition_default();
        r->bodies[i].position[0] = SPACING * i;
    }
    for (int i = 0; i < 2; i++)
        r->prototypes[i] = foliot_body_definition_default();
    r->prototypes[0].name = "ball";
    r->prototypes[1].name = "crate";
    r->joint = foliot_constraint_definition_default(FOLIOT_CONSTRAINT_DISTANCE);
    r->joint.a = 50;
    r->joint.b = 51;
    r->joint.length = SPACING;
    r->scene.bodies = r->bodies;
    r->scene.body_count = BODIES;
    r->scene.constraints = &r->joint;
    r->scene.constraint_count = 1;
    r->scene.commands_max = 64;
    r->scene.joints_max = 8;
    r->scene.bodies_max = BODIES + 20;
    r->scene.prototypes = r->prototypes;
    r->scene.prototype_count = 2;
    r->scene.players.limit = PLAYERS;
    r->scene.players.body = foliot_body_definition_default();
    r->scene.players.positions = spawns;
    r->scene.players.position_count = 1;
    r->scene.players.control = FOLIOT_CONTROL_THRUST;
    r->scene.players.force = 8;
}

static row *row_create(double spectator_delay_s)
{
    row *r = calloc(1, sizeof *r);
    FOLIOT_ASSERT(r);
    make_scene(r);
    cluster_options options = {.snapshots = true,
                               .samples = true,
                               .scene = &r->scene,
                               .interest = {5, FAR, 64},
                               .spectator_delay_s = spectator_delay_s,
                               .tap = watch_server,
                               .tap_user = r};
    r->a = cluster_create(&options);
    foliot__session_state_init(&r->read, r->a->server->sessions[0]->snapshots.format.bodies_max);
    return r;
}

static void row_destroy(row *r)
{
    assert_true(cluster_is_honest(r->a));
    cluster_destroy(r->a);
    foliot__session_state_free(&r->read);
    free(r);
}

static const foliot_world *world_of(const row *r)
{
    return foliot_server_get_world(r->a->server, "main");
}

static void give(row *r, const foliot_command *command)
{
    demand(foliot_server_command(r->a->server, "main", command, NULL));
}

static void tag_body(row *r, uint32_t slot, uint32_t tag)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.as.set_body.body = foliot_world_get_body_id(world_of(r), slot);
    c.as.set_body.tag = tag;
    c.fields |= FOLIOT_COMMAND_HAS(set_body, body) | FOLIOT_COMMAND_HAS(set_body, tag);
    give(r, &c);
}

static void spawn_body(row *r, uint32_t prototype, float x, uint32_t tag)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.as.spawn.prototype = prototype;
    c.as.spawn.position[0] = x;
    c.as.spawn.position[1] = -3;
    c.as.spawn.tag = tag;
    c.fields |= FOLIOT_COMMAND_HAS(spawn, prototype) | FOLIOT_COMMAND_HAS(spawn, position) |
                FOLIOT_COMMAND_HAS(spawn, tag);
    give(r, &c);
}

static void despawn_body(row *r, uint32_t slot)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
    c.as.despawn.body = foliot_world_get_body_id(world_of(r), slot);
    c.fields |= FOLIOT_COMMAND_HAS(despawn, body);
    give(r, &c);
}

static void join_bodies(row *r, uint32_t a, uint32_t b)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.as.joint.kind = FOLIOT_CONSTRAINT_DISTANCE;
    c.as.joint.a = foliot_world_get_body_id(world_of(r), a);
    c.as.joint.b = foliot_world_get_body_id(world_of(r), b);
    c.fields |= FOLIOT_COMMAND_HAS(joint, kind) | FOLIOT_COMMAND_HAS(joint, a) |
                FOLIOT_COMMAND_HAS(joint, b);
    give(r, &c);
}

static void break_joint(row *r, uint32_t index)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_break_joint);
    c.as.break_joint.joint = foliot_world_get_joint_id(world_of(r), index);
    c.fields |= FOLIOT_COMMAND_HAS(break_joint, joint);
    give(r, &c);
}

// Sets the player down at that place of the row.
static void go(row *r, unsigned client, float x)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_motion);
    uint32_t own = player_slot(world_of(r), foliot_client_get_player(r->a->clients[client]));
    c.as.set_motion.body = foliot_world_get_body_id(world_of(r), own);
    c.as.set_motion.position[0] = x;
    c.as.set_motion.position[1] = 5;
    c.as.set_motion.teleport = 1;
    c.fields |= FOLIOT_COMMAND_HAS(set_motion, body) | FOLIOT_COMMAND_HAS(set_motion, position) |
                FOLIOT_COMMAND_HAS(set_motion, teleport);
    give(r, &c);
    r->to = (double)x;
    cluster_run(r->a, 3);
}

static unsigned join_player(row *r)
{
    unsigned client = cluster_player(r->a, NETWORK);
    r->a->bots[client] = false;
    r->to = HERE;
    cluster_run(r->a, 2);
    return client;
}

// Events of one kind since the last call.
static unsigned count_events(foliot_client *c, foliot_client_event_kind kind)
{
    foliot_client_event e;
    unsigned count = 0;
    while (foliot_client_poll(c, &e))
        count += e.kind == kind;
    return count;
}

static uint32_t joint_between(const foliot_client *c, uint32_t a, uint32_t b)
{
    foliot_constraint_definition joint;
    for (uint32_t i = 0; i < foliot_client_get_joint_count(c); i++)
        if (foliot_client_get_joint(c, i, &joint) && joint.a == a && joint.b == b)
            return i;
    return UINT32_MAX;
}

// The slot is that of the first body that a command spawns.
static uint32_t spawned_slot(const row *r)
{
    for (uint32_t slot = BODIES; slot < foliot_world_get_body_count(world_of(r)); slot++)
        if (slot_body(world_of(r), slot).prototype != FOLIOT_NO_BODY)
            return slot;
    return FOLIOT_NO_BODY;
}

static void change_much_there(row *r)
{
    tag_body(r, 47, 7);
    tag_body(r, 1, 5); // this one is here
    spawn_body(r, 1, THERE, 9);
    join_bodies(r, 48, 49);
    break_joint(r, 0);
    despawn_body(r, 46);
    foliot_command var = foliot_command_default(FOLIOT_COMMAND_var);
    var.as.var.key = "score";
    var.as.var.integer = 3;
    var.fields |= FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    give(r, &var);
    cluster_run(r->a, 2);
}

static void check_knows_nothing_of_there(const foliot_client *c, uint32_t spawned)
{
    foliot_var var;
    assert_int_equal(foliot_client_get_tag(c, 1), 5);
    assert_true(foliot_client_get_var(c, "score", &var) && var.integer == 3);
    assert_int_equal(foliot_client_get_tag(c, 47), 0);
    assert_int_equal(foliot_client_get_tag(c, spawned), 0);
    assert_int_equal(foliot_client_get_prototype(c, spawned), FOLIOT_NO_BODY);
    assert_int_equal(joint_between(c, 48, 49), UINT32_MAX);
    assert_int_equal(joint_between(c, 50, 51), 0);
}

static void check_sees_it_right(foliot_client *c, const row *r, uint32_t spawned)
{
    foliot_sample sample;
    demand(foliot_client_sample(c, r->a->now_ns, &sample));
    assert_int_equal(foliot_client_get_tag(c, 47), 7);
    assert_int_equal(foliot_client_get_tag(c, spawned), 9);
    assert_int_equal(foliot_client_get_prototype(c, spawned), 1);
    assert_true(sample.bodies[spawned].flags != 0);
    check_near(sample.bodies[spawned].position[0], THERE, 0.01);
    assert_true(joint_between(c, 48, 49) != UINT32_MAX);
    assert_int_equal(joint_between(c, 50, 51), UINT32_MAX);
    assert_int_equal(sample.bodies[46].flags, 0);
}

TEST(what_is_far_is_told_when_it_is_near)
{
    row *r = row_create(0);
    foliot_client *c = r->a->clients[join_player(r)];
    change_much_there(r);
    uint32_t spawned = spawned_slot(r);
    assert_true(spawned != FOLIOT_NO_BODY);
    check_knows_nothing_of_there(c, spawned);
    foliot_client *late = r->a->clients[join_player(r)];
    check_knows_nothing_of_there(late, spawned);
    assert_int_equal(r->far_records, 0);
    check_gt(r->records, 2);
    count_events(c, FOLIOT_CLIENT_SPAWNED);
    go(r, 0, THERE);
    check_sees_it_right(c, r, spawned);
    assert_int_equal(count_events(c, FOLIOT_CLIENT_SPAWNED), 1);
    check_knows_nothing_of_there(late, spawned);
    go(r, 1, THERE);
    check_sees_it_right(late, r, spawned);
    row_destroy(r);
}

TEST(what_changes_while_one_is_away_is_told_later)
{
    row *r = row_create(0);
    foliot_client *c = r->a->clients[join_player(r)];
    change_much_there(r);
    uint32_t spawned = spawned_slot(r);
    go(r, 0, THERE);
    check_sees_it_right(c, r, spawned);
    go(r, 0, HERE);
    uint64_t records = r->records;
    despawn_body(r, spawned);
    cluster_run(r->a, 0.5);
    spawn_body(r, 0, THERE + 2, 11);
    tag_body(r, 47, 8);
    cluster_run(r->a, 1);
    assert_int_equal(spawned_slot(r), spawned); // the place is taken again
    assert_int_equal(r->records, records);
    count_events(c, FOLIOT_CLIENT_SPAWNED);
    go(r, 0, THERE);
    assert_int_equal(foliot_client_get_prototype(c, spawned), 0);
    assert_int_equal(foliot_client_get_tag(c, spawned), 11);
    assert_int_equal(foliot_client_get_tag(c, 47), 8);
    assert_int_equal(c->updates.served.generations[spawned], slot_generation(world_of(r), spawned));
    assert_int_equal(count_events(c, FOLIOT_CLIENT_SPAWNED), 1);
    go(r, 0, HERE); // nothing happens there meanwhile
    go(r, 0, THERE);
    assert_int_equal(count_events(c, FOLIOT_CLIENT_SPAWNED), 0);
    despawn_body(r, spawned); // before its eyes
    cluster_run(r->a, 1);
    assert_int_equal(foliot_client_get_prototype(c, spawned), FOLIOT_NO_BODY);
    assert_int_equal(count_events(c, FOLIOT_CLIENT_DESPAWNED), 1);
    assert_int_equal(r->far_records, 0);
    row_destroy(r);
}

TEST(a_joint_of_an_index_that_was_anothers_shows_no_joint_too_many)
{
    row *r = row_create(0);
    foliot_client *c = r->a->clients[join_player(r)];
    join_bodies(r, 48, 49);
    cluster_run(r->a, 0.5);
    go(r, 0, THERE);
    uint32_t index = joint_between(c, 48, 49);
    assert_true(index != UINT32_MAX);
    go(r, 0, HERE);
    break_joint(r, index);
    cluster_run(r->a, 0.5);
    assert_int_equal(joint_between(c, 48, 49), index); // it was not sent
    join_bodies(r, 25, 26);
    cluster_run(r->a, 0.5);
    go(r, 0, THERE);
    assert_int_equal(joint_between(c, 48, 49), UINT32_MAX);
    assert_int_equal(joint_between(c, 25, 26), UINT32_MAX);
    go(r, 0, 255);
    assert_int_equal(joint_between(c, 25, 26), index);
    break_joint(r, index); // before its eyes
    cluster_run(r->a, 1);
    assert_int_equal(joint_between(c, 25, 26), UINT32_MAX);
    assert_int_equal(r->far_records, 0);
    row_destroy(r);
}

TEST(spectators_who_are_behind_are_told_what_they_look_at)
{
    row *r = row_create(1);
    unsigned spectator = cluster_spectator(r->a, NETWORK);
    foliot_client *c = r->a->clients[spectator];
    foliot_client_set_focus(c, (double[3]){HERE, 0, 0});
    cluster_run(r->a, 3);
    change_much_there(r);
    uint32_t spawned = spawned_slot(r);
    check_knows_nothing_of_there(c, spawned);
    foliot_client_set_focus(c, (double[3]){THERE, 5, 0});
    r->to = THERE;
    cluster_run(r->a, 3);
    check_sees_it_right(c, r, spawned);
    tag_body(r, 48, 77);
    cluster_run(r->a, 0.5);
    assert_int_equal(foliot_client_get_tag(c, 48), 0); // it is behind
    cluster_run(r->a, 1.3);
    assert_int_equal(foliot_client_get_tag(c, 48), 77);
    assert_int_equal(r->far_records, 0);
    row_destroy(r);
}

// It looks elsewhere with each packet, and acknowledges what it was never sent.
TEST(who_looks_everywhere_stays_within_the_budget)
{
    row *r = row_create(0);
    foliot__rng rng = foliot__rng_seeded(9);
    unsigned player = join_player(r), foe = cluster_spectator(r->a, NETWORK);
    for (uint32_t slot = 0; slot < BODIES; slot++)
        tag_body(r, slot, slot + 1);
    cluster_run(r->a, 1);
    uint64_t before = r->bytes;
    for (int i = 0; i < 1200; i++) {
        uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES];
        foliot__partial_acknowledge packet = {.newest = (uint32_t)i + foliot__rng_below(&rng, 3),
                                              .before = foliot__rng_u64(&rng),
                                              .has_focus = true};
        packet.focus[0] = (int32_t)(foliot__rng_unit(&rng) * SPACING * BODIES /
                                    r->a->server->sessions[0]->snapshots.format.position_step);
        cluster_inject(r->a, foe, bytes, foliot__partial_acknowledge_encode(&packet, bytes));
        if (i % 7 == 0)
            tag_body(r, foliot__rng_below(&rng, BODIES), 1 + foliot__rng_below(&rng, 1000));
        cluster_run(r->a, 0.01);
    }
    double kbit = (double)(r->bytes - before) * 8e-3 / 12; // of two watchers
    print_message("%.1f kbit/s\n", kbit);
    check_le(kbit, 2 * 64 * 1.05);
    check_gt(kbit, 1);
    foliot_client *c = r->a->clients[player];
    cluster_run(r->a, 1);
    for (uint32_t slot = 0; slot < 3; slot++) // who is honest knows what is around it
        assert_int_equal(foliot_client_get_tag(c, slot), slot_body(world_of(r), slot).tag);
    assert_int_equal(foliot_client_get_tag(c, 40), 0);
    row_destroy(r);
}

TEST(nobody_steps_where_things_are_hidden)
{
    row *r = row_create(0);
    foliot_client *c = r->a->clients[cluster_kind(r->a, "delay=20ms", FOLIOT_PEER_STEPPER)];
    cluster_run(r->a, 2);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_WATCHER);
    demand(foliot_client_set_kind(c, FOLIOT_PEER_STEPPER));
    cluster_run(r->a, 1);
    assert_int_equal(r->reason, FOLIOT__KIND_IMPOSSIBLE);
    assert_int_equal(cluster_get_counters(r->a)->kind_changes_refused, 1);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_WATCHER);
    assert_null(r->a->server->sessions[0]->lockstep);
    row_destroy(r);
}
