/*
 * A step of the fast transfers against the plain ones (mpm/reference.c): masses and momenta of
 * nodes, their velocities, and velocity, affine part, higher modes and position of particles; for
 * every kernel and integrator, 2D and 3D. Particles at random places with random motion, strains
 * and modes. Negative control: with another kernel or without its own terms the reference must not
 * fit.
 */
#include "physics.h"

#include "core/random.h"
#include "solver/mpm/mpm.h"
#include "solver/mpm/reference.h"

#define BETA  0.3
#define ALPHA 0.9

static const char *const kernel_names[] = {"linear", "quadratic", "cubic", "gimp"};

/* What the reference is told of a scheme (the table in mpm.h). */
typedef struct scheme {
    const char *name;
    bool affine, flip;
    double alpha, beta;
} scheme;
static const scheme schemes[] = {
    {"pic", false, false, 0, 0},         {"flip", false, true, ALPHA, 0},
    {"nflip", false, true, ALPHA, 1},    {"sflip", false, true, ALPHA, BETA},
    {"apic", true, false, 0, 0},         {"aflip", true, true, ALPHA, 0},
    {"aspic", true, false, ALPHA, BETA}, {"asflip", true, true, ALPHA, BETA},
    {"polypic", true, false, 0, 0},
};

static double number(uint64_t id, uint64_t what) { return 2 * random_unit(11, id, what) - 1; }

/* A cloud in free space, jittered, with random motion. */
static play cloud(int dim, const char *kernel, const char *integrator) {
    const bool flat = dim == 2;
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.125, walls: open}\n"
        "solver: {kernel: %s, integrator: %s, alpha: 0.9, beta: [0.3, 0.3], dt: 1.0e-3}\n"
        "materials: {m: {model: neo_hookean, density: 700, young_modulus: 1.0e4}}\n"
        "bodies: [{material: m, sampling: jittered, jitter: 0.9, shape: {box: {min: %s, max: "
        "%s}}}]\n",
        dim, flat ? "[1, -9.81]" : "[1, -9.81, 2]", flat ? "[3, 3]" : "[3, 3, 3]", kernel,
        integrator, flat ? "[1, 1]" : "[1, 1, 1]", flat ? "[2, 2]" : "[1.6, 1.6, 1.6]");
    particles *q = &p.sim->particles;
    for (int64_t i = 0; i < q->count; i++) {
        uint64_t id = q->id[i], what = 0;
        for (int r = 0; r < dim; r++) {
            q->velocity[i][r] = (real)number(id, what++);
            for (int a = 0; a < dim; a++) q->affine[i][a][r] = (real)(0.2 * number(id, what++));
            for (int k = 0; k < POLY_MODES_MAX && q->modes; k++)
                q->modes[i][k][r] = (real)(0.1 * number(id, what++));
            if (q->moment) PLANE(q, moment, r)[i] = (real)(0.2 + 0.05 * number(id, what++));
        }
        for (int k = 0; k < 6; k++) {
            const bool out_of_plane = flat && (k == 2 || k == 3 || k == 4);
            PLANE(q, strain, k)[i] = out_of_plane ? 0 : (real)(0.05 * number(id, what++));
        }
    }
    return p;
}

