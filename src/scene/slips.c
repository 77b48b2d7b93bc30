/* Each slip is a thing that people were seen to do: axes and units taken for other ones. */
#include "scene/slips.h"
#include "core/vec.h"
#include "scene/events.h"
#include "scene/mesh_sequence.h"
#include "scene/scene_tables.h"
#include <string.h>

/* ---- Gravity ---- */

/* The axis along which a vector is longest. */
static int main_axis(const double v[3], int dim) {
    int axis = 0;
    for (int a = 1; a < dim; a++)
        if (fabs(v[a]) > fabs(v[axis])) axis = a;
    return axis;
}

/* y is up. Along a periodic axis gravity is a force that drives a flow. */
static void warn_of_gravity(const spate_scene *s) {
    const double pull = vec_length(s->gravity);
    const int axis = main_axis(s->gravity, s->dim);
    if (pull == 0 || s->domain.walls[axis][0] == WALL_PERIODIC) return;
    const bool down = s->gravity[axis] < 0;
    if (axis == 1 && down) return;
    warn(s->ctx, "gravity",
         "%s: gravity points %s, along %s%s; y is up here, so did you mean [0, %.6g%s]?", s->path,
         axis == 1 ? "upwards" : "sideways", down ? "-" : "+", scene_axis_words[axis], -pull,
         s->dim == 3 ? ", 0" : "");
}

/* ---- Densities ---- */

/* Liquids and solids have 0.3 to 25 g/cm^3; a thousand times as much is the number in kg/m^3. */
static const double lightest = 0.3, heaviest = 25, grams_in_kilograms = 1000;

/* Phases that are all that light are gases, such as smoke in air. */
static bool is_of_gases(const spate_scene *s) {
    bool light = s->couplings != NULL && s->units == UNITS_SI;
    for (int i = 0; i < s->material_count; i++) light = light && s->materials[i].density < heaviest;
    return light;
}

/* Without gravity it may be a textbook's problem of pure numbers. */
static void warn_of_densities(const spate_scene *s) {
    const bool cgs = s->units == UNITS_CGS;
    if (vec_length(s->gravity) == 0 || is_of_gases(s)) return;
    for (int i = 0; i < s->material_count && !scene_on_grid(s); i++) {
        const material *m = &s->materials[i];
        const double meant =
            cgs ? m->density / grams_in_kilograms : m->density * grams_in_kilograms;
        const double grams = cgs ? meant : m->density; /* a cubic centimetre */
        if (grams < lightest || grams > heaviest) continue;
        warn(s->ctx, "density", "%s: materials.%s.density: %.6g %s is %s; did you mean %.6g?",
             s->path, m->name, m->density, cgs ? "g/cm^3" : "kg/m^3",
             cgs ? "more than any matter on earth has" : "that of a gas", meant);
    }
}

/* ---- Colliders outside ---- */

/* A box that turns with a pose, as a larger one that does not. */
static bounds moved_box(const bounds *box, const pose *at, int dim) {
    bounds out = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int corner = 0; corner < 1 << dim; corner++) {
        double x[3] = {0}, y[3];
        for (int a = 0; a < dim; a++) x[a] = corner >> a & 1 ? box->max[a] : box->min[a];
        pose_to_world(at, x, y);
        for (int a = 0; a < dim; a++)
            out.min[a] = fmin(out.min[a], y[a]), out.max[a] = fmax(out.max[a], y[a]);
    }
    return out;
}

static bool meets_domain(const spate_scene *s, const bounds *b) {
    const domain *d = &s->domain;
    for (int a = 0; a < s->dim; a++)
        if (!(b->min[a] <= d->origin[a] + d->size[a] && b->max[a] >= d->origin[a])) return false;
    return true;
}

static bool is_finite_box(const bounds *b, int dim) {
    for (int a = 0; a < dim; a++)
        if (!isfinite(b->min[a]) || !isfinite(b->max[a])) return false;
    return true;
}

/* Whether a collider is ever in the domain: looked at many times over its keys. */
static bool comes_in(const spate_scene *s, const collider *c) {
    enum { LOOKS = 256 };
    const bounds box = mesh_sequence_bounds(c->shape, s->dim);
    if (c->driven || !is_finite_box(&box, s->dim)) return true;
    for (int i = 0; i <= LOOKS; i++) {
        const pose at = motion_pose(&c->motion, s->duration * i / LOOKS);
        const bounds there = moved_box(&box, &at, s->dim);
        if (meets_domain(s, &there)) return true;
        if (!c->motion.key_count) return false;
    }
    return false;
}

static void warn_of_colliders_outside(const spate_scene *s) {
    for (int i = 0; i < s->collider_count; i++)
        if (!comes_in(s, &s->colliders[i]))
            warn(
                s->ctx, "collider outside domain",
                "%s: collider '%s' is outside the domain all the time and touches nothing; move it "
                "or leave it out",
                s->path, s->colliders[i].name);
}

