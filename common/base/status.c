// SPDX-License-Identifier: MIT
// status.c: names and texts of the statuses, from the one list; the error that carries a text.
#include "foliot/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *foliot_status_get_name(foliot_status status)
{
    static const struct {
        foliot_status status;
        const char *name;
    } names[] = {
#define ROW(code, value, text) {FOLIOT_STATUS_##code, #code},
        FOLIOT_STATUS_LIST(ROW)
#undef ROW
    };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return "UNKNOWN";
}

const char *foliot_status_get_text(foliot_status status)
{
    switch (status) {
#define CASE(code, value, text)                                                                    \
    case FOLIOT_STATUS_##code:                                                                     \
        return text;
        FOLIOT_STATUS_LIST(CASE)
#undef CASE
    }
    return "no such status";
}

foliot_status foliot_error_set(foliot_error *error, foliot_status status, const char *format, ...)
{
    if (!error)
        return status;
    *error = (foliot_error){.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}
