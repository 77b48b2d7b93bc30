#include "solver/mpm/mpm.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/lagrangian/lagrangian.h"
#include "solver/mpm/heat.h"
#include "solver/mpm/mixing.h"
#include "solver/mpm/phases.h"
#include "solver/sources.h"
#include "solver/stages.h"

/* ---- What a user may set --------------------------------------------------------------------- */

enum { SCHEME_APIC = 0, SCHEME_AFLIP = 5 };
static const mpm_scheme schemes[] = {
    [SCHEME_APIC] = {.name = "apic", .affine = true},
    {.name = "pic"},
    {.name = "flip", .flip = true},
    {.name = "nflip", .flip = true, .separable = true, .natural = true},
    {.name = "sflip", .flip = true, .separable = true},
    [SCHEME_AFLIP] = {.name = "aflip", .affine = true, .flip = true},
    {.name = "aspic", .affine = true, .separable = true},
    {.name = "asflip", .affine = true, .flip = true, .separable = true},
    {.name = "polypic", .affine = true, .poly = true},
};
/* "default", then the names of the schemes. */
static const char *const integrators[] = {"default", "apic",  "pic",    "flip",    "nflip", "sflip",
                                          "aflip",   "aspic", "asflip", "polypic", NULL};
static const char *const kernel_names[] = {"linear", "quadratic", "cubic", "gimp", NULL};

static const char *const densities[] = {"J", "sph", NULL};

static const field mpm_fields[] = {
    CHOICE_FIELD(mpm_options, integrator, 0, integrators,
                 "How velocity moves between particles and grid: apic keeps angular momentum, pic "
                 "is the damped textbook transfer; flip and aflip keep more motion, sflip and "
                 "asflip let particles separate besides; nflip, aspic and polypic are there to "
                 "compare with. Default: aflip where all materials are liquids, else apic."),
    CHOICE_FIELD(mpm_options, kernel, KERNEL_QUADRATIC, kernel_names,
                 "Interpolation between particles and nodes: B-splines of this order, or gimp, the "
                 "linear one averaged over a particle's width of half a cell: narrower than the "
                 "quadratic one, for 4 particles a cell in 2D and 8 in 3D; bodies that stretch to "
                 "twice their length tear with it."),
    NUMBER_FIELD(mpm_options, alpha, "", 0.99, 0, 1,
                 "Share of a particle's own motion, beyond what the grid holds, that flip, nflip, "
                 "sflip, aflip, aspic and asflip keep."),
    {.name = "beta",
     .type = FIELD_PAIR,
     .offset = offsetof(mpm_options, beta),
     .unit = "",
     .fallback = NAN,
     .min = 0,
     .max = 1,
     .help = "Share of that motion which positions follow in sflip, aspic and asflip: where the "
             "material holds together, and where it has come apart; [0, 1] by default."},
    FLAG_FIELD(mpm_options, beta_boundary, true,
               "Whether beta is 0 for particles about to enter a collider, side or source."),
    FLAG_FIELD(mpm_options, beta_compression, true,
               "Whether the first of the betas applies to material that holds together; else the "
               "second does everywhere."),
    FLAG_FIELD(mpm_options, subgrid_forces, true,
               "Whether vertices of meshes whose positions follow their own motion by beta feel as "
               "much of their elements' forces themselves; else forces act on nodes alone, folds "
               "narrower than a cell have no stiffness, and pieces that touch do not part."),
    INTEGER_FIELD(mpm_options, poly_modes, 0, 0, 27,
                  "Number of velocity modes of polypic: up to 9 in 2D and 27 in 3D, where 0 means "
                  "all. In order: constant, linear, then products of x, y, z, then those with one "
                  "square, and so on."),
    NUMBERS_FIELD(mpm_options, poly_scale, "", 1, 0, 1,
                  "Factors on polypic's modes beyond the linear ones, in their order; the last "
                  "holds for the rest. All at 1 is lively but may go unstable; in 2D [1, 0.825, "
                  "0.825, 0.2] is calmer."),
    CHOICE_FIELD(mpm_options, density, DENSITY_J, densities,
                 "Where the volumes of liquids come from: J follows the velocity's divergence, sph "
                 "sums over the particles around, in every step. sph never drifts and is right at "
                 "interfaces of any density ratio, but rougher and slower, and a layer at the "
                 "free surface carries no pressure. It needs the same particles_per_cell "
                 "everywhere, 4 or more in 2D and 8 in 3D. Sample with `regular` and set alpha to "
                 "0.95 or less, or use apic: else liquid at rest trembles."),
    NUMBER_FIELD(mpm_options, heat_diffusion, "m^2/s", 0, 0, 1e9,
                 "How fast temperatures spread in liquids, where a material has one."),
    NUMBER_FIELD(mpm_options, sound, "", 0.4, 1e-6, 1,
                 "The time step as a share of the time a pressure wave takes to cross a cell."),
    FLAG_FIELD(mpm_options, leapfrog, false,
               "Whether velocities are those of half steps: forces act for half of the first step, "
               "and for the mean of two where steps differ in length. Motion is then second-order "
               "accurate in time."),
};

/* The modes beyond affine in the order that counts: by the number of squares, then by degree. */
static int poly_order(int dim, uint8_t order[POLY_MODES_MAX]) {
    int count = 0;
    for (int squares = 0; squares <= dim; squares++)
        for (int degree = 0; degree <= 2 * dim; degree++)
            for (int mode = dim == 2 ? 8 : 26; mode >= 0; mode--) {
                int e[3] = {dim == 2 ? 0 : mode / 9, mode / 3 % 3, mode % 3};
                int has = (e[0] == 2) + (e[1] == 2) + (e[2] == 2), sum = e[0] + e[1] + e[2];
                if (has == squares && sum == degree && (has > 0 || sum > 1))
                    order[count++] = (uint8_t)mode;
            }
    return count;
}

