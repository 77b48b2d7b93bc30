/* Files: reading with a limit, replacing and appending without ever losing what was there. */
#define _GNU_SOURCE /* syncfs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/file.h"
#include "failing_allocator.h"
#include "system_calls.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int open_all(void **state) {
    strcpy(folder, "/tmp/spate_test_file_XXXXXX");
    if (!mkdtemp(folder)) return -1;
    return open_context(state);
}
static int close_all(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    close_context(state);
    return system(command);
}

/* folder/name; good until the fourth call from now. */
static const char *in_folder(const char *name) {
    static char paths[4][PATH_SIZE];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static void put(spate_context *ctx, const char *path, const char *content) {
    file_writer w;
    assert_int_equal(file_create(ctx, path, false, &w), SPATE_OK);
    file_print(&w, "%s", content);
    assert_int_equal(file_close(&w), SPATE_OK);
}

static void assert_content(spate_context *ctx, const char *path, const char *content) {
    char *bytes;
    size_t length;
    assert_int_equal(file_read(ctx, path, 1 << 20, &bytes, &length), SPATE_OK);
    assert_int_equal(length, strlen(content));
    assert_string_equal(bytes, content);
    give(ctx, bytes);
}

static spate_status count_entry(const char *name, void *user) {
    (void)name;
    ++*(int *)user;
    return SPATE_OK;
}

static int entries(spate_context *ctx) {
    int count = 0;
    assert_int_equal(file_list(ctx, folder, count_entry, &count), SPATE_OK);
    return count;
}

static void test_what_is_written_is_read(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    /* Pieces of every size around the buffer's, with zeros in them. */
    static const size_t pieces[] = {0, 1, 65535, 65536, 65537, 10, 200000, 3};
    size_t total = 0;
    for (int i = 0; i < COUNT_OF(pieces); i++) total += pieces[i];
    unsigned char *data = malloc(total);
    for (size_t i = 0; i < total; i++) data[i] = (unsigned char)(i * 7 % 251);
    file_writer w;
    assert_int_equal(file_create(ctx, in_folder("data"), true, &w), SPATE_OK);
    size_t at = 0;
    for (int i = 0; i < COUNT_OF(pieces); i++) {
        file_write(&w, data + at, pieces[i]);
        at += pieces[i];
    }
    assert_false(file_exists(ctx, in_folder("data"))); /* not before it is whole */
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_int_equal(file_close(&w), SPATE_OK);
    file_abandon(&w);
    assert_int_equal(file_size(ctx, in_folder("data")), total);
    assert_int_equal(entries(ctx), 1);

    char *bytes;
    size_t length;
    assert_int_equal(file_read(ctx, in_folder("data"), total, &bytes, &length), SPATE_OK);
    assert_int_equal(length, total);
    assert_memory_equal(bytes, data, total);
    assert_int_equal(bytes[total], 0);
    give(ctx, bytes);
    free(data);
    assert_int_equal(ctx->blocks_now, blocks);
    assert_int_equal(file_remove(ctx, in_folder("data")), SPATE_OK);
}

static void test_reading_refuses(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    char *bytes;
    size_t length;
    put(ctx, in_folder("ten"), "0123456789");
    assert_int_equal(file_read(ctx, in_folder("ten"), 9, &bytes, &length), SPATE_BAD_INPUT);
    assert_null(bytes);
    assert_non_null(strstr(spate_message(ctx), "ten is larger than 9 bytes"));
    assert_int_equal(file_read(ctx, in_folder("none"), 9, &bytes, &length), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "none: No such file or directory; check the path"));
    assert_int_equal(file_read(ctx, folder, 9, &bytes, &length), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "Is a directory"));
    /* What has no end, or waits for someone to write to it. */
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    const char *const endless[] = {"/dev/zero", "/dev/null", in_folder("pipe")};
    for (int i = 0; i < COUNT_OF(endless); i++) {
        assert_int_equal(file_read(ctx, endless[i], 9, &bytes, &length), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), "it is a pipe or a device, not a file"));
    }
    file_remove(ctx, in_folder("pipe"));
    /* A file that does not tell its size. */
    assert_int_equal(file_read(ctx, "/proc/self/status", 100000, &bytes, &length), SPATE_OK);
    assert_true(length > 100);
    give(ctx, bytes);
    assert_int_equal(file_read(ctx, "/proc/self/status", 50, &bytes, &length), SPATE_BAD_INPUT);
    assert_null(bytes);
    assert_non_null(strstr(spate_message(ctx), "status is larger than 50 bytes"));
    refuse = 1;
    assert_int_equal(file_read(ctx, in_folder("ten"), 100, &bytes, &length), SPATE_OUT_OF_MEMORY);
    refuse = 0;
    assert_null(bytes);
    assert_int_equal(ctx->blocks_now, blocks);
    file_remove(ctx, in_folder("ten"));
}

