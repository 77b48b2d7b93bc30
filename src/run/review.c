/*
 * What a run will cost, told before it is made.
 *
 * The step: the solver's own limit in an empty corner of the scene, for matter that moves as fast
 * as it will, about. That speed is what bodies, sources, colliders and sides begin with, and what
 * falls from the top of the matter to the level at which it comes to rest. The rest follows from
 * counts: the solver's cost of a particle or cell (solver_cost), and the bytes of a frame.
 */
#include "core/vec.h"
#include "frames/mesh_cells.h"
#include "measure/attributes.h"
#include "measure/statistics.h"
#include "port/memory.h"
#include "scene/slips.h"
#include "solver/materials/material.h"
#include <stdio.h>

/* Measured over the scenes that ship (docs/performance.md). */
enum { BODIES, SOURCES };
static const double splash_speed[] = {1.3,
                                      0.8}; /* of the fastest over that of free fall, by origin */
static const double rise_speed = 0.5;       /* the same of warm gas over its domain's height */
static const double wave_growth = 1.5;      /* of waves in a liquid that is pressed together */
static const double spray_work = 4;         /* of a particle alone over one among others */
static const double thread_gain = 0.9;      /* of a thread more */
static const double write_rate = 6e6;       /* particles, or cells, of a frame in a second */

typedef struct inquiry {
    const spate_scene *scene;
    const solver_type *type;
    spate_review *out;
    double elements;          /* particles of bodies, or cells of the grid */
    double fed, fed_mean;     /* particles of sources, at the end and on average over time */
    double top[2], level;     /* of matter, above the lowest corner and against gravity */
    double height;            /* of the domain along gravity */
    double pull;              /* acceleration by gravity or buoyancy */
    double speed;             /* of the fastest matter, on average over time */
    unsigned particle_fields; /* that the solver keeps */
    double own_dt;            /* the step that the solver would choose */
    const char *own_limit;
} inquiry;

/* ---- Sources ---- */

/* The area of a shape as seen along an axis, from lines through its bounds. */
static double seen_area(const spate_scene *s, const shape *of, int axis) {
    enum { ACROSS = 32 };
    const bounds b = shape_bounds(of, s->dim);
    const int lines = s->dim == 3 ? ACROSS * ACROSS : ACROSS, u = (axis + 1) % s->dim,
              v = (axis + 2) % s->dim;
    double area = (b.max[u] - b.min[u]) * (s->dim == 3 ? b.max[v] - b.min[v] : 1);
    int hits = 0;
    for (int line = 0; line < lines; line++)
        for (int i = 0; i < ACROSS; i++) {
            double x[3] = {0};
            x[u] = b.min[u] + (line % ACROSS + 0.5) / ACROSS * (b.max[u] - b.min[u]);
            if (s->dim == 3)
                x[v] = b.min[v] + (line / ACROSS + 0.5) / ACROSS * (b.max[v] - b.min[v]);
            x[axis] = b.min[axis] + (i + 0.5) / ACROSS * (b.max[axis] - b.min[axis]);
            if (!(shape_distance(of, s->dim, x) < 0)) continue;
            hits++;
            break;
        }
    return area * hits / lines;
}

/* What a source brings flows through its shape: the areas along the axes times the velocity's
 * parts. */
static void add_source(inquiry *q, const source *from) {
    const spate_scene *s = q->scene;
    double volume = 0;
    for (int a = 0; a < s->dim; a++)
        if (from->velocity[a] != 0)
            volume += seen_area(s, from->shape, a) * fabs(from->velocity[a]);
    const double rate = volume * from->particles_per_cell / pow(s->domain.dx, s->dim);
    const double end = fmin(from->until, s->duration), most = (double)from->limit;
    if (!(rate > 0) || !(end > from->from)) return;
    const double brought = fmin(rate * (end - from->from), most);
    const double over = from->from + brought / rate; /* when it has brought them */
    q->fed += brought;
    q->fed_mean += brought * (1 - 0.5 * (from->from + over) / s->duration);
}

/* ---- Speed ---- */

static double body_speed(const spate_scene *s, const body *b) {
    const bounds box = shape_bounds(b->shape, s->dim);
    double reach = 0, speed = vec_length(b->velocity) + fabs(b->vortices[0]);
    for (int a = 0; a < s->dim; a++) {
        const double half = fmin(0.5 * (box.max[a] - box.min[a]), s->domain.size[a]);
        reach += half * half;
    }
    reach = sqrt(reach);
    for (int i = 0; i < b->flow_count; i++) {
        const flow_part *f = &b->flow[i];
        speed += vec_length(f->translate) + fabs(f->vortices[0]) +
                 reach * (vec_length(f->rotate) + vec_length(f->strain) + fabs(f->shear));
    }
    return speed + reach * vec_length(b->spin);
}