static bool prepare(void *options, int dim, field_report *report) {
    mpm_options *o = options;
    if (isnan(o->beta[0])) o->beta[0] = 0, o->beta[1] = 1;
    if (o->beta[0] > o->beta[1]) {
        return field_complain(
            report, "beta",
            "is [%g, %g]: the first, where material holds together, must not be above the "
            "second, where it has come apart",
            o->beta[0], o->beta[1]);
    }
    if (o->integrator && schemes[o->integrator - 1].poly && o->kernel != KERNEL_QUADRATIC) {
        return field_complain(report, "kernel",
                              "is %s, but polypic is made for the quadratic kernel; leave it out",
                              kernel_names[o->kernel]);
    }
    int most = dim == 2 ? 9 : 27;
    if (o->poly_modes && (o->poly_modes <= dim || o->poly_modes > most)) {
        return field_complain(report, "poly_modes",
                              "is %d; in %dD give %d (the affine ones) to %d, or 0 for all",
                              (int)o->poly_modes, dim, dim + 1, most);
    }
    return true;
}

/* The bodies whose contacts are asked for share the reals of a node. */
static bool check_contacts(const spate_scene *scene, field_report *report) {
    int groups[CONTACT_BODIES], count = 0;
    for (int i = 0; i < scene->probe_count; i++) {
        const probe *p = &scene->probes[i];
        int k = 0;
        if (p->kind != PROBE_CONTACT_FORCE) continue;
        while (k < count && groups[k] != p->group) k++;
        if (k == CONTACT_BODIES)
            return field_complain(report, NULL,
                                  "probe '%s' asks for the contact_force of a fifth body; mpm can "
                                  "tell four apart; remove some",
                                  p->name);
        if (k == count) groups[count++] = p->group;
    }
    return true;
}

static bool check_phases(const spate_scene *scene, field_report *report) {
    const mpm_options *o = scene->solver_options;
    if (!scene->coupled) return true;
    if (mpm_phase_fields(scene) > FIELDS_MAX)
        return field_complain(report, NULL,
                              "coupling makes %d phases with velocities of their own; mpm can keep "
                              "%d: glue some of them",
                              mpm_phase_fields(scene), FIELDS_MAX);
    if (o->kernel == KERNEL_LINEAR && mpm_phase_fields(scene) > 1)
        return field_complain(
            report, NULL,
            "solver.kernel is linear, with which phases that meet are unstable: forces jump "
            "where particles cross cells; use quadratic, cubic or gimp");
    for (int k = 0; k < scene->phase_count * scene->phase_count; k++)
        if (scene->couplings[k].kind == COUPLING_PUBLISHED && o->integrator &&
            schemes[o->integrator - 1].poly)
            return field_complain(report, NULL,
                                  "coupling is published, which polypic has no room for; use "
                                  "another solver.integrator");
    return true;
}

static bool check(const spate_scene *scene, field_report *report) {
    if (!check_contacts(scene, report) || !mpm_density_check(scene, report) ||
        !check_phases(scene, report) || !mpm_mixing_check(scene, report) ||
        !lagrangian_check(scene, report))
        return false;
    for (int c = 0; c < scene->material_count; c++) {
        const material_constants constants = material_constants_of(scene, c);
        if (constants.kind == MATERIAL_LIQUID && constants.liquid.tension > 0)
            return field_complain(
                report, NULL,
                "material '%s' has surface_tension, which mpm does not know; leave "
                "it out, or use solver.type flip",
                scene->materials[c].name);
    }
    return true;
}

const solver_declaration mpm_declaration = {
    .name = "mpm",
    .table = {.name = "mpm",
              .help = "Explicit material point method (MLS-MPM).",
              .fields = mpm_fields,
              .count = COUNT_OF(mpm_fields),
              .size = sizeof(mpm_options)},
    .prepare = prepare,
    .check = check,
    .matter = MATTER_LIQUID | MATTER_SOLID,
    .period = BLOCK_EDGE,
    .scheme = "integrator",
    .cfl = 0.5,
    .cfl_most = 1,
    .contacts = true,
    .irregular = true,
    .meshes = true,
    .follows_gradient = true,
    .couples = true,
};

static const material_model *model_of(const spate_scene *scene, int index) {
    return material_models[material_kind_of(scene->materials[index].type)];
}

/* Whether the scheme for liquids is the default: it loses far less of a flow's motion, and a liquid
 * has nothing else to lose. */
static bool all_liquids(const spate_scene *scene) {
    for (int c = 0; c < scene->material_count; c++)
        if (model_of(scene, c) != &material_liquid) return false;
    return true;
}

/* Whether phases have velocities of their own. */
static bool has_fields(const spate_scene *scene) {
    return scene->coupled && mpm_phase_fields(scene) > 1;
}

static const mpm_scheme *scheme_of(const spate_scene *scene) {
    const mpm_options *o = scene->solver_options;
    if (o->integrator) return &schemes[o->integrator - 1];
    return &schemes[all_liquids(scene) || has_fields(scene) ? SCHEME_AFLIP : SCHEME_APIC];
}

/* ---- Creation -------------------------------------------------------------------------------- */

static unsigned fields(const spate_scene *scene) {
    unsigned bits = PARTICLE_BIT(affine);
    for (int i = 0; i < scene->material_count; i++) bits |= model_of(scene, i)->fields;
    if (scheme_of(scene)->poly) bits |= PARTICLE_BIT(modes);
    if (mpm_has_moment((mpm_kernel)((const mpm_options *)scene->solver_options)->kernel))
        bits |= PARTICLE_BIT(moment);
    if (scene->species_count) bits |= PARTICLE_BIT(concentration);
    if (mpm_is_heated(scene)) bits |= PARTICLE_BIT(temperature) | PARTICLE_BIT(force);
    bits |= mpm_phase_particle_fields(scene);
    if (scene->output.gradient) bits |= PARTICLE_BIT(gradient);
    if (lagrangian_is_needed(scene)) bits |= lagrangian_fields(scene);
    return bits;
}

