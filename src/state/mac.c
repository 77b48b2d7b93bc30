#include "state/mac.h"

void mac_create(spate_context *ctx, int dim, const int cells_of_period[3], unsigned fields,
                mac *m) {
    int period[3];
    for (int a = 0; a < 3; a++) period[a] = cells_of_period[a] / BRICK_EDGE;
    *m = (mac){.ctx = ctx, .dim = dim, .fields = fields};
    sparse_lattice_create(ctx, dim, period, &m->bricks);
}

static void free_fields(mac *m) {
#define X(name, type, components) \
    for (int c = 0; c < (components); c++) give(m->ctx, m->name[c]), m->name[c] = NULL;
    MAC_FIELDS(X)
#undef X
    m->capacity = 0;
}

void mac_free(mac *m) {
    if (!m->ctx) return;
    free_fields(m);
    sparse_lattice_free(&m->bricks);
    *m = (mac){0};
}

/* In 2D the third components are never asked for. */
static int components_of(const mac *m, mac_field field, int components) {
    if (!(m->fields >> field & 1)) return 0;
    return components < m->dim ? components : m->dim;
}

spate_status mac_reserve(mac *m) {
    if (m->bricks.count <= m->capacity) return SPATE_OK;
    const int64_t capacity = m->bricks.count + m->bricks.count / 8 + 8;
    const size_t cells = (size_t)capacity * (size_t)mac_cells(m->dim);
    bool enough = true;
    free_fields(m);
#define X(name, type, components)                                                    \
    for (int c = 0; c < components_of(m, MAC_##name, (components)) && enough; c++) { \
        m->name[c] = take(m->ctx, cells, sizeof(type));                              \
        enough = m->name[c];                                                         \
    }
    MAC_FIELDS(X)
#undef X
    if (!enough) {
        free_fields(m);
        return SPATE_OUT_OF_MEMORY;
    }
    m->capacity = capacity;
    return SPATE_OK;
}

size_t mac_bytes(const mac *m) {
    size_t bytes = 0;
#define X(name, type, components) \
    bytes += sizeof(type) * (size_t)components_of(m, MAC_##name, (components));
    MAC_FIELDS(X)
#undef X
    return bytes * (size_t)m->capacity * (size_t)mac_cells(m->dim);
}
