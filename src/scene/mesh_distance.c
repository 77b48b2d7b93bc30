/*
 * Signed distance to a mesh: the nearest point of the nearest triangle (Ericson 2005,
 * section 5.1.5), found by going down the hierarchy nearest box first, and the sign from the
 * pseudonormal of the face, edge or vertex that holds it. The winding number adds solid angles (Van
 * Oosterom and Strackee 1983), with far nodes as dipoles (Barill et al. 2018).
 */
#include "core/vec.h"
#include "scene/mesh.h"
#include "scene/mesh_tree.h"
#include <float.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* What of a triangle the nearest point lies on: edges and vertices by number. */
typedef enum feature { FACE, EDGE_0, EDGE_1, EDGE_2, VERTEX_0, VERTEX_1, VERTEX_2 } feature;

typedef struct nearest {
    double squared; /* distance */
    double away[3]; /* from the nearest point to x */
    int64_t triangle;
    feature feature;
} nearest;

/* The point a + s ab + t ac of a triangle that is nearest to x = a + ap. The regions of the plane
 * where a vertex, an edge or the face is nearest are tried in turn. */
static feature nearest_on_triangle(const double ab[3], const double ac[3], const double ap[3],
                                   double *s, double *t) {
    double d1 = vec_dot(ab, ap), d2 = vec_dot(ac, ap);
    *s = 0, *t = 0;
    if (d1 <= 0 && d2 <= 0) return VERTEX_0;
    double bb = vec_dot(ab, ab), bc = vec_dot(ab, ac), cc = vec_dot(ac, ac);
    double d3 = d1 - bb, d4 = d2 - bc; /* the same from b */
    if (d3 >= 0 && d4 <= d3) return *s = 1, VERTEX_1;
    double d5 = d1 - bc, d6 = d2 - cc; /* and from c */
    if (d6 >= 0 && d5 <= d6) return *t = 1, VERTEX_2;
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return *s = d1 / (d1 - d3), EDGE_0;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return *t = d2 / (d2 - d6), EDGE_2;
    if (va <= 0 && d4 >= d3 && d5 >= d6) {
        *t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        *s = 1 - *t;
        return EDGE_1;
    }
    double whole = va + vb + vc;
    *s = vb / whole, *t = vc / whole;
    return FACE;
}

static inline void try_triangle(const mesh *m, int64_t triangle, const double x[3], nearest *best) {
    const mesh_corner *c = &m->corners[triangle];
    double ap[3], s, t;
    vec_sub(ap, x, c->at);
    feature f = nearest_on_triangle(c->ab, c->ac, ap, &s, &t);
    for (int i = 0; i < 3; i++) ap[i] -= s * c->ab[i] + t * c->ac[i];
    double squared = vec_dot(ap, ap);
    if (!(squared < best->squared)) return;
    *best = (nearest){.squared = squared, .triangle = triangle, .feature = f};
    vec_copy(best->away, ap);
}

void mesh_nearest_shares(const mesh *m, int64_t triangle, const double x[3], double out[3]) {
    const mesh_corner *c = &m->corners[triangle];
    double ap[3];
    vec_sub(ap, x, c->at);
    nearest_on_triangle(c->ab, c->ac, ap, &out[1], &out[2]);
    out[0] = 1 - out[1] - out[2];
}

typedef float four __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t four_masks __attribute__((vector_size(4 * sizeof(int32_t))));

static inline four load_four(const float v[4]) {
    four f;
    memcpy(&f, v, sizeof f);
    return f;
}

static inline four larger(four a, four b) {
    four_masks pick = a > b;
    return (four)((pick & (four_masks)a) | (~pick & (four_masks)b));
}

/* A position in float, rounded both ways. */
typedef struct place {
    four low[3], high[3];
} place;

static inline place place_of(const double x[3]) {
    place p;
    for (int i = 0; i < 3; i++) {
        float low = nextafterf((float)x[i], -HUGE_VALF), high = nextafterf((float)x[i], HUGE_VALF);
        p.low[i] = (four){low, low, low, low};
        p.high[i] = (four){high, high, high, high};
    }
    return p;
}

/* Squared distances to the boxes of a node's children, or less by what rounding may have added. */
static inline four child_gaps(const mesh_node *n, const place *at) {
    four sum = {0, 0, 0, 0}, none = {0, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        four below = load_four(n->low[i]) - at->high[i], above = at->low[i] - load_four(n->high[i]);
        four d = larger(larger(below, above), none);
        sum += d * d;
    }
    return sum * (1 - 8 * FLT_EPSILON);
}

typedef struct visit {
    float gap;
    int32_t node;
} visit;

