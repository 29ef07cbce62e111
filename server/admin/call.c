// SPDX-License-Identifier: MIT
// call.c: a call of the admin API: parses its body strictly, prints its answer. Knows no server.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/app.h"
#include "admin.h"
#include "base/json_reader.h"
#include "base/text.h"

foliot__call *foliot__call_create(foliot__app *app, const foliot__action *action)
{
    foliot__call *call = calloc(1, sizeof *call);
    if (call)
        *call = (foliot__call){.app = app, .action = action, .status = 200};
    return call;
}

void foliot__call_destroy(foliot__call *call)
{
    free(call->body.command);
    free(call->items);
    free(call);
}

foliot__outcome foliot__call_fail(foliot__call *call, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->problem, sizeof call->problem, format, arguments);
    va_end(arguments);
    call->status = status;
    return FOLIOT__CALL_DONE;
}

static bool read_count(foliot__json_reader *r, uint64_t *value)
{
    char number[FOLIOT__JSON_NUMBER_BYTES];
    return foliot__json_number(r, number) &&
           (foliot__parse_count(number, value) ||
            foliot__json_fail(r, "a whole number is expected here"));
}

// The position of the key among those of the action, which blanks separate; -1: not among them.
static int place_of(const char *keys, const char *key)
{
    size_t length = strlen(key);
    for (int place = 0; *keys; place++) {
        size_t word = strcspn(keys, " ");
        if (word == length && memcmp(keys, key, length) == 0)
            return place;
        keys += word;
        keys += *keys == ' ';
    }
    return -1;
}

static bool read_value(foliot__call *c, foliot__json_reader *r, const char *key)
{
    const struct {
        const char *key;
        char *to;
        size_t bytes;
    } texts[] = {{"name", c->body.name, sizeof c->body.name},
                 {"scene", c->body.scene, sizeof c->body.scene},
                 {"reason", c->body.reason, sizeof c->body.reason},
                 {"text", c->body.text, sizeof c->body.text},
                 {"file", c->file, sizeof c->file},
                 {"address", c->body.address, sizeof c->body.address},
                 {"client", c->body.client, sizeof c->body.client}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(key, texts[i].key) == 0)
            return foliot__json_text_value(r, texts[i].to, texts[i].bytes);
    if (strcmp(key, "seconds") == 0)
        return read_count(r, &c->body.seconds);
    if (strcmp(key, "player") == 0)
        return c->body.has_player = true, read_count(r, &c->body.player);
    c->body.has_record = true; // record
    c->body.record = foliot__json_peek(r) == 't';
    return foliot__json_word(r, c->body.record ? "true" : "false");
}

bool foliot__call_read(foliot__call *c, const char *body, size_t length)
{
    char key[32];
    if (!c->action->keys) {
        c->body.command = calloc(1, sizeof *c->body.command);
        if (!c->body.command)
            return foliot__call_fail(c, 503, "no memory"), false;
        if (foliot__command_line_parse(body, length, false, c->body.command))
            return true;
        foliot__call_fail(c, 400, "byte %zu: %s", c->body.command->problem_at,
                          c->body.command->problem);
        return false;
    }
    if (length == 0)
        return true;
    uint32_t seen = 0; // a bit for each place
    foliot__json_reader r = foliot__json_reader_of(body, length);
    foliot__json_enter(&r, '{');
    while (foliot__json_more(&r)) {
        if (!foliot__json_key(&r, key, sizeof key))
            break;
        int place = place_of(c->action->keys, key);
        if (place < 0) { // an error of the caller
            foliot__call_fail(c, 400, "there is no key '%.31s' here%s%s", foliot__text_mend(key),
                              *c->action->keys ? "; there is: " : "", c->action->keys);
            return false;
        }
        if (seen & 1u << place) { // parsers differ in which of two they use
            foliot__call_fail(c, 400, "the key '%.31s' is given twice", key);
            return false;
        }
        seen |= 1u << place;
        if (!read_value(c, &r, key))
            break;
    }
    if (foliot__json_end(&r) && !r.problem)
        return true;
    foliot__call_fail(c, 400, "byte %zu: %s", r.at, r.problem ? r.problem : "this is not JSON");
    return false;
}

void foliot__call_print(const foliot__call *c, FILE *out)
{
    foliot__json j = foliot__json_to(out);
    foliot__json_object(&j, NULL);
    if (c->status >= 400)
        foliot__json_text(&j, "error", c->problem);
    else if (c->action->print)
        c->action->print(c, &j);
    else
        foliot__json_bool(&j, "ok", true);
    foliot__json_line(&j);
}
