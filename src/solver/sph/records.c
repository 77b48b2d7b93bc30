/* Positions and velocities of fluid and boundary particles as records, which the sums read. */
#include "core/vec.h"
#include "solver/sph/sph.h"

enum { BLOCKS_A_CHUNK = 4 };

/* ---- Boundary -------------------------------------------------------------------------------- */

void sph_wrap(const sph *s, const int32_t coords[3], real corner[3]) {
    const domain *d = &s->scene->domain;
    for (int a = 0; a < 3; a++) {
        double at = (double)coords[a] * BLOCK_EDGE - d->cells[a] / 2;
        if (s->view.period[a] > 0)
            at -= (double)s->view.period[a] * floor(at / (double)s->view.period[a] + 0.5);
        corner[a] = a < s->scene->dim ? (real)at : 0;
    }
}

/* The way out of the wall at a point. */
static void find_normal(const sph *s, int owner, const double x[3], double normal[3]) {
    const spate_scene *scene = s->scene;
    if (owner < scene->collider_count) {
        boundary_distance(&s->sim->boundary, owner, x, normal, NULL);
        return;
    }
    const int side = owner - scene->collider_count;
    vec_set(normal, 0, 0, 0);
    normal[side / 2] = side % 2 ? -1 : 1;
}

static bool is_sticky(const spate_scene *scene, int owner) {
    if (owner < scene->collider_count) return scene->colliders[owner].contact == CONTACT_STICKY;
    owner -= scene->collider_count;
    return scene->domain.walls[owner / 2][owner % 2] == WALL_STICKY;
}

static void place_boundary(void *data, chunk items) {
    sph *s = data;
    const spate_simulation *sim = s->sim;
    const particles *p = &s->boundary.particles;
    const blocks *b = &s->boundary.blocks;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        real corner[3];
        sph_wrap(s, b->coords[block], corner);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            real *position = s->view.boundary.position[i], *velocity = s->view.boundary.velocity[i],
                 *surface = s->view.boundary_normal[i];
            double x[3], local[3] = {0}, normal[3];
            for (int a = 0; a < 3; a++) {
                const bool used = a < sim->scene->dim;
                if (used) local[a] = (double)PLANE(p, position, a)[i];
                position[a] = used ? corner[a] + PLANE(p, position, a)[i] : 0;
                velocity[a] = used ? p->velocity[i][a] : 0;
            }
            position[3] = (real)((double)p->mass[i] / s->volume);
            velocity[3] = 0;
            simulation_world(sim, b->coords[block], local, x);
            find_normal(s, p->group[i], x, normal);
            for (int a = 0; a < 3; a++) surface[a] = a < sim->scene->dim ? (real)normal[a] : 0;
            surface[3] = is_sticky(sim->scene, p->group[i])
                             ? s->boundary.depth[p->id[i]] / (real)sim->scene->domain.dx
                             : -1;
        }
    }
}

/* Where they are at the start of the step. */
spate_status sph_boundary_records(sph *s) {
    spate_simulation *sim = s->sim;
    const bool first = !s->view.boundary.position;
    if (!first && !s->boundary.moving) return SPATE_OK;
    TRY(boundary_move(&sim->boundary, sim->time));
    TRY(sph_boundary_move(&s->boundary, sim->time));
    if (first) {
        const size_t room = (size_t)s->boundary.particles.count + 1;
        s->view.boundary.position = take(sim->ctx, room, sizeof(real4));
        s->view.boundary.velocity = take(sim->ctx, room, sizeof(real4));
        s->view.boundary_normal = take(sim->ctx, room, sizeof(real4));
        if (!s->view.boundary.position || !s->view.boundary.velocity || !s->view.boundary_normal)
            return SPATE_OUT_OF_MEMORY;
    }
    parallel_for(sim->ctx->pool, s->boundary.blocks.occupied_count, BLOCKS_A_CHUNK, place_boundary,
                 s);
    return SPATE_OK;
}

/* ---- Fluid ----------------------------------------------------------------------------------- */

/* Past the last particle there is room to load and store whole lanes. */
static spate_status reserve(sph *s) {
    spate_context *ctx = s->sim->ctx;
    const int64_t count = s->sim->particles.count + WIDE;
    TRY(ENSURE(ctx, s->capacity, count, EACH(s->view.fluid.position, 1),
               EACH(s->view.fluid.velocity, 1), EACH(s->view.acceleration, 1)));
    s->view.displacement = s->view.acceleration;
    if (s->view.extras)
        TRY(ENSURE(ctx, s->extra_capacity, count, EACH(s->view.xsph, 1), EACH(s->view.shift, 1)));
    if (s->options->pressure == SPH_WCSPH) return SPATE_OK;
    TRY(ENSURE(ctx, s->implicit_capacity, count, EACH(s->view.gradient_sum, 1),
               EACH(s->view.hydrostatic, 1), EACH(s->view.source, 1), EACH(s->view.next, 1),
               EACH(s->previous, 1), EACH(s->view.density_error, 1)));
    return ENSURE(ctx, s->pair_capacity, s->view.fluid_neighbours.entries,
                  EACH(s->view.pair_gradient, 1));
}

static void fill_records(void *data, chunk items) {
    sph *s = data;
    const particles *p = &s->sim->particles;
    const blocks *b = &s->sim->blocks;
    const int dim = s->scene->dim;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        real corner[3];
        sph_wrap(s, b->coords[block], corner);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            real *position = s->view.fluid.position[i], *velocity = s->view.fluid.velocity[i];
            position[2] = position[3] = velocity[2] = velocity[3] = 0;
            for (int a = 0; a < dim; a++) {
                position[a] = corner[a] + PLANE(p, position, a)[i];
                velocity[a] = p->velocity[i][a];
            }
        }
    }
}

spate_status sph_fluid_records(sph *s) {
    TRY(reserve(s));
    s->view.density = s->sim->particles.density;
    parallel_for(s->threads, s->sim->blocks.occupied_count, BLOCKS_A_CHUNK, fill_records, s);
    return SPATE_OK;
}

void sph_records_free(sph *s) {
    spate_context *ctx = s->sim->ctx;
    sph_view *v = &s->view;
    void *const all[] = {v->fluid.position,
                         v->fluid.velocity,
                         v->boundary.position,
                         v->boundary.velocity,
                         v->boundary_normal,
                         v->acceleration,
                         v->xsph,
                         v->shift,
                         v->hydrostatic,
                         v->gradient_sum,
                         v->source,
                         v->next,
                         v->density_error,
                         v->pair_gradient,
                         s->previous};
    for (int i = 0; i < COUNT_OF(all); i++) give(ctx, all[i]);
}

size_t sph_records_bytes(const sph *s) {
    /* reals of a particle, as sph_fluid_records makes room for them */
    enum { ALWAYS = 12, EXTRA = 8, IMPLICIT = 12, BOUNDARY = 12 };
    const int64_t reals = ALWAYS * s->capacity + EXTRA * s->extra_capacity +
                          IMPLICIT * s->implicit_capacity + s->pair_capacity +
                          BOUNDARY * s->boundary.particles.count;
    return (size_t)reals * sizeof(real) + neighbours_bytes(&s->view.fluid_neighbours) +
           neighbours_bytes(&s->view.boundary_neighbours) + sph_tension_bytes(s->surface);
}
