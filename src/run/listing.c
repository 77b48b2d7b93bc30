/* What there is to read of a simulation, and reading its grid. */
#include "core/text.h"
#include "frames/units.h"
#include "measure/order.h"
#include "measure/statistics.h"
#include <spate/drive.h>
#include <stdio.h>

enum { GRIDS_MAX = 64 };

typedef struct listing {
    const spate_scene *scene;
    spate_entry *entries;
    int capacity, count;
} listing;

static void add(listing *l, const char *name, const char *unit, int components, spate_number type) {
    if (l->count < l->capacity) {
        spate_entry *e = &l->entries[l->count];
        *e = (spate_entry){.components = components, .type = type};
        snprintf(e->name, sizeof e->name, "%s", name);
        snprintf(e->unit, sizeof e->unit, "%s", unit);
    }
    l->count++;
}

/* In SI; what else there is has none. */
static const struct {
    const char *name, *si, *cgs;
} units[] = {
    {"P", "m", "cm"},
    {"v", "m/s", "cm/s"},
    {"velocity", "m/s", "cm/s"},
    {"affine", "m/s", "cm/s"},
    {"speed", "m/s", "cm/s"},
    {"pscale", "m", "cm"},
    {"phi", "m", "cm"},
    {"density", "kg/m^3", "g/cm^3"},
    {"pressure", "Pa", "Ba"},
    {"stress", "Pa", "Ba"},
    {"energy", "J/m^3", "erg/cm^3"},
    {"C", "1/s", "1/s"},
    {"vorticity", "1/s", "1/s"},
    {"temperature", "K", "K"},
};

static const char *unit_of(const spate_scene *scene, const char *name) {
    for (int i = 0; i < COUNT_OF(units); i++)
        if (!strcmp(units[i].name, name))
            return scene->units == UNITS_CGS ? units[i].cgs : units[i].si;
    return "";
}

static const spate_number real_number =
    sizeof(real) == sizeof(float) ? SPATE_FLOAT32 : SPATE_FLOAT64;

static void list_attributes(const spate_simulation *sim, listing *l) {
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        const attribute *a = &attributes[i];
        bool followed = true;
        for (int k = 0; gradient_attribute_names[k]; k++)
            followed &=
                sim->particles.gradient || strcmp(gradient_attribute_names[k], a->name) != 0;
        if (followed)
            add(l, a->name, unit_of(l->scene, a->name), a->components,
                a->type == ATTRIBUTE_REAL ? real_number : SPATE_UINT32);
    }
}

static void list_fields(const spate_simulation *sim, listing *l) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        if (!particles_field(&sim->particles, (particle_field)f)) continue;
        const char *unit = unit_of(l->scene, info->name);
        if (f == PARTICLE_mass) unit = units_of_column(l->scene, "mass");
        if (f == PARTICLE_density || f == PARTICLE_position || !*unit) unit = info->unit;
        add(l, info->name, unit, field_view_components(sim, (particle_field)f), field_number(info));
    }
}

static spate_status list_quantities(spate_simulation *sim, listing *l) {
    statistics s;
    TRY(statistics_create(sim, &s));
    for (int i = 0; i < s.count; i++)
        if (i != COLUMN_frame && i != COLUMN_dt_limit && i != COLUMN_wall_seconds)
            add(l, s.names[i], units_of_column(l->scene, s.names[i]), 1, SPATE_FLOAT64);
    statistics_free(&s);
    return SPATE_OK;
}

static int grid_fields(const spate_simulation *sim, volume_field out[GRIDS_MAX]) {
    const solver_type *t = sim->type;
    const int count = t->grid_fields ? t->grid_fields(sim, out, GRIDS_MAX)
                      : t->volumes   ? t->volumes(sim, out, GRIDS_MAX)
                                     : 0;
    return count < GRIDS_MAX ? count : GRIDS_MAX;
}

