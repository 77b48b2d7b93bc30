/*
 * Files: on the system's disk (port/disk.h), or by the program's own functions (file_hooks.h). A
 * file on disk that is replaced is written beside the old one as "<path>.tmp", synced where asked
 * for, and renamed over it, so that at any moment one whole file is there.
 */
#include "core/file.h"
#include "core/arena.h"
#include "core/file_hooks.h"
#include "core/text.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 64 * 1024 };

/* ---- Messages ------------------------------------------------------------------------- */

/* What someone can do about a failed write. */
static const char *remedy_for_writing(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space or choose another folder with -o";
    case EFBIG: return "this file system takes no larger files; choose another folder with -o";
    case EACCES:
    case EPERM:
    case EROFS: return "check the permissions or choose another folder with -o";
    case ENOENT:
    case ENOTDIR: return "make the folder first or choose another one with -o";
    case EISDIR:
    case ENOTEMPTY: return "a folder is in the way; remove it or choose another name";
    case EMFILE:
    case ENFILE: return "too many files are open; raise the limit with ulimit -n";
    case ENAMETOOLONG: return "choose a shorter name";
    case ENOSYS: return "this build has no files but those of spate_config.files";
    default: return "check the disk or choose another folder with -o";
    }
}

static spate_status fail_to(spate_context *ctx, const char *action, const char *path, int error) {
    if (error == ENOMEM)
        return fail(ctx, SPATE_OUT_OF_MEMORY, "cannot %s %s: out of memory", action, path);
    return fail(ctx, SPATE_IO_ERROR, "cannot %s %s: %s; %s", action, path,
                text_of_errno(ctx, error), remedy_for_writing(error));
}

/* A file that is not there was named wrongly: bad input. */
static spate_status fail_to_read(spate_context *ctx, const char *path, int error) {
    const bool missing = error == ENOENT || error == ENOTDIR;
    const char *remedy = missing                             ? "check the path"
                         : error == EACCES || error == EPERM ? "check the permissions"
                         : error == EISDIR                   ? "give a file in it"
                         : error == ENOSYS                   ? remedy_for_writing(error)
                                                             : "check the disk";
    return fail(ctx, missing ? SPATE_BAD_INPUT : SPATE_IO_ERROR, "cannot read %s: %s; %s", path,
                text_of_errno(ctx, error), remedy);
}

static spate_status fail_too_long(spate_context *ctx, const char *path) {
    return fail(ctx, SPATE_IO_ERROR,
                "the path %.200s... is longer than %d bytes; choose a shorter one", path,
                PATH_SIZE - 1);
}

/* ---- Reading -------------------------------------------------------------------------- */

static spate_status fail_too_large(spate_context *ctx, const char *path, size_t limit) {
    return fail(ctx, SPATE_BAD_INPUT,
                "%s is larger than %zu bytes, the most that is read from a file of this kind", path,
                limit);
}

/* Reads to the end of an open file. It may grow meanwhile, so its size is a hint. */
static spate_status read_all(spate_context *ctx, int file, const char *path, size_t limit,
                             size_t hint, char **bytes, size_t *length) {
    int64_t capacity = 0;
    size_t used = 0;
    TRY(GROW(ctx, *bytes, capacity, (int64_t)hint + 2));
    for (;;) {
        /* One byte stays free for the zero. */
        size_t got;
        const int error = disk_read(file, *bytes + used, (size_t)capacity - 1 - used, &got);
        if (error) return fail_to_read(ctx, path, error);
        if (got == 0) break;
        used += got;
        if (used > limit) return fail_too_large(ctx, path, limit);
        if (used + 1 == (size_t)capacity) TRY(GROW(ctx, *bytes, capacity, capacity + 1));
    }
    (*bytes)[used] = 0;
    *length = used;
    return SPATE_OK;
}

