/*
 * Thin sheets of flip (Ando et al. 2012, section 4) against what is known of them: eigenvalues and
 * densities in layers of a lattice, a ball that has no thin particle, the walk against its plain
 * form over all candidates, a layer that is stretched without a hole and given back its masses when
 * it shrinks again, a disc that flies apart, momentum.
 */
#include "holes.h"

#include "solver/flip/insertion.h"
#include "solver/flip/sheet_tile.h"

/* ---- Scenes ---------------------------------------------------------------------------------- */

enum { LINE = 256 };

/* No gravity; cells of 1, particles of 1/2. */
static play open_body(int threads, int dim, const char *size, const char *options,
                      const char *matter) {
    return play_open(threads,
                     "spate: 1\ndimension: %d\ngravity: %s\nduration: 100\n"
                     "domain: {size: %s, dx: 1, walls: open}\n"
                     "solver: {type: flip, dt: 0.01, %s}\n"
                     "materials: {water: {model: liquid, density: 1}}\n"
                     "bodies: [{material: water, sampling: regular, %s}]\n",
                     dim, dim == 3 ? "[0, 0, 0]" : "[0, 0]", size, options, matter);
}

static sheets *sheets_of(const play *p) { return ((flip *)p->sim->solver)->sheets; }

/* Sorted, and with thinness known; end with sheets_end. */
static void sort(play *p) {
    int64_t lost;
    assert_int_equal(
        blocks_sort(&p->sim->blocks, &p->sim->particles, &p->sim->scratch, p->ctx->pool, &lost), 0);
    assert_true(lost < 0);
}

static sheets *look(play *p) {
    sort(p);
    p->sim->dt = 0.01;
    assert_int_equal(flip_thin(p->sim->solver), SPATE_OK);
    return sheets_of(p);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* A point so near to the next cell that its sum with a reach is rounded up finds the copies that
 * are there and no others: what a tile held before, here numbers far out of it, is not read. */
static void test_rows_end_where_a_tile_does(void **state) {
    (void)state;
    const copied what = {.particle = true};
    sheet_tile *tile = malloc(sizeof *tile);
    assert_non_null(tile);
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_body(1, dim, dim == 3 ? "[16, 16, 16]" : "[16, 16]", "sheets: {}",
                           dim == 3 ? "shape: {box: {min: [6, 6, 6], max: [7, 7, 7]}}"
                                    : "shape: {box: {min: [6, 6], max: [7, 7]}}");
        const real reach = 1, below = (real)3 - 2 * REAL_EPSILON, above = (real)2;
        sort(&p);
        neighbourhood around;
        assert_int_equal(neighbourhood_begin(p.sim, &around), SPATE_OK);
        memset(tile->starts, 0x3f, sizeof tile->starts);
        const int home[3] = {2, 2, dim == 3 ? 2 : 0};
        fill_tile(&around, p.sim->blocks.occupied[0],
                  (block_cells)1 << box_index(BLOCK_EDGE, home, dim), 1, &what, tile, dim);
        for (int corner = 0; corner < 1 << dim; corner++) {
            real x[3] = {0};
            int found = 0;
            tile_rows rows;
            for (int a = 0; a < dim; a++) x[a] = corner >> a & 1 ? below : above;
            list_rows_near(tile, x, reach, &rows, dim);
            for (int k = 0; k < rows.count; k++) {
                assert_in_range(rows.rows[k].last, 1, tile->count);
                found += rows.rows[k].last - rows.rows[k].first;
            }
            assert_int_equal(found, 1 << dim);
        }
        neighbourhood_end(p.sim, &around);
        play_close(&p);
    }
    free(tile);
}

/* ---- Thin particles -------------------------------------------------------------------------- */

/* Layers of a lattice, across the last axis; the particle in the middle of layer `layer`. */
typedef struct layer_case {
    int dim, layers, layer;
    double ratio, density; /* least over largest eigenvalue; rho / rho0 */
} layer_case;

/* Sums over the lattice in double, which gave these. */
static const layer_case layer_cases[] = {
    {3, 1, 0, 0, 0.232},     {3, 2, 0, 0.097, 0.438}, {3, 3, 0, 0.248, 0.570},
    {3, 3, 1, 0.250, 0.644}, {3, 4, 0, 0.377, 0.616}, {2, 1, 0, 0, 0.21},
    {2, 2, 0, 0.084, 0.40},  {2, 3, 0, 0.22, 0.54},   {2, 4, 0, 0.365, 0.61},
};

static play open_layers(const layer_case *c) {
    char matter[LINE];
    const double high = 6 + 0.5 * c->layers;
    if (c->dim == 3)
        snprintf(matter, sizeof matter, "shape: {box: {min: [2, 2, 6], max: [14, 14, %g]}}", high);
    else
        snprintf(matter, sizeof matter, "shape: {box: {min: [2, 6], max: [14, %g]}}", high);
    return open_body(1, c->dim, c->dim == 3 ? "[16, 16, 16]" : "[16, 16]", "sheets: {}", matter);
}

