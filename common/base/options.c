// SPDX-License-Identifier: MIT
// options.c: reads a command line against its table: every argument once to find the command, and
// once more to read the options. Prints only in foliot__options_help, _wrong and _start.
#include "base/options.h"

#include <stdarg.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "foliot/status.h"

#define HELP_COLUMNS 80
#define HELP_INDENT 29    // of the text after an option's name
#define COMMAND_INDENT 17 // of the text after a command's name

static foliot__options_outcome report_mistake(foliot__arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static foliot__options_outcome report_mistake(foliot__arguments *arguments, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(arguments->message, sizeof arguments->message, format, list);
    va_end(list);
    return FOLIOT__OPTIONS_WRONG;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != 0;
}

static const foliot__option *option_of(const foliot__command *command, const char *argument)
{
    for (const foliot__option *o = command->options; o && o->name; o++) {
        // Is `argument` "--NAME" or "--NAME=..."?
        size_t length = strlen(o->name);
        if (strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, o->name, length) == 0 &&
            (argument[2 + length] == 0 || argument[2 + length] == '='))
            return o;
    }
    return NULL;
}

// Does the argument after this one belong to it? Asked before the command is known: tables must
// agree.
static bool uses_next(const foliot__program *program, const char *argument)
{
    if (strchr(argument, '='))
        return false;
    for (const foliot__command *c = program->commands; c->name; c++) {
        const foliot__option *o = option_of(c, argument);
        if (o)
            return o->kind != FOLIOT__OPTION_FLAG;
    }
    return false;
}

