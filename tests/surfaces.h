/* What a mesh of a surface is like, and clouds of particles that fill shapes. */
#ifndef SPATE_TESTS_SURFACES_H
#define SPATE_TESTS_SURFACES_H

#include "core/random.h"
#include "surface/surface.h"
#include <math.h>
#include <stdlib.h>

/* ---- A context for the tests of a file ------------------------------------------------------- */

static inline spate_context *open_with(int threads) {
    spate_config config = spate_default_config();
    config.threads = threads;
    spate_context *ctx = NULL;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

static inline int open_all(void **state) {
    *state = open_with(1);
    return 0;
}

static inline int close_all(void **state) {
    spate_close(*state);
    return 0;
}

/* ---- What a mesh is like --------------------------------------------------------------------- */

typedef struct verdict {
    int64_t open;   /* sides of triangles without exactly one that runs the other way */
    int64_t twice;  /* sides that run the same way as another one */
    int64_t euler;  /* vertices - edges + triangles */
    int64_t unused; /* vertices without triangles */
    double volume, area;
    int64_t wrong; /* triangles that face away from their corners' normals */
} verdict;

static int compare_sides(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_side(const uint64_t *sides, size_t count, uint64_t side) {
    return bsearch(&side, sides, count, sizeof side, compare_sides) != NULL;
}

static void judge_sides(const surface_mesh *m, verdict *out) {
    size_t count = 3 * (size_t)m->triangle_count;
    uint64_t *sides = malloc((count + 1) * sizeof *sides);
    for (int64_t t = 0; t < m->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            sides[3 * t + c] =
                (uint64_t)(uint32_t)m->triangle[t][c] << 32 | (uint32_t)m->triangle[t][(c + 1) % 3];
    qsort(sides, count, sizeof *sides, compare_sides);
    for (size_t i = 0; i < count; i++) {
        out->open += !has_side(sides, count, sides[i] >> 32 | sides[i] << 32);
        out->twice += i > 0 && sides[i] == sides[i - 1];
    }
    out->euler = m->vertex_count - (int64_t)count / 2 + m->triangle_count;
    free(sides);
}

static verdict judge(const surface_mesh *m) {
    verdict out = {0};
    judge_sides(m, &out);
    bool *used = calloc((size_t)m->vertex_count + 1, sizeof *used);
    for (int64_t t = 0; t < m->triangle_count; t++) {
        double x[3][3], n[3], normal[3] = {0};
        for (int c = 0; c < 3; c++) {
            int32_t v = m->triangle[t][c];
            used[v] = true;
            for (int a = 0; a < 3; a++) {
                x[c][a] = (double)m->position[v][a];
                normal[a] += (double)m->normal[v][a];
            }
        }
        for (int a = 0; a < 3; a++) {
            int u = (a + 1) % 3, v = (a + 2) % 3;
            n[a] = (x[1][u] - x[0][u]) * (x[2][v] - x[0][v]) -
                   (x[1][v] - x[0][v]) * (x[2][u] - x[0][u]);
        }
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        out.area += 0.5 * length;
        out.volume += (n[0] * x[0][0] + n[1] * x[0][1] + n[2] * x[0][2]) / 6;
        double along = n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2];
        out.wrong += along < -0.1 * length;
    }
    for (int64_t v = 0; v < m->vertex_count; v++) out.unused += !used[v];
    free(used);
    return out;
}

static inline void assert_closed(const verdict *v) {
    assert_int_equal(v->open, 0);
    assert_int_equal(v->twice, 0);
    assert_int_equal(v->unused, 0);
}

static inline void assert_within(double value, double reference, double share) {
    if (!(fabs(value / reference - 1) <= share))
        print_error("%g is not within %g %% of %g\n", value, 100 * share, reference);
    assert_true(fabs(value / reference - 1) <= share);
}

/* ---- Particles ------------------------------------------------------------------------------- */

typedef bool (*filled_shape)(const double x[3]);

/* A disturbed lattice of particles `spacing` apart that fills a shape. */
typedef struct cloud {
    surface_particle *list;
    int64_t count;
} cloud;

static cloud fill_shape(filled_shape shape, const int last[3], double spacing, double jitter) {
    cloud c = {0};
    int n[3];
    for (int a = 0; a < 3; a++) n[a] = (int)ceil(last[a] / spacing);
    c.list = malloc((size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof *c.list);
    for (int64_t i = 0; i < (int64_t)n[0] * n[1] * n[2]; i++) {
        int64_t k[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double x[3];
        for (int a = 0; a < 3; a++) {
            double shift = jitter * (random_unit(11, (uint64_t)i, (uint64_t)a) - 0.5);
            x[a] = ((double)k[a] + 0.5 + shift) * spacing;
        }
        if (!shape(x)) continue;
        surface_particle *p = &c.list[c.count++];
        for (int a = 0; a < 3; a++) p->x[a] = (real)x[a];
        p->v[0] = (real)x[1], p->v[1] = 2, p->v[2] = 0;
        p->size = 0;
    }
    return c;
}

#endif
