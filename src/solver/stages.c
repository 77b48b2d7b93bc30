#include "solver/stages.h"
#include "port/thread.h"

/* Every stage may have moved particles: views and orders of the one before are stale. */
static void call_hook(spate_simulation *sim, const char *stage) {
    sim->generation++;
    __atomic_store_n(&sim->stager, thread_self(), __ATOMIC_RELEASE);
    sim->on_stage.call(sim, stage, sim->on_stage.user);
    __atomic_store_n(&sim->stager, NULL, __ATOMIC_RELEASE);
    sim->generation++;
}

spate_status run_stages(spate_simulation *sim, const solver_stage *stages) {
    for (const solver_stage *s = stages; s->name; s++) {
        const double start = phase_start();
        TRY(s->run(sim->solver));
        phase_stop(sim, s->name, start);
        if (sim->on_stage.call) call_hook(sim, s->name);
    }
    return SPATE_OK;
}
