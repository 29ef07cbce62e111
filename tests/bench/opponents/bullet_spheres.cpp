// SPDX-License-Identifier: MIT
// bullet_spheres: the spheres problem in Bullet (Debian's build, single precision), at its defaults, sleeping
// off, one thread. Prints the median of the later half of the ticks in CPU ms, and the final state's quality:
// mean kinetic energy of a sphere in J, deepest overlap in m, mean height in m.
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "spheres_problem.h"

static double cpu_now()
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const unsigned count = std::atoi(argv[1]), ticks = std::atoi(argv[2]);
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, 0, -SPHERES_GRAVITY));
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    auto add = [&](btCollisionShape *shape, double mass, const btVector3 &at) {
        btVector3 inertia(0, 0, 0);
        if (mass > 0)
            shape->calculateLocalInertia(mass, inertia);
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
        info.m_restitution = 0;
        info.m_startWorldTransform.setIdentity();
        info.m_startWorldTransform.setOrigin(at);
        bodies.emplace_back(new btRigidBody(info));
        bodies.back()->setFriction(std::sqrt(SPHERES_FRICTION)); // Bullet multiplies the two
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        world.addRigidBody(bodies.back().get());
    };
    const double half = spheres_half_width(count);
    // Boxes: an infinite plane meets the bounds of every sphere and would cost Bullet a manifold each.
    const double walls[5][6] = {{half + 5, half + 5, 1, 0, 0, -1},
                                {0.5, half + 1, 10, half + 0.5, 0, 10},
                                {0.5, half + 1, 10, -half - 0.5, 0, 10},
                                {half + 1, 0.5, 10, 0, half + 0.5, 10},
                                {half + 1, 0.5, 10, 0, -half - 0.5, 10}};
    for (const auto &w : walls) {
        shapes.emplace_back(new btBoxShape(btVector3(w[0], w[1], w[2])));
        add(shapes.back().get(), 0, btVector3(w[3], w[4], w[5]));
    }
    shapes.emplace_back(new btSphereShape(SPHERES_RADIUS));
    for (unsigned i = 0; i < count; i++) {
        double at[3];
        spheres_position(count, i, at);
        add(shapes.back().get(), SPHERES_MASS, btVector3(at[0], at[1], at[2]));
    }
    std::vector<double> times;
    for (unsigned t = 0; t < ticks; t++) {
        const double begin = cpu_now();
        world.stepSimulation(SPHERES_DT, 0);
        if (t >= ticks / 2)
            times.push_back((cpu_now() - begin) * 1e3);
    }
    std::sort(times.begin(), times.end());
    double kinetic = 0, deepest = 0, height = 0;
    for (unsigned i = 0; i < count; i++) {
        const btRigidBody &body = *bodies[5 + i];
        kinetic += 0.5 * SPHERES_MASS * body.getLinearVelocity().length2() +
                   0.2 * SPHERES_MASS * SPHERES_RADIUS * SPHERES_RADIUS *
                       body.getAngularVelocity().length2();
        height += body.getWorldTransform().getOrigin().z();
    }
    for (int m = 0; m < dispatcher.getNumManifolds(); m++) {
        const btPersistentManifold &manifold = *dispatcher.getManifoldByIndexInternal(m);
        for (int k = 0; k < manifold.getNumContacts(); k++)
            deepest = std::max(deepest, -(double)manifold.getContactPoint(k).getDistance());
    }
    std::printf("%.17g %.17g %.17g %.17g\n", times[times.size() / 2], kinetic / count, deepest,
                height / count);
    for (auto &body : bodies)
        world.removeRigidBody(body.get());
    return 0;
}
