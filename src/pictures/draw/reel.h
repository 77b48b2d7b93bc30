/*
 * Reel: the pictures of a run's frames made into a film at its pace. Frames are added as they are
 * drawn, so that ffmpeg works beside the renderer; what is shown again, the whole film or its way
 * back, is read from the pictures' files: memory holds one of them.
 */
#ifndef SPATE_PICTURES_DRAW_REEL_H
#define SPATE_PICTURES_DRAW_REEL_H

#include "pictures/draw/film.h"
#include "pictures/draw/film_timing.h"
#include "pictures/draw/picture.h"

typedef struct reel {
    spate_context *ctx;
    const char *folder;     /* of the pictures */
    const int64_t *numbers; /* of the frames, ascending */
    int64_t count;
    picture *picture; /* the one that was drawn last */
    unsigned char *bytes;
    film_timing timing;
    char words[32]; /* in the corner */
    int64_t shown;  /* pictures of the film so far */
    film film;      /* without a process: there is none */
    char path[PATH_SIZE];
} reel;

/* The file of a frame's picture. */
spate_status reel_picture_path(spate_context *ctx, const char *folder, int64_t number,
                               char path[PATH_SIZE]);

/* Begins folder/film.mp4. r holds ctx, folder, numbers, count, picture and bytes, which must
 * outlive it; `rate` is that of the run's frames, fps and speed are as in film_timing_choose. */
spate_status reel_open(reel *r, double rate, double fps, double speed);
/* Shows frame `index` as long as it stays, from r->picture as it was drawn. */
void reel_show(reel *r, int64_t index);
/* Shows the film `times` in all, with `pingpong` forth and back each time. `interrupt` may be NULL;
 * once it is set the film ends early. */
spate_status reel_repeat(reel *r, int times, bool pingpong, const volatile int *interrupt);

#endif
