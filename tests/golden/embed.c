// SPDX-License-Identifier: MIT
// embed.c: scene files as a C table of canonical bytes, for targets that have no YAML. FILE... >
// TABLE.
#include <stdio.h>
#include <stdlib.h>

#include "foliot/foliot.h"

static int embed(const char *file, unsigned index)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    size_t length = 0;
    if (foliot_scene_encode(scene, NULL, 0, &length) != FOLIOT_STATUS_OK)
        return 1;
    uint8_t *bytes = malloc(length);
    if (!bytes || foliot_scene_encode(scene, bytes, length, &length) != FOLIOT_STATUS_OK)
        return 1;
    printf("// %s\nstatic const unsigned char ready_%u[] = {", scene->name, index);
    for (size_t i = 0; i < length; i++)
        printf("%s%u,", i % 24 ? "" : "\n", bytes[i]);
    printf("\n};\n#define READY_NAME_%u \"%s\"\n", index, scene->name);
    free(bytes);
    foliot_scene_destroy(scene);
    return 0;
}

int main(int argc, char **argv)
{
    printf("// Written by tests/golden/embed.c.\n");
    for (int i = 1; i < argc; i++)
        if (embed(argv[i], (unsigned)i - 1) != 0)
            return 1;
    printf("static const ready_scene ready_scenes[] = {\n");
    for (int i = 1; i < argc; i++)
        printf("    {READY_NAME_%d, ready_%d, sizeof ready_%d},\n", i - 1, i - 1, i - 1);
    printf("};\nstatic const unsigned ready_scene_count = %d;\n", argc - 1);
    return 0;
}
