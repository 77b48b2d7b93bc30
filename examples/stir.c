/* A drop is stirred by a mouse; what the mouse did is recorded as a scene, and played again to the
 * same state. */
#include "world.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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
static spate_status stir(world *w) {
    spate_status status = SPATE_OK;
    for (int frame = 0; frame < 10 && !status; frame++) {
        const double angle = 0.6 * frame;
        spate_force hand = spate_default_force();
        hand.kind = SPATE_MOUSE, hand.radius = 0.12;
        hand.center[0] = 0.5 + 0.1 * cos(angle), hand.center[1] = 0.5 + 0.1 * sin(angle);
        hand.velocity[0] = -1.5 * sin(angle), hand.velocity[1] = 1.5 * cos(angle);
        status = spate_simulation_set_force(w->sim, "hand", &hand);
        if (!status) status = world_step_to(w, (frame + 1) / 25.0);
    }
    return status;
}

int main(void) {
    world live, again = {0};
    char *text = NULL;
    spate_status status = world_open(&live, "stir", scene_text);
    if (!status) status = spate_simulation_record(live.sim);
    if (!status) status = stir(&live);
    if (!status) status = spate_simulation_recorded(live.sim, keep, &text);
    if (status) return world_close(&live, status);

    status = world_open(&again, "recorded", text);
    for (int frame = 1; frame <= 10 && !status; frame++)
        status = world_step_to(&again, frame / 25.0);
    if (!status)
        printf("state %016" PRIx64 ", again %016" PRIx64 "\n", spate_simulation_hash(live.sim),
               spate_simulation_hash(again.sim));
    free(text);
    world_close(&live, SPATE_OK);
    return world_close(&again, status);
}
