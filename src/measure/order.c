#include "measure/order.h"

/* A bit for every id that lives; the bits before an id's own are its place. */
static spate_status mark_ids(spate_simulation *sim) {
    read_order *o = &sim->order;
    const particles *p = &sim->particles;
    const int64_t words = (int64_t)(sim->next_id / 64 + 1);
    TRY(GROW(sim->ctx, o->bits, o->bits_capacity, words));
    TRY(GROW(sim->ctx, o->before, o->before_capacity, words));
    memset(o->bits, 0, (size_t)words * sizeof *o->bits);
    for (int64_t i = 0; i < p->count; i++)
        if (!particle_is_removed(sim, i)) o->bits[p->id[i] / 64] |= UINT64_C(1) << p->id[i] % 64;
    o->before[0] = 0;
    for (int64_t w = 1; w < words; w++)
        o->before[w] = o->before[w - 1] + (uint32_t)__builtin_popcountll(o->bits[w - 1]);
    return SPATE_OK;
}

static spate_status find_places(spate_simulation *sim, spate_order order) {
    read_order *o = &sim->order;
    const particles *p = &sim->particles;
    TRY(GROW(sim->ctx, o->place, o->place_capacity, p->count + 1));
    if (order == SPATE_BY_ID) TRY(mark_ids(sim));
    uint32_t next = 0;
    for (int64_t i = 0; i < p->count; i++) {
        if (particle_is_removed(sim, i)) {
            o->place[i] = UINT32_MAX;
        } else if (order == SPATE_AS_STORED) {
            o->place[i] = next++;
        } else {
            const size_t w = p->id[i] / 64;
            const uint64_t lower = o->bits[w] & ((UINT64_C(1) << p->id[i] % 64) - 1);
            o->place[i] = o->before[w] + (uint32_t)__builtin_popcountll(lower);
        }
    }
    return SPATE_OK;
}

spate_status order_places(spate_simulation *sim, spate_order order, const uint32_t **place,
                          int64_t *living) {
    read_order *o = &sim->order;
    const bool known = o->order == (int)order && o->generation == sim->generation;
    if (!known) o->order = -1, o->count = particle_living(sim);
    *living = o->count;
    const bool all = o->count == sim->particles.count && (uint64_t)o->count == sim->next_id;
    if (order == SPATE_BY_ID && all) {
        *place = NULL;
    } else {
        if (!known) TRY(find_places(sim, order));
        *place = o->place;
    }
    o->order = (int)order, o->generation = sim->generation;
    return SPATE_OK;
}
