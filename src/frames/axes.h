/*
 * The axes of what a run writes for other tools: the scene's own, or with output.up those turned by
 * a right angle, so that y or z points up. It is a rotation: left stays left, meshes keep their
 * outside, and everything with a direction is turned alike. Where y is up in the scene and z is to
 * be, (x, y, z) becomes (x, -z, y).
 */
#ifndef SPATE_FRAMES_AXES_H
#define SPATE_FRAMES_AXES_H

#include "core/real.h"
#include "frames/vtp_read.h"
#include "scene/scene.h"

/* New axis i is `sign[i]` times the old axis `from[i]`. */
typedef struct file_axes {
    int from[3], sign[3];
    bool turned; /* false: as they were */
} file_axes;

/* From the scene to its files, and back. */
file_axes axes_of_files(const spate_scene *scene);
file_axes axes_back(const file_axes *a);

void axes_turn_point(const file_axes *a, double x[3]);
/* Rows of reals (floats, or doubles), in place: vectors of 3, symmetric tensors of 6 (xx yy zz xy
 * yz xz), tensors of 9; a row of any other length has no direction. */
void axes_turn_floats(const file_axes *a, float *values, int64_t rows, int components);
void axes_turn_doubles(const file_axes *a, double *values, int64_t rows, int components);
static inline void axes_turn_reals(const file_axes *a, real *values, int64_t rows, int components) {
    if (sizeof(real) == sizeof(double))
        axes_turn_doubles(a, (double *)(void *)values, rows, components);
    else
        axes_turn_floats(a, (float *)(void *)values, rows, components);
}

/* A grid's number of cells and lowest corner, and the order of its cells of `bytes` each. */
void axes_turn_grid(const file_axes *a, int cells[3], double origin[3], double spacing);
void axes_turn_cells(const file_axes *a, const int old_cells[3], size_t bytes, const void *from,
                     void *to);

/* A frame that was read, with all that is in it. */
spate_status axes_turn_snapshot(const file_axes *a, snapshot *s);

#endif
