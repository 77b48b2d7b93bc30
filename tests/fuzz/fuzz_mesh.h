/* What the mesh fuzzers share: any bytes give a mesh that distances can be asked of, or a clean
 * refusal. */
#ifndef SPATE_TESTS_FUZZ_MESH_H
#define SPATE_TESTS_FUZZ_MESH_H

#include "core/context.h"
#include "core/vec.h"
#include "scene/mesh_body.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef spate_status (*mesh_reader)(arena *a, const char *name, const char *bytes, size_t length,
                                    mesh *m);

static inline int fuzz_mesh(mesh_reader read, const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    config.threads = 1;
    spate_context *ctx;
    if (spate_open(&config, &ctx)) return 0;
    int64_t blocks = ctx->blocks_now;
    arena a = arena_create(ctx);
    mesh m = {.vertex_count = 0};
    if (read(&a, "fuzz", (const char *)data, size, &m) == SPATE_OK &&
        mesh_prepare(&a, "fuzz", &m) == SPATE_OK) {
        double n[3], x[3] = {0.1, 0.2, 0.3};
        double d = mesh_distance(&m, x, n);
        if (!isfinite(d) || !(fabs(vec_length(n) - 1) < 1e-6)) abort();
    } else if (spate_message(ctx)[0] == 0) {
        abort(); /* a refusal says why */
    }
    arena_free(&a);
    if (ctx->blocks_now != blocks) abort();
    spate_close(ctx);
    return 0;
}

/* The same for bodies. */
typedef spate_status (*body_reader)(arena *a, const char *bytes, size_t length, mesh_body *out);

static inline int fuzz_body(body_reader read, void (*check)(const mesh_body *m),
                            const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    config.threads = 1;
    spate_context *ctx;
    if (spate_open(&config, &ctx)) return 0;
    int64_t blocks = ctx->blocks_now;
    arena a = arena_create(ctx);
    mesh_body m = {.kind = MESH_NONE};
    if (read(&a, (const char *)data, size, &m) == SPATE_OK)
        check(&m);
    else if (spate_message(ctx)[0] == 0)
        abort(); /* a refusal says why */
    arena_free(&a);
    if (ctx->blocks_now != blocks) abort();
    spate_close(ctx);
    return 0;
}

#endif
