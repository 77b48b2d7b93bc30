#include "solver/lagrangian/mesh_system.h"

#include "core/vec.h"
#include "solver/lagrangian/mesh_linear.h"

enum {
    ELEMENT_GRAIN = 256,
    VERTEX_GRAIN = 1024,
    ITERATIONS_MOST = 1000,
    HALVINGS = 8,
    DIRECT_MOST = 5000 /* vertices that are eliminated */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static spate_status take_system(lagrangian_mesh *m, mesh_system *s) {
    spate_context *ctx = m->ctx;
    const size_t vertices = (size_t)m->of->vertex_count, elements = (size_t)m->of->element_count;
    double(**of_vertices[])[3] = {&s->way, &s->z, &s->r, &s->p, &s->q, &s->y, &s->trial};
    bool fine = true;
    for (int k = 0; k < COUNT_OF(of_vertices); k++)
        fine = fine && (*of_vertices[k] = take(ctx, vertices, sizeof **of_vertices[k]));
    fine = fine && (s->inverse = take(ctx, vertices, sizeof *s->inverse));
    fine = fine && (s->fixed = take(ctx, vertices, sizeof *s->fixed));
    fine = fine && (s->last = take(ctx, vertices, sizeof *s->last));
    if (m->fe) {
        fine = fine && (s->moduli = take(ctx, elements, sizeof *s->moduli));
    } else {
        fine = fine && (s->triangles = take(ctx, elements, sizeof *s->triangles));
        fine = fine && (s->beyond = take(ctx, elements, sizeof *s->beyond));
        fine = fine && (s->turns = take(ctx, elements, sizeof *s->turns));
        fine = fine && (s->moments = take(ctx, elements, sizeof *s->moments));
    }
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void find_beyond(const lagrangian_mesh *m, mesh_system *s) {
    for (int64_t t = 0; t < m->of->element_count; t++)
        for (int k = 0; k < 3; k++) s->beyond[t][k] = -1;
    for (int64_t h = 0; h < m->hinge_count; h++) {
        const mesh_hinge *of = &m->hinges[h];
        for (int t = 0; t < 2; t++)
            s->beyond[of->triangle[t]][of->side[t]] = 3 * of->triangle[1 - t] + of->side[1 - t];
    }
}

spate_status mesh_system_create(lagrangian_mesh *m, mesh_system **out) {
    *out = take(m->ctx, 1, sizeof **out);
    if (!*out) return SPATE_OUT_OF_MEMORY;
    TRY(take_system(m, *out));
    if (!m->fe) find_beyond(m, *out);
    return SPATE_OK;
}

void mesh_system_free(spate_context *ctx, mesh_system *s) {
    if (!s) return;
    sparse_direct_free(ctx, s->direct);
    void *all[] = {s->moduli, s->triangles, s->beyond, s->turns, s->moments, s->inverse,
                   s->way,    s->z,         s->r,      s->p,     s->q,       s->y,
                   s->trial,  s->fixed,     s->last,   s};
    for (int k = 0; k < COUNT_OF(all); k++) give(ctx, all[k]);
}

/* ---- Elements -------------------------------------------------------------------------------- */

static bool are_there(const mesh_positions *at, const int32_t *of, int count) {
    for (int k = 0; k < count && at->there; k++)
        if (!at->there[of[k]]) return false;
    return true;
}

/* Takes the negative eigenvalues of a symmetric matrix away, by Jacobi's rotations. */
static void make_positive(double A[9][9], int n) {
    double V[9][9] = {{0}}, largest = 0;
    for (int k = 0; k < n; k++) V[k][k] = 1;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) largest = fmax(largest, fabs(A[r][c]));
    for (int sweep = 0; sweep < 10; sweep++)
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) {
                if (!(fabs(A[p][q]) > 1e-12 * largest)) continue;
                const double w = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                const double t = (w >= 0 ? 1 : -1) / (fabs(w) + sqrt(w * w + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < n; k++) {
                    double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
                    a = V[k][p], b = V[k][q];
                    V[k][p] = c * a - s * b, V[k][q] = s * a + c * b;
                }
            }
    double values[9];
    for (int k = 0; k < n; k++) values[k] = fmax(A[k][k], 0);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            A[r][c] = 0;
            for (int k = 0; k < n; k++) A[r][c] += V[r][k] * values[k] * V[c][k];
        }
}

