/* Drawing by the distance to what is drawn: a pixel is covered by how far it is inside. */
#include "pictures/draw/picture.h"
#include "core/file.h"
#include "pictures/draw/glyphs.h"
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

spate_status picture_create(spate_context *ctx, int width, int height, picture *p) {
    *p = (picture){0};
    if (width < 16 || height < 16 || width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX)
        return fail(ctx, SPATE_BAD_INPUT, "a picture of %d x %d pixels: each side must be 16 to %d",
                    width, height, PICTURE_SIDE_MAX);
    p->pixels = take(ctx, (size_t)width * (size_t)height, sizeof *p->pixels);
    if (!p->pixels) return SPATE_OUT_OF_MEMORY;
    p->width = width, p->height = height;
    return SPATE_OK;
}

void picture_free(spate_context *ctx, picture *p) {
    give(ctx, p->pixels);
    *p = (picture){0};
}

void picture_fill(picture *p, rgb colour) {
    for (int64_t i = 0; i < (int64_t)p->width * p->height; i++) p->pixels[i] = colour;
}

void picture_blend(picture *p, int x, int y, rgb colour, float cover) {
    if (x < 0 || y < 0 || x >= p->width || y >= p->height || !(cover > 0)) return;
    rgb *at = &p->pixels[(int64_t)y * p->width + x];
    *at = colour_mix(*at, colour, cover < 1 ? cover : 1);
}

/* A range of pixels [*from, *to) that a span of positions touches, cut to the picture. */
static void pixel_range(double low, double high, int size, int *from, int *to) {
    *from = low > 0 ? (low < size ? (int)low : size) : 0;
    *to = high < size ? (high > 0 ? (int)ceil(high) : 0) : size;
}

/* How much of a pixel is covered whose middle is `distance` outside an edge. */
static float cover_of(double distance) {
    return distance >= 0.5 ? 0 : distance <= -0.5 ? 1 : (float)(0.5 - distance);
}

void picture_disc(picture *p, double x, double y, double radius, rgb colour, float cover) {
    int x0, x1, y0, y1;
    pixel_range(x - radius - 1, x + radius + 1, p->width, &x0, &x1);
    pixel_range(y - radius - 1, y + radius + 1, p->height, &y0, &y1);
    /* Smaller than a pixel: a disc of one pixel, as faint as it is small. */
    if (radius < 0.5) cover *= (float)(4 * radius * radius), radius = 0.5;
    for (int j = y0; j < y1; j++)
        for (int i = x0; i < x1; i++) {
            double dx = i + 0.5 - x, dy = j + 0.5 - y, d2 = dx * dx + dy * dy;
            if (d2 < (radius + 0.5) * (radius + 0.5))
                picture_blend(p, i, j, colour, cover * cover_of(sqrt(d2) - radius));
        }
}

static double segment_distance(double px, double py, const double s[4]) {
    double dx = s[2] - s[0], dy = s[3] - s[1], l2 = dx * dx + dy * dy;
    double t = l2 > 0 ? ((px - s[0]) * dx + (py - s[1]) * dy) / l2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - s[0] - t * dx, py - s[1] - t * dy);
}

/* Segments as one shape: where they meet nothing is painted twice. */
static void draw_segments(picture *p, double (*segments)[4], int count, double width, rgb colour,
                          float cover) {
    double low[2] = {1e30, 1e30}, high[2] = {-1e30, -1e30};
    for (int s = 0; s < count; s++)
        for (int c = 0; c < 4; c++) {
            low[c & 1] = fmin(low[c & 1], segments[s][c]);
            high[c & 1] = fmax(high[c & 1], segments[s][c]);
        }
    int x0, x1, y0, y1;
    double half = width / 2;
    if (half < 0.5) cover *= (float)(2 * half), half = 0.5;
    pixel_range(low[0] - half - 1, high[0] + half + 1, p->width, &x0, &x1);
    pixel_range(low[1] - half - 1, high[1] + half + 1, p->height, &y0, &y1);
    for (int j = y0; j < y1; j++)
        for (int i = x0; i < x1; i++) {
            double d = 1e30;
            for (int s = 0; s < count; s++)
                d = fmin(d, segment_distance(i + 0.5, j + 0.5, segments[s]));
            picture_blend(p, i, j, colour, cover * cover_of(d - half));
        }
}

/* The part of a line that is in the picture or a little beyond, as shares of its way, so that far
 * ends cost nothing; false: none. */
