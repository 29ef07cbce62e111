// SPDX-License-Identifier: MIT
// test_rules.c: the runner of common/rules/rules.c, around rules in C that count. Goal: what rules
// give is bounded, lasts for one tick, and comes back from saved bytes; hostile bytes change
// nothing. Method: rules that do in a tick what the test tells them to.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "foliot/foliot.h"
#include "foliot/rules.h"

#define COMMANDS_MAX 300

// Actions of the rules in their next tick.
typedef struct plan {
    uint32_t impulses, texts, messages, kicks;
    foliot_status fails;   // of `tick`
    foliot_status full;    // of the last command
    foliot_status message; // of the last message
    foliot_status create;  // of `create`
    bool save_fails;
    size_t save_bytes; // beyond the counter
} plan;

typedef struct counting_rules {
    plan *plan;
    uint64_t ticks;
} counting_rules;

static foliot_command impulse(uint32_t n)
{
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_impulse);
    command.fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
    command.as.impulse.body.value = (UINT64_C(1) << 32) | n;
    command.as.impulse.linear[2] = 1.5f;
    return command;
}

static foliot_command text_command(char text[FOLIOT_VAR_TEXT_BYTES])
{
    memset(text, 'x', FOLIOT_VAR_TEXT_BYTES - 1);
    text[FOLIOT_VAR_TEXT_BYTES - 1] = 0;
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_var);
    command.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
    command.as.var.key = "key";
    command.as.var.text = text;
    return command;
}

static foliot_status counting_create(void *user, const foliot_scene *scene, foliot_rules *rules,
                                     void **self, char *problem, size_t problem_bytes)
{
    plan *p = user;
    if (p->create != FOLIOT_STATUS_OK) {
        snprintf(problem, problem_bytes, "this scene has no arena: %s", scene->name);
        return p->create;
    }
    counting_rules *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->plan = p;
    foliot_command first = impulse(77);
    assert_int_equal(foliot_rules_command(rules, &first), FOLIOT_STATUS_OK);
    *self = made;
    return FOLIOT_STATUS_OK;
}

static void counting_destroy(void *self)
{
    free(self);
}

static foliot_status counting_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                                   char *problem, size_t problem_bytes)
{
    counting_rules *r = self;
    plan *p = r->plan;
    char text[FOLIOT_VAR_TEXT_BYTES];
    r->ticks += 1 + (foliot_rules_draw(rules) & 1);
    for (uint32_t i = 0; i < p->impulses; i++) {
        foliot_command command = impulse(i);
        p->full = foliot_rules_command(rules, &command);
    }
    for (uint32_t i = 0; i < p->texts; i++) {
        foliot_command command = text_command(text);
        p->full = foliot_rules_command(rules, &command);
    }
    for (uint32_t i = 0; i < p->messages; i++)
        p->message =
            foliot_rules_message(rules, i % 3 ? i % 3 : FOLIOT_TO_ALL, "hello", i % 6, i & 1);
    for (uint32_t i = 0; i < p->kicks; i++)
        foliot_rules_kick(rules, i / 2, i % 2 ? "again" : "too\nslow");
    if (p->fails != FOLIOT_STATUS_OK)
        snprintf(problem, problem_bytes, "the ball is lost at tick %u", (unsigned)view->tick);
    return p->fails;
}

static size_t counting_save(const void *self, void *bytes, size_t capacity, char *problem,
                            size_t problem_bytes)
{
    const counting_rules *r = self;
    size_t length = sizeof r->ticks + r->plan->save_bytes;
    if (r->plan->save_fails) {
        snprintf(problem, problem_bytes, "a pointer cannot be saved");
        return SIZE_MAX;
    }
    if (length <= capacity) {
        memset(bytes, 0, length);
        memcpy(bytes, &r->ticks, sizeof r->ticks);
    }
    return length;
}

static foliot_status counting_restore(void *self, const void *bytes, size_t length)
{
    counting_rules *r = self;
    if (length < sizeof r->ticks)
        return FOLIOT_STATUS_TRUNCATED;
    memcpy(&r->ticks, bytes, sizeof r->ticks);
    return FOLIOT_STATUS_OK;
}

