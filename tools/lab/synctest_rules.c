// SPDX-License-Identifier: MIT
// synctest_rules.c: whether all that the rules of a script know is in their saved state. Beside the
// rules that run, an instance is made and restored before every tick, which must give the same
// commands and messages and be saved as the same bytes: variables outside of `state` are lost in
// it.
#include "synctest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    const lab_context *context;
    const foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    lab_said said;
    uint32_t sequence;
    lab_rules_test *test;
} check;

// -- comparing

static bool same_command(const foliot_command *a, const foliot_command *b)
{
    size_t length = foliot_command_encode(a, NULL, 0);
    bool same = false;
    uint8_t *bytes = malloc(2 * length + 1);
    if (bytes && foliot_command_encode(b, NULL, 0) == length) {
        foliot_command_encode(a, bytes, length);
        foliot_command_encode(b, bytes + length, length);
        same = memcmp(bytes, bytes + length, length) == 0;
    }
    free(bytes);
    return same;
}

static void differ(check *c, const char *what)
{
    c->test->passed = false;
    c->test->first_bad_tick = foliot_world_get_tick(c->world);
    snprintf(c->test->text, sizeof c->test->text, "tick %" PRIu64 ": %s", c->test->first_bad_tick,
             what);
}

static void differ_in_command(check *c, uint32_t index, const foliot_command *a,
                              const foliot_command *b)
{
    char left[160] = "no more", right[160] = "no more", text[400];
    if (a)
        foliot_command_print_json(a, left, sizeof left);
    if (b)
        foliot_command_print_json(b, right, sizeof right);
    snprintf(text, sizeof text, "command %u: %s, and of restored rules %s", (unsigned)index + 1,
             left, right);
    differ(c, text);
}

static void compare_commands(check *c, foliot_rules *other)
{
    const foliot_command_list *a = foliot_rules_get_commands(c->rules);
    const foliot_command_list *b = foliot_rules_get_commands(other);
    for (uint32_t i = 0; c->test->passed && (i < a->count || i < b->count); i++) {
        const foliot_command *left = i < a->count ? &a->commands[i] : NULL;
        const foliot_command *right = i < b->count ? &b->commands[i] : NULL;
        if (!left || !right || !same_command(left, right))
            differ_in_command(c, i, left, right);
    }
}

static void compare_messages(check *c, foliot_rules *other)
{
    foliot_rules_message_out a, b;
    for (uint32_t i = 0; c->test->passed; i++) {
        bool more = foliot_rules_get_message(c->rules, i, &a);
        if (foliot_rules_get_message(other, i, &b) != more)
            differ(c, "the number of messages differs from that of restored rules");
        else if (!more)
            return;
        else if (a.player != b.player || a.reliable != b.reliable || a.length != b.length ||
                 memcmp(a.bytes, b.bytes, a.length) != 0)
            differ(c, "a message differs from that of restored rules");
    }
}

