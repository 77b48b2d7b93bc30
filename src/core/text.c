/* Numbers and text in the C locale, a text that grows, and the nearest word. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "core/text.h"
#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers -------------------------------------------------------------------------- */

enum { LONGEST_NUMBER = 400 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t digits_at(const char *s, size_t length) {
    size_t n = 0;
    while (n < length && is_digit(s[n])) n++;
    return n;
}

static size_t sign_at(const char *s, size_t length) {
    return length > 0 && (s[0] == '+' || s[0] == '-');
}

/* How many bytes at `s` are a plain decimal number: [sign] digits [. digits] [e [sign] digits],
 * with a digit before or after the point. 0 when there is none. */
static size_t number_at(const char *s, size_t length) {
    size_t at = sign_at(s, length);
    size_t whole = digits_at(s + at, length - at), fraction = 0;
    at += whole;
    if (at < length && s[at] == '.') {
        fraction = digits_at(s + at + 1, length - at - 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0) return 0;
    if (at < length && (s[at] == 'e' || s[at] == 'E')) {
        size_t digits_from = at + 1 + sign_at(s + at + 1, length - at - 1);
        size_t exponent = digits_at(s + digits_from, length - digits_from);
        if (exponent > 0) at = digits_from + exponent;
    }
    return at;
}

/* Converts what number_at() has found; false when it is not finite. */
static bool convert(const spate_context *ctx, const char *s, size_t length, double *value) {
    char copy[LONGEST_NUMBER + 1];
    if (length > LONGEST_NUMBER) return false;
    memcpy(copy, s, length);
    copy[length] = 0;
    double number = strtod_l(copy, NULL, (locale_t)ctx->c_locale);
    if (!isfinite(number)) return false;
    *value = number;
    return true;
}

bool text_to_double(const spate_context *ctx, const char *s, size_t length, double *value) {
    return length > 0 && number_at(s, length) == length && convert(ctx, s, length, value);
}

bool text_to_int64(const char *s, size_t length, int64_t *value) {
    size_t sign = sign_at(s, length);
    if (sign == length || digits_at(s + sign, length - sign) != length - sign) return false;
    const bool negative = s[0] == '-';
    int64_t number = 0;
    for (size_t i = sign; i < length; i++) {
        /* Gathered on the negative side, which reaches one further. */
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, s[i] - '0', &number))
            return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, number, &number)) return false;
    *value = number;
    return true;
}

/* The first byte at or after the cursor that is not a blank. */
static const char *skip_blanks(const char *s, const char *end) {
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    return s;
}

/* Whether a number may stop before `s`: what follows must not look like more of it ("12abc"). */
static bool number_may_stop(const char *s, const char *end) {
    if (s == end) return true;
    const char c = *s;
    return !(is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
             c == '_' || c == '+' || c == '-');
}

bool text_scan_double(const spate_context *ctx, const char **cursor, const char *end,
                      double *value) {
    const char *s = skip_blanks(*cursor, end);
    size_t length = number_at(s, (size_t)(end - s));
    if (length == 0 || !number_may_stop(s + length, end) || !convert(ctx, s, length, value))
        return false;
    *cursor = s + length;
    return true;
}

bool text_scan_int64(const char **cursor, const char *end, int64_t *value) {
    const char *s = skip_blanks(*cursor, end);
    size_t sign = sign_at(s, (size_t)(end - s));
    size_t length = sign + digits_at(s + sign, (size_t)(end - s) - sign);
    if (!number_may_stop(s + length, end) || !text_to_int64(s, length, value)) return false;
    *cursor = s + length;
    return true;
}

/* ---- Formatting ----------------------------------------------------------------------- */

int text_format(const spate_context *ctx, char *out, size_t size, const char *format,
                va_list args) {
    locale_t before = ctx->c_locale ? uselocale((locale_t)ctx->c_locale) : (locale_t)0;
    int length = vsnprintf(out, size, format, args);
    if (before) uselocale(before);
    if (length < 0 && size > 0) out[0] = 0;
    return length;
}

const char *text_of_errno(const spate_context *ctx, int error) {
    return strerror_l(error, (locale_t)ctx->c_locale);
}

