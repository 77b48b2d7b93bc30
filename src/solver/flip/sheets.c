/* Thin sheets: what a user may set, their state, the stages, and columns (sheets.h). */
#include "solver/flip/insertion.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/flip/particle_radius.h"

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const weightings[] = {"mass", "published", NULL};
static const char *const spacing_kinds[] = {"anisotropic", "isotropic", NULL};

static const field sheet_fields[] = {
    NUMBER_FIELD(sheet_options, thin, "", 0.2, 0, 1,
                 "A particle is thin where the least eigenvalue of the covariance around it is at "
                 "most this share of the largest (eq. 11)."),
    NUMBER_FIELD(sheet_options, sparse, "", 0.7, 0, 2,
                 "Share of the largest density at the start below which particles may be thin."),
    PAIR_FIELD(sheet_options, distance, "", NAN, 0.1, 4,
               "Pairs of thin particles whose midpoint may get a new one are at least and at most "
               "so far apart, and nobody is nearer to the midpoint than the first, in sizes of a "
               "particle (eq. 12); default [0.8, 3.5]."),
    NUMBER_FIELD(sheet_options, remove_density, "", 0.2, 0, 2,
                 "An inserted particle that is not thin goes where the density is above this share "
                 "of the largest at the start (eq. 15)."),
    NUMBER_FIELD(sheet_options, remove_distance, "", 0.2, 0, 1,
                 "An inserted particle goes where another is so near, in sizes of a particle."),
    INTEGER_FIELD(sheet_options, min_age, 3, 1, 1000000,
                  "Steps that an inserted particle stays at least."),
    INTEGER_FIELD(sheet_options, generations, 6, 1, GENERATIONS_MOST,
                  "How often inserted particles may be parents of further ones, in a row."),
    NUMBER_FIELD(sheet_options, lightest, "", 0.002, 0, 1,
                 "Share of a usual particle's mass below which one is not split."),
    NUMBER_FIELD(sheet_options, spray, "", 0.05, 0, 1,
                 "Particles with fewer than this share of the neighbours of one inside the liquid "
                 "are spray, not a sheet."),
    INTEGER_FIELD(
        sheet_options, limit, 100000, 1, 1000000000,
        "Most particles that are inserted in one step; a step that would exceed it warns."),
    CHOICE_FIELD(sheet_options, weighting, WEIGHTING_MASS, weightings,
                 "Velocity of a new particle: the mean of its parents by mass, and mass that is "
                 "given back brings its momentum along, so that momentum is kept; or the plain "
                 "mean and mass alone, as published."),
};
const field_table sheet_table =
    FIELD_TABLE("solver flip: sheets",
                "Particles are inserted where thin sheets would tear, and removed again (Ando et "
                "al. 2012, section 4).",
                sheet_fields, sheet_options);

static const field spacing_fields[] = {
    CHOICE_FIELD(spacing_options, kind, SPACING_ANISOTROPIC, spacing_kinds,
                 "Less across sheets than along them, or the same in all directions."),
    NUMBER_FIELD(spacing_options, rate, "1/s", 50, 0, 1e6,
                 "How fast particles nearer than their size part: 1 - exp(-rate t) of it in a time "
                 "t."),
    NUMBER_FIELD(spacing_options, limit, "", 0.1, 0, 0.5,
                 "Most that a particle is moved at once, in sizes of a particle."),
    NUMBER_FIELD(
        spacing_options, motion, "", 0.2, 0, 1000,
        "Most that a particle is moved, over the longest way that one nearer than its size "
        "went relative to it since the last correction: water at rest stays as it is; 0, and "
        "with `flow`: no such limit, as published."),
    INTEGER_FIELD(spacing_options, every, 2, 1, 1000,
                  "Steps from one correction to the next; the time between them counts."),
};
const field_table spacing_table =
    FIELD_TABLE("solver flip: spacing",
                "Particles are moved apart a little in every step, and their velocity is taken "
                "anew where they come to lie (Ando et al. 2012, section 5.2).",
                spacing_fields, spacing_options);

bool sheets_check(const flip_options *o, field_report *report) {
    sheet_options *s = o->sheets;
    if (!s) return true;
    if (isnan(s->distance[0])) s->distance[0] = 0.8, s->distance[1] = 3.5;
    if (!(2 * s->distance[0] < s->distance[1]))
        return field_complain(report, "sheets.distance",
                              "is [%g, %g]; pairs are at least twice the first and at most the "
                              "second apart, so make the first less than %g",
                              s->distance[0], s->distance[1], s->distance[1] / 2);
    if (o->surface == SURFACE_DISTANCE)
        return field_complain(report, "surface",
                              "is distance, which makes liquid with a pressure of its own of every "
                              "sheet; sheets go with volume or density");
    return true;
}