// The saved bytes, which the caller frees; NULL if there are none.
static uint8_t *save(foliot_rules *rules, size_t *length)
{
    uint8_t *bytes = NULL;
    if (foliot_rules_save(rules, NULL, 0, length) == FOLIOT_STATUS_OK)
        bytes = malloc(*length + 1);
    if (bytes && foliot_rules_save(rules, bytes, *length, length) == FOLIOT_STATUS_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static void compare_saved(check *c, foliot_rules *other)
{
    size_t a = 0, b = 0;
    uint8_t *left = save(c->rules, &a), *right = save(other, &b);
    if (c->test->passed && (!left || !right))
        differ(c, foliot_rules_get_problem(left ? other : c->rules));
    else if (c->test->passed && (a != b || memcmp(left, right, a) != 0))
        differ(c, "the saved state differs from that of restored rules");
    free(left);
    free(right);
}

// -- running

// A new instance with what the running one has saved. NULL with the test failed, or *code.
static foliot_rules *make_restored(check *c, int *code)
{
    size_t length;
    foliot_rules *other = NULL;
    uint8_t *bytes = save(c->rules, &length);
    if (!bytes) {
        differ(c, foliot_rules_get_problem(c->rules));
        return NULL;
    }
    *code = lab_rules_make(c->context, c->scene, &other);
    if (*code == 0 && foliot_rules_restore(other, bytes, length) != FOLIOT_STATUS_OK) {
        differ(c, "rules refuse their own saved state");
        foliot_rules_destroy(other);
        other = NULL;
    }
    free(bytes);
    return other;
}

// What the rules gave, behind the commands of a file. Kept for the harness.
static foliot_status close_tick(check *c, const foliot_tick_inputs *in, foliot_command_list *list)
{
    const foliot_command_list *given = foliot_rules_get_commands(c->rules);
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint32_t i = 0; i < in->command_count + given->count; i++) {
        foliot_command command =
            i < in->command_count ? in->commands[i] : given->commands[i - in->command_count];
        if (list->count == c->scene->commands_max)
            break; // no room: as a server
        command.sequence = ++c->sequence;
        status = foliot_command_list_append(list, &command);
        if (status != FOLIOT_STATUS_OK)
            break;
    }
    return status;
}

static foliot_status step(check *c, const foliot_tick_inputs *in, foliot_command_list *list)
{
    foliot_status status = close_tick(c, in, list);
    foliot_tick_inputs all = {in->inputs, in->input_count, list->commands, list->count};
    return status == FOLIOT_STATUS_OK ? foliot_world_step_tick(c->world, &all, NULL) : status;
}

static int run_tick(check *c, const foliot_tick_inputs *in, const foliot_order *orders,
                    uint32_t order_count, foliot_command_list *list)
{
    int code = 0;
    foliot_rules *other = c->test->passed ? make_restored(c, &code) : NULL;
    foliot_status status = code ? FOLIOT_STATUS_OK : step(c, in, list);
    if (status != FOLIOT_STATUS_OK)
        code = lab_fail(c->context, FOLIOT__EXIT_ERROR, "the step from tick %" PRIu64 ": %s",
                        foliot_world_get_tick(c->world), foliot_status_get_text(status));
    const foliot_rules_view view = {.scene = c->scene,
                                    .world = c->world,
                                    .tick = foliot_world_get_tick(c->world),
                                    .inputs = in->inputs,
                                    .input_count = in->input_count,
                                    .orders = orders,
                                    .order_count = order_count};
    if (code == 0) {
        status = foliot_rules_tick(c->rules, &view);
        if (status != FOLIOT_STATUS_OK && c->test->passed)
            differ(c, foliot_rules_get_problem(c->rules));
    }
    if (code == 0 && other && c->test->passed) {
        status = foliot_rules_tick(other, &view);
        compare_commands(c, other);
        compare_messages(c, other);
        compare_saved(c, other);
        c->test->checks++;
    }
    foliot_rules_destroy(other);
    return code;
}

int lab_rules_test_run(const lab_context *context, const foliot_scene *scene, lab_inputs *inputs,
                       lab_commands *commands, lab_orders *orders, uint64_t ticks,
                       lab_rules_test *test)
{
    check c = {.context = context, .scene = scene, .test = test};
    const char *problem = "";
    *test = (lab_rules_test){.passed = true, .lists = calloc(ticks + 1, sizeof *test->lists)};
    test->ticks = test->lists ? ticks : 0;
    int code = lab_rules_make(context, scene, &c.rules);
    if (code == 0 && (!test->lists || foliot_world_create(scene, &c.world) != FOLIOT_STATUS_OK))
        code = lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    for (uint64_t tick = 0; tick < ticks && code == 0; tick++) {
        foliot_tick_inputs in;
        const foliot_order *said;
        uint32_t said_count;
        if (lab_inputs_at(inputs, tick, &in.inputs, &in.input_count, &problem) &&
            lab_commands_at(commands, tick, &in, &problem) &&
            lab_orders_at(orders, tick, &said, &said_count, &problem))
            code = lab_say(&c.said, orders ? NULL : scene, tick + 1, &in, said, said_count)
                       ? run_tick(&c, &in, c.said.orders, c.said.count, &test->lists[tick])
                       : lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
        else
            code = lab_fail(context, FOLIOT__EXIT_CORRUPT, "%s", problem);
    }
    foliot_world_destroy(c.world);
    foliot_rules_destroy(c.rules);
    lab_said_free(&c.said);
    return code;
}

void lab_rules_test_end(lab_rules_test *test)
{
    for (uint64_t tick = 0; tick < test->ticks; tick++)
        foliot_command_list_destroy(&test->lists[tick]);
    free(test->lists);
    test->lists = NULL;
}
