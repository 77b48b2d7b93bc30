/* Simulations as the public header has them: those of src/solver, and the events that drive
 * them. */
#include "solver/drive.h"
#include "run/commands.h"
#include "run/record.h"

spate_status spate_simulation_create(spate_scene *scene, spate_simulation **simulation) {
    return simulation_create(scene, simulation);
}

void spate_simulation_free(spate_simulation *sim) {
    if (!sim) return;
    spate_context *ctx = sim->ctx;
    simulation_close(sim);
    drive_free(sim);
    give(ctx, sim);
}

static bool is_due(const spate_simulation *sim, const scene_event *e) {
    return e->step >= 0 ? sim->step >= e->step : sim->time * (1 + TIME_ROUNDING) >= e->t;
}

static spate_status apply_due(spate_simulation *sim) {
    const spate_scene *scene = drive_given_scene(sim);
    drive *d;
    TRY(drive_of(sim, &d));
    while (d->next_event < scene->event_count && is_due(sim, &scene->events[d->next_event])) {
        const int64_t at = d->next_event++;
        spate_status status = command_apply(sim, &scene->events[at]);
        if (status) {
            fail_prefix(sim->ctx, "%s: events.%lld: ", scene->path, (long long)at);
            return status;
        }
        TRY(record_event(sim, &scene->events[at]));
    }
    return SPATE_OK;
}

/* Where the step may end at most: at the next event by time, or where a recording's step did. */
static void bound_step(const spate_simulation *sim, double *until) {
    const spate_scene *scene = drive_given_scene(sim);
    const drive *d = sim->drive;
    if (d->until > sim->time) *until = fmin(*until, d->until);
    if (d->next_event >= scene->event_count) return;
    const scene_event *next = &scene->events[d->next_event];
    if (next->step < 0) *until = fmin(*until, next->t);
}

static spate_status step(spate_simulation *sim, double until) {
    if (!(until > sim->time) || sim->broken) return simulation_step(sim, until);
    if (drive_given_scene(sim)->event_count) {
        TRY(apply_due(sim));
        bound_step(sim, &until);
    }
    TRY(record_until(sim, &until));
    return simulation_step(sim, until);
}

spate_status spate_simulation_step(spate_simulation *sim, double until) {
    TRY(simulation_enter(sim, true));
    spate_status status = step(sim, until);
    simulation_leave(sim);
    return status;
}

uint64_t spate_simulation_hash(spate_simulation *sim) { return simulation_hash(sim); }
