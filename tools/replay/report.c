// SPDX-License-Identifier: MIT
// report.c: foliot-replay report: merges the JSON lines of verify, from any number of shards, into
// one table, and a page of the worst results. A file in two shards counts once, with its worse
// result; a file of the list that is in no shard is missing. Truncated lines are counted.
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "foliot/scene.h"

#define LINE_BYTES_MAX (1u << 20)
#define PIECE_BYTES 65536u // that are read at once
#define TEXT_BYTES 4096

// In the order of severity.
#define REPORT_VERDICTS(X)                                                                         \
    X(MATCH, "match", "replayed to the same digests")                                              \
    X(UNFINISHED, "unfinished", "agrees as far as it goes, and has no end")                        \
    X(UNREAD, "unread", "no verdict: the file could not be read")                                  \
    X(MISSING, "missing", "in the list, and in no shard's results")                                \
    X(UNSUPPORTED, "unsupported", "needs another build")                                           \
    X(RULES, "rules", "replays alike, but its rules give other commands")                          \
    X(DIVERGED, "diverged", "replays to other digests")                                            \
    X(CORRUPT, "corrupt", "damaged")

typedef enum report_verdict {
#define REPORT_ENUM(id, name, meaning) REPORT_##id,
    REPORT_VERDICTS(REPORT_ENUM)
#undef REPORT_ENUM
        REPORT_VERDICT_COUNT
} report_verdict;

static const struct {
    const char *name, *meaning;
} report_verdicts[] = {
#define REPORT_ROW(id, name, meaning) {name, meaning},
    REPORT_VERDICTS(REPORT_ROW)
#undef REPORT_ROW
};

#define REPORT_SCENES_MAX 4096 // beyond them all others count as one

typedef struct report_scene {
    char name[FOLIOT_NAME_BYTES];
    uint64_t counts[REPORT_VERDICT_COUNT], files, ticks;
    double factor_sum; // of realtime_factor
    uint64_t factors;
} report_scene;

typedef struct report_result {
    char *file, *detail; // detail: may be NULL
    uint32_t scene;
    report_verdict verdict;
    uint64_t ticks;
    double factor; // 0: not known
} report_result;

typedef struct report {
    report_result *results; // sorted: the worst first, then by file
    uint32_t count, capacity;
    report_scene *scenes;
    uint32_t scene_count;
    report_scene total;
    uint64_t repeats;   // results of a file that had one already
    uint64_t bad_lines; // no results
} report;

static bool json_wanted;
static const char *files_from, *page_file;
static uint64_t worst_max = 100;

const foliot__option report_options[] = {
    {"files-from", "FILE", FOLIOT__OPTION_TEXT, &files_from,
     .help = "list of all files that were verified; - is stdin",
     .details = "A file in the list that no shard has is missing, and the exit status is 1."},
    {"page", "FILE", FOLIOT__OPTION_TEXT, &page_file,
     .help = "writes the table as one self-contained page in HTML"},
    {"worst", "N", FOLIOT__OPTION_COUNT, &worst_max, .low = 0, .high = 100000,
     .help = "number of the worst files that are named"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "prints one JSON object on stdout"},
    {0}};

// -- one line

typedef struct line {
    char file[TEXT_BYTES], scene[FOLIOT_NAME_BYTES], verdict[32], body[FOLIOT_NAME_BYTES];
    char field[64], stage[32], rules[32], rules_text[1024];
    uint64_t ticks, bad_tick, cut_at;
    bool has_bad_tick, has_cut;
    double factor;
} line;

static bool read_number(foliot__json_reader *r, double *real, uint64_t *count)
{
    char text[FOLIOT__JSON_NUMBER_BYTES];
    if (foliot__json_peek(r) != '0') {
        foliot__json_skip(r);
        return false;
    }
    if (!foliot__json_number(r, text))
        return false;
    return real ? foliot__parse_real(text, real) : foliot__parse_count(text, count);
}

