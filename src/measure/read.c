/*
 * Reading particles out: attributes in some order and type, and views of fields.
 *
 * Positions and velocities, which a live picture needs with every frame, have loops of their own: a
 * batch of a block's particles is computed along each axis, then put in its places. The numbers are
 * those of the attributes, bit by bit.
 */
#include "core/cookie.h"
#include "core/text.h"
#include "measure/attributes.h"
#include "measure/order.h"
#include <spate/drive.h>

spate_reading spate_default_reading(void) {
    return (spate_reading){.cookie = COOKIE_READING, .attribute = "P"};
}

enum { RANGES_A_CHUNK = 16, BATCH = 256, QUANTA = 65535 };

typedef struct read_job {
    const spate_simulation *sim;
    const attribute *attribute;
    const uint32_t *place; /* NULL: its id */
    spate_number type;
    void *values;
    double origin[3], inverse[3]; /* of quantised positions */
} read_job;

/* ---- Positions and velocities ---------------------------------------------------------------- */

typedef struct batch {
    double x[3][BATCH];
} batch;

static void batch_positions(const spate_simulation *sim, const particle_range *r, int64_t begin,
                            int count, batch *out) {
    const domain *d = &sim->scene->domain;
    for (int a = 0; a < sim->scene->dim; a++) {
        const real *local = PLANE(&sim->particles, position, a) + begin;
        const double origin = d->origin[a], dx = d->dx, shift = sim->type->shift;
        const double corner = (double)r->coords[a] * BLOCK_EDGE;
        double *x = out->x[a];
        for (int k = 0; k < count; k++) x[k] = origin + (corner + (double)local[k] - shift) * dx;
        if (!sim->blocks.period[a]) continue;
        for (int k = 0; k < count; k++) {
            if (x[k] < origin)
                x[k] += d->size[a];
            else if (x[k] >= origin + d->size[a])
                x[k] -= d->size[a];
        }
    }
}

static void batch_velocities(const spate_simulation *sim, int64_t begin, int count, batch *out) {
    for (int k = 0; k < count; k++)
        for (int a = 0; a < sim->scene->dim; a++)
            out->x[a][k] = (double)sim->particles.velocity[begin + k][a];
}

static uint16_t quantise(const read_job *job, int a, double x) {
    const double q = (x - job->origin[a]) * job->inverse[a] + 0.5;
    return (uint16_t)(q > 0 ? q < QUANTA ? q : QUANTA : 0);
}

/* What is read most: floats of particles that are all there. Places come from ids and are far
 * apart, so that a store would wait for its line: lines are asked for some stores ahead. */
static void put_floats(const read_job *job, int64_t begin, int count, const batch *b) {
    enum { AHEAD = 24 };
    const uint64_t *id = job->sim->particles.id + begin;
    float *values = job->values;
    for (int k = 0; k < AHEAD && k < count; k++) __builtin_prefetch(values + 3 * id[k], 1);
    for (int k = 0; k < count; k++) {
        if (k + AHEAD < count) __builtin_prefetch(values + 3 * id[k + AHEAD], 1);
        float *to = values + 3 * id[k];
        to[0] = (float)b->x[0][k], to[1] = (float)b->x[1][k], to[2] = (float)b->x[2][k];
    }
}

static void put_batch(const read_job *job, int64_t begin, int count, const batch *b) {
    if (job->type == SPATE_FLOAT32 && !job->place) {
        put_floats(job, begin, count, b);
        return;
    }
    const uint64_t *id = job->sim->particles.id + begin;
    const uint32_t *place = job->place ? job->place + begin : NULL;
    for (int k = 0; k < count; k++) {
        const size_t at = 3 * (place ? (size_t)place[k] : (size_t)id[k]);
        if (place && place[k] == UINT32_MAX) continue;
        if (job->type == SPATE_FLOAT32) {
            float *to = (float *)job->values + at;
            to[0] = (float)b->x[0][k], to[1] = (float)b->x[1][k], to[2] = (float)b->x[2][k];
        } else if (job->type == SPATE_FLOAT64) {
            double *to = (double *)job->values + at;
            to[0] = b->x[0][k], to[1] = b->x[1][k], to[2] = b->x[2][k];
        } else {
            uint16_t *to = (uint16_t *)job->values + at;
            for (int a = 0; a < 3; a++) to[a] = quantise(job, a, b->x[a][k]);
        }
    }
}

