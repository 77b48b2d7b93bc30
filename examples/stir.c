/* A drop is stirred by a mouse; what the mouse did is recorded as a scene, and played again to the same
 * state. */
#include <inttypes.h>
#include <math.h>
#include <spate/drive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "gravity: [0, 0]\n"
    "domain: {size: [1, 1], dx: 0.04}\n"
    "fps: 25\n"
    "solver: {type: mpm}\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}}\n"
    "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.5], radius: 0.25}}}]\n";

static void keep(const char *text, void *user) {
    char **kept = user;
    *kept = strdup(text);
}

/* Round the middle of the drop, a new place for every 25th of a second. */
static spate_status stir(spate_simulation *sim) {
    spate_status status = SPATE_OK;
    for (int frame = 0; frame < 10 && !status; frame++) {
        const double angle = 0.6 * frame, until = (frame + 1) / 25.0;
        spate_force hand = spate_default_force();
        hand.kind = SPATE_MOUSE, hand.radius = 0.12;
        hand.center[0] = 0.5 + 0.1 * cos(angle), hand.center[1] = 0.5 + 0.1 * sin(angle);
        hand.velocity[0] = -1.5 * sin(angle), hand.velocity[1] = 1.5 * cos(angle);
        status = spate_simulation_set_force(sim, "hand", &hand);
        while (!status && spate_simulation_time(sim) < until)
            status = spate_simulation_step(sim, until);
    }
    return status;
}

int main(void) {
    spate_context *ctx = NULL;
    spate_scene *scene = NULL, *recorded = NULL;
    spate_simulation *sim = NULL, *again = NULL;
    char *text = NULL;
    if (spate_open(NULL, &ctx)) return 1;
    spate_status status =
        spate_scene_parse(ctx, scene_text, strlen(scene_text), "stir", ".", NULL, 0, &scene);
    if (!status) status = spate_simulation_create(scene, &sim);
    if (!status) status = spate_simulation_record(sim);
    if (!status) status = stir(sim);
    if (!status) status = spate_simulation_recorded(sim, keep, &text);

    if (!status)
        status = spate_scene_parse(ctx, text, strlen(text), "recorded", ".", NULL, 0, &recorded);
    if (!status) status = spate_simulation_create(recorded, &again);
    for (int frame = 1; frame <= 10 && !status; frame++)
        while (!status && spate_simulation_time(again) < frame / 25.0)
            status = spate_simulation_step(again, frame / 25.0);
    if (status)
        puts(spate_message(ctx));
    else
        printf("state %016" PRIx64 ", again %016" PRIx64 "\n", spate_simulation_hash(sim),
               spate_simulation_hash(again));
    free(text);
    spate_simulation_free(again), spate_simulation_free(sim);
    spate_scene_free(recorded), spate_scene_free(scene);
    spate_close(ctx);
    return status;
}
