// SPDX-License-Identifier: MIT
// play.c: foliot-replay play: a recording drawn in the terminal, controlled with keys: pause, step
// and seek both ways. --frame prints one picture and ends, for pipes and for tests. The state shown
// is always the replayed one: nothing is interpolated.
#include "tool.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/watchdog.h"
#include "recording/replay.h"
#include "view/view.h"

#define GRACE_SECONDS 0.6 // that a step may continue for when a signal has come
#define SLOW_SECONDS 1.0  // a step that takes longer is reported
#define FRAME_MS 33
#define STEPS_PER_FRAME_MAX                                                                        \
    4096 // replayed between two pictures; beyond that the picture lags and shows it
#define SKIP_SECONDS 10
#define NAMES_MAX 24
#define NAMES_UNASKED                                                                              \
    8 // where there are more bodies, only players are named until the key is pressed
#define JOINTS_MAX 4096
#define PACE_DEFAULT_HZ 60

static bool frame_only, tick_given;
static uint64_t first_tick;
static double speed = 1;
static const char *side_text;

const foliot__option play_options[] = {
    {"tick", "T", FOLIOT__OPTION_COUNT, &first_tick, .given = &tick_given,
     .help = "tick to begin with"},
    {"speed", "X", FOLIOT__OPTION_POSITIVE, &speed, .help = "speed, as a multiple of real time"},
    {"view", "top|front|side|corner", FOLIOT__OPTION_TEXT, &side_text,
     .help = "side to look from (default: what fits the scene)",
     .details = "`top` shows x to the right and y up, `front` x and z, `side` y and z. By default "
                "a flat scene is seen at a right angle to its plane, any other from a corner. "
                "Bodies have their true size, near ones hide those behind them, static ones hide "
                "nothing, and joints are lines."},
    {"frame", NULL, FOLIOT__OPTION_FLAG, &frame_only,
     .help = "prints one picture and ends, in a pipe too"},
    SIMULATION_OPTION{0}};

typedef struct player {
    foliot_replay *replay;
    const foliot_replay_summary *about;
    const char *file;
    foliot__canvas canvas;
    foliot__view view;
    bool paused, names, at_end, quit;
    double speed, owed; // ticks to go until now
    double pace_hz;
    foliot__figure *figures;
    uint32_t figure_count;
    char notice[sizeof(((foliot_damage *)0)->text)];
} player;

// -- the picture

static foliot__colour colour_of(const foliot_body_state *body)
{
    if (body->flags & FOLIOT_BODY_FROZEN)
        return FOLIOT__COLOUR_RED;
    if (body->flags & FOLIOT_BODY_PLAYER)
        return FOLIOT__COLOUR_YELLOW;
    return body->flags & (FOLIOT_BODY_STATIC | FOLIOT_BODY_ASLEEP) ? FOLIOT__COLOUR_GREY
                                                                   : FOLIOT__COLOUR_CYAN;
}

static void draw_names(player *p, const foliot_world *world)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < foliot_world_get_body_count(world) && shown < NAMES_MAX; i++) {
        const char *name = tool_body_name(p->about->scene, i);
        char label[FOLIOT_NAME_BYTES + 16];
        foliot_body_state body =
            foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
        bool steered = body.flags & FOLIOT_BODY_PLAYER;
        if (foliot_world_get_body_id(world, i).value == 0 || (body.flags & FOLIOT_BODY_STATIC) ||
            !(steered || p->names))
            continue;
        if (steered) {
            for (uint32_t k = 0; k < foliot_world_get_players_max(world); k++)
                if (foliot_body_id_get_slot(foliot_world_get_player_body(world, k)) == i)
                    snprintf(label, sizeof label, "player %u", (unsigned)k);
        } else if (name) {
            snprintf(label, sizeof label, "%s", name);
        } else {
            continue;
        }
        double x, y;
        foliot__view_place(&p->view, &p->canvas, body.position, &x, &y);
        if (!(x >= 0 && y >= 0 && x < 2 * p->canvas.columns && y < 4 * p->canvas.rows))
            continue;
        foliot__canvas_text(&p->canvas, (int32_t)(x / 2) + 2, (int32_t)(y / 4), colour_of(&body),
                            label);
        shown++;
    }
}

