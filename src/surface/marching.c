/*
 * Vertices and triangles are counted brick by brick, then made in place, so neither their order nor
 * their values depend on the number of threads. A vertex belongs to the edge's lower point; its
 * number is the rank of its bit among those of its brick.
 *
 * Where the domain ends inside the liquid, the vertex is put on the lattice point itself, which
 * lies in the domain's side: the mesh is closed there by a flat cover that ends exactly where the
 * free surface meets the side. At the domain's edges and corners such a point would get a vertex
 * for each side; they are one, and triangles between them are left out.
 *
 * In 2D the same is done with the edges and squares of the layer z = 0, and lines for triangles.
 */
#include "surface/marching.h"
#include "core/threads.h"
#include <math.h>
#include <string.h>

enum {
    WORDS = 3 * BRICK_EDGE,  /* of a brick's crossed edges: axis, then layer */
    WINDOW = BRICK_EDGE + 3, /* a brick's points and those around it, -1 to 9 */
    SIGNS = BRICK_EDGE + 1,  /* corners of a brick's cells along an edge */
    MARCH_GRAIN = 8
};

/* Vertices keep this far from lattice points, in spacings: none coincide. */
static const real point_margin = (real)(1.0 / 64);

/* Crossed edges of a brick and how many come before each word of them. */
typedef struct brick_edges {
    uint64_t crossed[WORDS];
    int16_t before[WORDS];
    int32_t count;
} brick_edges;

typedef struct march_job {
    const lattice *l;
    const marching_cases *cases;
    const surface_particle *particles;
    surface_mesh *mesh;
    brick_edges *edges;
    int64_t *first_vertex, *first_triangle; /* of a brick; one more than there are */
} march_job;

/* ---- Which edges are crossed ----------------------------------------------------------------- */

static const uint64_t *inside_of(const lattice *l, int64_t brick, int axis) {
    static const uint64_t none[BRICK_EDGE] = {0};
    const int32_t b = lattice_beside(l, brick, axis, 1);
    return b >= 0 ? l->inside[b] : none;
}

/* Of the points of a layer, the signs of those one further along the axis. */
static uint64_t signs_beyond(const lattice *l, int64_t brick, int axis, int z) {
    const uint64_t *own = l->inside[brick], *other = inside_of(l, brick, axis);
    const int last = BRICK_EDGE - 1;
    const uint64_t column = layer_column;
    if (axis == 0) return (own[z] >> 1 & ~(column << last)) | (other[z] & column) << last;
    if (axis == 1) return own[z] >> BRICK_EDGE | other[z] << layer_bit(0, last);
    return z < last ? own[z + 1] : other[0];
}

/* Whether a point lies in a side across the axis: the next point on one of its sides is outside the
 * domain. */
static bool in_side(const lattice *l, const int32_t x[3], int axis) {
    return x[axis] == 0 || x[axis] == l->last[axis];
}

/* An edge by its lower point and axis. */
typedef struct lattice_edge {
    int32_t x[3];
    int axis;
} lattice_edge;

/* Whether an edge leaves the domain; its end in the domain goes to `inner`. */
static bool leaves_domain(const lattice *l, const lattice_edge *e, int32_t inner[3]) {
    bool below = e->x[e->axis] < 0, above = e->x[e->axis] == l->last[e->axis];
    memcpy(inner, e->x, sizeof e->x);
    inner[e->axis] += below;
    return below || above;
}

/* The edge whose vertex stands for this one's: of the edges by which a point leaves the domain, the
 * one along the first axis. */
static lattice_edge standing_for(const lattice *l, lattice_edge e) {
    int32_t inner[3];
    if (!leaves_domain(l, &e, inner)) return e;
    int axis = 0;
    while (axis < e.axis && !in_side(l, inner, axis)) axis++;
    lattice_edge to = {{inner[0], inner[1], inner[2]}, axis};
    if (inner[axis] == 0) to.x[axis] = -1;
    return to;
}

