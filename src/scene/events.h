/*
 * Events: what is done to a simulation from outside, each as one command. A program gives them
 * through drive.h; recorded, they are the `events:` of a scene and are applied again, bit for bit.
 *
 * An event with a step is applied before that step, as recordings have it. One with a time is
 * applied when that is reached, and steps end there.
 */
#ifndef SPATE_SCENE_EVENTS_H
#define SPATE_SCENE_EVENTS_H

#include "scene/scene.h"

typedef enum event_kind {
    EVENT_POSE,            /* a driven collider is put somewhere */
    EVENT_VELOCITIES,      /* of particles */
    EVENT_POSITIONS,       /* of particles */
    EVENT_PARTICLE_FORCES, /* on particles, for one step */
    EVENT_FORCE,           /* a force field begins, or takes the place of the one of its name */
    EVENT_REMOVE,          /* a force field, collider, source, sink or body goes */
    EVENT_ADD,             /* parts of a scene are added */
    EVENT_SET,             /* a field of a scene changes */
    EVENT_UNTIL,           /* steps do not go beyond a time */
    EVENT_KINDS
} event_kind;

/* In the order of event_kind, closed by NULL. */
extern const char *const event_words[];

struct scene_event {
    int64_t step; /* -1: by time */
    double t;     /* s */
    event_kind kind;
    const char *name;     /* of the collider, or of what is removed */
    double position[3];   /* pose: of the pivot, m */
    double rotation[4];   /* unit quaternion x y z w */
    double velocity[3];   /* m/s */
    double spin[3];       /* rad/s */
    force_field force;    /* its region is a box */
    int64_t count;        /* of particles */
    const uint64_t *ids;  /* ascending */
    const double *values; /* three to a particle: m/s, m or N */
    const char *text;     /* add: YAML; set: "path=value" */
    double until;         /* s */
};

#endif
