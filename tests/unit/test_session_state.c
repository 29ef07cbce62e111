// SPDX-License-Identifier: MIT
// test_session_state.c: common/wire/session_state.c and tick_log.c. Goal: two tables that read
// the same records are the same, and hostile records give a status. Method: records written and
// read, cut at every byte and with bytes changed; random ticks with commands against a plain list.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/rng.h"
#include "wire/session_state.h"
#include "wire/tick_log.h"

#define SLOTS 3000
#define JOINTS 2000

static foliot__rng rng;
static foliot__update_writer writer;

static void keep_part(void *user, const uint8_t *bytes, size_t length)
{
    foliot__pack_raw(user, bytes, length);
    check_below(length, FOLIOT__UPDATE_BYTES_MAX + 1);
}

static void write_anything(foliot__update_writer *w)
{
    for (int i = 0; i < 300; i++) {
        foliot_var var = {.type = (foliot_var_type)(1 + foliot__rng_below(&rng, 3))};
        snprintf(var.key, sizeof var.key, "key.%u", foliot__rng_below(&rng, 200));
        var.integer = var.type == FOLIOT_VAR_INTEGER ? -7 - i : 0;
        var.number = var.type == FOLIOT_VAR_NUMBER ? 0.25 * i : 0;
        if (var.type == FOLIOT_VAR_TEXT)
            memset(var.text, 'a' + i % 26, foliot__rng_below(&rng, 255));
        if (foliot__rng_below(&rng, 5) == 0)
            foliot__update_var_removed(w, var.key);
        else
            foliot__update_var(w, &var);
        uint32_t slot = foliot__rng_below(&rng, SLOTS);
        foliot__update_tag(w, slot,
                           foliot__rng_below(&rng, 3) ? 0 : foliot__rng_below(&rng, 1u << 31));
        if (foliot__rng_below(&rng, 2))
            foliot__update_spawned(w, slot, foliot__rng_below(&rng, 9), foliot__rng_below(&rng, 9));
        else
            foliot__update_despawned(w, slot);
        if (foliot__rng_below(&rng, 3) == 0)
            foliot__update_joint_broken(w, foliot__rng_below(&rng, JOINTS));
        else
            foliot__update_joint_made(
                w, foliot__rng_below(&rng, JOINTS),
                &(foliot__known_joint){.kind = FOLIOT_CONSTRAINT_HINGE,
                                       .a = slot,
                                       .b = i % 3 ? SLOTS - 1 : FOLIOT_NO_BODY,
                                       .anchor_a = {(float)i, 0.5f, -1},
                                       .anchor_b = {1, 2, (float)-i}});
    }
    foliot__update_gravity(w, (const double[3]){1, 2, -3});
    foliot__update_end(w, "because", "next.yaml");
    foliot__update_finish(w, false);
}

static void take(foliot__session_state *state, const foliot__buffer *records)
{
    assert_int_equal(
        foliot__session_state_apply(state, 5, records->bytes, records->length, NULL, NULL),
        FOLIOT_STATUS_OK);
}

static void same(const foliot__session_state *a, const foliot__session_state *b)
{
    assert_int_equal(a->var_count, b->var_count);
    for (uint32_t i = 0; i < a->var_count; i++) {
        assert_string_equal(a->vars[i].key, b->vars[i].key);
        assert_string_equal(a->vars[i].text, b->vars[i].text);
        assert_int_equal(a->vars[i].type, b->vars[i].type);
        assert_int_equal(a->vars[i].integer, b->vars[i].integer);
        assert_true(i == 0 || strcmp(a->vars[i - 1].key, a->vars[i].key) < 0);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_int_equal(foliot__session_state_tag(a, slot), foliot__session_state_tag(b, slot));
        assert_int_equal(foliot__session_state_prototype(a, slot),
                         foliot__session_state_prototype(b, slot));
    }
    for (uint32_t i = 0; i < JOINTS; i++) {
        const foliot__known_joint *p = foliot__session_state_joint(a, i),
                                  *q = foliot__session_state_joint(b, i);
        assert_int_equal(p != NULL, q != NULL);
        if (p)
            assert_memory_equal(p, q, sizeof *p);
    }
    assert_int_equal(a->gravity_known, b->gravity_known);
    assert_memory_equal(a->gravity, b->gravity, sizeof a->gravity);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->next, b->next);
}

