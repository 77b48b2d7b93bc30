/*
 * Adaptive particles: what merging and splitting keep, which pairs merge, where; still water stays
 * still and flat, a dam breaks as with particles of one size, a turning pool goes on turning; one
 * result for every number of threads and after a restore.
 */
#include "tanks.h"

#include "solver/flip/adaptive.h"

static void run_stage(play *p, const char *name) {
    for (int i = 0; i < FLIP_STAGES; i++)
        if (!strcmp(flip_stages[i].name, name)) {
            if (flip_stages[i].run(p->sim->solver)) fail_msg("%s", spate_message(p->ctx));
            return;
        }
    fail_msg("no stage is called %s", name);
}

/* In every block, which take turns. */
static void merge_all(play *p) {
    for (int turn = 0; turn < 4; turn++, p->sim->step++) run_stage(p, "merge");
    p->sim->step -= 4;
}

static play open_pool(int threads, int dim, const char *solver, const char *more) {
    return play_open(threads,
                     "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ndomain: {size: %s, dx: 0.05}\n"
                     "solver: {type: flip, %s}\nmaterials: {w: {model: liquid}}\n"
                     "bodies: [{material: w, %s, shape: {box: {min: %s, max: %s}}}]\n",
                     dim, dim == 2 ? "[1, 1]" : "[0.8, 1, 0.8]", solver, more,
                     dim == 2 ? "[0, 0]" : "[0, 0, 0]", dim == 2 ? "[1, 0.6]" : "[0.8, 0.6, 0.8]");
}

/* ---- What is kept ---------------------------------------------------------------------------- */

typedef struct sums {
    double mass, momentum[3], middle[3], angular;
    int64_t count;
} sums;

static sums sums_of(const play *p) {
    const particles *all = &p->sim->particles;
    sums s = {0};
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        if (all->group[i] == GROUP_REMOVED) continue;
        simulation_position(p->sim, block, i, x);
        const double m = (double)all->mass[i];
        const real *v = all->velocity[i];
        s.mass += m, s.count++;
        for (int a = 0; a < 3; a++) s.momentum[a] += m * (double)v[a], s.middle[a] += m * x[a];
        s.angular += m * (x[0] * (double)v[1] - x[1] * (double)v[0]);
    }
    return s;
}

static void check_kept(const sums *a, const sums *b, double speed, double gate) {
    CHECK_BELOW(fabs(a->mass / b->mass - 1), gate);
    for (int c = 0; c < 3; c++) {
        CHECK_BELOW(fabs(a->momentum[c] - b->momentum[c]), gate * a->mass * speed);
        CHECK_BELOW(fabs(a->middle[c] - b->middle[c]), gate * a->mass);
    }
}

static void set_velocities(play *p) {
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        real *v = p->sim->particles.velocity[i];
        v[0] = (real)(1 - 3 * x[1]), v[1] = (real)(2 * x[0]),
        v[2] = p->scene->dim == 3 ? (real)x[1] : 0;
    }
    p->sim->max_speed = 3;
}

/* Merging, and then splitting all: mass, momentum and centre of mass stay, the number comes back.
 * The angular momentum of merged pairs is lost only as far as they turned about each other;
 * splitting keeps it. */
static void check_stages(int dim) {
    static const char *const first[] = {"sort", "grid", "scatter", "forces"};
    const double gate = IN_DOUBLE ? 1e-12 : 2e-6;
    play p = open_pool(2, dim, "adaptive: {}", "sampling: glass");
    set_velocities(&p);
    p.sim->dt = 1e-9;
    for (int i = 0; i < COUNT_OF(first); i++) run_stage(&p, first[i]);
    const sums before = sums_of(&p);
    merge_all(&p);
    const sums merged = sums_of(&p);
    check_kept(&before, &merged, 3, gate);
    CHECK_BELOW((double)merged.count, 0.65 * (double)before.count);
    CHECK_BELOW(fabs(merged.angular / before.angular - 1), 0.01);
    run_stage(&p, "sort");
    const particles *all = &p.sim->particles;
    for (int64_t i = 0; i < all->count; i++)
        if (all->role[i] > 1) all->role[i] |= PIECES_SPLIT;
    run_stage(&p, "split");
    run_stage(&p, "sort");
    const sums parted = sums_of(&p);
    check_kept(&merged, &parted, 3, gate);
    CHECK_BELOW(fabs(merged.angular / parted.angular - 1), 20 * gate);
    assert_int_equal(parted.count, before.count);
    double lightest = 1, heaviest = 0;
    for (int64_t i = 0; i < all->count; i++) {
        lightest = fmin(lightest, (double)all->mass[i]);
        heaviest = fmax(heaviest, (double)all->mass[i]);
    }
    CHECK_BELOW(heaviest / lightest - 1, 10 * gate);
    play_close(&p);
}

