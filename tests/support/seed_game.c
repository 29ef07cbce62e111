// SPDX-License-Identifier: MIT
// seed_game.c: the games of a run: rules, what their hosts say and do, and ends of sessions, whose
// players follow to the next scene. The clients' view of a game is compared with its world, and the
// effects of its rules with those on the recording.
#include "seed_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "game_rules.h"
#include "status.h"

#define HISTORY_TICKS 20                       // that the rules of games look back
#define HELD_NS (SEED_SECOND / 4)              // between two values of variables that are kept
#define KNOWN_NS (6 * (uint64_t)SEED_SECOND)   // by then a client knows of a variable
#define SETTLED_NS (3 * (uint64_t)SEED_SECOND) // and nothing of a reconnection is on its way
#define ASKED_NS ((uint64_t)SEED_SECOND)       // for a player to ask for the end

static const char *const var_names[] = {
#define NAME(name) #name,
    SEED_VARS(NAME)
#undef NAME
};
#define VARS (sizeof var_names / sizeof var_names[0])

static int64_t *value_of(seed_vars *vars, size_t index)
{
    int64_t *const values[] = {
#define VALUE(name) &vars->name,
        SEED_VARS(VALUE)
#undef VALUE
    };
    return values[index];
}

// -- the game

// A prototype that rules spawn comes with them.
void seed_game_make(seed_run *run, seed_host *h)
{
    char problem[200];
    foliot_scene with = h->scene;
    foliot_rules_destroy(h->rules);
    h->rules = NULL;
    if (!h->plan->game)
        return;
    h->prototype = foliot_body_definition_default();
    h->prototype.name = "ball";
    h->prototype.shape.kind = FOLIOT_SHAPE_SPHERE;
    h->prototype.shape.radius = 0.25;
    with.script.history_ticks = HISTORY_TICKS;
    with.commands_max = 64;
    with.bodies_max =
        (with.bodies_max ? with.bodies_max : with.body_count + with.players.limit) + 40;
    with.prototypes = &h->prototype;
    with.prototype_count = 1;
    if (foliot_scene_check(&with, NULL) != FOLIOT_STATUS_OK)
        return;
    h->scene = with;
    FOLIOT_ASSERT(foliot_rules_create(&game_rules_kind, &h->scene, &h->rules, problem,
                                      sizeof problem) == FOLIOT_STATUS_OK);
    h->rng = foliot__rng_seeded(run->plan->seed * 13 + (uint64_t)(h - run->hosts) + 100 * h->era);
    run->result.tally.games++;
}

// -- its host

static bool command(seed_run *run, uint32_t s, const foliot_command *c)
{
    char name[24];
    snprintf(name, sizeof name, "session-%u", s);
    foliot_status status = foliot_server_command(run->server, name, c, NULL);
    if (status != FOLIOT_STATUS_OK)
        seed_fail(run, "session %u takes no command of its host: %s", s,
                  foliot_status_get_text(status));
    return status == FOLIOT_STATUS_OK;
}

static void set_var(seed_run *run, uint32_t s, const char *key, int64_t value)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.key = key;
    c.as.var.integer = value;
    command(run, s, &c);
}

static void push_body(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    uint32_t count = foliot_world_get_body_count(h->world);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    c.as.impulse.body = foliot_world_get_body_id(h->world, foliot__rng_below(&h->rng, count));
    for (int k = 0; k < 3; k++)
        c.as.impulse.linear[k] = (float)foliot__rng_unit(&h->rng) - 0.5f;
    if (c.as.impulse.body.value)
        command(run, s, &c);
}

static void say(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    uint8_t bytes[5] = {'h'};
    char name[24];
    snprintf(name, sizeof name, "session-%u", s);
    h->said++;
    memcpy(bytes + 1, &h->said, sizeof h->said);
    demand(foliot_server_message(run->server, name, FOLIOT_TO_ALL, bytes, sizeof bytes, true));
}

static void act_as_host(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    foliot_var var;
    if (run->now_ns < h->command_ns)
        return;
    h->command_ns = run->now_ns + 30000000u + foliot__rng_below(&h->rng, 400000000u);
    if (!foliot_world_get_var(h->world, "born", &var))
        set_var(run, s, "born", 1); // once: a later client receives it all the same
    switch (foliot__rng_below(&h->rng, 3)) {
    case 0:
        set_var(run, s, "host", ++h->counted);
        break;
    case 1:
        push_body(run, s);
        break;
    default:
        say(run, s);
        break;
    }
}