static const strain_range at_rest = {.J_min = 1, .J_max = 1, .stretch = 1, .stiffening = 1};

static void forget_extremes(mpm *m) {
    for (int w = 0; w < pool_size(m->threads); w++) m->view.extremes[w] = (mpm_extremes){.bad = -1};
}

/* Adds up what the workers have seen: speed, strain ranges, losses. */
static int64_t collect_extremes(mpm *m) {
    spate_simulation *sim = m->sim;
    wide speed2 = wide_splat(0), move2 = speed2;
    int64_t bad = -1, removed = 0;
    m->yielded = 0;
    for (int c = 0; c < sim->scene->material_count; c++) m->ranges[c] = at_rest;
    for (int w = 0; w < pool_size(m->threads); w++) {
        const mpm_extremes *seen = &m->view.extremes[w];
        speed2 = wide_max(seen->speed2, speed2);
        move2 = wide_max(seen->move2, move2);
        removed += seen->removed;
        m->yielded += seen->yielded;
        if (seen->bad >= 0 && (bad < 0 || seen->bad < bad)) bad = seen->bad;
        for (int c = 0; c < sim->scene->material_count; c++) {
            const mpm_range *range = &seen->range[c % RANGE_SLOTS];
            strain_range *r = &m->ranges[c];
            r->J_min = fmin(r->J_min, 1 - (double)wide_largest(range->J_low));
            r->J_max = fmax(r->J_max, 1 + (double)wide_largest(range->J_high));
            r->stretch = fmax(r->stretch, (double)wide_largest(range->stretch));
            r->stiffening = fmax(r->stiffening, (double)wide_largest(range->stiffening));
        }
    }
    sim->max_speed = sqrt((double)wide_largest(speed2));
    m->max_move = sqrt((double)wide_largest(move2));
    sim->removed += removed;
    m->must_sort |= removed > 0;
    return bad;
}

/* D of a kernel where it depends on the place x, in cells from a node (transfer.h): f (1 - f) of
 * the linear one, f from the node before; of gimp so too, but for particles that reach across a
 * node. */
static double moment_at(mpm_kernel kernel, double x) {
    const double f = x - floor(x), from_node = fmin(f, 1 - f), half_width = 0.25;
    if (kernel == KERNEL_GIMP && from_node < half_width) return 0.125 + from_node * from_node;
    return f * (1 - f);
}

/* What bodies that spin have at the start. */
static void fill_moments(spate_simulation *sim) {
    const particles *p = &sim->particles;
    const mpm *m = sim->solver;
    for (int a = 0; a < sim->scene->dim && p->moment; a++)
        for (int64_t i = 0; i < p->count; i++) PLANE(p, moment, a)
    [i] = (real)moment_at(m->kernel, (double)PLANE(p, position, a)[i] - 0.5);
}

static spate_status start(spate_simulation *sim) {
    mpm *m = sim->solver;
    fill_moments(sim);
    if (m->meshes) TRY(lagrangian_start(m->meshes));
    TRY(mpm_equilibrate(sim->solver));
    return mpm_settle_density(sim->solver);
}

typedef mpm_passes family_passes[TRANSFER_FAMILIES];
ISA_TABLES(family_passes, mpm_linear);
ISA_TABLES(family_passes, mpm_quadratic);
ISA_TABLES(family_passes, mpm_cubic);
ISA_TABLES(family_passes, mpm_gimp);

static void choose_passes(mpm *m) {
    const spate_context *ctx = m->sim->ctx;
    const enum isa isa = ctx->isa;
    const family_passes *by_kernel[KERNELS] = {[KERNEL_LINEAR] = ISA_CHOOSE(mpm_linear, isa),
                                               [KERNEL_QUADRATIC] = ISA_CHOOSE(mpm_quadratic, isa),
                                               [KERNEL_CUBIC] = ISA_CHOOSE(mpm_cubic, isa),
                                               [KERNEL_GIMP] = ISA_CHOOSE(mpm_gimp, isa)};
    m->passes = *by_kernel[m->kernel] + m->family;
    m->view.laws = ISA_CHOOSE(material_passes, isa);
}

/* The published rule asks for v^n: it gives all phases one acceleration. */
static bool is_published(const spate_scene *scene) {
    bool any = false;
    for (int k = 0; k < scene->phase_count * scene->phase_count && scene->coupled; k++)
        any |= scene->couplings[k].kind == COUPLING_PUBLISHED;
    return any;
}

/* The scheme's constants and the family of transfers that it needs. */
static void choose_scheme(mpm *m, const spate_scene *scene) {
    const mpm_options *o = scene->solver_options;
    const mpm_scheme *scheme = scheme_of(scene);
    mpm_view *v = &m->view;
    m->kernel = (mpm_kernel)o->kernel;
    bool keeps = o->alpha > 0;
    for (int c = 0; c < scene->material_count; c++) keeps |= scene->materials[c].pic_time > 0;
    bool adjusts = ((scheme->flip || scheme->separable) && keeps) || is_published(scene);
    m->family = scheme->poly ? TRANSFER_POLY : adjusts ? TRANSFER_SPLIT : TRANSFER_FUSED;
    v->node_reals = node_reals(m->family);
    v->affine = scheme->affine;
    v->alpha = (real)o->alpha;
    v->flip = scheme->flip;
    if (scheme->separable) {
        v->separation.beta_max = scheme->natural ? 1 : (real)o->beta[1];
        v->separation.beta_min =
            scheme->natural || !o->beta_compression ? v->separation.beta_max : (real)o->beta[0];
        v->separation.at_boundaries =
            o->beta_boundary && !scheme->natural && v->separation.beta_max > 0;
    }
    /* A cubic kernel reaches half a cell further, which is taken from the drift; a little is kept
     * for rounding. */
    m->drift_limit = m->kernel == KERNEL_CUBIC ? 0.49 : 0.99;
    if (!scheme->poly) return;
    int all = poly_order(scene->dim, v->poly.mode);
    v->poly.count = o->poly_modes ? (int)o->poly_modes - scene->dim - 1 : all;
    const number_list *scale = &o->poly_scale;
    for (int k = 0; k < v->poly.count; k++)
        v->poly.scale[k] =
            scale->count ? (real)scale->values[k < scale->count ? k : scale->count - 1] : 1;
}

