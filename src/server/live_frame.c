/* The frames of a simulation that runs. */
#include "port/clock.h"
#include "server/live.h"
#include <math.h>
#include <stdio.h>

enum { GRID_POINTS_MOST = 3000000 };

spate_status live_room(live *l, int64_t count) {
    return ENSURE(l->ctx, l->float_room, count, EACH(l->floats, 1));
}

const spate_entry *live_find(const spate_entry *entries, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(entries[i].name, name)) return &entries[i];
    return NULL;
}

/* ---- Particles ------------------------------------------------------------------------------- */

static spate_status add_positions(live *l, packing *out, int64_t *count) {
    spate_reading r = spate_default_reading();
    r.type = SPATE_UINT16, r.order = l->order;
    TRY(spate_simulation_read(l->sim, &r));
    *count = r.particles;
    packed_particles *head = packing_section(
        out, PACKED_PARTICLES, sizeof *head + (size_t)r.particles * sizeof(uint16_t[3]));
    if (!head) return SPATE_OUT_OF_MEMORY;
    uint16_t *values = (uint16_t *)(head + 1);
    r.values = values, r.capacity = 3 * (size_t)r.particles;
    TRY(spate_simulation_read(l->sim, &r));
    *head = (packed_particles){.count = (uint32_t)r.particles, .axes = 3};
    for (int a = 0; a < 3; a++) head->origin[a] = r.origin[a], head->spacing[a] = r.spacing[a];
    return SPATE_OK;
}

/* In 2D z is left out, a third of it. */
static void make_flat(packing *out, size_t section) {
    packed_section *head = (packed_section *)(out->packet->bytes + section);
    packed_particles *made = (packed_particles *)(head + 1);
    uint16_t *values = (uint16_t *)(made + 1);
    const int64_t count = made->count;
    for (int64_t i = 0; i < count; i++)
        values[2 * i] = values[3 * i], values[2 * i + 1] = values[3 * i + 1];
    made->axes = 2;
    head->length = sizeof *made + (size_t)count * sizeof(uint16_t[2]);
    out->packet->length = (int64_t)(section + sizeof *head + (head->length + 7) / 8 * 8);
}

static spate_status add_groups(live *l, packing *out, int64_t count) {
    spate_reading r = spate_default_reading();
    if (scene_group_slots(l->sim->scene) < 2) return SPATE_OK;
    TRY(live_room(l, count));
    r.attribute = "group", r.type = SPATE_UINT32, r.order = l->order;
    r.values = l->floats, r.capacity = (size_t)count;
    TRY(spate_simulation_read(l->sim, &r));
    packed_group *head =
        packing_section(out, PACKED_GROUP, sizeof *head + (size_t)count * sizeof(uint16_t));
    if (!head) return SPATE_OUT_OF_MEMORY;
    head->count = (uint32_t)count;
    const uint32_t *from = r.values;
    uint16_t *to = (uint16_t *)(head + 1);
    for (int64_t i = 0; i < count; i++) to[i] = (uint16_t)from[i];
    return SPATE_OK;
}

static spate_status add_scalar(live *l, const viewer *v, packing *out, int64_t count) {
    spate_reading r = spate_default_reading();
    char name[MESSAGE_WORD];
    int component = -1;
    if (!strcmp(v->colour, "material")) return SPATE_OK;
    snprintf(name, sizeof name, "%s", v->colour);
    if (!live_find(l->attributes, l->attribute_count, name))
        component = subject_component(v->colour, name);
    if (!live_find(l->attributes, l->attribute_count, name)) return SPATE_OK;
    r.attribute = name, r.order = l->order;
    TRY(spate_simulation_read(l->sim, &r));
    TRY(live_room(l, count * r.components));
    r.values = l->floats, r.capacity = (size_t)(count * r.components);
    TRY(spate_simulation_read(l->sim, &r));
    for (int64_t i = 0; i < count; i++)
        l->floats[i] = subject_scalar(l->floats + i * r.components, r.components, component);
    packing_scalar(out, l->floats, count);
    return SPATE_OK;
}

static spate_status add_particles(live *l, const viewer *v, packing *out) {
    const size_t section = (size_t)out->packet->length;
    int64_t count;
    TRY(add_positions(l, out, &count));
    if (l->sim->scene->dim == 2) make_flat(out, section);
    TRY(add_groups(l, out, count));
    TRY(add_scalar(l, v, out, count));
    if (!mesh_cells_are_in(l->sim->scene)) return SPATE_OK;
    TRY(simulation_link_meshes(l->sim, &l->meshes));
    packing_mesh(out, &l->meshes);
    return SPATE_OK;
}

/* ---- Grids ----------------------------------------------------------------------------------- */

/* Which fields are the channels: the dyes, or the one that colours. */
static int choose_fields(const live *l, const viewer *v, const spate_entry *out[PACKED_CHANNELS],
                         int *component) {
    const spate_scene *s = l->sim->scene;
    char name[MESSAGE_WORD];
    int count = 0;
    *component = -1;
    out[0] = live_find(l->grids, l->grid_count, v->colour);
    if (!out[0]) {
        *component = subject_component(v->colour, name);
        out[0] = live_find(l->grids, l->grid_count, name);
    }
    if (out[0]) return 1;
    for (int m = 0; m < s->material_count && count < PACKED_CHANNELS; m++) {
        out[count] = live_find(l->grids, l->grid_count, s->materials[m].name);
        count += out[count] != NULL;
    }
    if (!count && (out[0] = live_find(l->grids, l->grid_count, "density"))) count = 1;
    return count;
}

