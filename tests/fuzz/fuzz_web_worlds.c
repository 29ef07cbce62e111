// SPDX-License-Identifier: MIT
// fuzz_web_worlds.c: the module of scenes and worlds (web/worlds.c, files.c), compiled for this
// machine: any scenes, files, inputs, commands and states, for worlds that there are or not, in any
// order. Records of the input: what is called, then what that takes.
#include "try_scene.h"
#include "web_page.h"

#define RECORDS_MAX 120
#define TEXT_BYTES 8192
#define WORLDS 4 // that the input names, and one that there never is

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void *web_allocate(uint32_t bytes);
void web_release(void *memory);
void web_destroy(uint32_t id);
const char *web_make(const char *text, uint32_t length, const char *name, const char *integrator,
                     const char *dt);
int web_input(uint32_t id, uint32_t player, uint32_t kind, int32_t x, int32_t y, int32_t z,
              int32_t turn, uint32_t buttons);
const char *web_command(uint32_t id, const char *json, uint32_t length);
int web_step(uint32_t id, uint32_t ticks);
const char *web_status_text(int status);
double web_tick(uint32_t id);
double web_time(uint32_t id);
double web_energy(uint32_t id);
const char *web_digest(uint32_t id);
const double *web_positions(uint32_t id);
uint32_t web_slots(uint32_t id);
int web_picture(uint32_t id, uint32_t marked_body);
uint32_t web_draw_lines(uint32_t id, uint32_t what, double length);
const char *web_body_about(uint32_t id, uint32_t slot);
const char *web_about(uint32_t id);
uint8_t *web_capture(uint32_t id);
int web_restore(uint32_t id, const uint8_t *bytes, uint32_t length);
const char *web_integrators(void);
void web_forget_files(void);
uint8_t *web_give_file(const char *name, uint32_t length);

static uint32_t take_world(records *r)
{
    uint8_t id = take_byte(r) % (WORLDS + 1);
    return id < WORLDS ? id : take_number(r);
}

// A separate copy, so that a read beyond its end is seen.
static char *copy_of(const uint8_t *bytes, uint32_t length, bool closed)
{
    char *copy = web_allocate(length + closed);
    FOLIOT_ASSERT(copy);
    memcpy(copy, bytes, length);
    if (closed)
        copy[length] = 0;
    return copy;
}

static char *take_text(records *r, uint32_t limit)
{
    uint32_t length;
    const uint8_t *bytes = take_bytes(r, limit, &length);
    return copy_of(bytes, length, true);
}

// A scene that would take long to step is left to other tests.
static bool is_quick(const char *text, uint32_t length)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    if (foliot_scene_parse(text, length, "fuzz", ".", &scene, &error) != FOLIOT_STATUS_OK)
        return true;
    bool quick = try_scene_is_small(scene);
    foliot_scene_destroy(scene);
    return quick;
}

static void make(records *r)
{
    static const char *const integrators[] = {"",    "symplectic_euler", "rk4",   "velocity_verlet",
                                              "rk9", "yoshida6",         "rattle"};
    static const char *const steps[] = {"", "0.01", "1/60", "-1", "1e400", "1/0", "x"};
    uint32_t length, choice = take_byte(r);
    const uint8_t *bytes = take_bytes(r, TEXT_BYTES, &length);
    char *text = copy_of(bytes, length, false);
    if (is_quick(text, length))
        read_json(
            web_make(text, length, "fuzz.yaml", integrators[choice % 7], steps[choice / 7 % 7]));
    web_release(text);
}

static void command(records *r)
{
    uint32_t id = take_world(r), length;
    const uint8_t *bytes = take_bytes(r, TEXT_BYTES, &length);
    char *text = copy_of(bytes, length, false);
    read_json(web_command(id, text, length));
    web_release(text);
}

static void look_at(uint32_t id, uint32_t slot)
{
    uint32_t slots = web_slots(id);
    const double *positions = web_positions(id);
    page_sum += (uint64_t)(web_tick(id) < 1e15) + (web_time(id) > 0) + (web_energy(id) > 0);
    if (positions)
        read_bytes(positions, 3 * slots * sizeof *positions);
    read_picture(web_picture(id, slot));
    read_lines(web_draw_lines(id, slot, 0.1));
    read_lines(web_draw_lines(id, 3, 1e300));
    read_text(web_digest(id));
    read_json(web_about(id));
    read_json(web_body_about(id, slot));
}

// A state goes back, whole, cut or with a byte changed, into whatever world.
static void take_back(records *r)
{
    uint8_t *state = web_capture(take_world(r));
    uint32_t length, id = take_world(r), how = take_byte(r);
    if (!state)
        return;
    memcpy(&length, state, 4);
    if (how & 1)
        state[4 + take_word(r) % length] ^= (uint8_t)(1 + take_byte(r));
    char *copy = copy_of(state + 4, how & 2 ? take_word(r) % (length + 1) : length, false);
    read_text(web_status_text(web_restore(id, (uint8_t *)copy, how & 2 ? 0 : length)));
    web_release(copy);
    web_release(state);
}

static void give(records *r)
{
    char *name = take_text(r, 600);
    uint32_t length;
    const uint8_t *bytes = take_bytes(r, 512, &length);
    uint8_t *room = web_give_file(name, length);
    if (room)
        memcpy(room, bytes, length);
    if (take_byte(r) == 255)
        page_sum += web_give_file(name, UINT32_MAX) != NULL; // beyond what all may have
    web_release(name);
}

static void act(records *r)
{
    uint32_t id;
    switch (take_byte(r) % 10) {
    case 0:
        make(r);
        break;
    case 1:
        command(r);
        break;
    case 2:
        id = take_world(r);
        page_sum += (uint64_t)web_input(id, take_number(r), take_byte(r), (int32_t)take_number(r),
                                        -5, 7, (int32_t)take_number(r), take_number(r));
        break;
    case 3:
    case 4:
        id = take_world(r);
        read_text(web_status_text(web_step(id, 1 + take_byte(r) % 4)));
        break;
    case 5:
        id = take_world(r);
        look_at(id, take_number(r));
        break;
    case 6:
        take_back(r);
        break;
    case 7:
        give(r);
        break;
    case 8:
        web_destroy(take_world(r));
        break;
    default:
        if (take_byte(r) % 4 == 0)
            web_forget_files();
        else
            read_json(web_integrators());
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    records r = {data, size};
    for (int i = 0; i < RECORDS_MAX && r.left > 0; i++)
        act(&r);
    for (uint32_t id = 0; id < WORLDS; id++)
        look_at(id, 0);
    for (uint32_t id = 0; id < 64; id++)
        web_destroy(id);
    web_forget_files();
    return 0;
}
