/* Crowds as the ray tracer is given them; see crowds.h. */
#include "pictures/trace/crowds.h"

void crowds_free(crowds *c) {
    for (int k = 0; k < c->count && c->list; k++) {
        give(c->ctx, c->list[k].centers);
        give(c->ctx, c->list[k].colours);
    }
    if (c->ctx) give(c->ctx, c->list);
    *c = (crowds){0};
}

const crowd *crowds_find(const crowds *c, material_look look) {
    for (int k = 0; k < c->count; k++)
        if (c->list[k].look == look && c->list[k].count) return &c->list[k];
    return NULL;
}
