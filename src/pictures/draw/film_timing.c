/* Speeds and rates of films. */
#include "pictures/draw/film_timing.h"
#include <math.h>
#include <stdio.h>

static const double shortest = 4;         /* seconds of a film whose speed nobody chose */
static const double slow = 12, fast = 60; /* pictures a second that suit a screen */
static const double fps_most = 1000, speed_least = 1e-6, speed_most = 1e6, most_pictures = 1e6;
static const double round_off = 1e-9;

/* 1, 2, ... 10, then 15, 20, 25, 30, 40, 50, 60, 80, 100, 150 ...: not below `least`. */
static double round_divisor(double least) {
    static const double rounds[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    const double whole = ceil(least - round_off);
    if (whole <= 10) return fmax(whole, 1);
    const double ten = pow(10, floor(log10(whole) + round_off));
    int i = 0;
    while (rounds[i] * ten < whole * (1 - round_off)) i++;
    return rounds[i] * ten;
}

static double suit_screen(double fps) {
    while (fps > fast * (1 + round_off)) fps /= 2;
    while (fps < slow * (1 - round_off)) fps *= 2;
    return fps;
}

static spate_status check_wishes(spate_context *ctx, double fps, double speed) {
    if (fps != 0 && !(fps >= 1 && fps <= fps_most))
        return fail(ctx, SPATE_BAD_INPUT,
                    "fps: %g pictures a second of the film; it must be 1 to %g", fps, fps_most);
    if (speed != 0 && !(speed >= speed_least && speed <= speed_most))
        return fail(ctx, SPATE_BAD_INPUT,
                    "speed: %g simulated seconds a second of the film; it must be %g to %g, such "
                    "as 0.25",
                    speed, speed_least, speed_most);
    return SPATE_OK;
}

spate_status film_timing_choose(spate_context *ctx, double rate, int64_t frames, double fps,
                                double speed, film_timing *out) {
    TRY(check_wishes(ctx, fps, speed));
    const double seconds = (double)frames / rate;
    *out = (film_timing){.speed = speed != 0 ? speed : 1 / round_divisor(shortest / seconds)};
    out->fps = fps != 0 ? fps : suit_screen(rate * out->speed);
    out->step = rate * out->speed / out->fps;
    const double pictures = ceil((double)frames / out->step - round_off);
    if (!(pictures <= most_pictures))
        return fail(ctx, SPATE_BAD_INPUT,
                    "speed: at %g a film of %g s has %.3g pictures, more than %g; raise it, or "
                    "lower fps",
                    out->speed, seconds / out->speed, pictures, most_pictures);
    out->pictures = pictures > 1 ? (int64_t)pictures : 1;
    return SPATE_OK;
}

int64_t film_timing_frame(const film_timing *p, int64_t picture) {
    return (int64_t)floor((double)picture * p->step + round_off);
}

void film_timing_words(const film_timing *p, char *out, size_t size) {
    const double divisor = 1 / p->speed, whole = round(divisor);
    if (p->speed == 1)
        snprintf(out, size, "%s", "");
    else if (whole > 1 && fabs(divisor - whole) < 1e-6 * whole)
        snprintf(out, size, "1/%.0f speed", whole);
    else
        snprintf(out, size, "%.3gx speed", p->speed);
    for (char *c = out; *c; c++)
        if (*c == ',') *c = '.'; /* a locale's decimal comma */
}