static void test_replacing_keeps_the_old_file_on_failure(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    put(ctx, in_folder("run.json"), "old");
    file_writer w;
    assert_int_equal(file_create(ctx, in_folder("run.json"), false, &w), SPATE_OK);
    file_print(&w, "new");
    assert_int_equal(file_flush(&w), SPATE_OK);
    assert_content(ctx, in_folder("run.json"), "old");
    file_abandon(&w);
    assert_content(ctx, in_folder("run.json"), "old");
    assert_int_equal(entries(ctx), 1);

    /* The disk takes no more: a limit on the size of files stands for it. */
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    assert_int_equal(file_create(ctx, in_folder("run.json"), true, &w), SPATE_OK);
    for (int i = 0; i < 30000; i++) file_print(&w, "%09d\n", i);
    spate_status status = file_close(&w);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "cannot write"));
    assert_non_null(strstr(spate_message(ctx), "run.json: File too large; "));
    assert_content(ctx, in_folder("run.json"), "old");
    assert_int_equal(entries(ctx), 1);

    /* The folder vanishes before the end. */
    assert_int_equal(file_make_folder(ctx, in_folder("gone")), SPATE_OK);
    assert_int_equal(file_create(ctx, in_folder("gone/a"), false, &w), SPATE_OK);
    assert_int_equal(file_remove(ctx, in_folder("gone/a.tmp")), SPATE_OK);
    assert_int_equal(rmdir(in_folder("gone")), 0);
    assert_int_equal(file_close(&w), SPATE_IO_ERROR);
    assert_int_equal(ctx->blocks_now, blocks);

    put(ctx, in_folder("run.json"), "newer");
    assert_content(ctx, in_folder("run.json"), "newer");
    file_remove(ctx, in_folder("run.json"));
}

static void test_writing_refuses(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    file_writer w;
    assert_int_equal(file_create(ctx, in_folder("none/a"), false, &w), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "make the folder first"));
    file_abandon(&w);
    assert_int_equal(file_create(ctx, "/proc/spate_test", false, &w), SPATE_IO_ERROR);
    assert_int_equal(file_append(ctx, in_folder("none/a"), &w), SPATE_IO_ERROR);
    assert_int_equal(file_create(ctx, folder, false, &w), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "a folder is in the way"));
    char longer[PATH_SIZE + 10];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    assert_int_equal(file_create(ctx, longer, false, &w), SPATE_IO_ERROR);
    assert_int_equal(file_append(ctx, longer, &w), SPATE_IO_ERROR);
    assert_int_equal(file_make_folder(ctx, longer), SPATE_IO_ERROR);
    refuse = 1;
    assert_int_equal(file_create(ctx, in_folder("a"), false, &w), SPATE_OUT_OF_MEMORY);
    refuse = 0;
    file_abandon(&w);
    w = (file_writer){0};
    file_abandon(&w);
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_int_equal(entries(ctx), 0);
    assert_int_equal(ctx->blocks_now, blocks);
}

