/* Solvers with a single liquid: one density, viscosity and surface tension, whatever it is
 * called. */
#ifndef SPATE_SOLVER_ONE_LIQUID_H
#define SPATE_SOLVER_ONE_LIQUID_H

#include "scene/scene.h"
#include "solver/materials/material.h"

/* Whether all bodies and sources are of one; the report names two that differ. */
bool one_liquid_check(const spate_scene *scene, field_report *report);
/* What it is, of a scene that passed the check. */
material_constants one_liquid_constants(const spate_scene *scene);

#endif
