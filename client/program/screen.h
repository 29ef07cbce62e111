// SPDX-License-Identifier: MIT
// screen.h: draws the world live in a terminal, and reads the keyboard.
#ifndef FOLIOT_CLIENT_SCREEN_H
#define FOLIOT_CLIENT_SCREEN_H

#include "foliot/client.h"
#include "module/module.h"

typedef struct foliot__screen foliot__screen;

// Takes over the terminal (raw, alternate screen) until closed. NULL if there is none. `side`: the
// direction of the view (foliot__view_side_of); NULL: one that fits the scene.
// `module`: of a simulation that is no world; NULL.
foliot__screen *foliot__screen_open(const char *side, const foliot__module *module);
void foliot__screen_close(foliot__screen *screen);
// Restores the terminal and nothing else, from any thread: for the end of the process.
void foliot__screen_abandon(void);
#define FOLIOT__WAITED_SECONDS 3 // without an answer, until that is shown
// While there is nothing to draw: shows the server and the time that is left.
void foliot__screen_wait(foliot__screen *screen, const char *server, double waited_seconds,
                         double left_seconds);
void foliot__screen_draw(foliot__screen *screen, const foliot_client *client,
                         const foliot_sample *sample, const char *server);
// Sets the focus of a spectator in a session with interest: its circle is drawn around it.
void foliot__screen_look(foliot__screen *screen, const double focus[3]);
// Draws the circle around a player's own body too.
void foliot__screen_show_interest(foliot__screen *screen);
// Draws the newest state by the module.
void foliot__screen_draw_simulation(foliot__screen *screen, const foliot_client *client,
                                    const foliot_simulation_sample *sample, const char *server);
// Texts of the session: chat, messages, joins and leaves. Shown for a while, the newest last.
void foliot__screen_say(foliot__screen *screen, uint64_t now_ns, const char *text);
// The line that was entered since the last call, "" if it is empty; NULL: none was.
const char *foliot__screen_line(foliot__screen *screen);
// Whether the key to step or to watch was pressed since the last call.
bool foliot__screen_kind(foliot__screen *screen);
// Reads keys. Enter opens a line to chat, Enter again sends it, Esc gives it up. Otherwise arrows
// or WASD push, R and F up and down, Q and E turn, space and 1..9 are buttons, V changes the view
// (from above, the front, the side, a corner), K the kind (foliot__screen_kind), Esc or X leaves
// (false). Terminals report presses only, so an axis is held for KEY_HOLD_NS after the last one.
bool foliot__screen_keys(foliot__screen *screen, uint64_t now_ns, int8_t axes[FOLIOT_AXIS_COUNT],
                         uint16_t *buttons);

#endif
