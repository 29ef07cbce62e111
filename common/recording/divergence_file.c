// SPDX-License-Identifier: MIT
// divergence_file.c: writes a recording of one tick: the step in which two runs diverged, as one of
// them computed it.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "foliot/divergence.h"
#include "foliot/recording.h"
#include "foliot/world.h"

foliot_status foliot_divergence_report_write(const foliot_divergence_report *found,
                                             const char *file)
{
    foliot_simulation simulation = {0};
    foliot_recording *recording = NULL;
    const foliot_tick_inputs in = {found->inputs, found->input_count, found->commands,
                                   found->command_count};
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    config.keyframe_ticks = 1; // of both states: a digest alone would not say where they differ
    if (!found->before_bytes || !found->after_bytes || !found->kind)
        return FOLIOT_STATUS_INVALID;
    foliot_status status =
        foliot_simulation_create(found->kind, found->setup, found->setup_bytes, &simulation);
    if (status != FOLIOT_STATUS_OK)
        return status;
    status = foliot_simulation_restore(&simulation, found->before, found->before_bytes);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_open(file, &simulation, &config, &recording);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_simulation_restore(&simulation, found->after, found->after_bytes);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_append(recording, &simulation, &in, NULL, 0);
    foliot_status closed = recording ? foliot_recording_close(recording, NULL) : status;
    foliot_simulation_destroy(&simulation);
    return status == FOLIOT_STATUS_OK ? closed : status;
}

void foliot_divergence_report_name_file(const foliot_divergence_report *found, const char *side,
                                        char *file, size_t capacity)
{
    char session[64], player[16] = "spectator", count[16] = "";
    snprintf(session, sizeof session, "%s", found->session);
    for (char *c = session; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '-';
    if (found->player != FOLIOT_NO_PLAYER)
        snprintf(player, sizeof player, "%" PRIu32, found->player);
    for (int i = 2; i < 1000; i++) {
        snprintf(file, capacity, "%s-divergence-%" PRIu64 "-%s-%s%s.foliot", session,
                 found->divergence.tick, player, side, count);
        if (access(file, F_OK) != 0)
            return;
        snprintf(count, sizeof count, "-%d", i);
    }
}

#define TITLE_BYTES 160

static foliot_divergence_labels names_of(const foliot_divergence_report *found,
                                         const foliot_scene *scene, char title[TITLE_BYTES])
{
    uint32_t body = found->divergence.body;
    foliot_divergence_labels names = {
        .title = title, .expected = "server", .actual = "client", .dt = scene ? scene->dt : 0};
    if (found->player == FOLIOT_NO_PLAYER)
        snprintf(title, TITLE_BYTES, "session %s, spectator %s", found->session, found->name);
    else
        snprintf(title, TITLE_BYTES, "session %s, player %" PRIu32 " (%s)", found->session,
                 found->player, found->name);
    if (scene && found->divergence.part_known && body < scene->body_count)
        names.part = scene->bodies[body].name;
    return names;
}

size_t foliot_divergence_report_print_text(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity)
{
    char title[TITLE_BYTES];
    foliot_divergence_labels names = names_of(found, scene, title);
    return foliot_divergence_print_text(&found->divergence, &names, text, capacity);
}

size_t foliot_divergence_report_print_json(const foliot_divergence_report *found,
                                           const foliot_scene *scene, char *text, size_t capacity)
{
    char title[TITLE_BYTES];
    foliot_divergence_labels names = names_of(found, scene, title);
    return foliot_divergence_print_json(&found->divergence, &names, text, capacity);
}