/* F = D B of displacements or positions of corners; in 2D the upper left. */
static void deformation_of(const lagrangian_mesh *m, int64_t e, const double (*x)[3],
                           double F[3][3]) {
    const int32_t *of = m->of->elements[e];
    for (int r = 0; r < m->dim; r++)
        for (int c = 0; c < m->dim; c++) {
            F[r][c] = 0;
            for (int k = 0; k < m->dim; k++)
                F[r][c] += (x[of[k + 1]][r] - x[of[0]][r]) * m->fe[e].B[k][c];
        }
}

/* The same of a membrane, by column. */
static void membrane_gradient(const lagrangian_mesh *m, int64_t e, const double (*x)[3],
                              double F[2][3]) {
    const int32_t *of = m->of->elements[e];
    const double(*B)[2] = m->membranes[e].B;
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 3; r++)
            F[c][r] = (x[of[1]][r] - x[of[0]][r]) * B[0][c] + (x[of[2]][r] - x[of[0]][r]) * B[1][c];
}

static void membrane_stress(const cloth_material *m, const double F[2][3], double S[2][2]) {
    double G[2][2];
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) G[r][c] = (vec_dot(F[r], F[c]) - (r == c)) / 2;
    const double trace = G[0][0] + G[1][1];
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++)
            S[r][c] = m->stretch * ((1 - m->poisson) * G[r][c] + (r == c ? m->poisson * trace : 0));
}

static void keep_tension(double S[2][2]) {
    double A[9][9] = {{S[0][0], S[0][1]}, {S[1][0], S[1][1]}};
    make_positive(A, 2);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) S[r][c] = A[r][c];
}

/* What the corners of a membrane answer to a change dF, by column: A dP b, with b the gradients of
 * their shape functions and dP = F dS + dF S. */
void mesh_membrane_response(const cloth_material *law, const membrane *e, const triangle_state *at,
                            const double dF[2][3], double out[4][3]) {
    const double xx = vec_dot(at->F[0], dF[0]), yy = vec_dot(at->F[1], dF[1]);
    const double xy = (vec_dot(at->F[0], dF[1]) + vec_dot(at->F[1], dF[0])) / 2;
    const double by = law->stretch * e->area, cross = by * (1 - law->poisson) * xy;
    const double first = by * (xx + law->poisson * yy), second = by * (yy + law->poisson * xx);
    for (int r = 0; r < 3; r++) {
        const double P[2] = {at->F[0][r] * first + at->F[1][r] * cross +
                                 e->area * (dF[0][r] * at->S[0][0] + dF[1][r] * at->S[1][0]),
                             at->F[0][r] * cross + at->F[1][r] * second +
                                 e->area * (dF[0][r] * at->S[0][1] + dF[1][r] * at->S[1][1])};
        out[1][r] = P[0] * e->B[0][0] + P[1] * e->B[0][1];
        out[2][r] = P[0] * e->B[1][0] + P[1] * e->B[1][1];
        out[0][r] = -out[1][r] - out[2][r];
    }
}

/* The same of a finite element, with dP = (dP/dF) dF. */
void mesh_fe_response(const lagrangian_mesh *m, const mesh_system *s, int64_t e,
                      const double dF[3][3], double out[4][3]) {
    const int dim = m->dim;
    double P[3][3] = {{0}};
    for (int j = 0; j < dim * dim; j++)
        for (int k = 0; k < dim * dim; k++)
            P[j / dim][j % dim] += s->moduli[e][j][k] * dF[k / dim][k % dim];
    memset(out, 0, 4 * sizeof *out);
    for (int k = 0; k < dim; k++)
        for (int r = 0; r < dim; r++) {
            double sum = 0;
            for (int c = 0; c < dim; c++) sum += m->fe[e].volume * P[r][c] * m->fe[e].B[k][c];
            out[k + 1][r] = sum;
            out[0][r] -= sum;
        }
}

