/*
 * Preloaded into the command: makes one call on a file of the run's folder fail, or all from there
 * on. SPATE_FAULT is "CALL N once|on FOLDER": the Nth call of open, write, fsync, syncfs, fstat,
 * rename, mkdir or truncate on a path below FOLDER (for writing) fails with ENOSPC; or
 * fsync_folder, the fsync of a folder. When it struck, FOLDER.struck is made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };
static bool watched[DESCRIPTORS]; /* descriptors of files below the folder, open for writing */
static bool folders[DESCRIPTORS]; /* descriptors of the folder itself and those below it */
static char call_name[16], mode[8], folder[1024];
static long strike_at = -1, calls;

__attribute__((constructor)) static void read_settings(void) {
    const char *settings = getenv("SPATE_FAULT");
    if (!settings ||
        sscanf(settings, "%15s %ld %7s %1023s", call_name, &strike_at, mode, folder) != 4)
        strike_at = -1;
}

static bool below(const char *path) {
    return strike_at > 0 && !strncmp(path, folder, strlen(folder));
}

static bool strikes(const char *name) {
    if (strike_at < 1 || strcmp(name, call_name)) return false;
    calls++;
    if (calls != strike_at && !(calls > strike_at && !strcmp(mode, "on"))) return false;
    int (*open_)(const char *, int, ...) =
        (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    char mark[1100];
    snprintf(mark, sizeof mark, "%s.struck", folder);
    int fd = open_(mark, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    errno = ENOSPC;
    return true;
}

int open(const char *path, int flags, ...) {
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list args;
    va_start(args, flags);
    mode_t permissions = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    bool watch = (flags & O_ACCMODE) != O_RDONLY && below(path);
    if (watch && strikes("open")) return -1;
    int fd = next(path, flags, permissions);
    if (fd >= 0 && fd < DESCRIPTORS) {
        watched[fd] = watch;
        folders[fd] = flags & O_DIRECTORY && below(path);
    }
    return fd;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t (*next)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (fd >= 0 && fd < DESCRIPTORS && watched[fd] && strikes("write")) return -1;
    return next(fd, bytes, length);
}

int fsync(int fd) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (fd >= 0 && fd < DESCRIPTORS && watched[fd] && strikes("fsync")) return -1;
    if (fd >= 0 && fd < DESCRIPTORS && folders[fd] && strikes("fsync_folder")) return -1;
    return next(fd);
}

int syncfs(int fd) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "syncfs");
    if (fd >= 0 && fd < DESCRIPTORS && folders[fd] && strikes("syncfs")) return -1;
    return next(fd);
}

int fstat(int fd, struct stat *info) {
    int (*next)(int, struct stat *) = (int (*)(int, struct stat *))dlsym(RTLD_NEXT, "fstat");
    if (fd >= 0 && fd < DESCRIPTORS && watched[fd] && strikes("fstat")) return -1;
    return next(fd, info);
}

int rename(const char *from, const char *to) {
    int (*next)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    if (below(to) && strikes("rename")) return -1;
    return next(from, to);
}

int mkdir(const char *path, mode_t permissions) {
    int (*next)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    if (below(path) && strikes("mkdir")) return -1;
    return next(path, permissions);
}

int truncate(const char *path, off_t length) {
    int (*next)(const char *, off_t) = (int (*)(const char *, off_t))dlsym(RTLD_NEXT, "truncate");
    if (below(path) && strikes("truncate")) return -1;
    return next(path, length);
}
