/*
 * Signed distances of solids. Primitives are reduced to a point, a segment, a ring or a box in the
 * plane, with the radius taken off; each gives its gradient in the same pass. Combinations take the
 * smaller or larger distance (Hart 1996, "Sphere tracing"). Bounds come from support functions (the
 * farthest point of a solid in a direction), so they stay tight under rotation.
 */
#include "scene/shape.h"
#include "core/vec.h"

static const double PI = 3.14159265358979323846;

shape *shape_create(arena *a, shape_kind kind) {
    shape *s = arena_take(a, 1, sizeof *s);
    if (!s) return NULL;
    s->kind = kind;
    s->scale = 1;
    mat_identity(s->turn);
    return s;
}

/* ---- Primitives: distance in the shape's own frame; *n is the unit gradient ------------------ */

/* The gradient of |d| - something: d / |d|, or any unit vector where d is zero. */
static double length_and_direction(const double d[3], double n[3]) {
    double l = vec_length(d);
    if (l > 0)
        vec_scale(n, 1 / l, d);
    else
        vec_set(n, 1, 0, 0);
    return l;
}

/* Outside: the distance to the nearest face, edge or corner. Inside: to the nearest face. */
static double box_distance(const double min[3], const double max[3], int dim, const double x[3],
                           double n[3]) {
    double beyond[3] = {0, 0, 0}, deepest = -HUGE_VAL, side = 1;
    int axis = 0;
    bool outside = false;
    for (int i = 0; i < dim; i++) {
        double below = min[i] - x[i], above = x[i] - max[i];
        double q = fmax(below, above), sign = above >= below ? 1 : -1;
        if (q > 0) beyond[i] = sign * q, outside = true;
        if (q > deepest) deepest = q, axis = i, side = sign;
    }
    if (outside) return length_and_direction(beyond, n);
    vec_set(n, 0, 0, 0);
    n[axis] = side;
    return deepest;
}

static double rounded_box_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double min[3], max[3];
    for (int i = 0; i < 3; i++) min[i] = s->a[i] + s->radius, max[i] = s->b[i] - s->radius;
    return box_distance(min, max, dim, x, n) - s->radius;
}

/* d = x - a with what does not count in 2D removed. */
static void offset(const double x[3], const double a[3], int dim, double d[3]) {
    vec_sub(d, x, a);
    if (dim == 2) d[2] = 0;
}

static double sphere_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double d[3];
    offset(x, s->a, dim, d);
    return length_and_direction(d, n) - s->radius;
}

/* The nearest point of an ellipsoid (Eberly 2013, "Distance from a point to an ellipse, an
 * ellipsoid, or a hyperellipsoid"), for a point y with no negative coordinate. In units of the
 * shortest half axis, and with r the squares of the half axes, it is x_i = r_i y_i / (r_i - 1 + q),
 * where q > 0 makes sum(x_i^2 / r_i) = 1. That sum falls and is convex in q, so that Newton's
 * method rises to the root from any smaller q. */
static void nearest_of_ellipsoid(const double r[3], const double y[3], int dim, double x[3]) {
    enum { MOST = 200 };
    double q = 0;
    for (int i = 0; i < dim; i++) q = fmax(q, sqrt(r[i]) * y[i] + 1 - r[i]);
    for (int k = 0; k < MOST; k++) {
        double sum = -1, slope = 0;
        for (int i = 0; i < dim; i++) {
            x[i] = r[i] * y[i] / (r[i] - 1 + q);
            sum += x[i] * x[i] / r[i];
            slope += 2 * x[i] * x[i] / r[i] / (r[i] - 1 + q);
        }
        double next = q + sum / slope;
        if (!(next > q)) return;
        q = next;
    }
}

