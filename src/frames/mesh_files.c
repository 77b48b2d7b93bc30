/* The files of a mesh frame; see mesh_frame.h. */
#include "frames/mesh_frame.h"
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are written as they are in memory");

static int64_t corner_count(const mesh_frame *f) {
    return f->line_count ? f->line_ends[f->line_count - 1] : 0;
}

/* ---- VTK -------------------------------------------------------------------------------------- */

static void vtp_cells(file_writer *w, const char *name, int64_t corners, int64_t cells,
                      uint64_t *offset) {
    file_print(w, "<%s>\n", name);
    vtp_declare(w, "Int32", "connectivity", 1, (uint64_t)corners * sizeof(int32_t), offset);
    vtp_declare(w, "Int32", "offsets", 1, (uint64_t)cells * sizeof(int32_t), offset);
    file_print(w, "</%s>\n", name);
}

static void vtp_text(file_writer *w, const mesh_frame *f) {
    const uint64_t cells = (uint64_t)(f->line_count + f->triangle_count);
    uint64_t offset = 0;
    file_print(w, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n");
    vtk_write_field_data(w, f->scene_name, f->time, &f->poses);
    file_print(w,
               "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"0\" NumberOfLines=\"%lld\" "
               "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n<Points>\n",
               (long long)f->vertex_count, (long long)f->line_count, (long long)f->triangle_count);
    vtp_declare_attribute(w, f->arrays[0].attribute, f->vertex_count, &offset);
    file_print(w, "</Points>\n<PointData Vectors=\"v\">\n");
    for (int i = 1; i < f->array_count; i++)
        vtp_declare_attribute(w, f->arrays[i].attribute, f->vertex_count, &offset);
    file_print(w, "</PointData>\n<CellData>\n");
    vtp_declare(w, "UInt32", "group", 1, cells * sizeof *f->groups, &offset);
    vtp_declare(w, "UInt32", "kind", 1, cells * sizeof *f->kinds, &offset);
    vtp_declare(w, "Float32", "stretch", 1, cells * sizeof *f->stretches, &offset);
    file_print(w, "</CellData>\n");
    vtp_cells(w, "Lines", corner_count(f), f->line_count, &offset);
    vtp_cells(w, "Polys", 3 * f->triangle_count, f->triangle_count, &offset);
    file_print(w, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

static spate_status write_vtp(file_writer *w, const mesh_frame *f) {
    const uint64_t cells = (uint64_t)(f->line_count + f->triangle_count);
    vtp_text(w, f);
    for (int i = 0; i < f->array_count; i++) vtp_attribute(w, &f->arrays[i], f->vertex_count);
    vtp_array(w, f->groups, cells * sizeof *f->groups);
    vtp_array(w, f->kinds, cells * sizeof *f->kinds);
    vtp_array(w, f->stretches, cells * sizeof *f->stretches);
    vtp_array(w, f->line_corners, (uint64_t)corner_count(f) * sizeof *f->line_corners);
    vtp_array(w, f->line_ends, (uint64_t)f->line_count * sizeof *f->line_ends);
    vtp_array(w, f->triangles, (uint64_t)f->triangle_count * sizeof *f->triangles);
    vtp_offsets(w, f->triangle_count, 3);
    file_print(w, "\n</AppendedData>\n</VTKFile>\n");
    return SPATE_OK;
}

/* ---- PLY -------------------------------------------------------------------------------------- */

static void ply_head(file_writer *w, const mesh_frame *f) {
    file_print(w, "ply\nformat binary_little_endian 1.0\ncomment spate meshes\n");
    file_print(w, "comment time %.17g\nelement vertex %lld\n", f->time, (long long)f->vertex_count);
    for (int i = 0; i < f->array_count; i++) ply_declare(w, f->arrays[i].attribute);
    file_print(w,
               "element face %lld\nproperty list uchar int vertex_indices\nproperty uint group\n"
               "property float stretch\nelement edge %lld\nproperty int vertex1\n"
               "property int vertex2\nproperty uint group\nproperty float stretch\nend_header\n",
               (long long)f->triangle_count, (long long)(corner_count(f) - f->line_count));
}

/* A face or an edge in a row of bytes, with its group and stretch behind it; returns its length. */
static size_t ply_cell(char *row, size_t used, const mesh_frame *f, int64_t cell) {
    memcpy(row + used, &f->groups[cell], sizeof *f->groups);
    used += sizeof *f->groups;
    memcpy(row + used, &f->stretches[cell], sizeof *f->stretches);
    return used + sizeof *f->stretches;
}

static void ply_faces(file_writer *w, const mesh_frame *f) {
    for (int64_t t = 0; t < f->triangle_count; t++) {
        char row[32] = {3};
        memcpy(row + 1, f->triangles[t], sizeof *f->triangles);
        file_write(w, row, ply_cell(row, 1 + sizeof *f->triangles, f, f->line_count + t));
    }
}

static void ply_edges(file_writer *w, const mesh_frame *f) {
    int64_t i = 0;
    for (int64_t k = 0; k < f->line_count; k++, i++)
        for (; i + 1 < f->line_ends[k]; i++) {
            char row[32];
            memcpy(row, &f->line_corners[i], 2 * sizeof(int32_t));
            file_write(w, row, ply_cell(row, 2 * sizeof(int32_t), f, k));
        }
}

static spate_status write_ply(file_writer *w, const mesh_frame *f) {
    ply_head(w, f);
    TRY(ply_rows(w, f->arrays, f->array_count, f->vertex_count));
    ply_faces(w, f);
    ply_edges(w, f);
    return SPATE_OK;
}

/* ---- OBJ -------------------------------------------------------------------------------------- */

static spate_status write_obj(file_writer *w, const mesh_frame *f) {
    const real(*P)[3] = f->arrays[0].values;
    file_print(w, "# spate meshes, time %.17g\n", f->time);
    for (int64_t v = 0; v < f->vertex_count; v++)
        file_print(w, "v %.9g %.9g %.9g\n", (double)P[v][0], (double)P[v][1], (double)P[v][2]);
    for (int b = 0; b < f->body_count; b++) {
        const mesh_frame_body *of = &f->bodies[b];
        file_print(w, "g ");
        for (const char *c = of->name; *c; c++) file_print(w, "%c", *c > ' ' ? *c : '_');
        file_print(w, "\n");
        for (int64_t k = of->first_line; k < of[1].first_line; k++) {
            file_print(w, "l");
            for (int64_t i = k ? f->line_ends[k - 1] : 0; i < f->line_ends[k]; i++)
                file_print(w, " %d", f->line_corners[i] + 1);
            file_print(w, "\n");
        }
        for (int64_t t = of->first_triangle; t < of[1].first_triangle; t++)
            file_print(w, "f %d %d %d\n", f->triangles[t][0] + 1, f->triangles[t][1] + 1,
                       f->triangles[t][2] + 1);
    }
    return SPATE_OK;
}

/* ---- All -------------------------------------------------------------------------------------- */

const mesh_format mesh_formats[MESH_FORMATS] = {
    {OUTPUT_VTP, "vtp", write_vtp},
    {OUTPUT_PLY, "ply", write_ply},
    {OUTPUT_OBJ, "obj", write_obj},
};

spate_status mesh_frame_write(spate_context *ctx, const mesh_frame *f, const mesh_format *format,
                              const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    const spate_status status = format->write(&w, f);
    if (!status) return file_close(&w);
    file_abandon(&w);
    return status;
}
