/* Film: pictures handed to ffmpeg one after another (H.264 in MP4). Nothing goes through a shell.
 */
#ifndef SPATE_PICTURES_DRAW_FILM_H
#define SPATE_PICTURES_DRAW_FILM_H

#include "core/context.h"
#include "core/file.h"
#include <sys/types.h>

typedef struct film {
    spate_context *ctx;
    pid_t process; /* 0: none */
    int pipe;
    size_t frame_bytes;
    bool broken; /* ffmpeg does not take any more */
    char path[PATH_SIZE], temporary[PATH_SIZE];
} film;

/* Starts ffmpeg. Where there is none a warning is given and the film stays empty: not a failure. */
spate_status film_open(spate_context *ctx, const char *path, int width, int height, double fps,
                       film *f);
/* Adds width * height * 3 bytes. */
void film_add(film *f, const unsigned char *bytes);
/* Ends the film and puts it in its place; with `keep` false it is thrown away. Safe on an empty
 * one. When ffmpeg fails a warning is given: the pictures are there all the same. */
spate_status film_close(film *f, bool keep);

#endif