static int64_t middle_of(const play *p, const layer_case *c) {
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        bool here = true;
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < c->dim - 1; a++) here &= fabs(x[a] - 8.25) < 0.1;
        if (here && fabs(x[c->dim - 1] - (6.25 + 0.5 * c->layer)) < 0.1) return i;
    }
    fail_msg("no particle in the middle");
    return -1;
}

/* The same with every weight 1 within the radius. */
static double unweighted_ratio(const layer_case *c) {
    double sums[2] = {0}, squares[2] = {0}, count = 0;
    for (int z = 0; z < c->layers; z++)
        for (int x = -4; x <= 4; x++)
            for (int y = c->dim == 3 ? -4 : 0; y <= (c->dim == 3 ? 4 : 0); y++) {
                const int up = z - c->layer;
                if (x * x + y * y + up * up >= 16) continue;
                count += 1, sums[1] += up, squares[0] += x * x, squares[1] += up * up;
            }
    return (squares[1] / count - pow(sums[1] / count, 2)) / (squares[0] / count);
}

static void test_layers_are_as_thin_as_lattices_say(void **state) {
    (void)state;
    for (int n = 0; n < COUNT_OF(layer_cases); n++) {
        const layer_case *c = &layer_cases[n];
        play p = open_layers(c);
        sheets *s = look(&p);
        const int64_t i = middle_of(&p, c);
        const double ratio = 1 - (double)p.sim->particles.thinness[i];
        const double last_digit = c->dim == 3 ? 5e-4 : 5e-3;
        CHECK_BELOW(fabs(ratio - c->ratio), 0.01 * c->ratio + last_digit);
        CHECK_BELOW(fabs((double)s->view.density[i] - c->density), 0.01 * c->density + last_digit);
        /* the sum without weights is another */
        if (c->layers > 1)
            CHECK_ABOVE(fabs(unweighted_ratio(c) - c->ratio), 0.02 * c->ratio + last_digit);
        assert_int_equal((double)p.sim->particles.thinness[i] >= 0.8, c->layers <= 2);
        sheets_end(s);
        play_close(&p);
    }
}

/* Neither drops nor pools are thin, whatever lattice they are on. */
static void test_balls_are_not_thin(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int irregular = 0; irregular < 2; irregular++) {
            char matter[LINE];
            snprintf(matter, sizeof matter, "shape: {sphere: {center: %s, radius: 3}}%s",
                     dim == 3 ? "[8.1, 8.2, 8.3]" : "[8.1, 8.2]",
                     irregular ? ", particles_per_cell: " : "");
            if (irregular) snprintf(matter + strlen(matter), 8, "%d", dim == 3 ? 8 : 4);
            play p = play_open(1,
                               "spate: 1\ndimension: %d\ngravity: %s\n"
                               "domain: {size: %s, dx: 1, walls: open}\n"
                               "solver: {type: flip, dt: 0.01, sheets: {}}\n"
                               "materials: {water: {model: liquid, density: 1}}\n"
                               "bodies: [{material: water, sampling: %s, %s}]\n",
                               dim, dim == 3 ? "[0, 0, 0]" : "[0, 0]",
                               dim == 3 ? "[16, 16, 16]" : "[16, 16]",
                               irregular ? "glass" : "regular", matter);
            sheets *s = look(&p);
            int64_t thin = 0;
            EACH_PARTICLE(p.sim, block, i) thin += sheets_owns(p.sim->solver, i);
            assert_int_equal(thin, 0);
            sheets_end(s);
            play_close(&p);
        }
}

/* ---- Stretching by hand ---------------------------------------------------------------------- */

/* One layer, or a few layers apart: all in one block's reach of a step. */
static play open_layer(int threads, int dim, const char *options) {
    return dim == 3 ? open_body(threads, 3, "[40, 40, 8]", options,
                                "shape: {box: {min: [16.75, 16.75, 4], max: [23.25, 23.25, 4.5]}}")
                    : open_body(threads, 2, "[64, 8]", options,
                                "shape: {box: {min: [26, 4], max: [38, 4.5]}}");
}

/* Velocities of a plane that grows about the domain's middle, and all places `factor` times as far
 * from it; with `flat` the thickness falls as the area grows. */
static void stretch(play *p, double factor, bool flat) {
    const blocks *b = &p->sim->blocks;
    particles *all = &p->sim->particles;
    const int plane = b->dim - 1;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < plane; a++) {
            const double middle = p->scene->domain.size[a] / 2, from = x[a] - middle;
            PLANE(all, position, a)[i] += (real)((factor - 1) * from);
            all->velocity[i][a] = (real)((factor - 1) * from);
        }
        if (!flat) continue;
        const double up = x[plane] - p->scene->domain.size[plane] / 2;
        PLANE(all, position, plane)[i] += (real)((pow(factor, -plane) - 1) * up);
        all->velocity[i][plane] = (real)((pow(factor, -plane) - 1) * up);
    }
}

