// SPDX-License-Identifier: MIT
// plot.c: axes, ticks and lines as SVG elements. Scales are computed before the first byte is
// written; a plot is then one pass from the frame to the curves.
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FONT "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
#define INK "#1f2328"
#define INK_SOFT "#59636e"
#define GRID "#e3e6ea"
#define FRAME "#9aa3ad"
#define MARGIN_LEFT 74.0
#define MARGIN_RIGHT 16.0
#define MARGIN_TOP 52.0
#define MARGIN_BOTTOM 50.0
#define CHARACTER 6.6      // mean width at 12 px, for the legend's room
#define TICK_CHARACTER 6.7 // the same for the digits of ticks
#define LABEL_GAP 8.0      // between two labels of ticks
#define LABEL_BYTES 48     // of a tick's label
#define TICKS_MAX 64

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#333333", "#882255", "#44aa99", "#999933"};
#define COLOUR_COUNT (sizeof colours / sizeof colours[0])
static const char *const dashes[] = {"", "7 3", "2 3", "9 3 2 3"};

// One axis as drawn: data to pixels, and its ticks.
typedef struct scale {
    double low, high; // data, or its log10
    double from, to;  // pixels
    bool log;
    bool plain; // on a logarithmic axis: 0.02 rather than powers of ten
    bool even;  // a part of one decade, with ticks as on a linear one
    int power;  // on a linear or even one: labels are in units of 10 to this power
    double ticks[TICKS_MAX];
    uint32_t tick_count;
} scale;

typedef struct frame {
    double left, top, right, bottom;
    scale x, y;
} frame;

void plot_escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}

// -- scales

static bool is_drawable(const scale *s, double value)
{
    return isfinite(value) && (!s->log || value > 0);
}

static double to_pixels(const scale *s, double value)
{
    double v = s->log ? log10(value) : value;
    return s->from + (v - s->low) / (s->high - s->low) * (s->to - s->from);
}

static void fit_scale(scale *s, const plot_axis *axis, const plot_panel *plot, bool is_x)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t k = 0; k < plot->count; k++) {
        const plot_series *series = &plot->series[k];
        for (uint32_t i = 0; i < series->count && series->style != PLOT_GUIDE; i++) {
            double value = is_x ? series->x[i] : series->y[i];
            if (!is_drawable(s, value))
                continue;
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    if (!(low <= high))
        low = axis->log ? 0.1 : 0, high = 1;
    if (axis->floor > 0)
        low = fmin(fmax(low, axis->floor), high), high = fmax(high, axis->floor);
    if (axis->ceiling > 0)
        high = fmax(fmin(high, axis->ceiling), low), low = fmin(low, axis->ceiling);
    s->low = axis->log ? log10(low) : low;
    s->high = axis->log ? log10(high) : high;
    double room = s->high - s->low;
    if (!(room > 0))
        room = axis->log ? 1 : fabs(s->low) > 0 ? fabs(s->low) : 1;
    double share = is_x && !axis->log ? 0 : 0.04;
    s->low -= room * (s->high > s->low ? share : 0.5);
    s->high += room * (s->high > s->low || !is_x ? share : 0.5);
    if (!(s->high > s->low))
        s->high = s->low + room;
}

// 10 to a power with raised digits, which every viewer draws.
static void power_text(int power, char text[LABEL_BYTES])
{
    static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(power));
    size_t used = (size_t)snprintf(text, LABEL_BYTES, "10%s", power < 0 ? "\u207b" : "");
    for (const char *d = digits; *d; d++)
        used += (size_t)snprintf(text + used, LABEL_BYTES - used, "%s", raised[*d - '0']);
}

// Powers of ten on a logarithmic axis; plain numbers near 1 and on a linear one.
static const char *tick_label(const scale *s, double value, char label[LABEL_BYTES])
{
    double power = round(log10(fabs(value)));
    bool whole = s->log && !s->plain && !s->even && fabs(value / pow(10, power) - 1) < 1e-9;
    if (whole && (power < -1 || power > 1)) {
        power_text((int)power, label);
        return label;
    }
    bool zero = !s->log && fabs(value) < 1e-9 * (s->high - s->low);
    snprintf(label, LABEL_BYTES, "%.6g", zero ? 0 : value / pow(10, s->power));
    return label;
}

