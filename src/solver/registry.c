/* Every solver in the build; materials are listed in material.h. */
#include "solver/flip/flip.h"
#include "solver/materials/material.h"
#include "solver/mpm/mpm.h"
#include "solver/smoke/smoke.h"
#include "solver/solver.h"
#include "solver/sph/sph.h"

#define MODEL(kind, name) [MATERIAL_##kind] = &material_##name,
const material_model *const material_models[MATERIAL_KINDS] = {MATERIALS(MODEL)};

#define TYPE(kind, name) [MATERIAL_##kind] = &material_##name.type,
const material_type *const material_types[MATERIAL_KINDS] = {MATERIALS(TYPE)};

material_kind material_kind_of(const material_type *type) {
    for (int k = 0; k < MATERIAL_KINDS; k++)
        if (material_types[k] == type) return (material_kind)k;
    return MATERIAL_KINDS;
}

material_constants material_constants_of(const spate_scene *scene, int index) {
    material_constants constants;
    const material *given = &scene->materials[index];
    material_models[material_kind_of(given->type)]->constants(given->parameters, scene->dim,
                                                              &constants);
    return constants;
}

real material_temperature(const spate_scene *scene, int index) {
    const material_constants c = material_constants_of(scene, index);
    return c.kind == MATERIAL_LIQUID ? c.liquid.temperature : 0;
}

/* The first is the default. */
#define SOLVERS(X) X(mpm) X(flip) X(sph) X(smoke)

#define SOLVER_TYPE(name) &solver_##name,
const solver_type *const solver_types[] = {SOLVERS(SOLVER_TYPE)};
const int solver_type_count = COUNT_OF(solver_types);

#define DECLARATION(name) &name##_declaration,
const solver_declaration *const solver_declarations[] = {SOLVERS(DECLARATION)};
