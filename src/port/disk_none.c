/* No files: every call says so. */
#include "port/disk.h"
#include <errno.h>

int disk_inspect(const char *path, disk_info *out) {
    (void)path, (void)out;
    return ENOSYS;
}

int disk_inspect_link(const char *path, disk_info *out) {
    (void)path, (void)out;
    return ENOSYS;
}

int disk_inspect_open(int file, disk_info *out) {
    (void)file, (void)out;
    return ENOSYS;
}

int disk_resolve(const char *path, char out[PATH_SIZE]) {
    (void)path, (void)out;
    return ENOSYS;
}

int disk_open(const char *path, disk_mode mode, int *file) {
    (void)path, (void)mode, (void)file;
    return ENOSYS;
}

int disk_close(int file) {
    (void)file;
    return ENOSYS;
}

int disk_read(int file, void *bytes, size_t room, size_t *length) {
    (void)file, (void)bytes, (void)room, (void)length;
    return ENOSYS;
}

int disk_write(int file, const void *bytes, size_t length) {
    (void)file, (void)bytes, (void)length;
    return ENOSYS;
}

int disk_sync(int file) {
    (void)file;
    return ENOSYS;
}

int disk_sync_all(int folder) {
    (void)folder;
    return ENOSYS;
}

int disk_cut(int file, int64_t length) {
    (void)file, (void)length;
    return ENOSYS;
}

int disk_lock(int folder) {
    (void)folder;
    return ENOSYS;
}

bool disk_is_same(const char *path, int file) {
    (void)path, (void)file;
    return true;
}

int disk_rename(const char *from, const char *to) {
    (void)from, (void)to;
    return ENOSYS;
}

int disk_remove(const char *path) {
    (void)path;
    return ENOSYS;
}

int disk_truncate(const char *path, int64_t length) {
    (void)path, (void)length;
    return ENOSYS;
}

int disk_make_folder(const char *path) {
    (void)path;
    return ENOSYS;
}

int disk_list(const char *folder, bool (*visit)(const char *name, void *user), void *user) {
    (void)folder, (void)visit, (void)user;
    return ENOSYS;
}
