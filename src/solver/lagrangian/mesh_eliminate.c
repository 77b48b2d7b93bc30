/* The systems of cloth and finite elements by elimination (sparse_direct.h), element by element. */
#include "core/vec.h"
#include "solver/lagrangian/mesh_linear.h"

/* The vertices that an element's part of K couples: its own, and of cloth those beyond its sides. */
static void group_of(const lagrangian_mesh *m, const mesh_system *s, int64_t e,
                     int32_t group[GROUP_MOST]) {
    const int corners = mesh_corner_count(m);
    for (int k = 0; k < GROUP_MOST; k++) group[k] = -1;
    for (int k = 0; k < corners; k++) group[k] = m->of->elements[e][k];
    for (int k = 0; k < 3 && !m->fe; k++) {
        const int32_t other = s->beyond[e][k];
        if (other >= 0) group[3 + k] = m->of->elements[other / 3][(other % 3 + 2) % 3];
    }
}

spate_status mesh_system_choose(lagrangian_mesh *m, mesh_system *s, bool direct) {
    const int64_t elements = m->of->element_count;
    sparse_direct_free(m->ctx, s->direct);
    s->direct = NULL;
    if (!direct || !sparse_direct_exists()) return SPATE_OK;
    int32_t(*groups)[GROUP_MOST] = take(m->ctx, (size_t)elements + 1, sizeof *groups);
    if (!groups) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < elements; e++) group_of(m, s, e, groups[e]);
    const spate_status status = sparse_direct_create(
        m->ctx, m->of->vertex_count, (const int32_t(*)[GROUP_MOST])groups, elements, &s->direct);
    give(m->ctx, groups);
    return status;
}

/* Only what is free is unknown. */
static void add_free(const system_job *job, int64_t e, const int32_t *group, const int at[2],
                     const double block[3][3]) {
    const mesh_system *s = job->s;
    if (!s->fixed[group[at[0]]] && !s->fixed[group[at[1]]])
        sparse_direct_add(s->direct, e, at[0], at[1], block);
}

/* Elements and membranes: what corners answer to a unit displacement of each. */
static void assemble_element(const system_job *job, int64_t e, const int32_t *group) {
    const lagrangian_mesh *m = job->m;
    const int corners = mesh_corner_count(m), dim = m->fe ? m->dim : 3;
    for (int corner = 0; corner < corners; corner++) {
        double block[4][3][3] = {{{0}}};
        for (int a = 0; a < dim; a++) {
            double dF[3][3] = {{0}}, columns[2][3] = {{0}}, out[4][3];
            for (int k = 0; k < corners - 1; k++)
                for (int c = 0; c < corners - 1 && (corner == 0 || corner == k + 1); c++) {
                    const double b = m->fe ? m->fe[e].B[k][c] : m->membranes[e].B[k][c];
                    *(m->fe ? &dF[a][c] : &columns[c][a]) += corner ? b : -b;
                }
            if (m->fe)
                mesh_fe_response(m, job->s, e, dF, out);
            else
                mesh_membrane_response(&m->material.cloth, &m->membranes[e], &job->s->triangles[e],
                                       columns, out);
            for (int k = 0; k < corners; k++)
                for (int r = 0; r < dim; r++) block[k][r][a] = out[k][r];
        }
        for (int k = 0; k < corners; k++)
            add_free(job, e, group, (const int[2]){k, corner}, block[k]);
    }
}

/* How the members of a triangle's group turn the hinge at a side. */
static void hinge_slopes(const mesh_system *s, int64_t t, int side, double g[GROUP_MOST][3]) {
    const int32_t other = s->beyond[t][side];
    memset(g, 0, GROUP_MOST * sizeof *g);
    if (other < 0) return;
    const triangle_state *at = &s->triangles[t], *next = &s->triangles[other / 3];
    const int along[3] = {other % 3, (other % 3 + 1) % 3, (other % 3 + 2) % 3};
    const int member[3] = {(side + 1) % 3, side, 3 + side}; /* the same vertices */
    for (int k = 0; k < 3; k++) {
        vec_add_scaled(g[k], g[k], at->tilt[side][k], at->normal);
        vec_add_scaled(g[member[k]], g[member[k]], next->tilt[along[0]][along[k]], next->normal);
    }
}

/* g K g^T over the sides. */
static void assemble_bending(const system_job *job, int64_t t, const int32_t *group) {
    const lagrangian_mesh *m = job->m;
    double g[3][GROUP_MOST][3], K[3][3] = {{0}};
    for (int k = 0; k < 3; k++) {
        hinge_slopes(job->s, t, k, g[k]);
        if (m->of->bending == BENDING_HINGE)
            K[k][k] = job->s->beyond[t][k] < 0 ? 0 : mesh_own_stiffness(m, t, k);
        else
            vec_copy(K[k], m->bending[t][k]);
    }
    for (int b = 0; b < GROUP_MOST; b++) {
        double by[3][3] = {{0}}; /* moments that b's displacement along an axis makes */
        if (group[b] < 0) continue;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) vec_add_scaled(by[k], by[k], K[k][j], g[j][b]);
        for (int a = 0; a < GROUP_MOST; a++) {
            double block[3][3] = {{0}};
            if (group[a] < 0) continue;
            for (int k = 0; k < 3; k++)
                for (int r = 0; r < 3; r++) vec_add_scaled(block[r], block[r], g[k][a][r], by[k]);
            add_free(job, t, group, (const int[2]){a, b}, block);
        }
    }
}

bool mesh_eliminate(const system_job *job) {
    const lagrangian_mesh *m = job->m;
    const mesh_system *s = job->s;
    sparse_direct_clear(s->direct);
    for (int64_t v = 0; v < m->of->vertex_count; v++)
        sparse_direct_add_diagonal(s->direct, v, s->inertia * m->mass[v]);
    for (int64_t e = 0; e < m->of->element_count; e++) {
        int32_t group[GROUP_MOST];
        group_of(m, s, e, group);
        assemble_element(job, e, group);
        if (!m->fe) assemble_bending(job, e, group);
    }
    memcpy(s->z, s->r, (size_t)m->of->vertex_count * sizeof *s->z);
    return sparse_direct_solve(s->direct, s->z);
}
