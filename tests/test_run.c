/*
 * Runs: what is in the folder, when a folder is refused, and that a run which was interrupted,
 * killed or out of space goes on to the same end as one that was not.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>

#include <cmocka.h>

#include "core/file.h"
#include "run/run.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scene_words[] =
    "spate: 1\nname: small\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\n"
    "duration: 0.1\nfps: 50\nsolver: {type: mpm}\n"
    "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
    "bodies:\n  - {name: pool, material: water, shape: {box: {min: [0.1, 0.1], max: [0.5, 0.4]}}}\n"
    "sources:\n"
    "  - {name: tap, material: water, shape: {box: {min: [0.2, 0.7], max: [0.4, 0.9]}}, velocity: "
    "[0, -2]}\n"
    "probes:\n  - {name: front, extent: {of: pool, axis: x, side: max}}\n"
    "output: {particles: [vtp, bgeo], fields: [J], checkpoint: 2}\n";

enum { FRAMES = 5 }; /* of that scene */

typedef struct fixture {
    spate_context *ctx;
    spate_scene *scene;
    char base[64], folder[96];
    spate_run_report report;
} fixture;

static void expect_ok(const spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static spate_scene *parse(spate_context *ctx, const char *set) {
    spate_scene *scene;
    expect_ok(ctx, spate_scene_parse(ctx, scene_words, strlen(scene_words),
                                     "some/where/splash.yaml", ".", &set, set != NULL, &scene));
    return scene;
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    expect_ok(NULL, spate_open(NULL, &f->ctx));
    f->scene = parse(f->ctx, NULL);
    strcpy(f->base, "/tmp/spate_run_XXXXXX");
    assert_non_null(mkdtemp(f->base));
    snprintf(f->folder, sizeof f->folder, "%s/run", f->base);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", f->base);
    int code = system(command);
    spate_scene_free(f->scene);
    spate_close(f->ctx);
    free(f);
    return code;
}

static spate_run_options options(fixture *f) {
    spate_run_options o = spate_default_run_options();
    o.folder = f->folder;
    return o;
}

static char *path_of(fixture *f, const char *name) {
    static char path[4][PATH_SIZE];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], PATH_SIZE, "%s/%s", f->folder, name);
    return path[next];
}

static bool has(fixture *f, const char *name) { return file_exists(f->ctx, path_of(f, name)); }

static char *content(fixture *f, const char *name) {
    char *bytes;
    size_t length;
    expect_ok(f->ctx, file_read(f->ctx, path_of(f, name), 1 << 24, &bytes, &length));
    return bytes;
}

static void put(fixture *f, const char *name, const char *words) {
    FILE *out = fopen(path_of(f, name), "w");
    assert_non_null(out);
    fputs(words, out);
    fclose(out);
}

/* stats.csv without its wall_seconds, the 24th column; to be freed. */
static char *statistics_of(fixture *f) {
    char *bytes = content(f, "stats.csv"), *out = calloc(strlen(bytes) + 1, 1), *to = out;
    int column = 1;
    for (const char *c = bytes; *c; c++) {
        if (*c == ',') column++;
        if (*c == '\n') column = 1;
        if (column != 24) *to++ = *c;
    }
    give(f->ctx, bytes);
    return out;
}

static void expect_in(fixture *f, const char *name, const char *words) {
    char *bytes = content(f, name);
    if (!strstr(bytes, words)) print_error("%s: no '%s' in\n%s\n", name, words, bytes);
    assert_non_null(strstr(bytes, words));
    give(f->ctx, bytes);
}

/* The state hash and statistics of a run that nothing happened to. */
static uint64_t reference(fixture *f, char **statistics_text) {
    char folder[96];
    strcpy(folder, f->folder);
    snprintf(f->folder, sizeof f->folder, "%s/straight", f->base);
    spate_run_options o = options(f);
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    assert_int_equal(f->report.frames, FRAMES);
    *statistics_text = statistics_of(f);
    strcpy(f->folder, folder);
    return f->report.state_hash;
}

/* The folder holds a finished run that equals `hash` and `rows` (which is freed). */
static void expect_same_end(fixture *f, uint64_t hash, char *rows) {
    char *found = statistics_of(f), name[64];
    assert_true(f->report.state_hash == hash);
    assert_string_equal(found, rows);
    for (int i = 0; i <= FRAMES; i++) {
        snprintf(name, sizeof name, "particles_%04d.vtp", i);
        assert_true(has(f, name));
        expect_in(f, "particles.pvd", name);
    }
    expect_in(f, "run.json", "\"exit_reason\": \"done\"");
    free(found);
    free(rows);
}

