// SPDX-License-Identifier: MIT
// fuzz_web_replayer.c: the module of recordings (web/replayer.c), compiled for this machine: a
// hostile file, with right checksums or as it came, opened, verified, sought and looked at in any
// order. The last bytes of the input say what is called; the file is before them.
#include <math.h>

#include "foliot/foliot.h"
#include "mend_recording.h"
#include "status.h"
#include "web_page.h"

#define CALLS 16
#define TICKS_MAX 200
#define BODIES_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

uint8_t *web_begin_file(uint32_t bytes);
const char *web_open(void);
const char *web_verify(void);
int web_seek(double tick, uint32_t ticks, double trusted);
double web_began(void);
double web_tick(void);
int web_picture(uint32_t marked_body);
uint32_t web_slots(void);
const double *web_positions(void);
const char *web_digest(void);
void page_progress(double tick);

void page_progress(double tick)
{
    page_sum += tick > 0;
}

// A recording that would take long to simulate is only opened.
static bool is_quick(const uint8_t *bytes, size_t size)
{
    foliot_replay *replay;
    if (foliot_replay_open_bytes(bytes, size, &foliot_world_kind, &replay, NULL) !=
        FOLIOT_STATUS_OK)
        return true;
    allow_failure(foliot_replay_scan(replay));
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    const foliot_world *world = foliot_replay_get_world(replay);
    bool quick = about->last_tick - about->first_tick <= TICKS_MAX && world &&
                 foliot_world_get_body_count(world) <= BODIES_MAX;
    foliot_replay_close(replay);
    return quick;
}

static void look(uint32_t marked)
{
    const double *positions = web_positions();
    if (positions)
        read_bytes(positions, 3 * web_slots() * sizeof *positions);
    read_picture(web_picture(marked));
    read_text(web_digest());
    page_sum += (web_began() <= web_tick());
}

static double tick_of(uint8_t number)
{
    return number < 240 ? number : number < 248 ? 1e15 : (double)INFINITY;
}

static void call(const uint8_t calls[CALLS], bool quick)
{
    for (int i = 0; i < CALLS; i += 2) {
        uint8_t what = calls[i], number = calls[i + 1];
        if (what % 8 == 0 && quick)
            read_json(web_verify());
        else if (what % 8 == 1)
            read_json(web_open());
        else if (what % 8 < 6 && quick)
            web_seek(number, what / 8, tick_of(what ^ number));
        else
            look(number);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = size > CALLS ? size - CALLS : 0;
    uint8_t *file = web_begin_file((uint32_t)length);
    FOLIOT_ASSERT(file);
    if (length)
        memcpy(file, data, length);
    if (length && data[length] & 1)
        mend(file, length);
    read_json(web_open());
    look(0);
    if (length)
        call(data + length, is_quick(file, length));
    FOLIOT_ASSERT(web_begin_file(0)); // frees it
    return 0;
}
