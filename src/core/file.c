/*
 * Files on a POSIX system. A file that is replaced is written beside the old one as "<path>.tmp",
 * synced where asked for, and renamed over it, so that at any moment one whole file is there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* realpath, O_CLOEXEC, syncfs */
#endif
#include "core/file.h"
#include "core/arena.h"
#include "core/text.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 * 1024, NEW_FILE_MODE = 0666, NEW_FOLDER_MODE = 0777 };

_Static_assert(PATH_SIZE >= PATH_MAX, "realpath needs the room");

/* Repeats a system call that a signal has cut short. */
#define RETRY(call)                              \
    ({                                           \
        __typeof__(call) result_;                \
        do result_ = (call);                     \
        while (result_ == -1 && errno == EINTR); \
        result_;                                 \
    })

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
static spate_status read_all(spate_context *ctx, int fd, const char *path, size_t limit,
                             size_t hint, char **bytes, size_t *length) {
    int64_t capacity = 0;
    size_t used = 0;
    TRY(GROW(ctx, *bytes, capacity, (int64_t)hint + 2));
    for (;;) {
        /* One byte stays free for the zero. */
        ssize_t got = RETRY(read(fd, *bytes + used, (size_t)capacity - 1 - used));
        if (got < 0) return fail_to_read(ctx, path, errno);
        if (got == 0) break;
        used += (size_t)got;
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
    /* Without O_NONBLOCK, opening a pipe waits for its writer. */
    int fd = RETRY(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd < 0) return fail_to_read(ctx, path, errno);
    spate_status status;
    struct stat info;
    if (fstat(fd, &info))
        status = fail_to_read(ctx, path, errno);
    else if (S_ISDIR(info.st_mode))
        status = fail_to_read(ctx, path, EISDIR);
    else if (!S_ISREG(info.st_mode))
        status = fail(ctx, SPATE_BAD_INPUT,
                      "cannot read %s: it is a pipe or a device, not a file; copy what it gives "
                      "into a file first",
                      path);
    else if ((uint64_t)info.st_size > limit)
        status = fail_too_large(ctx, path, limit);
    else
        status = read_all(ctx, fd, path, limit, (size_t)info.st_size, bytes, length);
    close(fd);
    if (status) {
        give(ctx, *bytes);
        *bytes = NULL;
    }
    return status;
}

/* ---- Writing -------------------------------------------------------------------------- */

/* Writes all of it; false with errno set. */
static bool write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = RETRY(write(fd, bytes, length));
        if (done < 0) return false;
        bytes += done;
        length -= (size_t)done;
    }
    return true;
}

/* Writes to the file itself and keeps the first failure. */
static void write_through(file_writer *w, const char *bytes, size_t length) {
    if (w->error) return;
    if (!write_all(w->fd, bytes, length)) w->error = errno;
    w->written += (int64_t)length;
}

static void write_buffer(file_writer *w) {
    write_through(w, w->buffer, w->used);
    w->used = 0;
}

/* Opens w->temporary, or w->path where that is empty. After a failure the writer is a closed one.
 */
static spate_status start(file_writer *w, int flags) {
    w->fd = -1;
    w->buffer = take(w->ctx, BUFFER_BYTES, 1);
    if (!w->buffer) return SPATE_OUT_OF_MEMORY;
    const char *name = w->temporary[0] ? w->temporary : w->path;
    w->fd = RETRY(open(name, flags | O_WRONLY | O_CLOEXEC, NEW_FILE_MODE));
    if (w->fd >= 0) return SPATE_OK;
    spate_status status = fail_to(w->ctx, "write", w->path, errno);
    give(w->ctx, w->buffer);
    w->buffer = NULL;
    return status;
}

/* Closes the descriptor and gives the buffer back. */
static void release(file_writer *w) {
    if (close(w->fd) && errno != EINTR && !w->error) w->error = errno;
    w->fd = -1;
    give(w->ctx, w->buffer);
    w->buffer = NULL;
    w->used = 0;
}

