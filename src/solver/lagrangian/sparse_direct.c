#include "solver/lagrangian/sparse_direct.h"

#ifdef HAVE_LDL

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <suitesparse/amd.h>
#include <suitesparse/ldl.h>

enum { SIDE = 3, BLOCK = SIDE * SIDE };

struct sparse_direct {
    int rows, n;                              /* of blocks, and of numbers */
    int32_t (*slots)[GROUP_MOST][GROUP_MOST]; /* of groups: the block of two members */
    int *first, *row;                         /* blocks of a column, ascending */
    int *diagonal;                            /* of columns: their block */
    /* of numbers, by column: as LDL has them */
    int *Ap, *Ai, *P, *Pinv, *Lp, *Li, *parent, *Lnz, *flag, *pattern;
    double *Ax, *Lx, *D, *Y, *right;
};

bool sparse_direct_exists(void) { return true; }

/* ---- The pattern ----------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Column and row of all blocks, each once, in order; returns how many. */
static int64_t list_blocks(const int32_t (*groups)[GROUP_MOST], int64_t group_count,
                           uint64_t *keys) {
    int64_t count = 0, kept = 0;
    for (int64_t g = 0; g < group_count; g++)
        for (int a = 0; a < GROUP_MOST; a++)
            for (int b = 0; b < GROUP_MOST; b++)
                if (groups[g][a] >= 0 && groups[g][b] >= 0)
                    keys[count++] = (uint64_t)groups[g][a] << 32 | (uint32_t)groups[g][b];
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || keys[k] != keys[kept - 1]) keys[kept++] = keys[k];
    return kept;
}

