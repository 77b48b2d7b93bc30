/* Statistics of the present state; see statistics.h for what the columns mean. */
#include "measure/statistics.h"
#include "core/vec.h"
#include "measure/phase_meters.h"
#include "measure/tally.h"

/* ---- The columns of every run ---- */

enum {
    SUM_COUNT,
    SUM_MASS,
    SUM_MOMENTUM,                   /* 3 */
    SUM_ANGULAR = SUM_MOMENTUM + 3, /* 3 */
    SUM_MOMENT = SUM_ANGULAR + 3,   /* 3: m x */
    SUM_KINETIC = SUM_MOMENT + 3,
    SUM_ELASTIC,
    SUM_VOLUME,
    SUM_REST_VOLUME
};
enum { TOP_SPEED2, TOP_DIVERGENCE };

static void visit_motion(const spate_simulation *sim, const double x[3], int64_t i, tally *t) {
    const particles *p = &sim->particles;
    double m = (double)p->mass[i], v[3] = {0}, c[3][3] = {{0}}, turn[3];
    int dim = sim->scene->dim;
    for (int a = 0; a < dim; a++) v[a] = (double)p->velocity[i][a];
    for (int a = 0; a < dim; a++)
        for (int j = 0; j < dim && p->affine; j++) c[j][a] = (double)p->affine[i][a][j];
    /* c[j][a] = dx C_ja, and D = dx^2 moment */
    double moment[3] = {0}, dx = sim->scene->domain.dx;
    if (sim->type->affine_moment) sim->type->affine_moment(sim, i, moment);
    const double axial[3] = {c[2][1] * moment[1] - c[1][2] * moment[2],
                             c[0][2] * moment[2] - c[2][0] * moment[0],
                             c[1][0] * moment[0] - c[0][1] * moment[1]};
    vec_cross(turn, x, v);
    for (int a = 0; a < 3; a++) {
        t->sums[SUM_MOMENTUM + a] += m * v[a];
        t->sums[SUM_ANGULAR + a] += m * (turn[a] + dx * axial[a]);
        t->sums[SUM_MOMENT + a] += m * x[a];
    }
    t->sums[SUM_COUNT] += 1;
    t->sums[SUM_MASS] += m;
    t->sums[SUM_KINETIC] += 0.5 * m * vec_dot(v, v);
    raise_to(&t->tops[TOP_SPEED2], vec_dot(v, v));
    raise_to(&t->tops[TOP_DIVERGENCE], fabs(c[0][0] + c[1][1] + c[2][2]) / dx);
}

static void visit_material(const spate_simulation *sim, int64_t i, tally *t) {
    double energy = 0, J = 1, volume = particle_rest_volume(sim, i);
    if (sim->type->stress) sim->type->stress(sim, i, NULL, &energy, &J);
    t->sums[SUM_ELASTIC] += energy * volume;
    t->sums[SUM_VOLUME] += volume * J;
    t->sums[SUM_REST_VOLUME] += volume;
}

static void visit_basics(const tally_job *job, particle_range range, tally *t) {
    for (int64_t i = range.begin; i < range.end; i++) {
        double x[3];
        if (particle_is_removed(job->sim, i)) continue;
        simulation_place(job->sim, range.coords, i, x);
        visit_motion(job->sim, x, i, t);
        visit_material(job->sim, i, t);
    }
}

/* Particles inside colliders; most blocks are passed over at once. */
static void visit_penetration(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3], reach = range_middle(sim, range, x);
    if (!boundary_near(&sim->boundary, x, reach)) return;
    for (int64_t i = range.begin; i < range.end; i++) {
        if (particle_is_removed(sim, i)) continue;
        simulation_place(sim, range.coords, i, x);
        double depth = boundary_depth(&sim->boundary, x);
        if (depth <= 0) continue;
        t->sums[0] += 1;
        raise_to(&t->tops[0], depth);
    }
}

