/* A simulation that viewers watch and take part in: the subject's own state. */
#ifndef SPATE_SERVER_LIVE_H
#define SPATE_SERVER_LIVE_H

#include "frames/mesh_links.h"
#include "server/subject.h"
#include "solver/solver.h"
#include <spate/drive.h>

enum { BALLS_MOST = 8, LISTED_MOST = 128, NAME_SIZE = 32 };

/* A heavy ball, a rigid body of our own: what the material does to it moves it (tools.c). */
typedef struct live_ball {
    char name[NAME_SIZE];
    double radius, mass, added; /* added: of the material that must make way */
    double x[3], v[3], a[3];
} live_ball;

typedef struct live {
    spate_context *ctx;
    spate_scene *scene; /* as given; the simulation's own changes with what is added */
    spate_simulation *sim;
    double speed;       /* simulated seconds a second at most; 0: no limit */
    const char *record; /* file for the recording; NULL: none */
    packed_state state;
    int64_t steps_left;       /* then it stands still; -1: no end */
    bool past_end;            /* beyond the scene's duration, by the viewer's wish */
    spate_status failure;     /* of a step, */
    char why[MESSAGE_SIZE];   /* and its message */
    char words[MESSAGE_SIZE]; /* news for all viewers; "": none */
    uint64_t changes;         /* to what is seen, besides those of the simulation's generation */
    uint64_t parts;           /* how often colliders have come or gone */
    /* pace */
    int64_t clock_from; /* when, */
    double time_from;   /* and at what simulated time, the present pace began */
    int64_t window_from, window_steps;
    double window_time;
    float pace, rate;
    /* what there is to read */
    spate_entry attributes[LISTED_MOST], quantities[LISTED_MOST], grids[LISTED_MOST];
    int attribute_count, quantity_count, grid_count;
    int64_t quantities_cost; /* ns that reading them took last */
    spate_order order;       /* of particles: by id where each has a look of its own */
    /* tools */
    live_ball balls[BALLS_MOST];
    int ball_count, balls_ever;
    double tilt[3]; /* added to the scene's gravity */
    bool stirs[VIEWERS_MOST], pours[VIEWERS_MOST];
    mesh_links meshes;
    /* scratch */
    float *floats;
    int64_t float_room;
} live;

/* Room for this many floats in `floats`. */
spate_status live_room(live *l, int64_t count);
/* An attribute or field by its name; NULL: none. */
const spate_entry *live_find(const spate_entry *entries, int count, const char *name);

/* tools.c: what viewers do. */
spate_status tools_act(live *l, const subject_call *call);
/* Ends what a viewer does: it has let go of the mouse, or is gone. */
spate_status tools_release(live *l, int hand);
/* Balls before and after a step. */
spate_status tools_before_step(live *l);
spate_status tools_after_step(live *l);

/* pick.c: one particle. */
spate_status pick_particle(live *l, const double x[3], text *reply);
spate_status pick_values(live *l, uint64_t id, text *reply);

/* live_frame.c */
spate_status live_frame(void *self, viewer *v, packing *out);

#endif