static void test_a_full_device(void **state) {
    spate_context *ctx = *state;
    struct stat info;
    if (stat("/dev/full", &info) || !S_ISCHR(info.st_mode)) skip();
    file_writer w;
    for (int append = 0; append < 2; append++) {
        assert_int_equal(append ? file_append(ctx, "/dev/full", &w)
                                : file_create(ctx, "/dev/full", true, &w),
                         SPATE_OK);
        file_print(&w, "%d", 1);
        if (append) {
            assert_int_equal(file_flush(&w), SPATE_IO_ERROR);
            file_print(&w, "ignored");
        }
        assert_int_equal(file_close(&w), SPATE_IO_ERROR);
        assert_string_equal(spate_message(ctx),
                            "cannot write /dev/full: No space left on device; free some space or "
                            "choose another folder with -o");
    }
    /* A device is never replaced by a file. */
    assert_true(!stat("/dev/full", &info) && S_ISCHR(info.st_mode));
    assert_int_equal(file_create(ctx, "/dev/null", true, &w), SPATE_OK);
    file_print(&w, "%d", 1);
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_true(!stat("/dev/null", &info) && S_ISCHR(info.st_mode));
}

static void test_a_link_stays_a_link(void **state) {
    spate_context *ctx = *state;
    put(ctx, in_folder("target"), "old");
    assert_int_equal(symlink("target", in_folder("link")), 0);
    put(ctx, in_folder("link"), "new");
    assert_content(ctx, in_folder("target"), "new");
    struct stat info;
    assert_true(!lstat(in_folder("link"), &info) && S_ISLNK(info.st_mode));
    file_remove(ctx, in_folder("link"));
    /* But a link in the place of the temporary file is not written through. */
    file_writer w;
    assert_int_equal(symlink("target", in_folder("new.tmp")), 0);
    assert_int_equal(file_create(ctx, in_folder("new"), false, &w), SPATE_IO_ERROR);
    assert_content(ctx, in_folder("target"), "new");
    file_remove(ctx, in_folder("new.tmp"));
    file_remove(ctx, in_folder("target"));
}

static void test_appending_keeps_whole_rows(void **state) {
    spate_context *ctx = *state;
    const char *path = in_folder("stats.csv");
    put(ctx, path, "frame\n");
    file_writer w;
    assert_int_equal(file_append(ctx, path, &w), SPATE_OK);
    file_print(&w, "%d,%g\n", 1, 0.5);
    assert_content(ctx, path, "frame\n");
    assert_int_equal(file_flush(&w), SPATE_OK);
    assert_content(ctx, path, "frame\n1,0.5\n");
    file_print(&w, "2");
    file_abandon(&w);
    assert_content(ctx, path, "frame\n1,0.5\n");
    assert_int_equal(file_append(ctx, path, &w), SPATE_OK);
    file_print(&w, "2,1\n");
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_content(ctx, path, "frame\n1,0.5\n2,1\n");

    /* A row longer than the buffer is written in pieces, and stays whole. */
    char row[3 * 65536];
    memset(row, 'x', sizeof row);
    assert_int_equal(file_append(ctx, path, &w), SPATE_OK);
    for (int k = 0; k < 3; k++) file_write(&w, row, sizeof row / 3 - 1);
    assert_int_equal(file_flush(&w), SPATE_OK);
    file_write(&w, row, sizeof row); /* of this nothing was flushed */
    file_abandon(&w);
    assert_int_equal(file_size(ctx, path), strlen("frame\n1,0.5\n2,1\n") + sizeof row - 3);
    assert_int_equal(file_truncate(ctx, path, strlen("frame\n1,0.5\n2,1\n")), SPATE_OK);

    /* Nor does anything of a third row stay when the first two are flushed. */
    assert_int_equal(file_append(ctx, path, &w), SPATE_OK);
    for (int k = 3; k <= 4; k++) {
        file_print(&w, "%d,2\n", k);
        assert_int_equal(file_flush(&w), SPATE_OK);
    }
    file_write(&w, row, sizeof row);
    file_abandon(&w);
    assert_content(ctx, path, "frame\n1,0.5\n2,1\n3,2\n4,2\n");
    assert_int_equal(file_truncate(ctx, path, strlen("frame\n1,0.5\n2,1\n")), SPATE_OK);

    /* The disk fills in the middle of a row: the rows before it stay, the piece goes. */
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 18;
    assert_int_equal(file_append(ctx, path, &w), SPATE_OK);
    file_print(&w, "3,1.5\n");
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    spate_status status = file_flush(&w);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, SPATE_IO_ERROR);
    assert_content(ctx, path, "frame\n1,0.5\n2,1\n");
    assert_int_equal(file_close(&w), SPATE_IO_ERROR);
    assert_content(ctx, path, "frame\n1,0.5\n2,1\n");
    assert_int_equal(file_truncate(ctx, path, 6), SPATE_OK);
    assert_content(ctx, path, "frame\n");
    file_remove(ctx, path);
}

