/* The field tables of force fields and events. */
#ifndef SPATE_SCENE_EVENT_TABLES_H
#define SPATE_SCENE_EVENT_TABLES_H

#include "scene/events.h"
#include "scene/reader.h"

/* A kind of force field: `wind: {acceleration: [1, 0]}`; its table fills a force_field. */
typedef struct force_declaration {
    const char *name;
    field_table table;
} force_declaration;

extern const force_declaration scene_forces[FORCE_KINDS]; /* in the order of force_kind */
extern const field_table scene_force_table, scene_event_table, scene_pose_table;

/* A force field; its region goes to *region where that is not NULL, and is refused otherwise. */
spate_status scene_read_force(reader *r, const yaml_value *v, int index, force_field *out,
                              shape **region);

/* Makes an axis a unit vector, and leaves one that is; false where it has no direction. */
bool force_unit_axis(double axis[3]);

#endif
