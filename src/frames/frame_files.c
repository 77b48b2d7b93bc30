/* The files of one frame; see frame_files.h. */
#include "frames/frame_files.h"
#include "solver/drive.h"

/* ---- Taking ---- */

static spate_status take_particles(spate_simulation *sim, frame_files *f) {
    if (!sim->scene->output.particles || sim->scene->solver->on_grid) return SPATE_OK;
    TRY(frame_create(sim, &f->particles));
    f->particles.poses = f->poses;
    f->has_particles = true;
    return SPATE_OK;
}

static spate_status take_meshes(spate_simulation *sim, mesh_cells *cells, frame_files *f) {
    if (!mesh_is_wanted(sim)) return SPATE_OK;
    TRY(mesh_frame_create(sim, f->has_particles ? &f->particles : NULL, cells, &f->meshes));
    f->meshes.poses = f->poses;
    f->has_meshes = true;
    return SPATE_OK;
}

static spate_status take_volumes(spate_simulation *sim, frame_files *f) {
    if (!volume_is_wanted(sim)) return SPATE_OK;
    TRY(volume_create(sim, &f->volumes));
    f->volumes.poses = f->poses;
    f->has_volumes = true;
    return SPATE_OK;
}

static spate_status take_surface(spate_simulation *sim, frame_files *f) {
    if (!surface_is_wanted(sim->scene)) return SPATE_OK;
    double start = phase_start();
    TRY(surface_of_simulation(sim, &f->surface));
    spate_status status = surface_prepare(sim, &f->surface);
    if (status) surface_free(&f->surface);
    TRY(status);
    f->has_surface = true;
    phase_stop(sim, "surface", start);
    return SPATE_OK;
}

spate_status frame_files_take(spate_simulation *sim, const char *folder, int64_t number,
                              mesh_cells *cells, frame_files *f) {
    *f = (frame_files){
        .scene = drive_given_scene(sim), .folder = folder, .number = number, .time = sim->time};
    double start = phase_start();
    TRY(frame_poses_take(sim, &f->poses));
    TRY(take_particles(sim, f));
    TRY(take_meshes(sim, cells, f));
    TRY(take_volumes(sim, f));
    phase_stop(sim, "frames", start);
    return take_surface(sim, f);
}

void frame_files_free(frame_files *f) {
    if (f->has_particles) frame_free(&f->particles);
    if (f->has_meshes) mesh_frame_free(&f->meshes);
    if (f->has_volumes) volume_free(&f->volumes);
    if (f->has_surface) surface_free(&f->surface);
    if (f->scene) give(f->scene->ctx, f->poses.values);
    *f = (frame_files){0};
}

bool frame_files_has_vtp(const frame_files *f) {
    return f->has_particles && (f->scene->output.particles & OUTPUT_VTP);
}

bool frame_files_has_mesh_vtp(const frame_files *f) {
    return f->has_meshes && (f->scene->output.meshes & OUTPUT_VTP);
}

bool frame_files_has_surface_vtp(const frame_files *f) {
    return f->has_surface && (f->scene->output.surface & OUTPUT_VTP);
}

/* ---- Writing ---- */

static spate_status write_particles(spate_context *ctx, const frame_files *f) {
    char name[FRAME_NAME_SIZE], path[PATH_SIZE];
    for (int i = 0; i < FRAME_FORMATS && f->has_particles; i++) {
        if (!(f->scene->output.particles & frame_formats[i].bit)) continue;
        frame_name(name, f->number, frame_formats[i].extension);
        TRY(path_join(ctx, f->folder, name, path));
        TRY(frame_formats[i].write(ctx, &f->particles, path));
    }
    return SPATE_OK;
}

static spate_status write_meshes(spate_context *ctx, const frame_files *f) {
    char name[FRAME_NAME_SIZE], path[PATH_SIZE];
    for (int i = 0; i < MESH_FORMATS && f->has_meshes; i++) {
        if (!(f->scene->output.meshes & mesh_formats[i].bit)) continue;
        mesh_name(name, f->number, mesh_formats[i].extension);
        TRY(path_join(ctx, f->folder, name, path));
        TRY(mesh_frame_write(ctx, &f->meshes, &mesh_formats[i], path));
    }
    return SPATE_OK;
}

static spate_status write_volumes(spate_context *ctx, const frame_files *f) {
    char name[FRAME_NAME_SIZE], path[PATH_SIZE];
    if (!f->has_volumes) return SPATE_OK;
    volume_name(name, f->number);
    TRY(path_join(ctx, f->folder, name, path));
    return volume_write(ctx, &f->volumes, path);
}

static spate_status write_surface(spate_context *ctx, const frame_files *f) {
    char name[FRAME_NAME_SIZE], path[PATH_SIZE];
    for (int i = 0; i < SURFACE_FORMATS && f->has_surface; i++) {
        if (!(f->scene->output.surface & surface_formats[i].bit)) continue;
        surface_name(name, f->number, surface_formats[i].extension);
        TRY(path_join(ctx, f->folder, name, path));
        TRY(surface_write(ctx, &f->surface, &surface_formats[i], f->scene->name, f->time, path));
    }
    return SPATE_OK;
}

spate_status frame_files_write(spate_context *ctx, const frame_files *f) {
    TRY(write_particles(ctx, f));
    TRY(write_meshes(ctx, f));
    TRY(write_volumes(ctx, f));
    return write_surface(ctx, f);
}