/* Leaves only edges that stand for themselves. */
static uint64_t drop_doubles(const lattice *l, int64_t brick, int axis, int z, uint64_t crossed) {
    for (uint64_t rest = crossed; rest; rest &= rest - 1) {
        int bit = __builtin_ctzll(rest);
        lattice_edge e = {{lattice_point(l, brick, 0, bit % BRICK_EDGE),
                           lattice_point(l, brick, 1, bit / BRICK_EDGE),
                           lattice_point(l, brick, 2, z)},
                          axis};
        if (standing_for(l, e).axis != axis) crossed &= ~(UINT64_C(1) << bit);
    }
    return crossed;
}

/* Whether a brick reaches out of the domain, or to its border. */
static bool at_border(const lattice *l, int64_t brick) {
    for (int a = 0; a < 3; a++)
        if (lattice_point(l, brick, a, 0) <= 0 ||
            lattice_point(l, brick, a, BRICK_EDGE) > l->last[a])
            return true;
    return false;
}

static void find_edges(void *data, chunk items) {
    march_job *job = data;
    const lattice *l = job->l;
    for (int64_t b = items.begin; b < items.end; b++) {
        brick_edges *e = &job->edges[b];
        bool border = at_border(l, b);
        for (int w = 0; w < WORDS; w++) {
            int axis = w / BRICK_EDGE, z = w % BRICK_EDGE;
            uint64_t crossed = axis < l->dim ? l->inside[b][z] ^ signs_beyond(l, b, axis, z) : 0;
            if (border) crossed = drop_doubles(l, b, axis, z, crossed);
            e->crossed[w] = crossed;
            e->before[w] = (int16_t)e->count;
            e->count += __builtin_popcountll(crossed);
        }
        job->first_vertex[b + 1] = e->count;
    }
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* The values around a brick: window[z + 1][y + 1][x + 1] for -1 <= x, y, z <= 9. */
typedef real value_window[WINDOW][WINDOW][WINDOW];

static void fill_window(const lattice *l, int64_t brick, value_window window) {
    real outside = l->reach - l->radius;
    for (int z = -1; z < WINDOW - 1; z++)
        for (int y = -1; y < WINDOW - 1; y++)
            for (int x = -1; x < WINDOW - 1; x++) {
                const int p[3] = {x, y, z};
                const int32_t b = l->bricks.neighbours[brick][lattice_code(BRICK_EDGE, p)];
                const int64_t first = (int64_t)b * BRICK_POINTS;
                window[z + 1][y + 1][x + 1] =
                    b < 0 ? outside : l->values[first + lattice_index(BRICK_EDGE, p)];
            }
}

static real window_value(value_window window, const int p[3]) {
    return window[p[2] + 1][p[1] + 1][p[0] + 1];
}

/* Adds `share` of the gradient at local point p of a brick; one-sided where the domain ends. */
static void add_gradient(const lattice *l, int64_t brick, value_window window, const int p[3],
                         real share, real sum[3]) {
    for (int a = 0; a < l->dim; a++) {
        int32_t x = lattice_point(l, brick, a, p[a]);
        int below = x > 0, above = x < l->last[a], q[3] = {p[0], p[1], p[2]};
        q[a] = p[a] + above;
        real high = window_value(window, q);
        q[a] = p[a] - below;
        sum[a] += share * (high - window_value(window, q)) / (real)(below + above);
    }
}

static void set_unit(real out[3], const real from[3]) {
    double length = 0;
    for (int a = 0; a < 3; a++) length += (double)from[a] * (double)from[a];
    length = sqrt(length);
    for (int a = 0; a < 3; a++) out[a] = length > 0 ? (real)((double)from[a] / length) : 0;
}

/* The vertex of a point where the domain ends: in its sides, with their normal. */
static void cover_vertex(const lattice *l, const int32_t inner[3], surface_mesh *m, int64_t v) {
    real out[3] = {0};
    for (int a = 0; a < 3; a++) {
        m->position[v][a] = (real)inner[a];
        if (a >= l->dim || !in_side(l, inner, a)) continue;
        out[a] = inner[a] == 0 ? -1 : 1;
        m->bond[v] |= (uint8_t)(1 << (2 * a + (inner[a] != 0)));
    }
    set_unit(m->normal[v], out);
}

/* The vertex where the free surface crosses an edge from local point p of a brick. */
static void free_vertex(const lattice *l, int64_t brick, const lattice_edge *e, const int p[3],
                        value_window window, surface_mesh *m, int64_t v) {
    int q[3] = {p[0], p[1], p[2]};
    q[e->axis]++;
    real a = window_value(window, p), b = window_value(window, q), t = a / (a - b);
    t = t < point_margin ? point_margin : t > 1 - point_margin ? 1 - point_margin : t;
    for (int k = 0; k < 3; k++) {
        m->position[v][k] = (real)e->x[k] + (k == e->axis ? t : 0);
        if (k < l->dim && k != e->axis && in_side(l, e->x, k))
            m->bond[v] |= (uint8_t)(1 << (2 * k + (e->x[k] != 0)) | BOND_LINE);
    }
    real sum[3] = {0};
    add_gradient(l, brick, window, p, 1 - t, sum);
    add_gradient(l, brick, window, q, t, sum);
    set_unit(m->normal[v], sum);
}

static void make_vertex(const march_job *job, int64_t brick, int word, int bit, int64_t v,
                        value_window window) {
    const lattice *l = job->l;
    surface_mesh *m = job->mesh;
    int p[3] = {bit % BRICK_EDGE, bit / BRICK_EDGE, word % BRICK_EDGE};
    int32_t inner[3];
    lattice_edge e = {.axis = word / BRICK_EDGE};
    for (int a = 0; a < 3; a++) e.x[a] = lattice_point(l, brick, a, p[a]);
    if (leaves_domain(l, &e, inner))
        cover_vertex(l, inner, m, v);
    else
        free_vertex(l, brick, &e, p, window, m, v);
    if (job->particles) lattice_velocity(l, brick, job->particles, m->position[v], m->velocity[v]);
}

static void make_vertices(void *data, chunk items) {
    march_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++) {
        value_window window;
        int64_t v = job->first_vertex[b];
        if (v == job->first_vertex[b + 1]) continue;
        fill_window(job->l, b, window);
        for (int w = 0; w < WORDS; w++)
            for (uint64_t rest = job->edges[b].crossed[w]; rest; rest &= rest - 1)
                make_vertex(job, b, w, __builtin_ctzll(rest), v++, window);
    }
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* The number of the vertex of an edge of the cell at local point p of a brick. */
static int32_t vertex_of(const march_job *job, int64_t brick, const int p[3], int edge,
                         bool border) {
    const lattice *l = job->l;
    int corner = marching_edge_corner(edge), q[3];
    lattice_edge e = {.axis = edge / 4};
    for (int a = 0; a < 3; a++) q[a] = p[a] + (corner >> a & 1);
    if (border) {
        for (int a = 0; a < 3; a++) e.x[a] = lattice_point(l, brick, a, q[a]);
        e = standing_for(l, e);
        for (int a = 0; a < 3; a++) q[a] = (int)(e.x[a] - lattice_point(l, brick, a, 0));
    }
    const int32_t owner = l->bricks.neighbours[brick][lattice_code(BRICK_EDGE, q)];
    const int point = lattice_index(BRICK_EDGE, q);
    int word = e.axis * BRICK_EDGE + point / BRICK_LAYER, bit = point % BRICK_LAYER;
    const brick_edges *edges = &job->edges[owner];
    uint64_t lower = edges->crossed[word] & ((UINT64_C(1) << bit) - 1);
    return (int32_t)(job->first_vertex[owner] + edges->before[word] + __builtin_popcountll(lower));
}

/* The signs of a brick's points and of those just beyond: inside[z][y] has a bit for x = 0..8. */
typedef uint16_t sign_window[SIGNS][SIGNS];

/* False when all are the same: the surface does not pass. */
static bool fill_signs(const lattice *l, int64_t brick, sign_window signs) {
    const uint16_t row_bits = (1 << BRICK_EDGE) - 1, full = (1 << SIGNS) - 1;
    uint16_t any = 0, all = full;
    for (int z = 0; z < SIGNS; z++)
        for (int y = 0; y < SIGNS; y++) {
            const int code = lattice_code(BRICK_EDGE, (const int[3]){0, y, z});
            const int layer = z % BRICK_EDGE, shift = layer_bit(0, y % BRICK_EDGE);
            const int32_t b = l->bricks.neighbours[brick][code],
                          next = l->bricks.neighbours[brick][code + 1];
            unsigned row = b < 0 ? 0 : (unsigned)(l->inside[b][layer] >> shift & row_bits);
            if (next >= 0) row |= (unsigned)(l->inside[next][layer] >> shift & 1) << BRICK_EDGE;
            signs[z][y] = (uint16_t)row;
            any |= signs[z][y], all &= signs[z][y];
        }
    return any && all != full;
}

static int case_of(sign_window s, const int p[3]) {
    int x = p[0], y = p[1], z = p[2];
    return (s[z][y] >> x & 3) | (s[z][y + 1] >> x & 3) << 2 | (s[z + 1][y] >> x & 3) << 4 |
           (s[z + 1][y + 1] >> x & 3) << 6;
}

/* Triangles of a brick, to `out` unless it is NULL; returns how many. */
static int64_t brick_triangles(const march_job *job, int64_t brick, int32_t (*out)[3]) {
    sign_window signs;
    int64_t count = 0;
    if (!fill_signs(job->l, brick, signs)) return 0;
    bool border = at_border(job->l, brick);
    for (int i = 0; i < BRICK_POINTS; i++) {
        int p[3];
        brick_point(i, p);
        const int pattern = case_of(signs, p);
        if (!out && !border) {
            count += job->cases->corners[pattern] / 3;
            continue;
        }
        for (int c = 0; c < job->cases->corners[pattern]; c += 3) {
            int32_t v[3];
            for (int k = 0; k < 3; k++)
                v[k] = vertex_of(job, brick, p, job->cases->edges[pattern][c + k], border);
            if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
            if (out) memcpy(out[count], v, sizeof v);
            count++;
        }
    }
    return count;
}

static void count_triangles(void *data, chunk items) {
    march_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++)
        job->first_triangle[b + 1] = brick_triangles(job, b, NULL);
}

