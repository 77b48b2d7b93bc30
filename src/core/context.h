/*
 * The context behind every call: hooks, the last message, warnings by kind, memory, threads.
 *
 * Errors: a function that can fail returns spate_status. The place that notices the error calls
 * fail() once, with the whole message; callers only hand the status up (TRY).
 * Memory: everything comes from take() or an arena; sizes are counted, so a leak can be seen.
 */
#ifndef SPATE_CORE_CONTEXT_H
#define SPATE_CORE_CONTEXT_H

#include "core/isa.h"
#include <spate/spate.h>
#include <stdarg.h>

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define COUNT_OF(array)   ((int)(sizeof(array) / sizeof((array)[0])))

/* Hands a failure up to the caller. */
#define TRY(call)                                \
    do {                                         \
        spate_status status_ = (call);           \
        if (status_ != SPATE_OK) return status_; \
    } while (0)

/* The same where something must be cleaned up first; the function has a label `done`. */
#define TRY_OR_DONE(status, call)                       \
    do {                                                \
        if (((status) = (call)) != SPATE_OK) goto done; \
    } while (0)

enum { MESSAGE_SIZE = 2048, WARNING_KINDS = 32 };

typedef struct pool pool; /* threads.h */

/* How often a kind of warning was raised; the first of each kind is logged in full. */
typedef struct warning_count {
    const char *kind; /* a literal, e.g. "open mesh" */
    int64_t count;
    int64_t shown, hidden; /* of these, since warnings_tell_hidden */
} warning_count;

struct spate_context {
    spate_config config;
    char message[MESSAGE_SIZE];
    const char
        *refusal; /* of a thread that came while another was at work: told instead of message,
                            which that one may be writing; NULL: none since the last failure */
    char build[256];
    warning_count warnings[WARNING_KINDS];
    int warning_kinds;
    size_t bytes_now, bytes_peak; /* taken through take() */
    int64_t blocks_now;           /* taken and not given back */
    pool *pool;
    enum isa isa;   /* instruction set of the hot kernels; SPATE_ISA may have lowered it */
    void *c_locale; /* locale_t "C": numbers never depend on the user's locale (text.h) */
};

/* cmocka has a macro of this name; the tests do without it. */
#undef fail

/* Records the message for spate_message() and returns `status`. */
spate_status fail(spate_context *ctx, spate_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The same for a thread that must not touch the context's message; `words` is a literal. */
spate_status fail_aside(spate_context *ctx, const char *words);

/* Puts more in front of the message of a failure on its way up, e.g. the file's name. */
void fail_prefix(spate_context *ctx, const char *format, ...) PRINTF_LIKE(2, 3);

/* Tells the user something through the log hook. */
void inform(spate_context *ctx, const char *format, ...) PRINTF_LIKE(2, 3);

/* Counts a warning by kind (a string literal) and logs the first `WARNINGS_SHOWN` of each kind: for
 * what is given, where each names another thing. */
enum { WARNINGS_SHOWN = 3 };
void warn(spate_context *ctx, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same for a cause that may come back with every step: the first is logged, all are counted. */
void warn_once(spate_context *ctx, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
/* Tells of kinds that came more often than they were logged, once each with their count; the next
 * one of every kind is logged again. */
void warnings_tell_hidden(spate_context *ctx);
int64_t warnings_total(const spate_context *ctx);

/* Zeroed memory for `count` things of `size` bytes, 64-byte aligned. NULL when there is none, with
 * the message recorded: the caller returns SPATE_OUT_OF_MEMORY. count * size is checked. */
void *take(spate_context *ctx, size_t count, size_t size);
/* Gives memory back; NULL is fine. */
void give(spate_context *ctx, void *block);
/* A larger (or smaller) block with the old content; the tail is zeroed. On failure the old block
 * stays as it is and NULL is returned. */
void *retake(spate_context *ctx, void *block, size_t old_count, size_t new_count, size_t size);

/* Room for at least `needed` things, doubling: *array and *capacity change together.
 * GROW(ctx, list, capacity, count + 1) is the usual call. */
spate_status grow(spate_context *ctx, void **array, int64_t *capacity, int64_t needed, size_t size);
#define GROW(ctx, array, capacity, needed) \
    grow((ctx), (void **)&(array), &(capacity), (needed), sizeof(*(array)))

/* Room for at least `needed` items, and an eighth more, in arrays that share one capacity and whose
 * content may be lost. ENSURE(ctx, capacity, count, EACH(x, 3), EACH(mass, 1)) makes x three times
 * as long as mass. On failure the capacity is 0. */
typedef struct ensured_array {
    void **array;
    size_t bytes; /* of an item */
} ensured_array;
spate_status ensure(spate_context *ctx, int64_t *capacity, int64_t needed,
                    const ensured_array *arrays, int count);
#define EACH(array, elements) \
    { (void **)&(array), (size_t)(elements) * sizeof(*(array)) }
#define ENSURE(ctx, capacity, needed, ...)                                     \
    ensure((ctx), &(capacity), (needed), (const ensured_array[]){__VA_ARGS__}, \
           COUNT_OF(((const ensured_array[]){__VA_ARGS__})))

#endif
