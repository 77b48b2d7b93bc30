/*
 * Velocity fields of the MPM grid: two bodies in fields of their own.
 *   alone      without an exchange each body does bit for bit what it does without the other: transfer,
 *              forces, thin colliders, contacts, plastic volumes. In one field it does not
 *   exchange   a hook that averages the velocities of a node by mass keeps momentum, and two fields are
 *              then one up to rounding; one that forgets the masses does not
 *   threads    and a stop leave the state as it is
 */
#include "physics.h"

#include "solver/mpm/mpm.h"

enum { STEPS = 64 }; /* twice as many as plastic volumes are smoothed after */

/* Which of the two bodies are there. */
enum { LEFT = 1, RIGHT = 2, BOTH = 3 };

/* Two balls that fly at each other, over a thin plate that they fall on if there is gravity. */
static play two_balls(int threads, int dim, const char *solver, int which, const char *gravity) {
    const bool flat = dim == 2;
    const double top = strstr(gravity, "9.81") ? 0.45 : 0.2;
    char left[256] = "", right[256] = "", probes[128] = "";
    if (which & LEFT)
        snprintf(left, sizeof left,
                 "{name: left, material: soft, velocity: [2, 0%s], shape: {sphere: {center: [0.82, "
                 "0.62%s], radius: 0.15}}},",
                 flat ? "" : ", 0", flat ? "" : ", 0.5");
    if (which & RIGHT)
        snprintf(right, sizeof right,
                 "{name: right, material: hard, velocity: [-2, 0%s], shape: {sphere: {center: "
                 "[1.2, 0.62%s], radius: 0.15}}}",
                 flat ? "" : ", 0", flat ? "" : ", 0.5");
    if (which & LEFT)
        snprintf(probes, sizeof probes,
                 "probes: [{name: touch, contact_force: {of: left, on: plate}}]\n");
    play p = play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.05, walls: open}\n"
        "solver: {%s, dt: 2.0e-3}\n"
        "materials: {soft: {model: neo_hookean, density: 1000, young_modulus: 1.0e4},\n"
        "            hard: {model: metal, density: 3000, young_modulus: 3.0e4, yield_stress: 30}}\n"
        "colliders: [{name: plate, friction: 0.3, shape: {box: {min: [-1, %g%s], max: [3, "
        "%g%s]}}}]\n"
        "bodies: [%s%s]\n%s",
        dim, gravity, flat ? "[2, 1]" : "[2, 1, 1]", solver, top - 0.09, flat ? "" : ", -1", top,
        flat ? "" : ", 2", left, right, probes);
    mpm *m = p.sim->solver;
    m->drift_limit = 0; /* when particles are sorted must not depend on the other body */
    return p;
}

static void separate(play *p) { mpm_set_fields(p->sim->solver, (const int[]){0, 1}, 2); }

/* All that a particle has. */
typedef struct particle_copy {
    double x[3];
    real v[4], affine[3][4], strain[6], flow;
} particle_copy;

/* Those of a material, in the order of their ids, from the first id of its body on. */
static particle_copy *copy_of(const play *p, int index, int64_t *count) {
    const particles *q = &p->sim->particles;
    particle_copy *copies = calloc((size_t)q->count, sizeof *copies);
    uint64_t first = UINT64_MAX;
    *count = 0;
    for (int64_t i = 0; i < q->count; i++)
        if (scene_group_material(p->scene, q->group[i]) == index && q->id[i] < first)
            first = q->id[i];
    EACH_PARTICLE(p->sim, block, i) {
        if (scene_group_material(p->scene, q->group[i]) != index) continue;
        particle_copy *c = &copies[q->id[i] - first];
        blocks_position(&p->sim->blocks, q, block, i, c->x);
        memcpy(c->v, q->velocity[i], sizeof c->v);
        memcpy(c->affine, q->affine[i], sizeof c->affine);
        for (int k = 0; k < 6; k++) c->strain[k] = PLANE(q, strain, k)[i];
        c->flow = q->flow[i];
        ++*count;
    }
    return copies;
}