/* Of what the scene itself sets in motion. */
static double given_speed(const spate_scene *s) {
    const boundary solids = {.scene = s};
    double speed = boundary_speed(&solids);
    for (int i = 0; i < s->body_count; i++) speed = fmax(speed, body_speed(s, &s->bodies[i]));
    for (int i = 0; i < s->source_count; i++)
        speed = fmax(speed, vec_length(s->sources[i].velocity));
    for (int a = 0; a < s->dim; a++)
        for (int end = 0; end < 2; end++)
            speed = fmax(speed, vec_length(s->domain.wall_velocity[a][end]));
    return speed;
}

/* How high a shape reaches against gravity, above the lowest corner of the domain. */
static double height_of(const spate_scene *s, const shape *of, const double up[3]) {
    const bounds box = shape_bounds(of, s->dim);
    double height = 0;
    for (int a = 0; a < s->dim; a++) {
        const double low = s->domain.origin[a], high = low + s->domain.size[a];
        const double end = up[a] > 0 ? fmin(box.max[a], high) - low : fmax(box.min[a], low) - high;
        height += up[a] * end;
    }
    return height;
}

/* Where matter is, and where it will come to rest: spread over the floor. */
static void find_heights(inquiry *q) {
    const spate_scene *s = q->scene;
    const double cell = pow(s->domain.dx, s->dim);
    double up[3], volume = s->body_volume, room = 1;
    vec_scale(up, -1 / fmax(vec_length(s->gravity), SMALLEST), s->gravity);
    for (int i = 0; i < s->body_count; i++)
        if (!s->bodies[i].at_rest)
            q->top[BODIES] = fmax(q->top[BODIES], height_of(s, s->bodies[i].shape, up));
    for (int i = 0; i < s->source_count; i++) {
        q->top[SOURCES] = fmax(q->top[SOURCES], height_of(s, s->sources[i].shape, up));
        volume += q->fed / s->source_count * cell / s->sources[i].particles_per_cell;
    }
    for (int a = 0; a < s->dim; a++) {
        room *= s->domain.size[a];
        q->height += fabs(up[a]) * s->domain.size[a];
    }
    q->level = volume / room * q->height;
}

/* Over a height, in the time there is. */
static double speed_over(const inquiry *q, double height) {
    return fmin(sqrt(2 * q->pull * fmax(height, 0)), q->pull * q->scene->duration);
}

/* Of what falls, or of gas that rises. */
static double fall_speed(const inquiry *q) {
    double speed = 0;
    if (scene_on_grid(q->scene)) return rise_speed * speed_over(q, q->height);
    for (int i = BODIES; i <= SOURCES; i++)
        speed = fmax(speed, splash_speed[i] * speed_over(q, q->top[i] - q->level));
    return speed;
}

/* ---- The step ---- */

/* A few cells of the scene with nothing in them, which hold the solver's constants. */
static spate_scene empty_corner(const spate_scene *s) {
    enum { CELLS = 8 };
    spate_scene corner = *s;
    if (scene_on_grid(s)) corner.body_count = corner.source_count = 0;
    corner.collider_count = corner.sink_count = corner.probe_count = 0;
    for (int a = 0; a < s->dim; a++) {
        corner.domain.cells[a] = CELLS;
        corner.domain.size[a] = CELLS * s->domain.dx;
    }
    return corner;
}

/* The material with the fastest waves at rest, and their speed. */
static const material *stiffest_material(const spate_scene *s, double *speed) {
    const strain_range at_rest = {.J_min = 1, .J_max = 1, .stretch = 1, .stiffening = 1};
    const material *stiffest = &s->materials[0];
    *speed = 0;
    for (int i = 0; i < s->material_count; i++) {
        const material *m = &s->materials[i];
        const material_model *model = material_models[material_kind_of(m->type)];
        const double wave = model->wave_speed(m->parameters, s->dim, &at_rest);
        if (wave > *speed) *speed = wave, stiffest = m;
    }
    return stiffest;
}

/* The step's length and limit once the fastest matter is known; before, how it is sped up. */
static void ask_solver(inquiry *q, spate_simulation *sim) {
    const spate_scene *s = q->scene;
    const char *limit;
    sim->max_speed = 0;
    const double at_rest = q->type->step_limit(sim, &limit);
    q->pull = vec_length(s->gravity);
    if (scene_on_grid(s)) /* gas from rest crosses cfl cells in a step */
        q->pull = strcmp(limit, "buoyancy") ? 0 : s->cfl * s->domain.dx / (at_rest * at_rest);
    const double fall = fall_speed(q), given = given_speed(s);
    q->speed = sqrt(fall * fall + given * given);
    sim->max_speed = q->speed;
    q->out->dt = q->type->step_limit(sim, &q->out->dt_limit);
    double waves;
    if (!strcmp(q->out->dt_limit, "wave") && material_is_liquid(stiffest_material(s, &waves)))
        q->out->dt /= wave_growth;
    q->particle_fields = sim->particles.fields;
}

