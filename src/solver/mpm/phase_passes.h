/*
 * The passes of phases.h over blocks, for one kernel (SUPPORT, KERNEL) and one instruction set
 * (SPATE_ISA): included by phases_linear_kernels.c and its like.
 */
#include "core/kernel_table.h"
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/phases.h"
#include "solver/mpm/scatter.h"
#include "solver/mpm/smoothing.h"
#include "solver/mpm/solid_normals.h"

#define PHASE_TABLE_(kernel, isa) phases_##kernel##_##isa
#define PHASE_TABLE(kernel, isa)  PHASE_TABLE_(kernel, isa)

/* Two unit normals that differ by less than this have no direction between them. */
#define NORMAL_LEAST 1e-3

/* A particle with so much of other liquids around it is a drop; with less than the second, part of a
 * body of its own. Beside a flat interface a particle has 0.36. */
#define DROP_FOREIGN ((real)0.55)
#define BODY_FOREIGN ((real)0.45)

/* ---- Particles ------------------------------------------------------------------------------- */

/* The first and last nodes in the tile that particles of field f of a block reach, along an axis. */
INLINE void axis_extent(const mpm_view *m, int32_t block, int f, int a, int8_t extent[2]) {
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    const wide shift = wide_splat(SUPPORT == 3 ? 0 : (real)0.5), far = wide_splat(TILE_EDGE);
    wide low = far, high = -far;
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        const wide base = wide_floor(wide_load(PLANE(p, position, a) + i) - shift);
        wide_int mine;
        for (int k = 0; k < WIDE; k++)
            mine[k] = i + k < last && field_of(m, p->group[i + k]) == f ? -1 : 0;
        low = wide_min(low, wide_select(mine, base, far));
        high = wide_max(high, wide_select(mine, base, -far));
    }
    real least = low[0], most = high[0];
    for (int k = 1; k < WIDE; k++) {
        least = low[k] < least ? low[k] : least;
        most = high[k] > most ? high[k] : most;
    }
    const int first = SUPPORT == 2 ? 2 : 1;
    extent[0] = (int8_t)((int)least + first);
    extent[1] = (int8_t)((int)most + first + SUPPORT - 1);
}

/* Which nodes the fields of blocks reach, where another field is near. */
INLINE void extent_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    const mpm_view *m = s->view;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = m->occupied[o];
        for (int f = 0; f < m->field_count && s->near[block]; f++)
            for (int a = 0; a < dim && m->tile[f][block] >= 0; a++)
                axis_extent(m, block, f, a, s->extents[block].of[f][a]);
    }
}

/* The mean of the normal components of eight impulses. */
INLINE wide pressure_part(const wide impulse[6], int dim) {
    const wide sum = impulse[0] + impulse[1] + (dim == 3 ? impulse[2] : wide_splat(0));
    return sum * wide_splat(1 / (real)dim);
}

