// SPDX-License-Identifier: MIT
// test_own_simulation.c: sessions of a simulation that is no world. Goal: its clients learn who
// plays, get messages, turn orders into commands that all step alike, and have the two states
// around their render time. Method: the tally (tests/support/tally.h) on a virtual clock.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cluster.h"
#include "base/bytes.h"
#include "status.h"
#include "tally.h"

// An order is a var of its text; of "many" there are more than a tick may take, of "bad" none that
// is valid.
static uint32_t take_order(const void *self, const foliot_order *order, foliot_command *commands,
                           uint32_t capacity)
{
    (void)self;
    bool many = order->length == 4 && memcmp(order->bytes, "many", 4) == 0,
         bad = order->length == 3 && memcmp(order->bytes, "bad", 3) == 0;
    uint32_t count = many ? capacity : 1;
    if (order->kind == FOLIOT_ORDER_LEFT)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        commands[i] = foliot_command_default(FOLIOT_COMMAND_var);
        commands[i].fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
        commands[i].as.var.key = bad ? "" : "order";
        commands[i].as.var.integer = order->player * 1000 + order->length;
    }
    return many ? UINT32_MAX : count; // more than there is room for is not read
}

static foliot_simulation_kind kind_with_orders(void)
{
    foliot_simulation_kind kind = *tally_kind(true);
    kind.order = take_order;
    return kind;
}

static unsigned join(cluster *a, const char *network, const char *name)
{
    foliot_client_config config = foliot_client_config_default();
    config.simulation = a->options.kind;
    config.name = name;
    unsigned client = cluster_join(a, network, &config);
    a->bots[client] = true;
    return client;
}

// How many events of a kind wait; the last one's text goes to `text`.
static unsigned events_of(cluster *a, unsigned client, foliot_client_event_kind kind,
                          char text[256])
{
    foliot_client_event event;
    unsigned count = 0;
    while (foliot_client_poll(a->clients[client], &event)) {
        if (event.kind != kind)
            continue;
        count++;
        snprintf(text, 256, "%s", (const char *)event.bytes);
    }
    return count;
}

TEST(players_come_and_go_by_name)
{
    char text[256] = "";
    cluster *a = cluster_create(&(cluster_options){.kind = tally_kind(true)});
    join(a, "delay=20ms", "ada");
    cluster_run(a, 1);
    assert_int_equal(events_of(a, 0, FOLIOT_CLIENT_JOINED, text), 1);
    assert_string_equal(text, "ada");
    join(a, "delay=20ms", "bob");
    cluster_run(a, 1);
    assert_int_equal(events_of(a, 0, FOLIOT_CLIENT_JOINED, text), 1);
    assert_string_equal(text, "bob");
    assert_string_equal(foliot_client_get_name(a->clients[0], 1), "bob");
    assert_int_equal(events_of(a, 1, FOLIOT_CLIENT_JOINED, text), 2);
    foliot_client_leave(a->clients[1], a->now_ns);
    cluster_run(a, 1);
    assert_int_equal(events_of(a, 0, FOLIOT_CLIENT_LEFT, text), 1);
    assert_string_equal(text, "bob");
    cluster_destroy(a);
}

TEST(messages_of_the_host_and_chat_arrive)
{
    char text[256] = "";
    cluster *a = cluster_create(&(cluster_options){.kind = tally_kind(true)});
    join(a, "delay=20ms", "ada");
    join(a, "loss=10%,delay=20ms", "bob");
    cluster_run(a, 1);
    assert_int_equal(foliot_server_message(a->server, "main", FOLIOT_TO_ALL, "hello", 5, true),
                     FOLIOT_STATUS_OK);
    cluster_run(a, 1);
    assert_int_equal(events_of(a, 1, FOLIOT_CLIENT_MESSAGE, text), 1);
    assert_string_equal(text, "hello");
    assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_CHAT, "hi", 2, NULL),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "x", 1, NULL),
                     FOLIOT_STATUS_OK);
    cluster_run(a, 2);
    assert_int_equal(events_of(a, 1, FOLIOT_CLIENT_CHAT, text), 1);
    assert_string_equal(text, "hi");
    assert_int_equal(cluster_get_counters(a)->orders_refused, 1); // nobody takes it
    assert_int_equal(cluster_get_statistics(a, 0).orders_waiting, 0);
    cluster_destroy(a);
}

