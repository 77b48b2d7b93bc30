/* The V-cycle, and conjugate gradients around it. */
#include "solver/pressure/system.h"
#include <math.h>

/* ---- The cycle ------------------------------------------------------------------------------- */

static void half_sweep(pressure *p, level *l, int colour) {
    pass(p, p->passes->relax, l->count, &(pass_data){.fine = l, .colour = colour});
}

/* The colour that a level's first half sweep has relaxed while its right-hand side was written. The
 * last one before a transfer is red. */
static int first_colour(int number) { return number == 0 ? RED : BLACK; }

static void descend(pressure *p, int number) {
    level *l = &p->levels[number];
    if (first_colour(number) == RED) half_sweep(p, l, BLACK);
    half_sweep(p, l, RED);
    if (first_colour(number) == BLACK) half_sweep(p, l, BLACK), half_sweep(p, l, RED);
    const pass_data data = {.fine = l, .coarse = l + 1};
    pass(p, p->passes->restrict_residual, l->count, &data);
    pass(p, p->passes->collect_restricted, l[1].count, &data);
}

/* Half sweeps that read the same from both ends; the first has been done. The last level has few
 * cells, but where a period stopped the coarsening. */
static void relax_last(pressure *p, int number) {
    level *l = &p->levels[number];
    const double edge = pow((double)l->unknowns, 1.0 / l->dim);
    const int pairs = edge <= 2 ? 8 : edge < 100 ? (int)edge + 8 : 108;
    const int first = first_colour(number);
    for (int i = 0; i < pairs; i++) {
        half_sweep(p, l, !first);
        if (number > 0 || i < pairs - 1) half_sweep(p, l, first);
    }
}

static void ascend(pressure *p, int number) {
    level *l = &p->levels[number];
    pass(p, p->passes->unpack, l[1].count, &(pass_data){.fine = l + 1});
    pass(p, p->passes->prolong, l[1].count, &(pass_data){.fine = l, .coarse = l + 1});
    half_sweep(p, l, RED);
    half_sweep(p, l, BLACK);
    if (number > 0) half_sweep(p, l, RED), half_sweep(p, l, BLACK);
}

/* z from b, of which the first half sweep has been done; returns b z. */
static double cycle(pressure *p) {
    const int last = p->level_count - 1;
    for (int i = 0; i < last; i++) descend(p, i);
    relax_last(p, last);
    for (int i = last - 1; i >= 0; i--) ascend(p, i);
    level *l = &p->levels[0];
    return pass_sum(p, p->passes->relax_dot, l->count, &(pass_data){.fine = l, .colour = RED});
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

/* Iterates from b, of which the first half sweep has been done, until its 2-norm is below `goal` or
 * iterations run out. */
static void iterate(pressure *p, double goal, int most, double unit, pressure_report *report) {
    level *l = &p->levels[0];
    pass_data data = {.p = p, .fine = l, .unit = unit};
    double before = 0;
    while (report->iterations < most) {
        const double bz = cycle(p);
        data.beta = before > 0 ? (real)(bz / before) : 0;
        before = bz;
        pass(p, p->passes->update_direction, l->count, &data);
        const double energy = pass_sum(p, p->passes->energy, l->count, &data);
        if (!(energy > 0) || !(bz > 0)) return;
        data.alpha = bz / energy;
        report->iterations++;
        const double left = sqrt(pass_sum(p, p->passes->update_solution, l->count, &data)) / unit;
        if (!(left > goal)) return;
    }
}

/* As far as b, in reals, can be trusted to follow the residual. */
#define ROUND_GAIN (4 * REAL_EPSILON)

/*
 * Rounds of conjugate gradients, each from the residual computed anew in double: b is a real that
 * each step changes by the very A p, in double, that it changes x by, so that in a round it departs
 * from the residual by little more than one rounding, relative to where the round began. One round
 * does for 1e-6.
 */
spate_status multigrid_solve(pressure *p, const pressure_options *o, pressure_report *report) {
    level *l = &p->levels[0];
    if (l->unknowns == 0) return SPATE_OK;
    if (p->level_count == 1) TRY(system_coarsen(p));
    pass_data data = {.p = p, .fine = l, .from_nothing = true};
    const double size = sqrt(pass_sum(p, p->passes->right_side_square, l->count, &data));
    if (size == 0) return SPATE_OK;
    data.unit = sqrt((double)l->unknowns) / size;
    double left = sqrt(pass_sum(p, p->passes->restart_residual, l->count, &data));
    data.from_nothing = false;
    const double goal = o->tolerance * size;
    for (int before = -1; left > goal && before < report->iterations;) {
        before = report->iterations;
        iterate(p, fmax(0.9 * goal, ROUND_GAIN * left), o->max_iterations, data.unit, report);
        left = sqrt(pass_sum(p, p->passes->restart_residual, l->count, &data));
    }
    report->residual = left / size;
    report->converged = left <= goal;
    return SPATE_OK;
}
