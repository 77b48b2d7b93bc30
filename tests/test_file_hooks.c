/* Files by hooks: a whole run in memory, and what if a hook refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/background.h"
#include "core/file.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MOST = 64 };

typedef struct memory_file {
    char path[256];
    char *bytes;
    size_t length;
} memory_file;

/* Everything that was written; only the thread that made it may ask. */
typedef struct store {
    memory_file files[FILES_MOST];
    pthread_t owner;
    bool refuse;
} store;

static memory_file *find(void *user, const char *path) {
    store *s = user;
    if (!pthread_equal(s->owner, pthread_self())) abort();
    for (int i = 0; i < FILES_MOST; i++)
        if (!strcmp(s->files[i].path, path)) return &s->files[i];
    return NULL;
}

static int64_t store_size(const char *path, void *user) {
    const memory_file *f = find(user, path);
    return f ? (int64_t)f->length : -1;
}

static bool store_read(const char *path, void *bytes, size_t length, void *user) {
    const memory_file *f = find(user, path);
    assert_non_null(f);
    assert_int_equal(f->length, length);
    if (length) memcpy(bytes, f->bytes, length);
    return !((store *)user)->refuse;
}

static bool store_write(const char *path, const void *bytes, size_t length, bool append,
                        void *user) {
    memory_file *f = find(user, path);
    if (!f) f = find(user, "");
    assert_non_null(f);
    if (((store *)user)->refuse) return false;
    const size_t kept = append ? f->length : 0;
    f->bytes = realloc(f->bytes, kept + length + 1);
    if (length) memcpy(f->bytes + kept, bytes, length);
    f->length = kept + length;
    f->bytes[f->length] = 0;
    snprintf(f->path, sizeof f->path, "%s", path);
    return true;
}

static bool store_remove(const char *path, void *user) {
    memory_file *f = find(user, path);
    if (!f || ((store *)user)->refuse) return false;
    free(f->bytes);
    *f = (memory_file){0};
    return true;
}

static bool store_list(const char *folder, void (*visit)(const char *name, void *visitor),
                       void *visitor, void *user) {
    const store *s = user;
    const size_t length = strlen(folder);
    for (int i = 0; i < FILES_MOST; i++)
        if (!strncmp(s->files[i].path, folder, length) && s->files[i].path[length] == '/')
            visit(s->files[i].path + length + 1, visitor);
    return !s->refuse;
}

static spate_files hooks_of(store *s) {
    return (spate_files){store_size, store_read, store_write, store_remove, store_list, s};
}

static int setup(void **state) {
    static store kept;
    kept = (store){.owner = pthread_self()};
    spate_config config = spate_default_config();
    config.threads = 1;
    config.files = hooks_of(&kept);
    return spate_open(&config, (spate_context **)state);
}

static int teardown(void **state) {
    spate_context *ctx = *state;
    store *s = ctx->config.files.user;
    for (int i = 0; i < FILES_MOST; i++) free(s->files[i].bytes);
    spate_close(ctx);
    return 0;
}

static store *store_of(spate_context *ctx) { return ctx->config.files.user; }

static const char *text_at(spate_context *ctx, const char *path) {
    const memory_file *f = find(store_of(ctx), path);
    return f ? f->bytes : "(none)";
}

/* ---- One file -------------------------------------------------------------------------------- */

static void write_file(spate_context *ctx, const char *path, const char *words) {
    file_writer w;
    assert_int_equal(file_create(ctx, path, true, &w), SPATE_OK);
    file_print(&w, "%s", words);
    assert_int_equal(store_size(path, store_of(ctx)), -1); /* not before it is whole */
    assert_int_equal(file_close(&w), SPATE_OK);
}

static void files_are_whole(void **state) {
    spate_context *ctx = *state;
    char *bytes;
    size_t length;
    write_file(ctx, "a/b.txt", "hello");
    assert_string_equal(text_at(ctx, "a/b.txt"), "hello");
    assert_int_equal(file_read(ctx, "a/b.txt", 5, &bytes, &length), SPATE_OK);
    assert_int_equal(length, 5);
    assert_string_equal(bytes, "hello");
    give(ctx, bytes);
    assert_int_equal(file_read(ctx, "a/b.txt", 4, &bytes, &length), SPATE_BAD_INPUT);
    assert_int_equal(file_read(ctx, "a/c.txt", 4, &bytes, &length), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "a/c.txt"));
    assert_true(file_exists(ctx, "a/b.txt"));
    assert_false(file_exists(ctx, "a/c.txt"));
    assert_true(file_is_folder(ctx, "a"));
    assert_false(file_is_folder(ctx, "a/b.txt"));
    assert_int_equal(file_size(ctx, "a/b.txt"), 5);
}

static void names_change(void **state) {
    spate_context *ctx = *state;
    write_file(ctx, "a/b", "hello");
    assert_int_equal(file_rename(ctx, "a/b", "a/c"), SPATE_OK);
    assert_false(file_exists(ctx, "a/b"));
    assert_int_equal(file_truncate(ctx, "a/c", 2), SPATE_OK);
    assert_string_equal(text_at(ctx, "a/c"), "he");
    assert_int_equal(file_remove(ctx, "a/c"), SPATE_OK);
    assert_int_equal(file_remove(ctx, "a/c"), SPATE_OK); /* a missing file is fine */
    assert_false(file_exists(ctx, "a"));
}