// Steps of 1, 2 or 5 times a power of ten from low to high, about `wanted` of them.
static void ticks_even(scale *s, double low, double high, double wanted)
{
    double raw = (high - low) / wanted, power = pow(10, floor(log10(raw)));
    double step = raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10;
    step *= power;
    for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
        if (s->tick_count < TICKS_MAX)
            s->ticks[s->tick_count++] = k * step;
}

// A label's width in pixels, by its characters.
static double label_width(const char *label)
{
    double width = 0;
    for (; *label; label++)
        width += (*label & 0xc0) != 0x80 ? TICK_CHARACTER : 0;
    return width;
}

static double label_width_max(const scale *s)
{
    char label[LABEL_BYTES];
    double widest = 0;
    for (uint32_t i = 0; i < s->tick_count; i++)
        widest = fmax(widest, label_width(tick_label(s, s->ticks[i], label)));
    return widest;
}

// Labels below an x axis need room next to each other: uses fewer ticks until they fit.
static void ticks_that_fit(scale *s, double wanted, bool is_x)
{
    double length = fabs(s->to - s->from);
    for (;; wanted *= 0.8) {
        s->tick_count = 0;
        ticks_even(s, s->low, s->high, wanted);
        double room = length / (s->high - s->low) *
                      (s->tick_count > 1 ? s->ticks[1] - s->ticks[0] : s->high - s->low);
        if (!is_x || s->tick_count <= 2 || label_width_max(s) + LABEL_GAP <= room)
            return;
    }
}

static scale scale_of(const plot_panel *plot, const plot_axis *axis, bool is_x, double from,
                      double to)
{
    scale s = {.from = from, .to = to, .log = axis->log};
    if (axis->low < axis->high) {
        s.low = axis->log ? log10(axis->low) : axis->low;
        s.high = axis->log ? log10(axis->high) : axis->high;
    } else {
        fit_scale(&s, axis, plot, is_x);
    }
    double wanted = fmax(2, fabs(to - from) / (is_x ? 80 : 38));
    if (axis->log) {
        double decades = floor(s.high) - ceil(s.low) + 1;
        double step = fmax(1, ceil(decades / wanted));
        if (decades >= 2 && 3 * decades > wanted) {
            for (double k = ceil(s.low / step) * step; k <= s.high; k += step)
                if (s.tick_count < TICKS_MAX)
                    s.ticks[s.tick_count++] = pow(10, k);
        } else {
            // Few decades: 1, 2 and 5 of each.
            s.plain = s.low > -5 && s.high < 6;
            static const double multiples[] = {1, 2, 5};
            for (double k = floor(s.low); k <= s.high; k++)
                for (int m = 0; m < 3; m++) {
                    double value = multiples[m] * pow(10, k), at = log10(value);
                    if (at >= s.low && at <= s.high && s.tick_count < TICKS_MAX)
                        s.ticks[s.tick_count++] = value;
                }
            // A part of one decade, with hardly any of those: even steps.
            if (s.tick_count < 3) {
                s.tick_count = 0;
                s.even = true;
                ticks_even(&s, pow(10, s.low), pow(10, s.high), fmin(wanted, 4));
            }
        }
    }
    // The power of ten that the labels of large or small numbers share, as in "time, day (× 10⁶)".
    double largest = s.log ? pow(10, s.high) : fmax(fabs(s.low), fabs(s.high));
    if ((s.log && !s.even) || !(largest > 0) || (largest >= 1e-3 && largest < 1e5))
        s.power = 0;
    else
        s.power = (int)floor(log10(largest));
    if (!axis->log)
        ticks_that_fit(&s, wanted, is_x);
    return s;
}

// -- axes

static void write_text(FILE *out, double x, double y, const char *anchor, double size,
                       const char *colour, const char *more, const char *content)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"%s\"%s>",
            x, y, anchor, size, colour, more);
    plot_escape(out, content);
    fputs("</text>\n", out);
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2, const char *colour)
{
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"1\"/>\n",
            x1, y1, x2, y2, colour);
}

