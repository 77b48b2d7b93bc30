#include "solver/lagrangian/lagrangian.h"

#include "core/hash.h"
#include "core/vec.h"
#include "solver/lagrangian/mesh_contact.h"
#include "solver/lagrangian/mesh_follow.h"
#include "solver/materials/elastic.h"

enum { VERTEX_GRAIN = 1024, BLOCK_GRAIN = 16 };
#define NOWHERE UINT32_MAX
/* Whose vertices are in a block, if not those of one body, by its part. */
enum { NOBODY = -1, OTHERS = -2 };

/* One body of the scene. Its vertices are `first` .. in the arrays over all of them. */
typedef struct mesh_part {
    int group;
    int64_t first;
    lagrangian_mesh mesh;
    double (*turns)[3][3]; /* of its holds at the end of the step */
    mesh_contact contact;  /* without elements: none */
} mesh_part;

/* What a checkpoint holds of a body. */
typedef struct mesh_memory {
    uint64_t first_id; /* vertex v has id first_id + v */
    mesh_extremes extremes;
    strain_energy energy;
    double halvings, iterations;                /* of the last step */
    double contact_energy, compression, resets; /* of contact elements */
} mesh_memory;

struct lagrangian {
    spate_simulation *sim;
    int count;
    mesh_part *parts;
    mesh_memory *memory; /* of parts */
    int *part_of;        /* group -> part, or -1 */
    int64_t vertices;
    /* by vertex */
    uint32_t *particle; /* its index, or NOWHERE */
    int32_t *block;     /* of that particle */
    bool *there;
    int *hold, *held; /* which hold it has, and which holds it now; -1: none */
    double (*x)[3], (*v)[3], (*f)[3];
    double (*before)[3];   /* places at the beginning of the step before, of last_dt: state */
    double last_dt;        /* 0: none */
    double (*steady)[3];   /* forces of semi-implicit meshes that last, N: state */
    double (*guess)[3];    /* of semi-implicit steps of cloth and elements, m/s^2: state */
    mesh_wall *walls;      /* that vertices of strands are in; NULL: no colliders */
    double *pressed;       /* what strands push them with, N */
    double (*reaction)[3]; /* of holds on held vertices, N: state */
    rod_edge *edges;       /* of strands; the others' are not used */
    double *references;
    /* contact elements: by vertex moments of stress, gradients of velocity; and their normals */
    double (*moments)[3][3], (*C)[3][3];
    double (*normals)[2][3];
    int64_t contact_count;
    int64_t sorts; /* of the blocks when places were found */
    double hold_speed;
    mesh_push push;      /* of the step at hand */
    double *farthest;    /* by worker: how far vertices went after their step, m */
    int *owner, *around; /* by block: whose vertices are in it, and in it and its neighbours */
    int64_t block_capacity;
};

/* ---- Making one ------------------------------------------------------------------------------ */

bool lagrangian_is_needed(const spate_scene *scene) {
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind) return true;
    return false;
}

static bool has_contact(const spate_scene *scene) {
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].contact) return true;
    return false;
}

unsigned lagrangian_fields(const spate_scene *scene) {
    return PARTICLE_BIT(role) | PARTICLE_BIT(force) | PARTICLE_BIT(dilation) |
           (has_contact(scene) ? PARTICLE_BIT(force_moment) : 0);
}

bool lagrangian_check(const spate_scene *scene, field_report *report) {
    for (int b = 0; b < scene->body_count; b++) {
        const body *of = &scene->bodies[b];
        if (!of->mesh.kind) continue;
        const material_kind kind = material_kind_of(scene->materials[of->material].type);
        if (kind != MATERIAL_NEO_HOOKEAN && kind != MATERIAL_FIXED_COROTATED)
            return field_complain(report, NULL,
                                  "body '%s' is a mesh, but its material '%s' is not elastic; use "
                                  "model neo_hookean or fixed_corotated",
                                  of->name, scene->materials[of->material].name);
        for (int a = 0; a < scene->dim; a++)
            if (scene->domain.walls[a][0] == WALL_PERIODIC)
                return field_complain(report, NULL,
                                      "body '%s' is a mesh, and meshes do not cross periodic "
                                      "sides; use others",
                                      of->name);
    }
    return true;
}

static mesh_material material_of(const spate_scene *scene, const body *b) {
    const material *given = &scene->materials[b->material];
    const elastic *e = given->parameters;
    const double young =
        e->young_modulus > 0 ? e->young_modulus : 3 * e->bulk_modulus * (1 - 2 * e->poisson);
    const bool simo = material_kind_of(given->type) == MATERIAL_NEO_HOOKEAN;
    return (mesh_material){
        .density = e->density,
        .young_modulus = young,
        .poisson = e->poisson,
        .fe = {simo ? FE_NEO_HOOKEAN : FE_FIXED_COROTATED, e->shear, e->bulk, e->lambda},
        .cloth = cloth_material_of(young, e->poisson, b->mesh.thickness),
        .rod = rod_material_of(young, e->poisson, b->mesh.radius)};
}