static void rows_are_added(void **state) {
    spate_context *ctx = *state;
    file_writer w;
    write_file(ctx, "rows", "1\n");
    assert_int_equal(file_append(ctx, "rows", &w), SPATE_OK);
    assert_int_equal(file_flush(&w), SPATE_OK);
    file_print(&w, "2\n");
    assert_string_equal(text_at(ctx, "rows"), "1\n");
    assert_int_equal(file_flush(&w), SPATE_OK);
    assert_string_equal(text_at(ctx, "rows"), "1\n2\n");
    /* After a row that is lost no other comes: there would be a gap. */
    store_of(ctx)->refuse = true;
    file_print(&w, "3\n");
    assert_int_equal(file_flush(&w), SPATE_IO_ERROR);
    store_of(ctx)->refuse = false;
    file_print(&w, "4\n");
    assert_int_equal(file_flush(&w), SPATE_IO_ERROR);
    assert_int_equal(file_close(&w), SPATE_IO_ERROR);
    assert_string_equal(text_at(ctx, "rows"), "1\n2\n");
}

static void nothing_to_add_is_not_written(void **state) {
    spate_context *ctx = *state;
    file_writer w;
    assert_int_equal(file_append(ctx, "rows", &w), SPATE_OK);
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_false(file_exists(ctx, "rows"));
}

static void refusals_are_told(void **state) {
    spate_context *ctx = *state;
    char *bytes;
    size_t length;
    file_writer w;
    write_file(ctx, "a/b", "hello");
    const int64_t blocks = ctx->blocks_now;
    store_of(ctx)->refuse = true;
    assert_int_equal(file_read(ctx, "a/b", 100, &bytes, &length), SPATE_IO_ERROR);
    assert_int_equal(file_create(ctx, "a/b", false, &w), SPATE_OK);
    file_print(&w, "bye");
    assert_int_equal(file_close(&w), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "a/b"));
    assert_int_equal(file_remove(ctx, "a/b"), SPATE_IO_ERROR);
    assert_int_equal(file_rename(ctx, "a/b", "a/c"), SPATE_IO_ERROR);
    assert_int_equal(ctx->blocks_now, blocks);
    assert_string_equal(text_at(ctx, "a/b"), "hello");
}

static void hooks_come_together(void **state) {
    (void)state;
    store s = {.owner = pthread_self()};
    for (int missing = 0; missing < 5; missing++) {
        spate_config config = spate_default_config();
        spate_context *ctx;
        config.files = hooks_of(&s);
        if (missing == 0) config.files.size = NULL;
        if (missing == 1) config.files.read = NULL;
        if (missing == 2) config.files.write = NULL;
        if (missing == 3) config.files.remove = NULL;
        if (missing == 4) config.files.list = NULL;
        assert_int_equal(spate_open(&config, &ctx), SPATE_BAD_INPUT);
    }
}

/* ---- A run ----------------------------------------------------------------------------------- */

static const char scene_words[] =
    "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.05}\nsolver: {type: mpm}\n"
    "duration: 0.08\nfps: 50\noutput: {particles: [vtp], checkpoint: 1}\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}\n"
    "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.7], radius: 0.1}}}]\n";

static uint64_t run(spate_context *ctx, const char *folder, int frames, bool resume) {
    spate_scene *scene;
    spate_run_report report;
    spate_run_options o = spate_default_run_options();
    o.folder = folder, o.frames = frames, o.resume = resume;
    assert_int_equal(
        spate_scene_parse(ctx, scene_words, strlen(scene_words), "drop.yaml", ".", NULL, 0, &scene),
        SPATE_OK);
    const spate_status status = spate_run(scene, &o, &report);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    spate_scene_free(scene);
    return report.state_hash;
}

static int count_lines(const char *text) {
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

static void a_run_is_kept_in_memory(void **state) {
    spate_context *ctx = *state;
    const uint64_t whole = run(ctx, "drop", 4, false);
    assert_int_equal(run(ctx, "again", 2, false) == whole, false);
    assert_int_equal(run(ctx, "again", 4, true), whole);
    static const char *const names[] = {"run.json", "stats.csv", "particles_0000.vtp",
                                        "particles_0004.vtp", "checkpoint.spate"};
    for (int i = 0; i < COUNT_OF(names); i++) {
        char path[64];
        snprintf(path, sizeof path, "drop/%s", names[i]);
        assert_true(file_size(ctx, path) > 0);
        assert_int_equal(access(path, F_OK), -1); /* and not on disk */
    }
    assert_int_equal(count_lines(text_at(ctx, "drop/stats.csv")), 6); /* a head, frames 0 to 4 */
    assert_int_equal(count_lines(text_at(ctx, "again/stats.csv")), 6);
}

static spate_status fail_to_write(spate_context *ctx, void *data) {
    (void)data;
    return (fail)(ctx, SPATE_IO_ERROR, "the first failure"); /* not the macro of cmocka */
}

/* Background work is done at once then, and its message waits for who asks. */
static void messages_do_not_meet(void **state) {
    spate_context *ctx = *state;
    background *b;
    assert_int_equal(background_create(ctx, 64, &b), SPATE_OK);
    background_start(b, fail_to_write, NULL);
    (fail)(ctx, SPATE_UNSTABLE, "the second failure");
    assert_int_equal(background_wait(b), SPATE_IO_ERROR);
    assert_string_equal(spate_message(ctx), "the first failure");
    background_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(names_change, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_added, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_add_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals_are_told, setup, teardown),
        cmocka_unit_test(hooks_come_together),
        cmocka_unit_test_setup_teardown(a_run_is_kept_in_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_do_not_meet, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