static const foliot__command *command_named(const foliot__program *program, const char *name)
{
    for (const foliot__command *c = program->commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

// The command that was probably meant, or NULL.
static const char *nearest_command(const foliot__program *program, const char *written)
{
    const char *nearest = NULL;
    uint32_t least = UINT32_MAX;
    for (const foliot__command *c = program->commands; c->name; c++) {
        uint32_t distance = foliot__word_distance(written, c->name);
        if (distance < least) {
            least = distance;
            nearest = c->name;
        }
    }
    return nearest && nearest[0] && foliot__word_close(written, least) ? nearest : NULL;
}

// The command's place in argv, 0 if it is the default one; negative if there is none.
static int find_command(const foliot__program *program, int argc, char **argv,
                        foliot__arguments *arguments)
{
    const foliot__command *standard = command_named(program, "");
    const char *written = NULL;
    int at = 0;
    for (int i = 1; i < argc && !written && strcmp(argv[i], "--") != 0; i++) {
        if (is_option(argv[i])) {
            i += uses_next(program, argv[i]);
            continue;
        }
        written = argv[i];
        at = i;
    }
    arguments->command = written && written[0] ? command_named(program, written) : NULL;
    if (arguments->command)
        return at;
    arguments->command = standard;
    if (standard)
        return 0;
    if (written) {
        const char *nearest = nearest_command(program, written);
        char clean[128];
        foliot__text_clean(clean, sizeof clean, written);
        if (nearest)
            report_mistake(arguments, "there is no command '%s'; did you mean '%s'?", clean,
                           nearest);
        else
            report_mistake(arguments, "there is no command '%s'", clean);
    } else {
        report_mistake(arguments, "no command given");
    }
    return -1;
}

static bool is_in_range(const foliot__option *option, double value)
{
    if (option->kind == FOLIOT__OPTION_POSITIVE)
        return value > 0;
    if (option->low == 0 && option->high == 0 && option->kind == FOLIOT__OPTION_REAL)
        return true;
    bool open = option->kind == FOLIOT__OPTION_COUNT && option->high == 0;
    return value >= option->low && (open || value <= option->high);
}

static foliot__options_outcome bad_number(const foliot__option *option, const char *written,
                                          foliot__arguments *arguments)
{
    char clean[64], range[96] = "";
    foliot__text_clean(clean, sizeof clean, written);
    const char *what = option->kind == FOLIOT__OPTION_COUNT ? "a whole number" : "a number";
    if (option->kind == FOLIOT__OPTION_POSITIVE)
        snprintf(range, sizeof range, " above 0");
    else if (option->high != 0)
        snprintf(range, sizeof range, " from %.15g to %.15g", option->low, option->high);
    else if (option->low != 0)
        snprintf(range, sizeof range, ", at least %.15g", option->low);
    return report_mistake(arguments, "--%s expects %s%s, not '%s'", option->name, what, range,
                          clean);
}

// Is `value` one of the words of "snapshot|lockstep"? Anything is, where a part is in capitals.
static bool is_choice(const char *choices, const char *value)
{
    if (!strchr(choices, '|'))
        return true;
    for (const char *part = choices; *part; part += *part == '|') {
        size_t length = strcspn(part, "|");
        if (*part < 'a' || *part > 'z' ||
            (strlen(value) == length && strncmp(part, value, length) == 0))
            return true;
        part += length;
    }
    return false;
}

static foliot__options_outcome check_text(const foliot__option *option, const char *value,
                                          foliot__arguments *arguments)
{
    if (!value[0])
        return report_mistake(arguments, "--%s expects %s, not an empty text", option->name,
                              option->value);
    if (option->high > 0 && (double)strlen(value) > option->high)
        return report_mistake(arguments, "--%s expects %s of at most %.0f bytes, not of %zu",
                              option->name, option->value, option->high, strlen(value));
    if (is_choice(option->value, value))
        return FOLIOT__OPTIONS_RUN;
    char clean[64], list[128] = "";
    size_t used = 0;
    for (const char *c = option->value; *c && used + 5 < sizeof list; c++)
        if (*c == '|')
            used += (size_t)sprintf(list + used, "%s", strchr(c + 1, '|') ? ", " : " or ");
        else
            list[used++] = *c;
    list[used] = 0;
    return report_mistake(arguments, "--%s is %s, not '%s'", option->name, list,
                          foliot__text_clean(clean, sizeof clean, value));
}

static foliot__options_outcome store_value(const foliot__option *option, const char *value,
                                           foliot__arguments *arguments)
{
    double real;
    uint64_t count;
    foliot__texts *texts = option->to;
    switch (option->kind) {
    case FOLIOT__OPTION_FLAG:
        *(bool *)option->to = true;
        break;
    case FOLIOT__OPTION_TEXT:
        if (check_text(option, value, arguments) != FOLIOT__OPTIONS_RUN)
            return FOLIOT__OPTIONS_WRONG;
        *(const char **)option->to = value;
        break;
    case FOLIOT__OPTION_TEXTS:
        if (check_text(option, value, arguments) != FOLIOT__OPTIONS_RUN)
            return FOLIOT__OPTIONS_WRONG;
        if (texts->count == FOLIOT__TEXTS_MAX)
            return report_mistake(arguments, "--%s is given more than %d times", option->name,
                                  FOLIOT__TEXTS_MAX);
        texts->items[texts->count++] = value;
        break;
    case FOLIOT__OPTION_COUNT:
        if (!foliot__parse_count(value, &count) || !is_in_range(option, (double)count))
            return bad_number(option, value, arguments);
        *(uint64_t *)option->to = count;
        break;
    case FOLIOT__OPTION_REAL:
    case FOLIOT__OPTION_POSITIVE:
        if (!foliot__parse_real(value, &real) || !is_in_range(option, real))
            return bad_number(option, value, arguments);
        *(double *)option->to = real;
        break;
    }
    if (option->given)
        *option->given = true;
    return FOLIOT__OPTIONS_RUN;
}

static foliot__options_outcome unknown_option(const foliot__command *command, const char *written,
                                              foliot__arguments *arguments)
{
    char name[FOLIOT__WORD_MAX + 2], clean[FOLIOT__WORD_MAX + 2];
    size_t length = strcspn(written, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < 65 ? length : 65), written);
    const char *nearest = "help";
    uint32_t least = foliot__word_distance(name, "--help");
    for (const foliot__option *o = command->options; o && o->name; o++) {
        char known[FOLIOT__WORD_MAX];
        snprintf(known, sizeof known, "--%s", o->name);
        uint32_t distance = foliot__word_distance(name, known);
        if (distance < least) {
            least = distance;
            nearest = o->name;
        }
    }
    foliot__text_clean(clean, sizeof clean, name);
    if (strcmp(name, "--help") == 0 || strcmp(name, "--version") == 0)
        return report_mistake(arguments, "%s takes no value", clean);
    if (foliot__word_close(name, least))
        return report_mistake(arguments, "there is no option %s; did you mean --%s?", clean,
                              nearest);
    return report_mistake(arguments, "there is no option %s", clean);
}

// Reads the option at argv[*at] and moves *at to its last argument.
static foliot__options_outcome read_option(foliot__arguments *arguments, int argc, char **argv,
                                           int *at, uint64_t *seen)
{
    const char *argument = argv[*at];
    const foliot__option *option = option_of(arguments->command, argument);
    if (!option)
        return unknown_option(arguments->command, argument, arguments);
    size_t index = (size_t)(option - arguments->command->options);
    FOLIOT_ASSERT(index < 64);
    if ((*seen >> index & 1) && option->kind != FOLIOT__OPTION_TEXTS)
        return report_mistake(arguments, "--%s is given twice", option->name);
    *seen |= UINT64_C(1) << index;
    const char *value = strchr(argument, '=');
    if (option->kind == FOLIOT__OPTION_FLAG) {
        if (value)
            return report_mistake(arguments, "--%s takes no value", option->name);
        return store_value(option, NULL, arguments);
    }
    if (value)
        return store_value(option, value + 1, arguments);
    double number;
    if (*at + 1 >= argc ||
        (is_option(argv[*at + 1]) && !foliot__parse_real(argv[*at + 1], &number)))
        return report_mistake(arguments, "--%s expects a value: %s", option->name, option->value);
    *at += 1;
    return store_value(option, argv[*at], arguments);
}

static foliot__options_outcome check_operands(const foliot__program *program,
                                              foliot__arguments *arguments)
{
    const foliot__command *command = arguments->command;
    char clean[128];
    if (arguments->operand_count < command->operands_min) {
        // Named as the synopsis names it, "SCENE".
        const char *synopsis = arguments->command->synopsis, *word = synopsis;
        for (uint32_t i = 0; i < arguments->operand_count; i++) {
            word += strcspn(word, " ");
            word += *word == ' ';
        }
        size_t length = strcspn(word, " ");
        if (length == 0 || *word == '-' || *word == '[')
            return report_mistake(arguments, "too few operands; the usage is: %s", synopsis);
        return report_mistake(arguments, "%.*s is missing; the usage is: %s", (int)length, word,
                              synopsis);
    }
    if (arguments->operand_count > command->operands_max) {
        const char *extra = arguments->operands[command->operands_max];
        // A first operand may be a command whose name is misspelt.
        const char *meant =
            command->name[0] ? NULL : nearest_command(program, arguments->operands[0]);
        if (meant)
            return report_mistake(arguments, "there is no command '%s'; did you mean '%s'?",
                                  foliot__text_clean(clean, sizeof clean, arguments->operands[0]),
                                  meant);
        return report_mistake(arguments, "'%s' is one operand too many; the usage is: %s",
                              foliot__text_clean(clean, sizeof clean, extra), command->synopsis);
    }
    return FOLIOT__OPTIONS_RUN;
}

// --help and --version take precedence over any mistake in the other options.
static foliot__options_outcome help_or_version_asked(const foliot__program *program, int argc,
                                                     char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return FOLIOT__OPTIONS_HELP;
        if (strcmp(argv[i], "--version") == 0)
            return FOLIOT__OPTIONS_VERSION;
        if (is_option(argv[i]))
            i += uses_next(program, argv[i]);
    }
    return FOLIOT__OPTIONS_RUN;
}