/* ---- What is in the folder ---- */

static void test_folder(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.step_log = true;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    assert_string_equal(f->report.folder, f->folder);
    assert_int_equal(f->report.frames, FRAMES);
    static const char *const files[] = {
        "run.json",      "run.scene.yaml",   "stats.csv",          "steps.jsonl",
        "particles.pvd", "checkpoint.spate", "particles_0000.vtp", "particles_0005.bgeo"};
    for (int i = 0; i < COUNT_OF(files); i++) assert_true(has(f, files[i]));
    assert_false(has(f, "particles_0006.vtp"));
    assert_false(has(f, "particles_0000.ply"));
    static const char *const fields[] = {"scene",
                                         "scene_hash",
                                         "build",
                                         "solver",
                                         "threads",
                                         "frames",
                                         "steps",
                                         "particles",
                                         "wall_seconds",
                                         "phases",
                                         "particle_steps_per_second",
                                         "peak_memory_bytes",
                                         "state_hash",
                                         "warnings",
                                         "exit_code",
                                         "exit_reason"};
    char key[64];
    for (int i = 0; i < COUNT_OF(fields); i++) {
        snprintf(key, sizeof key, "\n  \"%s\": ", fields[i]);
        expect_in(f, "run.json", key);
    }
    snprintf(key, sizeof key, "\"%016llx\"", (unsigned long long)f->report.state_hash);
    expect_in(f, "run.json", key);
    /* A row a frame at exactly its time, the last time step cut to meet it. */
    char *rows = content(f, "stats.csv"), *line = rows;
    for (int i = 0; i <= FRAMES; i++) {
        line = strchr(line, '\n') + 1;
        snprintf(key, sizeof key, "%d,%.15g,", i, i / 50.0);
        assert_memory_equal(line, key, strlen(key));
    }
    assert_null(strchr(strchr(line, '\n') + 1, '\n'));
    give(f->ctx, rows);
    /* A line a step, of what is known without looking at particles. */
    char *log = content(f, "steps.jsonl");
    int64_t lines = 0;
    for (const char *c = log; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, f->report.steps);
    assert_non_null(strstr(log, "{\"step\":1,\"dt_limit\":"));
    assert_non_null(strstr(log, "\"phases\":{"));
    assert_null(strstr(log, "state_hash"));
    assert_null(strstr(log, "mass"));
    give(f->ctx, log);
}

/* On request with everything, and the last line's hash is that of the run. */
static void test_full_step_log(void **state) {
    fixture *f = *state;
    char hash[64];
    spate_run_options o = options(f);
    o.step_full = true;
    o.frames = 2;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    snprintf(hash, sizeof hash, "\"state_hash\":\"%016llx\"",
             (unsigned long long)f->report.state_hash);
    char *log = content(f, "steps.jsonl"), *last = log;
    for (char *c = log; *c; c++)
        if (c[0] == '\n' && c[1]) last = c + 1;
    assert_non_null(strstr(last, hash));
    assert_non_null(strstr(log, "\"mass\":"));
    assert_non_null(strstr(log, "\"cfl\":"));
    give(f->ctx, log);
}

/* ---- What takes the time ---- */

/* Also what is not a step is in a phase. */
static void test_phases(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    static const char *const phases[] = {"start",      "report", "checkpoint", "frames",
                                         "statistics", "limit",  "scatter"};
    char name[64];
    for (int i = 0; i < COUNT_OF(phases); i++) {
        snprintf(name, sizeof name, "\"%s\": ", phases[i]);
        expect_in(f, "run.json", name);
    }
}

/* ---- Frames that cannot be written ---- */

/* In the way of the last file of frame 3, once the run is under way. */
static void block_frame(const spate_progress *p, void *user) {
    if (p->frame == 1 && !has(user, "particles_0003.bgeo"))
        assert_int_equal(mkdir(path_of(user, "particles_0003.bgeo"), 0777), 0);
}

/* The failure is noticed while later steps are made, and told of the frame it belongs to. */
static void test_a_frame_that_fails(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.progress = block_frame;
    o.user = f;
    assert_int_equal(spate_run(f->scene, &o, &f->report), SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(f->ctx), "particles_0003.bgeo"));
    assert_int_equal(f->report.frames, 2);
    expect_in(f, "run.json", "\"frames\": 2,");
    expect_in(f, "run.json", "\"exit_code\": 5");
    expect_in(f, "particles.pvd", "particles_0002.vtp");
    char *list = content(f, "particles.pvd"), *rows = content(f, "stats.csv");
    assert_null(strstr(list, "particles_0003.vtp"));
    assert_non_null(strstr(rows, "\n2,"));
    assert_null(strstr(rows, "\n3,"));
    give(f->ctx, list);
    give(f->ctx, rows);
}

