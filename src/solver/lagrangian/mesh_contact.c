#include "solver/lagrangian/mesh_contact.h"

#include "core/vec.h"

enum { ELEMENT_GRAIN = 256, VERTEX_GRAIN = 1024 };
#define PI 3.14159265358979323846

/* ---- Elements -------------------------------------------------------------------------------- */

static int corner_count(const mesh_contact *c) { return c->kind.tangents == 1 ? 2 : 3; }

static void sort_corners(int32_t v[3], int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
            const int32_t swapped = v[k];
            v[k] = v[k - 1], v[k - 1] = swapped;
        }
}

/* The side of an element that faces corner `skip`. */
static void side_of(const lagrangian_mesh *m, int64_t e, int skip, int32_t v[3]) {
    v[2] = -1;
    for (int k = 0, n = 0; k <= m->dim; k++)
        if (k != skip) v[n++] = m->of->elements[e][k];
}

/* Sides are found by their lowest vertex; one that comes a second time is not of the skin. */
typedef struct side_list {
    int64_t *head, *next; /* by vertex, by side: element * 4 + skip, or -1 */
    bool *inner;
} side_list;

static void join_side(const lagrangian_mesh *m, side_list *list, int64_t place) {
    int32_t v[3], other[3];
    side_of(m, place / 4, (int)(place % 4), v);
    sort_corners(v, m->dim);
    for (int64_t at = list->head[v[0]]; at >= 0; at = list->next[at]) {
        side_of(m, at / 4, (int)(at % 4), other);
        sort_corners(other, m->dim);
        if (memcmp(v, other, (size_t)m->dim * sizeof *v)) continue;
        list->inner[at] = list->inner[place] = true;
        return;
    }
    list->next[place] = list->head[v[0]];
    list->head[v[0]] = place;
}

static void collect_skin(const lagrangian_mesh *m, side_list *list, mesh_contact *c) {
    const int64_t elements = m->of->element_count;
    for (int64_t v = 0; v < m->of->vertex_count; v++) list->head[v] = -1;
    for (int64_t e = 0; e < elements; e++)
        for (int skip = 0; skip <= m->dim; skip++) join_side(m, list, 4 * e + skip);
    for (int64_t e = 0; e < elements; e++)
        for (int skip = 0; skip <= m->dim; skip++)
            if (!list->inner[4 * e + skip]) side_of(m, e, skip, c->corners[c->count++]);
}

