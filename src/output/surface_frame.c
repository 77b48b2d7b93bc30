/* The surface of a simulation's liquids, and its files. */
#include "output/surface_frame.h"
#include "core/finite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are written as they are in memory");

enum { RANGES_A_CHUNK = 16, ROW_BATCH = 1024 };

bool surface_is_wanted(const spate_scene *scene) {
    return scene->output.surface && strcmp(scene->output.surface, "none");
}

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
static void gather_ranges(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    const gather_job *job = data;
    const spate_simulation *sim = job->sim;
    for (int64_t k = begin; k < end; k++) {
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
                p->v[a] = motion_of(&sim->particles, i)[a];
            }
        }
    }
}

static double mean_spacing(const spate_simulation *sim) {
    double volume = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < sim->particles.count; i++) {
        if (!is_liquid(sim, i)) continue;
        volume += particle_rest_volume(sim, i);
        count++;
    }
    return count ? cbrt(volume / (double)count) : sim->scene->domain.dx;
}

static surface_settings settings_of(const spate_simulation *sim) {
    const domain *d = &sim->scene->domain;
    const output_settings *o = &sim->scene->output;
    surface_settings s = {.spacing = d->dx / o->surface_resolution,
                          .particle_spacing = mean_spacing(sim),
                          .smoothing = o->surface_smoothing};
    for (int a = 0; a < 3; a++) {
        s.origin[a] = d->origin[a];
        s.last[a] = d->cells[a] * o->surface_resolution;
        s.periodic[a] = d->walls[a][0] == WALL_PERIODIC;
    }
    return s;
}

static spate_status check_mesh(spate_simulation *sim, const surface_mesh *m) {
    const int64_t count = 3 * m->vertex_count;
    if (!count || (finite_reals(*m->position, count) && finite_reals(*m->normal, count) &&
                   finite_reals(*m->velocity, count)))
        return SPATE_OK;
    return simulation_not_finite(sim, "the mesh", "surface");
}

spate_status surface_of_simulation(spate_simulation *sim, surface_mesh *out) {
    id_order order;
    surface_settings s = settings_of(sim);
    TRY(id_order_create(sim, &order));
    gather_job job = {.sim = sim, .order = &order, .spacing = s.spacing};
    job.list = take(sim->ctx, (size_t)order.count + 1, sizeof *job.list);
    spate_status status = job.list ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        parallel_for(sim->ctx->pool, particle_range_count(sim), RANGES_A_CHUNK, gather_ranges,
                     &job);
        status = surface_create(sim->ctx, &s, job.list, order.count, out);
    }
    give(sim->ctx, job.list);
    id_order_free(&order);
    TRY(status);
    status = check_mesh(sim, out);
    if (status) surface_free(out);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void ply_header(file_writer *w, const surface_mesh *m, double time) {
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"};
    file_print(w, "ply\nformat binary_little_endian 1.0\ncomment spate surface\n");
    file_print(w, "comment time %.17g\nelement vertex %lld\n", time, (long long)m->vertex_count);
    for (int i = 0; i < COUNT_OF(names); i++)
        file_print(w, "property %s %s\n", sizeof(real) == 4 ? "float" : "double", names[i]);
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

static void obj_content(file_writer *w, const surface_mesh *m, double time) {
    file_print(w, "# spate surface, time %.17g\n", time);
    for (int64_t v = 0; v < m->vertex_count; v++) {
        const real *x = m->position[v], *n = m->normal[v];
        file_print(w, "v %.9g %.9g %.9g\nvn %.5g %.5g %.5g\n", (double)x[0], (double)x[1],
                   (double)x[2], (double)n[0], (double)n[1], (double)n[2]);
    }
    for (int64_t t = 0; t < m->triangle_count; t++) {
        int c[3];
        for (int k = 0; k < 3; k++) c[k] = m->triangle[t][k] + 1;
        file_print(w, "f %d//%d %d//%d %d//%d\n", c[0], c[0], c[1], c[1], c[2], c[2]);
    }
}

spate_status surface_write(spate_context *ctx, const surface_mesh *m, const char *format,
                           double time, const char *path) {
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    if (!strcmp(format, "obj")) {
        obj_content(&w, m, time);
    } else {
        ply_header(&w, m, time);
        ply_vertices(&w, m);
        ply_faces(&w, m);
    }
    return file_close(&w);
}

/* ---- Names ----------------------------------------------------------------------------------- */

void surface_name(char out[FRAME_NAME_SIZE], const spate_scene *scene, int64_t number) {
    snprintf(out, FRAME_NAME_SIZE, "surface_%04lld.%s", (long long)number, scene->output.surface);
}

bool surface_beside(const spate_scene *scene, const char *frame, char out[PATH_SIZE]) {
    static const char head[] = "particles_", tail[] = ".vtp";
    const char *slash = strrchr(frame, '/'), *name = slash ? slash + 1 : frame;
    size_t length = strlen(name);
    if (!surface_is_wanted(scene) || length < sizeof head + sizeof tail ||
        memcmp(name, head, sizeof head - 1) || strcmp(name + length - (sizeof tail - 1), tail))
        return false;
    int digits = (int)(length - (sizeof head - 1) - (sizeof tail - 1));
    int used = snprintf(out, PATH_SIZE, "%.*ssurface_%.*s.%s", (int)(name - frame), frame, digits,
                        name + sizeof head - 1, scene->output.surface);
    return used > 0 && used < PATH_SIZE && file_exists(out);
}
