// SPDX-License-Identifier: MIT
// worlds.c: scenes and worlds for the page: reads a scene's text, makes a world of it, optionally
// with another integrator or tick length, steps it, and gives data to draw and to plot. There may
// be several at a time, each with a number. Inputs and commands are kept for the next tick. The
// rules of a session are not run.

#include "page.h"

#include "base/file.h"
#include "base/text.h"
#include "foliot/query.h"
#include "foliot/scene.h"
#include "lab/lab.h"
#include "scene/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS_MAX 64
#define INPUTS_MAX 1024 // of one tick
#define POINTS_MAX 64   // in the answer to the page of a scene

// -- the files that a scene names, as the owner of the module provides them: replaces
// common/base/file.c and common/scene/file_text.c. There is no file system. The name of a missing
// file is kept, so that it can be requested.

#define FILES_MAX 64
#define FILE_BYTES_MAX ((size_t)1 << 28) // of all together, as on a machine
#define NAME_BYTES 512

typedef struct file {
    char name[NAME_BYTES];
    uint8_t *bytes;
    size_t length;
} file;

static file files[FILES_MAX];
static uint32_t file_count;
static char missing_file[NAME_BYTES];

WEB_EXPORT(forget_files) void web_forget_files(void)
{
    for (uint32_t i = 0; i < file_count; i++)
        free(files[i].bytes);
    file_count = 0;
}

// Room for a file of `length` bytes called `name`, a text with a closing zero, instead of an older
// one of that name. NULL: too many, a name too long, or no memory.
WEB_EXPORT(give_file) uint8_t *web_give_file(const char *name, uint32_t length)
{
    uint32_t i = 0;
    size_t total = length;
    for (uint32_t k = 0; k < file_count; k++)
        total += files[k].length;
    while (i < file_count && strcmp(files[i].name, name) != 0)
        i++;
    if (i == FILES_MAX || strlen(name) >= NAME_BYTES || total > FILE_BYTES_MAX)
        return NULL;
    uint8_t *bytes = malloc(length ? length : 1);
    if (!bytes)
        return NULL;
    if (i < file_count)
        free(files[i].bytes);
    strcpy(files[i].name, name);
    files[i].bytes = bytes;
    files[i].length = length;
    file_count += i == file_count;
    return bytes;
}

// -- functions that the scene reader calls; a descriptor is an index

const char *foliot__file_problem(int error)
{
    return strerror(error);
}

int foliot__file_open(const char *name)
{
    (void)name; // scenes are read from memory
    errno = ENOENT;
    return -1;
}

int foliot__file_open_below(const char *folder, const char *name)
{
    (void)folder;
    for (uint32_t i = 0; i < file_count; i++)
        if (strcmp(files[i].name, name) == 0)
            return (int)i;
    if (strlen(name) < NAME_BYTES)
        strcpy(missing_file, name);
    errno = ENOENT;
    return -1;
}

char *foliot__file_text(foliot__reading *reading, int descriptor, size_t *length)
{
    if (descriptor < 0 || (uint32_t)descriptor >= file_count)
        return NULL;
    const file *f = &files[descriptor];
    char *text = foliot__reading_allocate(reading, f->length + 1);
    if (!text)
        return NULL;
    memcpy(text, f->bytes, f->length);
    *length = foliot__text_plain(text, f->length);
    text[*length] = 0;
    return text;
}

// No environment either: libc would ask the host for one to find the locale.
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

// -- the worlds

typedef struct entry {
    foliot_scene *scene;
    foliot_world *world; // NULL: free
    foliot_input inputs[INPUTS_MAX];
    uint32_t input_count, sequence;
    foliot_command_list commands;
    uint32_t command_sequence;
    bool had_contacts, had_inputs;
} entry;

static entry *worlds[WORLDS_MAX];

static entry *world_of(uint32_t id)
{
    return id < WORLDS_MAX ? worlds[id] : NULL;
}

