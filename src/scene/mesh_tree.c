/* The hierarchy: triangles are halved at the median of their middles along the longest side, twice
 * a node, down to a few a leaf. Pseudonormals: Baerentzen and Aanaes 2005, section 3. */
#include "scene/mesh_tree.h"
#include "core/vec.h"
#include <stdlib.h>
#include <string.h>

void mesh_area_vector(const mesh *m, int64_t triangle, double out[3]) {
    const int32_t *c = m->triangles[triangle];
    double u[3], v[3];
    vec_sub(u, m->vertices[c[1]], m->vertices[c[0]]);
    vec_sub(v, m->vertices[c[2]], m->vertices[c[0]]);
    vec_cross(out, u, v);
}

/* ---- Hierarchy
 * ------------------------------------------------------------------------------------------ */

typedef struct entry {
    double middle[3];
    int32_t triangle;
} entry;

typedef struct tree_builder {
    mesh *m;
    entry *entries;
    int32_t node_count;
} tree_builder;

/* Moves the entries so that those before `nth` are not above it along the axis (Hoare's select). */
static void select_nth(entry *e, int32_t count, int32_t nth, int axis) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = e[low + (high - low) / 2].middle[axis];
        int32_t i = low, j = high;
        while (i <= j) {
            while (e[i].middle[axis] < pivot) i++;
            while (e[j].middle[axis] > pivot) j--;
            if (i > j) break;
            entry swap = e[i];
            e[i++] = e[j];
            e[j--] = swap;
        }
        if (nth <= j)
            high = j;
        else if (nth >= i)
            low = i;
        else
            return;
    }
}

static int longest_side(const entry *e, int32_t count) {
    double min[3], max[3];
    vec_copy(min, e[0].middle);
    vec_copy(max, e[0].middle);
    for (int32_t k = 1; k < count; k++)
        for (int i = 0; i < 3; i++) {
            min[i] = fmin(min[i], e[k].middle[i]);
            max[i] = fmax(max[i], e[k].middle[i]);
        }
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (max[i] - min[i] > max[axis] - min[axis]) axis = i;
    return axis;
}

/* A range of the entries: one child. */
typedef struct range {
    int32_t first, count;
} range;

/* Halves a range; a small one stays whole. */
static int halve(range r, range parts[2]) {
    parts[0] = r;
    if (r.count <= MESH_LEAF) return 1;
    parts[0].count = r.count / 2;
    parts[1] = (range){r.first + parts[0].count, r.count - parts[0].count};
    return 2;
}

/* The children of a node over a range, in the order of their triangles. */
static int split(entry *entries, range r, range parts[MESH_WAYS]) {
    range halves[2], quarters[2];
    int count = 0, half_count = halve(r, halves);
    if (half_count == 2 && entries)
        select_nth(entries + r.first, r.count, halves[0].count,
                   longest_side(entries + r.first, r.count));
    for (int i = 0; i < half_count; i++) {
        range h = halves[i];
        int quarter_count = halve(h, quarters);
        if (quarter_count == 2 && entries)
            select_nth(entries + h.first, h.count, quarters[0].count,
                       longest_side(entries + h.first, h.count));
        for (int k = 0; k < quarter_count; k++) parts[count++] = quarters[k];
    }
    return count;
}

static int64_t count_nodes(range r) {
    range parts[MESH_WAYS];
    int64_t nodes = 1;
    int count = split(NULL, r, parts);
    for (int k = 0; k < count; k++)
        if (parts[k].count > MESH_LEAF) nodes += count_nodes(parts[k]);
    return nodes;
}

static void set_leaf_box(const tree_builder *b, range r, mesh_node *n, int k) {
    const mesh *m = b->m;
    for (int32_t e = r.first; e < r.first + r.count; e++)
        for (int c = 0; c < 3; c++) {
            const double *x = m->vertices[m->triangles[b->entries[e].triangle][c]];
            for (int i = 0; i < 3; i++) {
                n->low[i][k] = fminf(n->low[i][k], nextafterf((float)x[i], -HUGE_VALF));
                n->high[i][k] = fmaxf(n->high[i][k], nextafterf((float)x[i], HUGE_VALF));
            }
        }
}

/* The box of child k holds those of the child's own children. */
static void join_boxes(mesh_node *n, int k, const mesh_node *child) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < MESH_WAYS; j++) {
            n->low[i][k] = fminf(n->low[i][k], child->low[i][j]);
            n->high[i][k] = fmaxf(n->high[i][k], child->high[i][j]);
        }
}

static int32_t build(tree_builder *b, range r) {
    int32_t own = b->node_count++;
    mesh_node *n = &b->m->nodes[own];
    range parts[MESH_WAYS];
    int count = split(b->entries, r, parts);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < MESH_WAYS; k++) n->low[i][k] = HUGE_VALF, n->high[i][k] = -HUGE_VALF;
    for (int k = 0; k < count; k++) {
        if (parts[k].count <= MESH_LEAF) {
            n->first[k] = parts[k].first, n->count[k] = parts[k].count;
            set_leaf_box(b, parts[k], n, k);
            continue;
        }
        n->first[k] = build(b, parts[k]), n->count[k] = MESH_INNER;
        join_boxes(n, k, &b->m->nodes[n->first[k]]);
    }
    return own;
}

