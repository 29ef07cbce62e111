// SPDX-License-Identifier: MIT
// schema.c: reads values by their types and mappings by their tables (schema.h).
#include "scene/assembly.h"

#include <stdio.h>
#include <string.h>

#define KEYS_MAX 32 // of one table: they are counted off in a mask

static void fault_at_node(foliot__scene_source *source, const foliot__node *node,
                          const foliot__path *path, const char *sentence)
{
    foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path, "%s", sentence);
}

static bool is_empty(const foliot__node *node)
{
    if (node->kind != FOLIOT__SCALAR || !node->plain)
        return false;
    const char *text = node->as.text;
    return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

// Whether the node is a scalar with a value; else a fault with `sentence`, which names the type.
static bool is_scalar(foliot__scene_source *source, const foliot__node *node,
                      const foliot__path *path, const char *sentence)
{
    if (is_empty(node))
        fault_at_node(source, node, path, "has no value");
    else if (node->kind != FOLIOT__SCALAR)
        fault_at_node(source, node, path, sentence);
    return source->reading.status == FOLIOT_STATUS_OK;
}

// -- values

bool foliot__read_number(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, double *number)
{
    static const char sentence[] = "must be a number";
    if (!is_scalar(source, node, path, sentence))
        return false;
    foliot__number_fault wrong = foliot__number_of(&source->reading, node->as.text, number);
    if (wrong != FOLIOT__NUMBER_OK)
        fault_at_node(source, node, path, foliot__number_fault_text(wrong));
    else if (!node->plain)
        fault_at_node(source, node, path, "must be a number: remove the quotes");
    return wrong == FOLIOT__NUMBER_OK && node->plain;
}

bool foliot__read_vector(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, uint32_t count, double *numbers)
{
    if (is_empty(node)) {
        fault_at_node(source, node, path, "has no value");
        return false;
    }
    if (node->kind != FOLIOT__SEQUENCE || node->count != count) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "must be a list of %u numbers", (unsigned)count);
        return false;
    }
    foliot__path step = {path, NULL, 0};
    for (const foliot__node *at = node->as.first; at; at = at->next, step.index++)
        if (!foliot__read_number(source, at, &step, &numbers[step.index]))
            return false;
    return true;
}

static bool read_seed(foliot__scene_source *source, const foliot__node *node,
                      const foliot__path *path, uint64_t *number)
{
    static const char sentence[] = "must be a whole number from 0 to 2^64 - 1";
    if (!is_scalar(source, node, path, sentence))
        return false;
    if (node->plain && foliot__whole_of(node->as.text, number))
        return true;
    fault_at_node(source, node, path, sentence);
    return false;
}

bool foliot__read_whole(foliot__scene_source *source, const foliot__node *node,
                        const foliot__path *path, uint32_t *number)
{
    static const char sentence[] = "must be a whole number, 0 or greater";
    uint64_t wide;
    if (!is_scalar(source, node, path, sentence))
        return false;
    if (!node->plain || !foliot__whole_of(node->as.text, &wide) || wide > UINT32_MAX) {
        fault_at_node(source, node, path, sentence);
        return false;
    }
    *number = (uint32_t)wide;
    return true;
}

static bool read_flag(foliot__scene_source *source, const foliot__node *node,
                      const foliot__path *path, bool *flag)
{
    static const char sentence[] = "must be true or false";
    if (!is_scalar(source, node, path, sentence))
        return false;
    bool yes = node->plain && strcmp(node->as.text, "true") == 0;
    bool no = node->plain && strcmp(node->as.text, "false") == 0;
    if (!yes && !no)
        fault_at_node(source, node, path, sentence);
    *flag = yes;
    return yes || no;
}

// Plain scalars that other readers of YAML take for numbers, booleans or null are not text here.
bool foliot__read_text(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const char **text)
{
    double number;
    if (!is_scalar(source, node, path, "must be text"))
        return false;
    const char *written = node->as.text;
    bool other = node->plain &&
                 (strcmp(written, "true") == 0 || strcmp(written, "false") == 0 ||
                  foliot__number_of(&source->reading, written, &number) != FOLIOT__NUMBER_NONE);
    if (other)
        fault_at_node(source, node, path, "must be text: put it in quotes");
    *text = written;
    return !other;
}

bool foliot__read_choice(foliot__scene_source *source, const foliot__node *node,
                         const foliot__path *path, const char *const *words, uint32_t *choice)
{
    if (!is_scalar(source, node, path, "must be a word"))
        return false;
    for (uint32_t i = 0; words[i]; i++)
        if (strcmp(words[i], node->as.text) == 0) {
            *choice = i;
            return true;
        }
    uint32_t count = 0;
    while (words[count])
        count++;
    const char *meant = foliot__nearest(node->as.text, words, count);
    if (meant) {
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "`%.64s` is not known here; did you mean `%s`?", node->as.text, meant);
    } else {
        char known[256] = "";
        for (uint32_t i = 0; i < count; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                     words[i]);
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      "`%.64s` is not known here; known are %s", node->as.text, known);
    }
    return false;
}

