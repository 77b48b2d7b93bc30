/*
 * Scene reader under fuzzing: the first line, when it begins with "--set ", is an override of the
 * scene that follows. A scene that is accepted is written out and read again: it must be accepted
 * and have the same hash. Meshes are out of reach: the folder does not exist.
 */
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(spate_context *ctx, const spate_scene *s) {
    spate_scene *again;
    if (spate_scene_parse(ctx, s->canonical, strlen(s->canonical), "again.yaml", "/nonexistent",
                          NULL, 0, &again) != SPATE_OK)
        abort();
    if (again->full_hash != s->full_hash || again->hash != s->hash) abort();
    spate_scene_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    spate_context *ctx;
    spate_scene *s;
    char *copy = malloc(size + 1), *document = copy;
    const char *set = NULL;
    config.threads = 1;
    if (!copy || spate_open(&config, &ctx) != SPATE_OK) abort();
    memcpy(copy, data, size);
    copy[size] = 0;
    char *end = strncmp(copy, "--set ", 6) == 0 ? memchr(copy, '\n', size) : NULL;
    if (end) {
        *end = 0;
        set = copy + 6;
        document = end + 1;
    }
    spate_status status =
        spate_scene_parse(ctx, document, size - (size_t)(document - copy), "fuzz.yaml",
                          "/nonexistent", set ? &set : NULL, set != NULL, &s);
    if (status == SPATE_OK) {
        check_round_trip(ctx, s);
        spate_scene_free(s);
    } else if (!*spate_message(ctx)) {
        abort();
    }
    spate_close(ctx);
    free(copy);
    return 0;
}
