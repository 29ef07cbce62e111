// SPDX-License-Identifier: MIT
// info.c: foliot-replay info: the contents of a recording, read to its end but not replayed.
#include "tool.h"

#include "base/json.h"
#include "base/text.h"
#include "recording/format.h"

#include <inttypes.h>
#include <math.h>

static bool json_wanted;

const foliot__option info_options[] = {{"json", NULL, FOLIOT__OPTION_FLAG, &json_wanted,
                                        .help = "prints one JSON object per file, each on a line"},
                                       SIMULATION_OPTION{0}};

// A recording without an end counts as whole up to its last block.
static bool is_damage(const foliot_damage *damage)
{
    return damage->status != FOLIOT_STATUS_OK && damage->status != FOLIOT_STATUS_TRUNCATED;
}

static void put_json(const char *file, const foliot_replay_summary *a, const foliot_damage *damage)
{
    char fingerprint[FOLIOT_DIGEST_TEXT_BYTES], digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot__json json = foliot__json_to(stdout);
    foliot_digest_print(a->fingerprint, fingerprint);
    foliot_digest_print(a->final_digest, digest);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "file", file);
    foliot__json_count(&json, "format", a->format);
    foliot__json_array(&json, "features");
    for (uint32_t left = a->features; left; left &= left - 1)
        foliot__json_text(&json, NULL, foliot__recording_feature_name(left & -left));
    foliot__json_close(&json);
    // The keys of a world are null for another simulation, and the other way round.
    foliot__json_text(&json, "simulation", a->kind);
    foliot__json_count(&json, "rules", a->rules);
    foliot__json_count(&json, "setup_bytes", a->setup_bytes);
    foliot__json_text(&json, "scene", a->scene ? a->scene->name : NULL);
    foliot__json_text(&json, "integrator", a->scene ? a->integrator : NULL);
    foliot__json_real(&json, "dt", a->scene ? a->dt : NAN);
    foliot__json_count_if(&json, "seed", a->scene, a->seed);
    foliot__json_count_if(&json, "bodies", a->scene, a->scene ? a->scene->body_count : 0);
    foliot__json_count(&json, "first_tick", a->first_tick);
    foliot__json_count(&json, "last_tick", a->last_tick);
    foliot__json_bool(&json, "closed", a->closed);
    foliot__json_bool(&json, "unfinished", damage->status == FOLIOT_STATUS_TRUNCATED);
    foliot__json_text(&json, "digest", a->closed ? digest : NULL);
    foliot__json_text(&json, "fingerprint", fingerprint);
    foliot__json_text(&json, "build", a->build);
    foliot__json_text(&json, "version", a->version);
    foliot__json_count(&json, "players", a->counts.players);
    foliot__json_count(&json, "inputs", a->counts.inputs);
    foliot__json_count(&json, "commands", a->counts.commands);
    foliot__json_count(&json, "orders", a->counts.orders);
    foliot__json_count(&json, "messages", a->counts.messages);
    foliot__json_count(&json, "digests", a->counts.digests);
    foliot__json_count(&json, "keyframes", a->counts.keyframes);
    foliot__json_count(&json, "blocks", a->counts.blocks);
    foliot__json_count(&json, "bytes", a->bytes);
    foliot__json_count(&json, "input_bytes", a->counts.input_bytes);
    foliot__json_count(&json, "command_bytes", a->counts.command_bytes);
    foliot__json_count(&json, "order_bytes", a->counts.order_bytes);
    foliot__json_count(&json, "digest_bytes", a->counts.digest_bytes);
    foliot__json_count(&json, "keyframe_bytes", a->counts.keyframe_bytes);
    foliot__json_count(&json, "header_bytes", a->counts.header_bytes);
    foliot__json_count(&json, "other_bytes", a->counts.other_bytes);
    foliot__json_text(&json, "session_rules", a->rules_name[0] ? a->rules_name : NULL);
    foliot__json_count(&json, "session_rules_version", a->rules_version);
    foliot__json_text(&json, "damage", is_damage(damage) ? damage->text : NULL);
    foliot__json_line(&json);
}

static void print_simulation(const foliot_replay_summary *a)
{
    if (!a->scene) {
        printf("  simulation   %s, version %" PRIu32 " of its rules, %zu bytes of setup\n", a->kind,
               a->rules, a->setup_bytes);
#ifndef FOLIOT_REPLAY_CORE
        foliot_simulation_terms terms = tool_terms(a);
        char about[FOLIOT_NAME_BYTES];
        if (tool_module)
            printf("  module       %s: %g ticks a second, up to %" PRIu32 " players\n",
                   foliot__text_clean(about, sizeof about, terms.name), terms.pace_hz,
                   terms.player_limit);
#endif
        return;
    }
    char name[FOLIOT_NAME_BYTES];
    printf("  scene        %s: %" PRIu32 " bodies, %" PRIu32 " forces, %" PRIu32
           " constraints, up to %" PRIu32 " players\n",
           foliot__text_clean(name, sizeof name, a->scene->name), a->scene->body_count,
           a->scene->force_count, a->scene->constraint_count, a->scene->players.limit);
    printf("  integrator   %s, dt %.17g, seed %" PRIu64 "\n", a->integrator, a->dt, a->seed);
}