static void insert_step(play *p) {
    sheets *s = look(p);
    assert_int_equal(flip_insert(p->sim->solver), SPATE_OK);
    assert_int_equal(flip_spacing(p->sim->solver), SPATE_OK);
    assert_false(s->begun);
    p->sim->step++;
}

static double mass_of(const play *p) {
    double mass = 0;
    EACH_PARTICLE(p->sim, block, i) mass += (double)p->sim->particles.mass[i];
    return mass;
}

/* The largest distance from a point of a fine raster, away from the rim, to the nearest
 * particle. */
static double largest_hole(const play *p, double half) {
    const int dim = p->scene->dim, steps = dim == 3 ? 60 : 600;
    double largest = 0;
    for (int i = 0; i <= steps; i++)
        for (int j = 0; j <= (dim == 3 ? steps : 0); j++) {
            const double at[2] = {half * (2.0 * i / steps - 1), half * (2.0 * j / steps - 1)};
            double least = HUGE_VAL;
            EACH_PARTICLE(p->sim, block, k) {
                double x[3], way2 = 0;
                simulation_position(p->sim, block, k, x);
                for (int a = 0; a < dim - 1; a++)
                    way2 += pow(x[a] - p->scene->domain.size[a] / 2 - at[a], 2);
                least = fmin(least, way2);
            }
            largest = fmax(largest, sqrt(least));
        }
    return largest;
}

/* A layer that grows threefold has no hole on the way. */
static void test_a_layer_stretches_without_a_hole(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_layer(1, dim, "sheets: {}");
        const double half = dim == 3 ? 3.25 : 6, before = mass_of(&p);
        const int64_t count = p.sim->particles.count;
        double grown = 1;
        for (; grown < 3; grown *= 1.04) {
            stretch(&p, 1.04, false);
            insert_step(&p);
        }
        CHECK_BELOW(largest_hole(&p, half * grown * 0.8), 0.5 * (dim == 3 ? 0.95 : 1.1));
        CHECK_ABOVE((double)p.sim->particles.count, (double)count * (dim == 3 ? 5 : 1.8));
        CHECK_BELOW(fabs(mass_of(&p) / before - 1), IN_DOUBLE ? 1e-12 : 1e-6);
        play_close(&p);
    }
}

/* A block is made a sheet and a block again: all that was inserted is gone, and everybody has the
 * mass of the start. Where removed parents are forgotten it is not so. */
static void play_return(play *p, int dim) {
    double grown = 1;
    for (; grown < (dim == 3 ? 3 : 5); grown *= 1.04) {
        stretch(p, 1.04, true);
        insert_step(p);
    }
    CHECK_ABOVE((double)sheets_of(p)->memory.alive, dim == 3 ? 300 : 20);
    for (; grown > 1.0001; grown /= 1.04) {
        stretch(p, 1 / 1.04, true);
        insert_step(p);
    }
    for (int n = 0; n < 5; n++) insert_step(p);
}

static void test_a_block_has_its_masses_again(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = dim == 3 ? open_body(1, 3, "[40, 40, 8]", "sheets: {}",
                                      "shape: {box: {min: [17, 17, 2.5], max: [23, 23, 5.5]}}")
                          : open_body(1, 2, "[64, 8]", "sheets: {}",
                                      "shape: {box: {min: [28, 2.5], max: [36, 5.5]}}");
        const double before = mass_of(&p), one = before / (double)p.sim->particles.count;
        play_return(&p, dim);
        const sheet_memory *m = &sheets_of(&p)->memory;
        double worst = 0;
        EACH_PARTICLE(p.sim, block, i)
        worst = fmax(worst, fabs((double)p.sim->particles.mass[i] / one - 1));
        print_message("%dD: %lld inserted, %lld through, %lld left, mass off by %.2g\n", dim,
                      (long long)m->inserted, (long long)m->through, (long long)m->alive, worst);
        CHECK_BELOW((double)m->alive, 0.01 * (double)m->inserted + 0.5);
        CHECK_BELOW(fabs(mass_of(&p) / before - 1), IN_DOUBLE ? 1e-12 : 1e-6);
        if (!m->alive) CHECK_BELOW(worst, IN_DOUBLE ? 1e-12 : 3e-6);
        assert_int_equal(m->kept + m->nearest + m->aside, 0);
        play_close(&p);
    }
}

