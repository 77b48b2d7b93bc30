#include "solver/lagrangian/mesh.h"

#include "core/vec.h"
#include "solver/lagrangian/mesh_step.h"

enum { ELEMENT_GRAIN = 256, STRAND_GRAIN = 16, VERTEX_GRAIN = 1024 };

static int corners_of(const lagrangian_mesh *m) {
    return m->of->kind == MESH_CLOTH ? 3 : m->dim + 1;
}

/* ---- Hinges ---------------------------------------------------------------------------------- */

/* The edges of triangles are found by their lower vertex: a list for each. */
typedef struct edge_list {
    int64_t *head; /* by vertex: an edge's place, triangle * 3 + side, or -1 */
    int64_t *next; /* by place */
} edge_list;

static void ends_of(const mesh_body *b, int64_t place, int32_t ends[2]) {
    const int32_t *corner = b->elements[place / 3];
    const int k = (int)(place % 3);
    ends[0] = corner[k], ends[1] = corner[(k + 1) % 3];
}

static spate_status fail_edge(lagrangian_mesh *m, int64_t a, int64_t b, const char *why) {
    return fail(m->ctx, SPATE_BAD_INPUT, "triangles %lld and %lld of the cloth %s",
                (long long)a / 3, (long long)b / 3, why);
}

/* Joins an edge with the one that is there already, or puts it on the list. */
static spate_status join_edge(lagrangian_mesh *m, edge_list *list, int64_t place) {
    int32_t ends[2], other[2];
    ends_of(m->of, place, ends);
    int32_t low = ends[0] < ends[1] ? ends[0] : ends[1];
    for (int64_t at = list->head[low]; at >= 0; at = list->next[at]) {
        ends_of(m->of, at, other);
        const bool same = ends[0] == other[0] && ends[1] == other[1];
        if (!same && (ends[0] != other[1] || ends[1] != other[0])) continue;
        if (same) return fail_edge(m, at, place, "lie on the same side of an edge; turn one over");
        if (m->sides[at / 3][at % 3] >= 0)
            return fail_edge(m, at, place, "share an edge with a third; a cloth has two at most");
        mesh_hinge *h = &m->hinges[m->hinge_count];
        *h = (mesh_hinge){.corner = {other[0], other[1], m->of->elements[at / 3][(at + 2) % 3],
                                     m->of->elements[place / 3][(place % 3 + 2) % 3]},
                          .triangle = {(int32_t)(at / 3), (int32_t)(place / 3)},
                          .side = {(int32_t)(at % 3), (int32_t)(place % 3)}};
        h->corner[2] = m->of->elements[at / 3][(at % 3 + 2) % 3];
        m->sides[at / 3][at % 3] = m->sides[place / 3][place % 3] = (int32_t)m->hinge_count++;
        return SPATE_OK;
    }
    list->next[place] = list->head[low];
    list->head[low] = place;
    return SPATE_OK;
}

static spate_status find_hinges(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    spate_context *ctx = m->ctx;
    edge_list list = {take(ctx, (size_t)b->vertex_count, sizeof *list.head),
                      take(ctx, 3 * (size_t)b->element_count, sizeof *list.next)};
    spate_status status = list.head && list.next ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < b->vertex_count && !status; v++) list.head[v] = -1;
    for (int64_t t = 0; t < b->element_count; t++)
        for (int k = 0; k < 3; k++) m->sides[t][k] = -1;
    for (int64_t e = 0; e < 3 * b->element_count && !status; e++) status = join_edge(m, &list, e);
    give(ctx, list.head), give(ctx, list.next);
    return status;
}

static void corners_at(const lagrangian_mesh *m, const double (*x)[3], const int32_t *of, int count,
                       double out[4][3]) {
    (void)m;
    for (int k = 0; k < count; k++) vec_copy(out[k], x[of[k]]);
}

