// SPDX-License-Identifier: MIT
// orders.c: what players say to the rules of a run, from lines of text or from a recording.
#include "lab.h"

#include <inttypes.h>
#include <stdlib.h>

#include "recording/order_script.h"

struct lab_orders {
    foliot__order_script script;
    foliot_replay *replay;
    bool ended; // the recording holds no more ticks
    char message[256];
};

static int open_source(const lab_context *context, const char *file, const foliot_scene *scene,
                       lab_orders *orders)
{
    char message[512];
    if (lab_is_recording(file))
        return lab_recording_open(context, file, &orders->replay);
    foliot_status status = foliot__order_script_read(file, scene->players.limit, &orders->script,
                                                     message, sizeof message);
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_FINE;
    return lab_fail(context,
                    status == FOLIOT_STATUS_INVALID ? FOLIOT__EXIT_SCENE : FOLIOT__EXIT_ERROR, "%s",
                    message);
}

int lab_orders_open(const lab_context *context, const char *file, const foliot_scene *scene,
                    lab_orders **out)
{
    *out = NULL;
    if (!file)
        return FOLIOT__EXIT_FINE;
    if (scene->commands_max == 0)
        return lab_fail(context, FOLIOT__EXIT_SCENE,
                        "%s: orders are for rules, and the scene takes no commands of theirs; it "
                        "wants limits: {commands_max: 64}",
                        file);
    lab_orders *orders = calloc(1, sizeof *orders);
    if (!orders)
        return lab_fail(context, FOLIOT__EXIT_ERROR, "no memory");
    int code = open_source(context, file, scene, orders);
    if (code)
        lab_orders_close(orders);
    else
        *out = orders;
    return code;
}

static foliot_status recorded_at(lab_orders *orders, uint64_t tick, const foliot_order **list,
                                 uint32_t *count)
{
    foliot_status status = FOLIOT_STATUS_OK;
    // A recording that starts later has nothing for the ticks before it.
    if (!orders->ended && tick >= foliot_replay_get_summary(orders->replay)->first_tick)
        status = foliot_replay_get_orders(orders->replay, tick, list, count);
    orders->ended |= status == FOLIOT_STATUS_NOT_FOUND;
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_OK : status;
}

bool lab_orders_at(lab_orders *orders, uint64_t tick, const foliot_order **list, uint32_t *count,
                   const char **message)
{
    *list = NULL;
    *count = 0;
    if (!orders)
        return true;
    foliot_status status = orders->replay
                               ? recorded_at(orders, tick, list, count)
                               : foliot__order_script_at(&orders->script, tick, list, count);
    if (status == FOLIOT_STATUS_OK)
        return true;
    const foliot_damage *damage = orders->replay ? foliot_replay_get_damage(orders->replay) : NULL;
    snprintf(orders->message, sizeof orders->message, "orders of tick %" PRIu64 ": %s", tick,
             damage && damage->text[0] ? damage->text : foliot_status_get_text(status));
    *message = orders->message;
    return false;
}

void lab_orders_close(lab_orders *orders)
{
    if (!orders)
        return;
    if (orders->replay)
        foliot_replay_close(orders->replay);
    foliot__order_script_free(&orders->script);
    free(orders);
}
