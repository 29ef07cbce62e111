// SPDX-License-Identifier: MIT
// csv.c: the states of a run as a table, with as many digits as a double has.
#include "csv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int lab_csv_open(lab_csv *csv, const lab_context *context, const char *file, uint64_t every)
{
    FILE *out = strcmp(file, "-") == 0 ? stdout : fopen(file, "w");
    if (!out)
        return lab_cannot_write(context, file);
    *csv = (lab_csv){.out = out, .file = file, .every = every};
    fputs("tick,time,energy,body,position.x,position.y,position.z,velocity.x,velocity.y,velocity.z,"
          "orientation.w,orientation.x,orientation.y,orientation.z,angular_velocity.x,"
          "angular_velocity.y,angular_velocity.z\n",
          out);
    return 0;
}

bool lab_csv_due(const lab_csv *csv, const foliot_world *world)
{
    return csv->out && foliot_world_get_tick(world) % csv->every == 0;
}

static void write_name(FILE *out, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, *name == '"' ? "\"\"" : "%c", *name);
    fputc('"', out);
}

static void write_reals(FILE *out, const double *values, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, ",%.17g", values[i]);
}

void lab_csv_write(const lab_csv *csv, const foliot_scene *scene, const foliot_world *world,
                   double energy)
{
    char name[FOLIOT_NAME_BYTES + 16];
    if (!lab_csv_due(csv, world))
        return;
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++) {
        if (!foliot_world_get_body_alive(world, i))
            continue;
        foliot_body_state body = foliot_world_get_body_state(world, i);
        fprintf(csv->out, "%" PRIu64 ",%.17g,%.17g,", foliot_world_get_tick(world),
                foliot_world_get_time(world), energy);
        write_name(csv->out, lab_body_name(scene, world, i, name));
        write_reals(csv->out, body.position, 3);
        write_reals(csv->out, body.velocity, 3);
        write_reals(csv->out, body.orientation, 4);
        write_reals(csv->out, body.angular_velocity, 3);
        fputc('\n', csv->out);
    }
}

int lab_csv_close(lab_csv *csv, const lab_context *context)
{
    if (!csv->out)
        return 0;
    bool failed = ferror(csv->out) != 0;
    failed |= (csv->out == stdout ? fflush(stdout) : fclose(csv->out)) != 0;
    csv->out = NULL;
    return failed ? lab_cannot_write(context, csv->file) : 0;
}
