/*
 * The liquid's surface as a level set at the middles of cells, in cells, negative inside.
 *
 * SURFACE_VOLUME: the scatter leaves in phi the share of a cell's surroundings that the particles
 * fill, weighted by the linear kernel, a tent of two cells. Near a flat surface at distance s that
 * share is
 *     (1 - s)^2 / 2   for 0 <= s <= 1,        1 - (1 + s)^2 / 2   for -1 <= s <= 0,
 * which is solved for s. It is a distance within a cell of the surface, is smooth where particles
 * lie unevenly, and drops and sheets too thin to fill half a cell count as air. Beside a collider
 * only the part of the tent outside of it can be filled, which the same formula gives for the
 * collider's distance. The surface is that with colliders at the end of the step. How full a cell is
 * (volume.c) is told with those at its beginning, where the particles are: what lies in the way of
 * a collider is not too much, it will be pushed on.
 *
 * SURFACE_DISTANCE: distance to the nearest particle less a radius. SURFACE_DENSITY: Ando et al.
 * 2012, eq. 5 (density_surface.c); not a distance, but zero at the surface.
 */
#include "solver/flip/adaptive.h"
#include "solver/flip/cell_bits.h"

#include "core/vec.h"

/* Share of the tent that lies on the inner side of a plane at distance s. */
static double share_of(double s) {
    if (s >= 1) return 0;
    if (s <= -1) return 1;
    return s >= 0 ? 0.5 * (1 - s) * (1 - s) : 1 - 0.5 * (1 + s) * (1 + s);
}

static double distance_of(double share) {
    if (share <= 0) return 1;
    if (share >= 1) return -1;
    return share <= 0.5 ? 1 - sqrt(2 * share) : sqrt(2 * (1 - share)) - 1;
}

/* How far from colliders the middle of a cell was at the beginning of the step, in cells. */
static double solid_before(const flip *f, int64_t brick, int c, double solid) {
    const boundary *walls = &f->sim->boundary;
    const boundary_part all = boundary_all(walls);
    double at[3] = {0}, x[3], normal[3], velocity[3];
    int cell[3], nearest;
    mac_place(c, f->grid.dim, cell);
    for (int a = 0; a < f->grid.dim; a++)
        at[a] = f->grid.bricks.coords[brick][a] * BRICK_EDGE + cell[a] + 0.5;
    cells_to_world(f->domain, f->grid.dim, at, x);
    boundary_part_nearest(&all, x, &nearest);
    boundary_distance(walls, nearest, x, normal, velocity);
    return solid + vec_dot(normal, velocity) * f->sim->dt / f->domain->dx;
}

/* Of what is outside of a collider; deep in one there is nothing to fill, and what little there is
 * must not look like much. */
static double filled_beside(double filled, double solid) {
    return solid < 1 ? filled / fmax(share_of(-solid), 0.125) : filled;
}

static void volumes_to_distances(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const int cells = mac_cells(m->dim);
    const double way = boundary_speed(&f->sim->boundary) * f->sim->dt / f->domain->dx;
    for (int64_t c = items.begin * cells; c < items.end * cells; c++) {
        const double share = (double)m->phi[0][c], solid = (double)m->solid_phi[0][c];
        const bool moves = way > 0 && fabs(solid) < 1 + way && solid < SOLID_FAR;
        m->phi[0][c] = (real)distance_of(filled_beside(share, solid));
        m->target_divergence[0][c] = (real)filled_beside(
            share, moves ? solid_before(f, c / cells, (int)(c % cells), solid) : solid);
    }
}

/* ---- Distance to particles ------------------------------------------------------------------- */

static void forget_distances(void *data, chunk items) {
    const mac *m = &((const flip *)data)->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        m->phi[0][c] = 2;
}

/* The cells within one of each particle of a block. Those of other blocks of the same colour are
 * out of reach. */
static void distance_to_particles(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const blocks *b = &f->sim->blocks;
    const particles *p = &f->sim->particles;
    const int dim = m->dim;
    for (int64_t o = items.begin; o < items.end; o++) {
        int corner[3];
        const int32_t home = flip_brick_of_block(f, b->coords[f->coloured[o]], corner);
        const int64_t last = b->first[f->coloured[o] + 1];
        for (int64_t i = b->first[f->coloured[o]]; i < last; i++) {
            double x[3] = {0};
            const double radius = f->options->surface_radius * pow(pieces_of(p, i), 1.0 / dim);
            for (int a = 0; a < dim; a++) x[a] = (double)PLANE(p, position, a)[i] + corner[a];
            for (int n = 0; n < neighbour_count(dim); n++) {
                double to[3] = {0};
                int cell[3];
                box_place(3, n, dim, cell);
                for (int a = 0; a < dim; a++) {
                    cell[a] += (int)x[a] - 1;
                    to[a] = cell[a] + 0.5 - x[a];
                }
                real distance = (real)(vec_length(to) - radius);
                int64_t index = mac_cell(m, home, cell);
                if (index >= 0 && distance < m->phi[0][index]) m->phi[0][index] = distance;
            }
        }
    }
}

/* ---- In colliders ---------------------------------------------------------------------------- */

/* A cell whose middle is in a collider takes the mean of its neighbours that are not: the surface
 * meets the collider square, and pressure is not let off into it. It is read before it is written:
 * only cells outside are read. */
static void extend_into_colliders(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const int dim = m->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(dim); c++) {
            int64_t here = brick * mac_cells(dim) + c;
            if (m->solid_phi[0][here] >= 0) continue;
            double sum = 0;
            int at[3], count = 0;
            mac_place(c, dim, at);
            for (int n = 0; n < 2 * dim; n++) {
                const int64_t other = mac_side_of(m, brick, c, at, n).beyond;
                if (other < 0 || m->solid_phi[0][other] < 0) continue;
                sum += (double)m->phi[0][other];
                count++;
            }
            m->phi[0][here] = count ? (real)(sum / count) : 1;
        }
}