/* 1 for a particle of which the grid sees a body of liquid, 0 for a drop. */
INLINE real resolved_share(const particles *p, int64_t i) {
    const real share = (DROP_FOREIGN - p->foreign[i]) / (DROP_FOREIGN - BODY_FOREIGN);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* What particle i gives to its nodes: (m / cell along each axis, V | its pressure's impulse, V of
 * what is not a drop). */
INLINE void interface_part(const mpm_view *m, const stencil *at, int64_t i, int lane, real pressure,
                           wide q[4], int dim) {
    const particles *p = m->particles;
    const real mass = p->mass[i], volume = mass / rest_density(m, i);
    const real resolved = p->foreign ? volume * resolved_share(p, i) : volume;
    q[0] = wide_join((quad){0, 0, 0, volume}, (quad){0, 0, 0, resolved});
    for (int a = 0; a < dim; a++) {
        const real scale = GIMP ? mass * axis_scale(&at->axis[a], lane) : mass;
        quad out = quad_splat(0), push = quad_splat(0);
        out[a] = scale, push[a] = scale * pressure;
        q[a + 1] = wide_join(out, push);
    }
}

/* What has fallen behind mirrors goes to its image. */
INLINE void fold_interface(const mpm_view *m, const field_tiles *tiles, int32_t block, int dim) {
    for (int f = 0; f < m->field_count; f++)
        if (tiles->of[f]) mirror_tile_of(m, block, tiles->of[f], true, false, INTERFACE_REALS, dim);
}

/* ---- A node ---------------------------------------------------------------------------------- */

/* The phases that reach a node. */
typedef struct phase_node {
    int count, dim;
    int field[FIELDS_MAX];
    double mass[FIELDS_MAX], volume[FIELDS_MAX];
    double own[FIELDS_MAX][3];    /* w */
    double v[FIELDS_MAX][3];      /* u */
    double out[FIELDS_MAX][3];    /* g */
    double push[FIELDS_MAX][3];   /* P */
    double resolved[FIELDS_MAX];  /* the share of it that is not drops */
    double parted[FIELDS_MAX][3]; /* the normal across which it has parted, or 0 */
    bool solids;                  /* two, with a normal of their own, out of the first */
    bool apart;                   /* that do not touch */
    double normal[3];
} phase_node;

/* Step 1 of above. */
INLINE void share_pressure(phase_node *n) {
    double push[3] = {0}, volume = 0;
    for (int k = 0; k < n->count; k++) {
        vec_add(push, push, n->push[k]);
        volume += n->volume[k];
    }
    for (int k = 0; k < n->count; k++)
        for (int a = 0; a < 3; a++)
            n->v[k][a] =
                n->own[k][a] + (n->volume[k] / volume * push[a] - n->push[k][a]) / n->mass[k];
}

/* The published rule: all forces on all, v^n in `old` and what gravity adds in `gravity`. */
INLINE void share_all(phase_node *n, const double old[FIELDS_MAX][3], const double gravity[3]) {
    double push[3] = {0}, mass = 0;
    for (int k = 0; k < n->count; k++) {
        mass += n->mass[k];
        for (int a = 0; a < 3; a++) push[a] += n->mass[k] * (n->own[k][a] - old[k][a] - gravity[a]);
    }
    for (int k = 0; k < n->count; k++)
        for (int a = 0; a < 3; a++)
            n->v[k][a] = n->own[k][a] = old[k][a] + push[a] / mass + gravity[a];
}

/* What phase k has on the other side: mass, mean velocities, and how it couples to them. */
typedef struct phase_rest {
    double share[FIELDS_MAX]; /* of phase j, c in step 2 */
    double mass, inertia;     /* sum m c, and what an impulse shared so has to move */
    double met;               /* of all other mass the share that is met */
    double own[3], v[3], out[3], beta, friction;
} phase_rest;

/* How much of phases k and j meets: drops do not, with other liquids. */
INLINE double meeting_share(const mpm_phases *s, const phase_node *n, int k, int j) {
    const bool liquids = s->liquid[n->field[k]] && s->liquid[n->field[j]];
    return liquids ? n->resolved[k] * n->resolved[j] : 1;
}

INLINE phase_rest rest_of(const mpm_phases *s, const phase_node *n, int k) {
    phase_rest r = {0};
    double mass = 0, squares = 0;
    for (int j = 0; j < n->count; j++) {
        if (j == k) continue;
        const double c = r.share[j] = meeting_share(s, n, k, j), met = c * n->mass[j];
        mass += n->mass[j], r.mass += met, squares += c * met;
        vec_add_scaled(r.own, r.own, met, n->own[j]);
        vec_add_scaled(r.v, r.v, met, n->v[j]);
        vec_add_scaled(r.out, r.out, c, n->out[j]);
        r.beta += met * s->beta[n->field[k]][n->field[j]];
        r.friction += met * s->friction[n->field[k]][n->field[j]];
    }
    if (!(r.mass > 0)) return r;
    vec_scale(r.own, 1 / r.mass, r.own);
    vec_scale(r.v, 1 / r.mass, r.v);
    r.beta /= r.mass, r.friction /= r.mass;
    r.met = r.mass / mass, r.inertia = r.mass * r.mass / squares;
    return r;
}

/* Where there is one. */
INLINE bool normal_between(const double a[3], const double b[3], double normal[3]) {
    const double length_a = vec_length(a), length_b = vec_length(b);
    for (int c = 0; c < 3; c++)
        normal[c] = (length_a > 0 ? a[c] / length_a : 0) - (length_b > 0 ? b[c] / length_b : 0);
    const double length = vec_length(normal);
    if (!(length > NORMAL_LEAST)) return false;
    vec_scale(normal, 1 / length, normal);
    return true;
}

INLINE bool normal_of(const phase_node *n, int k, const phase_rest *r, double normal[3]) {
    if (n->solids) vec_copy(normal, n->normal);
    return n->solids || normal_between(n->out[k], r->out, normal);
}

/* Gives phase k an impulse, and its opposite to the rest. */
INLINE void pass_impulse(phase_node *n, int k, const phase_rest *r, double impulse,
                         const double along[3]) {
    for (int j = 0; j < n->count; j++)
        vec_add_scaled(n->v[j], n->v[j],
                       j == k ? impulse / n->mass[k] : -impulse * r->share[j] / r->mass, along);
}

/* Coulomb friction of k on the rest: `pressed` is the impulse that has passed along the normal. */
INLINE void rub(phase_node *n, int k, const phase_rest *before, double pressed,
                const double normal[3]) {
    double slide[3];
    const double reduced = n->mass[k] * before->inertia / (n->mass[k] + before->inertia);
    vec_sub(slide, n->v[k], before->v);
    vec_add_scaled(slide, slide, -vec_dot(slide, normal), normal);
    const double speed = vec_length(slide);
    if (!(speed > 0)) return;
    vec_scale(slide, 1 / speed, slide);
    pass_impulse(n, k, before, -fmin(before->friction * pressed, reduced * speed), slide);
}

/* Step 2 of above for phase k. */
INLINE void meet_rest(const mpm_phases *s, phase_node *n, int k) {
    const phase_rest r = rest_of(s, n, k);
    double normal[3], approach[3], difference[3];
    if (!(r.met > 0) || !normal_of(n, k, &r, normal)) return;
    vec_sub(approach, n->own[k], r.own);
    vec_sub(difference, n->v[k], r.v);
    const double own = vec_dot(n->own[k], normal);
    if (vec_dot(approach, normal) > 0) {
        const double reduced = n->mass[k] * r.inertia / (n->mass[k] + r.inertia);
        pass_impulse(n, k, &r, -r.met * r.beta * reduced * vec_dot(difference, normal), normal);
        if (r.friction > 0)
            rub(n, k, &r, n->mass[k] * fabs(vec_dot(n->v[k], normal) - own), normal);
    } else if (!s->published) {
        pass_impulse(n, k, &r, r.met * n->mass[k] * (own - vec_dot(n->v[k], normal)), normal);
        for (int j = 0; j < n->count; j++)
            if (j == k || n->count == 2) vec_scale(n->parted[j], sqrt(r.met), normal);
    }
}

/* Of two, one is enough: what it gives the other takes. */
INLINE void meet_all(const mpm_phases *s, phase_node *n) {
    const int turns = n->count == 2 ? 1 : n->count;
    for (int k = 0; k < turns; k++) meet_rest(s, n, k);
}

/* Step 3: what is drops of phases a and b drags on the other. */
INLINE void drag(const mpm_phases *s, phase_node *n, int a, int b, double drops) {
    const int thin = n->volume[a] < n->volume[b] ? a : b, around = thin == a ? b : a;
    double difference[3];
    vec_sub(difference, n->v[thin], n->v[around]);
    const double density = n->mass[around] / n->volume[around];
    const double force = s->drag * vec_length(difference) * density * n->volume[thin];
    const double reduced = n->mass[a] * n->mass[b] / (n->mass[a] + n->mass[b]);
    const double impulse = drops * reduced * expm1(-force / reduced);
    vec_add_scaled(n->v[thin], n->v[thin], impulse / n->mass[thin], difference);
    vec_add_scaled(n->v[around], n->v[around], -impulse / n->mass[around], difference);
}

INLINE void drag_all(const mpm_phases *s, phase_node *n) {
    for (int a = 0; a < n->count; a++)
        for (int b = a + 1; b < n->count; b++) {
            const double drops = 1 - meeting_share(s, n, a, b);
            if (drops > 0) drag(s, n, a, b, drops);
        }
}

/* ---- A block --------------------------------------------------------------------------------- */

/* Whether several phases reach node i of a block. */
INLINE bool is_shared(const mpm_view *m, const mpm_nodes *nodes, const interface_sums *sums,
                      int i) {
    int count = 0;
    for (int f = 0; f < m->field_count; f++)
        count += nodes->mass[f][i] > 0 && sums->of[f][INTERFACE_REALS * i + 3] > 0;
    return count > 1;
}

/* The phases of node i of a block. */
INLINE void load_phases(const mpm_view *m, const mpm_nodes *nodes, const interface_sums *sums,
                        int i, phase_node *n, int node, int dim) {
    *n = (phase_node){.dim = dim};
    for (int f = 0; f < m->field_count; f++) {
        const real mass = nodes->mass[f][i], *at = sums->of[f] + INTERFACE_REALS * i;
        if (!(mass > 0) || !(at[3] > 0)) continue;
        const int k = n->count++;
        n->field[k] = f;
        n->mass[k] = (double)mass, n->volume[k] = (double)at[3];
        n->resolved[k] = (double)(at[7] / at[3]);
        for (int a = 0; a < dim; a++) {
            n->own[k][a] = (double)nodes->velocity[f][node * i + a];
            n->out[k][a] = (double)at[a];
            n->push[k][a] = (double)at[4 + a];
        }
    }
}

/* Whether the phases of a node share their pressure: solids alone do not. */
INLINE bool is_sharing(const mpm_phases *s, const phase_node *n) {
    bool any = s->published;
    for (int k = 0; k < n->count; k++) any |= !s->solid[n->field[k]];
    return any;
}

INLINE void share_forces(const mpm_phases *s, const mpm_nodes *nodes, int i, phase_node *n,
                         int dim) {
    const mpm_view *m = s->view;
    const int node = m->node_reals;
    if (!is_sharing(s, n)) {
        memcpy(n->v, n->own, sizeof n->v);
        return;
    }
    if (!s->published) {
        share_pressure(n);
        return;
    }
    double old[FIELDS_MAX][3] = {{0}}, gravity[3] = {0};
    for (int a = 0; a < dim; a++) {
        gravity[a] = (double)m->gravity[a];
        for (int k = 0; k < n->count; k++)
            old[k][a] = (double)nodes->velocity[n->field[k]][node * i + 4 + a];
    }
    share_all(n, old, gravity);
}

INLINE void clear_differences(const mpm_phases *s, int32_t block, int dim) {
    const int64_t reals = block_reals(dim, SHARE_REALS);
    for (int f = 0; f < s->view->field_count; f++)
        memset(s->differences[f] + block * reals, 0, (size_t)reals * sizeof **s->differences);
}

/* What phases do to each other at a node. */
INLINE void exchange_node(const mpm_phases *s, const mpm_nodes *nodes, int i, phase_node *n,
                          int dim) {
    share_forces(s, nodes, i, n, dim);
    if (!n->apart) meet_all(s, n);
    if (s->view->particles->foreign) drag_all(s, n);
}

/* For volumes: where phases have parted, and their shares; nothing where they do not share. */
INLINE void store_shares(const mpm_phases *s, const phase_node *n, int64_t at, int dim) {
    double volume = 0;
    for (int k = 0; k < n->count; k++) volume += n->volume[k];
    for (int k = 0; k < n->count && is_sharing(s, n); k++) {
        real *to = s->differences[n->field[k]] + at;
        to[3] = (real)(n->volume[k] / volume);
        for (int a = 0; a < dim; a++) to[a] = (real)n->parted[k][a];
    }
}

INLINE void exchange_block(const mpm_phases *s, mpm_nodes *nodes, int dim) {
    const int node = s->view->node_reals;
    const int64_t first = nodes->block * block_reals(dim, SHARE_REALS);
    const bool solids = s->solid_pairs && s->solids[nodes->block];
    interface_sums sums;
    margin_sums margins;
    s->mixed[nodes->block] = sum_interface(s, nodes->block, &sums, dim);
    if (!s->mixed[nodes->block]) return;
    if (solids) find_margins(s, nodes->block, &margins, dim);
    clear_differences(s, nodes->block, dim);
    for (int i = 0; i < block_nodes(dim); i++) {
        phase_node n;
        if (!is_shared(s->view, nodes, &sums, i)) continue;
        load_phases(s->view, nodes, &sums, i, &n, node, dim);
        if (solids && n.count == 2)
            n.solids = solid_normal(s, nodes->block, &margins, i, n.normal, &n.apart, dim);
        exchange_node(s, nodes, i, &n, dim);
        store_shares(s, &n, first + SHARE_REALS * i, dim);
        for (int k = 0; k < n.count; k++)
            for (int a = 0; a < dim; a++)
                nodes->velocity[n.field[k]][node * i + a] = (real)n.v[k][a];
    }
}

/* ---- Volumes --------------------------------------------------------------------------------- */

/* Of node `at`, the share of the volume that liquids other than field f have, if that is one. */
INLINE real foreign_share(const mpm_phases *s, int64_t at, int f) {
    real sum = 0;
    for (int g = 0; g < s->view->field_count && s->liquid[f]; g++)
        if (g != f && s->liquid[g]) sum += s->differences[g][at + 3];
    return sum;
}

/* U - v of every field at node `at` of a block, whose velocities are at `node`; across a face where a
 * phase parts pressure works on the phase's own motion. */
INLINE void difference_node(const mpm_phases *s, int64_t at, int64_t node) {
    const mpm_view *m = s->view;
    quad mean = quad_splat(0), v[FIELDS_MAX];
    real foreign[FIELDS_MAX];
    for (int f = 0; f < m->field_count; f++) {
        const real share = s->differences[f][at + 3];
        foreign[f] = foreign_share(s, at, f);
        if (!(share > 0)) continue;
        v[f] = quad_load(m->velocities[f] + node);
        mean += quad_splat(share) * v[f];
    }
    for (int f = 0; f < m->field_count; f++) {
        quad normal = quad_load(s->differences[f] + at);
        if (!(normal[3] > 0)) continue;
        normal[3] = 0;
        quad difference = mean - v[f];
        const quad products = normal * difference;
        difference -= quad_splat(products[0] + products[1] + products[2]) * normal;
        difference[3] = foreign[f];
        quad_store(s->differences[f] + at, difference);
    }
}

/* After boundaries. */
INLINE void difference_block(const mpm_phases *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    const int node = m->node_reals;
    const int64_t first = block * block_reals(dim, SHARE_REALS);
    if (!s->mixed[block]) {
        if (reaches_interface(s, block, dim)) clear_differences(s, block, dim);
        return;
    }
    for (int n = 0; n < block_nodes(dim); n++)
        difference_node(s, first + SHARE_REALS * n, block * block_reals(dim, node) + node * n);
}

INLINE void volume_block(const mpm_phases *s, const mpm_view *differences, int32_t block,
                         real *tiles, int dim) {
    const mpm_view *m = s->view;
    const int64_t last = m->first[block + 1], size = tile_reals(dim, SHARE_REALS);
    for (int f = 0; f < m->field_count; f++)
        if (s->tile[f][block] >= 0)
            load_tile(differences, block, f, tiles + f * size, SHARE_REALS, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, m->particles, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const real *tile = tiles + field_of(m, m->particles->group[i + lane]) * size;
            quad q[4];
            gather_fused(tile, &at, lane, q, dim);
            real divergence = 0;
            for (int a = 0; a < dim; a++) divergence += q[a + 1][a];
            s->dilatation[i + lane] = divergence * (m->dt / m->dx);
            if (m->particles->foreign) m->particles->foreign[i + lane] = q[0][3];
        }
    }
}

