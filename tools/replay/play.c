// SPDX-License-Identifier: MIT
// play.c: foliot-replay play: a recording drawn on the terminal, forwards and backwards. Two of the
// three axes are shown, those in which the bodies spread most; the view follows them.
#include "tool.h"

#include "base/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static double speed = 1;
static uint64_t start_tick;
static bool start_given, one_frame;

const foliot__option play_options[] = {{"speed", "X", FOLIOT__OPTION_POSITIVE, &speed,
                                        .help = "times the scene's own pace (default 1)"},
                                       {"tick", "T", FOLIOT__OPTION_COUNT, &start_tick,
                                        .given = &start_given, .help = "begins at this tick"},
                                       {"frame", NULL, FOLIOT__OPTION_FLAG, &one_frame,
                                        .help = "prints one picture and ends, in a pipe as well"},
                                       {0}};

typedef struct player {
    foliot_replay *replay;
    const foliot_replay_summary *about;
    uint32_t columns, rows;
    char *cells; // rows * columns
    uint32_t cells_size;
    double centre[3], reach; // of the view, moved slowly
    int across, up;          // axes shown
    bool paused, quit, framed;
    int direction;     // 1 or -1
    double speed, due; // when the next tick is
} player;

static struct termios terminal_before;
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static bool terminal_take(void)
{
    struct termios raw;
    if (!foliot__is_terminal(stdin) || !foliot__is_terminal(stdout) ||
        tcgetattr(0, &terminal_before) != 0)
        return false;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    raw = terminal_before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(0, TCSANOW, &raw);
    fputs("\x1b[?1049h\x1b[?25l", stdout); // a screen of its own, no cursor
    return true;
}

static void terminal_give_back(void)
{
    fputs("\x1b[?25h\x1b[?1049l", stdout);
    fflush(stdout);
    tcsetattr(0, TCSANOW, &terminal_before);
}

// -- the picture
// ------------------------------------------------------------------------------------------

static bool shown(const foliot_world *world, uint32_t i)
{
    return foliot_world_body_alive(world, i) &&
           foliot_world_body_shape(world, i).kind != FOLIOT_SHAPE_PLANE;
}

// The box around all bodies: its middle, and half its size in each axis.
static void extent(const foliot_world *world, double middle[3], double half[3])
{
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    bool any = false;
    for (uint32_t i = 0; i < foliot_world_body_count(world); i++) {
        if (!shown(world, i))
            continue;
        foliot_body_state body = foliot_world_body(world, i);
        for (int k = 0; k < 3; k++) {
            if (!any || body.position[k] < low[k])
                low[k] = body.position[k];
            if (!any || body.position[k] > high[k])
                high[k] = body.position[k];
        }
        any = true;
    }
    for (int k = 0; k < 3; k++) {
        middle[k] = (low[k] + high[k]) / 2;
        half[k] = (high[k] - low[k]) / 2;
    }
}

static void frame_view(player *p)
{
    double middle[3], half[3];
    extent(foliot_replay_world(p->replay), middle, half);
    if (!p->framed) {
        p->across = half[0] >= half[1] || half[0] >= half[2] ? 0 : 1;
        p->up = p->across == 1 || half[2] >= half[1] ? 2 : 1;
    }
    double wanted = half[p->across] / 2 > half[p->up] ? half[p->across] / 2 : half[p->up];
    wanted = wanted * 1.2 > 1e-9 ? wanted * 1.2 : 1;
    double share = p->framed ? 0.1 : 1; // the view follows smoothly
    for (int k = 0; k < 3; k++)
        p->centre[k] += share * (middle[k] - p->centre[k]);
    p->reach += share * (wanted - p->reach);
    p->framed = true;
}

static void plot(player *p, uint32_t i, const foliot_body_state *body)
{
    uint32_t height = p->rows - 2;
    // A cell is about twice as high as wide.
    double scale = height / (2 * p->reach);
    double x = p->columns / 2.0 + 2 * scale * (body->position[p->across] - p->centre[p->across]);
    double y = height / 2.0 - scale * (body->position[p->up] - p->centre[p->up]);
    if (!(x >= 0 && x < p->columns && y >= 0 && y < height))
        return;
    const char *name = tool_body_name(p->about->scene, i);
    char mark = body->flags & FOLIOT_BODY_STATIC   ? '#'
                : body->flags & FOLIOT_BODY_PLAYER ? '@'
                                                   : 'o';
    if (name && p->about->scene->body_count <= 12 && name[0] > ' ' && name[0] < 127)
        mark = name[0];
    p->cells[(uint32_t)y * p->columns + (uint32_t)x] = mark;
}

