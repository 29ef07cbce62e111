// SPDX-License-Identifier: MIT
// scene_reader.h: scenes as text (YAML or JSON), under a strict schema. docs/SCENES.md lists every
// key.
#ifndef FOLIOT_SCENE_READER_H
#define FOLIOT_SCENE_READER_H

#include <stddef.h>

#include "foliot/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where and why a text is no scene. `message` is complete: "ball.yaml:7:12: bodies[0].mass: ...".
typedef struct foliot_scene_error {
    char file[256];
    unsigned line, column; // from 1
    char message[1280];
} foliot_scene_error;

// Reads FILE; CSV files named in it are looked for beside it. On FOLIOT_STATUS_OK *scene is one to
// destroy with foliot_scene_destroy and has passed foliot_scene_check. FOLIOT_STATUS_INVALID or
// FOLIOT_STATUS_REFUSED: bad scene, FOLIOT_STATUS_IO: no such file; *error is filled in for all.
foliot_status foliot_scene_read(const char *file, foliot_scene **scene, foliot_scene_error *error);
// The same from memory; `name` stands for the file in messages, `folder` is where CSV files are
// looked for (NULL: CSV is an error).
foliot_status foliot_scene_parse(const char *text, size_t length, const char *name,
                                 const char *folder, foliot_scene **scene,
                                 foliot_scene_error *error);

#ifdef __cplusplus
}
#endif

#endif
