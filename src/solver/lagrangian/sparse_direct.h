/*
 * A symmetric positive matrix of 3 x 3 blocks, solved by elimination: L D L^T in the order of AMD
 * (SuiteSparse's LDL and AMD: Davis 2005; Amestoy, Davis and Duff 2004). Its pattern is given once,
 * by groups of rows that all meet each other, as an element's vertices do; order and pattern of L
 * follow from it. One thread, in double: nothing depends on threads.
 *
 * Without these libraries at build time there is none: see sparse_direct_exists().
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_SPARSE_DIRECT_H
#define SPATE_SOLVER_LAGRANGIAN_SPARSE_DIRECT_H

#include "core/context.h"

enum { GROUP_MOST = 6 }; /* rows of blocks in a group */

typedef struct sparse_direct sparse_direct;

bool sparse_direct_exists(void);
/* Groups of rows 0 .. rows - 1; -1 for none. *out is NULL where the matrix would be too large. */
spate_status sparse_direct_create(spate_context *ctx, int64_t rows,
                                  const int32_t (*groups)[GROUP_MOST], int64_t group_count,
                                  sparse_direct **out);
void sparse_direct_free(spate_context *ctx, sparse_direct *s);

/* The matrix becomes zero. */
void sparse_direct_clear(sparse_direct *s);
/* Adds to the block in row and column of the group's members. */
void sparse_direct_add(sparse_direct *s, int64_t group, int row, int column,
                       const double block[3][3]);
/* Adds to the diagonal of a row of blocks. */
void sparse_direct_add_diagonal(sparse_direct *s, int64_t row, double value);
/* x becomes A^-1 x; false where A is not positive. */
bool sparse_direct_solve(sparse_direct *s, double (*x)[3]);
/* Entries of L below its diagonal. */
int64_t sparse_direct_entries(const sparse_direct *s);

#endif
