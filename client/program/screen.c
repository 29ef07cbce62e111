// SPDX-License-Identifier: MIT
// screen.c: one picture a draw, written as a whole, so that nothing flickers.
#include "app.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/array.h"
#include "base/terminal.h"
#include "base/text.h"
#include "board.h"
#include "view/view.h"

#define KEY_HOLD_NS 250000000u
#define NAMES_MAX 24     // bodies named at once
#define NAMES_UNASKED 16 // where there are more bodies, players alone are named
#define GIVE_BACK "\x1b[?7h\x1b[?25h\x1b[?1049l"
#define JOINTS_MAX 65536 // constraints looked at: a server may name any index
#define LINES_MAX 2000   // constraints drawn
#define CIRCLE_DOTS 180  // of the circle that a watcher sees of a big world

struct foliot__screen {
    struct termios before;
    foliot__canvas canvas;
    foliot__view view;
    bool chosen;     // the side to look from
    double focus[3]; // of a spectator
    bool looks, shows_interest;
    foliot__figure *figures;
    uint32_t figure_count;
    bool colours;
    uint64_t held_until[FOLIOT_AXIS_COUNT];
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint64_t buttons_until;
    bool kind_pressed;
    uint16_t buttons;
    foliot__board board;
    const foliot__module *module; // NULL: worlds
};

// The terminal as it was, for foliot__screen_abandon.
static struct termios taken_from;
static _Atomic(bool) taken;

foliot__screen *foliot__screen_open(const char *side, const foliot__module *module)
{
    if (!foliot__is_terminal(stdout) || !foliot__is_terminal(stdin))
        return NULL;
    foliot__screen *screen = calloc(1, sizeof *screen);
    if (!screen || tcgetattr(STDIN_FILENO, &screen->before) != 0) {
        free(screen);
        return NULL;
    }
    screen->module = module;
    screen->chosen = side && foliot__view_side_of(side, &screen->view.side);
    struct termios raw = screen->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    taken_from = screen->before;
    atomic_store(&taken, true);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    screen->colours = foliot__may_colour(stdout);
    fputs("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J",
          stdout); // no cursor, and lines cut at the edge
    return screen;
}

