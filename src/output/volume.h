/*
 * Volumes: the fields that a solver keeps on the cells of the domain, of one moment, as files for
 * other tools: VTK XML ImageData (.vti, for ParaView, VTK, PyVista), cell data, appended raw floats,
 * little endian; with volume.pvd, the list of frames and their times. In 2D the grid is one cell
 * thick. snapshot_load (vtp_read.h) reads them back.
 */
#ifndef SPATE_OUTPUT_VOLUME_H
#define SPATE_OUTPUT_VOLUME_H

#include "output/frames.h"

/* Whether a run writes them: the solver has such fields and the scene wants them. */
bool volume_is_wanted(const spate_simulation *sim);

/* Writes the fields of the present state, one after another: only one is in memory at a time. */
spate_status volume_write(spate_simulation *sim, const char *path);

/* "volume_0001.vti" */
void volume_name(char out[FRAME_NAME_SIZE], int64_t number);

#endif
