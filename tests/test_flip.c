/*
 * FLIP stage by stage: what the transfer keeps (validation cases 2 and 3), reseeding, the bricks
 * that exist, open fractions of faces, velocity at a point, and what happens when the pressure
 * fails.
 */
#include "physics.h"

#include "core/random.h"
#include "solver/flip/flip.h"

/* Rounding of one transfer. */
static const double gate = IN_DOUBLE ? 1e-13 : 1e-6;

static const char *const transfers[] = {"pic", "flip", "apic", "aflip"};
static const char *const kernels[] = {"linear", "quadratic"};
static const char *const momenta[] = {"momentum_x", "momentum_y", "momentum_z"};

static void run_stage(play *p, const char *name) {
    for (int i = 0; i < FLIP_STAGES; i++)
        if (!strcmp(flip_stages[i].name, name)) {
            if (flip_stages[i].run(p->sim->solver)) fail_msg("%s", spate_message(p->ctx));
            return;
        }
    fail_msg("no stage is called %s", name);
}

static void run_named(play *p, double dt, const char *const *names, int count) {
    p->sim->dt = dt;
    for (int i = 0; i < count; i++) run_stage(p, names[i]);
}

/* To the grid and back, without anything in between. */
static void transfer_once(play *p, double dt) {
    static const char *const names[] = {"sort", "grid", "scatter", "forces", "gather"};
    run_named(p, dt, names, COUNT_OF(names));
}

/* ---- Case 3: scatter, gather ----------------------------------------------------------------- */

/* A cloud in free space, or in a corner of the domain. */
static play open_cloud(int dim, const char *transfer, const char *kernel, bool corner) {
    const bool flat = dim == 2;
    return play_open(1,
                     "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
                     "domain: {size: %s, dx: 0.1, walls: %s}\n"
                     "solver: {type: flip, transfer: %s, kernel: %s, alpha: 0.9, advection: rk1}\n"
                     "materials: {m: {model: liquid, density: 700}}\n"
                     "bodies: [{material: m, sampling: jittered, jitter: 0.9, shape: {box: {min: "
                     "%s, max: %s}}}]\n",
                     dim, flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[3, 3]" : "[2.4, 2.4, 2.4]",
                     corner ? "slip" : "open", transfer, kernel,
                     corner ? flat ? "[0, 0]" : "[0, 0, 0.6]"
                     : flat ? "[1, 1]"
                            : "[0.8, 0.8, 0.8]",
                     corner ? flat ? "[1, 1]" : "[0.7, 0.6, 1.3]"
                     : flat ? "[2, 2]"
                            : "[1.4, 1.5, 1.4]");
}

static double slope_of(bool corner, int r, int c) {
    static const double slope[3][3] = {{0.4, -0.7, 0.2}, {0.9, 0.1, -0.3}, {-0.5, 0.6, -0.5}};
    return corner && r != c ? 0 : slope[r][c];
}

/* v = a + M x; in the corner v_x ~ x, v_y ~ y, which slides along both walls. */
static double field_at(bool corner, int r, const double x[3], int dim) {
    static const double offset[3] = {0.3, -0.2, 0.5};
    double v = corner && r < 2 ? 0 : offset[r];
    for (int c = 0; c < dim; c++) v += slope_of(corner, r, c) * (x[c] - (corner ? 0 : 1.2));
    return v;
}

/* Second moment of the kernel along an axis for a component's faces, in cells. */
static double moment_of(const play *p, int64_t i, int axis, int component, bool quadratic) {
    double x = (double)PLANE(&p->sim->particles, position, axis)[i] - (axis == component ? 0 : 0.5);
    double share = x - floor(x);
    return quadratic ? 0.25 : share * (1 - share);
}

static void set_linear_field(play *p, bool corner, bool quadratic, bool affine) {
    const int dim = p->scene->dim;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        real *record = p->sim->particles.velocity[i];
        real4 *affine_part = p->sim->particles.affine ? p->sim->particles.affine[i] : NULL;
        for (int r = 0; r < dim; r++) {
            record[r] = (real)field_at(corner, r, x, dim);
            for (int c = 0; c < dim && affine; c++)
                affine_part[c][r] =
                    (real)(slope_of(corner, r, c) * 0.1 * moment_of(p, i, c, r, quadratic));
        }
    }
    p->sim->max_speed = 10;
}

