/*
 * Checkpoints: what is read is what was written, bit for bit; any damage is noticed; a simulation
 * that goes on from one cannot be told from one that never stopped.
 */
#define _GNU_SOURCE /* syncfs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/hash.h"
#include "run/checkpoint.h"
#include "system_calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A liquid, a solid, a source, a sink and an open side: everything a checkpoint has to carry. */
static const char busy_scene[] =
    "spate: 1\nname: busy\ndimension: 2\n"
    "domain: {size: [1, 1], dx: 0.0625, walls: [slip, open, slip, slip]}\n"
    "duration: 1\nfps: 50\nsolver: {type: mpm}\n"
    "materials:\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}\n"
    "  jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}\n"
    "bodies:\n"
    "  - {name: pool, material: water, shape: {box: {min: [0.1, 0.1], max: [0.5, 0.3]}}, velocity: "
    "[3, 0]}\n"
    "  - {name: ball, material: jelly, shape: {sphere: {center: [0.6, 0.6], radius: 0.15}}, spin: "
    "5}\n"
    "sources:\n"
    "  - {name: tap, material: water, shape: {box: {min: [0.2, 0.7], max: [0.4, 0.9]}}, velocity: "
    "[0, -2]}\n"
    "sinks:\n  - {shape: {box: {min: [0.5, 0.2], max: [0.55, 0.4]}}}\n"
    "colliders:\n"
    "  - {name: post, shape: {sphere: {center: [0.6, 0.1], radius: 0.1}},"
    " motion: {pivot: [0.6, 0.1], keys: [{t: 0, translate: [0, 0]}, {t: 1, translate: [0.5, "
    "0]}]}}\n";

static const char tiny_scene[] =
    "spate: 1\nname: tiny\ndimension: 2\ndomain: {size: [1, 1], dx: 0.25}\nduration: 1\n"
    "solver: {type: mpm}\n"
    "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e3}\n"
    "bodies:\n  - {name: a, material: water, shape: {points: [[0.4, 0.5], [0.5, 0.5], [0.6, "
    "0.5]]}}\n";

typedef struct fixture {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
    char path[64];
} fixture;

static void expect_ok(const spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static spate_scene *parse(spate_context *ctx, const char *words, const char *set) {
    spate_scene *scene;
    expect_ok(ctx, spate_scene_parse(ctx, words, strlen(words), "test.yaml", ".", &set, set != NULL,
                                     &scene));
    return scene;
}

static fixture open_scene(const char *words) {
    fixture f = {.path = "/tmp/spate_checkpoint_XXXXXX"};
    expect_ok(NULL, spate_open(NULL, &f.ctx));
    f.scene = parse(f.ctx, words, NULL);
    expect_ok(f.ctx, spate_simulation_create(f.scene, &f.sim));
    int fd = mkstemp(f.path);
    assert_true(fd >= 0);
    close(fd);
    return f;
}

static void close_scene(fixture *f) {
    unlink(f->path);
    spate_simulation_free(f->sim);
    spate_scene_free(f->scene);
    spate_close(f->ctx);
}

/* The bytes of a checkpoint of the present state, to be given back. */
static char *image(fixture *f, spate_simulation *sim, size_t *length) {
    char *bytes;
    expect_ok(f->ctx, spate_simulation_save(sim, f->path));
    expect_ok(f->ctx, file_read(f->ctx, f->path, 1 << 24, &bytes, length));
    return bytes;
}

static void steps(fixture *f, spate_simulation *sim, int count) {
    for (int i = 0; i < count; i++) expect_ok(f->ctx, spate_simulation_step(sim, 10));
}

/* Stopped after `stop` steps and gone on to `total`, against straight through. */
static void check_resume(const char *words, const char *set, int stop, int total) {
    fixture f = open_scene(words);
    spate_scene *again = parse(f.ctx, words, set);
    spate_simulation *restored;
    size_t length, restored_length;
    steps(&f, f.sim, stop);
    f.sim->removed += 3; /* as if some had left */
    char *saved = image(&f, f.sim, &length);
    expect_ok(f.ctx, spate_simulation_restore(again, f.path, &restored));
    assert_true(spate_simulation_hash(restored) == spate_simulation_hash(f.sim));
    char *copy = image(&f, restored, &restored_length);
    assert_int_equal(length, restored_length);
    assert_memory_equal(saved, copy, length);
    give(f.ctx, saved);
    give(f.ctx, copy);

    steps(&f, f.sim, total - stop);
    steps(&f, restored, total - stop);
    assert_true(spate_simulation_hash(restored) == spate_simulation_hash(f.sim));
    /* Not only the hash: every byte of the state and its order. */
    saved = image(&f, f.sim, &length);
    copy = image(&f, restored, &restored_length);
    assert_int_equal(length, restored_length);
    assert_memory_equal(saved, copy, length);
    give(f.ctx, saved);
    give(f.ctx, copy);
    assert_true(restored->drained == f.sim->drained && (f.sim->drained > 0 || total < 60));
    assert_true(restored->removed == f.sim->removed && f.sim->removed >= 3);
    spate_simulation_free(restored);
    spate_scene_free(again);
    close_scene(&f);
}

static void test_resume_is_exact(void **state) {
    (void)state;
    static const int stops[] = {0, 1, 2, 7, 16, 33, 59};
    for (int i = 0; i < COUNT_OF(stops); i++) check_resume(busy_scene, NULL, stops[i], 60);
}

static void test_what_may_change(void **state) {
    (void)state;
    check_resume(busy_scene, "duration=3", 5, 8);
    check_resume(busy_scene, "output.fields=[J]", 5, 8);
    check_resume(busy_scene, "output.checkpoint=2", 5, 8);
}

static void test_another_scene_is_refused(void **state) {
    (void)state;
    static const char *const sets[] = {"gravity=[0, -1]", "materials.water.density=999",
                                       "domain.dx=0.05", "solver.cfl=0.4", "seed=9"};
    fixture f = open_scene(busy_scene);
    expect_ok(f.ctx, spate_simulation_save(f.sim, f.path));
    for (int i = 0; i < COUNT_OF(sets); i++) {
        spate_scene *other = parse(f.ctx, busy_scene, sets[i]);
        spate_simulation *sim;
        bool damaged;
        assert_int_equal(checkpoint_read(other, f.path, &sim, NULL, &damaged), SPATE_BAD_INPUT);
        assert_null(sim);
        assert_false(damaged);
        assert_non_null(strstr(spate_message(f.ctx), "another scene"));
        assert_non_null(strstr(spate_message(f.ctx), "duration"));
        spate_scene_free(other);
    }
    close_scene(&f);
}

static void test_other_precision_is_refused(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    checkpoint_head head;
    spate_simulation *sim;
    memcpy(&head, bytes, sizeof head);
    head.real_bytes = sizeof(real) == 4 ? 8 : 4;
    head.hash = hash_bytes(&head, offsetof(checkpoint_head, hash), 0);
    memcpy(bytes, &head, sizeof head);
    assert_int_equal(checkpoint_parse(f.scene, "x", bytes, length, &sim, NULL, NULL),
                     SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "precision"));
    give(f.ctx, bytes);
    close_scene(&f);
}

