/*
 * The context: opening and closing, messages, warnings, and memory.
 *
 * A block of memory carries a 64-byte header in front of what the caller sees. It keeps the size,
 * for the accounting, and the address that the allocation hook returned, which may have any
 * alignment.
 */
#include "core/context.h"
#include "core/real.h"
#include "core/text.h"
#include "core/threads.h"
#include <assert.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, FILE_HOOKS = 5 };

typedef struct block_header {
    _Alignas(ALIGNMENT) void *raw;
    size_t bytes;
} block_header;

_Static_assert(sizeof(block_header) == ALIGNMENT, "the header keeps the alignment");

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)
#if defined(__clang__)
#define COMPILER \
    "clang " TEXT_OF(__clang_major__) "." TEXT_OF(__clang_minor__) "." TEXT_OF(__clang_patchlevel__)
#else
#define COMPILER \
    "gcc " TEXT_OF(__GNUC__) "." TEXT_OF(__GNUC_MINOR__) "." TEXT_OF(__GNUC_PATCHLEVEL__)
#endif

/* ---- Memory --------------------------------------------------------------------------- */

static void *default_allocate(size_t bytes, void *user);

/* The default gives zeros, and touches large blocks only when they are used, by many threads. */
static void *block_allocate(const spate_config *config, size_t bytes) {
    const size_t extra = sizeof(block_header) + ALIGNMENT - 1;
    if (bytes > PTRDIFF_MAX - extra) return NULL;
    char *raw = config->allocate(bytes + extra, config->user);
    if (!raw) return NULL;
    char *block = raw + sizeof(block_header);
    block += -(uintptr_t)block % ALIGNMENT;
    block_header *header = (block_header *)(void *)block - 1;
    header->raw = raw;
    header->bytes = bytes;
    return config->allocate == default_allocate ? block : memset(block, 0, bytes);
}

static size_t block_size(const void *block) { return ((const block_header *)block - 1)->bytes; }

static void block_release(const spate_config *config, void *block) {
    config->release(((block_header *)block - 1)->raw, config->user);
}

void *take(spate_context *ctx, size_t count, size_t size) {
    size_t bytes;
    void *block = NULL;
    bool fits = !__builtin_mul_overflow(count, size, &bytes);
    if (fits) block = block_allocate(&ctx->config, bytes);
    if (!block) {
        fail(ctx, SPATE_OUT_OF_MEMORY,
             "out of memory: %.3g MB more were needed and %.3g MB are in use; use fewer particles "
             "or "
             "a larger dx",
             1e-6 * (double)count * (double)size, 1e-6 * (double)ctx->bytes_now);
        return NULL;
    }
    ctx->bytes_now += bytes;
    if (ctx->bytes_now > ctx->bytes_peak) ctx->bytes_peak = ctx->bytes_now;
    ctx->blocks_now++;
    return block;
}

void give(spate_context *ctx, void *block) {
    if (!block) return;
    assert(ctx->blocks_now > 0 && ctx->bytes_now >= block_size(block));
    ctx->bytes_now -= block_size(block);
    ctx->blocks_now--;
    block_release(&ctx->config, block);
}

void *retake(spate_context *ctx, void *block, size_t old_count, size_t new_count, size_t size) {
    void *larger = take(ctx, new_count, size);
    if (!larger || !block) return larger;
    assert(old_count * size <= block_size(block));
    memcpy(larger, block, (old_count < new_count ? old_count : new_count) * size);
    give(ctx, block);
    return larger;
}

/* The caller's pointer has its own type: it is read and written as bytes. */
static void *read_pointer(void **at) {
    void *block;
    memcpy(&block, at, sizeof block);
    return block;
}
static void write_pointer(void **at, void *block) { memcpy(at, &block, sizeof block); }

spate_status grow(spate_context *ctx, void **array, int64_t *capacity, int64_t needed,
                  size_t size) {
    enum { SMALLEST_CAPACITY = 16 };
    assert(needed >= 0 && *capacity >= 0);
    if (needed <= *capacity) return SPATE_OK;
    int64_t wanted = *capacity <= INT64_MAX / 2 ? *capacity * 2 : INT64_MAX;
    if (wanted < needed) wanted = needed;
    if (wanted < SMALLEST_CAPACITY) wanted = SMALLEST_CAPACITY;
    void *block = retake(ctx, read_pointer(array), (size_t)*capacity, (size_t)wanted, size);
    if (!block) return SPATE_OUT_OF_MEMORY;
    write_pointer(array, block);
    *capacity = wanted;
    return SPATE_OK;
}