TEST(a_newcomer_knows_what_everybody_knows)
{
    foliot__session_state old, newcomer;
    foliot__buffer records = {0}, full = {0};
    foliot__session_state_init(&old, SLOTS);
    foliot__session_state_init(&newcomer, SLOTS);
    foliot__update_begin(&writer, SLOTS, keep_part, &records);
    write_anything(&writer);
    take(&old, &records);
    check_gt(old.var_count, 100);
    foliot__update_begin(&writer, SLOTS, keep_part, &full);
    foliot__update_state(&writer, &old);
    foliot__update_finish(&writer, false);
    take(&newcomer, &full);
    same(&old, &newcomer);
    foliot__session_state_clear(&newcomer);
    assert_int_equal(newcomer.var_count, 0);
    take(&newcomer, &full);
    same(&old, &newcomer);
    foliot__session_state_free(&old);
    foliot__session_state_free(&newcomer);
    foliot__buffer_free(&records);
    foliot__buffer_free(&full);
}

TEST(hostile_records_give_a_status)
{
    foliot__buffer records = {0};
    foliot__session_state s;
    foliot__session_state_init(&s, SLOTS);
    foliot__update_begin(&writer, SLOTS, keep_part, &records);
    write_anything(&writer);
    unsigned refused = 0;
    for (int round = 0; round < 3000; round++) {
        size_t length = 1 + foliot__rng_below(&rng, 400);
        uint8_t *copy = malloc(length); // sanitizers see a byte too far
        memcpy(copy, records.bytes + (round % 2 ? 0 : foliot__rng_below(&rng, 5000)), length);
        copy[foliot__rng_below(&rng, (uint32_t)length)] = (uint8_t)foliot__rng_below(&rng, 256);
        refused += foliot__session_state_apply(&s, 1, copy, length, NULL, NULL) != FOLIOT_STATUS_OK;
        free(copy);
        check_below(s.var_count, FOLIOT_VARS_MAX + 1);
        check_below(s.slot_count, SLOTS + 1);
    }
    check_gt(refused, 1000);
    static const struct {
        const char *what;
        uint8_t bytes[12];
        size_t length;
    } wrong[] = {{"a kind", {99}, 1},
                 {"no key", {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 11},
                 {"a zero in a key", {1, 1, 0, 0}, 4},
                 {"no UTF-8", {1, 1, 0xff, 0}, 4},
                 {"a type", {1, 1, 'k', 9}, 4},
                 {"not finite", {1, 1, 'k', 2, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 12},
                 {"a slot beyond", {3, 0xff, 0x7f, 0, 0}, 5},
                 {"a long varint", {3, 0x80, 0, 0, 0}, 5},
                 {"tags as they were once", {2, 1, 0, 0, 1}, 5},
                 {"a joint beyond all", {6, 0xff, 0xff, 0xff, 0x02}, 5},
                 {"a joint cut off", {5, 1, 2, 0, 0}, 5},
                 {"a cut run of tags", {0x98, 0}, 2},
                 {"no tags", {0x80, 0, 0}, 3},
                 {"a slot of tags beyond", {0xff, 0xf0}, 2},
                 {"bits behind the tags", {0xc0, 2, 1}, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (foliot__session_state_apply(&s, 1, wrong[i].bytes, wrong[i].length, NULL, NULL) ==
            FOLIOT_STATUS_OK)
            fail_msg("%s is taken", wrong[i].what);
    foliot__session_state_free(&s);
    foliot__buffer_free(&records);
}

// Changes of random slots below `slots`, of one kind of tags each.
static uint32_t draw_changes(foliot__tag_change changes[FOLIOT__TAGS_MAX], uint32_t slots)
{
    static const uint32_t most[] = {1, 5, 14, 200, 70000, UINT32_MAX};
    uint32_t count = 0, range = most[foliot__rng_below(&rng, 6)],
             gap = 1 + foliot__rng_below(&rng, slots < 400 ? 3 : slots / 100);
    for (uint32_t slot = foliot__rng_below(&rng, slots); slot < slots && count < FOLIOT__TAGS_MAX;
         slot += 1 + foliot__rng_below(&rng, gap)) {
        changes[count++] = (foliot__tag_change){slot, foliot__rng_below(&rng, range)};
        if (foliot__rng_below(&rng, 40) == 0)
            break;
    }
    return count;
}

TEST(tags_come_back_from_any_number_of_slots)
{
    static foliot__tag_change in[FOLIOT__TAGS_MAX], out[FOLIOT__TAGS_MAX];
    static uint8_t bytes[FOLIOT__TAGS_BYTES_MAX(FOLIOT__TAGS_MAX)];
    static const uint32_t sizes[] = {1, 2, 3, 17, 917, 1024, 1025, 65536, FOLIOT_BODIES_MAX};
    for (int round = 0; round < 20000; round++) {
        uint32_t slots = sizes[round % 9], count = draw_changes(in, slots);
        foliot__writer w = foliot__writer_of(bytes, FOLIOT__TAGS_BYTES_MAX(count));
        foliot__tags_encode(&w, in, count, slots);
        assert_int_equal(w.status, FOLIOT_STATUS_OK);
        foliot__reader r = foliot__reader_of(bytes, w.at);
        uint8_t first = foliot__read_u8(&r);
        assert_true(first & FOLIOT__TAG_RECORD);
        assert_int_equal(foliot__tags_decode(&r, first, slots, out), count);
        assert_int_equal(r.at, w.at);
        assert_memory_equal(in, out, count * sizeof *in);
    }
}

// Every byte of a record counts: what is read is what would be written.
TEST(a_record_of_tags_has_one_encoding)
{
    static foliot__tag_change changes[FOLIOT__TAGS_MAX];
    static uint8_t again[FOLIOT__TAGS_BYTES_MAX(FOLIOT__TAGS_MAX)];
    unsigned taken = 0;
    for (int round = 0; round < 200000; round++) {
        uint8_t bytes[12];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)foliot__rng_below(&rng, 256);
        foliot__reader r = foliot__reader_of(bytes, sizeof bytes);
        uint8_t first = foliot__read_u8(&r) | FOLIOT__TAG_RECORD;
        uint32_t count = foliot__tags_decode(&r, first, 917, changes);
        if (count == 0)
            continue;
        foliot__writer w = foliot__writer_of(again, sizeof again);
        foliot__tags_encode(&w, changes, count, 917);
        assert_int_equal(w.at, r.at);
        assert_int_equal(again[0], first);
        assert_memory_equal(again + 1, bytes + 1, w.at - 1);
        taken++;
    }
    check_gt(taken, 1000);
}

// A hostile server names joints far apart, and bodies: what is held is bounded.
TEST(many_joints_take_bounded_memory)
{
    foliot__session_state s;
    foliot__buffer records = {0};
    foliot__session_state_init(&s, SLOTS);
    foliot__update_begin(&writer, SLOTS, keep_part, &records);
    for (uint32_t i = 0; i < FOLIOT_CONSTRAINTS_MAX; i += FOLIOT__JOINTS_A_PAGE)
        foliot__update_joint_broken(&writer, i);
    foliot__update_finish(&writer, false);
    assert_int_equal(foliot__session_state_apply(&s, 1, records.bytes, records.length, NULL, NULL),
                     FOLIOT_STATUS_MEMORY);
    assert_int_equal(s.joint_page_count, FOLIOT__JOINT_PAGES_MAX);
    assert_non_null(foliot__session_state_joint(&s, FOLIOT__JOINTS_A_PAGE));
    foliot__session_state_clear(&s);
    assert_null(foliot__session_state_joint(&s, FOLIOT__JOINTS_A_PAGE));
    assert_int_equal(s.joint_page_count, 0);
    foliot__session_state_free(&s);
    foliot__buffer_free(&records);
}

static foliot_command_list some_commands(void)
{
    foliot_command_list list = {0};
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    c.as.var.key = "k";
    for (uint32_t i = 0; i < 3; i++) {
        c.sequence = 40 + i;
        c.source = i;
        c.as.var.integer = i;
        assert_int_equal(foliot_command_list_append(&list, &c), FOLIOT_STATUS_OK);
    }
    return list;
}

TEST(commands_come_in_parts)
{
    foliot_command_list list = some_commands(), got = {0};
    foliot__command_log server, client;
    foliot__command_log_init(&server, 64, SIZE_MAX);
    foliot__command_log_init(&client, 64, 1000);
    assert_int_equal(foliot__command_log_put(&server, 7, &list), FOLIOT_STATUS_OK);
    const foliot__tick_commands *c = foliot__command_log_find(&server, 7), *here = NULL;
    for (uint32_t at = 0; at < c->total; at++) {
        foliot__commands_part part = {7, at, c->total, c->bytes + at, 1};
        assert_true(foliot__command_log_receive(&client, &part));
        assert_false(foliot__command_log_receive(&client, &part)); // again
        here = foliot__command_log_find(&client, 7);
        assert_int_equal(foliot__tick_commands_whole(here), at + 1 == c->total);
    }
    assert_int_equal(foliot__tick_commands_read(here, &got), FOLIOT_STATUS_OK);
    assert_int_equal(got.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(got.commands[i].sequence, 40 + i);
        assert_int_equal(got.commands[i].source, i);
        assert_int_equal(got.commands[i].as.var.integer, i);
    }
    foliot__commands_part large = {8, 0, 990, c->bytes, 1}, other = {7, 0, 3, c->bytes, 1},
                          none = {9, 0, 0, c->bytes, 0}, beyond = {9, 3, 3, c->bytes, 1};
    assert_false(foliot__command_log_receive(&client, &large)); // more than may be held
    assert_false(foliot__command_log_receive(&client, &other));
    assert_false(foliot__command_log_receive(&client, &none));
    assert_false(foliot__command_log_receive(&client, &beyond));
    foliot_command_list_destroy(&list);
    foliot_command_list_destroy(&got);
    foliot__command_log_free(&server);
    foliot__command_log_free(&client);
}

TEST(runs_say_which_ticks_have_commands)
{
    foliot_command_list list = some_commands();
    for (int round = 0; round < 200; round++) {
        foliot__command_log server, client;
        uint8_t runs[FOLIOT__COMMAND_RUNS_BYTES];
        foliot__command_log_init(&server, 1024, SIZE_MAX);
        foliot__command_log_init(&client, 1024, SIZE_MAX);
        uint32_t chance = foliot__rng_below(&rng, 20);
        for (uint64_t tick = 100; tick < 800; tick++)
            if (foliot__rng_below(&rng, 20) < chance)
                assert_int_equal(foliot__command_log_put(&server, tick, &list), FOLIOT_STATUS_OK);
        bool newest = round % 2;
        uint64_t from = 100 + foliot__rng_below(&rng, 300),
                 end = from + foliot__rng_below(&rng, 400), first = from, last = end;
        size_t length = foliot__command_runs(&server, &first, &last, newest, runs);
        check_below(length, sizeof runs + 1);
        assert_int_equal(newest ? last : first, newest ? end : from);
        check_gt(last + 1, first + (end > from)); // some of it fits
        assert_true(foliot__command_runs_read(&client, first, last, runs, length));
        for (uint64_t tick = first; tick < last; tick++)
            assert_int_equal(foliot__command_log_find(&client, tick) != NULL,
                             foliot__command_log_find(&server, tick) != NULL);
        foliot__command_log_free(&server);
        foliot__command_log_free(&client);
    }
    foliot_command_list_destroy(&list);
}

int main(void)
{
    rng = foliot__rng_seeded(check_seed(1));
    return check_run(NULL, NULL);
}
