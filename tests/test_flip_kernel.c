/*
 * The transfer and the level set of Ando et al. 2012 against their definitions, summed over all
 * particles in double: eq. 1 at every face, eq. 2 and 5 in every cell, with masses that differ,
 * closed sides and a periodic axis. Sums with another radius, or without the period, must not
 * agree.
 */
#include "physics.h"

#include "core/random.h"
#include "solver/flip/flip.h"

static const char *const ando = "transfer: kernel, surface: density";
static const char *const periodic = "{x_min: periodic, x_max: periodic}";

#ifdef SPATE_DOUBLE
static const double rounding = 1e-12;
#else
static const double rounding = 2e-5;
#endif

static play open_pool(int threads, int dim, const char *size, const char *walls,
                      const char *options, const char *bodies) {
    return play_open(threads,
                     "spate: 1\ndimension: %d\ndomain: {size: %s, dx: 0.1, walls: %s}\n"
                     "solver: {type: flip, %s}\nmaterials: {water: {model: liquid, density: 700}}\n"
                     "bodies: [%s]\n",
                     dim, size, walls, options, bodies);
}

#define BODY(shape) "{material: water, shape: {" shape "}}"

/* ---- A cloud of particles -------------------------------------------------------------------- */

/* Positions in cells, masses as shares of a full cell's. */
typedef struct cloud {
    int dim;
    const domain *domain;
    int64_t count;
    double (*x)[3], (*v)[3], *mass, *size; /* size: d of particle_radius.h */
} cloud;

static cloud cloud_of(const play *p) {
    const spate_simulation *sim = p->sim;
    const flip *f = sim->solver;
    const size_t count = (size_t)sim->particles.count;
    cloud c = {.dim = p->scene->dim, .domain = &p->scene->domain};
    c.x = test_calloc(count, sizeof *c.x);
    c.v = test_calloc(count, sizeof *c.v);
    c.mass = test_calloc(count, sizeof *c.mass);
    c.size = test_calloc(count, sizeof *c.size);
    EACH_PARTICLE(sim, block, i) {
        blocks_position(&sim->blocks, &sim->particles, block, i, c.x[c.count]);
        for (int a = 0; a < c.dim; a++) c.v[c.count][a] = (double)sim->particles.velocity[i][a];
        c.mass[c.count] = (double)sim->particles.mass[i] * (double)f->inverse_mass;
        c.size[c.count] = pow(fmin(c.mass[c.count], 1), 1.0 / c.dim);
        c.count++;
    }
    return c;
}

static void cloud_free(cloud *c) {
    test_free(c->x), test_free(c->v);
    test_free(c->mass), test_free(c->size);
}

static double full_count(int dim) { return dim == 3 ? 8 : 4; }

/* Squared distance in cells, the shorter way round on periodic axes if asked to; the largest way
 * along an axis too. */
static double distance2(const cloud *c, const double x[3], const double y[3], bool round,
                        double *longest) {
    double sum = 0;
    *longest = 0;
    for (int a = 0; a < c->dim; a++) {
        double way = fabs(x[a] - y[a]);
        const int cells = c->domain->cells[a];
        if (round && c->domain->walls[a][0] == WALL_PERIODIC) way = fmin(way, cells - way);
        *longest = fmax(*longest, way);
        sum += way * way;
    }
    return sum;
}

