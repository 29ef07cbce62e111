// SPDX-License-Identifier: MIT
// options_page.c: prints the tables of options as sections of a manual page (mdoc), as lists in
// Markdown, and as completion for bash and zsh. Reads tables, and defaults from their targets;
// changes nothing.
//
// An option that at least SHARED_MIN commands have in the same words is described once, after the
// commands. The texts are a subset of Markdown: `code` in backquotes, blank lines between
// paragraphs; --options need no backquotes.
#include <ctype.h>
#include <string.h>

#include "base/assert.h"
#include "base/options.h"

#define SHARED_MIN 3
#define PAGE_COLUMNS 118
#define USAGE_COLUMNS 90
#define TEXT_MAX 4096

void foliot__option_default(const foliot__option *option, char *text, size_t capacity)
{
    text[0] = 0;
    switch (option->kind) {
    case FOLIOT__OPTION_FLAG:
    case FOLIOT__OPTION_TEXTS:
        break;
    case FOLIOT__OPTION_TEXT:
        if (*(const char **)option->to)
            snprintf(text, capacity, "%s", *(const char **)option->to);
        break;
    case FOLIOT__OPTION_COUNT:
        if (*(uint64_t *)option->to)
            snprintf(text, capacity, "%llu", (unsigned long long)*(uint64_t *)option->to);
        break;
    case FOLIOT__OPTION_REAL:
    case FOLIOT__OPTION_POSITIVE:
        if (*(double *)option->to != 0)
            snprintf(text, capacity, "%.15g", *(double *)option->to);
        break;
    }
}

// -- which commands have an option

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const foliot__option *find_same(const foliot__command *command, const foliot__option *option)
{
    for (const foliot__option *o = command->options; o && o->name; o++)
        if (same_text(o->name, option->name) && same_text(o->value, option->value) &&
            same_text(o->help, option->help) && same_text(o->details, option->details))
            return o;
    return NULL;
}

static uint32_t count_commands(const foliot__program *program, const foliot__option *option)
{
    uint32_t count = 0;
    for (const foliot__command *c = program->commands; c->name; c++)
        count += !option || find_same(c, option);
    return count;
}

static bool is_shared(const foliot__program *program, const foliot__option *option)
{
    return count_commands(program, option) >= SHARED_MIN;
}

// Is the command the first that has this option?
static bool is_first(const foliot__program *program, const foliot__command *command,
                     const foliot__option *option)
{
    const foliot__command *c = program->commands;
    while (!find_same(c, option))
        c++;
    return c == command;
}

static bool has_own(const foliot__program *program, const foliot__command *command)
{
    for (const foliot__option *o = command->options; o && o->name; o++)
        if (!is_shared(program, o))
            return true;
    return false;
}

static bool any_shared(const foliot__program *program)
{
    for (const foliot__command *c = program->commands; c->name; c++)
        for (const foliot__option *o = c->options; o && o->name; o++)
            if (is_shared(program, o))
                return true;
    return false;
}

// -- sentences

typedef struct text {
    char bytes[TEXT_MAX];
    size_t length;
} text;

static void add(text *t, const char *string)
{
    size_t length = strlen(string);
    FOLIOT_ASSERT(t->length + length < sizeof t->bytes);
    memcpy(t->bytes + t->length, string, length + 1);
    t->length += length;
}

// A line of --help as a sentence: with a capital, unless it is code, and a full stop.
static void add_sentence(text *t, const char *line)
{
    size_t at = t->length;
    add(t, line);
    t->bytes[at] = (char)toupper((unsigned char)t->bytes[at]);
    if (t->length > at && !strchr(".!?", t->bytes[t->length - 1]))
        add(t, ".");
}

static void add_details(text *t, const char *details)
{
    if (details) {
        add(t, details[0] == '\n' ? "" : " ");
        add(t, details);
    }
}

static void add_range(text *t, const foliot__option *o)
{
    char line[128] = "", standard[64];
    bool number = o->kind == FOLIOT__OPTION_COUNT || o->kind == FOLIOT__OPTION_REAL;
    foliot__option_default(o, standard, sizeof standard);
    if (standard[0]) {
        snprintf(line, sizeof line, " Default: %s.", standard);
        add(t, line);
    }
    line[0] = 0;
    if (o->kind == FOLIOT__OPTION_POSITIVE)
        snprintf(line, sizeof line, " Range: above 0.");
    else if (number && o->high != 0)
        snprintf(line, sizeof line, " Range: %.15g to %.15g.", o->low, o->high);
    else if (number && o->low != 0)
        snprintf(line, sizeof line, " Range: at least %.15g.", o->low);
    else if (!number && o->high != 0)
        snprintf(line, sizeof line, " At most %.0f bytes.", o->high);
    add(t, line);
    if (o->kind == FOLIOT__OPTION_TEXTS)
        add(t, " May be repeated.");
}

