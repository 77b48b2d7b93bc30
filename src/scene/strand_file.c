/*
 * Strands from a file of lines: edges are put together to chains, each from the end that comes
 * first in the file. Exporters write a curve as one line or as one line a segment; both are the
 * same here.
 */
#include "scene/strands.h"

#include "core/vec.h"

typedef struct chains {
    const mesh *from;
    int32_t (*beside)[2]; /* by vertex: its neighbours, -1: none */
    bool *done;
    mesh_body *out;
} chains;

static spate_status join(arena *a, const char *name, chains *c) {
    for (int64_t v = 0; v < c->from->vertex_count; v++) c->beside[v][0] = c->beside[v][1] = -1;
    for (int64_t e = 0; e < c->from->edge_count; e++) {
        const int32_t *end = c->from->edges[e];
        if (end[0] == end[1])
            return fail(a->ctx, SPATE_BAD_INPUT,
                        "%s: line %lld goes from vertex %d to itself; remove it", name,
                        (long long)e + 1, end[0] + 1);
        for (int k = 0; k < 2; k++) {
            int32_t *beside = c->beside[end[k]];
            if (beside[0] >= 0 && beside[1] >= 0)
                return fail(a->ctx, SPATE_BAD_INPUT,
                            "%s: three lines meet in vertex %d; a strand has no branches, so take "
                            "one of them away or give it a vertex of its own",
                            name, end[k] + 1);
            beside[beside[0] >= 0] = end[1 - k];
        }
    }
    return SPATE_OK;
}

/* Follows a chain from its end; a segment has a length. */
static spate_status follow(arena *a, const char *name, chains *c, int32_t first) {
    mesh_body *m = c->out;
    int64_t count = 0;
    for (int32_t v = first, before = -1; v >= 0; count++) {
        double edge[3];
        vec_copy(m->vertices[m->vertex_count + count], c->from->vertices[v]);
        if (count) {
            vec_sub(edge, c->from->vertices[v], c->from->vertices[before]);
            if (!(vec_length(edge) > 0))
                return fail(a->ctx, SPATE_BAD_INPUT,
                            "%s: vertices %d and %d of a strand are at the same place; remove one",
                            name, before + 1, v + 1);
            m->spacing = fmin(m->spacing, vec_length(edge));
        }
        c->done[v] = true;
        const int32_t next = c->beside[v][c->beside[v][0] == before];
        before = v, v = next;
    }
    if (count < 3)
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "%s: the strand from vertex %d is a single segment, which cannot bend; divide "
                    "it",
                    name, first + 1);
    m->vertex_count += count;
    m->strand_first[++m->strand_count] = m->vertex_count;
    return SPATE_OK;
}

static spate_status follow_all(arena *a, const char *name, chains *c) {
    TRY(join(a, name, c));
    for (int64_t e = 0; e < c->from->edge_count; e++)
        for (int k = 0; k < 2; k++) {
            const int32_t v = c->from->edges[e][k];
            if (!c->done[v] && c->beside[v][1] < 0) TRY(follow(a, name, c, v));
        }
    for (int64_t v = 0; v < c->from->vertex_count; v++)
        if (c->beside[v][0] >= 0 && !c->done[v])
            return fail(a->ctx, SPATE_BAD_INPUT,
                        "%s: the line through vertex %lld is closed; a strand has two ends, so "
                        "open it",
                        name, (long long)v + 1);
    return SPATE_OK;
}

spate_status mesh_of_lines(arena *a, const char *name, const mesh *lines, mesh_body *out) {
    spate_context *ctx = a->ctx;
    const size_t vertices = (size_t)lines->vertex_count + 1;
    *out = (mesh_body){.kind = MESH_STRANDS, .spacing = HUGE_VAL};
    chains c = {.from = lines, .out = out};
    out->vertices = arena_take(a, vertices, sizeof *out->vertices);
    out->strand_first = arena_take(a, vertices, sizeof *out->strand_first);
    c.beside = take(ctx, vertices, sizeof *c.beside);
    c.done = take(ctx, vertices, sizeof *c.done);
    const bool fine = out->vertices && out->strand_first && c.beside && c.done;
    spate_status status = fine ? follow_all(a, name, &c) : SPATE_OUT_OF_MEMORY;
    give(ctx, c.beside), give(ctx, c.done);
    return status;
}
