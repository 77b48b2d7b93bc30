/* Fields that all bodies as meshes have. */
#ifndef SPATE_SCENE_MESH_FIELDS_H
#define SPATE_SCENE_MESH_FIELDS_H

#include "core/fields.h"
#include "scene/mesh_body.h"

extern const char *const scene_step_words[];

/* `type_` has the fields as its member `stepping`. */
#define STEP_FIELDS(type_, default_)                                                              \
    {.name = "step",                                                                              \
     .type = FIELD_CHOICE,                                                                        \
     .offset = offsetof(type_, stepping.step),                                                    \
     .unit = "",                                                                                  \
     .fallback = default_,                                                                        \
     .choices = scene_step_words,                                                                 \
     .help = "`implicit`: a system is solved for the elements' forces at the end of the step, "   \
             "and stiffness does not limit it; `explicit`: forces at its beginning"},             \
    {                                                                                             \
        .name = "damping", .type = FIELD_NUMBER, .offset = offsetof(type_, stepping.damping),     \
        .unit = "", .fallback = 1, .min = 0, .max = 1,                                            \
        .help = "of implicit steps: 1 is backward Euler, which damps what oscillates fast; 0 "    \
                "is of second order and does not, but has no reserve where steps are far beyond " \
                "the explicit limit"                                                              \
    }

#define SPACING_FIELD(type_, default_)                        \
    NUMBER_FIELD(type_, spacing, "m", NAN, SMALLEST, ANY_MAX, \
                 "length of the elements' edges, about; default: " default_)

#endif
