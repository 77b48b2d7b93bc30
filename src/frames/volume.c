/* VTK XML ImageData, laid out as vtp.c lays out particles: the text, then the arrays behind a
 * '_'. */
#include "frames/volume.h"
#include "core/finite.h"
#include "solver/drive.h"
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they are in memory");

bool volume_is_wanted(const spate_simulation *sim) {
    return sim->scene->output.volumes && sim->type->volumes && sim->type->volume;
}

/* The name of a field may be that of a user's material: any text. It is kept as short as a reader
 * has room for, not cut within a character. */
static void write_name(file_writer *w, const char *name) {
    size_t length = strlen(name);
    if (length >= SNAPSHOT_NAME) {
        length = SNAPSHOT_NAME - 1;
        while (length && (name[length] & 0xC0) == 0x80) length--;
    }
    for (size_t i = 0; i < length; i++) switch (name[i]) {
        case '&': file_print(w, "&amp;"); break;
        case '<': file_print(w, "&lt;"); break;
        case '>': file_print(w, "&gt;"); break;
        case '"': file_print(w, "&quot;"); break;
        default: file_write(w, &name[i], 1);
        }
}

static uint64_t field_bytes(const volume_frame *f, int i) {
    return f->cell_count * (uint64_t)f->fields[i].components * sizeof(float);
}

/* The first scalar and the first vector are what a viewer shows at once. */
static void write_active(file_writer *w, const volume_frame *f, const char *what, int components) {
    for (int i = 0; i < f->field_count; i++) {
        if (f->fields[i].components != components) continue;
        file_print(w, " %s=\"", what);
        write_name(w, f->fields[i].name);
        file_print(w, "\"");
        return;
    }
}

static void write_arrays(file_writer *w, const volume_frame *f) {
    uint64_t offset = 0;
    file_print(w, "<CellData");
    write_active(w, f, "Scalars", 1);
    write_active(w, f, "Vectors", 3);
    file_print(w, ">\n");
    for (int i = 0; i < f->field_count; i++) {
        file_print(w, "<DataArray type=\"Float32\" Name=\"");
        write_name(w, f->fields[i].name);
        file_print(w, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
                   f->fields[i].components, (unsigned long long)offset);
        offset += sizeof(uint64_t) + field_bytes(f, i);
    }
    file_print(w, "</CellData>\n");
}

static void write_text(file_writer *w, const volume_frame *f) {
    const domain *d = f->domain;
    char extent[96];
    snprintf(extent, sizeof extent, "0 %d 0 %d 0 %d", f->cells[0], f->cells[1], f->cells[2]);
    file_print(w, "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    file_print(w,
               "<ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" "
               "Spacing=\"%.17g %.17g %.17g\">\n",
               extent, f->origin[0], f->origin[1], f->origin[2], d->dx, d->dx, d->dx);
    vtk_write_field_data(w, f->scene_name, f->time, &f->poses);
    file_print(w, "<Piece Extent=\"%s\">\n", extent);
    write_arrays(w, f);
    file_print(w, "</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
}

static void prepare(spate_simulation *sim, volume_frame *f) {
    *f = (volume_frame){.ctx = sim->ctx,
                        .scene_name = drive_given_scene(sim)->name,
                        .domain = &drive_given_scene(sim)->domain,
                        .time = sim->time,
                        .cell_count = 1};
    int count = sim->type->volumes(sim, f->fields, SNAPSHOT_ARRAYS);
    f->field_count = count < SNAPSHOT_ARRAYS ? count : SNAPSHOT_ARRAYS;
    for (int a = 0; a < 3; a++) {
        f->cells[a] = a < sim->scene->dim ? sim->scene->domain.cells[a] : 1;
        f->cell_count *= (uint64_t)f->cells[a];
        f->origin[a] = sim->scene->domain.origin[a];
    }
    f->axes = axes_of_files(sim->scene);
    axes_turn_grid(&f->axes, f->cells, f->origin, sim->scene->domain.dx);
}

/* The values of a field, in the order and along the axes of the file; `spare` has room for a field
 * where these are not those of the scene. */
static bool fill_field(spate_simulation *sim, const volume_frame *f, int i, float *spare,
                       float *values) {
    const int components = f->fields[i].components;
    float *first = f->axes.turned ? spare : values;
    sim->type->volume(sim, i, first);
    if (!finite_floats(first, (int64_t)f->cell_count * components)) return false;
    if (!f->axes.turned) return true;
    axes_turn_floats(&f->axes, first, (int64_t)f->cell_count, components);
    axes_turn_cells(&f->axes, f->domain->cells, (size_t)components * sizeof *values, first, values);
    return true;
}

spate_status volume_create(spate_simulation *sim, volume_frame *f) {
    prepare(sim, f);
    size_t components = 0;
    for (int i = 0; i < f->field_count; i++) components += (size_t)f->fields[i].components;
    float *spare = NULL,
          *values = take(sim->ctx, (size_t)f->cell_count, components * sizeof *values);
    f->values = values;
    spate_status status = values ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (values && f->axes.turned) spare = take(sim->ctx, (size_t)f->cell_count, 3 * sizeof *spare);
    if (f->axes.turned && !spare) status = SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < f->field_count && status == SPATE_OK; i++) {
        if (!fill_field(sim, f, i, spare, values))
            status = simulation_not_finite(sim, "the field", f->fields[i].name);
        values += field_bytes(f, i) / sizeof *values;
    }
    give(sim->ctx, spare);
    if (status) volume_free(f);
    return status;
}

void volume_free(volume_frame *f) {
    give(f->ctx, f->values);
    f->values = NULL;
}

spate_status volume_write(spate_context *ctx, const volume_frame *f, const char *path) {
    file_writer w;
    const char *values = (const char *)f->values;
    TRY(file_create(ctx, path, false, &w));
    write_text(&w, f);
    for (int i = 0; i < f->field_count; i++) {
        const uint64_t bytes = field_bytes(f, i);
        file_write(&w, &bytes, sizeof bytes);
        file_write(&w, values, (size_t)bytes);
        values += bytes;
    }
    file_print(&w, "\n</AppendedData>\n</VTKFile>\n");
    return file_close(&w);
}
