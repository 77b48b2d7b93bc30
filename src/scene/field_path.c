/* Fields by shorter names than their paths. */
#include "scene/scene_tables.h"
#include <stdio.h>
#include <string.h>

bool spate_scene_field(const char *name, char *path, size_t size) {
    const field_table *top = &scene_top_table;
    bool whole = strchr(name, '.') != NULL;
    for (int i = 0; i < top->count && !whole; i++) whole = !strcmp(top->fields[i].name, name);
    return snprintf(path, size, "%s%s", whole ? "" : "solver.", name) < (int)size;
}