/* Which vertices are held, and how fast they may be. */
static void find_held(lagrangian *l, const mesh_part *part) {
    const mesh_body *m = part->mesh.of;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        int *hold = &l->hold[part->first + v];
        *hold = m->held ? m->held[v] : -1;
        if (*hold < 0) continue;
        const motion *moves = &m->holds[*hold].motion;
        double arm[3];
        vec_sub(arm, m->vertices[v], moves->pivot);
        l->hold_speed = fmax(l->hold_speed, motion_max_speed(moves, vec_length(arm)));
    }
}

/* A strand's block has Poisson's ratio 0.3 of the table's contacts: mu / kappa in two dimensions is
 * 1 - 2 nu. */
static contact_material contact_material_of(const contact_moduli *c) {
    const double poisson = 0.3, phi = c->friction_angle * acos(-1) / 180;
    return (contact_material){.normal = c->stiffness,
                              .shear = c->shear,
                              .bulk = c->stiffness,
                              .block = c->stiffness * (1 - 2 * poisson),
                              .tangent = tan(phi),
                              .sine = sin(phi)};
}

static spate_status make_contact(lagrangian *l, mesh_part *part, const contact_moduli *c) {
    if (!c) return SPATE_OK;
    const contact_material m = contact_material_of(c);
    TRY(mesh_contact_create(&part->mesh, &m, c->thickness, &part->contact));
    l->contact_count += part->contact.count;
    return SPATE_OK;
}

static spate_status make_part(lagrangian *l, int group) {
    spate_context *ctx = l->sim->ctx;
    const spate_scene *scene = l->sim->scene;
    const body *b = &scene->bodies[group];
    mesh_part *part = &l->parts[l->count++];
    const mesh_material moduli = material_of(scene, b);
    part->group = group;
    part->first = l->vertices;
    l->part_of[group] = l->count - 1;
    l->vertices += b->mesh.vertex_count;
    spate_status status = lagrangian_mesh_create(ctx, &b->mesh, scene->dim, &moduli, &part->mesh);
    if (status == SPATE_BAD_INPUT) fail_prefix(ctx, "%s: body '%s': ", scene->path, b->name);
    TRY(status);
    if (b->mesh.stepping.step == STEP_IMPLICIT) TRY(mesh_step_create(&part->mesh));
    TRY(make_contact(l, part, b->contact));
    part->turns = take(ctx, (size_t)b->mesh.hold_count + 1, sizeof *part->turns);
    if (!part->turns) return SPATE_OUT_OF_MEMORY;
    l->memory[l->count - 1].extremes = part->mesh.extremes;
    return SPATE_OK;
}

static spate_status take_vertices(lagrangian *l) {
    spate_context *ctx = l->sim->ctx;
    const size_t n = (size_t)l->vertices;
    bool fine = (l->particle = take(ctx, n, sizeof *l->particle)) != NULL;
    fine = fine && (l->block = take(ctx, n, sizeof *l->block));
    fine = fine && (l->there = take(ctx, n, sizeof *l->there));
    fine = fine && (l->hold = take(ctx, n, sizeof *l->hold));
    fine = fine && (l->held = take(ctx, n, sizeof *l->held));
    fine = fine && (l->x = take(ctx, n, sizeof *l->x));
    fine = fine && (l->v = take(ctx, n, sizeof *l->v));
    fine = fine && (l->f = take(ctx, n, sizeof *l->f));
    fine = fine && (l->before = take(ctx, n, sizeof *l->before));
    fine = fine && (l->steady = take(ctx, n, sizeof *l->steady));
    fine = fine && (l->reaction = take(ctx, n, sizeof *l->reaction));
    fine = fine && (l->guess = take(ctx, n, sizeof *l->guess));
    fine = fine && (l->edges = take(ctx, n, sizeof *l->edges));
    fine = fine && (l->references = take(ctx, n, sizeof *l->references));
    const size_t workers = (size_t)pool_size(ctx->pool);
    fine = fine && (l->farthest = take(ctx, workers, sizeof *l->farthest));
    if (l->sim->scene->collider_count) {
        fine = fine && (l->walls = take(ctx, n, sizeof *l->walls));
        fine = fine && (l->pressed = take(ctx, n, sizeof *l->pressed));
    }
    if (l->contact_count) {
        fine = fine && (l->moments = take(ctx, n, sizeof *l->moments));
        fine = fine && (l->C = take(ctx, n, sizeof *l->C));
        fine = fine && (l->normals = take(ctx, (size_t)l->contact_count, sizeof *l->normals));
    }
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void lend(lagrangian *l) {
    int64_t elements = 0;
    for (int k = 0; k < l->count; k++) {
        mesh_part *part = &l->parts[k];
        const mesh_body *m = part->mesh.of;
        if (m->kind == MESH_STRANDS)
            lagrangian_mesh_lend(&part->mesh, l->edges + part->first, l->references + part->first);
        if (part->contact.count)
            mesh_contact_lend(&part->contact, l->normals + elements, m->vertices);
        elements += part->contact.count;
    }
}

static spate_status make(lagrangian *l) {
    const spate_scene *scene = l->sim->scene;
    spate_context *ctx = l->sim->ctx;
    const size_t bodies = (size_t)scene->body_count, groups = (size_t)scene_group_count(scene);
    l->parts = take(ctx, bodies, sizeof *l->parts);
    l->memory = take(ctx, bodies, sizeof *l->memory);
    l->part_of = take(ctx, groups + 1, sizeof *l->part_of);
    if (!l->parts || !l->memory || !l->part_of) return SPATE_OUT_OF_MEMORY;
    for (size_t g = 0; g < groups; g++) l->part_of[g] = -1;
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind) TRY(make_part(l, b));
    TRY(take_vertices(l));
    for (int k = 0; k < l->count; k++) find_held(l, &l->parts[k]);
    lend(l);
    return SPATE_OK;
}