typedef struct field_error {
    double velocity, moment, mass, momentum;
} field_error;

/* What the grid holds of the particles' mass: all of it, for every component. */
static double grid_mass_error(const play *p, double mass) {
    const mac *m = &((const flip *)p->sim->solver)->grid;
    double worst = 0;
    for (int a = 0; a < m->dim; a++) {
        double sum = 0;
        for (int64_t c = 0; c < (int64_t)m->bricks.count * mac_cells(m->dim); c++)
            sum += (double)m->mass[a][c];
        worst = fmax(worst, fabs(sum / mass - 1));
    }
    return worst;
}

static field_error field_errors(int dim, const char *transfer, const char *kernel, bool corner) {
    const bool quadratic = !strcmp(kernel, "quadratic"), affine = *transfer == 'a';
    play p = open_cloud(dim, transfer, kernel, corner);
    set_linear_field(&p, corner, quadratic, affine);
    field_error e = {0};
    double before[3], m = play_quantity(&p, "mass");
    for (int a = 0; a < dim; a++) before[a] = play_quantity(&p, momenta[a]);
    transfer_once(&p, 1e-18);
    e.mass = fmax(fabs(play_quantity(&p, "mass") / m - 1), grid_mass_error(&p, m));
    /* A mirror takes momentum across it. */
    for (int a = corner ? 2 : 0; a < dim; a++)
        e.momentum = fmax(e.momentum, fabs(play_quantity(&p, momenta[a]) - before[a]) / m);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const real *record = p.sim->particles.velocity[i];
        const real4 *affine_part = p.sim->particles.affine ? p.sim->particles.affine[i] : NULL;
        for (int r = 0; r < dim; r++) {
            e.velocity = fmax(e.velocity, fabs((double)record[r] - field_at(corner, r, x, dim)));
            for (int c = 0; c < dim && affine; c++)
                e.moment = fmax(e.moment, fabs((double)affine_part[c][r] -
                                               slope_of(corner, r, c) * 0.1 *
                                                   moment_of(&p, i, c, r, quadratic)));
        }
    }
    play_close(&p);
    return e;
}

static void transfers_keep_a_linear_field(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_OF(kernels); k++)
        for (int dim = 2; dim <= 3; dim++)
            for (int t = 0; t < COUNT_OF(transfers); t++)
                for (int corner = 0; corner < 2; corner++) {
                    field_error e = field_errors(dim, transfers[t], kernels[k], corner);
                    print_message("case 3, %dD, %s, %s%s: mass %.2g momentum %.2g velocity %.2g "
                                  "moment %.2g\n",
                                  dim, transfers[t], kernels[k], corner ? ", corner" : "", e.mass,
                                  e.momentum, e.velocity, e.moment);
                    CHECK_BELOW(e.mass, gate);
                    CHECK_BELOW(e.momentum, gate);
                    if (*transfers[t] == 'a') {
                        CHECK_BELOW(e.velocity, gate);
                        CHECK_BELOW(e.moment, gate);
                    } else
                        CHECK_ABOVE(e.velocity, 1e-3); /* negative control: it needs the moments */
                }
}

/* Random velocities along the walls that the cloud touches. */
static void mirrors_keep_what_slides_along(void **state) {
    (void)state;
    for (int t = 0; t < COUNT_OF(transfers); t++)
        for (int k = 0; k < COUNT_OF(kernels); k++) {
            play p = open_cloud(3, transfers[t], kernels[k], true);
            for (int64_t i = 0; i < p.sim->particles.count; i++)
                p.sim->particles.velocity[i][2] =
                    (real)(random_unit(1, p.sim->particles.id[i], 0) + 1);
            p.sim->max_speed = 2;
            double before = play_quantity(&p, "momentum_z");
            for (int n = 0; n < 5; n++) transfer_once(&p, 1e-4);
            CHECK_BELOW(fabs(play_quantity(&p, "momentum_z") / before - 1), 3 * gate);
            CHECK_BELOW(fabs(play_quantity(&p, "momentum_x")), gate * before);
            CHECK_BELOW(fabs(play_quantity(&p, "momentum_y")), gate * before);
            play_close(&p);
        }
}

