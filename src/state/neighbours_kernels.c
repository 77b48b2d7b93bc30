/*
 * The hot part of the neighbour search: distances, eight candidates at a time.
 *
 * Candidates of a block lie row by row in its set, cells of a row along the last axis one after
 * another. Those of a particle are then up to 2 reach + 1 cells of each of the (2 reach +
 * 1)^(dim-1) rows around it, less where a row is farther away: contiguous runs, the same for all
 * particles of a cell, for which they are cut into eights once. The last eight of a run may go
 * beyond it: what comes there is too many cells away, or one of the far places that end a row, and
 * so never near.
 */
#include "core/kernel_table.h"
#include "state/neighbours_search.h"

/* Cells; its square is beyond every radius and no infinity. */
static const real FAR = (real)1e6;

/* ---- Candidates of a block ------------------------------------------------------------------- */

/* Copies particles of a block that lies at `offset` to the set from `to` on. Up to seven places
 * too many are written: the next copy, or the end of the row, comes there. */
INLINE void copy_particles(const candidate_set *v, int32_t to, const particles *p, int64_t from,
                           uint32_t count, const real offset[3], int dim) {
    const wide_index lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    for (uint32_t k = 0; k < count; k += WIDE) {
        const int64_t i = from + k;
        for (int a = 0; a < dim; a++)
            wide_store(v->x[a] + to + k,
                       wide_load(PLANE(p, position, a) + i) + wide_splat(offset[a]));
        wide_store_index(v->index + to + k, lanes + wide_splat_index((int32_t)i));
    }
}

/* A row of cells: those from `cell` on of three blocks that lie one after another along the last
 * axis. */
typedef struct cell_row {
    const int32_t *around; /* the blocks */
    int cell;
    real offset
        [3]; /* of a block's corner, cells; along the last axis of the one that is being copied */
} cell_row;

/* Of the outer two blocks only cells within reach. Returns where the next row begins. */
INLINE int32_t copy_row(const search *s, const candidate_set *v, cell_row *row, int32_t *starts,
                        int32_t to, int dim) {
    const blocks *b = s->among_blocks;
    for (int step = 0; step < 3; step++) {
        const int low = step == 0 ? BLOCK_EDGE - s->reach : 0;
        const int high = step == 2 ? s->reach : BLOCK_EDGE;
        const int32_t block = row->around[step], tile = block < 0 ? -1 : b->tile[block];
        if (tile < 0) {
            for (int c = low; c < high; c++) *starts++ = to;
            continue;
        }
        const uint32_t *cells = s->cells[tile] + row->cell;
        for (int c = low; c < high; c++) *starts++ = to + (int32_t)(cells[c] - cells[low]);
        row->offset[dim - 1] = (real)((step - 1) * BLOCK_EDGE);
        copy_particles(v, to, s->among, b->first[block] + cells[low], cells[high] - cells[low],
                       row->offset, dim);
        to += (int32_t)(cells[high] - cells[low]);
    }
    *starts = to;
    wide_store(v->x[0] + to, wide_splat(FAR));
    return to + WIDE;
}

INLINE void copy_candidates(const search *s, candidate_set *v, int32_t block, int dim) {
    const int edge = BLOCK_EDGE + 2 * s->reach, rows = dim == 2 ? edge : edge * edge;
    int32_t *starts = v->starts, to = 0;
    for (int r = 0; r < rows; r++, starts += edge + 1) {
        const int place[2] = {dim == 2 ? r : r / edge, r % edge};
        cell_row row = {.cell = 0};
        int code = 0;
        for (int a = 0; a < dim - 1; a++) {
            const int at =
                place[a] + BLOCK_EDGE - s->reach; /* from the corner of the block before */
            code = code * 3 + at / BLOCK_EDGE;
            row.cell = row.cell * BLOCK_EDGE + at % BLOCK_EDGE;
            row.offset[a] = (real)((at / BLOCK_EDGE - 1) * BLOCK_EDGE);
        }
        row.around = s->around[block] + code * 3;
        row.cell *= BLOCK_EDGE;
        to = copy_row(s, v, &row, starts, to, dim);
    }
}

/* ---- Candidates of a cell -------------------------------------------------------------------- */

INLINE int cell_of(const particles *p, int64_t i, int dim) {
    int cell = 0;
    for (int a = 0; a < dim; a++) cell = cell * BLOCK_EDGE + (int)PLANE(p, position, a)[i];
    return cell;
}