spate_status lagrangian_create(spate_simulation *sim, lagrangian **out) {
    *out = NULL;
    if (!lagrangian_is_needed(sim->scene)) return SPATE_OK;
    lagrangian *l = take(sim->ctx, 1, sizeof *l);
    if (!l) return SPATE_OUT_OF_MEMORY;
    l->sim = sim;
    l->sorts = -1;
    spate_status status = make(l);
    if (status)
        lagrangian_free(l);
    else
        *out = l;
    return status;
}

void lagrangian_free(lagrangian *l) {
    if (!l) return;
    spate_context *ctx = l->sim->ctx;
    for (int k = 0; k < l->count; k++) {
        lagrangian_mesh_free(&l->parts[k].mesh);
        mesh_contact_free(&l->parts[k].contact);
        give(ctx, l->parts[k].turns);
    }
    void *all[] = {l->guess,    l->parts,
                   l->memory,   l->part_of,
                   l->particle, l->block,
                   l->there,    l->hold,
                   l->held,     l->x,
                   l->v,        l->f,
                   l->edges,    l->references,
                   l->moments,  l->reaction,
                   l->C,        l->normals,
                   l->walls,    l->pressed,
                   l->before,   l->steady,
                   l->farthest, l->owner,
                   l->around,   l};
    for (int k = 0; k < COUNT_OF(all); k++) give(ctx, all[k]);
}

/* ---- Which particle is which vertex ---------------------------------------------------------- */

/* The vertex of particle i, or -1: also where a checkpoint has ids that no vertex has. */
static int64_t vertex_of(const lagrangian *l, int64_t i) {
    const particles *p = &l->sim->particles;
    if (p->group[i] == GROUP_REMOVED || l->part_of[p->group[i]] < 0) return -1;
    const int k = l->part_of[p->group[i]];
    const uint64_t v = p->id[i] - l->memory[k].first_id;
    if (v >= (uint64_t)l->parts[k].mesh.of->vertex_count) return -1;
    return l->parts[k].first + (int64_t)v;
}

static void find_in_blocks(void *data, chunk items) {
    const lagrangian *l = data;
    const blocks *b = &l->sim->blocks;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            const int64_t v = vertex_of(l, i);
            if (v < 0) continue;
            l->particle[v] = (uint32_t)i;
            l->block[v] = block;
        }
    }
}

/* Anew after every sort: a scan over the particles, whose ids tell. */
static void find_particles(lagrangian *l) {
    const blocks *b = &l->sim->blocks;
    if (l->sorts == b->sorts) return;
    memset(l->particle, 0xff, (size_t)l->vertices * sizeof *l->particle);
    parallel_for(l->sim->ctx->pool, b->occupied_count, BLOCK_GRAIN, find_in_blocks, l);
    l->sorts = b->sorts;
}

spate_status lagrangian_start(lagrangian *l) {
    const particles *p = &l->sim->particles;
    for (int k = 0; k < l->count; k++) l->memory[k].first_id = UINT64_MAX;
    for (int64_t i = 0; i < p->count; i++) {
        const int k = l->part_of[p->group[i]];
        if (k >= 0 && p->id[i] < l->memory[k].first_id) l->memory[k].first_id = p->id[i];
    }
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t v = vertex_of(l, i);
        if (v < 0) continue;
        const mesh_part *part = &l->parts[l->part_of[p->group[i]]];
        p->mass[i] = (real)part->mesh.mass[v - part->first];
        p->role[i] = l->hold[v] >= 0 ? ROLE_HELD : ROLE_VERTEX;
        if (l->hold[v] >= 0) /* a hold bears its vertices from the start */
            vec_scale(l->reaction[v], -(double)p->mass[i], l->sim->scene->gravity);
    }
    return SPATE_OK;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* Particles of vertices lie anywhere, so what is read of them is fetched some vertices ahead. */
