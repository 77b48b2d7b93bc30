/* Rows of field tables that motions share: those of bodies, of prescribed flows and of events. */
#ifndef SPATE_SCENE_MOTION_FIELDS_H
#define SPATE_SCENE_MOTION_FIELDS_H

#include "core/fields.h"

#define SPIN_FIELD(type_, member_, most_, help_)                                                   \
    {                                                                                              \
        .name = #member_, .type = FIELD_SPIN, .offset = offsetof(type_, member_), .unit = "rad/s", \
        .min = -(most_), .max = most_, .help = help_                                               \
    }

/* Of a velocity linear in x: translate, rotate, strain, shear along one axis across another. */
#define LINEAR_MOTION_FIELDS(type_, axes_, strain_help_)                                         \
    VECTOR_FIELD(type_, translate, "m/s", 0, ANY_MIN, ANY_MAX, "the same velocity everywhere"),  \
        SPIN_FIELD(type_, rotate, ANY_MAX, "angular velocity about the centre; 2D: one number"), \
        VECTOR_FIELD(type_, strain, "1/s", 0, ANY_MIN, ANY_MAX, strain_help_),                   \
        NUMBER_FIELD(type_, shear, "1/s", 0, ANY_MIN, ANY_MAX,                                   \
                     "how fast the velocity along one axis grows across another"),               \
        CHOICE_FIELD(type_, along, 0, axes_, "the axis that a shear moves along"),               \
        CHOICE_FIELD(type_, across, 1, axes_, "the axis that a shear grows across")

#endif
