/*
 * Colouring: what colour every particle of a frame gets, from an attribute through the colour map
 * or from its material, and the words beside the picture that say so.
 */
#ifndef SPATE_PICTURES_COLOURING_H
#define SPATE_PICTURES_COLOURING_H

#include "frames/vtp_read.h"
#include "pictures/draw/caption.h"
#include "scene/scene.h"

typedef struct colouring {
    const spate_scene *scene;
    char attribute[SNAPSHOT_NAME]; /* "" : by material */
    double low, high;              /* ends of the colour map */
    bool both;                     /* signs: the map is the one for them, 0 is in its middle */
    char label[2 * SNAPSHOT_NAME]; /* attribute with its unit */
    bool points;                   /* in 2D, liquid too */
    bool plain;                    /* no words in the picture: whoever asks for it writes them */
} colouring;

/* `colour`: an attribute's name, "speed", or one component, "v_y"; NULL for the default of the
 * scene's dimension. */
spate_status colouring_create(const spate_scene *scene, const char *colour, colouring *out);
bool colouring_by_material(const colouring *s);

/* The number a particle is coloured by. */
typedef struct colour_source {
    const snapshot_array *array;                    /* NULL: none */
    int component;                                  /* -1: the length of the vector */
    const snapshot_array *groups, *ids, *fractions; /* NULL: not in the frame */
} colour_source;

/* Finds the attribute in a frame; `file` is for the message when there is none. */
spate_status colouring_source(const colouring *s, const snapshot *frame, const char *file,
                              colour_source *out);
double colouring_value(const colour_source *by, int64_t particle);
rgb colouring_colour(const colouring *s, const snapshot_array *materials, const colour_source *by,
                     int64_t particle);

/* A number of its own, 0 to 1, that a particle keeps. */
float colouring_own(const colour_source *by, int64_t particle);
/* Whether the scene gives that colour. */
bool colouring_is_given(const colouring *s, const snapshot_array *materials,
                        const colour_source *by, int64_t particle);
/* How much larger or smaller than it is a particle is drawn: grains are not all alike. */
double colouring_size(const colouring *s, const snapshot_array *materials, const colour_source *by,
                      int64_t particle);
/* The material of a particle, NULL where the scene has none for it. */
const material *colouring_material(const colouring *s, const snapshot_array *materials,
                                   int64_t particle);

/* Whether the scene gives the colour of a material, body or source. */
bool colouring_gives_colour(const spate_scene *scene);
/* The colour of a material where no particle says more. */
rgb colouring_of_material(const spate_scene *scene, int index);

/* The colour of a material's smoke: its field `color`, else white, or the palette's where there are
 * several. */
rgb colouring_smoke(const colouring *s, int index);

/* Widens [*low, *high] to hold all but the outermost values of a frame. */
spate_status colouring_measure(const colouring *s, const snapshot *frame, const char *file,
                               double *low, double *high);
/* Sets the ends of the map to round numbers around [low, high], as far below 0 as above where it
 * has both signs. */
void colouring_set_range(colouring *s, double low, double high);
/* The map of what is shown, at 0..1. */
rgb (*colouring_map(const colouring *s))(double at);

/* Scene, time and, when an attribute is shown, the colour bar with its numbers. */
void colouring_caption(const colouring *s, double time, picture *out);
/* A bar of a round length, given the pixels of one unit of length. */
void colouring_scale_bar(const colouring *s, double pixels_a_unit, picture *out);
/* How wide the strip on the right is that the colour bar needs. */
double colouring_margin(const colouring *s, const picture *p);

#endif