enum { FETCH_AHEAD = 16 };
static uint32_t particle_ahead(const lagrangian *l, int64_t v, int64_t end) {
    const uint32_t i = l->particle[v + FETCH_AHEAD < end ? v + FETCH_AHEAD : end - 1];
    return i == NOWHERE ? 0 : i;
}

static void fetch_position(const lagrangian *l, uint32_t i) {
    for (int a = 0; a < l->sim->scene->dim; a++)
        __builtin_prefetch(&PLANE(&l->sim->particles, position, a)[i]);
}

/* v is what a vertex moved with in the last step. Its own velocity may hold more, which the grid
 * does not see and its position does not follow; a step that counted on it would fight what never
 * comes, and feed tufts of strands with energy. */
static void load_positions(void *data, chunk items) {
    const lagrangian *l = data;
    const bool known = l->last_dt > 0.1 * l->sim->dt; /* else places are too rounded for it */
    for (int64_t v = items.begin; v < items.end; v++) {
        const uint32_t i = l->particle[v], ahead = particle_ahead(l, v, items.end);
        fetch_position(l, ahead);
        __builtin_prefetch(&l->sim->particles.group[ahead]);
        l->there[v] = i != NOWHERE && l->sim->particles.group[i] != GROUP_REMOVED;
        if (!l->there[v]) continue;
        simulation_position(l->sim, l->block[v], i, l->x[v]);
        for (int a = 0; a < l->sim->scene->dim; a++) {
            l->v[v][a] = known ? (l->x[v][a] - l->before[v][a]) / l->last_dt
                               : (double)l->sim->particles.velocity[i][a];
            l->before[v][a] = l->x[v][a];
        }
    }
}

static void find_walls(void *data, chunk items) {
    const lagrangian *l = data;
    const boundary *b = &l->sim->boundary;
    for (int64_t v = items.begin; v < items.end; v++) {
        mesh_wall *met = &l->walls[v];
        double velocity[3];
        l->pressed[v] = 0;
        met->collider = -1;
        if (!l->there[v]) continue;
        const boundary_part near = boundary_around(b, l->x[v], l->sim->scene->domain.dx);
        int c;
        if (!near.count || !(boundary_part_nearest(&near, l->x[v], &c) < 0)) continue;
        boundary_distance(b, c, l->x[v], met->normal, velocity);
        met->speed = vec_dot(velocity, met->normal);
        met->collider = c;
    }
}

static void fetch_forces(const lagrangian *l, uint32_t i) {
    const particles *p = &l->sim->particles;
    __builtin_prefetch(&p->mass[i]);
    __builtin_prefetch(&p->dilation[i]);
    __builtin_prefetch(p->velocity[i], 1);
    __builtin_prefetch(p->force[i], 1);
    if (!l->moments) return;
    __builtin_prefetch(p->force_moment[i], 1);
    __builtin_prefetch(p->force_moment[i + 1], 1);
}

/* What elements do to a held vertex its hold bears at once. If it went to the nodes, and the hold's
 * answer a step later, neighbours would feel the difference along their motion and gain energy. */
static void store_forces(void *data, chunk items) {
    const lagrangian *l = data;
    const particles *p = &l->sim->particles;
    const int dim = l->sim->scene->dim;
    for (int64_t v = items.begin; v < items.end; v++) {
        fetch_forces(l, particle_ahead(l, v, items.end));
        if (!l->there[v]) continue;
        const uint32_t i = l->particle[v];
        const bool held = l->held[v] >= 0;
        const double own = held ? 0 : l->push.share[p->dilation[i] >= 0];
        const double gain = own * l->push.time / (double)p->mass[i];
        for (int a = 0; a < dim; a++) {
            p->velocity[i][a] += (real)(gain * l->f[v][a]);
            p->force[i][a] += (real)(held ? l->reaction[v][a] : (1 - own) * l->f[v][a]);
        }
        for (int axis = 0; axis < dim && l->moments; axis++)
            for (int a = 0; a < dim; a++)
                p->force_moment[i][axis][a] -= (real)l->moments[v][a][axis];
    }
}

/* Holds that are in force at a time, and how they have turned. */
static void pose_holds(lagrangian *l, mesh_part *part, double t) {
    const mesh_body *m = part->mesh.of;
    for (int h = 0; h < m->hold_count; h++) {
        const pose at = motion_pose(&m->holds[h].motion, t);
        memcpy(part->turns[h], at.turn, sizeof at.turn);
    }
    for (int64_t v = part->first; v < part->first + m->vertex_count; v++) {
        const int held = l->hold[v] >= 0 && t < m->holds[l->hold[v]].until ? l->hold[v] : -1;
        if (held == l->held[v]) continue;
        l->held[v] = held;
        if (l->there[v])
            l->sim->particles.role[l->particle[v]] = held >= 0 ? ROLE_HELD : ROLE_VERTEX;
    }
}

