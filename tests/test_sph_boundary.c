/*
 * Wall particles of SPH: those of the domain's sides continue the liquid's lattice; those of
 * colliders are at their layer's depth, spread evenly, everywhere, and move along; and a liquid
 * beside a wall has its kernel filled, sum V W = 1.
 */
#include "core/random.h"
#include "core/vec.h"
#include "count_down.h"
#include "physics.h"
#include "solver/sph/boundary.h"
#include "solver/sph/kernel.h"

#include <unistd.h>

static const double PI = 3.14159265358979323846;

/* All tests: dx = 0.1 and four or eight particles a cell. */
static const double SPACING = 0.05;

/* A domain of 16 x 10 (x 8) cells with its lowest corner at (-0.2, 0, 0.1). */
static play open_scene(int threads, int dim, const char *walls, const char *colliders) {
    const bool flat = dim == 2;
    return play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {origin: %s, size: %s, dx: 0.1%s}\nsolver: {type: flip}\n"
        "materials: {m: {model: liquid}}\nbodies: [{material: m, shape: {box: {min: %s, max: "
        "%s}}}]\n"
        "colliders: [%s]\n",
        dim, flat ? "[-0.2, 0]" : "[-0.2, 0, 0.1]", flat ? "[1.6, 1]" : "[1.6, 1, 0.8]", walls,
        flat ? "[1.3, 0.9]" : "[1.3, 0.9, 0.8]", flat ? "[1.4, 1]" : "[1.4, 1, 0.9]", colliders);
}

static sph_boundary open_walls(play *p, double support, int layers) {
    sph_boundary w;
    assert_int_equal(sph_boundary_create(p->sim, SPACING, support * SPACING, layers, &w), SPATE_OK);
    return w;
}

/* Where particle i of a block is, as stored. */
static void stored_place(const sph_boundary *w, int32_t block, int64_t i, double x[3]) {
    const domain *d = &w->sim->scene->domain;
    double g[3];
    blocks_position(&w->blocks, &w->particles, block, i, g);
    for (int a = 0; a < 3; a++)
        x[a] = a < w->blocks.dim ? d->origin[a] + (g[a] - w->sim->type->shift) * d->dx : 0;
}

#define EACH_POINT(w, block, i)                                 \
    for (int32_t block = 0; block < (w)->blocks.count; block++) \
        for (int64_t i = (w)->blocks.first[block]; i < (w)->blocks.first[block + 1]; i++)

static double distance_between(const double a[3], const double b[3]) {
    double d[3];
    vec_sub(d, a, b);
    return vec_length(d);
}

/* How far x is from the nearest point of collider 0, at rest. */
static double nearest_point(const sph_boundary *w, const double x[3]) {
    double nearest = HUGE_VAL;
    for (int64_t i = 0; i < w->particles.count; i++)
        if (w->owner[i] == 0) nearest = fmin(nearest, distance_between(w->rest[i], x));
    return nearest;
}

static int64_t count_of(const sph_boundary *w, int owner) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->particles.count; i++) count += w->owner[i] == owner;
    return count;
}

static int layer_of(const sph_boundary *w, int64_t i) {
    return (int)floor((double)w->depth[i] / SPACING);
}

/* How far x is from the liquid's lattice, in spacings. */
static double off_lattice(const sph_boundary *w, const double x[3]) {
    double worst = 0;
    for (int a = 0; a < w->blocks.dim; a++) {
        const double k = (x[a] - w->sim->scene->domain.origin[a]) / SPACING - 0.5;
        worst = fmax(worst, fabs(k - round(k)));
    }
    return worst;
}

/* What is stored agrees with what is known by id. */
static void check_store(const sph_boundary *w) {
    int64_t count = 0;
    EACH_POINT(w, block, i) {
        double x[3];
        const uint32_t id = w->particles.id[i];
        stored_place(w, block, i, x);
        CHECK_BELOW(distance_between(x, w->rest[id]), 1e-6 * SPACING + 3e-8);
        assert_true(w->particles.mass[i] == w->volume[id] && w->particles.group[i] == w->owner[id]);
        count++;
    }
    assert_int_equal(count, w->particles.count);
}

/* ---- Sides of the domain --------------------------------------------------------------------- */

static double power(double x, int n) { return n == 2 ? x * x : x * x * x; }

/* No two at the same place, all on the lattice and outside: with the right number these are all
 * that there are. */
