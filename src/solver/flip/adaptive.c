/* Depth, splitting, and what a scene may set; merging is in merge_kernels.c. */
#include "solver/flip/adaptive.h"

#include "core/isa.h"
#include "core/random.h"
#include "core/vec.h"
#include "solver/collide.h"
#include "solver/flip/sheets.h"

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const split_words[] = {"lattice", "random", NULL};

static const field adaptive_fields[] = {
    INTEGER_FIELD(adaptive_options, largest, 0, 0, PIECES_MOST,
                  "most particles that are merged into one; 0: 8, in 2D 4. A merged one is never "
                  "more than a full cell"),
    INTEGER_FIELD(adaptive_options, deep, 3, 3, 8,
                  "cells from air, from which on particles are merged; two cells nearer they are "
                  "split again"),
    NUMBER_FIELD(adaptive_options, reach, "", 1.1, 0.5, 1.25,
                 "how near two particles must be to be merged, in the mean of their sizes"),
    CHOICE_FIELD(adaptive_options, split, 0, split_words,
                 "where the parts of a particle go: to a lattice about it, turned at random, or to "
                 "random places as in Ando et al. 2012"),
};
const field_table adaptive_table =
    FIELD_TABLE("solver.adaptive",
                "Particles deep in the liquid are merged, and split before they come near the "
                "surface: fewer particles, and the same surface. `adaptive: {}` with all defaults. "
                "Mass and momentum are kept.",
                adaptive_fields, adaptive_options);

bool adaptive_check(const flip_options *o, int dim, field_report *report) {
    adaptive_options *a = o->adaptive;
    const int most = dim == 3 ? PIECES_MOST : 4;
    if (!a) return true;
    if (!a->largest) a->largest = most;
    if (a->largest > most)
        return field_complain(report, "adaptive.largest", "is %d; in 2D use at most %d",
                              (int)a->largest, most);
    if (a->largest < 2)
        return field_complain(report, "adaptive.largest",
                              "is 1, which merges nothing; give 2 to %d, or leave out adaptive",
                              most);
    if (o->reseed)
        return field_complain(report, "reseed",
                              "splits what adaptive merges; leave out one of them");
    if (o->flow)
        return field_complain(report, "flow",
                              "has no grid that tells what is deep; leave out adaptive");
    return true;
}

ISA_TABLES(merge_kernels, flip_merging);

spate_status adaptive_create(flip *f) {
    if (!f->options->adaptive) return SPATE_OK;
    f->adaptive = take(f->sim->ctx, 1, sizeof *f->adaptive);
    if (!f->adaptive) return SPATE_OUT_OF_MEMORY;
    f->adaptive->kernels = ISA_CHOOSE(flip_merging, f->sim->ctx->isa);
    return SPATE_OK;
}

void adaptive_free(flip *f) {
    spate_context *ctx = f->sim->ctx;
    if (!f->adaptive) return;
    give(ctx, f->adaptive->air), give(ctx, f->adaptive->near), give(ctx, f->adaptive->close);
    give(ctx, f->adaptive->has_air), give(ctx, f->adaptive->is_deep);
    give(ctx, f->adaptive);
}

/* ---- Depth ----------------------------------------------------------------------------------- */

enum { BRICK_ROWS_MOST = BRICK_CELLS_MAX / BRICK_EDGE };

/* Whether cell g along an axis lies behind a closed side. */
static bool is_behind(const domain *d, int axis, int g) {
    return (g < 0 && wall_is_closed(d->walls[axis][0])) ||
           (g >= d->cells[axis] && wall_is_closed(d->walls[axis][1]));
}

/* Whether a brick that does not exist is air: some of its cells are not behind closed sides. */
static bool missing_is_air(const flip *f, const int32_t coords[3]) {
    for (int a = 0; a < f->grid.dim; a++) {
        const int low = coords[a] * BRICK_EDGE, high = low + BRICK_EDGE - 1;
        const bool in = low < f->domain->cells[a] && high >= 0;
        if (!in && is_behind(f->domain, a, low)) return false;
    }
    return true;
}

/* Rows of a brick. */
static int rows_of(int dim) { return mac_cells(dim) / BRICK_EDGE; }

