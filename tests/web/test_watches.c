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

TEST(tables_of_another_length_have_no_room)
{
    assert_ptr_equal(web_tables_room(sizeof web_tables), &web_tables);
    assert_null(web_tables_room(0));
    assert_null(web_tables_room(sizeof web_tables - 1));
    assert_null(web_tables_room(sizeof web_tables + 1));
}
