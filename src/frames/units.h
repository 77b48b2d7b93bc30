/* Units: of the columns of stats.csv, as a scene has them. */
#ifndef SPATE_FRAMES_UNITS_H
#define SPATE_FRAMES_UNITS_H

#include "scene/scene.h"

/* "J", "kg m/s"; "" for a pure number. In 2D what is a sum over material is per length of depth. */
const char *units_of_column(const spate_scene *scene, const char *name);

/* "kinetic_energy [J]"; a name alone where it has no unit. */
void units_label(const spate_scene *scene, const char *name, char *out, size_t size);

#endif
