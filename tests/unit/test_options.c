// SPDX-License-Identifier: MIT
// test_options.c: command lines against a table with every kind of option; values, order,
// sentences.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"

static double dt, offset;
static uint64_t ticks, port;
static bool json, dt_given;
static const char *file;
static foliot__texts sessions;
static foliot__arguments arguments;

static const foliot__option run_options[] = {
    {"dt", "DT", FOLIOT__OPTION_POSITIVE, &dt, .given = &dt_given, .help = "step"},
    {"offset", "X", FOLIOT__OPTION_REAL, &offset, .low = -10, .high = 10, .help = "shift"},
    {"ticks", "N", FOLIOT__OPTION_COUNT, &ticks, .low = 1, .help = "how many"},
    {"port", "PORT", FOLIOT__OPTION_COUNT, &port, .high = 65535, .help = "where"},
    {"record", "FILE", FOLIOT__OPTION_TEXT, &file, .high = 8,
     .help =
         "to a file, which is a sentence of more words than one line of ninety columns has room "
         "for"},
    {"session", "NAME=SCENE", FOLIOT__OPTION_TEXTS, &sessions, .help = "one more"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "as JSON"},
    {0},
};
static const foliot__command commands[] = {
    {"run", "SCENE [--dt DT]", "runs a scene", "  prog run ball.yaml\n", run_options, 1, 1, NULL},
    {"verify", "FILE...", "verifies", "  prog verify a b\n", NULL, 1, UINT32_MAX, NULL},
    {0},
};
static const foliot__command with_default[] = {
    {"", "SCENE", "hosts", "  prog ball.yaml\n", run_options, 1, 1, NULL},
    {"check", "SCENE", "checks", "  prog check ball.yaml\n", NULL, 1, 1, NULL},
    {0},
};

static void no_fingerprint(char text[33])
{
    strcpy(text, "00000000000000000000000000000000");
}

static const foliot__program program = {"prog", "does things.", "  prog run x\n", commands,
                                        no_fingerprint};
static const foliot__program server = {"serve", "serves.", "  serve x\n", with_default,
                                       no_fingerprint};

// Splits a line at blanks; '' stands for an empty argument.
static foliot__options_outcome read_for(const foliot__program *of, const char *line)
{
    static char copy[8192], name[] = "prog", *argv[600];
    int argc = 0;
    dt = offset = 0;
    ticks = port = 0;
    json = dt_given = false;
    file = NULL;
    sessions.count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    argv[argc++] = name;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    argv[argc] = NULL;
    return foliot__options_read(of, argc, argv, &arguments);
}

static void check_wrong(const char *line, const char *message)
{
    assert_int_equal(read_for(&program, line), FOLIOT__OPTIONS_WRONG);
    assert_string_equal(arguments.message, message);
}

TEST(values_come_after_a_blank_or_an_equals_sign)
{
    assert_int_equal(read_for(&program, "run a.yaml --dt 0.25 --ticks=7 --json --record=x=y"),
                     FOLIOT__OPTIONS_RUN);
    check_bits(dt, 0.25);
    assert_true(dt_given);
    assert_true(json);
    assert_int_equal(ticks, 7);
    assert_string_equal(file, "x=y");
    assert_string_equal(arguments.command->name, "run");
    assert_int_equal(arguments.operand_count, 1);
    assert_string_equal(arguments.operands[0], "a.yaml");
}

TEST(what_is_not_given_keeps_its_default)
{
    assert_int_equal(read_for(&program, "run a"), FOLIOT__OPTIONS_RUN);
    assert_false(dt_given);
    assert_int_equal(port, 0);
    assert_null(file);
}

TEST(options_and_operands_come_in_any_order)
{
    assert_int_equal(read_for(&program, "--dt 0.5 --json run --ticks 3 a.yaml --port 80"),
                     FOLIOT__OPTIONS_RUN);
    check_bits(dt, 0.5);
    assert_int_equal(ticks, 3);
    assert_int_equal(port, 80);
    assert_string_equal(arguments.operands[0], "a.yaml");
    assert_int_equal(read_for(&program, "verify a b c -- --dt -x"), FOLIOT__OPTIONS_RUN);
    assert_int_equal(arguments.operand_count, 5);
    assert_string_equal(arguments.operands[3], "--dt");
    assert_string_equal(arguments.operands[4], "-x");
}

