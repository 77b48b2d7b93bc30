/* Names of frames; see frame_names.h. */
#include "frames/frame_names.h"
#include <stdio.h>

void frame_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension) {
    snprintf(out, FRAME_NAME_SIZE, "particles_%04lld.%s", (long long)number, extension);
}

void surface_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension) {
    snprintf(out, FRAME_NAME_SIZE, "surface_%04lld.%s", (long long)number, extension);
}

void mesh_name(char out[FRAME_NAME_SIZE], int64_t number, const char *extension) {
    snprintf(out, FRAME_NAME_SIZE, "mesh_%04lld.%s", (long long)number, extension);
}

void volume_name(char out[FRAME_NAME_SIZE], int64_t number) {
    snprintf(out, FRAME_NAME_SIZE, "volume_%04lld.vti", (long long)number);
}