static void make_triangles(void *data, chunk items) {
    march_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++)
        brick_triangles(job, b, job->mesh->triangle + job->first_triangle[b]);
}

/* ---- Lines of an outline --------------------------------------------------------------------- */

/* The lines of a square by which of its corners, (0, 0), (1, 0), (0, 1) and (1, 1), are inside:
 * edges of a cell (cases.h) from one to the next. Corners inside are cut off on their own. */
enum { BELOW = 0, ABOVE = 1, LEFT = 4, RIGHT = 6 };
static const int8_t square_lines[16][4] = {
    {-1, -1, -1, -1},
    {BELOW, LEFT, -1, -1},
    {RIGHT, BELOW, -1, -1},
    {RIGHT, LEFT, -1, -1},
    {LEFT, ABOVE, -1, -1},
    {BELOW, ABOVE, -1, -1},
    {RIGHT, BELOW, LEFT, ABOVE},
    {RIGHT, ABOVE, -1, -1},
    {ABOVE, RIGHT, -1, -1},
    {BELOW, LEFT, ABOVE, RIGHT},
    {ABOVE, BELOW, -1, -1},
    {ABOVE, LEFT, -1, -1},
    {LEFT, RIGHT, -1, -1},
    {BELOW, RIGHT, -1, -1},
    {LEFT, BELOW, -1, -1},
    {-1, -1, -1, -1},
};

