/* Words on pictures; see caption.h. */
#include "pictures/draw/caption.h"
#include <math.h>

static const rgb dark_ink = {0.045f, 0.055f, 0.07f}, light_ink = {0.75f, 0.79f, 0.84f};

double caption_letters(const picture *p) {
    return fmax(6, fmin(p->height / 60.0, p->width / 90.0));
}

rgb caption_ink(const picture *p) {
    const rgb corner = p->pixels[(int64_t)(p->height - 1) * p->width];
    return colour_lightness(corner) < 0.6f ? light_ink : dark_ink;
}

void caption_corner(const char *words, picture *out) {
    const double size = caption_letters(out);
    picture_text(out, out->width - 2.2 * size, 1.9 * size, size, ALIGN_RIGHT, caption_ink(out),
                 words);
}
