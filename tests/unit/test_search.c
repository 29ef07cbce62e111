// SPDX-License-Identifier: MIT
// Goal: the search for a divergence names tick, stage, part and field of any fault in at most 2 kB,
// whatever the size of the states, and believes nothing. Method: two copies of the chain
// (tests/support/chain.h) or of a synthetic simulation of up to 200,000 parts, one of them changed;
// every byte goes through requests and responses. SEED= repeats a run.
#include "../support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/chain.h"
#include "base/rng.h"
#include "divergence/state_layers.h"
#include "status.h"

// -- a simulation of any size

typedef struct grid {
    uint32_t parts, other_part; // UINT32_MAX: none
    uint32_t fields, other_field;
    uint64_t other_bits;
} grid;

static uint32_t grid_parts(const void *self)
{
    return ((const grid *)self)->parts;
}

static void grid_part(const void *self, uint32_t number, foliot_simulation_part *about)
{
    *about = (foliot_simulation_part){"cell", number, ((const grid *)self)->fields};
}

static void grid_fields(const void *self, uint32_t number, foliot_simulation_field *values)
{
    const grid *g = self;
    for (uint32_t f = 0; f < g->fields; f++) {
        bool other = number == g->other_part && f == g->other_field;
        values[f] = (foliot_simulation_field){NULL, FOLIOT_VALUE_U64, false,
                                              other ? g->other_bits : number * 7919u + f};
    }
}

static const foliot_simulation_kind grid_kind = {
    .name = "tests.grid", .part_count = grid_parts, .part = grid_part, .fields = grid_fields};

static foliot_step_trace *held(const grid *g, uint64_t tick)
{
    foliot_step_trace *trace;
    const foliot_simulation simulation = {.kind = &grid_kind, .self = (void *)g};
    assert_int_equal(foliot_step_trace_create(&trace), FOLIOT_STATUS_OK);
    foliot_step_trace_reset(trace, tick);
    assert_int_equal(foliot_step_trace_get_tick(trace), tick);
    assert_int_equal(foliot_step_trace_capture_held(trace, &simulation), FOLIOT_STATUS_OK);
    return trace;
}

// Names of fields are kept once for all parts with the same ones: the bits are what is large.
TEST(parts_share_the_names_of_their_fields)
{
    const grid large = {.parts = 5000, .other_part = UINT32_MAX, .fields = 20};
    foliot_step_trace *trace = held(&large, 1);
    const foliot__trace_layer *layer = &trace->layer[FOLIOT__LAYERS_MAX - 1];
    check_eq(layer->field_count, 5000 * 20);
    check_eq(trace->name_count, 20);
    check_le(layer->field_capacity * sizeof *layer->bits, 5000 * 20 * 10);
    foliot_step_trace_destroy(trace);
}