static void lay_out_triangle(mesh *m, int64_t t) {
    const int32_t *c = m->triangles[t];
    mesh_corner *k = &m->corners[t];
    vec_copy(k->at, m->vertices[c[0]]);
    vec_sub(k->ab, m->vertices[c[1]], k->at);
    vec_sub(k->ac, m->vertices[c[2]], k->at);
}

spate_status mesh_build_tree(arena *a, mesh *m) {
    size_t count = (size_t)m->triangle_count;
    range all = {0, (int32_t)count};
    m->node_count = count_nodes(all);
    m->nodes = arena_take(a, (size_t)m->node_count, sizeof *m->nodes);
    m->corners = arena_take(a, count, sizeof *m->corners);
    int32_t(*sorted)[3] = arena_take(a, count, sizeof *sorted);
    if (!m->nodes || !m->corners || !sorted) return SPATE_OUT_OF_MEMORY;
    tree_builder b = {.m = m, .entries = take(a->ctx, count, sizeof *b.entries)};
    if (!b.entries) return SPATE_OUT_OF_MEMORY;
    for (size_t t = 0; t < count; t++) {
        b.entries[t].triangle = (int32_t)t;
        for (int c = 0; c < 3; c++)
            vec_add_scaled(b.entries[t].middle, b.entries[t].middle, 1 / 3.0,
                           m->vertices[m->triangles[t][c]]);
    }
    build(&b, all);
    for (size_t t = 0; t < count; t++)
        memcpy(sorted[t], m->triangles[b.entries[t].triangle], sizeof *sorted);
    m->triangles = sorted;
    for (int64_t t = 0; t < m->triangle_count; t++) lay_out_triangle(m, t);
    give(a->ctx, b.entries);
    return SPATE_OK;
}

/* ---- Edges
 * ------------------------------------------------------------------------------------------------
 */

typedef struct edge {
    uint64_t ends; /* the smaller vertex above the larger one */
    int32_t half;
} edge;

static int compare_edges(const void *a, const void *b) {
    const edge *p = a, *q = b;
    if (p->ends != q->ends) return p->ends < q->ends ? -1 : 1;
    return p->half < q->half ? -1 : p->half > q->half;
}

spate_status mesh_pair_edges(spate_context *ctx, const mesh *m, int32_t **twins) {
    int64_t count = 3 * m->triangle_count;
    *twins = take(ctx, (size_t)count, sizeof **twins);
    edge *edges = *twins ? take(ctx, (size_t)count, sizeof *edges) : NULL;
    if (!edges) {
        give(ctx, *twins);
        *twins = NULL;
        return SPATE_OUT_OF_MEMORY;
    }
    for (int64_t h = 0; h < count; h++) {
        uint64_t u = (uint64_t)m->triangles[h / 3][h % 3];
        uint64_t v = (uint64_t)m->triangles[h / 3][(h % 3 + 1) % 3];
        edges[h] = (edge){u < v ? u << 32 | v : v << 32 | u, (int32_t)h};
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && edges[next].ends == edges[i].ends;) next++;
        int32_t rest = next - i == 1 ? MESH_OPEN_EDGE : MESH_SHARED_EDGE;
        for (int64_t k = i; k < next; k++) {
            (*twins)[edges[k].half] = next - i == 2 ? edges[2 * i + 1 - k].half : rest;
            if (rest == MESH_SHARED_EDGE) rest = MESH_SHARED_AGAIN;
        }
    }
    give(ctx, edges);
    return SPATE_OK;
}

/* ---- Pseudonormals
 * ---------------------------------------------------------------------------------------- */

/* The angle of triangle t at corner c. */
static double corner_angle(const mesh *m, int64_t t, int c) {
    const int32_t *v = m->triangles[t];
    double a[3], b[3], across[3];
    vec_sub(a, m->vertices[v[(c + 1) % 3]], m->vertices[v[c]]);
    vec_sub(b, m->vertices[v[(c + 2) % 3]], m->vertices[v[c]]);
    vec_cross(across, a, b);
    return atan2(vec_length(across), vec_dot(a, b));
}

static void fill_normals(mesh *m, const int32_t *twins) {
    memset(m->vertex_normals, 0, (size_t)m->vertex_count * sizeof *m->vertex_normals);
    for (int64_t t = 0; t < m->triangle_count; t++) {
        double *n = m->face_normals[t];
        mesh_area_vector(m, t, n);
        vec_normalise(n);
        for (int c = 0; c < 3; c++) {
            double *v = m->vertex_normals[m->triangles[t][c]];
            vec_add_scaled(v, v, corner_angle(m, t, c), n);
        }
    }
    for (int64_t h = 0; h < 3 * m->triangle_count; h++) {
        vec_copy(m->edge_normals[h], m->face_normals[h / 3]);
        if (twins[h] >= 0)
            vec_add(m->edge_normals[h], m->edge_normals[h], m->face_normals[twins[h] / 3]);
        vec_normalise(m->edge_normals[h]);
    }
    for (int64_t v = 0; v < m->vertex_count; v++) vec_normalise(m->vertex_normals[v]);
}