/* ---- Case 2: a rotating disc ----------------------------------------------------------------- */

typedef struct spin {
    const char *transfer, *kernel;
    double dx, dt;
    int transfers;
    double noise;   /* random velocities on top of the rotation, m/s */
    bool unlimited; /* the limit on what a lone particle gives a face is out of reach */
} spin;

static play open_disc(const spin *s) {
    play p =
        play_open(1,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                  "domain: {size: [2, 2], dx: %g, walls: open}\n"
                  "solver: {type: flip, transfer: %s, kernel: %s, alpha: 0.99, advection: rk1}\n"
                  "materials: {m: {model: liquid}}\n"
                  "bodies: [{material: m, sampling: regular, spin: 4, shape: {sphere: {center: "
                  "[1.013, 1.017], "
                  "radius: 0.4}}}]\n",
                  s->dx, s->transfer, s->kernel);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        for (int a = 0; a < 2; a++)
            p.sim->particles.velocity[i][a] +=
                (real)(s->noise * (random_unit(4, p.sim->particles.id[i], (uint64_t)a) - 0.5));
    return p;
}

/* The largest change of its angular momentum over all transfers. */
static double angular_change(spin s) {
    play p = open_disc(&s);
    double before = play_quantity(&p, "angular_z"), largest = 0;
    for (int n = 1; n <= s.transfers; n++) {
        if (s.unlimited) p.sim->max_speed = 1e3;
        transfer_once(&p, s.dt);
        if (n % 10) continue;
        largest = fmax(largest, fabs(play_quantity(&p, "angular_z") / before - 1));
    }
    play_close(&p);
    return largest;
}

/* The transfer itself keeps it to rounding. With the quadratic kernel particles move along the
 * linearly interpolated velocity, which is not quite their own: there only while they stay (and
 * fewer times, as the rounding of the same weights adds up). */
static void apic_keeps_angular_momentum(void **state) {
    (void)state;
    const double exact = IN_DOUBLE ? 1e-12 : 1e-5;
    double linear = angular_change((spin){"apic", "linear", 0.05, 2.5e-4, 200, 0, true});
    double quadratic = angular_change((spin){"apic", "quadratic", 0.05, 1e-18, 50, 0.5, true});
    print_message("case 2, transfer of apic: linear %.2g, quadratic %.2g (gate %.0g)\n", linear,
                  quadratic, exact);
    CHECK_BELOW(linear, exact);
    CHECK_BELOW(quadratic, exact);
}

static void rotation_goes_on(void **state) {
    (void)state;
    for (int k = 0; k < (WATCHED ? 1 : COUNT_OF(kernels)); k++) {
        double apic = angular_change((spin){"apic", kernels[k], 0.05, 2.5e-4, 200, 0, false});
        double pic = angular_change((spin){"pic", kernels[k], 0.05, 2.5e-4, 200, 0, false});
        /* What it loses and regains on the way is of second order in dx. */
        double aflip = angular_change((spin){"aflip", kernels[k], 0.03, 2.5e-4, 200, 0, false});
        print_message("case 2, %s: apic %.2g (gate 1e-05), aflip %.2g (gate 0.001), pic %.2g\n",
                      kernels[k], apic, aflip, pic);
        CHECK_BELOW(apic, 1e-5);
        CHECK_BELOW(aflip, 1e-3);
        CHECK_ABOVE(pic, 0.5); /* negative control */
    }
}

/* ---- Reseeding ------------------------------------------------------------------------------- */

