/* Text and numbers that never depend on the user's locale. */
#ifndef SPATE_CORE_TEXT_H
#define SPATE_CORE_TEXT_H

#include "core/context.h"

/* Reads a number that fills the whole of s[0..length-1] ("0.02m" and "nan" are refused). */
bool text_to_double(const spate_context *ctx, const char *s, size_t length, double *value);
bool text_to_int64(const char *s, size_t length, int64_t *value);

/* Reads a number at *cursor (before `end`), skipping blanks but no line ends; moves the cursor on.
 */
bool text_scan_double(const spate_context *ctx, const char **cursor, const char *end,
                      double *value);
bool text_scan_int64(const char **cursor, const char *end, int64_t *value);

/* vsnprintf with the numbers of the C locale. */
int text_format(const spate_context *ctx, char *out, size_t size, const char *format, va_list args)
    PRINTF_LIKE(4, 0);
/* The system's words for an errno value. */
const char *text_of_errno(const spate_context *ctx, int error);

/* A text that grows; on failure `failed` is set and further calls do nothing. */
typedef struct text {
    spate_context *ctx;
    char *data; /* always closed by a zero, NULL while empty */
    size_t length;
    int64_t capacity;
    bool failed;
} text;

void text_add(text *t, const char *format, ...)
    PRINTF_LIKE(2, 3); /* %g and friends in the C locale */
void text_add_bytes(text *t, const void *bytes, size_t length);
/* A JSON string with its quotes. */
void text_add_json(text *t, const char *value, size_t length);
void text_free(text *t);

/* Whether s[0..length-1] ends with a word. */
bool text_ends_with(const char *s, size_t length, const char *ending);
/* Whether words differ only in capitals (of ASCII), if at all. */
bool text_is_same_but_case(const char *a, const char *b);
/* The word of `words` nearest to `word`, or NULL when none is near: "did you mean ...?" One that
 * differs only in capitals is nearest of all. */
const char *text_nearest(const char *word, const char *const *words, int count);
/* Fails with "WHAT 'WORD'; did you mean 'NEAREST'? known: A, B, ...". */
spate_status text_fail_unknown(spate_context *ctx, const char *what, const char *word,
                               const char *const *words, int count);

#endif