static double ellipsoid_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double d[3], r[3] = {1, 1, 1}, y[3] = {0, 0, 0}, at[3] = {0, 0, 0}, size = HUGE_VAL,
                 inside = -1;
    offset(x, s->a, dim, d);
    for (int i = 0; i < dim; i++) size = fmin(size, s->b[i]);
    for (int i = 0; i < dim; i++) {
        double half = s->b[i] / size;
        r[i] = half * half;
        y[i] = fabs(d[i]) / size;
        inside += y[i] * y[i] / r[i];
        /* From within the plane across a shortest axis there may be two ways out, one to each
         * side. */
        if (half == 1) y[i] = fmax(y[i], 1e-13);
    }
    nearest_of_ellipsoid(r, y, dim, at);
    double gap[3];
    for (int i = 0; i < 3; i++) {
        n[i] = copysign(at[i] / r[i], d[i]);
        gap[i] = at[i] - y[i];
    }
    vec_normalise(n);
    return copysign(size * vec_length(gap), inside);
}

/* Unit axis from `from` to `to` and the length between them. */
static double axis_of(const shape *s, int dim, double u[3]) {
    offset(s->b, s->a, dim, u);
    double l = vec_length(u);
    if (!vec_normalise(u)) vec_set(u, 0, 1, 0);
    return l;
}

static double capsule_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double u[3], d[3], l = axis_of(s, dim, u);
    offset(x, s->a, dim, d);
    double along = fmin(fmax(vec_dot(d, u), 0), l);
    vec_add_scaled(d, d, -along, u);
    return length_and_direction(d, n) - s->radius;
}

/* Splits d into its height along u and the unit direction away from the axis; returns the distance
 * from the axis. */
static double away_from_axis(const double d[3], const double u[3], double *height, double out[3]) {
    double r[3];
    *height = vec_dot(d, u);
    vec_add_scaled(r, d, -*height, u);
    double l = vec_length(r);
    if (l > 0) {
        vec_scale(out, 1 / l, r);
    } else { /* on the axis: any direction across it, in the plane in 2D */
        double across[3] = {-u[1], u[0], 0};
        if (!vec_normalise(across)) vec_set(across, 1, 0, 0);
        vec_copy(out, across);
    }
    return l;
}

/* A rectangle in (distance from axis, height). */
static double cylinder_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double u[3], d[3], out[3], height, l = axis_of(s, dim, u);
    offset(x, s->a, dim, d);
    double q = away_from_axis(d, u, &height, out) - s->radius;
    double p = fmax(-height, height - l), end = height - l >= -height ? 1 : -1;
    if (q > 0 && p > 0) {
        double both = sqrt(q * q + p * p);
        for (int i = 0; i < 3; i++) n[i] = (q * out[i] + p * end * u[i]) / both;
        return both;
    }
    if (q > p)
        vec_copy(n, out);
    else
        vec_scale(n, end, u);
    return fmax(q, p);
}

static void torus_axis(const shape *s, int dim, double u[3]) {
    vec_copy(u, s->b);
    if (dim == 2 || !vec_normalise(u)) vec_set(u, 0, 0, 1);
}

/* A circle in (distance from axis, height). A tube thicker than its ring has no hole: deep inside,
 * what is nearest is the dent on the axis (in 2D: the outer rim). */
static double torus_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double u[3], d[3], out[3], height;
    torus_axis(s, dim, u);
    offset(x, s->a, dim, d);
    double away = away_from_axis(d, u, &height, out), q = away - s->radius;
    if (dim == 2 && s->thickness >= s->radius) {
        vec_copy(n, out);
        return q - s->thickness;
    }
    double ring = sqrt(q * q + height * height);
    if (s->thickness > s->radius && s->radius + q / ring * s->thickness < 0) {
        double dent = copysign(sqrt(s->thickness * s->thickness - s->radius * s->radius), height);
        double to_dent[3];
        for (int i = 0; i < 3; i++) to_dent[i] = (dent - height) * u[i] - away * out[i];
        return -length_and_direction(to_dent, n);
    }
    if (ring > 0)
        for (int i = 0; i < 3; i++) n[i] = (q * out[i] + height * u[i]) / ring;
    else
        vec_copy(n, out);
    return ring - s->thickness;
}

