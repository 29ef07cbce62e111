// SPDX-License-Identifier: MIT
// Tier: check
// Goal: this build gives the golden digests of every probe and every ready scene with every
// integrator that the check admits, and passes its self-test. The file is written by `make golden`;
// that a build which breaks a rule fails here is shown by test_alarms.sh.
#include "../support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "sim/selftest/fingerprint.h"

#define GOLDEN_FILE "tests/golden/digests.txt"

// The next line of the file; fails the test at its end.
static void next_line(FILE *file, char *line, size_t bytes)
{
    assert_non_null(fgets(line, (int)bytes, file));
    line[strcspn(line, "\n")] = 0;
}

static void check_line(FILE *file, const char *expected)
{
    char line[256];
    next_line(file, line, sizeof line);
    if (strcmp(line, expected) != 0) {
        print_error("golden: %s\n   now: %s\n", line, expected);
        fail();
    }
}

TEST(every_case_has_its_golden_digest)
{
    FILE *file = fopen(GOLDEN_FILE, "r");
    assert_non_null(file);
    char line[256];
    uint64_t word;
    const char *name;
    for (unsigned part = 0; (name = foliot__fingerprint_part(part, &word)) != NULL; part++) {
        snprintf(line, sizeof line, "fingerprint %s 0 %016llx", name, (unsigned long long)word);
        check_line(file, line);
    }
    for (unsigned s = 0; s < cases_scene_count(); s++) {
        foliot_scene *scene = cases_scene(s);
        for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
            foliot_world *world = cases_world(scene, (foliot_integrator)id);
            if (!world)
                continue;
            uint64_t ticks = cases_ticks(scene);
            for (uint64_t tick = 0; tick < ticks; tick++)
                cases_step(world, scene);
            char text[FOLIOT_DIGEST_TEXT_BYTES];
            foliot_digest_print(foliot_world_get_digest(world), text);
            foliot_world_destroy(world);
            snprintf(line, sizeof line, "%s %s %llu %s", scene->name,
                     foliot_integrator_get_info((foliot_integrator)id)->name,
                     (unsigned long long)ticks, text);
            check_line(file, line);
        }
        foliot_scene_destroy(scene);
    }
    assert_null(fgets(line, sizeof line, file)); // nothing golden was left out
    fclose(file);
}

TEST(the_self_test_finds_no_part_wrong)
{
    const char *part = "none";
    foliot_status status = foliot_self_test(&part);
    if (status != FOLIOT_STATUS_OK)
        print_error("wrong: %s\n", part);
    assert_int_equal(status, FOLIOT_STATUS_OK);
}

TEST(fingerprints_of_two_runs_are_equal)
{
    assert_true(foliot_digest_equal(foliot_get_fingerprint(), foliot_get_fingerprint()));
}