void foliot__screen_close(foliot__screen *screen)
{
    if (!screen)
        return;
    fputs(GIVE_BACK, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
    atomic_store(&taken, false);
    foliot__canvas_free(&screen->canvas);
    free(screen->figures);
    free(screen);
}

void foliot__screen_abandon(void)
{
    if (!atomic_load(&taken))
        return;
    ssize_t written = write(STDOUT_FILENO, GIVE_BACK, sizeof GIVE_BACK - 1);
    (void)written;
    tcsetattr(STDIN_FILENO, TCSANOW, &taken_from);
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
static foliot_shape shape_of(const foliot_client *client, uint32_t slot, uint32_t flags)
{
    foliot_shape shape = {.kind = FOLIOT_SHAPE_POINT};
    const foliot_scene *scene = foliot_client_get_scene(client);
    bool known = scene && (slot < scene->body_count || (flags & FOLIOT_BODY_PLAYER) ||
                           foliot_client_get_prototype(client, slot) != FOLIOT_NO_BODY);
    if (known && !foliot_client_get_shape(client, slot, &shape))
        shape.kind = FOLIOT_SHAPE_POINT;
    return shape;
}

// The game defines the meaning of tags; equal ones look alike.
static foliot__colour colour_of(const foliot_client *client, uint32_t slot, uint32_t flags)
{
    uint32_t tag = foliot_client_get_tag(client, slot);
    if (tag != 0)
        return (foliot__colour)(FOLIOT__COLOUR_RED + (tag - 1) % 6);
    if (flags & FOLIOT_BODY_PLAYER)
        return (foliot__colour)(FOLIOT__COLOUR_RED + slot % 6);
    return flags & (FOLIOT_BODY_STATIC | FOLIOT_BODY_ASLEEP) ? FOLIOT__COLOUR_GREY
                                                             : FOLIOT__COLOUR_INK;
}

// Copies all present bodies into screen->figures.
static bool collect_figures(foliot__screen *screen, const foliot_client *client,
                            const foliot_sample *sample)
{
    screen->figure_count = 0;
    if (!foliot__array_resize(&screen->figures, sample->count, sizeof *screen->figures))
        return false;
    for (uint32_t i = 0; i < sample->count; i++) {
        const foliot_body_state *body = &sample->bodies[i];
        if (body->flags & FOLIOT_BODY_ALIVE)
            screen->figures[screen->figure_count++] =
                (foliot__figure){.slot = i,
                                 .colour = colour_of(client, i, body->flags),
                                 .shape = shape_of(client, i, body->flags),
                                 .body = *body};
    }
    return true;
}

static void draw_joints(foliot__screen *screen, const foliot_client *client,
                        const foliot_sample *sample)
{
    uint32_t count = foliot_client_get_joint_count(client);
    for (uint32_t i = 0, drawn = 0; i < count && i < JOINTS_MAX && drawn < LINES_MAX; i++) {
        foliot_constraint_definition joint;
        if (!foliot_client_get_joint(client, i, &joint))
            continue;
        bool world = joint.b == FOLIOT_NO_BODY;
        if (joint.a >= sample->count || (!world && joint.b >= sample->count) ||
            !(sample->bodies[joint.a].flags & FOLIOT_BODY_ALIVE) ||
            (!world && !(sample->bodies[joint.b].flags & FOLIOT_BODY_ALIVE)))
            continue;
        foliot__view_joint(&screen->view, &screen->canvas, &joint, &sample->bodies[joint.a],
                           world ? NULL : &sample->bodies[joint.b], FOLIOT__COLOUR_GREY);
        drawn++;
    }
}

static void draw_names(foliot__screen *screen, const foliot_client *client,
                       const foliot_sample *sample)
{
    const foliot_scene *scene = foliot_client_get_scene(client);
    unsigned named = 0;
    for (uint32_t i = 0; i < sample->count && named < NAMES_MAX; i++) {
        const foliot_body_state *b = &sample->bodies[i];
        bool player = b->flags & FOLIOT_BODY_PLAYER;
        if (!(b->flags & FOLIOT_BODY_ALIVE) || (b->flags & FOLIOT_BODY_STATIC) ||
            !(player || sample->count <= NAMES_UNASKED))
            continue;
        const char *name = player ? foliot_client_get_player_name(client, i)
                           : scene && i < scene->body_count ? scene->bodies[i].name
                                                            : NULL;
        if (!name || !*name)
            continue;
        double x, y;
        foliot__view_place(&screen->view, &screen->canvas, b->position, &x, &y);
        foliot__canvas_text(&screen->canvas, (int32_t)(x / 2) + 2, (int32_t)(y / 4),
                            colour_of(client, i, b->flags), name);
        named++;
    }
}

// How far the client sees, around its own body or its focus, in the plane of the ground.
static void draw_interest(foliot__screen *screen, const foliot_client *client,
                          const foliot_sample *sample)
{
    double near, far, centre[3];
    if (!(screen->looks || screen->shows_interest) ||
        !foliot_client_get_interest(client, &near, &far))
        return;
    memcpy(centre, screen->focus, sizeof centre);
    const char *own = foliot_client_get_name(client, foliot_client_get_player(client));
    for (uint32_t i = 0; own && i < sample->count; i++)
        if ((sample->bodies[i].flags & FOLIOT_BODY_PLAYER) &&
            foliot_client_get_player_name(client, i) == own) // one text each
            memcpy(centre, sample->bodies[i].position, sizeof centre);
    for (int i = 0; i < CIRCLE_DOTS; i++) {
        double angle = 2 * M_PI * i / CIRCLE_DOTS, x, y,
               at[3] = {centre[0] + far * cos(angle), centre[1] + far * sin(angle), centre[2]};
        foliot__view_place(&screen->view, &screen->canvas, at, &x, &y);
        foliot__canvas_dot(&screen->canvas, x, y, FOLIOT__COLOUR_YELLOW);
    }
}

void foliot__screen_look(foliot__screen *screen, const double focus[3])
{
    memcpy(screen->focus, focus, sizeof screen->focus);
    screen->looks = true;
}

void foliot__screen_show_interest(foliot__screen *screen)
{
    screen->shows_interest = true;
}

// `what`: the side of the view, or the name of another simulation.
static void draw_status(foliot__screen *screen, const foliot_client *client, double render_tick,
                        bool starved, const char *what, const char *server)
{
    foliot_client_statistics s = foliot_client_get_statistics(client);
    char line[512];
    int32_t last = (int32_t)screen->canvas.rows - 1;
    foliot__canvas_blank(&screen->canvas, 0); // no bodies shine through
    foliot__canvas_blank(&screen->canvas, last - 1);
    foliot__canvas_blank(&screen->canvas, last);
    snprintf(line, sizeof line, " %s on %s   tick %.0f   %s ", foliot_client_get_scene_name(client),
             server, render_tick, what);
    foliot__canvas_text(&screen->canvas, 0, 0, FOLIOT__COLOUR_CYAN, line);
    snprintf(line, sizeof line,
             " rtt %.0f ms  loss %.1f %%  jitter %.1f ms  delay %.0f ms  starved %llu  %.0f B a "
             "snapshot ",
             s.round_trip_ms, 100 * s.loss, s.jitter_ms, s.delay_ms,
             (unsigned long long)s.samples_starved, s.snapshot_bytes_mean);
    foliot__canvas_text(&screen->canvas, 0, last - 1, FOLIOT__COLOUR_YELLOW, line);
    foliot__canvas_text(
        &screen->canvas, 0, last, FOLIOT__COLOUR_GREY,
        " arrows push  R F up down  Q E turn  space 1 2 act  Enter chat  V view  Esc leaves");
    // At the right edge, where it is visible however narrow the terminal is.
    const char *trouble = foliot_client_get_state(client) != FOLIOT_CLIENT_PLAYING
                              ? " RECONNECTING "
                          : starved ? " STARVED "
                                    : "";
    foliot__canvas_text(&screen->canvas, (int32_t)screen->canvas.columns - (int32_t)strlen(trouble),
                        0, FOLIOT__COLOUR_RED, trouble);
}

static void print_canvas(const foliot__screen *screen)
{
    fputs("\x1b[H", stdout);
    foliot__canvas_print(&screen->canvas, screen->colours, stdout);
    fflush(stdout);
}

void foliot__screen_wait(foliot__screen *screen, const char *server, double waited_seconds,
                         double left_seconds)
{
    char line[400];
    if (!fit_terminal(screen))
        return;
    if (waited_seconds < FOLIOT__WAITED_SECONDS || left_seconds < 0)
        snprintf(line, sizeof line, " joining %s ... Esc gives up", server);
    else
        snprintf(line, sizeof line, " joining %s ... no answer yet; giving up in %.0f s, or Esc",
                 server, left_seconds);
    foliot__canvas_text(&screen->canvas, 0, 0, FOLIOT__COLOUR_CYAN, line);
    print_canvas(screen);
}

void foliot__screen_draw(foliot__screen *screen, const foliot_client *client,
                         const foliot_sample *sample, const char *server)
{
    if (!fit_terminal(screen))
        return;
    const foliot_scene *scene = foliot_client_get_scene(client);
    if (!screen->chosen && scene) {
        screen->view.side = foliot__view_side_for(scene);
        screen->chosen = true;
    }
    if (!collect_figures(screen, client, sample))
        return;
    double low[3], high[3];
    if (foliot__figures_bounds(screen->figures, screen->figure_count, low, high))
        foliot__view_fit(&screen->view, &screen->canvas, low, high);
    foliot__view_paint(&screen->view, &screen->canvas, screen->figures, screen->figure_count);
    draw_interest(screen, client, sample);
    draw_joints(screen, client, sample);
    draw_names(screen, client, sample);
    draw_status(screen, client, sample->render_tick, sample->starved,
                foliot__view_name(screen->view.side), server);
    foliot__board_draw(&screen->board, &screen->canvas, client);
    print_canvas(screen);
}

void foliot__screen_draw_simulation(foliot__screen *screen, const foliot_client *client,
                                    const foliot_simulation_sample *sample, const char *server)
{
    const foliot_simulation *s = foliot_client_get_predicted(client); // with the own keys in it
    s = s ? s : foliot_client_get_simulation(client);
    if (!s || !fit_terminal(screen))
        return;
    uint32_t rows = screen->canvas.rows > 4 ? screen->canvas.rows - 4 : 1;
    char *text = foliot__module_draw(screen->module, s->self, screen->canvas.columns, rows);
    const char *at = text;
    for (uint32_t row = 0; at && *at && row < rows; row++) {
        char line[512], clean[512];
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : 511), at);
        foliot__canvas_text(&screen->canvas, 0, (int32_t)row + 2, FOLIOT__COLOUR_INK,
                            foliot__text_clean(clean, sizeof clean, line));
        at += length + (at[length] == '\n');
    }
    free(text);
    draw_status(screen, client, sample->render_tick, sample->starved, s->kind->name, server);
    foliot__board_draw(&screen->board, &screen->canvas, client);
    print_canvas(screen);
}