/* Where no other field is near. */
INLINE void forget_foreign(const mpm_view *m, int32_t block) {
    const int64_t first = m->first[block], count = m->first[block + 1] - first;
    memset(m->particles->foreign + first, 0, (size_t)count * sizeof(real));
}

INLINE void difference_chunk(void *data, chunk items, int dim) {
    for (int64_t k = items.begin; k < items.end; k++) difference_block(data, (int32_t)k, dim);
}

INLINE void volume_chunk(void *data, chunk items, int dim) {
    enum { TILE_MOST = TILE_EDGE * TILE_EDGE * TILE_EDGE * SHARE_REALS + TILE_PAD };
    const mpm_phases *s = data;
    mpm_view differences = *s->view;
    real tiles[FIELDS_MAX * TILE_MOST] __attribute__((aligned(64)));
    for (int f = 0; f < differences.field_count; f++) {
        const int64_t end = (f + 1) * tile_reals(dim, SHARE_REALS);
        differences.velocities[f] = s->differences[f];
        memset(tiles + end - TILE_PAD, 0, TILE_PAD * sizeof *tiles);
    }
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = s->view->occupied[o];
        s->in_block[block] = meets_fields(s, block);
        if (s->in_block[block])
            volume_block(s, &differences, block, tiles, dim);
        else if (s->view->particles->foreign)
            forget_foreign(s->view, block);
    }
}

