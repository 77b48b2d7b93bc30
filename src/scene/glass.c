#include "scene/glass.h"
#include "core/random.h"
#include "core/vec.h"

/* More passes come nearer to a crystal, whose rows show again; fewer leave pressure noisy. */
enum { SIDE_2D = 48, SIDE_3D = 12, PASSES = 6 };
/* Lattice points: two that are farther apart are out of reach wherever they have moved. */
enum { FAR = 3 };

static const double reach = 2;       /* of the repulsion, in spacings */
static const double stiffness = 0.3; /* how far it moves a point in a pass, where two touch */

const double *glass_move(const glass *g, const int64_t k[3]) {
    int64_t place = 0, side = g->side;
    for (int a = g->dim - 1; a >= 0; a--) place = place * side + (k[a] % side + side) % side;
    return g->moves[place];
}

/* The same near the tile itself, without a division. */
static const double *near_move(const glass *g, const int64_t k[3], const int64_t offset[3]) {
    int64_t place = 0, side = g->side;
    for (int a = g->dim - 1; a >= 0; a--) {
        int64_t at = k[a] + offset[a];
        place = place * side + (at < 0 ? at + side : at >= side ? at - side : at);
    }
    return g->moves[place];
}

/* What a neighbour does to a point, `offset` lattice points away from it. */
static void repel(int dim, const double move[3], const double other[3], const int64_t offset[3],
                  double force[3]) {
    double away[3] = {0}, distance = 0;
    for (int a = 0; a < dim; a++) {
        away[a] = move[a] - other[a] - (double)offset[a];
        distance += away[a] * away[a];
    }
    if (!(distance > 0 && distance < reach * reach)) return;
    distance = sqrt(distance);
    const double near = 1 - distance / reach;
    for (int a = 0; a < dim; a++) force[a] += stiffness * near * near * away[a] / distance;
}

/* Where the point of index k goes in a pass. */
static void relax_point(const glass *g, const int64_t k[3], double out[3]) {
    const double *move = glass_move(g, k);
    const int64_t deep = g->dim == 3 ? FAR : 0;
    double force[3] = {0};
    int64_t o[3];
    for (o[2] = -deep; o[2] <= deep; o[2]++)
        for (o[1] = -FAR; o[1] <= FAR; o[1]++)
            for (o[0] = -FAR; o[0] <= FAR; o[0]++) {
                if (o[0] == 0 && o[1] == 0 && o[2] == 0) continue;
                repel(g->dim, move, near_move(g, k, o), o, force);
            }
    for (int a = 0; a < 3; a++)
        out[a] = fmin(fmax(move[a] + force[a], -GLASS_MOVE_MAX), GLASS_MOVE_MAX);
}

static void relax(const glass *g, double (*out)[3]) {
    const int64_t layers = g->dim == 3 ? g->side : 1;
    int64_t k[3], i = 0;
    for (k[2] = 0; k[2] < layers; k[2]++)
        for (k[1] = 0; k[1] < g->side; k[1]++)
            for (k[0] = 0; k[0] < g->side; k[0]++) relax_point(g, k, out[i++]);
}

spate_status glass_create(arena *a, int dim, uint64_t seed, glass *out) {
    *out = (glass){.dim = dim, .side = dim == 2 ? SIDE_2D : SIDE_3D};
    const size_t side = (size_t)out->side, count = side * side * (dim == 3 ? side : 1);
    double(*moves)[3] = arena_take(a, count, sizeof *moves);
    double(*next)[3] = arena_take(a, count, sizeof *next);
    if (!moves || !next) return SPATE_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < dim; c++) moves[i][c] = random_unit(seed, i, (uint64_t)c) - 0.5;
    for (int pass = 0; pass < PASSES; pass++) {
        out->moves = moves;
        relax(out, next);
        double(*swap)[3] = moves;
        moves = next;
        next = swap;
    }
    out->moves = moves;
    return SPATE_OK;
}
