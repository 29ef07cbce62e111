// SPDX-License-Identifier: MIT
// bullet_joints SCENE: a scene of the bench of joints in Bullet as Debian builds it (single precision), at its
// defaults, sleeping off, one thread.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <memory>
#include <vector>

#include "joints_problem.h"
#include "bullet_body.h"
#include "rigid_problem.h"

struct engine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
};

static btVector3 vector(const double v[3])
{
    return btVector3(v[0], v[1], v[2]);
}

static btCollisionShape *shape_of(const joints_body &b)
{
    switch (b.shape) {
    case JOINTS_SPHERE: return new btSphereShape(b.radius);
    case JOINTS_BOX: return new btBoxShape(vector(b.half));
    case JOINTS_CAPSULE: return new btCapsuleShapeZ(b.radius, 2 * b.half[2]);
    default: return new btStaticPlaneShape(btVector3(0, 1, 0), 0);
    }
}

static void add_body(engine &e, const joints_body &b, bool collides)
{
    e.shapes.emplace_back(shape_of(b));
    btRigidBody::btRigidBodyConstructionInfo info(b.mass, nullptr, e.shapes.back().get(), vector(b.moments) * b.mass);
    info.m_restitution = 0;
    info.m_friction = std::sqrt(JOINTS_FRICTION); // Bullet multiplies the two
    const double *q = b.orientation;
    info.m_startWorldTransform.setRotation(btQuaternion(q[1], q[2], q[3], q[0]));
    info.m_startWorldTransform.setOrigin(vector(b.position));
    e.bodies.emplace_back(new btRigidBody(info));
    e.bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    if (collides)
        e.world.addRigidBody(e.bodies.back().get());
    else
        e.world.addRigidBody(e.bodies.back().get(), 1, 0);
}

static void add_joint(engine &e, const joints_joint &j)
{
    btRigidBody &a = *e.bodies[j.a], &b = *e.bodies[j.b];
    const btVector3 at_a = vector(j.anchor_a), at_b = vector(j.anchor_b), axis = vector(j.axis);
    if (j.is_hinge) {
        auto *hinge = new btHingeConstraint(a, b, at_a, at_b, axis, axis);
        hinge->setLimit(-j.angle_max, -j.angle_min); // Bullet's angle is that of a against b
        e.joints.emplace_back(hinge);
    } else {
        e.joints.emplace_back(new btPoint2PointConstraint(a, b, at_a, at_b));
    }
    e.world.addConstraint(e.joints.back().get(), true);
}

static void step(void *user)
{
    static_cast<engine *>(user)->world.stepSimulation(JOINTS_DT, 0);
}

static void look(void *user, uint32_t i, rigid_state *s)
{
    bullet_read(*static_cast<engine *>(user)->bodies[i], s);
}

int main(int argc, char **argv)
{
    joints_problem p;
    if (argc != 2 || !joints_make(argv[1], &p))
        return 2;
    engine e;
    e.world.setGravity(btVector3(0, -JOINTS_GRAVITY, 0));
    for (uint32_t i = 0; i < p.body_count; i++)
        add_body(e, p.bodies[i], p.collide);
    for (uint32_t i = 0; i < p.joint_count; i++)
        add_joint(e, p.joints[i]);
    const int status = rigid_serve(p.body_count, step, look, &e);
    for (auto &joint : e.joints)
        e.world.removeConstraint(joint.get());
    for (auto &body : e.bodies)
        e.world.removeRigidBody(body.get());
    joints_free(&p);
    return status;
}
