// SPDX-License-Identifier: MIT
// export.c: foliot-replay export: a recording as comma-separated values: bodies (replayed), or
// inputs and digests as they were recorded.
#include "tool.h"

#include "base/json.h"
#include "base/text.h"
#include "command/command_json.h"
#include "recording/replay.h"

#include <inttypes.h>
#include <string.h>

#ifndef FOLIOT_REPLAY_CORE
#endif

static bool csv_wanted;
static const char *what; // NULL: bodies, or parts where there are none
static uint64_t every = 1;

const foliot__option export_options[] = {
    {"csv", NULL, FOLIOT__OPTION_FLAG, &csv_wanted, .help = "prints comma-separated values"},
    {"what", "bodies|inputs|digests|commands|orders|messages|parts", FOLIOT__OPTION_TEXT, &what,
     .help = "data to export (default bodies; parts with --simulation)",
     .details = "Bodies, parts, inputs and digests are tables, and need --csv. Commands, orders "
                "and messages are lines of JSON."},
    {"every", "K", FOLIOT__OPTION_COUNT, &every, .low = 1,
     .help = "bodies and parts: exports only ticks divisible by K"},
    SIMULATION_OPTION{0}};

static void put_bodies(const foliot_scene *scene, const foliot_world *world)
{
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++) {
        if (foliot_world_get_body_id(world, i).value == 0)
            continue;
        const char *name = tool_body_name(scene, i);
        foliot_body_state b =
            foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
        printf("%" PRIu64 ",%.17g,%" PRIu32 ",", foliot_world_get_tick(world),
               foliot_world_get_time(world), i);
        // A name as one field: quotes doubled.
        putchar('"');
        char clean[FOLIOT_NAME_BYTES];
        const char *label = foliot__text_clean(clean, sizeof clean, name ? name : "");
        for (; *label; label++) {
            if (*label == '"')
                putchar('"');
            putchar(*label);
        }
        putchar('"');
        const double *groups[] = {b.position, b.velocity, b.orientation, b.angular_velocity};
        static const int sizes[] = {3, 3, 4, 3};
        for (int g = 0; g < 4; g++)
            for (int k = 0; k < sizes[g]; k++)
                printf(",%.17g", groups[g][k]);
        putchar('\n');
    }
}

static foliot_status export_bodies(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot_status status = FOLIOT_STATUS_OK;
    printf("tick,time,body,name,position.x,position.y,position.z,velocity.x,velocity.y,velocity.z,"
           "orientation.w,orientation.x,orientation.y,orientation.z,"
           "angular_velocity.x,angular_velocity.y,angular_velocity.z\n");
    while (status == FOLIOT_STATUS_OK) {
        if (foliot_replay_get_tick(replay) % every == 0)
            put_bodies(about->scene, foliot_replay_get_world(replay));
        status = foliot_replay_step(replay);
    }
    return status;
}

#ifndef FOLIOT_REPLAY_CORE
static foliot_status export_parts(foliot_replay *replay)
{
    foliot_status status = FOLIOT_STATUS_OK;
    printf("tick,part,index,field,value\n");
    while (status == FOLIOT_STATUS_OK) {
        if (foliot_replay_get_tick(replay) % every == 0)
            parts_put_csv(foliot_replay_get_simulation(replay));
        status = foliot_replay_step(replay);
    }
    return status;
}
#endif

static foliot_status export_inputs(foliot_replay *replay)
{
    static const char *const kinds[] = {"control", "join", "leave"};
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot_status status = FOLIOT_STATUS_OK;
    printf("tick,player,sequence,kind,x,y,z,turn,buttons\n");
    for (uint64_t tick = about->first_tick; tick < about->last_tick && status == FOLIOT_STATUS_OK;
         tick++) {
        const foliot_input *inputs;
        uint32_t count = 0;
        status = foliot_replay_get_inputs(replay, tick, &inputs, &count);
        for (uint32_t i = 0; status == FOLIOT_STATUS_OK && i < count; i++)
            printf("%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s,%d,%d,%d,%d,%u\n", tick,
                   inputs[i].player, inputs[i].sequence, kinds[inputs[i].kind], inputs[i].axes[0],
                   inputs[i].axes[1], inputs[i].axes[2], inputs[i].axes[3], inputs[i].buttons);
    }
    return status == FOLIOT_STATUS_OK ? FOLIOT_STATUS_NOT_FOUND : status;
}

// The lines that `foliot-lab run --commands` reads.
static foliot_status export_commands(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t tick = about->first_tick; tick < about->last_tick && status == FOLIOT_STATUS_OK;
         tick++) {
        const foliot_command *commands;
        uint32_t count = 0;
        status = foliot_replay_get_commands(replay, tick, &commands, &count);
        for (uint32_t i = 0; status == FOLIOT_STATUS_OK && i < count; i++) {
            char text[8192]; // six bytes for one of a text, at most, and two texts
            foliot__command_line_print(&commands[i], tick, text, sizeof text);
            puts(text);
        }
    }
    return status == FOLIOT_STATUS_OK ? FOLIOT_STATUS_NOT_FOUND : status;
}

