// SPDX-License-Identifier: MIT
// synctest.h: what the harness is given beside random players, and the part of synctest that is
// about a scene's rules.
#ifndef FOLIOT_TOOLS_LAB_SYNCTEST_H
#define FOLIOT_TOOLS_LAB_SYNCTEST_H

#include "lab.h"

typedef struct lab_rules_test {
    bool passed;
    uint64_t checks, first_bad_tick;
    char text[512];             // what failed; "" if passed
    uint64_t ticks;             // that `lists` has
    foliot_command_list *lists; // all commands of each tick, for a run without the rules
} lab_rules_test;

// Inputs and commands of each tick from files or rules, for a foliot_harness_config.
typedef struct lab_synctest_source {
    lab_inputs *inputs;
    lab_commands *commands;
    lab_orders *orders;          // for the rules
    const lab_rules_test *rules; // NULL: the scene has none
    const char *problem;         // a file has ended in damage: the sentence
} lab_synctest_source;
uint32_t lab_synctest_inputs(void *source, uint64_t tick, foliot_input *inputs, uint32_t capacity);
foliot_status lab_synctest_commands(void *source, uint64_t tick, foliot_command_list *list);

// Reads the options of the tests into *config. 0, or the exit code after a sentence.
int lab_synctest_configure(const lab_context *context, const lab_synctest_options *options,
                           foliot_harness_config *config);
// Whether --test leaves the rules out, or names them.
bool lab_synctest_wants_rules(const lab_synctest_options *options);
// From now on a crash ends the program by its signal after a line that names the test, or the run
// that the loader makes, and the tick.
void lab_synctest_watch(const lab_synctest_options *options);
// Runs the harness under such a watch, and ends it. 0 and the result, or the exit code after a
// sentence.
int lab_synctest_run(const lab_context *context, const lab_synctest_options *options,
                     const foliot_harness_config *config, const lab_synctest_source *from,
                     foliot_harness_result *result);

// Runs the scene with its rules, and a restored copy of them at every tick. 0, or the exit code
// after a sentence; lab_rules_test_end frees the lists in any case.
int lab_rules_test_run(const lab_context *context, const foliot_scene *scene, lab_inputs *inputs,
                       lab_commands *commands, lab_orders *orders, uint64_t ticks,
                       lab_rules_test *test);
void lab_rules_test_end(lab_rules_test *test);

#endif