/* ---- Meshes in other units ---- */

/* From here on a mesh is so much larger than the domain that its unit must be another one. */
static const double oversized = 20;

static double longest_side(const double from[3], const double to[3]) {
    double longest = 0;
    for (int a = 0; a < 3; a++) longest = fmax(longest, to[a] - from[a]);
    return longest;
}

static void warn_of_mesh(const spate_scene *s, const char *part, const char *name, const shape *of,
                         double scale) {
    const double unit = s->units == UNITS_CGS ? 0.1 : 0.001; /* a millimetre */
    scale *= of->scale;
    for (int i = 0; i < of->child_count; i++) warn_of_mesh(s, part, name, of->children[i], scale);
    if (of->kind != SHAPE_MESH) return;
    double room = 0;
    for (int a = 0; a < s->dim; a++) room = fmax(room, s->domain.size[a]);
    const double size = scale * longest_side(of->mesh->min, of->mesh->max);
    if (!(size > oversized * room)) return;
    warn(s->ctx, "mesh units",
         "%s: %s '%s': its mesh is %.4g long in a domain of %.4g, as if in millimetres; write "
         "scale: %.4g (it is then %.4g long)",
         s->path, part, name, size, room, of->scale * unit, size * unit);
}

static void warn_of_meshes(const spate_scene *s) {
    for (int i = 0; i < s->body_count; i++)
        warn_of_mesh(s, "body", s->bodies[i].name, s->bodies[i].shape, 1);
    for (int i = 0; i < s->collider_count; i++)
        warn_of_mesh(s, "collider", s->colliders[i].name, s->colliders[i].shape, 1);
    for (int i = 0; i < s->source_count; i++)
        warn_of_mesh(s, "source", s->sources[i].name, s->sources[i].shape, 1);
}

/* ---- Numbers in other units ---- */

/* Degrees below which an angle of friction is that of no heap, and is one in radians. */
static const double steepest_radians = 1.6;
/* Pa s: pitch flows with a thousand times as much, yet what is simulated is rarely stiffer than
 * this. */
static const double thickest = 1e5;

/* A number of a material that was given or is the default; NAN where its model has none. */
static double material_number(const material *m, const char *name) {
    double value = NAN;
    for (int i = 0; i < m->type->table.count; i++) {
        const field *f = &m->type->table.fields[i];
        if (f->type == FIELD_NUMBER && !strcmp(f->name, name))
            memcpy(&value, (const char *)m->parameters + f->offset, sizeof value);
    }
    return value;
}

static void warn_of_material(const spate_scene *s, const material *m) {
    const double degrees = 180 / acos(-1), cgs = s->units == UNITS_CGS ? 10 : 1;
    const double angle = material_number(m, "friction_angle");
    const double viscosity = material_number(m, "viscosity");
    if (angle > 0 && angle < steepest_radians)
        warn(s->ctx, "friction angle",
             "%s: materials.%s.friction_angle: %.6g degrees is next to no friction; in radians it "
             "would be %.4g degrees, write that if it is meant",
             s->path, m->name, angle, angle * degrees);
    if (viscosity > thickest * cgs)
        warn(s->ctx, "viscosity",
             "%s: materials.%s.viscosity: %.6g %s is far more than honey has (about %.6g; water: "
             "%.6g); is it in another unit?",
             s->path, m->name, viscosity, cgs > 1 ? "P" : "Pa s", 10 * cgs, 0.001 * cgs);
}

/* ---- Thin bodies ---- */

/* In cells, less what rounding may take: the grid sees no shape in a thinner body. */
static const double thinnest = 1 - 1e-9;

static void warn_of_thin_bodies(const spate_scene *s) {
    for (int i = 0; i < s->body_count; i++) {
        const body *b = &s->bodies[i];
        const double thickness = shape_thickness(b->shape, s->dim);
        if (b->shape->kind == SHAPE_POINTS || !(thickness < thinnest * s->domain.dx)) continue;
        warn(s->ctx, "thin body",
             "%s: body '%s' is %.4g thick, less than a cell (dx %.4g); it would need a dx of %.2g "
             "or less",
             s->path, b->name, thickness, s->domain.dx, 0.5 * thickness);
    }
}

/* ---- Holds of nothing ---- */

/* Of particles: a mesh's vertices are counted where the scene is read. */
static void warn_of_holds(const spate_scene *s) {
    for (int i = 0; i < s->body_count; i++) {
        const body *b = &s->bodies[i];
        const bounds box = shape_bounds(b->shape, s->dim);
        for (int h = 0; h < b->mesh.hold_count && !b->mesh.kind; h++) {
            const bounds grip = shape_bounds(b->mesh.holds[h].shape, s->dim);
            bool meets = true;
            for (int a = 0; a < s->dim; a++)
                meets = meets && grip.min[a] <= box.max[a] && grip.max[a] >= box.min[a];
            if (meets) continue;
            warn(s->ctx, "hold of nothing",
                 "%s: bodies.%d.hold.%d: holds nothing of body '%s'; move or enlarge its shape",
                 s->path, i, h, b->name);
        }
    }
}