/* Lines of a brick, to `out` unless it is NULL; returns how many. */
static int64_t brick_lines(const march_job *job, int64_t brick, int32_t (*out)[2]) {
    const lattice *l = job->l;
    sign_window signs;
    int64_t count = 0;
    if (lattice_point(l, brick, 2, 0) != 0 || !fill_signs(l, brick, signs)) return 0;
    const bool border = at_border(l, brick);
    for (int i = 0; i < BRICK_LAYER; i++) {
        const int p[3] = {i % BRICK_EDGE, i / BRICK_EDGE, 0};
        const int8_t *ends = square_lines[case_of(signs, p) & 15];
        for (int k = 0; k < 4 && ends[k] >= 0; k += 2) {
            int32_t v[2];
            for (int e = 0; e < 2; e++) v[e] = vertex_of(job, brick, p, ends[k + e], border);
            if (v[0] == v[1]) continue;
            if (out) memcpy(out[count], v, sizeof v);
            count++;
        }
    }
    return count;
}

static void count_lines(void *data, chunk items) {
    march_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++)
        job->first_triangle[b + 1] = brick_lines(job, b, NULL);
}

static void make_lines(void *data, chunk items) {
    march_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++)
        brick_lines(job, b, job->mesh->line + job->first_triangle[b]);
}

