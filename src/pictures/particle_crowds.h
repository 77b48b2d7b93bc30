/* The particles of a frame, sorted into crowds by how the scene has them drawn. */
#ifndef SPATE_PICTURES_PARTICLE_CROWDS_H
#define SPATE_PICTURES_PARTICLE_CROWDS_H

#include "pictures/shades.h"
#include "pictures/trace/crowds.h"
#include "pictures/trace/stage.h"

/* `file` is for messages. Free it with crowds_free. */
spate_status crowds_create(const shades *s, const stage *st, const snapshot *frame,
                           const char *file, crowds *out);

#endif
