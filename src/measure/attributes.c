/* Attributes of particles by name, in id order; see attributes.h for what they are. */
#include "measure/attributes.h"
#include "core/text.h"
#include "core/vec.h"
#include <assert.h>
#include <stdio.h>

/* ---- One particle ---- */

double particle_radius(const spate_simulation *sim, int64_t i) {
    double volume = particle_rest_volume(sim, i);
    return 0.5 * (sim->scene->dim == 2 ? sqrt(volume) : cbrt(volume));
}

static double jacobian(const spate_simulation *sim, int64_t i) {
    double J = 1;
    if (sim->type->stress) sim->type->stress(sim, i, NULL, NULL, &J);
    return J;
}

double particle_volume(const spate_simulation *sim, int64_t i) {
    return particle_rest_volume(sim, i) * jacobian(sim, i);
}

double particle_pressure(const spate_simulation *sim, int64_t i) {
    if (!sim->type->stress) return 0;
    double tau[6] = {0}, J = 1, trace = 0;
    sim->type->stress(sim, i, tau, NULL, &J);
    for (int a = 0; a < sim->scene->dim; a++) trace += tau[a];
    return -trace / sim->scene->dim / J;
}

static void value_position(const particle_view *p, double *out) {
    simulation_place(p->sim, p->coords, p->index, out);
}

static void value_velocity(const particle_view *p, double *out) {
    const real *v = p->sim->particles.velocity[p->index];
    for (int a = 0; a < 3; a++) out[a] = a < p->sim->scene->dim ? (double)v[a] : 0;
}

static void value_speed(const particle_view *p, double *out) {
    double v[3];
    value_velocity(p, v);
    out[0] = vec_length(v);
}

static void value_id(const particle_view *p, double *out) {
    out[0] = (double)p->sim->particles.id[p->index];
}

static void value_radius(const particle_view *p, double *out) {
    out[0] = particle_radius(p->sim, p->index);
}

static void value_group(const particle_view *p, double *out) {
    out[0] = scene_group_origin(p->sim->scene, p->sim->particles.group[p->index]);
}

static void value_material(const particle_view *p, double *out) {
    out[0] = scene_group_material(p->sim->scene, p->sim->particles.group[p->index]);
}

static void value_role(const particle_view *p, double *out) {
    /* Solvers without meshes use the field otherwise. */
    const uint8_t *role = p->sim->type->mesh_first_id ? p->sim->particles.role : NULL;
    out[0] = role ? role[p->index] : ROLE_MATTER;
}

static void value_jacobian(const particle_view *p, double *out) {
    out[0] = jacobian(p->sim, p->index);
}

static void value_density(const particle_view *p, double *out) {
    out[0] = particle_rest_density(p->sim, p->index) / jacobian(p->sim, p->index);
}

static void value_pressure(const particle_view *p, double *out) {
    out[0] = particle_pressure(p->sim, p->index);
}

static void value_stress(const particle_view *p, double *out) {
    static const int vtk_order[6] = {0, 1, 2, 5, 3, 4}; /* of xx yy zz yz xz xy */
    double tau[6] = {0}, J = 1;
    const solver_type *type = p->sim->type;
    if (type->stress) type->stress(p->sim, p->index, tau, NULL, &J);
    for (int c = 0; c < 6; c++) out[c] = tau[vtk_order[c]] / J;
}

/* The affine part has dx * dv/dx_a as its columns. */
static void value_gradient(const particle_view *p, double *out) {
    const real4x3 *affine = p->sim->particles.affine;
    const int dim = affine ? p->sim->scene->dim : 0;
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++)
            out[3 * i + a] =
                i < dim && a < dim ? (double)affine[p->index][a][i] / p->sim->scene->domain.dx : 0;
}

static void value_energy(const particle_view *p, double *out) {
    out[0] = 0;
    const solver_type *type = p->sim->type;
    if (type->stress) type->stress(p->sim, p->index, NULL, out, NULL);
}

static void value_thinness(const particle_view *p, double *out) {
    const real *thinness = p->sim->particles.thinness;
    out[0] = thinness ? (double)thinness[p->index] : 0;
}

static void value_inserted(const particle_view *p, double *out) {
    const uint8_t *generation = p->sim->particles.generation;
    out[0] = generation ? generation[p->index] & 0x7f : 0;
}

static void value_concentration(const particle_view *p, double *out) {
    const real4 *all = p->sim->particles.concentration;
    for (int k = 0; k < SPECIES_MAX; k++) out[k] = all ? (double)all[p->index][k] : 0;
}

static void value_temperature(const particle_view *p, double *out) {
    const real *all = p->sim->particles.temperature;
    out[0] = all ? (double)all[p->index] : 0;
}

static void value_phase(const particle_view *p, double *out) {
    const spate_scene *scene = p->sim->scene;
    out[0] = scene->group_phase ? scene->group_phase[p->sim->particles.group[p->index]] : 0;
}