static void draw_line(player *p, int32_t row, foliot__colour colour, const char *line,
                      size_t length)
{
    char text[512], clean[512];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
             line);
    foliot__canvas_text(&p->canvas, 0, row, colour, foliot__text_clean(clean, sizeof clean, text));
}

static void draw_status(player *p, const foliot_world *world)
{
    char line[320], name[FOLIOT_NAME_BYTES], unit[FOLIOT_NAME_BYTES];
    foliot__text_clean(name, sizeof name, p->about->scene->name);
    foliot__text_clean(unit, sizeof unit, p->about->scene->units.time);
    snprintf(line, sizeof line, "%s  tick %" PRIu64 " of %" PRIu64 "  %.2f %s  %s%g x  %s", name,
             foliot_world_get_tick(world), p->about->last_tick, foliot_world_get_time(world), unit,
             p->paused ? "paused, " : "", p->speed, foliot__view_name(p->view.side));
    foliot__canvas_text(&p->canvas, 0, 0, FOLIOT__COLOUR_INK, line);
    if (p->notice[0])
        foliot__canvas_text(&p->canvas, 0, 1, FOLIOT__COLOUR_RED, p->notice);
}

static void draw_frame(player *p)
{
    const foliot_world *world = foliot_replay_get_world(p->replay);
    double low[3], high[3];
    if (!world) {
        // A simulation other than a world: its module draws it, below our line.
        const foliot_simulation *s = foliot_replay_get_simulation(p->replay);
        char line[320];
        snprintf(line, sizeof line, "%s  tick %" PRIu64 " of %" PRIu64 "  %s%g x", s->kind->name,
                 foliot_simulation_get_tick(s), p->about->last_tick, p->paused ? "paused, " : "",
                 p->speed);
        foliot__canvas_clear(&p->canvas);
        draw_line(p, 0, FOLIOT__COLOUR_INK, line, strlen(line));
        uint32_t rows = p->canvas.rows > 2 ? p->canvas.rows - 2 : 1;
        char *text = foliot__module_draw(tool_module, s->self, p->canvas.columns, rows), *at = text;
        for (uint32_t row = 0; at && *at && row < rows; row++) {
            size_t length = strcspn(at, "\n");
            draw_line(p, (int32_t)row + 2, FOLIOT__COLOUR_CYAN, at, length);
            at += length + (at[length] == '\n');
        }
        free(text);
        if (p->notice[0])
            foliot__canvas_text(&p->canvas, 0, 1, FOLIOT__COLOUR_RED, p->notice);
        return;
    }
    foliot__canvas_clear(&p->canvas);
    // Copies all present bodies into p->figures.
    uint32_t bodies = foliot_world_get_body_count(world);
    p->figure_count = 0;
    if (!foliot__array_resize(&p->figures, bodies, sizeof *p->figures))
        return;
    for (uint32_t i = 0; i < bodies; i++) {
        if (foliot_world_get_body_id(world, i).value == 0)
            continue;
        foliot_body body = {.tag = 0};
        (void)!foliot_world_get_body(world, foliot_world_get_body_id(world, i), &body);
        foliot__figure *figure = &p->figures[p->figure_count++];
        *figure = (foliot__figure){
            .slot = i,
            .shape = body.shape,
            .body = foliot_world_get_body_state(world, foliot_world_get_body_id(world, i))};
        figure->colour = colour_of(&figure->body);
    }
    if (foliot__figures_bounds(p->figures, p->figure_count, low, high))
        foliot__view_fit(&p->view, &p->canvas, low, high);
    else if (!(p->view.dots_per_unit > 0))
        p->view.dots_per_unit = 1;
    foliot__view_paint(&p->view, &p->canvas, p->figures, p->figure_count);
    const foliot_scene *scene = p->about->scene;
    for (uint32_t i = 0; i < scene->constraint_count && i < JOINTS_MAX; i++) {
        foliot_joint now;
        foliot_joint_id id = foliot_world_get_joint_id(world, i);
        if (foliot_world_get_joint(world, id, &now) != FOLIOT_STATUS_OK || now.broken)
            continue;
        const foliot_constraint_definition *joint = &scene->constraints[i];
        foliot_body_state a = foliot_world_get_body_state(world, now.a);
        foliot_body_state b = foliot_world_get_body_state(world, now.b);
        foliot__view_joint(&p->view, &p->canvas, joint, &a, joint->b == FOLIOT_NO_BODY ? NULL : &b,
                           FOLIOT__COLOUR_GREEN);
    }
    char unit[FOLIOT_NAME_BYTES];
    foliot__text_clean(unit, sizeof unit, p->about->scene->units.length);
    foliot__view_scale(&p->view, &p->canvas, unit);
    draw_names(p, world);
    draw_status(p, world);
}