static void test_kept(void **state) {
    (void)state;
    check_stages(2), check_stages(3);
}

/* ---- Which pairs merge ----------------------------------------------------------------------- */

/* Afterwards no two of a block are left that could be merged; none is larger than a cell, or merged
 * near the surface. */
static void test_no_pair_is_left(void **state) {
    (void)state;
    static const char *const stages[] = {"sort", "grid", "scatter", "forces"};
    play p = open_pool(1, 3, "adaptive: {largest: 4}", "sampling: glass");
    p.sim->dt = 1e-9;
    for (int i = 0; i < COUNT_OF(stages); i++) run_stage(&p, stages[i]);
    merge_all(&p);
    run_stage(&p, "sort");
    const particles *all = &p.sim->particles;
    const flip *f = p.sim->solver;
    int64_t left = 0, large = 0, high = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        large += pieces_of(all, i) > 1;
        assert_true(pieces_of(all, i) <= 4);
        high += pieces_of(all, i) > 1 && x[1] > 0.5 + 1e-6; /* two cells of 0.05 below 0.6 */
        for (int64_t j = i + 1; j < p.sim->blocks.first[block + 1]; j++) {
            const double size = cbrt((double)(all->mass[i] * f->inverse_mass)) +
                                cbrt((double)(all->mass[j] * f->inverse_mass));
            double d2 = 0, y[3];
            simulation_position(p.sim, block, j, y);
            for (int a = 0; a < 3; a++) d2 += (x[a] - y[a]) * (x[a] - y[a]) / 0.0025;
            left += pieces_of(all, i) + pieces_of(all, j) <= 4 && x[1] < 0.4 && y[1] < 0.4 &&
                    d2 < 0.25 * size * size * (1 - 1e-4);
        }
    }
    assert_true(large > 100);
    assert_int_equal(high, 0);
    assert_int_equal(left, 0);
    play_close(&p);
}

/* A block's particles, merged as adaptive.h says, all against all. */
typedef struct plain {
    real x[3], mass;
    int count; /* 0: taken in */
    uint64_t id;
} plain;

static real plain_size(const flip *f, const plain *a) {
    const double share = (double)(a->mass * f->inverse_mass);
    return (real)(f->grid.dim == 3 ? cbrt(share) : sqrt(share));
}

static bool plain_may_merge(const flip *f, const plain *a, const plain *b, real *distance2) {
    const real both = a->mass * f->inverse_mass + b->mass * f->inverse_mass;
    *distance2 = 0;
    for (int c = 0; c < f->grid.dim; c++) *distance2 += (a->x[c] - b->x[c]) * (a->x[c] - b->x[c]);
    if (a == b || !a->count || !b->count || *distance2 > 2) return false;
    const real limit =
        (real)(0.5 * f->options->adaptive->reach) * (plain_size(f, a) + plain_size(f, b));
    return *distance2 < limit * limit && a->count + b->count <= f->options->adaptive->largest &&
           both <= (real)1.001;
}

static plain *plain_nearest(const flip *f, plain *list, int64_t count, const plain *a) {
    plain *best = NULL;
    real least = 0, distance2;
    for (plain *b = list; b < list + count; b++) {
        if (!plain_may_merge(f, a, b, &distance2)) continue;
        if (best && (distance2 > least || (distance2 == least && best->id < b->id))) continue;
        best = b, least = distance2;
    }
    return best;
}

/* All mutual nearest pairs; returns how many. */
static int plain_pass(const flip *f, plain *list, int64_t count) {
    plain **nearest = calloc((size_t)count + 1, sizeof *nearest);
    int merged = 0;
    for (int64_t i = 0; i < count; i++) nearest[i] = plain_nearest(f, list, count, &list[i]);
    for (int64_t i = 0; i < count; i++) {
        plain *a = &list[i], *b = nearest[i];
        if (!b || nearest[b - list] != a || a->id > b->id) continue;
        const double mass = (double)a->mass + (double)b->mass, share = (double)b->mass / mass;
        for (int c = 0; c < f->grid.dim; c++)
            a->x[c] = (real)((double)a->x[c] + share * ((double)b->x[c] - (double)a->x[c]));
        a->count += b->count, b->count = 0;
        a->mass = (real)mass, b->mass = 0;
        merged++;
    }
    free(nearest);
    return merged;
}