/* What a step does before it scatters. */
static flip *lay_out(play *p) {
    flip *f = p->sim->solver;
    const blocks *b = &p->sim->blocks;
    int64_t lost;
    p->sim->dt = 1e-3;
    assert_int_equal(
        blocks_sort(&p->sim->blocks, &p->sim->particles, &p->sim->scratch, p->ctx->pool, &lost), 0);
    assert_int_equal(flip_grid(f), SPATE_OK);
    assert_int_equal(GROW(p->ctx, f->coloured, f->coloured_capacity, b->occupied_count), SPATE_OK);
    for (int colour = 0, count = 0; colour < 1 << b->dim; colour++) {
        for (int32_t o = 0; o < b->occupied_count; o++) {
            const int32_t *c = b->coords[b->occupied[o]];
            if (((c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2) == colour)
                f->coloured[count++] = b->occupied[o];
        }
        f->colour_starts[colour + 1] = count;
    }
    return f;
}

/* A body in a corner, thinned out upwards, with random velocities and masses from a third of the
 * usual to three times as much where `uneven`. */
static play scattered(int dim, const char *walls, bool uneven) {
    play p =
        dim == 2
            ? open_pool(
                  1, 2, "[1.6, 1.6]", walls, ando,
                  "{material: water, jitter: 0.9, shape: {box: {min: [0, 0], max: [1.6, 1.4]}}}")
            : open_pool(1, 3, "[0.8, 0.8, 0.8]", walls, ando,
                        "{material: water, jitter: 0.9, shape: {box: {min: [0, 0, 0.2], max: [0.8, "
                        "0.7, 0.8]}}}");
    particles *all = &p.sim->particles;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        const uint32_t id = all->id[i];
        simulation_position(p.sim, block, i, x);
        if (random_unit(1, id, 0) > 1.8 - 2.6 * x[1] / p.scene->domain.size[1])
            all->group[i] = GROUP_REMOVED;
        for (int a = 0; a < dim; a++)
            all->velocity[i][a] = (real)(random_unit(1, id, 1 + (uint64_t)a) - 0.5);
        if (uneven) all->mass[i] *= (real)(0.3 + 2.7 * random_unit(1, id, 4));
    }
    return p;
}

/* ---- Eq. 1 ----------------------------------------------------------------------------------- */

/* Whether face g of component c lies behind a closed side. */
static bool is_behind(const domain *d, int dim, int c, const int g[3]) {
    bool behind = false;
    for (int a = 0; a < dim; a++) {
        behind |= g[a] < 0 && wall_is_closed(d->walls[a][0]);
        behind |= g[a] > d->cells[a] - (a != c) && wall_is_closed(d->walls[a][1]);
    }
    return behind;
}

/* The image behind a closed side of the middle of cell g along an axis, with its sign; false where
 * it is out of every particle's reach. */
static bool image_of(const domain *d, int axis, int g, double *middle, double *sign) {
    const bool low = g == 0 && wall_is_closed(d->walls[axis][0]);
    const bool high = g == d->cells[axis] - 1 && wall_is_closed(d->walls[axis][1]);
    if (!low && !high) return false;
    *middle = low ? -0.5 : d->cells[axis] + 0.5;
    *sign = d->walls[axis][low ? 0 : 1] == WALL_STICKY ? -1 : 1;
    return true;
}

/* Velocity at face g of component c with radii a_u d; NAN where no particle is around. */
static double face_reference(const cloud *all, int c, const int g[3], double a_u) {
    double momentum = 0, mass = 0, best = HUGE_VAL, nearest = NAN;
    for (int images = 0; images < 1 << all->dim; images++) {
        double x[3] = {0}, sign = 1;
        bool there = true;
        for (int a = 0; a < all->dim; a++) {
            double turn = 1;
            x[a] = g[a] + (a == c ? 0 : 0.5);
            if (images >> a & 1) there &= a != c && image_of(all->domain, a, g[a], &x[a], &turn);
            sign *= turn;
        }
        for (int64_t i = 0; i < all->count && there; i++) {
            double longest, r2 = distance2(all, x, all->x[i], true, &longest);
            if (longest >= 1) continue;
            double R = a_u * all->size[i];
            double w = fmax(R * R / r2 - 1, 0) * all->mass[i];
            momentum += sign * w * all->v[i][c], mass += w;
            if (!images && r2 < best) best = r2, nearest = all->v[i][c];
        }
    }
    return mass > 1e-7 ? momentum / mass : nearest;
}