// -- through time

static void set_notice(player *p, foliot_status status)
{
    const foliot_damage *damage = foliot_replay_get_damage(p->replay);
    snprintf(p->notice, sizeof p->notice, "%s",
             damage->status != FOLIOT_STATUS_OK && damage->text[0]
                 ? damage->text
                 : foliot_status_get_text(status));
}

static void seek_to_tick(player *p, double tick)
{
    double low = (double)p->about->first_tick, high = (double)p->about->last_tick;
    foliot_status status =
        foliot_replay_seek(p->replay, (uint64_t)fmin(fmax(tick, low), fmax(low, high)));
    p->owed = 0;
    p->at_end = false;
    p->notice[0] = 0;
    if (status != FOLIOT_STATUS_OK)
        set_notice(p, status);
}

static void step_replay(player *p, int ticks)
{
    p->paused = true;
    p->notice[0] = 0;
    foliot_status status =
        ticks < 0 ? foliot_replay_step_back(p->replay) : foliot_replay_step(p->replay);
    p->at_end = ticks > 0 && status == FOLIOT_STATUS_NOT_FOUND;
    if (status != FOLIOT_STATUS_OK && status != FOLIOT_STATUS_NOT_FOUND)
        set_notice(p, status);
}

// -- keys

typedef enum key_code {
    KEY_NONE,
    KEY_RIGHT = 256,
    KEY_LEFT,
    KEY_UP,
    KEY_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
} key_code;

// The key at `at` and how many bytes it is: arrows and the like are escape sequences.
static int key_of(const char *at, size_t left, size_t *bytes)
{
    static const struct {
        const char *sequence;
        key_code key;
    } keys[] = {{"\033[C", KEY_RIGHT},     {"\033[D", KEY_LEFT}, {"\033[A", KEY_UP},
                {"\033[B", KEY_DOWN},      {"\033[H", KEY_HOME}, {"\033[F", KEY_END},
                {"\033[1~", KEY_HOME},     {"\033[4~", KEY_END}, {"\033[5~", KEY_PAGE_UP},
                {"\033[6~", KEY_PAGE_DOWN}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t length = strlen(keys[i].sequence);
        if (length <= left && memcmp(at, keys[i].sequence, length) == 0) {
            *bytes = length;
            return keys[i].key;
        }
    }
    *bytes = 1;
    if (at[0] == '\033' && left > 1 && (at[1] == '[' || at[1] == 'O')) { // a key without a meaning
        for (*bytes = 2; *bytes < left && (at[*bytes] < '@' || at[*bytes] > '~');)
            ++*bytes;
        *bytes += *bytes < left;
        return 0;
    }
    return (unsigned char)at[0];
}

// -- the terminal

#define GIVE_BACK "\033[?7h\033[?25h\033[?1049l"

static struct termios before;

