/*
 * Volume: particles that have come too close are moved apart again (volume_correction).
 *
 * A velocity without divergence keeps the volume, but particles follow it only roughly: where the
 * flow folds or stretches them they crowd into some cells and leave others, and the liquid shrinks.
 * After Kugelstadt et al. 2019 (implicit density projection) they are displaced besides, by
 *
 *     displacement = -grad q,   div displacement = (1 - exp(-rate dt)) (filled - 1),   q = 0 at the surface,
 *
 * where `filled` is the share of a cell that its particles' volume takes. This is the projection's
 * system once more with another right-hand side. Velocities know nothing of it: as part of them, as
 * a divergence that the projection leaves, it turned the scatter of particles into momentum, which
 * held up falling columns. And a particle is displaced where it is at the start of the step, not on
 * its way through the cells of others, so that long steps even out what short ones do.
 *
 * Cells beside the surface may be less than full for a good reason; they only give.
 */
#include "solver/flip/flip.h"

#include "core/vec.h"

/* Whether there is air beside a cell. */
static bool is_at_surface(const mac *m, int64_t brick, int c) {
    const int64_t here = brick * mac_cells(m->dim) + c;
    int at[3];
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        const bool closed = m->face_fraction[s.axis][s.face >= 0 ? s.face : here] <= 0;
        if (!closed && (s.beyond < 0 || m->phi[0][s.beyond] >= 0)) return true;
    }
    return false;
}

/* Share of the excess that flows out in the step: all but 1/e while the fastest crosses a cell. */
static double share_of_step(const flip *f) {
    const double dx = f->domain->dx;
    const double speed = f->sim->max_speed + sqrt(vec_length(f->sim->scene->gravity) * dx);
    return 1 - exp(-f->options->volume_correction * speed * f->sim->dt / dx);
}

/* From how full cells are, which the surface has left in target_divergence, to what shall flow out
 * of them. */
static void find_excess(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const double share = share_of_step(f), most = 0.5;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            const bool liquid = m->phi[0][here] < 0 && m->solid_phi[0][here] >= 0;
            double excess = liquid ? (double)m->target_divergence[0][here] - 1 : 0;
            if (excess < 0 && is_at_surface(m, brick, c)) excess = 0;
            m->target_divergence[0][here] = (real)(share * clamp(excess, -most, most));
        }
}

/* The mean displacement of the faces around, of those that the projection has set. */
static real displacement_around(const mac *m, int64_t brick, int c, int axis) {
    int at[3];
    real sum = 0, count = 0;
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        const int64_t other = mac_side_of(m, brick, c, at, n).beyond;
        if (other < 0 || !mac_is_valid(m, axis, other)) continue;
        sum += m->displacement[axis][other], count += 1;
    }
    return count > 0 ? sum / count : 0;
}

/* One layer beyond the liquid, for the particles at its surface. */
static void extend_displacement(void *data, chunk items) {
    const mac *m = &((const flip *)data)->grid;
    const int cells = mac_cells(m->dim), all = (1 << m->dim) - 1;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < cells; c++) {
            const int64_t here = brick * cells + c;
            const int set = mac_settled(m, here);
            for (int a = 0; a < m->dim && set != all; a++)
                if (!(set >> a & 1) && m->mass[a][here] > 0 && m->face_fraction[a][here] > 0)
                    m->displacement[a][here] = displacement_around(m, brick, c, a);
        }
}

/* The projection of no displacement, with target_divergence as what shall flow out of cells. */
static spate_status find_displacement(flip *f, double *potential) {
    const flip_options *o = f->options;
    const pressure_options options = {.method = (pressure_method)o->pressure,
                                      .tolerance = 0.01, /* the next step sees what is left */
                                      .max_iterations = (int)o->max_iterations,
                                      .second_order = o->surface_order == 2};
    const size_t cells = (size_t)(f->grid.bricks.count * mac_cells(f->grid.dim));
    mac moved = f->grid;
    pressure_report report;
    moved.pressure[0] = potential;
    for (int a = 0; a < f->grid.dim; a++) {
        memset(f->grid.displacement[a], 0, cells * sizeof(real));
        moved.velocity[a] = moved.solid_velocity[a] = f->grid.displacement[a];
    }
    return pressure_project_again(f->pressure, &moved, &options, &report);
}

spate_status flip_correct_volume(void *solver) {
    flip *f = solver;
    if (!f->displaces) return SPATE_OK;
    const int64_t bricks = f->grid.bricks.count;
    double *potential =
        scratch_take(&f->sim->scratch, "flip potential",
                     (size_t)(bricks * mac_cells(f->grid.dim)) + 1, sizeof *potential);
    if (!potential) return SPATE_OUT_OF_MEMORY;
    parallel_for(f->threads, bricks, 16, find_excess, f);
    spate_status status = find_displacement(f, potential);
    scratch_give(&f->sim->scratch, "flip potential");
    if (!status) parallel_for(f->threads, bricks, 16, extend_displacement, f);
    return status;
}
