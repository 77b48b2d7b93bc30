/* The step that strand_step.h tells of. */
#include "core/kernel_table.h"
#include "solver/lagrangian/strand_lanes.h"
#include "solver/lagrangian/strand_step.h"
#include <math.h>

/* Edges that fold back on each other have no curvature; steps keep further away from it. */
#define FOLDED      1e-6
#define FOLDED_STEP 0.2
/* How much heavier a vertex is along the normal of a wall that it is pushed into. */
#define BLOCKED 1e6

typedef struct group {
    const strand_step *s;
    int64_t strand[STRAND_GROUP]; /* of lanes; -1: none */
    int64_t from[STRAND_GROUP];   /* their first vertices, of another where there is none */
    int64_t count;                /* vertices of each */
    strand_node *node;
    strand_column *column;
    lanes clamp[2][3], clamped[2]; /* directors of held first and last edges; 0 or 1 */
    lanes stretch, bend, twist;    /* energies at x */
    lanes shortest, unheld, whole; /* unheld: 1 where nothing is; whole: nor stands on a wall */
    lanes start;                   /* the sum to be made less, at x */
    lanes share, halvings;
    lane_mask folded;
} group;

/* ---- Loading --------------------------------------------------------------------------------- */

INLINE void load_vertex(group *g, int64_t i, int lane) {
    const strand_step *s = g->s;
    const int64_t v = g->from[lane] + i;
    strand_node *n = &g->node[i];
    const bool free = !s->held || s->held[v] < 0;
    for (int a = 0; a < 3; a++) {
        n->x[a][lane] = s->x[v][a];
        n->way[a][lane] =
            s->dt * (s->ahead * s->v[v][a] + (free ? s->inertia * s->dt * s->gravity[a] : 0));
        n->t[a][lane] = s->edge[v].tangent[a], n->u[a][lane] = s->edge[v].director[a];
        n->free[a][lane] = free;
    }
    n->free[3][lane] = 1;
    n->wall[lane] = 0;
    for (int a = 0; a < 3; a++) n->normal[a][lane] = 0;
    n->mass[lane] = s->mass[v];
    n->length[lane] = s->length[v], n->angle[lane] = s->edge[v].angle;
    n->bend_length[lane] = s->bend[v].length, n->twist[lane] = s->bend[v].twist;
    for (int c = 0; c < 2; c++) n->curvature[c][lane] = s->bend[v].curvature[c];
    n->reference[lane] = s->reference[v];
    if (!free) g->unheld[lane] = 0;
}

/* A vertex in a wall goes no deeper into it. */
INLINE void load_wall(const group *g, int64_t i, int lane) {
    const mesh_wall *wall = &g->s->walls[g->from[lane] + i];
    strand_node *n = &g->node[i];
    if (wall->collider < 0 || !(n->free[0][lane] > 0)) return;
    double way = 0;
    for (int a = 0; a < 3; a++) way += n->way[a][lane] * wall->normal[a];
    const double least = g->s->ahead * g->s->dt * wall->speed, more = fmax(least - way, 0);
    for (int a = 0; a < 3; a++) {
        n->normal[a][lane] = wall->normal[a];
        n->way[a][lane] += more * wall->normal[a];
    }
    n->wall[lane] = 1;
}

/* The frame of an edge between two vertices of one hold turns with it. */
INLINE void load_clamp(group *g, int end, int lane) {
    const strand_step *s = g->s;
    const int64_t j = end ? g->count - 2 : 0, v = g->from[lane] + j;
    if (!s->held || s->held[v] < 0 || s->held[v] != s->held[v + 1]) return;
    const double(*turn)[3] = s->turns[s->held[v]], *u = s->rest[v].director;
    for (int a = 0; a < 3; a++)
        g->clamp[end][a][lane] = turn[a][0] * u[0] + turn[a][1] * u[1] + turn[a][2] * u[2];
    g->clamped[end][lane] = 1;
    g->node[j].angle[lane] = 0;
    g->node[j].free[3][lane] = 0;
}

