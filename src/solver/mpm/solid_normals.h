/*
 * The normal between two solids that meet.
 *
 * The edge of a body that stands on another is no face of it, and what its mass grades towards there
 * is no normal of what touches: with the mean of both bodies' own normals, as for liquids, a block
 * ploughs through what it slides on. So three normals are tried, that of each body and their mean,
 * and of the planes across them the one is taken that keeps the particles of the two furthest apart:
 *
 *     margin(n) = min over the one's particles of n . x - max over the other's of n . x
 *
 * over particles that reach the node, n pointing out of the other. Where one of two solids is flat,
 * its own normal has the largest margin, whatever the other's edges. (Nairn et al. 2020 find such a
 * plane by logistic regression.)
 *
 * First nodes get the two bodies' normals, then particles leave the maximum of n . x for each of
 * the three, which the exchange compares.
 */
#ifndef SPATE_SOLVER_MPM_SOLID_NORMALS_H
#define SPATE_SOLVER_MPM_SOLID_NORMALS_H

#include "solver/mpm/gather.h"
#include "solver/mpm/interface_sums.h"
#include "solver/mpm/numbers.h"

enum { NORMALS = 3 }; /* of the first body, of the second, their mean: all out of the first */

/* Solids further from each other than this do not meet, in cells: cubes of particles touch. */
#define SOLIDS_APART ((real)0.05)

/* Further away than any particle is from its nodes, in cells. */
#define MARGIN_NONE ((real)-1e3)