/* A = F - I. */
static void displacement_gradient(const particle_view *p, double A[3][3]) {
    const particles *all = &p->sim->particles;
    for (int k = 0; k < 9; k++)
        A[k / 3][k % 3] = all->gradient ? (double)PLANE(all, gradient, k)[p->index] : 0;
}

static void value_deformation(const particle_view *p, double *out) {
    double A[3][3];
    displacement_gradient(p, A);
    for (int k = 0; k < 9; k++) out[k] = A[k / 3][k % 3] + (k / 3 == k % 3);
}

/* Rows and columns of xx yy zz xy yz xz. */
static const int strain_row[6] = {0, 1, 2, 0, 1, 0}, strain_column[6] = {0, 1, 2, 1, 2, 2};

static void value_linear_strain(const particle_view *p, double *out) {
    double A[3][3];
    displacement_gradient(p, A);
    for (int k = 0; k < 6; k++)
        out[k] = (A[strain_row[k]][strain_column[k]] + A[strain_column[k]][strain_row[k]]) / 2;
}

/* (A + A^T + A^T A) / 2: no 1 is added and taken away again. */
static void value_green_strain(const particle_view *p, double *out) {
    double A[3][3];
    displacement_gradient(p, A);
    value_linear_strain(p, out);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++) out[k] += A[i][strain_row[k]] * A[i][strain_column[k]] / 2;
}

const attribute attributes[ATTRIBUTE_COUNT] = {
    {"P", 3, ATTRIBUTE_REAL, NULL, value_position},
    {"v", 3, ATTRIBUTE_REAL, NULL, value_velocity},
    {"id", 1, ATTRIBUTE_WHOLE, NULL, value_id},
    {"pscale", 1, ATTRIBUTE_REAL, NULL, value_radius},
    {"material", 1, ATTRIBUTE_WHOLE, NULL, value_material},
    {"group", 1, ATTRIBUTE_WHOLE, NULL, value_group},
    {"role", 1, ATTRIBUTE_WHOLE, NULL, value_role},
    {"J", 1, ATTRIBUTE_REAL, NULL, value_jacobian},
    {"density", 1, ATTRIBUTE_REAL, NULL, value_density},
    {"pressure", 1, ATTRIBUTE_REAL, NULL, value_pressure},
    {"stress", 6, ATTRIBUTE_REAL, "xx yy zz xy yz xz", value_stress},
    {"C", 9, ATTRIBUTE_REAL, "xx xy xz yx yy yz zx zy zz", value_gradient},
    {"speed", 1, ATTRIBUTE_REAL, NULL, value_speed},
    {"energy", 1, ATTRIBUTE_REAL, NULL, value_energy},
    {"thinness", 1, ATTRIBUTE_REAL, NULL, value_thinness},
    {"inserted", 1, ATTRIBUTE_WHOLE, NULL, value_inserted},
    {"concentration", 4, ATTRIBUTE_REAL, "a b c d", value_concentration},
    {"phase", 1, ATTRIBUTE_WHOLE, NULL, value_phase},
    {"temperature", 1, ATTRIBUTE_REAL, NULL, value_temperature},
    {"F", 9, ATTRIBUTE_REAL, "xx xy xz yx yy yz zx zy zz", value_deformation},
    {"green_strain", 6, ATTRIBUTE_REAL, "xx yy zz xy yz xz", value_green_strain},
    {"linear_strain", 6, ATTRIBUTE_REAL, "xx yy zz xy yz xz", value_linear_strain},
};

const char *const attribute_names[] = {"P",
                                       "v",
                                       "id",
                                       "pscale",
                                       "material",
                                       "group",
                                       "role",
                                       "J",
                                       "density",
                                       "pressure",
                                       "stress",
                                       "C",
                                       "speed",
                                       "energy",
                                       "thinness",
                                       "inserted",
                                       "concentration",
                                       "phase",
                                       "temperature",
                                       "F",
                                       "green_strain",
                                       "linear_strain",
                                       NULL};
_Static_assert(COUNT_OF(attribute_names) == ATTRIBUTE_COUNT + 1, "a name for every attribute");

const char *const gradient_attribute_names[] = {"F", "green_strain", "linear_strain", NULL};

/* ---- By name ---- */

const attribute *attribute_find(const char *name) {
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        if (!strcmp(attributes[i].name, name)) return &attributes[i];
    return NULL;
}

/* What is made of the deformation gradient exists where a scene asked for it. */
static spate_status check_followed(const spate_simulation *sim, const attribute *a) {
    for (int i = 0; gradient_attribute_names[i] && !sim->particles.gradient; i++)
        if (!strcmp(gradient_attribute_names[i], a->name))
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "the deformation gradient, which '%s' is made of, is not followed in this "
                        "run; name it in output.fields of the scene",
                        a->name);
    return SPATE_OK;
}

spate_status attribute_choose(const spate_simulation *sim, const char *name,
                              const attribute **out) {
    *out = attribute_find(name);
    if (!*out)
        return text_fail_unknown(sim->ctx, "there is no particle attribute", name, attribute_names,
                                 ATTRIBUTE_COUNT);
    return check_followed(sim, *out);
}

/* ---- Order by id ---- */