static void end_if_due(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    const seed_end *end = &run->plan->ends[s][h->ends_done];
    if (h->ends_done == run->plan->end_count[s] || run->now_ns < end->at_ns || h->end_given)
        return;
    if (end->by_rules && run->now_ns < end->at_ns + ASKED_NS) {
        h->asks = end->follows ? 'e' : 'E';
        return;
    }
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_end);
    c.fields = FOLIOT_COMMAND_HAS(end, reason) | FOLIOT_COMMAND_HAS(end, next);
    c.as.end.reason = "the host has had enough";
    c.as.end.next = end->follows ? "next.yaml" : "";
    h->end_given = command(run, s, &c);
}

static void keep_vars(seed_run *run, seed_host *h)
{
    if (run->now_ns < h->vars_ns)
        return;
    h->vars_ns = run->now_ns + HELD_NS;
    seed_vars *vars = &h->vars[h->vars_count++ % SEED_VARS_HELD];
    vars->at_ns = run->now_ns;
    for (size_t i = 0; i < VARS; i++) {
        foliot_var var = {.integer = -1};
        foliot_world_get_var(h->world, var_names[i], &var);
        *value_of(vars, i) = var.integer;
    }
}

void seed_game_act(seed_run *run)
{
    for (uint32_t s = 0; s < run->plan->session_count && run->job_count == 0; s++) {
        seed_host *h = &run->hosts[s];
        if (!h->rules || h->over || run->dies_ns || run->plan->unchecked)
            continue;
        keep_vars(run, h);
        act_as_host(run, s);
        end_if_due(run, s);
    }
}

// -- its end

// Nobody has lost what goes with the session.
static void call_back(seed_run *run, uint32_t s, bool follows)
{
    for (uint32_t i = 0; i < run->plan->client_count; i++) {
        seed_caller *c = &run->callers[i];
        if (c->plan->session != s)
            continue;
        c->kept_player = FOLIOT_NO_PLAYER;
        if (!c->client)
            continue;
        bool plays = foliot_client_get_state(c->client) == FOLIOT_CLIENT_PLAYING;
        c->followed_ns = follows && plays && seed_plan_calm(run->plan, c->plan) ? run->now_ns : 0;
        c->unrest = true;
        seed_client_mark(c);
    }
}

// As a program does that hosts it: another world and recording under the same name.
static void follow(seed_run *run, uint32_t s)
{
    seed_host *h = &run->hosts[s];
    const seed_session *next = &run->plan->ends[s][h->ends_done++].next;
    seed_check_game(run, s);
    seed_server_end_recording(run, h);
    seed_check_recording(run, s);
    foliot_rules *former = h->rules; // the server has them until the new session is there
    foliot_scene *resumed = h->resumed;
    h->rules = NULL;
    h->resumed = NULL;
    h->era++;
    seed_server_begin_anew(run, h, next);
    seed_server_add(run, s);
    foliot_rules_destroy(former);
    foliot_scene_destroy(resumed);
    run->result.tally.follows++;
}

void seed_game_ended(seed_run *run, uint32_t s)
{
    const seed_plan *plan = run->plan;
    seed_host *h = &run->hosts[s];
    uint64_t dies_after_ns =
        run->generation < plan->crash_count ? plan->end_crash_ns[run->generation] : UINT64_MAX;
    const char *next = "";
    char name[24];
    snprintf(name, sizeof name, "session-%u", s);
    h->asks = 0;
    run->result.tally.ends++;
    if (!foliot_server_get_next(run->server, name, &next) || h->ends_done == plan->end_count[s]) {
        seed_fail(run, "session %u: ended, and nobody knows why", s);
        return;
    }
    const seed_end *end = &plan->ends[s][h->ends_done];
    if (end->follows != (*next != '\0'))
        seed_fail(run, "session %u: ended with the next scene '%s'", s, next);
    call_back(run, s, end->follows);
    if (dies_after_ns < UINT64_MAX && !run->dies_ns)
        run->dies_ns = run->now_ns + dies_after_ns;
    run->result.tally.dies_ending += run->dies_ns > 0;
    h->over = !end->follows || dies_after_ns == 0 || run->closing; // else there is another at once
    if (!h->over)
        follow(run, s);
}

// -- what clients know

// Messages of the host come once and in order, and while a connection lasts none is missing.
static void hear_message(seed_run *run, seed_caller *c, const foliot_client_event *event)
{
    uint32_t number;
    if (event->length != 5 || event->bytes[0] != 'h' || c->plan->kind == SEED_SICK)
        return;
    memcpy(&number, event->bytes + 1, sizeof number);
    run->result.tally.messages++;
    bool settled = c->playing && c->heard_ns > c->playing_ns + SETTLED_NS &&
                   foliot_client_get_statistics(c->client).events_dropped == 0;
    if (number <= c->heard || (settled && number != c->heard + 1))
        seed_fail(run, "client %u: the host's message %u came after message %u", c->index, number,
                  c->heard);
    c->heard = number;
    c->heard_ns = run->now_ns;
}