static spate_status fail_element(lagrangian *l, const mesh_part *part) {
    const spate_simulation *sim = l->sim;
    const mesh_body *m = part->mesh.of;
    const int64_t e = part->mesh.fault;
    const int64_t v =
        part->first + (m->kind == MESH_STRANDS ? m->strand_first[e] : (int64_t)m->elements[e][0]);
    return fail(sim->ctx, SPATE_UNSTABLE,
                "step %lld, t = %.6g s: body '%s': %s %lld at (%.4g, %.4g, %.4g) %s (dt %.3g s, "
                "limit: %s); use a smaller solver.sound or solver.cfl%s",
                (long long)sim->step + 1, sim->time, sim->scene->bodies[part->group].name,
                m->kind == MESH_STRANDS ? "strand" : "element", (long long)e, l->x[v][0],
                l->x[v][1], l->x[v][2],
                m->kind == MESH_STRANDS ? "folds back on itself" : "is turned inside out", sim->dt,
                sim->dt_limit,
                m->kind == MESH_STRANDS ? "" : ", or model fixed_corotated, which survives it");
}

static void part_forces(lagrangian *l, mesh_part *part, const mesh_positions *at) {
    const spate_simulation *sim = l->sim;
    double(*f)[3] = l->f + part->first;
    if (!part->mesh.step) {
        lagrangian_mesh_forces(&part->mesh, at, f);
        return;
    }
    mesh_motion how = {
        .dt = sim->dt, .damping = part->mesh.of->stepping.damping, .v = l->v + part->first};
    vec_copy(how.gravity, sim->scene->gravity);
    how.guess = l->guess + part->first;
    if (l->walls) how.walls = l->walls + part->first, how.pressed = l->pressed + part->first;
    mesh_step_forces(&part->mesh, at, &how, f);
}

/* Friction of a wall on a vertex that its strand pushes into it (Coulomb): at most what stops its
 * sliding. */
static void rub(const lagrangian *l, int64_t v, double force[3]) {
    const mesh_wall *met = &l->walls[v];
    const collider *c = &l->sim->scene->colliders[met->collider];
    double normal[3], u[3], along[3];
    boundary_distance(&l->sim->boundary, met->collider, l->x[v], normal, u);
    vec_sub(along, l->v[v], u);
    vec_add_scaled(along, along, -vec_dot(along, met->normal), met->normal);
    const double stops = (double)l->sim->particles.mass[l->particle[v]] / l->push.time;
    const double speed = vec_length(along), most = c->friction * l->pressed[v];
    const bool sticks = c->contact == CONTACT_STICKY || most >= stops * speed;
    vec_scale(force, sticks ? -stops : -most / speed, along);
}

static void rub_part(const lagrangian *l, const mesh_part *part) {
    for (int64_t v = part->first; v < part->first + part->mesh.of->vertex_count; v++) {
        double force[3];
        if (!(l->pressed[v] > 0)) continue;
        rub(l, v, force);
        vec_add(l->f[v], l->f[v], force);
    }
}

typedef struct part_job {
    lagrangian *l;
    const mesh_part *part;
} part_job;

/* J sees all directions, and hovers about 1 where a sheet bears what lies on it; its own motion
 * would carry it through. So vertices whose elements are pressed hold together: J is at most the
 * thickness that is left. */
static void close_pressed(void *data, chunk items) {
    const part_job *job = data;
    const lagrangian *l = job->l;
    real *dilation = l->sim->particles.dilation;
    for (int64_t v = items.begin; v < items.end; v++) {
        const uint32_t i = l->particle[job->part->first + v];
        const double pressed = mesh_contact_compression(&job->part->contact, v);
        if (pressed > 0 && l->there[job->part->first + v])
            dilation[i] = (real)fmin((double)dilation[i], -pressed);
    }
}

static void contact_forces(lagrangian *l, int k, const mesh_positions *at) {
    mesh_part *part = &l->parts[k];
    mesh_memory *memory = &l->memory[k];
    if (!part->contact.count) return;
    const contact_report r = mesh_contact_forces(&part->contact, at, part->mesh.of->vertex_count,
                                                 l->f + part->first, l->moments + part->first);
    memory->contact_energy = r.energy;
    memory->compression = r.compression;
    memory->resets += (double)r.resets;
    parallel_for(l->sim->ctx->pool, part->mesh.of->vertex_count, VERTEX_GRAIN, close_pressed,
                 &(part_job){l, part});
    if (r.resets)
        warn(l->sim->ctx, "contact elements",
             "step %lld: body '%s': %lld contact elements were turned inside out and begin anew; "
             "use a larger contact.stiffness, or a smaller solver.dt",
             (long long)l->sim->step + 1, l->sim->scene->bodies[part->group].name,
             (long long)r.resets);
}