static void check_lattice(const sph_boundary *w, int64_t expected) {
    assert_int_equal(w->particles.count, expected);
    const domain *d = &w->sim->scene->domain;
    double nearest = HUGE_VAL, off = 0;
    for (int64_t i = 0; i < w->particles.count; i++) {
        double behind = 0;
        for (int a = 0; a < w->blocks.dim; a++)
            behind = fmax(behind, fmax(d->origin[a] - w->rest[i][a],
                                       w->rest[i][a] - d->origin[a] - d->size[a]));
        CHECK_BELOW(fabs(behind - (double)w->depth[i]), 1e-6 * SPACING);
        CHECK_BELOW(fabs((double)w->volume[i] / power(SPACING, w->blocks.dim) - 1), 1e-6);
        off = fmax(off, off_lattice(w, w->rest[i]));
        for (int64_t j = WATCHED ? i - 50 : i - 1000; j < i; j++)
            if (j >= 0) nearest = fmin(nearest, distance_between(w->rest[i], w->rest[j]));
    }
    CHECK_BELOW(off, 1e-9);
    CHECK_ABOVE(nearest, 0.999 * SPACING);
    check_store(w);
}

static void sides_continue_the_lattice(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int layers = 2; layers <= 3; layers++) {
            play p = open_scene(1, dim, "", "");
            sph_boundary w = open_walls(&p, 2, layers);
            const int64_t z = dim == 3 ? 16 : 1, wide_z = dim == 3 ? 16 + 2 * layers : 1;
            const int64_t all = (32 + 2 * layers) * (20 + 2 * layers) * wide_z;
            check_lattice(&w, all - 32 * 20 * z);
            /* the deepest side has it; on the diagonals the earlier axis */
            const double corner[3] = {-0.2 - 0.5 * SPACING, -0.5 * SPACING, 0.1 + 0.5 * SPACING};
            for (int64_t i = 0; i < w.particles.count; i++) {
                double x[3] = {w.rest[i][0], w.rest[i][1], dim == 3 ? w.rest[i][2] : corner[2]};
                if (distance_between(x, corner) < 1e-9) assert_int_equal(w.owner[i], 0);
                x[1] += SPACING;
                if (distance_between(x, corner) < 1e-9) assert_int_equal(w.owner[i], 2);
            }
            assert_false(w.moving);
            sph_boundary_free(&w);
            play_close(&p);
        }
}

/* Nothing beyond an open side, and no more than the domain along a periodic axis. */
static void open_and_periodic_sides(void **state) {
    (void)state;
    static const struct {
        const char *walls;
        int64_t count;
    } scenes[] = {
        {", walls: {y_max: open}", 38 * 23 - 32 * 20},
        {", walls: {x_min: open, x_max: open, y_min: open, y_max: open}", 0},
        {", walls: {x_min: periodic, x_max: periodic}", 32 * 6},
        {", walls: {x_min: periodic, x_max: periodic, y_max: open}", 32 * 3},
    };
    for (int k = 0; k < COUNT_OF(scenes); k++) {
        play p = open_scene(1, 2, scenes[k].walls, "");
        sph_boundary w = open_walls(&p, 2, 3);
        check_lattice(&w, scenes[k].count);
        sph_boundary_free(&w);
        play_close(&p);
    }
}

/* A lid that moves along itself takes its points' velocity along, but not the points. */
static void sides_have_velocities(void **state) {
    (void)state;
    play p = open_scene(1, 2, "", "");
    p.scene->domain.walls[1][1] = WALL_STICKY;
    p.scene->domain.wall_velocity[1][1][0] = 0.75;
    sph_boundary w = open_walls(&p, 2, 2);
    assert_true(count_of(&w, 3) > 2 * 32);
    EACH_POINT(&w, block, i) {
        const real *v = w.particles.velocity[i];
        assert_true(v[0] == (w.particles.group[i] == 3 ? (real)0.75 : 0) && v[1] == 0);
    }
    sph_boundary_free(&w);
    play_close(&p);
}

/* Should the domain not be whole spacings long, the points still begin half a spacing behind. */
static void any_spacing_will_do(void **state) {
    (void)state;
    play p = open_scene(1, 2, "", "");
    sph_boundary w;
    assert_int_equal(sph_boundary_create(p.sim, 0.0437, 0.0874, 2, &w), SPATE_OK);
    double low = HUGE_VAL, high = HUGE_VAL;
    for (int64_t i = 0; i < w.particles.count; i++) {
        if (w.rest[i][0] < -0.2) low = fmin(low, -0.2 - w.rest[i][0]);
        if (w.rest[i][0] > 1.4) high = fmin(high, w.rest[i][0] - 1.4);
    }
    CHECK_BELOW(fabs(low / 0.0437 - 0.5), 1e-9);
    CHECK_BELOW(fabs(high / 0.0437 - 0.5), 1e-9);
    sph_boundary_free(&w);
    play_close(&p);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* A box on the lattice: its layers are the lattice, its edges and corners included. Those behind a
 * side of the domain are left to the side. */
static void boxes_are_on_the_lattice(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const int64_t z = dim == 3 ? 8 : 1;
        /* inside the domain, and half below its floor */
        for (int sunk = 0; sunk < 2; sunk++) {
            char box[200];
            snprintf(box, sizeof box, "{shape: {box: {min: [0.2, %g%s], max: [0.6, %g%s]}}}",
                     sunk ? -0.2 : 0.3, dim == 3 ? ", 0.3" : "", sunk ? 0.2 : 0.7,
                     dim == 3 ? ", 0.7" : "");
            play p = open_scene(1, dim, "", box);
            sph_boundary w = open_walls(&p, 2, 2);
            const int64_t hollow = dim == 3 ? 4 : 1;
            const int64_t whole = 8 * 8 * z - 4 * 4 * hollow;
            assert_int_equal(count_of(&w, 0), sunk ? whole / 2 : whole);
            for (int64_t i = 0; i < w.particles.count; i++) {
                CHECK_BELOW(off_lattice(&w, w.rest[i]), 1e-9);
                CHECK_BELOW(fabs((double)w.volume[i] / power(SPACING, dim) - 1), 1e-6);
                assert_true(w.rest[i][1] > 0 || w.owner[i] > 0);
            }
            check_store(&w);
            sph_boundary_free(&w);
            play_close(&p);
        }
    }
}