TEST(negative_numbers_are_values)
{
    assert_int_equal(read_for(&program, "run a --offset -2.5"), FOLIOT__OPTIONS_RUN);
    check_bits(offset, -2.5);
    assert_int_equal(read_for(&program, "run a --record=-x"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(file, "-x");
    assert_int_equal(read_for(&program, "run - --dt 1"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(arguments.operands[0], "-");
    check_wrong("run a --record --json", "--record expects a value: FILE");
}

TEST(repeatable_options_are_collected)
{
    assert_int_equal(read_for(&program, "run a --session a=b --session=c=d"), FOLIOT__OPTIONS_RUN);
    assert_int_equal(sessions.count, 2);
    assert_string_equal(sessions.items[0], "a=b");
    assert_string_equal(sessions.items[1], "c=d");
    char line[8192] = "run a";
    for (int i = 0; i <= FOLIOT__TEXTS_MAX; i++)
        strcat(line, " --session=x");
    check_wrong(line, "--session is given more than 256 times");
}

TEST(numbers_are_read_strictly)
{
    check_wrong("run a --dt 0", "--dt expects a number above 0, not '0'");
    check_wrong("run a --dt -1", "--dt expects a number above 0, not '-1'");
    check_wrong("run a --dt 0.1s", "--dt expects a number above 0, not '0.1s'");
    check_wrong("run a --dt nan", "--dt expects a number above 0, not 'nan'");
    check_wrong("run a --dt inf", "--dt expects a number above 0, not 'inf'");
    check_wrong("run a --dt 1e999", "--dt expects a number above 0, not '1e999'");
    check_wrong("run a --dt=", "--dt expects a number above 0, not ''");
    check_wrong("run a --offset 11", "--offset expects a number from -10 to 10, not '11'");
    check_wrong("run a --ticks 0", "--ticks expects a whole number, at least 1, not '0'");
    check_wrong("run a --ticks 1.5", "--ticks expects a whole number, at least 1, not '1.5'");
    check_wrong("run a --ticks=-1", "--ticks expects a whole number, at least 1, not '-1'");
    check_wrong("run a --ticks 18446744073709551616",
                "--ticks expects a whole number, at least 1, not '18446744073709551616'");
    check_wrong("run a --port 65536", "--port expects a whole number from 0 to 65535, not '65536'");
    assert_int_equal(read_for(&program, "run a --ticks 18446744073709551615"), FOLIOT__OPTIONS_RUN);
    check_eq(ticks, UINT64_MAX);
    assert_int_equal(read_for(&program, "run a --dt 0x1p-6"), FOLIOT__OPTIONS_RUN);
    check_bits(dt, 0x1p-6);
}

TEST(mistakes_are_one_sentence_and_name_the_nearest)
{
    check_wrong("", "no command given");
    check_wrong("rnu a", "there is no command 'rnu'; did you mean 'run'?");
    check_wrong("dance a", "there is no command 'dance'");
    check_wrong("''", "there is no command ''");
    check_wrong("run a --tick 5", "there is no option --tick; did you mean --ticks?");
    check_wrong("run a --sesion=x=y", "there is no option --sesion; did you mean --session?");
    check_wrong("run a --frobnicate", "there is no option --frobnicate");
    check_wrong("run a -dt 1", "there is no option -dt; did you mean --dt?");
    check_wrong("run a --dt 1 --dt 2", "--dt is given twice");
    check_wrong("run a --json --json", "--json is given twice");
    check_wrong("run a --json=yes", "--json takes no value");
    check_wrong("run a --dt", "--dt expects a value: DT");
    check_wrong("run a --record ''", "--record expects FILE, not an empty text");
    check_wrong("run a --record 123456789", "--record expects FILE of at most 8 bytes, not of 9");
    check_wrong("run", "SCENE is missing; the usage is: SCENE [--dt DT]");
    check_wrong("run a b", "'b' is one operand too many; the usage is: SCENE [--dt DT]");
    check_wrong("verify a --json", "there is no option --json");
}

TEST(control_characters_never_reach_the_message)
{
    check_wrong("run a --dt \x1b[2J1", "--dt expects a number above 0, not '[2J1'");
    check_wrong("\x1b[31mzzzzzzz", "there is no command '[31mzzzzzzz'");
}

TEST(help_and_version_win_over_mistakes)
{
    assert_int_equal(read_for(&program, "--help"), FOLIOT__OPTIONS_HELP);
    assert_null(arguments.command);
    assert_int_equal(read_for(&program, "run --dt 0 --help"), FOLIOT__OPTIONS_HELP);
    assert_string_equal(arguments.command->name, "run");
    assert_int_equal(read_for(&program, "--version"), FOLIOT__OPTIONS_VERSION);
    assert_int_equal(read_for(&program, "verify -- --version"), FOLIOT__OPTIONS_RUN);
    // A value that looks like it is a value.
    assert_int_equal(read_for(&server, "--help"), FOLIOT__OPTIONS_HELP);
    assert_null(arguments.command);
    assert_int_equal(read_for(&server, "check --help"), FOLIOT__OPTIONS_HELP);
    assert_string_equal(arguments.command->name, "check");
}

TEST(a_program_may_have_a_command_without_a_name)
{
    assert_int_equal(read_for(&server, "ball.yaml --dt 1"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(arguments.command->name, "");
    assert_string_equal(arguments.operands[0], "ball.yaml");
    assert_int_equal(read_for(&server, "check ball.yaml"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(arguments.command->name, "check");
    assert_int_equal(arguments.operand_count, 1);
    assert_int_equal(read_for(&server, "-- check"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(arguments.command->name, "");
    assert_string_equal(arguments.operands[0], "check");
}

TEST(help_begins_with_examples_and_lists_every_option)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    foliot__options_help(&program, &commands[0], out);
    fclose(out);
    assert_int_equal(strncmp(text, "Examples:\n  prog run ball.yaml\n", 31), 0);
    for (const foliot__option *o = run_options; o->name; o++) {
        char name[32];
        snprintf(name, sizeof name, "  --%s", o->name);
        assert_non_null(strstr(text, name));
    }
    assert_non_null(strstr(text, "--session NAME=SCENE       one more (repeatable)\n"));
    // Long lines are wrapped, below each other.
    assert_non_null(strstr(text, "\n                             "));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        check_below((double)strcspn(line, "\n"), 81);
    free(text);
}

// -- pages

static const char *mode;
static uint64_t players = 4;
static const foliot__option host_options[] = {
    {"mode", "snapshot|lockstep", FOLIOT__OPTION_TEXT, &mode, .help = "what clients do",
     .details = "They watch (`snapshot`), or step; see --players.\n\nA server's `prog run` too."},
    {"players", "N", FOLIOT__OPTION_COUNT, &players, 1, 64, .help = "how many"},
    {"bot", "idle|FILE", FOLIOT__OPTION_TEXT, &file, .help = ".so or 'x'"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "as JSON"},
    {0},
};
static const foliot__option json_options[] = {
    {"json", NULL, FOLIOT__OPTION_FLAG, &json, .help = "as JSON"},
    {0},
};
static const foliot__command page_commands[] = {
    {"host", "SCENE [--mode MODE | --bot BOT] [options]", "hosts a scene", "", host_options, 1, 1,
     "It ends with `foliot-client`s."},
    {"list", "[ADDR:]PORT a|b [DIR]", "lists", "", json_options, 1, 3, NULL},
    {"show", "--json", "shows", "", json_options, 0, 0, NULL},
    {"end", "", "ends", "", NULL, 0, 0, NULL},
    {0},
};
static const foliot__program pages = {"prog", "does things", "", page_commands, no_fingerprint};

static char *page_of(const foliot__program *of, const char *format)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_true(foliot__options_page(of, format, out));
    fclose(out);
    return text;
}

static void check_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

TEST(a_page_in_mdoc_has_synopsis_commands_and_shared_options)
{
    char *text = page_of(&pages, "mdoc");
    assert_string_equal(text, ".Sh SYNOPSIS\n"
                              ".Nm\n"
                              ".Cm host Ar SCENE\n"
                              ".Op Fl -mode Ar MODE | Fl -bot Ar BOT\n"
                              ".Op Ar options\n"
                              ".Nm\n"
                              ".Cm list Ar [ADDR:]PORT Cm a | Cm b\n"
                              ".Op Ar DIR\n"
                              ".Nm\n"
                              ".Cm show\n"
                              ".Fl -json\n"
                              ".Nm\n"
                              ".Cm end\n"
                              ".Sh COMMANDS\n"
                              ".Bl -tag -width Ds\n"
                              ".It Cm host Ar SCENE\n"
                              "Hosts a scene.\n"
                              "It ends with\n"
                              ".Xr foliot-client 1 Ns No s.\n"
                              ".Bl -tag -width Ds\n"
                              ".It Fl -mode Cm snapshot | Cm lockstep\n"
                              "What clients do.\n"
                              "They watch\n"
                              ".No ( Ns Li \"snapshot\" ) ,\n"
                              "or step; see\n"
                              ".Fl -players .\n"
                              ".Pp\n"
                              "A server's\n"
                              ".Li \"prog run\"\n"
                              "too.\n"
                              ".It Fl -players Ar N\n"
                              "How many.\n"
                              "Default: 4.\n"
                              "Range: 1 to 64.\n"
                              ".It Fl -bot Cm idle | Ar FILE\n"
                              "\\&.so or 'x'.\n"
                              ".El\n"
                              ".It Cm list Ar [ADDR:]PORT Cm a | Cm b Oo Ar DIR Oc\n"
                              "Lists.\n"
                              ".It Cm show\n"
                              "Shows.\n"
                              ".It Cm end\n"
                              "Ends.\n"
                              ".El\n"
                              ".Sh OPTIONS\n"
                              "These options belong to several commands.\n"
                              ".Bl -tag -width Ds\n"
                              ".It Fl -json\n"
                              "As JSON.\n"
                              "All commands but\n"
                              ".Li \"end\" .\n"
                              ".El\n"
                              "These belong to every command.\n"
                              ".Bl -tag -width Ds\n"
                              ".It Fl -help\n"
                              "Prints the options and examples, of a command those of the "
                              "command.\n"
                              ".It Fl -version\n"
                              "Prints version, build and fingerprint.\n"
                              ".El\n");
    free(text);
}

TEST(a_page_in_markdown_has_a_list_for_each_command)
{
    char *text = page_of(&pages, "markdown");
    check_has(text, "### prog host\n\n```\nprog host SCENE [--mode MODE | --bot BOT] "
                    "[options]\n```\n\nHosts a scene. It ends with `foliot-client`s.\n\n"
                    "- `--mode snapshot|lockstep`: What clients do. They watch (`snapshot`), or "
                    "step; see `--players`.\n\n  A server's `prog run` too.\n"
                    "- `--players N`: How many. Default: 4. Range: 1 to 64.\n");
    check_has(text, "### Options of several commands of prog\n\n- `--json`: As JSON. All commands "
                    "but `end`.\n");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        check_below((double)strcspn(line, "\n"), 121);
    free(text);
    // A program without a command's name has its options alone.
    text = page_of(&server, "mdoc");
    check_has(text, ".Sh OPTIONS\nHosts.\n.Bl -tag -width Ds\n.It Fl -dt Ar DT\nStep.\n");
    free(text);
    assert_false(foliot__options_page(&pages, "html", stdout));
}

TEST(completion_offers_the_words_of_a_value_and_files)
{
    char *text = page_of(&pages, "bash");
    check_has(text, "\"host --mode\") mapfile -t COMPREPLY < <(compgen -W 'snapshot lockstep' -- "
                    "\"$word\"); return ;;\n");
    check_has(text, "\"host --bot\") mapfile -t COMPREPLY < <(compgen -W 'idle' -- \"$word\"); "
                    "mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\"); "
                    "return ;;\n");
    check_has(text, "    host) options='--mode --players --bot --json --help --version' ;;\n");
    free(text);
    text = page_of(&pages, "zsh");
    check_has(text, "\"host --bot\") compadd -- idle; _files; return ;;\n");
    check_has(text, "'--bot -- .so or '\\''x'\\'''");
    check_has(text, "    list) compadd -- a b; _files -/; ;;\n");
    free(text);
}

static const foliot__command mode_commands[] = {
    {"", "", "", "", host_options, 0, 0, NULL},
    {0},
};
static const foliot__program moded = {"prog", "", "", mode_commands, no_fingerprint};

TEST(a_list_of_words_admits_no_other_unless_one_is_in_capitals)
{
    assert_int_equal(read_for(&moded, "--mode lockstep --bot x.txt"), FOLIOT__OPTIONS_RUN);
    assert_string_equal(mode, "lockstep");
    static const char *const wrong[] = {"lock", "lockstep|", "snapshot|lockstep", "LOCKSTEP", "|"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "--mode %s", wrong[i]);
        assert_int_equal(read_for(&moded, line), FOLIOT__OPTIONS_WRONG);
    }
    check_has(arguments.message, "--mode is snapshot or lockstep, not '|'");
    mode = NULL;
}

TEST(help_shows_the_default_that_the_target_holds)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    foliot__options_help(&moded, NULL, out);
    fclose(out);
    check_has(text, "  --players N                how many (default 4)\n");
    check_has(text, "  --mode snapshot|lockstep   what clients do\n");
    free(text);
}

TEST(words_are_measured)
{
    assert_int_equal(foliot__word_distance("rk4", "rk4"), 0);
    assert_int_equal(foliot__word_distance("", "abc"), 3);
    assert_int_equal(foliot__word_distance("kitten", "sitting"), 3);
    assert_int_equal(foliot__word_distance("rnu", "run"), 1);
    assert_int_equal(foliot__word_distance("abcdef", "abdcfe"), 2);
}

TEST(a_name_is_no_number_and_not_the_games)
{
    static const char *const wrong[] = {"0",      "17",       "007",           "#0",
                                        "#",      "#ann",     "the game",      "The Game",
                                        "SERVER", "the host", "ann: yes. bob", "ann> yes <bob",
                                        ": ",     "> "},
                             *const right[] = {"",          "ann",      "0x",  "a1",
                                               ":)",        "ann <3",   "1-2", "gamer",
                                               "the gamer", "player-0", "a:b", "x>y"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_true(foliot__name_misleads(wrong[i]));
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_false(foliot__name_misleads(right[i]));
}

TEST(names_are_cleaned)
{
    char out[16];
    assert_string_equal(foliot__text_clean(out, sizeof out, "a\x1b[31mb\r\n\x7f"), "a[31mb");
    assert_string_equal(foliot__text_clean(out, sizeof out,
                                           "\xc2\x9b"
                                           "2J\xe2\x80\xae"
                                           "x\xff"),
                        "2Jx");
    assert_string_equal(foliot__text_clean(out, sizeof out, "\xe6\x97\xa5\xe6\x9c\xac"),
                        "\xe6\x97\xa5\xe6\x9c\xac");
    // Cut at a whole character.
    assert_string_equal(foliot__text_clean(out, 5, "abc\xe6\x97\xa5"), "abc");
    assert_string_equal(foliot__text_clean(out, 1, "abc"), "");
}

TEST(reals_are_short_and_exact)
{
    char text[FOLIOT__REAL_TEXT_BYTES];
    assert_string_equal(foliot__real_text(text, 0.1), "0.1");
    assert_string_equal(foliot__real_text(text, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(foliot__real_text(text, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(foliot__real_text(text, -1e300), "-1e+300");
}

TEST(the_worst_exit_code_wins)
{
    assert_int_equal(foliot__exit_worse(0, 0), 0);
    assert_int_equal(foliot__exit_worse(0, 1), 1);
    assert_int_equal(foliot__exit_worse(5, 1), 5);
    assert_int_equal(foliot__exit_worse(5, 3), 3);
    assert_int_equal(foliot__exit_worse(3, 4), 4);
    assert_int_equal(foliot__exit_worse(75, 0), 75);
    assert_int_equal(foliot__exit_worse(75, 1), 1);
}
