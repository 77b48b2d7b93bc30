#include "server/packing.h"
#include "frames/mesh_links.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(packed_head) == 40 && sizeof(packed_section) == 16, "as documented");
_Static_assert(sizeof(packed_particles) == 56 && sizeof(packed_grid) == 80, "as documented");

enum { EIGHT = 8 };

static char *room(packing *p, size_t length) {
    const size_t padded = (length + EIGHT - 1) / EIGHT * EIGHT;
    if (!p->packet) return NULL;
    if (hub_grow(p->hub, p->packet, (int64_t)padded)) {
        hub_release(p->hub, p->packet);
        p->packet = NULL;
        return NULL;
    }
    char *at = p->packet->bytes + p->packet->length;
    memset(at, 0, padded);
    p->packet->length += (int64_t)padded;
    return at;
}

packing packing_begin(hub *h, const packed_head *head) {
    packing p = {.hub = h, .packet = hub_packet(h)};
    char *at = room(&p, sizeof *head);
    if (at) memcpy(at, head, sizeof *head);
    return p;
}

void *packing_section(packing *p, packed_kind kind, size_t length) {
    const packed_section head = {.kind = kind, .length = length};
    char *at = room(p, sizeof head + length);
    if (!at) return NULL;
    memcpy(at, &head, sizeof head);
    p->sections++;
    return at + sizeof head;
}

packet *packing_end(packing *p, bool is_frame) {
    if (!p->packet) return NULL;
    memcpy(p->packet->bytes + offsetof(packed_head, sections), &p->sections, sizeof p->sections);
    p->packet->is_frame = is_frame;
    return p->packet;
}

void packing_scalar(packing *p, const float *values, int64_t count) {
    packed_scalar *s =
        packing_section(p, PACKED_SCALAR, sizeof *s + (size_t)count * sizeof(uint16_t));
    if (!s) return;
    float low = HUGE_VALF, high = -HUGE_VALF;
    for (int64_t i = 0; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    if (!(low <= high)) low = high = 0;
    *s = (packed_scalar){.count = (uint32_t)count, .low = low, .high = high};
    uint16_t *to = (uint16_t *)(s + 1);
    const float by = high > low ? 65535.0f / (high - low) : 0;
    for (int64_t i = 0; i < count; i++) {
        const float q = (values[i] - low) * by + 0.5f;
        to[i] = (uint16_t)(q > 0 ? q < 65535 ? q : 65535 : 0);
    }
}

void packing_mesh(packing *p, const mesh_links *links) {
    const size_t triangles = (size_t)links->triangle_count * sizeof *links->triangles;
    const size_t segments = (size_t)links->segment_count * sizeof *links->segments;
    if (!triangles && !segments) return;
    packed_mesh *head = packing_section(p, PACKED_MESH, sizeof *head + triangles + segments);
    if (!head) return;
    head->triangles = (uint32_t)links->triangle_count;
    head->segments = (uint32_t)links->segment_count;
    char *to = (char *)(head + 1);
    if (triangles) memcpy(to, links->triangles, triangles);
    if (segments) memcpy(to + triangles, links->segments, segments);
}