spate_status file_create(spate_context *ctx, const char *path, bool sync, file_writer *w) {
    *w = (file_writer){.ctx = ctx, .fd = -1, .sync = sync, .kept = -1};
    if (strlen(path) + sizeof ".tmp" > PATH_SIZE) return fail_too_long(ctx, path);
    strcpy(w->path, path);
    /* A link stays: the file it leads to is replaced. */
    struct stat info;
    bool exists = !lstat(path, &info);
    if (exists && S_ISLNK(info.st_mode)) {
        char target[PATH_SIZE];
        if (!realpath(path, target)) return fail_to(ctx, "write", path, errno);
        if (strlen(target) + sizeof ".tmp" > PATH_SIZE) return fail_too_long(ctx, target);
        strcpy(w->path, target);
        exists = !lstat(w->path, &info);
    }
    if (exists && S_ISDIR(info.st_mode)) return fail_to(ctx, "write", path, EISDIR);
    /* A device or a pipe is written to, never replaced. */
    if (exists && !S_ISREG(info.st_mode)) return start(w, 0);
    snprintf(w->temporary, sizeof w->temporary, "%.*s.tmp", PATH_SIZE - 5, w->path);
    return start(w, O_CREAT | O_TRUNC | O_NOFOLLOW);
}

spate_status file_append(spate_context *ctx, const char *path, file_writer *w) {
    *w = (file_writer){.ctx = ctx, .fd = -1, .kept = -1};
    if (strlen(path) >= PATH_SIZE) return fail_too_long(ctx, path);
    strcpy(w->path, path);
    TRY(start(w, O_CREAT | O_APPEND));
    struct stat info;
    if (fstat(w->fd, &info)) {
        const int error = errno;
        release(w);
        return fail_to(ctx, "write", path, error);
    }
    if (S_ISREG(info.st_mode)) w->kept = info.st_size;
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
    if (RETRY(ftruncate(w->fd, (off_t)w->kept)) && !w->error) w->error = errno;
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
    return SPATE_OK;
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
    int fd = RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0) return;
    RETRY(fsync(fd));
    close(fd);
}

spate_status file_close(file_writer *w) {
    if (!w->buffer) return SPATE_OK;
    write_buffer(w);
    /* Pipes and devices have nothing to sync (EINVAL). */
    if (!w->error && w->sync && RETRY(fsync(w->fd)) && errno != EINVAL) w->error = errno;
    if (w->error) cut_back(w);
    release(w);
    if (!w->error && w->temporary[0] && rename(w->temporary, w->path)) w->error = errno;
    if (w->error) {
        if (w->temporary[0]) unlink(w->temporary);
        return fail_to(w->ctx, "write", w->path, w->error);
    }
    if (w->sync && w->temporary[0]) sync_folder_of(w->path);
    return SPATE_OK;
}

void file_abandon(file_writer *w) {
    if (!w->buffer) return;
    cut_back(w);
    release(w);
    if (w->temporary[0]) unlink(w->temporary);
}

/* ---- Names and folders ---------------------------------------------------------------- */

spate_status file_rename(spate_context *ctx, const char *from, const char *to) {
    if (!rename(from, to)) return SPATE_OK;
    const int error = errno;
    return fail(ctx, SPATE_IO_ERROR, "cannot rename %s to %s: %s; %s", from, to,
                text_of_errno(ctx, error), remedy_for_writing(error));
}

spate_status file_remove(spate_context *ctx, const char *path) {
    if (!unlink(path) || errno == ENOENT) return SPATE_OK;
    return fail_to(ctx, "remove", path, errno);
}

spate_status file_truncate(spate_context *ctx, const char *path, size_t length) {
    if (!RETRY(truncate(path, (off_t)length))) return SPATE_OK;
    return fail_to(ctx, "shorten", path, errno);
}

bool file_exists(const char *path) {
    struct stat info;
    return !stat(path, &info);
}