/* ---- Creation -------------------------------------------------------------------------------- */

ISA_TABLES(sheet_kernels, flip_sheets);

/* Sums of W_smooth, and of W_smooth x^2, over a lattice of spacing 1 around one of its points. */
static void sum_lattice(double radius, int dim, double *weights, double *squares) {
    const int reach = (int)radius, depth = dim == 3 ? reach : 0;
    *weights = *squares = 0;
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            for (int k = -depth; k <= depth; k++) {
                const double w = 1 - (i * i + j * j + k * k) / (radius * radius);
                if (w <= 0) continue;
                *weights += w, *squares += w * i * i;
            }
}

spate_status sheets_create(flip *f) {
    const flip_options *o = f->options;
    const int dim = f->sim->scene->dim;
    f->thin_from = o->sheets ? 1 - ((const sheet_options *)o->sheets)->thin : 2;
    if (!o->sheets && !o->spacing) return SPATE_OK;
    sheets *s = take(f->sim->ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    f->sheets = s;
    s->f = f;
    s->options = o->sheets;
    s->spacing = o->spacing;
    s->kernels = ISA_CHOOSE(flip_sheets, f->sim->ctx->isa);
    s->size = pow((double)o->full_cell, -1.0 / dim);
    double squares;
    sum_lattice(o->density_radius, dim, &s->weights, &squares);
    s->stretch = s->weights / squares / (s->size * s->size);
    s->memory.lightest = NAN;
    f->least_share = (real)(1 / (double)o->full_cell);
    return SPATE_OK;
}

void sheets_free(flip *f) {
    if (!f->sheets) return;
    give(f->sim->ctx, f->sheets->ancestry.records);
    give(f->sim->ctx, f->sheets);
    f->sheets = NULL;
}

static spate_status make_room(spate_simulation *sim, size_t bytes, void **data) {
    ancestry *a = &((flip *)sim->solver)->sheets->ancestry;
    const int64_t count = (int64_t)(bytes / sizeof *a->records);
    if (bytes % sizeof *a->records)
        return fail(sim->ctx, SPATE_BAD_INPUT, "the checkpoint's list of parents is damaged");
    TRY(GROW(sim->ctx, a->records, a->capacity, count + 1));
    a->count = count;
    *data = a->records;
    return SPATE_OK;
}

void sheets_state(flip *f, state_blocks *out) {
    sheets *s = f->sheets;
    if (!s) return;
    state_add(out, "sheets", &s->memory, sizeof s->memory);
    state_add(out, "ancestry dropped", &s->ancestry.dropped, sizeof s->ancestry.dropped);
    state_add_list(out, "ancestry", s->ancestry.records,
                   (size_t)s->ancestry.count * sizeof *s->ancestry.records, make_room);
}

/* ---- The arrays of a step -------------------------------------------------------------------- */

/* By particle, in one buffer each. */
typedef struct room {
    const char *name;
    void **array;
    size_t bytes; /* of an element; 0: not needed */
    bool by_cell, by_block;
} room;

enum { ROOMS = 12 };

static void list_rooms(sheets *s, room rooms[ROOMS]) {
    const bool shaped = s->spaces && s->spacing->kind == SPACING_ANISOTROPIC;
    const bool held = s->spaces && s->f->options->flow; /* no pressure holds the surface */
    sheet_view *v = &s->view;
    const room all[ROOMS] = {
        {"sheet sizes", (void **)&s->sizes, sizeof(real), false, false},
        {"sheet counts", (void **)&s->counts, sizeof(real), false, false},
        {"sheet density", (void **)&v->density, sizeof(real), false, false},
        {"sheet metric", (void **)&v->metric, shaped ? sizeof *v->metric : 0, false, false},
        {"sheet held", (void **)&s->held, sizeof(real), true, false},
        {"sheet near", (void **)&s->near, sizeof(block_cells), false, true},
        {"sheet moving", (void **)&v->moving, sizeof(bool), false, true},
        {"sheet looked at", (void **)&s->looked_at, sizeof(bool), false, true},
        {"sheet inward", (void **)&v->inward, held ? sizeof(real4) : 0, false, false},
        {"sheet moves", (void **)&v->moved, s->spaces ? sizeof(real4) : 0, false, false},
        {"sheet velocity", (void **)&v->resampled, s->spaces ? sizeof(real4) : 0, false, false},
        {"sheet tiles", (void **)&v->tiles, sizeof(sheet_tile), false, false},
    };
    memcpy(rooms, all, sizeof all);
}

static spate_status take_rooms(sheets *s) {
    spate_simulation *sim = s->f->sim;
    const int dim = sim->scene->dim;
    const size_t occupied = (size_t)sim->blocks.occupied_count + 1;
    room rooms[ROOMS];
    list_rooms(s, rooms);
    for (int r = 0; r < ROOMS; r++) *rooms[r].array = NULL;
    for (int r = 0; r < ROOMS; r++) {
        const size_t count = rooms[r].by_block  ? occupied
                             : rooms[r].by_cell ? occupied * (size_t)block_nodes(dim)
                                                : (size_t)sim->particles.count + WIDE;
        const bool by_worker = rooms[r].array == (void **)&s->view.tiles;
        if (!rooms[r].bytes) continue;
        *rooms[r].array =
            scratch_take(&sim->scratch, rooms[r].name,
                         by_worker ? (size_t)pool_size(s->f->threads) : count, rooms[r].bytes);
        if (!*rooms[r].array) return SPATE_OUT_OF_MEMORY;
    }
    return SPATE_OK;
}

void sheets_end(sheets *s) {
    spate_simulation *sim = s->f->sim;
    room rooms[ROOMS];
    if (!s->begun) return;
    s->begun = false;
    list_rooms(s, rooms);
    for (int r = 0; r < ROOMS; r++) {
        if (*rooms[r].array) scratch_give(&sim->scratch, rooms[r].name);
        *rooms[r].array = NULL;
    }
    neighbourhood_end(sim, &s->view.around);
}

/* ---- Near air -------------------------------------------------------------------------------- */

/* A cell is near air where the cells around it, 3^dim of them, are less full than this. Particles
 * of the others have rho > a_drho: on a lattice the topmost below a row of cells that is 0.4 full,
 * where it is 0.8, has 0.74. */
static const double nearly_full = 0.8;

enum { RIM_EDGE = BLOCK_EDGE + 2 };

/* How many particles each cell holds, a full cell's at most. */
static void count_cells(void *data, chunk items) {
    const sheets *s = data;
    const neighbourhood *n = &s->view.around;
    const int cells = block_nodes(n->blocks->dim);
    const real most = (real)s->f->options->full_cell;
    for (int64_t c = items.begin * cells; c < items.end * cells; c++) {
        real count = 0;
        for (int64_t i = n->starts[c]; i < n->starts[c + 1]; i++) count += s->counts[i];
        s->held[c] = count > most ? most : count;
    }
}

/* Whether a block is beside a side of the domain. */
static bool is_at_side(const sheets *s, int32_t block) {
    const blocks *b = s->view.around.blocks;
    for (int a = 0; a < b->dim; a++) {
        const int first = b->coords[block][a] * BLOCK_EDGE;
        if (first <= 0 || first + BLOCK_EDGE >= s->f->domain->cells[a]) return true;
    }
    return false;
}

/* What the cell at `at` from a block's corner holds; as if full behind closed sides. */
static real count_cell(const sheets *s, int32_t block, const int at[3], bool at_side) {
    const neighbourhood *n = &s->view.around;
    const int dim = n->blocks->dim;
    for (int a = 0; a < dim && at_side; a++)
        if (closed_side(s->f->domain, a, n->blocks->coords[block][a] * BLOCK_EDGE + at[a]))
            return (real)s->f->options->full_cell;
    const int64_t cell = find_cell(n, block, at, dim);
    return cell < 0 ? 0 : s->held[cell];
}

/* Sums of three along an axis of a box of RIM_EDGE^dim; the ends are left as they are. */
static void sum_along(real *box, int axis, int dim) {
    const int stride = box_stride(RIM_EDGE, axis, dim),
              lines = dim == 3 ? RIM_EDGE * RIM_EDGE : RIM_EDGE;
    for (int line = 0; line < lines; line++) {
        const int other = line % RIM_EDGE, rest = line / RIM_EDGE;
        /* where the line begins: the other axes' places */
        int begin = 0, given[2] = {other, rest};
        for (int a = 0, k = 0; a < dim; a++)
            if (a != axis) begin += given[k++] * box_stride(RIM_EDGE, a, dim);
        real before = box[begin];
        for (int k = 1; k < RIM_EDGE - 1; k++) {
            real *own = box + begin + k * stride;
            const real sum = before + own[0] + own[stride];
            before = own[0];
            own[0] = sum;
        }
    }
}

/* Whether a block or one beside it moves, or has inserted particles, which may be due to go. */
static bool may_change(const sheets *s, int32_t block) {
    const blocks *b = s->view.around.blocks;
    const particles *p = s->view.around.particles;
    for (int n = 0; n < neighbour_count(b->dim); n++) {
        const int32_t other = b->neighbours[block][n];
        if (other >= 0 && b->tile[other] >= 0 && s->view.moving[b->tile[other]]) return true;
    }
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++)
        if (particle_generation(p, i) > 0) return true;
    return false;
}