static bool fit_terminal(player *p)
{
    foliot__terminal_size(stdout, &p->columns, &p->rows);
    if (p->rows < 4)
        p->rows = 4;
    if (p->columns < 20)
        p->columns = 20;
    if (p->columns * p->rows > p->cells_size) {
        char *cells = realloc(p->cells, (size_t)p->columns * p->rows);
        if (!cells)
            return false;
        p->cells = cells;
        p->cells_size = p->columns * p->rows;
    }
    memset(p->cells, ' ', (size_t)p->columns * p->rows);
    return true;
}

static bool compose(player *p)
{
    const foliot_world *world = foliot_replay_world(p->replay);
    if (!fit_terminal(p))
        return false;
    frame_view(p);
    for (uint32_t i = 0; i < foliot_world_body_count(world); i++) {
        if (!shown(world, i))
            continue;
        foliot_body_state body = foliot_world_body(world, i);
        plot(p, i, &body);
    }
    return true;
}

// One picture without a terminal's commands.
static int print_frame(player *p)
{
    if (!compose(p))
        return FOLIOT__EXIT_ERROR;
    printf("%s, tick %" PRIu64 " of %" PRIu64 "\n", p->about->scene->name,
           foliot_replay_tick(p->replay), p->about->last_tick);
    for (uint32_t row = 0; row < p->rows - 2; row++)
        printf("%.*s\n", (int)p->columns, p->cells + (size_t)row * p->columns);
    return fflush(stdout) == 0 ? FOLIOT__EXIT_FINE : FOLIOT__EXIT_ERROR;
}

static void draw(player *p)
{
    static const char axis[] = "xyz";
    const foliot_world *world = foliot_replay_world(p->replay);
    char line[512];
    if (!compose(p))
        return;
    fputs("\x1b[H", stdout);
    for (uint32_t row = 0; row < p->rows - 2; row++)
        printf("%.*s\r\n", (int)p->columns, p->cells + (size_t)row * p->columns);
    snprintf(line, sizeof line,
             "%.40s  tick %" PRIu64 " of %" PRIu64 "  time %.6g  %c right, %c up  %s%s x %.3g",
             p->about->scene->name, foliot_replay_tick(p->replay), p->about->last_tick,
             foliot_world_time(world), axis[p->across], axis[p->up],
             p->paused ? "paused" : "playing", p->direction < 0 ? " backwards" : "", p->speed);
    printf("%-*.*s\r\n", (int)p->columns, (int)p->columns, line);
    printf("%-*.*s", (int)p->columns - 1, (int)p->columns - 1,
           "space pause   , . step   [ ] ten seconds   0-9 tenths   home end   r turn round   + - "
           "speed   "
           "v axes   q quit");
    fflush(stdout);
}

// -- keys
// -------------------------------------------------------------------------------------------------

static void seek_by(player *p, double ticks)
{
    double wanted = (double)foliot_replay_tick(p->replay) + ticks;
    double first = (double)p->about->first_tick, last = (double)p->about->last_tick;
    wanted = wanted < first ? first : wanted > last ? last : wanted;
    foliot_replay_seek(p->replay, (uint64_t)wanted);
}

static double pace(const player *p)
{
    return p->about->scene->pace_hz > 0 ? p->about->scene->pace_hz : 60;
}

static void arrow(player *p, const char *rest)
{
    if (strcmp(rest, "[C") == 0 || strcmp(rest, "[D") == 0) {
        p->paused = true;
        if (rest[1] == 'C')
            foliot_replay_step(p->replay);
        else
            foliot_replay_step_back(p->replay);
    } else if (strcmp(rest, "[H") == 0 || strcmp(rest, "[1~") == 0) {
        foliot_replay_seek(p->replay, p->about->first_tick);
    } else if (strcmp(rest, "[F") == 0 || strcmp(rest, "[4~") == 0) {
        foliot_replay_seek(p->replay, p->about->last_tick);
        p->paused = true;
    } else if (!*rest) {
        p->quit = true; // the escape key alone
    }
}