spate_status file_read(spate_context *ctx, const char *path, size_t limit, char **bytes,
                       size_t *length) {
    *bytes = NULL;
    *length = 0;
    if (has_file_hooks(ctx)) return hooked_read(ctx, path, limit, bytes, length);
    int file, error = disk_open(path, DISK_READ, &file);
    if (error) return fail_to_read(ctx, path, error);
    spate_status status;
    disk_info info;
    error = disk_inspect_open(file, &info);
    if (error)
        status = fail_to_read(ctx, path, error);
    else if (info.kind == DISK_FOLDER)
        status = fail_to_read(ctx, path, EISDIR);
    else if (info.kind != DISK_FILE)
        status = fail(ctx, SPATE_BAD_INPUT,
                      "cannot read %s: it is a pipe or a device, not a file; copy what it gives "
                      "into a file first",
                      path);
    else if ((uint64_t)info.size > limit)
        status = fail_too_large(ctx, path, limit);
    else
        status = read_all(ctx, file, path, limit, (size_t)info.size, bytes, length);
    disk_close(file);
    if (status) {
        give(ctx, *bytes);
        *bytes = NULL;
    }
    return status;
}

/* ---- Writing -------------------------------------------------------------------------- */

/* Keeps what a hook is to be given in one piece. */
static int gather(file_writer *w, const char *bytes, size_t length) {
    const int64_t end = w->gathered_length + (int64_t)length;
    if (GROW(w->ctx, w->gathered, w->gathered_room, end)) return ENOMEM;
    memcpy(w->gathered + w->gathered_length, bytes, length);
    w->gathered_length = end;
    return 0;
}

/* Writes to the file itself and keeps the first failure. */
static void write_through(file_writer *w, const char *bytes, size_t length) {
    if (w->error || !length) return;
    w->error = w->hooked ? gather(w, bytes, length) : disk_write(w->file, bytes, length);
    w->written += (int64_t)length;
}

static void write_buffer(file_writer *w) {
    write_through(w, w->buffer, w->used);
    w->used = 0;
}

/* Opens w->temporary, or w->path where that is empty. After a failure the writer is a closed one.
 */
static spate_status start(file_writer *w, disk_mode mode) {
    w->file = -1;
    w->buffer = take(w->ctx, BUFFER_BYTES, 1);
    if (!w->buffer) return SPATE_OUT_OF_MEMORY;
    if (w->hooked) return SPATE_OK;
    const int error = disk_open(w->temporary[0] ? w->temporary : w->path, mode, &w->file);
    if (!error) return SPATE_OK;
    give(w->ctx, w->buffer);
    w->buffer = NULL;
    return fail_to(w->ctx, "write", w->path, error);
}

/* Closes the file and gives the memory back. */
static void release(file_writer *w) {
    const int error = w->hooked ? 0 : disk_close(w->file);
    if (!w->error) w->error = error;
    w->file = -1;
    give(w->ctx, w->buffer);
    give(w->ctx, w->gathered);
    w->buffer = w->gathered = NULL;
    w->used = 0;
    w->gathered_length = w->gathered_room = 0;
}

/* A writer of a path, not yet open. */
static spate_status prepare(spate_context *ctx, const char *path, size_t more, file_writer *w) {
    *w = (file_writer){.ctx = ctx, .file = -1, .kept = -1, .hooked = has_file_hooks(ctx)};
    if (strlen(path) + more >= PATH_SIZE) return fail_too_long(ctx, path);
    strcpy(w->path, path);
    return SPATE_OK;
}

spate_status file_create(spate_context *ctx, const char *path, bool sync, file_writer *w) {
    TRY(prepare(ctx, path, strlen(".tmp"), w));
    w->sync = sync;
    if (w->hooked) return start(w, DISK_REPLACE);
    /* A link stays: the file it leads to is replaced. */
    disk_info info;
    bool exists = !disk_inspect_link(path, &info);
    if (exists && info.kind == DISK_LINK) {
        char target[PATH_SIZE];
        const int error = disk_resolve(path, target);
        if (error) return fail_to(ctx, "write", path, error);
        if (strlen(target) + sizeof ".tmp" > PATH_SIZE) return fail_too_long(ctx, target);
        strcpy(w->path, target);
        exists = !disk_inspect_link(w->path, &info);
    }
    if (exists && info.kind == DISK_FOLDER) return fail_to(ctx, "write", path, EISDIR);
    /* A device or a pipe is written to, never replaced. */
    if (exists && info.kind != DISK_FILE) return start(w, DISK_WRITE);
    snprintf(w->temporary, sizeof w->temporary, "%.*s.tmp", PATH_SIZE - 5, w->path);
    return start(w, DISK_REPLACE);
}

