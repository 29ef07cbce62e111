// SPDX-License-Identifier: MIT
// record.c FILE TICKS [streams]: a recording of a seeded scene with players, for the tests of the
// program.
#include "recording_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    recording_fixture fixture;
    recording_memory memory = {0};
    foliot_recording_config config = recording_fixture_config(25, 100);
    if (argc < 3)
        return 2;
    recording_fixture_init(&fixture, 6, 5, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 42);
    fixture.streams = argc > 3 && strcmp(argv[3], "streams") == 0;
    recording_fixture_record(&fixture, &config, strtoull(argv[2], NULL, 10), &memory, NULL);
    FILE *out = fopen(argv[1], "wb");
    bool fine = out && fwrite(memory.bytes, 1, memory.length, out) == memory.length;
    fine = out && fclose(out) == 0 && fine;
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
    return fine ? 0 : 1;
}
