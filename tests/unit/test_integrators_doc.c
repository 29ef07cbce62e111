// SPDX-License-Identifier: MIT
// test_integrators_doc.c: the table in docs/explanation/integrators.md says of every scheme what
// the registry says. Each row is written out from the registry and looked for in the file, so that
// neither can change alone.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"

#define DOCUMENT "docs/explanation/integrators.md"
#define DOCUMENT_BYTES (1 << 20)

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static const char *count(char text[8], unsigned value, const char *zero)
{
    snprintf(text, 8, "%u", value);
    return value > 0 ? text : zero;
}

// | name (aliases) | order | damped | rotation | symplectic | reversible | E/step | contacts | rods
// |
static void write_row(const foliot_integrator_info *info, char *row, size_t bytes)
{
    static const char *const reversible[] = {[FOLIOT_REVERSIBILITY_NONE] = "no",
                                             [FOLIOT_REVERSIBILITY_ROUNDED] = "yes",
                                             [FOLIOT_REVERSIBILITY_EXACT] = "bit for bit"};
    char damped[8], rotation[8], evaluations[8], aliases[128];
    size_t length = 0;
    for (const char *at = info->aliases; *at && length + 3 < sizeof aliases; at++) {
        if (*at == ' ')
            aliases[length++] = ',';
        aliases[length++] = *at;
    }
    aliases[length] = 0;
    snprintf(row, bytes, "| %s%s%s%s | %u | %s | %s | %s | %s | %s | %s | %s |\n", info->name,
             length ? " (" : "", aliases, length ? ")" : "", info->order,
             count(damped, info->order_damped, "refused"),
             count(rotation, info->rotation_order, "none"), yes(info->symplectic),
             reversible[info->reversible], count(evaluations, info->evaluations, "solver"),
             yes(info->contacts), yes(info->rods));
}

TEST(the_table_is_that_of_the_registry)
{
    char *text = calloc(DOCUMENT_BYTES, 1), row[512];
    FILE *file = fopen(DOCUMENT, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, DOCUMENT_BYTES - 1, file);
    fclose(file);
    check_gt(length, 0);
    unsigned missing = 0;
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        write_row(foliot_integrator_get_info((foliot_integrator)id), row, sizeof row);
        if (!strstr(text, row)) {
            print_error("not in %s: %s", DOCUMENT, row);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
    free(text);
}