/* `density` of a grid is an amount of smoke, not a mass. */
static void list_grids(const spate_simulation *sim, listing *l) {
    volume_field fields[GRIDS_MAX];
    const int count = grid_fields(sim, fields);
    for (int i = 0; i < count; i++)
        add(l, fields[i].name,
            !strcmp(fields[i].name, "density") ? ""
            : !strcmp(fields[i].name, "mass")  ? units_of_column(l->scene, "mass")
                                               : unit_of(l->scene, fields[i].name),
            fields[i].components, SPATE_FLOAT32);
}

spate_status spate_simulation_list(spate_simulation *sim, spate_listing which, spate_entry *entries,
                                   int capacity, int *count) {
    listing l = {.scene = sim->scene, .entries = entries, .capacity = entries ? capacity : 0};
    TRY(simulation_enter(sim, false));
    spate_status status = SPATE_OK;
    switch (which) {
    case SPATE_ATTRIBUTES: list_attributes(sim, &l); break;
    case SPATE_FIELDS: list_fields(sim, &l); break;
    case SPATE_QUANTITIES: status = list_quantities(sim, &l); break;
    case SPATE_GRIDS: list_grids(sim, &l); break;
    default:
        status =
            fail(sim->ctx, SPATE_BAD_INPUT,
                 "there is no listing %d; use SPATE_ATTRIBUTES, SPATE_FIELDS, SPATE_QUANTITIES "
                 "or SPATE_GRIDS",
                 (int)which);
    }
    simulation_leave(sim);
    if (!status) *count = l.count;
    return status;
}

void spate_simulation_cells(const spate_simulation *sim, int cells[3]) {
    for (int a = 0; a < 3; a++) cells[a] = sim->scene->domain.cells[a];
}

static int points_along(const spate_simulation *sim, int a) {
    const domain *d = &sim->scene->domain;
    const bool last =
        sim->type->grid_on_nodes && a < sim->scene->dim && d->walls[a][0] != WALL_PERIODIC;
    return d->cells[a] + (last ? 1 : 0);
}

/* The field of that name, and how many numbers it has. */
static spate_status find_grid(const spate_simulation *sim, const char *name, int *at,
                              volume_field *found, size_t *numbers) {
    volume_field fields[GRIDS_MAX];
    const char *names[GRIDS_MAX];
    const int count = grid_fields(sim, fields);
    for (int i = 0; i < count; i++) names[i] = fields[i].name;
    if (!count)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "solver %s shows no fields of a grid; read particles",
                    sim->type->declaration->name);
    for (*at = 0; *at < count && strcmp(names[*at], name);) ++*at;
    if (*at == count)
        return text_fail_unknown(sim->ctx, "the grid has no field", name, names, count);
    *found = fields[*at];
    *numbers = (size_t)found->components;
    for (int a = 0; a < 3; a++) *numbers *= (size_t)points_along(sim, a);
    return SPATE_OK;
}

static spate_status read_grid(spate_simulation *sim, const char *name, float *values,
                              size_t capacity) {
    int at;
    volume_field found;
    size_t needed;
    TRY(find_grid(sim, name, &at, &found, &needed));
    if (capacity < needed || !values)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "field '%s' has %zu numbers, there is room for %zu; multiply the sizes of "
                    "spate_simulation_grid_size by %d components",
                    name, needed, values ? capacity : 0, found.components);
    (sim->type->grid_field ? sim->type->grid_field : sim->type->volume)(sim, at, values);
    return SPATE_OK;
}

spate_status spate_simulation_grid_size(spate_simulation *sim, const char *name, int size[3],
                                        double first[3]) {
    int at;
    volume_field found;
    size_t numbers;
    TRY(simulation_enter(sim, false));
    spate_status status = find_grid(sim, name ? name : "", &at, &found, &numbers);
    for (int a = 0; a < 3 && !status; a++) {
        const domain *d = &sim->scene->domain;
        const bool flat = a >= sim->scene->dim;
        size[a] = points_along(sim, a);
        first[a] = flat ? 0 : d->origin[a] + (sim->type->grid_on_nodes ? 0 : 0.5) * d->dx;
    }
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_grid(spate_simulation *sim, const char *name, float *values,
                                   size_t capacity) {
    TRY(simulation_enter(sim, false));
    spate_status status = read_grid(sim, name ? name : "", values, capacity);
    simulation_leave(sim);
    return status;
}