/* Steps after which blocks are looked at in any case. */
enum { LOOK_EVERY = 8 };

static void find_near(void *data, chunk items) {
    const sheets *s = data;
    const bool all = s->f->sim->step % LOOK_EVERY == 0;
    const blocks *b = s->view.around.blocks;
    const int dim = b->dim,
              places = dim == 3 ? RIM_EDGE * RIM_EDGE * RIM_EDGE : RIM_EDGE * RIM_EDGE;
    const double full = (double)s->f->options->full_cell * neighbour_count(dim);
    real box[RIM_EDGE * RIM_EDGE * RIM_EDGE];
    for (int64_t o = items.begin; o < items.end; o++) {
        s->looked_at[o] = all || may_change(s, b->occupied[o]);
        s->near[o] = 0;
        if (!s->looked_at[o]) continue;
        const bool at_side = is_at_side(s, b->occupied[o]);
        for (int k = 0; k < places; k++) {
            int at[3];
            box_place(RIM_EDGE, k, dim, at);
            for (int a = 0; a < dim; a++) at[a]--;
            box[k] = count_cell(s, b->occupied[o], at, at_side);
        }
        for (int a = 0; a < dim; a++) sum_along(box, a, dim);
        block_cells bits = 0;
        for (int c = 0; c < block_nodes(dim); c++) {
            int at[3];
            box_place(BLOCK_EDGE, c, dim, at);
            for (int a = 0; a < dim; a++) at[a]++;
            const double sum = (double)box[box_index(RIM_EDGE, at, dim)];
            bits |= (block_cells)(sum < nearly_full * full) << c;
        }
        s->near[o] = bits;
    }
}