foliot__options_outcome foliot__options_read(const foliot__program *program, int argc, char **argv,
                                             foliot__arguments *arguments)
{
    *arguments = (foliot__arguments){.operands = argv + (argc > 0)};
    foliot__options_outcome outcome = help_or_version_asked(program, argc, argv);
    int command_at = find_command(program, argc, argv, arguments);
    if (outcome != FOLIOT__OPTIONS_RUN) {
        if (command_at == 0)
            arguments->command = NULL;
        return outcome;
    }
    if (command_at < 0)
        return FOLIOT__OPTIONS_WRONG;
    bool options_end = false;
    uint64_t seen = 0;
    for (int i = 1; i < argc; i++) {
        if (i == command_at)
            continue;
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && is_option(argv[i])) {
            outcome = read_option(arguments, argc, argv, &i, &seen);
            if (outcome != FOLIOT__OPTIONS_RUN)
                return outcome;
        } else {
            // Never beyond i: every operand was read from its place or a later one.
            arguments->operands[arguments->operand_count++] = argv[i];
        }
    }
    return check_operands(program, arguments);
}

// -- what people see

// Breaks between words, with text in brackets as one word; lines have at most HELP_COLUMNS if
// possible.
static void print_wrapped(FILE *out, size_t column, size_t indent, const char *text)
{
    while (*text) {
        size_t length = 0;
        int depth = 0;
        while (text[length] && (text[length] != ' ' || depth > 0)) {
            depth += (text[length] == '[') - (text[length] == ']');
            length++;
        }
        bool breaks = column + 1 + length > HELP_COLUMNS && column > indent;
        if (breaks) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        fprintf(out, "%s%.*s", breaks ? "" : " ", (int)length, text);
        column += length + !breaks;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void help_options(const foliot__option *options, FILE *out)
{
    fprintf(out, "\nOptions:\n");
    for (const foliot__option *o = options; o && o->name; o++) {
        char left[96];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        // A long one is on a separate line.
        if (strlen(left) <= 26)
            fprintf(out, "  %-26s", left);
        else
            fprintf(out, "  %s\n%*s", left, HELP_INDENT - 1, "");
        char help[512], standard[64];
        foliot__option_default(o, standard, sizeof standard);
        snprintf(help, sizeof help, "%s%s%s%s%s", o->help ? o->help : "",
                 o->kind == FOLIOT__OPTION_TEXTS ? " (repeatable)" : "",
                 standard[0] ? " (default " : "", standard, standard[0] ? ")" : "");
        print_wrapped(out, HELP_INDENT - 1, HELP_INDENT, help);
    }
    fprintf(out, "  %-26s %s\n", "--help", "this text");
    fprintf(out, "  %-26s %s\n", "--version", "version, build and fingerprint");
}

static void help_usage(const foliot__program *program, const foliot__command *command, FILE *out)
{
    const char *blank = command->name[0] ? " " : "";
    fprintf(out, "  %s%s%s", program->name, blank, command->name);
    size_t column = 2 + strlen(program->name) + strlen(blank) + strlen(command->name);
    print_wrapped(out, column, 6, command->synopsis ? command->synopsis : "");
}

void foliot__options_help(const foliot__program *program, const foliot__command *command, FILE *out)
{
    if (!command) {
        fprintf(out, "Examples:\n%s\n%s %s\n\nUsage:\n", program->examples, program->name,
                program->summary);
        uint32_t count = 0;
        for (const foliot__command *c = program->commands; c->name; c++, count++)
            help_usage(program, c, out);
        if (count == 1) {
            help_options(program->commands[0].options, out);
        } else {
            fprintf(out, "\nCommands:\n");
            for (const foliot__command *c = program->commands; c->name; c++) {
                fprintf(out, "  %-*s", COMMAND_INDENT - 3, c->name[0] ? c->name : "(none)");
                print_wrapped(out, COMMAND_INDENT - 1, COMMAND_INDENT, c->summary);
            }
            const foliot__command *standard = command_named(program, "");
            if (standard)
                help_options(standard->options, out);
            fprintf(out, "\n'%s COMMAND --help' has the options of each.\n", program->name);
        }
        return;
    }
    fprintf(out, "Examples:\n%s\n", command->examples);
    int column = fprintf(out, "%s %s", program->name, command->name);
    print_wrapped(out, (size_t)column, 2, command->summary);
    fprintf(out, "\nUsage:\n");
    help_usage(program, command, out);
    help_options(command->options, out);
}

static int print_mistake(const foliot__program *program, const foliot__command *command,
                         const char *message)
{
    const char *name = command ? command->name : "";
    const char *blank = name[0] ? " " : "";
    fprintf(stderr, "%s%s%s: %s\nTry '%s%s%s --help'.\n", program->name, blank, name, message,
            program->name, blank, name);
    return FOLIOT__EXIT_USAGE;
}

int foliot__options_wrong(const foliot__program *program, const foliot__arguments *arguments,
                          const char *format, ...)
{
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return print_mistake(program, arguments->command, message);
}

int foliot__options_start(const foliot__program *program, int argc, char **argv,
                          foliot__arguments *arguments)
{
    char fingerprint[33] = "";
    if (argc == 3 && strcmp(argv[1], "--help-page") == 0 &&
        foliot__options_page(program, argv[2], stdout))
        return FOLIOT__EXIT_FINE;
    switch (foliot__options_read(program, argc, argv, arguments)) {
    case FOLIOT__OPTIONS_RUN:
        return -1;
    case FOLIOT__OPTIONS_HELP:
        foliot__options_help(program, arguments->command, stdout);
        return FOLIOT__EXIT_FINE;
    case FOLIOT__OPTIONS_VERSION:
        program->fingerprint(fingerprint);
        printf("%s %s\nbuild %s\nfingerprint %s\n", program->name, foliot_get_version(),
               foliot_get_build(), fingerprint);
        return FOLIOT__EXIT_FINE;
    case FOLIOT__OPTIONS_WRONG:
        break;
    }
    return print_mistake(program, arguments->command, arguments->message);
}
