#include "state/particles.h"

/* Whether an element is made of reals: it is an unsigned integer itself otherwise. */
#define IS_REAL(element)             \
    _Generic((element *)0, uint8_t * \
             : false, uint16_t *     \
             : false, uint64_t *     \
             : false, default        \
             : true)

const particle_field_info particle_fields[PARTICLE_FIELD_COUNT] = {
#define X(name, element, planes, flags, unit)           \
    {#name,                                             \
     sizeof(element),                                   \
     IS_REAL(element) ? sizeof(real) : sizeof(element), \
     IS_REAL(element),                                  \
     planes,                                            \
     flags,                                             \
     unit},
    PARTICLE_FIELDS(X)
#undef X
};

unsigned particle_fields_with(unsigned flags) {
    unsigned fields = 0;
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        if (particle_fields[f].flags & flags) fields |= 1u << f;
    return fields;
}

void **particles_slot(particles *p, particle_field f) {
    switch (f) {
#define X(name, element, planes, flags, unit) \
    case PARTICLE_##name: return (void **)&p->name;
        PARTICLE_FIELDS(X)
#undef X
    default: return NULL;
    }
}

void *particles_field(const particles *p, particle_field f) {
    return *particles_slot((particles *)p, f);
}

void *particles_element(const particles *p, particle_field f, int plane, int64_t i) {
    return (char *)particles_field(p, f) +
           (size_t)(plane * p->capacity + i) * particle_fields[f].bytes;
}

/* A field at a new capacity: its planes move apart. */
static void *resized(const particles *p, particle_field f, int64_t capacity) {
    const particle_field_info *info = &particle_fields[f];
    const size_t bytes = info->bytes;
    char *grown = take(p->ctx, (size_t)capacity * (size_t)info->planes, bytes);
    if (!grown || !particles_field(p, f)) return grown;
    for (int c = 0; c < info->planes; c++)
        memcpy(grown + (size_t)(c * capacity) * bytes, particles_element(p, f, c, 0),
               (size_t)p->count * bytes);
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
        void **slot = particles_slot(p, (particle_field)f);
        give(p->ctx, *slot);
        *slot = grown[f];
    }
    p->capacity = capacity;
    return SPATE_OK;
}

spate_status particles_add_fields(particles *p, unsigned fields) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        if (!(fields & ~p->fields & 1u << f)) continue;
        void **slot = particles_slot(p, (particle_field)f);
        const size_t elements = (size_t)p->capacity * (size_t)particle_fields[f].planes;
        *slot = take(p->ctx, elements, particle_fields[f].bytes);
        if (!*slot) return SPATE_OUT_OF_MEMORY;
        p->fields |= 1u << f;
    }
    return SPATE_OK;
}

void particles_free(particles *p) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        void **slot = particles_slot(p, (particle_field)f);
        give(p->ctx, *slot);
        *slot = NULL;
    }
    p->count = p->capacity = 0;
}

void particles_copy(particles *to, int64_t to_index, const particles *from, int64_t from_index,
                    int64_t count) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        if (!particles_field(from, (particle_field)f) || !particles_field(to, (particle_field)f))
            continue;
        for (int c = 0; c < info->planes; c++)
            memcpy(particles_element(to, (particle_field)f, c, to_index),
                   particles_element(from, (particle_field)f, c, from_index),
                   (size_t)count * info->bytes);
    }
}

void particles_clear(particles *p, const int64_t *items, int64_t count, unsigned fields) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        for (int c = 0; c < particle_fields[f].planes && fields & p->fields & 1u << f; c++) {
            char *plane = particles_element(p, (particle_field)f, c, 0);
            const size_t bytes = particle_fields[f].bytes;
            for (int64_t k = 0; k < count; k++) memset(plane + (size_t)items[k] * bytes, 0, bytes);
        }
    for (int64_t k = 0; k < count; k++) p->velocity[items[k]][3] = 1;
}

void batch_prepare(particle_batch *h, const particles *like) {
    memset(h, 0, sizeof *h);
    h->p.fields = like->fields;
    h->p.capacity = WIDE;
#define X(name, element, planes, flags, unit) \
    if (like->fields & PARTICLE_BIT(name)) h->p.name = h->name;
    PARTICLE_FIELDS(X)
#undef X
}