/* Particles before they are merged, in their order. */
static plain *copy_plainly(const play *p) {
    const particles *all = &p->sim->particles;
    plain *list = calloc((size_t)all->count + 1, sizeof *list);
    for (int64_t i = 0; i < all->count; i++) {
        for (int a = 0; a < p->scene->dim; a++) list[i].x[a] = PLANE(all, position, a)[i];
        list[i].mass = all->mass[i], list[i].id = all->id[i], list[i].count = 1;
    }
    return list;
}

/* Those of a block that are deep, for which the grid must be known; others count as taken in. */
static void drop_shallow(const play *p, int32_t block, plain *list, int64_t count) {
    const flip *f = p->sim->solver;
    int corner[3];
    const int32_t brick = flip_brick_of_block(f, p->sim->blocks.coords[block], corner);
    for (int64_t i = 0; i < count; i++) {
        int at[3] = {0};
        for (int a = 0; a < p->scene->dim; a++) at[a] = corner[a] + (int)list[i].x[a];
        if (is_in_rows(&f->grid, f->adaptive->near, brick, at)) list[i].count = 0;
    }
}

/* What the stage merges is what the plain words say, bit for bit, in up to eight passes: on a lattice
 * many are equally near, and ids decide; a glass has rests that fit nobody. */
static void check_pairs(int dim, const char *options, const char *more) {
    static const char *const stages[] = {"sort", "grid", "scatter", "forces"};
    play p = open_pool(2, dim, options, more);
    p.sim->dt = 1e-9;
    for (int i = 0; i < COUNT_OF(stages); i++) run_stage(&p, stages[i]);
    plain *list = copy_plainly(&p);
    merge_all(&p);
    const particles *all = &p.sim->particles;
    const blocks *b = &p.sim->blocks;
    int64_t merged = 0, counted = 0;
    for (int32_t block = 0; block < b->count; block++) {
        plain *own = list + b->first[block];
        const int64_t count = b->first[block + 1] - b->first[block];
        drop_shallow(&p, block, own, count);
        if (block % 3) continue; /* a third of them tells enough */
        for (int pass = 0, pairs = 1; pass < 8 && pairs; pass++)
            merged += pairs = plain_pass(p.sim->solver, own, count);
    }
    EACH_PARTICLE(p.sim, block, i) {
        if (block % 3 || (list[i].count == 0 && list[i].mass > 0)) continue; /* not deep */
        assert_true(list[i].mass == all->mass[i]);
        counted += all->group[i] == GROUP_REMOVED;
        assert_int_equal(list[i].count == 0, all->group[i] == GROUP_REMOVED);
        for (int a = 0; a < dim && list[i].count > 1; a++)
            assert_true(list[i].x[a] == PLANE(all, position, a)[i]);
        if (list[i].count > 1) assert_int_equal(list[i].count, pieces_of(all, i));
    }
    CHECK_ABOVE((double)merged, 100);
    assert_int_equal(merged, counted);
    free(list);
    play_close(&p);
}

static void test_pairs(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        check_pairs(dim, "adaptive: {}", "sampling: glass");
        check_pairs(dim, "adaptive: {}", "sampling: regular");
        check_pairs(dim, "adaptive: {largest: 3, reach: 1.2}", "jitter: 0.8");
    }
}

/* ---- Still water: acceptance 9 of the method's table ----------------------------------------- */

static void check_still(int dim, const char *solver) {
    play p = open_pool(2, dim, solver, "sampling: regular");
    const double count = (double)p.sim->particles.count;
    play_until(&p, 2);
    const sums end = sums_of(&p);
    const double fast = play_quantity(&p, "max_speed");
    CHECK_BELOW((double)p.sim->particles.count / count, 0.6);
    CHECK_BELOW(fast / sqrt(9.81 * 0.6), 1e-3);
    CHECK_BELOW(fabs(end.middle[1] / end.mass / 0.3 - 1), 0.005);
    /* `surface: distance` does not measure volumes */
    if (!strstr(solver, "distance")) CHECK_BELOW(fabs(play_quantity(&p, "volume_drift")), 0.005);
    play_close(&p);
}

static void test_still_water(void **state) {
    (void)state;
    if (WATCHED) skip();
    check_still(2, "adaptive: {}");
    check_still(3, "adaptive: {}");
    check_still(2, "adaptive: {}, transfer: aflip, kernel: quadratic");
    check_still(2, "adaptive: {}, surface: distance");
    check_still(2, "adaptive: {}, transfer: kernel");
}

