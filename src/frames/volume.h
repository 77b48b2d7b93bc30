/*
 * Volumes: the fields that a solver keeps on the cells of the domain, of one moment, as files for
 * other tools: VTK XML ImageData (.vti, for ParaView, VTK, PyVista), cell data, appended raw
 * floats, little endian; with volume.pvd, the list of frames and their times. In 2D the grid is one
 * cell thick. snapshot_load (vtp_read.h) reads them back.
 */
#ifndef SPATE_FRAMES_VOLUME_H
#define SPATE_FRAMES_VOLUME_H

#include "frames/frames.h"
#include "frames/vtp_read.h"

/* Whether a run writes them: the solver has such fields and the scene wants them. */
bool volume_is_wanted(const spate_simulation *sim);

/* The fields of one moment. */
typedef struct volume_frame {
    spate_context *ctx;
    const char *scene_name;
    const domain *domain;
    double time;
    frame_poses poses; /* not owned */
    volume_field fields[SNAPSHOT_ARRAYS];
    int field_count;
    file_axes axes;
    int cells[3]; /* of the file */
    double origin[3];
    uint64_t cell_count;
    float *values; /* one field after another */
} volume_frame;

/* Copies the fields of the present state. */
spate_status volume_create(spate_simulation *sim, volume_frame *f);
void volume_free(volume_frame *f);
/* The context is that of the thread that writes; it tells what fails. */
spate_status volume_write(spate_context *ctx, const volume_frame *f, const char *path);

#endif
