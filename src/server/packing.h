/*
 * The binary messages that viewers get: a head and sections, each with a head of its own, all at
 * multiples of 8 bytes, little endian. docs/viewer.md lists them.
 */
#ifndef SPATE_SERVER_PACKING_H
#define SPATE_SERVER_PACKING_H

#include "server/hub.h"

enum { PROTOCOL_VERSION = 1, PACKED_CHANNELS = 4 };

typedef enum packed_state { STATE_RUNNING, STATE_PAUSED, STATE_FAILED, STATE_ENDED } packed_state;

typedef struct packed_head {
    char magic[4]; /* "SPF1": a frame; "SPP1": the solid parts of the scene */
    uint32_t sections;
    double time;     /* s */
    uint64_t number; /* steps so far; of a folder the frame's number */
    uint32_t state;  /* packed_state */
    float pace;      /* simulated seconds a second */
    float rate;      /* steps a second */
    uint32_t index;  /* of a folder's frame on the time line */
} packed_head;

typedef enum packed_kind {
    PACKED_PARTICLES = 1,
    PACKED_SCALAR,
    PACKED_GROUP,
    PACKED_GRID,
    PACKED_SURFACE,
    PACKED_POSES,
    PACKED_QUANTITIES,
    PACKED_SOLID,
    PACKED_MESH,
} packed_kind;

typedef struct packed_section {
    uint32_t kind;
    uint32_t reserved;
    uint64_t length; /* of what follows, without the bytes that fill it up to a multiple of 8 */
} packed_section;

/* Then `axes` numbers of 16 bits a particle: x = origin + spacing * number. */
typedef struct packed_particles {
    uint32_t count, axes;
    double origin[3], spacing[3];
} packed_particles;

/* Then 16 bits a particle, from `low` (0) to `high` (65535). */
typedef struct packed_scalar {
    uint32_t count, reserved;
    float low, high;
} packed_scalar;

/* Then 16 bits a particle: its body or source. */
typedef struct packed_group {
    uint32_t count, reserved;
} packed_group;

/* Then `channels` bytes a point, x fastest; channel c is from low[c] (0) to high[c] (255). */
typedef struct packed_grid {
    uint32_t size[3], channels;
    double first[3], spacing;
    float low[PACKED_CHANNELS], high[PACKED_CHANNELS];
} packed_grid;

/* Then positions, four numbers of 16 bits a vertex (the last is 0); normals, four signed bytes;
 * triangles, three numbers of 32 bits. */
typedef struct packed_surface {
    uint32_t vertices, triangles;
    double origin[3], spacing[3];
} packed_surface;

/* Of each collider: 1 where it is there, its pivot, its rotation as a quaternion x, y, z, w. */
typedef struct packed_pose {
    float present, position[3], rotation[4];
} packed_pose;

/* Then positions from the pivot and normals, three floats a vertex each; triangles, three numbers
 * of 32 bits. In 2D what it fills, flat. */
typedef struct packed_solid {
    uint32_t collider, vertices, triangles, reserved;
    float color[3], given; /* 1 where the scene has given it */
} packed_solid;

/* Then three numbers of 32 bits a triangle and two a segment: places among the particles. */
typedef struct packed_mesh {
    uint32_t triangles, segments;
} packed_mesh;

typedef struct packing {
    hub *hub;
    packet *packet; /* NULL: no memory; then nothing is done any more */
    uint32_t sections;
} packing;

packing packing_begin(hub *h, const packed_head *head);
/* Room for a section of `length` bytes, zeroed; it holds until the next one. NULL: no memory. */
void *packing_section(packing *p, packed_kind kind, size_t length);
/* The message, held by the caller; NULL: no memory. */
packet *packing_end(packing *p, bool is_frame);

/* A whole number of 16 bits for a place on an axis. */
static inline uint16_t packing_quantise(double x, double origin, double per_metre) {
    const double q = (x - origin) * per_metre + 0.5;
    return (uint16_t)(q > 0 ? q < 65535 ? q : 65535 : 0);
}

/* Bodies that are meshes, where there are any. */
struct mesh_links;
void packing_mesh(packing *p, const struct mesh_links *links);

/* A section of values, of 16 bits each over their range. */
void packing_scalar(packing *p, const float *values, int64_t count);

#endif