// Asks until it is over. `spoil` changes answers; NULL: none.
static void carry(foliot_search *search, const foliot_step_trace *ours,
                  const foliot_search_responder *theirs,
                  void (*spoil)(uint8_t *answer, size_t *length, void *user), void *user)
{
    uint8_t question[FOLIOT_SEARCH_REQUEST_BYTES_MAX], answer[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
    for (int i = 0; i < 1000; i++) {
        size_t length = 0;
        uint64_t tick;
        if (search->state == FOLIOT_SEARCH_NEEDS_TRACE) {
            foliot_search_set_trace(search, ours);
            continue;
        }
        size_t count = foliot_search_get_request(search, question);
        if (count == 0)
            return;
        assert_int_equal(foliot_search_respond(theirs, question, count, answer, &length, &tick),
                         FOLIOT_STATUS_OK);
        check_le(length, sizeof answer);
        if (spoil)
            spoil(answer, &length, user);
        if (foliot_search_handle_response(search, answer, length) != FOLIOT_STATUS_OK)
            return;
    }
    fail_msg("%s", "the search does not end");
}

static foliot_search search_grids(const grid *a, const grid *b)
{
    foliot_step_trace *ours = held(a, 5), *theirs = held(b, 5);
    const foliot_search_responder responder = {.trace = theirs};
    foliot_search search;
    foliot_search_begin(&search, 5);
    carry(&search, ours, &responder, NULL, NULL);
    check_le(search.exchanged, FOLIOT_SEARCH_BYTES_MAX);
    foliot_step_trace_destroy(ours);
    foliot_step_trace_destroy(theirs);
    return search;
}

TEST(any_part_and_field_is_found)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261121));
    static const uint32_t sizes[][2] = {{1, 1},    {2, 3},     {16, 16},  {17, 17},
                                        {256, 39}, {257, 300}, {4097, 2}, {200000, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int k = 0; k < 4; k++) {
            grid a = {.parts = sizes[i][0], .fields = sizes[i][1], .other_part = UINT32_MAX}, b = a;
            b.other_part = k == 0 ? 0 : k == 1 ? a.parts - 1 : foliot__rng_below(&rng, a.parts);
            b.other_field = k == 0 ? a.fields - 1 : foliot__rng_below(&rng, a.fields);
            b.other_bits = b.other_part * 7919u + b.other_field + 3;
            foliot_search search = search_grids(&a, &b);
            assert_int_equal(search.state, FOLIOT_SEARCH_FOUND);
            assert_true(search.found.field_known);
            assert_false(search.found.stage_known);
            assert_string_equal(search.found.group, "cell");
            assert_int_equal(search.found.index, b.other_part);
            assert_int_equal(search.found.field, b.other_field);
            assert_int_equal(search.found.actual, b.other_bits);
            assert_int_equal(search.found.ulps, 3);
            assert_int_equal(search.found.body, FOLIOT_NO_BODY);
            if (k == 0)
                print_message("%u parts of %u fields: %u bytes\n", a.parts, a.fields,
                              search.exchanged);
        }
}