/* A share of 1e-14 of the lightest particle that the scene can make. */
static real negligible_mass(const spate_scene *scene) {
    double lightest = HUGE_VAL, cell = pow(scene->domain.dx, scene->dim);
    for (int g = 0; g < scene_group_count(scene); g++) {
        double per_cell = g < scene->body_count
                              ? scene->bodies[g].particles_per_cell
                              : scene->sources[g - scene->body_count].particles_per_cell;
        double density = scene->materials[scene_group_material(scene, g)].density;
        lightest = fmin(lightest, density * cell / per_cell);
    }
    return (real)fmax(1e-14 * lightest, sizeof(real) == sizeof(float) ? 1e-36 : 1e-300);
}

/* Whether the shares of own motion that particles keep depend on their material. */
static bool alphas_differ(const spate_scene *scene) {
    const mpm_options *o = scene->solver_options;
    bool differ = has_fields(scene) && !o->integrator && !all_liquids(scene);
    for (int c = 0; c < scene->material_count; c++) differ |= !isnan(scene->materials[c].pic_time);
    return differ;
}

/* What a group's particles would keep in a step: by the time that its material names, else alpha;
 * where coupled phases share the default integrator, solids keep nothing, as they do alone. */
static double alpha_of(const mpm *m, int group) {
    const spate_scene *scene = m->sim->scene;
    const mpm_options *o = scene->solver_options;
    const int c = scene_group_material(scene, group);
    const double time = scene->materials[c].pic_time;
    const bool as_solid = !o->integrator && model_of(scene, c) != &material_liquid;
    if (isnan(time)) return as_solid ? 0 : o->alpha;
    return time > 0 ? exp(-m->sim->dt / time) : 0;
}

/* What they keep: the least of all in their field. With shares that differ, what a node's particles
 * keep of their own motion, sum m alpha (v - vbar), would not vanish, and with it go momentum. */
static void fill_alphas(mpm *m) {
    const int groups = scene_group_slots(m->sim->scene);
    mpm_view *v = &m->view;
    double least[FIELDS_MAX] = {1, 1, 1, 1};
    for (int g = 0; g < groups && v->group_alpha; g++) {
        const int f = field_of(v, (uint16_t)g);
        least[f] = fmin(least[f], alpha_of(m, g));
    }
    for (int g = 0; g < groups && v->group_alpha; g++)
        v->group_alpha[g] = (real)least[field_of(v, (uint16_t)g)];
}

/* Vertices of a mesh have constants of their own, behind those of the scene's materials. */
static void add_vertex_material(mpm_view *v, const spate_scene *scene, int b) {
    const int at = v->material_count++;
    v->materials[at] =
        (material_constants){.kind = MATERIAL_VERTEX,
                             .density = (real)scene->materials[scene->bodies[b].material].density};
    v->group_material[b] = (uint16_t)at;
}

/* Constants of the materials, and which material and field a group's particles have. */
static spate_status create_materials(mpm *m, const spate_scene *scene) {
    spate_context *ctx = m->sim->ctx;
    mpm_view *v = &m->view;
    const mpm_options *options = scene->solver_options;
    const size_t groups = (size_t)scene_group_slots(scene);
    v->material_count = scene->material_count;
    v->materials = take(ctx, (size_t)scene->material_count + groups + 1, sizeof *v->materials);
    v->group_material = take(ctx, groups + 1, sizeof *v->group_material);
    v->group_field = take(ctx, groups + 1, sizeof *v->group_field);
    m->ranges = take(ctx, (size_t)scene->material_count + 1, sizeof *m->ranges);
    if (!v->materials || !v->group_material || !v->group_field || !m->ranges)
        return SPATE_OUT_OF_MEMORY;
    if (alphas_differ(scene)) {
        v->group_alpha = take(ctx, groups + 1, sizeof *v->group_alpha);
        if (!v->group_alpha) return SPATE_OUT_OF_MEMORY;
    }
    for (int c = 0; c < scene->material_count; c++) {
        material_constants *constants = &v->materials[c];
        model_of(scene, c)->constants(scene->materials[c].parameters, scene->dim, constants);
        m->ranges[c] = at_rest;
        if (constants->kind == MATERIAL_LIQUID && options->density == DENSITY_SPH)
            constants->liquid.correct = false;
        v->has_viscosity |= constants->kind == MATERIAL_LIQUID && constants->liquid.viscosity > 0;
    }
    for (int g = 0; g < scene_group_slots(scene); g++)
        v->group_material[g] = (uint16_t)scene_group_material(scene, g);
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind) add_vertex_material(v, scene, b);
    return SPATE_OK;
}

/* What colliders push out. nflip, and schemes without their boundary term, are there to show what
 * becomes of material that nothing keeps out of colliders. */