static spate_status find_step(inquiry *q) {
    spate_scene corner = empty_corner(q->scene);
    spate_simulation *sim;
    TRY(simulation_prepare(&corner, &sim));
    q->type = sim->type;
    spate_status status = q->type->create(sim);
    if (!status) ask_solver(q, sim);
    statistics columns = {0}; /* complains of names */
    if (!status) status = statistics_create_for(sim, q->scene, &columns);
    statistics_free(&columns);
    spate_simulation_free(sim);
    return status;
}

/* A wave then crosses a cell in a step, at the least. */
static const double longest_step = 2.5; /* of the solver's own */

/* Whether steps beyond a limit are unstable. The others say how far matter may go in a step. */
static bool is_of_stability(const char *limit) {
    static const char *const accuracy[] = {"speed", "gravity", "buoyancy", "flow", "frame", "none"};
    for (int k = 0; k < COUNT_OF(accuracy); k++)
        if (!strcmp(limit, accuracy[k])) return false;
    return true;
}

static void warn_of_fixed_step(const inquiry *q) {
    const spate_scene *s = q->scene;
    if (!(s->dt > longest_step * q->own_dt) || !is_of_stability(q->own_limit)) return;
    warn(s->ctx, "fixed step",
         "%s: solver.dt: %.3g s is far longer than steps that are stable, about %.2g s (limit: "
         "%s); make it smaller, or leave it out",
         s->path, s->dt, q->own_dt, q->own_limit);
}

/* Every frame is a whole number of steps. */
static void count_steps(inquiry *q) {
    const spate_scene *s = q->scene;
    spate_review *out = q->out;
    const double frames = fmax(out->summary.frames, 1), frame = 1 / s->fps;
    q->own_dt = fmin(out->dt, frame), q->own_limit = out->dt_limit;
    if (s->dt > 0) out->dt = s->dt, out->dt_limit = "fixed";
    const double each = fmax(ceil(frame / out->dt - 1e-9), 1);
    if (each == 1) out->dt_limit = "frame";
    out->dt = frame / each;
    out->steps = each * frames;
    if (s->max_steps > 0) out->steps = fmin(out->steps, (double)s->max_steps);
}

/* ---- Bytes ---- */

static double attribute_bytes(const char *name) {
    const attribute *a = attribute_find(name);
    return a->components * (double)(a->type == ATTRIBUTE_WHOLE ? sizeof(uint32_t) : sizeof(real));
}

/* Of a particle in a frame, in all formats that are written. */
static double frame_bytes(const spate_scene *s) {
    static const char *const always[] = {"P", "v", "id", "pscale", "material"};
    double bytes = 0;
    int formats = 0;
    for (int i = 0; i < COUNT_OF(always); i++) bytes += attribute_bytes(always[i]);
    for (int i = 0; i < s->output.field_count; i++) bytes += attribute_bytes(s->output.fields[i]);
    for (unsigned bit = s->output.particles; bit; bit >>= 1) formats += bit & 1;
    const double cells = s->output.particles & OUTPUT_VTP ? 2 * sizeof(int64_t) : 0;
    /* A mesh has its vertices once more, and about two triangles for each. */
    int meshes = 0;
    for (unsigned bit = mesh_cells_are_in(s) ? s->output.meshes : 0; bit; bit >>= 1)
        meshes += bit & 1;
    return formats * bytes + cells + meshes * (bytes + 2 * 4 * sizeof(int32_t));
}

static double state_bytes(const inquiry *q) {
    double bytes = 0;
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        if (q->particle_fields & 1u << f)
            bytes += (double)particle_fields[f].bytes * particle_fields[f].planes;
    return bytes;
}

/* Smoke, temperature and velocity; and as much and the pressure in a checkpoint, twice. */
static double grid_disk(const inquiry *q) {
    const double frames = q->scene->output.volumes ? q->out->summary.frames + 1 : 0;
    const double values = 1 + q->scene->material_count + q->scene->dim;
    return q->elements * sizeof(float) * (frames * values + 2 * (values + 1));
}

static double particle_disk(const inquiry *q) {
    const double frames = q->out->summary.frames + 1;
    const double mean = q->elements + q->fed_mean, end = q->elements + q->fed;
    return frames * mean * frame_bytes(q->scene) + 2 * end * state_bytes(q);
}

/* ---- Stiffness ---- */

/* Steps of a frame from which on it is worth a word, and the speed of waves over that of matter up
 * to which they do not matter for its flow (the usual choice of weakly compressible methods). */
static const double many_steps = 1000, enough_waves = 10;

