// SPDX-License-Identifier: MIT
// reference.c: the reference positions at the end, computed here with the best scheme that the
// scene admits, or read from a file that `foliot-lab run` wrote.
#include "trial.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

// The reference's step: an eighth-order scheme at a quarter of the finest step is 65,536 times
// better than itself there; lower orders need more.
#define FINER_HIGH 4
#define FINER_LOW 64
#define JSON_DEPTH_MAX 32
#define FILE_BYTES_MAX ((size_t)1 << 30)
#define COLUMNS_BEFORE_POSITION 4 // tick, time, energy, body

double reference_distance(const trial_reference *reference, const foliot_scene *scene,
                          const double *final, uint32_t slots)
{
    double largest = 0;
    uint32_t count = slots < reference->slots ? slots : reference->slots;
    for (uint32_t i = 0; i < count; i++) {
        const double *a = final + 3 * (size_t)i;
        const double *b = reference->final + 3 * (size_t)i;
        double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
        double d = sqrt(dx * dx + dy * dy + dz * dz);
        if (!scene->bodies[i].is_static && !(d <= largest))
            largest = d;
    }
    return largest;
}

// The scheme of the reference: the first of these that the scene admits.
static foliot_integrator best_admitted(foliot_scene *scene)
{
    static const foliot_integrator order[] = {FOLIOT_INTEGRATOR_KAHAN_LI8,
                                              FOLIOT_INTEGRATOR_BLANES_MOAN6, FOLIOT_INTEGRATOR_RK4,
                                              FOLIOT_INTEGRATOR_VELOCITY_VERLET};
    foliot_integrator own = scene->integrator, found = FOLIOT_INTEGRATOR_NONE;
    for (unsigned i = 0; i < sizeof order / sizeof order[0] && !found; i++) {
        scene->integrator = order[i];
        if (foliot_scene_check(scene, NULL) == FOLIOT_STATUS_OK)
            found = order[i];
    }
    scene->integrator = own;
    return found ? found : own;
}

foliot_status reference_make(foliot_scene *scene, double finest, double time,
                             trial_reference *reference)
{
    *reference = (trial_reference){.uncertainty = NAN};
    const foliot_integrator_info *info = foliot_integrator_get_info(best_admitted(scene));
    unsigned finer = info->order >= 8 ? FINER_HIGH : FINER_LOW;
    uint64_t ticks;
    lab_ticks(time, finest, &ticks);
    trial_view nothing = {FOLIOT_NO_BODY, 0};
    trial fine, coarse = {0};
    foliot_status status =
        trial_run(scene, info->id, finest / finer, ticks * finer, &nothing, &fine);
    if (status == FOLIOT_STATUS_OK)
        status =
            trial_run(scene, info->id, 2 * finest / finer, ticks * finer / 2, &nothing, &coarse);
    if (status == FOLIOT_STATUS_OK) {
        reference->final = fine.final;
        reference->slots = fine.slots;
        fine.final = NULL;
        reference->uncertainty = reference_distance(reference, scene, coarse.final, coarse.slots);
        reference->dt = finest / finer;
        snprintf(reference->integrator, sizeof reference->integrator, "%s", info->name);
        char step[FOLIOT__REAL_TEXT_BYTES];
        snprintf(reference->text, sizeof reference->text,
                 "%s at dt = %s, which differs from itself at twice that step by %.1e", info->name,
                 lab_step_text(step, reference->dt), reference->uncertainty);
    }
    trial_free(&fine);
    trial_free(&coarse);
    return status;
}

// How one body moved: its ranges, and how often it reversed along each axis.
typedef struct motion {
    double x[3][2], v[3][2];
    double direction[3]; // sign of the last velocity that was not 0
    uint32_t turns[3];
} motion;

