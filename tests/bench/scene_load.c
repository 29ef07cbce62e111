// SPDX-License-Identifier: MIT
// scene_load.c: how long 100,000 bodies take from text to a checked scene: as YAML (against libyaml
// alone, which reads the same text and throws its events away), as CSV, and as a grid of 300 x 300
// bodies with springs. Texts are written to a separate folder first; each is read RUNS times,
// in turn with the opponent.
#include "../support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "foliot/foliot.h"

#define BODIES 100000
#define RUNS 5

static char folder[] = "/tmp/foliot-bench-XXXXXX";

static FILE *create(const char *name, char file[64])
{
    snprintf(file, 64, "%s/%s", folder, name);
    FILE *stream = fopen(file, "w");
    if (!stream)
        exit(1);
    return stream;
}

static void write_yaml(char file[64])
{
    FILE *stream = create("bodies.yaml", file);
    fputs("foliot: 1\nname: bodies\ntick_hz: 60\nbodies:\n", stream);
    for (int i = 0; i < BODIES; i++)
        fprintf(
            stream,
            "  - {name: b%d, mass: 1.5, position: [%d.25, %d.5, 0.125], velocity: [0.1, 0, 0]}\n",
            i, i % 100, i / 100);
    fclose(stream);
}

static void write_csv(char file[64], char table[64])
{
    FILE *stream = create("rows.yaml", file);
    fputs("foliot: 1\nname: rows\ntick_hz: 60\nbodies:\n  - {csv: rows.csv}\n", stream);
    fclose(stream);
    stream = create("rows.csv", table);
    fputs("name,mass,position.x,position.y,position.z,velocity.x\n", stream);
    for (int i = 0; i < BODIES; i++)
        fprintf(stream, "b%d,1.5,%d.25,%d.5,0.125,0.1\n", i, i % 100, i / 100);
    fclose(stream);
}

static void write_grid(char file[64])
{
    FILE *stream = create("grid.yaml", file);
    fputs("foliot: 1\nname: grid\ntick_hz: 60\nbodies:\n"
          "  - {name: cloth, grid: {rows: 300, columns: 300, right: [0.1, 0, 0], down: [0, 0, "
          "-0.1]}}\n"
          "forces:\n  - {kind: spring, grid: cloth, stiffness: 100}\n",
          stream);
    fclose(stream);
}

static double time_scene(const char *file)
{
    foliot_scene *scene;
    foliot_error error;
    double begin = bench_now();
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    double seconds = bench_now() - begin;
    foliot_scene_destroy(scene);
    return seconds;
}

static double time_libyaml(const char *file)
{
    yaml_parser_t parser;
    yaml_event_t event;
    double begin = bench_now();
    FILE *stream = fopen(file, "r");
    if (!stream || !yaml_parser_initialize(&parser))
        exit(1);
    yaml_parser_set_input_file(&parser, stream);
    for (int ended = 0; !ended; yaml_event_delete(&event)) {
        if (!yaml_parser_parse(&parser, &event))
            exit(1);
        ended = event.type == YAML_STREAM_END_EVENT;
    }
    yaml_parser_delete(&parser);
    fclose(stream);
    return bench_now() - begin;
}

int main(void)
{
    char yaml[64], csv[64], table[64], grid[64];
    double ours[RUNS], theirs[RUNS], rows[RUNS], net[RUNS];
    if (!mkdtemp(folder))
        return 1;
    write_yaml(yaml);
    write_csv(csv, table);
    write_grid(grid);
    for (int i = 0; i < RUNS; i++) {
        ours[i] = time_scene(yaml);
        theirs[i] = time_libyaml(yaml);
        rows[i] = time_scene(csv);
        net[i] = time_scene(grid);
    }
    double floor_ms = 1e3 * bench_median(theirs, RUNS);
    bench_report("scene_load", "yaml 100000 bodies", 1e3 * bench_median(ours, RUNS), "ms",
                 "libyaml's events alone", floor_ms);
    bench_report("scene_load", "csv 100000 bodies", 1e3 * bench_median(rows, RUNS), "ms", NULL, 0);
    bench_report("scene_load", "grid 90000 bodies 179400 springs", 1e3 * bench_median(net, RUNS),
                 "ms", NULL, 0);
    remove(yaml);
    remove(csv);
    remove(table);
    remove(grid);
    rmdir(folder);
    return 0;
}
