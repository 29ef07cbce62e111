// SPDX-License-Identifier: MIT
// small_canvas.h: the canvas of 4 x 2 characters on which drawing is tested, a new one for each
// test.
#ifndef FOLIOT_TESTS_SMALL_CANVAS_H
#define FOLIOT_TESTS_SMALL_CANVAS_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/canvas.h"

static foliot__canvas canvas;

// Setup and teardown of a test.
static int small_canvas(void **state)
{
    (void)state;
    return foliot__canvas_init(&canvas, 4, 2) ? 0 : -1;
}

static int free_canvas(void **state)
{
    (void)state;
    foliot__canvas_free(&canvas);
    return 0;
}

// The canvas prints this text.
static void check_shows(bool colours, const char *expected)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    foliot__canvas_print(&canvas, colours, out);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

#endif
