// SPDX-License-Identifier: MIT
// rules.h: functions of the runner that rules in Lua need besides foliot/rules.h.
#ifndef FOLIOT_RULES_RULES_H
#define FOLIOT_RULES_RULES_H

#include "foliot/rules.h"

// For programs: rules in Lua by the name of their file, of which the last part stands in messages.
// `timed`: they have a deadline in every tick, as where a session is hosted; not where they are run
// to be compared. `problem` always has a sentence on an error.
foliot_status foliot__rules_create_script(const char *text, size_t length, const char *file,
                                          bool timed, const foliot_scene *scene,
                                          foliot_rules **rules, char *problem,
                                          size_t problem_bytes);
// Lends the text that the instance runs, until it is destroyed.
void foliot__rules_set_script(foliot_rules *rules, const char *script, size_t length);

// Counts failures from here on as stops by the host (memory, time). Rules that are run again need
// not stop there.
void foliot__rules_stop_by_host(foliot_rules *rules);
// A tick that is run again drops what the host dropped when it was recorded, and nothing else.
bool foliot__rules_reruns(const foliot_rules *rules);
// The check of this tick at which a rerun drops next; UINT64_MAX: none. FOLIOT__RULES_ALONE: it
// drops an order and nothing behind it; FOLIOT__RULES_ORDERS: an order and all orders behind it.
#define FOLIOT__RULES_ALONE (UINT64_C(1) << 63)
#define FOLIOT__RULES_ORDERS (UINT64_C(1) << 62)
uint64_t foliot__rules_get_next_drop(const foliot_rules *rules);
// Whether another order can be recorded as dropped alone.
bool foliot__rules_may_drop_alone(const foliot_rules *rules);
// A callback is dropped at that check of the tick: by the host, or an order as above.
void foliot__rules_drop_at(foliot_rules *rules, uint64_t check);
// Dismisses the player as foliot_rules_kick does, for a reason that passes: it may come back at
// once.
void foliot__rules_dismiss(foliot_rules *rules, uint32_t player, const char *reason);
// Whether the reason of that kick passes.
bool foliot__rules_kick_passes(const foliot_rules *rules, uint32_t index);
// The save that runs fails, for the host's clock or memory; a later one need not. `why` is lent.
void foliot__rules_save_late(foliot_rules *rules, const char *why);
// Why the last save failed in this way; NULL if it did not.
const char *foliot__rules_why_save_late(const foliot_rules *rules);
// The save that runs takes the time that it needs: one of the same tick was late.
bool foliot__rules_saves_whole(const foliot_rules *rules);
// The rules have been stopped, by the host.
bool foliot__rules_stopped_by_host(const foliot_rules *rules);
// Whether the saved bytes are of rules that the host stopped.
bool foliot__rules_saved_by_host(const foliot_rules *rules, const void *bytes, size_t length);

#endif
