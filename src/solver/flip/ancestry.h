/*
 * Who gave the mass of inserted particles. A new particle k takes a third of the masses of a pair
 * p, q; when it goes, what it has returns to them as a : b, the masses that they gave. Where a
 * parent is gone its share goes on:
 *
 *   p was inserted and removed        to its own parents, divided by what those gave (`through`)
 *   p became part of another          to that one (ancestry_forward)
 *   p left the domain or was drained  to q (`aside`)
 *   both are gone                     to the nearest particle (`nearest`); without one k stays (`kept`)
 *
 * All of this is linear in the masses, so the order of removals does not matter, and when the last
 * descendant of a particle is gone it has its mass again. The record of a removed particle is kept
 * as long as one of its children has a record. Ids grow, so records are in the order of their ids,
 * and a particle is younger than its parents.
 */
#ifndef SPATE_SOLVER_FLIP_ANCESTRY_H
#define SPATE_SOLVER_FLIP_ANCESTRY_H

#include "solver/solver.h"

enum { DESCENT_REMOVED = 1, DESCENT_DROPPED = 2 };

typedef struct descent {
    uint64_t id, parent[2];
    double taken[2];  /* of their masses, kg */
    int64_t born;     /* step */
    int32_t children; /* records that name it as a parent */
    uint32_t state;   /* DESCENT_ bits */
} descent;

typedef struct ancestry {
    descent *records; /* by id */
    int64_t count, capacity, dropped;
} ancestry;

/* An id later than all before. */
spate_status ancestry_add(spate_context *ctx, ancestry *a, const descent *d);
/* NULL where there is none, or it was dropped. */
descent *ancestry_find(const ancestry *a, uint64_t id);
/* The particle is gone; its record too unless it has children. */
void ancestry_remove(ancestry *a, descent *d);
void ancestry_forward(ancestry *a, uint64_t from, uint64_t to);
/* Throws dropped records away where they are many. */
void ancestry_compact(ancestry *a);

/* ---- Returning mass -------------------------------------------------------------------------- */

/* Where particles are that may get mass: a hash table from ids to indices, -1 for those that are
 * gone. */
typedef struct heir {
    uint64_t id; /* + 1; 0: free */
    int64_t index;
} heir;
typedef struct heir_table {
    heir *slots;
    uint64_t mask;
} heir_table;

heir *heir_find(const heir_table *t, uint64_t id); /* its slot, or the free one for it */
/* As ancestry_forward for all ids in a table, to those of the particles at their indices. */
void ancestry_forward_all(ancestry *a, const heir_table *to, const particles *p);
/* Room for the heirs of `removals` particles. */
uint64_t heir_slots(const ancestry *a, int64_t removals);
/* Puts all into the table that may get something of a record's. */
void heirs_of(const ancestry *a, const descent *d, heir_table *t);

/* Who gets what of one particle's mass. */
enum { SHARES_MOST = 64 };
typedef struct share_list {
    int count;
    int64_t index[SHARES_MOST];
    double share[SHARES_MOST];
    bool through, aside;
} share_list;

/* Empty where no heir is left. */
void ancestry_share(const ancestry *a, const descent *d, const heir_table *t, share_list *out);

/* ---- The particles' field -------------------------------------------------------------------- */

/* `generation`: 0 for what the scene has made, one more than that of the elder parent for inserted
 * ones; and a bit for those that were a parent. */
enum { GENERATION_PARENT = 0x80, GENERATIONS_MOST = 12 };
static inline int particle_generation(const particles *p, int64_t i) {
    return p->generation[i] & ~GENERATION_PARENT;
}

#endif