static void load_group(group *g) {
    g->unheld = lane_splat(1);
    for (int lane = 0; lane < STRAND_GROUP; lane++) {
        for (int64_t i = 0; i < g->count; i++) load_vertex(g, i, lane);
        for (int64_t i = 0; i < g->count && g->s->walls; i++) load_wall(g, i, lane);
        for (int end = 0; end < 2; end++) load_clamp(g, end, lane);
    }
    for (int a = 0; a < 4; a++)
        g->node[g->count - 1].free[3] = lane_splat(0); /* the last vertex begins no edge */
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* An edge somewhere: its frame, and the material frame. */
typedef struct edge_state {
    lanes t[3], u[3], m1[3], m2[3], length;
} edge_state;

/* From the frame (t, u) to the edge `e`, by the smallest rotation; `cosine` gets 1 + t.t'. */
INLINE void carry_edge(const lanes t[3], const lanes u[3], const lanes e[3], edge_state *out,
                       lanes *cosine) {
    lanes axis[3], turned[3], twice[3];
    out->length = lane_sqrt(lane_dot(e, e));
    lane_scale(out->t, 1 / out->length, e);
    *cosine = 1 + lane_dot(t, out->t);
    lane_cross(axis, t, out->t);
    lane_cross(turned, axis, u);
    lane_cross(twice, axis, turned);
    const lanes by = 1 / *cosine;
    for (int a = 0; a < 3; a++) out->u[a] = u[a] + turned[a] + by * twice[a];
    lane_add_scaled(out->u, out->u, -lane_dot(out->u, out->t), out->t);
    lane_scale(out->u, 1 / lane_sqrt(lane_dot(out->u, out->u)), out->u);
}

INLINE void turn_edge(edge_state *e, lanes angle) {
    lanes v[3], sine, cosine;
    lane_cross(v, e->t, e->u);
    lane_sincos(angle, &sine, &cosine);
    for (int a = 0; a < 3; a++) {
        e->m1[a] = cosine * e->u[a] + sine * v[a];
        e->m2[a] = cosine * v[a] - sine * e->u[a];
    }
}

/* A bend: names as at the head of rods.h. */
typedef struct bend_state {
    lanes kb[3], chi;
    lanes k[2], slope[2][2]; /* dk_c / dtheta of an edge: [c][edge] */
    lanes twist;
    lanes away[3]; /* of k1, k2 and twist from rest */
} bend_state;

/* The twist nearest to `before`: the turn about t+ of m1+ from m1- carried there. */
INLINE lanes twist_between(const edge_state *a, const edge_state *b, const lanes kb[3],
                           lanes before) {
    lanes turned[3], twice[3], m[3];
    lane_cross(turned, kb, a->m1); /* kb = 2 axis / chi: half of it carries */
    lane_cross(twice, kb, turned);
    const lanes chi = 1 + lane_dot(a->t, b->t);
    for (int k = 0; k < 3; k++) m[k] = a->m1[k] + 0.5 * chi * turned[k] + 0.25 * chi * twice[k];
    return lane_unwind(lane_angle(-lane_dot(m, b->m2), lane_dot(m, b->m1)), before);
}

INLINE bend_state bend_between(const strand_node *n, const edge_state *a, const edge_state *b,
                               lanes before) {
    bend_state s;
    s.chi = 1 + lane_dot(a->t, b->t);
    lane_cross(s.kb, a->t, b->t);
    lane_scale(s.kb, 2 / s.chi, s.kb);
    s.slope[0][0] = -0.5 * lane_dot(a->m1, s.kb), s.slope[0][1] = -0.5 * lane_dot(b->m1, s.kb);
    s.slope[1][0] = -0.5 * lane_dot(a->m2, s.kb), s.slope[1][1] = -0.5 * lane_dot(b->m2, s.kb);
    s.k[0] = -s.slope[1][0] - s.slope[1][1];
    s.k[1] = s.slope[0][0] + s.slope[0][1];
    s.twist = twist_between(a, b, s.kb, before);
    for (int c = 0; c < 2; c++) s.away[c] = s.k[c] - n->curvature[c];
    s.away[2] = s.twist - n->twist;
    return s;
}

INLINE lanes bend_energy(const rod_material *m, const strand_node *n, const bend_state *s) {
    return m->bend * (s->away[0] * s->away[0] + s->away[1] * s->away[1]) / (2 * n->bend_length);
}

INLINE lanes twist_energy(const rod_material *m, const strand_node *n, const bend_state *s) {
    return m->twist * s->away[2] * s->away[2] / (2 * n->bend_length);
}

INLINE lanes stretch_energy(const rod_material *m, const strand_node *n, lanes length) {
    const lanes strain = length / n->length - 1;
    return 0.5 * m->stretch * strain * strain * n->length;
}

INLINE void clamp_edge(group *g, int64_t j, edge_state *e) {
    for (int end = 0; end < 2; end++) {
        if (j != (end ? g->count - 2 : 0)) continue;
        for (int a = 0; a < 3; a++)
            e->u[a] = lane_select(g->clamped[end] > 0, g->clamp[end][a], e->u[a]);
    }
}

/* ---- The system ------------------------------------------------------------------------------ */

INLINE void add_stretch(group *g, int64_t j, const edge_state *e) {
    const double modulus = g->s->material.stretch;
    strand_node *n = &g->node[j];
    strand_column *c = g->column + VERTEX_UNKNOWNS * j, *next = c + VERTEX_UNKNOWNS;
    const lanes pull = modulus * (e->length / n->length - 1);
    const lanes across = lane_max(pull, lane_splat(0)) / e->length;
    const lanes along = modulus / n->length - across;
    for (int a = 0; a < 3; a++) {
        c[a].right += pull * e->t[a];
        next[a].right -= pull * e->t[a];
        for (int b = 0; b < 3; b++) {
            lanes k = along * e->t[a] * e->t[b];
            if (a == b) k += across;
            if (a >= b) c[b].entry[a - b] += k, next[b].entry[a - b] += k;
            c[b].entry[VERTEX_UNKNOWNS + a - b] -= k;
        }
    }
}

/* The gradient of k1, k2 and the twist in the unknowns x, theta, x, theta, x. */
enum { BEND_UNKNOWNS = HALF_BAND + 1 };
INLINE void bend_gradients(const bend_state *s, const edge_state *a, const edge_state *b,
                           lanes g[3][BEND_UNKNOWNS]) {
    const lanes by = 1 / s->chi, of_a = 1 / a->length, of_b = 1 / b->length;
    lanes sum[2][3], both[3], part[2][2][3]; /* part: [c][edge] of other edges' tangents x M */
    for (int k = 0; k < 3; k++) {
        both[k] = (a->t[k] + b->t[k]) * by;
        sum[0][k] = (a->m2[k] + b->m2[k]) * by, sum[1][k] = -(a->m1[k] + b->m1[k]) * by;
    }
    for (int c = 0; c < 2; c++)
        lane_cross(part[c][0], b->t, sum[c]), lane_cross(part[c][1], sum[c], a->t);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            const lanes first =
                c < 2 ? of_a * (part[c % 2][0][k] - s->k[c % 2] * both[k]) : 0.5 * of_a * s->kb[k];
            const lanes second =
                c < 2 ? of_b * (part[c % 2][1][k] - s->k[c % 2] * both[k]) : 0.5 * of_b * s->kb[k];
            g[c][k] = -first, g[c][4 + k] = first - second, g[c][8 + k] = second;
        }
    }
    for (int c = 0; c < 2; c++) g[c][3] = s->slope[c][0], g[c][7] = s->slope[c][1];
    g[2][3] = lane_splat(-1), g[2][7] = lane_splat(1);
}