/* A box in an earlier one adds no points there, wherever it is in the list of the others. */
static void overlaps_are_filled_once(void **state) {
    (void)state;
    play p = open_scene(1, 2, "",
                        "{shape: {box: {min: [0, 0.1], max: [0.4, 0.5]}}}, "
                        "{shape: {box: {min: [0.2, 0.3], max: [0.6, 0.7]}}}");
    sph_boundary w = open_walls(&p, 2, 2);
    double nearest = HUGE_VAL;
    for (int64_t i = 0; i < w.particles.count; i++)
        for (int64_t j = 0; j < i; j++)
            nearest = fmin(nearest, distance_between(w.rest[i], w.rest[j]));
    CHECK_ABOVE(nearest, 0.999 * SPACING);
    assert_int_equal(count_of(&w, 0), 64 - 16);
    assert_int_equal(count_of(&w, 1),
                     64 - 16 - 12); /* 4 x 4 are in the first, 2 x 2 deep in both */
    sph_boundary_free(&w);
    play_close(&p);
}

/* ---- A sphere -------------------------------------------------------------------------------- */

typedef struct ball {
    play p;
    sph_boundary w;
    double centre[3], radius;
} ball;

/* Off the lattice. */
static ball open_ball(int dim, double radius, double support, int layers) {
    ball b = {.centre = {0.413, 0.487, dim == 3 ? 0.521 : 0}, .radius = radius * SPACING};
    char text[200];
    snprintf(text, sizeof text, "{shape: {sphere: {center: [0.413, 0.487%s], radius: %g}}}",
             dim == 3 ? ", 0.521" : "", b.radius);
    b.p = open_scene(1, dim, "", text);
    b.w = open_walls(&b.p, support, layers);
    return b;
}

static void close_ball(ball *b) {
    sph_boundary_free(&b->w);
    play_close(&b->p);
}

static double shell_volume(int dim, double outer, double inner) {
    return dim == 2 ? PI * (outer * outer - inner * inner)
                    : 4 * PI / 3 * (power(outer, 3) - power(inner, 3));
}

static void random_direction(int dim, uint64_t n, double u[3]) {
    for (uint64_t a = 0; a < 3; a++) u[a] = dim == 3 || a < 2 ? random_unit(5, n, a) - 0.5 : 0;
    vec_normalise(u);
}

static void a_ball_has_even_layers(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        ball b = open_ball(dim, 7.3, 2, 3);
        const sph_boundary *w = &b.w;
        double total[3] = {0};
        for (int64_t i = 0; i < w->particles.count; i++) {
            if (w->owner[i] > 0) continue;
            const int layer = layer_of(w, i);
            const double depth = b.radius - distance_between(w->rest[i], b.centre);
            CHECK_BELOW(fabs(depth / SPACING - layer - 0.5), 1e-3);
            double nearest = HUGE_VAL;
            for (int64_t j = 0; j < w->particles.count; j++)
                if (j != i && w->owner[j] == 0 && layer_of(w, j) == layer)
                    nearest = fmin(nearest, distance_between(w->rest[i], w->rest[j]));
            CHECK_ABOVE(nearest, 0.8 * SPACING);
            CHECK_BELOW(nearest, 1.6 * SPACING);
            total[layer] += (double)w->volume[i];
        }
        for (int k = 0; k < 3; k++) {
            const double outer = b.radius - k * SPACING;
            CHECK_BELOW(fabs(total[k] / shell_volume(dim, outer, outer - SPACING) - 1), 0.05);
        }
        for (uint64_t n = 0; n < 300; n++) {
            double u[3], x[3];
            random_direction(dim, n, u);
            vec_add_scaled(x, b.centre, b.radius, u);
            CHECK_BELOW(nearest_point(w, x), 1.2 * SPACING);
            vec_add_scaled(x, b.centre, b.radius + 3 * SPACING, u);
            CHECK_ABOVE(nearest_point(w, x), 3 * SPACING); /* negative control */
        }
        close_ball(&b);
    }
}

