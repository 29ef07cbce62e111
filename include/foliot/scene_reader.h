// SPDX-License-Identifier: MIT
// scene_reader.h: reads scenes from YAML or JSON text, under a strict schema.
//
// docs/reference/scenes.md lists every key. An unknown key, a value out of its range or a second
// value for one key is an error with its line, column and path. The functions share no state:
// several threads may read at the same time.
#ifndef FOLIOT_SCENE_READER_H
#define FOLIOT_SCENE_READER_H

#include <stddef.h>

#include "foliot/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// Reads a file; CSV files named in it are searched beside it. On success *scene has passed
// foliot_scene_check and belongs to the caller, who frees it with foliot_scene_destroy.
// FOLIOT_STATUS_INVALID or FOLIOT_STATUS_REFUSED: a bad scene; FOLIOT_STATUS_IO: no such file;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_scene_read(const char *file, foliot_scene **scene,
                                                  foliot_error *error);
// The same from `length` bytes of memory. `name` stands for the file in messages. `folder` is where
// CSV files are searched; NULL: naming one is an error.
FOLIOT_MUST_CHECK foliot_status foliot_scene_parse(const char *text, size_t length,
                                                   const char *name, const char *folder,
                                                   foliot_scene **scene, foliot_error *error);

#ifdef __cplusplus
}
#endif

#endif
