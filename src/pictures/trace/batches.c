/* Batches as the ray tracer is given them; see batches.h. */
#include "pictures/trace/batches.h"

void batches_free(batches *c) {
    for (int k = 0; k < c->count && c->list; k++) {
        give(c->ctx, c->list[k].centers);
        give(c->ctx, c->list[k].colours);
    }
    if (c->ctx) give(c->ctx, c->list);
    *c = (batches){0};
}

const batch *batches_find(const batches *c, material_look look) {
    for (int k = 0; k < c->count; k++)
        if (c->list[k].look == look && c->list[k].count) return &c->list[k];
    return NULL;
}