static bool cut_line(const picture *p, const picture_ends *e, double beyond, double part[2]) {
    const double high[2] = {p->width, p->height}, from[2] = {e->x0, e->y0};
    const double along[2] = {e->x1 - e->x0, e->y1 - e->y0};
    double near = 0, far = 1;
    for (int c = 0; c < 2; c++) {
        double a = -beyond - from[c], b = high[c] + beyond - from[c];
        if (along[c] == 0) {
            if (a > 0 || b < 0) return false;
            continue;
        }
        a /= along[c], b /= along[c];
        near = fmax(near, fmin(a, b)), far = fmin(far, fmax(a, b));
    }
    part[0] = near, part[1] = far;
    return near <= far;
}

void picture_line(picture *p, picture_ends ends, double width, rgb colour, float cover) {
    enum { BEYOND = 8, PIECE = 64 }; /* pixels */
    const double x0 = ends.x0, y0 = ends.y0, along[2] = {ends.x1 - x0, ends.y1 - y0};
    double part[2];
    if (!cut_line(p, &ends, BEYOND + width, part)) return;
    const double near = part[0], far = part[1];
    /* Short pieces keep the box of each small. */
    double length = hypot(along[0], along[1]) * (far - near);
    int pieces = 1 + (int)(length / PIECE);
    double half = width / 2 < 0.5 ? 0.5 : width / 2, ux = 0, uy = 0;
    if (width < 1) cover *= (float)width;
    if (length > 0) {
        double all = hypot(along[0], along[1]);
        ux = along[0] / all, uy = along[1] / all;
    }
    double whole[4] = {x0 + along[0] * near, y0 + along[1] * near, x0 + along[0] * far,
                       y0 + along[1] * far};
    for (int k = 0; k < pieces; k++) {
        double a = length * k / pieces, b = length * (k + 1) / pieces;
        double ax = whole[0] + ux * a, ay = whole[1] + uy * a, bx = whole[0] + ux * b,
               by = whole[1] + uy * b;
        int i0, i1, j0, j1;
        pixel_range(fmin(ax, bx) - half - 2, fmax(ax, bx) + half + 2, p->width, &i0, &i1);
        pixel_range(fmin(ay, by) - half - 2, fmax(ay, by) + half + 2, p->height, &j0, &j1);
        for (int j = j0; j < j1; j++)
            for (int i = i0; i < i1; i++) {
                /* A pixel belongs to the piece that its foot falls on. */
                double foot = (i + 0.5 - whole[0]) * ux + (j + 0.5 - whole[1]) * uy;
                if ((foot < a && k > 0) || (foot >= b && k < pieces - 1)) continue;
                double d = segment_distance(i + 0.5, j + 0.5, whole) - half;
                picture_blend(p, i, j, colour, cover * cover_of(d));
            }
    }
}

void picture_box(picture *p, double x0, double y0, double x1, double y1, rgb colour, float cover) {
    int i0, i1, j0, j1;
    pixel_range(x0, x1, p->width, &i0, &i1);
    pixel_range(y0, y1, p->height, &j0, &j1);
    for (int j = j0; j < j1; j++)
        for (int i = i0; i < i1; i++) {
            double w = fmin(i + 1, x1) - fmax(i, x0), h = fmin(j + 1, y1) - fmax(j, y0);
            picture_blend(p, i, j, colour, cover * (float)(fmax(w, 0) * fmax(h, 0)));
        }
}

void picture_colour_bar(picture *p, double x0, double y0, double x1, double y1,
                        rgb (*map)(double at)) {
    int i0, i1, j0, j1;
    pixel_range(x0, x1, p->width, &i0, &i1);
    pixel_range(y0, y1, p->height, &j0, &j1);
    for (int j = j0; j < j1; j++)
        picture_box(p, x0, fmax(j, y0), x1, fmin(j + 1, y1), map((y1 - j - 0.5) / (y1 - y0)), 1);
}

/* ---- Text ------------------------------------------------------------------------------------ */

enum { STROKE_POINTS = 16, GLYPH_SEGMENTS = 96, CURVE_PIECES = 5 };

typedef struct glyph_pen {
    double (*segments)[4];
    int count;
    double x, y, unit; /* where the glyph stands, pixels to a unit of its lattice */
} glyph_pen;

static void pen_segment(glyph_pen *pen, const double a[2], const double b[2]) {
    if (pen->count == GLYPH_SEGMENTS) return;
    double *s = pen->segments[pen->count++];
    s[0] = pen->x + a[0] * pen->unit, s[1] = pen->y - (a[1] - GLYPH_BASE) * pen->unit;
    s[2] = pen->x + b[0] * pen->unit, s[3] = pen->y - (b[1] - GLYPH_BASE) * pen->unit;
}