/* Without insertion the layer has holes as large as it is stretched. */
static void test_without_insertion_a_layer_tears(void **state) {
    (void)state;
    play p = open_layer(1, 3, "sheets: {thin: 0, spray: 1}");
    for (double grown = 1; grown < 3; grown *= 1.04) {
        stretch(&p, 1.04, false);
        insert_step(&p);
    }
    CHECK_ABOVE(largest_hole(&p, 3.25 * 3 * 0.8), 0.5 * 2);
    play_close(&p);
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* Eq. 13 and 14 as they stand, over all candidates. */
static int64_t plain_walk(const spate_simulation *sim, const candidate *list, int64_t count,
                          double near, double far, uint8_t *chosen) {
    uint8_t *gone = test_calloc((size_t)count + 1, 1);
    int64_t picked = 0, at = -1;
    for (;;) {
        double least = HUGE_VAL;
        int64_t next = -1;
        for (int64_t c = 0; c < count && at >= 0; c++) {
            double way2 = 0;
            for (int a = 0; a < sim->scene->dim; a++) {
                const int32_t *here = sim->blocks.coords[list[c].block],
                              *there = sim->blocks.coords[list[at].block];
                way2 += pow(
                    4.0 * (here[a] - there[a]) + (double)list[c].x[a] - (double)list[at].x[a], 2);
            }
            if (way2 < near * near) gone[c] = 1;
            if (!gone[c] && way2 < far * far && way2 < least) least = way2, next = c;
        }
        for (int64_t c = 0; c < count && next < 0; c++)
            if (!gone[c] && (double)list[c].density < least) least = (double)list[c].density;
        for (int64_t c = 0; c < count && next < 0; c++)
            if (!gone[c] && (double)list[c].density == least) next = c;
        if (next < 0) break;
        chosen[next] = 1, gone[next] = 1;
        picked++, at = next;
    }
    test_free(gone);
    return picked;
}

/* One torn sheet and four: components walked for themselves choose what one walk chooses. */
static void test_components_choose_what_one_walk_does(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "shape: {box: {min: [10, 10, 4], max: [30, 30, 4.5]}}",
        "shape: {union: [{box: {min: [10, 10, 4], max: [16, 18, 4.5]}}, {box: {min: [24, 8, 4], "
        "max: "
        "[30, 14, 4.5]}}, {box: {min: [9, 24, 4], max: [14, 30, 4.5]}}, {box: {min: [22, 22, 4], "
        "max: [32, 30, 4.5]}}]}"};
    for (int n = 0; n < 2; n++) {
        play p = open_body(3, 3, "[40, 40, 8]", "sheets: {}", bodies[n]);
        for (int k = 0; k < 8; k++)
            stretch(&p, 1.08, false), sort(&p); /* about twice the spacing */
        int64_t count, picked[2] = {0};
        candidate *list;
        sheets *s = look(&p);
        assert_int_equal(sheets_candidates(s, &list, &count), SPATE_OK);
        CHECK_ABOVE((double)count, 300);
        int64_t *chosen[2];
        uint8_t *plain = test_calloc((size_t)count, 1), *found[2];
        for (int whole = 0; whole < 2; whole++) {
            const walk w = {&p.sim->blocks, list, count, 0.8 * 0.5, 3.5 * 0.5, whole};
            chosen[whole] = test_calloc((size_t)count, sizeof **chosen);
            found[whole] = test_calloc((size_t)count, 1);
            assert_int_equal(
                walk_choose(&w, &p.sim->scratch, p.ctx->pool, chosen[whole], &picked[whole]),
                SPATE_OK);
            for (int64_t k = 0; k < picked[whole]; k++) found[whole][chosen[whole][k]] = 1;
        }
        assert_int_equal(plain_walk(p.sim, list, count, 0.8 * 0.5, 3.5 * 0.5, plain), picked[0]);
        assert_int_equal(picked[0], picked[1]);
        assert_memory_equal(found[0], found[1], (size_t)count);
        assert_memory_equal(found[0], plain, (size_t)count);
        for (int whole = 0; whole < 2; whole++) test_free(chosen[whole]), test_free(found[whole]);
        test_free(plain);
        scratch_give(&p.sim->scratch, "sheet candidates");
        sheets_end(s);
        play_close(&p);
    }
}

/* ---- Mass that comes back -------------------------------------------------------------------- */

/* Record k: parents are 0 and 1, and what those gave. */
static void add_record(ancestry *a, spate_context *ctx, uint64_t id, uint64_t p, uint64_t q,
                       double from_p, double from_q) {
    const descent d = {.id = id, .parent = {p, q}, .taken = {from_p, from_q}};
    assert_int_equal(ancestry_add(ctx, a, &d), SPATE_OK);
}

typedef struct family {
    ancestry a;
    heir slots[64];
    heir_table heirs;
    share_list shares;
} family;

/* Particles 10 and 11 made 20; 20 and 11 made 21. Those whose bit is set live, at index id - 10. */
static void family_open(family *f, spate_context *ctx) {
    *f = (family){0};
    f->heirs = (heir_table){f->slots, 63};
    add_record(&f->a, ctx, 20, 10, 11, 1, 3);
    add_record(&f->a, ctx, 21, 20, 11, 2, 2);
}
static void family_share(family *f, const uint64_t *alive, int count) {
    memset(f->slots, 0, sizeof f->slots);
    const descent *d = ancestry_find(&f->a, 21);
    heirs_of(&f->a, d, &f->heirs);
    for (int k = 0; k < count; k++) {
        heir *h = heir_find(&f->heirs, alive[k]);
        if (h->id) h->index = (int64_t)alive[k] - 10;
    }
    ancestry_share(&f->a, d, &f->heirs, &f->shares);
}
static double share_for(const family *f, uint64_t id) {
    double sum = 0;
    for (int k = 0; k < f->shares.count; k++)
        if (f->shares.index[k] == (int64_t)id - 10) sum += f->shares.share[k];
    return sum;
}