static bool read_body(foliot__scene_source *source, const foliot__node *node,
                      const foliot__path *path, uint32_t *index)
{
    if (!is_scalar(source, node, path, "must be the name of a body"))
        return false;
    *index = foliot__names_find(source->names.entries, source->names.count, node->as.text);
    if (*index == FOLIOT_NO_BODY) {
        const foliot__names *names = &source->names;
        const char *meant = NULL;
        unsigned scale =
            names->count > 10000 ? 0 : names->count; // a linear search of more names would be slow
        const char **words =
            foliot__reading_allocate(&source->reading, (scale + 1) * sizeof *words);
        for (uint32_t i = 0; words && i < scale; i++)
            words[i] = names->entries[i].name;
        if (words)
            meant = foliot__nearest(node->as.text, words, scale);
        foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, node->place, path,
                      meant ? "no body is called `%.64s`; did you mean `%.64s`?"
                            : "no body is called `%.64s`",
                      node->as.text, meant);
    }
    return *index != FOLIOT_NO_BODY;
}

// -- mappings

static void read_value(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const foliot__key *key, void *target)
{
    void *at = (char *)target + key->offset;
    switch (key->type) {
    case FOLIOT__NUMBER:
        foliot__read_number(source, node, path, at);
        break;
    case FOLIOT__VECTOR:
        foliot__read_vector(source, node, path, key->count, at);
        break;
    case FOLIOT__WHOLE:
        foliot__read_whole(source, node, path, at);
        break;
    case FOLIOT__SEED:
        read_seed(source, node, path, at);
        break;
    case FOLIOT__FLAG:
        read_flag(source, node, path, at);
        break;
    case FOLIOT__TEXT:
        foliot__read_text(source, node, path, at);
        break;
    case FOLIOT__CHOICE:
        foliot__read_choice(source, node, path, key->words, at);
        break;
    case FOLIOT__BODY:
        read_body(source, node, path, at);
        break;
    case FOLIOT__NESTED:
        key->read(source, node, path, at);
        break;
    case FOLIOT__SKIP:
        break;
    }
}

static const foliot__key *key_of(const foliot__key *keys, const char *name)
{
    for (const foliot__key *key = keys; key->name; key++)
        if (strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

void foliot__read_mapping(foliot__scene_source *source, const foliot__node *node,
                          const foliot__path *path, const foliot__key *keys, void *target)
{
    if (node->kind != FOLIOT__MAPPING) {
        fault_at_node(source, node, path,
                      is_empty(node) ? "has no value" : "must be a mapping of keys");
        return;
    }
    uint32_t seen = 0;
    for (const foliot__node *at = node->as.first; at; at = at->next->next) {
        foliot__path step = {path, at->as.text, 0};
        const foliot__key *key = key_of(keys, at->as.text);
        uint32_t bit = key ? (uint32_t)1 << (key - keys) : 0;
        if (!key) {
            const char *words[KEYS_MAX] = {NULL};
            uint32_t count = 0;
            for (; keys[count].name && count < KEYS_MAX; count++)
                words[count] = keys[count].name;
            const char *meant = foliot__nearest(at->as.text, words, count);
            if (meant) {
                foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, at->place, &step,
                              "unknown key; did you mean `%s`?", meant);
            } else {
                char known[512] = "";
                for (uint32_t i = 0; i < count; i++)
                    snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                             i ? ", " : "", words[i]);
                foliot__fault(&source->reading, FOLIOT_STATUS_INVALID, at->place, &step,
                              "unknown key; known here are %s", known);
            }
        } else if (seen & bit) {
            fault_at_node(source, at, &step, "this key is given twice");
        } else {
            read_value(source, at->next, &step, key, target);
        }
        if (source->reading.status != FOLIOT_STATUS_OK)
            return;
        seen |= bit;
    }
    for (unsigned i = 0; keys[i].name; i++) {
        foliot__path step = {path, keys[i].name, 0};
        if (keys[i].required && !(seen & (uint32_t)1 << i))
            fault_at_node(source, node, &step, "this key is required");
    }
}

void foliot__read_sequence(foliot__scene_source *source, const foliot__node *node,
                           const foliot__path *path, foliot__item_reader *item, void *target)
{
    if (node->kind != FOLIOT__SEQUENCE) {
        fault_at_node(source, node, path, is_empty(node) ? "has no value" : "must be a list");
        return;
    }
    foliot__path step = {path, NULL, 0};
    for (const foliot__node *at = node->as.first; at; at = at->next, step.index++) {
        item(source, at, &step, target);
        if (source->reading.status != FOLIOT_STATUS_OK)
            return;
    }
}

bool foliot__read_kind(foliot__scene_source *source, const foliot__node *node,
                       const foliot__path *path, const char *key, const char *const *words,
                       uint32_t *choice)
{
    foliot__path step = {path, key, 0};
    if (node->kind != FOLIOT__MAPPING) {
        fault_at_node(source, node, path,
                      is_empty(node) ? "has no value" : "must be a mapping of keys");
        return false;
    }
    const foliot__node *value = foliot__value_of(node, key);
    if (!value) {
        fault_at_node(source, node, &step, "this key is required");
        return false;
    }
    return foliot__read_choice(source, value, &step, words, choice);
}