static spate_status evaluate_basics(statistics *s) {
    spate_simulation *sim = s->sim;
    double *v = s->values;
    tally t;
    TRY(tally_all(&(tally_job){.sim = sim, .visit = visit_basics}, &t));
    bool any = t.sums[SUM_COUNT] > 0;
    v[COLUMN_particles] = t.sums[SUM_COUNT];
    v[COLUMN_mass] = t.sums[SUM_MASS];
    for (int a = 0; a < 3; a++) {
        v[COLUMN_momentum_x + a] = t.sums[SUM_MOMENTUM + a];
        v[COLUMN_angular_x + a] = t.sums[SUM_ANGULAR + a];
    }
    v[COLUMN_kinetic_energy] = t.sums[SUM_KINETIC];
    v[COLUMN_elastic_energy] = sim->type->stress ? t.sums[SUM_ELASTIC] : NAN;
    v[COLUMN_volume] = t.sums[SUM_VOLUME];
    v[COLUMN_max_speed] = any ? sqrt(t.tops[TOP_SPEED2]) : 0;
    v[COLUMN_max_divergence] = any ? t.tops[TOP_DIVERGENCE] : 0;
    s->rest_volume = t.sums[SUM_REST_VOLUME];

    v[COLUMN_potential_energy] = 0;
    for (int a = 0; a < sim->scene->dim; a++)
        v[COLUMN_potential_energy] -= sim->scene->gravity[a] * t.sums[SUM_MOMENT + a];

    if (sim->scene->collider_count == 0) {
        v[COLUMN_penetration_count] = v[COLUMN_penetration_max] = 0;
        return SPATE_OK;
    }
    TRY(boundary_move(&sim->boundary, sim->time));
    boundary_appear(&sim->boundary, sim->time);
    TRY(tally_all(&(tally_job){.sim = sim, .visit = visit_penetration}, &t));
    v[COLUMN_penetration_count] = t.sums[0];
    v[COLUMN_penetration_max] = t.sums[0] > 0 ? t.tops[0] : 0;
    return SPATE_OK;
}

static void prefer(double known, double *value) {
    if (!isnan(known)) *value = known;
}

/* What a solver with a grid knows better. */
static void take_numbers(statistics *s) {
    const solver_type *type = s->sim->type;
    if (!type->numbers) return;
    solver_numbers known = {.max_divergence = s->values[COLUMN_max_divergence],
                            .mass = NAN,
                            .momentum = {NAN, NAN, NAN},
                            .angular = {NAN, NAN, NAN},
                            .kinetic_energy = NAN,
                            .potential_energy = NAN,
                            .volume = NAN,
                            .max_speed = NAN};
    type->numbers(s->sim, &known);
    s->values[COLUMN_max_divergence] = known.max_divergence;
    s->values[COLUMN_elastic_energy] += known.mesh_energy;
    prefer(known.mass, &s->values[COLUMN_mass]);
    for (int a = 0; a < 3; a++) {
        prefer(known.momentum[a], &s->values[COLUMN_momentum_x + a]);
        prefer(known.angular[a], &s->values[COLUMN_angular_x + a]);
    }
    prefer(known.kinetic_energy, &s->values[COLUMN_kinetic_energy]);
    prefer(known.potential_energy, &s->values[COLUMN_potential_energy]);
    prefer(known.volume, &s->values[COLUMN_volume]);
    prefer(known.max_speed, &s->values[COLUMN_max_speed]);
}

/* ---- Colliders ---- */

/* Force along each axis, and torque about each, or about z alone in 2D. */
static int columns_of_collider(int dim) { return dim == 2 ? 3 : 6; }

static void evaluate_forces(statistics *s) {
    spate_simulation *sim = s->sim;
    const int dim = sim->scene->dim;
    double *out = s->values + COLUMN_COUNT + s->solver_columns;
    for (int c = 0; c < s->force_columns / columns_of_collider(dim); c++) {
        double force[3] = {0}, torque[3] = {0};
        sim->type->force(sim, c, force, torque);
        for (int a = 0; a < dim; a++) *out++ = force[a];
        for (int a = dim == 2 ? 2 : 0; a < 3; a++) *out++ = torque[a];
    }
}

/* ---- The row ---- */

const char *const statistics_names[] = {
#define X(name) #name,
    STATISTICS_COLUMNS(X)
#undef X
        NULL};

/* NAME and an ending, the next of the columns' names. */
static spate_status add_column(statistics *s, int *at, const char *name, const char *ending) {
    size_t length = strlen(name), more = strlen(ending);
    char *both = arena_take(&s->arena, length + more + 1, 1);
    if (!both) return SPATE_OUT_OF_MEMORY;
    memcpy(both, name, length);
    memcpy(both + length, ending, more + 1);
    s->names[(*at)++] = both;
    return SPATE_OK;
}

