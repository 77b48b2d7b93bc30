/* PNG: W3C, third edition, 11.2.1. MP4: boxes of ISO/IEC 14496-12, of which only numbers are read.
 * */
#include "run/media.h"
#include <string.h>

/* ---- PNG ---- */

static const char signature[] = "\x89PNG\r\n\x1a\n";

bool media_is_png(const char *bytes, size_t length) {
    return length >= sizeof signature - 1 && !memcmp(bytes, signature, sizeof signature - 1);
}

bool media_read_png(const char *bytes, size_t length, media *out) {
    enum { HEAD = 24, TAIL = 12 }; /* up to the height; the chunk that ends the file */
    *out = (media){0};
    if (length < HEAD + TAIL || memcmp(bytes + length - 8, "IEND", 4)) return false;
    out->width = (int64_t)big_endian(bytes + 16, 4);
    out->height = (int64_t)big_endian(bytes + 20, 4);
    return true;
}

/* ---- MP4 ---- */

typedef struct box {
    const char *data; /* what is in it */
    size_t length;
} box;

/* The first box of a kind in another one; data NULL: none. */
static box find_box(box in, const char *kind) {
    while (in.data && in.length >= 8) {
        uint64_t size = big_endian(in.data, 4), head = 8;
        if (size == 1 && in.length >= 16) size = big_endian(in.data + 8, 8), head = 16;
        if (size == 0) size = in.length; /* to the end */
        if (size < head || size > in.length) break;
        if (!memcmp(in.data + 4, kind, 4)) return (box){in.data + head, (size_t)(size - head)};
        in.data += size, in.length -= (size_t)size;
    }
    return (box){NULL, 0};
}

static box find_path(box in, const char *const *kinds) {
    for (; *kinds; kinds++) in = find_box(in, *kinds);
    return in;
}

bool media_is_mp4(const char *bytes, size_t length) {
    return length >= 8 && !memcmp(bytes + 4, "ftyp", 4);
}

/* One track: films of runs have no sound. */
bool media_read_mp4(const char *bytes, size_t length, media *out) {
    static const char *const to_track[] = {"moov", "trak", NULL},
                             *const to_header[] = {"mdia", "mdhd", NULL},
                             *const to_sizes[] = {"mdia", "minf", "stbl", "stsz", NULL};
    *out = (media){0};
    const box track = find_path((box){bytes, length}, to_track), shown = find_box(track, "tkhd"),
              header = find_path(track, to_header), sizes = find_path(track, to_sizes);
    if (shown.length < 84 || header.length < 24 || sizes.length < 12) return false;
    const bool wide = header.data[0] == 1; /* times of 64 bits */
    if (wide && header.length < 36) return false;
    /* Width and height come last, with 16 bits behind the point. */
    out->width = (int64_t)big_endian(shown.data + shown.length - 8, 4) >> 16;
    out->height = (int64_t)big_endian(shown.data + shown.length - 4, 4) >> 16;
    const double unit = (double)big_endian(header.data + (wide ? 20 : 12), 4);
    const double ticks = (double)big_endian(header.data + (wide ? 24 : 16), wide ? 8 : 4);
    out->seconds = unit > 0 ? ticks / unit : 0;
    out->frames = (int64_t)big_endian(sizes.data + 8, 4);
    return true;
}
