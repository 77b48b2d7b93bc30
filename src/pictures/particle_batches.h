/* The particles of a frame, sorted into batches by how the scene has them drawn. */
#ifndef SPATE_PICTURES_PARTICLE_BATCHES_H
#define SPATE_PICTURES_PARTICLE_BATCHES_H

#include "pictures/colouring.h"
#include "pictures/trace/batches.h"
#include "pictures/trace/stage.h"

/* `file` is for messages; `without`: particles of meshes are left out, which are drawn as they are.
 * Free it with batches_free. */
spate_status batches_create(const colouring *s, const stage *st, const snapshot *frame,
                            const char *file, bool without, batches *out);

#endif
