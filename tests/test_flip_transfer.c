/*
 * The transfers of a step against the plain reference, face by face and particle by particle: all
 * transfers and kernels, 2D and 3D. The reference of the other kernel must not agree.
 */
#include "physics.h"

#include "core/random.h"
#include "solver/flip/transfer_reference.h"

static const double rounding = IN_DOUBLE ? 1e-12 : 5e-6;
static const char *const transfers[] = {"pic", "flip", "apic", "aflip"};
static const char *const kernels[] = {"linear", "quadratic"};

enum { CELLS = 16, FACES = CELLS * CELLS * CELLS };

/* ---- Both sides ------------------------------------------------------------------------------ */

/* A cloud far from the sides, of particles with random masses, velocities and moments. */
static play open_cloud(int dim, const char *transfer, const char *kernel) {
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\ndomain: {size: %s, dx: 0.1}\n"
        "solver: {type: flip, transfer: %s, kernel: %s, alpha: 0.9, volume_correction: 0}\n"
        "materials: {water: {model: liquid, density: 700}}\n"
        "bodies: [{material: water, jitter: 0.9, shape: {box: {min: %s, max: %s}}}]\n",
        dim, dim == 2 ? "[1.6, 1.6]" : "[1.6, 1.6, 1.6]", transfer, kernel,
        dim == 2 ? "[0.4, 0.4]" : "[0.5, 0.5, 0.6]", dim == 2 ? "[1.2, 1.1]" : "[1.1, 1.0, 1.0]");
    particles *all = &p.sim->particles;
    for (int64_t i = 0; i < all->count; i++) {
        const uint64_t id = all->id[i];
        all->mass[i] *= (real)(0.5 + random_unit(1, id, 0));
        for (int c = 0; c < dim; c++) {
            all->velocity[i][c] = (real)(random_unit(1, id, 1 + (uint64_t)c) - 0.5);
            for (int a = 0; a < dim && all->affine; a++)
                all->affine[i][a][c] = (real)(random_unit(2, id, (uint64_t)(3 * a + c)) - 0.5);
        }
    }
    return p;
}

static void run_until(play *p, const char *last) {
    p->sim->dt = 0; /* particles stay where they are */
    for (int i = 0; i < FLIP_STAGES; i++) {
        assert_int_equal(flip_stages[i].run(p->sim->solver), SPATE_OK);
        if (!strcmp(flip_stages[i].name, last)) return;
    }
}

static reference_particle particle_of(const play *p, int32_t block, int64_t i) {
    const particles *all = &p->sim->particles;
    reference_particle out = {.mass = (double)all->mass[i]};
    blocks_position(&p->sim->blocks, all, block, i, out.x);
    for (int c = 0; c < p->scene->dim; c++) {
        out.v[c] = (double)all->velocity[i][c];
        for (int a = 0; a < p->scene->dim && all->affine; a++)
            out.B[a][c] = (double)all->affine[i][a][c];
    }
    return out;
}

static reference_grid grid_of(const play *p, flip_kernel kernel) {
    const flip *f = p->sim->solver;
    const int dim = p->scene->dim;
    reference_grid g = {.dim = dim,
                        .cells = {CELLS, CELLS, dim == 3 ? CELLS : 1},
                        .kernel = kernel,
                        .affine = f->affine};
    for (int c = 0; c < dim; c++) {
        g.mass[c] = test_calloc(FACES, sizeof(double));
        g.momentum[c] = test_calloc(FACES, sizeof(double));
        g.velocity[c] = test_calloc(FACES, sizeof(double));
        g.velocity_old[c] = test_calloc(FACES, sizeof(double));
    }
    return g;
}

static void grid_free(reference_grid *g) {
    for (int c = 0; c < g->dim; c++) {
        test_free(g->mass[c]), test_free(g->momentum[c]);
        test_free(g->velocity[c]), test_free(g->velocity_old[c]);
    }
}

/* The dense index of the face at cell n of a brick, or -1 outside of the domain. */
static int64_t face_of(const reference_grid *g, const mac *m, int64_t brick, int n) {
    int at[3];
    mac_place(n, g->dim, at);
    for (int a = 0; a < g->dim; a++) {
        at[a] += m->bricks.coords[brick][a] * BRICK_EDGE;
        if (at[a] < 0 || at[a] >= CELLS) return -1;
    }
    return ((int64_t)at[0] * g->cells[1] + at[1]) * g->cells[2] + at[2];
}