void foliot__screen_say(foliot__screen *screen, uint64_t now_ns, const char *text)
{
    foliot__board_say(&screen->board, now_ns, text);
}

const char *foliot__screen_line(foliot__screen *screen)
{
    return foliot__board_line(&screen->board);
}

bool foliot__screen_kind(foliot__screen *screen)
{
    bool pressed = screen->kind_pressed;
    screen->kind_pressed = false;
    return pressed;
}

// -- keys

static void hold_button(foliot__screen *screen, uint64_t now_ns, unsigned button)
{
    screen->buttons |= (uint16_t)(1u << button);
    screen->buttons_until = now_ns + KEY_HOLD_NS;
}

// One key; `arrow` if it came as an escape sequence. False: leave.
static bool handle_key(foliot__screen *screen, uint64_t now_ns, char key, bool arrow)
{
    static const struct {
        char key;
        bool arrow;
        int axis;
        int8_t value;
    } pushes[] = {{'C', true, 0, 127},   {'D', true, 0, -127},  {'A', true, 1, 127},
                  {'B', true, 1, -127},  {'d', false, 0, 127},  {'a', false, 0, -127},
                  {'w', false, 1, 127},  {'s', false, 1, -127}, {'r', false, 2, 127},
                  {'f', false, 2, -127}, {'q', false, 3, 127},  {'e', false, 3, -127}};
    for (size_t i = 0; i < sizeof pushes / sizeof pushes[0]; i++)
        if (pushes[i].key == key && pushes[i].arrow == arrow) {
            screen->axes[pushes[i].axis] = pushes[i].value;
            screen->held_until[pushes[i].axis] = now_ns + KEY_HOLD_NS;
        }
    if (!arrow && key == ' ')
        hold_button(screen, now_ns, 0);
    if (!arrow && key >= '1' && key <= '9')
        hold_button(screen, now_ns, (unsigned)(key - '0'));
    if (!arrow && key == 'v') {
        screen->view = (foliot__view){.side = (screen->view.side + 1) % FOLIOT__VIEW_SIDES};
        screen->chosen = true;
    }
    screen->kind_pressed |= !arrow && key == 'k';
    return arrow || key != 'x';
}