/* ---- All ------------------------------------------------------------------------------------- */

static int64_t add_up(int64_t *first, int64_t count) {
    for (int64_t b = 0; b < count; b++) first[b + 1] += first[b];
    return first[count];
}

static spate_status march(march_job *job) {
    const lattice *l = job->l;
    pool *threads = l->ctx->pool;
    size_t room = (size_t)l->bricks.count + 1;
    job->edges = take(l->ctx, room, sizeof *job->edges);
    job->first_vertex = take(l->ctx, room, sizeof *job->first_vertex);
    job->first_triangle = take(l->ctx, room, sizeof *job->first_triangle);
    if (!job->edges || !job->first_vertex || !job->first_triangle) return SPATE_OUT_OF_MEMORY;
    parallel_for(threads, l->bricks.count, MARCH_GRAIN, find_edges, job);
    int64_t vertices = add_up(job->first_vertex, l->bricks.count);
    /* A closed mesh has about two triangles a vertex, and their corners are counted in 32 bits. */
    if (vertices > INT32_MAX / 8)
        return fail(l->ctx, SPATE_BAD_INPUT,
                    "the liquid's surface has %lld vertices; lower output.surface_resolution",
                    (long long)vertices);
    TRY(surface_take_vertices(job->mesh, vertices));
    parallel_for(threads, l->bricks.count, MARCH_GRAIN, make_vertices, job);
    if (l->dim == 2) {
        parallel_for(threads, l->bricks.count, MARCH_GRAIN, count_lines, job);
        TRY(surface_take_lines(job->mesh, add_up(job->first_triangle, l->bricks.count)));
        parallel_for(threads, l->bricks.count, MARCH_GRAIN, make_lines, job);
        return SPATE_OK;
    }
    parallel_for(threads, l->bricks.count, MARCH_GRAIN, count_triangles, job);
    TRY(surface_take_triangles(job->mesh, add_up(job->first_triangle, l->bricks.count)));
    parallel_for(threads, l->bricks.count, MARCH_GRAIN, make_triangles, job);
    return SPATE_OK;
}

spate_status marching_mesh(const lattice *l, const marching_cases *cases,
                           const surface_particle *particles, surface_mesh *out) {
    march_job job = {.l = l, .cases = cases, .particles = particles, .mesh = out};
    *out = (surface_mesh){.ctx = l->ctx};
    spate_status status = march(&job);
    give(l->ctx, job.edges);
    give(l->ctx, job.first_vertex);
    give(l->ctx, job.first_triangle);
    if (status != SPATE_OK) surface_free(out);
    return status;
}