// Bytes as hexadecimal digits; also as text where they are printable.
static void put_payload(foliot__json *json, const uint8_t *bytes, size_t length)
{
    char hex[2 * FOLIOT_MESSAGE_BYTES_MAX + 1], text[FOLIOT_MESSAGE_BYTES_MAX + 1];
    memcpy(text, bytes, length);
    text[length] = 0;
    bool plain = strlen(text) == length;
    for (size_t at = 0, taken; plain && at < length; at += taken) {
        uint32_t character;
        taken = foliot__utf8_decode(text + at, &character);
        plain = taken > 0 && foliot__printable(character);
    }
    foliot__json_text(json, "bytes", foliot__hex_print(hex, bytes, length));
    if (plain)
        foliot__json_text(json, "text", text);
}

static foliot_status export_orders(foliot_replay *replay)
{
    static const char *const kinds[] = {"game", "chat", "joined", "left", "aimed", "dropped"};
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot__json json = foliot__json_to(stdout);
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t tick = about->first_tick; tick < about->last_tick && status == FOLIOT_STATUS_OK;
         tick++) {
        const foliot_order *orders;
        uint32_t count = 0;
        status = foliot_replay_get_orders(replay, tick, &orders, &count);
        for (uint32_t i = 0; status == FOLIOT_STATUS_OK && i < count; i++) {
            foliot__json_object(&json, NULL);
            foliot__json_count(&json, "tick", tick);
            if (orders[i].kind != FOLIOT_ORDER_DROPPED)
                foliot__json_count(&json, "player", orders[i].player);
            foliot__json_count(&json, "sequence", orders[i].sequence);
            foliot__json_text(&json, "kind", kinds[orders[i].kind]);
            put_payload(&json, orders[i].bytes, orders[i].length);
            foliot__json_line(&json);
        }
    }
    return status == FOLIOT_STATUS_OK ? FOLIOT_STATUS_NOT_FOUND : status;
}

// Messages may be anywhere among the ticks: they are listed in the order of the blocks.
static foliot_status export_messages(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    foliot__json json = foliot__json_to(stdout);
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t tick = about->first_tick; tick < about->last_tick && status == FOLIOT_STATUS_OK;
         tick = replay->content.tick) {
        status = foliot__replay_locate(replay, tick);
        for (uint32_t i = 0; status == FOLIOT_STATUS_OK && i < replay->content.messages.count;
             i++) {
            const foliot__recorded_message *m = &replay->content.messages.items[i];
            foliot__json_object(&json, NULL);
            foliot__json_count(&json, "tick", m->tick);
            foliot__json_count_if(&json, "player", m->player != FOLIOT_TO_ALL, m->player);
            foliot__json_bool(&json, "reliable", m->reliable);
            put_payload(&json, replay->content.messages.payload.bytes + m->at, m->length);
            foliot__json_line(&json);
        }
    }
    return status == FOLIOT_STATUS_OK ? FOLIOT_STATUS_NOT_FOUND : status;
}

static foliot_status export_digests(foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    printf("tick,digest\n");
    for (uint64_t tick = about->first_tick; tick <= about->last_tick; tick++) {
        uint8_t bytes[16];
        char text[33];
        uint32_t count = foliot_replay_get_digest(replay, tick, bytes);
        tool_digest_text(bytes, count, text);
        if (count)
            printf("%" PRIu64 ",%s\n", tick, text);
    }
    return FOLIOT_STATUS_NOT_FOUND;
}

int export_command(const foliot__program *program, const foliot__arguments *arguments)
{
    static const struct {
        const char *name;
        foliot_status (*run)(foliot_replay *replay);
        bool csv; // else lines of JSON
    } forms[] = {{"bodies", export_bodies, true},   {"inputs", export_inputs, true},
                 {"digests", export_digests, true}, {"commands", export_commands, false},
                 {"orders", export_orders, false},  {"messages", export_messages, false},
#ifndef FOLIOT_REPLAY_CORE
                 {"parts", export_parts, true}
#endif
    };
    const size_t count = sizeof forms / sizeof forms[0];
    int code;
    size_t i = 0;
    const char *file = arguments->operands[0];
    if (!what)
        what = tool_kind() ? "parts" : "bodies";
    if (tool_kind() ? strcmp(what, "bodies") == 0 : strcmp(what, "parts") == 0)
        return foliot__options_wrong(program, arguments,
                                     tool_kind() ? "only worlds have bodies: use --what parts"
                                                 : "--what parts is for --simulation");
    while (i < count && strcmp(what, forms[i].name) != 0)
        i++;
    if (forms[i].csv != csv_wanted)
        return foliot__options_wrong(program, arguments,
                                     forms[i].csv ? "use --csv, the only format of %s"
                                                  : "%s are lines of JSON: leave out --csv",
                                     what);
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    foliot_status status = forms[i].run(replay);
    if (status == FOLIOT_STATUS_NOT_FOUND) // the end
        status = foliot_replay_get_damage(replay)->status;
    tool_tell_damage(file, replay);
    if (status == FOLIOT_STATUS_DIVERGED)
        tool_tell_divergence(file, foliot_replay_get_tick(replay));
    else if (tool_exit_of(status) == FOLIOT__EXIT_ERROR)
        tool_complain(file, "%s", foliot_status_get_text(status));
    foliot_replay_close(replay);
    return tool_exit_of_part(status);
}