spate_status lagrangian_add_forces(lagrangian *l, const mesh_push *push) {
    pool *threads = l->sim->ctx->pool;
    l->push = *push;
    find_particles(l);
    parallel_for(threads, l->vertices, VERTEX_GRAIN, load_positions, l);
    l->last_dt = l->sim->dt;
    if (l->walls) parallel_for(threads, l->vertices, VERTEX_GRAIN, find_walls, l);
    for (int k = 0; k < l->count; k++) {
        mesh_part *part = &l->parts[k];
        pose_holds(l, part, l->sim->time);
        const mesh_positions at = {.x = l->x + part->first,
                                   .there = l->there + part->first,
                                   .held = l->held + part->first,
                                   .turns = part->turns};
        part_forces(l, part, &at);
        if (part->mesh.fault >= 0) return fail_element(l, part);
        if (l->walls) rub_part(l, part);
        contact_forces(l, k, &at);
        l->memory[k].extremes = part->mesh.extremes;
        l->memory[k].energy = lagrangian_mesh_energy(&part->mesh);
        if (!part->mesh.step) continue;
        l->memory[k].energy = part->mesh.step->energy;
        l->memory[k].halvings = (double)part->mesh.step->halvings;
        l->memory[k].iterations = part->mesh.step->iterations;
    }
    parallel_for(threads, l->vertices, VERTEX_GRAIN, store_forces, l);
    return SPATE_OK;
}

void lagrangian_each_pressed(const lagrangian *l, mesh_press_note note, void *data) {
    for (int64_t v = 0; v < l->vertices && l->walls; v++) {
        double lost[3];
        if (l->pressed[v] == 0) continue;
        vec_set(lost, 0, 0, 0);
        if (l->pressed[v] > 0) rub(l, v, lost);
        vec_add_scaled(lost, lost, l->pressed[v], l->walls[v].normal);
        vec_scale(lost, -l->push.time, lost);
        note(data, &(mesh_press){l->block[v], l->particle[v], l->walls[v].collider, l->x[v], lost});
    }
}

/* ---- After the gather ------------------------------------------------------------------------ */

static int join_owners(int one, int other) {
    return one == NOBODY || one == other ? other : other == NOBODY ? one : OTHERS;
}

static void find_owners(void *data, chunk items) {
    const lagrangian *l = data;
    const blocks *b = &l->sim->blocks;
    const uint16_t *group = l->sim->particles.group;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            if (group[i] == GROUP_REMOVED) continue;
            const int part = l->part_of[group[i]];
            l->owner[block] = join_owners(l->owner[block], part < 0 ? OTHERS : part);
        }
    }
}

static void look_around(void *data, chunk items) {
    const lagrangian *l = data;
    const blocks *b = &l->sim->blocks;
    const int count = neighbour_count(l->sim->scene->dim);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        l->around[block] = NOBODY;
        for (int n = 0; n < count; n++) {
            const int32_t other = b->neighbours[block][n];
            if (other >= 0) l->around[block] = join_owners(l->around[block], l->owner[other]);
        }
    }
}

/* Which vertices are among those of their body alone. */
static spate_status find_surroundings(lagrangian *l) {
    const blocks *b = &l->sim->blocks;
    TRY(ENSURE(l->sim->ctx, l->block_capacity, b->count, EACH(l->owner, 1), EACH(l->around, 1)));
    for (int64_t k = 0; k < b->count; k++) l->owner[k] = NOBODY;
    parallel_for(l->sim->ctx->pool, b->occupied_count, BLOCK_GRAIN, find_owners, l);
    parallel_for(l->sim->ctx->pool, b->occupied_count, BLOCK_GRAIN, look_around, l);
    return SPATE_OK;
}

static bool has_steps(const lagrangian *l) {
    for (int k = 0; k < l->count; k++)
        if (l->parts[k].mesh.step) return true;
    return false;
}

spate_status lagrangian_follow(lagrangian *l, double *farthest) {
    const int workers = pool_size(l->sim->ctx->pool);
    *farthest = 0;
    if (!has_steps(l) || !(l->push.share[0] > 0 || l->push.share[1] > 0)) return SPATE_OK;
    TRY(find_surroundings(l));
    for (int w = 0; w < workers; w++) l->farthest[w] = 0;
    for (int k = 0; k < l->count; k++) {
        const int64_t first = l->parts[k].first;
        const mesh_follow how = {.sim = l->sim,
                                 .mesh = &l->parts[k].mesh,
                                 .time = l->push.time,
                                 .particle = l->particle + first,
                                 .block = l->block + first,
                                 .there = l->there + first,
                                 .held = l->held + first,
                                 .x = l->x + first,
                                 .v = l->v + first,
                                 .f = l->f + first,
                                 .walls = l->walls ? l->walls + first : NULL,
                                 .before = l->before + first,
                                 .around = l->around,
                                 .part = k,
                                 .steady = l->steady + first,
                                 .farthest = l->farthest};
        if (l->parts[k].mesh.step) mesh_follow_step(&how);
    }
    for (int w = 0; w < workers; w++) *farthest = fmax(*farthest, l->farthest[w]);
    return SPATE_OK;
}

/* ---- Holds ----------------------------------------------------------------------------------- */