static void widen_range(double range[2], double value)
{
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

static double motion_extent(const motion *m, uint32_t axis)
{
    return m->x[axis][1] - m->x[axis][0];
}

static uint32_t motion_axis(const motion *m)
{
    uint32_t axis = 0;
    for (uint32_t k = 1; k < 3; k++)
        if (motion_extent(m, k) > 1.001 * motion_extent(m, axis))
            axis = k;
    return axis;
}

// The body that oscillates the furthest; if none does, the one that moves furthest.
static uint32_t most_telling(const foliot_scene *scene, const motion *motions)
{
    uint32_t best = FOLIOT_NO_BODY;
    double best_extent = -1;
    bool best_returns = false;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        uint32_t axis = motion_axis(&motions[i]);
        double extent = motion_extent(&motions[i], axis);
        bool returns = motions[i].turns[axis] >= 2;
        if (scene->bodies[i].is_static || !isfinite(extent) || (best_returns && !returns) ||
            (best_returns == returns && extent <= best_extent))
            continue;
        best = i;
        best_extent = extent;
        best_returns = returns;
    }
    return best;
}

static foliot_status watch_all(foliot_world *world, uint64_t ticks, uint32_t first, uint32_t count,
                               motion *motions)
{
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t tick = 0; tick < ticks && status == FOLIOT_STATUS_OK; tick++) {
        status = lab_interrupted() ? FOLIOT_STATUS_AGAIN : foliot_world_step(world, NULL, 0, NULL);
        for (uint32_t i = 0; i < count; i++) {
            foliot_body_state at =
                foliot_world_get_body_state(world, foliot_world_get_body_id(world, first + i));
            for (int k = 0; k < 3; k++) {
                double v = at.velocity[k];
                widen_range(motions[i].x[k], at.position[k]);
                widen_range(motions[i].v[k], v);
                motions[i].turns[k] += v * motions[i].direction[k] < 0;
                if (v != 0)
                    motions[i].direction[k] = v > 0 ? 1 : -1;
            }
        }
    }
    return status;
}

foliot_status reference_watch(foliot_scene *scene, double finest, double time, uint32_t body,
                              trial_reference *reference)
{
    foliot_scene own = *scene;
    own.integrator = best_admitted(scene);
    own.dt = finest;
    uint64_t ticks;
    lab_ticks(time, finest, &ticks);
    foliot_world *world;
    foliot_status status = foliot_world_create(&own, &world, NULL);
    if (status != FOLIOT_STATUS_OK)
        return status;
    bool any = body == FOLIOT_NO_BODY;
    uint32_t first = any ? 0 : body, count = any ? scene->body_count : 1;
    motion *motions = calloc((size_t)count + 1, sizeof *motions);
    for (uint32_t i = 0; motions && i < count; i++) {
        foliot_body_state at =
            foliot_world_get_body_state(world, foliot_world_get_body_id(world, first + i));
        motions[i] = (motion){0};
        for (int k = 0; k < 3; k++) {
            motions[i].x[k][0] = motions[i].x[k][1] = at.position[k];
            motions[i].v[k][0] = motions[i].v[k][1] = at.velocity[k];
        }
    }
    status = motions ? watch_all(world, ticks, first, count, motions) : FOLIOT_STATUS_MEMORY;
    foliot_world_destroy(world);
    if (status == FOLIOT_STATUS_OK) {
        reference->body = any ? most_telling(scene, motions) : body;
        const motion *m = &motions[reference->body - first];
        uint32_t axis = motion_axis(m);
        reference->axis = axis;
        reference->extent = motion_extent(m, axis);
        memcpy(reference->x_range, m->x[axis], sizeof reference->x_range);
        memcpy(reference->v_range, m->v[axis], sizeof reference->v_range);
    }
    free(motions);
    return status;
}

void reference_free(trial_reference *reference)
{
    free(reference->final);
    reference->final = NULL;
}

// -- from a file

// A text being read; `wrong` is the first fault.
typedef struct source {
    const char *at, *end;
    const char *wrong;
    const foliot_scene *scene;
    double time;
    trial_reference *reference;
    uint32_t found; // bodies so far
} source;

static bool bad(source *s, const char *why)
{
    if (!s->wrong)
        s->wrong = why;
    return false;
}