TEST(orders_become_commands_for_all)
{
    foliot_simulation_kind kind = kind_with_orders();
    cluster *a = cluster_create(&(cluster_options){.kind = &kind, .input_delay = 3});
    join(a, "delay=20ms", "ada");
    join(a, "loss=20%,delay=40ms,jitter=0-60ms", "bob");
    cluster_run(a, 1);
    check_ge(cluster_get_counters(a)->commands, 2); // they joined
    uint64_t before = cluster_get_counters(a)->commands;
    for (int i = 0; i < 20; i++) {
        for (unsigned client = 0; client < 2; client++)
            assert_int_equal(
                foliot_client_order(a->clients[client], FOLIOT_ORDER_GAME, "abc", 1 + i % 3, NULL),
                FOLIOT_STATUS_OK);
        cluster_run(a, 0.2);
    }
    join(a, "loss=10%,delay=30ms", "late");
    cluster_run(a, 3);
    assert_int_equal(cluster_get_counters(a)->commands, before + 2 * 20 + 1);
    assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "many", 4, NULL),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "bad", 3, NULL),
                     FOLIOT_STATUS_OK);
    cluster_run(a, 3);
    assert_int_equal(cluster_get_counters(a)->commands,
                     before + 2 * 20 + 1 + FOLIOT_ORDER_COMMANDS_MAX);
    assert_int_equal(cluster_get_counters(a)->commands_refused, 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(cluster_agrees(a, i));
        assert_int_equal(cluster_get_statistics(a, i).divergences, 0);
    }
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// Orders are in the recording, which replays from its commands.
TEST(a_recording_has_the_orders)
{
    char file[] = "/tmp/foliot-own-XXXXXX";
    int descriptor = mkstemp(file);
    assert_true(descriptor >= 0);
    close(descriptor);
    foliot_simulation_kind kind = kind_with_orders();
    cluster *a = cluster_create(&(cluster_options){.kind = &kind, .record = file});
    join(a, "delay=20ms", "ada");
    cluster_run(a, 1);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "turn", 4, NULL),
                         FOLIOT_STATUS_OK);
        cluster_run(a, 0.3);
    }
    assert_int_equal(cluster_get_counters(a)->ticks_unrecorded, 0);
    cluster_destroy(a);
    foliot_replay *replay;
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_open(file, &kind, &replay, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_get_summary(replay)->counts.orders, 6); // one says who joined
    assert_int_equal(foliot_replay_get_summary(replay)->counts.commands, 6);
    foliot_replay_close(replay);
    unlink(file);
}

static uint64_t tick_in(const uint8_t *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    assert_int_equal(length, 16);
    return foliot__read_u64(&r);
}

TEST(states_around_the_render_time)
{
    cluster *a = cluster_create(&(cluster_options){.kind = tally_kind(true)});
    foliot_simulation_sample sample;
    foliot_sample bodies;
    double last = 0;
    unsigned between = 0;
    join(a, "delay=20ms,jitter=0-30ms", "ada");
    assert_int_equal(foliot_client_sample_simulation(a->clients[0], a->now_ns, &sample),
                     FOLIOT_STATUS_AGAIN);
    cluster_run(a, 2);
    for (int i = 0; i < 1000; i++) {
        cluster_run(a, 0.007);
        assert_int_equal(foliot_client_sample_simulation(a->clients[0], a->now_ns, &sample),
                         FOLIOT_STATUS_OK);
        assert_true(sample.render_tick >= last);
        assert_true(sample.fraction >= 0 && sample.fraction < 1);
        assert_true(sample.render_tick == (double)sample.tick + sample.fraction);
        assert_non_null(sample.before);
        assert_int_equal(tick_in(sample.before, sample.before_bytes), sample.tick);
        if (sample.after)
            assert_int_equal(tick_in(sample.after, sample.after_bytes), sample.tick + 1);
        between += sample.after && sample.fraction > 0;
        last = sample.render_tick;
    }
    check_gt(between, 900);
    check_gt(last, 300);
    assert_int_equal(foliot_client_sample(a->clients[0], a->now_ns, &bodies),
                     FOLIOT_STATUS_UNSUPPORTED);
    check_gt(cluster_get_statistics(a, 0).samples, 900);
    a->asleep[0] = true; // nothing more comes: it waits at the newest state
    cluster_run(a, 1);
    assert_int_equal(foliot_client_sample_simulation(a->clients[0], a->now_ns, &sample),
                     FOLIOT_STATUS_OK);
    assert_true(sample.starved);
    assert_null(sample.after);
    assert_true(sample.fraction == 0);
    cluster_destroy(a);
}

// Mean and longest time from new controls to the state that is drawn, over 100 ms of round trip.
static foliot_client_statistics press_and_look(bool predicts)
{
    cluster *a = cluster_create(&(cluster_options){.kind = tally_kind(true)});
    foliot_simulation_sample sample;
    foliot_client_config config = foliot_client_config_default();
    config.simulation = a->options.kind;
    config.predicts = predicts;
    a->bots[cluster_join(a, "delay=50ms", &config)] = false; // it presses nothing by itself
    cluster_run(a, 3);
    for (int i = 0; i < 1200; i++) {
        const int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)(i / 60 % 2)};
        foliot_client_set_input(a->clients[0], axes, 0);
        cluster_run(a, 1 / 60.0);
        allow_failure(foliot_client_sample_simulation(a->clients[0], a->now_ns, &sample));
    }
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    cluster_destroy(a);
    return seen;
}