/* The largest difference of a face's velocity. */
static double transfer_error(int dim, const char *walls, double a_u) {
    play p = scattered(dim, walls, true);
    flip *f = lay_out(&p);
    cloud all = cloud_of(&p);
    assert_int_equal(flip_scatter_kernel(f), SPATE_OK);
    double worst = 0;
    for (int32_t brick = 0; brick < f->grid.bricks.count; brick++)
        for (int n = 0; n < mac_cells(dim); n++)
            for (int c = 0; c < dim; c++) {
                int g[3];
                const int64_t at = (int64_t)brick * mac_cells(dim) + n;
                mac_place(n, dim, g);
                for (int a = 0; a < dim; a++) g[a] += f->grid.bricks.coords[brick][a] * BRICK_EDGE;
                const double u = face_reference(&all, c, g, a_u);
                const double mass = (double)f->grid.mass[c][at];
                const bool given = mass > 0, asked = !is_behind(&p.scene->domain, dim, c, g);
                assert_int_equal(given, asked && !isnan(u));
                if (given) worst = fmax(worst, fabs((double)f->grid.velocity[c][at] / mass - u));
            }
    assert_true(scratch_is_empty(&p.sim->scratch));
    cloud_free(&all);
    play_close(&p);
    return worst;
}

static void test_faces_match_all_particles(void **state) {
    (void)state;
    CHECK_BELOW(transfer_error(2, "slip", 1), rounding);
    CHECK_BELOW(
        transfer_error(2, "{x_min: periodic, x_max: periodic, y_min: sticky, y_max: sticky}", 1),
        rounding);
    CHECK_ABOVE(transfer_error(2, "slip", 0.8), 0.1); /* negative control: another radius */
    if (WATCHED) return;
    CHECK_BELOW(
        transfer_error(3, "{x_min: periodic, x_max: periodic, y_min: sticky, y_max: open}", 1),
        rounding);
}

static double velocity_at(const flip *f, int c, int i, int j, int k) {
    const int32_t corner[3] = {i >> 3, j >> 3, k >> 3};
    const int32_t brick = sparse_lattice_find(&f->grid.bricks, corner);
    const int64_t at = mac_cell(&f->grid, brick, (const int[3]){i & 7, j & 7, k & 7});
    return (double)(f->grid.velocity[c][at] / f->grid.mass[c][at]);
}

static void set_velocity(play *p, int64_t id, double x, double y) {
    for (int64_t i = 0; i < p->sim->particles.count; i++)
        if (p->sim->particles.id[i] == (uint64_t)id) {
            p->sim->particles.velocity[i][0] = (real)x;
            p->sim->particles.velocity[i][1] = (real)y;
        }
}

/* One particle on the low x face of cell (5, 5), two beside it. The linear kernel takes a mean
 * there. */
static void test_particle_on_a_face_wins(void **state) {
    (void)state;
    double there[2];
    for (int sharp = 0; sharp < 2; sharp++) {
        play p = open_pool(1, 2, "[1.6, 1.6]", "slip", ando,
                           BODY("points: [[0.5, 0.55], [0.52, 0.57], [0.47, 0.54]]"));
        set_velocity(&p, 0, 3, -1), set_velocity(&p, 1, -2, 0), set_velocity(&p, 2, 7, 5);
        flip *f = lay_out(&p);
        flip_options options = *f->options;
        if (sharp) {
            assert_int_equal(flip_scatter_kernel(f), SPATE_OK);
        } else {
            options.transfer = FLIP_FLIP;
            f->options = &options;
            flip_view view = flip_view_of(f);
            parallel_colours(p.ctx->pool, f->colour_starts, 4, 4, f->kernels->scatter[0], &view);
        }
        there[sharp] = velocity_at(f, 0, 5, 5, 0);
        play_close(&p);
    }
    CHECK_BELOW(fabs(there[1] - 3), 1e-5);
    CHECK_ABOVE(fabs(there[0] - 3), 0.1);
}

