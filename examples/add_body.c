/* Jelly is dropped into a running tank of water. */
#include "world.h"

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.04}\n"
    "solver: {type: mpm}\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}}\n"
    "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, 0.3]}}}]\n";

static const char jelly[] =
    "materials: {jelly: {model: neo_hookean, density: 800, young_modulus: 2.0e4, poisson: 0.3}}\n"
    "bodies: [{name: jelly, material: jelly, velocity: [0, -2], shape: {box: {min: [0.4, 0.5], "
    "max: [0.6, 0.7]}}}]\n";

int main(void) {
    world w;
    spate_status status = world_open(&w, "tank", scene_text);
    double before = 0, after = 0;
    if (!status) status = world_step_to(&w, 0.1);
    if (!status) status = spate_simulation_quantity(w.sim, "mass", &before);
    if (!status) status = spate_simulation_add(w.sim, jelly);
    if (!status) status = world_step_to(&w, 0.2);
    if (!status) status = spate_simulation_quantity(w.sim, "mass", &after);
    if (!status) printf("mass %.1f kg/m, with the jelly %.1f\n", before, after);
    return world_close(&w, status);
}
