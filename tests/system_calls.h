/*
 * System calls that a test can tell to fail: defined here, they take the place of the C library's
 * in the test and in the library it is linked with.
 */
#ifndef SPATE_TESTS_SYSTEM_CALLS_H
#define SPATE_TESTS_SYSTEM_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum system_call {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_SYNCFS,
    CALL_FTRUNCATE,
    CALL_COUNT
} system_call;

static struct {
    int error[CALL_COUNT]; /* errno of the next call, which fails; or 0 */
    int made[CALL_COUNT];  /* calls so far */
    size_t write_most;     /* bytes that a write takes; or 0 */
    const char *root;      /* the folder that stands for "/"; or NULL */
    char opened[PATH_MAX]; /* the folder that was opened last */
} calls;

static bool call_fails(system_call call) {
    calls.made[call]++;
    if (!calls.error[call]) return false;
    errno = calls.error[call];
    calls.error[call] = 0;
    return true;
}

/* A file in "/", in the folder that stands for it. */
static const char *below_root(const char *path, char room[PATH_MAX]) {
    if (!calls.root || path[0] != '/' || !path[1] || strchr(path + 1, '/')) return path;
    snprintf(room, PATH_MAX, "%s%s", calls.root, path);
    return room;
}

int open(const char *path, int flags, ...) {
    va_list args;
    char room[PATH_MAX];
    va_start(args, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    if (call_fails(CALL_OPEN)) return -1;
    if (flags & O_DIRECTORY) snprintf(calls.opened, sizeof calls.opened, "%s", path);
    return (int)syscall(SYS_openat, AT_FDCWD, below_root(path, room), flags, mode);
}

ssize_t read(int fd, void *bytes, size_t length) {
    return call_fails(CALL_READ) ? -1 : syscall(SYS_read, fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (call_fails(CALL_WRITE)) return -1;
    if (calls.write_most && length > calls.write_most) length = calls.write_most;
    return syscall(SYS_write, fd, bytes, length);
}

int fsync(int fd) { return call_fails(CALL_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd); }

int syncfs(int fd) { return call_fails(CALL_SYNCFS) ? -1 : (int)syscall(SYS_syncfs, fd); }

int ftruncate(int fd, off_t length) {
    return call_fails(CALL_FTRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int rename(const char *from, const char *to) {
    char rooms[2][PATH_MAX];
    return (int)syscall(SYS_renameat2, AT_FDCWD, below_root(from, rooms[0]), AT_FDCWD,
                        below_root(to, rooms[1]), 0);
}

#endif