static double plane_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double d[3];
    vec_copy(n, s->b);
    if (dim == 2) n[2] = 0;
    if (!vec_normalise(n)) vec_set(n, 0, 1, 0);
    offset(x, s->a, dim, d);
    return vec_dot(d, n);
}

static double polygon_area(const shape *s) { /* positive when it runs anticlockwise */
    double sum = 0;
    const double *o = s->point_count ? s->points[0] : NULL;
    for (int64_t i = 0, j = s->point_count - 1; i < s->point_count; j = i++) {
        const double *p = s->points[j], *q = s->points[i];
        sum += (p[0] - o[0]) * (q[1] - o[1]) - (q[0] - o[0]) * (p[1] - o[1]);
    }
    return sum / 2;
}

/* The nearest point of all edges; inside by the number of edges crossed on the way out along x. */
static double polygon_distance(const shape *s, const double x[3], double n[3]) {
    double best = HUGE_VAL, nearest[3] = {0, 0, 0}, edge[3] = {1, 0, 0};
    bool inside = false;
    for (int64_t i = 0, j = s->point_count - 1; i < s->point_count; j = i++) {
        const double *p = s->points[j], *q = s->points[i];
        double e[3] = {q[0] - p[0], q[1] - p[1], 0}, d[3] = {x[0] - p[0], x[1] - p[1], 0};
        double ee = vec_dot(e, e), along = ee > 0 ? fmin(fmax(vec_dot(d, e) / ee, 0), 1) : 0;
        vec_add_scaled(d, d, -along, e);
        double dd = vec_dot(d, d);
        if (dd < best) best = dd, vec_copy(nearest, d), vec_copy(edge, e);
        if ((p[1] > x[1]) != (q[1] > x[1]) && x[0] < p[0] + (x[1] - p[1]) / e[1] * e[0])
            inside = !inside;
    }
    if (best > 1e-20 * vec_dot(edge, edge)) {
        vec_scale(n, (inside ? -1 : 1) / sqrt(best), nearest);
    } else { /* on an edge: across it */
        vec_set(n, edge[1], -edge[0], 0);
        vec_scale(n, polygon_area(s) < 0 ? -1 : 1, n);
        if (!vec_normalise(n)) vec_set(n, 1, 0, 0);
    }
    return inside ? -sqrt(best) : sqrt(best);
}

static double points_distance(const shape *s, int dim, const double x[3], double n[3]) {
    double best = HUGE_VAL, nearest[3] = {0, 0, 0};
    for (int64_t i = 0; i < s->point_count; i++) {
        double d[3];
        offset(x, s->points[i], dim, d);
        double dd = vec_dot(d, d);
        if (dd < best) best = dd, vec_copy(nearest, d);
    }
    length_and_direction(nearest, n);
    return sqrt(best);
}

/* In 2D the distance is still that of the solid, a lower bound of that to its cut; the normal lies
 * in the plane. */
static double solid_mesh_distance(const shape *s, int dim, const double x[3], double n[3],
                                  shape_hints *hints) {
    bool hinted = hints && hints->used < SHAPE_HINTS;
    double d = mesh_distance_near(s->mesh, x, hinted ? &hints->meshes[hints->used++] : NULL, n);
    if (dim == 2) {
        n[2] = 0;
        if (!vec_normalise(n)) vec_set(n, 1, 0, 0);
    }
    return d;
}

/* ---- The tree -------------------------------------------------------------------------------- */

static double placed_distance(const shape *s, int dim, const double x[3], double n[3],
                              shape_hints *hints);

/* Union: the smallest. Intersection: the largest. Difference: an intersection with the outsides of
 * all but the first. */
