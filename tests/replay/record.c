// SPDX-License-Identifier: MIT
// record.c FILE TICKS [streams]: a recording of a seeded scene with players, for the tests of the
// program.
#include "tape_yard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    tape_yard yard;
    tape_memory memory = {0};
    foliot_recording_config config = tape_config(25, 100);
    if (argc < 3)
        return 2;
    tape_yard_init(&yard, 6, 5, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 42);
    yard.streams = argc > 3 && strcmp(argv[3], "streams") == 0;
    tape_yard_record(&yard, &config, strtoull(argv[2], NULL, 10), &memory, NULL);
    FILE *out = fopen(argv[1], "wb");
    bool fine = out && fwrite(memory.bytes, 1, memory.length, out) == memory.length;
    fine = out && fclose(out) == 0 && fine;
    tape_memory_free(&memory);
    tape_yard_free(&yard);
    return fine ? 0 : 1;
}