// The process ends in the middle of a step.
static void restore_terminal(void)
{
    ssize_t written = write(STDOUT_FILENO, GIVE_BACK, sizeof GIVE_BACK - 1);
    (void)written;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static bool enter_terminal(void)
{
    const foliot__watchdog_config watchdog = {.program = "foliot-replay play",
                                              .work = "replaying the scene",
                                              .lost = "",
                                              .grace_seconds = GRACE_SECONDS,
                                              .abandon = restore_terminal};
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    foliot__watchdog_start(&watchdog);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0)
        return false;
    fputs("\033[?1049h\033[?25l\033[?7l",
          stdout); // a screen of our own, no cursor, lines cut at the edge
    return true;
}

static bool fit_canvas(player *p, uint32_t rows_kept)
{
    uint32_t columns, rows;
    foliot__terminal_size(stdout, &columns, &rows);
    rows = rows > rows_kept ? rows - rows_kept : 1;
    if (p->canvas.cells && p->canvas.columns == columns && p->canvas.rows == rows)
        return true;
    p->view.dots_per_unit = 0;
    return foliot__canvas_init(&p->canvas, columns, rows);
}

static void read_keys(player *p)
{
    char bytes[64];
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&wait, 1, FRAME_MS) <= 0)
        return;
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) {
        p->quit = got == 0 || (wait.revents & (POLLHUP | POLLERR)) != 0;
        return;
    }
    foliot__watchdog_begin_work(); // seeks and steps take what the scene makes them take
    for (size_t at = 0, used; at < (size_t)got && !foliot__watchdog_stop_requested(); at += used) {
        int key = key_of(bytes + at, (size_t)got - at, &used);
        double now = (double)foliot_replay_get_tick(p->replay), skip = SKIP_SECONDS * p->pace_hz;
        double first = (double)p->about->first_tick, last = (double)p->about->last_tick;
        if (key >= '0' && key <= '9')
            seek_to_tick(p, first + (last - first) * (key - '0') / 10);
        else if (key == 'q' || key == '\033' || key == 3)
            p->quit = true;
        else if (key == ' ')
            p->paused = !p->paused;
        else if (key == '.' || key == KEY_RIGHT)
            step_replay(p, 1);
        else if (key == ',' || key == KEY_LEFT)
            step_replay(p, -1);
        else if (key == ']' || key == KEY_PAGE_UP)
            seek_to_tick(p, now + skip);
        else if (key == '[' || key == KEY_PAGE_DOWN)
            seek_to_tick(p, now - skip);
        else if (key == KEY_HOME)
            seek_to_tick(p, first);
        else if (key == KEY_END)
            seek_to_tick(p, last);
        else if (key == '+' || key == KEY_UP)
            p->speed = fmin(p->speed * 2, 1024);
        else if (key == '-' || key == KEY_DOWN)
            p->speed = fmax(p->speed / 2, 1.0 / 1024);
        else if (key == 'n')
            p->names = !p->names;
        else if (key == 'v')
            p->view = (foliot__view){.side = (p->view.side + 1) % FOLIOT__VIEW_SIDES};
    }
    foliot__watchdog_end_work();
}