/* The corners of a cell's length: beyond every radius, within reach. */
static void test_far_faces_take_the_nearest(void **state) {
    (void)state;
    play p =
        open_pool(1, 2, "[1.6, 1.6]", "slip", ando, BODY("points: [[0.51, 0.53], [0.67, 0.56]]"));
    set_velocity(&p, 0, 1, 2), set_velocity(&p, 1, -3, 4);
    flip *f = lay_out(&p);
    assert_int_equal(flip_scatter_kernel(f), SPATE_OK);
    /* x faces of cells (6, 5) at (6, 5.5) and (6, 4) at (6, 4.5): the second particle is nearer to
     * the first of them, the other is near to neither and out of the second's reach */
    CHECK_BELOW(fabs(velocity_at(f, 0, 6, 5, 0) - -3), 1e-6);
    CHECK_BELOW(fabs(velocity_at(f, 0, 6, 4, 0) - 1), 1e-6);
    CHECK_BELOW(fabs(velocity_at(f, 1, 4, 5, 0) - 2), 1e-6);
    int64_t reached = 0;
    double mass = (double)p.sim->particles.mass[0], momentum = 0, weights = 0;
    for (int c = 0; c < 2; c++)
        for (int64_t n = 0; n < (int64_t)f->grid.bricks.count * mac_cells(2); n++) {
            reached += f->grid.mass[c][n] > 0;
            if (c == 1) continue;
            momentum += (double)f->grid.velocity[c][n], weights += (double)f->grid.mass[c][n];
        }
    assert_int_equal(reached, 4 + 4 + 4 + 4 - 1); /* one x face is near to both */
    assert_true(weights > mass);
    assert_true(momentum < weights && momentum > -3 * weights);
    play_close(&p);
}

/* Whatever the weights, also of particles that are folded back from closed sides. */
static void test_keeps_a_constant_velocity(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = scattered(dim, periodic, true);
        static const double v[3] = {0.3, -0.7, 1.1};
        for (int64_t i = 0; i < p.sim->particles.count; i++)
            for (int a = 0; a < dim; a++) p.sim->particles.velocity[i][a] = (real)v[a];
        flip *f = lay_out(&p);
        assert_int_equal(flip_scatter_kernel(f), SPATE_OK);
        double worst = 0;
        for (int c = 0; c < dim; c++)
            for (int64_t n = 0; n < (int64_t)f->grid.bricks.count * mac_cells(dim); n++) {
                const double mass = (double)f->grid.mass[c][n];
                if (mass > 0)
                    worst = fmax(worst, fabs((double)f->grid.velocity[c][n] / mass - v[c]));
            }
        CHECK_BELOW(worst, 8 * (double)REAL_EPSILON);
        play_close(&p);
    }
}

/* ---- Eq. 2 and 5 ----------------------------------------------------------------------------- */

static double density_reference(const cloud *all, const double x[3], bool round) {
    double sum = 0, longest;
    for (int64_t i = 0; i < all->count; i++) {
        double R = 4 * all->size[i];
        double r2 = distance2(all, x, all->x[i], round, &longest);
        sum += all->mass[i] * fmax(1 - r2 / (R * R), 0);
    }
    return sum;
}

/* Sums over the particles of each cell of the domain, and the largest density. */
static double *cell_sums(const cloud *all, bool round, double *largest) {
    const int *cells = all->domain->cells, depth = all->dim == 3 ? cells[2] : 1;
    double *sums = test_calloc((size_t)(cells[0] * cells[1] * depth), sizeof *sums);
    *largest = 0;
    for (int64_t i = 0; i < all->count; i++) {
        const double *x = all->x[i], rho = density_reference(all, x, round);
        const int k = all->dim == 3 ? (int)x[2] : 0;
        *largest = fmax(*largest, rho);
        sums[((int)x[0] * cells[1] + (int)x[1]) * depth + k] +=
            rho * fmax(1, all->mass[i] * full_count(all->dim));
    }
    return sums;
}