/* ---- Which cells are liquid ------------------------------------------------------------------ */

typedef struct surface_pass {
    flip *f;
    cell_bits liquid;
} surface_pass;

static void note_liquid(void *data, chunk items) {
    const surface_pass *s = data;
    const mac *m = &s->f->grid;
    const int slabs = slabs_of(m->dim);
    for (int64_t slab = items.begin * slabs; slab < items.end * slabs; slab++) {
        const real *phi = m->phi[0] + slab * SLAB_CELLS;
        uint64_t cells = 0;
        for (int c = 0; c < SLAB_CELLS; c++) cells |= (uint64_t)(phi[c] < 0) << c;
        s->liquid.words[slab] = cells;
    }
}

spate_status flip_take_liquid(flip *f, cell_bits *liquid) {
    const mac *m = &f->grid;
    surface_pass s = {.f = f, .liquid = {.bricks = &m->bricks, .sets = 1}};
    s.liquid.words =
        scratch_take(&f->sim->scratch, "flip liquid cells",
                     (size_t)(m->bricks.count * slabs_of(m->dim)) + 1, sizeof *s.liquid.words);
    if (!s.liquid.words) return SPATE_OUT_OF_MEMORY;
    parallel_for(f->threads, m->bricks.count, 32, note_liquid, &s);
    *liquid = s.liquid;
    return SPATE_OK;
}

void flip_give_liquid(flip *f) { scratch_give(&f->sim->scratch, "flip liquid cells"); }

/* ---- Holes ----------------------------------------------------------------------------------- */

/* Whether all round a cell there is liquid, or no way out, and liquid somewhere. */
static bool is_hole(const mac *m, int64_t brick, int c) {
    int at[3], liquid = 0;
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        if (s.beyond >= 0 && m->face_fraction[s.axis][s.face] <= 0) continue;
        if (s.beyond < 0 || !(m->phi[0][s.beyond] < 0)) return false;
        liquid++;
    }
    return liquid > 0;
}

/* A single cell of air all round which there is liquid is a gap between particles, not a bubble: as
 * air it would let the pressure off, and collapse. No two such cells are neighbours, so the order
 * does not matter. */
static void fill_holes(void *data, chunk items) {
    const surface_pass *s = data;
    const mac *m = &s->f->grid;
    const int slabs = slabs_of(m->dim);
    const real barely = (real)-0.1;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int slab = 0; slab < slabs; slab++) {
            uint64_t cells = cell_bits_beside(&s->liquid, brick, slab, 0, 0) &
                             ~*cell_bits_word(&s->liquid, brick, slab, 0);
            for (; cells; cells &= cells - 1) {
                const int c = slab * SLAB_CELLS + __builtin_ctzll(cells);
                if (is_hole(m, brick, c)) m->phi[0][brick * mac_cells(m->dim) + c] = barely;
            }
        }
}

/* ---- The volume inside ----------------------------------------------------------------------- */

/* Whether a row of eight cells along the last axis has any that is partly filled. */
static bool has_volume(const real *phi) { return wide_any(wide_load(phi) < wide_splat((real)0.5)); }

static void add_volume(void *data, chunk items, double *part) {
    const mac *m = &((const flip *)data)->grid;
    const domain *d = &((const flip *)data)->sim->scene->domain;
    for (int64_t cell = items.begin * mac_cells(m->dim); cell < items.end * mac_cells(m->dim);
         cell++) {
        if (cell % BRICK_EDGE == 0 && !has_volume(m->phi[0] + cell)) {
            cell += BRICK_EDGE - 1;
            continue;
        }
        const int32_t *corner = m->bricks.coords[cell / mac_cells(m->dim)];
        int at[3];
        bool inside = true;
        mac_place((int)(cell % mac_cells(m->dim)), m->dim, at);
        for (int a = 0; a < m->dim; a++) {
            int g = corner[a] * BRICK_EDGE + at[a];
            inside &= g >= 0 && g < d->cells[a];
        }
        if (!inside) continue;
        double filled = clamp(0.5 - (double)m->phi[0][cell], 0, 1);
        part[0] += filled * clamp(0.5 + (double)m->solid_phi[0][cell], 0, 1);
    }
}

spate_status flip_find_surface(flip *f) {
    pool *threads = f->threads;
    const int64_t bricks = f->grid.bricks.count;
    const int colours = 1 << f->grid.dim;
    if (f->options->surface == SURFACE_VOLUME)
        parallel_for(threads, bricks, 16, volumes_to_distances, f);
    if (f->options->surface == SURFACE_DISTANCE) {
        parallel_for(threads, bricks, 16, forget_distances, f);
        parallel_colours(threads, f->colour_starts, colours, 4, distance_to_particles, f);
    }
    if (f->options->surface == SURFACE_DENSITY) TRY(flip_density_surface(f));
    if (f->sim->scene->collider_count) parallel_for(threads, bricks, 16, extend_into_colliders, f);
    surface_pass holes = {.f = f};
    TRY(flip_take_liquid(f, &holes.liquid));
    parallel_for(threads, bricks, 16, fill_holes, &holes);
    flip_give_liquid(f);
    double cells;
    TRY(parallel_sum(f->sim->ctx, bricks, 16, add_volume, f, 1, &cells));
    f->memory.volume = cells * pow(f->domain->dx, f->grid.dim);
    return SPATE_OK;
}
