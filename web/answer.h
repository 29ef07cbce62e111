// SPDX-License-Identifier: MIT
// answer.h: what a module answers to the page, as JSON. One answer at a time: it is valid until the
// next one begins.
#ifndef FOLIOT_WEB_ANSWER_H
#define FOLIOT_WEB_ANSWER_H

#include <stdio.h>

#include "base/json.h"

foliot__json begin_answer(FILE **out);
const char *end_answer(FILE *out);

#endif
