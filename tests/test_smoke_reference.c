/* The fast semi-Lagrangian trace against the plain one on a dense MAC grid
 * (solver/smoke/reference.c). */
#include "physics.h"
#include "solver/smoke/reference.h"
#include "solver/smoke/smoke.h"

/* Rounding of paths of a few cells. */
static const double gate = IN_DOUBLE ? 1e-12 : 1e-5;

static const double dt = 0.3;

static play open_gas(int dim, int order) {
    return play_open(2,
                     "spate: 1\ndimension: %d\nduration: 1\nfps: 1\n"
                     "domain: {size: %s, dx: 1}\n"
                     "solver: {type: smoke, advection: linear, trace: rk%d}\n"
                     "materials: {m: {model: gas}}\n"
                     "bodies: [{material: m, shape: {sphere: {center: %s, radius: 2}}}]\n",
                     dim, dim == 2 ? "[12, 17]" : "[8, 12, 17]", order,
                     dim == 2 ? "[5, 5]" : "[4, 5, 5]");
}

static double speed_at(int a, const double x[3]) {
    return 4 * sin(0.7 * x[a] + a) + 3 * cos(0.9 * x[(a + 1) % 3] - a);
}

static double dye_at(const double x[3]) { return sin(0.8 * x[0]) * cos(0.6 * x[1] + 0.7 * x[2]); }

/* Copies a field between the solver's layout and the reference's, whose values lie one after
 * another. */
static void copy_field(const layout *l, int place, real *values, double *dense, bool back) {
    for (int64_t r = 0; r < layout_rows(l, place); r++) {
        const layout_row row = layout_row_at(l, place, r, l->dim);
        for (int k = 0; k < row.length; k++, dense++)
            if (back)
                values[row.begin + k] = (real)*dense;
            else
                *dense = (double)values[row.begin + k];
    }
}

/* 2D's second axis is the reference's second, too: its third has one value. */
static int count_of(const layout *l, int place) {
    int count = 1;
    for (int a = 0; a < l->dim; a++) count *= layout_extent(l, place, a);
    return count;
}

static double *dense_field(const layout *l, int place) {
    const int n[3] = {layout_extent(l, place, 0), layout_extent(l, place, 1),
                      l->dim == 3 ? layout_extent(l, place, 2) : 1};
    double *values = calloc((size_t)count_of(l, place), sizeof *values), *at = values;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++) {
                const double x[3] = {i + (place == 0 ? 0 : 0.5), j + (place == 1 ? 0 : 0.5),
                                     l->dim == 2 ? 0 : k + (place == 2 ? 0 : 0.5)};
                const int across = place < 3 ? (int[]){i, j, k}[place] : 1;
                const bool side = place < 3 && (across == 0 || across == n[place] - 1);
                *at++ = side ? 0 : place < 3 ? speed_at(place, x) : dye_at(x);
            }
    return values;
}

/* The largest difference, on faces between two cells and in the middles of cells. */
static double difference(const layout *l, int place, const double *a, const double *b) {
    const int n[3] = {layout_extent(l, place, 0), layout_extent(l, place, 1),
                      l->dim == 3 ? layout_extent(l, place, 2) : 1};
    double worst = 0;
    for (int at = 0; at < count_of(l, place); at++) {
        const int index[3] = {at / n[2] / n[1], at / n[2] % n[1], at % n[2]};
        const bool side = place < 3 && (index[place] == 0 || index[place] == n[place] - 1);
        if (!side) worst = fmax(worst, fabs(a[at] - b[at]));
    }
    return worst;
}

static void run_advection(smoke *s) {
    s->sim->dt = s->dt = dt;
    for (const solver_stage *run = smoke_stages; run->name; run++)
        if (!strcmp(run->name, "advect")) assert_int_equal(run->run(s), SPATE_OK);
}

static void compare(int dim, int order) {
    play p = open_gas(dim, order);
    smoke *s = p.sim->solver;
    const layout *l = &s->layout;
    double *before[4] = {0}, *plain[4] = {0}, *wrong[4] = {0}, *fast[4] = {0};
    smoke_reference r = {.dim = dim, .n = {l->n[0], l->n[1], dim == 3 ? l->n[2] : 1}, .dt = dt};
    r.order = order;
    const int places[4] = {0, 1, dim == 3 ? 2 : PLACE_MIDDLE, PLACE_MIDDLE};
    for (int f = 0; f <= dim; f++) {
        before[f] = dense_field(l, places[f]);
        copy_field(l, places[f], f < dim ? s->velocity[f] : s->dyes[0], before[f], true);
        if (f < dim)
            smoke_ghost_velocity(s, f, s->velocity[f]), r.velocity[f] = before[f];
        else
            smoke_ghost_scalar(s, s->dyes[0]);
    }
    run_advection(s);
    for (int f = 0; f <= dim; f++) {
        const size_t count = (size_t)count_of(l, places[f]);
        plain[f] = calloc(count, sizeof(double)), wrong[f] = calloc(count, sizeof(double));
        fast[f] = calloc(count, sizeof(double));
        copy_field(l, places[f], f < dim ? s->velocity[f] : s->dyes[0], fast[f], false);
        smoke_reference_advect(&r, places[f], before[f], plain[f]);
        smoke_reference other = r;
        other.order = order % 3 + 1; /* negative control: another scheme */
        smoke_reference_advect(&other, places[f], before[f], wrong[f]);
        const double off = difference(l, places[f], fast[f], plain[f]);
        print_message("%dD, rk%d, field %d: %.1e\n", dim, order, f, off);
        CHECK_BELOW(off, gate);
        CHECK_ABOVE(difference(l, places[f], fast[f], wrong[f]), 0.01);
    }
    for (int f = 0; f <= dim; f++) free(before[f]), free(plain[f]), free(wrong[f]), free(fast[f]);
    play_close(&p);
}

static void the_fast_trace_is_the_plain_one(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int order = 1; order <= 3; order++) compare(dim, order);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_fast_trace_is_the_plain_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
