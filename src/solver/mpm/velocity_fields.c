/*
 * Velocity fields: which particles share a velocity on the grid, and where the tiles of each field
 * are.
 *
 * With one field every occupied block has a tile, in their order. With several a block has one for
 * each field with particles in it, so that memory and time follow the material here too.
 */
#include "solver/mpm/mpm.h"

#include <assert.h>

enum { BLOCKS_AT_ONCE = 64 };

void mpm_set_fields(mpm *m, const int *material_field, int count) {
    mpm_view *v = &m->view;
    assert(count >= 1 && count <= FIELDS_MAX);
    v->field_count = count;
    for (int g = 0; g < scene_group_count(m->sim->scene); g++) {
        const int f = material_field[scene_group_material(m->sim->scene, g)];
        assert(f >= 0 && f < count);
        v->group_field[g] = (uint8_t)f;
    }
}

/* Marks the fields that have particles in a block, with 0. */
static void mark_fields(void *data, chunk items) {
    const mpm *m = data;
    const mpm_view *v = &m->view;
    const int64_t block_count = m->sim->blocks.count;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = v->occupied[o];
        for (int64_t i = v->first[block]; i < v->first[block + 1]; i++)
            m->field_tiles[field_of(v, v->particles->group[i]) * block_count + block] = 0;
    }
}

int64_t mpm_number_places(const mpm *m, int32_t *places) {
    const blocks *b = &m->sim->blocks;
    int32_t count = 0;
    for (int32_t o = 0; o < b->occupied_count; o++)
        for (int f = 0; f < m->view.field_count; f++) {
            int32_t *place = &places[(int64_t)f * b->count + b->occupied[o]];
            if (*place >= 0) *place = count++;
        }
    return count;
}

spate_status mpm_place_tiles(mpm *m, int64_t *count) {
    mpm_view *v = &m->view;
    const blocks *b = &m->sim->blocks;
    v->tile[0] = b->tile;
    *count = b->occupied_count;
    if (v->field_count == 1) return SPATE_OK;
    const int64_t places = (int64_t)v->field_count * b->count;
    TRY(GROW(m->sim->ctx, m->field_tiles, m->capacity.field_tiles, places));
    for (int64_t k = 0; k < places; k++) m->field_tiles[k] = -1;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, mark_fields, m);
    *count = mpm_number_places(m, m->field_tiles);
    for (int f = 0; f < v->field_count; f++) v->tile[f] = m->field_tiles + (int64_t)f * b->count;
    return SPATE_OK;
}

/* ---- Blocks near colliders ------------------------------------------------------------------- */

/* Marks those whose particles may be inside one, in every field that has some. */
static void mark_near_colliders(void *data, chunk items) {
    const mpm *m = data;
    const mpm_view *v = &m->view;
    const int64_t block_count = m->sim->blocks.count;
    /* Masses of bodies are asked for at all nodes inside, which particles reach from outside. */
    const double further = v->contacts.count ? 2 * v->domain->dx : 0;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = v->occupied[o];
        double middle[3];
        simulation_middle(v->sim, v->coords[block], middle);
        const bool near = simulation_at_seam(v->sim, block) ||
                          boundary_near(v->boundary, middle, simulation_reach(v->sim) + further);
        for (int f = 0; f < v->field_count; f++)
            m->penetration_places[f * block_count + block] =
                near && v->tile[f][block] >= 0 ? 0 : -1;
    }
}

spate_status mpm_place_penetration(mpm *m) {
    mpm_view *v = &m->view;
    const blocks *b = &m->sim->blocks;
    v->penetration.count = 0;
    if (!v->penetration.on && !v->contacts.count) return SPATE_OK;
    TRY(boundary_move(&m->sim->boundary, m->sim->time));
    const int64_t places = (int64_t)v->field_count * b->count;
    TRY(GROW(m->sim->ctx, m->penetration_places, m->capacity.penetration_places, places));
    for (int64_t k = 0; k < places; k++) m->penetration_places[k] = -1;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, mark_near_colliders, m);
    v->penetration.count = (int32_t)mpm_number_places(m, m->penetration_places);
    for (int f = 0; f < v->field_count; f++)
        v->penetration.tile[f] = m->penetration_places + (int64_t)f * b->count;
    return SPATE_OK;
}