/* Sets *mean to the direction half way between unit vectors a and -b; false where there is none. */
INLINE bool mean_normal(const real *a, const real *b, real mean[3]) {
    const real least = (real)1e-3;
    real square = 0;
    for (int c = 0; c < 3; c++) {
        mean[c] = a[c] - b[c];
        square += mean[c] * mean[c];
    }
    if (!(square > least * least)) return false;
    for (int c = 0; c < 3; c++) mean[c] /= (real)sqrt((double)square);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The two solids that alone reach node i of a block; false where others do, or fewer. */
INLINE bool only_solids(const mpm_phases *s, const interface_sums *sums, int i, int pair[2]) {
    int count = 0;
    for (int f = 0; f < s->view->field_count; f++) {
        if (!(sums->of[f][INTERFACE_REALS * i + 3] > 0)) continue;
        if (!s->solid[f] || count == 2) return false;
        pair[count++] = f;
    }
    return count == 2;
}

/* Unit normals of both at their nodes, each with its field + 1 behind it. */
INLINE void normals_block(const mpm_phases *s, int32_t block, int dim) {
    interface_sums sums;
    real *to = s->normals + block * block_reals(dim, NORMAL_REALS);
    s->solids[block] = false;
    if (!reaches_interface(s, block, dim)) return;
    memset(to, 0, (size_t)block_reals(dim, NORMAL_REALS) * sizeof *to);
    if (!sum_interface(s, block, &sums, dim)) return;
    for (int i = 0; i < block_nodes(dim); i++, to += NORMAL_REALS) {
        int pair[2];
        double lengths[2];
        if (!only_solids(s, &sums, i, pair)) continue;
        for (int k = 0; k < 2; k++) {
            double out[3] = {0};
            for (int a = 0; a < dim; a++)
                out[a] = (double)sums.of[pair[k]][INTERFACE_REALS * i + a];
            lengths[k] = vec_length(out);
            for (int a = 0; a < dim && lengths[k] > 0; a++)
                to[4 * k + a] = (real)(out[a] / lengths[k]);
        }
        if (!(lengths[0] > 0) || !(lengths[1] > 0)) continue;
        for (int k = 0; k < 2; k++) to[4 * k + 3] = (real)(pair[k] + 1);
        s->solids[block] = true;
    }
}

INLINE void normals_chunk(void *data, chunk items, int dim) {
    for (int64_t k = items.begin; k < items.end; k++) normals_block(data, (int32_t)k, dim);
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* Whether a block's particles reach nodes where two solids meet. */
INLINE bool reaches_solids(const mpm_phases *s, int32_t block, int dim) {
    for (int n = 0; n < neighbour_count(dim); n++) {
        const int32_t other = s->view->neighbours[block][n];
        if (other >= 0 && s->solids[other]) return true;
    }
    return false;
}

/* What particle `lane` is from the first node that it reaches along an axis, in cells. */
INLINE real from_first(const mpm_view *m, int64_t i, int a) {
    const real x = PLANE(m->particles, position, a)[i] - (SUPPORT == 3 ? 0 : (real)0.5);
    return x - (real)floor((double)x) + (SUPPORT == 4 ? 1 : SUPPORT == 3 ? (real)0.5 : 0);
}

/* Half of the side of a particle's cube, in cells. */
INLINE real half_width(const mpm_view *m, int64_t i, int dim) {
    const double volume = (double)(m->particles->mass[i] / rest_density(m, i)), dx = (double)m->dx;
    return (real)(0.5 * (dim == 2 ? sqrt(volume) : cbrt(volume)) / dx);
}

/* Raises a node's maxima by a particle of field f that is at x from it. */
INLINE void raise_margins(const real *normals, real *margins, int f, const real x[3], real half) {
    const real sign = normals[3] == (real)(f + 1) ? 1 : normals[7] == (real)(f + 1) ? -1 : 0;
    real mean[3];
    if (sign == 0) return;
    const bool has_mean = mean_normal(normals, normals + 4, mean);
    for (int c = 0; c < NORMALS; c++) {
        const real *n = c == 0 ? normals : c == 1 ? normals + 4 : mean;
        const real along = sign * (c == 1 ? -1 : 1) * (n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
        if ((c < 2 || has_mean) && along + half > margins[c]) margins[c] = along + half;
    }
}

INLINE void margins_of(const mpm_phases *s, const stencil *at, int64_t i, int lane,
                       const real *normals, real *margins, int dim) {
    const int f = field_of(s->view, s->view->particles->group[i]);
    real first[3] = {0};
    for (int a = 0; a < dim; a++) first[a] = from_first(s->view, i, a);
    const real half = half_width(s->view, i, dim);
    for (int k = 0; k < row_count(dim) * SUPPORT; k++) {
        const int line = k / SUPPORT, z = k % SUPPORT, y = dim == 3 ? line % SUPPORT : z,
                  x = dim == 3 ? line / SUPPORT : line;
        const int64_t node = at->offset[lane] + row_offset(line, dim) + z;
        real w = at->axis[0].w[x][lane] * at->axis[1].w[y][lane];
        if (dim == 3) w *= at->axis[2].w[z][lane];
        const real d[3] = {first[0] - (real)x, first[1] - (real)y,
                           dim == 3 ? first[2] - (real)z : 0};
        if (w > 0 && normals[NORMAL_REALS * node + 3] > 0)
            raise_margins(normals + NORMAL_REALS * node, margins + MARGIN_REALS * node, f, d, half);
    }
}

INLINE void margins_block(const mpm_phases *s, int32_t block, real *normals, int dim) {
    const mpm_view *m = s->view;
    const int64_t last = m->first[block + 1], reals = tile_reals(dim, MARGIN_REALS);
    copy_tile(m, block, s->normals, normals, NORMAL_REALS, dim);
    for (int f = 0; f < m->field_count; f++)
        for (int64_t k = 0; k < reals && s->tile[f][block] >= 0; k++)
            s->margins[s->tile[f][block] * reals + k] = MARGIN_NONE;
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, m->particles, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const int f = field_of(m, m->particles->group[i + lane]);
            if (s->solid[f])
                margins_of(s, &at, i + lane, lane, normals, s->margins + s->tile[f][block] * reals,
                           dim);
        }
    }
}

INLINE void margins_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    real normals[TILE_EDGE * TILE_EDGE * TILE_EDGE * NORMAL_REALS] __attribute__((aligned(64)));
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = s->view->occupied[o];
        if (meets_fields(s, block) && reaches_solids(s, block, dim))
            margins_block(s, block, normals, dim);
    }
}

