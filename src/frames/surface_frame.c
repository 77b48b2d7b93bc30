/* The surface of a simulation's liquids, and its files. */
#include "frames/surface_frame.h"
#include "core/finite.h"
#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are written as they are in memory");

enum { RANGES_A_CHUNK = 16, PARTICLES_A_CHUNK = 16384, ROW_BATCH = 1024 };

bool surface_is_wanted(const spate_scene *scene) { return scene->output.surface != 0; }

/* ---- From the simulation --------------------------------------------------------------------- */

typedef struct gather_job {
    const spate_simulation *sim;
    const id_order *order;
    double spacing;
    surface_particle *list; /* in id order, so that storage does not matter */
} gather_job;

static bool is_liquid(const spate_simulation *sim, int64_t i) {
    const spate_scene *scene = sim->scene;
    if (particle_is_removed(sim, i)) return false;
    int kind = scene_group_material(scene, sim->particles.group[i]);
    return material_is_liquid(&scene->materials[kind]);
}

/* What is no liquid gets no place. */
static void gather_ranges(void *data, chunk items) {
    const gather_job *job = data;
    const spate_simulation *sim = job->sim;
    for (int64_t k = items.begin; k < items.end; k++) {
        particle_range range = particle_range_at(sim, k);
        for (int64_t i = range.begin; i < range.end; i++) {
            if (particle_is_removed(sim, i)) continue;
            surface_particle *p = &job->list[job->order->place[i]];
            double x[3];
            bool liquid = is_liquid(sim, i);
            simulation_place(sim, range.coords, i, x);
            for (int a = 0; a < 3; a++) {
                double from_corner = (x[a] - sim->scene->domain.origin[a]) / job->spacing;
                p->x[a] = liquid ? (real)from_corner : (real)NAN;
                p->v[a] = sim->particles.velocity[i][a];
            }
            p->size = (real)(2 * particle_radius(sim, i) / job->spacing);
        }
    }
}

/* An option of the solver by its name; NULL where it has none of that type. */
static const void *solver_option(const spate_scene *scene, const char *name, field_type type) {
    const field_table *table = &scene->solver->table;
    for (int i = 0; i < table->count; i++)
        if (!strcmp(table->fields[i].name, name) && table->fields[i].type == type)
            return (const char *)scene->solver_options + table->fields[i].offset;
    return NULL;
}

/* Particles of sheets are at least as large as those that fill a cell at the start. */
static double least_size(const spate_scene *scene) {
    void *const *sheets = solver_option(scene, "sheets", FIELD_GROUP);
    const int64_t *full_cell = solver_option(scene, "full_cell", FIELD_INTEGER);
    if (!sheets || !*sheets || !full_cell || *full_cell < 1) return 0;
    return scene->domain.dx * pow((double)*full_cell, -1.0 / scene->dim);
}

surface_settings surface_settings_of(const spate_scene *scene) {
    const domain *d = &scene->domain;
    const output_settings *o = &scene->output;
    surface_settings s = {.method = o->surface_method,
                          .plane = scene->dim == 2,
                          .spacing = d->dx / o->surface_resolution,
                          .particle_spacing = d->dx,
                          .least_size = least_size(scene),
                          .smoothing = o->surface_smoothing};
    for (int a = 0; a < scene->dim; a++) {
        s.origin[a] = d->origin[a];
        s.last[a] = d->cells[a] * o->surface_resolution;
        s.periodic[a] = d->walls[a][0] == WALL_PERIODIC;
    }
    return s;
}

typedef struct spacing_job {
    const surface_settings *settings;
    const surface_particle *list;
} spacing_job;

/* Of particles with a size: the sum of 1 / size, and how many there are. */
static void add_sizes(void *data, chunk items, double *part) {
    const spacing_job *job = data;
    const double least = job->settings->least_size / job->settings->spacing;
    for (int64_t i = items.begin; i < items.end; i++) {
        const surface_particle *p = &job->list[i];
        if (!(p->size > 0) || !isfinite((double)p->x[0])) continue;
        part[0] += 1 / fmax((double)p->size, least);
        part[1]++;
    }
}

