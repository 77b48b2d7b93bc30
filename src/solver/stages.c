#include "solver/stages.h"

spate_status run_stages(spate_simulation *sim, const solver_stage *stages) {
    for (const solver_stage *s = stages; s->name; s++) {
        const double start = phase_start();
        TRY(s->run(sim->solver));
        phase_stop(sim, s->name, start);
        if (!sim->on_stage.call) continue;
        sim->staging = true;
        sim->on_stage.call(sim, s->name, sim->on_stage.user);
        sim->staging = false;
    }
    return SPATE_OK;
}
