/*
 * Checkpoints from anywhere. Each input is read as it is, and once more with its checksums mended,
 * so that what lies behind them is reached too.
 */
#include "core/hash.h"
#include "run/checkpoint.h"
#include <stdlib.h>
#include <string.h>

/* The corpus was made from this scene, ten particles and a source: spate_simulation_save after 0
 * steps (ten_start) and after 25 (ten_later). Make it again when CHECKPOINT_VERSION changes. */
static const char words[] =
    "spate: 1\nname: ten\ndimension: 2\ndomain: {size: [1, 1], dx: 0.25}\nduration: 1\n"
    "solver: {type: mpm}\n"
    "materials:\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e3}\n"
    "  jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e3, poisson: 0.3}\n"
    "bodies:\n"
    "  - {name: a, material: water, shape: {points: [[0.4, 0.5], [0.5, 0.5], [0.6, 0.5], [0.4, "
    "0.4]]}}\n"
    "  - {name: b, material: jelly, shape: {points: [[0.7, 0.6], [0.8, 0.6]]}}\n"
    "sources:\n"
    "  - {name: tap, material: water, shape: {box: {min: [0.25, 0.7], max: [0.5, 0.9]}}, velocity: "
    "[0, -1],"
    " limit: 4}\n";

static size_t element_size(const char type[4]) {
    if (!memcmp(type, "raw", 4) || !memcmp(type + 1, "8", 2)) return 1;
    if (!memcmp(type + 1, "16", 3)) return 2;
    if (!memcmp(type + 1, "32", 3)) return 4;
    return !memcmp(type + 1, "64", 3) ? 8 : 0;
}

/* Makes head and blocks match their checksums, and the head the scene and the length. */
static void mend(uint8_t *bytes, size_t length, const spate_scene *scene) {
    checkpoint_head head;
    checkpoint_block block;
    if (length < sizeof head) return;
    memcpy(&head, bytes, sizeof head);
    memcpy(head.magic, CHECKPOINT_MAGIC, sizeof head.magic);
    head.version = CHECKPOINT_VERSION;
    head.real_bytes = sizeof(real);
    head.scene_hash = scene->hash;
    head.dim = (uint32_t)scene->dim;
    head.file_bytes = length;
    head.hash = hash_bytes(&head, offsetof(checkpoint_head, hash), 0);
    memcpy(bytes, &head, sizeof head);
    for (size_t at = sizeof head; length - at >= sizeof block;) {
        memcpy(&block, bytes + at, sizeof block);
        const size_t room = length - at - sizeof block;
        uint64_t size;
        if (__builtin_mul_overflow((uint64_t)block.components, block.count, &size) ||
            __builtin_mul_overflow(size, (uint64_t)element_size(block.type), &size) || size > room)
            return;
        hash_state h;
        hash_begin(&h, 0);
        hash_add(&h, bytes + at, offsetof(checkpoint_block, hash));
        hash_add(&h, bytes + at + sizeof block, (size_t)size);
        block.hash = hash_end(&h);
        memcpy(bytes + at, &block, sizeof block);
        at += sizeof block + (size_t)size;
    }
}

static void read_once(spate_scene *scene, const uint8_t *bytes, size_t length) {
    checkpoint_head head;
    run_record record;
    spate_simulation *sim;
    bool damaged;
    checkpoint_check(scene->ctx, "input", (const char *)bytes, length, &head);
    spate_status status =
        checkpoint_parse(scene, "input", (const char *)bytes, length, &sim, &record, &damaged);
    if ((status == SPATE_OK) != (sim != NULL)) abort();
    if (status != SPATE_OK && status != SPATE_BAD_INPUT) abort();
    spate_simulation_free(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    spate_context *ctx;
    spate_scene *scene;
    config.threads = 1;
    if (spate_open(&config, &ctx)) abort();
    if (spate_scene_parse(ctx, words, strlen(words), "ten.yaml", ".", NULL, 0, &scene)) abort();
    read_once(scene, data, size);
    uint8_t *mended = malloc(size + 1);
    if (!mended) abort();
    memcpy(mended, data, size);
    mend(mended, size, scene);
    read_once(scene, mended, size);
    free(mended);
    spate_scene_free(scene);
    spate_close(ctx);
    return 0;
}