typedef struct fixture {
    plan plan;
    foliot_scene scene;
    foliot_rules_kind kind;
    foliot_rules *rules;
} fixture;

static foliot_rules *make(fixture *f)
{
    foliot_rules *rules = NULL;
    char problem[128];
    assert_int_equal(foliot_rules_create(&f->kind, &f->scene, &rules, problem, sizeof problem),
                     FOLIOT_STATUS_OK);
    assert_string_equal(problem, "");
    return rules;
}

static void set_up(fixture *f)
{
    *f = (fixture){.scene = foliot_scene_default()};
    f->scene.name = "arena";
    f->scene.seed = 5;
    f->scene.commands_max = COMMANDS_MAX;
    f->kind = (foliot_rules_kind){
        "counting",       3,       counting_create, counting_destroy, counting_tick, counting_save,
        counting_restore, &f->plan};
    f->rules = make(f);
}

static void tear_down(fixture *f)
{
    foliot_rules_destroy(f->rules);
}

static foliot_status tick(foliot_rules *rules, const fixture *f, uint64_t at)
{
    foliot_rules_view view = {.scene = &f->scene, .tick = at};
    return foliot_rules_tick(rules, &view);
}

static uint8_t *save(foliot_rules *rules, size_t *length)
{
    assert_int_equal(foliot_rules_save(rules, NULL, 0, length), FOLIOT_STATUS_OK);
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    size_t again = 0;
    assert_int_equal(foliot_rules_save(rules, bytes, *length - 1, &again), FOLIOT_STATUS_FULL);
    assert_int_equal(foliot_rules_save(rules, bytes, *length, &again), FOLIOT_STATUS_OK);
    check_eq(again, *length);
    return bytes;
}

TEST(commands_of_create_wait_for_the_first_tick)
{
    fixture f;
    set_up(&f);
    const foliot_command_list *list = foliot_rules_get_commands(f.rules);
    check_eq(list->count, 1);
    check_eq(list->commands[0].source, FOLIOT_COMMAND_SOURCE_RULES);
    check_eq(list->commands[0].as.impulse.body.value & UINT32_MAX, 77);
    f.plan.impulses = 2;
    assert_int_equal(tick(f.rules, &f, 1), FOLIOT_STATUS_OK);
    check_eq(foliot_rules_get_commands(f.rules)->count, 2);
    f.plan.impulses = 0;
    assert_int_equal(tick(f.rules, &f, 2), FOLIOT_STATUS_OK);
    check_eq(foliot_rules_get_commands(f.rules)->count, 0);
    foliot_command late = impulse(1);
    assert_int_equal(foliot_rules_command(f.rules, &late), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_rules_message(f.rules, 0, "x", 1, true), FOLIOT_STATUS_INVALID);
    tear_down(&f);
}

TEST(a_tick_gives_no_more_than_its_bounds)
{
    fixture f;
    set_up(&f);
    f.plan.impulses = COMMANDS_MAX;
    assert_int_equal(tick(f.rules, &f, 1), FOLIOT_STATUS_OK);
    assert_int_equal(f.plan.full, FOLIOT_STATUS_OK);
    f.plan.impulses = COMMANDS_MAX + 1;
    assert_int_equal(tick(f.rules, &f, 2), FOLIOT_STATUS_OK);
    assert_int_equal(f.plan.full, FOLIOT_STATUS_FULL);
    check_eq(foliot_rules_get_commands(f.rules)->count, COMMANDS_MAX);

    f.plan = (plan){.texts = COMMANDS_MAX};
    assert_int_equal(tick(f.rules, &f, 3), FOLIOT_STATUS_OK);
    assert_int_equal(f.plan.full, FOLIOT_STATUS_FULL);
    const foliot_command_list *list = foliot_rules_get_commands(f.rules);
    check_le(list->encoded_bytes, FOLIOT_COMMAND_TICK_BYTES_MAX);
    check_gt(list->encoded_bytes, FOLIOT_COMMAND_TICK_BYTES_MAX - 300);

    f.plan = (plan){.messages = 64};
    assert_int_equal(tick(f.rules, &f, 4), FOLIOT_STATUS_OK);
    assert_int_equal(f.plan.message, FOLIOT_STATUS_OK);
    f.plan.messages = 65;
    assert_int_equal(tick(f.rules, &f, 5), FOLIOT_STATUS_OK);
    assert_int_equal(f.plan.message, FOLIOT_STATUS_FULL);
    tear_down(&f);
}

