// SPDX-License-Identifier: MIT
// focus.h: what a spectator of a session with interest looks at. Its keys move that, and it stays
// where the world is. Knows no client and no screen.
#ifndef FOLIOT_CLIENT_FOCUS_H
#define FOLIOT_CLIENT_FOCUS_H

#include <stdint.h>

#include "foliot/scene.h"

// Moves by `far` a second where an axis is 127. `scene`: NULL while it is not known. Beyond its
// bodies and places of players it goes no farther than half of `far`, so that some remain in sight.
void foliot__focus_move(double focus[3], const foliot_scene *scene, const int8_t axes[3],
                        double far, double seconds);

#endif
