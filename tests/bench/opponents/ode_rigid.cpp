// SPDX-License-Identifier: MIT
// ode_rigid FILE: a scene of the rigid-body bench in ODE as Debian builds it (double precision): QuickStep and a
// hash space at their defaults, Coulomb's friction (dContactApprox1), auto-disable off, one thread.
#include <ode/ode.h>

#include <vector>

#include "rigid_problem.h"

#define CONTACTS_MAX 4 // of a pair

struct engine {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    std::vector<dBodyID> bodies; // null: static
    const rigid_body *rows;
};

static void add(engine &e, const rigid_body &b)
{
    const double *p = b.position, *h = b.half;
    dGeomID geom = b.is_sphere ? dCreateSphere(e.space, b.radius)
                               : dCreateBox(e.space, 2 * h[0], 2 * h[1], 2 * h[2]);
    dBodyID body = nullptr;
    if (b.mass > 0) {
        dMass mass;
        if (b.is_sphere)
            dMassSetSphereTotal(&mass, b.mass, b.radius);
        else
            dMassSetBoxTotal(&mass, b.mass, 2 * h[0], 2 * h[1], 2 * h[2]);
        body = dBodyCreate(e.world);
        dBodySetMass(body, &mass);
        dGeomSetBody(geom, body);
    }
    dGeomSetPosition(geom, p[0], p[1], p[2]);
    e.bodies.push_back(body);
}

static void near(void *user, dGeomID a, dGeomID b)
{
    engine &e = *static_cast<engine *>(user);
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b)
        return;
    dContact contact[CONTACTS_MAX];
    const int count = dCollide(a, b, CONTACTS_MAX, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; k++) {
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = RIGID_FRICTION;
        dJointAttach(dJointCreateContact(e.world, e.contacts, &contact[k]), body_a, body_b);
    }
}

static void step(void *user)
{
    engine &e = *static_cast<engine *>(user);
    dSpaceCollide(e.space, &e, near);
    dWorldQuickStep(e.world, RIGID_DT);
    dJointGroupEmpty(e.contacts);
}

static void look(void *user, uint32_t i, rigid_state *s)
{
    const engine &e = *static_cast<engine *>(user);
    *s = rigid_state{{0, 0, 0}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    memcpy(s->position, e.rows[i].position, sizeof s->position);
    if (!e.bodies[i])
        return;
    for (int k = 0; k < 3; k++) {
        s->position[k] = dBodyGetPosition(e.bodies[i])[k];
        s->velocity[k] = dBodyGetLinearVel(e.bodies[i])[k];
        s->angular_velocity[k] = dBodyGetAngularVel(e.bodies[i])[k];
    }
    for (int k = 0; k < 4; k++)
        s->orientation[k] = dBodyGetQuaternion(e.bodies[i])[k];
}

int main(int argc, char **argv)
{
    uint32_t count = 0;
    engine e;
    rigid_body *rows = argc == 2 ? rigid_read(argv[1], &count) : nullptr;
    if (!rows)
        return 2;
    dInitODE();
    e.world = dWorldCreate();
    e.space = dHashSpaceCreate(nullptr);
    e.contacts = dJointGroupCreate(0);
    e.rows = rows;
    dWorldSetGravity(e.world, 0, -RIGID_GRAVITY, 0);
    for (uint32_t i = 0; i < count; i++)
        add(e, rows[i]);
    const int status = rigid_serve(count, step, look, &e);
    dJointGroupDestroy(e.contacts);
    dSpaceDestroy(e.space);
    dWorldDestroy(e.world);
    dCloseODE();
    free(rows);
    return status;
}