static void test_record_is_kept(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    run_record record = {.frame = 3, .frame_step = 12, .wall_seconds = 1.5, .limit_count = 1};
    run_record found;
    spate_simulation *sim;
    strcpy(record.limits[0].name, "wave");
    record.limits[0].count = 7;
    expect_ok(f.ctx, checkpoint_write(f.sim, &record, f.path, NULL));
    expect_ok(f.ctx, checkpoint_read(f.scene, f.path, &sim, &found, NULL));
    assert_memory_equal(&record, &found, sizeof record);
    spate_simulation_free(sim);
    close_scene(&f);
}

/* Must be refused as damaged, and leave nothing behind. */
static void expect_damaged(fixture *f, const char *bytes, size_t length) {
    spate_simulation *sim;
    bool damaged;
    int64_t blocks_before = f->ctx->blocks_now;
    assert_int_equal(checkpoint_parse(f->scene, "x", bytes, length, &sim, NULL, &damaged),
                     SPATE_BAD_INPUT);
    assert_true(damaged);
    assert_null(sim);
    assert_int_equal(f->ctx->blocks_now, blocks_before);
}

static void test_every_flip_is_noticed(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    steps(&f, f.sim, 2);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    for (size_t i = 0; i < length; i++) {
        char whole = bytes[i];
        bytes[i] = (char)(whole ^ 1 << i % 8);
        expect_damaged(&f, bytes, length);
        bytes[i] = (char)~whole;
        expect_damaged(&f, bytes, length);
        bytes[i] = whole;
    }
    spate_simulation *sim; /* and nothing but the flips was wrong */
    expect_ok(f.ctx, checkpoint_parse(f.scene, "x", bytes, length, &sim, NULL, NULL));
    spate_simulation_free(sim);
    give(f.ctx, bytes);
    close_scene(&f);
}

