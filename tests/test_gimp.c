/*
 * The kernel GIMP (mpm/transfer.h): its moments, what uniform stress does to the nodes inside a
 * body, a column at rest on a mirror. That the fast form is the plain one is in
 * test_mpm_reference.c; linear fields, virial and angular momentum in test_physics_transfer.c and
 * test_physics_integrators.c.
 */
#include "physics.h"

#include "core/random.h"
#include "solver/mpm/mpm.h"
#include "solver/mpm/reference.h"

/* ---- Moments --------------------------------------------------------------------------------- */

enum { NODES = 6, SAMPLES = 2000 };

typedef struct moments {
    double mass, place, square; /* largest errors of sum w, sum w x and sum w (x_i - x_p)^2 */
} moments;

/* D as transfer.h gives it: the linear kernel's between nodes, 1/8 + t^2 across one. */
static double second_moment(double x) {
    const double t = fabs(x - round(x));
    return t < 0.25 ? 0.125 + t * t : t * (1 - t);
}

static void add_errors(int order, int dim, const double x[3], reference_node *grid, moments *e) {
    reference_step s = {.dim = dim, .order = order, .dx = 1, .grid = grid};
    for (int a = 0; a < 3; a++) s.nodes[a] = a < dim ? NODES : 1;
    const int count = dim == 2 ? NODES * NODES : NODES * NODES * NODES;
    memset(grid, 0, (size_t)count * sizeof *grid);
    reference_particle p = {.mass = 1, .density = 1, .D = {1, 1, 1}};
    memcpy(p.x, x, sizeof p.x);
    reference_p2g(&s, &p);
    double mass = 0, place[3] = {0}, square[3] = {0};
    for (int n = 0; n < count; n++)
        for (int a = dim - 1, rest = n; a >= 0; a--, rest /= NODES) {
            const double r = rest % NODES - x[a];
            place[a] += grid[n].mass * (rest % NODES);
            square[a] += grid[n].mass * r * r;
            mass += a == 0 ? grid[n].mass : 0;
        }
    e->mass = fmax(e->mass, fabs(mass - 1));
    for (int a = 0; a < dim; a++) {
        e->place = fmax(e->place, fabs(place[a] - x[a]));
        e->square = fmax(e->square, fabs(square[a] - second_moment(x[a])));
    }
}

static moments largest_errors(int order, int dim) {
    static reference_node grid[NODES * NODES * NODES];
    moments e = {0};
    for (int k = 0; k < SAMPLES; k++) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = 1.5 + 2 * random_unit(3, (uint64_t)k, (uint64_t)a);
        if (k < 9) x[0] = 2 + 0.125 * (k - 4); /* where its pieces meet, too */
        add_errors(order, dim, x, grid, &e);
    }
    return e;
}

static void moments_are_exact(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const moments e = largest_errors(REFERENCE_GIMP, dim);
        print_message("%dD: sum w %.1g, sum w x %.1g, D %.1g\n", dim, e.mass, e.place, e.square);
        CHECK_BELOW(e.mass, 1e-14);
        CHECK_BELOW(e.place, 1e-14);
        CHECK_BELOW(e.square, 1e-14);
        CHECK_ABOVE(largest_errors(2, dim).square, 1e-2); /* another kernel has another D */
    }
}

/* ---- Uniform stress -------------------------------------------------------------------------- */

/* A block whose particles all have one stress, its lattice `stretch` times as wide as at rest: the
 * largest speed that particles at least three cells inside it get in a step, over the mean of
 * tau dt / (rho dx). Nothing should move there. */
static double spurious_speed(const char *kernel, int dim, double stretch, double shift) {
    const double dx = 0.1, dt = 1e-4;
    const bool flat = dim == 2;
    play p =
        play_open(1,
                  "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
                  "domain: {size: %s, dx: %g, walls: open}\n"
                  "solver: {integrator: apic, kernel: %s, dt: %g}\n"
                  "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e4}}\n"
                  "bodies: [{material: m, sampling: regular, shape: {box: {min: %s, max: "
                  "%s}}}]\n",
                  dim, flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[4, 4]" : "[4, 4, 4]", dx, kernel, dt,
                  flat ? "[1.2, 1.2]" : "[1.2, 1.2, 1.2]", flat ? "[2.8, 2.8]" : "[2.2, 2.2, 2.2]");
    particles *q = &p.sim->particles;
    const double middle = flat ? 2 : 1.7, inside = flat ? 0.5 : 0.2;
    double speed = 0, tau[6] = {0};
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < dim; a++) {
            const double from = (x[a] - middle) / dx;
            PLANE(q, position, a)[i] += (real)(from * (stretch - 1) + shift);
            PLANE(q, strain, a)[i] = (real)0.1;
        }
        p.sim->type->stress(p.sim, i, tau, NULL, NULL);
    }
    play_steps(&p, 1);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], from = 0;
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < dim; a++) from = fmax(from, fabs(x[a] - middle));
        for (int a = 0; a < dim && from < inside; a++)
            speed = fmax(speed, fabs((double)q->velocity[i][a]));
    }
    play_close(&p);
    return speed / (tau[0] * dt / (1000 * dx));
}