/* Smaller than the liquid's spacing: one point in its middle. */
static void a_tiny_ball_has_a_point(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        ball b = open_ball(dim, 0.3, 2, 3);
        assert_int_equal(count_of(&b.w, 0), 1);
        CHECK_BELOW(nearest_point(&b.w, b.centre), 1e-3 * SPACING);
        close_ball(&b);
    }
}

/* ---- Thin parts ------------------------------------------------------------------------------ */

/* Every part of the surface of collider 0 has a point nearby: from places all around, the nearest
 * point of the surface. Returns the largest distance, in spacings. */
static double worst_cover(const sph_boundary *w, int places) {
    const domain *d = &w->sim->scene->domain;
    double worst = 0;
    for (uint64_t n = 0; n < (uint64_t)places; n++) {
        double x[3] = {0}, normal[3];
        for (int a = 0; a < w->blocks.dim; a++)
            x[a] = d->origin[a] + d->size[a] * random_unit(7, n, (uint64_t)a);
        for (int k = 0; k < 30; k++) {
            const double distance = boundary_distance(&w->sim->boundary, 0, x, normal, NULL);
            vec_add_scaled(x, x, -distance, normal);
        }
        if (fabs(boundary_distance(&w->sim->boundary, 0, x, NULL, NULL)) > 1e-3 * SPACING) continue;
        worst = fmax(worst, nearest_point(w, x) / SPACING);
    }
    return worst;
}

/* Plates of several thicknesses, straight and turned: a single sheet half way between the faces
 * where there is no room for a layer behind each, as thick as a layer. */
static void plates(void **state) {
    (void)state;
    static const double thickness[] = {0.1, 0.3, 0.8, 1, 1.3, 1.9, 2.5};
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(thickness); k++)
            for (int turned = 0; turned < 2; turned++) {
                const double half = 0.5 * thickness[k] * SPACING;
                const bool solid = dim == 3;
                char text[300];
                snprintf(text, sizeof text,
                         "{shape: {box: {min: [-0.3, %g%s], max: [0.3, %g%s]}%s, "
                         "translate: [0.41, 0.512%s]}}",
                         -half, solid ? ", -0.22" : "", half, solid ? ", 0.22" : "",
                         !turned ? ""
                         : solid ? ", rotate: [1, 2, 3, 40]"
                                 : ", rotate: 33",
                         solid ? ", 0.5" : "");
                play p = open_scene(1, dim, "", text);
                sph_boundary w = open_walls(&p, 2, 3);
                double total = 0;
                for (int64_t i = 0; i < w.particles.count; i++) {
                    if (w.owner[i] > 0) continue;
                    const double depth =
                        -boundary_distance(&p.sim->boundary, 0, w.rest[i], NULL, NULL);
                    CHECK_BELOW(fabs(depth - (double)w.depth[i]), 1e-3 * SPACING);
                    CHECK_BELOW(depth, fmin(half, 0.5 * SPACING) + 1e-3 * SPACING);
                    total += (double)w.volume[i];
                }
                CHECK_BELOW(worst_cover(&w, WATCHED ? 50 : 300), 1.25);
                const double area = dim == 2 ? 0.6 : 0.6 * 0.44;
                const double expected = fmin(fmax(1, thickness[k]), 2);
                CHECK_BELOW(fabs(total / (area * SPACING * expected) - 1), 0.25);
                sph_boundary_free(&w);
                play_close(&p);
            }
}