TEST(sides_of_other_sizes_are_told_apart)
{
    static const uint32_t sizes[][2] = {{3, 4},     {4, 3},     {16, 17}, {17, 16},
                                        {10, 5000}, {5000, 10}, {0, 1},   {1, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        grid a = {.parts = sizes[i][0], .fields = 2, .other_part = UINT32_MAX}, b = a;
        b.parts = sizes[i][1];
        foliot_search search = search_grids(&a, &b);
        assert_int_equal(search.state, FOLIOT_SEARCH_FOUND);
        assert_true(search.found.part_known);
        assert_int_equal(search.found.part, a.parts < b.parts ? a.parts : b.parts);
    }
    grid a = {.parts = 5, .fields = 20, .other_part = UINT32_MAX}, b = a;
    b.fields = 21;
    foliot_search search = search_grids(&a, &b);
    assert_int_equal(search.found.part, 0);
    assert_true(search.found.field_known);
    assert_int_equal(search.found.field, 20);
}

TEST(equal_sides_are_equal)
{
    grid a = {.parts = 40, .fields = 5, .other_part = UINT32_MAX};
    foliot_search search = search_grids(&a, &a);
    assert_int_equal(search.state,
                     FOLIOT_SEARCH_FOUND); // the caller named that tick as different
    assert_false(search.found.part_known);
    uint64_t chain[100];
    for (int i = 0; i < 100; i++)
        chain[i] = foliot_digest_chain(i ? chain[i - 1] : 0, (foliot_digest){(uint64_t)i, 1});
    const foliot_search_responder responder = {.chain = chain, .first = 50, .last = 149};
    foliot_search_begin_chain(&search, 50, 149, chain);
    carry(&search, NULL, &responder, NULL, NULL);
    assert_int_equal(search.state, FOLIOT_SEARCH_EQUAL);
    assert_int_equal(search.request_count, 1);
}

TEST(the_first_tick_is_found_by_halves)
{
    enum { TICKS = 5000 };
    static uint64_t ours[TICKS], theirs[TICKS];
    grid a = {.parts = 3, .fields = 2, .other_part = UINT32_MAX}, b = a;
    b.other_part = 1;
    for (uint64_t bad = 0; bad < TICKS; bad += 371) {
        for (uint64_t i = 0; i < TICKS; i++) {
            ours[i] = foliot_digest_chain(i ? ours[i - 1] : 0, (foliot_digest){i, 1});
            theirs[i] =
                foliot_digest_chain(i ? theirs[i - 1] : 0, (foliot_digest){i, i == bad ? 2 : 1});
        }
        foliot_step_trace *one = held(&a, bad + 7), *other = held(&b, bad + 7);
        const foliot_search_responder responder = {theirs, 7, 7 + TICKS - 1, other};
        foliot_search search;
        foliot_search_begin_chain(&search, 7, 7 + TICKS - 1, ours);
        carry(&search, one, &responder, NULL, NULL);
        assert_int_equal(search.state, FOLIOT_SEARCH_FOUND);
        assert_int_equal(search.found.tick, bad + 7);
        assert_int_equal(search.found.part, 1);
        check_le(search.exchanged, 700);
        foliot_step_trace_destroy(one);
        foliot_step_trace_destroy(other);
    }
}

TEST(a_stage_is_named)
{
    const foliot_simulation_kind *kind = chain_kind(CHAIN_NO_FAULT);
    foliot_step_trace *trace[2];
    foliot_divergence local = {0};
    for (int i = 0; i < 2; i++) {
        foliot_simulation simulation;
        assert_int_equal(foliot_simulation_create(kind, "s", 1, &simulation), FOLIOT_STATUS_OK);
        if (i == 1) // a heat that is not the same: it shows after the first stage
            kind->set_field(simulation.self, 1 + 6, 2, 4);
        assert_int_equal(foliot_step_trace_create(&trace[i]), FOLIOT_STATUS_OK);
        foliot_step_trace_reset(trace[i], 1);
        assert_int_equal(foliot_step_trace_step(trace[i], &simulation, &(foliot_tick_inputs){0}),
                         FOLIOT_STATUS_OK);
        demand(foliot_step_trace_capture_held(trace[i], &simulation));
        foliot_simulation_destroy(&simulation);
    }
    const foliot_search_responder responder = {.trace = trace[1]};
    foliot_search search;
    foliot_search_begin(&search, 1);
    carry(&search, trace[0], &responder, NULL, NULL);
    assert_true(search.found.stage_known);
    assert_true(search.found.field_known);
    assert_string_equal(search.found.stage_name, "push");
    assert_string_equal(search.found.field_name, "heat");
    assert_int_equal(search.found.index, 6);
    // Both at hand, it is the same.
    assert_true(foliot_step_trace_compare(trace[0], trace[1], &local));
    assert_string_equal(local.stage_name, "push");
    assert_int_equal(local.index, 6);
    assert_int_equal(local.fields, 1);
    foliot_step_trace_destroy(trace[0]);
    foliot_step_trace_destroy(trace[1]);
}

static void spoil(uint8_t *answer, size_t *length, void *user)
{
    foliot__rng *rng = user;
    switch (foliot__rng_below(rng, 6)) {
    case 0:
        *length = foliot__rng_below(rng, FOLIOT_SEARCH_RESPONSE_BYTES_MAX);
        break;
    case 1:
        for (size_t i = 0; i < *length; i++)
            answer[i] = (uint8_t)foliot__rng_u64(rng);
        break;
    case 2:
        answer[foliot__rng_below(rng, (uint32_t)*length)] ^=
            (uint8_t)(1u << foliot__rng_below(rng, 8));
        break;
    case 3:
        memset(answer, 0xff, *length);
        break;
    default:
        break;
    }
}

TEST(hostile_answers_end_it)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261121));
    grid a = {.parts = 3000, .fields = 20, .other_part = UINT32_MAX}, b = a;
    b.other_part = 1234;
    foliot_step_trace *ours = held(&a, 5), *theirs = held(&b, 5);
    const foliot_search_responder responder = {.trace = theirs};
    for (int i = 0; i < 300; i++) {
        foliot_search search;
        foliot_search_begin(&search, 5);
        carry(&search, ours, &responder, spoil, &rng);
        assert_true(search.state == FOLIOT_SEARCH_FOUND || search.state == FOLIOT_SEARCH_FAILED);
        check_le(search.exchanged, FOLIOT_SEARCH_BYTES_MAX + FOLIOT_SEARCH_RESPONSE_BYTES_MAX);
        char text[1024];
        foliot_divergence_print_text(&search.found, NULL, text,
                                     sizeof text); // whatever it believes can be printed
    }
    foliot_step_trace_destroy(ours);
    foliot_step_trace_destroy(theirs);
}