TEST(messages_and_kicks_are_those_of_the_tick)
{
    fixture f;
    set_up(&f);
    f.plan = (plan){.messages = 3, .kicks = 5};
    assert_int_equal(tick(f.rules, &f, 1), FOLIOT_STATUS_OK);
    foliot_rules_message_out m;
    assert_true(foliot_rules_get_message(f.rules, 0, &m));
    check_eq(m.player, FOLIOT_TO_ALL);
    check_eq(m.length, 0);
    assert_true(foliot_rules_get_message(f.rules, 2, &m));
    check_eq(m.player, 2);
    check_eq(m.length, 2);
    assert_false(m.reliable);
    assert_memory_equal(m.bytes, "he", 2);
    assert_false(foliot_rules_get_message(f.rules, 3, &m));
    uint32_t player = 9;
    const char *reason = NULL;
    assert_true(foliot_rules_get_kick(f.rules, 2, &player, &reason)); // each player once
    check_eq(player, 2);
    assert_string_equal(reason, "tooslow");
    assert_false(foliot_rules_get_kick(f.rules, 3, &player, &reason));
    f.plan = (plan){0};
    assert_int_equal(tick(f.rules, &f, 2), FOLIOT_STATUS_OK);
    assert_false(foliot_rules_get_message(f.rules, 0, &m));
    assert_false(foliot_rules_get_kick(f.rules, 0, &player, &reason));
    tear_down(&f);
}

TEST(a_failure_stops_the_rules_for_good)
{
    fixture f;
    set_up(&f);
    f.plan = (plan){.impulses = 4, .messages = 2, .fails = FOLIOT_STATUS_CORRUPT};
    assert_int_equal(tick(f.rules, &f, 12), FOLIOT_STATUS_CORRUPT);
    assert_string_equal(foliot_rules_get_problem(f.rules), "the ball is lost at tick 12");
    check_eq(foliot_rules_get_commands(f.rules)->count, 0);
    f.plan = (plan){.impulses = 4};
    assert_int_equal(tick(f.rules, &f, 13), FOLIOT_STATUS_OK);
    check_eq(foliot_rules_get_commands(f.rules)->count, 0);
    // Stopped rules are saved and restored as such.
    size_t length;
    uint8_t *bytes = save(f.rules, &length);
    foliot_rules *other = make(&f);
    assert_int_equal(foliot_rules_restore(other, bytes, length), FOLIOT_STATUS_OK);
    assert_string_equal(foliot_rules_get_problem(other), "the ball is lost at tick 12");
    check_eq(foliot_rules_get_commands(other)->count, 0);
    foliot_rules_destroy(other);
    free(bytes);
    tear_down(&f);
}

TEST(restored_rules_go_on_as_the_saved_ones)
{
    fixture f;
    set_up(&f);
    f.plan = (plan){.impulses = 3, .texts = 1};
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(tick(f.rules, &f, i), FOLIOT_STATUS_OK);
    size_t length, length_after;
    uint8_t *bytes = save(f.rules, &length);
    foliot_rules *other = make(&f);
    assert_int_equal(foliot_rules_restore(other, bytes, length), FOLIOT_STATUS_OK);
    const foliot_command_list *list = foliot_rules_get_commands(other);
    check_eq(list->count, 4);
    check_eq(list->commands[2].as.impulse.body.value & UINT32_MAX, 2);
    assert_string_equal(list->commands[3].as.var.key, "key");
    check_eq(strlen(list->commands[3].as.var.text), FOLIOT_VAR_TEXT_BYTES - 1);
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(tick(f.rules, &f, i), FOLIOT_STATUS_OK);
        assert_int_equal(tick(other, &f, i), FOLIOT_STATUS_OK);
    }
    uint8_t *a = save(f.rules, &length), *b = save(other, &length_after);
    check_eq(length, length_after);
    assert_memory_equal(a, b, length);
    free(a);
    free(b);
    free(bytes);
    foliot_rules_destroy(other);
    tear_down(&f);
}