// In the object "rules" only the verdict and the text are read.
static void read_members(foliot__json_reader *r, line *l, bool rules)
{
    const struct {
        const char *key;
        char *to;
        size_t bytes;
    } texts[] = {{"file", l->file, sizeof l->file},
                 {"scene", l->scene, sizeof l->scene},
                 {"simulation", l->scene, sizeof l->scene},
                 {"body", l->body, sizeof l->body},
                 {"field", l->field, sizeof l->field},
                 {"stage", l->stage, sizeof l->stage},
                 {"verdict", l->verdict, sizeof l->verdict},
                 {"verdict", l->rules, sizeof l->rules},
                 {"text", l->rules_text, sizeof l->rules_text}};
    const size_t of_rules = 7, count = sizeof texts / sizeof texts[0];
    char key[64];
    foliot__json_enter(r, '{');
    while (foliot__json_more(r)) {
        if (!foliot__json_key(r, key, sizeof key))
            continue;
        size_t i = rules ? of_rules : 0, end = rules ? count : of_rules;
        while (i < end && strcmp(key, texts[i].key) != 0)
            i++;
        if (i < end && foliot__json_peek(r) == '"')
            foliot__json_text_value(r, texts[i].to, texts[i].bytes);
        else if (i < end)
            foliot__json_skip(r);
        else if (!rules && strcmp(key, "ticks") == 0)
            read_number(r, NULL, &l->ticks);
        else if (!rules && strcmp(key, "first_bad_tick") == 0)
            l->has_bad_tick = read_number(r, NULL, &l->bad_tick);
        else if (!rules && strcmp(key, "cut_at") == 0)
            l->has_cut = read_number(r, NULL, &l->cut_at);
        else if (!rules && strcmp(key, "realtime_factor") == 0)
            read_number(r, &l->factor, NULL);
        else if (!rules && strcmp(key, "rules") == 0 && foliot__json_peek(r) == '{')
            read_members(r, l, true);
        else
            foliot__json_skip(r);
    }
}

static report_verdict verdict_of(const line *l)
{
    if (!*l->verdict)
        return REPORT_UNREAD;
    if (strcmp(l->rules, "differ") == 0 && strcmp(l->verdict, "diverged") != 0 &&
        strcmp(l->verdict, "corrupt") != 0)
        return REPORT_RULES;
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        if (strcmp(l->verdict, report_verdicts[v].name) == 0)
            return v;
    return REPORT_UNREAD;
}

// -- all of them

static uint32_t scene_index(report *r, const char *name)
{
    for (uint32_t i = 0; i < r->scene_count; i++)
        if (strcmp(r->scenes[i].name, name) == 0)
            return i;
    bool full = r->scene_count == REPORT_SCENES_MAX - 1;
    if (r->scene_count == REPORT_SCENES_MAX)
        return REPORT_SCENES_MAX - 1;
    snprintf(r->scenes[r->scene_count].name, FOLIOT_NAME_BYTES, "%s", full ? "(others)" : name);
    return r->scene_count++;
}

static bool put(report *r, const char *file, char *detail, const char *scene,
                report_verdict verdict)
{
    if (!foliot__array_grow(&r->results, r->count, &r->capacity, 1024, sizeof *r->results))
        return false;
    report_result *result = &r->results[r->count];
    *result = (report_result){.file = strdup(file),
                              .detail = detail,
                              .scene = scene_index(r, *scene ? scene : "(not known)"),
                              .verdict = verdict};
    r->count += result->file != NULL;
    return result->file != NULL;
}

static bool apply_line(report *r, const char *text, size_t length)
{
    static line l;
    foliot__json_reader reader = foliot__json_reader_of(text, length);
    memset(&l, 0, sizeof l);
    if (length <= LINE_BYTES_MAX)
        read_members(&reader, &l, false);
    if (length > LINE_BYTES_MAX || !foliot__json_end(&reader) || reader.problem || !*l.file) {
        r->bad_lines++;
        return true;
    }
    report_verdict verdict = verdict_of(&l);
    // The place of the difference, in words; NULL: there is none, or no memory.
    char *detail = NULL;
    int fine = -1;
    if (verdict == REPORT_DIVERGED && l.has_bad_tick)
        fine = asprintf(&detail, "tick %" PRIu64 "%s%s%s%s%s%s", l.bad_tick,
                        *l.stage ? ", after " : "", l.stage, *l.body ? ", " : "", l.body,
                        *l.field ? ": " : "", l.field);
    else if ((verdict == REPORT_CORRUPT || verdict == REPORT_UNFINISHED) && l.has_cut)
        fine =
            asprintf(&detail, "whole up to byte %" PRIu64 ", %" PRIu64 " ticks", l.cut_at, l.ticks);
    else if (verdict == REPORT_RULES)
        fine = asprintf(&detail, "%s", l.rules_text);
    if (!put(r, l.file, fine < 0 ? NULL : detail, l.scene, verdict))
        return false;
    r->results[r->count - 1].ticks = l.ticks;
    r->results[r->count - 1].factor = l.factor;
    return true;
}

