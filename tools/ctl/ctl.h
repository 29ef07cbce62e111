// SPDX-License-Identifier: MIT
// ctl.h: keys and connect tokens, for main.c, which has the table of commands. The functions return
// an exit code, and print what is wrong.
#ifndef FOLIOT_TOOLS_CTL_H
#define FOLIOT_TOOLS_CTL_H

#include "base/options.h"

// token.c
extern const foliot__option foliot__ctl_token_options[], foliot__ctl_show_options[];
int foliot__ctl_key(const foliot__arguments *arguments);
int foliot__ctl_token(const foliot__program *program, const foliot__arguments *arguments);
int foliot__ctl_show(const foliot__arguments *arguments);

#endif