static double combined_distance(const shape *s, int dim, const double x[3], double n[3],
                                shape_hints *hints) {
    bool smallest = s->kind == SHAPE_UNION;
    double best = smallest ? HUGE_VAL : -HUGE_VAL;
    vec_set(n, 1, 0, 0);
    for (int i = 0; i < s->child_count; i++) {
        double sign = s->kind == SHAPE_DIFFERENCE && i > 0 ? -1 : 1, m[3];
        double d = sign * placed_distance(s->children[i], dim, x, m, hints);
        if (smallest ? d < best : d > best) best = d, vec_scale(n, sign, m);
    }
    return s->child_count ? best : HUGE_VAL;
}

static double own_distance(const shape *s, int dim, const double x[3], double n[3],
                           shape_hints *hints) {
    switch (s->kind) {
    case SHAPE_POINTS: return points_distance(s, dim, x, n);
    case SHAPE_BOX: return box_distance(s->a, s->b, dim, x, n);
    case SHAPE_ROUNDED_BOX: return rounded_box_distance(s, dim, x, n);
    case SHAPE_SPHERE: return sphere_distance(s, dim, x, n);
    case SHAPE_ELLIPSOID: return ellipsoid_distance(s, dim, x, n);
    case SHAPE_CYLINDER: return cylinder_distance(s, dim, x, n);
    case SHAPE_CAPSULE: return capsule_distance(s, dim, x, n);
    case SHAPE_TORUS: return torus_distance(s, dim, x, n);
    case SHAPE_PLANE: return plane_distance(s, dim, x, n);
    case SHAPE_POLYGON: return polygon_distance(s, x, n);
    case SHAPE_MESH: return solid_mesh_distance(s, dim, x, n, hints);
    case SHAPE_UNION:
    case SHAPE_DIFFERENCE:
    case SHAPE_INTERSECTION: return combined_distance(s, dim, x, n, hints);
    }
    vec_set(n, 1, 0, 0);
    return HUGE_VAL;
}

static double placed_distance(const shape *s, int dim, const double x[3], double normal[3],
                              shape_hints *hints) {
    double own[3], n[3];
    offset(x, s->move, dim, own);
    mat_apply_transposed(own, s->turn, own);
    vec_scale(own, 1 / s->scale, own);
    double d = s->scale * own_distance(s, dim, own, n, hints);
    mat_apply(normal, s->turn, n);
    return d;
}

double shape_normal(const shape *s, int dim, const double x[3], double normal[3]) {
    return placed_distance(s, dim, x, normal, NULL);
}

double shape_distance(const shape *s, int dim, const double x[3]) {
    double n[3];
    return placed_distance(s, dim, x, n, NULL);
}