static void find_air(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const int rows = rows_of(m->dim);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const int32_t *corner = m->bricks.coords[brick];
        const real *phi = m->phi[0] + brick * mac_cells(m->dim);
        uint8_t *air = f->adaptive->air + brick * rows, any = 0, inside[3] = {0};
        for (int a = 0; a < m->dim; a++)
            for (int k = 0; k < BRICK_EDGE; k++)
                inside[a] |= (uint8_t)(!is_behind(f->domain, a, corner[a] * BRICK_EDGE + k) << k);
        for (int r = 0; r < rows; r++) {
            const bool open =
                m->dim == 2 ? inside[0] >> r & 1 : inside[0] >> (r >> 3) & inside[1] >> (r & 7) & 1;
            const unsigned cells = wide_bits(wide_load(phi + r * BRICK_EDGE) >= wide_splat(0));
            air[r] = open ? (uint8_t)cells & inside[m->dim - 1] : 0;
            any |= air[r];
        }
        f->adaptive->has_air[brick] = any != 0;
    }
}

/* Air near a brick: in it, or in one of its neighbours. */
static bool is_near_air(const flip *f, int64_t brick) {
    const sparse_lattice *bricks = &f->grid.bricks;
    for (int n = 0; n < neighbour_count(f->grid.dim); n++) {
        const int32_t other = bricks->neighbours[brick][n];
        int32_t coords[3];
        if (other >= 0) {
            if (f->adaptive->has_air[other]) return true;
            continue;
        }
        sparse_lattice_neighbour(bricks, bricks->coords[brick], n, coords);
        if (missing_is_air(f, coords)) return true;
    }
    return false;
}

/* A brick with a margin of cells around it, as rows along the last axis; a row is that of three
 * bricks, 24 bits, in which the brick's own begins at the ninth. */
enum { EDGE_MOST = 3 * BRICK_EDGE, ROWS_MOST = EDGE_MOST * EDGE_MOST };

/* The rows of air of a brick and its neighbours, by code. */
typedef struct air_around {
    const uint8_t *rows[NEIGHBOURS_MAX];
    uint8_t none[BRICK_ROWS_MOST], all[BRICK_ROWS_MOST]; /* of bricks that do not exist */
} air_around;

static void find_air_around(const flip *f, int64_t brick, air_around *around) {
    const sparse_lattice *bricks = &f->grid.bricks;
    memset(around->none, 0, sizeof around->none), memset(around->all, 255, sizeof around->all);
    for (int n = 0; n < neighbour_count(bricks->dim); n++) {
        const int32_t other = bricks->neighbours[brick][n];
        int32_t coords[3];
        sparse_lattice_neighbour(bricks, bricks->coords[brick], n, coords);
        around->rows[n] = other >= 0 ? f->adaptive->air + (int64_t)other * rows_of(bricks->dim)
                          : missing_is_air(f, coords) ? around->all
                                                      : around->none;
    }
}

/* Row (i, j) of cells from the brick's corner, in 2D row i. */
static uint32_t row_of_air(const air_around *around, int i, int j, int dim) {
    const int at[3] = {i, dim == 3 ? j : 0, 0};
    const int first = neighbour_code(BRICK_EDGE, at, dim) - 1; /* the last axis' place is 1 */
    const int row = neighbour_index(BRICK_EDGE, at, dim) / BRICK_EDGE;
    uint32_t bits = 0;
    for (int part = 0; part < 3; part++)
        bits |= (uint32_t)around->rows[first + part][row] << part * BRICK_EDGE;
    return bits;
}

/* to[i] = whichever of from[i - stride], from[i] and from[i + stride] is set. */
static void widen_along(const uint32_t *from, uint32_t *to, int count, int stride) {
    memcpy(to, from, (size_t)count * sizeof *to);
    for (int i = stride; i < count; i++) to[i] |= from[i - stride];
    for (int i = 0; i + stride < count; i++) to[i] |= from[i + stride];
}

/* By a cell along every axis; rows lie in layers of `layer`. What wraps round at a layer's end is
 * at first in the outermost rows, and comes a row nearer each time. */
static void widen(uint32_t *rows, int count, int layer) {
    uint32_t wider[ROWS_MOST];
    for (int i = 0; i < count; i++) rows[i] |= rows[i] << 1 | rows[i] >> 1;
    widen_along(rows, wider, count, 1);
    if (layer > 1)
        widen_along(wider, rows, count, layer);
    else
        memcpy(rows, wider, (size_t)count * sizeof *rows);
}