bool foliot__screen_keys(foliot__screen *screen, uint64_t now_ns, int8_t axes[FOLIOT_AXIS_COUNT],
                         uint16_t *buttons)
{
    char keys[64];
    ssize_t count = read(STDIN_FILENO, keys, sizeof keys);
    bool stays = true;
    screen->board.now_ns = now_ns;
    for (ssize_t i = 0; i < count && stays; i++) {
        bool sequence = keys[i] == '\x1b' && i + 2 < count && keys[i + 1] == '[';
        if (foliot__board_handle_key(&screen->board, keys[i], sequence)) {
            i += sequence ? 2 : 0;
            continue;
        }
        if (keys[i] == '\x1b' && i + 2 < count && (keys[i + 1] == '[' || keys[i + 1] == 'O')) {
            handle_key(screen, now_ns, keys[i + 2], true);
            i += 2;
        } else if (keys[i] == '\x1b') {
            stays = false;
        } else {
            char lower = keys[i] >= 'A' && keys[i] <= 'Z' ? (char)(keys[i] + 32) : keys[i];
            stays = handle_key(screen, now_ns, lower, false);
        }
    }
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        axes[k] = now_ns < screen->held_until[k] ? screen->axes[k] : 0;
    if (now_ns >= screen->buttons_until)
        screen->buttons = 0;
    *buttons = screen->buttons;
    return stays;
}