/* Sharp, round, hollow and put together: everywhere there is a point, and no two are too near. */
static void all_shapes_are_covered(void **state) {
    (void)state;
    static const struct {
        int dim;
        const char *shape;
    } shapes[] = {
        {2, "{polygon: [[0, 0.3], [1.1, 0.41], [0, 0.52]]}"}, /* a blade of 11 degrees */
        {2, "{polygon: [[0, 0.2], [0.6, 0.2], [0.6, 0.33], [0.12, 0.33], [0.12, 0.8], [0, 0.8]]}"},
        {2, "{torus: {center: [0.5, 0.5], radius: 0.3, thickness: 0.03}}"},
        {3, "{torus: {center: [0.5, 0.5, 0.5], axis: [1, 2, 1], radius: 0.2, thickness: 0.08}}"},
        {3, "{cylinder: {from: [0.2, 0.3, 0.3], to: [0.8, 0.7, 0.6], radius: 0.12}}"},
        {3, "{cylinder: {from: [0.2, 0.3, 0.3], to: [0.8, 0.7, 0.6], radius: 0.015}}"},
        {3, "{rounded_box: {min: [0.2, 0.3, 0.3], max: [0.8, 0.72, 0.61], radius: 0.1}}"},
        {3, "{difference: [{sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}, "
            "{box: {min: [0, 0.5, 0], max: [1, 1, 1]}}]}"},
        {3, "{union: [{box: {min: [0.2, 0.2, 0.3], max: [0.5, 0.5, 0.6]}}, "
            "{sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}]}"},
    };
    for (int k = 0; k < COUNT_OF(shapes); k++) {
        char text[300];
        snprintf(text, sizeof text, "{shape: %s}", shapes[k].shape);
        play p = open_scene(1, shapes[k].dim, "", text);
        sph_boundary w = open_walls(&p, 2, 2);
        CHECK_BELOW(worst_cover(&w, WATCHED ? 50 : 300), 1.35);
        for (int64_t i = 0; i < w.particles.count; i++)
            if (w.owner[i] == 0) {
                const double depth = -boundary_distance(&p.sim->boundary, 0, w.rest[i], NULL, NULL);
                CHECK_BELOW(fabs(depth - (double)w.depth[i]), 1e-3 * SPACING);
                assert_true(w.volume[i] > 0);
            }
        sph_boundary_free(&w);
        play_close(&p);
    }
}

/* A leaning octahedron, from a file. */
static play open_mesh(void) {
    char folder[] = "/tmp/spate_walls_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/stone.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("v 0.2 0.5 0.5\nv 0.8 0.45 0.48\nv 0.5 0.2 0.5\nv 0.55 0.8 0.5\nv 0.5 0.5 0.21\n"
          "v 0.5 0.5 0.77\nf 1 3 6\nf 3 2 6\nf 2 4 6\nf 4 1 6\nf 3 1 5\nf 2 3 5\nf 4 2 5\n"
          "f 1 4 5\n",
          file);
    fclose(file);
    static const char yaml[] = "spate: 1\nduration: 10\nfps: 1\n"
                               "domain: {size: [1, 1, 1], dx: 0.1}\nsolver: {type: flip}\n"
                               "materials: {m: {model: liquid}}\n"
                               "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.1, "
                               "0.1, 0.1]}}}]\ncolliders: [{shape: {mesh: {file: stone.obj}}}]\n";
    play p = {0};
    assert_int_equal(spate_open(NULL, &p.ctx), SPATE_OK);
    if (spate_scene_parse(p.ctx, yaml, strlen(yaml), "test", folder, NULL, 0, &p.scene) ||
        spate_simulation_create(p.scene, &p.sim))
        fail_msg("%s", spate_message(p.ctx));
    unlink(path), rmdir(folder);
    return p;
}

/* From baked distances, and from the mesh itself where the layers are deeper than those. */
static void meshes_have_points(void **state) {
    (void)state;
    play p = open_mesh();
    for (int layers = 2; layers <= 5; layers += 3) {
        sph_boundary w = open_walls(&p, 2, layers);
        assert_true(count_of(&w, 0) > 100);
        CHECK_BELOW(worst_cover(&w, WATCHED ? 50 : 300), 1.25);
        sph_boundary_free(&w);
    }
    play_close(&p);
}