/* A writer that has added nothing cuts nothing off: what is there is not its own. */
static void test_abandoning_leaves_what_others_added(void **state) {
    spate_context *ctx = *state;
    file_writer first, second;
    const char *path = in_folder("shared");
    put(ctx, path, "a\n");
    assert_int_equal(file_append(ctx, path, &first), SPATE_OK);
    assert_int_equal(file_append(ctx, path, &second), SPATE_OK);
    file_print(&second, "b\n");
    assert_int_equal(file_close(&second), SPATE_OK);
    file_abandon(&first);
    assert_content(ctx, path, "a\nb\n");
    file_remove(ctx, path);
}

/* ---- Calls that are cut short or fail ---- */

static void test_signals_are_passed_over(void **state) {
    spate_context *ctx = *state;
    const char *path = in_folder("signals");
    file_writer w;
    for (int c = 0; c < CALL_COUNT; c++) calls.error[c] = EINTR;
    assert_int_equal(file_create(ctx, path, true, &w), SPATE_OK);
    file_print(&w, "0123456789");
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_content(ctx, path, "0123456789");
    assert_int_equal(calls.error[CALL_OPEN] + calls.error[CALL_READ] + calls.error[CALL_WRITE] +
                         calls.error[CALL_FSYNC],
                     0);
    memset(calls.error, 0, sizeof calls.error);
    calls.write_most = 3; /* and writes that take a part */
    put(ctx, path, "abcdefghij");
    calls.write_most = 0;
    assert_content(ctx, path, "abcdefghij");
    file_remove(ctx, path);
}

static void test_what_is_kept_is_synced(void **state) {
    spate_context *ctx = *state;
    const char *path = in_folder("synced");
    file_writer w;
    calls.made[CALL_FSYNC] = 0;
    put(ctx, path, "old");
    assert_int_equal(calls.made[CALL_FSYNC], 0); /* not where nobody asks for it */
    assert_int_equal(file_create(ctx, path, true, &w), SPATE_OK);
    file_print(&w, "new");
    assert_int_equal(file_close(&w), SPATE_OK);
    assert_int_equal(calls.made[CALL_FSYNC], 2); /* the file, and the folder that has its name */
    assert_string_equal(calls.opened, folder);
    assert_int_equal(file_create(ctx, path, true, &w), SPATE_OK);
    file_print(&w, "newer");
    calls.error[CALL_FSYNC] = EIO;
    assert_int_equal(file_close(&w), SPATE_IO_ERROR);
    assert_content(ctx, path, "new");
    assert_int_equal(entries(ctx), 1);
    calls.error[CALL_SYNCFS] = EIO;
    assert_int_equal(file_sync_folder(ctx, folder), SPATE_IO_ERROR);
    assert_int_equal(file_sync_folder(ctx, folder), SPATE_OK);
    file_remove(ctx, path);

    calls.root = folder;
    assert_int_equal(file_create(ctx, "/spate_test_file", true, &w), SPATE_OK);
    assert_int_equal(file_close(&w), SPATE_OK);
    calls.root = NULL;
    assert_string_equal(calls.opened, "/");
    assert_true(file_exists(ctx, in_folder("spate_test_file")));
    file_remove(ctx, in_folder("spate_test_file"));
}