double shape_distance_near(const shape *s, int dim, const double x[3], shape_hints *hints) {
    double n[3];
    hints->used = 0;
    return placed_distance(s, dim, x, n, hints);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static double farthest_point(const double (*points)[3], int64_t count, const double u[3]) {
    double best = -HUGE_VAL;
    for (int64_t i = 0; i < count; i++) best = fmax(best, vec_dot(points[i], u));
    return best;
}

/* How much of a unit vector lies across the unit axis. */
static double across(const double u[3], const double axis[3]) {
    double c = vec_dot(u, axis);
    return sqrt(fmax(0, 1 - c * c));
}

/* A plane reaches infinity everywhere but straight along its normal. */
static double plane_support(const shape *s, int dim, const double u[3]) {
    double n[3];
    plane_distance(s, dim, s->a, n);
    return vec_dot(u, n) > 1 - 1e-14 ? vec_dot(s->a, u) : HUGE_VAL;
}

static double support(const shape *s, int dim, const double direction[3]);

static double own_support(const shape *s, int dim, const double u[3]) {
    double axis[3], reach;
    switch (s->kind) {
    case SHAPE_BOX:
    case SHAPE_ROUNDED_BOX: /* the corners are rounded off; the box still holds it */
        reach = 0;
        for (int i = 0; i < dim; i++) reach += fmax(u[i] * s->a[i], u[i] * s->b[i]);
        return reach;
    case SHAPE_SPHERE: return vec_dot(s->a, u) + s->radius;
    case SHAPE_ELLIPSOID:
        for (int i = 0; i < 3; i++) axis[i] = s->b[i] * u[i];
        return vec_dot(s->a, u) + vec_length(axis);
    case SHAPE_CAPSULE: return fmax(vec_dot(s->a, u), vec_dot(s->b, u)) + s->radius;
    case SHAPE_CYLINDER:
        axis_of(s, dim, axis);
        return fmax(vec_dot(s->a, u), vec_dot(s->b, u)) + s->radius * across(u, axis);
    case SHAPE_TORUS:
        torus_axis(s, dim, axis);
        return vec_dot(s->a, u) + s->radius * across(u, axis) + s->thickness;
    case SHAPE_PLANE: return plane_support(s, dim, u);
    case SHAPE_POINTS:
    case SHAPE_POLYGON: return farthest_point((const double(*)[3])s->points, s->point_count, u);
    case SHAPE_MESH:
        return farthest_point((const double(*)[3])s->mesh->vertices, s->mesh->vertex_count, u);
    case SHAPE_DIFFERENCE: return s->child_count ? support(s->children[0], dim, u) : HUGE_VAL;
    case SHAPE_UNION:
        reach = -HUGE_VAL;
        for (int i = 0; i < s->child_count; i++)
            reach = fmax(reach, support(s->children[i], dim, u));
        return reach;
    case SHAPE_INTERSECTION:
        reach = HUGE_VAL;
        for (int i = 0; i < s->child_count; i++)
            reach = fmin(reach, support(s->children[i], dim, u));
        return reach;
    }
    return HUGE_VAL;
}

/* The largest u.x over the points of the shape (an upper bound for combinations). */
static double support(const shape *s, int dim, const double direction[3]) {
    double u[3];
    mat_apply_transposed(u, s->turn, direction);
    if (dim == 2) u[2] = 0;
    return vec_dot(s->move, direction) + s->scale * own_support(s, dim, u);
}

bounds shape_bounds(const shape *s, int dim) {
    bounds b = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < dim; i++) {
        double u[3] = {0, 0, 0};
        u[i] = 1;
        b.max[i] = support(s, dim, u);
        u[i] = -1;
        b.min[i] = -support(s, dim, u);
    }
    return b;
}

double bounds_gap(const bounds *b, int dim, const double x[3]) {
    double squared = 0;
    for (int i = 0; i < dim; i++) {
        double below = b->min[i] - x[i], above = x[i] - b->max[i];
        double beyond = below > above ? below : above;
        if (beyond > 0) squared += beyond * beyond;
    }
    return sqrt(squared);
}

/* ---- Volume and thickness -------------------------------------------------------------------- */

/* Steiner's formula: a box swept by a ball. */
static double rounded_box_volume(const shape *s, int dim, double r) {
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = s->b[i] - s->a[i] - 2 * r;
    if (dim == 2) return e[0] * e[1] + 2 * r * (e[0] + e[1]) + PI * r * r;
    return e[0] * e[1] * e[2] + 2 * r * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]) +
           PI * r * r * (e[0] + e[1] + e[2]) + 4 * PI / 3 * r * r * r;
}

static double cross_z(const double o[3], const double p[3], const double q[3]) {
    return (p[0] - o[0]) * (q[1] - o[1]) - (q[0] - o[0]) * (p[1] - o[1]);
}

/* Whether two edges cross in their insides; the area formula does not hold then. */
static bool polygon_crosses_itself(const shape *s) {
    int64_t n = s->point_count;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 2; j < n; j++) {
            const double *a = s->points[i], *b = s->points[(i + 1) % n];
            const double *c = s->points[j], *d = s->points[(j + 1) % n];
            if (cross_z(a, b, c) * cross_z(a, b, d) < 0 && cross_z(c, d, a) * cross_z(c, d, b) < 0)
                return true;
        }
    return false;
}