// The axis' name, with the power of ten that its ticks share.
static const char *axis_label(const scale *s, const char *name, char *label, size_t bytes)
{
    char power[LABEL_BYTES];
    power_text(s->power, power);
    snprintf(label, bytes, s->power ? "%s (\u00d7 %s)" : "%s", name, power);
    return label;
}

static void draw_frame(FILE *out, const plot_panel *plot, const frame *f)
{
    char tick[LABEL_BYTES];
    double taken = -INFINITY; // right end of the last label
    for (uint32_t i = 0; i < f->x.tick_count; i++) {
        double x = to_pixels(&f->x, f->x.ticks[i]);
        write_line(out, x, f->top, x, f->bottom, GRID);
        double half = label_width(tick_label(&f->x, f->x.ticks[i], tick)) / 2;
        if (x - half < taken)
            continue; // uneven ticks: the line without its label
        taken = x + half + LABEL_GAP;
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"12\" fill=\"%s\">",
                x, f->bottom + 17, INK_SOFT);
        fputs(tick, out);
        fputs("</text>\n", out);
    }
    for (uint32_t i = 0; i < f->y.tick_count; i++) {
        double y = to_pixels(&f->y, f->y.ticks[i]);
        write_line(out, f->left, y, f->right, y, GRID);
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"12\" fill=\"%s\">",
                f->left - 7, y + 4, INK_SOFT);
        fputs(tick_label(&f->y, f->y.ticks[i], tick), out);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"%s\"/>\n",
            f->left, f->top, f->right - f->left, f->bottom - f->top, FRAME);
    write_text(out, f->left, f->top - 26, "start", 15, INK, " font-weight=\"bold\"", plot->title);
    if (plot->subtitle)
        write_text(out, f->left, f->top - 9, "start", 12, INK_SOFT, "", plot->subtitle);
    char turn[96], label[256];
    write_text(out, (f->left + f->right) / 2, f->bottom + 38, "middle", 13, INK, "",
               axis_label(&f->x, plot->x.label, label, sizeof label));
    double x = f->left - MARGIN_LEFT + 18, y = (f->top + f->bottom) / 2;
    snprintf(turn, sizeof turn, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
    write_text(out, x, y, "middle", 13, INK, turn,
               axis_label(&f->y, plot->y.label, label, sizeof label));
}

// -- curves

static void draw_mark(FILE *out, uint32_t look, double x, double y, const char *colour)
{
    const char *fill = look / 5 % 2 ? "#ffffff" : colour;
    const char *style = "stroke-width=\"1.5\"";
    switch (look % 5) {
    case 0:
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\"", x, y);
        break;
    case 1:
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"6.6\" height=\"6.6\"", x - 3.3, y - 3.3);
        break;
    case 2:
        fprintf(out, "<path d=\"M%.1f %.1fl4.4 7.4h-8.8z\"", x, y - 4.6);
        break;
    case 3:
        fprintf(out, "<path d=\"M%.1f %.1fl4.6 4.6-4.6 4.6-4.6-4.6z\"", x, y - 4.6);
        break;
    default:
        fprintf(out, "<path d=\"M%.1f %.1fl4.4-7.4h-8.8z\"", x, y + 4.6);
        break;
    }
    fprintf(out, " fill=\"%s\" stroke=\"%s\" %s/>\n", fill, colour, style);
}

static void draw_points(FILE *out, const plot_series *s, const frame *f, const char *colour)
{
    bool dots = s->style == PLOT_DOTS;
    if (dots)
        fprintf(out,
                "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.9\" "
                "stroke-linecap=\"round\" stroke-opacity=\"0.75\" d=\"",
                colour);
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_drawable(&f->x, s->x[i]) || !is_drawable(&f->y, s->y[i]))
            continue;
        double x = to_pixels(&f->x, s->x[i]), y = to_pixels(&f->y, s->y[i]);
        if (!(x >= f->left - 0.5) || !(x <= f->right + 0.5) || !(y >= f->top - 0.5) ||
            !(y <= f->bottom + 0.5))
            continue;
        if (dots)
            fprintf(out, "M%.1f %.1fh0", x, y);
        else
            draw_mark(out, s->look, x, y, colour);
    }
    if (dots)
        fputs("\"/>\n", out);
}