static bool same_particles(const play *a, const play *b, int index) {
    int64_t counts[2];
    particle_copy *of_a = copy_of(a, index, &counts[0]), *of_b = copy_of(b, index, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_true(counts[0] > 0);
    const bool same = !memcmp(of_a, of_b, (size_t)counts[0] * sizeof *of_a);
    free(of_a), free(of_b);
    return same;
}

static double touch_of(const play *p) {
    double force[3] = {0};
    mpm_contact_force(p->sim, &p->scene->probes[0], force);
    return force[1];
}

static void collider_force(const play *p, double force[3]) {
    double torque[3];
    mpm_force(p->sim, 0, force, torque);
}

static void check_alone(int dim, const char *solver) {
    const char *gravity = dim == 2 ? "[0, -9.81]" : "[0, -9.81, 0]";
    play both = two_balls(1, dim, solver, BOTH, gravity),
         one = two_balls(1, dim, solver, BOTH, gravity);
    play left = two_balls(1, dim, solver, LEFT, gravity),
         right = two_balls(1, dim, solver, RIGHT, gravity);
    play *apart[] = {&both, &left, &right};
    for (int k = 0; k < COUNT_OF(apart); k++) separate(apart[k]), play_steps(apart[k], STEPS);
    play_steps(&one, STEPS);
    if (!same_particles(&both, &left, 0) || !same_particles(&both, &right, 1))
        fail_msg("%dD, %s: a body in a field of its own feels the other", dim, solver);
    assert_false(same_particles(&one, &left, 0)); /* negative control */
    double all[3], of_left[3], of_right[3];
    collider_force(&both, all), collider_force(&left, of_left), collider_force(&right, of_right);
    CHECK_ABOVE(fabs(of_left[1]), 1);
    CHECK_BELOW(fabs(all[1] - of_left[1] - of_right[1]), 1e-9 * fabs(all[1]));
    assert_true(touch_of(&both) == touch_of(&left));
    CHECK_BELOW(fabs(touch_of(&left) / of_left[1] - 1), 1e-6);
    play_close(&both), play_close(&one), play_close(&left), play_close(&right);
}

static void fields_do_not_feel_each_other(void **state) {
    (void)state;
    static const char *const solvers[] = {"integrator: apic",
                                          "integrator: asflip",
                                          "integrator: polypic",
                                          "integrator: aflip, kernel: linear",
                                          "integrator: apic, kernel: cubic",
                                          "integrator: aflip, kernel: gimp"};
    for (int k = 0; k < COUNT_OF(solvers); k++) check_alone(2, solvers[k]);
    if (!WATCHED) check_alone(3, solvers[1]);
}

/* ---- Exchange -------------------------------------------------------------------------------- */

/* One velocity for both fields at every node: by mass, or (wrong) the plain mean. */
static void average(const mpm_view *m, mpm_nodes *nodes, bool by_mass) {
    for (int n = 0; n < block_nodes(m->dim); n++) {
        real *v[2], mass[2];
        for (int f = 0; f < 2; f++) {
            v[f] = nodes->velocity[f] + m->node_reals * n;
            mass[f] = by_mass || nodes->mass[f][n] == 0 ? nodes->mass[f][n] : 1;
        }
        if (!(mass[0] > 0) || !(mass[1] > 0)) continue;
        for (int a = 0; a < m->dim; a++)
            v[0][a] = v[1][a] = (mass[0] * v[0][a] + mass[1] * v[1][a]) / (mass[0] + mass[1]);
    }
}
static void average_by_mass(void *data, const mpm_view *m, mpm_nodes *nodes) {
    (void)data;
    average(m, nodes, true);
}
static void average_plainly(void *data, const mpm_view *m, mpm_nodes *nodes) {
    (void)data;
    average(m, nodes, false);
}

/* The momentum's change, relative to that of one ball. */
static double momentum_change(int dim, const char *solver, mpm_exchange exchange, play *out) {
    play p = two_balls(1, dim, solver, BOTH, dim == 2 ? "[0, 0]" : "[0, 0, 0]");
    separate(&p);
    ((mpm *)p.sim->solver)->view.exchange = exchange;
    double before = play_quantity(&p, "momentum_x"), mass = play_quantity(&p, "mass");
    play_steps(&p, STEPS);
    double change = fabs(play_quantity(&p, "momentum_x") - before) / mass;
    if (out)
        *out = p;
    else
        play_close(&p);
    return change;
}

static void exchange_keeps_momentum(void **state) {
    (void)state;
    static const char *const solvers[] = {"integrator: apic", "integrator: asflip"};
    const double gate = IN_DOUBLE ? 1e-13 : 1e-5;
    for (int k = 0; k < COUNT_OF(solvers); k++)
        for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
            double kept = momentum_change(dim, solvers[k], average_by_mass, NULL),
                   lost = momentum_change(dim, solvers[k], average_plainly, NULL);
            print_message("%dD, %s: by mass %.2g, plainly %.2g\n", dim, solvers[k], kept, lost);
            CHECK_BELOW(kept, gate);
            CHECK_ABOVE(lost, 1e-2); /* negative control */
        }
}

/* Where all nodes share one velocity there is one field. */
static void full_exchange_is_one_field(void **state) {
    (void)state;
    play two, one = two_balls(1, 2, "integrator: apic", BOTH, "[0, 0]");
    momentum_change(2, "integrator: apic", average_by_mass, &two);
    play_steps(&one, STEPS);
    double largest = 0;
    for (int c = 0; c < 2; c++) {
        int64_t count;
        particle_copy *a = copy_of(&one, c, &count), *b = copy_of(&two, c, &count);
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < 2; k++) largest = fmax(largest, fabs(a[i].x[k] - b[i].x[k]));
        free(a), free(b);
    }
    print_message("positions differ by %.2g cells at most\n", largest);
    CHECK_BELOW(largest, IN_DOUBLE ? 1e-10 : 1e-4);
    play_close(&one), play_close(&two);
}

/* ---- Threads, and a stop --------------------------------------------------------------------- */

static uint64_t hash_after(int threads, bool stops) {
    play p = two_balls(threads, 2, "integrator: asflip", BOTH, "[0, -9.81]");
    for (int part = 0; part < 2; part++) {
        separate(&p);
        ((mpm *)p.sim->solver)->view.exchange = average_by_mass;
        ((mpm *)p.sim->solver)->drift_limit = 0;
        play_steps(&p, STEPS / 2);
        if (stops && !part) play_go_on(&p, &p);
    }
    const uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

static void threads_and_stops_do_not_show(void **state) {
    (void)state;
    const uint64_t hash = hash_after(1, false);
    assert_true(hash_after(3, false) == hash);
    assert_true(hash_after(2, true) == hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_do_not_feel_each_other),
        cmocka_unit_test(exchange_keeps_momentum),
        cmocka_unit_test(full_exchange_is_one_field),
        cmocka_unit_test(threads_and_stops_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