/* Half of a block has a particle to a cell, the other half far too many. */
static play open_uneven(int dim, const char *transfer) {
    const bool flat = dim == 2;
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.1, walls: {y_min: slip}}\n"
        "solver: {type: flip, transfer: %s, reseed: true}\nmaterials: {m: {model: liquid}}\n"
        "bodies: [{material: m, jitter: 0.3, particles_per_cell: 1, shape: {box: {min: %s, max: "
        "%s}}}, {material: m, jitter: 0.3, particles_per_cell: %d, shape: {box: {min: %s, max: "
        "%s}}}]\n",
        dim, flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[2.4, 1.6]" : "[1.6, 1.2, 1.2]", transfer,
        flat ? "[0.4, 0]" : "[0.4, 0, 0.2]", flat ? "[1.2, 0.8]" : "[0.8, 0.6, 0.8]",
        flat ? 16 : 27, flat ? "[1.2, 0]" : "[0.8, 0, 0.2]", flat ? "[2, 0.8]" : "[1.2, 0.6, 0.8]");
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        for (int a = 0; a < dim; a++)
            p.sim->particles.velocity[i][a] =
                (real)(random_unit(2, p.sim->particles.id[i], (uint64_t)a) + 0.5);
    return p;
}

typedef struct sums {
    double mass, momentum[3], centre[3];
} sums;

static sums sums_of(const play *p) {
    sums s = {0};
    EACH_PARTICLE(p->sim, block, i) {
        double x[3], m = (double)p->sim->particles.mass[i];
        simulation_position(p->sim, block, i, x);
        s.mass += m;
        for (int a = 0; a < 3; a++) {
            s.momentum[a] += m * (double)p->sim->particles.velocity[i][a];
            s.centre[a] += m * x[a];
        }
    }
    return s;
}

/* Fewest and most particles of the cells that are a cell or more inside the block; the first beside
 * the wall too. */
static void census(const play *p, int *fewest, int *most) {
    const int dim = p->scene->dim, *cells = p->scene->domain.cells;
    const int low[3] = {5, 0, dim == 3 ? 3 : 0};
    const int high[3] = {dim == 3 ? 11 : 19, dim == 3 ? 5 : 7, dim == 3 ? 7 : 1};
    int *counts =
        test_calloc((size_t)(cells[0] * cells[1] * (dim == 3 ? cells[2] : 1)), sizeof(int));
    const int deep = dim == 3 ? cells[2] : 1;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        int at[3] = {(int)(x[0] / 0.1), (int)(x[1] / 0.1), dim == 3 ? (int)(x[2] / 0.1) : 0};
        counts[(at[0] * cells[1] + at[1]) * deep + at[2]]++;
    }
    *fewest = 1 << 30, *most = 0;
    for (int i = low[0]; i < high[0]; i++)
        for (int j = low[1]; j < high[1]; j++)
            for (int k = low[2]; k < high[2]; k++) {
                int count = counts[(i * cells[1] + j) * deep + k];
                *fewest = count < *fewest ? count : *fewest;
                *most = count > *most ? count : *most;
            }
    test_free(counts);
}

static void reseeding_keeps_what_there_is(void **state) {
    (void)state;
    for (int c = 0; c < 4; c++) {
        const int dim = 2 + c % 2;
        int fewest, most;
        play p = open_uneven(dim, c < 2 ? "apic" : "flip");
        const flip *f = p.sim->solver;
        const double *range = f->options->reseed_range;
        run_stage(&p, "sort");
        census(&p, &fewest, &most);
        assert_true(fewest < range[0] && most > range[1]); /* negative control */
        sums before = sums_of(&p);
        run_stage(&p, "reseed");
        sums after = sums_of(&p);
        census(&p, &fewest, &most);
        print_message("reseed, %dD: %d to %d particles in a cell, %lld split, %lld merged\n", dim,
                      fewest, most, (long long)f->memory.split, (long long)f->memory.merged);
        assert_true(fewest >= range[0] && most <= range[1]);
        CHECK_BELOW(fabs(after.mass / before.mass - 1), gate);
        for (int a = 0; a < dim; a++) {
            CHECK_BELOW(fabs(after.momentum[a] / before.momentum[a] - 1), gate);
            CHECK_BELOW(fabs(after.centre[a] - before.centre[a]) / before.mass, gate);
        }
        /* and every particle has a number of its own */
        uint8_t *seen = test_calloc(p.sim->next_id, 1);
        for (int64_t i = 0; i < p.sim->particles.count; i++)
            assert_int_equal(seen[p.sim->particles.id[i]]++, 0);
        test_free(seen);
        run_stage(&p, "reseed"); /* again: nothing is left to do but by cells at the rim */
        CHECK_BELOW(fabs(sums_of(&p).mass / before.mass - 1), gate);
        play_close(&p);
    }
}