TEST(the_time_from_key_to_screen_is_known)
{
    foliot_client_statistics plain = press_and_look(false), predicted = press_and_look(true);
    check_ge(plain.key_to_screen_ms, 100); // a round trip, and the delay of what is shown
    check_le(plain.key_to_screen_max_ms, 300);
    check_gt(predicted.key_to_screen_ms, 0);
    check_le(predicted.key_to_screen_max_ms, 51); // three frames
}

// The tally with a bit that turns over at one tick.
#define FAULT_TICK 150

static foliot_status step_tick_with_fault(void *self, const foliot_tick_inputs *in)
{
    uint8_t state[16];
    foliot_status status = tally_kind(true)->step_tick(self, in);
    size_t length = tally_kind(true)->capture(self, state, sizeof state);
    if (status != FOLIOT_STATUS_OK || tick_in(state, length) != FAULT_TICK)
        return status;
    state[8] ^= 1;
    return tally_kind(true)->restore(self, state, length);
}

static foliot_status step_with_fault(void *self, const foliot_input *inputs, uint32_t count)
{
    return step_tick_with_fault(self,
                                &(foliot_tick_inputs){.inputs = inputs, .input_count = count});
}

// The server's state comes on one channel and its status on another, in either order.
TEST(a_fault_is_found_whatever_comes_first)
{
    const char *const networks[] = {"delay=1ms", "delay=5ms,loss=40%", "delay=20ms,jitter=0-60ms",
                                    "delay=60ms,loss=30%"};
    foliot_simulation_kind faulty = *tally_kind(true);
    faulty.step = step_with_fault;
    faulty.step_tick = step_tick_with_fault;
    for (unsigned i = 0; i < sizeof networks / sizeof *networks; i++)
        for (unsigned wait = 0; wait < 8; wait++) {
            cluster *a = cluster_create(&(cluster_options){.kind = tally_kind(true)});
            foliot_client_config config = foliot_client_config_default();
            config.simulation = &faulty;
            cluster_run(a, 0.004 * wait);
            unsigned client = cluster_join(a, networks[i], &config);
            cluster_run(a, 6);
            assert_int_equal(cluster_get_statistics(a, client).divergences, 1);
            assert_int_equal(a->found_count, 1);
            assert_int_equal(a->found.divergence.tick, FAULT_TICK);
            assert_int_equal(cluster_get_counters(a)->violations_digests, 0);
            assert_true(cluster_agrees(a, client));
            cluster_destroy(a);
        }
}

// The tally, and 200 bytes more after each tick.
static size_t pad_of(const void *self)
{
    return 200 * (size_t)tally_kind(true)->tick(self);
}

static size_t growing_capture(const void *self, void *bytes, size_t capacity)
{
    size_t length = 16 + pad_of(self);
    if (bytes && capacity >= length) {
        memset(bytes, 7, length);
        (void)!tally_kind(true)->capture(self, bytes, 16);
    }
    return length;
}

static foliot_status growing_restore(void *self, const void *bytes, size_t length)
{
    return length < 16 ? FOLIOT_STATUS_TRUNCATED : tally_kind(true)->restore(self, bytes, 16);
}

// Also where a state becomes a hundred times what it was at the join.
TEST(a_state_that_grows_is_held)
{
    foliot_simulation_kind kind = *tally_kind(true);
    kind.capture = growing_capture;
    kind.restore = growing_restore;
    kind.copy = NULL;
    cluster *a = cluster_create(&(cluster_options){.kind = &kind});
    foliot_simulation_sample sample;
    join(a, "delay=20ms,jitter=0-30ms", "ada");
    cluster_run(a, 2);
    for (int i = 0; i < 400; i++) {
        cluster_run(a, 0.07);
        assert_int_equal(foliot_client_sample_simulation(a->clients[0], a->now_ns, &sample),
                         FOLIOT_STATUS_OK);
        assert_non_null(sample.before);
        assert_int_equal(sample.before_bytes, 16 + 200 * sample.tick);
        assert_int_equal(tick_in(sample.before, 16), sample.tick);
    }
    check_gt(sample.before_bytes, 300000);
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}

