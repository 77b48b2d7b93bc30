#include "solver/flip/flip.h"

#include "core/vec.h"
#include <stdlib.h>
static double knob(const char *n, double d) { const char *s = getenv(n); return s ? atof(s) : d; }

/* Near the surface a cell is not full for a good reason. */
static bool at_surface(const mac *m, int64_t brick, int c) {
    const int64_t here = brick * mac_cells(m->dim) + c;
    int at[3];
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        int64_t other = mac_beside(m, brick, c, at, n >> 1, n & 1 ? 1 : -1);
        bool closed = m->open[n >> 1][n & 1 && other >= 0 ? other : here] <= 0;
        if (!closed && (other < 0 || m->phi[0][other] >= 0)) return true;
    }
    return false;
}

static void find_excess(void *data, int64_t begin, int64_t end, int worker) {
    const flip *f = data;
    const mac *m = &f->grid;
    const double dx = f->sim->scene->domain.dx, most = 0.5;
    const double speed = f->sim->max_speed + sqrt(vec_length(f->sim->scene->gravity) * dx);
    double rate = knob("VR", 0);
    if (!(rate > 0)) rate = f->options->volume_correction * speed / dx;
    const double share = 1 - exp(-rate * f->sim->dt);
    const int mode = (int)knob("VM", 0);
    (void)worker;
    for (int64_t brick = begin; brick < end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            double excess = fmin(fmax((double)m->swell[0][here] - 1, -most), most);
            if (!(m->phi[0][here] < 0) || m->solid[0][here] < 0) excess = 0;
            if ((excess < 0 || mode & 1) && at_surface(m, brick, c)) excess = 0;
            m->swell[0][here] = (real)(share * excess);
        }
}

/* One layer beyond the liquid. */
static void extend_shift(void *data, int64_t begin, int64_t end, int worker) {
    const mac *m = &((const flip *)data)->grid;
    (void)worker;
    for (int64_t brick = begin; brick < end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            int at[3];
            mac_place(c, m->dim, at);
            for (int a = 0; a < m->dim; a++) {
                const int bits = 0x11 << a;
                if (m->known[0][here] & bits || !(m->mass[a][here] > 0) || m->open[a][here] <= 0)
                    continue;
                real sum = 0, count = 0;
                for (int n = 0; n < 2 * m->dim; n++) {
                    const int64_t other = mac_beside(m, brick, c, at, n >> 1, n & 1 ? 1 : -1);
                    if (other < 0 || !(m->known[0][other] >> a & 1)) continue;
                    sum += m->shift[a][other], count += 1;
                }
                if (count > 0) m->shift[a][here] = sum / count;
            }
        }
}

spate_status flip_correct_volume(flip *f) {
    if (!f->shifts) return SPATE_OK;
    const mac *m = &f->grid;
    pool *threads = f->sim->ctx->pool;
    const int64_t bricks = m->bricks.count;
    const size_t cells = (size_t)(bricks * mac_cells(m->dim));
    parallel_for(threads, bricks, 16, find_excess, f);
    for (int a = 0; a < m->dim; a++) memset(m->shift[a], 0, cells * sizeof(real));
    double *potential = scratch_take(&f->sim->scratch, "flip potential", cells + 1, sizeof *potential);
    if (!potential) return SPATE_OUT_OF_MEMORY;
    mac shifted = *m;
    shifted.pressure[0] = potential;
    for (int a = 0; a < m->dim; a++) shifted.velocity[a] = shifted.wall[a] = m->shift[a];
    const pressure_options options = {.method = (pressure_method)f->options->pressure,
                                      .tolerance = knob("VT", 0.01),
                                      .max_iterations = (int)f->options->max_iterations,
                                      .second_order = f->options->surface_order == 2};
    pressure_report report;
    spate_status status = pressure_project_again(f->pressure, &shifted, &options, &report);
    scratch_give(&f->sim->scratch, "flip potential");
    if (!status) parallel_for(threads, bricks, 16, extend_shift, f);
    return status;
}
