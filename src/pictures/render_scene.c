/* The scene of a run as its pictures are to be taken: the camera and colours may be others than
 * those it ran with. */
#include "core/text.h"
#include "core/vec.h"
#include "pictures/render.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Overrides ------------------------------------------------------------------------------- */

/* Whether the path of a field, "materials.water.color", is like a pattern in which * is any
 * name. */
static bool matches(const char *path, size_t length, const char *pattern) {
    const char *end = path + length;
    for (; *pattern; pattern++) {
        if (*pattern == '*')
            while (path < end && *path != '.') path++;
        else if (path < end && *path == *pattern)
            path++;
        else
            return false;
    }
    return path == end || *path == '.';
}

/* Overrides may change what pictures are made by, and nothing that the run was made by. */
static spate_status check_set(spate_context *ctx, const char *set) {
    static const char *const of_pictures[] = {
        "camera",           "name",           "materials.*.color",
        "materials.*.look", "bodies.*.color", "sources.*.color",
        "colliders.*.color"};
    const size_t length = strcspn(set, "=");
    for (int i = 0; i < COUNT_OF(of_pictures); i++)
        if (matches(set, length, of_pictures[i])) return SPATE_OK;
    return fail(ctx, SPATE_BAD_INPUT,
                "--set %.80s: pictures of a finished run can be given another camera, name, "
                "color or look; for anything else run the scene with it",
                set);
}

/* ---- The camera ------------------------------------------------------------------------------ */

/* Numbers with commas between, exactly `count`, up to `end`. */
static bool read_place(spate_context *ctx, const char *at, const char *end, int count,
                       double out[3]) {
    for (int i = 0; i < count; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        if (!text_to_double(ctx, at, (size_t)(stop - at), &out[i]) || !isfinite(out[i]))
            return false;
        if (!comma != (i == count - 1)) return false;
        at = stop + 1;
    }
    return true;
}

static spate_status place_camera(spate_scene *scene, const char *given) {
    camera *c = &scene->camera;
    const int dim = scene->dim;
    const char *colon = strchr(given, ':'), *end = given + strlen(given);
    if (!colon || !read_place(scene->ctx, given, colon, dim, c->from) ||
        !read_place(scene->ctx, colon + 1, end, dim, c->to))
        return fail(scene->ctx, SPATE_BAD_INPUT, "camera: '%.80s' is not FROM:TO; %s", given,
                    dim == 3 ? "write where it stands and what it looks at, such as "
                               "3,1.5,2:0.5,0.3,0.5"
                             : "this run is in 2D, write two corners of what is shown, such as "
                               "0,0:1,0.5");
    const double across[3] = {c->to[0] - c->from[0], c->to[1] - c->from[1], c->to[2] - c->from[2]};
    if (dim == 2 ? !(across[0] != 0 && across[1] != 0) : !(vec_length(across) > 0))
        return fail(scene->ctx, SPATE_BAD_INPUT, "camera: '%.80s': %s", given,
                    dim == 3 ? "it stands where it looks at; move one of them"
                             : "there is no area between the corners; move one of them");
    c->path.key_count = c->aim.key_count = 0;
    c->given = true;
    return SPATE_OK;
}

static spate_status refuse_flat(const spate_scene *scene, const char *name) {
    return fail(scene->ctx, SPATE_BAD_INPUT,
                "%s: this run is in 2D, its pictures are flat; choose the part that they show by "
                "two corners, camera 0,0:1,0.5",
                name);
}

static spate_status turn_lens(spate_scene *scene, double fov) {
    if (scene->dim == 2) return refuse_flat(scene, "fov");
    if (!(fov >= 1 && fov <= 170))
        return fail(scene->ctx, SPATE_BAD_INPUT, "fov: %g degrees; it must be 1 to 170", fov);
    scene->camera.fov = fov;
    scene->camera.lens.key_count = 0;
    return SPATE_OK;
}

static spate_status set_orbit(spate_scene *scene, double degrees) {
    if (scene->dim == 2 && degrees != 0) return refuse_flat(scene, "orbit");
    if (!(fabs(degrees) <= 36000))
        return fail(scene->ctx, SPATE_BAD_INPUT, "orbit: %g degrees; it must be -36000 to 36000",
                    degrees);
    scene->camera.orbit = degrees;
    return SPATE_OK;
}

static spate_status place(spate_scene *scene, const spate_render_options *o) {
    if (o->camera) TRY(place_camera(scene, o->camera));
    if (o->fov != 0) TRY(turn_lens(scene, o->fov));
    if (!isnan(o->orbit)) TRY(set_orbit(scene, o->orbit));
    return SPATE_OK;
}

spate_status render_load_scene(spate_context *ctx, const char *folder,
                               const spate_render_options *options, spate_scene **out) {
    const spate_render_options as_it_ran = spate_default_render_options();
    const spate_render_options *o = options ? options : &as_it_ran;
    char path[PATH_SIZE];
    *out = NULL;
    for (int i = 0; i < o->set_count; i++) TRY(check_set(ctx, o->sets[i]));
    TRY(path_join(ctx, folder, "run.scene.yaml", path));
    if (!file_exists(ctx, path))
        return fail(ctx, SPATE_BAD_INPUT,
                    "%s: not the folder of a run: there is no run.scene.yaml in it", folder);
    /* What events have added is drawn, too. */
    char added[PATH_SIZE];
    TRY(path_join(ctx, folder, "run.added.yaml", added));
    const bool more = file_exists(ctx, added);
    TRY(spate_scene_load(ctx, more ? added : path, o->sets, o->set_count, out));
    return place(*out, o);
}