/* ---- The exchange ---------------------------------------------------------------------------- */

/* Maxima of fields at a block's nodes. */
typedef struct margin_sums {
    real of[FIELDS_MAX][BLOCK_NODES_MAX * MARGIN_REALS];
} margin_sums;

/* Node t of a tile along an axis is node t - 1 of its block: those of a neighbour at `offset`. */
INLINE void raise_from_tile(real *most, const real *tile, const int offset[3], int dim) {
    const int count = block_nodes(dim);
    for (int i = 0; i < count; i++) {
        const int at[3] = {dim == 3 ? i / (BLOCK_EDGE * BLOCK_EDGE) : i / BLOCK_EDGE,
                           dim == 3 ? i / BLOCK_EDGE % BLOCK_EDGE : i % BLOCK_EDGE, i % BLOCK_EDGE};
        int64_t node = 0;
        bool inside = true;
        for (int a = 0; a < dim; a++) {
            const int t = at[a] - BLOCK_EDGE * offset[a] + 1;
            inside &= t >= 0 && t < TILE_EDGE;
            node = node * TILE_EDGE + t;
        }
        for (int c = 0; c < NORMALS && inside; c++)
            if (tile[MARGIN_REALS * node + c] > most[MARGIN_REALS * i + c])
                most[MARGIN_REALS * i + c] = tile[MARGIN_REALS * node + c];
    }
}

INLINE void find_margins(const mpm_phases *s, int32_t block, margin_sums *sums, int dim) {
    const mpm_view *m = s->view;
    const int64_t reals = tile_reals(dim, MARGIN_REALS);
    for (int f = 0; f < m->field_count; f++)
        for (int k = 0; k < block_nodes(dim) * MARGIN_REALS; k++) sums->of[f][k] = MARGIN_NONE;
    for (int n = 0; n < neighbour_count(dim); n++) {
        const int32_t other = m->neighbours[block][n];
        const int offset[3] = {dim == 3 ? n / 9 - 1 : n / 3 - 1,
                               dim == 3 ? n / 3 % 3 - 1 : n % 3 - 1, n % 3 - 1};
        for (int f = 0; f < m->field_count && other >= 0; f++)
            if (s->solid[f] && s->tile[f][other] >= 0)
                raise_from_tile(sums->of[f], s->margins + s->tile[f][other] * reals, offset, dim);
    }
}

/* The normal between the two solids at node i of a block, out of the first, and whether they are
 * apart. */
INLINE bool solid_normal(const mpm_phases *s, int32_t block, const margin_sums *sums, int i,
                         double normal[3], bool *apart, int dim) {
    const real *n = s->normals + block * block_reals(dim, NORMAL_REALS) + NORMAL_REALS * i;
    real mean[3], best = MARGIN_NONE;
    if (!(n[3] > 0)) return false;
    const real *first = sums->of[(int)n[3] - 1] + MARGIN_REALS * i,
               *second = sums->of[(int)n[7] - 1] + MARGIN_REALS * i;
    const bool has_mean = mean_normal(n, n + 4, mean);
    for (int c = NORMALS - 1; c >= 0; c--) {
        const real *from = c == 0 ? n : c == 1 ? n + 4 : mean, margin = -(first[c] + second[c]);
        if ((c == 2 && !has_mean) || !(margin > best)) continue;
        best = margin;
        for (int a = 0; a < 3; a++) normal[a] = (double)(c == 1 ? -from[a] : from[a]);
    }
    const double length = vec_length(normal);
    vec_scale(normal, 1 / length, normal);
    *apart = best > SOLIDS_APART;
    return true;
}

#endif
