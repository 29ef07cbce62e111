// SPDX-License-Identifier: MIT
// bullet_body.h: the state of a body of Bullet, as the benches compare it.
#ifndef FOLIOT_BENCH_BULLET_BODY_H
#define FOLIOT_BENCH_BULLET_BODY_H

#include <btBulletDynamicsCommon.h>

#include <cstring>

#include "rigid_problem.h"

static inline void bullet_read(const btRigidBody &b, rigid_state *s)
{
    const btTransform &at = b.getWorldTransform();
    const btQuaternion q = at.getRotation();
    const double orientation[4] = {q.w(), q.x(), q.y(), q.z()};
    for (int k = 0; k < 3; k++) {
        s->position[k] = at.getOrigin()[k];
        s->velocity[k] = b.getLinearVelocity()[k];
        s->angular_velocity[k] = b.getAngularVelocity()[k];
    }
    memcpy(s->orientation, orientation, sizeof orientation);
}

#endif
