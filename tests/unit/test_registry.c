// SPDX-License-Identifier: MIT
// test_registry.c: every integrator is found by name and by alias, numbers are stable, and what is
// misspelt is answered with the nearest name.
#include "check.h"

#include <string.h>

#include "foliot/scene.h"

TEST(every_number_names_one_row)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        assert_non_null(info);
        assert_int_equal(info->id, id);
        assert_int_equal(foliot_integrator_find(info->name), id);
        check_ge(info->order, 1);
        check_le(info->order, 8);
        check_gt(strlen(info->summary), 20);
    }
    assert_null(foliot_integrator_get_info(FOLIOT_INTEGRATOR_NONE));
    assert_null(foliot_integrator_get_info(FOLIOT_INTEGRATOR_COUNT));
    assert_null(foliot_integrator_get_info((foliot_integrator)-1));
}

// The numbers are in recordings: they never change.
TEST(names_and_aliases_are_those_of_the_plan)
{
    static const struct {
        const char *name;
        int id;
    } rows[] = {{"explicit-euler", 1},
                {"forward-euler", 1},
                {"semi-implicit-euler", 2},
                {"symplectic-euler", 2},
                {"euler-cromer", 2},
                {"implicit-euler", 3},
                {"backward-euler", 3},
                {"verlet", 4},
                {"stormer-verlet", 4},
                {"central-difference", 4},
                {"time-corrected-verlet", 5},
                {"velocity-verlet", 6},
                {"velocity-verlet-corrected", 7},
                {"leapfrog", 8},
                {"newton-stormer-verlet", 8},
                {"position-verlet", 8},
                {"midpoint", 9},
                {"heun", 10},
                {"improved-euler", 11},
                {"rk4", 12},
                {"implicit-midpoint", 13},
                {"kinematic", 14},
                {"kinematic-average", 15},
                {"kinematic-strang", 16},
                {"yoshida4", 17},
                {"forest-ruth", 17},
                {"pefrl4", 18},
                {"yoshida6", 19},
                {"blanes-moan6", 20},
                {"kahan-li8", 21},
                {"reversible-leapfrog", 22}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(foliot_integrator_find(rows[i].name), rows[i].id);
}

TEST(what_names_no_integrator_is_not_found)
{
    static const char *const wrong[] = {
        "", " ", "euler", "verlet ", "symplectic-euler euler-cromer", "Verlet", "rk", "symplectic"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(foliot_integrator_find(wrong[i]), FOLIOT_INTEGRATOR_NONE);
    assert_int_equal(foliot_integrator_find(NULL), FOLIOT_INTEGRATOR_NONE);
}

TEST(the_nearest_name_is_offered)
{
    assert_string_equal(foliot_integrator_find_nearest("velocity-verlte"), "velocity-verlet");
    assert_string_equal(foliot_integrator_find_nearest("Velocity_Verlet"), "velocity-verlet");
    assert_string_equal(foliot_integrator_find_nearest("leap frog"), "leapfrog");
    assert_string_equal(foliot_integrator_find_nearest("rk5"), "rk4");
    assert_string_equal(foliot_integrator_find_nearest("yoshida8"), "yoshida4");
    assert_string_equal(foliot_integrator_find_nearest("kahanli8"), "kahan-li8");
    assert_string_equal(foliot_integrator_find_nearest("forward_eulr"), "explicit-euler");
    assert_null(foliot_integrator_find_nearest(""));
    assert_null(foliot_integrator_find_nearest(NULL));
    assert_null(foliot_integrator_find_nearest("qqqqqqqq"));
    char endless[300];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(foliot_integrator_find_nearest(endless));
}
