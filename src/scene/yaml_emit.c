/*
 * Writing a document tree: as YAML for people (and to be read back), and as a stable text to hash.
 *
 * Values that fit on a line are written in flow style, others as blocks. A word stays plain only if
 * every YAML reader takes it for the same plain word; all others are quoted, which changes neither
 * text nor hash, because numbers, flags and nulls are always plain.
 */
#include "scene/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 96 };

static bool is_number(const text *out, const yaml_value *v) {
    double number;
    return !v->quoted && v->length > 0 && text_to_double(out->ctx, v->text, v->length, &number);
}

static bool is_safe_plain(const text *out, const yaml_value *v) {
    if (v->quoted || v->length == 0 || v->length > YAML_NAME_BYTES) return false;
    if (is_number(out, v)) return true;
    for (size_t i = 0; i < v->length; i++) {
        char c = v->text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool inner = (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '-' || c == ' ';
        if (!letter && !(inner && i > 0)) return false;
    }
    return v->text[v->length - 1] != ' ';
}

/* The character at s (known to be good UTF-8) and its length in bytes. */
static uint32_t decode_utf8(const unsigned char *s, size_t *length) {
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t code = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) code = code << 6 | (s[i] & 0x3fu);
    *length = n;
    return code;
}

/* In quotes, with everything escaped that YAML would not keep as it is. */
static void emit_quoted(const yaml_value *v, text *out) {
    size_t n;
    text_add(out, "\"");
    for (size_t i = 0; i < v->length; i += n) {
        uint32_t code = decode_utf8((const unsigned char *)v->text + i, &n);
        bool line_break = code == 0x2028 || code == 0x2029;
        bool unprintable = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfeff ||
                           code == 0xfffe || code == 0xffff;
        if (code == '"' || code == '\\')
            text_add(out, "\\%c", (char)code);
        else if (line_break || unprintable)
            text_add(out, "\\u%04x", code);
        else
            text_add_bytes(out, v->text + i, n);
    }
    text_add(out, "\"");
}

static void emit_word(const yaml_value *v, text *out) {
    if (yaml_is_null(v)) {
        text_add(out, "~");
    } else if (is_safe_plain(out, v)) {
        text_add_bytes(out, v->text, v->length);
    } else {
        emit_quoted(v, out);
    }
}

static void emit_flow(const yaml_value *v, text *out) {
    if (v->kind == YAML_WORD) {
        emit_word(v, out);
        return;
    }
    text_add(out, v->kind == YAML_LIST ? "[" : "{");
    for (const yaml_entry *e = v->first; e; e = e->next) {
        if (e != v->first) text_add(out, ", ");
        if (e->key) {
            emit_word(e->key, out);
            text_add(out, ": ");
        }
        emit_flow(e->value, out);
    }
    text_add(out, v->kind == YAML_LIST ? "]" : "}");
}

/* About how many characters the flow form takes; stops counting beyond a line. */
static size_t flow_width(const yaml_value *v) {
    size_t width = v->length + 2;
    for (const yaml_entry *e = v->first; e && width < LINE_WIDTH; e = e->next)
        width += flow_width(e->value) + (e->key ? e->key->length + 2 : 0);
    return width;
}

/* Block form at an indentation; with `started` the first line's indentation is already there. */
static void emit_block(const yaml_value *v, int indent, bool started, text *out) {
    for (const yaml_entry *e = v->first; e; e = e->next) {
        bool word = e->value->kind == YAML_WORD;
        bool flow = word || !e->value->first || flow_width(e->value) + (size_t)indent < LINE_WIDTH;
        if (e != v->first || !started) text_add(out, "%*s", indent, "");
        if (e->key) emit_word(e->key, out);
        text_add(out, e->key ? ":" : "-");
        if (flow) {
            text_add(out, " ");
            emit_flow(e->value, out);
            text_add(out, "\n");
        } else if (e->key) {
            text_add(out, "\n");
            emit_block(e->value, indent + 2, false, out);
        } else {
            text_add(out, " ");
            emit_block(e->value, indent + 2, true, out);
        }
    }
}

void yaml_emit(const yaml_value *v, text *out) {
    if (v->kind == YAML_WORD || !v->first) {
        emit_flow(v, out);
        text_add(out, "\n");
    } else {
        emit_block(v, 0, false, out);
    }
}

/* ---- For hashing ----------------------------------------------------------------------------- */

static void serialise_word(const yaml_value *v, text *out) {
    int64_t whole;
    double number;
    if (yaml_is_null(v))
        text_add(out, "z ");
    else if (!v->quoted && text_to_int64(v->text, v->length, &whole))
        text_add(out, "n%lld ", (long long)whole);
    else if (is_number(out, v) && text_to_double(out->ctx, v->text, v->length, &number))
        text_add(out, "n%.17g ", number + 0.0);
    else
        text_add(out, "t%zu:%s ", v->length, v->text);
}

static int by_key(const void *a, const void *b) {
    const yaml_entry *x = *(const yaml_entry *const *)a, *y = *(const yaml_entry *const *)b;
    return strcmp(x->key->text, y->key->text);
}

static bool is_among(const char *name, const char *const *names) {
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

enum { LEFT_OUT_MAX = 16 };

/* Those of the paths that begin with `name`, or with "*", and a dot, without that beginning. */
static void paths_below(const char *name, const char *const *paths,
                        const char *below[LEFT_OUT_MAX + 1]) {
    int count = 0;
    for (; paths && *paths && count < LEFT_OUT_MAX; paths++) {
        const size_t length = strcspn(*paths, ".");
        const bool any = length == 1 && **paths == '*';
        if ((*paths)[length] == '.' &&
            (any || (strlen(name) == length && strncmp(*paths, name, length) == 0)))
            below[count++] = *paths + length + 1;
    }
    below[count] = NULL;
}

spate_status yaml_serialise(const yaml_tree *t, const yaml_value *v, const char *ordered,
                            const char *const *left_out, text *out) {
    if (v->kind == YAML_WORD) {
        serialise_word(v, out);
        return SPATE_OK;
    }
    const yaml_entry **entries = take(t->ctx, (size_t)v->count + 1, sizeof *entries);
    if (!entries) return SPATE_OUT_OF_MEMORY;
    int count = 0;
    for (const yaml_entry *e = v->first; e; e = e->next) entries[count++] = e;
    bool keep_order = v->kind == YAML_LIST || ordered == NULL;
    if (!keep_order) qsort(entries, (size_t)count, sizeof *entries, by_key);
    text_add(out, v->kind == YAML_LIST ? "[" : "{");
    spate_status status = SPATE_OK;
    for (int i = 0; i < count && status == SPATE_OK; i++) {
        const yaml_value *key = entries[i]->key;
        if (key && is_among(key->text, left_out)) continue;
        if (key) text_add(out, "%zu:%s=", key->length, key->text);
        const char *below[LEFT_OUT_MAX + 1] = {NULL};
        paths_below(key ? key->text : "", left_out, below);
        /* Below `ordered` one level keeps its order; deeper ones are sorted again. */
        bool in_order = key && ordered && strcmp(key->text, ordered) == 0;
        status = yaml_serialise(t, entries[i]->value,
                                in_order  ? NULL
                                : ordered ? ordered
                                          : "",
                                below, out);
    }
    text_add(out, v->kind == YAML_LIST ? "]" : "}");
    give(t->ctx, entries);
    return status;
}
