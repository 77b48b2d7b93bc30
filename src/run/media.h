/*
 * Media: the size of a picture (PNG) or film (MP4), read from its first bytes or its table of
 * contents.
 */
#ifndef SPATE_RUN_MEDIA_H
#define SPATE_RUN_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct media {
    int64_t width, height; /* pixels; 0 unknown */
    int64_t frames;        /* of a film; 0 unknown */
    double seconds;
} media;

/* The number that bytes spell, the highest first. */
static inline uint64_t big_endian(const char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | (unsigned char)bytes[i];
    return value;
}

bool media_is_png(const char *bytes, size_t length);
bool media_is_mp4(const char *bytes, size_t length);
/* False for one that is cut short. */
bool media_read_png(const char *bytes, size_t length, media *out);
bool media_read_mp4(const char *bytes, size_t length, media *out);

#endif