INLINE void add_bend(group *g, int64_t i, const bend_state *s, const edge_state *a,
                     const edge_state *b) {
    const rod_material *m = &g->s->material;
    const lanes by = 1 / g->node[i].bend_length;
    const lanes weight[3] = {m->bend * by, m->bend * by, m->twist * by};
    strand_column *c = g->column + VERTEX_UNKNOWNS * (i - 1);
    lanes slope[3][BEND_UNKNOWNS];
    bend_gradients(s, a, b, slope);
#pragma GCC unroll 11
    for (int q = 0; q < BEND_UNKNOWNS; q++) {
        lanes scaled[3];
        for (int k = 0; k < 3; k++) {
            scaled[k] = weight[k] * slope[k][q];
            c[q].right -= scaled[k] * s->away[k];
        }
#pragma GCC unroll 11
        for (int p = q; p < BEND_UNKNOWNS; p++)
            c[q].entry[p - q] +=
                scaled[0] * slope[0][p] + scaled[1] * slope[1][p] + scaled[2] * slope[2][p];
    }
}

/* More of it along the normal of a wall that is in the way. */
INLINE void add_wall(group *g, strand_node *n, strand_column *c, lanes by) {
    const lanes way = lane_dot(n->way, n->normal);
    n->block = BLOCKED * by * n->wall;
    g->whole = lane_select(n->wall > 0, lane_splat(0), g->whole);
    g->start += 0.5 * n->block * way * way;
    for (int a = 0; a < 3; a++) {
        c[a].right += n->block * way * n->normal[a];
        for (int b = a; b < 3; b++) c[a].entry[b - a] += n->block * n->normal[a] * n->normal[b];
    }
}

