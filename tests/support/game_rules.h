// SPDX-License-Identifier: MIT
// game_rules.h: rules in C for tests: a game of a few words that repeats its orders, so that a test
// sees those that are lost, doubled or out of order.
#ifndef FOLIOT_TESTS_GAME_RULES_H
#define FOLIOT_TESTS_GAME_RULES_H

#include "foliot/rules.h"

// Its state: orders of each of the first 32 players so far, a chain of all that came, the score.
// Effect of an order of the kind GAME, by its first byte:
//   'n' u32   the player's next number, from 1 on: var "wrong" counts those that are not
//   'r'       the player's numbers begin again
//   's'       spawns a body from prototype 0, with its player's number as tag
//   'x'       despawns the body that was spawned first of those that live
//   't' u8    the tag of body 0
//   'p'       a point: var "score" grows by one
//   'c'       a power that its player has every 40 ticks: var "fired" counts its uses, and var
//             "clock" the ticks of the rules so far
//   'm'       a message to its player; 'M': to all, unreliable
//   'e'       ends the session with a next scene; 'E': for good; 'k': dismisses its player; 'f':
//   fails
// Chat goes to all with ">" before it. Joins and leaves count in var "joined" and "left".
extern const foliot_rules_kind game_rules_kind;

#define GAME_RULES_PLAYERS 32

#endif
