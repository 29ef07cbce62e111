// SPDX-License-Identifier: MIT
// siege.h: the state of siege's rules in C, and its encoding as bytes.
#ifndef FOLIOT_GAMES_SIEGE_H
#define FOLIOT_GAMES_SIEGE_H

#include "foliot/query.h"
#include "foliot/rules.h"

#define AMMO_MAX 4
#define THROW_TICKS 60    // from one stone to the next
#define RELOAD_TICKS 120  // a stone more every two seconds
#define BEAM_TICKETS 1000 // 1001 to 2000 are beams, beyond are kings, below stones

#define BREAK_TICKS 600 // from one battle to the next

enum { STONE, BLOCK, BEAM, KING, PROTOTYPES };

typedef struct siege_player {
    bool joined;
    uint8_t ammo, reload;
    int64_t thrown;
    char name[FOLIOT_NAME_BYTES]; // as it joined; "": none
} siege_player;

typedef struct siege_stone {
    uint64_t body, goes; // the tick at which it goes
} siege_stone;

// The saved state.
typedef struct siege_state {
    uint64_t tick;
    uint8_t over;     // 0; or twice the number of the team that lost, and 1 more if its king fell
    uint64_t over_at; // the tick
    double health[2];
    uint64_t kings[2];
    uint64_t beams[BEAM_TICKETS]; // by ticket: the one that waits for its pair
    siege_stone *stones;          // ascending by body
    uint32_t stone_count, stone_capacity;
    siege_player *players;
} siege_state;

typedef struct siege {
    siege_state state;
    uint32_t players_max, prototypes[PROTOTYPES], ferry;
    foliot_contact_event *contacts;
    uint32_t contact_capacity;
    bool no_memory;
    // Valid during one tick.
    const foliot_world *world;
    const foliot_scene *scene;
    foliot_rules *rules;
} siege;

// The stone disappears at the tick `goes`. False if there is no memory.
bool siege_add_stone(siege_state *t, uint64_t body, uint64_t goes);
void siege_free_state(siege_state *t);
// The functions of foliot_rules_kind.
size_t siege_save(const void *self, void *bytes, size_t capacity, char *problem,
                  size_t problem_bytes);
foliot_status siege_restore(void *self, const void *bytes, size_t length);

#endif
