/*
 * PLY, binary little endian (Turk, "The PLY polygon file format", 1994): one element "vertex" whose
 * properties are the attributes, scalars by their own name, vectors as x y z, vx vy vz, and tensors
 * as stress_xx and so on. Properties of a vertex lie one after the other.
 */
#include "frames/frames.h"
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are written as they are in memory");

enum { ROW_BATCH = 1024 };

void ply_declare(file_writer *w, const attribute *a) {
    const char *type = a->type == ATTRIBUTE_WHOLE ? "uint" : sizeof(real) == 4 ? "float" : "double";
    const char *word = a->component_names;
    for (int c = 0; c < a->components; c++) {
        file_print(w, "property %s ", type);
        if (a->components == 1) {
            file_print(w, "%s\n", a->name);
        } else if (!word) {
            file_print(w, "%s%c\n", strcmp(a->name, "P") ? a->name : "", "xyz"[c]);
        } else {
            int length = (int)strcspn(word, " ");
            file_print(w, "%s_%.*s\n", a->name, length, word);
            word += length + (word[length] == ' ');
        }
    }
}

static void write_header(file_writer *w, const particle_frame *f) {
    file_print(w, "ply\nformat binary_little_endian 1.0\ncomment spate particles\n");
    file_print(w, "comment time %.17g\nelement vertex %lld\n", f->time, (long long)f->count);
    for (int i = 0; i < f->array_count; i++) ply_declare(w, f->arrays[i].attribute);
    file_print(w, "end_header\n");
}

static size_t value_bytes(const frame_array *array) {
    return (size_t)array->attribute->components * attribute_size(array->attribute);
}

spate_status ply_rows(file_writer *w, const frame_array *arrays, int array_count, int64_t count) {
    size_t row = 0;
    for (int i = 0; i < array_count; i++) row += value_bytes(&arrays[i]);
    char *batch = take(w->ctx, ROW_BATCH, row);
    if (!batch) return SPATE_OUT_OF_MEMORY;
    for (int64_t done = 0; done < count; done += ROW_BATCH) {
        int64_t n = count - done < ROW_BATCH ? count - done : ROW_BATCH;
        size_t at = 0;
        for (int i = 0; i < array_count; i++) {
            const size_t size = value_bytes(&arrays[i]);
            const char *from = (const char *)arrays[i].values + (size_t)done * size;
            for (int64_t k = 0; k < n; k++)
                memcpy(batch + (size_t)k * row + at, from + (size_t)k * size, size);
            at += size;
        }
        file_write(w, batch, (size_t)n * row);
    }
    give(w->ctx, batch);
    return SPATE_OK;
}

spate_status ply_write(spate_context *ctx, const particle_frame *f, const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    write_header(&w, f);
    const spate_status status = ply_rows(&w, f->arrays, f->array_count, f->count);
    if (!status) return file_close(&w);
    file_abandon(&w);
    return status;
}