/* Inertia on the diagonal. A free strand may turn as a whole about itself, so that the matrix is
 * made a little larger for angles. */
INLINE void add_inertia(group *g, int64_t i) {
    strand_node *n = &g->node[i];
    strand_column *c = g->column + VERTEX_UNKNOWNS * i;
    const lanes by = n->mass / (g->s->inertia * g->s->dt * g->s->dt);
    n->block = lane_splat(0);
    if (lane_any(n->wall > 0)) add_wall(g, n, c, by);
    for (int a = 0; a < 3; a++) {
        c[a].entry[0] += by;
        c[a].right += by * n->way[a];
        g->start += 0.5 * by * n->free[a] * n->way[a] * n->way[a];
    }
    c[3].entry[0] *= 1 + 1e-6;
}

/* A bend's edge and the one before it: energy, forces and stiffness; frames are carried to x. */
static void assemble(group *g) {
    const rod_material *m = &g->s->material;
    edge_state last, now;
    memset(g->column, 0,
           (size_t)(g->count + VERTICES_BEYOND) * VERTEX_UNKNOWNS * sizeof *g->column);
    g->stretch = g->bend = g->twist = lane_splat(0), g->shortest = lane_splat(HUGE_VAL);
    for (int64_t j = 0; j < g->count - 1; j++) {
        strand_node *n = &g->node[j];
        lanes edge[3], cosine;
        lane_sub(edge, n[1].x, n->x);
        carry_edge(n->t, n->u, edge, &now, &cosine);
        clamp_edge(g, j, &now);
        turn_edge(&now, n->angle);
        g->folded |= ~(now.length > 0) | ~(cosine > FOLDED);
        g->shortest = lane_min(g->shortest, now.length);
        lane_copy(n->t, now.t), lane_copy(n->u, now.u);
        g->stretch += stretch_energy(m, n, now.length);
        add_stretch(g, j, &now);
        if (j > 0) {
            const lanes turn = n->angle - n[-1].angle;
            const bend_state s = bend_between(n, &last, &now, turn + n->reference);
            n->reference = s.twist - turn;
            g->folded |= ~(s.chi > FOLDED);
            g->bend += bend_energy(m, n, &s), g->twist += twist_energy(m, n, &s);
            add_bend(g, j, &s, &last, &now);
        }
        last = now;
    }
    g->start = g->stretch + g->bend + g->twist;
    g->whole = g->unheld;
    for (int64_t i = 0; i < g->count; i++) add_inertia(g, i);
}

/* ---- Held vertices --------------------------------------------------------------------------- */

/* Whether an unknown is free, and how it moves where it is not. */
INLINE lanes is_free(const group *g, int64_t unknown) {
    const int64_t i = unknown / VERTEX_UNKNOWNS;
    return i < g->count ? g->node[i].free[unknown % VERTEX_UNKNOWNS] : lane_splat(1);
}
INLINE lanes held_way(const group *g, int64_t unknown) {
    const int64_t i = unknown / VERTEX_UNKNOWNS, a = unknown % VERTEX_UNKNOWNS;
    if (i >= g->count || a == 3) return lane_splat(0);
    return (1 - g->node[i].free[a]) * g->node[i].way[a];
}

/* What is known goes to the right sides of what is not. */
static void fix_column(group *g, int64_t q) {
    strand_column *c = g->column + q;
    const lanes free = is_free(g, q), way = held_way(g, q);
    for (int d = 1; d <= HALF_BAND && q + d < VERTEX_UNKNOWNS * g->count; d++) {
        const lanes other = is_free(g, q + d);
        c[d].right -= other * c->entry[d] * way;
        c->right -= free * c->entry[d] * held_way(g, q + d);
        c->entry[d] *= free * other;
    }
    c->entry[0] = lane_select(free > 0, c->entry[0], lane_splat(1));
    c->right = lane_select(free > 0, c->right, way);
}