/* Angles, and stiffness of hinges or of triangles. */
static void set_bending(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    double x[4][3];
    for (int64_t t = 0; t < b->element_count && b->bending == BENDING_SHAPE_OPERATOR; t++) {
        bool inner[3];
        for (int k = 0; k < 3; k++) inner[k] = m->sides[t][k] >= 0;
        corners_at(m, b->vertices, b->elements[t], 3, x);
        bending_stiffness(&m->material.cloth, x, inner, m->bending[t]);
    }
    for (int64_t k = 0; k < m->hinge_count; k++) {
        mesh_hinge *h = &m->hinges[k];
        double edge[3];
        corners_at(m, b->vertices, h->corner, 4, x);
        vec_sub(edge, x[1], x[0]);
        h->rest = hinge_angle(x);
        h->stiffness =
            hinge_stiffness(&m->material.cloth, vec_length(edge),
                            m->membranes[h->triangle[0]].area + m->membranes[h->triangle[1]].area);
    }
}

/* ---- Rest ------------------------------------------------------------------------------------ */

static spate_status rest_elements(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    const int corners = corners_of(m);
    const mesh_material *law = &m->material;
    double x[4][3] = {{0}}, f[4][3], altitude;
    m->rest_altitude = HUGE_VAL;
    for (int64_t e = 0; e < b->element_count; e++) {
        double weight;
        corners_at(m, b->vertices, b->elements[e], corners, x);
        const bool fine =
            m->fe ? fe_rest(m->dim, x, &m->fe[e]) : membrane_rest(x, &m->membranes[e]);
        if (!fine)
            return fail(m->ctx, SPATE_BAD_INPUT,
                        "element %lld has no volume, or corners in the wrong order, near (%.4g, "
                        "%.4g, %.4g)",
                        (long long)e, x[0][0], x[0][1], x[0][2]);
        if (m->fe) {
            weight = m->fe[e].volume;
            altitude = fe_forces(&law->fe, m->dim, &m->fe[e], x, f).altitude;
        } else {
            weight = m->membranes[e].area * b->thickness;
            membrane_forces(&law->cloth, &m->membranes[e], x, f, &altitude);
        }
        m->rest_altitude = fmin(m->rest_altitude, altitude);
        for (int k = 0; k < corners; k++)
            m->mass[b->elements[e][k]] += law->density * weight / corners;
    }
    for (int64_t v = 0; v < b->vertex_count; v++)
        if (!(m->mass[v] > 0))
            return fail(m->ctx, SPATE_BAD_INPUT, "vertex %lld belongs to no element", (long long)v);
    return SPATE_OK;
}

static rod strand_of(const lagrangian_mesh *m, int64_t s) {
    const int64_t from = m->of->strand_first[s];
    return (rod){.vertices = m->of->strand_first[s + 1] - from,
                 .length = m->lengths + from,
                 .bend = m->bends + from,
                 .edge = m->edges + from,
                 .reference = m->references + from};
}

/* A direction across the first edge; in 2D out of the plane, so that strands bend in it. */
static void across_edge(int dim, const double (*x)[3], double out[3]) {
    double edge[3], axis[3] = {0};
    int least = 0;
    vec_sub(edge, x[1], x[0]);
    for (int a = 1; a < 3; a++)
        if (fabs(edge[a]) < fabs(edge[least])) least = a;
    axis[dim == 2 ? 2 : least] = 1;
    vec_copy(out, axis);
}

static spate_status rest_strands(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    const double area = 3.14159265358979323846 * b->radius * b->radius;
    m->rest_altitude = HUGE_VAL;
    for (int64_t s = 0; s < b->strand_count; s++) {
        rod r = strand_of(m, s);
        const double(*x)[3] = b->vertices + b->strand_first[s];
        double across[3];
        across_edge(m->dim, x, across);
        if (!rod_begin(&r, x, across))
            return fail(m->ctx, SPATE_BAD_INPUT,
                        "strand %lld has a segment without length, or folds back on itself",
                        (long long)s);
        rod_set_rest(&r, x);
        for (int64_t j = 0; j < rod_edges(&r); j++) {
            const int64_t v = b->strand_first[s] + j;
            m->rest_altitude = fmin(m->rest_altitude, r.length[j]);
            m->mass[v] += m->material.density * area * r.length[j] / 2;
            m->mass[v + 1] += m->material.density * area * r.length[j] / 2;
        }
    }
    memcpy(m->rest_edges, m->edges, (size_t)b->vertex_count * sizeof *m->edges);
    return SPATE_OK;
}

