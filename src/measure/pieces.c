/*
 * A cell's diagonal is the gap, so all particles of a cell hang together and cells, not particles,
 * are joined (union-find with path halving); of two cells it is enough to find one pair that is
 * near. First every cell is compared with those across its faces, which leaves one large piece of
 * most material. A link that is still missing has an end outside of that piece, so only cells that
 * are not in it are compared with all they can reach.
 */
#include "measure/pieces.h"

#include "core/vec.h"

static int64_t root_of(int64_t *parent, int64_t cell) {
    while (parent[cell] != cell) {
        parent[cell] = parent[parent[cell]];
        cell = parent[cell];
    }
    return cell;
}

static bool are_near(const point_grid *c, const point_grid_cell *one, const point_grid_cell *other,
                     double gap) {
    for (int64_t i = one->first; i >= 0; i = c->next[i])
        for (int64_t j = other->first; j >= 0; j = c->next[j]) {
            double between[3];
            point_grid_difference(c, c->x[i], c->x[j], between);
            if (vec_dot(between, between) < gap * gap) return true;
        }
    return false;
}

typedef struct joining {
    const point_grid *point_grid;
    double gap;
    int64_t *parent; /* of a cell; a root is its own */
    int64_t *size;   /* particles of a root's piece */
} joining;

static void join(joining *j, int64_t cell, const int64_t offset[3]) {
    const point_grid *c = j->point_grid;
    int64_t other = point_grid_neighbour(c, &c->cells[cell], offset);
    if (other < 0) return;
    int64_t a = root_of(j->parent, cell), b = root_of(j->parent, other);
    if (a == b || !are_near(c, &c->cells[cell], &c->cells[other], j->gap)) return;
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    j->parent[high] = low;
    j->size[low] += j->size[high];
    j->size[high] = 0;
}

static int64_t largest_root(const joining *j) {
    int64_t root = 0;
    for (int64_t k = 1; k < j->point_grid->cell_count; k++)
        if (j->size[k] > j->size[root]) root = k;
    return root;
}

static void join_all(joining *j, const point_grid_reach *reach) {
    const point_grid *c = j->point_grid;
    for (int64_t k = 0; k < c->cell_count; k++) {
        j->parent[k] = k;
        for (int64_t i = c->cells[k].first; i >= 0; i = c->next[i]) j->size[k]++;
    }
    for (int64_t k = 0; k < c->cell_count; k++)
        for (int a = 0; a < c->dim; a++) join(j, k, (const int64_t[3]){a == 0, a == 1, a == 2});
    const int64_t largest = c->cell_count > 0 ? largest_root(j) : 0;
    for (int64_t k = 0; k < c->cell_count; k++) {
        if (root_of(j->parent, k) == root_of(j->parent, largest)) continue;
        for (int o = 0; o < reach->count; o++) join(j, k, reach->offsets[o]);
    }
}

spate_status pieces_count(point_grid *c, double gap, int64_t at_least, int64_t *count,
                          int64_t *largest) {
    *count = *largest = 0;
    /* A hair less, so that rounding does not put more than a gap into a cell. */
    TRY(point_grid_sort(c, gap / sqrt(c->dim) * (1 - 1e-9)));
    joining j = {.point_grid = c, .gap = gap};
    j.parent = take(c->ctx, (size_t)c->cell_count + 1, sizeof *j.parent);
    j.size = take(c->ctx, (size_t)c->cell_count + 1, sizeof *j.size);
    point_grid_reach *reach = take(c->ctx, 1, sizeof *reach);
    spate_status status = j.parent && j.size && reach ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (!status) {
        point_grid_reach_of(c, gap, reach);
        join_all(&j, reach);
        for (int64_t k = 0; k < c->cell_count; k++) {
            *count += j.size[k] > 0 && j.size[k] >= at_least;
            if (j.size[k] > *largest) *largest = j.size[k];
        }
    }
    give(c->ctx, j.parent), give(c->ctx, j.size), give(c->ctx, reach);
    return status;
}
