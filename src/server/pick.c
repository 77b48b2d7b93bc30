/* One particle: the nearest to a place, and everything that is known of it. */
#include "server/live.h"
#include <math.h>

static spate_status add_values(live *l, int64_t index, text *reply) {
    text_add(reply, ", \"values\": {");
    bool first = true;
    for (int i = 0; i < l->attribute_count; i++) {
        spate_reading r = spate_default_reading();
        r.attribute = l->attributes[i].name, r.order = SPATE_AS_STORED;
        if (spate_simulation_read(l->sim, &r)) continue; /* not in this simulation */
        TRY(live_room(l, r.particles * r.components));
        r.values = l->floats, r.capacity = (size_t)(r.particles * r.components);
        TRY(spate_simulation_read(l->sim, &r));
        text_add(reply, "%s\"%s\": [", first ? "" : ", ", l->attributes[i].name);
        for (int c = 0; c < r.components; c++) {
            const float value = l->floats[index * r.components + c];
            text_add(reply, isfinite(value) ? "%s%.7g" : "%snull", c ? ", " : "", (double)value);
        }
        text_add(reply, "]");
        first = false;
    }
    text_add(reply, "}}");
    return SPATE_OK;
}

static spate_status read_ids(live *l, uint64_t **ids, int64_t *count) {
    spate_reading r = spate_default_reading();
    r.attribute = "id", r.type = SPATE_UINT64, r.order = SPATE_AS_STORED;
    TRY(spate_simulation_read(l->sim, &r));
    *count = r.particles;
    *ids = take(l->ctx, (size_t)r.particles + 1, sizeof **ids);
    if (!*ids) return SPATE_OUT_OF_MEMORY;
    r.values = *ids, r.capacity = (size_t)r.particles;
    return spate_simulation_read(l->sim, &r);
}

static spate_status tell(live *l, int64_t index, uint64_t id, text *reply) {
    text_add(reply, "{\"kind\": \"picked\", \"id\": %llu, \"time\": %.9g", (unsigned long long)id,
             l->sim->time);
    return add_values(l, index, reply);
}

static int64_t nearest(const float *positions, int64_t count, const double x[3]) {
    int64_t best = -1;
    double least = HUGE_VAL;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int a = 0; a < 3; a++) {
            const double d = (double)positions[3 * i + a] - x[a];
            sum += d * d;
        }
        if (sum < least) least = sum, best = i;
    }
    return best;
}

spate_status pick_particle(live *l, const double x[3], text *reply) {
    spate_reading r = spate_default_reading();
    uint64_t *ids = NULL;
    int64_t count;
    r.order = SPATE_AS_STORED;
    TRY(spate_simulation_read(l->sim, &r));
    TRY(live_room(l, 3 * r.particles));
    r.values = l->floats, r.capacity = 3 * (size_t)r.particles;
    TRY(spate_simulation_read(l->sim, &r));
    const int64_t index = nearest(l->floats, r.particles, x);
    if (index < 0) return fail(l->ctx, SPATE_BAD_INPUT, "pick: there are no particles");
    spate_status status = read_ids(l, &ids, &count);
    if (!status) status = tell(l, index, ids[index], reply);
    give(l->ctx, ids);
    return status;
}

spate_status pick_values(live *l, uint64_t id, text *reply) {
    uint64_t *ids = NULL;
    int64_t count, index = 0;
    spate_status status = read_ids(l, &ids, &count);
    while (!status && index < count && ids[index] != id) index++;
    if (!status && index == count)
        status =
            fail(l->ctx, SPATE_BAD_INPUT, "values: particle %llu is gone", (unsigned long long)id);
    if (!status) status = tell(l, index, id, reply);
    give(l->ctx, ids);
    return status;
}