static void test_mass_finds_its_heirs(void **state) {
    (void)state;
    spate_context *ctx;
    spate_config config = spate_default_config();
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    family f;
    family_open(&f, ctx);
    /* both parents live */
    family_share(&f, (uint64_t[]){20, 11}, 2);
    CHECK_BELOW(fabs(share_for(&f, 20) - 0.5), 1e-15);
    CHECK_BELOW(fabs(share_for(&f, 11) - 0.5), 1e-15);
    assert_false(f.shares.through || f.shares.aside);
    /* one was removed: its half goes on as 1 : 3 */
    ancestry_remove(&f.a, ancestry_find(&f.a, 20));
    family_share(&f, (uint64_t[]){10, 11}, 2);
    CHECK_BELOW(fabs(share_for(&f, 10) - 0.125), 1e-15);
    CHECK_BELOW(fabs(share_for(&f, 11) - 0.875), 1e-15);
    assert_true(f.shares.through && !f.shares.aside);
    /* 11 has left: 10 gets all, through the removed one */
    family_share(&f, (uint64_t[]){10}, 1);
    CHECK_BELOW(fabs(share_for(&f, 10) - 1), 1e-15);
    assert_true(f.shares.aside);
    /* 10 has become part of 12 */
    ancestry_forward(&f.a, 10, 12);
    family_share(&f, (uint64_t[]){12, 11}, 2);
    CHECK_BELOW(fabs(share_for(&f, 12) - 0.125), 1e-15);
    /* nobody is left */
    family_share(&f, NULL, 0);
    assert_int_equal(f.shares.count, 0);
    /* the record of 20 stays while 21 has one, and no longer */
    assert_non_null(ancestry_find(&f.a, 20));
    ancestry_remove(&f.a, ancestry_find(&f.a, 21));
    assert_null(ancestry_find(&f.a, 21));
    assert_null(ancestry_find(&f.a, 20));
    assert_int_equal(f.a.dropped, 2);
    give(ctx, f.a.records);
    spate_close(ctx);
}

/* ---- A disc that flies apart ----------------------------------------------------------------- */

/* u = (x, y, -2 z) / (t + t0) keeps a disc a disc, of radius R0 (1 + t / t0); exact with free
 * faces. R0 = 20 d0, thickness 2 d0, t0 = 0.1 s, cells of 1 m: area x 9 at 0.2 s. */
static play open_disc(int threads, const char *options) {
    return play_open(threads,
                     "spate: 1\ndimension: 3\ngravity: [0, 0, 0]\nduration: 1\n"
                     "domain: {size: [72, 72, 8], dx: 1, walls: open}\n"
                     "solver: {type: flip, cfl: 1, %s}\n"
                     "materials: {water: {model: liquid, density: 1}}\n"
                     "bodies: [{material: water, sampling: regular, flow: [{strain: [10, 10, -20], "
                     "center: [36, 36, 4]}], shape: {cylinder: {from: [36, 36, 3.5], to: [36, 36, "
                     "4.5], radius: 10}}}]\n",
                     options);
}

/* In the disc of a radius about the domain's middle; the share of it that is covered. */
static bool in_disc(double x, double y, const double *radius) { return hypot(x, y) < *radius; }

static int count_holes(const play *p, double radius, double *covered) {
    const double d0 = 0.5, rim = radius / d0;
    const double middle[2] = {p->scene->domain.size[0] / 2, p->scene->domain.size[1] / 2};
    raster r = raster_open(-rim, -rim, rim, rim);
    EACH_PARTICLE(p->sim, block, k) {
        double x[3];
        simulation_position(p->sim, block, k, x);
        raster_cover(&r, (x[0] - middle[0]) / d0, (x[1] - middle[1]) / d0);
    }
    *covered = raster_cut(&r, in_disc, &rim);
    return raster_holes(&r);
}

/* From the second moment of mass, which belongs to no single particle: sqrt(2) times its root. */
static double radius_of(const play *p) {
    double moment = 0, mass = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        const double m = (double)p->sim->particles.mass[i];
        simulation_position(p->sim, block, i, x);
        mass += m, moment += m * (pow(x[0] - 36, 2) + pow(x[1] - 36, 2));
    }
    return sqrt(2 * moment / mass);
}