/* What has no end ends with the domain. */
static void planes_end(void **state) {
    (void)state;
    play p = open_scene(1, 2, ", walls: {y_max: open}",
                        "{shape: {plane: {point: [0, 0.2], normal: [0, 1]}}}");
    sph_boundary w = open_walls(&p, 2, 2);
    assert_int_equal(count_of(&w, 0), 2 * 32);
    sph_boundary_free(&w);
    play_close(&p);
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* A box that goes across the domain, out through its floor and back, and turns. */
static play open_moving(int threads, int dim, const char *walls) {
    char text[400];
    snprintf(
        text, sizeof text,
        "{shape: {box: {min: [0.2, 0.3%s], max: [0.43, 0.61%s]}}, motion: {pivot: [0.3, 0.4%s], "
        "keys: "
        "[{t: 0, translate: [0, 0%s], rotate: %s0%s}, {t: 1, translate: [0.8, -0.3%s], rotate: "
        "%s200%s}]}}",
        dim == 3 ? ", 0.3" : "", dim == 3 ? ", 0.5" : "", dim == 3 ? ", 0.5" : "",
        dim == 3 ? ", 0" : "", dim == 3 ? "[1, 2, 3, " : "", dim == 3 ? "]" : "",
        dim == 3 ? ", 0.1" : "", dim == 3 ? "[1, 2, 3, " : "", dim == 3 ? "]" : "");
    return open_scene(threads, dim, walls, text);
}

static void move_to(play *p, sph_boundary *w, double t) {
    boundary_move(&p->sim->boundary, t);
    assert_int_equal(sph_boundary_move(w, t), SPATE_OK);
}

/* Where a point that is `rest` at rest is at a time. */
static void carried(const play *p, double t, const double rest[3], double x[3]) {
    const pose at = motion_pose(&p->scene->colliders[0].motion, t);
    pose_to_world(&at, rest, x);
}

static void check_moved(const play *p, const sph_boundary *w, double t) {
    const int dim = w->blocks.dim;
    const double eps = 1e-5;
    int64_t count = 0;
    EACH_POINT(w, block, i) {
        const uint32_t id = w->particles.id[i];
        double x[3], before[3], after[3];
        count++;
        for (int a = 0; a < dim; a++) {
            const real local = PLANE(&w->particles, position, a)[i];
            assert_true(local >= 0 && local < BLOCK_EDGE);
        }
        if (w->owner[id] > 0) continue;
        stored_place(w, block, i, x);
        const double depth = -boundary_distance(&p->sim->boundary, 0, x, NULL, NULL);
        CHECK_BELOW(fabs(depth - (double)w->depth[id]), 1e-3 * SPACING);
        carried(p, t - eps, w->rest[id], before);
        carried(p, t + eps, w->rest[id], after);
        for (int a = 0; a < dim; a++) {
            const double v = (after[a] - before[a]) / (2 * eps);
            CHECK_BELOW(fabs(v - (double)w->particles.velocity[i][a]), 1e-4);
        }
        /* below the floor are the floor's */
        if (fabs(x[1]) > 1e-6) assert_true((w->particles.mass[i] == 0) == (x[1] < 0));
    }
    assert_int_equal(count, w->particles.count);
}

static bool same_reals(const real *a, const real *b, int64_t count) {
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* Bit by bit, and in the same order. */
static bool same_walls(const sph_boundary *a, const sph_boundary *b) {
    const particles *p = &a->particles, *q = &b->particles;
    if (p->count != q->count || a->blocks.count != b->blocks.count) return false;
    for (int32_t k = 0; k < a->blocks.count; k++)
        if (memcmp(a->blocks.coords[k], b->blocks.coords[k], sizeof *a->blocks.coords) != 0 ||
            a->blocks.first[k] != b->blocks.first[k])
            return false;
    bool same = memcmp(p->id, q->id, (size_t)p->count * sizeof *p->id) == 0 &&
                memcmp(p->group, q->group, (size_t)p->count * sizeof *p->group) == 0 &&
                same_reals(p->mass, q->mass, p->count) && same_reals(a->depth, b->depth, p->count);
    for (int c = 0; c < a->blocks.dim; c++)
        same = same && same_reals(PLANE(p, position, c), PLANE(q, position, c), p->count);
    for (int64_t i = 0; i < p->count; i++)
        same = same && same_reals(p->velocity[i], q->velocity[i], 4);
    return same;
}

static void points_move_along(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_moving(1, dim, "");
        sph_boundary w = open_walls(&p, 2, 2);
        assert_true(w.moving);
        /* small steps, the same again, and jumps over blocks */
        static const double times[] = {0.01, 0.02, 0.03, 0.05, 0.05, 0.08, 0.1, 0.9, 0.95, 0.2};
        for (int k = 0; k < COUNT_OF(times); k++) {
            move_to(&p, &w, times[k]);
            check_moved(&p, &w, times[k]);
        }
        sph_boundary_free(&w);
        play_close(&p);
    }
}

/* However the points came to where they are, they are as if they had been made there. */
static void the_past_does_not_matter(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int jump = 0; jump < 2; jump++) {
            play p = open_moving(1, dim, "");
            sph_boundary moved = open_walls(&p, 2, 2), fresh;
            for (int k = 0; k < 20 && !jump; k++) move_to(&p, &moved, 0.037 * (k + 1));
            p.sim->time = 0.037 * 21;
            move_to(&p, &moved, p.sim->time);
            fresh = open_walls(&p, 2, 2);
            assert_true(same_walls(&moved, &fresh));
            move_to(&p, &moved, 0.5);
            assert_false(same_walls(&moved, &fresh)); /* negative control */
            sph_boundary_free(&fresh);
            sph_boundary_free(&moved);
            play_close(&p);
        }
}

/* Over the seam of a periodic axis and on from its other end. */
static void periodic_axes_wrap(void **state) {
    (void)state;
    play p = open_scene(1, 2, ", walls: {x_min: periodic, x_max: periodic}",
                        "{shape: {box: {min: [0.4, 0.2], max: [0.7, 0.5]}}, motion: {keys: [{t: 0, "
                        "translate: [0, 0]}, {t: 1, translate: [3.2, 0]}]}}");
    sph_boundary start = open_walls(&p, 2, 2), w = open_walls(&p, 2, 2);
    const real *x = start.particles.position, *y;
    for (int k = 1; k <= 50; k++) move_to(&p, &w, 0.01 * k);
    EACH_POINT(&w, block, i) assert_in_range(w.blocks.coords[block][0], 0, 3);
    assert_int_equal(w.particles.count, start.particles.count);
    y = w.particles.position;
    for (int64_t i = 0; i < w.particles.count; i++) {
        assert_int_equal(w.particles.id[i], start.particles.id[i]);
        CHECK_BELOW(fabs((double)(x[i] - y[i])), 1e-5); /* round once: 1.6 m */
    }
    sph_boundary_free(&start);
    sph_boundary_free(&w);
    play_close(&p);
}