/* ---- The passes ------------------------------------------------------------------------------ */

/* Pressures of a block's particles as impulses, kick p / (D dx); of solids the mean stress. */
INLINE void pressure_block(const mpm_phases *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    const int64_t last = m->first[block + 1];
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        wide impulse[6];
        load_impulse(m, i, impulse, dim);
        const wide pressure = pressure_part(impulse, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++)
            s->pressure[i + lane] = pressure[lane] * rest_density(m, i + lane);
    }
}

INLINE void pressure_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    for (int64_t o = items.begin; o < items.end; o++)
        if (meets_fields(s, s->view->occupied[o])) pressure_block(s, s->view->occupied[o], dim);
}

INLINE void scatter_interface(const mpm_phases *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    const field_tiles tiles = empty_tiles(m, s->tile, s->tiles, block, INTERFACE_REALS, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            wide q[4];
            const real own = s->pressure[i + lane] / rest_density(m, i + lane);
            interface_part(m, &at, i + lane, lane, own, q, dim);
            scatter_split(tiles.of[field_of(m, p->group[i + lane])], &at, lane, q, dim);
        }
    }
    fold_interface(m, &tiles, block, dim);
}

INLINE void interface_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = s->view->occupied[o];
        if (meets_fields(s, block)) scatter_interface(s, block, dim);
    }
}