static bool take_name(report *r, const char *text, size_t length)
{
    (void)length;
    return put(r, text, NULL, "", REPORT_MISSING);
}

// Each line that is not empty. False: it was reported.
static bool each_line(report *r, const char *file, bool (*take)(report *, const char *, size_t))
{
    const char *problem = NULL;
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    char *text = from ? malloc(LINE_BYTES_MAX + PIECE_BYTES + 2) : NULL;
    size_t held = 0; // of a line whose end is not read yet
    bool first = true, more = text != NULL;
    if (!text)
        problem = strerror(from ? ENOMEM : errno);
    while (more && !problem) {
        size_t count = fread(text + held, 1, PIECE_BYTES, from);
        more = count == PIECE_BYTES;
        if (memchr(text + held, 0, count))
            problem = "it is not text: a byte in it is zero";
        else if (ferror(from))
            problem = strerror(errno);
        held += count;
        // A CR at the end of a chunk may be half an end of line.
        bool half = more && text[held - 1] == '\r';
        // Only the first line may begin with a byte order mark.
        size_t mark = first ? 0 : foliot__text_mark(text, held - half), at = 0;
        size_t length = mark + foliot__text_plain(text + mark, held - half - mark);
        first = false;
        while (!problem && at < length) {
            char *row = text + at, *end = memchr(row, '\n', length - at);
            if (!end && more)
                break;
            size_t bytes = end ? (size_t)(end - row) : length - at;
            row[bytes] = 0;
            if (bytes > 0 && !take(r, row, bytes))
                problem = strerror(ENOMEM);
            at += bytes + 1;
        }
        held = at < length ? length - at : 0;
        memmove(text, text + at, held);
        if (half)
            text[held++] = '\r';
        if (held > LINE_BYTES_MAX)
            problem = "a line of it is longer than 1 MiB";
    }
    if (problem)
        tool_complain(file, "%s", problem);
    if (from && from != stdin)
        fclose(from);
    free(text);
    return !problem;
}

// A missing result gives way to any other; otherwise the worse one counts.
static int by_file(const void *a, const void *b)
{
    const report_result *one = a, *other = b;
    int order = strcmp(one->file, other->file);
    bool missing = one->verdict == REPORT_MISSING, other_missing = other->verdict == REPORT_MISSING;
    if (order || missing != other_missing)
        return order ? order : missing - other_missing;
    return (int)other->verdict - (int)one->verdict;
}

static int by_verdict(const void *a, const void *b)
{
    const report_result *one = a, *other = b;
    return one->verdict != other->verdict ? (int)other->verdict - (int)one->verdict
                                          : strcmp(one->file, other->file);
}

static void count_result(report_scene *s, const report_result *result)
{
    s->counts[result->verdict]++;
    s->files++;
    s->ticks += result->ticks;
    s->factor_sum += result->factor;
    s->factors += result->factor > 0;
}

// -- output

static void put_counts(foliot__json *json, const report_scene *s)
{
    foliot__json_count(json, "files", s->files);
    foliot__json_count(json, "ticks", s->ticks);
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        foliot__json_count(json, report_verdicts[v].name, s->counts[v]);
}

static void put_json(const report *r)
{
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    put_counts(&json, &r->total);
    foliot__json_count(&json, "repeated", r->repeats);
    foliot__json_count(&json, "bad_lines", r->bad_lines);
    foliot__json_array(&json, "scenes");
    for (uint32_t i = 0; i < r->scene_count; i++) {
        if (!r->scenes[i].files)
            continue;
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "scene", r->scenes[i].name);
        put_counts(&json, &r->scenes[i]);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_array(&json, "worst");
    for (uint32_t i = 0; i < r->count && i < worst_max && r->results[i].verdict; i++) {
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "file", r->results[i].file);
        foliot__json_text(&json, "verdict", report_verdicts[r->results[i].verdict].name);
        foliot__json_text(&json, "detail", r->results[i].detail);
        foliot__json_close(&json);
    }
    foliot__json_line(&json);
}