/* Cuts the runs of a cell into eights. */
INLINE void find_eights(const search *s, candidate_set *v, int cell, int dim) {
    const int side = 2 * s->reach + 1, edge = BLOCK_EDGE + 2 * s->reach;
    const int x = dim == 2 ? cell / BLOCK_EDGE : cell / (BLOCK_EDGE * BLOCK_EDGE);
    const int y = dim == 2 ? 0 : cell / BLOCK_EDGE % BLOCK_EDGE, z = cell % BLOCK_EDGE;
    const int rows_y = dim == 2 ? 1 : edge, side_y = dim == 2 ? 1 : side;
    int32_t *eights = v->eights, count = 0;
    for (int i = 0; i < side; i++) {
        const int32_t *starts = v->starts + ((x + i) * rows_y + y) * (edge + 1) + z;
        for (int j = 0; j < side_y; j++, starts += edge + 1) {
            const int half = s->half[i][j];
            if (half < 0) continue;
            const int32_t begin = starts[s->reach - half], end = starts[s->reach + half + 1];
            if (i == side / 2 && j == side_y / 2) {
                v->own_eight = count;
                v->own_lane = starts[s->reach] - begin;
            }
            eights[count] = begin; /* most runs are short: no branch to guess */
            count += end > begin;
            for (int32_t k = begin + WIDE; k < end; k += WIDE) eights[count++] = k;
        }
    }
    v->eight_count = count;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Which of the candidates k .. k + 7 are nearer to x than the radius. */
INLINE wide_int near_lanes(real *const planes[3], int64_t k, const wide x[3], wide radius2,
                           int dim) {
    wide d = wide_load(planes[0] + k) - x[0], distance2 = d * d;
    for (int a = 1; a < dim; a++) {
        d = wide_load(planes[a] + k) - x[a];
        distance2 = wide_fma(d, d, distance2);
    }
    return distance2 < radius2;
}

/* How many candidates are near, the particle itself included. */
INLINE int32_t count_row(const candidate_set *v, const wide x[3], wide radius2, int dim) {
    real *const planes[3] = {v->x[0], v->x[1], v->x[2]};
    wide_int hits = {0};
    int32_t count = 0;
    for (int32_t e = 0; e < v->eight_count; e++)
        hits -= near_lanes(planes, v->eights[e], x, radius2, dim);
    for (int lane = 0; lane < WIDE; lane++) count += (int32_t)hits[lane];
    return count;
}

/* Where the list is being written: the next place, and the end of what this chunk of blocks may
 * write. */
typedef struct cursor {
    int32_t *at, *end;
} cursor;

/* The first `count` of eight. All are written where there is room: the next ones come over them. */
INLINE void put(cursor *c, wide_index eight, int count) {
    if (__builtin_expect(c->end - c->at >= WIDE, 1)) {
        wide_store_index(c->at, eight);
    } else {
        int32_t lanes[WIDE];
        wide_store_index(lanes, eight);
        for (int lane = 0; lane < count; lane++) c->at[lane] = lanes[lane];
    }
    c->at += count;
}

/* Masks first, for they do not depend on each other; then each eight is packed and written behind
 * the last. The particle itself is candidate `self` of its own run, or < 0 if there is none. */
INLINE void fill_row(const search *s, const candidate_set *v, int32_t self, const wide x[3],
                     cursor *to, int dim) {
    real *const planes[3] = {v->x[0], v->x[1], v->x[2]};
    const int32_t *eights = v->eights, *index = v->index, eight_count = v->eight_count;
    const wide radius2 = wide_splat(s->radius2);
    uint8_t *masks = v->masks;
    for (int32_t e = 0; e < eight_count; e++)
        masks[e] = (uint8_t)wide_bits(near_lanes(planes, eights[e], x, radius2, dim));
    if (self >= 0) masks[v->own_eight + self / WIDE] ^= (uint8_t)(1 << self % WIDE);
    cursor c = *to;
    for (int32_t e = 0; e < eight_count; e++) {
        const unsigned bits = masks[e];
        const wide_index all = wide_load_index(index + eights[e]);
        put(&c, wide_permute_index(all, s->packing[bits]), __builtin_popcount(bits));
    }
    *to = c;
}

/* The last entry again, up to a multiple of WIDE. */
INLINE void fill_up(cursor *c, int32_t number) {
    const int missing = (int)(whole_wides(number) - number);
    if (missing) put(c, wide_splat_index(c->at[-1]), missing);
}

/* Goes through the rows of an occupied block; those of the list up to `end` are this chunk's. */
INLINE void visit_block(search *s, candidate_set *v, int64_t o, int64_t end, bool fill, int dim) {
    neighbours *n = s->n;
    const blocks *b = s->of_blocks;
    const int32_t block = b->occupied[o];
    cursor c = {0};
    int64_t cell_first = 0, length = 0;
    int cell = -1;
    if (fill) c = (cursor){n->list + s->starts[o], n->list + end};
    copy_candidates(s, v, block, dim);
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
        const int cell_now = cell_of(s->of, i, dim);
        if (cell_now != cell) {
            find_eights(s, v, cell_now, dim);
            cell = cell_now, cell_first = i;
        }
        wide x[3];
        for (int a = 0; a < dim; a++) x[a] = wide_splat(PLANE(s->of, position, a)[i]);
        if (fill) {
            const int32_t self = s->is_same ? v->own_lane + (int32_t)(i - cell_first) : -1;
            n->first[i] = c.at - n->list;
            fill_row(s, v, self, x, &c, dim);
            fill_up(&c, n->number[i]);
        } else {
            n->number[i] = count_row(v, x, wide_splat(s->radius2), dim) - s->is_same;
            length += whole_wides(n->number[i]);
        }
    }
    if (!fill) s->starts[o + 1] = length;
}

INLINE void count_chunk(search *s, chunk items, int dim) {
    for (int64_t o = items.begin; o < items.end; o++)
        visit_block(s, &s->candidate_sets[items.worker], o, 0, false, dim);
}

INLINE void fill_chunk(search *s, chunk items, int dim) {
    for (int64_t o = items.begin; o < items.end; o++)
        visit_block(s, &s->candidate_sets[items.worker], o, s->starts[items.end], true, dim);
}

TASK_BY_DIM(count)
TASK_BY_DIM(fill)

const neighbour_kernels ISA_NAME(neighbour_kernels) = {FIELD_BY_DIM(count) FIELD_BY_DIM(fill)};
