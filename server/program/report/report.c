// SPDX-License-Identifier: MIT
// report.c: see report.h.
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct report {
    uv_work_t work;
    foliot_divergence_report found; // it points into `bytes`, and to `commands`
    foliot_command_list commands;
    bool json;
    foliot_status status;
    char file[256];
    uint8_t bytes[];
} report;

static struct {
    unsigned reports, files;
    uint64_t bytes;
    bool writing;
} so_far;

static const void *kept(uint8_t **at, const void *bytes, size_t length)
{
    void *here = *at;
    if (length)
        memcpy(here, bytes, length);
    *at += (length + 15) / 16 * 16;
    return here;
}

static void free_report(report *r)
{
    foliot_command_list_destroy(&r->commands);
    free(r);
}

static report *copy_of(const foliot_divergence_report *found)
{
    size_t inputs = found->input_count * sizeof *found->inputs,
           session = strlen(found->session) + 1, name = strlen(found->name) + 1;
    report *r = calloc(1, sizeof *r + inputs + found->before_bytes + found->after_bytes + session +
                              name + found->setup_bytes + 6 * 16);
    if (!r)
        return NULL;
    uint8_t *at = r->bytes + (16 - (uintptr_t)r->bytes % 16) % 16;
    r->found = *found;
    r->found.inputs = kept(&at, found->inputs, inputs);
    r->found.before = kept(&at, found->before, found->before_bytes);
    r->found.after = kept(&at, found->after, found->after_bytes);
    r->found.session = kept(&at, found->session, session);
    r->found.name = kept(&at, found->name, name);
    r->found.setup = kept(&at, found->setup, found->setup_bytes);
    for (uint32_t i = 0; i < found->command_count; i++)
        if (foliot_command_list_append(&r->commands, &found->commands[i]) != FOLIOT_STATUS_OK) {
            free_report(r);
            return NULL;
        }
    r->found.commands = r->commands.commands;
    return r;
}

static void write_file(uv_work_t *work)
{
    report *r = work->data;
    foliot_divergence_report_name_file(&r->found, "server", r->file, sizeof r->file);
    r->status = foliot_divergence_report_write(&r->found, r->file);
}

static void file_written(uv_work_t *work, int status)
{
    report *r = work->data;
    char line[400];
    so_far.writing = false;
    if (status != 0 || r->status != FOLIOT_STATUS_OK)
        snprintf(line, sizeof line, "foliot-server: our state was not written: %s\n",
                 status ? uv_strerror(status) : foliot_status_get_text(r->status));
    else
        snprintf(line, sizeof line, "  %-10s %s\n", "our state", r->file);
    if (!r->json || r->status != FOLIOT_STATUS_OK)
        foliot__log_lines(line);
    free_report(r);
}

void foliot__report_divergence(const foliot_divergence_report *found, const foliot_scene *scene,
                               bool json, uv_loop_t *loop)
{
    char text[2048], line[2200];
    if (so_far.reports == FOLIOT__REPORTS_MAX) // that it was found is logged all the same
        return;
    so_far.reports++;
    (json ? foliot_divergence_report_print_json
          : foliot_divergence_report_print_text)(found, scene, text, sizeof text);
    if (json)
        snprintf(line, sizeof line, "%s\n", text);
    else
        snprintf(line, sizeof line, "%s  %-10s %u bytes of requests and responses\n", text,
                 "searched", found->exchanged);
    foliot__log_lines(line);
    uint64_t bytes = found->before_bytes + found->after_bytes + found->setup_bytes;
    if (so_far.writing || so_far.files == FOLIOT__REPORT_FILES_MAX ||
        bytes > FOLIOT__REPORT_BYTES_MAX - so_far.bytes)
        return;
    if (!found->before_bytes || !found->after_bytes) {
        foliot__log_lines("foliot-server: our state was not written: it is no longer known\n");
        return;
    }
    report *r = copy_of(found);
    if (!r)
        return;
    r->work.data = r;
    r->json = json;
    so_far.writing = uv_queue_work(loop, &r->work, write_file, file_written) == 0;
    so_far.files += so_far.writing;
    so_far.bytes += so_far.writing ? bytes : 0;
    if (!so_far.writing)
        free_report(r);
}