/* ---- Linearising ----------------------------------------------------------------------------- */

/* Normal and tilts; a triangle without area has none. */
static void linearise_bending(const double (*x)[3], const int32_t *of, triangle_state *at) {
    double edge[3][3];
    for (int k = 0; k < 3; k++) vec_sub(edge[k], x[of[(k + 1) % 3]], x[of[k]]);
    vec_cross(at->normal, edge[0], edge[1]);
    const double area = vec_length(at->normal); /* twice */
    if (!vec_normalise(at->normal)) return;
    for (int k = 0; k < 3; k++) {
        const double length = vec_length(edge[k]), slope = length / area;
        const double t = -vec_dot(edge[k], edge[(k + 2) % 3]) / (length * length);
        at->tilt[k][(k + 2) % 3] = -slope;
        at->tilt[k][k] = (1 - t) * slope;
        at->tilt[k][(k + 1) % 3] = t * slope;
    }
}

static void linearise_elements(void *data, chunk items) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    mesh_system *s = job->s;
    for (int64_t e = items.begin; e < items.end; e++) {
        const bool there = are_there(job->at, m->of->elements[e], mesh_corner_count(m));
        if (m->fe) {
            double F[3][3] = {{0}};
            memset(s->moduli[e], 0, sizeof s->moduli[e]);
            if (!there) continue;
            deformation_of(m, e, job->at->x, F);
            fe_moduli(&m->material.fe, m->dim, F, s->moduli[e]);
            make_positive(s->moduli[e], m->dim * m->dim);
        } else {
            triangle_state *at = &s->triangles[e];
            *at = (triangle_state){0};
            if (!there) continue;
            membrane_gradient(m, e, job->at->x, at->F);
            membrane_stress(&m->material.cloth, at->F, at->S);
            keep_tension(at->S);
            linearise_bending(job->at->x, m->of->elements[e], at);
        }
    }
}

/* dM/dtheta of the hinge at a side, of this triangle's share. */
double mesh_own_stiffness(const lagrangian_mesh *m, int64_t t, int side) {
    if (m->of->bending == BENDING_HINGE) return m->hinges[m->sides[t][side]].stiffness / 2;
    return m->bending[t][side][side];
}

/* What the hinges at a triangle's sides add to the block of its corner. A hinge's edge is seen by
 * both of its triangles, which share. */
static void add_bending_block(const lagrangian_mesh *m, const mesh_system *s, int64_t t, int corner,
                              double A[3][3]) {
    for (int side = 0; side < 3; side++) {
        const int32_t other = s->beyond[t][side];
        if (other < 0) continue;
        const triangle_state *at = &s->triangles[t], *next = &s->triangles[other / 3];
        const int end = corner == side ? (other % 3 + 1) % 3 : other % 3;
        const bool faces = corner == (side + 2) % 3;
        double g[3], stiffness = mesh_own_stiffness(m, t, side) +
                                 mesh_own_stiffness(m, other / 3, other % 3);
        vec_scale(g, at->tilt[side][corner], at->normal);
        if (!faces) {
            vec_add_scaled(g, g, next->tilt[other % 3][end], next->normal);
            stiffness /= 2;
        }
        for (int r = 0; r < 3; r++) vec_add_scaled(A[r], A[r], stiffness * g[r], g);
    }
}