/* A wide piston that only goes down: what of it is beyond the sides has no points; nor are there
 * two at one place at the seam. */
static void pistons_end_at_the_sides(void **state) {
    (void)state;
    static const char *const walls[] = {"", ", walls: {x_min: periodic, x_max: periodic}"};
    for (int k = 0; k < COUNT_OF(walls); k++) {
        play p =
            open_scene(1, 2, walls[k],
                       "{shape: {box: {min: [-3, 0.6], max: [4, 0.8]}}, motion: {keys: [{t: 0, "
                       "translate: [0, 0]}, {t: 1, translate: [0, -0.3]}]}}");
        sph_boundary w = open_walls(&p, 2, 2);
        assert_int_equal(count_of(&w, 0), 4 * 32);
        sph_boundary_free(&w);
        play_close(&p);
    }
}

/* ---- The liquid's kernels -------------------------------------------------------------------- */

static double wall_sum(const sph_boundary *w, const double x[3], double h) {
    double sum = 0;
    EACH_POINT(w, block, i) {
        double y[3];
        stored_place(w, block, i, y);
        sum += (double)w->particles.mass[i] *
               kernel_value(SPH_CUBIC, w->blocks.dim, distance_between(x, y), h);
    }
    return sum;
}

/* Over the liquid's lattice in the domain. */
static double lattice_sum(const sph_boundary *w, const double x[3], double h) {
    const domain *d = &w->sim->scene->domain;
    const int dim = w->blocks.dim;
    double sum = 0, y[3] = {0};
    int64_t n[3] = {1, 1, 1}, k[3];
    for (int a = 0; a < dim; a++) n[a] = llround(d->size[a] / SPACING);
    for (k[2] = 0; k[2] < n[2]; k[2]++)
        for (k[1] = 0; k[1] < n[1]; k[1]++)
            for (k[0] = 0; k[0] < n[0]; k[0]++) {
                for (int a = 0; a < dim; a++) y[a] = d->origin[a] + ((double)k[a] + 0.5) * SPACING;
                sum +=
                    power(SPACING, dim) * kernel_value(SPH_CUBIC, dim, distance_between(x, y), h);
            }
    return sum;
}

/* Liquid on its lattice: beside a side, in an edge and in a corner. */
static void kernels_are_full_beside_sides(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int layers = 2; layers <= 3; layers++) {
            play p = open_scene(1, dim, "", "");
            sph_boundary w = open_walls(&p, 2, layers);
            for (int corner = 0; corner < 4; corner++) {
                const double first = 0.5 * SPACING, middle = 8.5 * SPACING;
                const double x[3] = {-0.2 + (corner > 0 ? first : middle),
                                     corner > 1 ? first : middle,
                                     dim == 2 ? 0 : 0.1 + (corner > 2 ? first : middle)};
                for (double h = 2; h <= 1.001 + layers; h += 0.5) {
                    const double liquid = lattice_sum(&w, x, h * SPACING);
                    const double walls = wall_sum(&w, x, h * SPACING);
                    CHECK_BELOW(fabs(liquid + walls - 1), 0.02);
                    if (corner) CHECK_BELOW(liquid, 0.95); /* negative control */
                }
            }
            sph_boundary_free(&w);
            play_close(&p);
        }
}

/* Of all that is outside of the ball, cut finely. */
static double outside_sum(const ball *b, int dim, const double x[3], double h) {
    const int half = dim == 2 ? 40 : 10;
    const double step = h / half;
    double sum = 0, y[3] = {0};
    for (int i = -half; i < half; i++)
        for (int j = -half; j < half; j++)
            for (int k = dim == 3 ? -half : 0; k < (dim == 3 ? half : 1); k++) {
                const double shares[3] = {i + 0.5, j + 0.5, dim == 3 ? k + 0.5 : 0};
                vec_add_scaled(y, x, step, shares);
                if (distance_between(y, b->centre) > b->radius)
                    sum +=
                        power(step, dim) * kernel_value(SPH_CUBIC, dim, distance_between(x, y), h);
            }
    return sum;
}