static void lengthen(uint8_t *answer, size_t *length, void *user)
{
    int *at = user;
    if ((*at)-- == 0)
        answer[(*length)++] = 0;
}

TEST(an_answer_that_goes_on_is_no_answer)
{
    grid a = {.parts = 3000, .fields = 20, .other_part = UINT32_MAX}, b = a;
    b.other_part = 77;
    foliot_step_trace *ours = held(&a, 5), *theirs = held(&b, 5);
    const foliot_search_responder responder = {.trace = theirs};
    for (int i = 0; i < 5; i++) {
        int at = i;
        foliot_search search;
        foliot_search_begin(&search, 5);
        carry(&search, ours, &responder, lengthen, &at);
        assert_int_equal(search.state, FOLIOT_SEARCH_FAILED);
        assert_int_equal(search.request_count, (uint32_t)i + 1);
    }
    foliot_step_trace_destroy(ours);
    foliot_step_trace_destroy(theirs);
}

TEST(hostile_questions_are_refused)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(20261121) + 1);
    grid a = {.parts = 50, .fields = 20, .other_part = UINT32_MAX};
    foliot_step_trace *trace = held(&a, 5);
    const foliot_search_responder responder = {.trace = trace};
    uint32_t answered = 0;
    for (int i = 0; i < 20000; i++) {
        uint8_t question[FOLIOT_SEARCH_REQUEST_BYTES_MAX], answer[FOLIOT_SEARCH_RESPONSE_BYTES_MAX];
        size_t length = foliot__rng_below(&rng, sizeof question + 1), answer_length = 0;
        uint64_t tick;
        for (size_t k = 0; k < length; k++)
            question[k] = (uint8_t)foliot__rng_u64(&rng);
        if (length > 8 && i % 2) {
            memset(question, 0, 9);
            question[0] = (uint8_t) "CLR"[i / 2 % 3];
            question[1] = 5;
        }
        foliot_status status =
            foliot_search_respond(&responder, question, length, answer, &answer_length, &tick);
        assert_true(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_CORRUPT ||
                    status == FOLIOT_STATUS_AGAIN || status == FOLIOT_STATUS_NOT_FOUND);
        answered += status == FOLIOT_STATUS_OK;
        check_le(answer_length, sizeof answer);
    }
    check_gt(answered, 50);
    foliot_step_trace_destroy(trace);
}

