#include "solver/materials/one_liquid.h"

material_constants one_liquid_constants(const spate_scene *scene) {
    return material_constants_of(scene, scene_group_material(scene, 0));
}

bool one_liquid_check(const spate_scene *scene, field_report *report) {
    int first = scene_group_material(scene, 0);
    material_constants one = one_liquid_constants(scene);
    for (int c = 0; c < scene->material_count; c++)
        if (material_temperature(scene, c) != 0)
            return field_complain(report, NULL,
                                  "material '%s' has a temperature, which %s does not know; leave "
                                  "it out, or use solver.type mpm",
                                  scene->materials[c].name, scene->solver->name);
    for (int g = 1; g < scene_group_count(scene); g++) {
        int other = scene_group_material(scene, g);
        material_constants two = material_constants_of(scene, other);
        if (two.density != one.density || two.liquid.viscosity != one.liquid.viscosity ||
            two.liquid.tension != one.liquid.tension)
            return field_complain(
                report, NULL,
                "materials '%s' and '%s' differ in density, viscosity or surface_tension; "
                "%s has one liquid: make them the same, or use solver.type mpm",
                scene->materials[first].name, scene->materials[other].name, scene->solver->name);
    }
    return true;
}