/* Tries the leaves of a node and puts its other children on the stack, the nearest last. */
static inline int open_node(const mesh *m, const mesh_node *n, const double x[3], const place *at,
                            nearest *best, visit *stack, int depth) {
    four gaps = child_gaps(n, at);
    int bottom = depth;
    for (int k = 0; k < MESH_WAYS; k++) {
        if (!(gaps[k] < best->squared)) continue;
        if (n->count[k] != MESH_INNER) {
            for (int32_t t = n->first[k]; t < n->first[k] + n->count[k]; t++)
                try_triangle(m, t, x, best);
            continue;
        }
        int slot = depth++;
        for (; slot > bottom && stack[slot - 1].gap < gaps[k]; slot--)
            stack[slot] = stack[slot - 1];
        stack[slot] = (visit){gaps[k], n->first[k]};
    }
    return depth;
}

/* With a hint, whatever is farther than its triangle is never looked at. */
static nearest find_nearest(const mesh *m, const double x[3], const mesh_hint *hint) {
    nearest best = {.squared = HUGE_VAL};
    if (hint) try_triangle(m, hint->triangle, x, &best);
    place at = place_of(x);
    visit stack[MESH_STACK];
    int depth = 0;
    stack[depth++] = (visit){0, 0};
    while (depth > 0) {
        visit v = stack[--depth];
        if (v.gap < best.squared)
            depth = open_node(m, &m->nodes[v.node], x, &at, &best, stack, depth);
    }
    return best;
}

/* The solid angle of a triangle seen from x, as a share of the whole sphere. */
static double triangle_winding(const mesh *m, int64_t triangle, const double x[3]) {
    const int32_t *v = m->triangles[triangle];
    double a[3], b[3], c[3], across[3];
    vec_sub(a, m->vertices[v[0]], x);
    vec_sub(b, m->vertices[v[1]], x);
    vec_sub(c, m->vertices[v[2]], x);
    double la = vec_length(a), lb = vec_length(b), lc = vec_length(c);
    vec_cross(across, b, c);
    double above = vec_dot(a, across);
    double below = la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb;
    return atan2(above, below) / (2 * PI);
}

/* The share of a far child as a dipole; false when it is too near for that. */
static bool far_winding(const mesh_far *f, const double x[3], double *sum) {
    double d[3];
    vec_sub(d, f->centre, x);
    double squared = vec_dot(d, d);
    if (!(squared > 9 * f->radius * f->radius)) return false;
    *sum += vec_dot(f->area, d) / (4 * PI * squared * sqrt(squared));
    return true;
}

double mesh_winding(const mesh *m, const double x[3]) {
    double sum = 0;
    int32_t stack[MESH_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t node = stack[--depth];
        const mesh_node *n = &m->nodes[node];
        for (int k = 0; k < MESH_WAYS; k++) {
            if (m->far && far_winding(&m->far[MESH_WAYS * (int64_t)node + k], x, &sum)) continue;
            for (int32_t t = n->first[k]; t < n->first[k] + n->count[k]; t++)
                sum += triangle_winding(m, t, x);
            if (n->count[k] == MESH_INNER) stack[depth++] = n->first[k];
        }
    }
    return sum;
}

static const double *pseudonormal(const mesh *m, const nearest *best) {
    if (best->feature == FACE) return m->face_normals[best->triangle];
    if (best->feature < VERTEX_0)
        return m->edge_normals[3 * best->triangle + (best->feature - EDGE_0)];
    return m->vertex_normals[m->triangles[best->triangle][best->feature - VERTEX_0]];
}

static bool in_bounds(const mesh *m, const double x[3]) {
    for (int i = 0; i < 3; i++)
        if (x[i] < m->min[i] || x[i] > m->max[i]) return false;
    return true;
}

/* Where a surface has no holes one cannot get to the other side of it within its distance. */
static bool is_same_side(const mesh *m, const double x[3], const mesh_hint *hint) {
    double step[3];
    if (!hint || m->open_edges || m->shared_edges) return false;
    vec_sub(step, x, hint->at);
    return vec_length(step) < 0.999 * fabs(hint->distance);
}

static bool is_inside(const mesh *m, const double x[3], const nearest *best,
                      const mesh_hint *hint) {
    if (!in_bounds(m, x)) return false;
    if (!m->by_winding) return vec_dot(best->away, pseudonormal(m, best)) < 0;
    return is_same_side(m, x, hint) ? hint->distance < 0 : mesh_winding(m, x) > 0.5;
}

double mesh_distance_near(const mesh *m, const double x[3], mesh_hint *hint, double normal[3]) {
    nearest best = find_nearest(m, x, hint);
    bool inside = is_inside(m, x, &best, hint);
    double d = sqrt(best.squared), size[3];
    if (normal) {
        /* on the surface itself the way to it has no direction */
        vec_sub(size, m->max, m->min);
        vec_copy(normal, pseudonormal(m, &best));
        if (d > 1e-10 * vec_length(size)) vec_scale(normal, (inside ? -1 : 1) / d, best.away);
        if (!(vec_length(normal) > 0.5)) vec_set(normal, 0, 0, 1);
    }
    if (hint) {
        *hint = (mesh_hint){.triangle = best.triangle, .distance = inside ? -d : d};
        vec_copy(hint->at, x);
    }
    return inside ? -d : d;
}

double mesh_distance(const mesh *m, const double x[3], double normal[3]) {
    return mesh_distance_near(m, x, NULL, normal);
}