spate_status file_append(spate_context *ctx, const char *path, file_writer *w) {
    TRY(prepare(ctx, path, 0, w));
    w->appends = true;
    TRY(start(w, DISK_APPEND));
    if (w->hooked) return SPATE_OK;
    disk_info info;
    const int error = disk_inspect_open(w->file, &info);
    if (error) {
        release(w);
        return fail_to(ctx, "write", path, error);
    }
    if (info.kind == DISK_FILE) w->kept = info.size;
    return SPATE_OK;
}

void file_write(file_writer *w, const void *bytes, size_t length) {
    assert(w->buffer);
    if (w->error || length == 0) return;
    if (length > BUFFER_BYTES - w->used) write_buffer(w);
    if (length >= BUFFER_BYTES) {
        write_through(w, bytes, length);
        return;
    }
    memcpy(w->buffer + w->used, bytes, length);
    w->used += length;
}

void file_print(file_writer *w, const char *format, ...) {
    assert(w->buffer);
    if (w->error) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const size_t room = BUFFER_BYTES - w->used;
    int length = text_format(w->ctx, w->buffer + w->used, room, format, args);
    if (length < 0) {
        w->error = ENOMEM;
    } else if ((size_t)length < room) {
        w->used += (size_t)length;
    } else {
        /* It did not fit behind what waits there already. */
        char *piece = take(w->ctx, (size_t)length + 1, 1);
        if (piece) {
            text_format(w->ctx, piece, (size_t)length + 1, format, again);
            file_write(w, piece, (size_t)length);
        } else {
            w->error = ENOMEM;
        }
        give(w->ctx, piece);
    }
    va_end(again);
    va_end(args);
}

/* Cuts a file that is added to back to what is known to be whole. Nobody else writes to it, so what
 * was written since then is all there is to cut. */
static void cut_back(file_writer *w) {
    if (w->kept < 0 || w->written == 0) return;
    const int error = disk_cut(w->file, w->kept);
    if (!w->error) w->error = error;
}

/* Hands a hook what was gathered for it. */
static spate_status hand_over(file_writer *w) {
    const size_t length = (size_t)w->gathered_length;
    if (w->appends && !length) return SPATE_OK;
    w->gathered_length = 0;
    const spate_status status = hooked_write(w->ctx, w->path, w->gathered, length, w->appends);
    if (status) w->error = EIO;
    return status;
}

spate_status file_flush(file_writer *w) {
    assert(w->buffer);
    write_buffer(w);
    if (w->error) {
        cut_back(w);
        return fail_to(w->ctx, "write", w->path, w->error);
    }
    if (w->kept >= 0) w->kept += w->written;
    w->written = 0;
    return w->hooked && w->appends ? hand_over(w) : SPATE_OK;
}

/* Makes a rename last through a crash. Not every file system can do this for a folder, and the file
 * itself is whole either way, so failures are passed over. */
static void sync_folder_of(const char *path) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = 0;
    int file;
    if (disk_open(folder, DISK_LIST, &file)) return;
    disk_sync(file);
    disk_close(file);
}

static spate_status close_hooked(file_writer *w) {
    const spate_status status =
        w->error ? fail_to(w->ctx, "write", w->path, w->error) : hand_over(w);
    release(w);
    return status;
}