static spate_status name_forces(statistics *s, const spate_scene *scene, int *at) {
    static const char *const endings_2d[] = {"_force_x", "_force_y", "_torque"};
    static const char *const endings_3d[] = {"_force_x",  "_force_y",  "_force_z",
                                             "_torque_x", "_torque_y", "_torque_z"};
    const char *const *endings = scene->dim == 2 ? endings_2d : endings_3d;
    for (int c = 0; c < scene->collider_count && s->force_columns; c++)
        for (int k = 0; k < columns_of_collider(scene->dim); k++)
            TRY(add_column(s, at, scene->colliders[c].name, endings[k]));
    return SPATE_OK;
}

/* The columns of probes, from `first` on, have names of their own. */
static spate_status check_names(const statistics *s, const spate_scene *scene, int first) {
    for (int i = first; i < s->count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(s->names[i], s->names[k]))
                return fail(s->sim->ctx, SPATE_BAD_INPUT,
                            "%s: stats.csv would have two columns '%s', the second of a probe; "
                            "name the probe otherwise",
                            scene->path, s->names[i]);
    return SPATE_OK;
}

static spate_status name_columns(statistics *s, const spate_scene *scene) {
    static const char *const axes[] = {"_x", "_y", "_z"};
    int at = 0;
    for (; at < COLUMN_COUNT; at++) s->names[at] = statistics_names[at];
    const solver_type *type = s->sim->type;
    for (int c = 0; c < s->solver_columns; c++) s->names[at++] = type->columns[c].name;
    TRY(name_forces(s, scene, &at));
    for (int k = 0; k < s->meter_columns; k++) s->names[at++] = phase_meter_names[k];
    const int first = at;
    for (int i = 0; i < scene->probe_count; i++) {
        const probe *p = &scene->probes[i];
        const int columns = probe_columns(scene, p);
        if (columns == 1) s->names[at++] = p->name;
        for (int a = 0; a < columns && columns > 1; a++) TRY(add_column(s, &at, p->name, axes[a]));
    }
    return check_names(s, scene, first);
}

spate_status statistics_create_for(spate_simulation *sim, const spate_scene *scene, statistics *s) {
    *s = (statistics){.sim = sim, .arena = arena_create(sim->ctx), .count = COLUMN_COUNT};
    if (sim->type->columns)
        while (sim->type->columns[s->solver_columns].name) s->solver_columns++;
    if (sim->type->force)
        s->force_columns = scene->collider_count * columns_of_collider(scene->dim);
    if (phase_meters_exist(scene)) s->meter_columns = METER_COUNT;
    s->count += s->solver_columns + s->force_columns + s->meter_columns;
    for (int i = 0; i < scene->probe_count; i++)
        s->count += probe_columns(scene, &scene->probes[i]);
    s->names = arena_take(&s->arena, (size_t)s->count, sizeof *s->names);
    s->values = arena_take(&s->arena, (size_t)s->count, sizeof *s->values);
    spate_status status = s->names && s->values ? name_columns(s, scene) : SPATE_OUT_OF_MEMORY;
    if (status != SPATE_OK) statistics_free(s);
    return status;
}

spate_status statistics_create(spate_simulation *sim, statistics *s) {
    return statistics_create_for(sim, sim->scene, s);
}

void statistics_free(statistics *s) {
    if (s->sim) arena_free(&s->arena);
    probe_memory_free(&s->memory);
    *s = (statistics){0};
}

static int first_meter(const statistics *s) {
    return COLUMN_COUNT + s->solver_columns + s->force_columns;
}
static int first_probe(const statistics *s) { return first_meter(s) + s->meter_columns; }

const double *statistics_meters(const statistics *s) {
    return s->meter_columns ? s->values + first_meter(s) : NULL;
}

/* All probes, or only the one that has this column. */
static spate_status evaluate_probes(statistics *s, int column) {
    const spate_scene *scene = s->sim->scene;
    int at = first_probe(s);
    for (int i = 0; i < scene->probe_count; i++) {
        const probe *p = &scene->probes[i];
        int columns = probe_columns(scene, p);
        if (column < 0 || (column >= at && column < at + columns))
            TRY(probe_measure(s->sim, p, &s->memory, s->values + at));
        at += columns;
    }
    return SPATE_OK;
}

