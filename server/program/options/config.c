// SPDX-License-Identifier: MIT
// config.c: see config.h. The file's keys become arguments, so that the parser of the command line
// reads and checks every value.
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "scene/document.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define ARGUMENTS_MAX 1024

static struct {
    foliot__reading reading; // its memory lives as long as the program
    foliot_error error;
    int argc;
    char *argv[ARGUMENTS_MAX + 1];
    struct {
        const char *name;
        uint32_t line;
    } keys[ARGUMENTS_MAX];
    uint32_t key_count;
    int own_argc;
    char **own_argv;
    char *scene[1];
} config;

static bool wrong(foliot__text_place place, const char *key, const char *sentence)
{
    foliot__fault_text(&config.reading, FOLIOT_STATUS_INVALID, place, key, sentence);
    return false;
}

// Whether the command line itself has the option.
static bool is_given(const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < config.own_argc && strcmp(config.own_argv[i], "--") != 0; i++) {
        const char *a = config.own_argv[i];
        if (strncmp(a, "--", 2) == 0 && strncmp(a + 2, name, length) == 0 &&
            (a[2 + length] == 0 || a[2 + length] == '='))
            return true;
    }
    return false;
}

static const char *named_file(void)
{
    for (int i = 1; i < config.own_argc && strcmp(config.own_argv[i], "--") != 0; i++)
        if (strncmp(config.own_argv[i], "--config=", 9) == 0)
            return config.own_argv[i] + 9;
        else if (strcmp(config.own_argv[i], "--config") == 0 && i + 1 < config.own_argc)
            return config.own_argv[i + 1];
    return NULL;
}

static bool add(const foliot__node *value, const char *name)
{
    char *argument =
        foliot__reading_allocate(&config.reading, strlen(name) + 4 + strlen(value->as.text));
    if (!argument || config.argc >= ARGUMENTS_MAX - config.own_argc)
        return wrong(value->place, name, "too many values");
    sprintf(argument, "--%s=%s", name, value->as.text);
    config.argv[config.argc++] = argument;
    return true;
}

static const foliot__option *find(const foliot__option *options, const foliot__node *key)
{
    const foliot__option *nearest = NULL;
    uint32_t least = UINT32_MAX;
    char why[160];
    for (const foliot__option *o = options; o->name; o++) {
        uint32_t distance = foliot__word_distance(key->as.text, o->name);
        if (strcmp(o->name, key->as.text) == 0)
            return o;
        if (distance < least) {
            least = distance;
            nearest = o;
        }
    }
    snprintf(why, sizeof why,
             nearest && foliot__word_close(key->as.text, least)
                 ? "there is no such option; did you mean '%s'?"
                 : "there is no such option",
             nearest ? nearest->name : "");
    wrong(key->place, key->as.text, why);
    return NULL;
}

static bool apply_pair(const foliot__option *options, const foliot__node *key,
                       const foliot__node *value)
{
    if (strcmp(key->as.text, "scene") == 0 && value->kind == FOLIOT__SCALAR) {
        config.scene[0] = (char *)value->as.text;
        return true;
    }
    const foliot__option *o = find(options, key);
    if (!o)
        return false;
    if (strcmp(o->name, "config") == 0 || strcmp(o->name, "print-config") == 0)
        return wrong(key->place, key->as.text, "this is only for the command line");
    if (is_given(o->name))
        return true;
    config.keys[config.key_count].name = o->name;
    config.keys[config.key_count++].line = key->place.line;
    if (o->kind == FOLIOT__OPTION_FLAG) {
        bool yes = value->kind == FOLIOT__SCALAR && strcmp(value->as.text, "true") == 0;
        if (!yes && (value->kind != FOLIOT__SCALAR || strcmp(value->as.text, "false") != 0))
            return wrong(value->place, o->name, "true or false is expected here");
        char *argument =
            yes ? foliot__reading_allocate(&config.reading, strlen(o->name) + 3) : NULL;
        if (argument) {
            sprintf(argument, "--%s", o->name);
            config.argv[config.argc++] = argument;
        }
        return true;
    }
    if (value->kind == FOLIOT__SCALAR)
        return add(value, o->name);
    if (o->kind != FOLIOT__OPTION_TEXTS || value->kind != FOLIOT__SEQUENCE)
        return wrong(value->place, o->name, "one value is expected here");
    for (const foliot__node *item = value->as.first; item; item = item->next)
        if (item->kind != FOLIOT__SCALAR)
            return wrong(item->place, o->name, "a list of texts is expected here");
        else if (!add(item, o->name))
            return false;
    return true;
}

