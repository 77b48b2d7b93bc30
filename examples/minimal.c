/* A drop of water falls for a tenth of a second; prints where its particles are on average. */
#include <spate/spate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.05}\n"
    "solver: {type: mpm}\n"
    "duration: 1\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}\n"
    "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.7], radius: 0.1}}}]\n";

int main(void) {
    spate_context *ctx = NULL;
    spate_scene *scene = NULL;
    spate_simulation *sim = NULL;
    if (spate_open(NULL, &ctx)) return 1;
    spate_status status =
        spate_scene_parse(ctx, scene_text, strlen(scene_text), "drop", ".", NULL, 0, &scene);
    if (!status) status = spate_simulation_create(scene, &sim);
    while (!status && spate_simulation_time(sim) < 0.1) status = spate_simulation_step(sim, 0.1);

    int components = 0;
    int64_t particles = 0;
    if (!status) status = spate_simulation_attribute(sim, "P", NULL, &components, &particles);
    double *positions = calloc((size_t)(particles * components + 1), sizeof *positions);
    if (!status) status = spate_simulation_attribute(sim, "P", positions, &components, &particles);
    double height = 0;
    for (int64_t i = 0; i < particles; i++)
        height += positions[i * components + 1] / (double)particles;
    if (status)
        puts(spate_message(ctx));
    else
        printf("%lld particles, mean height %.3f\n", (long long)particles, height);
    free(positions);
    spate_simulation_free(sim);
    spate_scene_free(scene);
    spate_close(ctx);
    return status;
}