typedef struct level_error {
    double phi, reference;
    int air, between, liquid;
} level_error;

static void compare_cell(const flip *f, const int g[3], double sum, double rho0, level_error *e) {
    const int32_t corner[3] = {g[0] >> 3, g[1] >> 3, g[2] >> 3};
    const int32_t brick = sparse_lattice_find(&f->grid.bricks, corner);
    const double phi = 1 - sum / (0.2 * full_count(f->grid.dim) * rho0);
    e->air += phi > 0, e->between += phi <= 0 && phi > -1, e->liquid += phi <= -1;
    if (brick < 0) {
        assert_true(sum == 0);
        return;
    }
    const int64_t at = mac_cell(&f->grid, brick, (const int[3]){g[0] & 7, g[1] & 7, g[2] & 7});
    e->phi = fmax(e->phi, fabs((double)f->grid.phi[0][at] - fmax(phi, -1)));
}

static level_error surface_errors(int dim, const char *walls, bool uneven, bool round) {
    play p = scattered(dim, walls, uneven);
    flip *f = lay_out(&p);
    cloud all = cloud_of(&p);
    level_error e = {0};
    double rho0;
    double *sums = cell_sums(&all, round, &rho0);
    assert_int_equal(flip_density_surface(f), SPATE_OK);
    e.reference = fabs(f->memory.reference * (double)f->inverse_mass / rho0 - 1);
    const int *cells = p.scene->domain.cells, depth = dim == 3 ? cells[2] : 1;
    for (int n = 0; n < cells[0] * cells[1] * depth; n++) {
        const int g[3] = {n / depth / cells[1], n / depth % cells[1], n % depth};
        compare_cell(f, g, sums[n], rho0, &e);
    }
    assert_true(scratch_is_empty(&p.sim->scratch));
    test_free(sums);
    cloud_free(&all);
    play_close(&p);
    return e;
}

static void test_level_matches_all_particles(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int uneven = 0; uneven < 2; uneven++) {
            level_error e = surface_errors(dim, periodic, uneven, true);
            print_message("%dD: phi %.2g, rho0 %.2g; %d air, %d between, %d deep\n", dim, e.phi,
                          e.reference, e.air, e.between, e.liquid);
            CHECK_BELOW(e.phi, rounding);
            CHECK_BELOW(e.reference, rounding);
            assert_true(e.air > 20 && e.between > 10 && e.liquid > 20);
        }
    /* negative control: the periodic axis cut open */
    CHECK_ABOVE(surface_errors(2, periodic, false, false).phi, 0.1);
}

/* The reference is found once. */
static void test_reference_is_kept(void **state) {
    (void)state;
    play p = scattered(2, "slip", false);
    flip *f = lay_out(&p);
    f->memory.reference = 1e6;
    assert_int_equal(flip_density_surface(f), SPATE_OK);
    assert_true(f->memory.reference == 1e6);
    for (int64_t n = 0; n < (int64_t)f->grid.bricks.count * mac_cells(2); n++)
        assert_true(f->grid.phi[0][n] > (real)0.9); /* all is thin against such a reference */
    play_close(&p);
}

/* A drop of one particle, and by choice a full brick of liquid far from it. */
static play drop_and_pool(int dim, bool pooled) {
#define DROP_2D BODY("points: [[1.25, 1.23]]")
#define POOL_2D BODY("box: {min: [0, 0], max: [0.8, 0.8]}")
#define DROP_3D BODY("points: [[1.25, 1.23, 1.31]]")
#define POOL_3D BODY("box: {min: [0, 0, 0], max: [0.8, 0.8, 0.8]}")
    if (dim == 2)
        return open_pool(1, 2, "[1.6, 1.6]", "slip", ando, pooled ? DROP_2D ", " POOL_2D : DROP_2D);
    return open_pool(1, 3, "[1.6, 1.6, 1.6]", "slip", ando,
                     pooled ? DROP_3D ", " POOL_3D : DROP_3D);
}