/* What holds push with is found step by step: what a held vertex gained in the last one is what the
 * forces on it and its nodes had beyond the hold's, and this share of it is made up for. Else the
 * nodes around would yield in every step, by g dt and more, and what lies on a held cloth would
 * sink through it. Part of the gain comes with the transfer, however short a step is: one that was
 * cut short to land on a frame is counted as a whole one, since its gain over its dt is no force. */
#define REACTION_SHARE 0.5

static void hold_vertex(const lagrangian *l, int64_t v, const double rest[3], const pose *at) {
    const spate_simulation *sim = l->sim;
    const particles *p = &sim->particles;
    const domain *d = &sim->scene->domain;
    const int32_t *coords = sim->blocks.coords[l->block[v]];
    const double push =
        REACTION_SHARE * (double)p->mass[l->particle[v]] / fmax(sim->dt, sim->whole_dt);
    double x[3], u[3];
    pose_to_world(at, rest, x);
    pose_velocity(at, x, u);
    for (int a = 0; a < sim->scene->dim; a++) {
        const double g = (x[a] - d->origin[a]) / d->dx + sim->type->shift;
        const double gained = (double)p->velocity[l->particle[v]][a] - u[a];
        l->reaction[v][a] -= push * gained;
        PLANE(p, position, a)[l->particle[v]] = (real)(g - (double)coords[a] * BLOCK_EDGE);
        p->velocity[l->particle[v]][a] = (real)u[a];
    }
}

void lagrangian_hold(lagrangian *l) {
    const double end = l->sim->time + l->sim->dt;
    for (int k = 0; k < l->count; k++) {
        const mesh_part *part = &l->parts[k];
        const mesh_body *m = part->mesh.of;
        for (int h = 0; h < m->hold_count; h++) {
            const pose at = motion_pose(&m->holds[h].motion, end);
            for (int64_t v = 0; v < m->vertex_count; v++)
                if (l->held[part->first + v] == h && l->there[part->first + v])
                    hold_vertex(l, part->first + v, m->vertices[v], &at);
        }
    }
}

double lagrangian_hold_speed(const lagrangian *l) { return l->hold_speed; }

/* ---- Contact --------------------------------------------------------------------------------- */

static void load_gradients(void *data, chunk items) {
    const lagrangian *l = data;
    const particles *p = &l->sim->particles;
    const double per_metre = 1 / l->sim->scene->domain.dx;
    const int dim = l->sim->scene->dim;
    for (int64_t v = items.begin; v < items.end; v++) {
        __builtin_prefetch(p->affine[particle_ahead(l, v, items.end)]);
        for (int axis = 0; axis < dim && l->there[v]; axis++)
            for (int a = 0; a < dim; a++)
                l->C[v][a][axis] = per_metre * (double)p->affine[l->particle[v]][axis][a];
    }
}

void lagrangian_carry_contact(lagrangian *l) {
    if (!l->contact_count) return;
    parallel_for(l->sim->ctx->pool, l->vertices, VERTEX_GRAIN, load_gradients, l);
    for (int k = 0; k < l->count; k++) {
        mesh_part *part = &l->parts[k];
        if (part->contact.count)
            mesh_contact_carry(&part->contact, l->there + part->first,
                               (const double(*)[3][3])l->C + part->first, l->sim->dt);
    }
}

/* ---- The time step --------------------------------------------------------------------------- */

/* Stiffness does not limit a semi-implicit step; but it begins with what gravity makes of the
 * speed: (speed + g dt) dt <= cfl dx. */
static double falling_limit(const spate_scene *scene, double speed) {
    const double way = scene->cfl * scene->domain.dx, g = vec_length(scene->gravity);
    const double sum = speed + sqrt(speed * speed + 4 * g * way);
    return sum > 0 ? 2 * way / sum : HUGE_VAL;
}

static double part_limit(const lagrangian *l, int k, double speed, double share) {
    const mesh_part *part = &l->parts[k];
    const mesh_extremes *at = &l->memory[k].extremes;
    const spate_scene *scene = l->sim->scene;
    if (part->mesh.step) return HUGE_VAL;
    if (part->mesh.of->kind != MESH_FE) return lagrangian_mesh_step(&part->mesh, at, share);
    const material *given = &scene->materials[scene->bodies[part->group].material];
    const strain_range range = {at->J_min, at->J_max, at->stretch, 1};
    const double wave = material_models[material_kind_of(given->type)]->wave_speed(
        given->parameters, scene->dim, &range);
    return share * at->altitude / (wave + speed);
}

/* Waves of contact are as long as a cell at least. */
static double contact_limit(const lagrangian *l, int k, double speed, double share) {
    const mesh_contact *c = &l->parts[k].contact;
    if (!c->count) return HUGE_VAL;
    const double wave = mesh_contact_speed(c, l->memory[k].compression);
    return share * l->sim->scene->domain.dx / (wave + speed);
}

double lagrangian_step_limit(const lagrangian *l, double speed, double share) {
    double dt = HUGE_VAL;
    for (int k = 0; k < l->count; k++) {
        dt = fmin(dt, part_limit(l, k, speed, share));
        dt = fmin(dt, contact_limit(l, k, speed, share));
    }
    return dt;
}