/* Node n of the grid is at n - 1/2 in the blocks' coordinates. */
static reference_particle particle_of(const spate_simulation *sim, int32_t block, int64_t i) {
    static const int place[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    const particles *q = &sim->particles;
    reference_particle p = {.mass = (double)q->mass[i], .density = 700};
    double g[3], tau[6] = {0};
    blocks_position(&sim->blocks, q, block, i, g);
    sim->type->stress(sim, i, tau, NULL, NULL);
    for (int r = 0; r < sim->scene->dim; r++) {
        p.x[r] = g[r] + 0.5;
        p.v[r] = (double)q->velocity[i][r];
        if (q->moment) p.D[r] = (double)PLANE(q, moment, r)[i];
        for (int a = 0; a < sim->scene->dim; a++) {
            p.C[r][a] = (double)q->affine[i][a][r];
            p.tau[r][a] = tau[place[r][a]];
        }
        for (int k = 0; k < POLY_MODES_MAX && q->modes; k++)
            p.modes[k][r] = (double)q->modes[i][k][r];
    }
    return p;
}

static reference_step step_of(const play *p, int kernel, const scheme *told) {
    const mpm *m = p->sim->solver;
    reference_step s = {.dim = p->scene->dim,
                        .order = kernel + 1,
                        .affine = told->affine,
                        .flip = told->flip,
                        .alpha = told->alpha,
                        .beta = told->beta,
                        .mode_count = m->view.poly.count,
                        .mode = m->view.poly.mode,
                        .mode_scale = m->view.poly.scale,
                        .dx = p->scene->domain.dx,
                        .dt = 1e-3,
                        .nodes = {1, 1, 1}};
    int64_t nodes = 1;
    for (int a = 0; a < s.dim; a++) {
        s.gravity[a] = p->scene->gravity[a];
        nodes *= s.nodes[a] = p->scene->domain.cells[a] + 4;
    }
    s.grid = calloc((size_t)nodes, sizeof *s.grid);
    return s;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

typedef struct errors {
    double mass, momentum, grid, velocity, affine, modes, position;
} errors;

static void worse(double *largest, double error) {
    if (!(fabs(error) <= *largest)) *largest = fabs(error);
}

/* Index of node n (`edge` along an axis, from `first` on) in the dense grid. */
static int64_t dense_index(const reference_step *s, const int32_t coords[3], int first, int edge,
                           int n) {
    int64_t at = 0;
    for (int a = 0, stride = s->dim == 3 ? edge * edge : edge; a < s->dim; a++, stride /= edge)
        at = at * s->nodes[a] + coords[a] * BLOCK_EDGE + first + n / stride % edge;
    return at;
}

/* Masses and momenta: what all tiles hold. */
static void compare_tiles(const play *p, const reference_step *s, errors *e) {
    const mpm_view *m = &((const mpm *)p->sim->solver)->view;
    const int64_t nodes = (int64_t)s->nodes[0] * s->nodes[1] * s->nodes[2];
    double(*sums)[4] = calloc((size_t)nodes, sizeof *sums), scale = 0;
    for (int32_t o = 0; o < p->sim->blocks.occupied_count; o++)
        for (int n = 0; n < tile_nodes(s->dim); n++) {
            const int32_t *coords = m->coords[m->occupied[o]];
            const real *at = m->tiles + o * tile_reals(s->dim, m->node_reals) + m->node_reals * n;
            if (at[3] == 0) continue;
            for (int c = 0; c < 4; c++)
                sums[dense_index(s, coords, -1, TILE_EDGE, n)][c] += (double)at[c];
        }
    for (int64_t n = 0; n < nodes; n++) scale = fmax(scale, s->grid[n].mass);
    for (int64_t n = 0; n < nodes; n++) {
        const reference_node *i = &s->grid[n];
        worse(&e->mass, (sums[n][3] - i->mass) / scale);
        for (int c = 0; c < s->dim; c++) {
            const double impulse = m->node_reals == 4 ? i->impulse[c] : 0;
            worse(&e->momentum, (sums[n][c] - i->momentum[c] - impulse) / scale);
        }
    }
    free(sums);
}

/* Velocities of nodes, v^n too where it is kept, as far as they have a mass that counts. */
static void compare_nodes(const play *p, const reference_step *s, errors *e) {
    const mpm_view *m = &((const mpm *)p->sim->solver)->view;
    for (int32_t block = 0; block < p->sim->blocks.count; block++)
        for (int n = 0; n < block_nodes(s->dim); n++) {
            const real *v =
                m->velocities[0] + block * block_reals(s->dim, m->node_reals) + m->node_reals * n;
            const int64_t at = dense_index(s, m->coords[block], 0, BLOCK_EDGE, n);
            if (!(s->grid[at].mass > 1e-3)) continue;
            for (int c = 0; c < s->dim; c++) {
                worse(&e->grid, (double)v[c] - s->grid[at].v[c]);
                if (m->node_reals == 8) worse(&e->grid, (double)v[4 + c] - s->grid[at].v_old[c]);
            }
        }
}

static void compare_particle(const play *p, const reference_particle *expected, errors *e) {
    const uint64_t *id = p->sim->particles.id;
    EACH_PARTICLE(p->sim, block, i) {
        const reference_particle got = particle_of(p->sim, block, i), *want = &expected[id[i]];
        for (int r = 0; r < p->scene->dim; r++) {
            worse(&e->position, got.x[r] - want->x[r]);
            worse(&e->velocity, got.v[r] - want->v[r]);
            for (int a = 0; a < p->scene->dim; a++) worse(&e->affine, got.C[r][a] - want->C[r][a]);
            for (int k = 0; k < ((const mpm *)p->sim->solver)->view.poly.count; k++)
                worse(&e->modes, got.modes[k][r] - want->modes[k][r]);
        }
    }
}

/* A step of both; the reference with what it is told. */
static errors compare(int dim, int kernel, const char *integrator, int told_kernel,
                      const scheme *told) {
    play p = cloud(dim, kernel_names[kernel], integrator);
    reference_step s = step_of(&p, told_kernel, told);
    const int64_t count = p.sim->particles.count;
    reference_particle *expected = calloc((size_t)count, sizeof *expected);
    EACH_PARTICLE(p.sim, block, i)
    expected[p.sim->particles.id[i]] = particle_of(p.sim, block, i);
    for (int64_t i = 0; i < count; i++) reference_p2g(&s, &expected[i]);
    reference_grid(&s);
    for (int64_t i = 0; i < count; i++) reference_g2p(&s, &expected[i]);
    play_steps(&p, 1);
    errors e = {0};
    compare_tiles(&p, &s, &e);
    compare_nodes(&p, &s, &e);
    compare_particle(&p, expected, &e);
    free(expected), free(s.grid);
    play_close(&p);
    return e;
}

static double largest_of(const errors *e) {
    double largest = e->mass;
    worse(&largest, e->momentum), worse(&largest, e->grid), worse(&largest, e->velocity);
    worse(&largest, e->affine), worse(&largest, e->modes), worse(&largest, e->position);
    return largest;
}

static void fast_transfers_are_the_plain_ones(void **state) {
    (void)state;
    const double gate = IN_DOUBLE ? 1e-12 : 2e-6;
    for (int dim = 2; dim <= 3; dim++)
        for (int kernel = 0; kernel < COUNT_OF(kernel_names); kernel++)
            for (int k = 0; k < COUNT_OF(schemes); k++) {
                if (!strcmp(schemes[k].name, "polypic") && kernel != KERNEL_QUADRATIC) continue;
                const errors e = compare(dim, kernel, schemes[k].name, kernel, &schemes[k]);
                print_message("%dD %s %s: mass %.1g momentum %.1g nodes %.1g; v %.1g C %.1g modes "
                              "%.1g x %.1g\n",
                              dim, kernel_names[kernel], schemes[k].name, e.mass, e.momentum,
                              e.grid, e.velocity, e.affine, e.modes, e.position);
                CHECK_BELOW(largest_of(&e), gate);
            }
}

/* Negative controls: what each term of the reference is there for. */
static void wrong_references_do_not_fit(void **state) {
    (void)state;
    const scheme *apic = &schemes[4], no_affine = {"", .alpha = 0},
                 no_flip = {"", .affine = true, .alpha = ALPHA, .beta = BETA},
                 no_beta = {"", .affine = true, .flip = true, .alpha = ALPHA};
    const errors kernel = compare(2, KERNEL_QUADRATIC, apic->name, KERNEL_CUBIC, apic),
                 affine = compare(2, KERNEL_QUADRATIC, apic->name, KERNEL_QUADRATIC, &no_affine),
                 flip = compare(2, KERNEL_QUADRATIC, "asflip", KERNEL_QUADRATIC, &no_flip),
                 beta = compare(2, KERNEL_QUADRATIC, "asflip", KERNEL_QUADRATIC, &no_beta),
                 gimp = compare(2, KERNEL_GIMP, apic->name, KERNEL_QUADRATIC, apic);
    CHECK_ABOVE(kernel.mass, 1e-2);
    CHECK_ABOVE(gimp.mass, 1e-2);
    CHECK_ABOVE(affine.momentum, 1e-2);
    CHECK_ABOVE(flip.velocity, 1e-2);
    CHECK_ABOVE(beta.position, 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_transfers_are_the_plain_ones),
        cmocka_unit_test(wrong_references_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