/* ---- Where a vertex finds its forces --------------------------------------------------------- */

/* Calls `visit` for every corner of elements and hinges, in the order of `parts`. */
static void count_corners(lagrangian_mesh *m, int64_t *count, int64_t *slots) {
    const int corners = corners_of(m);
    int64_t place = 0;
    for (int64_t e = 0; e < m->of->element_count; e++)
        for (int k = 0; k < corners; k++, place++) {
            int64_t *at = &count[m->of->elements[e][k]];
            if (slots) slots[*at] = place;
            ++*at;
        }
    for (int64_t h = 0; h < m->hinge_count; h++)
        for (int k = 0; k < 4; k++, place++) {
            int64_t *at = &count[m->hinges[h].corner[k]];
            if (slots) slots[*at] = place;
            ++*at;
        }
}

static spate_status connect(lagrangian_mesh *m) {
    const int64_t vertices = m->of->vertex_count;
    const int64_t places = m->of->element_count * corners_of(m) + 4 * m->hinge_count;
    m->parts = take(m->ctx, (size_t)places + 1, sizeof *m->parts);
    m->first = take(m->ctx, (size_t)vertices + 2, sizeof *m->first);
    m->slots = take(m->ctx, (size_t)places + 1, sizeof *m->slots);
    if (!m->parts || !m->first || !m->slots) return SPATE_OUT_OF_MEMORY;
    /* Counts two places further on become starts one further on, and ends when filled. */
    count_corners(m, m->first + 2, NULL);
    for (int64_t v = 0; v < vertices; v++) m->first[v + 2] += m->first[v + 1];
    count_corners(m, m->first + 1, m->slots);
    return SPATE_OK;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static spate_status take_arrays(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    spate_context *ctx = m->ctx;
    const size_t vertices = (size_t)b->vertex_count, elements = (size_t)b->element_count;
    const size_t workers = (size_t)pool_size(ctx->pool);
    bool fine = (m->mass = take(ctx, vertices, sizeof *m->mass)) != NULL;
    fine = fine && (m->seen = take(ctx, workers, sizeof *m->seen));
    fine = fine && (m->faults = take(ctx, workers, sizeof *m->faults));
    fine = fine &&
           (m->energies = take(ctx, 4 * elements + (size_t)b->strand_count, sizeof *m->energies));
    if (b->kind == MESH_FE) fine = fine && (m->fe = take(ctx, elements, sizeof *m->fe));
    if (b->kind == MESH_CLOTH) {
        fine = fine && (m->membranes = take(ctx, elements, sizeof *m->membranes));
        fine = fine && (m->bending = take(ctx, elements, sizeof *m->bending));
        fine = fine && (m->sides = take(ctx, elements, sizeof *m->sides));
        fine = fine && (m->hinges = take(ctx, 3 * elements, sizeof *m->hinges));
        fine = fine && (m->angles = take(ctx, 3 * elements, sizeof *m->angles));
    }
    if (b->kind == MESH_STRANDS) {
        fine = fine && (m->lengths = take(ctx, vertices, sizeof *m->lengths));
        fine = fine && (m->bends = take(ctx, vertices, sizeof *m->bends));
        fine = fine && (m->edges = take(ctx, vertices, sizeof *m->edges));
        fine = fine && (m->rest_edges = take(ctx, vertices, sizeof *m->rest_edges));
        fine = fine && (m->references = take(ctx, vertices, sizeof *m->references));
        fine = fine && (m->work = take(ctx, 4 * vertices, sizeof *m->work));
    }
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status make(lagrangian_mesh *m) {
    TRY(take_arrays(m));
    if (m->of->kind == MESH_STRANDS) {
        TRY(rest_strands(m));
    } else {
        TRY(rest_elements(m));
        if (m->of->kind == MESH_CLOTH) {
            TRY(find_hinges(m));
            set_bending(m);
        }
    }
    m->extremes =
        (mesh_extremes){.J_min = 1, .J_max = 1, .stretch = 1, .altitude = m->rest_altitude};
    m->fault = -1;
    return connect(m);
}

spate_status lagrangian_mesh_create(spate_context *ctx, const mesh_body *of, int dim,
                                    const mesh_material *material, lagrangian_mesh *out) {
    *out = (lagrangian_mesh){.ctx = ctx, .of = of, .dim = dim, .material = *material};
    spate_status status = make(out);
    if (status) lagrangian_mesh_free(out);
    return status;
}

void lagrangian_mesh_lend(lagrangian_mesh *m, rod_edge *edges, double *references) {
    memcpy(edges, m->edges, (size_t)m->of->vertex_count * sizeof *edges);
    memcpy(references, m->references, (size_t)m->of->vertex_count * sizeof *references);
    give(m->ctx, m->edges), give(m->ctx, m->references);
    m->edges = edges, m->references = references, m->lent = true;
}

void lagrangian_mesh_free(lagrangian_mesh *m) {
    if (!m->ctx) return;
    if (m->lent) m->edges = NULL, m->references = NULL;
    mesh_step_free(m);
    void *all[] = {m->mass,       m->fe,     m->membranes, m->bending,    m->sides,
                   m->hinges,     m->angles, m->lengths,   m->bends,      m->edges,
                   m->rest_edges, m->work,   m->parts,     m->references, m->first,
                   m->slots,      m->seen,   m->faults,    m->energies};
    for (int k = 0; k < COUNT_OF(all); k++) give(m->ctx, all[k]);
    *m = (lagrangian_mesh){0};
}

/* ---- Forces ---------------------------------------------------------------------------------- */

typedef struct force_job {
    lagrangian_mesh *m;
    const mesh_positions *at;
    double (*f)[3];
} force_job;

static bool all_there(const mesh_positions *at, const int32_t *of, int count) {
    for (int k = 0; k < count && at->there; k++)
        if (!at->there[of[k]]) return false;
    return true;
}

static void note_fault(const lagrangian_mesh *m, int worker, int64_t element) {
    if (m->faults[worker] < 0 || element < m->faults[worker]) m->faults[worker] = element;
}

static void note(mesh_extremes *seen, const fe_report *r) {
    seen->J_min = fmin(seen->J_min, r->J);
    seen->J_max = fmax(seen->J_max, r->J);
    seen->stretch = fmax(seen->stretch, r->stretch);
    seen->altitude = fmin(seen->altitude, r->altitude);
}

static void element_forces(void *data, chunk items) {
    const force_job *job = data;
    lagrangian_mesh *m = job->m;
    const int corners = corners_of(m);
    for (int64_t e = items.begin; e < items.end; e++) {
        const int32_t *of = m->of->elements[e];
        double(*f)[3] = m->parts + e * corners, x[4][3];
        m->energies[e] = (strain_energy){0};
        if (!all_there(job->at, of, corners)) {
            memset(f, 0, (size_t)corners * sizeof *f);
            continue;
        }
        corners_at(m, job->at->x, of, corners, x);
        fe_report r = {.J = 1, .stretch = 1};
        double own[4][3];
        if (m->fe)
            r = fe_forces(&m->material.fe, m->dim, &m->fe[e], x, own);
        else
            r.energy = membrane_forces(&m->material.cloth, &m->membranes[e], x, own, &r.altitude);
        memcpy(f, own, (size_t)corners * sizeof *f);
        m->energies[e].stretch = r.energy;
        if (m->fe && m->material.fe.law == FE_NEO_HOOKEAN && !(r.J > 0))
            note_fault(m, items.worker, e);
        else
            note(&m->seen[items.worker], &r);
    }
}

static void hinge_angles(void *data, chunk items) {
    const force_job *job = data;
    lagrangian_mesh *m = job->m;
    for (int64_t k = items.begin; k < items.end; k++) {
        const mesh_hinge *h = &m->hinges[k];
        double x[4][3];
        m->angles[k] = 0;
        if (!all_there(job->at, h->corner, 4)) continue;
        corners_at(m, job->at->x, h->corner, 4, x);
        /* Nearest to rest: an angle has no whole turns. */
        m->angles[k] = remainder(hinge_angle(x) - h->rest, 2 * 3.14159265358979323846);
    }
}

/* dE/dtheta of hinge k for given angles of all: from its two triangles, whose energies its own is a
 * share of. */
static double hinge_moment(const lagrangian_mesh *m, int64_t k, const double *angles,
                           double *energy) {
    const mesh_hinge *h = &m->hinges[k];
    double moment = 0;
    if (m->of->bending == BENDING_HINGE)
        moment = h->stiffness * angles[k];
    else
        for (int t = 0; t < 2; t++)
            for (int c = 0; c < 3; c++) {
                const int32_t other = m->sides[h->triangle[t]][c];
                if (other >= 0) moment += m->bending[h->triangle[t]][h->side[t]][c] * angles[other];
            }
    *energy = moment * angles[k] / 2;
    return moment;
}

static void hinge_forces(void *data, chunk items) {
    const force_job *job = data;
    lagrangian_mesh *m = job->m;
    const int64_t elements = m->of->element_count;
    for (int64_t k = items.begin; k < items.end; k++) {
        const mesh_hinge *h = &m->hinges[k];
        double x[4][3], slope[4][3], (*f)[3] = m->parts + elements * 3 + 4 * k;
        memset(f, 0, 4 * sizeof *f);
        m->energies[elements + k] = (strain_energy){0};
        if (!all_there(job->at, h->corner, 4)) continue;
        const double moment = hinge_moment(m, k, m->angles, &m->energies[elements + k].bend);
        corners_at(m, job->at->x, h->corner, 4, x);
        hinge_gradient(x, slope);
        for (int c = 0; c < 4; c++) vec_scale(f[c], -moment, slope[c]);
    }
}

static void add_parts(void *data, chunk items) {
    const force_job *job = data;
    const lagrangian_mesh *m = job->m;
    for (int64_t v = items.begin; v < items.end; v++) {
        vec_set(job->f[v], 0, 0, 0);
        for (int64_t s = m->first[v]; s < m->first[v + 1]; s++)
            vec_add(job->f[v], job->f[v], m->parts[m->slots[s]]);
    }
}

/* ---- Strands --------------------------------------------------------------------------------- */

/* The frame of an edge between two vertices of one hold turns with it; the edge is clamped. */
static bool clamp_edge(const force_job *job, int64_t v) {
    const mesh_positions *at = job->at;
    if (!at->held || at->held[v] < 0 || at->held[v] != at->held[v + 1]) return false;
    rod_edge *e = &job->m->edges[v];
    mat_apply(e->director, at->turns[at->held[v]], job->m->rest_edges[v].director);
    e->angle = 0;
    return true;
}

static void strand_force(const force_job *job, int64_t s, int worker) {
    lagrangian_mesh *m = job->m;
    const int64_t from = m->of->strand_first[s], last = m->of->strand_first[s + 1] - 1;
    const double(*x)[3] = job->at->x + from;
    rod r = strand_of(m, s);
    m->energies[s] = (strain_energy){0};
    for (int64_t v = from; v <= last; v++) {
        vec_set(job->f[v], 0, 0, 0);
        if (job->at->there && !job->at->there[v]) return; /* a strand with a loss is slack */
    }
    if (!rod_transport(&r, x)) {
        note_fault(m, worker, s);
        return;
    }
    rod_clamps clamps = {clamp_edge(job, from), clamp_edge(job, last - 1)};
    rod_references(&r);
    rod_relax(&r, &m->material.rod, clamps, m->work + 4 * from);
    m->energies[s] = rod_forces(&r, &m->material.rod, x, job->f + from, NULL);
    for (int64_t j = 0; j < rod_edges(&r); j++) {
        double edge[3];
        vec_sub(edge, x[j + 1], x[j]);
        m->seen[worker].altitude = fmin(m->seen[worker].altitude, vec_length(edge));
    }
}

static void strand_forces(void *data, chunk items) {
    for (int64_t s = items.begin; s < items.end; s++) strand_force(data, s, items.worker);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void collect(lagrangian_mesh *m) {
    m->extremes =
        (mesh_extremes){.J_min = 1, .J_max = 1, .stretch = 1, .altitude = m->rest_altitude};
    m->fault = -1;
    for (int w = 0; w < pool_size(m->ctx->pool); w++) {
        const mesh_extremes *seen = &m->seen[w];
        m->extremes.J_min = fmin(m->extremes.J_min, seen->J_min);
        m->extremes.J_max = fmax(m->extremes.J_max, seen->J_max);
        m->extremes.stretch = fmax(m->extremes.stretch, seen->stretch);
        m->extremes.altitude = fmin(m->extremes.altitude, seen->altitude);
        if (m->faults[w] >= 0 && (m->fault < 0 || m->faults[w] < m->fault)) m->fault = m->faults[w];
    }
}

void lagrangian_mesh_forces(lagrangian_mesh *m, const mesh_positions *at, double (*f)[3]) {
    pool *threads = m->ctx->pool;
    force_job job = {m, at, f};
    for (int w = 0; w < pool_size(threads); w++) {
        m->seen[w] = (mesh_extremes){.J_min = 1, .J_max = 1, .stretch = 1, .altitude = HUGE_VAL};
        m->faults[w] = -1;
    }
    if (m->of->kind == MESH_STRANDS) {
        parallel_for(threads, m->of->strand_count, STRAND_GRAIN, strand_forces, &job);
    } else {
        parallel_for(threads, m->of->element_count, ELEMENT_GRAIN, element_forces, &job);
        parallel_for(threads, m->hinge_count, ELEMENT_GRAIN, hinge_angles, &job);
        parallel_for(threads, m->hinge_count, ELEMENT_GRAIN, hinge_forces, &job);
        parallel_for(threads, m->of->vertex_count, VERTEX_GRAIN, add_parts, &job);
    }
    collect(m);
}

strain_energy lagrangian_mesh_energy(const lagrangian_mesh *m) {
    const int64_t count =
        m->of->kind == MESH_STRANDS ? m->of->strand_count : m->of->element_count + m->hinge_count;
    strain_energy sum = {0};
    for (int64_t e = 0; e < count; e++) {
        sum.stretch += m->energies[e].stretch;
        sum.bend += m->energies[e].bend;
        sum.twist += m->energies[e].twist;
    }
    return sum;
}

/* A beam or plate of stiffness B and mass rho a length or area, in pieces of l: w <= 4 sqrt(B/rho)
 * / l^2, so dt <= l^2 / 2 sqrt(rho / B). */
static double bending_step(double length, double mass, double stiffness) {
    return stiffness > 0 ? length * length / 2 * sqrt(mass / stiffness) : HUGE_VAL;
}

double lagrangian_mesh_step(const lagrangian_mesh *m, const mesh_extremes *at, double share) {
    const mesh_material *law = &m->material;
    const double length = at->altitude;
    double wave, bend = HUGE_VAL;
    if (m->of->kind == MESH_CLOTH) {
        const double mass = law->density * m->of->thickness;
        wave = length / sqrt(law->cloth.stretch / mass);
        bend = bending_step(length, mass, law->cloth.bend);
    } else if (m->of->kind == MESH_STRANDS) {
        const double mass = law->density * 3.14159265358979323846 * m->of->radius * m->of->radius;
        wave = length / sqrt(law->rod.stretch / mass);
        bend = bending_step(length, mass, law->rod.bend);
    } else {
        return HUGE_VAL; /* by its material's wave speed: step_limit in simulation of meshes */
    }
    return share * fmin(wave, bend);
}