/* The pool is liquid up to its surface; the drop is air, also when there is nothing to compare it
 * with. */
static void test_lone_particle_is_air(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int pooled = 0; pooled < 2; pooled++) {
            play p = drop_and_pool(dim, pooled);
            flip *f = lay_out(&p);
            assert_int_equal(flip_density_surface(f), SPATE_OK);
            const int32_t first[3] = {0, 0, 0};
            const int64_t cells = (int64_t)f->grid.bricks.count * mac_cells(dim);
            const int64_t brick = pooled ? sparse_lattice_find(&f->grid.bricks, first) : -1;
            int partly = 0;
            for (int64_t n = 0; n < cells; n++) {
                const real phi = f->grid.phi[0][n];
                assert_int_equal(phi < 0, n / mac_cells(dim) == brick);
                partly += phi > 0 && phi < 1;
            }
            assert_int_equal(partly, 1); /* the drop's cell */
            play_close(&p);
        }
}

/* ---- In steps -------------------------------------------------------------------------------- */

static play dam_break(int threads, int dim, const char *options) {
    return dim == 2 ? open_pool(threads, 2, "[3.2, 1.6]", "slip", options,
                                BODY("box: {min: [0, 0], max: [0.8, 1.2]}"))
                    : open_pool(threads, 3, "[1.6, 1.2, 0.8]", "slip", options,
                                BODY("box: {min: [0, 0, 0], max: [0.5, 0.8, 0.8]}"));
}

static double middle_along(const play *p, int axis) {
    double sum = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        sum += x[axis];
    }
    return sum / (double)p->sim->particles.count;
}

/* How far the liquid's middle has gone until t: sideways and down. */
static uint64_t dam_moves(int threads, int dim, const char *options, double t, double way[2]) {
    play p = dam_break(threads, dim, options);
    const double x = middle_along(&p, 0), y = middle_along(&p, 1);
    play_until(&p, t);
    way[0] = middle_along(&p, 0) - x, way[1] = y - middle_along(&p, 1);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        for (int a = 0; a < dim; a++) assert_true(isfinite(p.sim->particles.velocity[i][a]));
    const uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

/* About twenty steps. The reference is the solver's usual transfer and surface; a column that
 * nothing holds up falls otherwise. */
static void test_dam_breaks(void **state) {
    (void)state;
    const double t = WATCHED ? 0.2 : 0.55, fall = 0.5 * 9.81 * t * t;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        double usual[2], way[2];
        dam_moves(1, dim, "transfer: flip, surface: volume", t, usual);
        const uint64_t hash = dam_moves(1, dim, ando, t, way);
        print_message("%dD: sideways %.4f (%.4f), down %.4f (%.4f)\n", dim, way[0], usual[0],
                      way[1], usual[1]);
        for (int a = 0; a < 2; a++) CHECK_BELOW(fabs(way[a] / usual[a] - 1), 0.08);
        CHECK_ABOVE(fabs(fall / usual[1] - 1), 0.2);
        for (int threads = 2; threads <= 3; threads++)
            assert_true(dam_moves(threads, dim, ando, t, way) == hash);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faces_match_all_particles),
        cmocka_unit_test(test_particle_on_a_face_wins),
        cmocka_unit_test(test_far_faces_take_the_nearest),
        cmocka_unit_test(test_keeps_a_constant_velocity),
        cmocka_unit_test(test_level_matches_all_particles),
        cmocka_unit_test(test_reference_is_kept),
        cmocka_unit_test(test_lone_particle_is_air),
        cmocka_unit_test(test_dam_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