TEST(hostile_bytes_change_nothing)
{
    fixture f;
    set_up(&f);
    f.plan = (plan){.impulses = 3, .texts = 1};
    assert_int_equal(tick(f.rules, &f, 1), FOLIOT_STATUS_OK);
    size_t length, after;
    uint8_t *bytes = save(f.rules, &length);
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);
        memcpy(exact, bytes, cut);
        assert_int_not_equal(foliot_rules_restore(f.rules, exact, cut), FOLIOT_STATUS_OK);
        free(exact);
    }
    uint8_t *longer = calloc(1, length + 1);
    memcpy(longer, bytes, length);
    assert_int_equal(foliot_rules_restore(f.rules, longer, length + 1), FOLIOT_STATUS_CORRUPT);
    free(longer);
    bytes[0] = 2; // another version of the bytes
    assert_int_equal(foliot_rules_restore(f.rules, bytes, length), FOLIOT_STATUS_CORRUPT);
    bytes[0] = 1;
    bytes[2] = 'C'; // other rules
    assert_int_equal(foliot_rules_restore(f.rules, bytes, length), FOLIOT_STATUS_CORRUPT);
    bytes[2] = 'c';
    f.scene.commands_max = 3; // more commands than the scene admits
    assert_int_equal(foliot_rules_restore(f.rules, bytes, length), FOLIOT_STATUS_CORRUPT);
    f.scene.commands_max = COMMANDS_MAX;
    uint8_t *now = save(f.rules, &after);
    check_eq(length, after);
    assert_memory_equal(bytes, now, length);
    // Every bit: refused, or rules that go on.
    f.plan = (plan){0};
    for (size_t bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (foliot_rules_restore(f.rules, bytes, length) == FOLIOT_STATUS_OK)
            assert_int_equal(tick(f.rules, &f, 2), FOLIOT_STATUS_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(now);
    free(bytes);
    tear_down(&f);
}

TEST(a_state_that_cannot_be_saved_stops_the_rules)
{
    fixture f;
    set_up(&f);
    size_t length;
    f.plan.save_bytes = FOLIOT_RULES_STATE_BYTES_MAX - sizeof(uint64_t);
    assert_int_equal(foliot_rules_save(f.rules, NULL, 0, &length), FOLIOT_STATUS_OK);
    assert_int_equal(tick(f.rules, &f, 1), FOLIOT_STATUS_OK);
    f.plan.save_bytes++;
    assert_int_equal(foliot_rules_save(f.rules, NULL, 0, &length), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(f.rules),
                        "the state of the rules takes 262145 bytes; at most 262144");
    foliot_rules_destroy(f.rules);
    f.rules = make(&f);
    f.plan.save_fails = true;
    assert_int_equal(foliot_rules_save(f.rules, NULL, 0, &length), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(f.rules), "a pointer cannot be saved");
    assert_int_equal(foliot_rules_save(f.rules, NULL, 0, &length), FOLIOT_STATUS_OK);
    tear_down(&f);
}

TEST(rules_may_refuse_a_scene)
{
    fixture f;
    set_up(&f);
    f.plan.create = FOLIOT_STATUS_REFUSED;
    foliot_rules *rules = NULL;
    char problem[64];
    assert_int_equal(foliot_rules_create(&f.kind, &f.scene, &rules, problem, sizeof problem),
                     FOLIOT_STATUS_REFUSED);
    assert_string_equal(problem, "this scene has no arena: arena");
    assert_null(rules);
    assert_string_equal(foliot_rules_get_name(f.rules), "counting");
    check_eq(foliot_rules_get_version(f.rules), 3);
    size_t length;
    assert_null(foliot_rules_get_script(f.rules, &length));
    f.kind.name = "";
    assert_int_equal(foliot_rules_create(&f.kind, &f.scene, &rules, problem, sizeof problem),
                     FOLIOT_STATUS_INVALID);
    f.kind.name = "counting";
    tear_down(&f);
}