static bool any_held(const group *g, int64_t i) {
    for (int64_t k = i; k < i + 3; k++) {
        if (k >= g->count - 1) return true;
        for (int a = 0; a < VERTEX_UNKNOWNS; a++)
            if (lane_any(g->node[k].free[a] < 1)) return true;
    }
    return false;
}

static void fix_held(group *g) {
    for (int64_t i = 0; i < g->count; i++)
        for (int a = 0; a < VERTEX_UNKNOWNS && any_held(g, i); a++)
            fix_column(g, VERTEX_UNKNOWNS * i + a);
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* L D L^T in place, column by column, and the solution in `right`. */
static void solve(group *g) {
    strand_column *c = g->column;
    const int64_t unknowns = VERTEX_UNKNOWNS * g->count;
    for (int64_t r = 0; r < unknowns; r++) {
        const lanes by = 1 / c[r].entry[0], right = c[r].right;
        lanes lower[HALF_BAND + 1];
        for (int d = 1; d <= HALF_BAND; d++) lower[d] = c[r].entry[d] * by;
#pragma GCC unroll 10
        for (int q = 1; q <= HALF_BAND; q++) {
            const lanes entry = c[r].entry[q];
#pragma GCC unroll 10
            for (int p = q; p <= HALF_BAND; p++) c[r + q].entry[p - q] -= lower[p] * entry;
            c[r + q].right -= lower[q] * right;
        }
        for (int d = 1; d <= HALF_BAND; d++) c[r].entry[d] = lower[d];
        c[r].right = right * by;
    }
    for (int64_t r = unknowns - 1; r >= 0; r--) {
        lanes sum = c[r].right;
        for (int d = 1; d <= HALF_BAND; d++) sum -= c[r].entry[d] * c[r + d].right;
        c[r].right = sum;
    }
}

/* How far a vertex would have gone into its wall. */
INLINE lanes way_into(const group *g, int64_t i, lanes share) {
    const strand_node *n = &g->node[i];
    const strand_column *c = g->column + VERTEX_UNKNOWNS * i;
    lanes into = lane_splat(0);
    for (int a = 0; a < 3; a++) into += n->normal[a] * (n->way[a] - share * c[a].right);
    return into;
}

/* Walls do not pull. Returns whether some did, and are none any more. */
static bool release(group *g) {
    lane_mask any = (lane_mask)lane_splat(0);
    for (int64_t i = 0; i < g->count; i++) {
        strand_node *n = &g->node[i];
        const lane_mask pulls = (n->wall > 0) & (way_into(g, i, lane_splat(1)) < 0);
        n->wall = lane_select(pulls, lane_splat(0), n->wall);
        any |= pulls;
    }
    return lane_any(any);
}

static void solve_with_walls(group *g) {
    assemble(g), fix_held(g), solve(g);
    if (g->s->walls && release(g)) assemble(g), fix_held(g), solve(g);
}

/* ---- How far --------------------------------------------------------------------------------- */

/* The share at which no edge's ends move against each other by more than half its length; nothing
 * where there is no solution. */
static lanes first_share(const group *g) {
    lanes most = lane_splat(0);
    for (int64_t j = 0; j < g->count - 1; j++) {
        const strand_column *c = g->column + VERTEX_UNKNOWNS * j, *next = c + VERTEX_UNKNOWNS;
        lanes way[3];
        for (int a = 0; a < 3; a++) way[a] = next[a].right - c[a].right;
        const lanes share = lane_dot(way, way) / (g->node[j].length * g->node[j].length);
        most = lane_select(share <= most, most, share);
    }
    const lanes share = lane_min(lane_splat(1), 0.5 / lane_sqrt(lane_max(most, lane_splat(0.01))));
    return lane_select(most < HUGE_VAL, share, lane_splat(0));
}

INLINE lanes inertia_at(const group *g, int64_t i, lanes share) {
    const strand_node *n = &g->node[i];
    const strand_column *c = g->column + VERTEX_UNKNOWNS * i;
    lanes sum = lane_splat(0), into = lane_splat(0);
    for (int a = 0; a < 3; a++) {
        const lanes off = share * c[a].right - n->way[a];
        sum += n->free[a] * off * off;
        into += off * n->normal[a];
    }
    return 0.5 / (g->s->inertia * g->s->dt * g->s->dt) * n->mass * sum +
           0.5 * n->block * into * into;
}

/* Energy and inertia at a share of the change; infinite where an edge folds. */
static lanes sum_at(const group *g, lanes share) {
    const rod_material *m = &g->s->material;
    lanes sum = inertia_at(g, g->count - 1, share);
    lane_mask fine = ~(lane_mask)lane_splat(0);
    edge_state last, now;
    for (int64_t j = 0; j < g->count - 1; j++) {
        const strand_node *n = &g->node[j];
        const strand_column *c = g->column + VERTEX_UNKNOWNS * j, *next = c + VERTEX_UNKNOWNS;
        lanes edge[3], cosine;
        for (int a = 0; a < 3; a++)
            edge[a] = n[1].x[a] - n->x[a] + share * (next[a].right - c[a].right);
        carry_edge(n->t, n->u, edge, &now, &cosine);
        turn_edge(&now, n->angle + share * c[3].right);
        fine &= cosine > FOLDED_STEP;
        sum += inertia_at(g, j, share) + stretch_energy(m, n, now.length);
        if (j > 0) {
            const lanes turn =
                n->angle - n[-1].angle + share * (c[3].right - (c - VERTEX_UNKNOWNS)[3].right);
            const bend_state s = bend_between(n, &last, &now, turn + n->reference);
            fine &= s.chi > FOLDED;
            sum += bend_energy(m, n, &s) + twist_energy(m, n, &s);
        }
        last = now;
    }
    return lane_select(fine, sum, lane_splat(HUGE_VAL));
}

static void search(group *g) {
    enum { HALVINGS = 8 };
    g->share = first_share(g);
    g->halvings = lane_splat(0);
    for (int half = 0; half < HALVINGS; half++) {
        const lane_mask fine = (sum_at(g, g->share) <= g->start * (1 + 1e-12)) | (g->share == 0);
        if (!lane_any(~fine)) return;
        g->share = lane_select(fine, g->share, 0.5 * g->share);
        g->halvings = lane_select(fine, g->halvings, g->halvings + 1);
    }
}

/* ---- What comes of it ------------------------------------------------------------------------ */

/* dv into `right`, and its mean and turn about the middle taken out where nothing is held. */
static void take_out_motion(group *g) {
    lanes mass = lane_splat(0), middle[3] = {{0}}, mean[3] = {{0}};
    const lanes by = lane_splat(1 / (g->s->inertia * g->s->dt));
    for (int64_t i = 0; i < g->count; i++) {
        const strand_node *n = &g->node[i];
        strand_column *c = g->column + VERTEX_UNKNOWNS * i;
        mass += n->mass;
        for (int a = 0; a < 3; a++) {
            const lanes change = by * (g->share * c[a].right - n->way[a]);
            c[a].right = n->free[a] * lane_select(g->share > 0, change, lane_splat(0));
            middle[a] += n->mass * n->x[a], mean[a] += n->mass * c[a].right;
        }
    }
    lane_scale(middle, 1 / mass, middle), lane_scale(mean, 1 / mass, mean);
    lanes turn[3] = {{0}}, square[3][3] = {{{0}}};
    for (int64_t i = 0; i < g->count; i++) {
        const strand_node *n = &g->node[i];
        const strand_column *c = g->column + VERTEX_UNKNOWNS * i;
        lanes arm[3], v[3] = {c[0].right, c[1].right, c[2].right}, own[3];
        lane_sub(arm, n->x, middle);
        lane_cross(own, arm, v);
        for (int a = 0; a < 3; a++) {
            turn[a] += n->mass * own[a];
            for (int b = 0; b <= a; b++) square[a][b] += n->mass * arm[a] * arm[b];
        }
    }
    /* I = tr(S) - S, made a little larger: a straight strand has no inertia about itself. */
    const lanes trace = (square[0][0] + square[1][1] + square[2][2]) * (1 + 1e-12);
    const lanes xx = trace - square[0][0], yy = trace - square[1][1], zz = trace - square[2][2],
                xy = -square[1][0], xz = -square[2][0], yz = -square[2][1];
    const lanes first[3] = {yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy};
    const lanes det = xx * first[0] + xy * first[1] + xz * first[2];
    const lanes spin[3] = {
        (first[0] * turn[0] + first[1] * turn[1] + first[2] * turn[2]) / det,
        (first[1] * turn[0] + (xx * zz - xz * xz) * turn[1] + (xy * xz - xx * yz) * turn[2]) / det,
        (first[2] * turn[0] + (xy * xz - xx * yz) * turn[1] + (xx * yy - xy * xy) * turn[2]) / det};
    for (int64_t i = 0; i < g->count; i++) {
        strand_column *c = g->column + VERTEX_UNKNOWNS * i;
        lanes arm[3], own[3];
        lane_sub(arm, g->node[i].x, middle);
        lane_cross(own, spin, arm);
        for (int a = 0; a < 3; a++)
            c[a].right = lane_select(g->whole > 0, c[a].right - own[a] - mean[a], c[a].right);
    }
}

/* What edges push walls with: the share of what they would at the end of their whole way. */
static void find_pressed(const group *g) {
    for (int64_t i = 0; i < g->count; i++) {
        const lanes push = g->share * g->node[i].block * way_into(g, i, lane_splat(1));
        for (int lane = 0; lane < STRAND_GROUP; lane++)
            if (g->strand[lane] >= 0 && !g->folded[lane] && g->share[lane] > 0)
                g->s->pressed[g->from[lane] + i] = push[lane];
    }
}

INLINE void store_strand(const group *g, int lane) {
    const strand_step *s = g->s;
    const int64_t from = g->from[lane];
    s->reports[g->strand[lane]] =
        (strand_report){.energy = {g->stretch[lane], g->bend[lane], g->twist[lane]},
                        .shortest = g->shortest[lane],
                        .halvings = (int)g->halvings[lane],
                        .folded = g->folded[lane] != 0};
    if (g->folded[lane]) return;
    for (int64_t i = 0; i < g->count; i++) {
        const strand_node *n = &g->node[i];
        const strand_column *c = g->column + VERTEX_UNKNOWNS * i;
        for (int a = 0; a < 3; a++) s->f[from + i][a] = n->mass[lane] * c[a].right[lane] / s->dt;
        if (i == g->count - 1) continue;
        rod_edge *e = &s->edge[from + i];
        for (int a = 0; a < 3; a++) e->tangent[a] = n->t[a][lane], e->director[a] = n->u[a][lane];
        e->angle = n->angle[lane];
        if (g->share[lane] > 0) e->angle += g->share[lane] * c[3].right[lane];
        s->reference[from + i] = n->reference[lane];
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

/* A strand with a loss is slack. */
static bool is_whole(const strand_step *s, int64_t strand) {
    for (int64_t v = s->first[strand]; v < s->first[strand + 1]; v++)
        if (s->there && !s->there[v]) return false;
    return true;
}

/* Which strands there are; lanes without one repeat another. */
static bool choose_strands(group *g, int64_t of) {
    const strand_step *s = g->s;
    int64_t any = -1;
    for (int lane = 0; lane < STRAND_GROUP; lane++) {
        const int64_t strand = s->groups[of] + lane;
        g->strand[lane] = -1;
        if (strand >= s->groups[of + 1]) continue;
        for (int64_t v = s->first[strand]; v < s->first[strand + 1]; v++)
            memset(s->f[v], 0, sizeof s->f[v]);
        s->reports[strand] = (strand_report){.shortest = HUGE_VAL};
        if (is_whole(s, strand)) g->strand[lane] = any = strand;
    }
    for (int lane = 0; lane < STRAND_GROUP && any >= 0; lane++)
        g->from[lane] = s->first[g->strand[lane] < 0 ? any : g->strand[lane]];
    if (any >= 0) g->count = s->first[any + 1] - s->first[any];
    return any >= 0;
}

static void step_groups(void *data, chunk items) {
    const strand_step *s = data;
    char *work = (char *)s->work + (size_t)items.worker * s->work_size;
    for (int64_t k = items.begin; k < items.end; k++) {
        group g = {.s = s, .node = (strand_node *)work};
        if (!choose_strands(&g, k)) continue;
        g.column = (strand_column *)(g.node + g.count);
        load_group(&g);
        solve_with_walls(&g);
        search(&g);
        if (s->walls) find_pressed(&g);
        take_out_motion(&g);
        for (int lane = 0; lane < STRAND_GROUP; lane++)
            if (g.strand[lane] >= 0) store_strand(&g, lane);
    }
}

const strand_passes ISA_NAME(strand_passes) = {.step = step_groups};
