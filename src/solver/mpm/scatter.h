/* Particles to their block's tile. */
#ifndef SPATE_SOLVER_SCATTER_H
#define SPATE_SOLVER_SCATTER_H

#include "solver/mpm/lanes.h"
#include "solver/mpm/mirror.h"
#include "solver/mpm/penetration.h"
#include "solver/mpm/poly.h"

/* -kick / (D dx rho0) tau: what stress adds to the affine part over a cell. */
INLINE void impulse_of(const mpm_view *m, const material_constants *c, int64_t i, const wide C[9],
                       wide impulse[6], int dim) {
    m->laws->stress[dim - 2](c, m->particles, i, C, impulse);
    wide scale = wide_splat(-INVERSE_MOMENT * m->kick / (m->dx * c->density));
    for (int k = 0; k < 6; k++) impulse[k] *= scale;
}

/* What the volumes at rest of eight particles are over those of their materials. */
INLINE wide volume_ratios(const mpm_view *m, int64_t i) {
    const particles *p = m->particles;
    wide ratio = wide_splat(1);
    for (int k = 0; k < WIDE; k++) {
        const uint16_t group = p->group[i + k];
        if (group == GROUP_REMOVED || !m->group_mixture[group]) continue;
        ratio[k] = m->materials[m->group_material[group]].density / rest_density(m, i + k);
    }
    return ratio;
}

/* The same for eight particles, whatever their materials. */
INLINE void load_impulses(const mpm_view *m, int64_t i, wide impulse[6], int dim) {
    static const wide unread[9] = {{0}};
    wide gradient[9];
    const wide *C = m->has_viscosity ? gradient : unread;
    if (m->has_viscosity) load_gradient(m->particles->affine + i, 1 / m->dx, gradient, dim);
    if (m->material_count == 1) {
        impulse_of(m, &m->materials[0], i, C, impulse, dim);
        return;
    }
    for (int k = 0; k < 6; k++) impulse[k] = wide_splat(0);
    wide_int index = lane_materials(m, m->particles, i), unseen = index >= wide_splat_int(0), mask;
    for (int c; next_material(index, &unseen, &c, &mask);) {
        wide part[6];
        impulse_of(m, &m->materials[c], i, C, part, dim);
        for (int k = 0; k < 6; k++) impulse[k] = wide_select(mask, part[k], impulse[k]);
    }
}

INLINE void load_impulse(const mpm_view *m, int64_t i, wide impulse[6], int dim) {
    load_impulses(m, i, impulse, dim);
    if (!m->mixes) return;
    const wide ratio = volume_ratios(m, i);
    for (int k = 0; k < 6; k++) impulse[k] *= ratio;
}

/* The columns of eight impulses: a quad for each axis and particle. */
typedef struct impulse_columns {
    real of[3][2][4][4]; /* [axis][half][lane in it] */
} impulse_columns;

INLINE void load_columns(const mpm_view *m, int64_t i, impulse_columns *columns, int dim) {
    static const int place[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};
    wide t[6], zero = wide_splat(0);
    load_impulse(m, i, t, dim);
    for (int a = 0; a < dim; a++) {
        wide r[4] = {t[place[a][0]], t[place[a][1]], dim == 3 ? t[place[a][2]] : zero, zero};
        transpose_quads(r);
        for (int k = 0; k < 4; k++) {
            quad_store(columns->of[a][0][k], wide_low(r[k]));
            quad_store(columns->of[a][1][k], wide_high(r[k]));
        }
    }
}

/* What a particle gives to its nodes. */
typedef struct contribution {
    int64_t particle;
    quad momentum;   /* and mass, at its place */
    quad affine[3];  /* change of momentum over a cell along each axis */
    quad impulse[3]; /* the same of the stress */
    quad external;   /* what forces from outside add to the momentum */
} contribution;

/* What forces around particle i add along axis a, over a cell. */
INLINE quad moment_impulse(const mpm_view *m, const stencil *s, int64_t i, int a, int lane) {
    const real scale = GIMP ? axis_scale(&s->axis[a], lane) : 1;
    return quad_splat(scale * INVERSE_MOMENT * m->kick / m->dx) *
           quad_load(m->particles->force_moment[i][a]);
}

INLINE contribution contribution_of(const mpm_view *m, const stencil *s, int64_t i, int lane,
                                    const impulse_columns *columns, int dim) {
    const particles *p = m->particles;
    quad mass = quad_splat(p->mass[i + lane]);
    contribution g = {.particle = i + lane,
                      .momentum = mass * quad_load(p->velocity[i + lane]),
                      .external = quad_splat(0)};
    if (p->force) g.external = quad_splat(m->kick) * quad_load(p->force[i + lane]);
    for (int a = 0; a < dim; a++) {
        real affine = OWN_MOMENT ? m->affine * PLANE(p, moment, a)[i + lane] : m->affine;
        quad impulse = quad_load(columns->of[a][lane >> 2][lane & 3]);
        if (GIMP) {
            affine *= axis_scale(&s->axis[a], lane);
            impulse *= quad_splat(axis_scale(&s->axis[a], lane));
        }
        g.affine[a] = mass * (quad_splat(affine) * quad_load(p->affine[i + lane][a]));
        g.impulse[a] = mass * impulse;
        if (p->force_moment) g.impulse[a] += moment_impulse(m, s, i + lane, a, lane);
    }
    return g;
}

/* Where nodes keep v^n apart the impulse has a quad of its own, elsewhere it is one with the affine
 * part. */
INLINE void scatter_particle(const mpm_view *m, real *tile, const stencil *s, int lane,
                             const contribution *g, transfer_family family, int dim) {
    if (family == TRANSFER_SPLIT) {
        wide q[4] = {wide_join(g->momentum, g->external)};
        for (int a = 0; a < dim; a++) q[a + 1] = wide_join(g->affine[a], g->impulse[a]);
        scatter_split(tile, s, lane, q, dim);
        return;
    }
    quad q[4] = {g->momentum + g->external};
    for (int a = 0; a < dim; a++) q[a + 1] = g->affine[a] + g->impulse[a];
    if (family == TRANSFER_POLY)
        scatter_poly(m, tile, s, lane, q, g->particle, dim);
    else
        scatter_fused(tile, s, lane, q, dim);
}

INLINE void scatter_block(const mpm_view *m, int32_t block, transfer_family family, int dim) {
    const int node = node_reals(family);
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    const field_tiles tiles = empty_tiles(m, m->tile, m->tiles, block, node, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, p, i, dim);
        impulse_columns columns;
        load_columns(m, i, &columns, dim);
        int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        for (int lane = 0; lane < lanes; lane++) {
            contribution g = contribution_of(m, &s, i, lane, &columns, dim);
            real *tile = tiles.of[field_of(m, p->group[i + lane])];
            scatter_particle(m, tile, &s, lane, &g, family, dim);
        }
    }
    fold_tiles(m, &tiles, block, node, dim);
}

INLINE void scatter_chunk(const void *data, chunk items, transfer_family family, int dim) {
    const mpm_view *m = data;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = m->occupied[o];
        scatter_block(m, block, family, dim);
        if (!is_near_collider(m, block)) continue;
        scatter_penetration(m, block, dim);
        if (m->contacts.count) scatter_body_masses(m, block, dim);
    }
}

#endif