spate_status file_close(file_writer *w) {
    if (!w->buffer) return SPATE_OK;
    write_buffer(w);
    if (w->hooked) return close_hooked(w);
    if (!w->error && w->sync) {
        const int error = disk_sync(w->file);
        if (error != EINVAL) w->error = error; /* pipes and devices have nothing to sync */
    }
    if (w->error) cut_back(w);
    release(w);
    if (!w->error && w->temporary[0]) w->error = disk_rename(w->temporary, w->path);
    if (w->error) {
        if (w->temporary[0]) disk_remove(w->temporary);
        return fail_to(w->ctx, "write", w->path, w->error);
    }
    if (w->sync && w->temporary[0]) sync_folder_of(w->path);
    return SPATE_OK;
}

void file_abandon(file_writer *w) {
    if (!w->buffer) return;
    cut_back(w);
    release(w);
    if (w->temporary[0]) disk_remove(w->temporary);
}

/* ---- Names and folders ---------------------------------------------------------------- */

spate_status file_rename(spate_context *ctx, const char *from, const char *to) {
    if (has_file_hooks(ctx)) return hooked_rename(ctx, from, to);
    const int error = disk_rename(from, to);
    if (!error) return SPATE_OK;
    return fail(ctx, SPATE_IO_ERROR, "cannot rename %s to %s: %s; %s", from, to,
                text_of_errno(ctx, error), remedy_for_writing(error));
}

spate_status file_remove(spate_context *ctx, const char *path) {
    if (has_file_hooks(ctx)) return hooked_remove(ctx, path);
    const int error = disk_remove(path);
    return !error || error == ENOENT ? SPATE_OK : fail_to(ctx, "remove", path, error);
}

spate_status file_truncate(spate_context *ctx, const char *path, size_t length) {
    if (has_file_hooks(ctx)) return hooked_truncate(ctx, path, length);
    const int error = disk_truncate(path, (int64_t)length);
    return error ? fail_to(ctx, "shorten", path, error) : SPATE_OK;
}

bool file_exists(const spate_context *ctx, const char *path) {
    disk_info info;
    if (has_file_hooks(ctx)) return hooked_size(ctx, path) >= 0 || hooked_is_folder(ctx, path);
    return !disk_inspect(path, &info);
}

bool file_is_same(const spate_context *ctx, const char *a, const char *b) {
    char one[PATH_SIZE], two[PATH_SIZE];
    if (has_file_hooks(ctx)) return !strcmp(a, b) && file_exists(ctx, a);
    return !disk_resolve(a, one) && !disk_resolve(b, two) && !strcmp(one, two);
}

bool file_is_folder(const spate_context *ctx, const char *path) {
    disk_info info;
    if (has_file_hooks(ctx)) return hooked_is_folder(ctx, path);
    return !disk_inspect(path, &info) && info.kind == DISK_FOLDER;
}

int64_t file_size(const spate_context *ctx, const char *path) {
    disk_info info;
    if (has_file_hooks(ctx)) return hooked_size(ctx, path);
    return disk_inspect(path, &info) ? -1 : info.size;
}

bool file_is_below(const spate_context *ctx, const char *path, const char *folder) {
    char file[PATH_SIZE], top[PATH_SIZE];
    if (has_file_hooks(ctx)) return !strstr(path, "..");
    const int error = disk_resolve(path, file);
    if (error) return error == ENOENT;
    if (disk_resolve(*folder ? folder : ".", top)) return false;
    const size_t length = strcmp(top, "/") ? strlen(top) : 0;
    return !strncmp(file, top, length) && file[length] == '/';
}

spate_status file_sync_folder(spate_context *ctx, const char *path) {
    int file;
    if (has_file_hooks(ctx)) return SPATE_OK;
    int error = disk_open(path, DISK_LIST, &file);
    if (error) return fail_to(ctx, "open the folder", path, error);
    error = disk_sync_all(file);
    disk_close(file);
    return error ? fail_to(ctx, "write", path, error) : SPATE_OK;
}