/* What a damaged block is called is not repeated: it may hold anything. */
static void test_damaged_names_are_not_shown(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    checkpoint_head head;
    char *bytes = image(&f, f.sim, &length);
    checkpoint_block *block = (checkpoint_block *)(void *)(bytes + sizeof head);
    for (int part = 0; part < 3; part++) {
        checkpoint_block before = *block;
        strcpy(block->name, "\x1b[2Jgotcha");
        if (part == 1) memcpy(block->type, "zzz", 4);
        if (part == 2) block->count = UINT64_MAX;
        assert_int_equal(checkpoint_check(f.ctx, "c", bytes, length, &head), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(f.ctx), "damaged checkpoint: "));
        assert_null(strstr(spate_message(f.ctx), "gotcha"));
        *block = before;
    }
    expect_ok(f.ctx, checkpoint_check(f.ctx, "c", bytes, length, &head));
    give(f.ctx, bytes);
    close_scene(&f);
}

static void test_every_truncation_is_noticed(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    for (size_t i = 0; i < length; i++) {
        char *cut = malloc(i + 1); /* exactly as long, so that a sanitizer sees a read beyond */
        memcpy(cut, bytes, i);
        expect_damaged(&f, cut, i);
        free(cut);
    }
    char *longer = calloc(length + 1, 1);
    memcpy(longer, bytes, length);
    expect_damaged(&f, longer, length + 1);
    assert_non_null(strstr(spate_message(f.ctx), "there is more after its end"));
    free(longer);
    give(f.ctx, bytes);
    close_scene(&f);
}

/* A block's place in the file, by name. */
static char *find_block(char *bytes, const char *name, checkpoint_block *block) {
    checkpoint_head head;
    memcpy(&head, bytes, sizeof head);
    char *at = bytes + sizeof head;
    for (uint32_t i = 0; i < head.blocks; i++) {
        memcpy(block, at, sizeof *block);
        if (!strcmp(block->name, name)) return at;
        size_t size = block->type[1] == '1'   ? 2
                      : block->type[1] == '6' ? 8
                      : block->type[1] == '3' ? 4
                                              : 1;
        at += sizeof *block + block->components * block->count * size;
    }
    return NULL;
}

/* Gives the block at `at` this head, with the checksum of what it holds. */
static void seal(char *at, checkpoint_block *block) {
    const size_t size = block->type[1] == '1'   ? 2
                        : block->type[1] == '6' ? 8
                        : block->type[1] == '3' ? 4
                                                : 1;
    hash_state h;
    hash_begin(&h, 0);
    hash_add(&h, block, offsetof(checkpoint_block, hash));
    hash_add(&h, at + sizeof *block, block->components * block->count * size);
    block->hash = hash_end(&h);
    memcpy(at, block, sizeof *block);
}

/* Checkpoints of other formats, and states that are not worth keeping. */
static void test_other_formats_and_broken_states(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    for (int step = -1; step <= 1; step += 2) {
        checkpoint_head head, found;
        memcpy(&head, bytes, sizeof head);
        head.version = (uint32_t)(CHECKPOINT_VERSION + step);
        head.hash = hash_bytes(&head, offsetof(checkpoint_head, hash), 0);
        memcpy(bytes, &head, sizeof head);
        assert_int_equal(checkpoint_check(f.ctx, "c", bytes, length, &found), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(f.ctx), "this build reads format"));
    }
    give(f.ctx, bytes);
    f.sim->broken = SPATE_UNSTABLE;
    assert_int_equal(spate_simulation_save(f.sim, f.path), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "not worth keeping"));
    close_scene(&f);
}

/* A count whose bytes are 0 in 64 bits is not taken for an empty block. */
static void test_sizes_that_overflow(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    checkpoint_block block;
    checkpoint_head head;
    char *at = find_block(bytes, "blocks.pending", &block);
    assert_true(at && block.count == 0 && block.components == 3);
    block.count = UINT64_C(1) << 62;
    seal(at, &block);
    assert_int_equal(checkpoint_check(f.ctx, "c", bytes, length, &head), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "too short for a block"));
    give(f.ctx, bytes);
    close_scene(&f);
}

/* A file that ends with another block than "end" is not whole, though every checksum holds. */
static void test_end_is_marked(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    checkpoint_block block;
    char *at = find_block(bytes, "end", &block);
    assert_true(at && at + sizeof block == bytes + length);
    strcpy(block.name, "fin");
    seal(at, &block);
    expect_damaged(&f, bytes, length);
    assert_non_null(strstr(spate_message(f.ctx), "does not end as it should"));
    give(f.ctx, bytes);
    close_scene(&f);
}