void seed_game_hear(seed_run *run, seed_caller *c)
{
    foliot_client_event event;
    while (foliot_client_poll(c->client, &event)) {
        seed_mix(run, (uint64_t)event.kind << 40 | event.length);
        if (event.kind == FOLIOT_CLIENT_MESSAGE)
            hear_message(run, c, &event);
    }
}

// The client has the world's variables of some seconds ago, or newer ones.
void seed_game_check_vars(seed_run *run, const seed_caller *c)
{
    seed_host *h = &run->hosts[c->plan->session];
    uint64_t late_ns = KNOWN_NS + (uint64_t)(h->plan->spectator_delay_s * 1e9);
    seed_vars *vars = NULL;
    if (!h->rules || h->over || run->now_ns < c->playing_ns + KNOWN_NS)
        return;
    for (uint32_t i = 0; i < h->vars_count && i < SEED_VARS_HELD; i++) {
        seed_vars *held = &h->vars[i];
        if (held->at_ns + late_ns <= run->now_ns && (!vars || held->at_ns > vars->at_ns))
            vars = held;
    }
    for (size_t i = 0; vars && i < VARS; i++) {
        foliot_var var = {.integer = -1};
        int64_t was = *value_of(vars, i);
        foliot_client_get_var(c->client, var_names[i], &var);
        run->result.tally.vars++;
        if (var.integer < was)
            seed_fail(run, "client %u: '%s' is %lld for it, and was %lld at %.4f s", c->index,
                      var_names[i], (long long)var.integer, (long long)was,
                      (double)vars->at_ns * 1e-9);
    }
}

// -- the rules on the recording

static bool same_command(const foliot_command *recorded, const foliot_command *given)
{
    uint8_t a[1024], b[1024];
    foliot_command command = *recorded;
    command.sequence = given->sequence;
    size_t length = foliot_command_encode(&command, a, sizeof a);
    return length == foliot_command_encode(given, b, sizeof b) && length <= sizeof a &&
           memcmp(a, b, length) == 0;
}

// A client that floods a session may leave no room for all commands of its rules.
static void compare_commands(seed_run *run, foliot_rules *rules, foliot_replay *replay)
{
    uint64_t tick = foliot_replay_get_tick(replay);
    const foliot_command_list *given = foliot_rules_get_commands(rules);
    const foliot_command *recorded;
    uint32_t count, index = 0;
    if (foliot_replay_get_commands(replay, tick, &recorded, &count) != FOLIOT_STATUS_OK)
        return; // behind the last tick
    bool same = true;
    for (uint32_t i = 0; i < count && same; i++)
        if (recorded[i].source == FOLIOT_COMMAND_SOURCE_RULES) {
            same = index < given->count && same_command(&recorded[i], &given->commands[index]);
            index++;
        }
    run->result.tally.rules_again += index;
    if (!same || (index < given->count && count < 64))
        seed_fail(run, "its rules gave command %u of tick %llu otherwise than on the recording",
                  index, (unsigned long long)tick);
}

foliot_rules *seed_game_begin_again(seed_run *run, const seed_host *h, foliot_replay *replay)
{
    foliot_rules *rules = NULL;
    char problem[200];
    if (!h->rules)
        return NULL;
    FOLIOT_ASSERT(foliot_rules_create(&game_rules_kind, foliot_replay_get_summary(replay)->scene,
                                      &rules, problem, sizeof problem) == FOLIOT_STATUS_OK);
    compare_commands(run, rules, replay);
    return rules;
}

void seed_game_tick_again(seed_run *run, const seed_host *h, foliot_rules *rules,
                          foliot_replay *replay)
{
    foliot_rules_view view = {.scene = foliot_replay_get_summary(replay)->scene,
                              .world = foliot_replay_get_world(replay),
                              .tick = foliot_replay_get_tick(replay),
                              .recorded = true};
    if (!rules)
        return;
    foliot_status status =
        foliot_replay_get_inputs(replay, view.tick - 1, &view.inputs, &view.input_count);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_replay_get_orders(replay, view.tick - 1, &view.orders, &view.order_count);
    if (status == FOLIOT_STATUS_OK && foliot_rules_tick(rules, &view) != FOLIOT_STATUS_OK)
        status = *foliot_rules_get_problem(h->rules) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_DIVERGED;
    if (status != FOLIOT_STATUS_OK)
        seed_fail(run, "the rules cannot run on tick %llu of their recording: %s %s",
                  (unsigned long long)view.tick - 1, foliot_status_get_text(status),
                  foliot_rules_get_problem(rules));
    else
        compare_commands(run, rules, replay);
}
