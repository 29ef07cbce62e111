// SPDX-License-Identifier: MIT
// test_watches.c: there is room for the tables of this build alone, whatever a page was sent for
// them (web/watches.c).
#include "check.h"

#include "partial_tables.h"

void *web_tables_room(uint32_t bytes);
void page_want_tables(void);

void page_want_tables(void)
{
}

static void tables_of_another_length_have_no_room(void **state)
{
    (void)state;
    assert_ptr_equal(web_tables_room(sizeof web_tables), &web_tables);
    assert_null(web_tables_room(0));
    assert_null(web_tables_room(sizeof web_tables - 1));
    assert_null(web_tables_room(sizeof web_tables + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_another_length_have_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