static void draw_series(FILE *out, const plot_series *s, const frame *f)
{
    const char *colour = colours[s->look % COLOUR_COUNT];
    const char *dash = dashes[s->look / COLOUR_COUNT % 4];
    char stroke[128];
    if (s->style == PLOT_GUIDE)
        snprintf(stroke, sizeof stroke, "stroke=\"%s\" stroke-width=\"1\" stroke-dasharray=\"3 4\"",
                 FRAME);
    else
        snprintf(stroke, sizeof stroke, "stroke=\"%s\" stroke-width=\"1.8\"%s%s%s", colour,
                 dash[0] ? " stroke-dasharray=\"" : "", dash, dash[0] ? "\"" : "");
    if (s->style != PLOT_DOTS) {
        bool pen_down = false;
        fputs("<path fill=\"none\" stroke-linejoin=\"round\" d=\"", out);
        for (uint32_t i = 0; i < s->count; i++) {
            if (!is_drawable(&f->x, s->x[i]) || !is_drawable(&f->y, s->y[i])) {
                pen_down = false;
                continue;
            }
            // Clamped: numbers far outside would only be long.
            double x = fmin(fmax(to_pixels(&f->x, s->x[i]), f->left - 1e4), f->right + 1e4);
            double y = fmin(fmax(to_pixels(&f->y, s->y[i]), f->top - 1e4), f->bottom + 1e4);
            fprintf(out, "%c%.1f %.1f", pen_down ? 'L' : 'M', x, y);
            pen_down = true;
        }
        fprintf(out, "\" %s/>\n", stroke);
    }
    if (s->style == PLOT_LINE_MARKS || s->style == PLOT_DOTS)
        draw_points(out, s, f, colour);
}

void plot_legend(FILE *out, const plot_series *series, uint32_t count, bool marks, double left,
                 double top)
{
    for (uint32_t k = 0; k < count; k++) {
        const plot_series *s = &series[k];
        if (s->style == PLOT_GUIDE)
            continue;
        const char *colour = colours[s->look % COLOUR_COUNT];
        const char *dash = dashes[s->look / COLOUR_COUNT % 4];
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"2.4\"%s%s%s/>\n",
                left, top, left + 24, top, colour, dash[0] ? " stroke-dasharray=\"" : "", dash,
                dash[0] ? "\"" : "");
        if (marks)
            draw_mark(out, s->look, left + 12, top, colour);
        write_text(out, left + 31, top + 4, "start", 12, INK, "", s->label);
        top += 20;
    }
}

// -- public

void plot_page_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g "
            "%g\" font-family=\"%s\" role=\"img\">\n<title>",
            width, height, width, height, FONT);
    plot_escape(out, title);
    fprintf(out, "</title>\n<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n", width, height);
}

void plot_page_text(FILE *out, double x, double y, double size, const char *colour, bool bold,
                    const char *content)
{
    write_text(out, x, y, "start", size, colour ? colour : INK, bold ? " font-weight=\"bold\"" : "",
               content);
}

void plot_page_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void plot_draw(FILE *out, const plot_panel *plot, double left, double top, double width,
               double height)
{
    frame f = {.left = left + MARGIN_LEFT,
               .top = top + MARGIN_TOP,
               .right = left + width - MARGIN_RIGHT,
               .bottom = top + height - MARGIN_BOTTOM};
    if (plot->legend) {
        size_t longest = 0;
        for (uint32_t k = 0; k < plot->count; k++)
            if (plot->series[k].style != PLOT_GUIDE && strlen(plot->series[k].label) > longest)
                longest = strlen(plot->series[k].label);
        f.right -= 16 + 31 + (double)longest * CHARACTER;
    }
    f.x = scale_of(plot, &plot->x, true, f.left, f.right);
    f.y = scale_of(plot, &plot->y, false, f.bottom, f.top);
    draw_frame(out, plot, &f);
    fprintf(out,
            "<clipPath id=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#%s)\">\n",
            plot->id, f.left, f.top, f.right - f.left, f.bottom - f.top, plot->id);
    for (uint32_t k = 0; k < plot->count; k++)
        draw_series(out, &plot->series[k], &f);
    fputs("</g>\n", out);
    if (plot->legend && plot->count)
        plot_legend(out, plot->series, plot->count, plot->series[0].style == PLOT_LINE_MARKS,
                    f.right + 16, f.top + 10);
}