spate_status mesh_build_normals(arena *a, mesh *m) {
    m->face_normals = arena_take(a, (size_t)m->triangle_count, sizeof *m->face_normals);
    m->edge_normals = arena_take(a, 3 * (size_t)m->triangle_count, sizeof *m->edge_normals);
    m->vertex_normals = arena_take(a, (size_t)m->vertex_count, sizeof *m->vertex_normals);
    if (!m->face_normals || !m->edge_normals || !m->vertex_normals) return SPATE_OUT_OF_MEMORY;
    int32_t *twins;
    TRY(mesh_pair_edges(a->ctx, m, &twins));
    fill_normals(m, twins);
    give(a->ctx, twins);
    return SPATE_OK;
}

/* ---- Dipoles
 * ------------------------------------------------------------------------------------------------
 */

/* Adds a leaf's triangles: their area vectors, and their middles weighted by area. */
static void gather_leaf(const mesh *m, int32_t first, int32_t count, mesh_far *f,
                        double weighted[4]) {
    for (int32_t t = first; t < first + count; t++) {
        double area[3];
        mesh_area_vector(m, t, area);
        vec_add_scaled(f->area, f->area, 0.5, area);
        double size = vec_length(area) / 2;
        for (int c = 0; c < 3; c++)
            vec_add_scaled(weighted, weighted, size / 3, m->vertices[m->triangles[t][c]]);
        weighted[3] += size;
    }
}

/* Builds the dipoles of a node's children; adds their middles, weighted by area, and their areas to
 * weighted[4] and their area vectors to area[3] of the child above. */
static void build_dipoles(mesh *m, int32_t node, double area[3], double above[4]) {
    const mesh_node *n = &m->nodes[node];
    for (int k = 0; k < MESH_WAYS; k++) {
        mesh_far *f = &m->far[MESH_WAYS * (int64_t)node + k];
        double weighted[4] = {0, 0, 0, 0}, reach[3];
        if (n->count[k] == 0) continue;
        if (n->count[k] == MESH_INNER)
            build_dipoles(m, n->first[k], f->area, weighted);
        else
            gather_leaf(m, n->first[k], n->count[k], f, weighted);
        for (int i = 0; i < 3; i++) {
            double low = n->low[i][k], high = n->high[i][k];
            f->centre[i] = weighted[3] > 0 ? weighted[i] / weighted[3] : (low + high) / 2;
            reach[i] = fmax(high - f->centre[i], f->centre[i] - low);
        }
        f->radius = vec_length(reach);
        vec_add(area, area, f->area);
        for (int i = 0; i < 4; i++) above[i] += weighted[i];
    }
}

spate_status mesh_build_far(arena *a, mesh *m) {
    m->far = arena_take(a, MESH_WAYS * (size_t)m->node_count, sizeof *m->far);
    if (!m->far) return SPATE_OUT_OF_MEMORY;
    double area[3] = {0, 0, 0}, weighted[4] = {0, 0, 0, 0};
    build_dipoles(m, 0, area, weighted);
    return SPATE_OK;
}

/* ---- Vertices that have moved ---------------------------------------------------------------- */

/* The box of triangles, rounded outwards. */
static void refit_leaf(const mesh *m, mesh_node *n, int k) {
    for (int32_t t = n->first[k]; t < n->first[k] + n->count[k]; t++)
        for (int c = 0; c < 3; c++) {
            const double *x = m->vertices[m->triangles[t][c]];
            for (int i = 0; i < 3; i++) {
                n->low[i][k] = fminf(n->low[i][k], nextafterf((float)x[i], -HUGE_VALF));
                n->high[i][k] = fmaxf(n->high[i][k], nextafterf((float)x[i], HUGE_VALF));
            }
        }
}

/* Children come after their parent, so from the last node to the first. */
static void refit_boxes(mesh *m) {
    for (int64_t own = m->node_count - 1; own >= 0; own--) {
        mesh_node *n = &m->nodes[own];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < MESH_WAYS; k++)
                n->low[i][k] = HUGE_VALF, n->high[i][k] = -HUGE_VALF;
        for (int k = 0; k < MESH_WAYS; k++) {
            if (n->count[k] == MESH_INNER)
                join_boxes(n, k, &m->nodes[n->first[k]]);
            else
                refit_leaf(m, n, k);
        }
    }
}

void mesh_refit(mesh *m, const int32_t *twins) {
    mesh_measure_bounds(m);
    refit_boxes(m);
    for (int64_t t = 0; t < m->triangle_count; t++) lay_out_triangle(m, t);
    fill_normals(m, twins);
    if (!m->far) return;
    double area[3] = {0, 0, 0}, weighted[4] = {0, 0, 0, 0};
    memset(m->far, 0, MESH_WAYS * (size_t)m->node_count * sizeof *m->far);
    build_dipoles(m, 0, area, weighted);
}