static spate_status find_skin(const lagrangian_mesh *m, mesh_contact *c) {
    const size_t sides = 4 * (size_t)m->of->element_count;
    side_list list = {take(m->ctx, (size_t)m->of->vertex_count + 1, sizeof *list.head),
                      take(m->ctx, sides + 1, sizeof *list.next),
                      take(m->ctx, sides + 1, sizeof *list.inner)};
    const bool fine = list.head && list.next && list.inner;
    if (fine) collect_skin(m, &list, c);
    give(m->ctx, list.head), give(m->ctx, list.next), give(m->ctx, list.inner);
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void take_triangles(const lagrangian_mesh *m, mesh_contact *c) {
    for (; c->count < m->of->element_count; c->count++)
        memcpy(c->corners[c->count], m->of->elements[c->count], sizeof *c->corners);
}

static void take_segments(const lagrangian_mesh *m, mesh_contact *c) {
    for (int64_t s = 0; s < m->of->strand_count; s++)
        for (int64_t v = m->of->strand_first[s]; v + 1 < m->of->strand_first[s + 1]; v++) {
            const int32_t ends[3] = {(int32_t)v, (int32_t)v + 1, -1};
            memcpy(c->corners[c->count++], ends, sizeof ends);
        }
}

static spate_status find_elements(const lagrangian_mesh *m, mesh_contact *c) {
    if (m->of->kind == MESH_FE) return find_skin(m, c);
    if (m->of->kind == MESH_CLOTH)
        take_triangles(m, c);
    else
        take_segments(m, c);
    return SPATE_OK;
}

/* ---- Volumes and corners --------------------------------------------------------------------- */

static double element_size(const mesh_contact *c, const double (*x)[3], const int32_t *of) {
    double a[3], b[3], normal[3];
    vec_sub(a, x[of[1]], x[of[0]]);
    if (c->kind.tangents == 1) return vec_length(a);
    vec_sub(b, x[of[2]], x[of[0]]);
    vec_cross(normal, a, b);
    return vec_length(normal) / 2;
}

/* Volumes, and masses as shares of the vertices'. */
static void weigh(const lagrangian_mesh *m, double thickness, mesh_contact *c) {
    const double across = c->kind.normals == 2 ? PI / 4 * thickness * thickness : thickness;
    c->lightest = HUGE_VAL;
    for (int64_t e = 0; e < c->count; e++) {
        double mass = 0;
        c->volume[e] = across * element_size(c, m->of->vertices, c->corners[e]);
        for (int k = 0; k < corner_count(c); k++) {
            const int32_t v = c->corners[e][k];
            mass += m->mass[v] / (double)(c->first[v + 1] - c->first[v]);
        }
        if (c->volume[e] > 0) c->lightest = fmin(c->lightest, mass / c->volume[e]);
    }
}

static void count_corners(const mesh_contact *c, int64_t *count, int64_t *slots) {
    for (int64_t e = 0; e < c->count; e++)
        for (int k = 0; k < corner_count(c); k++) {
            int64_t *at = &count[c->corners[e][k]];
            if (slots) slots[*at] = 3 * e + k;
            ++*at;
        }
}

static spate_status connect(const lagrangian_mesh *m, mesh_contact *c) {
    const int64_t vertices = m->of->vertex_count;
    c->first = take(c->ctx, (size_t)vertices + 2, sizeof *c->first);
    c->slots = take(c->ctx, 3 * (size_t)c->count + 1, sizeof *c->slots);
    if (!c->first || !c->slots) return SPATE_OUT_OF_MEMORY;
    /* Counts two places further on become starts one further on, and ends when filled. */
    count_corners(c, c->first + 2, NULL);
    for (int64_t v = 0; v < vertices; v++) c->first[v + 2] += c->first[v + 1];
    count_corners(c, c->first + 1, c->slots);
    return SPATE_OK;
}

static spate_status make(const lagrangian_mesh *m, double thickness, mesh_contact *c) {
    const mesh_body *b = m->of;
    const size_t most = b->kind == MESH_STRANDS ? (size_t)b->vertex_count
                        : b->kind == MESH_CLOTH ? (size_t)b->element_count
                                                : (size_t)(b->element_count * (m->dim + 1));
    c->corners = take(c->ctx, most + 1, sizeof *c->corners);
    if (!c->corners) return SPATE_OUT_OF_MEMORY;
    TRY(find_elements(m, c));
    c->volume = take(c->ctx, (size_t)c->count + 1, sizeof *c->volume);
    c->responses = take(c->ctx, (size_t)c->count + 1, sizeof *c->responses);
    if (!c->volume || !c->responses) return SPATE_OUT_OF_MEMORY;
    TRY(connect(m, c));
    weigh(m, thickness, c);
    return SPATE_OK;
}

spate_status mesh_contact_create(const lagrangian_mesh *m, const contact_material *material,
                                 double thickness, mesh_contact *out) {
    const bool is_line = m->dim == 2 || m->of->kind == MESH_STRANDS;
    *out = (mesh_contact){.ctx = m->ctx, .material = *material};
    out->kind.tangents = is_line ? 1 : 2;
    out->kind.normals = m->dim - out->kind.tangents;
    spate_status status = make(m, thickness, out);
    if (status) mesh_contact_free(out);
    return status;
}

void mesh_contact_free(mesh_contact *c) {
    if (!c->ctx) return;
    void *all[] = {c->corners, c->volume, c->responses, c->first, c->slots};
    for (int k = 0; k < COUNT_OF(all); k++) give(c->ctx, all[k]);
    *c = (mesh_contact){0};
}

static void corners_at(const mesh_contact *c, const double (*x)[3], int64_t e, double out[3][3]) {
    for (int k = 0; k < corner_count(c); k++) vec_copy(out[k], x[c->corners[e][k]]);
}

void mesh_contact_lend(mesh_contact *c, double (*normals)[2][3], const double (*x)[3]) {
    c->normals = normals;
    for (int64_t e = 0; e < c->count; e++) {
        double at[3][3];
        corners_at(c, x, e, at);
        contact_normals(c->kind, at, c->normals[e]);
    }
}

/* ---- Forces ---------------------------------------------------------------------------------- */

typedef struct contact_job {
    mesh_contact *c;
    const mesh_positions *at;
    double (*f)[3], (*moment)[3][3];
    const double (*C)[3][3];
    const bool *there;
    double dt;
} contact_job;

static bool are_there(const mesh_contact *c, const bool *there, int64_t e) {
    for (int k = 0; k < corner_count(c) && there; k++)
        if (!there[c->corners[e][k]]) return false;
    return true;
}

enum { SUM_ENERGY, SUM_RESETS, SUMS };

static void respond(void *data, chunk items, double *part) {
    const contact_job *job = data;
    mesh_contact *c = job->c;
    for (int64_t e = items.begin; e < items.end; e++) {
        double x[3][3];
        contact_response *r = &c->responses[e];
        if (!are_there(c, job->at->there, e)) {
            *r = (contact_response){.lost = true};
            continue;
        }
        corners_at(c, job->at->x, e, x);
        contact_respond(&c->material, c->kind, x, c->normals[e], r);
        part[SUM_ENERGY] += c->volume[e] * r->energy;
        part[SUM_RESETS] += r->reset;
    }
}

static void add_up(void *data, chunk items) {
    const contact_job *job = data;
    const mesh_contact *c = job->c;
    for (int64_t v = items.begin; v < items.end; v++) {
        memset(job->moment[v], 0, sizeof job->moment[v]);
        for (int64_t s = c->first[v]; s < c->first[v + 1]; s++) {
            const int64_t e = c->slots[s] / 3;
            const contact_response *r = &c->responses[e];
            if (!r->loaded) continue;
            const double share = c->volume[e] / corner_count(c);
            vec_add_scaled(job->f[v], job->f[v], c->volume[e], r->force[c->slots[s] % 3]);
            for (int a = 0; a < 3; a++)
                vec_add_scaled(job->moment[v][a], job->moment[v][a], share, r->moment[a]);
        }
    }
}

contact_report mesh_contact_forces(mesh_contact *c, const mesh_positions *at, int64_t vertices,
                                   double (*f)[3], double (*moment)[3][3]) {
    contact_job job = {.c = c, .at = at, .f = f, .moment = moment};
    double sums[SUMS] = {0};
    parallel_sum(c->ctx, c->count, ELEMENT_GRAIN, respond, &job, SUMS, sums);
    parallel_for(c->ctx->pool, vertices, VERTEX_GRAIN, add_up, &job);
    contact_report out = {.energy = sums[SUM_ENERGY], .resets = (int64_t)sums[SUM_RESETS]};
    for (int64_t e = 0; e < c->count; e++)
        out.compression = fmax(out.compression, c->responses[e].compression);
    return out;
}

double mesh_contact_compression(const mesh_contact *c, int64_t vertex) {
    double most = 0;
    for (int64_t s = c->first[vertex]; s < c->first[vertex + 1] && c->kind.normals == 1; s++)
        most = fmax(most, c->responses[c->slots[s] / 3].compression);
    return most;
}

/* ---- Normals --------------------------------------------------------------------------------- */

static void carry(void *data, chunk items) {
    const contact_job *job = data;
    const mesh_contact *c = job->c;
    for (int64_t e = items.begin; e < items.end; e++) {
        double mean[3][3] = {{0}}, change[3];
        if (!are_there(c, job->there, e)) continue;
        for (int k = 0; k < corner_count(c); k++)
            for (int a = 0; a < 3; a++)
                vec_add_scaled(mean[a], mean[a], job->dt / corner_count(c),
                               job->C[c->corners[e][k]][a]);
        for (int n = 0; n < c->kind.normals; n++) {
            mat_apply(change, mean, c->normals[e][n]);
            vec_add(c->normals[e][n], c->normals[e][n], change);
        }
    }
}

void mesh_contact_carry(mesh_contact *c, const bool *there, const double (*C)[3][3], double dt) {
    contact_job job = {.c = c, .there = there, .C = C, .dt = dt};
    parallel_for(c->ctx->pool, c->count, ELEMENT_GRAIN, carry, &job);
}

double mesh_contact_speed(const mesh_contact *c, double compression) {
    const contact_material *m = &c->material;
    const double stiffness =
        c->kind.normals == 2 ? m->bulk + m->block : 2 * m->normal * compression;
    return sqrt(fmax(stiffness, m->shear) / c->lightest);
}
