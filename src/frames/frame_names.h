/* The names of a run's frames: a stem, the number in four or more digits, an extension. */
#ifndef SPATE_FRAMES_FRAME_NAMES_H
#define SPATE_FRAMES_FRAME_NAMES_H

#include <stdint.h>

/* The series of frames in a run's folder. */
typedef enum frame_kind {
    FRAMES_OF_PARTICLES,
    FRAMES_OF_SURFACES,
    FRAMES_OF_VOLUMES,
    FRAMES_OF_MESHES
} frame_kind;
enum { FRAME_KINDS = 4, FRAME_NAME_SIZE = 64 };

/* "particles_0001.vtp" */
void frame_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension);
/* "surface_0001.ply" */
void surface_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension);
/* "mesh_0001.vtp" */
void mesh_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension);
/* "volume_0001.vti" */
void volume_name(char out[FRAME_NAME_SIZE], int64_t number);

#endif
