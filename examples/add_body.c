/* Jelly is dropped into a running tank of water. */
#include <spate/drive.h>
#include <stdio.h>
#include <string.h>

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
    spate_context *ctx = NULL;
    spate_scene *scene = NULL;
    spate_simulation *sim = NULL;
    if (spate_open(NULL, &ctx)) return 1;
    spate_status status =
        spate_scene_parse(ctx, scene_text, strlen(scene_text), "tank", ".", NULL, 0, &scene);
    if (!status) status = spate_simulation_create(scene, &sim);
    double before = 0, after = 0;
    while (!status && spate_simulation_time(sim) < 0.1) status = spate_simulation_step(sim, 0.1);
    if (!status) status = spate_simulation_quantity(sim, "mass", &before);
    if (!status) status = spate_simulation_add(sim, jelly);
    while (!status && spate_simulation_time(sim) < 0.2) status = spate_simulation_step(sim, 0.2);
    if (!status) status = spate_simulation_quantity(sim, "mass", &after);
    if (status)
        puts(spate_message(ctx));
    else
        printf("mass %.1f kg/m, with the jelly %.1f\n", before, after);
    spate_simulation_free(sim);
    spate_scene_free(scene);
    spate_close(ctx);
    return status;
}
