// SPDX-License-Identifier: MIT
// report_page.c: a report as one HTML file. Names come from files of strangers: all text is
// escaped, and the page allows neither scripts nor anything from elsewhere.
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

static const char head[] =
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

static void put_row(FILE *out, const char *name, const report_scene *s, bool all)
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

static void put_scenes(const report *r, FILE *out)
{
    fputs("<table><thead><tr><th>scene</th><th class=\"n\">files</th><th class=\"n\">ticks</th>",
          out);
    for (report_verdict v = 0; v < REPORT_VERDICT_COUNT; v++)
        fprintf(out, "<th class=\"n\" title=\"%s\">%s</th>", report_verdicts[v].meaning,
                report_verdicts[v].name);
    fputs("<th class=\"n\">x real time</th></tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < r->scene_count; i++)
        if (r->scenes[i].files)
            put_row(out, r->scenes[i].name, &r->scenes[i], false);
    put_row(out, "all", &r->total, true);
    fputs("</tbody></table>\n", out);
}

static void put_worst(const report *r, FILE *out, uint32_t worst_max)
{
    uint64_t bad = r->total.files - r->total.counts[REPORT_MATCH];
    if (!bad || !worst_max)
        return;
    fprintf(out, "<h2>The worst %" PRIu64 " of %" PRIu64 "</h2>\n",
            bad < worst_max ? bad : (uint64_t)worst_max, bad);
    fputs("<table><thead><tr><th>verdict</th><th>file</th><th>where</th><th>look at it</th></tr>"
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

bool report_write_page(const report *r, FILE *out, uint32_t worst_max)
{
    char date[32];
    time_t now = time(NULL);
    struct tm tm;
    uint64_t match = r->total.counts[REPORT_MATCH];
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &tm);
    fputs(head, out);
    fprintf(out,
            "<h1>%" PRIu64 " of %" PRIu64 " recordings match</h1>\n<p>%s. %" PRIu64
            " ticks were replayed.",
            match, r->total.files, date, r->total.ticks);
    if (r->repeats)
        fprintf(out, " %" PRIu64 " results are of files that had one already.", r->repeats);
    if (r->bad_lines)
        fprintf(out, " %" PRIu64 " lines are no results: a shard was cut off.", r->bad_lines);
    fputs("</p>\n", out);
    put_scenes(r, out);
    put_worst(r, out, worst_max);
    fputs("</body></html>\n", out);
    return !ferror(out);
}
