/* For the picture tests: a folder of their own, PNG files read back, small frames written by hand.
 */
#ifndef SPATE_TESTS_PICTURES_H
#define SPATE_TESTS_PICTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/context.h"
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static inline int open_all(void **state) {
    strcpy(folder, "/tmp/spate_test_XXXXXX");
    if (!mkdtemp(folder)) return -1;
    spate_config config = spate_default_config();
    config.threads = 2;
    return spate_open(&config, (spate_context **)state);
}

static inline int close_all(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    spate_close(*state);
    return system(command);
}

/* folder/name; good until the fourth call from now. */
static inline const char *in_folder(const char *name) {
    static char paths[4][256];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void put_bytes(const char *path, const void *bytes, size_t length) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

typedef struct pixels {
    int width, height;
    unsigned char *rgb;
} pixels;

/* A PNG file as libpng sees it; rgb is NULL when it is none. */
static inline pixels read_png(const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    pixels p = {0};
    if (!png_image_begin_read_from_file(&image, path)) return p;
    image.format = PNG_FORMAT_RGB;
    p.width = (int)image.width, p.height = (int)image.height;
    p.rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, p.rgb, 0, NULL));
    return p;
}

static inline const unsigned char *pixel(const pixels *p, double x, double y) {
    assert_true(x >= 0 && y >= 0 && x < p->width && y < p->height);
    return p->rgb + ((size_t)(int)y * (size_t)p->width + (size_t)(int)x) * 3;
}

/* A frame with P, v, pscale and material as the run writer lays it out, and with `groups` where it
 * is not NULL; returns its length. */
static inline size_t make_frame(char *out, size_t size, int count, const float (*x)[3],
                                const float (*v)[3], float radius, const uint32_t *kinds,
                                const uint32_t *groups, double time) {
    size_t n = (size_t)count;
    char more[160] = "";
    if (groups)
        snprintf(more, sizeof more,
                 "<DataArray type=\"UInt32\" Name=\"group\" NumberOfComponents=\"1\" "
                 "format=\"appended\" "
                 "offset=\"%zu\"/>\n",
                 32 + 32 * n);
    int used = snprintf(
        out, size,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" "
        "Name=\"TimeValue\" "
        "NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray>\n</FieldData>\n<Piece "
        "NumberOfPoints=\"%d\">\n"
        "<Points>\n<DataArray type=\"Float32\" Name=\"P\" NumberOfComponents=\"3\" "
        "format=\"appended\" "
        "offset=\"0\"/>\n</Points>\n<PointData Vectors=\"v\">\n<DataArray type=\"Float32\" "
        "Name=\"v\" "
        "NumberOfComponents=\"3\" format=\"appended\" offset=\"%zu\"/>\n<DataArray "
        "type=\"Float32\" "
        "Name=\"pscale\" NumberOfComponents=\"1\" format=\"appended\" offset=\"%zu\"/>\n<DataArray "
        "type=\"UInt32\" Name=\"material\" NumberOfComponents=\"1\" format=\"appended\" "
        "offset=\"%zu\"/>\n%s"
        "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_",
        time, count, 8 + 12 * n, 16 + 24 * n, 24 + 28 * n, more);
    char *c = out + used;
    assert_true((size_t)used + 36 * n + 100 < size);
    const void *arrays[2] = {x, v};
    uint64_t bytes = 12 * n;
    for (int a = 0; a < 2; a++, c += bytes) {
        memcpy(c, &bytes, 8);
        memcpy(c += 8, arrays[a], bytes);
    }
    bytes = 4 * n;
    memcpy(c, &bytes, 8), c += 8;
    for (size_t i = 0; i < n; i++, c += 4) memcpy(c, &radius, 4);
    for (int a = 0; a < (groups ? 2 : 1); a++, c += bytes) {
        memcpy(c, &bytes, 8);
        memcpy(c += 8, a ? groups : kinds, bytes);
    }
    c += sprintf(c, "\n</AppendedData>\n</VTKFile>\n");
    return (size_t)(c - out);
}

#endif
