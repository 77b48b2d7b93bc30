/*
 * Files by the program's own functions (spate_config.files) instead of the system's: whole files by
 * their paths, in the caller's thread. core/file.c asks for them first.
 */
#ifndef SPATE_CORE_FILE_HOOKS_H
#define SPATE_CORE_FILE_HOOKS_H

#include "core/context.h"

static inline bool has_file_hooks(const spate_context *ctx) {
    return ctx->config.files.read != NULL;
}

/* -1 when there is none. */
int64_t hooked_size(const spate_context *ctx, const char *path);
/* Whether some file's path begins with it. */
bool hooked_is_folder(const spate_context *ctx, const char *path);
spate_status hooked_read(spate_context *ctx, const char *path, size_t limit, char **bytes,
                         size_t *length);
spate_status hooked_write(spate_context *ctx, const char *path, const void *bytes, size_t length,
                          bool append);
spate_status hooked_remove(spate_context *ctx, const char *path);
spate_status hooked_rename(spate_context *ctx, const char *from, const char *to);
spate_status hooked_truncate(spate_context *ctx, const char *path, size_t length);
spate_status hooked_list(spate_context *ctx, const char *folder,
                         void (*visit)(const char *name, void *visitor), void *visitor);

#endif