/* ---- Bricks ---------------------------------------------------------------------------------- */

/* A dam of 16^3 cells costs the same in a domain of 512^3 cells as in one of 24^3. */
static void a_large_domain_costs_nothing(void **state) {
    (void)state;
    static const double sizes[] = {24.0 / 512, 1};
    size_t bytes[2];
    int32_t bricks[2];
    for (int k = 0; k < 2; k++) {
        play p =
            play_open(1,
                      "spate: 1\nduration: 1\nfps: 1\n"
                      "domain: {size: [%.9g, %.9g, %.9g], dx: 0.001953125}\n"
                      "solver: {type: flip}\nmaterials: {m: {model: liquid}}\n"
                      "bodies: [{material: m, particles_per_cell: 1, shape: {box: {min: [0, 0, "
                      "0], max: [0.03125, 0.03125, 0.03125]}}}]\n",
                      sizes[k], sizes[k], sizes[k]);
        play_steps(&p, 2);
        bytes[k] = p.sim->type->grid_bytes(p.sim);
        bricks[k] = ((const flip *)p.sim->solver)->grid.bricks.count;
        play_close(&p);
    }
    print_message("sparse: %d bricks and %.1f MB, in the large domain %d and %.1f MB\n", bricks[0],
                  (double)bytes[0] * 1e-6, bricks[1], (double)bytes[1] * 1e-6);
    assert_int_equal(bricks[0], bricks[1]);
    assert_int_equal(bytes[0], bytes[1]);
    CHECK_BELOW((double)bytes[1], 0.1 * 512 * 512 * 512); /* a tenth of a byte a cell */
}

/* ---- Open fractions -------------------------------------------------------------------------- */

/* A thin cloud everywhere around a collider, its grid made. */
static play open_around(int dim, const char *solid) {
    const bool flat = dim == 2;
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\n"
        "domain: {size: %s, dx: 0.1, walls: open}\nsolver: {type: flip}\n"
        "materials: {m: {model: liquid}}\n"
        "bodies: [{material: m, particles_per_cell: 0.5, shape: {box: {min: %s, max: "
        "%s}}}]\ncolliders: [{shape: {%s}}]\n",
        dim, flat ? "[2.4, 2.4]" : "[2.4, 2.4, 2.4]", flat ? "[0.3, 0.3]" : "[0.3, 0.3, 0.3]",
        flat ? "[2.1, 2.1]" : "[2.1, 2.1, 2.1]", solid);
    static const char *const names[] = {"sort", "grid"};
    run_named(&p, 1e-3, names, 2);
    return p;
}

/* The share of a face that a plane n . x = d leaves open, by a raster over the face. */
static double raster(const double n[3], double d, const double corner[3], int axis, int dim) {
    enum { SIDE = 24 };
    int open = 0, all = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < (dim == 3 ? SIDE : 1); j++, all++) {
            const int u = (axis + 1) % dim, v = (axis + 2) % dim;
            double x[3] = {corner[0], corner[1], corner[2]}, sum = -d;
            x[u] += 0.1 * (i + 0.5) / SIDE;
            if (dim == 3) x[v] += 0.1 * (j + 0.5) / SIDE;
            for (int a = 0; a < dim; a++) sum += n[a] * x[a];
            open += sum > 0;
        }
    return (double)open / all;
}

/* Calls for every cell of the bricks with its place in the domain. */
#define EACH_CELL(m, brick, c)                                  \
    for (int32_t brick = 0; brick < (m)->bricks.count; brick++) \
        for (int c = 0; c < mac_cells((m)->dim); c++)

static void place_of(const mac *m, int32_t brick, int c, int at[3]) {
    mac_place(c, m->dim, at);
    for (int a = 0; a < m->dim; a++) at[a] += m->bricks.coords[brick][a] * BRICK_EDGE;
}

