// SPDX-License-Identifier: MIT
// state.c: foliot-replay state: the bodies at a tick.
#include "tool.h"

#include "base/json.h"

#include <inttypes.h>

#ifndef FOLIOT_REPLAY_CORE
#endif

static bool json_wanted, tick_given;
static uint64_t tick;

const foliot__option state_options[] = {
    {"tick", "T", FOLIOT__OPTION_COUNT, &tick, .given = &tick_given, .help = "which tick"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "one JSON object on stdout"},
    SIMULATION_OPTION{0}};

static void put_json_body(foliot__json *json, const foliot_scene *scene, const foliot_world *world,
                          uint32_t i)
{
    foliot_body_state body = foliot_world_get_body_state(world, i);
    foliot__json_object(json, NULL);
    foliot__json_text(json, "name", tool_body_name(scene, i));
    foliot__json_count(json, "index", i);
    foliot__json_reals(json, "position", body.position, 3);
    foliot__json_reals(json, "velocity", body.velocity, 3);
    foliot__json_reals(json, "orientation", body.orientation, 4);
    foliot__json_reals(json, "angular_velocity", body.angular_velocity, 3);
    foliot__json_bool(json, "static", body.flags & FOLIOT_BODY_STATIC);
    foliot__json_bool(json, "frozen", body.flags & FOLIOT_BODY_FROZEN);
    foliot__json_close(json);
}

static void put_json(const foliot_scene *scene, const foliot_world *world)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot__json json = foliot__json_to(stdout);
    foliot_digest_print(foliot_world_get_digest(world), digest);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "scene", scene->name);
    foliot__json_count(&json, "tick", foliot_world_get_tick(world));
    foliot__json_real(&json, "time", foliot_world_get_time(world));
    foliot__json_text(&json, "digest", digest);
    foliot__json_array(&json, "bodies");
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++)
        if (foliot_world_get_body_alive(world, i))
            put_json_body(&json, scene, world, i);
    foliot__json_close(&json);
    foliot__json_close(&json);
    foliot__json_line(&json);
}

static void put_text(const foliot_scene *scene, const foliot_world *world)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES], label[BODY_LABEL_BYTES];
    foliot_digest_print(foliot_world_get_digest(world), digest);
    printf("tick %" PRIu64 ", time %.17g, digest %s\n", foliot_world_get_tick(world),
           foliot_world_get_time(world), digest);
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++) {
        if (!foliot_world_get_body_alive(world, i))
            continue;
        foliot_body_state b = foliot_world_get_body_state(world, i);
        tool_body_label(tool_body_name(scene, i), i, label);
        printf("%s%s\n", label, b.flags & FOLIOT_BODY_FROZEN ? " (frozen)" : "");
        printf("  position          %.17g %.17g %.17g\n", b.position[0], b.position[1],
               b.position[2]);
        printf("  velocity          %.17g %.17g %.17g\n", b.velocity[0], b.velocity[1],
               b.velocity[2]);
        printf("  orientation       %.17g %.17g %.17g %.17g\n", b.orientation[0], b.orientation[1],
               b.orientation[2], b.orientation[3]);
        printf("  angular velocity  %.17g %.17g %.17g\n", b.angular_velocity[0],
               b.angular_velocity[1], b.angular_velocity[2]);
    }
}

int state_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code;
    const char *file = arguments->operands[0];
    if (!tick_given)
        return foliot__options_wrong(program, arguments, "--tick is missing");
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    foliot_status status = foliot_replay_seek(replay, tick);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    if (status == FOLIOT_STATUS_OK && !about->scene) {
#ifndef FOLIOT_REPLAY_CORE
        (json_wanted ? parts_put_json : parts_print_text)(foliot_replay_get_simulation(replay));
#endif
    } else if (status == FOLIOT_STATUS_OK) {
        (json_wanted ? put_json : put_text)(about->scene, foliot_replay_get_world(replay));
    } else {
        tool_tell_damage(file, replay);
        if (status == FOLIOT_STATUS_DIVERGED)
            tool_tell_divergence(file, tick);
        if (status == FOLIOT_STATUS_NOT_FOUND)
            tool_complain(file, "no tick %" PRIu64 ": it has %" PRIu64 " to %" PRIu64, tick,
                          about->first_tick, about->last_tick);
        else if (tool_exit_of(status) == FOLIOT__EXIT_ERROR)
            tool_complain(file, "%s", foliot_status_get_text(status));
        // A tick beyond the damage is not there because of it.
        if (status == FOLIOT_STATUS_NOT_FOUND &&
            tool_exit_of_part(foliot_replay_get_damage(replay)->status) != FOLIOT__EXIT_FINE)
            status = foliot_replay_get_damage(replay)->status;
    }
    foliot_replay_close(replay);
    return tool_exit_of(status);
}