TEST(distances_are_those_of_representable_values)
{
    static const struct {
        foliot_value_type type;
        uint64_t a, b, distance;
    } rows[] = {
        {FOLIOT_VALUE_F64, 0x3ff0000000000000, 0x3ff0000000000001, 1},
        {FOLIOT_VALUE_F64, 0x3ff0000000000000, 0x3fefffffffffffff, 1},
        {FOLIOT_VALUE_F64, 0x8000000000000000, 0, 1},
        {FOLIOT_VALUE_F64, 0x8000000000000001, 1, 3},
        {FOLIOT_VALUE_F32, 0x3f800000, 0x3f800002, 2},
        {FOLIOT_VALUE_F32, 0x80000000, 0, 1},
        {FOLIOT_VALUE_I64, UINT64_MAX, 1, 2},
        {FOLIOT_VALUE_U64, UINT64_MAX, 0, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(foliot_value_get_distance(rows[i].type, rows[i].a, rows[i].b),
                         rows[i].distance);
        assert_int_equal(foliot_value_get_distance(rows[i].type, rows[i].b, rows[i].a),
                         rows[i].distance);
    }
    assert_int_equal(foliot_value_advance(FOLIOT_VALUE_F64, 0x8000000000000000, 1), 0);
    assert_int_equal(foliot_value_advance(FOLIOT_VALUE_F32, 0, -1), 0x80000000);
    assert_int_equal(foliot_value_advance(FOLIOT_VALUE_I64, 0, -2), UINT64_MAX - 1);
}

TEST(reports_say_what_is_known)
{
    char text[1024], small[10];
    foliot_divergence d = {.tick = 120, .body = FOLIOT_NO_BODY};
    foliot_divergence_labels names = {
        .title = "match", .expected = "server", .actual = "client", .dt = 0.5};
    foliot_divergence_print_text(&d, &names, text, sizeof text);
    assert_string_equal(text, "match: DIVERGED at tick 120 (time 60)\n  stage      not known\n"
                              "  part, field not known\n");
    foliot_divergence_print_json(&d, &names, text, sizeof text);
    assert_string_equal(
        text,
        "{\"title\":\"match\",\"first_bad_tick\":120,\"stage\":null,\"body\":null,\"field\":null,"
        "\"ulps\":null,\"server\":null,\"client\":null,\"not_repeated\":false,"
        "\"parts\":0,\"fields\":0}");
    d.not_repeated = true;
    foliot_divergence_print_json(&d, &names, text, sizeof text);
    assert_non_null(strstr(text, "\"not_repeated\":true,\"parts\":0"));
    d = (foliot_divergence){.tick = 1,
                            .stage_known = true,
                            .part_known = true,
                            .field_known = true,
                            .stage_name = "move",
                            .group = "unit",
                            .index = 7,
                            .field_name = "vx",
                            .body = FOLIOT_NO_BODY,
                            .type = FOLIOT_VALUE_I64,
                            .expected = UINT64_MAX,
                            .actual = 1,
                            .ulps = 2};
    foliot_divergence_print_json(&d, NULL, text, sizeof text);
    assert_non_null(
        strstr(text, "\"stage\":\"move\",\"body\":null,\"field\":\"unit 7 vx\",\"ulps\":2,"
                     "\"expected\":\"0xffffffffffffffff\",\"actual\":\"0x0000000000000001\""));
    d.body = 7;
    d.group = "body";
    size_t length = foliot_divergence_print_text(&d, NULL, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "  body       7\n"));
    assert_non_null(strstr(text, "0xffffffffffffffff  -1\n"));
    assert_int_equal(foliot_divergence_print_text(&d, NULL, small, sizeof small), length);
    assert_int_equal(strlen(small), sizeof small - 1);
}

static void check_part(const foliot_divergence *d, const char *expected)
{
    char text[64], small[3];
    assert_int_equal(foliot_divergence_print_part(d, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(foliot_divergence_print_part(d, small, sizeof small), strlen(expected));
    assert_memory_equal(small, expected, 2);
    assert_int_equal(small[2], 0);
}

TEST(a_part_is_said_for_people)
{
    foliot_divergence d = {.part_known = true, .group = "body", .index = 3};
    check_part(&d, "body 3");
    d.group = "world";
    d.index = FOLIOT_PART_ALONE;
    check_part(&d, "world");
    d.part_known = false;
    check_part(&d, "not known");
}