/* Which cells of a brick are `near` air and `close` to it. */
static void measure_depth(const flip *f, int64_t brick) {
    const int dim = f->grid.dim, deep = (int)f->options->adaptive->deep, margin = deep - 1;
    const int edge = BRICK_EDGE + 2 * margin, layer = dim == 3 ? edge : 1, own = rows_of(dim);
    air_around around;
    uint32_t rows[ROWS_MOST];
    find_air_around(f, brick, &around);
    for (int i = 0; i < edge; i++)
        for (int j = 0; j < layer; j++)
            rows[i * layer + j] = row_of_air(&around, i - margin, j - margin, dim);
    for (int k = 1; k < deep; k++) {
        widen(rows, edge * layer, layer);
        if (k < deep - 2) continue;
        uint8_t *to = (k < deep - 1 ? f->adaptive->close : f->adaptive->near) + brick * own;
        for (int r = 0; r < own; r++) {
            const int i = dim == 3 ? r >> 3 : r, j = dim == 3 ? (r & 7) + margin : 0;
            to[r] = (uint8_t)(rows[(i + margin) * layer + j] >> BRICK_EDGE);
        }
    }
}

static void find_depth(void *data, chunk items) {
    const flip *f = data;
    adaptive *a = f->adaptive;
    const int rows = rows_of(f->grid.dim);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        a->is_deep[brick] = !is_near_air(f, brick);
        if (!a->is_deep[brick]) {
            measure_depth(f, brick);
            continue;
        }
        memset(a->near + brick * rows, 0, (size_t)rows);
        memset(a->close + brick * rows, 0, (size_t)rows);
    }
}

/* Parents of inserted particles hand on what would return to them. */
static spate_status merge_all(flip *f) {
    adaptive *a = f->adaptive;
    scratch *memory = &f->sim->scratch;
    const int64_t count = f->sim->particles.count;
    const bool forwards = sheets_has_parents(f);
    if (forwards) {
        a->into = scratch_take(memory, "merged into", (size_t)count + 1, sizeof *a->into);
        if (!a->into) return SPATE_OUT_OF_MEMORY;
        for (int64_t i = 0; i < count; i++) a->into[i] = -1;
    }
    memset(a->merged, 0, sizeof a->merged);
    parallel_for(f->threads, f->sim->blocks.occupied_count, 16, a->kernels->merge[f->grid.dim - 2],
                 f);
    for (int w = 0; w < MAX_THREADS; w++) f->memory.merged += a->merged[w];
    if (!forwards) return SPATE_OK;
    const spate_status status = sheets_forward_merged(f, a->into);
    scratch_give(memory, "merged into");
    a->into = NULL;
    return status;
}

spate_status flip_merge(void *solver) {
    flip *f = solver;
    adaptive *a = f->adaptive;
    if (!a) return SPATE_OK;
    const int64_t bricks = f->grid.bricks.count;
    const int rows = rows_of(f->grid.dim);
    TRY(ENSURE(f->sim->ctx, a->capacity, bricks, EACH(a->air, rows), EACH(a->near, rows),
               EACH(a->close, rows), EACH(a->has_air, 1), EACH(a->is_deep, 1)));
    parallel_for(f->threads, bricks, 16, find_air, f);
    parallel_for(f->threads, bricks, 16, find_depth, f);
    return merge_all(f);
}

/* ---- Splitting ------------------------------------------------------------------------------- */

/* Whether all of a brick and of those around it is deep. There is no particle where none is. */
static bool is_deep_all_round(const flip *f, int32_t brick) {
    for (int n = 0; n < neighbour_count(f->grid.dim); n++) {
        const int32_t other = f->grid.bricks.neighbours[brick][n];
        if (other >= 0 && !f->adaptive->is_deep[other]) return false;
    }
    return true;
}

void flip_mark_splits(const flip *f, int32_t block) {
    const blocks *b = &f->sim->blocks;
    const particles *p = &f->sim->particles;
    int corner[3];
    const int32_t brick = flip_brick_of_block(f, b->coords[block], corner);
    if (is_deep_all_round(f, brick)) return;
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
        if (pieces_of(p, i) == 1 || p->group[i] == GROUP_REMOVED) continue;
        int at[3] = {0};
        for (int a = 0; a < b->dim; a++) {
            const real x = PLANE(p, position, a)[i];
            const int whole = (int)x, cell = corner[a] + whole - (x < (real)whole);
            at[a] = cell < -BRICK_EDGE       ? -BRICK_EDGE
                    : cell >= 2 * BRICK_EDGE ? 2 * BRICK_EDGE - 1
                                             : cell;
        }
        if (is_in_rows(&f->grid, f->adaptive->close, brick, at)) p->role[i] |= PIECES_SPLIT;
    }
}