static int play_recording(player *p)
{
    if (!foliot__is_terminal(stdout) || !foliot__is_terminal(stdin) || !enter_terminal()) {
        fprintf(stderr,
                "foliot-replay play: stdout is not a terminal; --frame prints one picture\n");
        return FOLIOT__EXIT_ERROR;
    }
    double last = tool_now();
    while (!p->quit && !foliot__watchdog_stop_requested() && fit_canvas(p, 1)) {
        foliot__watchdog_begin_work(); // a terminal may take nothing for as long as it likes
        draw_frame(p);
        fputs("\033[H", stdout);
        foliot__canvas_print(&p->canvas, foliot__may_colour(stdout), stdout);
        fputs(
            "\n\033[Kspace pause  , . step  [ ] 10 s  0-9 seek  + - speed  v view  n names  q quit",
            stdout);
        fflush(stdout);
        foliot__watchdog_end_work();
        read_keys(p);
        double now = tool_now();
        foliot__watchdog_begin_work();
        double seconds = fmin(now - last, 0.5);
        if (!p->paused && !p->at_end) {
            p->owed += seconds * p->speed * p->pace_hz;
            uint32_t steps = (uint32_t)fmin(p->owed, STEPS_PER_FRAME_MAX);
            double begin = tool_now();
            uint32_t done = 0;
            // A slow scene shows fewer ticks than requested instead of a frozen picture.
            while (done < steps && !p->at_end && tool_now() - begin < 0.2) {
                foliot_status status = foliot_replay_step(p->replay);
                p->at_end = status != FOLIOT_STATUS_OK;
                if (status != FOLIOT_STATUS_OK && status != FOLIOT_STATUS_NOT_FOUND)
                    set_notice(p, status);
                done++;
            }
            p->owed = done < steps ? 0 : p->owed - done;
            double took = tool_now() - begin;
            if (done && took / done > SLOW_SECONDS && !p->notice[0])
                snprintf(p->notice, sizeof p->notice,
                         "a tick of this scene takes %.1f s on this machine", took / done);
        }
        foliot__watchdog_end_work();
        last = now;
    }
    fputs(GIVE_BACK, stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return FOLIOT__EXIT_FINE;
}

int play_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code;
    player p = {.file = arguments->operands[0], .speed = speed};
    p.replay = tool_open(p.file, &code);
    if (!p.replay)
        return code;
    p.about = foliot_replay_get_summary(p.replay);
    const foliot_scene *scene = p.about->scene;
    p.names = scene && scene->body_count <= NAMES_UNASKED;
    p.pace_hz = scene ? scene->pace_hz : tool_terms(p.about).pace_hz;
    p.pace_hz = p.pace_hz > 0 ? p.pace_hz : PACE_DEFAULT_HZ;
    // How long it is, and whether it is whole. The undamaged part is played.
    code = tool_exit_of_part(foliot_replay_scan(p.replay));
    if (code == FOLIOT__EXIT_FINE && foliot__replay_callbacks_missing(p.replay)) {
        tool_complain(p.file, "%s", FOLIOT__CALLBACKS_MISSING);
        foliot_replay_close(p.replay);
        return FOLIOT__EXIT_NOT_VERIFIABLE;
    }
    tool_tell_damage(p.file, p.replay);
    foliot_status status = tick_given ? foliot_replay_seek(p.replay, first_tick) : FOLIOT_STATUS_OK;
    int shown = FOLIOT__EXIT_FINE;
    if (scene)
        p.view.side = foliot__view_side_for(scene);
    if (side_text && (!scene || !foliot__view_side_of(side_text, &p.view.side))) {
        shown = foliot__options_wrong(program, arguments,
                                      "--view is for worlds: a module draws its own picture");
    } else if (status == FOLIOT_STATUS_NOT_FOUND) {
        tool_complain(p.file, "there is no tick %" PRIu64 ": it holds %" PRIu64 " to %" PRIu64,
                      first_tick, p.about->first_tick, p.about->last_tick);
        // A tick beyond the damage is not there because of it.
        shown = code && first_tick > p.about->last_tick ? code : tool_exit_of(status);
    } else if (status != FOLIOT_STATUS_OK) {
        tool_complain(p.file, "tick %" PRIu64 ": %s (it holds %" PRIu64 " to %" PRIu64 ")",
                      first_tick, foliot_status_get_text(status), p.about->first_tick,
                      p.about->last_tick);
        shown = tool_exit_of(status);
    } else if (!frame_only) {
        shown = play_recording(&p);
    } else if (!fit_canvas(&p, 1)) {
        shown = FOLIOT__EXIT_ERROR;
    } else {
        draw_frame(&p);
        foliot__canvas_print(&p.canvas, foliot__may_colour(stdout), stdout);
        putchar('\n');
    }
    foliot__canvas_free(&p.canvas);
    free(p.figures);
    foliot_replay_close(p.replay);
    return shown == FOLIOT__EXIT_FINE ? code : shown;
}