/* Values that no checksum would find, from a file that was made up: told before they do harm. */
static void test_impossible_values_are_noticed(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    static const struct {
        const char *name;
        size_t offset, size;
        uint64_t value;
    } cases[] = {
        {"id", 0, 8, 3}, /* the next one to be given */
        {"group", 2, 2, 5},
        {"position", 0, 4, 0x7fc00000},
        {"blocks.first", 8, 8, 1000},
        {"blocks.coords", 0, 4, 0x7fffffff},
        {"run", 0, 8, (uint64_t)-5},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        size_t length, bytes_of = cases[i].size;
        char *bytes = image(&f, f.sim, &length);
        checkpoint_block block;
        char *at = find_block(bytes, cases[i].name, &block);
        assert_non_null(at);
        uint64_t value = cases[i].value;
        if (!strcmp(cases[i].name, "position") && sizeof(real) == 8) {
            bytes_of = 8;
            value = UINT64_C(0x7ff8000000000000);
        }
        memcpy(at + sizeof block + cases[i].offset, &value, bytes_of);
        seal(at, &block);
        expect_damaged(&f, bytes, length);
        give(f.ctx, bytes);
    }
    close_scene(&f);
}

/* A block's range that goes beyond the next one's, though first and last are right. */
static void test_ranges_that_go_back(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    size_t length;
    char *bytes = image(&f, f.sim, &length);
    checkpoint_block block;
    char *at = find_block(bytes, "blocks.first", &block);
    int64_t first[64];
    uint64_t occupied = 0;
    assert_true(at && block.count < COUNT_OF(first));
    memcpy(first, at + sizeof block, block.count * sizeof *first);
    while (occupied + 2 < block.count && first[occupied + 1] == 0) occupied++;
    assert_true(occupied + 2 < block.count && first[occupied + 1] == 3);
    first[occupied + 1] = 4; /* of three particles */
    memcpy(at + sizeof block, first, block.count * sizeof *first);
    seal(at, &block);
    expect_damaged(&f, bytes, length);
    give(f.ctx, bytes);
    close_scene(&f);
}

static void test_previous_is_kept(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    char previous[80];
    run_record record = {0};
    spate_simulation *sim;
    snprintf(previous, sizeof previous, "%s.prev", f.path);
    unlink(f.path);
    expect_ok(f.ctx, checkpoint_write(f.sim, &record, f.path, previous));
    assert_false(file_exists(f.ctx, previous));
    steps(&f, f.sim, 1);
    expect_ok(f.ctx, checkpoint_write(f.sim, &record, f.path, previous));
    expect_ok(f.ctx, spate_simulation_restore(f.scene, previous, &sim));
    assert_int_equal(sim->step, 0);
    spate_simulation_free(sim);
    expect_ok(f.ctx, spate_simulation_restore(f.scene, f.path, &sim));
    assert_int_equal(sim->step, 1);
    spate_simulation_free(sim);
    /* A write that fails at its very end: the last one is put back in its place. */
    steps(&f, f.sim, 1);
    calls.error[CALL_FSYNC] = EIO;
    assert_int_equal(checkpoint_write(f.sim, &record, f.path, previous), SPATE_IO_ERROR);
    assert_false(file_exists(f.ctx, previous));
    expect_ok(f.ctx, spate_simulation_restore(f.scene, f.path, &sim));
    assert_int_equal(sim->step, 1);
    spate_simulation_free(sim);
    close_scene(&f);
}

static void add_too_many(spate_simulation *sim, state_blocks *out) {
    for (int i = 0; i <= STATE_BLOCKS_MAX; i++)
        state_add(out, "more", &sim->step, sizeof sim->step);
}

/* A solver whose state does not fit saves nothing, and says so. */
static void test_too_many_blocks_are_refused(void **state) {
    (void)state;
    fixture f = open_scene(tiny_scene);
    run_record record = {0};
    spate_simulation *sim;
    expect_ok(f.ctx, checkpoint_write(f.sim, &record, f.path, NULL));
    solver_type greedy = *f.sim->type;
    greedy.state = add_too_many;
    f.sim->type = &greedy;
    steps(&f, f.sim, 1);
    assert_int_equal(checkpoint_write(f.sim, &record, f.path, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "has 33 blocks of state"));
    expect_ok(f.ctx, spate_simulation_restore(f.scene, f.path, &sim)); /* the last one is whole */
    assert_int_equal(sim->step, 0);
    spate_simulation_free(sim);
    close_scene(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume_is_exact),
        cmocka_unit_test(test_what_may_change),
        cmocka_unit_test(test_another_scene_is_refused),
        cmocka_unit_test(test_other_precision_is_refused),
        cmocka_unit_test(test_record_is_kept),
        cmocka_unit_test(test_every_flip_is_noticed),
        cmocka_unit_test(test_damaged_names_are_not_shown),
        cmocka_unit_test(test_every_truncation_is_noticed),
        cmocka_unit_test(test_other_formats_and_broken_states),
        cmocka_unit_test(test_sizes_that_overflow),
        cmocka_unit_test(test_end_is_marked),
        cmocka_unit_test(test_impossible_values_are_noticed),
        cmocka_unit_test(test_ranges_that_go_back),
        cmocka_unit_test(test_previous_is_kept),
        cmocka_unit_test(test_too_many_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
