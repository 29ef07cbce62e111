// SPDX-License-Identifier: MIT
// export.c: foliot-replay export: a recording as comma-separated values: bodies (replayed), or
// inputs and digests as they were recorded.
#include "tool.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static bool csv_wanted;
static const char *what = "bodies";
static uint64_t every = 1;

const foliot__option export_options[] = {
    {"csv", NULL, FOLIOT__OPTION_FLAG, &csv_wanted, .help = "comma-separated values on stdout"},
    {"what", "bodies|inputs|digests", FOLIOT__OPTION_TEXT, &what, .help = "default bodies"},
    {"every", "K", FOLIOT__OPTION_COUNT, &every, .low = 1,
     .help = "of bodies: only ticks divisible by K"},
    {0}};

// A name as one field: quotes doubled.
static void put_name(const char *name)
{
    putchar('"');
    char clean[FOLIOT_NAME_BYTES];
    for (name = foliot__text_clean(clean, sizeof clean, name); *name; name++) {
        if (*name == '"')
            putchar('"');
        putchar(*name);
    }
    putchar('"');
}

static void put_bodies(const foliot_scene *scene, const foliot_world *world)
{
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++) {
        if (!foliot_world_get_body_alive(world, i))
            continue;
        const char *name = tool_body_name(scene, i);
        foliot_body_state b = foliot_world_get_body_state(world, i);
        printf("%" PRIu64 ",%.17g,%" PRIu32 ",", foliot_world_get_tick(world),
               foliot_world_get_time(world), i);
        put_name(name ? name : "");
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
    int code;
    const char *file = arguments->operands[0];
    if (!csv_wanted)
        return foliot__options_wrong(program, arguments, "say --csv, the one format there is");
    foliot_status (*run)(foliot_replay *) = strcmp(what, "bodies") == 0    ? export_bodies
                                            : strcmp(what, "inputs") == 0  ? export_inputs
                                            : strcmp(what, "digests") == 0 ? export_digests
                                                                           : NULL;
    if (!run)
        return foliot__options_wrong(program, arguments,
                                     "--what %s is not bodies, inputs or digests", what);
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    foliot_status status = run(replay);
    if (status == FOLIOT_STATUS_NOT_FOUND) // the end
        status = foliot_replay_get_damage(replay)->status;
    tool_tell_damage(file, replay);
    if (status == FOLIOT_STATUS_DIVERGED)
        tool_tell_divergence(file, foliot_replay_get_tick(replay));
    foliot_replay_close(replay);
    return tool_exit_of(status);
}
