/* Field tables and the values that scenes give to them, as JSON: for programs that show a scene,
 * complete what is typed, or make controls of its fields. */
#ifndef SPATE_SCENE_FIELDS_JSON_H
#define SPATE_SCENE_FIELDS_JSON_H

#include "core/fields.h"
#include "core/text.h"
#include "scene/registry.h"

/* An object with an entry a table: "domain", "solver mpm", "material liquid", "shape box", ...
 * Each is a list of fields. */
void fields_json(text *out, const registry *all);

/* The values of a struct's numbers, integers, flags and choices, in an object that the caller opens
 * and closes: "density":1000,... What is not finite is left out. */
void values_json(text *out, const field_table *table, const void *values);

#endif