TASK_BY_DIM(extent)
TASK_BY_DIM(pressure)
TASK_BY_DIM(spread)
TASK_BY_DIM(average)
TASK_BY_DIM(smoothed)
TASK_BY_DIM(interface)
TASK_BY_DIM(normals)
TASK_BY_DIM(margins)
TASK_BY_DIM(difference)
TASK_BY_DIM(volume)

static void exchange_2d(void *data, const mpm_view *m, mpm_nodes *nodes) {
    (void)m;
    exchange_block(data, nodes, 2);
}
static void exchange_3d(void *data, const mpm_view *m, mpm_nodes *nodes) {
    (void)m;
    exchange_block(data, nodes, 3);
}

const phase_passes PHASE_TABLE(KERNEL, SPATE_ISA) = {
    .extent = {extent_2d, extent_3d},
    .pressure = {pressure_2d, pressure_3d},
    .spread = {spread_2d, spread_3d},
    .average = {average_2d, average_3d},
    .smoothed = {smoothed_2d, smoothed_3d},
    .scatter = {interface_2d, interface_3d},
    .normals = {normals_2d, normals_3d},
    .margins = {margins_2d, margins_3d},
    .exchange = {exchange_2d, exchange_3d},
    .difference = {difference_2d, difference_3d},
    .volume = {volume_2d, volume_3d},
};
