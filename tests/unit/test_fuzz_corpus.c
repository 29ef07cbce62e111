// SPDX-License-Identifier: MIT
// test_fuzz_corpus.c: the fuzzers' seeds, and everything that they once found, run as plain tests:
// a fuzzer's own assertions end the program where one does not hold.
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#ifndef FOLIOT_NO_LUA
#define LLVMFuzzerTestOneInput fuzz_lua_one
#include "../fuzz/fuzz_lua.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_lua_state_one
#include "../fuzz/fuzz_lua_state.c"
#undef LLVMFuzzerTestOneInput
#endif

#define FILE_BYTES_MAX 65536

static void run_file(const char *file, int (*one)(const uint8_t *data, size_t size))
{
    static uint8_t buffer[FILE_BYTES_MAX];
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    size_t length = fread(buffer, 1, sizeof buffer, stream);
    fclose(stream);
    uint8_t *exact = malloc(length ? length : 1); // sanitizers see a byte too far
    assert_non_null(exact);
    memcpy(exact, buffer, length);
    assert_int_equal(one(exact, length), 0);
    free(exact);
}

static unsigned run_folder(const char *folder, int (*one)(const uint8_t *data, size_t size))
{
    unsigned count = 0;
    struct dirent **entries;
    int found = scandir(folder, &entries, NULL, alphasort);
    check_gt(found, 0);
    for (int i = 0; i < found; i++) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            run_file(file, one);
            count++;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}

static void texts_are_read_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/scene", fuzz_scene_one), 10);
}

static void bytes_are_decoded_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/scene_bytes", fuzz_scene_bytes_one), 10);
}

static void tables_are_read_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/scene_csv", fuzz_scene_csv_one), 5);
}

static void packets_are_decoded_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/snapshot", fuzz_snapshot_one), 8);
    check_ge(run_folder("tests/fuzz/corpus/message", fuzz_message_one), 8);
    check_ge(run_folder("tests/fuzz/corpus/packet_filter", fuzz_packet_filter_one), 7);
}

static void commands_are_decoded_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/command", fuzz_command_one), 30);
}

static void patched_states_are_refused_or_go_on(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/state", fuzz_state_one), 60);
}

#ifndef FOLIOT_NO_LUA
static void scripts_run_or_are_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/lua", fuzz_lua_one), 20);
}

static void states_of_scripts_are_restored_or_refused(void **state)
{
    (void)state;
    check_ge(run_folder("tests/fuzz/corpus/lua_state", fuzz_lua_state_one), 4);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef FOLIOT_NO_LUA
        cmocka_unit_test(scripts_run_or_are_refused),
        cmocka_unit_test(states_of_scripts_are_restored_or_refused),
#endif
        cmocka_unit_test(texts_are_read_or_refused),
        cmocka_unit_test(tables_are_read_or_refused),
        cmocka_unit_test(bytes_are_decoded_or_refused),
        cmocka_unit_test(packets_are_decoded_or_refused),
        cmocka_unit_test(commands_are_decoded_or_refused),
        cmocka_unit_test(patched_states_are_refused_or_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