// "Commands: `run`, `compare`." or "All commands but `key`."
static void add_commands(text *t, const foliot__program *program, const foliot__option *option)
{
    uint32_t all = count_commands(program, NULL), count = count_commands(program, option);
    bool but = all - count < count;
    if (all == count) {
        add(t, " All commands.");
        return;
    }
    add(t, but ? " All commands but" : " Commands:");
    uint32_t left = but ? all - count : count;
    for (const foliot__command *c = program->commands; c->name; c++) {
        if (!find_same(c, option) != but)
            continue;
        add(t, " `");
        add(t, c->name);
        add(t, --left == 0 ? "`." : left == 1 && but ? "` and" : "`,");
    }
}

static void describe_option(text *t, const foliot__program *program, const foliot__option *option)
{
    *t = (text){0};
    add_sentence(t, option->help);
    add_details(t, option->details);
    add_range(t, option);
    if (is_shared(program, option))
        add_commands(t, program, option);
}

static void describe_command(text *t, const foliot__command *command)
{
    *t = (text){0};
    add_sentence(t, command->summary);
    add_details(t, command->details);
}

// A word ends at a blank or a line's end outside of backquotes.
static size_t word_length(const char *word)
{
    size_t length = 0;
    for (bool code = false; word[length] && (code || !strchr(" \n", word[length])); length++)
        code ^= word[length] == '`';
    return length;
}

// The parts of a word: punctuation before, code or an option, and the rest.
typedef struct parts {
    int before, code, after; // lengths
    const char *at;          // of the code, without backquotes; NULL: there is none
    const char *rest;
} parts;

static parts divide(const char *word, size_t length)
{
    parts p = {.before = (int)strspn(word, "([\"")};
    const char *at = word + p.before, *end = word + length;
    if (*at == '`') {
        const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));
        FOLIOT_ASSERT(close);
        p.at = at + 1;
        p.code = (int)(close - at - 1);
        p.rest = close + 1;
    } else if (strncmp(at, "--", 2) == 0 && islower((unsigned char)at[2])) {
        p.at = at;
        p.code = (int)(2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-"));
        p.rest = at + p.code;
    } else {
        return p;
    }
    p.after = (int)(end - p.rest);
    return p;
}

// Splits off "\n\n" and passes over blanks; true at a paragraph's end.
static bool next_word(const char **at)
{
    size_t blanks = strspn(*at, " \n");
    bool ends = memchr(*at, '\n', blanks) != NULL;
    *at += blanks;
    return ends && **at;
}

// -- Markdown

