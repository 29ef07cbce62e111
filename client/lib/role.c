// SPDX-License-Identifier: MIT
// role.c: what a client shows and is sent in each role, and which roles may follow. kind.c decides
// when. Calls nothing.
#include "internal.h"

#include "base/assert.h"

#define TO(role) (1u << FOLIOT__ROLE_##role)

// Each role: whether it shows steps, is sent snapshots, and is sent a state and ticks; and the
// roles that may follow. A welcome sets any.
static const struct {
    bool steps, watches, lockstep;
    uint32_t next;
} roles[] = {
    [FOLIOT__ROLE_NONE] = {false, false, false, 0},
    [FOLIOT__ROLE_WATCHER] = {false, true, false, TO(CATCHING_UP)},
    [FOLIOT__ROLE_CATCHING_UP] = {false, true, true,
                                  TO(STEPPER) | TO(WATCHER_CLOSING) | TO(WATCHER_HEALING)},
    [FOLIOT__ROLE_STEPPER] = {true, false, true,
                              TO(STEPPER_CLOSING) | TO(STEPPER_HEALING) | TO(HEALING_IN_PLACE)},
    [FOLIOT__ROLE_STEPPER_CLOSING] = {true, true, true, TO(WATCHER_CLOSING) | TO(CATCHING_UP)},
    [FOLIOT__ROLE_WATCHER_CLOSING] = {false, true, true, TO(WATCHER) | TO(CATCHING_UP)},
    [FOLIOT__ROLE_STEPPER_HEALING] = {true, true, true,
                                      TO(WATCHER_HEALING) | TO(STEPPER_CLOSING) | TO(CATCHING_UP)},
    [FOLIOT__ROLE_WATCHER_HEALING] = {false, true, true,
                                      TO(STEPPER) | TO(WATCHER_CLOSING) | TO(CATCHING_UP)},
    [FOLIOT__ROLE_HEALING_IN_PLACE] = {true, false, true, TO(STEPPER)},
};

bool foliot__client_steps(const foliot_client *c)
{
    return roles[c->role.now].steps;
}

bool foliot__client_watches(const foliot_client *c)
{
    return roles[c->role.now].watches;
}

bool foliot__client_in_lockstep(const foliot_client *c)
{
    return roles[c->role.now].lockstep;
}

void foliot__client_change_role(foliot_client *c, foliot__role role)
{
    FOLIOT_ASSERT(role == c->role.now || (roles[c->role.now].next >> role & 1));
    c->role.now = role;
}