static void key(player *p, char pressed)
{
    uint64_t length = p->about->last_tick - p->about->first_tick;
    if (pressed >= '0' && pressed <= '9')
        foliot_replay_seek(p->replay,
                           p->about->first_tick + length / 10 * (uint64_t)(pressed - '0'));
    switch (pressed) {
    case ',':
        arrow(p, "[D");
        break;
    case '.':
        arrow(p, "[C");
        break;
    case ' ':
        p->paused = !p->paused;
        break;
    case 'q':
        p->quit = true;
        break;
    case 'r':
        p->direction = -p->direction;
        p->paused = false;
        break;
    case 'v': // the next two axes
        p->across = (p->across + 1) % 3;
        p->up = (p->across + 1) % 3;
        break;
    case '[':
    case ']':
        seek_by(p, pressed == ']' ? 10 * pace(p) : -10 * pace(p));
        break;
    case '+':
    case '-':
        p->speed *= pressed == '+' ? 2 : 0.5;
        break;
    default:
        break;
    }
}

static void read_keys(player *p)
{
    char keys[64];
    ssize_t count = read(0, keys, sizeof keys - 1);
    if (count <= 0)
        return;
    keys[count] = 0;
    if (keys[0] == '\x1b')
        arrow(p, keys + 1);
    else
        for (ssize_t i = 0; i < count; i++)
            key(p, keys[i]);
}

// -- time
// -------------------------------------------------------------------------------------------------

// Steps that are due by now; what the machine cannot keep up with is left out, not piled up.
static bool play_due(player *p)
{
    double now = tool_now(), tick = 1 / (pace(p) * p->speed), limit = now + 0.05;
    bool moved = false;
    if (now - p->due > 0.25)
        p->due = now;
    while (!p->paused && p->due <= now && tool_now() < limit) {
        foliot_status status =
            p->direction > 0 ? foliot_replay_step(p->replay) : foliot_replay_step_back(p->replay);
        p->paused = status != FOLIOT_OK; // at either end, or at the damage
        p->due += tick;
        moved = true;
    }
    return moved;
}

static void play(player *p)
{
    draw(p);
    while (!p->quit && !interrupted) {
        struct pollfd keys = {.fd = 0, .events = POLLIN};
        int ready = poll(&keys, 1, p->paused ? 200 : 15);
        if (ready > 0)
            read_keys(p);
        if (ready < 0 && errno != EINTR)
            break;
        if (ready > 0 && (keys.revents & (POLLHUP | POLLERR)))
            break;
        if (play_due(p) || ready > 0)
            draw(p);
    }
}

int play_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code;
    (void)program;
    const char *file = arguments->operands[0];
    player p = {.direction = 1, .speed = speed};
    p.replay = tool_open(file, &code);
    if (!p.replay)
        return code;
    p.about = foliot_replay_about(p.replay);
    if (start_given && foliot_replay_seek(p.replay, start_tick) != FOLIOT_OK) {
        fprintf(stderr, "%s: no tick %" PRIu64 "\n", file, start_tick);
        code = FOLIOT__EXIT_ERROR;
    } else if (one_frame) {
        code = print_frame(&p);
    }
    if (one_frame || code != FOLIOT__EXIT_FINE) {
        free(p.cells);
        foliot_replay_close(p.replay);
        return code;
    }
    if (!terminal_take()) {
        fprintf(stderr, "foliot-replay play: draws on a terminal, and this is none; `state` and "
                        "`export` write text\n");
        foliot_replay_close(p.replay);
        return FOLIOT__EXIT_ERROR;
    }
    p.due = tool_now();
    play(&p);
    terminal_give_back();
    tool_tell_damage(file, p.replay);
    foliot_status status = foliot_replay_damage(p.replay)->status;
    free(p.cells);
    foliot_replay_close(p.replay);
    return tool_exit_of(status);
}