static void markdown_text(FILE *out, const char *string, int column, int indent)
{
    for (bool first = true; *string; first = false) {
        if (next_word(&string)) {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
            first = true;
        }
        size_t length = word_length(string);
        parts p = divide(string, length);
        bool bare = p.at && string[p.before] != '`';
        int width = (int)length + 2 * bare;
        if (!first && column + 1 + width > PAGE_COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        if (bare)
            fprintf(out, "%.*s`%.*s`%.*s", p.before, string, p.code, p.at, p.after, p.rest);
        else
            fprintf(out, "%.*s", (int)length, string);
        column += width;
        string += length;
    }
    fputc('\n', out);
}

static void markdown_option(FILE *out, const foliot__program *program, const foliot__option *o)
{
    text t;
    describe_option(&t, program, o);
    int column =
        fprintf(out, "- `--%s%s%s`: ", o->name, o->value ? " " : "", o->value ? o->value : "");
    markdown_text(out, t.bytes, column, 2);
}

static void markdown_options(FILE *out, const foliot__program *program,
                             const foliot__command *command)
{
    if (!has_own(program, command))
        return;
    fputc('\n', out);
    for (const foliot__option *o = command->options; o->name; o++)
        if (!is_shared(program, o))
            markdown_option(out, program, o);
}

// A block of code. A text in brackets stays on one line.
static void markdown_usage(FILE *out, const foliot__program *program, const foliot__command *c)
{
    int column = fprintf(out, "```\n%s%s%s", program->name, c->name[0] ? " " : "", c->name) - 4;
    for (const char *word = c->synopsis; *word;) {
        size_t length = 0;
        for (int depth = 0; word[length] && (word[length] != ' ' || depth > 0); length++)
            depth += (word[length] == '[') - (word[length] == ']');
        if (column + 1 + (int)length > USAGE_COLUMNS)
            column = fprintf(out, "\n   ") - 1;
        column += fprintf(out, " %.*s", (int)length, word);
        word += length + (word[length] == ' ');
    }
    fputs("\n```\n\n", out);
}

static void write_markdown(const foliot__program *program, FILE *out)
{
    bool first = true;
    for (const foliot__command *c = program->commands; c->name; c++, first = false) {
        text t;
        describe_command(&t, c);
        if (!first)
            fputc('\n', out);
        if (c->name[0])
            fprintf(out, "### %s %s\n\n", program->name, c->name);
        markdown_usage(out, program, c);
        markdown_text(out, t.bytes, 0, 0);
        markdown_options(out, program, c);
    }
    if (!any_shared(program))
        return;
    fprintf(out, "\n### Options of several commands of %s\n\n", program->name);
    for (const foliot__command *c = program->commands; c->name; c++)
        for (const foliot__option *o = c->options; o && o->name; o++)
            if (is_shared(program, o) && is_first(program, c, o))
                markdown_option(out, program, o);
}

// -- mdoc

typedef struct mdoc {
    FILE *out;
    bool inside; // of a macro's line
} mdoc;

static void end_line(mdoc *m)
{
    if (m->inside)
        fputc('\n', m->out);
    m->inside = false;
}

// A macro or an argument of one. The first on a line gets its dot; a text that looks like a macro,
// and backslashes, are escaped.
static void put_macro(mdoc *m, const char *name)
{
    fprintf(m->out, "%s%s", m->inside ? " " : ".", name);
    m->inside = true;
}

static void put_bytes(mdoc *m, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\\')
            fputs("\\e", m->out);
        else
            fputc(word[i], m->out);
}

static void put_argument(mdoc *m, const char *word, size_t length)
{
    bool macro = (length == 2 || length == 3) && isupper((unsigned char)word[0]) &&
                 islower((unsigned char)word[1]);
    fputs(macro ? " \\&" : " ", m->out);
    put_bytes(m, word, length);
}

// One word of a synopsis: an option, a list of words, or a placeholder.
static void put_operand(mdoc *m, const char *word, size_t length)
{
    bool listed = memchr(word, '|', length) && !memchr(word, '.', length);
    if (length == 1 && *word == '|') {
        put_argument(m, word, length);
    } else if (strncmp(word, "--", 2) == 0) {
        put_macro(m, "Fl");
        put_argument(m, word + 1, length - 1);
    } else if (!listed) {
        put_macro(m, "Ar");
        put_argument(m, word, length);
    } else {
        for (size_t at = 0, part; at < length; at += part + 1) {
            part = strcspn(word + at, "| ");
            part = part < length - at ? part : length - at;
            if (at > 0)
                put_argument(m, "|", 1);
            put_macro(m, islower((unsigned char)word[at]) ? "Cm" : "Ar");
            put_argument(m, word + at, part);
        }
    }
}

// The length of a text in brackets, brackets included.
static size_t bracket_length(const char *string)
{
    size_t length = 0;
    int depth = 0;
    do
        depth += (string[length] == '[') - (string[length] == ']');
    while (depth > 0 && string[++length]);
    return length + 1;
}

// A synopsis, "SCENE [--dt DT]". At the top each option begins a line.
static void put_synopsis(mdoc *m, const char *string, size_t length, bool top)
{
    bool either = false; // after "|"
    for (size_t i = 0; i < length;) {
        if (string[i] == ' ') {
            i++;
            continue;
        }
        size_t inside = string[i] == '[' ? bracket_length(string + i) : 0;
        bool whole = inside > 0 && (i + inside == length || string[i + inside] == ' ');
        size_t word = whole ? inside : strcspn(string + i, " ");
        word = word < length - i ? word : length - i;
        if (top && !either && (whole || strncmp(string + i, "--", 2) == 0))
            end_line(m);
        if (whole) {
            put_macro(m, top ? "Op" : "Oo");
            put_synopsis(m, string + i + 1, inside - 2, false);
            if (top)
                end_line(m);
            else
                put_macro(m, "Oc");
        } else {
            put_operand(m, string + i, word);
        }
        either = word == 1 && string[i] == '|';
        i += word;
    }
    if (top)
        end_line(m);
}

// Before its options.
static size_t operands_length(const char *synopsis)
{
    const char *option = strstr(synopsis, "--"), *options = strstr(synopsis, "[options]");
    size_t length = strlen(synopsis);
    if (option && (size_t)(option - synopsis) < length)
        length = (size_t)(option - synopsis) - (option > synopsis && option[-1] == '[');
    if (options && (size_t)(options - synopsis) < length)
        length = (size_t)(options - synopsis);
    while (length > 0 && (synopsis[length - 1] == ' ' || synopsis[length - 1] == '|'))
        length--; // of an alternative that begins with an option
    return length;
}

static bool is_program(const char *word, size_t length)
{
    static const char *const names[] = {"foliot-server", "foliot-client", "foliot-replay",
                                        "foliot-lab", "foliotctl"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncmp(word, names[i], length) == 0)
            return true;
    return false;
}

// Code in a sentence: a line with a macro, and the punctuation around it as arguments.
static void put_code(mdoc *m, const char *word, parts p)
{
    bool page = is_program(p.at, (size_t)p.code), option = strncmp(p.at, "--", 2) == 0;
    if (p.before > 0)
        put_macro(m, "No");
    if (p.before > 0)
        put_argument(m, word, (size_t)p.before);
    if (p.before > 0)
        put_macro(m, "Ns");
    if (option) {
        put_synopsis(m, p.at, (size_t)p.code, false);
    } else {
        put_macro(m, page ? "Xr" : "Li");
        fputs(" ", m->out);
        if (!page)
            fputc('"', m->out);
        put_bytes(m, p.at, (size_t)p.code);
        fputs(page ? " 1" : "\"", m->out);
    }
    int punctuation = (int)strspn(p.rest, ".,;:!?)");
    punctuation = punctuation < p.after ? punctuation : p.after;
    for (int i = 0; i < punctuation; i++)
        put_argument(m, p.rest + i, 1);
    if (punctuation < p.after) {
        put_macro(m, "Ns No");
        put_argument(m, p.rest + punctuation, (size_t)(p.after - punctuation));
    }
    end_line(m);
}

static void mdoc_text(mdoc *m, const char *string)
{
    int column = 0;
    while (*string) {
        if (next_word(&string)) {
            fprintf(m->out, "%s.Pp\n", column ? "\n" : "");
            column = 0;
        }
        size_t length = word_length(string);
        parts p = divide(string, length);
        if (column > 0 && (p.at || column + 1 + (int)length > PAGE_COLUMNS)) {
            fputc('\n', m->out);
            column = 0;
        }
        if (p.at) {
            put_code(m, string, p);
        } else {
            fputs(column ? " " : strchr(".'", *string) ? "\\&" : "", m->out);
            put_bytes(m, string, length);
            column += (int)length + (column > 0);
            if (strchr(".!?", string[length - 1])) { // a sentence ends at a line's end
                fputc('\n', m->out);
                column = 0;
            }
        }
        string += length;
    }
    if (column)
        fputc('\n', m->out);
}

static void mdoc_option(mdoc *m, const foliot__program *program, const foliot__option *o)
{
    text t;
    describe_option(&t, program, o);
    fprintf(m->out, ".It Fl -%s", o->name);
    m->inside = true;
    if (o->value)
        put_operand(m, o->value, strlen(o->value));
    end_line(m);
    mdoc_text(m, t.bytes);
}

static void mdoc_options(mdoc *m, const foliot__program *program, const foliot__command *command)
{
    if (!has_own(program, command))
        return;
    fputs(".Bl -tag -width Ds\n", m->out);
    for (const foliot__option *o = command->options; o->name; o++)
        if (!is_shared(program, o))
            mdoc_option(m, program, o);
    fputs(".El\n", m->out);
}

// The options that every program and command has.
static void mdoc_common_options(FILE *out)
{
    fputs(".Bl -tag -width Ds\n.It Fl -help\nPrints the options and examples, of a command those "
          "of the command.\n.It Fl -version\nPrints version, build and fingerprint.\n.El\n",
          out);
}

static void mdoc_command(mdoc *m, const foliot__program *program, const foliot__command *command)
{
    text t;
    describe_command(&t, command);
    fprintf(m->out, ".It Cm %s", command->name);
    m->inside = true;
    put_synopsis(m, command->synopsis, operands_length(command->synopsis), false);
    end_line(m);
    mdoc_text(m, t.bytes);
    mdoc_options(m, program, command);
}

static void write_mdoc(const foliot__program *program, FILE *out)
{
    mdoc m = {out, false};
    const foliot__command *c = program->commands;
    bool several = count_commands(program, NULL) > 1, shared = any_shared(program);
    fputs(".Sh SYNOPSIS\n", out);
    for (c = program->commands; c->name; c++) {
        fputs(".Nm\n", out);
        if (c->name[0]) {
            put_macro(&m, "Cm");
            put_argument(&m, c->name, strlen(c->name));
        }
        put_synopsis(&m, c->synopsis, strlen(c->synopsis), true);
    }
    if (several) {
        fputs(".Sh COMMANDS\n.Bl -tag -width Ds\n", out);
        for (c = program->commands; c->name; c++)
            if (c->name[0])
                mdoc_command(&m, program, c);
        fputs(".El\n", out);
    }
    for (c = program->commands; c->name && c->name[0];)
        c++;
    fputs(".Sh OPTIONS\n", out);
    if (!c->name && !shared) {
        mdoc_common_options(out);
        return;
    }
    if (c->name) {
        text t;
        describe_command(&t, c);
        mdoc_text(&m, t.bytes);
        mdoc_options(&m, program, c);
        mdoc_common_options(out);
        return;
    }
    fputs("These options belong to several commands.\n.Bl -tag -width Ds\n", out);
    for (c = program->commands; c->name; c++)
        for (const foliot__option *o = c->options; o && o->name; o++)
            if (is_shared(program, o) && is_first(program, c, o))
                mdoc_option(&m, program, o);
    fputs(".El\nThese belong to every command.\n", out);
    mdoc_common_options(out);
}

// -- completion

// The words of "snapshot|lockstep|FILE", or of such a list among operands, with blanks between.
static void choices_of(const char *operands, char *words, size_t capacity)
{
    size_t used = 0, length;
    words[0] = 0;
    for (bool listed = false; *operands; operands += length + (operands[length] != 0)) {
        length = strcspn(operands, "| ");
        listed |= operands[length] == '|';
        if (listed && islower((unsigned char)*operands) && !memchr(operands, '.', length))
            used += (size_t)snprintf(words + used, capacity - used, "%s%.*s", used ? " " : "",
                                     (int)length, operands);
        FOLIOT_ASSERT(used < capacity);
        listed &= operands[length] == '|';
    }
}

// The commands that complete a value or an operand, from its placeholder.
static void write_values(bool zsh, const char *placeholder, FILE *out)
{
    char words[256];
    choices_of(placeholder, words, sizeof words);
    if (words[0] && zsh)
        fprintf(out, " compadd -- %s;", words);
    else if (words[0])
        fprintf(out, " mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\");", words);
    bool folder = strstr(placeholder, "DIR") != NULL;
    if (!folder && !strstr(placeholder, "FILE") && !strstr(placeholder, "PATH") &&
        !strstr(placeholder, "SCENE"))
        return;
    if (zsh)
        fprintf(out, " _files%s;", folder ? " -/" : "");
    else
        fprintf(out, " mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -%c -- \"$word\");",
                folder ? 'd' : 'f');
}

// A case for the value of each option. A shared one is for every command that has no other.
static void write_option_values(bool zsh, const foliot__program *program, bool shared, FILE *out)
{
    for (const foliot__command *c = program->commands; c->name; c++)
        for (const foliot__option *o = c->options; o && o->name; o++) {
            if (o->kind == FOLIOT__OPTION_FLAG || is_shared(program, o) != shared ||
                (shared && !is_first(program, c, o)))
                continue;
            fprintf(out, "    %s\"%s --%s\")", shared ? "*" : "", shared ? "" : c->name, o->name);
            write_values(zsh, o->value, out);
            fputs(" return ;;\n", out);
        }
}

static void write_quoted(const char *string, FILE *out)
{
    for (; *string; string++)
        if (*string == '\'')
            fputs("'\\''", out);
        else
            fputc(*string, out);
}

static void write_options(bool zsh, const foliot__command *command, FILE *out)
{
    const char *blank = "";
    fputs(zsh ? "options=(" : "options='", out);
    for (const foliot__option *o = command->options; o && o->name; o++)
        fprintf(out, "--%s ", o->name);
    fputs(zsh ? "--help --version) about=(" : "--help --version'", out);
    for (const foliot__option *o = command->options; zsh && o && o->name; o++, blank = " ") {
        fprintf(out, "%s'--%s -- ", blank, o->name);
        write_quoted(o->help, out);
        fputc('\'', out);
    }
    fputs(zsh ? " '--help -- this text' '--version -- version, build and fingerprint') ;;\n"
              : " ;;\n",
          out);
}

static void write_commands(const foliot__program *program, const char *between, FILE *out)
{
    const char *before = "";
    for (const foliot__command *c = program->commands; c->name; c++)
        if (c->name[0]) {
            fprintf(out, "%s%s", before, c->name);
            before = between;
        }
}

// Both shells have the same three cases: of values, options and operands.
static void write_cases(bool zsh, const foliot__program *program, FILE *out)
{
    fputs("    case \"$command $previous\" in\n", out);
    write_option_values(zsh, program, false, out);
    write_option_values(zsh, program, true, out);
    fputs("    esac\n    case $command in\n", out);
    for (const foliot__command *c = program->commands; c->name; c++) {
        fprintf(out, "    %s) ", c->name[0] ? c->name : "''");
        write_options(zsh, c, out);
    }
    if (program->commands[0].name[0])
        fputs(zsh ? "    *) options=(--help --version) about=('--help -- this text' '--version -- "
                    "version, build and fingerprint') ;;\n"
                  : "    *) options='--help --version' ;;\n",
              out);
    fputs("    esac\n", out);
    fputs(zsh ? "    if [[ $PREFIX == -* ]]; then\n        compadd -l -d about -- $options\n"
              : "    if [[ $word == -* ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n",
          out);
    fputs("        return\n    fi\n", out);
    if (count_commands(program, NULL) > 1) {
        fputs(zsh ? "    [[ -z $command ]] && compadd -- "
                  : "    [ -n \"$command\" ] || mapfile -t COMPREPLY < <(compgen -W '",
              out);
        write_commands(program, " ", out);
        fputs(zsh ? "\n" : "' -- \"$word\")\n", out);
    }
    fputs("    case $command in\n", out);
    for (const foliot__command *c = program->commands; c->name; c++) {
        char operands[256];
        size_t length = operands_length(c->synopsis);
        snprintf(operands, sizeof operands, "%.*s", (int)length, c->synopsis);
        fprintf(out, "    %s)", c->name[0] ? c->name : "''");
        write_values(zsh, operands, out);
        fputs(" ;;\n", out);
    }
    fputs("    esac\n", out);
}

static void write_completion(bool zsh, const foliot__program *program, FILE *out)
{
    const char *name = program->name, *shell = zsh ? "zsh" : "bash";
    char function[64];
    snprintf(function, sizeof function, "_%s", name);
    for (char *c = function; *c; c++)
        *c = *c == '-' ? '_' : *c;
    if (zsh)
        fprintf(out, "#compdef %s\n", name);
    fprintf(out, "# %s completion of %s, written by `%s --help-page %s`.\n", shell, name, name,
            shell);
    if (zsh)
        fprintf(out,
                "%s()\n{\n"
                "    local word command= previous=$words[CURRENT-1]\n"
                "    local -a options about\n"
                "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
                "        case $word in\n        ",
                function);
    else
        fprintf(out,
                "%s()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} command= options= i\n"
                "    local previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    COMPREPLY=()\n"
                "    if [ \"$word\" = = ]; then word=; fi\n"
                "    if [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; "
                "fi\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in\n        ",
                function);
    write_commands(program, " | ", out);
    fputs(count_commands(program, NULL) > 1 ? "" : "''", out);
    fprintf(out, ") command=%s; break ;;\n        esac\n    done\n",
            zsh ? "$word" : "${COMP_WORDS[i]}");
    if (zsh)
        fputs("    if [[ $PREFIX == --*\\=* ]]; then\n"
              "        previous=${PREFIX%%\\=*}\n        compset -P 1 '*='\n    fi\n",
              out);
    write_cases(zsh, program, out);
    if (zsh)
        fprintf(out, "}\n%s \"$@\"\n", function);
    else
        fprintf(out, "}\ncomplete -o filenames -F %s %s\n", function, name);
}

bool foliot__options_page(const foliot__program *program, const char *format, FILE *out)
{
    if (strcmp(format, "mdoc") == 0)
        write_mdoc(program, out);
    else if (strcmp(format, "markdown") == 0)
        write_markdown(program, out);
    else if (strcmp(format, "bash") == 0 || strcmp(format, "zsh") == 0)
        write_completion(format[0] == 'z', program, out);
    else
        return false;
    return true;
}
