// SPDX-License-Identifier: MIT
// focus.h: the focus of a spectator in a session with interest. Its keys move the focus, which
// stays inside the world. Knows no client and no screen.
#ifndef FOLIOT_CLIENT_FOCUS_H
#define FOLIOT_CLIENT_FOCUS_H

#include <stdint.h>

#include "foliot/scene.h"

// Moves by `far` a second where an axis is 127. `scene`: NULL while it is not known. The focus goes
// at most half of `far` beyond its bodies and places of players, so that some remain in sight.
void foliot__focus_move(double focus[3], const foliot_scene *scene, const int8_t axes[3],
                        double far, double seconds);

#endif