/* ---- Events ---- */

/* Whether there is something of the name from the start, or by an event before. */
static bool can_be_removed(const spate_scene *s, int before, const char *name) {
    for (int i = 0; i < before; i++)
        if (s->events[i].kind == EVENT_ADD ||
            (s->events[i].kind == EVENT_FORCE && !strcmp(s->events[i].force.name, name)))
            return true;
    for (int i = 0; i < s->force_count; i++)
        if (!strcmp(s->forces[i].name, name)) return true;
    for (int i = 0; i < s->collider_count; i++)
        if (!strcmp(s->colliders[i].name, name)) return true;
    for (int i = 0; i < s->sink_count; i++)
        if (!strcmp(s->sinks[i].name, name)) return true;
    for (int i = 0; i < s->body_count + s->source_count; i++)
        if (!strcmp(scene_group_name(s, i), name)) return true;
    return false;
}

static bool can_be_posed(const spate_scene *s, int before, const char *name) {
    for (int i = 0; i < before; i++)
        if (s->events[i].kind == EVENT_ADD) return true;
    for (int i = 0; i < s->collider_count; i++)
        if (!strcmp(s->colliders[i].name, name)) return s->colliders[i].driven;
    return false;
}

/* A run would end when the event comes. */
static void warn_of_events(const spate_scene *s) {
    for (int i = 0; i < s->event_count; i++) {
        const scene_event *e = &s->events[i];
        if (e->kind == EVENT_REMOVE && !can_be_removed(s, i, e->name))
            warn(s->ctx, "event of nothing",
                 "%s: events.%d.remove: there is nothing called '%s'; the run will fail there",
                 s->path, i, e->name);
        if (e->kind == EVENT_POSE && !can_be_posed(s, i, e->name))
            warn(s->ctx, "event of nothing",
                 "%s: events.%d.pose.collider: no collider '%s' is driven; the run will fail there",
                 s->path, i, e->name);
    }
}

/* ---- Coarse meshes ---- */

/* Cells between vertices, less what rounding may take: sand goes through cloth from 1.5 on with
 * asflip and from 2.5 on with apic; strands of published scenes have 2. */
static const double coarsest_cloth = 1.5 + 1e-6, coarsest_strands = 2 + 1e-6;

/* What could go through a mesh: other matter, or its own strands. */
static bool meets_others(const spate_scene *s, const mesh_body *m) {
    return s->body_count + s->source_count > 1 || m->strand_count > 1;
}

static void warn_of_coarse_meshes(const spate_scene *s) {
    for (int i = 0; i < s->body_count; i++) {
        const mesh_body *m = &s->bodies[i].mesh;
        const double cells = m->kind == MESH_STRANDS ? coarsest_strands : coarsest_cloth;
        if (!m->kind || m->spacing <= cells * s->domain.dx || !meets_others(s, m)) continue;
        warn(s->ctx, "coarse mesh",
             "%s: body '%s': its vertices are %.3g apart, %.2g cells (dx %.3g): what it meets may "
             "go through between them; use a spacing of %.3g or less, or a larger dx",
             s->path, s->bodies[i].name, m->spacing, m->spacing / s->domain.dx, s->domain.dx,
             s->domain.dx);
    }
}

/* ---- The last frame ---- */

void scene_warn_of_last_frame(const spate_scene *s) {
    const double exact = s->duration * s->fps, frames = floor(exact + 1e-9);
    if (frames < 1 || exact - frames < 1e-6 * frames) return;
    warn(s->ctx, "last frame",
         "%s: duration %.10g s is not a whole number of frames at fps %.10g: the run ends with "
         "frame %.0f at %.10g s; --until %.10g goes on to %.10g s",
         s->path, s->duration, s->fps, frames, frames / s->fps, s->duration, (frames + 1) / s->fps);
}

void scene_warn_of_slips(spate_scene *s) {
    const int64_t before = warnings_total(s->ctx);
    if (s->looked_over) return;
    s->looked_over = true;
    warn_of_gravity(s);
    warn_of_densities(s);
    for (int i = 0; i < s->material_count; i++) warn_of_material(s, &s->materials[i]);
    warn_of_thin_bodies(s);
    warn_of_holds(s);
    warn_of_events(s);
    warn_of_coarse_meshes(s);
    scene_warn_of_last_frame(s);
    warn_of_colliders_outside(s);
    warn_of_meshes(s);
    s->warnings += warnings_total(s->ctx) - before;
}