/* What an element, corner `part` of all, adds to the block of its vertex. */
static void add_block(const lagrangian_mesh *m, const mesh_system *s, int64_t part,
                      double A[3][3]) {
    const int corners = mesh_corner_count(m);
    const int64_t e = part / corners;
    const int corner = (int)(part % corners), dim = m->fe ? m->dim : 3;
    double b[3] = {0};
    for (int k = 0; k < corners - 1; k++)
        for (int c = 0; c < corners - 1 && (corner == 0 || corner == k + 1); c++)
            b[c] += (corner ? 1 : -1) * (m->fe ? m->fe[e].B[k][c] : m->membranes[e].B[k][c]);
    for (int a = 0; a < dim; a++) {
        double dF[3][3] = {{0}}, columns[2][3] = {{0}}, out[4][3];
        if (m->fe) {
            vec_copy(dF[a], b);
            mesh_fe_response(m, s, e, dF, out);
        } else {
            columns[0][a] = b[0], columns[1][a] = b[1];
            mesh_membrane_response(&m->material.cloth, &m->membranes[e], &s->triangles[e], columns,
                                   out);
        }
        for (int r = 0; r < dim; r++) A[r][a] += out[corner][r];
    }
    if (!m->fe) add_bending_block(m, s, e, corner, A);
}

/* The corners of elements at a vertex come first in its list; hinges are not asked for here. */
static int64_t element_slots(const lagrangian_mesh *m, int64_t v) {
    const int64_t corners = m->of->element_count * mesh_corner_count(m);
    int64_t k = m->first[v];
    while (k < m->first[v + 1] && m->slots[k] < corners) k++;
    return k;
}

/* w, which vertices are fixed, the inverse blocks; and z to begin with. */
static void linearise_vertices(void *data, chunk items) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    mesh_system *s = job->s;
    const mesh_motion *how = job->how;
    const double c = 0.25 + 0.75 * how->damping;
    for (int64_t v = items.begin; v < items.end; v++) {
        const bool there = !job->at->there || job->at->there[v];
        const bool held = job->at->held && job->at->held[v] >= 0;
        double A[3][3] = {{0}}, C[3][3];
        s->fixed[v] = held || !there;
        for (int a = 0; a < 3; a++) {
            s->way[v][a] = there ? how->dt * (how->damping * how->v[v][a] +
                                              (held ? 0 : c * how->dt * how->gravity[a]))
                                 : 0;
            A[a][a] = s->inertia * m->mass[v];
            s->z[v][a] = how->guess && !s->fixed[v] ? how->guess[v][a] / s->inertia : 0;
        }
        s->last[v] = element_slots(m, v);
        for (int64_t k = m->first[v]; k < s->last[v]; k++) add_block(m, s, m->slots[k], A);
        mat_cofactors(C, A);
        const double det = mat_determinant(A);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) s->inverse[v][r][k] = (C[r][k] + C[k][r]) / (2 * det);
    }
}

/* ---- out = (M / (c dt^2) + K) in ------------------------------------------------------------- */

static void apply_elements(void *data, chunk items) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    const int corners = m->dim + 1;
    for (int64_t e = items.begin; e < items.end; e++) {
        double out[4][3], dF[3][3] = {{0}};
        deformation_of(m, e, job->in, dF);
        mesh_fe_response(m, job->s, e, dF, out);
        memcpy(m->parts + e * corners, out, (size_t)corners * sizeof *out);
    }
}

/* What corners turn the hinges at their triangle's sides by. */
static void turn_triangles(void *data, chunk items) {
    const system_job *job = data;
    for (int64_t t = items.begin; t < items.end; t++) {
        const triangle_state *at = &job->s->triangles[t];
        const int32_t *of = job->m->of->elements[t];
        double along[3];
        for (int k = 0; k < 3; k++) along[k] = vec_dot(at->normal, job->in[of[k]]);
        for (int k = 0; k < 3; k++) job->s->turns[t][k] = vec_dot(at->tilt[k], along);
    }
}

