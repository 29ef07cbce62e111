// SPDX-License-Identifier: MIT
// files.h: the files that a scene names, where there is no file system.
#ifndef FOLIOT_WEB_FILES_H
#define FOLIOT_WEB_FILES_H

// The name of the file that the last scene wanted and nobody gave; "": there is none.
const char *web_missing_file(void);
void web_forget_missing_file(void);

#endif