static spate_status find_pushed(mpm *m, const spate_scene *scene) {
    mpm_view *v = &m->view;
    const mpm_options *options = scene->solver_options;
    const mpm_scheme *scheme = scheme_of(scene);
    const bool wanted = !scheme->natural && (options->beta_boundary || !scheme->separable);
    const pushed_matter usual = lagrangian_is_needed(scene) ? PUSHED_VERTICES : PUSHED_NONE;
    v->penetration.pushed =
        take(m->sim->ctx, (size_t)scene->collider_count + 1, sizeof *v->penetration.pushed);
    if (!v->penetration.pushed) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < scene->collider_count && wanted; c++) {
        if (scene->colliders[c].grip) continue;
        const double thickness = shape_thickness(scene->colliders[c].shape, scene->dim);
        const bool thin = thickness < THIN_COLLIDER_CELLS * scene->domain.dx;
        v->penetration.pushed[c] = (uint8_t)(thin ? PUSHED_ALL : usual);
        v->penetration.on |= v->penetration.pushed[c] != PUSHED_NONE;
    }
    return SPATE_OK;
}

/* What the passes see that stays as it is. */
static void fill_view(mpm *m) {
    spate_simulation *sim = m->sim;
    const spate_scene *scene = sim->scene;
    mpm_view *v = &m->view;
    v->sim = sim;
    v->dim = scene->dim;
    v->domain = &scene->domain;
    v->boundary = &sim->boundary;
    v->particles = &sim->particles;
    v->period = sim->blocks.period;
    v->source_count = scene->source_count;
    v->field_count = 1;
    v->dx = (real)scene->domain.dx;
    v->negligible = negligible_mass(scene);
}

/* Vertices of thin meshes may be lighter than what a cell is filled with. */
static real lightest_node(const mpm *m) {
    const double vertices = 1e-14 * lagrangian_lightest(m->meshes);
    const double least = sizeof(real) == sizeof(float) ? 1e-36 : 1e-300;
    return (real)fmax(fmin((double)m->view.negligible, vertices), least);
}

