/*
 * VTK XML PolyData (https://docs.vtk.org, "VTK XML formats"): the text first, then every array as
 * raw bytes after a '_', each with its length (UInt64) in front. One vertex cell a point, so that a
 * viewer draws the points as they are.
 */
#include "frames/frames.h"
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they are in memory");

enum { CELL_BATCH = 16384 };

static const char *type_name(const attribute *a) {
    if (a->type == ATTRIBUTE_WHOLE) return "UInt32";
    return sizeof(real) == 4 ? "Float32" : "Float64";
}

static uint64_t array_bytes(const attribute *a, int64_t count) {
    return (uint64_t)count * (uint64_t)a->components * attribute_size(a);
}

void vtp_declare(file_writer *w, const char *type, const char *name, int components, uint64_t bytes,
                 uint64_t *offset) {
    file_print(w,
               "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
               "format=\"appended\" offset=\"%llu\"/>\n",
               type, name, components, (unsigned long long)*offset);
    *offset += sizeof bytes + bytes;
}

void vtp_array(file_writer *w, const void *values, uint64_t bytes) {
    file_write(w, &bytes, sizeof bytes);
    file_write(w, values, (size_t)bytes);
}

void vtp_offsets(file_writer *w, int64_t count, int corners) {
    int32_t batch[CELL_BATCH];
    const uint64_t bytes = (uint64_t)count * sizeof *batch;
    file_write(w, &bytes, sizeof bytes);
    for (int64_t done = 0; done < count; done += CELL_BATCH) {
        const int64_t n = count - done < CELL_BATCH ? count - done : CELL_BATCH;
        for (int64_t k = 0; k < n; k++) batch[k] = (int32_t)(corners * (done + k + 1));
        file_write(w, batch, (size_t)n * sizeof *batch);
    }
}

void vtp_declare_attribute(file_writer *w, const attribute *a, int64_t count, uint64_t *offset) {
    file_print(w, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"", type_name(a),
               a->name, a->components);
    const char *word = a->component_names;
    for (int c = 0; c < a->components && word && *word; c++) {
        int length = (int)strcspn(word, " ");
        file_print(w, " ComponentName%d=\"%.*s\"", c, length, word);
        word += length + (word[length] == ' ');
    }
    file_print(w, " format=\"appended\" offset=\"%llu\"/>\n", (unsigned long long)*offset);
    *offset += sizeof(uint64_t) + array_bytes(a, count);
}

void vtp_attribute(file_writer *w, const frame_array *array, int64_t count) {
    vtp_array(w, array->values, array_bytes(array->attribute, count));
}

static void declare_cells(file_writer *w, const particle_frame *f, const char *name,
                          uint64_t *offset) {
    file_print(w, "<DataArray type=\"Int64\" Name=\"%s\" format=\"appended\" offset=\"%llu\"/>\n",
               name, (unsigned long long)*offset);
    *offset += sizeof(uint64_t) + (uint64_t)f->count * sizeof(int64_t);
}

/* A string array is the codes of its letters, closed by a zero. */
void vtk_write_field_data(file_writer *w, const char *scene_name, double time,
                          const frame_poses *poses) {
    file_print(w,
               "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
               "format=\"ascii\">%.17g</DataArray>\n"
               "<DataArray type=\"String\" Name=\"scene\" NumberOfTuples=\"1\" format=\"ascii\">",
               time);
    for (const char *c = scene_name ? scene_name : ""; *c; c++)
        file_print(w, "%d ", (unsigned char)*c);
    file_print(w, "0</DataArray>\n");
    if (poses->count)
        file_print(w,
                   "<DataArray type=\"Float64\" Name=\"driven\" NumberOfComponents=\"%d\" "
                   "NumberOfTuples=\"%d\" format=\"ascii\">",
                   POSE_NUMBERS, poses->count);
    for (int i = 0; i < poses->count * POSE_NUMBERS; i++)
        file_print(w, "%.17g ", poses->values[i / POSE_NUMBERS][i % POSE_NUMBERS]);
    if (poses->count) file_print(w, "</DataArray>\n");
    if (poses->counted)
        file_print(w,
                   "<DataArray type=\"Int32\" Name=\"colliders\" NumberOfTuples=\"1\" "
                   "format=\"ascii\">%d</DataArray>\n",
                   poses->colliders);
    file_print(w, "</FieldData>\n");
}

static void write_text(file_writer *w, const particle_frame *f) {
    uint64_t offset = 0;
    file_print(w, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n");
    vtk_write_field_data(w, f->scene_name, f->time, &f->poses);
    file_print(w,
               "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"0\" "
               "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n",
               (long long)f->count, (long long)f->count);
    vtp_declare_attribute(w, f->arrays[0].attribute, f->count, &offset);
    file_print(w, "</Points>\n<PointData Vectors=\"v\">\n");
    for (int i = 1; i < f->array_count; i++)
        vtp_declare_attribute(w, f->arrays[i].attribute, f->count, &offset);
    file_print(w, "</PointData>\n<Verts>\n");
    declare_cells(w, f, "connectivity", &offset);
    declare_cells(w, f, "offsets", &offset);
    file_print(w, "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

/* first, first + 1, ... for every particle. */
static void write_cells(file_writer *w, const particle_frame *f, int64_t first) {
    int64_t batch[CELL_BATCH];
    const uint64_t bytes = (uint64_t)f->count * sizeof *batch;
    file_write(w, &bytes, sizeof bytes);
    for (int64_t done = 0; done < f->count; done += CELL_BATCH) {
        int64_t n = f->count - done < CELL_BATCH ? f->count - done : CELL_BATCH;
        for (int64_t i = 0; i < n; i++) batch[i] = first + done + i;
        file_write(w, batch, (size_t)n * sizeof *batch);
    }
}

spate_status vtp_write(spate_context *ctx, const particle_frame *f, const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    write_text(&w, f);
    for (int i = 0; i < f->array_count; i++) vtp_attribute(&w, &f->arrays[i], f->count);
    write_cells(&w, f, 0);
    write_cells(&w, f, 1);
    file_print(&w, "\n</AppendedData>\n</VTKFile>\n");
    return file_close(&w);
}

void pvd_add(text *lines, double time, const char *file) {
    text_add(lines, "<DataSet timestep=\"%.15g\" group=\"\" part=\"0\" file=\"%s\"/>\n", time,
             file);
}

spate_status pvd_write(spate_context *ctx, const text *lines, const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    file_print(&w, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                   "byte_order=\"LittleEndian\">\n<Collection>\n");
    if (lines->length) file_write(&w, lines->data, lines->length);
    file_print(&w, "</Collection>\n</VTKFile>\n");
    return file_close(&w);
}