static void faces_behind_a_plane(void **state) {
    (void)state;
    const double n[3] = {0.48, 0.64, 0.6}, flat[3] = {0.6, 0.8, 0};
    for (int dim = 2; dim <= 3; dim++) {
        const double *normal = dim == 2 ? flat : n;
        play p = open_around(dim, dim == 2 ? "plane: {point: [1.13, 1.02], normal: [0.6, 0.8]}"
                                           : "plane: {point: [1.13, 1.02, 0.97], normal: [0.48, "
                                             "0.64, 0.6]}");
        const double d =
            dim == 2 ? 1.13 * 0.6 + 1.02 * 0.8 : 1.13 * 0.48 + 1.02 * 0.64 + 0.97 * 0.6;
        const mac *m = &((const flip *)p.sim->solver)->grid;
        double worst = 0;
        int cut = 0;
        EACH_CELL(m, brick, c) for (int a = 0; a < dim; a++) {
            int at[3];
            place_of(m, brick, c, at);
            const double corner[3] = {at[0] * 0.1, at[1] * 0.1, at[2] * 0.1};
            double open = (double)m->face_fraction[a][(int64_t)brick * mac_cells(dim) + c];
            worst = fmax(worst, fabs(open - raster(normal, d, corner, a, dim)));
            cut += open > 0 && open < 1;
        }
        print_message("plane, %dD: %d faces cut, off by %.3f at most\n", dim, cut, worst);
        assert_true(cut > 20);
        CHECK_BELOW(worst, dim == 2 ? 0.5 / 24 + 1e-6 : 0.02);
        play_close(&p);
    }
}

/* Over all faces of an axis the closed areas add up to the volume of a ball; through its middle
 * they are those of its disc. */
static void faces_of_a_ball(void **state) {
    (void)state;
    const double r = 5.5, volumes[2] = {M_PI * r * r, 4 * M_PI / 3 * r * r * r};
    const double middles[2] = {2 * r, M_PI * r * r};
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_around(dim, dim == 2 ? "sphere: {center: [1.2, 1.2], radius: 0.55}"
                                           : "sphere: {center: [1.2, 1.2, 1.2], radius: 0.55}");
        const mac *m = &((const flip *)p.sim->solver)->grid;
        for (int a = 0; a < dim; a++) {
            double volume = 0, middle = 0;
            EACH_CELL(m, brick, c) {
                int at[3];
                place_of(m, brick, c, at);
                double closed =
                    1 - (double)m->face_fraction[a][(int64_t)brick * mac_cells(dim) + c];
                volume += closed;
                if (at[a] == 12) middle += closed;
            }
            print_message("ball, %dD, axis %d: volume off by %.2g, middle by %.2g\n", dim, a,
                          volume / volumes[dim - 2] - 1, middle / middles[dim - 2] - 1);
            CHECK_BELOW(fabs(volume / volumes[dim - 2] - 1), 0.02);
            CHECK_BELOW(fabs(middle / middles[dim - 2] - 1), 0.02);
        }
        play_close(&p);
    }
}

/* ---- Velocity at a point --------------------------------------------------------------------- */

/* v_c = a_c + sum_b s_cb x_b on all faces, x in cells. */
static double sampled_field(int c, const double x[3]) {
    static const double slope[3][3] = {{0.1, -0.2, 0.3}, {0.05, 0.15, -0.1}, {-0.25, 0.2, 0.1}};
    return c + 1 + slope[c][0] * x[0] + slope[c][1] * x[1] + slope[c][2] * x[2];
}

static void fill_faces(const mac *m) {
    EACH_CELL(m, brick, c) for (int a = 0; a < m->dim; a++) {
        int at[3];
        place_of(m, brick, c, at);
        double x[3] = {0};
        for (int e = 0; e < m->dim; e++) x[e] = at[e] + (e == a ? 0 : 0.5);
        m->velocity[a][(int64_t)brick * mac_cells(m->dim) + c] = (real)sampled_field(a, x);
    }
}

static void a_linear_field_is_sampled_exactly(void **state) {
    (void)state;
    static const char *const names[] = {"sort", "grid"};
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_cloud(dim, "flip", "linear", false);
        const flip *f = p.sim->solver;
        run_named(&p, 1e-3, names, 2);
        fill_faces(&f->grid);
        double worst = 0, v[3];
        for (uint64_t n = 0; n < 500; n++) {
            double x[3] = {0};
            for (int a = 0; a < dim; a++) x[a] = 8 + 6 * random_unit(3, n, (uint64_t)a);
            assert_true(flip_sample(f, x, v));
            for (int a = 0; a < dim; a++) worst = fmax(worst, fabs(v[a] - sampled_field(a, x)));
        }
        CHECK_BELOW(worst, IN_DOUBLE ? 1e-13 : 2e-6);
        assert_false(flip_sample(f, (const double[3]){-80, -80, dim == 3 ? -80 : 0}, v));
        play_close(&p);
    }
}