/* ---- What limits the step ---- */

static const char *limit_of_row(fixture *f, int row, char out[32]) {
    char *rows = content(f, "stats.csv"), *at = rows;
    for (int i = 0; i <= row; i++) at = strchr(at, '\n') + 1;
    for (int comma = 0; comma < 4; comma++) at = strchr(at, ',') + 1;
    snprintf(out, 32, "%.*s", (int)strcspn(at, ","), at);
    give(f->ctx, rows);
    return out;
}

/* The last step of a frame is cut to meet it; that is not what has set the others. */
static void test_usual_limit(void **state) {
    fixture *f = *state;
    char limit[32];
    spate_run_options o = options(f);
    o.frames = 2;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    expect_in(f, "run.json", "\"frame\": "); /* some are */
    for (int i = 1; i <= 2; i++) assert_string_equal(limit_of_row(f, i, limit), "wave");
    /* A frame shorter than any step is what sets it. */
    spate_scene *brisk = parse(f->ctx, "fps=100000");
    o.force = true;
    expect_ok(f->ctx, spate_run(brisk, &o, &f->report));
    for (int i = 1; i <= 2; i++) assert_string_equal(limit_of_row(f, i, limit), "frame");
    spate_scene_free(brisk);
}

static void test_name_of_folder(void **state) {
    fixture *f = *state;
    char out[PATH_SIZE];
    expect_ok(f->ctx, run_folder_choose(f->ctx, f->scene->path, NULL, out));
    assert_string_equal(out, "splash");
    expect_ok(f->ctx, run_folder_choose(f->ctx, f->scene->path, "a/b", out));
    assert_string_equal(out, "a/b");
}

static void test_owned_names(void **state) {
    (void)state;
    int64_t number;
    assert_true(run_folder_owns("particles_0012.vtp", &number));
    assert_int_equal(number, 12);
    assert_true(run_folder_owns("particles_12345.bgeo.tmp", NULL));
    assert_true(run_folder_owns("checkpoint.prev.spate", &number));
    assert_int_equal(number, -1);
    static const char *const foreign[] = {"notes.txt",
                                          "particles_12.vtp",
                                          "particles_-001.vtp",
                                          "particles_0001.vtp.bak",
                                          "my_particles_0001.vtp",
                                          "run.json~",
                                          "particles_0001.obj",
                                          ".tmp",
                                          "checkpoint.spate.old"};
    for (int i = 0; i < COUNT_OF(foreign); i++) assert_false(run_folder_owns(foreign[i], NULL));
}

/* ---- When it may be written to ---- */

static void test_full_folder_is_refused(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.frames = 1;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    put(f, "notes.txt", "mine");
    put(f, "particles_0099.vtp", "old");
    char *before = content(f, "run.json");
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "--force"));
    assert_non_null(strstr(spate_message(f->ctx), "--resume"));
    char *after = content(f, "run.json");
    assert_string_equal(before, after);
    give(f->ctx, before);
    give(f->ctx, after);
    o.force = true;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    expect_in(f, "notes.txt", "mine"); /* not a run's: it stays */
    assert_false(has(f, "particles_0099.vtp"));
}

static void test_bad_scene_leaves_the_old_run(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.frames = 1;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    spate_scene *other =
        parse(f->ctx, "colliders=[{shape: {sphere: {center: [0, 0], radius: 1000}}}]");
    o.force = true;
    assert_int_equal(spate_run(other, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "has no particles"));
    assert_true(has(f, "particles_0001.vtp"));
    spate_scene_free(other);
}

static void test_wrong_options(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.force = o.resume = true;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    o = options(f);
    o.frames = 1, o.until = 1;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    o = options(f);
    o.until = -1;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_false(file_exists(f->ctx, f->folder));
    o = options(f);
    o.resume = true;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "no checkpoint"));
    assert_false(file_exists(f->ctx, f->folder));
}

/* ---- Where it ends ---- */

static void test_until(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.until = 0.05; /* between frames 2 and 3 */
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    assert_int_equal(f->report.frames, 3);
}

static void test_max_steps(void **state) {
    fixture *f = *state;
    spate_scene *other = parse(f->ctx, "solver.max_steps=3");
    spate_run_options o = options(f);
    expect_ok(f->ctx, spate_run(other, &o, &f->report));
    assert_int_equal(f->report.steps, 3);
    assert_int_equal(f->report.frames, 1); /* the state there is its last frame */
    o.resume = true;
    expect_ok(f->ctx, spate_run(other, &o, &f->report));
    assert_int_equal(f->report.steps, 3);
    spate_scene_free(other);
}

