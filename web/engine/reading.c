/* What the page reads of a simulation. */
#include "engine.h"

#include <inttypes.h>
#include <stdio.h>

/* Numbers of the last reading: particles, components; of P as 16 bits origin and spacing; of a grid
 * or lattice size and first point. */
static double shape[16];

const double *ENGINE_CALL(engine_shape)(void) { return shape; }

/* The attribute whose name is in the room, as floats (type 0), 16 bits (3) or 32 bits (4), as
 * stored: the answer. */
spate_status ENGINE_CALL(engine_read)(int type, int by_id) {
    engine *e = engine_get();
    spate_reading r = spate_default_reading();
    r.attribute = e->room, r.type = (spate_number)type;
    r.order = by_id ? SPATE_BY_ID : SPATE_AS_STORED;
    spate_status status = spate_simulation_read(e->sim, &r);
    if (status) return status;
    const size_t numbers = (size_t)r.particles * (size_t)r.components;
    r.values = engine_answer_take(numbers * (type == SPATE_UINT16 ? 2 : 4) + 4);
    r.capacity = numbers;
    if (!r.values) return SPATE_OUT_OF_MEMORY;
    if (numbers) status = spate_simulation_read(e->sim, &r);
    shape[0] = (double)r.particles, shape[1] = r.components;
    for (int a = 0; a < 3; a++) shape[2 + a] = r.origin[a], shape[5 + a] = r.spacing[a];
    return status;
}

/* The field of the grid whose name is in the room: the answer, as floats. */
spate_status ENGINE_CALL(engine_grid)(int components) {
    engine *e = engine_get();
    int size[3];
    spate_status status = spate_simulation_grid_size(e->sim, e->room, size, shape + 3);
    if (status) return status;
    size_t numbers = (size_t)components;
    for (int a = 0; a < 3; a++) shape[a] = size[a], numbers *= (size_t)size[a];
    float *values = engine_answer_take(numbers * sizeof *values);
    if (!values) return SPATE_OUT_OF_MEMORY;
    return spate_simulation_grid(e->sim, e->room, values, numbers);
}

/* Bodies that are meshes, as places among the particles by id: triangles, then segments, whose
 * numbers are in the shape. */
spate_status ENGINE_CALL(engine_meshes)(void) {
    engine *e = engine_get();
    spate_mesh_reading r = spate_default_mesh_reading();
    spate_status status = spate_simulation_read_meshes(e->sim, &r);
    if (status) return status;
    r.triangle_capacity = 3 * (size_t)r.triangles_found;
    r.segment_capacity = 2 * (size_t)r.segments_found;
    r.triangles =
        engine_answer_take((r.triangle_capacity + r.segment_capacity + 1) * sizeof *r.triangles);
    if (!r.triangles) return SPATE_OUT_OF_MEMORY;
    r.segments = r.triangles + r.triangle_capacity;
    status = spate_simulation_read_meshes(e->sim, &r);
    shape[0] = (double)r.triangles_found, shape[1] = (double)r.segments_found;
    return status;
}

/* Signed distances to colliders at points from (x, y, z) on: the answer, as floats. */
spate_status ENGINE_CALL(engine_solids)(double x, double y, double z, double spacing, int nx,
                                        int ny, int nz) {
    spate_lattice l = {.first = {x, y, z}, .spacing = spacing, .size = {nx, ny, nz}};
    l.capacity = (size_t)nx * (size_t)ny * (size_t)nz;
    l.values = engine_answer_take(l.capacity * sizeof *l.values);
    if (!l.values) return SPATE_OUT_OF_MEMORY;
    return spate_simulation_solid_distance(engine_get()->sim, &l);
}

/* The quantity whose name is in the room; NAN where there is none. */
double ENGINE_CALL(engine_quantity)(void) {
    engine *e = engine_get();
    double value;
    return spate_simulation_quantity(e->sim, e->room, &value) ? __builtin_nan("") : value;
}

const char *ENGINE_CALL(engine_hash)(void) {
    static char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, spate_simulation_hash(engine_get()->sim));
    return hash;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

enum { ENTRIES_MAX = 256 };

/* A text in quotes. Names are a user's, and may have quotes in them. */
static void add_quoted(const char *text) {
    engine_answer_add("\"", NULL);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        char letter[8] = {(char)c};
        if (c == '"' || c == '\\' || c < 0x20) snprintf(letter, sizeof letter, "\\u%04x", c);
        engine_answer_add(letter, NULL);
    }
    engine_answer_add("\"", NULL);
}

static spate_status list(const char *key, spate_listing which) {
    static spate_entry entries[ENTRIES_MAX];
    int count;
    spate_status status =
        spate_simulation_list(engine_get()->sim, which, entries, ENTRIES_MAX, &count);
    if (status) return status;
    char line[160];
    snprintf(line, sizeof line, "%s\"%s\":[", which ? ",\n" : "{", key);
    engine_answer_add(line, NULL);
    for (int i = 0; i < count && i < ENTRIES_MAX; i++) {
        engine_answer_add(i ? ",{\"name\":" : "{\"name\":", NULL);
        add_quoted(entries[i].name);
        snprintf(line, sizeof line, ",\"unit\":\"%s\",\"components\":%d}", entries[i].unit,
                 entries[i].components);
        engine_answer_add(line, NULL);
    }
    engine_answer_add("]", NULL);
    return SPATE_OK;
}

/* What there is to read, as JSON: attributes, fields, quantities, grids. */
spate_status ENGINE_CALL(engine_list)(void) {
    engine_get()->answer_length = 0;
    spate_status status = list("attributes", SPATE_ATTRIBUTES);
    if (!status) status = list("fields", SPATE_FIELDS);
    if (!status) status = list("quantities", SPATE_QUANTITIES);
    if (!status) status = list("grids", SPATE_GRIDS);
    engine_answer_add("}", NULL);
    return status;
}

spate_status ENGINE_CALL(engine_portrait)(void) {
    engine_get()->answer_length = 0;
    return spate_simulation_portrait(engine_get()->sim, engine_answer_add, NULL);
}

spate_status ENGINE_CALL(engine_recorded)(void) {
    engine_get()->answer_length = 0;
    return spate_simulation_recorded(engine_get()->sim, engine_answer_add, NULL);
}

spate_status ENGINE_CALL(engine_fields)(void) {
    engine *e = engine_get();
    e->answer_length = 0;
    spate_status status = engine_ready(e);
    return status ? status : spate_scene_fields(e->ctx, engine_answer_add, NULL);
}