/* A parabola from a to b whose end tangents meet in c. */
static void pen_curve(glyph_pen *pen, const double a[2], const double c[2], const double b[2]) {
    double last[2] = {a[0], a[1]};
    for (int k = 1; k <= CURVE_PIECES; k++) {
        double t = (double)k / CURVE_PIECES, u = 1 - t, next[2];
        for (int i = 0; i < 2; i++) next[i] = u * u * a[i] + 2 * u * t * c[i] + t * t * b[i];
        pen_segment(pen, last, next);
        memcpy(last, next, sizeof last);
    }
}

static void pen_stroke(glyph_pen *pen, char kind, double (*points)[2], int count) {
    bool closed = kind == 'o';
    if (kind == '-' || count < 3) {
        for (int k = 0; k + 1 < count; k++) pen_segment(pen, points[k], points[k + 1]);
        return;
    }
    for (int k = closed ? 0 : 1; k < (closed ? count : count - 1); k++) {
        const double *before = points[(k + count - 1) % count], *at = points[k];
        const double *after = points[(k + 1) % count];
        double a[2], b[2];
        for (int i = 0; i < 2; i++) {
            a[i] = !closed && k == 1 ? before[i] : (before[i] + at[i]) / 2;
            b[i] = !closed && k == count - 2 ? after[i] : (at[i] + after[i]) / 2;
        }
        pen_curve(pen, a, at, b);
    }
}

static void pen_glyph(glyph_pen *pen, const char *strokes) {
    for (const char *c = strokes; *c;) {
        char kind = *c == '~' || *c == 'o' ? *c++ : '-';
        double points[STROKE_POINTS][2];
        int count = 0;
        for (; *c && *c != ' '; c += 2)
            if (count < STROKE_POINTS)
                points[count][0] = c[0] - '0', points[count][1] = c[1] - '0', count++;
        if (count == 2 && !memcmp(points[0], points[1], sizeof points[0])) kind = '-';
        pen_stroke(pen, kind, points, count);
        if (*c == ' ') c++;
    }
}

/* How far a glyph reaches to the right, in units, and the gap after it. */
static double glyph_advance(const char *strokes) {
    int right = 0;
    if (!*strokes) return 3;
    for (const char *c = strokes; *c;) {
        if (*c == '~' || *c == 'o' || *c == ' ') {
            c++;
            continue;
        }
        if (c[0] - '0' > right) right = c[0] - '0';
        c += 2;
    }
    return right + 1.9;
}

/* The next character of a UTF-8 text; all that is not ASCII becomes one code without a glyph. */
static unsigned char next_character(const char **text) {
    unsigned char c = (unsigned char)*(*text)++;
    if (c < 0x80) return c;
    while (((unsigned char)**text & 0xc0) == 0x80) (*text)++;
    return 0x7f;
}

double picture_text_width(double size, const char *text) {
    double width = 0;
    while (*text) width += glyph_advance(glyph_strokes(next_character(&text)));
    return (width > 0 ? width - 1.9 : 0) * size / GLYPH_CAPITAL;
}

double picture_fit_text(double size, double room, const char *text) {
    const double width = picture_text_width(size, text);
    return width > room ? size * fmax(room, 1) / width : size;
}