/* ---- Going on ---- */

typedef struct stopper {
    int64_t at;
    volatile int flag;
    int calls;
} stopper;

static void stop_at(const spate_progress *p, void *user) {
    stopper *s = user;
    s->calls++;
    if (p->steps >= s->at) s->flag = 1;
}

static void test_interrupt_and_resume(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_run_options o = options(f);
    stopper s = {.at = 2};
    o.progress = stop_at;
    o.user = &s;
    o.interrupt = &s.flag;
    spate_status status = spate_run(f->scene, &o, &f->report);
    assert_int_equal(status, SPATE_INTERRUPTED);
    assert_int_equal(f->report.steps, 2);
    assert_int_equal(s.calls, 2);
    expect_in(f, "run.json", "\"exit_reason\": \"interrupted\"");
    expect_in(f, "run.json", "\"exit_code\": 130");
    o.resume = true;
    for (int i = 0; status == SPATE_INTERRUPTED && i < 1000; i++) {
        s = (stopper){.at = f->report.steps + 7};
        status = spate_run(f->scene, &o, &f->report);
    }
    expect_ok(f->ctx, status);
    expect_same_end(f, hash, rows);
}

/* What a killed run leaves: files of frames after the checkpoint, half a row, half a checkpoint. */
static void test_resume_takes_back_what_came_later(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_run_options o = options(f);
    o.frames = 4;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    o.frames = 2;
    o.force = true;
    char *table = content(f, "stats.csv");
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    put(f, "particles_0003.vtp", "half of a frame");
    put(f, "particles_0004.vtp.tmp", "half of a frame");
    put(f, "checkpoint.spate.tmp", "half of a checkpoint");
    put(f, "stats.csv", table);
    FILE *out = fopen(path_of(f, "stats.csv"), "a");
    fputs("5,0.1,12", out);
    fclose(out);
    give(f->ctx, table);
    o.resume = true;
    o.force = false;
    o.frames = 0;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    assert_false(has(f, "checkpoint.spate.tmp"));
    assert_false(has(f, "particles_0004.vtp.tmp"));
    expect_same_end(f, hash, rows);
}

/* Rows after one that does not follow the last were left by a run that was not this one. */
static void test_rows_that_do_not_follow(void **state) {
    fixture *f = *state;
    static const char *const tables[] = {"0,a\n1,b\n1,c\n2,d\n", "0,a\n1,b\n0,c\n2,d\n"};
    int64_t rows;
    expect_ok(f->ctx, file_make_folder(f->ctx, f->folder));
    for (int i = 0; i < COUNT_OF(tables); i++) {
        char table[64];
        snprintf(table, sizeof table, "frame,x\n%s", tables[i]);
        put(f, "stats.csv", table);
        expect_ok(f->ctx, run_folder_trim_statistics(f->ctx, f->folder, "frame,x\n", 2, &rows));
        assert_int_equal(rows, 2);
        char *left = content(f, "stats.csv");
        assert_string_equal(left, "frame,x\n0,a\n1,b\n");
        give(f->ctx, left);
    }
}

static void test_damaged_checkpoint(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_run_options o = options(f);
    o.frames = 3;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    put(f, "checkpoint.spate", "");
    o.resume = true;
    o.frames = 0;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    expect_in(f, "run.json", "\"damaged checkpoint\": 1");
    expect_same_end(f, hash, rows);
    /* Both that are left are whole: the damaged one was not kept as the previous one. */
    put(f, "checkpoint.spate", "");
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    assert_true(f->report.state_hash == hash);
    put(f, "checkpoint.spate", "");
    put(f, "checkpoint.prev.spate", "SPATE");
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "damaged checkpoint"));
    assert_true(has(f, "particles_0005.vtp"));
}

static void test_more_steps(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_scene *cut = parse(f->ctx, "solver.max_steps=3");
    spate_run_options o = options(f);
    expect_ok(f->ctx, spate_run(cut, &o, NULL));
    o.resume = true;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    expect_same_end(f, hash, rows);
    spate_scene_free(cut);
}

/* Renames the run's folder at its second frame; with `replace` another takes its name. */
typedef struct mover {
    fixture *f;
    bool replace, moved;
} mover;

static void move_folder(const spate_progress *p, void *user) {
    mover *m = user;
    char away[128];
    if (m->moved || p->frame < 2) return;
    snprintf(away, sizeof away, "%s/away", m->f->base);
    assert_int_equal(rename(m->f->folder, away), 0);
    if (m->replace) assert_int_equal(mkdir(m->f->folder, 0700), 0);
    m->moved = true;
}