/* The counter itself: none in a whole layer, one where a disc of 3 d0 was taken out. */
static void test_holes_are_counted(void **state) {
    (void)state;
    double covered;
    play p = open_disc(1, "sheets: {}");
    assert_int_equal(count_holes(&p, 9, &covered), 0);
    CHECK_ABOVE(covered, 0.999);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        if (hypot(x[0] - 37, x[1] - 38) < 1.5) p.sim->particles.group[i] = GROUP_REMOVED;
    }
    int64_t lost;
    assert_int_equal(
        blocks_sort(&p.sim->blocks, &p.sim->particles, &p.sim->scratch, p.ctx->pool, &lost), 0);
    assert_int_equal(count_holes(&p, 9, &covered), 1);
    play_close(&p);
}

static void test_a_disc_flies_apart_whole(void **state) {
    (void)state;
    double covered, start;
    play p = open_disc(2, "alpha: 1, sheets: {}");
    start = radius_of(&p);
    const double mass = mass_of(&p);
    play_until(&p, 0.2);
    const int holes = count_holes(&p, 0.9 * 30, &covered);
    print_message("disc x9: %d holes, covered %.4f, R %.3f, %lld particles, momentum %.3g\n", holes,
                  covered, radius_of(&p) / start / 3, (long long)p.sim->particles.count,
                  play_quantity(&p, "sheet_momentum"));
    assert_int_equal(holes, 0);
    CHECK_ABOVE(covered, 0.995);
    CHECK_BELOW(fabs(radius_of(&p) / start / 3 - 1), 0.01);
    CHECK_BELOW(fabs(mass_of(&p) / mass - 1), IN_DOUBLE ? 1e-12 : 1e-6);
    play_close(&p);
    p = open_disc(2, "alpha: 1");
    play_until(&p, 0.2);
    /* three sizes apart, they do not cover what lies between: one hole, open to the outside */
    count_holes(&p, 0.9 * 30, &covered);
    CHECK_BELOW(covered, 0.5);
    play_close(&p);
}

/* ---- A curtain ------------------------------------------------------------------------------- */

/* Water leaves a slot of one cell at 1 m/s and falls freely: after z its thickness is u0 /
 * sqrt(u0^2 + 2 g z) of the slot's, 0.3041 at 0.5 m. d0 = 0.01 m. */
static play play_curtain(const char *options) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\ngravity: [0, -9.81]\nduration: 1\n"
                       "domain: {size: [0.2, 0.8], dx: 0.02, walls: open}\n"
                       "solver: {type: flip, cfl: 0.5, %s}\n"
                       "materials: {water: {model: liquid, density: 1000}}\n"
                       "sources: [{material: water, sampling: regular, velocity: [0, -1], shape: "
                       "{box: {min: [0.09, 0.7], max: [0.11, 0.76]}}}]\n",
                       options);
    play_until(&p, 0.5);
    return p;
}

static int by_height(const void *a, const void *b) {
    const double one = *(const double *)a, two = *(const double *)b;
    return one < two ? -1 : one > two;
}

/* The largest gap along the curtain below the slot, and its thickness 0.5 m below. */
static double curtain_gap(const play *p, double *thickness) {
    double *y = test_calloc((size_t)p->sim->particles.count, sizeof *y), mass = 0, gap = 0;
    int64_t count = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        if (x[1] < 0.7 && x[1] > 0.15) y[count++] = x[1];
        if (fabs(x[1] - 0.2) < 0.04) mass += (double)p->sim->particles.mass[i];
    }
    qsort(y, (size_t)count, sizeof *y, by_height);
    for (int64_t k = 1; k < count; k++) gap = fmax(gap, y[k] - y[k - 1]);
    *thickness = mass / 1000 / 0.08 / 0.02;
    test_free(y);
    return gap / 0.01;
}

static void test_a_curtain_thins_and_does_not_break(void **state) {
    (void)state;
    double thickness;
    play p = play_curtain("sheets: {}");
    const double gap = curtain_gap(&p, &thickness);
    print_message("curtain: %.4f thick, largest gap %.2f d0, %g insertions\n", thickness, gap,
                  play_quantity(&p, "insertions"));
    CHECK_BELOW(fabs(thickness / 0.3041 - 1), 0.05);
    CHECK_BELOW(gap, 1.8);
    play_close(&p);
    p = play_curtain("alpha: 0.97");
    CHECK_ABOVE(curtain_gap(&p, &thickness), 2.4);
    play_close(&p);
}

/* ---- A crown --------------------------------------------------------------------------------- */

static play open_crown(int threads, const char *options) {
    return play_open(threads,
                     "spate: 1\ndimension: 3\nduration: 10\n"
                     "domain: {size: [0.8, 0.6, 0.8], dx: 0.04, walls: slip}\n"
                     "solver: {type: flip, %s}\n"
                     "materials: {water: {model: liquid, density: 1000}}\n"
                     "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.8, 0.08, "
                     "0.8]}}}, {material: water, velocity: [0, -3, 0], shape: {sphere: {center: "
                     "[0.4, 0.22, 0.4], radius: 0.1}}}]\n",
                     options);
}

/* Threads and resuming do not show; mass is kept, and so is momentum by mass-weighted means, which
 * the published ones change. */