/* A triangle's own and that of the one beyond each side, or nothing at a rim. */
static void sum_sides(const mesh_system *s, const double (*of)[3], int64_t t, double sum[3]) {
    for (int k = 0; k < 3; k++) {
        const int32_t other = s->beyond[t][k];
        sum[k] = other < 0 ? 0 : of[t][k] + of[other / 3][other % 3];
    }
}

static void bend_triangles(void *data, chunk items) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    mesh_system *s = job->s;
    for (int64_t t = items.begin; t < items.end; t++) {
        double angle[3];
        sum_sides(s, (const double(*)[3])s->turns, t, angle);
        if (m->of->bending == BENDING_HINGE)
            for (int k = 0; k < 3; k++)
                s->moments[t][k] = s->beyond[t][k] < 0 ? 0 : mesh_own_stiffness(m, t, k) * angle[k];
        else
            mat_apply(s->moments[t], m->bending[t], angle);
    }
}

static void apply_triangles(void *data, chunk items) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    const mesh_system *s = job->s;
    for (int64_t t = items.begin; t < items.end; t++) {
        const triangle_state *at = &s->triangles[t];
        double dF[2][3], out[4][3], moment[3], pull[3];
        membrane_gradient(m, t, job->in, dF);
        mesh_membrane_response(&m->material.cloth, &m->membranes[t], at, dF, out);
        sum_sides(s, (const double(*)[3])s->moments, t, moment);
        mat_apply_transposed(pull, at->tilt, moment);
        for (int k = 0; k < 3; k++)
            vec_add_scaled(m->parts[3 * t + k], out[k], pull[k], at->normal);
    }
}

/* Sums up a vertex's parts; and in . out over all. */
static void apply_vertices(void *data, chunk items, double *part) {
    const system_job *job = data;
    const lagrangian_mesh *m = job->m;
    for (int64_t v = items.begin; v < items.end; v++) {
        double *out = job->out[v];
        vec_scale(out, job->s->inertia * m->mass[v], job->in[v]);
        for (int64_t k = m->first[v]; k < job->s->last[v]; k++)
            vec_add(out, out, m->parts[m->slots[k]]);
        if (job->s->fixed[v]) vec_set(out, 0, 0, 0);
        part[0] += vec_dot(out, job->in[v]);
    }
}