static void uniform_stress_moves_nothing(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < 4; k++) {
            const double off = spurious_speed("gimp", dim, 1, 0.117 * k);
            print_message("%dD, lattice shifted by %g: %.1g\n", dim, 0.117 * k, off);
            CHECK_BELOW(off, IN_DOUBLE ? 1e-12 : 1e-4);
        }
        const double gimp = spurious_speed("gimp", dim, 1.1, 0),
                     linear = spurious_speed("linear", dim, 1.1, 0),
                     quadratic = spurious_speed("quadratic", dim, 1.1, 0);
        print_message("%dD, stretched by 1.1: linear %.3g, gimp %.3g, quadratic %.3g\n", dim,
                      linear, gimp, quadratic);
        CHECK_BELOW(gimp, 0.7 * linear);
        CHECK_ABOVE(linear, 0.1); /* cells that particles cross */
    }
}

/* ---- Rest ------------------------------------------------------------------------------------ */

/* The most kinetic energy over m g H of water in a tank, over a time in which sound crosses it five
 * times. */
static double unrest(int dim, const char *integrator, bool at_rest) {
    const bool flat = dim == 2;
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: %s, dx: 0.05, walls: slip}\nsolver: {kernel: gimp, integrator: %s}\n"
        "materials: {m: {model: liquid, density: 1000, bulk_modulus: 2.0e5}}\n"
        "bodies: [{material: m, sampling: regular, at_rest: %s, shape: {box: {min: %s, max: "
        "%s}}}]\n",
        dim, flat ? "[0.4, 1]" : "[0.2, 1, 0.2]", integrator, at_rest ? "true" : "false",
        flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[0.4, 0.6]" : "[0.2, 0.6, 0.2]");
    const double most = 9.81 * 0.6 * play_quantity(&p, "mass");
    double largest = 0;
    for (int k = 1; k <= 20; k++) {
        play_until(&p, 0.01 * k);
        largest = fmax(largest, play_quantity(&p, "kinetic_energy") / most);
    }
    play_close(&p);
    return largest;
}

static void water_stays_at_rest(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const double apic = unrest(dim, "apic", true), aflip = unrest(dim, "aflip", true),
                     dropped = unrest(dim, "apic", false);
        print_message("%dD: kinetic energy over m g H: apic %.2g, aflip %.2g, without at_rest "
                      "%.2g\n",
                      dim, apic, aflip, dropped);
        CHECK_BELOW(apic, 1e-7);
        CHECK_BELOW(aflip, 1e-7);
        CHECK_ABOVE(dropped, 1e-4); /* negative control */
    }
}

/* A body that spins from the start keeps its gradients of velocity in the first step: D is that of each
 * particle's place. */
static void spins_from_the_start(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ngravity: [0, 0]\n"
                     "domain: {size: [2, 2], dx: 0.1}\n"
                     "solver: {type: mpm, kernel: gimp, integrator: apic, dt: 1.0e-4}\n"
                     "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e3}}\n"
                     "bodies: [{material: m, sampling: jittered, spin: 1, shape: {sphere: {center: "
                     "[1.03, 1.01], radius: 0.6}}}]\n");
    double worst = 0;
    play_steps(&p, 1);
    EACH_PARTICLE(p.sim, block, i) {
        const real4 *C = p.sim->particles.affine[i]; /* in cells */
        worst = fmax(worst, fabs((double)C[0][1] / 0.1 - 1));
        worst = fmax(worst, fabs((double)C[1][0] / 0.1 + 1));
    }
    print_message("gradients of velocity off by %.2g\n", worst);
    CHECK_BELOW(worst, 1e-3);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_exact),
        cmocka_unit_test(uniform_stress_moves_nothing),
        cmocka_unit_test(water_stays_at_rest),
        cmocka_unit_test(spins_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