static void test_a_crown_keeps_mass_and_momentum(void **state) {
    (void)state;
    static const char *const options = "sheets: {}, spacing: {}";
    play p = open_crown(1, options), q = open_crown(3, options), r = open_crown(2, options),
         published = open_crown(2, "sheets: {weighting: published}, spacing: {}");
    const double mass = mass_of(&p);
    play_steps(&p, 30), play_steps(&q, 30), play_steps(&published, 30);
    play_steps(&r, 17);
    play_go_on(&q, &r); /* any state will do */
    play_steps(&p, 30), play_steps(&q, 30), play_steps(&r, 30), play_steps(&published, 30);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(q.sim));
    assert_true(spate_simulation_hash(r.sim) == spate_simulation_hash(q.sim));
    const sheet_memory *m = &sheets_of(&p)->memory;
    assert_memory_equal(m, &sheets_of(&r)->memory, sizeof *m);
    print_message(
        "crown: %lld inserted, %lld removed, through %lld, momentum %.3g, published %.3g\n",
        (long long)m->inserted, (long long)m->removed, (long long)m->through,
        play_quantity(&p, "sheet_momentum"), play_quantity(&published, "sheet_momentum"));
    CHECK_ABOVE((double)m->inserted, 100);
    CHECK_ABOVE((double)m->removed, 10);
    CHECK_BELOW(fabs(mass_of(&p) / mass - 1), IN_DOUBLE ? 1e-12 : 1e-6);
    const double most = 3 * 1000 * 4.0 / 3 * 3.14159 * 1e-3; /* of the drop */
    CHECK_BELOW(play_quantity(&p, "sheet_momentum"), 1e-5 * most);
    CHECK_ABOVE(play_quantity(&published, "sheet_momentum"), 1e-5 * most);
    play_close(&p), play_close(&q), play_close(&r), play_close(&published);
}

/* ---- Sheets and particles of many sizes ------------------------------------------------------ */

/* A drop on a pool that is deep enough to merge in. */
static play open_deep_crown(int threads) {
    return play_open(threads,
                     "spate: 1\ndimension: 3\nduration: 10\n"
                     "domain: {size: [0.8, 0.9, 0.8], dx: 0.05, walls: slip}\n"
                     "solver: {type: flip, sheets: {}, spacing: {}, adaptive: {}}\n"
                     "materials: {water: {model: liquid, density: 1000}}\n"
                     "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.8, 0.35, "
                     "0.8]}}}, {material: water, velocity: [0, -4, 0], shape: {sphere: {center: "
                     "[0.4, 0.5, 0.4], radius: 0.12}}}]\n");
}

/* Parents that are merged hand on what their children have of them: in a closed box all mass that
 * is given back finds both its heirs. One result for every number of threads and after a
 * restore. */
static void test_merged_parents_hand_on(void **state) {
    (void)state;
    uint64_t one = 0;
    for (int threads = 1; threads <= 8; threads += threads == 1 ? 1 : 3) {
        play p = open_deep_crown(threads);
        const double mass = mass_of(&p);
        play_steps(&p, 40);
        if (threads == 2) {
            play q = open_deep_crown(3);
            play_go_on(&p, &q);
            play_close(&p);
            p = q;
        }
        play_steps(&p, 40);
        const flip *f = p.sim->solver;
        const sheet_memory *m = &f->sheets->memory;
        if (threads == 1) {
            print_message("deep crown: %lld inserted, %lld removed, %lld merged, %lld parents "
                          "forwarded\n",
                          (long long)m->inserted, (long long)m->removed,
                          (long long)f->memory.merged, (long long)m->forwarded);
            one = spate_simulation_hash(p.sim);
        }
        assert_true(spate_simulation_hash(p.sim) == one);
        CHECK_BELOW(fabs(mass_of(&p) / mass - 1), IN_DOUBLE ? 1e-12 : 1e-6);
        CHECK_ABOVE((double)m->forwarded, 5);
        CHECK_ABOVE((double)m->removed, 100);
        assert_int_equal(m->aside + m->nearest + m->kept, 0);
        play_close(&p);
    }
}

/* Of the parents in a flattened block every second is merged into the one before; when the block is
 * one again, all that was taken from both comes to that one. Where it is not handed on, the other
 * parent takes it aside. */
