/* From frames to the pictures of a film. */
#include "pictures/draw/reel.h"
#include "pictures/draw/caption.h"
#include <stdio.h>

spate_status reel_picture_path(spate_context *ctx, const char *folder, int64_t number,
                               char path[PATH_SIZE]) {
    char name[64];
    snprintf(name, sizeof name, "frame_%04lld.png", (long long)number);
    return path_join(ctx, folder, name, path);
}

spate_status reel_open(reel *r, double rate, double fps, double speed) {
    const int64_t span = r->numbers[r->count - 1] - r->numbers[0] + 1;
    TRY(film_timing_choose(r->ctx, rate, span, fps, speed, &r->timing));
    film_timing_words(&r->timing, r->words, sizeof r->words);
    TRY(path_join(r->ctx, r->folder, "film.mp4", r->path));
    return film_open(r->ctx, r->path, r->picture->width, r->picture->height, r->timing.fps,
                     &r->film);
}

/* The picture's bytes as the film has them: with the speed in the corner. */
static void label(reel *r) {
    if (*r->words) caption_corner(r->words, r->picture);
    picture_to_bytes(r->picture, r->bytes);
}

void reel_show(reel *r, int64_t index) {
    const int64_t last = r->numbers[r->count - 1];
    const int64_t next = index + 1 < r->count ? r->numbers[index + 1] : last + 1;
    if (!r->film.process) return;
    label(r);
    while (r->shown < r->timing.pictures &&
           r->numbers[0] + film_timing_frame(&r->timing, r->shown) < next) {
        film_add(&r->film, r->bytes);
        r->shown++;
    }
}

/* The frame that a picture of the film shows: the last one that is not later. */
static int64_t index_of(const reel *r, int64_t shown) {
    const int64_t number = r->numbers[0] + film_timing_frame(&r->timing, shown);
    int64_t low = 0, high = r->count;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (r->numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static spate_status load(reel *r, int64_t index) {
    char path[PATH_SIZE];
    TRY(reel_picture_path(r->ctx, r->folder, r->numbers[index], path));
    TRY(picture_load(r->ctx, path, r->bytes, r->picture));
    label(r);
    return SPATE_OK;
}

/* Pictures from `begin` to `end`, forwards or backwards, both included. */
static spate_status show_again(reel *r, int64_t begin, int64_t end, const volatile int *interrupt) {
    const int64_t step = begin <= end ? 1 : -1;
    int64_t loaded = -1;
    for (int64_t k = begin; k != end + step; k += step) {
        const int64_t index = index_of(r, k);
        if (interrupt && *interrupt)
            return fail(r->ctx, SPATE_INTERRUPTED, "%s: interrupted while the film was repeated",
                        r->folder);
        if (index != loaded) TRY(load(r, index));
        loaded = index;
        film_add(&r->film, r->bytes);
    }
    return SPATE_OK;
}

spate_status reel_repeat(reel *r, int times, bool pingpong, const volatile int *interrupt) {
    const int64_t last = r->timing.pictures - 1;
    if (!r->film.process) return SPATE_OK;
    for (int i = 0; i < times; i++) {
        if (i > 0) TRY(show_again(r, 0, last, interrupt));
        /* Both turning points are there once: players that start again see no halt. */
        if (pingpong && last > 1) TRY(show_again(r, last - 1, 1, interrupt));
    }
    return SPATE_OK;
}
