/*
 * Surface: a closed mesh of triangles around the particles of a liquid, in 2D a closed outline.
 *
 * Particles give a smooth distance on a sparse lattice (lattice.h, distance.c), by balls or by
 * ellipsoids that follow the liquid (shapes.h). Its small bubbles
 * are filled (pockets.c), marching cubes turns its zero into triangles (marching.h), and a filter
 * that keeps the volume takes off what is left of the lattice and the particles (smooth.c). Where
 * the liquid stands at a side of the domain the mesh ends flush with it and is closed there. The
 * result is the same for every number of threads.
 */
#ifndef SPATE_SURFACE_SURFACE_H
#define SPATE_SURFACE_SURFACE_H

#include "core/context.h"
#include "core/real.h"
#include "scene/surface_method.h"

/* A particle in lattice coordinates: spacings from the domain's lowest corner; z is 0 in 2D. One
 * whose position is not finite is left out. */
typedef struct surface_particle {
    real x[3];
    real v[3]; /* velocity, in any unit */
    real size; /* cube root (2D: square root) of its volume; 0: the settings' particle_spacing */
} surface_particle;

typedef struct surface_settings {
    surface_method method;
    bool plane;              /* 2D: an outline */
    double origin[3];        /* lowest corner of the domain */
    double spacing;          /* of lattice points */
    int last[3];             /* lattice points of the domain along an axis are 0 .. last */
    bool periodic[3];        /* sides that continue at the other end; the others mirror */
    double particle_spacing; /* of a usual particle: the cube root of its volume, in the units
                                of `spacing` */
    double least_size; /* what is smaller counts as this large, in the units of `spacing`; 0: none.
                          For particles of a sheet that share their mass with inserted ones: they
                          are no closer to each other than before. Drops keep their volume */
    int smoothing;     /* passes over the mesh; 0: as marching cubes leaves it */
} surface_settings;

/* What holds a vertex in place: the sides of the domain that it lies in (bit 2 axis + end), and
 * whether it is on the line where the free surface meets them. */
enum { BOND_LINE = 1 << 6 };

typedef struct surface_mesh {
    spate_context *ctx;
    int64_t vertex_count, triangle_count;
    real (*position)[3];
    real (*normal)[3]; /* unit, outward */
    real (*velocity)[3];
    uint8_t *bond;
    int32_t (*triangle)[3]; /* anticlockwise seen from outside */
    int64_t line_count;     /* of an outline, which has no triangles; z is 0 */
    int32_t (*line)[2];     /* with the liquid on the left */
} surface_mesh;

/* No particles give an empty mesh. */
spate_status surface_create(spate_context *ctx, const surface_settings *settings,
                            const surface_particle *particles, int64_t count, surface_mesh *out);
void surface_free(surface_mesh *m);

/* Room for vertices and triangles, all zero. */
spate_status surface_take_vertices(surface_mesh *m, int64_t count);
spate_status surface_take_triangles(surface_mesh *m, int64_t count);
spate_status surface_take_lines(surface_mesh *m, int64_t count);

/* Smooths what is shorter than some lattice spacings and keeps larger shapes, the volume, threads
 * and drops (smooth.c). Normals go the same way. Vertices of a side of the domain stay in it. The
 * mesh or outline is closed. */
spate_status surface_smooth(surface_mesh *m, int passes);

#endif
