// SPDX-License-Identifier: MIT
// board.h: the text around the world in a terminal: variables of the session as a scoreboard, the
// last messages, and the line in which a person writes. Knows no terminal and no clock.
#ifndef FOLIOT_CLIENT_BOARD_H
#define FOLIOT_CLIENT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/canvas.h"
#include "foliot/client.h"

#define FOLIOT__BOARD_LINES 5
#define FOLIOT__BOARD_TEXT_BYTES 256
#define FOLIOT__BOARD_SHOWN_NS 8000000000u

typedef struct foliot__board {
    uint64_t now_ns;
    char lines[FOLIOT__BOARD_LINES][FOLIOT__BOARD_TEXT_BYTES]; // ring, printable
    uint64_t said_ns[FOLIOT__BOARD_LINES];
    uint32_t said; // so far
    bool writing, entered;
    char entry[FOLIOT_ORDER_BYTES_MAX + 1];
    uint32_t entry_bytes;
} foliot__board;

void foliot__board_say(foliot__board *board, uint64_t now_ns, const char *text);
// Whether the line consumes a key. `sequence`: it begins an escape sequence.
bool foliot__board_handle_key(foliot__board *board, char key, bool sequence);
// The line that was entered since the last call; NULL: none was. Valid until the next key.
const char *foliot__board_line(foliot__board *board);
#define FOLIOT__BOARD_CLOCK_BYTES 12
// "2:05"; from 0:00 to 99:59.
void foliot__board_clock_text(int64_t seconds, char text[FOLIOT__BOARD_CLOCK_BYTES]);
void foliot__board_draw(const foliot__board *board, foliot__canvas *canvas,
                        const foliot_client *client);

#endif
