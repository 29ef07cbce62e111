// SPDX-License-Identifier: MIT
// state.c: foliot-replay state: the bodies at a tick. For a simulation other than a world: the
// parts and fields that its module's table names, or without parts the captured bytes.
#include "tool.h"

#include "base/json.h"
#include "base/text.h"
#include "simulation/simulation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool json_wanted, tick_given;
static uint64_t tick;

const foliot__option state_options[] = {
    {"tick", "T", FOLIOT__OPTION_COUNT, &tick, .given = &tick_given, .help = "tick to print"},
    {"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted, .help = "prints one JSON object on stdout"},
    SIMULATION_OPTION{0}};

#ifndef FOLIOT_REPLAY_CORE
// -- simulations

static char *captured_hex(const foliot_simulation *s)
{
    foliot__buffer state = {0};
    char *text = NULL;
    if (foliot__simulation_save(s, &state) == FOLIOT_STATUS_OK)
        text = malloc(2 * state.length + 1);
    if (text)
        foliot__hex_print(text, state.bytes, state.length);
    foliot__buffer_free(&state);
    return text;
}

static uint32_t part_count(const foliot_simulation *s)
{
    return s->kind->part_count ? s->kind->part_count(s->self) : 0;
}

// -- JSON

static void parts_put_json(const foliot_simulation *s)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot__json json = foliot__json_to(stdout);
    foliot_digest_print(foliot_simulation_get_digest(s), digest);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "simulation", s->kind->name);
    foliot__json_count(&json, "tick", foliot_simulation_get_tick(s));
    foliot__json_text(&json, "digest", digest);
    foliot__json_array(&json, "parts");
    for (uint32_t i = 0; i < part_count(s); i++) {
        foliot_simulation_part about;
        foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, i, &about);
        if (fields) {
            foliot__json_object(&json, NULL);
            foliot__json_text(&json, "part", about.group);
            foliot__json_count_if(&json, "index", about.index != FOLIOT_PART_ALONE, about.index);
            foliot__json_object(&json, "fields");
            for (uint32_t f = 0; f < about.field_count; f++) {
                char number[16];
                double real;
                uint32_t low = (uint32_t)fields[f].bits;
                float narrow;
                snprintf(number, sizeof number, "%" PRIu32, f);
                const char *name = fields[f].name ? fields[f].name : number;
                memcpy(&real, &fields[f].bits, sizeof real);
                memcpy(&narrow, &low, sizeof narrow);
                if (fields[f].type == FOLIOT_VALUE_F64 || fields[f].type == FOLIOT_VALUE_F32)
                    foliot__json_real(&json, name,
                                      fields[f].type == FOLIOT_VALUE_F64 ? real : (double)narrow);
                else if (fields[f].type == FOLIOT_VALUE_I64)
                    foliot__json_integer(&json, name, (int64_t)fields[f].bits);
                else
                    foliot__json_count(&json, name, fields[f].bits);
            }
            foliot__json_close(&json);
            foliot__json_close(&json);
            free(fields);
        }
    }
    foliot__json_close(&json);
    if (!s->kind->part_count) {
        char *hex = captured_hex(s);
        foliot__json_text(&json, "bytes", hex);
        free(hex);
    }
    foliot__json_line(&json);
}

// -- text

static void parts_print_text(const foliot_simulation *s)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES], number[FOLIOT__FIELD_TEXT_BYTES];
    foliot_digest_print(foliot_simulation_get_digest(s), digest);
    printf("tick %" PRIu64 ", digest %s\n", foliot_simulation_get_tick(s), digest);
    for (uint32_t i = 0; i < part_count(s); i++) {
        foliot_simulation_part about;
        foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, i, &about);
        char title[160];
        if (about.index == FOLIOT_PART_ALONE)
            snprintf(title, sizeof title, "%s", about.group);
        else
            snprintf(title, sizeof title, "%s %" PRIu64, about.group, about.index);
        // A module's own text, made safe for a terminal.
        size_t length = strlen(title);
        char text[512], clean[512];
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
                 title);
        puts(foliot__text_clean(clean, sizeof clean, text));
        for (uint32_t k = 0; fields && k < about.field_count; k++)
            printf("  %-16s  %s\n", fields[k].name ? fields[k].name : "",
                   foliot__field_text(&fields[k], number));
        free(fields);
    }
    char *hex = s->kind->part_count ? NULL : captured_hex(s);
    for (size_t at = 0; hex && hex[at]; at += strnlen(hex + at, 64))
        printf("  %.64s\n", hex + at);
    free(hex);
}

// -- comma-separated values

void parts_put_csv(const foliot_simulation *s)
{
    char number[FOLIOT__FIELD_TEXT_BYTES];
    for (uint32_t i = 0; i < part_count(s); i++) {
        foliot_simulation_part about;
        foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, i, &about);
        for (uint32_t k = 0; fields && k < about.field_count; k++) {
            printf("%" PRIu64 ",%s,", foliot_simulation_get_tick(s), about.group);
            if (about.index != FOLIOT_PART_ALONE)
                printf("%" PRIu64, about.index);
            printf(",%s,%s\n", fields[k].name ? fields[k].name : "",
                   foliot__field_text(&fields[k], number));
        }
        free(fields);
    }
}
#endif

// -- worlds

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
        if (foliot_world_get_body_id(world, i).value != 0) {
            foliot_body_state body =
                foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
            foliot__json_object(&json, NULL);
            foliot__json_text(&json, "name", tool_body_name(scene, i));
            foliot__json_count(&json, "index", i);
            foliot__json_reals(&json, "position", body.position, 3);
            foliot__json_reals(&json, "velocity", body.velocity, 3);
            foliot__json_reals(&json, "orientation", body.orientation, 4);
            foliot__json_reals(&json, "angular_velocity", body.angular_velocity, 3);
            foliot__json_bool(&json, "static", body.flags & FOLIOT_BODY_STATIC);
            foliot__json_bool(&json, "frozen", body.flags & FOLIOT_BODY_FROZEN);
            foliot__json_close(&json);
        }
    foliot__json_line(&json);
}

static void put_text(const foliot_scene *scene, const foliot_world *world)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES], label[BODY_LABEL_BYTES];
    foliot_digest_print(foliot_world_get_digest(world), digest);
    printf("tick %" PRIu64 ", time %.17g, digest %s\n", foliot_world_get_tick(world),
           foliot_world_get_time(world), digest);
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++) {
        if (foliot_world_get_body_id(world, i).value == 0)
            continue;
        foliot_body_state b =
            foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
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