static void test_long_prints(void **state) {
    spate_context *ctx = *state;
    file_writer w;
    char *longer = malloc(200001);
    memset(longer, 'y', 200000);
    longer[200000] = 0;
    const char *path = in_folder("long");
    assert_int_equal(file_create(ctx, path, false, &w), SPATE_OK);
    file_print(&w, "a%s", longer);
    file_print(&w, "b");
    assert_int_equal(file_close(&w), SPATE_OK);
    char *bytes;
    size_t length;
    assert_int_equal(file_read(ctx, path, 1 << 20, &bytes, &length), SPATE_OK);
    assert_int_equal(length, 200002);
    assert_int_equal(bytes[0], 'a');
    assert_memory_equal(bytes + 1, longer, 200000);
    assert_int_equal(bytes[200001], 'b');
    give(ctx, bytes);

    assert_int_equal(file_create(ctx, path, false, &w), SPATE_OK);
    refuse = 1;
    file_print(&w, "a%s", longer);
    assert_int_equal(file_close(&w), SPATE_OUT_OF_MEMORY);
    refuse = 0;
    assert_int_equal(file_size(ctx, path), 200002);
    free(longer);
    file_remove(ctx, path);
}

static spate_status add_name(const char *name, void *user) {
    strcat(strcat(user, name), " ");
    return strcmp(name, "stop") ? SPATE_OK : SPATE_BAD_INPUT;
}

static void test_folders(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    assert_int_equal(file_make_folder(ctx, in_folder("a/b//c/")), SPATE_OK);
    assert_int_equal(file_make_folder(ctx, in_folder("a/b/c")), SPATE_OK);
    assert_int_equal(file_make_folder(ctx, "/"), SPATE_OK);
    assert_true(file_is_folder(ctx, in_folder("a/b/c")));
    put(ctx, in_folder("a/file"), "x");
    assert_false(file_is_folder(ctx, in_folder("a/file")));
    assert_int_equal(file_make_folder(ctx, in_folder("a/file")), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "a/file is a file; choose another folder"));
    assert_int_equal(file_make_folder(ctx, in_folder("a/file/b")), SPATE_IO_ERROR);
    assert_int_equal(file_make_folder(ctx, "/proc/spate/test"), SPATE_IO_ERROR);

    char names[256] = "";
    assert_int_equal(file_list(ctx, in_folder("a"), add_name, names), SPATE_OK);
    assert_string_equal(names, "b file ");
    put(ctx, in_folder("a/stop"), "x");
    put(ctx, in_folder("a/zebra"), "x");
    names[0] = 0;
    assert_int_equal(file_list(ctx, in_folder("a"), add_name, names), SPATE_BAD_INPUT);
    assert_string_equal(names, "b file stop ");
    refuse = 1;
    assert_int_equal(file_list(ctx, in_folder("a"), add_name, names), SPATE_OUT_OF_MEMORY);
    refuse = 0;
    assert_int_equal(file_list(ctx, in_folder("none"), add_name, names), SPATE_BAD_INPUT);

    assert_int_equal(file_rename(ctx, in_folder("a/file"), in_folder("a/moved")), SPATE_OK);
    assert_false(file_exists(ctx, in_folder("a/file")));
    assert_int_equal(file_rename(ctx, in_folder("a/file"), in_folder("a/moved")), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "cannot rename "));
    assert_int_equal(file_remove(ctx, in_folder("a/file")), SPATE_OK);
    assert_int_equal(file_remove(ctx, in_folder("a/b")), SPATE_IO_ERROR);
    assert_int_equal(file_truncate(ctx, in_folder("a/file"), 0), SPATE_IO_ERROR);
    assert_int_equal(file_size(ctx, in_folder("a/file")), -1);
    assert_int_equal(ctx->blocks_now, blocks);
}