bool file_is_same(const char *a, const char *b) {
    struct stat one, two;
    return !stat(a, &one) && !stat(b, &two) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

bool file_is_folder(const char *path) {
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

int64_t file_size(const char *path) {
    struct stat info;
    return stat(path, &info) ? -1 : (int64_t)info.st_size;
}

bool file_is_below(const char *path, const char *folder) {
    char file[PATH_SIZE], top[PATH_SIZE];
    if (!realpath(path, file)) return errno == ENOENT;
    if (!realpath(*folder ? folder : ".", top)) return false;
    const size_t length = strcmp(top, "/") ? strlen(top) : 0;
    return !strncmp(file, top, length) && file[length] == '/';
}

spate_status file_sync_folder(spate_context *ctx, const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_to(ctx, "open the folder", path, errno);
    const int error = syncfs(fd) ? errno : 0;
    close(fd);
    return error ? fail_to(ctx, "write", path, error) : SPATE_OK;
}

spate_status file_lock_folder(spate_context *ctx, const char *path, int *lock) {
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return fail_to(ctx, "open the folder", path, errno);
    if (!flock(*lock, LOCK_EX | LOCK_NB)) return SPATE_OK;
    const int error = errno;
    close(*lock);
    *lock = -1;
    if (error != EWOULDBLOCK) return SPATE_OK;
    return fail(
        ctx, SPATE_BAD_INPUT,
        "another run is writing to the folder '%s'; wait for it or choose another folder (-o)",
        path);
}

void file_unlock_folder(int lock) {
    if (lock >= 0) close(lock);
}

bool file_is_locked_folder(const char *path, int lock) {
    struct stat there, locked;
    if (lock < 0 || fstat(lock, &locked)) return true; /* it cannot be told */
    return !stat(path, &there) && there.st_dev == locked.st_dev && there.st_ino == locked.st_ino;
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
    if (length >= PATH_SIZE) return fail_too_long(ctx, path);
    memcpy(part, path, length + 1);
    /* Parents first: the path is cut at one slash after the other. */
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        part[i] = 0;
        const int error = mkdir(part, NEW_FOLDER_MODE) ? errno : 0;
        if (error && !file_is_folder(part)) return fail_to_make_folder(ctx, path, part, error);
        part[i] = path[i];
    }
    return SPATE_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in an open folder, in no order. */
static spate_status read_names(arena *a, DIR *folder, const char *path, char ***names,
                               int64_t *count) {
    int64_t capacity = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry) return errno ? fail_to_read(a->ctx, path, errno) : SPATE_OK;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        TRY(GROW(a->ctx, *names, capacity, *count + 1));
        char *name = arena_text(a, entry->d_name, strlen(entry->d_name));
        if (!name) return SPATE_OUT_OF_MEMORY;
        (*names)[(*count)++] = name;
    }
}

spate_status file_list(spate_context *ctx, const char *folder,
                       spate_status (*visit)(const char *name, void *user), void *user) {
    DIR *opened = opendir(folder);
    if (!opened) return fail_to_read(ctx, folder, errno);
    arena a = arena_create(ctx);
    char **names = NULL;
    int64_t count = 0;
    spate_status status = read_names(&a, opened, folder, &names, &count);
    closedir(opened);
    if (!status && count) qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int64_t i = 0; i < count && !status; i++) status = visit(names[i], user);
    give(ctx, names);
    arena_free(&a);
    return status;
}

spate_status path_join(spate_context *ctx, const char *folder, const char *name, char *out) {
    const size_t length = folder ? strlen(folder) : 0;
    const bool alone = length == 0 || name[0] == '/';
    const char *between = alone || folder[length - 1] == '/' ? "" : "/";
    int written = snprintf(out, PATH_SIZE, "%s%s%s", alone ? "" : folder, between, name);
    return written >= 0 && written < PATH_SIZE ? SPATE_OK : fail_too_long(ctx, name);
}
