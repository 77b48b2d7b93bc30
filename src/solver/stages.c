#include "solver/stages.h"

spate_status run_stages(spate_simulation *sim, const stage *stages, int count) {
    for (int i = 0; i < count; i++) {
        const double start = phase_start();
        TRY(stages[i].run(sim->solver));
        phase_stop(sim, stages[i].name, start);
    }
    return SPATE_OK;
}
