/* A tree of boxes; see bvh.h. */
#include "pictures/trace/bvh.h"

enum { LEAF = 4, DEEPEST = 64 };

/* Parts `first` .. of the list; or two nodes, this one's neighbour and `first`. */
typedef struct bvh_node {
    v3 box[2];
    int32_t first, count; /* count 0: not a leaf */
} bvh_node;

struct bvh {
    spate_context *ctx;
    bvh_node *nodes;
    int32_t node_count;
    int32_t *parts;
    v3 (*boxes)[2]; /* of parts, while it is made */
};

static float middle(const bvh *b, int32_t part, int axis) {
    return b->boxes[part][0][axis] + b->boxes[part][1][axis];
}

static void swap(int32_t *a, int32_t *b) {
    const int32_t t = *a;
    *a = *b, *b = t;
}

/* Moves the lower half of parts [from, to) to their front (quickselect). */
static void halve(bvh *b, int32_t from, int32_t to, int axis) {
    const int32_t half = (from + to) / 2;
    while (to - from > 1) {
        const float pivot = middle(b, b->parts[(from + to) / 2], axis);
        int32_t low = from, high = to - 1;
        while (low <= high) {
            while (middle(b, b->parts[low], axis) < pivot) low++;
            while (middle(b, b->parts[high], axis) > pivot) high--;
            if (low <= high) swap(&b->parts[low++], &b->parts[high--]);
        }
        if (half <= high)
            to = high + 1;
        else if (half >= low)
            from = low;
        else
            return;
    }
}

static int longest_axis(const bvh *b, int32_t from, int32_t to) {
    v3 low = v3_splat(INFINITY), high = v3_splat(-INFINITY);
    for (int32_t i = from; i < to; i++)
        for (int a = 0; a < 3; a++) {
            const float m = middle(b, b->parts[i], a);
            low[a] = min_of(low[a], m), high[a] = max_of(high[a], m);
        }
    const v3 d = high - low;
    return d[0] >= d[1] && d[0] >= d[2] ? 0 : d[1] >= d[2] ? 1 : 2;
}

static void build(bvh *b, int32_t from, int32_t to) {
    bvh_node *n = &b->nodes[b->node_count++];
    n->box[0] = v3_splat(INFINITY), n->box[1] = v3_splat(-INFINITY);
    for (int32_t i = from; i < to; i++)
        for (int a = 0; a < 3; a++) {
            n->box[0][a] = min_of(n->box[0][a], b->boxes[b->parts[i]][0][a]);
            n->box[1][a] = max_of(n->box[1][a], b->boxes[b->parts[i]][1][a]);
        }
    n->first = from, n->count = to - from;
    if (n->count <= LEAF) return;
    halve(b, from, to, longest_axis(b, from, to));
    n->count = 0;
    build(b, from, (from + to) / 2);
    n->first = b->node_count;
    build(b, (from + to) / 2, to);
}

spate_status bvh_create(spate_context *ctx, const void *of, int64_t count, bvh_box *box,
                        bvh **out) {
    *out = NULL;
    if (count > INT32_MAX / 2)
        return fail(ctx, SPATE_BAD_INPUT, "a picture of %lld parts; it has room for %d",
                    (long long)count, INT32_MAX / 2);
    bvh *b = take(ctx, 1, sizeof *b);
    if (!b) return SPATE_OUT_OF_MEMORY;
    b->ctx = ctx;
    b->nodes = take(ctx, 2 * (size_t)count + 1, sizeof *b->nodes);
    b->parts = take(ctx, (size_t)count + 1, sizeof *b->parts);
    b->boxes = take(ctx, (size_t)count + 1, sizeof *b->boxes);
    if (!b->nodes || !b->parts || !b->boxes) {
        bvh_free(b);
        return SPATE_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) b->parts[i] = (int32_t)i, box(of, i, b->boxes[i]);
    if (count) build(b, 0, (int32_t)count);
    give(ctx, b->boxes);
    b->boxes = NULL;
    *out = b;
    return SPATE_OK;
}

void bvh_free(bvh *b) {
    if (!b) return;
    give(b->ctx, b->nodes);
    give(b->ctx, b->parts);
    give(b->ctx, b->boxes);
    give(b->ctx, b);
}

bool bvh_first(const bvh *b, const void *of, bvh_meet *meet, const ray *r, float near, float far,
               bool any, embree_hit *out) {
    int32_t stack[DEEPEST], depth = 0;
    bool met = false;
    if (b->node_count) stack[depth++] = 0;
    while (depth) {
        const int32_t at = stack[--depth];
        const bvh_node *n = &b->nodes[at];
        float begin = near, end = far;
        int axes[2];
        if (!ray_box(r, n->box[0], n->box[1], &begin, &end, axes)) continue;
        for (int32_t i = n->first; i < n->first + n->count; i++)
            if (meet(of, b->parts[i], r, near, far, out)) {
                met = true, far = out->t;
                if (any) return true;
            }
        if (!n->count) stack[depth++] = n->first, stack[depth++] = at + 1;
    }
    return met;
}
