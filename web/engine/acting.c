/* What the page does to a simulation. Names and texts are in the room. */
#include "engine.h"

#include <string.h>

enum { NUMBERS = 32 };
static double numbers[NUMBERS];

/* Where the page writes numbers for engine_force and engine_pose. */
double *ENGINE_CALL(engine_numbers)(void) { return numbers; }

static void take(double *to, int *at, int count) {
    memcpy(to, numbers + *at, (size_t)count * sizeof *to);
    *at += count;
}

/* Numbers: acceleration, strength, center, axis, radius, softening, length, period, velocity, rate,
 * until (0: for ever). */
spate_status ENGINE_CALL(engine_force)(int kind) {
    spate_force f = spate_default_force();
    double until = 0;
    int at = 0;
    f.kind = (spate_force_kind)kind;
    take(f.acceleration, &at, 3), take(&f.strength, &at, 1), take(f.center, &at, 3);
    take(f.axis, &at, 3), take(&f.radius, &at, 1), take(&f.softening, &at, 1);
    take(&f.length, &at, 1), take(&f.period, &at, 1), take(f.velocity, &at, 3);
    take(&f.rate, &at, 1), take(&until, &at, 1);
    if (until > 0) f.until = until;
    return spate_simulation_set_force(engine_get()->sim, engine_get()->room, &f);
}

/* Numbers: position, rotation, velocity, spin. */
spate_status ENGINE_CALL(engine_pose)(void) {
    spate_pose p = spate_default_pose();
    int at = 0;
    take(p.position, &at, 3), take(p.rotation, &at, 4), take(p.velocity, &at, 3);
    take(p.spin, &at, 3);
    return spate_simulation_set_pose(engine_get()->sim, engine_get()->room, &p);
}

/* Parts of a scene as YAML. */
spate_status ENGINE_CALL(engine_add)(void) {
    return spate_simulation_add(engine_get()->sim, engine_get()->room);
}

/* "path=value" */
spate_status ENGINE_CALL(engine_set)(void) {
    return spate_simulation_set(engine_get()->sim, engine_get()->room);
}

spate_status ENGINE_CALL(engine_remove)(void) {
    return spate_simulation_remove(engine_get()->sim, engine_get()->room);
}