spate_status file_lock_folder(spate_context *ctx, const char *path, int *lock) {
    *lock = -1;
    if (has_file_hooks(ctx)) return SPATE_OK;
    int error = disk_open(path, DISK_LIST, lock);
    if (error) return fail_to(ctx, "open the folder", path, error);
    error = disk_lock(*lock);
    if (!error) return SPATE_OK;
    disk_close(*lock);
    *lock = -1;
    if (error != EWOULDBLOCK) return SPATE_OK;
    return fail(
        ctx, SPATE_BAD_INPUT,
        "another run is writing to the folder '%s'; wait for it or choose another folder (-o)",
        path);
}

void file_unlock_folder(int lock) {
    if (lock >= 0) disk_close(lock);
}

bool file_is_locked_folder(const char *path, int lock) {
    return lock < 0 || disk_is_same(path, lock);
}

/* `part` is as much of the path as could not be made; all before it is there. */
static spate_status fail_to_make_folder(spate_context *ctx, const char *path, const char *part,
                                        int error) {
    const char *slash = strrchr(part, '/');
    if (error == EEXIST)
        return fail(ctx, SPATE_IO_ERROR,
                    "cannot make the folder %s: %s is a file; choose another folder with -o", path,
                    part);
    if (error == ENOENT && slash)
        return fail(ctx, SPATE_IO_ERROR,
                    "cannot make the folder %s: the file system of %.*s takes no new folders; "
                    "choose another folder with -o",
                    path, slash > part ? (int)(slash - part) : 1, part);
    return fail_to(ctx, "make the folder", path, error);
}

spate_status file_make_folder(spate_context *ctx, const char *path) {
    char part[PATH_SIZE];
    const size_t length = strlen(path);
    if (has_file_hooks(ctx)) return SPATE_OK;
    if (length >= PATH_SIZE) return fail_too_long(ctx, path);
    memcpy(part, path, length + 1);
    /* Parents first: the path is cut at one slash after the other. */
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        part[i] = 0;
        const int error = disk_make_folder(part);
        if (error && !file_is_folder(ctx, part)) return fail_to_make_folder(ctx, path, part, error);
        part[i] = path[i];
    }
    return SPATE_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a folder. */
typedef struct name_list {
    arena arena;
    char **names;
    int64_t count, room;
    spate_status status;
} name_list;

static bool add_name(const char *name, void *user) {
    name_list *list = user;
    list->status = GROW(list->arena.ctx, list->names, list->room, list->count + 1);
    if (list->status) return false;
    char *copy = arena_text(&list->arena, name, strlen(name));
    if (copy) list->names[list->count++] = copy;
    if (!copy) list->status = SPATE_OUT_OF_MEMORY;
    return copy != NULL;
}

static void add_hooked_name(const char *name, void *visitor) {
    if (!((name_list *)visitor)->status) add_name(name, visitor);
}

static spate_status read_names(spate_context *ctx, const char *folder, name_list *list) {
    if (has_file_hooks(ctx)) {
        TRY(hooked_list(ctx, folder, add_hooked_name, list));
        return list->status;
    }
    const int error = disk_list(folder, add_name, list);
    return error ? fail_to_read(ctx, folder, error) : list->status;
}

spate_status file_list(spate_context *ctx, const char *folder,
                       spate_status (*visit)(const char *name, void *user), void *user) {
    name_list list = {.arena = arena_create(ctx)};
    spate_status status = read_names(ctx, folder, &list);
    if (!status && list.count)
        qsort(list.names, (size_t)list.count, sizeof *list.names, compare_names);
    for (int64_t i = 0; i < list.count && !status; i++) status = visit(list.names[i], user);
    give(ctx, list.names);
    arena_free(&list.arena);
    return status;
}

spate_status path_join(spate_context *ctx, const char *folder, const char *name, char *out) {
    const size_t length = folder ? strlen(folder) : 0;
    const bool alone = length == 0 || name[0] == '/';
    const char *between = alone || folder[length - 1] == '/' ? "" : "/";
    int written = snprintf(out, PATH_SIZE, "%s%s%s", alone ? "" : folder, between, name);
    return written >= 0 && written < PATH_SIZE ? SPATE_OK : fail_too_long(ctx, name);
}
