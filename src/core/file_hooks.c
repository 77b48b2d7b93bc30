/* Files by the program's own functions; see file_hooks.h. */
#include "core/file_hooks.h"

static const char remedy[] = "the program that runs Spate gives its files (spate_config.files)";

int64_t hooked_size(const spate_context *ctx, const char *path) {
    return ctx->config.files.size(path, ctx->config.files.user);
}

static void note_name(const char *name, void *visitor) {
    (void)name;
    *(bool *)visitor = true;
}

bool hooked_is_folder(const spate_context *ctx, const char *path) {
    const spate_files *f = &ctx->config.files;
    bool any = false;
    return f->list(path, note_name, &any, f->user) && any;
}

spate_status hooked_read(spate_context *ctx, const char *path, size_t limit, char **bytes,
                         size_t *length) {
    const spate_files *f = &ctx->config.files;
    const int64_t size = hooked_size(ctx, path);
    if (size < 0)
        return fail(ctx, SPATE_BAD_INPUT, "cannot read %s: there is no such file; %s", path,
                    remedy);
    if ((uint64_t)size > limit)
        return fail(ctx, SPATE_BAD_INPUT,
                    "%s is larger than %zu bytes, the most that is read from a file of this kind",
                    path, limit);
    *bytes = take(ctx, (size_t)size + 1, 1);
    if (!*bytes) return SPATE_OUT_OF_MEMORY;
    *length = (size_t)size;
    if (f->read(path, *bytes, (size_t)size, f->user)) return SPATE_OK;
    give(ctx, *bytes);
    *bytes = NULL, *length = 0;
    return fail(ctx, SPATE_IO_ERROR, "cannot read %s; %s", path, remedy);
}

spate_status hooked_write(spate_context *ctx, const char *path, const void *bytes, size_t length,
                          bool append) {
    const spate_files *f = &ctx->config.files;
    if (f->write(path, bytes, length, append, f->user)) return SPATE_OK;
    return fail(ctx, SPATE_IO_ERROR, "cannot write %s; %s", path, remedy);
}

spate_status hooked_remove(spate_context *ctx, const char *path) {
    const spate_files *f = &ctx->config.files;
    if (hooked_size(ctx, path) < 0 || f->remove(path, f->user)) return SPATE_OK;
    return fail(ctx, SPATE_IO_ERROR, "cannot remove %s; %s", path, remedy);
}

/* Writes the first bytes of a file, all of them or fewer, under a name. */
static spate_status copy(spate_context *ctx, const char *from, const char *to, size_t most) {
    char *bytes;
    size_t length;
    TRY(hooked_read(ctx, from, SIZE_MAX / 2, &bytes, &length));
    const spate_status status = hooked_write(ctx, to, bytes, length < most ? length : most, false);
    give(ctx, bytes);
    return status;
}

spate_status hooked_rename(spate_context *ctx, const char *from, const char *to) {
    TRY(copy(ctx, from, to, SIZE_MAX));
    return hooked_remove(ctx, from);
}

spate_status hooked_truncate(spate_context *ctx, const char *path, size_t length) {
    return copy(ctx, path, path, length);
}

spate_status hooked_list(spate_context *ctx, const char *folder,
                         void (*visit)(const char *name, void *visitor), void *visitor) {
    const spate_files *f = &ctx->config.files;
    if (f->list(folder, visit, visitor, f->user)) return SPATE_OK;
    return fail(ctx, SPATE_IO_ERROR, "cannot list %s; %s", folder, remedy);
}
