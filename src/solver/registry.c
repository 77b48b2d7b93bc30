/* Every solver and material in the build: a new one is added here and nowhere else. */
#include "solver/flip/flip.h"
#include "solver/materials/material.h"
#include "solver/mpm/mpm.h"
#include "solver/smoke/smoke.h"
#include "solver/solver.h"
#include "solver/sph/sph.h"

const material_model *const material_models[MATERIAL_KINDS] = {
    [MATERIAL_LIQUID] = &material_liquid,
    [MATERIAL_NEO_HOOKEAN] = &material_neo_hookean,
    [MATERIAL_FIXED_COROTATED] = &material_fixed_corotated,
    [MATERIAL_DRUCKER_PRAGER] = &material_drucker_prager,
    [MATERIAL_NACC] = &material_nacc,
    [MATERIAL_VON_MISES] = &material_von_mises,
    [MATERIAL_SNOW] = &material_snow,
    [MATERIAL_LINEAR] = &material_linear,
    [MATERIAL_GAS] = &material_gas,
};

static const material_type *const material_types[MATERIAL_KINDS] = {
    [MATERIAL_LIQUID] = &material_liquid.type,
    [MATERIAL_NEO_HOOKEAN] = &material_neo_hookean.type,
    [MATERIAL_FIXED_COROTATED] = &material_fixed_corotated.type,
    [MATERIAL_DRUCKER_PRAGER] = &material_drucker_prager.type,
    [MATERIAL_NACC] = &material_nacc.type,
    [MATERIAL_VON_MISES] = &material_von_mises.type,
    [MATERIAL_SNOW] = &material_snow.type,
    [MATERIAL_LINEAR] = &material_linear.type,
    [MATERIAL_GAS] = &material_gas.type,
};

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

const solver_type *const solver_types[] = {&solver_mpm, &solver_flip, &solver_sph, &solver_smoke};
const int solver_type_count = COUNT_OF(solver_types);

static const solver_declaration *const declarations[] = {&mpm_declaration, &flip_declaration,
                                                         &sph_declaration, &smoke_declaration};

const registry spate_registry = {
    .solvers = declarations,
    .solver_count = COUNT_OF(declarations),
    .materials = material_types,
    .material_count = MATERIAL_KINDS,
};
