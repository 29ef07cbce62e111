// SPDX-License-Identifier: MIT
// ctl.h: what the files of foliotctl share. main.c: the table of commands. token.c: keys and
// connect tokens. The functions return an exit code, and print what is wrong.
#ifndef FOLIOT_TOOLS_CTL_H
#define FOLIOT_TOOLS_CTL_H

#include "base/options.h"

extern const foliot__program foliot__ctl_program;

// token.c
extern const foliot__option foliot__ctl_token_options[], foliot__ctl_show_options[];
int foliot__ctl_key(const foliot__arguments *arguments);
int foliot__ctl_token(const foliot__arguments *arguments);
int foliot__ctl_show(const foliot__arguments *arguments);

#endif