// The next body of the file is the scene's next one: same name, its position kept.
static bool read_body(source *s, const char *name, const double position[3])
{
    if (s->found >= s->scene->body_count)
        return true; // players' bodies
    const char *own = s->scene->bodies[s->found].name;
    if (name && own && own[0] && strcmp(name, own) != 0)
        return bad(s, "its bodies are not those of the scene");
    memcpy(s->reference->final + 3 * (size_t)s->found++, position, 3 * sizeof *position);
    return true;
}

static bool same_time(const source *s, double time)
{
    return fabs(time - s->time) <= 1e-9 * fabs(s->time);
}

static void blanks(source *s)
{
    while (s->at < s->end && (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r')))
        s->at++;
}

static bool next_is(source *s, char c)
{
    blanks(s);
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

// A string without its quotes. Names need no escapes other than those of quote and backslash.
static bool json_string(source *s, char *text, size_t bytes)
{
    if (!next_is(s, '"'))
        return bad(s, "it is not JSON from run --json");
    size_t used = 0;
    while (s->at < s->end && *s->at != '"') {
        s->at += *s->at == '\\' && s->at + 1 < s->end;
        if (used + 1 < bytes)
            text[used++] = *s->at;
        s->at++;
    }
    text[used] = 0;
    return next_is(s, '"') || bad(s, "a string does not end");
}

static bool json_real(source *s, double *value)
{
    char text[48];
    size_t used = 0;
    blanks(s);
    while (s->at < s->end && used + 1 < sizeof text && strchr("+-.0123456789eE", *s->at) && *s->at)
        text[used++] = *s->at++;
    text[used] = 0;
    return foliot__parse_real(text, value) || bad(s, "a number was expected");
}

static bool json_skip(source *s, int depth);

// Every member of an object or array through `member`, which reads the value.
static bool json_each(source *s, char open, char close, int depth,
                      bool (*member)(source *, const char *key, int depth))
{
    char key[64] = "";
    if (depth > JSON_DEPTH_MAX || !next_is(s, open))
        return bad(s, "it is not JSON from run --json");
    if (next_is(s, close))
        return true;
    do {
        if (open == '{' && !(json_string(s, key, sizeof key) && next_is(s, ':')))
            return bad(s, "an object's member has no name");
        if (!member(s, key, depth + 1))
            return false;
    } while (next_is(s, ','));
    return next_is(s, close) || bad(s, "an object or array does not end");
}

static bool json_skip_member(source *s, const char *key, int depth)
{
    (void)key;
    return json_skip(s, depth);
}

static bool json_skip(source *s, int depth)
{
    char text[64];
    blanks(s);
    char c = s->at < s->end ? *s->at : 0;
    if (c == '{' || c == '[')
        return json_each(s, c, c == '{' ? '}' : ']', depth, json_skip_member);
    if (c == '"')
        return json_string(s, text, sizeof text);
    const char *begin = s->at;
    while (s->at < s->end && !strchr(",]} \t\r\n", *s->at))
        s->at++;
    return s->at > begin || bad(s, "a value is missing");
}

static bool json_vector(source *s, double v[3])
{
    return next_is(s, '[') && json_real(s, &v[0]) && next_is(s, ',') && json_real(s, &v[1]) &&
           next_is(s, ',') && json_real(s, &v[2]) && next_is(s, ']');
}

static bool json_body(source *s, const char *key, int depth)
{
    (void)key;
    char name[FOLIOT_NAME_BYTES] = "", field[64];
    double position[3];
    bool placed = false;
    if (!next_is(s, '{'))
        return bad(s, "a body is not an object");
    do {
        if (!json_string(s, field, sizeof field) || !next_is(s, ':'))
            return bad(s, "a body's member has no name");
        blanks(s);
        bool is_name = strcmp(field, "name") == 0 && s->at < s->end && *s->at == '"';
        bool is_position = strcmp(field, "position") == 0;
        placed |= is_position;
        bool read = is_name       ? json_string(s, name, sizeof name)
                    : is_position ? json_vector(s, position)
                                  : json_skip(s, depth);
        if (!read)
            return bad(s, "a body cannot be read");
    } while (next_is(s, ','));
    if (!next_is(s, '}') || !placed)
        return bad(s, "a body has no position");
    return read_body(s, name[0] ? name : NULL, position);
}

static bool json_top(source *s, const char *key, int depth)
{
    double time;
    if (strcmp(key, "time") == 0) {
        if (!json_real(s, &time))
            return false;
        return same_time(s, time) || bad(s, "it ends at another time than --time");
    }
    if (strcmp(key, "bodies") == 0)
        return json_each(s, '[', ']', depth, json_body);
    return json_skip(s, depth);
}

// One cell of a CSV row, quotes taken off.
static bool csv_cell(source *s, char *text, size_t bytes)
{
    size_t used = 0;
    bool quoted = s->at < s->end && *s->at == '"';
    s->at += quoted;
    for (; s->at < s->end; s->at++) {
        if (quoted && *s->at == '"') {
            s->at++;
            if (s->at >= s->end || *s->at != '"')
                break;
        } else if (!quoted && (*s->at == ',' || *s->at == '\n')) {
            break;
        }
        if (used + 1 < bytes)
            text[used++] = *s->at;
    }
    text[used] = 0;
    bool more = s->at < s->end && *s->at == ',';
    s->at += more;
    return more;
}

static bool csv_row(source *s)
{
    char cell[FOLIOT_NAME_BYTES + 16], name[FOLIOT_NAME_BYTES + 16];
    double time, position[3];
    csv_cell(s, cell, sizeof cell);
    csv_cell(s, cell, sizeof cell);
    if (!foliot__parse_real(cell, &time))
        return bad(s, "a row's time is not a number");
    csv_cell(s, cell, sizeof cell);
    csv_cell(s, name, sizeof name);
    for (int k = 0; k < 3; k++) {
        csv_cell(s, cell, sizeof cell);
        if (!foliot__parse_real(cell, &position[k]))
            return bad(s, "a position is not a number");
    }
    while (csv_cell(s, cell, sizeof cell)) {
    }
    s->at += s->at < s->end;
    return !same_time(s, time) || read_body(s, name[0] == '#' ? NULL : name, position);
}

static bool csv_all(source *s)
{
    static const char header[] = "tick,time,energy,body,position.x,";
    if ((size_t)(s->end - s->at) < sizeof header || memcmp(s->at, header, sizeof header - 1) != 0)
        return bad(s, "it is output of neither run --json nor run --csv");
    const char *line = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = line ? line + 1 : s->end;
    while (s->at < s->end)
        if (!csv_row(s))
            return false;
    return true;
}

bool reference_read(const char *file, const foliot_scene *scene, double time,
                    trial_reference *reference, char *message, size_t bytes)
{
    *reference = (trial_reference){.uncertainty = NAN};
    size_t length;
    char *text = foliot__file_slurp_text(file, FILE_BYTES_MAX, &length);
    if (!text) {
        snprintf(message, bytes, "%s: %s", file, foliot__file_problem(errno));
        return false;
    }
    reference->slots = scene->body_count;
    reference->final = calloc(3 * ((size_t)scene->body_count + 1), sizeof *reference->final);
    source s = {text, text + length, NULL, scene, time, reference, 0};
    blanks(&s);
    bool json = s.at < s.end && *s.at == '{';
    bool good = reference->final && (json ? json_each(&s, '{', '}', 0, json_top) : csv_all(&s));
    if (good && s.found < scene->body_count)
        good = bad(&s, "it does not hold all bodies of the scene at that time");
    free(text);
    if (good) {
        snprintf(reference->text, sizeof reference->text, "%s", file);
        return true;
    }
    snprintf(message, bytes, "%s: %s", file, s.wrong ? s.wrong : "no memory");
    reference_free(reference);
    return false;
}