/* ---- Thin particles -------------------------------------------------------------------------- */

static void find_sizes(void *data, chunk items) {
    sheets *s = data;
    const flip *f = s->f;
    const particles *p = &f->sim->particles;
    const int dim = f->sim->scene->dim;
    const real usual = (real)f->options->full_cell;
    real largest = s->view.largest[items.worker];
    for (int64_t i = items.begin; i < items.end; i++) {
        const real count = p->mass[i] * f->inverse_mass * usual;
        const bool big = count > 1;
        s->sizes[i] = big ? (real)sqrt((double)size2_of(f, i, dim)) : (real)s->size;
        s->counts[i] = p->group[i] == GROUP_REMOVED ? 0 : big ? count : 1;
        if (s->sizes[i] > largest) largest = s->sizes[i];
    }
    s->view.largest[items.worker] = largest;
}

static double take_largest(real largest[MAX_THREADS]) {
    double all = 0;
    for (int w = 0; w < MAX_THREADS; w++) {
        if ((double)largest[w] > all) all = (double)largest[w];
        largest[w] = 0;
    }
    return all;
}

/* Particles whose velocities differ by less than this share of the fastest's do not move relative to
 * each other: while the fastest crosses a hundred cells `spacing` would move them by a fiftieth of
 * one. */
static const double still_share = 1e-3;

/* A particle whose neighbours' mean is farther than this from it, in d0, is at a surface. */
static const double surface_offset = 0.2;

static void set_view(sheets *s, double largest_size) {
    const flip_options *o = s->f->options;
    sheet_view *v = &s->view;
    const double extent = o->density_radius * s->size;
    v->near = s->near;
    v->size = s->sizes, v->count = s->counts;
    v->thinness = s->f->sim->particles.thinness;
    v->reach2 = (real)(extent * extent);
    v->sparse = (real)(s->options ? s->options->sparse : 0.7);
    v->least_count = (real)((s->options ? s->options->spray : 0) * s->weights);
    v->stretch = (real)s->stretch;
    const bool at_rest_too = o->flow || (s->spaces && !(s->spacing->motion > 0));
    v->still = at_rest_too ? -1 : (real)(still_share * s->f->sim->max_speed);
    v->looked_at = s->looked_at;
    v->sharp = (real)o->sharp_radius;
    if (!s->spaces) return;
    v->share = (real)(1 - exp(-s->spacing->rate * s->memory.since));
    v->aside = (real)(surface_offset * s->size);
    v->most = (real)(s->spacing->limit * s->size);
    v->motion = o->flow ? 0 : (real)(s->spacing->motion * s->memory.since / s->f->domain->dx);
    v->close = (real)fmin(largest_size + (double)v->most, 1);
}

