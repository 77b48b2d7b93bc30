/*
 * Volume: particles that have come too close are moved apart again (volume_correction).
 *
 * A velocity without divergence keeps the volume, but particles follow it only roughly: where the
 * flow folds or stretches them they crowd into some cells and leave others, and the liquid shrinks.
 * After Kugelstadt et al. 2019 (implicit density projection) they are displaced besides, by
 *
 *     displacement = -grad q,   div displacement = (1 - exp(-c U dt / dx)) (filled - 1),   q = 0 at the surface,
 *
 * where `filled` is the share of a cell that its particles' volume takes and U the speed of the
 * fastest: what is undone is what the flow has done, and water at rest stays as it is. Only what is
 * too much by more than particles at rest ever are, such as two bodies in one place, flows out with
 * sqrt(g dx) as well. This is the projection's
 * system once more with another right-hand side. Velocities know nothing of it: as part of them, as
 * a divergence that the projection leaves, it turned the scatter of particles into momentum, which
 * held up falling columns. And a particle is displaced where it is at the start of the step, not on
 * its way through the cells of others, so that long steps even out what short ones do.
 *
 * Cells beside the surface may be less than full for a good reason; they only give.
 */
#include "solver/flip/cell_bits.h"
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

/* Share of an excess that flows out in the step: all but 1/e while something of a speed crosses a
 * cell. */
static double share_at(const flip *f, double speed) {
    return 1 - exp(-f->options->volume_correction * speed * f->sim->dt / f->domain->dx);
}

/* How unevenly particles at rest fill cells that have as many as they should: irregular ones, and
 * large ones beside small ones, scatter by half of it. */
static const double usual_unevenness = 0.1;

/* What of an excess is more than that. */
static double beyond_usual(double excess) {
    return excess - clamp(excess, -usual_unevenness, usual_unevenness);
}

typedef struct volume_pass {
    const flip *f;
    cell_bits liquid;
    double share, at_rest; /* that flow out of all of an excess, and besides of what is unusual */
} volume_pass;

/* From how full cells are, which the surface has left in target_divergence, to what shall flow out
 * of them. */
static void find_excess(void *data, chunk items) {
    const volume_pass *v = data;
    const mac *m = &v->f->grid;
    const double most = 0.5;
    for (int64_t slab = items.begin * slabs_of(m->dim); slab < items.end * slabs_of(m->dim);
         slab++) {
        const uint64_t cells = v->liquid.words[slab];
        real *divergence = m->target_divergence[0] + slab * SLAB_CELLS;
        const real *solid = m->solid_phi[0] + slab * SLAB_CELLS;
        for (int c = 0; c < SLAB_CELLS; c++) {
            const bool liquid = (cells >> c & 1) && solid[c] >= 0;
            const double excess = liquid ? clamp((double)divergence[c] - 1, -most, most) : 0;
            divergence[c] = (real)(v->share * excess + v->at_rest * beyond_usual(excess));
        }
    }
}

static void spare_surface(void *data, chunk items) {
    const volume_pass *v = data;
    const mac *m = &v->f->grid;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int slab = 0; slab < slabs_of(m->dim); slab++) {
            uint64_t cells = cell_bits_beside(&v->liquid, brick, slab, 0, ~(uint64_t)0) &
                             *cell_bits_word(&v->liquid, brick, slab, 0);
            for (; cells; cells &= cells - 1) {
                const int c = slab * SLAB_CELLS + __builtin_ctzll(cells);
                real *divergence = &m->target_divergence[0][brick * mac_cells(m->dim) + c];
                if (*divergence < 0 && is_at_surface(m, brick, c)) *divergence = 0;
            }
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
    const double speed = f->sim->max_speed,
                 falling = sqrt(vec_length(f->sim->scene->gravity) * f->domain->dx);
    volume_pass pass = {.f = f, .share = share_at(f, speed)};
    pass.at_rest = share_at(f, speed + falling) - pass.share;
    spate_status status = flip_take_liquid(f, &pass.liquid);
    if (!status) {
        parallel_for(f->threads, bricks, 16, find_excess, &pass);
        parallel_for(f->threads, bricks, 16, spare_surface, &pass);
        flip_give_liquid(f);
        status = find_displacement(f, potential);
    }
    scratch_give(&f->sim->scratch, "flip potential");
    if (!status) parallel_for(f->threads, bricks, 16, extend_displacement, f);
    return status;
}