spate_status surface_set_spacing(spate_context *ctx, surface_settings *s,
                                 const surface_particle *list, int64_t count) {
    spacing_job job = {s, list};
    double sums[2];
    TRY(parallel_sum(ctx, count, PARTICLES_A_CHUNK, add_sizes, &job, 2, sums));
    if (sums[1] > 0) s->particle_spacing = s->spacing * sums[1] / sums[0];
    return SPATE_OK;
}

spate_status surface_of_simulation(spate_simulation *sim, surface_mesh *out) {
    id_order order;
    surface_settings s = surface_settings_of(sim->scene);
    TRY(id_order_create(sim, &order));
    gather_job job = {.sim = sim, .order = &order, .spacing = s.spacing};
    job.list = take(sim->ctx, (size_t)order.count + 1, sizeof *job.list);
    spate_status status = job.list ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        parallel_for(sim->ctx->pool, particle_range_count(sim), RANGES_A_CHUNK, gather_ranges,
                     &job);
        status = surface_set_spacing(sim->ctx, &s, job.list, order.count);
    }
    if (status == SPATE_OK) status = surface_create(sim->ctx, &s, job.list, order.count, out);
    give(sim->ctx, job.list);
    id_order_free(&order);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

void surface_turn(const spate_scene *scene, surface_mesh *m) {
    const file_axes a = axes_of_files(scene);
    if (!m->vertex_count) return;
    real *const parts[] = {*m->position, *m->normal, *m->velocity};
    for (int i = 0; i < COUNT_OF(parts); i++) axes_turn_reals(&a, parts[i], m->vertex_count, 3);
}

spate_status surface_prepare(spate_simulation *sim, surface_mesh *m) {
    const int64_t count = m->vertex_count;
    if (!count) return SPATE_OK;
    real *const parts[] = {*m->position, *m->normal, *m->velocity};
    for (int i = 0; i < COUNT_OF(parts); i++)
        if (!finite_reals(parts[i], 3 * count))
            return simulation_not_finite(sim, "the mesh", "surface");
    surface_turn(sim->scene, m);
    return SPATE_OK;
}

static void ply_header(file_writer *w, const surface_mesh *m, double time) {
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"};
    file_print(w, "ply\nformat binary_little_endian 1.0\ncomment spate surface\n");
    file_print(w, "comment time %.17g\nelement vertex %lld\n", time, (long long)m->vertex_count);
    for (int i = 0; i < COUNT_OF(names); i++)
        file_print(w, "property %s %s\n", sizeof(real) == 4 ? "float" : "double", names[i]);
    if (m->line)
        file_print(w, "element edge %lld\nproperty int vertex1\nproperty int vertex2\nend_header\n",
                   (long long)m->line_count);
    else
        file_print(w, "element face %lld\nproperty list uchar int vertex_indices\nend_header\n",
                   (long long)m->triangle_count);
}

static void ply_vertices(file_writer *w, const surface_mesh *m) {
    real batch[ROW_BATCH][9];
    for (int64_t done = 0; done < m->vertex_count; done += ROW_BATCH) {
        int64_t n = m->vertex_count - done < ROW_BATCH ? m->vertex_count - done : ROW_BATCH;
        for (int64_t k = 0; k < n; k++) {
            memcpy(batch[k], m->position[done + k], 3 * sizeof(real));
            memcpy(batch[k] + 3, m->normal[done + k], 3 * sizeof(real));
            memcpy(batch[k] + 6, m->velocity[done + k], 3 * sizeof(real));
        }
        file_write(w, batch, (size_t)n * sizeof batch[0]);
    }
}

static void ply_faces(file_writer *w, const surface_mesh *m) {
    enum { FACE_BYTES = 1 + 3 * sizeof(int32_t) };
    char batch[ROW_BATCH][FACE_BYTES];
    for (int64_t done = 0; done < m->triangle_count; done += ROW_BATCH) {
        int64_t n = m->triangle_count - done < ROW_BATCH ? m->triangle_count - done : ROW_BATCH;
        for (int64_t k = 0; k < n; k++) {
            batch[k][0] = 3;
            memcpy(batch[k] + 1, m->triangle[done + k], sizeof m->triangle[0]);
        }
        file_write(w, batch, (size_t)n * FACE_BYTES);
    }
}