/* Half a spacing beside a ball. */
static void kernels_are_full_beside_a_ball(void **state) {
    (void)state;
    enum { PLACES = WATCHED ? 4 : 40 };
    for (int dim = 2; dim <= 3; dim++)
        for (int layers = 2; layers <= 3; layers++) {
            ball b = open_ball(dim, 6.1, 2, layers);
            double mean = 0, worst = 0, without = 0;
            for (uint64_t n = 0; n < PLACES; n++) {
                double u[3], x[3];
                random_direction(dim, n, u);
                vec_add_scaled(x, b.centre, b.radius + 0.5 * SPACING, u);
                const double liquid = outside_sum(&b, dim, x, 2 * SPACING);
                const double sum = liquid + wall_sum(&b.w, x, 2 * SPACING);
                mean += sum / PLACES;
                worst = fmax(worst, fabs(sum - 1));
                without = fmax(without, liquid);
            }
            CHECK_BELOW(fabs(mean - 1), 0.06);
            CHECK_BELOW(worst, 0.12);
            CHECK_BELOW(without, 0.85); /* negative control */
            close_ball(&b);
        }
}

/* ---- Threads, memory, time ------------------------------------------------------------------- */

static void threads_change_nothing(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play one = open_moving(1, dim, ""), three = open_moving(3, dim, "");
        sph_boundary a = open_walls(&one, 2, 3), b = open_walls(&three, 2, 3);
        assert_true(same_walls(&a, &b));
        for (int k = 1; k <= 5; k++) {
            move_to(&one, &a, 0.1 * k), move_to(&three, &b, 0.1 * k);
            assert_true(same_walls(&a, &b));
        }
        sph_boundary_free(&a), sph_boundary_free(&b);
        play_close(&one), play_close(&three);
    }
}

/* Every allocation refused in turn: a status, no leak, and the next call works. */
static void out_of_memory(void **state) {
    (void)state;
    static const char scene[] =
        "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ndomain: {size: [1.6, 1], dx: 0.1}\n"
        "solver: {type: flip}\nmaterials: {m: {model: liquid}}\n"
        "bodies: [{material: m, shape: {box: {min: [0, 0], max: [0.1, 0.1]}}}]\n"
        "colliders: [{shape: {sphere: {center: [0.8, 0.5], radius: 0.2}}, motion: {keys: [{t: 0, "
        "translate: [0, 0]}, {t: 1, translate: [0.5, 0]}]}}]\n";
    int left = -1;
    spate_config config = {.allocate = count_down, .release = release, .user = &left, .threads = 1};
    play p = {0};
    assert_int_equal(spate_open(&config, &p.ctx), SPATE_OK);
    assert_int_equal(spate_scene_parse(p.ctx, scene, strlen(scene), "test", ".", NULL, 0, &p.scene),
                     SPATE_OK);
    assert_int_equal(spate_simulation_create(p.scene, &p.sim), SPATE_OK);
    bool done = false;
    int turn = 0;
    for (; !done; turn++) {
        assert_true(turn < 300);
        sph_boundary w;
        const int64_t before = p.ctx->blocks_now;
        left = turn;
        const spate_status status = sph_boundary_create(p.sim, SPACING, 2 * SPACING, 2, &w);
        done = left >= 0;
        left = -1;
        assert_int_equal(status, done ? SPATE_OK : SPATE_OUT_OF_MEMORY);
        if (status) {
            /* but for the scratch of the sort, which the simulation keeps */
            assert_true(p.ctx->blocks_now - before <= 6 && w.rest == NULL);
            continue;
        }
        boundary_move(&p.sim->boundary, 0.9);
        left = 0; /* jumping takes memory */
        assert_int_equal(sph_boundary_move(&w, 0.9), SPATE_OUT_OF_MEMORY);
        left = -1;
        sph_boundary_free(&w);
        sph_boundary_free(&w); /* twice does no harm */
    }
    assert_true(turn > 10);
    assert_true(scratch_is_empty(&p.sim->scratch));
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_continue_the_lattice),
        cmocka_unit_test(open_and_periodic_sides),
        cmocka_unit_test(sides_have_velocities),
        cmocka_unit_test(any_spacing_will_do),
        cmocka_unit_test(boxes_are_on_the_lattice),
        cmocka_unit_test(overlaps_are_filled_once),
        cmocka_unit_test(a_ball_has_even_layers),
        cmocka_unit_test(a_tiny_ball_has_a_point),
        cmocka_unit_test(plates),
        cmocka_unit_test(all_shapes_are_covered),
        cmocka_unit_test(meshes_have_points),
        cmocka_unit_test(planes_end),
        cmocka_unit_test(points_move_along),
        cmocka_unit_test(the_past_does_not_matter),
        cmocka_unit_test(periodic_axes_wrap),
        cmocka_unit_test(pistons_end_at_the_sides),
        cmocka_unit_test(kernels_are_full_beside_sides),
        cmocka_unit_test(kernels_are_full_beside_a_ball),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