static double torus_volume(double ring, double tube, int dim) {
    if (dim == 2) return tube <= ring ? 4 * PI * ring * tube : PI * (ring + tube) * (ring + tube);
    return tube <= ring ? 2 * PI * PI * ring * tube * tube : NAN;
}

static double ellipsoid_volume(const double half[3], int dim) {
    return dim == 2 ? PI * half[0] * half[1] : 4 * PI / 3 * half[0] * half[1] * half[2];
}

static double own_volume(const shape *s, int dim) {
    double r = s->radius, axis[3];
    double ball = dim == 2 ? PI * r * r : 4 * PI / 3 * r * r * r;
    double disc = dim == 2 ? 2 * r : PI * r * r;
    switch (s->kind) {
    case SHAPE_BOX: return rounded_box_volume(s, dim, 0);
    case SHAPE_ROUNDED_BOX: return rounded_box_volume(s, dim, r);
    case SHAPE_SPHERE: return ball;
    case SHAPE_ELLIPSOID: return ellipsoid_volume(s->b, dim);
    case SHAPE_CYLINDER: return disc * axis_of(s, dim, axis);
    case SHAPE_CAPSULE: return disc * axis_of(s, dim, axis) + ball;
    case SHAPE_TORUS: return torus_volume(r, s->thickness, dim);
    case SHAPE_POLYGON: return dim == 2 && !polygon_crosses_itself(s) ? fabs(polygon_area(s)) : NAN;
    case SHAPE_MESH: return dim == 3 && !s->mesh->by_winding ? s->mesh->volume : NAN;
    case SHAPE_UNION:
    case SHAPE_DIFFERENCE:
    case SHAPE_INTERSECTION: return s->child_count == 1 ? shape_volume(s->children[0], dim) : NAN;
    case SHAPE_POINTS:
    case SHAPE_PLANE: break;
    }
    return NAN;
}

double shape_volume(const shape *s, int dim) {
    return own_volume(s, dim) * (dim == 2 ? s->scale * s->scale : s->scale * s->scale * s->scale);
}

static double smallest_side(const double min[3], const double max[3], int dim) {
    double side = HUGE_VAL;
    for (int i = 0; i < dim; i++) side = fmin(side, max[i] - min[i]);
    return side;
}

static double own_thickness(const shape *s, int dim) {
    double axis[3], thinnest = HUGE_VAL;
    switch (s->kind) {
    case SHAPE_BOX:
    case SHAPE_ROUNDED_BOX: return smallest_side(s->a, s->b, dim);
    case SHAPE_SPHERE:
    case SHAPE_CAPSULE: return 2 * s->radius;
    case SHAPE_ELLIPSOID: return 2 * smallest_side((const double[3]){0, 0, 0}, s->b, dim);
    case SHAPE_CYLINDER: return fmin(2 * s->radius, axis_of(s, dim, axis));
    case SHAPE_TORUS: return 2 * s->thickness;
    case SHAPE_MESH: return smallest_side(s->mesh->min, s->mesh->max, dim);
    case SHAPE_UNION:
    case SHAPE_INTERSECTION:
        for (int i = 0; i < s->child_count; i++)
            thinnest = fmin(thinnest, shape_thickness(s->children[i], dim));
        return thinnest;
    case SHAPE_DIFFERENCE: return s->child_count ? shape_thickness(s->children[0], dim) : HUGE_VAL;
    case SHAPE_POINTS:
    case SHAPE_PLANE:
    case SHAPE_POLYGON: break;
    }
    return HUGE_VAL;
}

double shape_thickness(const shape *s, int dim) { return s->scale * own_thickness(s, dim); }
