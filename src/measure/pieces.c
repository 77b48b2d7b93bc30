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

/* Makes one piece of those of two roots. */
static void unite(joining *j, int64_t a, int64_t b) {
    if (a == b) return;
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    j->parent[high] = low;
    j->size[low] += j->size[high];
    j->size[high] = 0;
}

static void join(joining *j, int64_t cell, const int64_t offset[3]) {
    const point_grid *c = j->point_grid;
    int64_t other = point_grid_neighbour(c, &c->cells[cell], offset);
    if (other < 0) return;
    int64_t a = root_of(j->parent, cell), b = root_of(j->parent, other);
    if (a != b && are_near(c, &c->cells[cell], &c->cells[other], j->gap)) unite(j, a, b);
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

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* The cells of a body's vertices, which have ids one after the other; -1: not there. *known: as
 * long as the first and the last of them are. */
static spate_status find_vertices(const joining *j, int group, int64_t **cell_of, bool *known) {
    const point_grid *c = j->point_grid;
    const particles *p = &c->sim->particles;
    const int64_t count = c->sim->scene->bodies[group].mesh.vertex_count;
    uint64_t first = UINT64_MAX, last = 0;
    for (int64_t i = 0; i < c->count; i++) {
        if (p->group[c->stored[i]] != group) continue;
        const uint64_t id = p->id[c->stored[i]];
        first = id < first ? id : first, last = id > last ? id : last;
    }
    *known = last >= first && last - first + 1 == (uint64_t)count;
    if (!*known) return SPATE_OK;
    *cell_of = take(c->ctx, (size_t)count, sizeof **cell_of);
    if (!*cell_of) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < count; v++) (*cell_of)[v] = -1;
    for (int64_t k = 0; k < c->cell_count; k++)
        for (int64_t i = c->cells[k].first; i >= 0; i = c->next[i])
            if (p->group[c->stored[i]] == group) (*cell_of)[p->id[c->stored[i]] - first] = k;
    return SPATE_OK;
}

static void join_vertices(joining *j, int64_t a, int64_t b) {
    if (a >= 0 && b >= 0) unite(j, root_of(j->parent, a), root_of(j->parent, b));
}

/* Vertices of an element, or beside each other on a strand, hang together however far apart. */
static spate_status join_mesh(joining *j, int group) {
    const mesh_body *m = &j->point_grid->sim->scene->bodies[group].mesh;
    const int corners = m->kind == MESH_CLOTH ? 3 : j->point_grid->dim + 1;
    int64_t *cell_of = NULL;
    bool known;
    TRY(find_vertices(j, group, &cell_of, &known));
    if (!known) return SPATE_OK;
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 1; k < corners; k++)
            join_vertices(j, cell_of[m->elements[e][0]], cell_of[m->elements[e][k]]);
    for (int64_t s = 0; s < m->strand_count; s++)
        for (int64_t v = m->strand_first[s] + 1; v < m->strand_first[s + 1]; v++)
            join_vertices(j, cell_of[v - 1], cell_of[v]);
    give(j->point_grid->ctx, cell_of);
    return SPATE_OK;
}

static spate_status join_meshes(joining *j) {
    const spate_simulation *sim = j->point_grid->sim;
    for (int b = 0; sim && b < sim->scene->body_count; b++)
        if (sim->scene->bodies[b].mesh.kind) TRY(join_mesh(j, b));
    return SPATE_OK;
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
        status = join_meshes(&j);
        for (int64_t k = 0; k < c->cell_count; k++) {
            *count += j.size[k] > 0 && j.size[k] >= at_least;
            if (j.size[k] > *largest) *largest = j.size[k];
        }
    }
    give(c->ctx, j.parent), give(c->ctx, j.size), give(c->ctx, reach);
    return status;
}