/* Room for `more` bytes and the closing zero. */
static bool text_reserve(text *t, size_t more) {
    if (t->failed) return false;
    if (more > (size_t)INT64_MAX - t->length - 1 ||
        GROW(t->ctx, t->data, t->capacity, (int64_t)(t->length + more + 1)) != SPATE_OK)
        t->failed = true;
    return !t->failed;
}

void text_add(text *t, const char *format, ...) {
    if (t->failed) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = t->data ? (size_t)t->capacity - t->length : 0;
    int length = text_format(t->ctx, t->data ? t->data + t->length : NULL, room, format, args);
    if (length < 0) {
        t->failed = true;
        fail(t->ctx, SPATE_OUT_OF_MEMORY, "a text could not be written: out of memory");
    } else if ((size_t)length < room) {
        t->length += (size_t)length;
    } else if (text_reserve(t, (size_t)length)) {
        text_format(t->ctx, t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    } else if (t->data) {
        t->data[t->length] = 0; /* without the piece that did not fit */
    }
    va_end(again);
    va_end(args);
}

void text_add_bytes(text *t, const void *bytes, size_t length) {
    if (!text_reserve(t, length)) return;
    if (length) memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = 0;
}

void text_add_json(text *t, const char *value, size_t length) {
    text_add(t, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)value[i];
        if (c == '"' || c == '\\')
            text_add(t, "\\%c", c);
        else if (c < 0x20)
            text_add(t, "\\u%04x", c);
        else
            text_add(t, "%c", c);
    }
    text_add(t, "\"");
}

void text_free(text *t) {
    if (t->ctx) give(t->ctx, t->data);
    *t = (text){.ctx = t->ctx};
}

/* ---- Nearest word --------------------------------------------------------------------- */

enum { LONGEST_WORD = 63 };

static int smaller(int a, int b) { return a < b ? a : b; }

/* Edits that lead from `a` to `b`: a letter more, less, another one, or two swapped (the optimal
 * string alignment distance, row by row). */
static int edit_distance(const char *a, int a_length, const char *b, int b_length) {
    int rows[3][LONGEST_WORD + 1];
    int *older = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= b_length; j++) row[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *free_row = older;
        older = last, last = row, row = free_row;
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            row[j] =
                smaller(last[j - 1] + (a[i - 1] != b[j - 1]), smaller(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], older[j - 2] + 1);
        }
    }
    return row[b_length];
}

bool text_ends_with(const char *s, size_t length, const char *ending) {
    const size_t n = strlen(ending);
    return length >= n && memcmp(s + length - n, ending, n) == 0;
}

bool text_is_same_but_case(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        const int low_a = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
        const int low_b = *b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b;
        if (low_a != low_b) return false;
    }
    return *a == *b;
}

const char *text_nearest(const char *word, const char *const *words, int count) {
    const size_t length = strlen(word);
    if (length > LONGEST_WORD) return NULL;
    for (int i = 0; i < count; i++)
        if (text_is_same_but_case(word, words[i])) return words[i];
    /* Two edits, or a third of a long word; never most of a short one: vdb is not vtp. */
    int limit = length / 3 > 2 ? (int)length / 3 : 2;
    if (limit > (int)length / 2) limit = (int)length / 2;
    const char *nearest = NULL;
    int least = limit + 1;
    for (int i = 0; i < count; i++) {
        size_t other = strlen(words[i]);
        if (other > LONGEST_WORD) continue;
        int distance = edit_distance(word, (int)length, words[i], (int)other);
        if (distance < least) least = distance, nearest = words[i];
    }
    return nearest;
}

spate_status text_fail_unknown(spate_context *ctx, const char *what, const char *word,
                               const char *const *words, int count) {
    const char *near = text_nearest(word, words, count);
    text known = {.ctx = ctx};
    for (int i = 0; i < count; i++) text_add(&known, "%s%s", i ? ", " : "", words[i]);
    spate_status status = known.failed
                              ? SPATE_OUT_OF_MEMORY
                              : fail(ctx, SPATE_BAD_INPUT, "%s '%s'; %s%s%sknown: %s", what, word,
                                     near ? "did you mean '" : "", near ? near : "",
                                     near ? "'? " : "", known.data ? known.data : "none");
    text_free(&known);
    return status;
}