static void test_a_folder_that_moves(void **state) {
    fixture *f = *state;
    for (int replace = 0; replace <= 1; replace++) {
        char away[128];
        mover m = {f, replace, false};
        spate_run_options o = options(f);
        o.progress = move_folder, o.user = &m;
        assert_int_equal(spate_run(f->scene, &o, &f->report), SPATE_IO_ERROR);
        assert_non_null(strstr(spate_message(f->ctx), "was renamed, removed or replaced"));
        assert_non_null(strstr(spate_message(f->ctx), "--resume"));
        /* Nothing was written to the other one, and the run goes on once its folder is back. */
        if (replace) assert_int_equal(rmdir(f->folder), 0);
        snprintf(away, sizeof away, "%s/away", f->base);
        assert_int_equal(rename(away, f->folder), 0);
        o = options(f), o.resume = true;
        expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
        assert_int_equal(f->report.frames, FRAMES);
        o.resume = false, o.force = true;
        expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
        assert_int_equal(run_folder_clear(f->ctx, f->folder, -1), SPATE_OK);
        assert_int_equal(rmdir(f->folder), 0);
    }
}

static void test_one_run_at_a_time(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.frames = 1;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    int other = open(o.folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    o.resume = true;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "another run"));
    o.resume = false, o.force = true;
    assert_int_equal(spate_run(f->scene, &o, NULL), SPATE_BAD_INPUT);
    assert_true(has(f, "particles_0001.vtp"));
    close(other);
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
}

static void test_extend_and_finished(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_run_options o = options(f);
    o.until = 0.06;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    o.resume = true;
    o.until = 0.1;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    o.until = 0;
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report)); /* finished: nothing to do, no error */
    assert_int_equal(f->report.frames, FRAMES);
    expect_same_end(f, hash, rows);
}

static void test_resume_of_another_scene(void **state) {
    fixture *f = *state;
    spate_run_options o = options(f);
    o.frames = 1;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    spate_scene *other = parse(f->ctx, "gravity=[0, -1]");
    o.resume = true;
    o.frames = 3;
    assert_int_equal(spate_run(other, &o, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "another scene"));
    expect_in(f, "run.json", "\"exit_reason\": \"done\"");
    assert_false(has(f, "particles_0002.vtp"));
    spate_scene_free(other);
}

/* ---- No space ---- */

static void limit_file_size(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_no_space(void **state) {
    fixture *f = *state;
    char *rows;
    uint64_t hash = reference(f, &rows);
    spate_run_options o = options(f);
    o.frames = 2;
    expect_ok(f->ctx, spate_run(f->scene, &o, NULL));
    o.resume = true;
    o.frames = 0;
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(6000); /* run.json fits, a frame does not */
    spate_status status = spate_run(f->scene, &o, NULL);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(f->ctx), "cannot write"));
    assert_null(strchr(spate_message(f->ctx), '\n'));
    expect_in(f, "run.json", "\"exit_code\": 5");
    assert_false(has(f, "particles_0003.vtp.tmp"));
    expect_ok(f->ctx, spate_run(f->scene, &o, &f->report));
    expect_same_end(f, hash, rows);
}

static void test_unstable(void **state) {
    fixture *f = *state;
    spate_scene *wild = parse(f->ctx, "bodies.0.velocity=[1.0e9, 0]");
    spate_run_options o = options(f);
    assert_int_equal(spate_run(wild, &o, &f->report), SPATE_UNSTABLE);
    expect_in(f, "run.json", "\"exit_reason\": \"unstable: ");
    expect_in(f, "run.json", "\"exit_code\": 3");
    assert_true(has(f, "checkpoint.spate")); /* the last good state */
    spate_scene_free(wild);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_folder),
        TEST(test_full_step_log),
        TEST(test_phases),
        TEST(test_a_frame_that_fails),
        TEST(test_usual_limit),
        TEST(test_name_of_folder),
        TEST(test_owned_names),
        TEST(test_full_folder_is_refused),
        TEST(test_bad_scene_leaves_the_old_run),
        TEST(test_wrong_options),
        TEST(test_until),
        TEST(test_max_steps),
        TEST(test_interrupt_and_resume),
        TEST(test_resume_takes_back_what_came_later),
        TEST(test_rows_that_do_not_follow),
        TEST(test_damaged_checkpoint),
        TEST(test_more_steps),
        TEST(test_a_folder_that_moves),
        TEST(test_one_run_at_a_time),
        TEST(test_extend_and_finished),
        TEST(test_resume_of_another_scene),
        TEST(test_no_space),
        TEST(test_unstable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