static void read_vectors(void *data, chunk items) {
    const read_job *job = data;
    const bool positions = job->attribute == attribute_find("P");
    batch b;
    memset(b.x[2], 0, sizeof b.x[2]);
    for (int64_t r = items.begin; r < items.end; r++) {
        const particle_range range = particle_range_at(job->sim, r);
        for (int64_t i = range.begin; i < range.end; i += BATCH) {
            const int count = (int)(range.end - i < BATCH ? range.end - i : BATCH);
            if (positions)
                batch_positions(job->sim, &range, i, count, &b);
            else
                batch_velocities(job->sim, i, count, &b);
            put_batch(job, i, count, &b);
        }
    }
}

/* ---- Any attribute --------------------------------------------------------------------------- */

static void put_value(const read_job *job, size_t at, double value) {
    switch (job->type) {
    case SPATE_FLOAT32: ((float *)job->values)[at] = (float)value; break;
    case SPATE_FLOAT64: ((double *)job->values)[at] = value; break;
    case SPATE_UINT16: ((uint16_t *)job->values)[at] = (uint16_t)value; break;
    case SPATE_UINT32: ((uint32_t *)job->values)[at] = (uint32_t)value; break;
    default: ((uint64_t *)job->values)[at] = (uint64_t)value; break;
    }
}

static void read_values(void *data, chunk items) {
    const read_job *job = data;
    const attribute *a = job->attribute;
    double value[ATTRIBUTE_COMPONENTS_MAX];
    for (int64_t r = items.begin; r < items.end; r++) {
        const particle_range range = particle_range_at(job->sim, r);
        particle_view view = {job->sim, range.coords, range.begin};
        for (; view.index < range.end; view.index++) {
            if (particle_is_removed(job->sim, view.index)) continue;
            const size_t at =
                job->place ? job->place[view.index] : job->sim->particles.id[view.index];
            a->value(&view, value);
            for (int c = 0; c < a->components; c++)
                put_value(job, at * (size_t)a->components + (size_t)c, value[c]);
        }
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_vector(const attribute *a) {
    return a == attribute_find("P") || a == attribute_find("v");
}

static spate_status check_type(const spate_simulation *sim, const attribute *a,
                               const spate_reading *r) {
    const bool real_type = r->type == SPATE_FLOAT32 || r->type == SPATE_FLOAT64;
    const bool whole =
        r->type == SPATE_UINT16 || r->type == SPATE_UINT32 || r->type == SPATE_UINT64;
    const bool quantised = a == attribute_find("P") && r->type == SPATE_UINT16;
    const bool short_id = r->type == SPATE_UINT16 && !strcmp(a->name, "id");
    if (real_type || quantised || (whole && a->type == ATTRIBUTE_WHOLE && !short_id))
        return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT,
                "attribute '%s' cannot be read as this type (%d); use %s", a->name, (int)r->type,
                a->type == ATTRIBUTE_WHOLE
                    ? "SPATE_UINT32, SPATE_UINT64, SPATE_FLOAT32 or SPATE_FLOAT64"
                    : "SPATE_FLOAT32 or SPATE_FLOAT64");
}

static void set_quanta(const spate_simulation *sim, spate_reading *r, read_job *job) {
    const domain *d = &sim->scene->domain;
    for (int a = 0; a < 3; a++) {
        r->origin[a] = a < sim->scene->dim ? d->origin[a] : 0;
        r->spacing[a] = a < sim->scene->dim ? d->size[a] / QUANTA : 0;
        job->origin[a] = r->origin[a];
        job->inverse[a] = a < sim->scene->dim ? QUANTA / d->size[a] : 0;
    }
}

static spate_status read_into(spate_simulation *sim, spate_reading *r) {
    const attribute *a = NULL;
    if (!r->attribute)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "the reading names no attribute; use \"P\" or another");
    TRY(attribute_choose(sim, r->attribute, &a));
    TRY(check_type(sim, a, r));
    if (r->order != SPATE_BY_ID && r->order != SPATE_AS_STORED)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "there is no order %d of particles; use SPATE_BY_ID or SPATE_AS_STORED",
                    (int)r->order);
    read_job job = {.sim = sim, .attribute = a, .type = r->type, .values = r->values};
    int64_t count;
    TRY(order_places(sim, r->order, &job.place, &count));
    const size_t needed = (size_t)count * (size_t)a->components;
    if (r->values && r->capacity < needed)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "reading '%s' needs room for %zu numbers (%lld particles of %d), there is room "
                    "for %zu; read with values NULL to learn how many there are",
                    a->name, needed, (long long)count, a->components, r->capacity);
    r->components = a->components;
    r->particles = count;
    set_quanta(sim, r, &job);
    if (r->values)
        parallel_for(sim->ctx->pool, particle_range_count(sim), RANGES_A_CHUNK,
                     is_vector(a) ? read_vectors : read_values, &job);
    return SPATE_OK;
}

