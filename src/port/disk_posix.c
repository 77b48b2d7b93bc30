/* Files on a POSIX system. Calls that a signal has cut short are repeated. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* realpath, O_CLOEXEC, syncfs */
#endif
#include "port/disk.h"
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

enum { NEW_FILE_MODE = 0666, NEW_FOLDER_MODE = 0777 };

_Static_assert(PATH_SIZE >= PATH_MAX, "realpath needs the room");

/* Repeats a system call that a signal has cut short. */
#define RETRY(call)                              \
    ({                                           \
        __typeof__(call) result_;                \
        do result_ = (call);                     \
        while (result_ == -1 && errno == EINTR); \
        result_;                                 \
    })

/* 0, or why a call failed. */
static int error_of(int result) { return result ? errno : 0; }

/* ---- What is there -------------------------------------------------------------------- */

static int tell(int result, const struct stat *from, disk_info *out) {
    if (result) return errno;
    out->kind = S_ISREG(from->st_mode)   ? DISK_FILE
                : S_ISDIR(from->st_mode) ? DISK_FOLDER
                : S_ISLNK(from->st_mode) ? DISK_LINK
                                         : DISK_OTHER;
    out->size = from->st_size;
    return 0;
}

int disk_inspect(const char *path, disk_info *out) {
    struct stat info;
    return tell(stat(path, &info), &info, out);
}

int disk_inspect_link(const char *path, disk_info *out) {
    struct stat info;
    return tell(lstat(path, &info), &info, out);
}

int disk_inspect_open(int file, disk_info *out) {
    struct stat info;
    return tell(fstat(file, &info), &info, out);
}

int disk_resolve(const char *path, char out[PATH_SIZE]) { return realpath(path, out) ? 0 : errno; }

bool disk_is_same(const char *path, int file) {
    struct stat there, opened;
    if (file < 0 || fstat(file, &opened)) return true;
    return !stat(path, &there) && there.st_dev == opened.st_dev && there.st_ino == opened.st_ino;
}

/* ---- Open files ----------------------------------------------------------------------- */

int disk_open(const char *path, disk_mode mode, int *file) {
    static const int flags[] = {
        /* Without O_NONBLOCK, opening a pipe waits for its writer. */
        [DISK_READ] = O_RDONLY | O_NONBLOCK,
        [DISK_WRITE] = O_WRONLY,
        [DISK_REPLACE] = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
        [DISK_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
        [DISK_LIST] = O_RDONLY | O_DIRECTORY,
    };
    *file = RETRY(open(path, flags[mode] | O_CLOEXEC, NEW_FILE_MODE));
    return *file < 0 ? errno : 0;
}

int disk_close(int file) { return close(file) && errno != EINTR ? errno : 0; }

int disk_read(int file, void *bytes, size_t room, size_t *length) {
    const ssize_t got = RETRY(read(file, bytes, room));
    *length = got > 0 ? (size_t)got : 0;
    return got < 0 ? errno : 0;
}

int disk_write(int file, const void *bytes, size_t length) {
    const char *from = bytes;
    while (length > 0) {
        const ssize_t done = RETRY(write(file, from, length));
        if (done < 0) return errno;
        from += done;
        length -= (size_t)done;
    }
    return 0;
}

int disk_sync(int file) { return error_of(RETRY(fsync(file))); }
int disk_sync_all(int folder) { return error_of(syncfs(folder)); }
int disk_cut(int file, int64_t length) { return error_of(RETRY(ftruncate(file, (off_t)length))); }
int disk_lock(int folder) { return error_of(flock(folder, LOCK_EX | LOCK_NB)); }

/* ---- By name -------------------------------------------------------------------------- */

int disk_rename(const char *from, const char *to) { return error_of(rename(from, to)); }
int disk_remove(const char *path) { return error_of(unlink(path)); }
int disk_make_folder(const char *path) { return error_of(mkdir(path, NEW_FOLDER_MODE)); }

int disk_truncate(const char *path, int64_t length) {
    return error_of(RETRY(truncate(path, (off_t)length)));
}

int disk_list(const char *folder, bool (*visit)(const char *name, void *user), void *user) {
    DIR *opened = opendir(folder);
    if (!opened) return errno;
    int error = 0;
    for (bool more = true; more;) {
        errno = 0;
        const struct dirent *entry = readdir(opened);
        if (!entry) {
            error = errno;
            break;
        }
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        more = visit(entry->d_name, user);
    }
    closedir(opened);
    return error;
}
