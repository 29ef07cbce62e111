// SPDX-License-Identifier: MIT
// names.c: see names.h. The tables of Unicode are libutf8proc's.
#include "admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/text.h"
#include "foliot/scene.h"

static bool is_normal(const char *name)
{
    utf8proc_uint8_t *normal = utf8proc_NFC((const utf8proc_uint8_t *)name);
    bool same = normal && strcmp((const char *)normal, name) == 0;
    free(normal);
    return same;
}
// Full-width letters and digits, and other compatibility characters, are folded to plain ones.
static bool misleads(const char *name)
{
    utf8proc_uint8_t *plain = utf8proc_NFKC_Casefold((const utf8proc_uint8_t *)name);
    bool wrong =
        foliot__name_misleads(name) || (plain && foliot__name_misleads((const char *)plain));
    free(plain);
    return wrong;
}

bool foliot__name_fits(const char *name, char *why, size_t why_bytes)
{
    char clean[FOLIOT_NAME_BYTES];
    size_t length = strlen(name);
    const char *problem = NULL;
    if (strcmp(foliot__text_clean(clean, sizeof clean, name), name) != 0)
        problem = "a name is UTF-8 without invisible characters";
    else if (strchr(name, '/')) // in a path of the admin API it would name another player
        problem = "a name has no '/'";
    else if (length > 0 && (name[0] == ' ' || name[length - 1] == ' '))
        problem = "a name has no space at its ends";
    else if (misleads(name))
        problem = "a name is not a number, does not begin with '#', has no space after ':' or '>', "
                  "and is not one of the server's own";
    else if (!is_normal(name))
        problem = "a name is in Unicode's normal form C: letters with accents are one character";
    if (problem)
        snprintf(why, why_bytes, "%s", problem);
    return !problem;
}