static void write_ply(file_writer *w, const surface_mesh *m, const char *scene, double time) {
    (void)scene;
    ply_header(w, m, time);
    ply_vertices(w, m);
    if (m->line)
        file_write(w, m->line, (size_t)m->line_count * sizeof *m->line);
    else
        ply_faces(w, m);
}

static void write_obj(file_writer *w, const surface_mesh *m, const char *scene, double time) {
    (void)scene;
    file_print(w, "# spate surface, time %.17g\n", time);
    for (int64_t v = 0; v < m->vertex_count; v++) {
        const real *x = m->position[v], *n = m->normal[v];
        file_print(w, "v %.9g %.9g %.9g\nvn %.5g %.5g %.5g\n", (double)x[0], (double)x[1],
                   (double)x[2], (double)n[0], (double)n[1], (double)n[2]);
    }
    for (int64_t k = 0; k < m->line_count; k++)
        file_print(w, "l %d %d\n", m->line[k][0] + 1, m->line[k][1] + 1);
    for (int64_t t = 0; t < m->triangle_count; t++) {
        int c[3];
        for (int k = 0; k < 3; k++) c[k] = m->triangle[t][k] + 1;
        file_print(w, "f %d//%d %d//%d %d//%d\n", c[0], c[0], c[1], c[1], c[2], c[2]);
    }
}

static void vtp_text(file_writer *w, const surface_mesh *m, const char *scene, double time) {
    const char *type = sizeof(real) == 4 ? "Float32" : "Float64";
    const uint64_t vectors = (uint64_t)m->vertex_count * sizeof *m->position,
                   corners = m->line ? (uint64_t)m->line_count * sizeof *m->line
                                     : (uint64_t)m->triangle_count * sizeof *m->triangle;
    const char *cells = m->line ? "Lines" : "Polys";
    uint64_t offset = 0;
    file_print(w, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n");
    vtk_write_field_data(w, scene, time, &(frame_poses){0});
    file_print(w,
               "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"0\" NumberOfLines=\"%lld\" "
               "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n<Points>\n",
               (long long)m->vertex_count, (long long)m->line_count, (long long)m->triangle_count);
    vtp_declare(w, type, "P", 3, vectors, &offset);
    file_print(w, "</Points>\n<PointData Normals=\"N\" Vectors=\"v\">\n");
    vtp_declare(w, type, "N", 3, vectors, &offset);
    vtp_declare(w, type, "v", 3, vectors, &offset);
    file_print(w, "</PointData>\n<%s>\n", cells);
    vtp_declare(w, "Int32", "connectivity", 1, corners, &offset);
    vtp_declare(w, "Int32", "offsets", 1, corners / (m->line ? 2 : 3), &offset);
    file_print(w, "</%s>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_", cells);
}

static void write_vtp(file_writer *w, const surface_mesh *m, const char *scene, double time) {
    const uint64_t vectors = (uint64_t)m->vertex_count * sizeof *m->position;
    vtp_text(w, m, scene, time);
    vtp_array(w, m->position, vectors);
    vtp_array(w, m->normal, vectors);
    vtp_array(w, m->velocity, vectors);
    if (m->line)
        vtp_array(w, m->line, (uint64_t)m->line_count * sizeof *m->line);
    else
        vtp_array(w, m->triangle, (uint64_t)m->triangle_count * sizeof *m->triangle);
    vtp_offsets(w, m->line ? m->line_count : m->triangle_count, m->line ? 2 : 3);
    file_print(w, "\n</AppendedData>\n</VTKFile>\n");
}

const surface_format surface_formats[SURFACE_FORMATS] = {
    {OUTPUT_PLY, "ply", write_ply},
    {OUTPUT_OBJ, "obj", write_obj},
    {OUTPUT_VTP, "vtp", write_vtp},
};

spate_status surface_write(spate_context *ctx, const surface_mesh *m, const surface_format *format,
                           const char *scene, double time, const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    format->write(&w, m, scene, time);
    return file_close(&w);
}
