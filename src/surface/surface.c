/* From particles to a mesh; see surface.h. */
#include "surface/surface.h"
#include "surface/lattice.h"
#include "surface/marching.h"
#include "surface/shapes.h"

spate_status surface_take_vertices(surface_mesh *m, int64_t count) {
    size_t room = (size_t)count + 1;
    m->position = take(m->ctx, room, sizeof *m->position);
    m->normal = take(m->ctx, room, sizeof *m->normal);
    m->velocity = take(m->ctx, room, sizeof *m->velocity);
    m->bond = take(m->ctx, room, sizeof *m->bond);
    if (!m->position || !m->normal || !m->velocity || !m->bond) return SPATE_OUT_OF_MEMORY;
    m->vertex_count = count;
    return SPATE_OK;
}

spate_status surface_take_triangles(surface_mesh *m, int64_t count) {
    m->triangle = take(m->ctx, (size_t)count + 1, sizeof *m->triangle);
    if (!m->triangle) return SPATE_OUT_OF_MEMORY;
    m->triangle_count = count;
    return SPATE_OK;
}

spate_status surface_take_lines(surface_mesh *m, int64_t count) {
    m->line = take(m->ctx, (size_t)count + 1, sizeof *m->line);
    if (!m->line) return SPATE_OUT_OF_MEMORY;
    m->line_count = count;
    return SPATE_OK;
}

void surface_free(surface_mesh *m) {
    give(m->ctx, m->position);
    give(m->ctx, m->normal);
    give(m->ctx, m->velocity);
    give(m->ctx, m->bond);
    give(m->ctx, m->triangle);
    give(m->ctx, m->line);
    *m = (surface_mesh){.ctx = m->ctx};
}

/* Lattice coordinates become the scene's. */
static void place(surface_mesh *m, const surface_settings *s) {
    for (int64_t v = 0; v < m->vertex_count; v++)
        for (int a = 0; a < (s->plane ? 2 : 3); a++)
            m->position[v][a] = (real)(s->origin[a] + s->spacing * (double)m->position[v][a]);
}

spate_status surface_create(spate_context *ctx, const surface_settings *settings,
                            const surface_particle *particles, int64_t count, surface_mesh *out) {
    marching_cases cases;
    lattice l = lattice_create(ctx, settings);
    *out = (surface_mesh){.ctx = ctx};
    spate_status status;
    TRY_OR_DONE(status, lattice_build(&l, particles, count, settings->periodic));
    TRY_OR_DONE(status, lattice_measure(&l));
    TRY_OR_DONE(status, lattice_fill_pockets(&l));
    marching_cases_fill(&cases);
    TRY_OR_DONE(status, marching_mesh(&l, &cases, particles, out));
    TRY_OR_DONE(status, surface_smooth(out, settings->smoothing));
    TRY_OR_DONE(status, surface_add_drops(&l, particles, out));
    place(out, settings);
done:
    lattice_free(&l);
    if (status != SPATE_OK) surface_free(out);
    return status;
}