static void test_what_is_below(void **state) {
    spate_context *ctx = *state;
    assert_int_equal(file_make_folder(ctx, in_folder("top/in")), SPATE_OK);
    assert_int_equal(file_make_folder(ctx, in_folder("topmost")), SPATE_OK);
    put(ctx, in_folder("top/in/a"), "x");
    put(ctx, in_folder("topmost/a"), "x");
    assert_true(file_is_below(ctx, in_folder("top/in/a"), in_folder("top")));
    assert_false(file_is_below(ctx, in_folder("topmost/a"), in_folder("top")));
    assert_true(file_is_below(ctx, in_folder("topmost/a"), "/"));
}

static void test_locked_folder(void **state) {
    spate_context *ctx = *state;
    int lock, other;
    assert_int_equal(file_make_folder(ctx, in_folder("locked")), SPATE_OK);
    assert_int_equal(file_lock_folder(ctx, in_folder("locked"), &lock), SPATE_OK);
    assert_int_equal(file_lock_folder(ctx, in_folder("locked"), &other), SPATE_BAD_INPUT);
    assert_true(file_is_locked_folder(in_folder("locked"), lock));
    /* Another one by that name is not the one that was locked. */
    assert_int_equal(file_rename(ctx, in_folder("locked"), in_folder("moved")), SPATE_OK);
    assert_int_equal(file_make_folder(ctx, in_folder("locked")), SPATE_OK);
    assert_false(file_is_locked_folder(in_folder("locked"), lock));
    assert_true(file_is_locked_folder(in_folder("moved"), lock));
    file_unlock_folder(lock);
}

static void test_path_join(void **state) {
    spate_context *ctx = *state;
    char out[PATH_SIZE], longer[PATH_SIZE];
    assert_int_equal(path_join(ctx, "out", "run.json", out), SPATE_OK);
    assert_string_equal(out, "out/run.json");
    path_join(ctx, "out/", "run.json", out);
    assert_string_equal(out, "out/run.json");
    path_join(ctx, "", "run.json", out);
    assert_string_equal(out, "run.json");
    path_join(ctx, NULL, "run.json", out);
    assert_string_equal(out, "run.json");
    path_join(ctx, "scenes", "/data/bunny.obj", out);
    assert_string_equal(out, "/data/bunny.obj");
    memset(longer, 'x', sizeof longer);
    longer[PATH_SIZE - 3] = 0;
    assert_int_equal(path_join(ctx, "a", longer, out), SPATE_OK);
    longer[PATH_SIZE - 3] = 'x';
    longer[PATH_SIZE - 2] = 0;
    assert_int_equal(path_join(ctx, "a", longer, out), SPATE_IO_ERROR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_reading_refuses),
        cmocka_unit_test(test_replacing_keeps_the_old_file_on_failure),
        cmocka_unit_test(test_writing_refuses),
        cmocka_unit_test(test_a_full_device),
        cmocka_unit_test(test_a_link_stays_a_link),
        cmocka_unit_test(test_appending_keeps_whole_rows),
        cmocka_unit_test(test_abandoning_leaves_what_others_added),
        cmocka_unit_test(test_signals_are_passed_over),
        cmocka_unit_test(test_what_is_kept_is_synced),
        cmocka_unit_test(test_long_prints),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_what_is_below),
        cmocka_unit_test(test_locked_folder),
        cmocka_unit_test(test_path_join),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
