/* A ball that floats: its motion is another program's affair, here four lines of a rigid body,
 * which the water's force moves and which moves the water. A light ball is lifted out of the
 * deep. */
#include "world.h"

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.04}\n"
    "solver: {type: flip}\n"
    "materials: {water: {model: liquid, density: 1000}}\n"
    "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, 0.6]}}}]\n"
    "colliders: [{name: ball, driven: true, shape: {sphere: {center: [0.5, 0.25], radius: "
    "0.12}}}]\n";

int main(void) {
    const double mass = 400 * 3.14159 * 0.12 * 0.12; /* kg for a metre of depth */
    world w;
    spate_status status = world_open(&w, "ball", scene_text);

    /* Water that has to be pushed aside makes the ball heavier (its added mass, about that of the
     * water in its place). It is on both sides of the equation here, else the loop would swing. */
    const double added = 1000 * 3.14159 * 0.12 * 0.12;
    double y = 0.25, v = 0, a = 0, force[3] = {0}, torque[3];
    while (!status && spate_simulation_time(w.sim) < 0.4) {
        spate_pose pose = spate_default_pose();
        pose.position[0] = 0.5, pose.position[1] = y;
        pose.velocity[1] = v;
        status = spate_simulation_set_pose(w.sim, "ball", &pose);
        if (!status) status = spate_simulation_step(w.sim, 0.4);
        if (!status) status = spate_simulation_force(w.sim, "ball", force, torque);
        const double dt = spate_simulation_dt(w.sim);
        y += v * dt;
        a = (force[1] - 9.81 * mass + added * a) / (mass + added);
        v += a * dt;
    }
    if (!status) printf("the ball is at %.3f and rises at %.2f m/s\n", y, v);
    return world_close(&w, status);
}