static double apply(system_job *job, const double (*in)[3], double (*out)[3]) {
    const lagrangian_mesh *m = job->m;
    pool *threads = m->ctx->pool;
    double dot = 0;
    job->in = in, job->out = out;
    const int64_t elements = m->of->element_count;
    if (m->fe) {
        parallel_for(threads, elements, ELEMENT_GRAIN, apply_elements, job);
    } else {
        parallel_for(threads, elements, ELEMENT_GRAIN, turn_triangles, job);
        parallel_for(threads, elements, ELEMENT_GRAIN, bend_triangles, job);
        parallel_for(threads, elements, ELEMENT_GRAIN, apply_triangles, job);
    }
    parallel_sum(m->ctx, m->of->vertex_count, VERTEX_GRAIN, apply_vertices, job, 1, &dot);
    return dot;
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

/* The right side b = f + M w / (c dt^2) - A w, the last of which is in q, and b . inverse b. */
static void begin_search(void *data, chunk items, double *part) {
    const system_job *job = data;
    mesh_system *s = job->s;
    for (int64_t v = items.begin; v < items.end; v++) {
        for (int a = 0; a < 3; a++)
            s->r[v][a] = s->fixed[v] ? 0
                                     : job->f[v][a] - s->q[v][a] +
                                           s->inertia * job->m->mass[v] * s->way[v][a];
        mat_apply(s->y[v], s->inverse[v], s->r[v]);
        vec_copy(s->p[v], s->y[v]);
        part[0] += vec_dot(s->r[v], s->y[v]);
    }
}

/* r = b - alpha A z, the latter of which is in q, y = inverse r, p = y; r . y. */
static void begin_from(void *data, chunk items, double *part) {
    const system_job *job = data;
    mesh_system *s = job->s;
    for (int64_t v = items.begin; v < items.end; v++) {
        vec_add_scaled(s->r[v], s->r[v], -job->alpha, s->q[v]);
        vec_scale(s->z[v], fmax(job->alpha, 0), s->z[v]);
        mat_apply(s->y[v], s->inverse[v], s->r[v]);
        vec_copy(s->p[v], s->y[v]);
        part[0] += vec_dot(s->r[v], s->y[v]);
    }
}

/* Begins where the last step's solution is, unless that is worse than to begin at 0. Returns the
 * square of the residual; `first` is that at 0. */
static double begin_near(system_job *job, double first) {
    const lagrangian_mesh *m = job->m;
    const int64_t vertices = m->of->vertex_count;
    double now = 0, again = 0;
    if (!job->how->guess) return first;
    apply(job, (const double(*)[3])job->s->z, job->s->q);
    job->alpha = 1;
    parallel_sum(m->ctx, vertices, VERTEX_GRAIN, begin_from, job, 1, &now);
    if (now < first) return now;
    job->alpha = -1;
    parallel_sum(m->ctx, vertices, VERTEX_GRAIN, begin_from, job, 1, &again);
    return again;
}

/* Nothing is kept of what did not converge. */
static void keep_guess(void *data, chunk items) {
    const system_job *job = data;
    const bool solved = job->m->step->iterations <= ITERATIONS_MOST;
    for (int64_t v = items.begin; v < items.end; v++)
        for (int a = 0; a < 3; a++)
            job->how->guess[v][a] = solved ? job->s->inertia * job->s->z[v][a] : 0;
}

/* z += alpha p, r -= alpha q, y = inverse r; r . y. */
static void go_on(void *data, chunk items, double *part) {
    const system_job *job = data;
    mesh_system *s = job->s;
    for (int64_t v = items.begin; v < items.end; v++) {
        vec_add_scaled(s->z[v], s->z[v], job->alpha, s->p[v]);
        vec_add_scaled(s->r[v], s->r[v], -job->alpha, s->q[v]);
        mat_apply(s->y[v], s->inverse[v], s->r[v]);
        part[0] += vec_dot(s->r[v], s->y[v]);
    }
}

static void turn_search(void *data, chunk items) {
    const system_job *job = data;
    for (int64_t v = items.begin; v < items.end; v++)
        vec_add_scaled(job->s->p[v], job->s->y[v], job->alpha, job->s->p[v]);
}

/* Once more by elimination, where that is there and the mesh is small. */
static bool solve_otherwise(system_job *job) {
    lagrangian_mesh *m = job->m;
    mesh_system *s = job->s;
    double unused = 0;
    if (m->of->vertex_count > DIRECT_MOST || mesh_system_choose(m, s, true) || !s->direct)
        return false;
    apply(job, (const double(*)[3])s->way, s->q);
    parallel_sum(m->ctx, m->of->vertex_count, VERTEX_GRAIN, begin_search, job, 1, &unused);
    const bool solved = mesh_eliminate(job);
    mesh_system_choose(m, s, false);
    return solved;
}

/* Iterations, 0 for elimination; ITERATIONS_MOST where these did not converge but elimination did,
 * and one more where that did not either. */
static int solve(system_job *job, double tolerance) {
    const lagrangian_mesh *m = job->m;
    mesh_system *s = job->s;
    const int64_t vertices = m->of->vertex_count;
    double first = 0, now;
    apply(job, (const double(*)[3])s->way, s->q);
    parallel_sum(m->ctx, vertices, VERTEX_GRAIN, begin_search, job, 1, &first);
    if (s->direct && mesh_eliminate(job)) return 0;
    now = begin_near(job, first);
    for (int k = 0; k <= ITERATIONS_MOST; k++) {
        if (now <= tolerance * tolerance * first) return k;
        const double dot = apply(job, (const double(*)[3])s->p, s->q), before = now;
        if (!(dot > 0) || !isfinite(dot)) break;
        job->alpha = now / dot;
        parallel_sum(m->ctx, vertices, VERTEX_GRAIN, go_on, job, 1, &now);
        if (!isfinite(now)) break;
        job->alpha = now / before;
        parallel_for(m->ctx->pool, vertices, VERTEX_GRAIN, turn_search, job);
    }
    return ITERATIONS_MOST + !solve_otherwise(job);
}

/* ---- How far --------------------------------------------------------------------------------- */

/* Where a share alpha of the way w + z leads, and its inertia. */
static void try_share(void *data, chunk items, double *part) {
    const system_job *job = data;
    const mesh_system *s = job->s;
    for (int64_t v = items.begin; v < items.end; v++) {
        double sum = 0;
        for (int a = 0; a < 3; a++) {
            const double way = job->alpha * (s->way[v][a] + s->z[v][a]), off = way - s->way[v][a];
            s->trial[v][a] = job->at->x[v][a] + way;
            sum += off * off;
        }
        if (!s->fixed[v]) part[0] += s->inertia * job->m->mass[v] * sum / 2;
    }
}

static double sum_at(system_job *job, double share) {
    lagrangian_mesh *m = job->m;
    double inertia = 0;
    mesh_positions at = *job->at;
    job->alpha = share;
    parallel_sum(m->ctx, m->of->vertex_count, VERTEX_GRAIN, try_share, job, 1, &inertia);
    at.x = (const double(*)[3])job->s->trial;
    lagrangian_mesh_forces(m, &at, job->s->q);
    const strain_energy energy = lagrangian_mesh_energy(m);
    return m->fault >= 0 ? HUGE_VAL : inertia + strain_energy_sum(&energy);
}

static double search(system_job *job, double energy) {
    mesh_step *step = job->m->step;
    double share = 1, none = 0;
    job->alpha = 0;
    parallel_sum(job->m->ctx, job->m->of->vertex_count, VERTEX_GRAIN, try_share, job, 1, &none);
    for (step->halvings = 0; step->halvings < HALVINGS; step->halvings++, share /= 2)
        if (sum_at(job, share) <= (energy + none) * (1 + 1e-12)) break;
    return share;
}

static void store_change(void *data, chunk items) {
    const system_job *job = data;
    const mesh_system *s = job->s;
    for (int64_t v = items.begin; v < items.end; v++)
        for (int a = 0; a < 3; a++) {
            const double off = job->alpha * (s->way[v][a] + s->z[v][a]) - s->way[v][a];
            job->f[v][a] = s->fixed[v] ? 0 : s->inertia * job->m->mass[v] * off;
        }
}

/* ---- Momenta --------------------------------------------------------------------------------- */

/* Mass, its moment, and the sum of forces of what is free; then, with the middle known, their
 * torque and the second moments of mass. */
enum { HELD_COUNT = 7, FIRST_SUMS = 8, SECOND_SUMS = 9 };
typedef struct motion_job {
    const system_job *job;
    double middle[3], mean[3], spin[3];
} motion_job;

static bool is_there(const system_job *job, int64_t v) {
    return !job->at->there || job->at->there[v];
}

static void sum_forces(void *data, chunk items, double *part) {
    const system_job *job = ((const motion_job *)data)->job;
    for (int64_t v = items.begin; v < items.end; v++) {
        if (!is_there(job, v)) continue;
        part[0] += job->m->mass[v];
        for (int a = 0; a < 3; a++) {
            part[1 + a] += job->m->mass[v] * job->at->x[v][a];
            part[4 + a] += job->f[v][a];
        }
        part[HELD_COUNT] += job->s->fixed[v];
    }
}

static void sum_torques(void *data, chunk items, double *part) {
    const motion_job *k = data;
    for (int64_t v = items.begin; v < items.end; v++) {
        double arm[3], turn[3];
        if (!is_there(k->job, v)) continue;
        vec_sub(arm, k->job->at->x[v], k->middle);
        vec_cross(turn, arm, k->job->f[v]);
        vec_add(part, part, turn);
        for (int a = 0; a < 3; a++) {
            part[3 + a] += k->job->m->mass[v] * arm[a] * arm[a];
            part[6 + a] += k->job->m->mass[v] * arm[a] * arm[(a + 1) % 3];
        }
    }
}

static void take_out(void *data, chunk items) {
    const motion_job *k = data;
    for (int64_t v = items.begin; v < items.end; v++) {
        double arm[3], turn[3];
        if (!is_there(k->job, v)) continue;
        vec_sub(arm, k->job->at->x[v], k->middle);
        vec_cross(turn, k->spin, arm);
        for (int a = 0; a < 3; a++) k->job->f[v][a] -= k->job->m->mass[v] * (k->mean[a] + turn[a]);
    }
}

/* Forces within a mesh have neither sum nor torque; those of a linear system have a little
 * torque. */
static void take_out_motion(const system_job *job) {
    lagrangian_mesh *m = job->m;
    motion_job k = {.job = job};
    double first[FIRST_SUMS] = {0}, second[SECOND_SUMS] = {0}, I[3][3], C[3][3];
    parallel_sum(m->ctx, m->of->vertex_count, VERTEX_GRAIN, sum_forces, &k, FIRST_SUMS, first);
    if (first[HELD_COUNT] > 0 || !(first[0] > 0)) return;
    vec_scale(k.middle, 1 / first[0], first + 1);
    vec_scale(k.mean, 1 / first[0], first + 4);
    parallel_sum(m->ctx, m->of->vertex_count, VERTEX_GRAIN, sum_torques, &k, SECOND_SUMS, second);
    const double trace = (second[3] + second[4] + second[5]) * (1 + 1e-12);
    for (int a = 0; a < 3; a++) {
        I[a][a] = trace - second[3 + a];
        I[a][(a + 1) % 3] = I[(a + 1) % 3][a] = -second[6 + a];
    }
    mat_cofactors(C, I);
    mat_apply(k.spin, C, second);
    vec_scale(k.spin, 1 / mat_determinant(I), k.spin);
    parallel_for(m->ctx->pool, m->of->vertex_count, VERTEX_GRAIN, take_out, &k);
}

/* ---- A step ---------------------------------------------------------------------------------- */

static void warn_unsolved(const lagrangian_mesh *m) {
    warn(m->ctx, "mesh system",
         "the system of a mesh did not converge in %d iterations; its step is less exact. Use a "
         "smaller solver.dt",
         ITERATIONS_MOST);
}

void mesh_system_forces(lagrangian_mesh *m, const mesh_positions *at, const mesh_motion *how,
                        double (*f)[3]) {
    mesh_step *step = m->step;
    system_job job = {.m = m, .s = step->system, .at = at, .how = how, .f = f};
    pool *threads = m->ctx->pool;
    job.s->inertia = 1 / ((0.25 + 0.75 * how->damping) * how->dt * how->dt);
    lagrangian_mesh_forces(m, at, f);
    step->energy = lagrangian_mesh_energy(m);
    if (m->fault >= 0) return;
    const mesh_extremes extremes = m->extremes;
    parallel_for(threads, m->of->element_count, ELEMENT_GRAIN, linearise_elements, &job);
    parallel_for(threads, m->of->vertex_count, VERTEX_GRAIN, linearise_vertices, &job);
    step->iterations = solve(&job, how->tolerance > 0 ? how->tolerance : 1e-4);
    if (step->iterations > ITERATIONS_MOST) warn_unsolved(m);
    if (how->guess) parallel_for(threads, m->of->vertex_count, VERTEX_GRAIN, keep_guess, &job);
    job.alpha = search(&job, strain_energy_sum(&step->energy));
    parallel_for(threads, m->of->vertex_count, VERTEX_GRAIN, store_change, &job);
    take_out_motion(&job);
    m->extremes = extremes, m->fault = -1;
}
