/* What every example does first and last: a simulation from the text of a scene. */
#ifndef WORLD_H
#define WORLD_H

#include <spate/drive.h>
#include <stdio.h>
#include <string.h>

typedef struct world {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
} world;

static inline spate_status world_open(world *w, const char *name, const char *scene_text) {
    *w = (world){0};
    spate_status status = spate_open(NULL, &w->ctx);
    if (!status)
        status = spate_scene_parse(w->ctx, scene_text, strlen(scene_text), name, ".", NULL, 0,
                                   &w->scene);
    return status ? status : spate_simulation_create(w->scene, &w->sim);
}

/* As many steps as it takes to come to a time. */
static inline spate_status world_step_to(world *w, double time) {
    spate_status status = SPATE_OK;
    while (!status && spate_simulation_time(w->sim) < time)
        status = spate_simulation_step(w->sim, time);
    return status;
}

/* Says what went wrong, if anything did; for main() to return. */
static inline int world_close(world *w, spate_status status) {
    if (status) fprintf(stderr, "%s\n", spate_message(w->ctx));
    spate_simulation_free(w->sim);
    spate_scene_free(w->scene);
    spate_close(w->ctx);
    return status;
}

#endif