/* NAN is a number that this solver or moment does not have; sums over particles always are. */
static spate_status check_numbers(statistics *s) {
    for (int i = 0; i < s->count; i++) {
        const bool must_be = i >= COLUMN_mass && i <= COLUMN_potential_energy;
        if (isinf(s->values[i]) || (must_be && isnan(s->values[i])))
            return simulation_not_finite(s->sim, "the column", s->names[i]);
    }
    return SPATE_OK;
}

void statistics_glance(statistics *s, int64_t frame, double wall_seconds) {
    const spate_simulation *sim = s->sim;
    for (int i = 0; i < s->count; i++) s->values[i] = NAN;
    s->values[COLUMN_frame] = (double)frame;
    s->values[COLUMN_time] = sim->time;
    s->values[COLUMN_steps] = (double)sim->step;
    s->values[COLUMN_dt] = sim->dt;
    s->values[COLUMN_wall_seconds] = wall_seconds;
    if (sim->type->solved)
        sim->type->solved(sim, &s->values[COLUMN_iterations], &s->values[COLUMN_residual]);
}

spate_status statistics_evaluate(statistics *s, int64_t frame, double wall_seconds) {
    spate_simulation *sim = s->sim;
    statistics_glance(s, frame, wall_seconds);
    TRY(evaluate_basics(s));
    take_numbers(s);
    for (int c = 0; c < s->solver_columns; c++)
        s->values[COLUMN_COUNT + c] = sim->type->columns[c].value(sim);
    evaluate_forces(s);
    if (s->meter_columns) TRY(phase_meters_measure(sim, s->values + first_meter(s)));
    TRY(evaluate_probes(s, -1));
    return check_numbers(s);
}

/* A name with a comma or a quote in it is quoted. */
static void add_name(text *line, const char *name) {
    if (!strpbrk(name, ",\"\n\r")) {
        text_add(line, "%s", name);
        return;
    }
    text_add(line, "\"");
    for (; *name; name++) text_add(line, *name == '"' ? "\"\"" : "%c", *name);
    text_add(line, "\"");
}

void statistics_header(const statistics *s, text *line) {
    for (int i = 0; i < s->count; i++) {
        if (i) text_add(line, ",");
        add_name(line, s->names[i]);
    }
    text_add(line, "\n");
}

void statistics_row(const statistics *s, const char *dt_limit, text *line) {
    for (int i = 0; i < s->count; i++) {
        if (i) text_add(line, ",");
        if (i == COLUMN_dt_limit)
            text_add(line, "%s", dt_limit);
        else if (i == COLUMN_wall_seconds)
            text_add(line, "%.3f", s->values[i]);
        else if (!isnan(s->values[i]))
            text_add(line, "%.15g", s->values[i] + 0.0); /* no "-0" */
    }
    text_add(line, "\n");
}

/* Columns that only a run knows. */
static bool is_of_run(int column) {
    return column == COLUMN_frame || column == COLUMN_dt_limit || column == COLUMN_wall_seconds;
}

static spate_status fail_unknown(const statistics *s, const char *name) {
    spate_context *ctx = s->sim->ctx;
    const char **names = take(ctx, (size_t)s->count + 1, sizeof *names);
    if (!names) return SPATE_OUT_OF_MEMORY;
    int count = 0;
    for (int i = 0; i < s->count; i++)
        if (!is_of_run(i)) names[count++] = s->names[i];
    spate_status status = text_fail_unknown(ctx, "a simulation has no number", name, names, count);
    give(ctx, names);
    return status;
}

static spate_status evaluate_one(spate_simulation *sim, const char *name, double *value) {
    statistics s;
    spate_status status;
    TRY(statistics_create(sim, &s));
    int at = 0;
    while (at < s.count && strcmp(s.names[at], name)) at++;
    bool of_run = at < s.count && is_of_run(at);
    if (at == s.count || of_run) TRY_OR_DONE(status, fail_unknown(&s, name));
    if (at >= first_probe(&s))
        TRY_OR_DONE(status, evaluate_probes(&s, at));
    else
        TRY_OR_DONE(status, statistics_evaluate(&s, 0, 0));
    *value = s.values[at];
done:
    statistics_free(&s);
    return status;
}

spate_status spate_simulation_quantity(spate_simulation *sim, const char *name, double *value) {
    TRY(simulation_enter(sim, false));
    spate_status status = evaluate_one(sim, name ? name : "", value);
    simulation_leave(sim);
    return status;
}
