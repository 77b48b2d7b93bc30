/*
 * Files: whole reads with a limit, buffered writes, and replacing a file so that the old or the new
 * one is there whatever happens (temporary name, sync, rename, sync of the folder).
 * All system calls on files are in src/port.
 */
#ifndef SPATE_CORE_FILE_H
#define SPATE_CORE_FILE_H

#include "core/context.h"
#include "port/disk.h"

/* Reads a whole file into memory from take(); a zero follows the last byte (not counted). Pipes and
 * devices are refused: they may never end. */
spate_status file_read(spate_context *ctx, const char *path, size_t limit, char **bytes,
                       size_t *length);

/* A file being written. Errors are kept and reported by file_close. */
typedef struct file_writer {
    spate_context *ctx;
    int file;  /* disk.h */
    int error; /* errno of the first failure, 0 for none */
    char path[PATH_SIZE];
    char temporary[PATH_SIZE]; /* written under this name, then renamed; empty when appending */
    char *buffer;
    size_t used;
    bool sync;
    int64_t kept;    /* appending: the length that a failure goes back to; -1 when it cannot */
    int64_t written; /* bytes since then */
    bool appends;
    bool hooked;    /* by spate_config.files, which get it in one piece: */
    char *gathered; /* what that will be */
    int64_t gathered_length, gathered_room;
} file_writer;

/* Starts a file that replaces `path` when closed. With `sync` it is on disk before the rename. */
spate_status file_create(spate_context *ctx, const char *path, bool sync, file_writer *w);
/* Opens a file to add to its end; what is written is flushed by file_flush or file_close. A failure
 * cuts the file back to the last flush, so whole rows stay whole. */
spate_status file_append(spate_context *ctx, const char *path, file_writer *w);
void file_write(file_writer *w, const void *bytes, size_t length);
void file_print(file_writer *w, const char *format, ...) PRINTF_LIKE(2, 3); /* C locale */
spate_status file_flush(file_writer *w);
/* Ends the file; after any failure nothing is left but what was there before. */
spate_status file_close(file_writer *w);
/* Gives up: removes the temporary file, keeps what was there. Safe on a closed or zeroed writer. */
void file_abandon(file_writer *w);

spate_status file_rename(spate_context *ctx, const char *from, const char *to);
spate_status file_remove(spate_context *ctx, const char *path); /* a missing file is fine */
spate_status file_truncate(spate_context *ctx, const char *path, size_t length);
bool file_exists(const spate_context *ctx, const char *path);
bool file_is_folder(const spate_context *ctx, const char *path);
/* Whether two paths lead, once links are followed, to one file that is there. */
bool file_is_same(const spate_context *ctx, const char *a, const char *b);
int64_t file_size(const spate_context *ctx, const char *path); /* -1 when there is none */
/* Whether a file lies below a folder once links are followed; so does one that is not there. */
bool file_is_below(const spate_context *ctx, const char *path, const char *folder);
/* Puts everything written to the folder's file system on disk. */
spate_status file_sync_folder(spate_context *ctx, const char *path);
/* Keeps other processes from locking the folder until file_unlock_folder or the process's end.
 * Fails with SPATE_BAD_INPUT when another one has it. Where a file system knows no locks, *lock is
 * -1. */
spate_status file_lock_folder(spate_context *ctx, const char *path, int *lock);
void file_unlock_folder(int lock);
/* Whether `path` is still the folder that was locked: nobody has renamed, removed or replaced
 * it. */
bool file_is_locked_folder(const char *path, int lock);
/* Makes the folder (parents too); fine when it exists. */
spate_status file_make_folder(spate_context *ctx, const char *path);
/* Names in a folder, sorted; calls visit for each until it fails. */
spate_status file_list(spate_context *ctx, const char *folder,
                       spate_status (*visit)(const char *name, void *user), void *user);
/* Joins "folder/name" (or just the name when it is absolute or the folder is empty) into
 * out[PATH_SIZE]; fails when it does not fit. */
spate_status path_join(spate_context *ctx, const char *folder, const char *name, char *out);

#endif