spate_status spate_simulation_read(spate_simulation *sim, spate_reading *r) {
    TRY(simulation_enter(sim, false));
    spate_status status = cookie_check(sim->ctx, r->cookie, COOKIE_READING, "reading");
    if (!status) status = read_into(sim, r);
    simulation_leave(sim);
    return status;
}

/* ---- Views ----------------------------------------------------------------------------------- */

spate_number field_number(const particle_field_info *info) {
    if (info->is_real) return sizeof(real) == sizeof(float) ? SPATE_FLOAT32 : SPATE_FLOAT64;
    return info->scalar == 1 ? SPATE_UINT8 : info->scalar == 2 ? SPATE_UINT16 : SPATE_UINT64;
}

int field_view_components(const spate_simulation *sim, particle_field f) {
    const particle_field_info *info = &particle_fields[f];
    if (f == PARTICLE_position) return sim->scene->dim;
    return f == PARTICLE_velocity || f == PARTICLE_force ? sim->scene->dim : field_components(info);
}

spate_status spate_simulation_view(spate_simulation *sim, const char *name, spate_view *view) {
    const char *names[PARTICLE_FIELD_COUNT];
    int count = 0;
    TRY(simulation_enter(sim, false));
    spate_status status = SPATE_BAD_INPUT;
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        const void *data = particles_field(&sim->particles, (particle_field)f);
        if (!data) continue;
        names[count++] = info->name;
        if (!name || strcmp(info->name, name)) continue;
        *view = (spate_view){.data = data,
                             .type = field_number(info),
                             .components = field_view_components(sim, (particle_field)f),
                             .stride = (ptrdiff_t)info->bytes,
                             .component_stride =
                                 info->planes > 1 ? sim->particles.capacity * (ptrdiff_t)info->bytes
                                                  : (ptrdiff_t)info->scalar,
                             .particles = sim->particles.count,
                             .generation = sim->generation};
        status = SPATE_OK;
    }
    if (status)
        status = text_fail_unknown(sim->ctx, "particles here have no field", name ? name : "",
                                   names, count);
    simulation_leave(sim);
    return status;
}

static spate_status check_view(spate_simulation *sim, const spate_view *view) {
    if (view->data && view->generation == sim->generation) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT,
                "the view is of generation %llu, the simulation of %llu: a step or a write came "
                "between; make a new view",
                (unsigned long long)view->generation, (unsigned long long)sim->generation);
}

spate_status spate_simulation_check_view(spate_simulation *sim, const spate_view *view) {
    TRY(simulation_enter(sim, false));
    spate_status status = check_view(sim, view);
    simulation_leave(sim);
    return status;
}

uint64_t spate_simulation_generation(const spate_simulation *sim) { return sim->generation; }