// Memory for input data.
WEB_EXPORT(allocate) void *web_allocate(uint32_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

WEB_EXPORT(release) void web_release(void *memory)
{
    free(memory);
}

static void free_entry(entry *e)
{
    foliot_world_destroy(e->world);
    foliot_scene_destroy(e->scene);
    foliot_command_list_destroy(&e->commands);
    free(e);
}

WEB_EXPORT(destroy) void web_destroy(uint32_t id)
{
    if (!world_of(id))
        return;
    free_entry(worlds[id]);
    worlds[id] = NULL;
}

// -- making

// Another integrator or tick length, as `foliot-lab run --integrator --dt` has it.
static foliot_status change_scene(foliot_scene *scene, const char *name, const char *integrator,
                                  const char *dt, foliot_error *error)
{
    char text[256];
    foliot_integrator id = FOLIOT_INTEGRATOR_NONE;
    double step = 0;
    if (*integrator && !lab_integrator(integrator, &id, text, sizeof text))
        return foliot_error_set(error, FOLIOT_STATUS_INVALID, "%s", text);
    if (*dt && !lab_parse_step(dt, &step))
        return foliot_error_set(
            error, FOLIOT_STATUS_INVALID,
            "a tick's length is a number above 0 or a ratio such as 1/60, not '%.40s'", dt);
    foliot_error change;
    if (lab_scene_change(scene, id, step, &change) == FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_OK;
    return foliot_error_set(error, FOLIOT_STATUS_INVALID, "%s: %s", name, change.text);
}

static foliot_status read_scene(const char *text, uint32_t length, const char *name,
                                const char *integrator, const char *dt, foliot_scene **scene,
                                foliot_error *error)
{
    missing_file[0] = 0;
    foliot_status status = foliot_scene_parse(text, length, name, ".", scene, error);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (*integrator || *dt)
        status = change_scene(*scene, name, integrator, dt, error);
    if (status != FOLIOT_STATUS_OK) {
        foliot_scene_destroy(*scene);
        *scene = NULL;
    }
    return status;
}

static uint32_t place_for(entry *e)
{
    for (uint32_t id = 0; id < WORLDS_MAX; id++)
        if (!worlds[id]) {
            worlds[id] = e;
            return id;
        }
    return WORLDS_MAX;
}

// Reads a scene and makes its world. Texts have closing zeros; "" as integrator or dt: the scene's.
// {"status": 0, "world", "scene"}, or {"status", "text", "line", "column", "missing"}.
WEB_EXPORT(make)
const char *web_make(const char *text, uint32_t length, const char *name, const char *integrator,
                     const char *dt)
{
    FILE *out;
    foliot_error error = {.text = "there is no memory for this scene's world"};
    entry *e = calloc(1, sizeof *e);
    uint32_t id = WORLDS_MAX;
    foliot_status status = FOLIOT_STATUS_MEMORY;
    if (e)
        status = read_scene(text, length, name, integrator, dt, &e->scene, &error);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_world_create(e->scene, &e->world, NULL);
    if (status == FOLIOT_STATUS_OK && (id = place_for(e)) == WORLDS_MAX)
        status = FOLIOT_STATUS_FULL;
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_integer(&j, "status", status);
    if (status == FOLIOT_STATUS_OK) {
        foliot__json_count(&j, "world", id);
        foliot__json_object(&j, "scene");
        foliot__json_text(&j, "name", e->scene->name);
        foliot__json_text(&j, "integrator", foliot_integrator_get_info(e->scene->integrator)->name);
        foliot__json_real(&j, "dt", e->scene->dt);
        foliot__json_real(&j, "pace_hz", e->scene->pace_hz);
        foliot__json_text(&j, "unit_time", e->scene->units.time);
        foliot__json_text(&j, "unit_length", e->scene->units.length);
        foliot__json_reals(&j, "gravity", e->scene->gravity, 3);
        foliot__json_count(&j, "bodies", e->scene->body_count);
        foliot__json_count(&j, "constraints", e->scene->constraint_count);
        foliot__json_count(&j, "forces", e->scene->force_count);
        foliot__json_count(&j, "players", e->scene->players.limit);
        foliot__json_array(&j, "points"); // of the first bodies: those without a shape
        for (uint32_t i = 0; i < e->scene->body_count && i < POINTS_MAX; i++)
            if (e->scene->bodies[i].shape.kind == FOLIOT_SHAPE_POINT &&
                !e->scene->bodies[i].is_static)
                foliot__json_count(&j, NULL, i);
        foliot__json_close(&j);
        foliot__json_text(&j, "rules", e->scene->script.name ? e->scene->script.name : "");
        foliot__json_close(&j);
    } else {
        foliot__json_text(&j, "text", error.text[0] ? error.text : foliot_status_get_text(status));
        foliot__json_count(&j, "line", error.line);
        foliot__json_count(&j, "column", error.column);
        foliot__json_text(&j, "missing", missing_file);
        if (e)
            free_entry(e);
    }
    foliot__json_close(&j);
    return end_answer(out);
}

// -- stepping

static bool is_before(const foliot_input *a, const foliot_input *b)
{
    return a->player < b->player || (a->player == b->player && a->sequence < b->sequence);
}

// For the next tick. Returns a status.
WEB_EXPORT(input)
int web_input(uint32_t id, uint32_t player, uint32_t kind, int32_t x, int32_t y, int32_t z,
              int32_t turn, uint32_t buttons)
{
    entry *e = world_of(id);
    if (!e || kind > FOLIOT_INPUT_LEAVE || player >= e->scene->players.limit)
        return FOLIOT_STATUS_INVALID;
    if (e->input_count == INPUTS_MAX)
        return FOLIOT_STATUS_FULL;
    foliot_input input = {.player = player,
                          .sequence = ++e->sequence,
                          .kind = (uint8_t)kind,
                          .axes = {(int8_t)x, (int8_t)y, (int8_t)z, (int8_t)turn},
                          .buttons = (uint16_t)buttons};
    uint32_t at = e->input_count++;
    for (; at > 0 && is_before(&input, &e->inputs[at - 1]); at--)
        e->inputs[at] = e->inputs[at - 1];
    e->inputs[at] = input;
    e->had_inputs = true;
    return FOLIOT_STATUS_OK;
}

// A command as a JSON object, for the next tick: {"status", "text"}.
WEB_EXPORT(command) const char *web_command(uint32_t id, const char *json, uint32_t length)
{
    FILE *out;
    foliot_error error = {.text = ""};
    entry *e = world_of(id);
    foliot_status status = FOLIOT_STATUS_INVALID;
    if (e && e->commands.count == e->scene->commands_max)
        status = foliot_error_set(&error, FOLIOT_STATUS_FULL,
                                  "the scene takes %u commands a tick (commands_max)",
                                  (unsigned)e->scene->commands_max);
    else if (e)
        status = foliot_command_list_parse_json(&e->commands, json, length, &error);
    if (status == FOLIOT_STATUS_OK)
        e->commands.commands[e->commands.count - 1].sequence = ++e->command_sequence;
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_integer(&j, "status", status);
    foliot__json_text(&j, "text", error.text[0] ? error.text : foliot_status_get_text(status));
    foliot__json_close(&j);
    return end_answer(out);
}

// Returns a status; the world is as it was before the tick that failed.
WEB_EXPORT(step) int web_step(uint32_t id, uint32_t ticks)
{
    entry *e = world_of(id);
    foliot_status status = e ? FOLIOT_STATUS_OK : FOLIOT_STATUS_INVALID;
    for (uint32_t i = 0; i < ticks && status == FOLIOT_STATUS_OK; i++) {
        const foliot_tick_inputs in = {e->inputs, e->input_count, e->commands.commands,
                                       e->commands.count};
        status = foliot_world_step_tick(e->world, &in, NULL);
        e->input_count = 0;
        foliot_command_list_clear(&e->commands);
        e->had_contacts = e->had_contacts || lab_has_contacts(e->world);
    }
    return status;
}

WEB_EXPORT(status_text) const char *web_status_text(int status)
{
    return foliot_status_get_text((foliot_status)status);
}

// -- looking

WEB_EXPORT(tick) double web_tick(uint32_t id)
{
    return world_of(id) ? (double)foliot_world_get_tick(worlds[id]->world) : 0;
}

WEB_EXPORT(time) double web_time(uint32_t id)
{
    return world_of(id) ? foliot_world_get_time(worlds[id]->world) : 0;
}

// Kinetic and potential energy together.
WEB_EXPORT(energy) double web_energy(uint32_t id)
{
    return world_of(id) ? lab_energy(worlds[id]->world) : 0;
}

WEB_EXPORT(digest) const char *web_digest(uint32_t id)
{
    static char text[FOLIOT_DIGEST_TEXT_BYTES];
    text[0] = 0;
    if (world_of(id))
        foliot_digest_print(foliot_world_get_digest(worlds[id]->world), text);
    return text;
}

// The count is `slots`.
WEB_EXPORT(positions) const double *web_positions(uint32_t id)
{
    return world_of(id) ? web_world_positions(worlds[id]->world) : NULL;
}

WEB_EXPORT(slots) uint32_t web_slots(uint32_t id)
{
    return world_of(id) ? foliot_world_get_body_count(worlds[id]->world) : 0;
}

WEB_EXPORT(picture) int web_picture(uint32_t id, uint32_t marked_body)
{
    return world_of(id) ? web_world_picture(worlds[id]->world, marked_body) : -1;
}

// Which segments.
enum { JOINTS = 1, CONTACTS = 2 };

static bool state_at(const foliot_world *world, uint32_t slot, foliot_body_state *state)
{
    if (foliot_world_get_body_id(world, slot).value == 0)
        return false;
    *state = foliot_world_get_body_state(world, foliot_world_get_body_id(world, slot));
    return true;
}

// Returns how many segments there are at `lines`. `length`: of a contact's normal.
WEB_EXPORT(draw_lines) uint32_t web_draw_lines(uint32_t id, uint32_t what, double length)
{
    const entry *e = world_of(id);
    web_lines_begin();
    if (e && what & JOINTS) {
        foliot_body_state a, b;
        for (uint32_t i = 0; i < foliot_world_get_joint_count(e->world); i++) {
            foliot_joint joint;
            foliot_joint_id joint_id = foliot_world_get_joint_id(e->world, i);
            if (foliot_world_get_joint(e->world, joint_id, &joint) != FOLIOT_STATUS_OK ||
                joint.broken || !state_at(e->world, joint.definition.a, &a))
                continue;
            bool fixed = joint.definition.b == FOLIOT_NO_BODY;
            if (fixed || state_at(e->world, joint.definition.b, &b))
                web_lines_add_constraint(&joint.definition, &a, fixed ? NULL : &b);
        }
        for (uint32_t i = 0; i < e->scene->force_count; i++) {
            const foliot_force_definition *f = &e->scene->forces[i];
            if (f->kind == FOLIOT_FORCE_ATTRACTOR)
                web_lines_add_point(f->as.attractor.point);
            if (f->kind != FOLIOT_FORCE_SPRING || !state_at(e->world, f->a, &a))
                continue;
            if (f->b == FOLIOT_NO_BODY)
                web_lines_add_spring(f, &a, NULL);
            else if (state_at(e->world, f->b, &b))
                web_lines_add_spring(f, &a, &b);
        }
    }
    if (e && what & CONTACTS) {
        uint32_t count = foliot_world_get_contact_events(e->world, NULL, 0);
        foliot_contact_event *events = malloc((size_t)count * sizeof *events);
        count = events ? foliot_world_get_contact_events(e->world, events, count) : 0;
        for (uint32_t i = 0; i < count; i++)
            if (events[i].change != FOLIOT_CONTACT_END)
                web_lines_add_contact(events[i].point, events[i].normal, length);
        free(events);
    }
    return web_lines_end();
}

// The details of a body, or null.
WEB_EXPORT(body) const char *web_body_about(uint32_t id, uint32_t slot)
{
    static const char *const shapes[] = {"point", "sphere", "plane", "box", "capsule"};
    FILE *out;
    const entry *e = world_of(id);
    foliot_body body;
    if (!e || foliot_world_get_body(e->world, foliot_world_get_body_id(e->world, slot), &body) !=
                  FOLIOT_STATUS_OK)
        return "null";
    char name[FOLIOT_NAME_BYTES + 16];
    foliot_body_state state =
        foliot_world_get_body_state(e->world, foliot_world_get_body_id(e->world, slot));
    uint32_t kind = body.shape.kind;
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_count(&j, "slot", slot);
    foliot__json_text(&j, "name", lab_body_name(e->scene, e->world, slot, name));
    foliot__json_text(&j, "shape", kind < sizeof shapes / sizeof *shapes ? shapes[kind] : "other");
    foliot__json_real(&j, "mass", body.mass);
    foliot__json_count(&j, "tag", body.tag);
    foliot__json_bool(&j, "asleep", state.flags & FOLIOT_BODY_ASLEEP);
    foliot__json_bool(&j, "frozen", state.flags & FOLIOT_BODY_FROZEN);
    foliot__json_reals(&j, "position", state.position, 3);
    foliot__json_reals(&j, "velocity", state.velocity, 3);
    foliot__json_reals(&j, "orientation", state.orientation, 4);
    foliot__json_reals(&j, "angular_velocity", state.angular_velocity, 3);
    foliot__json_close(&j);
    return end_answer(out);
}

// Energies, momenta, counters; "sinks" names the causes that change the scene's energy.
WEB_EXPORT(about) const char *web_about(uint32_t id)
{
    FILE *out;
    char sinks[LAB_SINKS_BYTES];
    const entry *e = world_of(id);
    if (!e)
        return "null";
    foliot_invariants v = foliot_world_get_invariants(e->world, NULL);
    const foliot_world_counters *counters = foliot_world_get_counters(e->world);
    foliot__json j = begin_answer(&out);
    foliot__json_object(&j, NULL);
    foliot__json_count(&j, "tick", foliot_world_get_tick(e->world));
    foliot__json_real(&j, "time", foliot_world_get_time(e->world));
    foliot__json_real(&j, "kinetic", v.kinetic);
    foliot__json_real(&j, "potential", v.potential);
    foliot__json_bool(&j, "potential_complete", v.potential_complete);
    foliot__json_reals(&j, "momentum", v.momentum, 3);
    foliot__json_reals(&j, "angular_momentum", v.angular_momentum, 3);
    foliot__json_text(&j, "sinks",
                      lab_energy_sinks(e->scene, e->had_inputs, e->had_contacts, sinks));
    foliot__json_count(&j, "contacts", foliot_world_get_contact_events(e->world, NULL, 0));
    foliot__json_count(&j, "frozen", counters->frozen_bodies);
    foliot__json_count(&j, "solver_failures", counters->solver_failures);
    foliot__json_close(&j);
    return end_answer(out);
}

// The state as bytes, the same on every machine, after their count (four bytes, little-endian);
// NULL: no memory. The caller releases it.
WEB_EXPORT(capture) uint8_t *web_capture(uint32_t id)
{
    size_t length = 0;
    const entry *e = world_of(id);
    if (!e || foliot_world_capture(e->world, NULL, 0, &length) != FOLIOT_STATUS_OK)
        return NULL;
    uint8_t *bytes = malloc(length + 4);
    uint32_t count = (uint32_t)length;
    if (!bytes)
        return NULL;
    memcpy(bytes, &count, 4);
    if (foliot_world_capture(e->world, bytes + 4, length, &length) != FOLIOT_STATUS_OK) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

WEB_EXPORT(restore) int web_restore(uint32_t id, const uint8_t *bytes, uint32_t length)
{
    entry *e = world_of(id);
    return e ? foliot_world_restore(e->world, bytes, length) : FOLIOT_STATUS_INVALID;
}

// The integrators, as an array.
WEB_EXPORT(integrators) const char *web_integrators(void)
{
    FILE *out;
    foliot__json j = begin_answer(&out);
    foliot__json_array(&j, NULL);
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)i);
        if (!info)
            continue;
        foliot__json_object(&j, NULL);
        foliot__json_text(&j, "name", info->name);
        foliot__json_count(&j, "order", info->order);
        foliot__json_bool(&j, "symplectic", info->symplectic);
        foliot__json_count(&j, "evaluations", info->evaluations);
        foliot__json_text(&j, "summary", info->summary);
        foliot__json_close(&j);
    }
    foliot__json_close(&j);
    return end_answer(out);
}
