// SPDX-License-Identifier: MIT
// role.c: what a client shows and is sent in each role, and which roles may follow. kind.c decides
// when. Calls nothing.
#include "internal.h"

#include "base/assert.h"

#define IN(role) (1u << FOLIOT__ROLE_##role)

// Roles that show steps; that are sent snapshots; that are sent a state and ticks.
#define STEPS (IN(STEPPER) | IN(STEPPER_CLOSING) | IN(STEPPER_HEALING) | IN(HEALING_IN_PLACE))
#define WATCHES (~(IN(NONE) | IN(STEPPER) | IN(HEALING_IN_PLACE)))
#define LOCKSTEP (~(IN(NONE) | IN(WATCHER)))

// The roles that may follow each. A welcome sets any.
static const uint16_t next[] = {
    [FOLIOT__ROLE_NONE] = 0,
    [FOLIOT__ROLE_WATCHER] = IN(CATCHING_UP),
    [FOLIOT__ROLE_CATCHING_UP] = IN(STEPPER) | IN(WATCHER_CLOSING) | IN(WATCHER_HEALING),
    [FOLIOT__ROLE_STEPPER] = IN(STEPPER_CLOSING) | IN(STEPPER_HEALING) | IN(HEALING_IN_PLACE),
    [FOLIOT__ROLE_STEPPER_CLOSING] = IN(WATCHER_CLOSING) | IN(CATCHING_UP),
    [FOLIOT__ROLE_WATCHER_CLOSING] = IN(WATCHER) | IN(CATCHING_UP),
    [FOLIOT__ROLE_STEPPER_HEALING] = IN(WATCHER_HEALING) | IN(STEPPER_CLOSING) | IN(CATCHING_UP),
    [FOLIOT__ROLE_WATCHER_HEALING] = IN(STEPPER) | IN(WATCHER_CLOSING) | IN(CATCHING_UP),
    [FOLIOT__ROLE_HEALING_IN_PLACE] = IN(STEPPER),
};

static bool is_in(const foliot_client *c, uint32_t roles)
{
    return roles >> c->role.now & 1;
}

bool foliot__client_steps(const foliot_client *c)
{
    return is_in(c, STEPS);
}

bool foliot__client_watches(const foliot_client *c)
{
    return is_in(c, WATCHES);
}

bool foliot__client_in_lockstep(const foliot_client *c)
{
    return is_in(c, LOCKSTEP);
}

void foliot__client_change_role(foliot_client *c, foliot__role role)
{
    FOLIOT_ASSERT(role == c->role.now || (next[c->role.now] >> role & 1));
    c->role.now = role;
}