static void put_row(const char *name, const report_scene *s)
{
    char clean[FOLIOT_NAME_BYTES];
    printf("%-24s %9" PRIu64 " %12" PRIu64, foliot__text_clean(clean, sizeof clean, name), s->files,
           s->ticks);
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        printf(" %11" PRIu64, s->counts[v]);
    printf("\n");
}

static void put_text(const report *r)
{
    char clean[TEXT_BYTES];
    printf("%-24s %9s %12s", "scene", "files", "ticks");
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        printf(" %11s", report_verdicts[v].name);
    printf("\n");
    for (uint32_t i = 0; i < r->scene_count; i++)
        if (r->scenes[i].files)
            put_row(r->scenes[i].name, &r->scenes[i]);
    put_row("all", &r->total);
    if (r->repeats)
        printf("%" PRIu64 " results are of files that had one already\n", r->repeats);
    if (r->bad_lines)
        printf("%" PRIu64 " lines are not results: a shard was cut off\n", r->bad_lines);
    for (uint32_t i = 0; i < r->count && i < worst_max && r->results[i].verdict; i++) {
        const report_result *result = &r->results[i];
        printf("%-11s %s", report_verdicts[result->verdict].name,
               foliot__text_clean(clean, sizeof clean, result->file));
        if (result->detail)
            printf("  (%s)", foliot__text_clean(clean, sizeof clean, result->detail));
        printf("\n");
    }
}

