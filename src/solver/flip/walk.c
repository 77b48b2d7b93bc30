#include "solver/flip/walk.h"

#include <math.h>
#include <stdlib.h>

static int by_ids(const void *a, const void *b) {
    const candidate *one = a, *two = b;
    for (int k = 0; k < 2; k++)
        if (one->id[k] != two->id[k]) return one->id[k] < two->id[k] ? -1 : 1;
    return 0;
}

void candidates_sort(candidate *list, int64_t count) {
    qsort(list, (size_t)count, sizeof *list, by_ids);
}

/* A candidate in the order in which walks begin: the sparsest first, then by index. */
typedef struct start {
    int64_t component, index;
    real density;
} start;

static int by_component_and_density(const void *a, const void *b) {
    const start *one = a, *two = b;
    if (one->component != two->component) return one->component < two->component ? -1 : 1;
    if (one->density != two->density) return one->density < two->density ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

typedef struct walker {
    const walk *w;
    int64_t *first; /* of each block in `members`: candidates by the block they are in */
    int64_t *members;
    int64_t *component; /* of each candidate, -1 before it is known */
    int64_t *stack;
    start *starts;   /* all, component by component */
    int64_t *begins; /* first start of each component, and of what would be the next */
    int64_t components;
    int64_t *chosen; /* those of a component from its first start on */
    int64_t *picked; /* how many, by component */
    uint8_t *gone;
} walker;

/* ---- Who is near ----------------------------------------------------------------------------- */

static void bucket(walker *s) {
    const int32_t sites = s->w->blocks->count;
    memset(s->first, 0, ((size_t)sites + 2) * sizeof *s->first);
    for (int64_t c = 0; c < s->w->count; c++) s->first[s->w->list[c].block + 2]++;
    for (int32_t b = 0; b < sites; b++) s->first[b + 2] += s->first[b + 1];
    for (int64_t c = 0; c < s->w->count; c++) s->members[s->first[s->w->list[c].block + 1]++] = c;
}

/* Calls for every other candidate within `far`, with its squared distance. */
typedef void (*visit)(walker *s, int64_t other, double distance2, void *data);

static void visit_block(walker *s, int64_t c, int32_t block, const double corner[3], visit call,
                        void *data) {
    const candidate *own = &s->w->list[c];
    for (int64_t m = s->first[block]; m < s->first[block + 1]; m++) {
        const int64_t other = s->members[m];
        double distance2 = 0;
        for (int a = 0; a < s->w->blocks->dim; a++) {
            const double way = (double)s->w->list[other].x[a] + corner[a] - (double)own->x[a];
            distance2 += way * way;
        }
        if (other != c && distance2 < s->w->far * s->w->far) call(s, other, distance2, data);
    }
}

static void visit_near(walker *s, int64_t c, visit call, void *data) {
    const candidate *own = &s->w->list[c];
    const blocks *b = s->w->blocks;
    for (int code = 0; code < neighbour_count(b->dim); code++) {
        const int32_t block = b->neighbours[own->block][code];
        if (block < 0 || s->first[block] == s->first[block + 1]) continue;
        int at[3];
        double corner[3] = {0}, away2 = 0;
        box_place(3, code, b->dim, at);
        for (int a = 0; a < b->dim; a++) {
            corner[a] = (at[a] - 1) * BLOCK_EDGE;
            const double x = (double)own->x[a], low = corner[a] - x,
                         high = x - corner[a] - BLOCK_EDGE;
            const double way = fmax(fmax(low, high), 0);
            away2 += way * way;
        }
        if (away2 < s->w->far * s->w->far) visit_block(s, c, block, corner, call, data);
    }
}

/* ---- Components ------------------------------------------------------------------------------ */

static void join(walker *s, int64_t other, double distance2, void *data) {
    int64_t *depth = data;
    (void)distance2;
    if (s->component[other] >= 0) return;
    s->component[other] = s->components;
    s->stack[(*depth)++] = other;
}

static void find_components(walker *s) {
    for (int64_t c = 0; c < s->w->count; c++) s->component[c] = s->w->whole ? 0 : -1;
    s->components = s->w->whole && s->w->count;
    for (int64_t c = 0; c < s->w->count; c++) {
        if (s->component[c] >= 0) continue;
        int64_t depth = 1;
        s->component[c] = s->components;
        s->stack[0] = c;
        while (depth > 0) {
            const int64_t next = s->stack[--depth];
            visit_near(s, next, join, &depth);
        }
        s->components++;
    }
}

static void list_starts(walker *s) {
    for (int64_t c = 0; c < s->w->count; c++)
        s->starts[c] = (start){s->component[c], c, s->w->list[c].density};
    qsort(s->starts, (size_t)s->w->count, sizeof *s->starts, by_component_and_density);
    for (int64_t c = s->w->count - 1; c >= 0; c--) s->begins[s->starts[c].component] = c;
    s->begins[s->components] = s->w->count;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void drop_near(walker *s, int64_t other, double distance2, void *data) {
    (void)data;
    if (distance2 < s->w->near * s->w->near) s->gone[other] = 1;
}

typedef struct nearest {
    int64_t index;
    double distance2;
} nearest;

static void find_nearest(walker *s, int64_t other, double distance2, void *data) {
    nearest *n = data;
    if (s->gone[other]) return;
    if (n->index >= 0 &&
        (distance2 > n->distance2 || (distance2 == n->distance2 && other > n->index)))
        return;
    *n = (nearest){other, distance2};
}

static void walk_component(walker *s, int64_t component) {
    const int64_t begin = s->begins[component], end = s->begins[component + 1];
    int64_t picked = 0;
    for (int64_t k = begin; k < end; k++) {
        int64_t c = s->starts[k].index;
        while (c >= 0 && !s->gone[c]) {
            nearest next = {-1, 0};
            s->chosen[begin + picked++] = c;
            s->gone[c] = 1;
            visit_near(s, c, drop_near, NULL);
            visit_near(s, c, find_nearest, &next);
            c = next.index;
        }
    }
    s->picked[component] = picked;
}

static void walk_components(void *data, chunk items) {
    for (int64_t k = items.begin; k < items.end; k++) walk_component(data, k);
}

static void walk_all(walker *s, pool *threads, int64_t *chosen, int64_t *picked) {
    memset(s->gone, 0, (size_t)s->w->count);
    bucket(s);
    find_components(s);
    list_starts(s);
    parallel_for(threads, s->components, 1, walk_components, s);
    *picked = 0;
    for (int64_t k = 0; k < s->components; k++)
        for (int64_t n = 0; n < s->picked[k]; n++)
            chosen[(*picked)++] = s->chosen[s->begins[k] + n];
}

spate_status walk_choose(const walk *w, scratch *memory, pool *threads, int64_t *chosen,
                         int64_t *picked) {
    const size_t count = (size_t)w->count + 1;
    walker s = {.w = w};
    const struct {
        const char *name;
        void **array;
        size_t count, bytes;
    } rooms[] = {
        {"walk blocks", (void **)&s.first, (size_t)w->blocks->count + 2, sizeof *s.first},
        {"walk members", (void **)&s.members, count, sizeof *s.members},
        {"walk component", (void **)&s.component, count, sizeof *s.component},
        {"walk stack", (void **)&s.stack, count, sizeof *s.stack},
        {"walk starts", (void **)&s.starts, count, sizeof *s.starts},
        {"walk begins", (void **)&s.begins, count, sizeof *s.begins},
        {"walk chosen", (void **)&s.chosen, count, sizeof *s.chosen},
        {"walk picked", (void **)&s.picked, count, sizeof *s.picked},
        {"walk gone", (void **)&s.gone, count, 1},
    };
    bool enough = true;
    for (int r = 0; r < COUNT_OF(rooms); r++) {
        *rooms[r].array = scratch_take(memory, rooms[r].name, rooms[r].count, rooms[r].bytes);
        enough &= *rooms[r].array != NULL;
    }
    if (enough) walk_all(&s, threads, chosen, picked);
    for (int r = 0; r < COUNT_OF(rooms); r++)
        if (*rooms[r].array) scratch_give(memory, rooms[r].name);
    return enough ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
