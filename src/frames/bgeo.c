/*
 * Houdini's classic binary geometry, version 5, big endian: what Partio calls .bgeo. A header of
 * counts, the declaration of each point attribute (name, size, kind, default values), then a row a
 * point that begins with the homogeneous position x y z 1. There are no primitives; two bytes close
 * the file. Numbers are 32 bits wide.
 */
#include "frames/frames.h"
#include <string.h>

enum { ROW_BATCH = 1024, KIND_FLOAT = 0, KIND_INT = 1, KIND_VECTOR = 5 };

static void write_int(file_writer *w, int32_t value) {
    uint32_t bits = __builtin_bswap32((uint32_t)value);
    file_write(w, &bits, sizeof bits);
}

static void write_short(file_writer *w, size_t value) {
    uint16_t bits = __builtin_bswap16((uint16_t)value);
    file_write(w, &bits, sizeof bits);
}

static void write_header(file_writer *w, const particle_frame *f) {
    file_write(w, "BgeoV", 5);
    const int32_t counts[] = {5 /* version */,
                              (int32_t)f->count,
                              0 /* primitives */,
                              0,
                              0 /* groups */,
                              f->array_count - 1,
                              0,
                              0,
                              0 /* vertex, primitive, detail attributes */};
    for (int i = 0; i < COUNT_OF(counts); i++) write_int(w, counts[i]);
    for (int i = 1; i < f->array_count; i++) {
        const attribute *a = f->arrays[i].attribute;
        write_short(w, strlen(a->name));
        file_write(w, a->name, strlen(a->name));
        write_short(w, (size_t)a->components);
        write_int(w, a->type == ATTRIBUTE_WHOLE ? KIND_INT
                     : a->components == 3       ? KIND_VECTOR
                                                : KIND_FLOAT);
        for (int c = 0; c < a->components; c++) write_int(w, 0);
    }
}

/* Value number k of an array as 32 big endian bits. */
static uint32_t value_bits(const frame_array *array, int64_t k) {
    uint32_t bits;
    if (array->attribute->type == ATTRIBUTE_WHOLE) {
        bits = ((const uint32_t *)array->values)[k];
    } else {
        float value = (float)((const real *)array->values)[k];
        memcpy(&bits, &value, sizeof bits);
    }
    return __builtin_bswap32(bits);
}

static void fill_rows(const particle_frame *f, int64_t first, int64_t n, size_t row,
                      uint32_t *batch) {
    const float one = 1;
    uint32_t one_bits;
    memcpy(&one_bits, &one, sizeof one_bits);
    size_t at = 0;
    for (int i = 0; i < f->array_count; i++) {
        const int components = f->arrays[i].attribute->components;
        for (int64_t k = 0; k < n; k++) {
            uint32_t *out = batch + (size_t)k * row + at;
            for (int c = 0; c < components; c++)
                out[c] = value_bits(&f->arrays[i], (first + k) * components + c);
            if (i == 0) out[3] = __builtin_bswap32(one_bits);
        }
        at += (size_t)components + (i == 0);
    }
}

spate_status bgeo_write(spate_context *ctx, const particle_frame *f, const char *path) {
    if (f->count > INT32_MAX)
        return fail(
            ctx, SPATE_BAD_INPUT,
            "%s: a .bgeo file holds at most 2147483647 particles; choose output.particles: [vtp]",
            path);
    size_t row = 1;
    for (int i = 0; i < f->array_count; i++) row += (size_t)f->arrays[i].attribute->components;
    uint32_t *batch = take(ctx, ROW_BATCH * row, sizeof *batch);
    if (!batch) return SPATE_OUT_OF_MEMORY;
    file_writer w;
    spate_status status;
    TRY_OR_DONE(status, file_create(ctx, path, false, &w));
    write_header(&w, f);
    for (int64_t done = 0; done < f->count; done += ROW_BATCH) {
        int64_t n = f->count - done < ROW_BATCH ? f->count - done : ROW_BATCH;
        fill_rows(f, done, n, row, batch);
        file_write(&w, batch, (size_t)n * row * sizeof *batch);
    }
    file_write(&w, "\x00\xff", 2);
    status = file_close(&w);
done:
    give(ctx, batch);
    return status;
}