static int64_t play_handing_on(bool hands_on) {
    play p = open_body(1, 3, "[40, 40, 8]", "sheets: {}, adaptive: {}",
                       "shape: {box: {min: [17, 17, 2.5], max: [23, 23, 5.5]}}");
    particles *all = &p.sim->particles;
    const double mass = mass_of(&p);
    double grown = 1;
    for (; grown < 3; grown *= 1.04) stretch(&p, 1.04, true), insert_step(&p);
    int64_t *into = test_calloc((size_t)all->count, sizeof *into), last = -1, merged = 0;
    for (int64_t i = 0; i < all->count; i++) {
        into[i] = -1;
        if (all->generation[i] != GENERATION_PARENT) continue;
        if (last < 0) {
            last = i;
            continue;
        }
        into[i] = last;
        all->mass[last] += all->mass[i];
        all->mass[i] = 0, all->group[i] = GROUP_REMOVED;
        merged++, last = -1;
    }
    if (hands_on) assert_int_equal(sheets_forward_merged(p.sim->solver, into), SPATE_OK);
    CHECK_ABOVE((double)merged, 20);
    for (; grown > 1; grown /= 1.04) stretch(&p, 1 / 1.04, true), insert_step(&p);
    const sheet_memory *m = &sheets_of(&p)->memory;
    CHECK_ABOVE((double)m->removed, 100);
    CHECK_BELOW(fabs(mass_of(&p) / mass - 1), IN_DOUBLE ? 1e-12 : 1e-6);
    const int64_t aside = m->aside + m->nearest + m->kept;
    test_free(into);
    play_close(&p);
    return aside;
}

static void test_heirs_of_merged_parents(void **state) {
    (void)state;
    assert_int_equal(play_handing_on(true), 0);
    assert_true(play_handing_on(false) > 10);
}

/* ---- Limits and refusals --------------------------------------------------------------------- */

static char told[512];

static void keep_warning(spate_log_level level, const char *message, void *user) {
    (void)user;
    if (level == SPATE_LOG_WARNING) snprintf(told, sizeof told, "%s", message);
}

static void test_insertion_has_a_limit(void **state) {
    (void)state;
    play p = open_layer(1, 3, "sheets: {limit: 7}");
    p.ctx->config.log = keep_warning;
    for (int k = 0; k < 8; k++) stretch(&p, 1.08, false);
    insert_step(&p);
    assert_int_equal(sheets_of(&p)->memory.inserted, 7);
    assert_int_equal(sheets_of(&p)->memory.stopped, 1);
    assert_non_null(strstr(told, "particles would be inserted into thin sheets, more than "
                                 "solver.sheets.limit (7)"));
    play_close(&p);
}

static void check_refused_by(const char *type, const char *options, const char *expected) {
    play_refused(expected,
                 "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.1}\nsolver: {type: %s, %s}\n"
                 "materials: {w: {model: liquid, density: 1}}\n"
                 "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n",
                 type, options);
}

static void check_refused(const char *options, const char *expected) {
    check_refused_by("flip", options, expected);
}

static void test_senseless_constants_are_refused(void **state) {
    (void)state;
    check_refused("sheets: {distance: [2, 3.5]}", "make the first less than 1.75");
    check_refused("sheets: {distance: [3.5, 0.8]}",
                  "test:4:41: solver.sheets.distance: is [3.5, 0.8]; pairs are");
    check_refused("sheets: {distance: [-1, 3.5]}", "solver.sheets.distance");
    check_refused("sheets: {thin: 1.5}",
                  "solver.sheets.thin: 1.5 is out of range; give a number from 0 to 1");
    check_refused("sheets: {remove_distance: -1}", "solver.sheets.remove_distance: -1 is out of");
    check_refused("sheets: {sparse: -0.1}", "solver.sheets.sparse");
    check_refused("sheets: {limit: 0}", "solver.sheets.limit");
    check_refused("spacing: {limit: -1}", "solver.spacing.limit");
    check_refused("sharp_radius: -1", "solver.sharp_radius");
    check_refused("full_cell: -8", "solver.full_cell");
    check_refused("liquid_share: 2", "solver.liquid_share");
    check_refused_by(
        "mpm", "sheets: {}",
        "solver.sheets: unknown field 'sheets' of solver mpm; use type: flip, or remove it");
    check_refused_by("sph", "adaptive: {}", "use type: flip");
    check_refused("sheets: {}, surface: distance", "solver.surface");
    check_refused("spacing: {rate: -50}", "solver.spacing.rate");
    check_refused("density_radius: 0", "solver.density_radius");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_end_where_a_tile_does),
        cmocka_unit_test(test_layers_are_as_thin_as_lattices_say),
        cmocka_unit_test(test_balls_are_not_thin),
        cmocka_unit_test(test_a_layer_stretches_without_a_hole),
        cmocka_unit_test(test_a_block_has_its_masses_again),
        cmocka_unit_test(test_without_insertion_a_layer_tears),
        cmocka_unit_test(test_components_choose_what_one_walk_does),
        cmocka_unit_test(test_mass_finds_its_heirs),
        cmocka_unit_test(test_holes_are_counted),
        cmocka_unit_test(test_a_disc_flies_apart_whole),
        cmocka_unit_test(test_a_curtain_thins_and_does_not_break),
        cmocka_unit_test(test_a_crown_keeps_mass_and_momentum),
        cmocka_unit_test(test_merged_parents_hand_on),
        cmocka_unit_test(test_heirs_of_merged_parents),
        cmocka_unit_test(test_insertion_has_a_limit),
        cmocka_unit_test(test_senseless_constants_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
