/* Gathering the particles of one moment for the writers of frames. */
#include "frames/frames.h"
#include "core/finite.h"
#include "frames/mesh_cells.h"
#include "solver/drive.h"
#include <string.h>

const frame_format frame_formats[FRAME_FORMATS] = {
    {OUTPUT_VTP, "vtp", vtp_write},
    {OUTPUT_PLY, "ply", ply_write},
    {OUTPUT_BGEO, "bgeo", bgeo_write},
};

static bool has_array(const particle_frame *f, const attribute *a) {
    for (int i = 0; i < f->array_count; i++)
        if (f->arrays[i].attribute == a) return true;
    return false;
}

static spate_status add_array(spate_simulation *sim, const id_order *order, const attribute *a,
                              particle_frame *f) {
    if (has_array(f, a)) return SPATE_OK;
    void *values =
        take(sim->ctx, (size_t)order->count * (size_t)a->components + 1, attribute_size(a));
    if (!values) return SPATE_OUT_OF_MEMORY;
    attribute_store(sim, order, a, values);
    f->arrays[f->array_count++] = (frame_array){a, values};
    const int64_t count = order->count * a->components;
    const bool good = a->type != ATTRIBUTE_REAL || finite_reals(values, count);
    if (a->type == ATTRIBUTE_REAL) axes_turn_reals(&f->axes, values, order->count, a->components);
    return good ? SPATE_OK : simulation_not_finite(sim, "the attribute", a->name);
}

spate_status frame_create(spate_simulation *sim, particle_frame *f) {
    static const char *const always[] = {"P", "v", "id", "pscale", "material"};
    const output_settings *wanted = &sim->scene->output;
    *f = (particle_frame){.ctx = sim->ctx,
                          .scene_name = drive_given_scene(sim)->name,
                          .time = sim->time,
                          .axes = axes_of_files(sim->scene)};
    id_order order;
    TRY(id_order_create(sim, &order));
    f->count = order.count;
    spate_status status = SPATE_OK;
    for (int i = 0; i < COUNT_OF(always) && status == SPATE_OK; i++)
        status = add_array(sim, &order, attribute_find(always[i]), f);
    /* Whoever draws the frame needs to know whose colour a particle has, and what is a mesh's. */
    const bool meshes = mesh_cells_are_in(sim->scene);
    if (status == SPATE_OK && (meshes || scene_colors_groups(sim->scene)))
        status = add_array(sim, &order, attribute_find("group"), f);
    if (status == SPATE_OK && meshes) status = add_array(sim, &order, attribute_find("role"), f);
    if (status == SPATE_OK && sim->scene->species_count)
        status = add_array(sim, &order, attribute_find("concentration"), f);
    for (int i = 0; i < wanted->field_count && status == SPATE_OK; i++)
        status = add_array(sim, &order, attribute_find(wanted->fields[i]), f);
    id_order_free(&order);
    if (status != SPATE_OK) frame_free(f);
    return status;
}

void frame_free(particle_frame *f) {
    for (int i = 0; i < f->array_count; i++) give(f->ctx, f->arrays[i].values);
    f->array_count = 0;
}