/* The modulus a user has set, by what the model calls it. */
static const field *modulus_of(const material_type *type, const void *parameters, double *value) {
    static const char *const names[] = {"bulk_modulus", "young_modulus"};
    for (int n = 0; n < COUNT_OF(names); n++)
        for (int i = 0; i < type->table.count; i++) {
            const field *f = &type->table.fields[i];
            if (strcmp(f->name, names[n]) || f->type != FIELD_NUMBER) continue;
            memcpy(value, (const char *)parameters + f->offset, sizeof *value);
            if (*value > 0 && isfinite(*value)) return f;
        }
    return NULL;
}

static void warn_of_stiffness(const inquiry *q) {
    const spate_scene *s = q->scene;
    const bool waves = !strcmp(q->out->dt_limit, "wave") || !strcmp(q->out->dt_limit, "sound");
    const double each = 1 / s->fps / q->out->dt;
    if (!waves || each < many_steps) return;
    double fastest, value = 0;
    const material *stiffest = stiffest_material(s, &fastest);
    const field *modulus = modulus_of(stiffest->type, stiffest->parameters, &value);
    const double slower = enough_waves * q->speed / fastest;
    if (!modulus || !(slower > 0 && slower < 0.5)) return;
    char remedy[128] = "a softer one makes them longer";
    if (material_is_liquid(stiffest))
        snprintf(remedy, sizeof remedy, "%.1g would do, with steps %.0f times as long",
                 value * slower * slower, 1 / slower);
    warn(s->ctx, "short steps",
         "%s: materials.%s.%s: %.3g makes steps of %.2g s, %.0f a frame: its waves run at %.3g, "
         "matter at about %.2g; %s",
         s->path, stiffest->name, modulus->name, value, q->out->dt, each, fastest, q->speed,
         remedy);
}

/* Steps that viscosity makes short are its square of dx. */
static void warn_of_viscosity(const inquiry *q) {
    const spate_scene *s = q->scene;
    const double each = 1 / s->fps / q->out->dt;
    if (strcmp(q->out->dt_limit, "viscosity") || each < many_steps) return;
    warn(s->ctx, "short steps",
         "%s: viscosity makes steps of %.2g s, %.0f a frame; is it in the right unit? The solver "
         "flip has no such limit",
         s->path, q->out->dt, each);
}

/* ---- Memory ---- */

static void warn_of_memory(const inquiry *q) {
    const double gigabyte = 1e9, there = memory_of_machine(), wanted = q->out->memory_bytes;
    if (!(there > 0) || wanted <= there) return;
    warn(q->scene->ctx, "memory",
         "%s: a run needs about %.3g GB of memory, this machine has %.3g GB; use a larger dx or "
         "fewer particles_per_cell",
         q->scene->path, wanted / gigabyte, there / gigabyte);
}

/* ---- All of it ---- */

static void count_elements(inquiry *q) {
    const spate_scene *s = q->scene;
    q->elements = (double)q->out->summary.particles;
    if (!scene_on_grid(s)) {
        for (int i = 0; i < s->source_count; i++) add_source(q, &s->sources[i]);
        return;
    }
    q->elements = 1;
    for (int a = 0; a < s->dim; a++) q->elements *= s->domain.cells[a];
}

static void tell_cost(inquiry *q) {
    const spate_scene *s = q->scene;
    spate_review *out = q->out;
    const solver_cost cost = q->type->cost(s);
    const int three = s->dim == 3;
    const double threads = 1 + thread_gain * (out->threads - 1);
    const double written = (q->elements + q->fed_mean) * (out->summary.frames + 1);
    out->particles = scene_on_grid(s) ? 0 : q->elements + q->fed;
    out->seconds =
        (q->elements + spray_work * q->fed_mean) * out->steps / (cost.rate[three] * threads) +
        written / write_rate;
    out->memory_bytes = (q->elements + q->fed) * cost.bytes[three];
    out->disk_bytes = scene_on_grid(s) ? grid_disk(q) : particle_disk(q);
}

spate_status spate_scene_review(spate_scene *scene, spate_review *review) {
    inquiry q = {.scene = scene, .out = review};
    *review = (spate_review){.threads = spate_threads(scene->ctx)};
    const bool first = !scene->looked_over;
    scene_warn_of_slips(scene);
    TRY(spate_scene_summarise(scene, &review->summary));
    count_elements(&q);
    find_heights(&q);
    TRY(find_step(&q));
    count_steps(&q);
    tell_cost(&q);
    const int64_t before = warnings_total(scene->ctx);
    if (first) {
        warn_of_fixed_step(&q);
        warn_of_stiffness(&q);
        warn_of_viscosity(&q);
        warn_of_memory(&q);
    }
    scene->warnings += warnings_total(scene->ctx) - before;
    review->summary.warnings = (int)scene->warnings;
    return SPATE_OK;
}