/* One field into its channel; every `stride`-th point along each axis. */
static spate_status add_channel(live *l, const spate_entry *entry, int component, int channel,
                                const int full[3], int stride, packed_grid *head) {
    const int64_t points = (int64_t)full[0] * full[1] * full[2];
    const int n = entry->components;
    TRY(live_room(l, points * n));
    TRY(spate_simulation_grid(l->sim, entry->name, l->floats, (size_t)(points * n)));
    float low = 0, high = 0;
    for (int64_t i = 0; i < points; i++) {
        const float value = subject_scalar(l->floats + i * n, n, component);
        l->floats[i] = value;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    head->low[channel] = low, head->high[channel] = high;
    const float by = high > low ? 255 / (high - low) : 0;
    uint8_t *to = (uint8_t *)(head + 1) + channel;
    for (uint32_t k = 0; k < head->size[2]; k++)
        for (uint32_t j = 0; j < head->size[1]; j++)
            for (uint32_t i = 0; i < head->size[0]; i++, to += head->channels) {
                const int64_t at =
                    ((int64_t)(k * (unsigned)stride) * full[1] + (int64_t)(j * (unsigned)stride)) *
                        full[0] +
                    (int64_t)(i * (unsigned)stride);
                *to = (uint8_t)((l->floats[at] - low) * by + 0.5f);
            }
    return SPATE_OK;
}

static spate_status add_grid(live *l, const viewer *v, packing *out) {
    const spate_entry *fields[PACKED_CHANNELS];
    int component, full[3], stride = 1;
    double first[3];
    const int count = choose_fields(l, v, fields, &component);
    if (!count) return SPATE_OK;
    TRY(spate_simulation_grid_size(l->sim, fields[0]->name, full, first));
    while ((int64_t)(full[0] / stride) * (full[1] / stride) * (full[2] / stride + 1) >
           GRID_POINTS_MOST)
        stride++;
    packed_grid made = {.channels = (uint32_t)count, .spacing = l->scene->domain.dx * stride};
    size_t points = 1;
    for (int a = 0; a < 3; a++) {
        made.size[a] = (uint32_t)((full[a] + stride - 1) / stride);
        made.first[a] = first[a];
        points *= made.size[a];
    }
    packed_grid *head =
        packing_section(out, PACKED_GRID, sizeof *head + points * (size_t)made.channels);
    if (!head) return SPATE_OUT_OF_MEMORY;
    *head = made;
    for (int c = 0; c < count; c++)
        TRY(add_channel(l, fields[c], component, c, full, stride, head));
    return SPATE_OK;
}

/* ---- Colliders and quantities ---------------------------------------------------------------- */

static spate_status add_poses(live *l, packing *out) {
    const spate_scene *s = l->sim->scene;
    if (!s->collider_count) return SPATE_OK;
    packed_pose *to =
        packing_section(out, PACKED_POSES, (size_t)s->collider_count * sizeof(packed_pose));
    if (!to) return SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < s->collider_count; i++) {
        spate_pose at = spate_default_pose();
        if (!collider_is_present(&s->colliders[i], l->sim->time)) continue;
        TRY(spate_simulation_pose(l->sim, s->colliders[i].name, &at));
        to[i].present = 1;
        for (int a = 0; a < 3; a++) to[i].position[a] = (float)at.position[a];
        for (int a = 0; a < 4; a++) to[i].rotation[a] = (float)at.rotation[a];
    }
    return SPATE_OK;
}

/* Sums over all particles: at most a twentieth of the time goes into them. */
static spate_status add_quantities(live *l, viewer *v, packing *out) {
    enum { SHARE = 20, OFTEN = 50000000 };
    const int64_t now = clock_nanoseconds();
    const int64_t pause = l->quantities_cost * SHARE > OFTEN ? l->quantities_cost * SHARE : OFTEN;
    double values[MESSAGE_WORDS];
    if (!v->plot_count || (v->plotted_at && now - v->plotted_at < pause)) return SPATE_OK;
    for (int i = 0; i < v->plot_count; i++)
        TRY(spate_simulation_quantity(l->sim, v->plots[i], &values[i]));
    double *to = packing_section(out, PACKED_QUANTITIES, (size_t)v->plot_count * sizeof *to);
    if (!to) return SPATE_OUT_OF_MEMORY;
    memcpy(to, values, (size_t)v->plot_count * sizeof *to);
    v->plotted_at = clock_nanoseconds();
    l->quantities_cost = v->plotted_at - now;
    return SPATE_OK;
}

spate_status live_frame(void *self, viewer *v, packing *out) {
    live *l = self;
    if (!out->packet) return SPATE_OUT_OF_MEMORY;
    if (scene_on_grid(l->scene))
        TRY(add_grid(l, v, out));
    else
        TRY(add_particles(l, v, out));
    TRY(add_poses(l, out));
    return add_quantities(l, v, out);
}