#define EACH_FACE(g, m, face, here)                                                         \
    for (int64_t here = 0; here < (int64_t)(m)->bricks.count * mac_cells((m)->dim); here++) \
        for (int64_t face = face_of(g, m, here / mac_cells((m)->dim),                       \
                                    (int)(here % mac_cells((m)->dim))),                     \
                     once_ = face >= 0;                                                     \
             once_; once_ = 0)

/* ---- Particles to faces ---------------------------------------------------------------------- */

static double scatter_error(int dim, const char *transfer, int kernel, int reference) {
    play p = open_cloud(dim, transfer, kernels[kernel]);
    const flip *f = p.sim->solver;
    const mac *m = &f->grid;
    run_until(&p, "scatter");
    reference_grid g = grid_of(&p, (flip_kernel)reference);
    EACH_PARTICLE(p.sim, block, i) {
        const reference_particle own = particle_of(&p, block, i);
        reference_scatter(&g, &own);
    }
    const double unit = (double)f->inverse_mass;
    double worst = 0, given = 0, expected = 0;
    for (int c = 0; c < dim; c++) {
        EACH_FACE(&g, m, face, here) {
            const double mass = (double)m->mass[c][here], momentum = (double)m->velocity[c][here];
            worst = fmax(worst, unit * fabs(mass - g.mass[c][face]));
            worst = fmax(worst, unit * fabs(momentum - g.momentum[c][face]));
            given += unit * mass;
        }
        for (int64_t n = 0; n < FACES; n++) expected += unit * g.mass[c][n];
    }
    CHECK_BELOW(fabs(given / expected - 1), 1e-5); /* nothing lies where nobody looked */
    grid_free(&g);
    play_close(&p);
    return worst;
}

/* ---- Faces to particles ---------------------------------------------------------------------- */

/* Any velocities; every face has its own. */
static void fill_velocities(const reference_grid *g, const mac *m) {
    for (int c = 0; c < g->dim; c++) EACH_FACE(g, m, face, here) {
            const uint64_t place = (uint64_t)face;
            m->velocity[c][here] = (real)(random_unit(3, place, (uint64_t)c) - 0.5);
            m->velocity_old[c][here] = (real)(random_unit(4, place, (uint64_t)c) - 0.5);
            g->velocity[c][face] = (double)m->velocity[c][here];
            g->velocity_old[c][face] = (double)m->velocity_old[c][here];
        }
}

static double gather_error(int dim, const char *transfer, int kernel, int reference) {
    play p = open_cloud(dim, transfer, kernels[kernel]);
    const flip *f = p.sim->solver;
    run_until(&p, "reaction");
    reference_grid g = grid_of(&p, (flip_kernel)reference);
    fill_velocities(&g, &f->grid);
    reference_particle *expected =
        test_calloc((size_t)p.sim->particles.count, sizeof(reference_particle));
    EACH_PARTICLE(p.sim, block, i) {
        expected[i] = particle_of(&p, block, i);
        reference_gather(&g, (double)f->alpha, &expected[i]);
    }
    assert_string_equal(flip_stages[FLIP_STAGES - 1].name, "gather");
    assert_int_equal(flip_stages[FLIP_STAGES - 1].run(p.sim->solver), SPATE_OK);
    double worst = 0;
    EACH_PARTICLE(p.sim, block, i) {
        const reference_particle own = particle_of(&p, block, i);
        for (int c = 0; c < dim; c++) {
            worst = fmax(worst, fabs(own.v[c] - expected[i].v[c]));
            for (int a = 0; a < dim && f->affine; a++)
                worst = fmax(worst, fabs(own.B[a][c] - expected[i].B[a][c]));
        }
    }
    test_free(expected);
    grid_free(&g);
    play_close(&p);
    return worst;
}

static void test_all_transfers_are_the_reference(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int k = 0; k < COUNT_OF(kernels); k++)
            for (int t = 0; t < COUNT_OF(transfers); t++) {
                CHECK_BELOW(scatter_error(dim, transfers[t], k, k), rounding);
                CHECK_BELOW(gather_error(dim, transfers[t], k, k), rounding);
            }
}

/* Negative control. */
static void test_the_other_kernel_is_not(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_OF(kernels); k++) {
        CHECK_ABOVE(scatter_error(2, "apic", k, !k), 0.01);
        CHECK_ABOVE(gather_error(2, "aflip", k, !k), 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_transfers_are_the_reference),
        cmocka_unit_test(test_the_other_kernel_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
