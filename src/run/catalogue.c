/* Everything that a scene may name, handed to the scene's reader: the public way in to it. */
#include "core/text.h"
#include "measure/attributes.h"
#include "measure/statistics.h"
#include "scene/fields_json.h"
#include "solver/materials/material.h"
#include "solver/solver.h"
#include <spate/drive.h>

static registry everything(void) {
    return (registry){
        .solvers = solver_declarations,
        .solver_count = solver_type_count,
        .materials = material_types,
        .material_count = MATERIAL_KINDS,
        .attributes = attribute_names,
        .gradient_attributes = gradient_attribute_names,
        .columns = statistics_names,
    };
}

spate_status spate_scene_parse(spate_context *context, const char *bytes, size_t length,
                               const char *name, const char *folder, const char *const *sets,
                               int set_count, spate_scene **scene) {
    const registry all = everything();
    const scene_document given = {bytes, length, name, folder, sets, set_count};
    return scene_parse(context, &all, &given, scene);
}

spate_status spate_scene_load(spate_context *context, const char *path, const char *const *sets,
                              int set_count, spate_scene **scene) {
    const registry all = everything();
    return scene_load(context, &all, path, sets, set_count, scene);
}

spate_status spate_scene_reference(spate_context *context, void (*write)(const char *, void *),
                                   void *user) {
    const registry all = everything();
    return scene_reference(context, &all, write, user);
}

spate_status spate_scene_fields(spate_context *context, void (*write)(const char *, void *),
                                void *user) {
    const registry all = everything();
    text t = {.ctx = context};
    fields_json(&t, &all);
    const bool failed = t.failed;
    if (!failed) write(t.data, user);
    text_free(&t);
    return failed ? fail(context, SPATE_OUT_OF_MEMORY, "no memory for the field tables") : SPATE_OK;
}