typedef struct order_job {
    const spate_simulation *sim;
    id_order *order;
    uint64_t *bits;   /* one for every id ever given: whether it lives */
    uint32_t *before; /* how many live before a word of bits */
} order_job;

static void mark_living(void *data, chunk items) {
    const order_job *job = data;
    const uint64_t *id = job->sim->particles.id;
    for (int64_t i = items.begin; i < items.end; i++) {
        assert(id[i] < job->sim->next_id);
        if (!particle_is_removed(job->sim, i))
            __atomic_fetch_or(&job->bits[id[i] / 64], UINT64_C(1) << id[i] % 64, __ATOMIC_RELAXED);
    }
}

/* A particle's place is the number of living ids before its own. */
static void find_places(void *data, chunk items) {
    const order_job *job = data;
    const uint64_t *id = job->sim->particles.id;
    for (int64_t i = items.begin; i < items.end; i++) {
        const uint64_t lower = job->bits[id[i] / 64] & ((UINT64_C(1) << id[i] % 64) - 1);
        job->order->place[i] =
            particle_is_removed(job->sim, i)
                ? UINT32_MAX
                : job->before[id[i] / 64] + (uint32_t)__builtin_popcountll(lower);
    }
}

spate_status id_order_create(spate_simulation *sim, id_order *order) {
    enum { GRAIN = 16384 };
    const int64_t count = sim->particles.count;
    const size_t words = (size_t)(sim->next_id / 64 + 1);
    *order = (id_order){.ctx = sim->ctx};
    order_job job = {.sim = sim, .order = order};
    job.bits = take(sim->ctx, words, sizeof *job.bits);
    job.before = take(sim->ctx, words + 1, sizeof *job.before);
    order->place = take(sim->ctx, (size_t)count + 1, sizeof *order->place);
    const bool room = job.bits && job.before && order->place;
    if (room) {
        parallel_for(sim->ctx->pool, count, GRAIN, mark_living, &job);
        for (size_t w = 0; w < words; w++)
            job.before[w + 1] = job.before[w] + (uint32_t)__builtin_popcountll(job.bits[w]);
        order->count = job.before[words];
        parallel_for(sim->ctx->pool, count, GRAIN, find_places, &job);
    }
    give(sim->ctx, job.bits);
    give(sim->ctx, job.before);
    if (!room) id_order_free(order);
    return room ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

void id_order_free(id_order *order) {
    give(order->ctx, order->place);
    order->place = NULL;
}

/* ---- Copying out ---- */

enum { RANGES_A_CHUNK = 16 };

typedef struct copy_job {
    const spate_simulation *sim;
    const id_order *order;
    const attribute *attribute;
    double *doubles; /* either this */
    void *stored;    /* or this */
} copy_job;

static void copy_particle(const copy_job *job, const particle_view *view) {
    const attribute *a = job->attribute;
    double value[ATTRIBUTE_COMPONENTS_MAX];
    size_t at = (size_t)job->order->place[view->index] * (size_t)a->components;
    a->value(view, value);
    for (int c = 0; c < a->components; c++) {
        if (job->doubles)
            job->doubles[at + (size_t)c] = value[c];
        else if (a->type == ATTRIBUTE_REAL)
            ((real *)job->stored)[at + (size_t)c] = (real)value[c];
        else
            ((uint32_t *)job->stored)[at + (size_t)c] = (uint32_t)value[c];
    }
}

static void copy_ranges(void *data, chunk items) {
    const copy_job *job = data;
    for (int64_t k = items.begin; k < items.end; k++) {
        particle_range range = particle_range_at(job->sim, k);
        particle_view view = {job->sim, range.coords, range.begin};
        for (; view.index < range.end; view.index++)
            if (job->order->place[view.index] != UINT32_MAX) copy_particle(job, &view);
    }
}

void attribute_copy(const spate_simulation *sim, const id_order *order, const attribute *a,
                    double *values) {
    copy_job job = {sim, order, a, values, NULL};
    parallel_for(sim->ctx->pool, particle_range_count(sim), RANGES_A_CHUNK, copy_ranges, &job);
}

void attribute_store(const spate_simulation *sim, const id_order *order, const attribute *a,
                     void *values) {
    copy_job job = {sim, order, a, NULL, values};
    parallel_for(sim->ctx->pool, particle_range_count(sim), RANGES_A_CHUNK, copy_ranges, &job);
}

static spate_status copy_out(spate_simulation *sim, const char *name, double *values,
                             int *components, int64_t *count) {
    const attribute *a;
    TRY(attribute_choose(sim, name, &a));
    if (components) *components = a->components;
    id_order order;
    TRY(id_order_create(sim, &order));
    if (count) *count = order.count;
    if (values) attribute_copy(sim, &order, a, values);
    id_order_free(&order);
    return SPATE_OK;
}

spate_status spate_simulation_attribute(spate_simulation *sim, const char *name, double *values,
                                        int *components, int64_t *count) {
    TRY(simulation_enter(sim, false));
    spate_status status = copy_out(sim, name, values, components, count);
    simulation_leave(sim);
    return status;
}