/* Where the parts are: in pairs along the diagonals of a square or cube, the odd one in the middle.
 * Four or eight are its corners, half a cell's edge apart where the whole is a cell. */
void pieces_place(int dim, int n, int k, double share, double offset[3]) {
    static const double diagonals[2][4][3] = {{{1, 1, 0}, {1, -1, 0}},
                                              {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}};
    const double size = dim == 3 ? cbrt(share) : sqrt(share);
    const double way = n & 1 && k == n - 1 ? 0 : (k & 1 ? -0.25 : 0.25) * size;
    for (int a = 0; a < 3; a++) offset[a] = way * diagonals[dim - 2][k / 2 & 3][a];
}

/* A random rotation: of a quaternion (Shoemake 1992), in 2D of an angle. */
static void random_turn(const flip *f, uint64_t id, double R[3][3]) {
    const double turn = 6.28318530717958647692;
    const uint64_t seed = f->sim->scene->seed, stream = (uint64_t)f->sim->step * 4;
    const double u = random_unit(seed, id, stream), v = turn * random_unit(seed, id, stream + 1),
                 w = turn * random_unit(seed, id, stream + 2);
    if (f->grid.dim == 2) {
        mat_rotation(R, (const double[3]){0, 0, 1}, v);
        return;
    }
    const double q[4] = {sqrt(1 - u) * sin(v), sqrt(1 - u) * cos(v), sqrt(u) * sin(w),
                         sqrt(u) * cos(w)};
    const double half = acos(fmax(fmin(q[3], 1), -1));
    double axis[3] = {q[0], q[1], q[2]};
    if (!vec_normalise(axis)) vec_set(axis, 0, 0, 1);
    mat_rotation(R, axis, 2 * half);
}

/* Random places within the particle's size, about their mean. */
static void random_places(const flip *f, uint64_t id, int n, double size, double (*places)[3]) {
    const uint64_t seed = f->sim->scene->seed;
    double mean[3] = {0};
    for (int k = 0; k < n; k++) {
        double length2 = 2;
        for (uint64_t trial = 0; length2 > 1; trial++) {
            const uint64_t stream =
                (((uint64_t)f->sim->step * PIECES_MOST + (uint64_t)k) << 8 | trial) * 4;
            vec_set(places[k], 0, 0, 0);
            for (int a = 0; a < f->grid.dim; a++)
                places[k][a] = 2 * random_unit(seed, id, stream + (uint64_t)a) - 1;
            length2 = vec_dot(places[k], places[k]);
        }
        vec_scale(places[k], 0.62 * size, places[k]);
        vec_add_scaled(mean, mean, 1.0 / n, places[k]);
    }
    for (int k = 0; k < n; k++) vec_sub(places[k], places[k], mean);
}

/* Beside closed sides the places are pressed flat, so that all are inside and their middle
 * stays. */
static void keep_inside(const flip *f, const double g[3], int n, double (*places)[3]) {
    const domain *d = f->domain;
    const double margin = 1e-4;
    for (int a = 0; a < f->grid.dim; a++) {
        double most = 0, room = HUGE_VAL;
        for (int k = 0; k < n; k++) most = fmax(most, fabs(places[k][a]));
        if (wall_is_closed(d->walls[a][0])) room = fmin(room, g[a] - margin);
        if (wall_is_closed(d->walls[a][1])) room = fmin(room, d->cells[a] - margin - g[a]);
        if (room >= most) continue;
        for (int k = 0; k < n; k++) places[k][a] *= fmax(room, 0) / most;
    }
}

/* A part stays outside colliders. */
static void keep_out(const flip *f, const double g[3], double to[3]) {
    const spate_simulation *sim = f->sim;
    const domain *d = f->domain;
    if (!sim->scene->collider_count) return;
    const boundary_part solid = boundary_all(&sim->boundary);
    double x[3] = {0}, y[3] = {0}, v[3] = {0};
    bool stuck;
    for (int a = 0; a < f->grid.dim; a++)
        x[a] = d->origin[a] + g[a] * d->dx, y[a] = d->origin[a] + to[a] * d->dx;
    if (!collide(&solid, d->dx, x, y, v, &stuck)) return;
    for (int a = 0; a < f->grid.dim; a++) to[a] = stuck ? g[a] : (y[a] - d->origin[a]) / d->dx;
}