/* rho0: the largest density at the start, and at least that of a full lattice. */
static void find_reference(sheets *s) {
    flip *f = s->f;
    const int dim = f->sim->scene->dim;
    const double lattice = s->weights / ((double)f->inverse_mass * (double)f->options->full_cell);
    parallel_for(f->threads, f->sim->blocks.occupied_count, 4, s->kernels->find_largest[dim - 2],
                 &s->view);
    f->memory.reference = fmax(take_largest(s->view.largest), lattice);
}

static spate_status find_thin(sheets *s) {
    flip *f = s->f;
    spate_simulation *sim = f->sim;
    real largest[MAX_THREADS] = {0};
    const int dim = sim->scene->dim;
    const int64_t occupied = sim->blocks.occupied_count, count = sim->particles.count;
    TRY(take_rooms(s));
    TRY(neighbourhood_begin(sim, &s->view.around));
    s->view.largest = largest;
    parallel_for(f->threads, count, 4096, find_sizes, s);
    set_view(s, take_largest(largest));
    if (!(f->memory.reference > 0) && count) find_reference(s);
    s->view.inverse_reference = (real)(1 / f->memory.reference);
    parallel_for(f->threads, occupied, 16, count_cells, s);
    parallel_for(f->threads, occupied, 16, s->kernels->find_moving[dim - 2], &s->view);
    parallel_for(f->threads, occupied, 16, find_near, s);
    parallel_for(f->threads, occupied, 4, s->kernels->find_thin[dim - 2], &s->view);
    return SPATE_OK;
}

spate_status flip_thin(void *solver) {
    flip *f = solver;
    sheets *s = f->sheets;
    if (!s) return SPATE_OK;
    s->begun = true;
    s->changed = false;
    s->memory.since += f->sim->dt;
    s->spaces = s->spacing && s->spacing->rate > 0 && ++s->memory.steps >= s->spacing->every;
    if (!s->options && !s->spaces) return SPATE_OK;
    const spate_status status = find_thin(s);
    if (status) sheets_end(s);
    return status;
}

/* ---- The other stages ------------------------------------------------------------------------ */

/* What the columns tell. */
static void count_sheets(void *data, chunk items, double *part) {
    const flip *f = ((const sheets *)data)->f;
    const particles *p = &f->sim->particles;
    for (int64_t i = items.begin; i < items.end; i++) {
        if (p->group[i] == GROUP_REMOVED) continue;
        part[0] += (double)p->thinness[i] >= f->thin_from;
        part[1] += particle_generation(p, i) > 0;
    }
}

static void find_lightest(sheets *s) {
    const particles *p = &s->f->sim->particles;
    real lightest = REAL_MAX;
    for (int64_t i = 0; i < p->count; i++) {
        const real mass = p->group[i] == GROUP_REMOVED ? REAL_MAX : p->mass[i];
        lightest = mass < lightest ? mass : lightest;
    }
    s->memory.lightest = p->count ? (double)lightest : NAN;
}

spate_status flip_insert(void *solver) {
    sheets *s = ((flip *)solver)->sheets;
    if (!s || !s->options) return SPATE_OK;
    spate_status status = sheets_remove(s);
    if (!status) status = sheets_insert(s);
    double counts[2] = {0};
    if (!status)
        status = parallel_sum(s->f->sim->ctx, s->f->sim->particles.count, 4096, count_sheets, s, 2,
                              counts);
    s->memory.thin = (int64_t)counts[0], s->memory.alive = (int64_t)counts[1];
    find_lightest(s);
    if (status) sheets_end(s);
    return status;
}

/* Inside the domain's closed sides. */
static double kept_inside(const domain *d, int axis, double g) {
    const double margin = 1e-4;
    if (wall_is_closed(d->walls[axis][0])) g = fmax(g, margin);
    if (wall_is_closed(d->walls[axis][1])) g = fmin(g, d->cells[axis] - margin);
    return g;
}

