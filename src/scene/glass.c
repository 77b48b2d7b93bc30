#include "scene/glass.h"
#include "core/random.h"
#include <math.h>
#include <string.h>

/* More passes come nearer to a crystal, whose rows show again; fewer leave pressure noisy. */
enum { SIDE_2D = 48, SIDE_3D = 10, PASSES = 6 };
static const double reach = 2;       /* of the repulsion, in spacings */
static const double stiffness = 0.3; /* how far it moves a point in a pass, where two touch */
/* Two lattice points that are farther apart, or by more than FAR along an axis, are hardly ever
 * near each other, wherever they have moved. */
static const double farthest = 3.6;
enum { FAR = 3 };

const double *glass_move(const glass *g, const int64_t k[3]) {
    int64_t place = 0, side = g->side;
    for (int a = g->dim - 1; a >= 0; a--) place = place * side + (k[a] % side + side) % side;
    return g->moves[place];
}

/* Its place in the tile, for indices up to a tile beyond. */
static int64_t near_place(const glass *g, const int64_t k[3], const int64_t offset[3]) {
    int64_t place = 0, side = g->side;
    for (int a = g->dim - 1; a >= 0; a--) {
        int64_t at = k[a] + offset[a];
        place = place * side + (at < 0 ? at + side : at >= side ? at - side : at);
    }
    return place;
}

/* What two points do to each other, the second `offset` lattice points from the first. */
static void repel(const glass *g, int64_t first, int64_t second, const int64_t offset[3],
                  double (*forces)[3]) {
    double away[3] = {0}, distance = 0;
    for (int a = 0; a < g->dim; a++) {
        away[a] = g->moves[first][a] - g->moves[second][a] - (double)offset[a];
        distance += away[a] * away[a];
    }
    if (!(distance > 0 && distance < reach * reach)) return;
    distance = sqrt(distance);
    const double near = 1 - distance / reach, size = stiffness * near * near / distance;
    for (int a = 0; a < g->dim; a++) {
        forces[first][a] += size * away[a];
        forces[second][a] -= size * away[a];
    }
}

/* All points of the tile with those `offset` lattice points from them. */
static void repel_all(const glass *g, const int64_t offset[3], double (*forces)[3]) {
    const int64_t layers = g->dim == 3 ? g->side : 1;
    int64_t k[3], i = 0;
    for (k[2] = 0; k[2] < layers; k[2]++)
        for (k[1] = 0; k[1] < g->side; k[1]++)
            for (k[0] = 0; k[0] < g->side; k[0]++, i++)
                repel(g, i, near_place(g, k, offset), offset, forces);
}

static void relax(const glass *g, double (*forces)[3], size_t count) {
    const int64_t deep = g->dim == 3 ? FAR : 0;
    int64_t o[3];
    memset(forces, 0, count * sizeof *forces);
    /* half of all offsets: each pair once */
    for (o[2] = 0; o[2] <= deep; o[2]++)
        for (o[1] = o[2] > 0 ? -FAR : 0; o[1] <= FAR; o[1]++)
            for (o[0] = o[2] > 0 || o[1] > 0 ? -FAR : 1; o[0] <= FAR; o[0]++)
                if ((double)(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]) < farthest * farthest)
                    repel_all(g, o, forces);
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < g->dim; a++)
            g->moves[i][a] =
                fmin(fmax(g->moves[i][a] + forces[i][a], -GLASS_MOVE_MAX), GLASS_MOVE_MAX);
}

spate_status glass_create(arena *a, int dim, uint64_t seed, glass *out) {
    *out = (glass){.dim = dim, .side = dim == 2 ? SIDE_2D : SIDE_3D};
    const size_t side = (size_t)out->side, count = side * side * (dim == 3 ? side : 1);
    double(*forces)[3] = arena_take(a, count, sizeof *forces);
    out->moves = arena_take(a, count, sizeof *out->moves);
    if (!forces || !out->moves) return SPATE_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < dim; c++) out->moves[i][c] = random_unit(seed, i, (uint64_t)c) - 0.5;
    for (int pass = 0; pass < PASSES; pass++) relax(out, forces, count);
    return SPATE_OK;
}