/* ---- A dam: acceptance 10 -------------------------------------------------------------------- */

static void test_dam(void **state) {
    (void)state;
    if (WATCHED) skip();
    const bool full = getenv("SPATE_FULL") != NULL;
    const int cells = full ? 40 : 16;
    double one[FRONTS], other[FRONTS], offset, worst = 0;
    dam_fronts(9.81, cells, "type: flip, adaptive: {}", "", one);
    dam_fronts(9.81, cells, "type: flip", "", other);
    for (int n = 0; n < 334; n++) worst = fmax(worst, fabs(one[n] / other[n] - 1));
    CHECK_BELOW(worst, 0.03);
    if (full) CHECK_BELOW(dam_error(9.81, cells, "type: flip, adaptive: {}", "", &offset), 0.08);
}

/* ---- A turning pool -------------------------------------------------------------------------- */

/* A disc of liquid in a round tank keeps its angular momentum: less than a hundredth of it is lost
 * in a second beyond what is lost without merging. */
static double turning(const char *solver) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
        "domain: {origin: [-0.5, -0.5], size: [1, 1], dx: 0.025, walls: open}\n"
        "solver: {type: flip%s}\nmaterials: {w: {model: liquid}}\n"
        "bodies: [{material: w, spin: 1, shape: {sphere: {center: [0, 0], radius: 0.4}}}]\n"
        "colliders: [{contact: slip, shape: {difference: [{box: {min: [-1, -1], max: [1, 1]}}, "
        "{sphere: {center: [0, 0], radius: 0.4}}]}}]\n",
        solver);
    const double before = play_quantity(&p, "angular_z");
    play_until(&p, 1);
    const double kept = play_quantity(&p, "angular_z") / before;
    play_close(&p);
    return kept;
}

static void test_turning_pool(void **state) {
    (void)state;
    if (WATCHED) skip();
    const double regular = turning(""), merging = turning(", adaptive: {}");
    CHECK_ABOVE(merging, regular - 0.01);
}

/* ---- One result ------------------------------------------------------------------------------ */

static play open_dam(int threads, int dim, const char *more) {
    char moving[256];
    snprintf(moving, sizeof moving, "velocity: %s", dim == 2 ? "[2, 2]" : "[2, 2, 0.5]");
    char solver[256];
    snprintf(solver, sizeof solver, "adaptive: {%s}", more);
    return open_pool(threads, dim, solver, moving);
}

static uint64_t hash_after(int dim, int threads, bool restored, const char *more) {
    play p = open_dam(threads, dim, more);
    play_until(&p, 0.12);
    if (restored) {
        play q = open_dam(threads, dim, more);
        play_go_on(&p, &q);
        play_close(&p);
        p = q;
    }
    play_until(&p, 0.3);
    const flip *f = p.sim->solver;
    CHECK_ABOVE((double)f->memory.split, 2.5);
    CHECK_ABOVE((double)f->memory.merged, 20);
    uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

static void test_threads_and_restore(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const uint64_t one = hash_after(dim, 1, false, "");
        assert_int_equal(hash_after(dim, 3, false, ""), one);
        assert_int_equal(hash_after(dim, 2, true, ""), one);
        assert_true(hash_after(dim, 2, false, "split: random") != one);
    }
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void refused(const char *solver, const char *expected) {
    play_refused(expected,
                 "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ndomain: {size: [1, 1], dx: 0.1}\n"
                 "solver: {type: flip, %s}\nmaterials: {w: {model: liquid}}\n"
                 "bodies: [{material: w, shape: {sphere: {center: [.5, .5], radius: 0.2}}}]\n",
                 solver);
}

static void test_bad_input(void **state) {
    (void)state;
    refused("adaptive: {largest: 8}", "solver.adaptive.largest: is 8; in 2D use at most 4");
    refused("adaptive: {largest: 1}", "merges nothing");
    refused("adaptive: {deep: 2}", "solver.adaptive.deep: 2 is out of range");
    refused("adaptive: {reach: 0}", "solver.adaptive.reach: 0 is out of range");
    refused("adaptive: {}, reseed: true", "solver.reseed: splits what adaptive merges");
    refused("adaptive: {}, flow: {field: vortex}", "leave out adaptive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_no_pair_is_left),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_still_water),
        cmocka_unit_test(test_dam),
        cmocka_unit_test(test_turning_pool),
        cmocka_unit_test(test_threads_and_restore),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
