/*
 * FLIP stage by stage: what the transfer keeps (validation cases 2 and 3), reseeding, the bricks that
 * exist, open fractions of faces, velocity at a point, and what happens when the pressure fails.
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

static void run_stages(play *p, double dt, const char *const *names, int count) {
    flip *f = p->sim->solver;
    p->sim->dt = dt;
    f->dt = (real)dt;
    for (int i = 0; i < count; i++) run_stage(p, names[i]);
}

/* To the grid and back, without anything in between. */
static void transfer_once(play *p, double dt) {
    static const char *const names[] = {"sort", "grid", "scatter", "forces", "gather"};
    run_stages(p, dt, names, COUNT_OF(names));
}

/* ---- Case 3: scatter, gather ------------------------------------------------------------------ */

/* A cloud in free space, or in a corner of the domain. */
static play open_cloud(int dim, const char *transfer, const char *kernel, bool corner) {
    const bool flat = dim == 2;
    return play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.1, walls: %s}\n"
        "solver: {type: flip, transfer: %s, kernel: %s, alpha: 0.9, advection: rk1}\n"
        "materials: {m: {model: liquid, density: 700}}\n"
        "bodies: [{material: m, sampling: jittered, jitter: 0.9, shape: {box: {min: %s, max: %s}}}]\n",
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
        real *record = p->sim->particles.motion + 16 * i;
        for (int r = 0; r < dim; r++) {
            record[r] = (real)field_at(corner, r, x, dim);
            for (int c = 0; c < dim && affine; c++)
                record[4 + 4 * c + r] =
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
    transfer_once(&p, 1e-12);
    e.mass = fmax(fabs(play_quantity(&p, "mass") / m - 1), grid_mass_error(&p, m));
    /* A mirror takes momentum across it. */
    for (int a = corner ? 2 : 0; a < dim; a++)
        e.momentum = fmax(e.momentum, fabs(play_quantity(&p, momenta[a]) - before[a]) / m);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const real *record = p.sim->particles.motion + 16 * i;
        for (int r = 0; r < dim; r++) {
            e.velocity =
                fmax(e.velocity, fabs((double)record[r] - field_at(corner, r, x, dim)));
            for (int c = 0; c < dim && affine; c++)
                e.moment = fmax(e.moment, fabs((double)record[4 + 4 * c + r] -
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
                p.sim->particles.motion[16 * i + 2] =
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

/* ---- Case 2: a rotating disc ------------------------------------------------------------------- */

/* The largest change of its angular momentum over 200 transfers. */
static double angular_change(const char *transfer, const char *kernel) {
    play p = play_open(1,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [2, 2], dx: 0.05, walls: open}\n"
                       "solver: {type: flip, transfer: %s, kernel: %s, alpha: 0.99, advection: rk1}\n"
                       "materials: {m: {model: liquid}}\n"
                       "bodies: [{material: m, spin: 4, shape: {sphere: {center: [1.013, 1.017], "
                       "radius: 0.4}}}]\n",
                       transfer, kernel);
    double before = play_quantity(&p, "angular_z"), largest = 0;
    for (int n = 1; n <= 200; n++) {
        transfer_once(&p, 2.5e-4);
        if (n % 10) continue;
        largest = fmax(largest, fabs(play_quantity(&p, "angular_z") / before - 1));
    }
    play_close(&p);
    return largest;
}

static void affine_transfers_keep_angular_momentum(void **state) {
    (void)state;
    const double apic_gate = IN_DOUBLE ? 1e-12 : 1e-5;
    for (int k = 0; k < COUNT_OF(kernels); k++) {
        double apic = angular_change("apic", kernels[k]), aflip = angular_change("aflip", kernels[k]);
        double pic = angular_change("pic", kernels[k]);
        print_message("case 2, %s: apic %.2g (gate %.0g), aflip %.2g (gate 0.001), pic %.2g\n",
                      kernels[k], apic, apic_gate, aflip, pic);
        CHECK_BELOW(apic, apic_gate);
        CHECK_BELOW(aflip, 1e-3);
        CHECK_ABOVE(pic, 0.5); /* negative control */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_keep_a_linear_field),
        cmocka_unit_test(mirrors_keep_what_slides_along),
        cmocka_unit_test(affine_transfers_keep_angular_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
