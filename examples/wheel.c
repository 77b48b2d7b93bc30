/* A paddle wheel in a pool, driven by a controller: it turns the wheel as fast as it should go,
 * measures the water's torque, and slows down where that is too large. Prints the work done on the
 * water. */
#include "world.h"
#include <math.h>

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.04}\n"
    "solver: {type: flip}\n"
    "materials: {water: {model: liquid, density: 1000}}\n"
    "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, 0.4]}}}]\n"
    "colliders:\n"
    "  - {name: wheel, driven: true, shape: {union: [\n"
    "      {box: {min: [0.28, 0.46], max: [0.72, 0.54]}}, {box: {min: [0.46, 0.28], max: [0.54, "
    "0.72]}}]}}\n";

int main(void) {
    const double wanted = 6, most = 60; /* rad/s; N m for a metre of depth */
    world w;
    spate_status status = world_open(&w, "wheel", scene_text);

    double angle = 0, speed = 0, work = 0, force[3], torque[3] = {0};
    while (!status && spate_simulation_time(w.sim) < 0.5) {
        speed += 0.2 * ((fabs(torque[2]) < most ? wanted : 0) - speed);
        spate_pose pose = spate_default_pose();
        pose.position[0] = pose.position[1] = 0.5;
        pose.rotation[2] = sin(angle / 2), pose.rotation[3] = cos(angle / 2);
        pose.spin[2] = speed;
        status = spate_simulation_set_pose(w.sim, "wheel", &pose);
        if (!status) status = spate_simulation_step(w.sim, 0.5);
        if (!status) status = spate_simulation_force(w.sim, "wheel", force, torque);
        const double dt = spate_simulation_dt(w.sim);
        angle += speed * dt;
        work -= torque[2] * speed * dt; /* what the wheel does to the water */
    }
    double energy = 0;
    if (!status) status = spate_simulation_quantity(w.sim, "kinetic_energy", &energy);
    if (!status)
        printf("turned %.2f rad, work %.2f J/m, kinetic energy %.2f J/m\n", angle, work, energy);
    return world_close(&w, status);
}