static int32_t find_block(const sparse_direct *s, int32_t column, int32_t row) {
    int low = s->first[column], high = s->first[column + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (s->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static spate_status lay_pattern(spate_context *ctx, sparse_direct *s,
                                const int32_t (*groups)[GROUP_MOST], int64_t group_count,
                                const uint64_t *keys, int64_t blocks) {
    s->first = take(ctx, (size_t)s->rows + 1, sizeof *s->first);
    s->row = take(ctx, (size_t)blocks + 1, sizeof *s->row);
    s->diagonal = take(ctx, (size_t)s->rows + 1, sizeof *s->diagonal);
    s->slots = take(ctx, (size_t)group_count + 1, sizeof *s->slots);
    if (!s->first || !s->row || !s->diagonal || !s->slots) return SPATE_OUT_OF_MEMORY;
    for (int64_t k = 0; k < blocks; k++) {
        s->first[(keys[k] >> 32) + 1]++;
        s->row[k] = (int)(keys[k] & UINT32_MAX);
    }
    for (int c = 0; c < s->rows; c++) s->first[c + 1] += s->first[c];
    for (int c = 0; c < s->rows; c++) s->diagonal[c] = find_block(s, c, c);
    for (int64_t g = 0; g < group_count; g++)
        for (int a = 0; a < GROUP_MOST; a++)
            for (int b = 0; b < GROUP_MOST; b++)
                s->slots[g][a][b] = groups[g][a] >= 0 && groups[g][b] >= 0
                                        ? find_block(s, groups[g][b], groups[g][a])
                                        : -1;
    return SPATE_OK;
}

/* ---- The order ------------------------------------------------------------------------------- */

/* Of numbers: those of a block stay together. */
static bool order_rows(sparse_direct *s) {
    if (amd_order(s->rows, s->first, s->row, s->pattern, NULL, NULL) < AMD_OK) return false;
    for (int k = 0; k < s->rows; k++)
        for (int a = 0; a < SIDE; a++) s->P[SIDE * k + a] = SIDE * s->pattern[k] + a;
    return true;
}

static void lay_numbers(sparse_direct *s) {
    int at = 0;
    for (int c = 0; c < s->n; c++) {
        s->Ap[c] = at;
        for (int k = s->first[c / SIDE]; k < s->first[c / SIDE + 1]; k++)
            for (int a = 0; a < SIDE; a++) s->Ai[at++] = SIDE * s->row[k] + a;
    }
    s->Ap[s->n] = at;
}

static spate_status take_numbers(spate_context *ctx, sparse_direct *s, size_t blocks) {
    const size_t n = (size_t)s->n + 1;
    int **ints[] = {&s->Ap, &s->P, &s->Pinv, &s->Lp, &s->parent, &s->Lnz, &s->flag, &s->pattern};
    double **numbers[] = {&s->D, &s->Y, &s->right};
    bool fine = (s->Ai = take(ctx, BLOCK * blocks, sizeof *s->Ai)) != NULL;
    fine = fine && (s->Ax = take(ctx, BLOCK * blocks, sizeof *s->Ax));
    for (int k = 0; k < COUNT_OF(ints); k++) fine = fine && (*ints[k] = take(ctx, n, sizeof(int)));
    for (int k = 0; k < COUNT_OF(numbers); k++)
        fine = fine && (*numbers[k] = take(ctx, n, sizeof(double)));
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status analyse(spate_context *ctx, sparse_direct *s, bool *fits) {
    int64_t entries = 0;
    lay_numbers(s);
    *fits = order_rows(s);
    if (!*fits) return SPATE_OK;
    ldl_symbolic(s->n, s->Ap, s->Ai, s->Lp, s->parent, s->Lnz, s->flag, s->P, s->Pinv);
    for (int c = 0; c < s->n; c++) entries += s->Lnz[c];
    *fits = entries < INT_MAX;
    if (!*fits) return SPATE_OK;
    s->Li = take(ctx, (size_t)entries + 1, sizeof *s->Li);
    s->Lx = take(ctx, (size_t)entries + 1, sizeof *s->Lx);
    return s->Li && s->Lx ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

spate_status sparse_direct_create(spate_context *ctx, int64_t rows,
                                  const int32_t (*groups)[GROUP_MOST], int64_t group_count,
                                  sparse_direct **out) {
    const int64_t pairs = GROUP_MOST * GROUP_MOST * group_count;
    bool fits = false;
    *out = NULL;
    if (rows > INT_MAX / SIDE || pairs > INT_MAX / BLOCK) return SPATE_OK;
    sparse_direct *s = take(ctx, 1, sizeof *s);
    uint64_t *keys = take(ctx, (size_t)pairs + 1, sizeof *keys);
    spate_status status = s && keys ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (!status) {
        s->rows = (int)rows, s->n = SIDE * (int)rows;
        const int64_t blocks = list_blocks(groups, group_count, keys);
        status = lay_pattern(ctx, s, groups, group_count, keys, blocks);
        if (!status) status = take_numbers(ctx, s, (size_t)blocks);
        if (!status) status = analyse(ctx, s, &fits);
    }
    give(ctx, keys);
    if (status || !fits)
        sparse_direct_free(ctx, s);
    else
        *out = s;
    return status;
}

void sparse_direct_free(spate_context *ctx, sparse_direct *s) {
    if (!s) return;
    void *all[] = {s->slots, s->first, s->row, s->diagonal, s->Ap,    s->Ai,   s->P,
                   s->Pinv,  s->Lp,    s->Li,  s->parent,   s->Lnz,   s->flag, s->pattern,
                   s->Ax,    s->Lx,    s->D,   s->Y,        s->right, s};
    for (int k = 0; k < COUNT_OF(all); k++) give(ctx, all[k]);
}

int64_t sparse_direct_entries(const sparse_direct *s) { return s->Lp[s->n]; }

/* ---- Numbers --------------------------------------------------------------------------------- */

void sparse_direct_clear(sparse_direct *s) {
    memset(s->Ax, 0, (size_t)s->Ap[s->n] * sizeof *s->Ax);
}

/* Where a column of a block begins: columns of one column of blocks follow each other, each with the
 * rows of all its blocks. */
static double *column_of(const sparse_direct *s, int column, int block, int number) {
    return s->Ax + s->Ap[SIDE * column + number] + SIDE * (block - s->first[column]);
}

void sparse_direct_add(sparse_direct *s, int64_t group, int row, int column,
                       const double block[3][3]) {
    const int32_t slot = s->slots[group][row][column];
    const int of = s->row[s->slots[group][column][column]];
    for (int c = 0; c < SIDE; c++) {
        double *out = column_of(s, of, slot, c);
        for (int r = 0; r < SIDE; r++) out[r] += block[r][c];
    }
}

void sparse_direct_add_diagonal(sparse_direct *s, int64_t row, double value) {
    for (int c = 0; c < SIDE; c++) column_of(s, (int)row, s->diagonal[row], c)[c] += value;
}

bool sparse_direct_solve(sparse_direct *s, double (*x)[3]) {
    double *b = &x[0][0];
    const int done = ldl_numeric(s->n, s->Ap, s->Ai, s->Ax, s->Lp, s->parent, s->Lnz, s->Li, s->Lx,
                                 s->D, s->Y, s->pattern, s->flag, s->P, s->Pinv);
    for (int k = 0; k < s->n; k++)
        if (done < s->n || !(s->D[k] > 0)) return false;
    ldl_perm(s->n, s->right, b, s->P);
    ldl_lsolve(s->n, s->right, s->Lp, s->Li, s->Lx);
    ldl_dsolve(s->n, s->right, s->D);
    ldl_ltsolve(s->n, s->right, s->Lp, s->Li, s->Lx);
    ldl_permt(s->n, b, s->right, s->P);
    return true;
}

#else

bool sparse_direct_exists(void) { return false; }

spate_status sparse_direct_create(spate_context *ctx, int64_t rows,
                                  const int32_t (*groups)[GROUP_MOST], int64_t group_count,
                                  sparse_direct **out) {
    (void)ctx, (void)rows, (void)groups, (void)group_count;
    *out = NULL;
    return SPATE_OK;
}

void sparse_direct_free(spate_context *ctx, sparse_direct *s) { (void)ctx, (void)s; }

void sparse_direct_clear(sparse_direct *s) { (void)s; }

void sparse_direct_add(sparse_direct *s, int64_t group, int row, int column,
                       const double block[3][3]) {
    (void)s, (void)group, (void)row, (void)column, (void)block;
}

void sparse_direct_add_diagonal(sparse_direct *s, int64_t row, double value) {
    (void)s, (void)row, (void)value;
}

bool sparse_direct_solve(sparse_direct *s, double (*x)[3]) {
    (void)s, (void)x;
    return false;
}

int64_t sparse_direct_entries(const sparse_direct *s) {
    (void)s;
    return 0;
}

#endif
