#include "state/particles.h"

const particle_field_info particle_fields[PARTICLE_FIELD_COUNT] = {
#define X(name, type, components, layout, unit) \
    {#name, sizeof(type), (type)0.5 != 0, components, layout, unit},
    PARTICLE_FIELDS(X)
#undef X
};

static void **field_slot(particles *p, particle_field f) {
    switch (f) {
#define X(name, type, components, layout, unit) \
    case PARTICLE_##name: return (void **)&p->name;
        PARTICLE_FIELDS(X)
#undef X
    default: return NULL;
    }
}

void *particles_field(const particles *p, particle_field f) {
    return *field_slot((particles *)p, f);
}

int particles_components(const particles *p, particle_field f) {
    return f == PARTICLE_motion ? motion_length(p) : particle_fields[f].components;
}

/* A field at a new capacity: planes move apart, records stay together. */
static void *resized(const particles *p, particle_field f, int64_t capacity) {
    const particle_field_info *info = &particle_fields[f];
    const size_t components = (size_t)particles_components(p, f);
    char *grown = take(p->ctx, (size_t)capacity * components, info->size);
    const char *old = particles_field(p, f);
    if (!grown || !old) return grown;
    if (info->layout == RECORD) {
        memcpy(grown, old, (size_t)p->count * components * info->size);
        return grown;
    }
    for (size_t c = 0; c < components; c++)
        memcpy(grown + c * (size_t)capacity * info->size,
               old + c * (size_t)p->capacity * info->size, (size_t)p->count * info->size);
    return grown;
}

spate_status particles_reserve(particles *p, int64_t capacity) {
    if (capacity + WIDE <= p->capacity) return SPATE_OK;
    if (capacity > UINT32_MAX - 128)
        return fail(p->ctx, SPATE_BAD_INPUT, "more than 4 billion particles; use a larger dx");
    capacity = (capacity + WIDE + 63) / 64 * 64;
    void *grown[PARTICLE_FIELD_COUNT] = {0};
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        if (!(p->fields & 1u << f)) continue;
        grown[f] = resized(p, (particle_field)f, capacity);
        if (grown[f]) continue;
        for (int g = 0; g < f; g++) give(p->ctx, grown[g]);
        return SPATE_OUT_OF_MEMORY;
    }
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        if (!grown[f]) continue;
        void **slot = field_slot(p, (particle_field)f);
        give(p->ctx, *slot);
        *slot = grown[f];
    }
    p->capacity = capacity;
    return SPATE_OK;
}

void particles_free(particles *p) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        void **slot = field_slot(p, (particle_field)f);
        give(p->ctx, *slot);
        *slot = NULL;
    }
    p->count = p->capacity = 0;
}

void particles_copy(particles *to, int64_t to_index, const particles *from, int64_t from_index,
                    int64_t count) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        const char *source = particles_field(from, (particle_field)f);
        char *target = particles_field(to, (particle_field)f);
        if (!source || !target) continue;
        size_t n = (size_t)particles_components(to, (particle_field)f);
        size_t bytes = (size_t)count * info->size;
        if (info->layout == RECORD) {
            memcpy(target + (size_t)to_index * n * info->size,
                   source + (size_t)from_index * n * info->size, bytes * n);
            continue;
        }
        for (size_t c = 0; c < n; c++)
            memcpy(target + (c * (size_t)to->capacity + (size_t)to_index) * info->size,
                   source + (c * (size_t)from->capacity + (size_t)from_index) * info->size, bytes);
    }
}

void handful_prepare(particle_handful *h, const particles *like) {
    memset(h, 0, sizeof *h);
    h->p.fields = like->fields;
    h->p.short_motion = like->short_motion;
    h->p.capacity = WIDE;
#define X(name, type, components, layout, unit) \
    if (like->fields & PARTICLE_BIT(name)) h->p.name = h->name;
    PARTICLE_FIELDS(X)
#undef X
}