// The disk is full, or the file may not grow: the host learns it, and what is missing is counted.
TEST(a_recording_that_stops_is_reported)
{
    foliot_simulation_kind kind = kind_with_orders();
    char file[] = "/tmp/foliot-stops-XXXXXX";
    int descriptor = mkstemp(file);
    assert_true(descriptor >= 0);
    cluster *a = cluster_create(&(cluster_options){.kind = &kind, .record = file});
    join(a, "delay=20ms", "ada");
    cluster_run(a, 1);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){(rlim_t)lseek(descriptor, 0, SEEK_END) + 100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cluster_run(a, 20);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(a->events[FOLIOT_SERVER_RECORDING_STOPPED], 1);
    check_gt(cluster_get_counters(a)->ticks_unrecorded, 0);
    cluster_destroy(a);
    close(descriptor);
    unlink(file);
}

// A tally whose steps depend on how many it made since it was restored, which is not saved.
typedef struct hidden {
    void *tally;
    uint64_t lived;
} hidden;

static foliot_status hidden_create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    hidden *h = calloc(1, sizeof *h);
    *self = h;
    return tally_kind(true)->create(user, setup, setup_bytes, &h->tally);
}

static void hidden_destroy(void *self)
{
    tally_kind(true)->destroy(((hidden *)self)->tally);
    free(self);
}

static uint64_t hidden_tick(const void *self)
{
    return tally_kind(true)->tick(((const hidden *)self)->tally);
}

static foliot_status hidden_step_tick(void *self, const foliot_tick_inputs *in)
{
    hidden *h = self;
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_var);
    command.sequence = (uint32_t)++h->lived;
    const foliot_tick_inputs more = {in->inputs, in->input_count, &command, 1};
    return tally_kind(true)->step_tick(h->tally, &more);
}

static foliot_status hidden_step(void *self, const foliot_input *inputs, uint32_t count)
{
    return hidden_step_tick(self, &(foliot_tick_inputs){.inputs = inputs, .input_count = count});
}

static size_t hidden_capture(const void *self, void *bytes, size_t capacity)
{
    return tally_kind(true)->capture(((const hidden *)self)->tally, bytes, capacity);
}

static foliot_status hidden_restore(void *self, const void *bytes, size_t length)
{
    hidden *h = self;
    h->lived = 0;
    return tally_kind(true)->restore(h->tally, bytes, length);
}

static void hidden_copy(void *self, const void *from)
{
    uint8_t state[16];
    hidden_restore(self, state, hidden_capture(from, state, sizeof state));
    ((hidden *)self)->lived = ((const hidden *)from)->lived;
}

static foliot_simulation_kind hidden_kind(void)
{
    return (foliot_simulation_kind){.name = "test.hidden",
                                    .version = 1,
                                    .create = hidden_create,
                                    .destroy = hidden_destroy,
                                    .tick = hidden_tick,
                                    .step = hidden_step,
                                    .step_tick = hidden_step_tick,
                                    .capture = hidden_capture,
                                    .restore = hidden_restore,
                                    .copy = hidden_copy};
}

// A late joiner begins with a state that lacks something. The report says so, and does not look
// for a part that differs.
TEST(a_state_that_is_not_all_is_named)
{
    char text[1024];
    foliot_simulation_kind kind = hidden_kind();
    cluster *a = cluster_create(&(cluster_options){.kind = &kind});
    join(a, "delay=20ms", "ada");
    cluster_run(a, 5);
    join(a, "delay=20ms", "late");
    cluster_run(a, 20);
    check_gt(a->found_count, 0);
    const foliot_divergence *d = &a->found.divergence;
    assert_true(d->not_repeated);
    assert_false(d->field_known);
    check_gt(d->tick, 0);
    foliot_divergence_print_text(d, NULL, text, sizeof text);
    assert_non_null(strstr(text, "repeated"));
    cluster_destroy(a);
}

static uint64_t copies_ns;

static uint64_t clock_of_copies(void *user)
{
    (void)user;
    return copies_ns;
}

static void slow_copy(void *self, const void *from)
{
    uint8_t state[16];
    copies_ns += 20000000; // more than a tick
    size_t length = tally_kind(true)->capture(from, state, sizeof state);
    (void)!tally_kind(true)->restore(self, state, length);
}

// Steps cost nothing, and each rollback begins with a copy that takes a tick.
TEST(slow_copies_end_the_prediction)
{
    foliot_simulation_kind kind = *tally_kind(true);
    kind.copy = slow_copy;
    cluster *a = cluster_create(&(cluster_options){.kind = &kind});
    for (int i = 0; i < 2; i++) {
        foliot_client_config config = foliot_client_config_default();
        config.simulation = &kind;
        config.predicts = true;
        config.clock = clock_of_copies;
        unsigned client = cluster_join(a, "delay=40ms,jitter=0-30ms", &config);
        a->bots[client] = true;
    }
    cluster_run(a, 10);
    assert_int_equal(foliot_client_get_prediction(a->clients[0]), FOLIOT_PREDICTION_SLOW);
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}
