// SPDX-License-Identifier: MIT
// fault.c: reports divergences (fault.h). Names from the server are made printable by the library.
#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *foliot__fault_plant(foliot__fault *fault, const char *text)
{
    static const foliot_host none;
    const char *wrong = text ? foliot__perturb_parse(text, &fault->request) : NULL;
    fault->host = none;
    if (!text || wrong)
        return wrong;
    fault->planted = true;
    fault->fault = fault->request.fault;
    fault->fault.body = FOLIOT_NO_BODY;
    fault->perturber.fault = &fault->fault;
    fault->host = foliot__perturbing_host(&none, &fault->perturber);
    return NULL;
}

// By name, else by index.
static uint32_t find_body(const foliot_scene *scene, const char *text)
{
    char *end;
    for (uint32_t i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].name && strcmp(scene->bodies[i].name, text) == 0)
            return i;
    unsigned long index = strtoul(text, &end, 10);
    return end != text && !*end && index < FOLIOT_BODIES_MAX ? (uint32_t)index : FOLIOT_NO_BODY;
}

// A server may report as many divergences as it likes: the log must stay bounded.
static bool is_worth_reporting(foliot__fault *fault)
{
    uint64_t power = 100;
    if (fault->reported++ < FOLIOT__FAULT_FILES_MAX)
        return true;
    while (power < fault->reported)
        power *= 10;
    return power == fault->reported;
}

static void report_divergence(foliot__fault *fault, const foliot_client *client,
                              const foliot_divergence_report *found)
{
    char text[2048], file[256];
    if (!is_worth_reporting(fault))
        return;
    foliot_divergence_report_print_text(found, foliot_client_get_scene(client), text, sizeof text);
    fprintf(stderr, "foliot-client: %s", text);
    if (fault->files == FOLIOT__FAULT_FILES_MAX)
        return;
    foliot_divergence_report_name_file(found, "client", file, sizeof file);
    foliot_status status = foliot_divergence_report_write(found, file);
    if (status == FOLIOT_STATUS_OK) {
        fault->files++;
        fprintf(stderr, "  our state  %s\n", file);
    } else {
        fprintf(stderr, "  our state  is not in a file: %s\n", foliot_status_get_text(status));
    }
}

bool foliot__fault_update(foliot__fault *fault, foliot_client *client)
{
    foliot_divergence_report found;
    const foliot_scene *scene = foliot_client_get_scene(client);
    if (fault->planted && fault->fault.body == FOLIOT_NO_BODY && scene)
        fault->fault.body = find_body(scene, fault->request.body);
    if (!foliot_client_poll_divergence(client, &found))
        return false;
    report_divergence(fault, client, &found);
    return true;
}