static void put_text(const char *file, const foliot_replay_summary *a, const foliot_damage *damage)
{
    char text[FOLIOT_DIGEST_TEXT_BYTES];
    printf("%s\n", file);
    print_simulation(a);
    printf("  ticks        %" PRIu64 " to %" PRIu64, a->first_tick, a->last_tick);
    if (a->scene)
        printf(" (%.9g of the scene's time)", (double)(a->last_tick - a->first_tick) * a->dt);
    printf(", %s\n", a->closed                                   ? "closed in order"
                     : damage->status == FOLIOT_STATUS_TRUNCATED ? TOOL_UNFINISHED
                                                                 : "without its end");
    printf("  played by    %" PRIu32 " player%s, %" PRIu64 " inputs\n", a->counts.players,
           a->counts.players == 1 ? "" : "s", a->counts.inputs);
    // Events of the session, inputs of players aside.
    char name[FOLIOT_NAME_BYTES], build[96];
    if (a->rules_name[0])
        printf("  rules        %s, version %" PRIu32 "%s%s\n",
               foliot__text_clean(name, sizeof name, a->rules_name), a->rules_version,
               a->rules_build[0] ? ", " : "",
               foliot__text_clean(build, sizeof build, a->rules_build));
    if (a->counts.commands + a->counts.orders + a->counts.messages > 0)
        printf("  session      %" PRIu64 " commands (%" PRIu64 " bytes), %" PRIu64
               " orders (%" PRIu64 " bytes), %" PRIu64 " messages\n",
               a->counts.commands, a->counts.command_bytes, a->counts.orders, a->counts.order_bytes,
               a->counts.messages);
    foliot_digest_print(a->final_digest, text);
    printf("  digests      %" PRIu64 "%s%s\n", a->counts.digests, a->closed ? ", the last " : "",
           a->closed ? text : "");
    foliot_digest_print(a->fingerprint, text);
    printf("  recorded by  foliot %s, %s, fingerprint %s\n", a->version, a->build, text);
    printf("  file         format %" PRIu32, a->format);
    for (uint32_t left = a->features; left; left &= left - 1)
        printf("%s%s", left == a->features ? " with " : ", ",
               foliot__recording_feature_name(left & -left));
    printf(", %" PRIu64 " bytes in %" PRIu64 " blocks, %" PRIu64 " keyframes\n", a->bytes,
           a->counts.blocks, a->counts.keyframes);
    printf("  bytes of     inputs %" PRIu64 ", digests %" PRIu64 ", keyframes %" PRIu64
           ", block headers %" PRIu64 ", all else %" PRIu64 "\n",
           a->counts.input_bytes, a->counts.digest_bytes, a->counts.keyframe_bytes,
           a->counts.header_bytes, a->counts.other_bytes);
    if (a->scene && a->last_tick > a->first_tick) {
        // The bytes by which a recording of this kind grows. The header with the scene exists once,
        // and is not included.
        double pace = a->scene->pace_hz > 0 ? a->scene->pace_hz : 1 / a->dt;
        double minutes = (double)(a->last_tick - a->first_tick) / pace / 60;
        printf("  a minute     block headers and digests %.0f bytes, keyframes %.0f",
               (double)(a->counts.header_bytes + a->counts.digest_bytes) / minutes,
               (double)a->counts.keyframe_bytes / minutes);
        if (a->counts.players > 0)
            printf(", inputs of a player %.0f",
                   (double)a->counts.input_bytes / minutes / a->counts.players);
        putchar('\n');
    }
    if (is_damage(damage))
        printf("  damage       %s\n", damage->text);
}

int info_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int worst = FOLIOT__EXIT_FINE;
    (void)program;
    for (uint32_t i = 0; i < arguments->operand_count; i++) {
        const char *file = arguments->operands[i];
        int code;
        foliot_replay *replay = tool_look(file, &code);
        if (replay) {
            foliot_status status = foliot_replay_scan(replay);
            (json_wanted ? put_json : put_text)(file, foliot_replay_get_summary(replay),
                                                foliot_replay_get_damage(replay));
            foliot_replay_close(replay);
            code = tool_exit_of_part(status);
        }
        worst = foliot__exit_worse(worst, code);
    }
    return worst;
}
