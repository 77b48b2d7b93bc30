/* A matrix worked into a shape; see stretch.h. */
#include "scene/stretch.h"
#include "core/vec.h"

static const double rounding = 1e-12; /* of a matrix that was turned by right angles */

/* Whether the matrix only stretches along the axes; what rounding left beside it is cleared. */
static bool is_along_axes(double m[3][3]) {
    double largest = fmax(fmax(m[0][0], m[1][1]), m[2][2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (i == j) continue;
            if (fabs(m[i][j]) > rounding * largest) return false;
            m[i][j] = 0;
        }
    return m[0][0] > 0 && m[1][1] > 0 && m[2][2] > 0;
}

static bool are_equal(double a, double b) { return fabs(a - b) <= rounding * fmax(a, b); }

static bool is_uniform(const double m[3][3], int dim) {
    return are_equal(m[0][0], m[1][1]) && (dim == 2 || are_equal(m[0][0], m[2][2]));
}

static spate_status map_points(arena *a, shape *s, const double by[3][3]) {
    double(*points)[3] = arena_take(a, (size_t)s->point_count, sizeof *points);
    if (!points) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < s->point_count; i++) mat_apply(points[i], by, s->points[i]);
    s->points = points;
    return SPATE_OK;
}

static void map_plane(shape *s, const double by[3][3]) {
    double normals[3][3];
    mat_cofactors(normals, by);
    mat_apply(s->a, by, s->a);
    mat_apply(s->b, normals, s->b);
    vec_normalise(s->b);
}

/* A cylinder stays one where its axis is an axis of the matrix and it stays round across. */
static bool stretch_cylinder(shape *s, int dim, const double by[3][3]) {
    double along[3];
    int axis = -1, others = 0;
    vec_sub(along, s->b, s->a);
    for (int i = 0; i < dim; i++) {
        if (along[i] == 0) continue;
        axis = i, others++;
    }
    if (others != 1) return false;
    int across = (axis + 1) % dim, second = dim == 2 ? across : (axis + 2) % dim;
    if (!are_equal(by[across][across], by[second][second])) return false;
    mat_apply(s->a, by, s->a);
    mat_apply(s->b, by, s->b);
    s->radius *= by[across][across];
    return true;
}

/* Shapes made of a few numbers, stretched along their axes. */
static const char *stretch_solid(shape *s, int dim, const double by[3][3]) {
    switch (s->kind) {
    case SHAPE_SPHERE:
        s->kind = SHAPE_ELLIPSOID;
        vec_set(s->b, s->radius, s->radius, s->radius);
        /* fall through */
    case SHAPE_ELLIPSOID:
    case SHAPE_BOX:
        mat_apply(s->a, by, s->a);
        mat_apply(s->b, by, s->b);
        return NULL;
    case SHAPE_CYLINDER:
        if (stretch_cylinder(s, dim, by)) return NULL;
        return "a cylinder stays one only along its axis, and stretched evenly across it";
    case SHAPE_CAPSULE: return "a stretched capsule has no exact distance";
    case SHAPE_TORUS: return "a stretched torus has no exact distance";
    case SHAPE_ROUNDED_BOX: return "a stretched rounded_box has no exact distance";
    default: return "this shape cannot be stretched";
    }
}

/* by (move + turn (scale x)) = by move + turn (turn^T by turn scale x) */
static spate_status stretch_child(arena *a, shape *child, int dim, const double by[3][3],
                                  const char **why) {
    double inner[3][3], back[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) back[i][j] = child->scale * child->turn[j][i];
    mat_multiply(inner, by, child->turn);
    mat_multiply(inner, back, inner);
    mat_apply(child->move, by, child->move);
    return shape_stretch(a, child, dim, inner, why);
}

spate_status shape_stretch(arena *a, shape *s, int dim, const double by[3][3], const char **why) {
    double along[3][3];
    memcpy(along, by, sizeof along);
    const bool axes = is_along_axes(along), uniform = axes && is_uniform(along, dim);
    s->scale = uniform ? along[0][0] : 1;
    if (uniform) return SPATE_OK;
    switch (s->kind) {
    case SHAPE_POINTS:
    case SHAPE_POLYGON: return map_points(a, s, by);
    case SHAPE_MESH: return mesh_map(a, s->mesh, by, &s->mesh);
    case SHAPE_PLANE: map_plane(s, by); return SPATE_OK;
    case SHAPE_UNION:
    case SHAPE_DIFFERENCE:
    case SHAPE_INTERSECTION:
        for (int i = 0; i < s->child_count && !*why; i++)
            TRY(stretch_child(a, s->children[i], dim, by, why));
        return SPATE_OK;
    default: break;
    }
    *why = axes ? stretch_solid(s, dim, along)
                : "what is rotated inside cannot be stretched across its own axes";
    return SPATE_OK;
}
