// SPDX-License-Identifier: MIT
// test_fuzz_corpus.c: the fuzzers' seeds, and everything that they once found, run as plain tests:
// a fuzzer's own assertions end the program where one does not hold.
#include "check.h"

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_scene_one
#include "../fuzz/fuzz_scene.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_scene_bytes_one
#include "../fuzz/fuzz_scene_bytes.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_scene_csv_one
#include "../fuzz/fuzz_scene_csv.c"
#undef LLVMFuzzerTestOneInput

#define LLVMFuzzerTestOneInput fuzz_snapshot_one
#include "../fuzz/fuzz_snapshot.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_message_one
#include "../fuzz/fuzz_message.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_command_one
#include "../fuzz/fuzz_command.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_packet_filter_one
#include "../fuzz/fuzz_packet_filter.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_state_one
#include "../fuzz/fuzz_state.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_history_one
#include "../fuzz/fuzz_history.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_lua_one
#include "../fuzz/fuzz_lua.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_lua_state_one
#include "../fuzz/fuzz_lua_state.c"
#undef LLVMFuzzerTestOneInput

// Whether it is what somebody sends today: a corpus of forms that are refused at once finds
// nothing.
static int is_of_today(const uint8_t *bytes, size_t length)
{
    static foliot__message message;
    static foliot__input_packet input;
    foliot__status_packet status;
    foliot__lockstep_input lockstep;
    foliot__lockstep_status told;
    foliot__relay relay;
    foliot__early early;
    bool is = foliot__message_decode(bytes, length, &message) == FOLIOT_STATUS_OK ||
              foliot__input_packet_decode(bytes, length, 0, &input) == FOLIOT_STATUS_OK ||
              foliot__status_packet_decode(bytes, length, &status) == FOLIOT_STATUS_OK ||
              foliot__lockstep_input_decode(bytes, length, &lockstep) == FOLIOT_STATUS_OK ||
              foliot__lockstep_status_decode(bytes, length, &told) == FOLIOT_STATUS_OK ||
              foliot__relay_decode(bytes, length, &relay) == FOLIOT_STATUS_OK ||
              foliot__early_decode(bytes, length, &early) == FOLIOT_STATUS_OK;
    assert_true(is);
    if (bytes[0] == 0x9c && bytes[1] == FOLIOT__HELLO_MESSAGE) // of no other protocol is more read
        check_eq(bytes[2], FOLIOT_PROTOCOL);
    return 0;
}

TEST(seeds_of_messages_have_the_forms_of_today)
{
    check_ge(corpus_run("message", is_of_today, 0), 30);
}

TEST(texts_are_read_or_refused)
{
    check_ge(corpus_run("scene", fuzz_scene_one, 0), 19);
}

TEST(bytes_are_decoded_or_refused)
{
    check_ge(corpus_run("scene_bytes", fuzz_scene_bytes_one, 0), 13);
}

TEST(tables_are_read_or_refused)
{
    check_ge(corpus_run("scene_csv", fuzz_scene_csv_one, 0), 8);
}

TEST(packets_are_decoded_or_refused)
{
    check_ge(corpus_run("snapshot", fuzz_snapshot_one, 0), 8);
    check_ge(corpus_run("message", fuzz_message_one, 0), 30);
    check_ge(corpus_run("packet_filter", fuzz_packet_filter_one, 0), 18);
}

TEST(commands_are_decoded_or_refused)
{
    check_ge(corpus_run("command", fuzz_command_one, 0), 32);
}

TEST(patched_states_are_refused_or_go_on)
{
    check_ge(corpus_run("state", fuzz_state_one, 0), 70);
}

TEST(pasts_are_restored_or_refused)
{
    check_ge(corpus_run("history", fuzz_history_one, 0), 7);
}

TEST(scripts_run_or_are_refused)
{
    check_ge(corpus_run("lua", fuzz_lua_one, 0), 32);
}

TEST(states_of_scripts_are_restored_or_refused)
{
    check_ge(corpus_run("lua_state", fuzz_lua_state_one, 0), 6);
}

// -- fuzz secure: the seeds of fuzz_secure, and everything that it once found, run as plain
// tests: its own assertions end the program where one does not hold.

#define LLVMFuzzerTestOneInput fuzz_secure_one
#include "../fuzz/fuzz_secure.c"
#undef LLVMFuzzerTestOneInput

TEST(what_strangers_send_proves_nothing)
{
    check_ge(corpus_run("secure", fuzz_secure_one, 0), 7);
}
