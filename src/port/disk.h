/*
 * Files and folders of the system, call by call: disk_posix.c. Every function gives 0 or an errno
 * value. Where there are none (-DSPATE_FILES=OFF: disk_none.c) all of them give ENOSYS, and
 * core/file.c has only the program's own hooks.
 */
#ifndef SPATE_PORT_DISK_H
#define SPATE_PORT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATH_SIZE = 4096 };

typedef enum disk_kind { DISK_FILE, DISK_FOLDER, DISK_LINK, DISK_OTHER } disk_kind;

typedef struct disk_info {
    disk_kind kind;
    int64_t size;
} disk_info;

/* Follows links; disk_inspect_link does not. */
int disk_inspect(const char *path, disk_info *out);
int disk_inspect_link(const char *path, disk_info *out);
int disk_inspect_open(int file, disk_info *out);
/* The path without links, dots and doubled slashes. */
int disk_resolve(const char *path, char out[PATH_SIZE]);

typedef enum disk_mode {
    DISK_READ,    /* never waits for the writer of a pipe */
    DISK_WRITE,   /* what is there */
    DISK_REPLACE, /* made, or emptied; a link is refused */
    DISK_APPEND,  /* made, or added to */
    DISK_LIST     /* a folder */
} disk_mode;

int disk_open(const char *path, disk_mode mode, int *file);
int disk_close(int file);
/* Up to `room` bytes; *length 0: the end. */
int disk_read(int file, void *bytes, size_t room, size_t *length);
int disk_write(int file, const void *bytes, size_t length); /* all of it */
int disk_sync(int file);
int disk_sync_all(int folder); /* the whole file system that it is on */
int disk_cut(int file, int64_t length);
/* Keeps other processes from locking it until it is closed. EWOULDBLOCK: one has it. */
int disk_lock(int folder);
/* Whether a path still leads to what is open; true where that cannot be told. */
bool disk_is_same(const char *path, int file);

int disk_rename(const char *from, const char *to);
int disk_remove(const char *path);
int disk_truncate(const char *path, int64_t length);
int disk_make_folder(const char *path);
/* Every name in a folder, in no order, until `visit` says false. */
int disk_list(const char *folder, bool (*visit)(const char *name, void *user), void *user);

#endif