spate_status ensure(spate_context *ctx, int64_t *capacity, int64_t needed,
                    const ensured_array *arrays, int count) {
    enum { LEAST = 8 };
    assert(needed >= 0 && *capacity >= 0);
    if (*capacity > 0 && needed <= *capacity) return SPATE_OK;
    const int64_t room = needed < INT64_MAX / 2 ? needed + needed / 8 + LEAST : needed;
    *capacity = 0;
    /* All are given back before the first is taken anew. */
    for (int i = 0; i < count; i++) {
        give(ctx, read_pointer(arrays[i].array));
        write_pointer(arrays[i].array, NULL);
    }
    for (int i = 0; i < count; i++) {
        void *block = take(ctx, (size_t)room, arrays[i].bytes);
        if (!block) return SPATE_OUT_OF_MEMORY;
        write_pointer(arrays[i].array, block);
    }
    *capacity = room;
    return SPATE_OK;
}

/* ---- Messages ------------------------------------------------------------------------- */

/* A message is one line of text, whatever a file or a name in it holds: a terminal must not take
 * orders from it. Controls are bytes below the space, DEL, and U+0080 to U+009F in UTF-8. */
static void make_printable(char *message) {
    for (unsigned char *c = (unsigned char *)message; *c; c++) {
        const bool control = *c < ' ' || *c == 0x7f;
        const bool late = *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        if (control || late) *c = '?';
        if (late) *++c = '?';
    }
}

spate_status fail(spate_context *ctx, spate_status status, const char *format, ...) {
    /* Written aside first: the old message may be among the arguments. */
    char message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    text_format(ctx, message, sizeof message, format, args);
    va_end(args);
    make_printable(message);
    memcpy(ctx->message, message, sizeof message);
    __atomic_store_n(&ctx->refusal, NULL, __ATOMIC_RELEASE);
    return status;
}

spate_status fail_aside(spate_context *ctx, const char *words) {
    __atomic_store_n(&ctx->refusal, words, __ATOMIC_RELEASE);
    return SPATE_BAD_INPUT;
}

