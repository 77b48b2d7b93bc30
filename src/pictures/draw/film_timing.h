/*
 * Film timing: how fast a film shows the frames of a run. It has `fps` pictures a second; a second
 * of it is `speed` simulated seconds. Each picture shows the last frame that is not later than
 * itself: frames are repeated or left out, never mixed.
 *
 * Where nothing is asked for, speed is 1, or the round fraction that makes the film four seconds
 * long; and fps is the rate at which the frames then pass, halved or doubled until it suits a
 * screen, so that every frame stays as long as the others.
 */
#ifndef SPATE_PICTURES_DRAW_FILM_TIMING_H
#define SPATE_PICTURES_DRAW_FILM_TIMING_H

#include "core/context.h"

typedef struct film_timing {
    double fps, speed;
    double step;      /* frames of the run from one picture to the next; may be below 1 */
    int64_t pictures; /* of the whole film */
} film_timing;

/* For `frames` that a run wrote `rate` times a simulated second; fps and speed 0: chosen. */
spate_status film_timing_choose(spate_context *ctx, double rate, int64_t frames, double fps,
                                double speed, film_timing *out);
/* Which frame a picture shows, both from 0. */
int64_t film_timing_frame(const film_timing *p, int64_t picture);
/* "1/3 speed", "2x speed"; nothing in real time. */
void film_timing_words(const film_timing *p, char *out, size_t size);

#endif