void picture_text(picture *p, double x, double y, double size, text_align align, rgb colour,
                  const char *text) {
    double segments[GLYPH_SEGMENTS][4], width = picture_text_width(size, text);
    glyph_pen pen = {segments, 0, x, y, size / GLYPH_CAPITAL};
    if (align == ALIGN_MIDDLE) pen.x -= width / 2;
    if (align == ALIGN_RIGHT) pen.x -= width;
    while (*text) {
        const char *strokes = glyph_strokes(next_character(&text));
        pen.count = 0;
        pen_glyph(&pen, strokes);
        if (pen.count) draw_segments(p, segments, pen.count, 0.95 * pen.unit, colour, 1);
        pen.x += glyph_advance(strokes) * pen.unit;
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

void picture_to_bytes(const picture *p, unsigned char *bytes) {
    /* The screen's curve from a table: far finer than the 256 steps it ends in. */
    enum { STEPS = 8192 };
    unsigned char table[STEPS + 1];
    for (int i = 0; i <= STEPS; i++)
        table[i] = (unsigned char)(colour_to_screen((float)i / STEPS) * 255 + 0.5f);
    const float *from = &p->pixels->r;
    for (int64_t i = 0; i < (int64_t)p->width * p->height * 3; i++) {
        float v = from[i];
        bytes[i] = v >= 1 ? 255 : v > 0 ? table[(int)(v * STEPS + 0.5f)] : 0;
    }
}

typedef struct png_job {
    spate_context *ctx;
    file_writer file;
    char message[200];
    bool no_memory;
    jmp_buf back;
} png_job;

static void png_failed(png_structp png, png_const_charp message) {
    png_job *job = png_get_error_ptr(png);
    strncpy(job->message, message, sizeof job->message - 1);
    longjmp(job->back, 1);
}

static void png_warned(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void png_put(png_structp png, png_bytep bytes, size_t length) {
    file_write(&((png_job *)png_get_io_ptr(png))->file, bytes, length);
}

static void png_flushed(png_structp png) { (void)png; }

static png_voidp png_take(png_structp png, png_alloc_size_t size) {
    png_job *job = png_get_mem_ptr(png);
    void *block = take(job->ctx, 1, size);
    if (!block) job->no_memory = true;
    return block;
}

static void png_give(png_structp png, png_voidp block) {
    give(((png_job *)png_get_mem_ptr(png))->ctx, block);
}

/* libpng leaves by longjmp when something fails, so nothing here changes after setjmp. */
static bool png_encode(png_job *job, png_structp png, png_infop info, const unsigned char *bytes,
                       int width, int height) {
    if (setjmp(job->back)) return false;
    png_set_write_fn(png, job, png_put, png_flushed);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 5);
    png_set_filter(png, 0, PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_PAETH);
    png_write_info(png, info);
    for (int y = 0; y < height; y++) png_write_row(png, bytes + (size_t)y * (size_t)width * 3);
    png_write_end(png, info);
    return true;
}

spate_status picture_write_png(spate_context *ctx, const unsigned char *bytes, int width,
                               int height, const char *path) {
    png_job *job = take(ctx, 1, sizeof *job);
    if (!job) return SPATE_OUT_OF_MEMORY;
    job->ctx = ctx;
    spate_status status = file_create(ctx, path, false, &job->file);
    if (status != SPATE_OK) {
        give(ctx, job);
        return status;
    }
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, job, png_failed, png_warned,
                                                job, png_take, png_give);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        status = fail(ctx, SPATE_OUT_OF_MEMORY, "%s: no memory to write the picture", path);
    } else if (!png_encode(job, png, info, bytes, width, height)) {
        status = fail(ctx, job->no_memory ? SPATE_OUT_OF_MEMORY : SPATE_IO_ERROR,
                      "%s: the picture cannot be written: %s", path, job->message);
    }
    png_destroy_write_struct(&png, &info);
    if (status == SPATE_OK)
        status = file_close(&job->file);
    else
        file_abandon(&job->file);
    give(ctx, job);
    return status;
}

spate_status picture_save(spate_context *ctx, const picture *p, const char *path) {
    unsigned char *bytes = take(ctx, (size_t)p->width * (size_t)p->height, 3);
    if (!bytes) return SPATE_OUT_OF_MEMORY;
    picture_to_bytes(p, bytes);
    spate_status status = picture_write_png(ctx, bytes, p->width, p->height, path);
    give(ctx, bytes);
    return status;
}

static void picture_from_bytes(const unsigned char *bytes, picture *p) {
    float table[256];
    for (int i = 0; i < 256; i++) table[i] = colour_from_screen((double[3]){i / 255.0, 0, 0}).r;
    float *to = &p->pixels->r;
    for (int64_t i = 0; i < (int64_t)p->width * p->height * 3; i++) to[i] = table[bytes[i]];
}

spate_status picture_load(spate_context *ctx, const char *path, unsigned char *bytes, picture *p) {
    const size_t most = (size_t)p->width * (size_t)p->height * 4 + (1 << 16);
    png_image image = {.version = PNG_IMAGE_VERSION};
    char *file;
    size_t length;
    TRY(file_read(ctx, path, most, &file, &length));
    bool good = png_image_begin_read_from_memory(&image, file, length) != 0;
    good = good && (int)image.width == p->width && (int)image.height == p->height;
    image.format = PNG_FORMAT_RGB;
    good = good && png_image_finish_read(&image, NULL, bytes, 0, NULL);
    png_image_free(&image);
    give(ctx, file);
    if (!good)
        return fail(ctx, SPATE_IO_ERROR, "%s: it is not the picture that was written there: %s",
                    path, *image.message ? image.message : "another size");
    picture_from_bytes(bytes, p);
    return SPATE_OK;
}
