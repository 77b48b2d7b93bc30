/* Bodies that are meshes, for programs that show a simulation. */
#include "core/cookie.h"
#include "frames/mesh_links.h"
#include "solver/drive.h"
#include <spate/drive.h>

spate_mesh_reading spate_default_mesh_reading(void) {
    return (spate_mesh_reading){.cookie = COOKIE_MESH_READING};
}

/* The ids of all particles, ascending: memory of the caller's. */
static spate_status take_ids(spate_simulation *sim, uint64_t **out, int64_t *count) {
    spate_reading r = spate_default_reading();
    r.attribute = "id", r.type = SPATE_UINT64;
    TRY(spate_simulation_read(sim, &r));
    *out = take(sim->ctx, (size_t)r.particles + 1, sizeof **out);
    if (!*out) return SPATE_OUT_OF_MEMORY;
    r.values = *out, r.capacity = (size_t)r.particles;
    *count = r.particles;
    return spate_simulation_read(sim, &r);
}

spate_status simulation_link_meshes(spate_simulation *sim, mesh_links *l) {
    const spate_scene *scene = sim->scene;
    mesh_vertices v = {0};
    uint64_t *ids = NULL, *first = take(sim->ctx, (size_t)scene->body_count + 1, sizeof *first);
    l->triangle_count = l->segment_count = 0;
    if (!first) return SPATE_OUT_OF_MEMORY;
    spate_status status = SPATE_OK;
    if (sim->type->mesh_first_id && mesh_cells_are_in(scene)) {
        for (int b = 0; b < scene->body_count; b++)
            if (scene->bodies[b].mesh.kind) first[b] = sim->type->mesh_first_id(sim, b);
        status = take_ids(sim, &ids, &v.count);
        v.ids = ids, v.first = first;
        if (!status) status = mesh_links_update(scene, &v, l);
    }
    give(sim->ctx, ids), give(sim->ctx, first);
    return status;
}

static spate_status copy_out(spate_context *ctx, const mesh_links *l, spate_mesh_reading *r) {
    const size_t triangles = 3 * (size_t)l->triangle_count, segments = 2 * (size_t)l->segment_count;
    r->triangles_found = l->triangle_count, r->segments_found = l->segment_count;
    if ((r->triangles && r->triangle_capacity < triangles) ||
        (r->segments && r->segment_capacity < segments))
        return fail(ctx, SPATE_BAD_INPUT,
                    "the meshes need room for %zu numbers of triangles and %zu of segments; read "
                    "with both NULL to learn how many there are",
                    triangles, segments);
    if (r->triangles && triangles)
        memcpy(r->triangles, l->triangles, triangles * sizeof *r->triangles);
    if (r->segments && segments) memcpy(r->segments, l->segments, segments * sizeof *r->segments);
    return SPATE_OK;
}

spate_status spate_simulation_read_meshes(spate_simulation *sim, spate_mesh_reading *r) {
    mesh_links links = {.ctx = sim->ctx};
    TRY(cookie_check(sim->ctx, r->cookie, COOKIE_MESH_READING, "mesh_reading"));
    spate_status status = simulation_link_meshes(sim, &links);
    if (!status) status = copy_out(sim->ctx, &links, r);
    mesh_links_free(&links);
    return status;
}
