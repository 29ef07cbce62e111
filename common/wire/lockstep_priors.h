// SPDX-License-Identifier: MIT
// Initial shares of zeros, in 2^-16, of the models of a block (lockstep_message.c,
// docs/reference/protocol.md): typical of people at a keyboard and of bots. gap: lengths 1 to 15 in
// unary
6553, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107, 13107,
// player
26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214, 26214,
// delta
1310, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660, 19660,
// other_tick, other_kind, leaves
52428, 64224, 32767,
// axis_differs: [the player has controls in this block]
32767, 26214,
// axis_other (than zero)
32767, 64224,
// axis_partial (neither 127 nor -127)
19660, 6553,
// axis_negative, axis_below
32767, 32767,
// buttons_differ
19660, 13107,
// button_flips
19660, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981, 58981,