static spate_status create(spate_simulation *sim) {
    mpm *m = take(sim->ctx, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    sim->solver = m;
    m->sim = sim;
    m->threads = sim->ctx->pool;
    choose_scheme(m, sim->scene);
    choose_passes(m);
    fill_view(m);
    m->view.extremes = take(sim->ctx, (size_t)pool_size(m->threads), sizeof *m->view.extremes);
    if (!m->view.extremes) return SPATE_OUT_OF_MEMORY;
    TRY(create_materials(m, sim->scene));
    TRY(mpm_density_create(m));
    TRY(mpm_phases_create(m));
    TRY(mpm_mixing_create(m));
    TRY(mpm_heat_create(m));
    TRY(lagrangian_create(sim, &m->meshes));
    if (m->meshes) m->view.negligible = lightest_node(m);
    TRY(find_pushed(m, sim->scene));
    TRY(impulses_create(sim, &m->impulses));
    TRY(mpm_contacts_create(m));
    sim->max_speed = m->max_move = simulation_fastest(sim);
    return SPATE_OK;
}

static void destroy(spate_simulation *sim) {
    mpm *m = sim->solver;
    mpm_view *v = &m->view;
    mpm_contacts_free(m);
    mpm_density_free(m);
    lagrangian_free(m->meshes);
    give(sim->ctx, v->touches), give(sim->ctx, m->impulses.values);
    give(sim->ctx, v->penetration.tiles), give(sim->ctx, v->penetration.pushed);
    give(sim->ctx, m->penetration_places), give(sim->ctx, m->field_tiles);
    mpm_phases_free(m);
    mpm_mixing_free(m);
    mpm_heat_free(m);
    give(sim->ctx, v->group_alpha);
    give(sim->ctx, v->tiles), give(sim->ctx, v->worker_tiles), give(sim->ctx, m->velocities);
    give(sim->ctx, v->materials);
    give(sim->ctx, v->group_material), give(sim->ctx, v->group_field);
    give(sim->ctx, v->extremes), give(sim->ctx, m->ranges);
    give(sim->ctx, m);
    sim->solver = NULL;
}

/* ---- The time step --------------------------------------------------------------------------- */

/* Whether only meshes are made of a material: its waves then run through elements. */
static bool is_of_meshes(const spate_scene *scene, int c) {
    for (int g = 0; g < scene_group_count(scene); g++)
        if (scene_group_material(scene, g) == c &&
            (g >= scene->body_count || !scene->bodies[g].mesh.kind))
            return false;
    return true;
}

/* dt <= cfl dx / v, dt <= sound dx / (c + v) for every material, and what viscosity allows. */
static double step_limit(spate_simulation *sim, const char **limit) {
    const spate_scene *scene = sim->scene;
    const mpm *m = sim->solver;
    const mpm_options *options = scene->solver_options;
    double dx = scene->domain.dx, dt = HUGE_VAL;
    double speed = fmax(fmax(sim->max_speed, m->max_move), sources_speed(sim));
    double fastest = fmax(speed, boundary_speed_within(&sim->boundary, sim->time, scene->cfl * dx));
    if (m->meshes) fastest = fmax(fastest, lagrangian_hold_speed(m->meshes));
    *limit = "none";
    if (fastest > 0) dt = scene->cfl * dx / fastest, *limit = "speed";
    if (m->meshes) {
        const double elements = lagrangian_step_limit(m->meshes, speed, options->sound);
        const double falling = lagrangian_fall_limit(m->meshes, speed);
        if (elements < dt) dt = elements, *limit = "mesh";
        if (falling < dt) dt = falling, *limit = "gravity";
    }
    for (int c = 0; c < scene->material_count; c++) {
        const material_model *model = model_of(scene, c);
        if (m->meshes && is_of_meshes(scene, c)) continue;
        const void *parameters = scene->materials[c].parameters;
        const double sound =
            model->wave_speed(parameters, scene->dim, &m->ranges[c]) * mpm_mixing_speedup(scene, c);
        double wave = options->sound * dx / (sound + speed);
        double viscous = model->viscous_step(parameters, scene->dim, dx);
        if (wave < dt) dt = wave, *limit = "wave";
        if (viscous < dt) dt = viscous, *limit = "viscosity";
    }
    if (m->mixing && m->mixing->limit < dt) dt = m->mixing->limit, *limit = "mixing";
    if (m->heat && m->heat->spreading.limit < dt) dt = m->heat->spreading.limit, *limit = "mixing";
    return dt;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static spate_status sort(void *solver) {
    mpm *m = solver;
    spate_simulation *sim = m->sim;
    if (sim->drift < m->drift_limit && !m->must_sort && sim->blocks.pending_count == 0)
        return SPATE_OK;
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return simulation_unstable(sim, lost, "a particle moved more than a block");
    sim->drift = 0;
    m->must_sort = false;
    return SPATE_OK;
}

/* The time that forces act for in a step. */
static double kick_of(const mpm *m) {
    const spate_simulation *sim = m->sim;
    const mpm_options *options = sim->scene->solver_options;
    return options->leapfrog ? 0.5 * (m->last_dt + sim->dt) : sim->dt;
}

/* What the passes see that a sort or a step changes. */
static void refresh_view(mpm *m) {
    const spate_simulation *sim = m->sim;
    mpm_view *v = &m->view;
    v->coords = sim->blocks.coords;
    v->neighbours = sim->blocks.neighbours;
    v->first = sim->blocks.first;
    v->occupied = sim->blocks.occupied;
    v->dt = (real)sim->dt;
    const double kick = kick_of(m);
    v->kick = (real)kick;
    for (int a = 0; a < v->dim; a++) v->gravity[a] = (real)(sim->scene->gravity[a] * kick);
    fill_alphas(m);
    m->last_dt = sim->dt;
}

static spate_status prepare_touches(mpm *m) {
    const spate_simulation *sim = m->sim;
    spate_context *ctx = sim->ctx;
    mpm_view *v = &m->view;
    const int64_t count = sim->scene->collider_count ? sim->blocks.count : 0;
    TRY(GROW(ctx, v->touches, m->capacity.touches, count));
    for (int64_t block = 0; block < count; block++) v->touches[block].count = 0;
    const int64_t parts = 3 * count * v->contacts.count;
    TRY(GROW(ctx, v->contacts.parts, m->capacity.contact_parts, parts));
    for (int64_t k = 0; k < parts; k++) v->contacts.parts[k] = 0;
    return SPATE_OK;
}

static spate_status prepare_penetration(mpm *m) {
    mpm_view *v = &m->view;
    spate_context *ctx = m->sim->ctx;
    TRY(mpm_place_penetration(m));
    const int64_t count = v->penetration.count, reals = tile_reals(v->dim, 4);
    if (v->contacts.count)
        TRY(ENSURE(ctx, m->capacity.contact_tiles, count, EACH(v->contacts.tiles, reals)));
    return ENSURE(ctx, m->capacity.penetration_tiles, count, EACH(v->penetration.tiles, reals));
}

/* Room for the tiles and velocities of all fields. */
static spate_status prepare_grid(mpm *m) {
    mpm_view *v = &m->view;
    spate_context *ctx = m->sim->ctx;
    const int64_t of_field = m->sim->blocks.count * block_reals(v->dim, v->node_reals);
    const int64_t of_tile = tile_reals(v->dim, v->node_reals);
    int64_t tiles;
    TRY(mpm_place_tiles(m, &tiles));
    TRY(mpm_phases_prepare(m));
    TRY(ENSURE(ctx, m->capacity.tiles, tiles, EACH(v->tiles, of_tile)));
    TRY(ENSURE(ctx, m->capacity.worker_tiles, pool_size(m->threads) * v->field_count,
               EACH(v->worker_tiles, of_tile)));
    TRY(ENSURE(ctx, m->capacity.velocities, v->field_count * of_field, EACH(m->velocities, 1)));
    for (int f = 0; f < v->field_count; f++) v->velocities[f] = m->velocities + f * of_field;
    return SPATE_OK;
}

static spate_status meshes(void *solver) {
    const mpm *m = solver;
    const mpm_options *o = m->sim->scene->solver_options;
    mesh_push push = {.time = kick_of(m)};
    if (o->subgrid_forces) {
        push.share[0] = (double)m->view.separation.beta_min;
        push.share[1] = (double)m->view.separation.beta_max;
    }
    return lagrangian_add_forces(m->meshes, &push);
}

static void note_press(void *data, const mesh_press *at) {
    const mpm *m = data;
    touches_note(m->sim, &m->view.touches[at->block], at->collider, at->x, at->lost);
    if (m->view.contacts.count)
        mpm_contact_particle(&m->view, at->block, at->collider, at->particle, at->lost);
}

static spate_status scatter(void *solver) {
    mpm *m = solver;
    spate_simulation *sim = m->sim;
    mpm_view *v = &m->view;
    refresh_view(m);
    TRY(mpm_mix(m));
    TRY(mpm_heat_step(m));
    TRY(prepare_grid(m));
    TRY(prepare_touches(m));
    if (m->meshes) lagrangian_each_pressed(m->meshes, note_press, m);
    TRY(prepare_penetration(m));
    mpm_smooth_volume(m);
    mpm_correct_density(m);
    TRY(mpm_sum_density(m));
    parallel_for(m->threads, sim->blocks.occupied_count, 4, m->passes->scatter[v->dim - 2], v);
    mpm_phases_scatter(m);
    m->tiles_sort = sim->blocks.sorts;
    const particles *p = &sim->particles;
    if (p->force) memset(p->force, 0, (size_t)p->count * sizeof *p->force);
    if (p->force_moment) memset(p->force_moment, 0, (size_t)p->count * sizeof *p->force_moment);
    return SPATE_OK;
}

static spate_status grid(void *solver) {
    mpm *m = solver;
    spate_simulation *sim = m->sim;
    mpm_view *v = &m->view;
    TRY(boundary_move(&sim->boundary, sim->time + sim->dt));
    parallel_for(m->threads, sim->blocks.count, 16, m->passes->grid[v->dim - 2], v);
    m->velocities_sort = sim->blocks.sorts;
    if (sim->scene->collider_count) mpm_add_touches(m);
    return SPATE_OK;
}

/* What is wrong with particle i. */
static const char *fault_of(const spate_simulation *sim, int64_t i) {
    const real *v = sim->particles.velocity[i];
    double speed = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
                        (double)v[2] * (double)v[2]);
    if (!isfinite(speed)) return "a particle's velocity is not finite";
    if (speed * sim->dt > MOVE_MOST * sim->scene->domain.dx)
        return "a particle would cross more than 3 cells in a step (limit: speed)";
    return "a particle's volume ratio J left its range of 0.001 to 1e6 (limit: wave)";
}

static spate_status gather(void *solver) {
    mpm *m = solver;
    spate_simulation *sim = m->sim;
    const domain *d = &sim->scene->domain;
    forget_extremes(m);
    mpm_phases_volume(m);
    m->view.reach = d->dx * (BLOCK_EDGE * 0.5 + 1) * sqrt(sim->scene->dim) +
                    fmax(sim->max_speed, sources_speed(sim)) * sim->dt;
    parallel_for(m->threads, sim->blocks.occupied_count, 4, m->passes->gather[sim->scene->dim - 2],
                 &m->view);
    int64_t bad = collect_extremes(m);
    if (bad >= 0) return simulation_unstable(sim, bad, fault_of(sim, bad));
    if (m->meshes) {
        double farthest;
        TRY(lagrangian_follow(m->meshes, &farthest));
        sim->drift += farthest / d->dx;
        lagrangian_hold(m->meshes);
        lagrangian_carry_contact(m->meshes);
        m->max_move = fmax(m->max_move, lagrangian_hold_speed(m->meshes));
    }
    sim->drift += m->max_move * sim->dt / d->dx;
    mpm_update_deformation(m);
    return sources_hold(sim);
}

/* Sums over a frame begin anew with it. */
static void begin_impulses(spate_simulation *sim) {
    mpm *m = sim->solver;
    const double frame = m->impulses.values[IMPULSES_FRAME];
    impulses_begin_step(sim, &m->impulses);
    if (frame != m->impulses.values[IMPULSES_FRAME])
        memset(m->contact_sums, 0, 3 * (size_t)m->view.contacts.count * sizeof *m->contact_sums);
}

static const solver_stage mpm_stages[] = {
    {"sort", sort}, {"scatter", scatter}, {"grid", grid}, {"gather", gather}, {0}};
static const solver_stage mesh_stages[] = {{"sort", sort}, {"meshes", meshes}, {"scatter", scatter},
                                           {"grid", grid}, {"gather", gather}, {0}};

static spate_status step(spate_simulation *sim) {
    const mpm *m = sim->solver;
    begin_impulses(sim);
    return run_stages(sim, m->meshes ? mesh_stages : mpm_stages);
}

/* ---- What others ask ------------------------------------------------------------------------- */

static void state(spate_simulation *sim, state_blocks *out) {
    mpm *m = sim->solver;
    state_add(out, "mpm strain ranges", m->ranges,
              (size_t)sim->scene->material_count * sizeof *m->ranges);
    state_add(out, "mpm must sort", &m->must_sort, sizeof m->must_sort);
    state_add(out, "mpm moved", &m->max_move, sizeof m->max_move);
    state_add(out, "mpm yielded", &m->yielded, sizeof m->yielded);
    if (((const mpm_options *)sim->scene->solver_options)->leapfrog)
        state_add(out, "mpm last step", &m->last_dt, sizeof m->last_dt);
    if (m->mixing) state_add(out, "mpm mixing", &m->mixing->state, sizeof m->mixing->state);
    if (m->heat)
        state_add(out, "mpm heat", &m->heat->spreading.state, sizeof m->heat->spreading.state);
    impulses_state(sim, &m->impulses, "mpm impulses", out);
    if (m->view.contacts.count)
        state_add(out, "mpm contacts", m->contact_sums,
                  3 * (size_t)m->view.contacts.count * sizeof *m->contact_sums);
    if (m->meshes) lagrangian_state(m->meshes, out);
}

static uint64_t hash(const spate_simulation *sim, uint64_t seed) {
    const mpm *m = sim->solver;
    return m->meshes ? lagrangian_hash(m->meshes, seed) : seed;
}

static void numbers(spate_simulation *sim, solver_numbers *out) {
    const mpm *m = sim->solver;
    for (int kind = MESH_FE; kind <= MESH_STRANDS; kind++) {
        const double energy = lagrangian_energy(m->meshes, (mesh_kind)kind);
        if (!isnan(energy)) out->mesh_energy += energy;
    }
    const double pressed = lagrangian_contact_energy(m->meshes);
    if (!isnan(pressed)) out->mesh_energy += pressed;
}

/* A vertex has no stress, and its energy is its mesh's; it stands for its volume at rest. */
static void vertex_stress(double tau[6], double *energy, double *J) {
    for (int c = 0; c < 6 && tau; c++) tau[c] = 0;
    if (energy) *energy = 0;
    if (J) *J = 1;
}

static void stress(const spate_simulation *sim, int64_t i, double tau[6], double *energy,
                   double *J) {
    const particles *p = &sim->particles;
    const spate_scene *scene = sim->scene;
    if (p->group[i] == GROUP_REMOVED) return;
    if (p->role && p->role[i] != ROLE_MATTER) {
        vertex_stress(tau, energy, J);
        return;
    }
    int index = scene_group_material(scene, p->group[i]);
    strain_state s = {0};
    if (p->dilation) s.dilation = (double)p->dilation[i];
    for (int c = 0; c < 6 && p->strain; c++) s.strain[c] = (double)PLANE(p, strain, c)[i];
    if (p->hardening) s.hardening = (double)p->hardening[i];
    model_of(scene, index)
        ->evaluate(scene->materials[index].parameters, scene->dim, &s, tau, energy, J);
}

static void affine_moment(const spate_simulation *sim, int64_t i, double moment[3]) {
    const mpm *m = sim->solver;
    for (int a = 0; a < sim->scene->dim; a++)
        moment[a] = (double)m->view.affine * (m->kernel == KERNEL_QUADRATIC ? 0.25
                                              : m->kernel == KERNEL_CUBIC
                                                  ? 1.0 / 3
                                                  : (double)PLANE(&sim->particles, moment, a)[i]);
}

/* The range of J in the last step, 1 always within it. */
static double J_min(const spate_simulation *sim) {
    const mpm *m = sim->solver;
    double least = 1;
    for (int c = 0; c < sim->scene->material_count; c++) least = fmin(least, m->ranges[c].J_min);
    return least;
}
static double J_max(const spate_simulation *sim) {
    const mpm *m = sim->solver;
    double most = 1;
    for (int c = 0; c < sim->scene->material_count; c++) most = fmax(most, m->ranges[c].J_max);
    return most;
}
static double yielded(const spate_simulation *sim) {
    const mpm *m = sim->solver;
    return (double)m->yielded;
}

static double fe_energy(const spate_simulation *sim) {
    return lagrangian_energy(((const mpm *)sim->solver)->meshes, MESH_FE);
}
static double cloth_energy(const spate_simulation *sim) {
    return lagrangian_energy(((const mpm *)sim->solver)->meshes, MESH_CLOTH);
}
static double strand_energy(const spate_simulation *sim) {
    return lagrangian_energy(((const mpm *)sim->solver)->meshes, MESH_STRANDS);
}
static strain_energy strain_energies(const spate_simulation *sim) {
    return lagrangian_strain_energy(((const mpm *)sim->solver)->meshes);
}
static double stretch_energy(const spate_simulation *sim) { return strain_energies(sim).stretch; }
static double bending_energy(const spate_simulation *sim) { return strain_energies(sim).bend; }
static double twist_energy(const spate_simulation *sim) { return strain_energies(sim).twist; }

static double dissolved(const spate_simulation *sim) {
    const mpm_mixing *s = ((const mpm *)sim->solver)->mixing;
    return s ? (double)s->state.dissolved : NAN;
}
static double released_energy(const spate_simulation *sim) {
    const mpm_mixing *s = ((const mpm *)sim->solver)->mixing;
    return s ? s->state.released : NAN;
}
static uint64_t mesh_first_id(const spate_simulation *sim, int group) {
    return lagrangian_first_id(((const mpm *)sim->solver)->meshes, group);
}
static double mesh_halvings(const spate_simulation *sim) {
    return lagrangian_halvings(((const mpm *)sim->solver)->meshes);
}
static double mesh_iterations(const spate_simulation *sim) {
    return lagrangian_iterations(((const mpm *)sim->solver)->meshes);
}

static double contact_energy(const spate_simulation *sim) {
    return lagrangian_contact_energy(((const mpm *)sim->solver)->meshes);
}
static double contact_compression(const spate_simulation *sim) {
    return lagrangian_contact_compression(((const mpm *)sim->solver)->meshes);
}
static double contact_resets(const spate_simulation *sim) {
    return lagrangian_contact_resets(((const mpm *)sim->solver)->meshes);
}

static const solver_column columns[] = {
    {"J_min", "", J_min},
    {"J_max", "", J_max},
    {"sorts", "", column_sorts},
    {"removed", "", column_removed},
    {"drained", "", column_drained},
    {"yielded", "", yielded},
    {"dissolved", "", dissolved},
    {"released_energy", "J", released_energy},
    {"fe_energy", "J", fe_energy},
    {"cloth_energy", "J", cloth_energy},
    {"strand_energy", "J", strand_energy},
    {"stretch_energy", "J", stretch_energy},
    {"bending_energy", "J", bending_energy},
    {"twist_energy", "J", twist_energy},
    {"mesh_halvings", "", mesh_halvings},
    {"mesh_iterations", "", mesh_iterations},
    {"contact_energy", "J", contact_energy},
    {"contact_compression", "", contact_compression},
    {"contact_resets", "", contact_resets},
    {NULL, NULL, NULL},
};

static size_t grid_bytes(const spate_simulation *sim) {
    const mpm *m = sim->solver;
    const mpm_view *v = &m->view;
    const int64_t tiles = m->capacity.tiles * tile_reals(v->dim, v->node_reals),
                  loads = m->capacity.penetration_tiles * tile_reals(v->dim, 4);
    return (size_t)(tiles + m->capacity.velocities + loads) * sizeof(real) + mpm_phases_bytes(m);
}

/* Spray and splashes are dearer than the benchmarks' blocks. */
static solver_cost cost(const spate_scene *scene) {
    (void)scene;
    return (solver_cost){.rate = {20e6, 11e6}, .bytes = {480, 400}};
}

const solver_type solver_mpm = {
    .declaration = &mpm_declaration,
    .benchmarks = mpm_benchmarks,
    .shift = 0.5,
    .fields = fields,
    .create = create,
    .free = destroy,
    .start = start,
    .step_limit = step_limit,
    .cost = cost,
    .step = step,
    .state = state,
    .hash = hash,
    .mesh_first_id = mesh_first_id,
    .numbers = numbers,
    .stress = stress,
    .force = mpm_force,
    .contact = mpm_contact_force,
    .affine_moment = affine_moment,
    .columns = columns,
    .grid_fields = mpm_grid_fields,
    .grid_field = mpm_grid_field,
    .grid_on_nodes = true,
    .grid_bytes = grid_bytes,
};
