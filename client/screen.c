// SPDX-License-Identifier: MIT
// screen.c: one picture a draw, written as a whole, so that nothing flickers.
#include "screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/canvas.h"
#include "base/terminal.h"

#define KEY_HOLD_NS 250000000u
#define NAMES_MAX 24   // bodies named at once
#define LINES_MAX 2000 // constraints drawn

struct foliot__screen {
    struct termios before;
    foliot__canvas canvas;
    foliot__view view;
    bool colours;
    uint64_t held_until[FOLIOT_AXES];
    int8_t axes[FOLIOT_AXES];
    uint64_t buttons_until;
    uint16_t buttons;
};

foliot__screen *foliot__screen_open(void)
{
    if (!foliot__is_terminal(stdout) || !foliot__is_terminal(stdin))
        return NULL;
    foliot__screen *screen = calloc(1, sizeof *screen);
    if (!screen || tcgetattr(STDIN_FILENO, &screen->before) != 0) {
        free(screen);
        return NULL;
    }
    struct termios raw = screen->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    screen->colours = foliot__may_colour(stdout);
    fputs("\x1b[?1049h\x1b[?25l\x1b[2J", stdout);
    return screen;
}

void foliot__screen_close(foliot__screen *screen)
{
    if (!screen)
        return;
    fputs("\x1b[?25h\x1b[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
    foliot__canvas_free(&screen->canvas);
    free(screen);
}

static bool fit_terminal(foliot__screen *screen)
{
    uint32_t columns = 80, rows = 24;
    foliot__terminal_size(stdout, &columns, &rows);
    if (screen->canvas.columns != columns || screen->canvas.rows != rows)
        return foliot__canvas_init(&screen->canvas, columns, rows);
    foliot__canvas_clear(&screen->canvas);
    return true;
}

// A point where the scene is not here yet, or has no such body.
static foliot_shape shape_of(const foliot_scene *scene, uint32_t slot, uint32_t flags)
{
    if (scene && slot < scene->body_count)
        return scene->bodies[slot].shape;
    if (scene && (flags & FOLIOT_BODY_PLAYER))
        return scene->players.body.shape;
    return (foliot_shape){.kind = FOLIOT_SHAPE_POINT};
}

static bool shown(const foliot_scene *scene, const foliot_sample *sample, uint32_t slot)
{
    uint32_t flags = sample->bodies[slot].flags;
    return (flags & FOLIOT_BODY_ALIVE) && shape_of(scene, slot, flags).kind != FOLIOT_SHAPE_PLANE;
}

static void follow(foliot__screen *screen, const foliot_scene *scene, const foliot_sample *sample)
{
    double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300};
    for (uint32_t i = 0; i < sample->count; i++) {
        if (!shown(scene, sample, i))
            continue;
        double radius = shape_of(scene, i, sample->bodies[i].flags).radius;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], sample->bodies[i].position[k] - radius);
            high[k] = fmax(high[k], sample->bodies[i].position[k] + radius);
        }
    }
    if (low[0] <= high[0])
        foliot__view_fit(&screen->view, &screen->canvas, low, high);
}

static void draw_constraints(foliot__screen *screen, const foliot_scene *scene, const foliot_sample *sample)
{
    for (uint32_t i = 0; scene && i < scene->constraint_count && i < LINES_MAX; i++) {
        uint32_t a = scene->constraints[i].a, b = scene->constraints[i].b;
        if (a >= sample->count || b >= sample->count)
            continue;
        double x0, y0, x1, y1;
        foliot__view_place(&screen->view, &screen->canvas, sample->bodies[a].position, &x0, &y0);
        foliot__view_place(&screen->view, &screen->canvas, sample->bodies[b].position, &x1, &y1);
        foliot__canvas_line(&screen->canvas, x0, y0, x1, y1, FOLIOT__COLOUR_GREY);
    }
}

static foliot__colour colour_of(uint32_t slot, uint32_t flags)
{
    if (flags & FOLIOT_BODY_PLAYER)
        return (foliot__colour)(FOLIOT__COLOUR_RED + slot % 6);
    return flags & FOLIOT_BODY_STATIC ? FOLIOT__COLOUR_GREY : FOLIOT__COLOUR_INK;
}

static void draw_bodies(foliot__screen *screen, const foliot_client *client, const foliot_sample *sample)
{
    const foliot_scene *scene = foliot_client_scene(client);
    unsigned named = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const foliot_body_state *b = &sample->bodies[i];
        if (!shown(scene, sample, i))
            continue;
        bool player = b->flags & FOLIOT_BODY_PLAYER;
        foliot_shape shape = shape_of(scene, i, b->flags);
        foliot__view_draw(&screen->view, &screen->canvas, &shape, b, colour_of(i, b->flags));
        const char *name = player ? foliot_client_player_name(client, i)
                                  : scene && i < scene->body_count ? scene->bodies[i].name : NULL;
        if (!name || !*name || named >= NAMES_MAX || !(player || sample->count <= NAMES_MAX))
            continue;
        double x, y;
        foliot__view_place(&screen->view, &screen->canvas, b->position, &x, &y);
        foliot__canvas_text(&screen->canvas, (int32_t)(x / 2) + 2, (int32_t)(y / 4), colour_of(i, b->flags), name);
        named++;
    }
}