static void move_particles(void *data, chunk items) {
    const sheets *s = data;
    const flip *f = s->f;
    const blocks *b = &f->sim->blocks;
    const particles *p = &f->sim->particles;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            if (!(s->view.moved[i][3] > 0)) continue;
            for (int a = 0; a < b->dim; a++) {
                const double corner = (double)b->coords[block][a] * BLOCK_EDGE;
                const double x = (double)PLANE(p, position, a)[i] + (double)s->view.moved[i][a];
                PLANE(p, position, a)[i] = (real)(kept_inside(f->domain, a, corner + x) - corner);
                p->velocity[i][a] = s->view.resampled[i][a];
            }
        }
    }
}

spate_status flip_spacing(void *solver) {
    flip *f = solver;
    spate_simulation *sim = f->sim;
    sheets *s = f->sheets;
    if (!s) return SPATE_OK;
    const int64_t occupied = sim->blocks.occupied_count;
    if (s->spaces) {
        parallel_for(f->threads, occupied, 4, s->kernels->find_spacing[sim->scene->dim - 2],
                     &s->view);
        parallel_for(f->threads, occupied, 16, move_particles, s);
        s->changed = true;
        s->memory.since = 0, s->memory.steps = 0;
    }
    sheets_end(s);
    if (!s->changed) return SPATE_OK;
    int64_t lost;
    return blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost);
}

/* ---- For others ------------------------------------------------------------------------------ */

void sheets_forward(flip *f, int64_t from, int64_t to) {
    particles *p = &f->sim->particles;
    if (!f->sheets || !(p->generation[from] & GENERATION_PARENT)) return;
    ancestry_forward(&f->sheets->ancestry, p->id[from], p->id[to]);
    p->generation[to] |= GENERATION_PARENT;
}

bool sheets_has_parents(const flip *f) { return f->sheets && f->sheets->ancestry.count > 0; }

static bool was_merged_parent(const flip *f, const int64_t *into, int64_t i) {
    return into[i] >= 0 && f->sim->particles.generation[i] & GENERATION_PARENT;
}

spate_status sheets_forward_merged(flip *f, const int64_t *into) {
    particles *p = &f->sim->particles;
    int64_t parents = 0;
    uint64_t slots = 16;
    for (int64_t i = 0; i < p->count; i++) parents += was_merged_parent(f, into, i);
    if (!parents) return SPATE_OK;
    f->sheets->memory.forwarded += parents;
    while (slots < 2 * (uint64_t)parents) slots *= 2;
    heir_table to = {scratch_take(&f->sim->scratch, "forwarded", (size_t)slots, sizeof(heir)),
                     slots - 1};
    if (!to.slots) return SPATE_OUT_OF_MEMORY;
    memset(to.slots, 0, (size_t)slots * sizeof *to.slots);
    for (int64_t i = 0; i < p->count; i++) {
        if (!was_merged_parent(f, into, i)) continue;
        int64_t last = into[i];
        while (into[last] >= 0) last = into[last]; /* who was merged himself, later in the step */
        *heir_find(&to, p->id[i]) = (heir){p->id[i] + 1, last};
        p->generation[last] |= GENERATION_PARENT;
    }
    ancestry_forward_all(&f->sheets->ancestry, &to, p);
    scratch_give(&f->sim->scratch, "forwarded");
    return SPATE_OK;
}

static void spare_blocks(void *data, chunk items) {
    const flip *f = data;
    const blocks *b = &f->sim->blocks;
    const mac *m = &f->grid;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        int corner[3];
        const int32_t home = flip_brick_of_block(f, b->coords[block], corner);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            if (!sheets_owns(f, i)) continue;
            int at[3] = {0};
            for (int a = 0; a < b->dim; a++)
                at[a] = corner[a] + (int)PLANE(&f->sim->particles, position, a)[i];
            m->target_divergence[0][mac_cell(m, home, at)] = 1;
        }
    }
}

void sheets_spare_volume(flip *f) {
    if (!f->sheets || !f->sheets->options) return;
    parallel_for(f->threads, f->sim->blocks.occupied_count, 16, spare_blocks, f);
}

/* ---- Columns --------------------------------------------------------------------------------- */

#define COLUMN_VALUE(name, unit, value)                    \
    double sheets_##name(const spate_simulation *sim) {    \
        const flip *f = sim->solver;                       \
        if (!f->sheets || !f->sheets->options) return NAN; \
        const sheet_memory *m = &f->sheets->memory;        \
        return value;                                      \
    }
SHEET_COLUMN_NAMES(COLUMN_VALUE)