double lagrangian_fall_limit(const lagrangian *l, double speed) {
    return has_steps(l) ? falling_limit(l->sim->scene, speed) : HUGE_VAL;
}

double lagrangian_lightest(const lagrangian *l) {
    double lightest = HUGE_VAL;
    for (int k = 0; k < l->count; k++)
        for (int64_t v = 0; v < l->parts[k].mesh.of->vertex_count; v++)
            lightest = fmin(lightest, l->parts[k].mesh.mass[v]);
    return lightest;
}

/* ---- What others ask ------------------------------------------------------------------------- */

double lagrangian_energy(const lagrangian *l, mesh_kind kind) {
    double sum = NAN;
    for (int k = 0; l && k < l->count; k++)
        if (l->parts[k].mesh.of->kind == kind)
            sum = (isnan(sum) ? 0 : sum) + strain_energy_sum(&l->memory[k].energy);
    return sum;
}

strain_energy lagrangian_strain_energy(const lagrangian *l) {
    strain_energy sum = {NAN, NAN, NAN};
    for (int k = 0; l && k < l->count; k++) {
        const strain_energy *own = &l->memory[k].energy;
        const mesh_kind kind = l->parts[k].mesh.of->kind;
        if (kind == MESH_FE) continue;
        sum.stretch = (isnan(sum.stretch) ? 0 : sum.stretch) + own->stretch;
        sum.bend = (isnan(sum.bend) ? 0 : sum.bend) + own->bend;
        if (kind == MESH_STRANDS) sum.twist = (isnan(sum.twist) ? 0 : sum.twist) + own->twist;
    }
    return sum;
}

uint64_t lagrangian_first_id(const lagrangian *l, int group) {
    return l->memory[l->part_of[group]].first_id;
}

double lagrangian_halvings(const lagrangian *l) {
    double sum = NAN;
    for (int k = 0; l && k < l->count; k++)
        if (l->parts[k].mesh.step) sum = (isnan(sum) ? 0 : sum) + l->memory[k].halvings;
    return sum;
}

double lagrangian_iterations(const lagrangian *l) {
    double most = NAN;
    for (int k = 0; l && k < l->count; k++)
        if (l->parts[k].mesh.step && l->parts[k].mesh.of->kind != MESH_STRANDS)
            most = fmax(most, l->memory[k].iterations);
    return most;
}

double lagrangian_contact_energy(const lagrangian *l) {
    double sum = l && l->contact_count ? 0 : NAN;
    for (int k = 0; l && k < l->count; k++) sum += l->memory[k].contact_energy;
    return sum;
}

double lagrangian_contact_compression(const lagrangian *l) {
    double most = l && l->contact_count ? 0 : NAN;
    for (int k = 0; l && k < l->count && l->contact_count; k++)
        most = fmax(most, l->memory[k].compression);
    return most;
}

double lagrangian_contact_resets(const lagrangian *l) {
    double sum = l && l->contact_count ? 0 : NAN;
    for (int k = 0; l && k < l->count; k++) sum += l->memory[k].resets;
    return sum;
}

void lagrangian_state(lagrangian *l, state_blocks *out) {
    state_add(out, "mesh bodies", l->memory, (size_t)l->count * sizeof *l->memory);
    state_add(out, "strand edges", l->edges, (size_t)l->vertices * sizeof *l->edges);
    state_add(out, "mesh places", l->before, (size_t)l->vertices * sizeof *l->before);
    state_add(out, "mesh steady forces", l->steady, (size_t)l->vertices * sizeof *l->steady);
    state_add(out, "mesh last step", &l->last_dt, sizeof l->last_dt);
    state_add(out, "mesh guesses", l->guess, (size_t)l->vertices * sizeof *l->guess);
    state_add(out, "hold reactions", l->reaction, (size_t)l->vertices * sizeof *l->reaction);
    state_add(out, "strand twists", l->references, (size_t)l->vertices * sizeof *l->references);
    if (l->contact_count)
        state_add(out, "contact normals", l->normals,
                  (size_t)l->contact_count * sizeof *l->normals);
}

uint64_t lagrangian_hash(const lagrangian *l, uint64_t seed) {
    seed = hash_bytes(l->edges, (size_t)l->vertices * sizeof *l->edges, seed);
    seed = hash_bytes(l->before, (size_t)l->vertices * sizeof *l->before, seed);
    seed = hash_bytes(l->steady, (size_t)l->vertices * sizeof *l->steady, seed);
    seed = hash_bytes(l->guess, (size_t)l->vertices * sizeof *l->guess, seed);
    seed = hash_bytes(l->reaction, (size_t)l->vertices * sizeof *l->reaction, seed);
    seed = hash_bytes(l->references, (size_t)l->vertices * sizeof *l->references, seed);
    if (!l->contact_count) return seed;
    return hash_bytes(l->normals, (size_t)l->contact_count * sizeof *l->normals, seed);
}