// -- the page: one HTML file. Names come from files of strangers: all text is escaped, and the page
// allows neither scripts nor anything from elsewhere.

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>foliot: verified recordings</title>\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}\n"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}\n"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid #ddd;text-align:left}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "td.bad{color:#a00000;font-weight:600}\ntr.all td{border-top:2px solid #888}\n"
    "code{overflow-wrap:anywhere}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "th,td{border-color:#444}td.bad{color:#ff8080}}\n"
    "</style></head><body>\n";

static void put_escaped(FILE *out, const char *text)
{
    char *clean = malloc(strlen(text) + 1);
    if (!clean)
        return;
    foliot__text_clean(clean, strlen(text) + 1, text);
    for (const char *c = clean; *c; c++) {
        const char *entity = *c == '<'    ? "&lt;"
                             : *c == '>'  ? "&gt;"
                             : *c == '&'  ? "&amp;"
                             : *c == '"'  ? "&quot;"
                             : *c == '\'' ? "&#39;"
                                          : NULL;
        if (entity)
            fputs(entity, out);
        else
            fputc(*c, out);
    }
    free(clean);
}

static void put_page_row(FILE *out, const char *name, const report_scene *s, bool all)
{
    fprintf(out, "<tr%s><td>", all ? " class=\"all\"" : "");
    put_escaped(out, name);
    fprintf(out, "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64 "</td>", s->files,
            s->ticks);
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        fprintf(out, "<td class=\"n%s\">%" PRIu64 "</td>", v && s->counts[v] ? " bad" : "",
                s->counts[v]);
    fprintf(out, s->factors ? "<td class=\"n\">%.0f</td></tr>\n" : "<td></td></tr>\n",
            s->factors ? s->factor_sum / (double)s->factors : 0.0);
}

static bool write_report_page(const report *r, FILE *out)
{
    char date[32];
    time_t now = time(NULL);
    struct tm tm;
    uint64_t match = r->total.counts[REPORT_MATCH];
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &tm);
    fputs(page_head, out);
    fprintf(out,
            "<h1>%" PRIu64 " of %" PRIu64 " recordings match</h1>\n<p>%s. %" PRIu64
            " ticks were replayed.",
            match, r->total.files, date, r->total.ticks);
    if (r->repeats)
        fprintf(out, " %" PRIu64 " results are of files that had one already.", r->repeats);
    if (r->bad_lines)
        fprintf(out, " %" PRIu64 " lines are not results: a shard was cut off.", r->bad_lines);
    fputs("</p>\n", out);
    fputs("<table><thead><tr><th>scene</th><th class=\"n\">files</th><th class=\"n\">ticks</th>",
          out);
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        fprintf(out, "<th class=\"n\" title=\"%s\">%s</th>", report_verdicts[v].meaning,
                report_verdicts[v].name);
    fputs("<th class=\"n\">x real time</th></tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < r->scene_count; i++)
        if (r->scenes[i].files)
            put_page_row(out, r->scenes[i].name, &r->scenes[i], false);
    put_page_row(out, "all", &r->total, true);
    fputs("</tbody></table>\n", out);
    uint64_t bad = r->total.files - r->total.counts[REPORT_MATCH];
    if (bad && worst_max) {
        fprintf(out, "<h2>The worst %" PRIu64 " of %" PRIu64 "</h2>\n",
                bad < worst_max ? bad : worst_max, bad);
        fputs(
            "<table><thead><tr><th>verdict</th><th>file</th><th>where</th><th>look at it</th></tr>"
            "</thead><tbody>\n",
            out);
        for (uint32_t i = 0; i < r->count && i < worst_max && r->results[i].verdict; i++) {
            const report_result *result = &r->results[i];
            fprintf(out, "<tr><td class=\"bad\">%s</td><td><code>",
                    report_verdicts[result->verdict].name);
            put_escaped(out, result->file);
            fputs("</code></td><td>", out);
            put_escaped(out, result->detail ? result->detail : "");
            fputs("</td><td><code>foliot-replay verify ", out);
            put_escaped(out, result->file);
            fputs("</code></td></tr>\n", out);
        }
        fputs("</tbody></table>\n", out);
    }
    fputs("</body></html>\n", out);
    return !ferror(out);
}

// As verify ends: the worst of all.
static int exit_of(const report *r)
{
    const uint64_t *counts = r->total.counts;
    return counts[REPORT_CORRUPT]                            ? FOLIOT__EXIT_CORRUPT
           : counts[REPORT_DIVERGED] || counts[REPORT_RULES] ? FOLIOT__EXIT_DIVERGED
           : counts[REPORT_UNSUPPORTED]                      ? FOLIOT__EXIT_NOT_VERIFIABLE
           : counts[REPORT_UNREAD] || counts[REPORT_MISSING] || r->bad_lines ? FOLIOT__EXIT_ERROR
           : counts[REPORT_UNFINISHED] ? FOLIOT__EXIT_UNFINISHED
                                       : 0;
}

int report_command(const foliot__program *program, const foliot__arguments *arguments)
{
    report r = {.scenes = calloc(REPORT_SCENES_MAX, sizeof *r.scenes)};
    bool fine = r.scenes != NULL;
    int code = FOLIOT__EXIT_ERROR;
    (void)program;
    for (uint32_t i = 0; fine && i < arguments->operand_count; i++)
        fine = each_line(&r, arguments->operands[i], apply_line);
    if (fine && files_from)
        fine = each_line(&r, files_from, take_name);
    if (fine) {
        // One result for each file.
        uint32_t kept = 0;
        if (r.count != 0) {
            qsort(r.results, r.count, sizeof *r.results, by_file);
            for (uint32_t i = 0; i < r.count; i++) {
                report_result *result = &r.results[i];
                if (kept > 0 && strcmp(r.results[kept - 1].file, result->file) == 0) {
                    r.repeats += result->verdict != REPORT_MISSING;
                    free(result->file);
                    free(result->detail);
                    continue;
                }
                count_result(&r.scenes[result->scene], result);
                count_result(&r.total, result);
                r.results[kept++] = *result;
            }
            r.count = kept;
            qsort(r.results, r.count, sizeof *r.results, by_verdict);
        }
        (json_wanted ? put_json : put_text)(&r);
        code = exit_of(&r);
        FILE *out = page_file ? fopen(page_file, "w") : NULL;
        bool written = out && write_report_page(&r, out);
        written = (!out || fclose(out) == 0) && written;
        if (page_file && !written) {
            tool_complain(page_file, "%s", strerror(errno));
            code = FOLIOT__EXIT_ERROR;
        }
    }
    for (uint32_t i = 0; i < r.count; i++) {
        free(r.results[i].file);
        free(r.results[i].detail);
    }
    free(r.results);
    free(r.scenes);
    return code;
}