/* The particle becomes the first of its parts, the others are added. */
static spate_status split_particle(flip *f, int32_t block, int64_t i) {
    spate_simulation *sim = f->sim;
    particles *p = &sim->particles;
    const int n = pieces_of(p, i), dim = f->grid.dim;
    const double mass = (double)p->mass[i], share = mass * (double)f->inverse_mass;
    const real part = (real)(mass / n);
    double places[PIECES_MOST][3], g[3], R[3][3], to[3];
    if (sim->next_id + (uint64_t)n > UINT32_MAX) return SPATE_OK;
    if (f->options->adaptive->split) {
        random_places(f, p->id[i], n, dim == 3 ? cbrt(share) : sqrt(share), places);
    } else {
        random_turn(f, p->id[i], R);
        for (int k = 0; k < n; k++) {
            double offset[3];
            pieces_place(dim, n, k, share, offset);
            mat_apply(places[k], R, offset);
        }
    }
    blocks_position(&sim->blocks, p, block, i, g);
    keep_inside(f, g, n, places);
    p->role[i] = 1;
    p->mass[i] = part;
    for (int k = 1; k < n; k++) {
        int64_t at;
        vec_add(to, g, places[k]);
        keep_out(f, g, to);
        TRY(blocks_add_like(&sim->blocks, p, i, to, &at));
        p->id[at] = sim->next_id++;
        if (k == n - 1) p->mass[at] = (real)(mass - (n - 1) * (double)part);
    }
    vec_add(to, g, places[0]);
    keep_out(f, g, to);
    for (int a = 0; a < dim; a++) {
        real *x = &PLANE(p, position, a)[i];
        const double moved = (double)*x + to[a] - g[a], most = 2 * BLOCK_EDGE - 1e-3;
        *x = (real)fmax(fmin(moved, most), -BLOCK_EDGE + 1e-3); /* as far as the sort follows */
    }
    f->memory.split += n - 1;
    return SPATE_OK;
}

spate_status flip_split(void *solver) {
    flip *f = solver;
    const blocks *b = &f->sim->blocks;
    const particles *p = &f->sim->particles;
    if (!f->adaptive) return SPATE_OK;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++)
            if (p->role[i] & PIECES_SPLIT && p->group[i] != GROUP_REMOVED)
                TRY(split_particle(f, block, i));
    }
    return SPATE_OK;
}

/* ---- Faces that no particle reaches ---------------------------------------------------------- */

/* Whether any of a brick's faces at liquid cells has no mass. */
static bool has_empty_faces(const mac *m, int64_t brick) {
    const int cells = mac_cells(m->dim);
    const real *phi = m->phi[0] + brick * cells;
    int empty = 0;
    for (int axis = 0; axis < m->dim; axis++) {
        const real *mass = m->mass[axis] + brick * cells;
        for (int c = 0; c < cells; c++) empty |= !(mass[c] > 0) & (phi[c] < 0);
    }
    return empty;
}

/* Only faces with mass are read, and only others written. */
static void fill_face(const mac *m, int64_t brick, int c, int axis) {
    const int64_t here = brick * mac_cells(m->dim) + c;
    int at[3], count = 0;
    mac_place(c, m->dim, at);
    const int64_t before = mac_beside(m, brick, c, at, axis, -1);
    if (before < 0 || m->phi[0][before] >= 0 || mac_is_prescribed(m, axis, here)) return;
    double u = 0, old = 0;
    for (int n = 0; n < 2 * m->dim; n++) {
        const int64_t other = mac_side_of(m, brick, c, at, n).beyond;
        if (other < 0 || !(m->mass[axis][other] > 0)) continue;
        u += (double)m->velocity[axis][other];
        old += (double)m->velocity_old[axis][other];
        count++;
    }
    if (!count) return;
    m->velocity[axis][here] = (real)(u / count);
    m->velocity_old[axis][here] = (real)(old / count);
}

static void fill_faces(void *data, chunk items) {
    const mac *m = &((const flip *)data)->grid;
    const int cells = mac_cells(m->dim);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        if (!has_empty_faces(m, brick)) continue;
        for (int c = 0; c < cells; c++)
            for (int axis = 0; axis < m->dim; axis++)
                if (!(m->mass[axis][brick * cells + c] > 0) && m->phi[0][brick * cells + c] < 0)
                    fill_face(m, brick, c, axis);
    }
}

void flip_fill_faces(flip *f) {
    if (f->adaptive) parallel_for(f->threads, f->grid.bricks.count, 16, fill_faces, f);
}