static bool apply_file(const foliot__option *options, const char *text, size_t length)
{
    const foliot__node *top = foliot__document_of(&config.reading, text, length);
    if (!top)
        return false;
    if (top->kind != FOLIOT__MAPPING) {
        foliot__fault(&config.reading, FOLIOT_STATUS_INVALID, top->place, NULL, "%s",
                      "a mapping of options is expected here");
        return false;
    }
    for (const foliot__node *key = top->as.first; key; key = key->next->next)
        if (!apply_pair(options, key, key->next))
            return false;
    return true;
}

int foliot__config_read(const foliot__program *program, int *argc, char ***argv)
{
    size_t length;
    config.own_argc = *argc;
    config.own_argv = *argv;
    const char *file = named_file();
    if (!file)
        return 0;
    char *text = foliot__file_slurp_text(file, FILE_BYTES_MAX, &length);
    if (!text) {
        fprintf(stderr, "%s: --config: %s: %s\n", program->name, file, foliot__file_problem(errno));
        return FOLIOT__EXIT_SCENE;
    }
    config.reading = (foliot__reading){.file = file, .error = &config.error};
    config.reading.numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    config.argv[config.argc++] = config.own_argv[0];
    bool fine = apply_file(program->commands[0].options, text, length);
    free(text);
    if (!fine) {
        fprintf(stderr, "%s\n", *config.error.text ? config.error.text : "no memory");
        return FOLIOT__EXIT_SCENE;
    }
    for (int i = 1; i < config.own_argc && config.argc < ARGUMENTS_MAX; i++)
        config.argv[config.argc++] = config.own_argv[i];
    *argc = config.argc;
    *argv = config.argv;
    return 0;
}

void foliot__config_apply_scene(foliot__arguments *arguments)
{
    if (!config.scene[0] || arguments->operand_count > 0)
        return;
    arguments->operands = config.scene;
    arguments->operand_count = 1;
}

// -- printing

// In a form that YAML reads back.
static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            putchar('\\');
        putchar(*text == '\n' ? 'n' : *text);
    }
    putchar('"');
}

static void print_texts(const foliot__texts *texts)
{
    putchar('[');
    for (uint32_t i = 0; i < texts->count; i++) {
        fputs(i ? ", " : "", stdout);
        print_text(texts->items[i]);
    }
    putchar(']');
}

static void print_value(const foliot__option *o)
{
    const char *text;
    switch (o->kind) {
    case FOLIOT__OPTION_FLAG:
        fputs(*(bool *)o->to ? "true" : "false", stdout);
        return;
    case FOLIOT__OPTION_TEXT:
        text = *(const char **)o->to;
        if (text)
            print_text(text);
        else
            putchar('~');
        return;
    case FOLIOT__OPTION_TEXTS:
        print_texts(o->to);
        return;
    case FOLIOT__OPTION_COUNT:
        printf("%llu", (unsigned long long)*(uint64_t *)o->to);
        return;
    default:
        printf("%.17g", *(double *)o->to);
    }
}

static void print_origin(const char *name)
{
    for (uint32_t i = 0; i < config.key_count; i++)
        if (strcmp(config.keys[i].name, name) == 0) {
            printf("  # %s:%u\n", config.reading.file, config.keys[i].line);
            return;
        }
    puts(is_given(name) ? "  # command line" : "  # default");
}

void foliot__config_print(const foliot__program *program)
{
    for (const foliot__option *o = program->commands[0].options; o->name; o++) {
        if (strcmp(o->name, "config") == 0 || strcmp(o->name, "print-config") == 0)
            continue;
        printf("%s: ", o->name);
        print_value(o);
        print_origin(o->name);
    }
}