static void draw_status(foliot__screen *screen, const foliot_client *client, const foliot_sample *sample,
                        const char *server)
{
    foliot_client_statistics s = foliot_client_statistics_now(client);
    char line[512];
    int32_t last = (int32_t)screen->canvas.rows - 1;
    snprintf(line, sizeof line, " %s on %s   tick %.0f   %s ", foliot_client_scene_name(client), server,
             sample->render_tick, foliot__view_name(screen->view.side));
    foliot__canvas_text(&screen->canvas, 0, 0, FOLIOT__COLOUR_CYAN, line);
    snprintf(line, sizeof line,
             " rtt %.0f ms  loss %.1f %%  jitter %.1f ms  delay %.0f ms  starved %llu  %.0f B a snapshot%s ",
             s.round_trip_ms, 100 * s.loss, s.jitter_ms, s.delay_ms, (unsigned long long)s.samples_starved,
             s.snapshot_bytes_mean, sample->starved ? "  STARVED" : "");
    foliot__canvas_text(&screen->canvas, 0, last - 1, FOLIOT__COLOUR_YELLOW, line);
    foliot__canvas_text(&screen->canvas, 0, last, FOLIOT__COLOUR_GREY,
                        " arrows push  R F up down  Q E turn  space fires  V view  Esc leaves");
}

void foliot__screen_draw(foliot__screen *screen, const foliot_client *client, const foliot_sample *sample,
                         const char *server)
{
    if (!fit_terminal(screen))
        return;
    follow(screen, foliot_client_scene(client), sample);
    draw_constraints(screen, foliot_client_scene(client), sample);
    draw_bodies(screen, client, sample);
    draw_status(screen, client, sample, server);
    fputs("\x1b[H", stdout);
    foliot__canvas_print(&screen->canvas, screen->colours, stdout);
    fflush(stdout);
}

// -- keys -------------------------------------------------------------------------------------------------

static void push(foliot__screen *screen, uint64_t now_ns, int axis, int8_t value)
{
    screen->axes[axis] = value;
    screen->held_until[axis] = now_ns + KEY_HOLD_NS;
}

static void press(foliot__screen *screen, uint64_t now_ns, unsigned button)
{
    screen->buttons |= (uint16_t)(1u << button);
    screen->buttons_until = now_ns + KEY_HOLD_NS;
}

// One key; `arrow` if it came as an escape sequence. False: leave.
static bool take_key(foliot__screen *screen, uint64_t now_ns, char key, bool arrow)
{
    static const struct {
        char key;
        bool arrow;
        int axis;
        int8_t value;
    } pushes[] = {{'C', true, 0, 127},   {'D', true, 0, -127},  {'A', true, 1, 127},   {'B', true, 1, -127},
                  {'d', false, 0, 127},  {'a', false, 0, -127}, {'w', false, 1, 127},  {'s', false, 1, -127},
                  {'r', false, 2, 127},  {'f', false, 2, -127}, {'q', false, 3, 127},  {'e', false, 3, -127}};
    for (size_t i = 0; i < sizeof pushes / sizeof pushes[0]; i++)
        if (pushes[i].key == key && pushes[i].arrow == arrow)
            push(screen, now_ns, pushes[i].axis, pushes[i].value);
    if (!arrow && key == ' ')
        press(screen, now_ns, 0);
    if (!arrow && key >= '1' && key <= '9')
        press(screen, now_ns, (unsigned)(key - '0'));
    if (!arrow && key == 'v') {
        screen->view = (foliot__view){.side = (screen->view.side + 1) % FOLIOT__VIEW_SIDES};
    }
    return arrow || key != 'x';
}

bool foliot__screen_keys(foliot__screen *screen, uint64_t now_ns, int8_t axes[FOLIOT_AXES], uint16_t *buttons)
{
    char keys[64];
    ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
    bool stays = true;
    for (ssize_t i = 0; i < count && stays; i++) {
        if (keys[i] == '\x1b' && i + 2 < count && (keys[i + 1] == '[' || keys[i + 1] == 'O')) {
            take_key(screen, now_ns, keys[i + 2], true);
            i += 2;
        } else if (keys[i] == '\x1b') {
            stays = false;
        } else {
            char lower = keys[i] >= 'A' && keys[i] <= 'Z' ? (char)(keys[i] + 32) : keys[i];
            stays = take_key(screen, now_ns, lower, false);
        }
    }
    for (int k = 0; k < FOLIOT_AXES; k++)
        axes[k] = now_ns < screen->held_until[k] ? screen->axes[k] : 0;
    if (now_ns >= screen->buttons_until)
        screen->buttons = 0;
    *buttons = screen->buttons;
    return stays;
}
