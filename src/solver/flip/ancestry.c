#include "solver/flip/ancestry.h"

/* Parents of parents are followed this far, for nothing in a checkpoint may lead round. */
enum { DEPTH_MOST = GENERATIONS_MOST + 1 };

/* ---- Records --------------------------------------------------------------------------------- */

descent *ancestry_find(const ancestry *a, uint64_t id) {
    int64_t low = 0, high = a->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (a->records[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    descent *d = a->records + low;
    return low < a->count && d->id == id && !(d->state & DESCENT_DROPPED) ? d : NULL;
}

spate_status ancestry_add(spate_context *ctx, ancestry *a, const descent *d) {
    TRY(GROW(ctx, a->records, a->capacity, a->count + 1));
    a->records[a->count++] = *d;
    for (int k = 0; k < 2; k++) {
        descent *parent = ancestry_find(a, d->parent[k]);
        if (parent) parent->children++;
    }
    return SPATE_OK;
}

/* Drops a record that nobody needs, and then those of its parents that only it needed. */
static void drop(ancestry *a, descent *d, int depth) {
    if (!(d->state & DESCENT_REMOVED) || d->children > 0 || depth > DEPTH_MOST) return;
    d->state |= DESCENT_DROPPED;
    a->dropped++;
    for (int k = 0; k < 2; k++) {
        descent *parent = ancestry_find(a, d->parent[k]);
        if (!parent) continue;
        parent->children--;
        drop(a, parent, depth + 1);
    }
}

void ancestry_remove(ancestry *a, descent *d) {
    d->state |= DESCENT_REMOVED;
    drop(a, d, 0);
}

void ancestry_forward(ancestry *a, uint64_t from, uint64_t to) {
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 2; k++)
            if (a->records[i].parent[k] == from) a->records[i].parent[k] = to;
}

void ancestry_forward_all(ancestry *a, const heir_table *to, const particles *p) {
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 2; k++) {
            const heir *h = heir_find(to, a->records[i].parent[k]);
            if (h->id) a->records[i].parent[k] = p->id[h->index];
        }
}

void ancestry_compact(ancestry *a) {
    enum { FEW = 1024 };
    if (a->dropped < FEW || 2 * a->dropped < a->count) return;
    int64_t kept = 0;
    for (int64_t i = 0; i < a->count; i++)
        if (!(a->records[i].state & DESCENT_DROPPED)) a->records[kept++] = a->records[i];
    a->count = kept;
    a->dropped = 0;
}

/* ---- Heirs ----------------------------------------------------------------------------------- */

heir *heir_find(const heir_table *t, uint64_t id) {
    uint64_t at = id * UINT64_C(0x9e3779b97f4a7c15) >> 20 & t->mask;
    while (t->slots[at].id && t->slots[at].id != id + 1) at = (at + 1) & t->mask;
    return &t->slots[at];
}

uint64_t heir_slots(const ancestry *a, int64_t removals) {
    int64_t ids = 2 * removals; /* two parents each, and two of every parent with a record */
    for (int64_t i = 0; i < a->count; i++)
        if (a->records[i].children > 0) ids += 2;
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)ids) slots *= 2;
    return slots;
}

static void add_heirs(const ancestry *a, const descent *d, heir_table *t, int depth) {
    for (int k = 0; k < 2 && depth < DEPTH_MOST; k++) {
        heir *h = heir_find(t, d->parent[k]);
        if (h->id) continue;
        *h = (heir){d->parent[k] + 1, -1};
        const descent *parent = ancestry_find(a, d->parent[k]);
        if (parent) add_heirs(a, parent, t, depth + 1);
    }
}

void heirs_of(const ancestry *a, const descent *d, heir_table *t) { add_heirs(a, d, t, 0); }

static int64_t living(const heir_table *t, uint64_t id) {
    const heir *h = heir_find(t, id);
    return h->id ? h->index : -1;
}

/* Whether a share for a particle reaches anybody. */
static bool has_heir(const ancestry *a, const heir_table *t, uint64_t id, int depth) {
    if (living(t, id) >= 0) return true;
    const descent *d = ancestry_find(a, id);
    return d && depth < DEPTH_MOST &&
           (has_heir(a, t, d->parent[0], depth + 1) || has_heir(a, t, d->parent[1], depth + 1));
}

static void add_share(share_list *out, int64_t index, double share) {
    for (int k = 0; k < out->count; k++)
        if (out->index[k] == index) {
            out->share[k] += share;
            return;
        }
    if (out->count == SHARES_MOST) {
        out->share[0] += share;
        return;
    }
    out->index[out->count] = index, out->share[out->count] = share;
    out->count++;
}

static void divide(const ancestry *a, const descent *d, const heir_table *t, double whole,
                   int depth, share_list *out) {
    const double given = d->taken[0] + d->taken[1];
    const bool reach[2] = {has_heir(a, t, d->parent[0], depth),
                           has_heir(a, t, d->parent[1], depth)};
    if (reach[0] != reach[1]) out->aside = true;
    for (int k = 0; k < 2; k++) {
        if (!reach[k]) continue;
        const double part = reach[0] && reach[1] ? d->taken[k] / given : 1;
        const int64_t index = living(t, d->parent[k]);
        if (index >= 0) {
            add_share(out, index, whole * part);
            continue;
        }
        out->through = true;
        divide(a, ancestry_find(a, d->parent[k]), t, whole * part, depth + 1, out);
    }
}

void ancestry_share(const ancestry *a, const descent *d, const heir_table *t, share_list *out) {
    *out = (share_list){0};
    divide(a, d, t, 1, 0, out);
}