/* Behind a slip wall is its mirror image. */
static void walls_are_mirrors_to_samples(void **state) {
    (void)state;
    static const char *const names[] = {"sort", "grid"};
    play p = open_cloud(2, "flip", "linear", true);
    const flip *f = p.sim->solver;
    run_named(&p, 1e-3, names, 2);
    fill_faces(&f->grid);
    for (int n = 0; n < 20; n++) {
        const double y = 1 + 0.2 * n, x = 0.07 * n;
        double here[3], there[3];
        assert_true(flip_sample(f, (const double[3]){1.2 + x, y, 0}, here));
        assert_true(flip_sample(f, (const double[3]){-1.2 - x, y, 0}, there));
        CHECK_BELOW(fabs(here[0] + there[0]), 1e-5);
        CHECK_BELOW(fabs(here[1] - there[1]), 1e-5);
        CHECK_ABOVE(fabs(here[0] - there[0]), 0.1); /* negative control */
    }
    play_close(&p);
}

/* ---- A pressure that does not converge ------------------------------------------------------- */

static void failing_pressure_is_told(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                     "domain: {size: [1, 1], dx: 0.0625}\n"
                     "solver: {type: flip, max_iterations: 1, tolerance: 1.0e-13}\n"
                     "materials: {m: {model: liquid}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 0], max: [0.5, 0.5]}}}]\n");
    play_steps(&p, 9);
    assert_int_equal(warnings_total(p.ctx), 9);
    assert_true(play_quantity(&p, "not_converged") == 9);
    assert_int_equal(spate_simulation_step(p.sim, 1e9), SPATE_NOT_CONVERGED);
    assert_int_equal(warnings_total(p.ctx), 10);
    static const char *const words[] = {"10 times in a row", "residual", "1 iterations",
                                        "solver.tolerance 1e-13", "raise solver.max_iterations"};
    for (int n = 0; n < COUNT_OF(words); n++)
        if (!strstr(spate_message(p.ctx), words[n]))
            fail_msg("no '%s' in: %s", words[n], spate_message(p.ctx));
    /* it stays so */
    assert_int_equal(spate_simulation_step(p.sim, 1e9), SPATE_NOT_CONVERGED);
    play_close(&p);
}

/* One solve that converges in between begins the count anew. */
static void one_good_solve_forgives(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                     "domain: {size: [1, 1], dx: 0.0625}\n"
                     "solver: {type: flip, max_iterations: 1, tolerance: 1.0e-13}\n"
                     "materials: {m: {model: liquid}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 0], max: [0.5, 0.5]}}}]\n");
    flip_options *options = p.scene->solver_options;
    play_steps(&p, 9);
    options->max_iterations = 500;
    options->tolerance = 1e-6;
    play_steps(&p, 1);
    options->max_iterations = 1;
    options->tolerance = 1e-13;
    play_steps(&p, 9);
    assert_true(play_quantity(&p, "not_converged") == 18);
    assert_int_equal(spate_simulation_step(p.sim, 1e9), SPATE_NOT_CONVERGED);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_keep_a_linear_field),
        cmocka_unit_test(mirrors_keep_what_slides_along),
        cmocka_unit_test(apic_keeps_angular_momentum),
        cmocka_unit_test(rotation_goes_on),
        cmocka_unit_test(reseeding_keeps_what_there_is),
        cmocka_unit_test(a_large_domain_costs_nothing),
        cmocka_unit_test(faces_behind_a_plane),
        cmocka_unit_test(faces_of_a_ball),
        cmocka_unit_test(a_linear_field_is_sampled_exactly),
        cmocka_unit_test(walls_are_mirrors_to_samples),
        cmocka_unit_test(failing_pressure_is_told),
        cmocka_unit_test(one_good_solve_forgives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