void fail_prefix(spate_context *ctx, const char *format, ...) {
    char prefix[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    text_format(ctx, prefix, sizeof prefix, format, args);
    va_end(args);
    make_printable(prefix);
    size_t length = strlen(prefix), rest = strlen(ctx->message);
    if (rest > MESSAGE_SIZE - 1 - length) rest = MESSAGE_SIZE - 1 - length;
    memmove(ctx->message + length, ctx->message, rest);
    ctx->message[length + rest] = 0;
    memcpy(ctx->message, prefix, length);
}

static void log_message(spate_context *ctx, spate_log_level level, const char *ending,
                        const char *format, va_list args) {
    if (!ctx->config.log) return;
    char message[MESSAGE_SIZE + 64];
    text_format(ctx, message, MESSAGE_SIZE, format, args);
    make_printable(message);
    strcat(message, ending);
    ctx->config.log(level, message, ctx->config.user);
}

void inform(spate_context *ctx, const char *format, ...) {
    va_list args;
    va_start(args, format);
    log_message(ctx, SPATE_LOG_INFO, "", format, args);
    va_end(args);
}

/* The counter of a kind; the last one serves for all kinds that no longer fit. */
static warning_count *warning_of_kind(spate_context *ctx, const char *kind) {
    for (int i = 0; i < ctx->warning_kinds; i++)
        if (!strcmp(ctx->warnings[i].kind, kind)) return &ctx->warnings[i];
    if (ctx->warning_kinds == WARNING_KINDS) return &ctx->warnings[WARNING_KINDS - 1];
    warning_count *w = &ctx->warnings[ctx->warning_kinds++];
    w->kind = ctx->warning_kinds == WARNING_KINDS ? "other" : kind;
    return w;
}

/* Counts a warning; whether it is to be logged, too. */
static bool count_warning(warning_count *w, int64_t shown_most) {
    const bool show = w->shown < shown_most;
    w->count++;
    w->shown += show;
    w->hidden += !show;
    return show;
}

void warn(spate_context *ctx, const char *kind, const char *format, ...) {
    warning_count *w = warning_of_kind(ctx, kind);
    if (!count_warning(w, WARNINGS_SHOWN)) return;
    const char *ending =
        w->shown == WARNINGS_SHOWN ? " (more of this kind are counted, not shown)" : "";
    va_list args;
    va_start(args, format);
    log_message(ctx, SPATE_LOG_WARNING, ending, format, args);
    va_end(args);
}

void warn_once(spate_context *ctx, const char *kind, const char *format, ...) {
    if (!count_warning(warning_of_kind(ctx, kind), 1)) return;
    va_list args;
    va_start(args, format);
    log_message(ctx, SPATE_LOG_WARNING, "", format, args);
    va_end(args);
}

void warnings_tell_hidden(spate_context *ctx) {
    for (int i = 0; i < ctx->warning_kinds; i++) {
        warning_count *w = &ctx->warnings[i];
        if (w->hidden)
            inform(ctx, "warned of '%s' %lld times in all", w->kind,
                   (long long)(w->shown + w->hidden));
        w->shown = w->hidden = 0;
    }
}

int64_t warnings_total(const spate_context *ctx) {
    int64_t total = 0;
    for (int i = 0; i < ctx->warning_kinds; i++) total += ctx->warnings[i].count;
    return total;
}

/* ---- Opening and closing -------------------------------------------------------------- */

static void *default_allocate(size_t bytes, void *user) {
    (void)user;
    return calloc(1, bytes);
}

static void default_release(void *block, void *user) {
    (void)user;
    free(block);
}

spate_config spate_default_config(void) {
    return (spate_config){.allocate = default_allocate, .release = default_release};
}

/* Chooses the instruction set and writes the line that describes the build. */
static void describe_build(spate_context *ctx) {
    const char *wish = getenv("SPATE_ISA");
    ctx->isa = isa_lowered(wish);
    if (wish && strcmp(wish, isa_name(ctx->isa)))
        warn(ctx, "instruction set",
             "SPATE_ISA=%s is not an instruction set of this machine (generic, avx2 and avx512 are "
             "known): using %s",
             wish, isa_name(ctx->isa));
    snprintf(ctx->build, sizeof ctx->build, "spate %s, %s, %s, %s", SPATE_VERSION, REAL_NAME,
             COMPILER, isa_name(ctx->isa));
}

spate_status spate_open(const spate_config *config, spate_context **context) {
    if (!context) return SPATE_BAD_INPUT;
    *context = NULL;
    spate_config used = config ? *config : spate_default_config();
    /* The hooks come as a pair: a block must go back to where it came from. */
    if (!used.allocate != !used.release || used.threads < 0) return SPATE_BAD_INPUT;
    const spate_files *f = &used.files;
    const int hooks = !!f->size + !!f->read + !!f->write + !!f->remove + !!f->list;
    if (hooks != 0 && hooks != FILE_HOOKS) return SPATE_BAD_INPUT;
    if (!used.allocate) used.allocate = default_allocate, used.release = default_release;

    spate_context *ctx = block_allocate(&used, sizeof *ctx);
    if (!ctx) return SPATE_OUT_OF_MEMORY;
    ctx->config = used;
    ctx->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    spate_status status = ctx->c_locale ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (!status) status = pool_create(ctx, used.threads, &ctx->pool);
    if (status) {
        spate_close(ctx);
        return status;
    }
    describe_build(ctx);
    *context = ctx;
    return SPATE_OK;
}

void spate_close(spate_context *ctx) {
    if (!ctx) return;
    pool_free(ctx, ctx->pool);
    if (ctx->c_locale) freelocale((locale_t)ctx->c_locale);
    const spate_config config = ctx->config;
    block_release(&config, ctx);
}

const char *spate_message(const spate_context *ctx) {
    if (!ctx)
        return "there is no context: spate_open was not called or failed, for want of memory or "
               "threads or because of its configuration";
    const char *refusal = __atomic_load_n(&ctx->refusal, __ATOMIC_ACQUIRE);
    return refusal ? refusal : ctx->message;
}

int spate_threads(const spate_context *ctx) { return ctx ? pool_size(ctx->pool) : 0; }

const char *spate_version(void) { return SPATE_VERSION; }

const char *spate_build(const spate_context *ctx) {
    return ctx ? ctx->build : "spate " SPATE_VERSION ", " REAL_NAME ", " COMPILER;
}
