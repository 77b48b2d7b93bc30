/* Reading YAML into a tree of values: libyaml's events, our limits. See yaml.h. */
#include "scene/yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor anchor;
struct anchor {
    const char *name;
    yaml_value *value;
    anchor *next;
};

/* A list or mapping being read; in a mapping, the key whose value comes next. */
typedef struct frame {
    yaml_value *container;
    yaml_value *key;
} frame;

typedef struct builder {
    yaml_tree *tree;
    int set;           /* the override being read, -1 for the file */
    const char *bytes; /* what is read */
    size_t length;
    frame frames[YAML_DEPTH];
    int depth;
    yaml_value *root;
    anchor *anchors;
    int anchor_count;
    int document_count;
    int64_t value_count;
} builder;

yaml_tree yaml_tree_create(spate_context *ctx, const char *file) {
    return (yaml_tree){.ctx = ctx, .arena = arena_create(ctx), .file = file};
}

void yaml_tree_free(yaml_tree *t) {
    arena_free(&t->arena);
    t->root = NULL;
}

yaml_value *yaml_find(const yaml_value *mapping, const char *name) {
    if (!mapping || mapping->kind != YAML_MAPPING) return NULL;
    for (const yaml_entry *e = mapping->first; e; e = e->next)
        if (strcmp(e->key->text, name) == 0) return e->value;
    return NULL;
}

yaml_value *yaml_item(const yaml_value *list, int index) {
    const yaml_entry *e = list->first;
    while (e && index-- > 0) e = e->next;
    return e ? e->value : NULL;
}

bool yaml_is_null(const yaml_value *v) {
    return v->kind == YAML_WORD && !v->quoted &&
           (v->length == 0 || strcmp(v->text, "~") == 0 || strcmp(v->text, "null") == 0);
}

bool yaml_is_word(const yaml_value *v, const char *word) {
    return v->kind == YAML_WORD && strcmp(v->text, word) == 0;
}

const char *yaml_shown(const char *given, char out[YAML_SHOWN]) {
    size_t n = 0;
    for (; given[n] && n < YAML_SHOWN - 4; n++)
        out[n] = (unsigned char)given[n] < 0x20 || given[n] == 0x7f ? ' ' : given[n];
    if (given[n]) {
        /* Cut before a character, never inside one. */
        while (n > 0 && ((unsigned char)given[n] & 0xc0) == 0x80) n--;
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = 0;
    return out;
}

const char *yaml_described(const yaml_value *v, char out[YAML_SHOWN + 8]) {
    char shown[YAML_SHOWN];
    if (v->kind == YAML_LIST)
        snprintf(out, YAML_SHOWN + 8, "a list");
    else if (v->kind == YAML_MAPPING)
        snprintf(out, YAML_SHOWN + 8, "a mapping");
    else if (yaml_is_null(v))
        snprintf(out, YAML_SHOWN + 8, "nothing");
    else
        snprintf(out, YAML_SHOWN + 8, "'%s'", yaml_shown(v->text, shown));
    return out;
}

/* "dam.yaml:7:12" or "--set solver.cfl=2". */
static void place_of(const yaml_tree *t, int set, int line, int column, char out[YAML_PLACE_SIZE]) {
    char shown[YAML_SHOWN];
    if (set >= 0)
        snprintf(out, YAML_PLACE_SIZE, "--set %s", yaml_shown(t->sets[set], shown));
    else
        snprintf(out, YAML_PLACE_SIZE, "%.400s:%d:%d", t->file, line, column);
}

void yaml_place(const yaml_tree *t, const yaml_value *v, char out[YAML_PLACE_SIZE]) {
    place_of(t, v->set, v->line, v->column, out);
}

/* ---- Errors while reading -------------------------------------------------------------------- */

/* The path of the value that is being read, with ": " behind it; empty at the top. */
static void path_of(const builder *b, char out[YAML_PATH_SIZE]) {
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < b->depth && n < YAML_PATH_SIZE - 100; i++) {
        const frame *f = &b->frames[i];
        char shown[YAML_SHOWN];
        const char *dot = n > 0 ? "." : "";
        if (f->container->kind == YAML_LIST)
            n += (size_t)snprintf(out + n, YAML_PATH_SIZE - n, "%s%d", dot, f->container->count);
        else if (f->key)
            n += (size_t)snprintf(out + n, YAML_PATH_SIZE - n, "%s%s", dot,
                                  yaml_shown(f->key->text, shown));
    }
    if (n > 0) snprintf(out + n, YAML_PATH_SIZE - n, ": ");
}

PRINTF_LIKE(3, 4)
static spate_status refuse(const builder *b, yaml_mark_t mark, const char *format, ...) {
    char place[YAML_PLACE_SIZE], path[YAML_PATH_SIZE], what[512];
    va_list arguments;
    va_start(arguments, format);
    text_format(b->tree->ctx, what, sizeof what, format, arguments);
    va_end(arguments);
    place_of(b->tree, b->set, (int)mark.line + 1, (int)mark.column + 1, place);
    path_of(b, path);
    return fail(b->tree->ctx, SPATE_BAD_INPUT, "%s: %s%s", place, path, what);
}

/* Whether a tab stands at a mark: there libyaml only says that no token starts with such a
 * character. Marks count characters, so the tab is looked for in bytes from the line's
 * beginning. */
static bool is_at_tab(const builder *b, yaml_mark_t mark) {
    const char *line = b->bytes, *end = b->bytes + b->length;
    for (size_t i = 0; i < mark.line && line; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (line) line++;
    }
    for (size_t i = 0; line && line < end && *line != '\n' && i <= mark.column; line++) {
        if (*line == '\t' && i == mark.column) return true;
        i += ((unsigned char)*line & 0xc0) != 0x80;
    }
    return false;
}

/* libyaml's own complaint, in our form. */
static spate_status refuse_syntax(const builder *b, const yaml_parser_t *p) {
    if (p->error == YAML_MEMORY_ERROR)
        return fail(b->tree->ctx, SPATE_OUT_OF_MEMORY, "%s: out of memory while reading YAML",
                    b->tree->file);
    char place[YAML_PLACE_SIZE], context[256] = "";
    yaml_mark_t mark = p->error == YAML_READER_ERROR ? p->mark : p->problem_mark;
    place_of(b->tree, b->set, (int)mark.line + 1, (int)mark.column + 1, place);
    if (p->error == YAML_SCANNER_ERROR && is_at_tab(b, mark))
        return fail(b->tree->ctx, SPATE_BAD_INPUT,
                    "%s: a tab; YAML is indented by spaces only, so put spaces in its place",
                    place);
    if (p->context)
        snprintf(context, sizeof context, " %s that starts at line %d", p->context,
                 (int)p->context_mark.line + 1);
    /* "color: #ff0000}" swallows the bracket. */
    const bool open = p->context && strstr(p->context, "flow");
    return fail(b->tree->ctx, SPATE_BAD_INPUT,
                "%s: not valid YAML: %s%s; check indentation, brackets and quotes near here%s",
                place, p->problem ? p->problem : "cannot be read", context,
                open ? ", and whether a # outside quotes began a comment" : "");
}

/* ---- Building the tree ----------------------------------------------------------------------- */

static spate_status check_tag(const builder *b, const yaml_event_t *event, const yaml_char_t *tag) {
    char shown[YAML_SHOWN];
    if (!tag) return SPATE_OK;
    return refuse(b, event->start_mark, "tags such as '%s' have no meaning here; remove it",
                  yaml_shown((const char *)tag, shown));
}

static spate_status create_value(builder *b, yaml_kind kind, const yaml_event_t *event,
                                 yaml_value **out) {
    if (++b->value_count > YAML_VALUES)
        return refuse(b, event->start_mark,
                      "more than %d values; put large geometry into a mesh file", YAML_VALUES);
    yaml_value *v = arena_take(&b->tree->arena, 1, sizeof *v);
    if (!v) return SPATE_OUT_OF_MEMORY;
    v->kind = kind;
    v->set = b->set;
    v->line = (int)event->start_mark.line + 1;
    v->column = (int)event->start_mark.column + 1;
    v->size = 1;
    *out = v;
    return SPATE_OK;
}

static spate_status remember_anchor(builder *b, const yaml_event_t *event, const yaml_char_t *name,
                                    yaml_value *v) {
    if (!name) return SPATE_OK;
    if (++b->anchor_count > YAML_ANCHORS)
        return refuse(b, event->start_mark, "more than %d anchors; remove those not used",
                      YAML_ANCHORS);
    anchor *a = arena_take(&b->tree->arena, 1, sizeof *a);
    if (!a) return SPATE_OUT_OF_MEMORY;
    a->name = arena_text(&b->tree->arena, (const char *)name, strlen((const char *)name));
    if (!a->name) return SPATE_OUT_OF_MEMORY;
    a->value = v;
    a->next = b->anchors; /* newest first: a later anchor of the same name wins */
    b->anchors = a;
    return SPATE_OK;
}

/* Counts what a finished value adds to the list or mapping it is in. */
static spate_status account(const builder *b, const yaml_event_t *event, yaml_value *container,
                            const yaml_value *v) {
    container->size += v->size;
    if (v->height + 1 > container->height) container->height = v->height + 1;
    if (container->size > YAML_VALUES)
        return refuse(b, event->start_mark,
                      "aliases written out give more than %d values; use fewer of them",
                      YAML_VALUES);
    return SPATE_OK;
}

static spate_status take_key(builder *b, const yaml_event_t *event, yaml_value *key) {
    frame *f = &b->frames[b->depth - 1];
    char shown[YAML_SHOWN];
    if (key->kind != YAML_WORD)
        return refuse(b, event->start_mark, "a field's name must be a word; found a %s",
                      key->kind == YAML_LIST ? "list" : "mapping");
    if (key->length > YAML_NAME_BYTES)
        return refuse(b, event->start_mark, "a name of %zu bytes; use at most %d", key->length,
                      YAML_NAME_BYTES);
    for (const yaml_entry *e = f->container->first; e; e = e->next)
        if (strcmp(e->key->text, key->text) == 0)
            return refuse(b, event->start_mark,
                          "duplicate field '%s', first given at line %d; remove one of them",
                          yaml_shown(key->text, shown), e->key->line);
    if (f->container->count >= YAML_FIELDS)
        return refuse(b, event->start_mark, "more than %d fields in one mapping; remove some",
                      YAML_FIELDS);
    f->key = key;
    return SPATE_OK;
}

/* Puts a value where the document has it. `whole`: nothing more will be added to it. */
static spate_status place_value(builder *b, const yaml_event_t *event, yaml_value *v, bool whole) {
    if (b->depth == 0) {
        b->root = v;
        return SPATE_OK;
    }
    frame *f = &b->frames[b->depth - 1];
    yaml_value *container = f->container;
    if (container->kind == YAML_MAPPING && !f->key) return take_key(b, event, v);
    yaml_entry *e = arena_take(&b->tree->arena, 1, sizeof *e);
    if (!e) return SPATE_OUT_OF_MEMORY;
    *e = (yaml_entry){.key = f->key, .value = v};
    if (container->last)
        container->last->next = e;
    else
        container->first = e;
    container->last = e;
    if (!whole) return SPATE_OK;
    TRY(account(b, event, container, v));
    container->count++;
    f->key = NULL;
    return SPATE_OK;
}

static spate_status read_word(builder *b, const yaml_event_t *event) {
    const yaml_char_t *bytes = event->data.scalar.value;
    size_t length = event->data.scalar.length;
    TRY(check_tag(b, event, event->data.scalar.tag));
    if (memchr(bytes, 0, length))
        return refuse(b, event->start_mark, "a text with a zero character in it; remove '\\0'");
    yaml_value *v = NULL;
    TRY(create_value(b, YAML_WORD, event, &v));
    v->text = arena_text(&b->tree->arena, (const char *)bytes, length);
    if (!v->text) return SPATE_OUT_OF_MEMORY;
    v->length = length;
    v->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    TRY(remember_anchor(b, event, event->data.scalar.anchor, v));
    return place_value(b, event, v, true);
}

static spate_status read_alias(builder *b, const yaml_event_t *event) {
    const char *name = (const char *)event->data.alias.anchor;
    char shown[YAML_SHOWN];
    const anchor *a = b->anchors;
    while (a && strcmp(a->name, name) != 0) a = a->next;
    if (!a)
        return refuse(b, event->start_mark,
                      "alias '*%s' has no anchor before it; mark a value with '&%s'",
                      yaml_shown(name, shown), shown);
    if (a->value->open)
        return refuse(b, event->start_mark,
                      "alias '*%s' stands inside what it refers to; write the value out",
                      yaml_shown(name, shown));
    if (b->depth + a->value->height > YAML_DEPTH)
        return refuse(b, event->start_mark, "nested deeper than %d; make it flatter", YAML_DEPTH);
    return place_value(b, event, a->value, true);
}

static spate_status begin_container(builder *b, const yaml_event_t *event, yaml_kind kind,
                                    const yaml_char_t *name, const yaml_char_t *tag) {
    yaml_value *v = NULL;
    TRY(check_tag(b, event, tag));
    if (b->depth >= YAML_DEPTH)
        return refuse(b, event->start_mark, "nested deeper than %d; make it flatter", YAML_DEPTH);
    TRY(create_value(b, kind, event, &v));
    v->height = 1;
    v->open = true;
    TRY(remember_anchor(b, event, name, v));
    TRY(place_value(b, event, v, false));
    b->frames[b->depth++] = (frame){.container = v};
    return SPATE_OK;
}

static spate_status end_container(builder *b, const yaml_event_t *event) {
    yaml_value *v = b->frames[--b->depth].container;
    v->open = false;
    if (b->depth == 0) return SPATE_OK;
    frame *f = &b->frames[b->depth - 1];
    TRY(account(b, event, f->container, v));
    f->container->count++;
    f->key = NULL;
    return SPATE_OK;
}

static spate_status handle_event(builder *b, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++b->document_count > 1)
            return refuse(b, event->start_mark,
                          "a second document starts here; keep one and remove the '---'");
        return SPATE_OK;
    case YAML_SCALAR_EVENT: return read_word(b, event);
    case YAML_ALIAS_EVENT: return read_alias(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return begin_container(b, event, YAML_LIST, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return begin_container(b, event, YAML_MAPPING, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return end_container(b, event);
    default: return SPATE_OK;
    }
}

static spate_status read_events(builder *b, yaml_parser_t *parser) {
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) return refuse_syntax(b, parser);
        more = event.type != YAML_STREAM_END_EVENT;
        spate_status status = handle_event(b, &event);
        yaml_event_delete(&event);
        TRY(status);
    }
    return SPATE_OK;
}

spate_status yaml_read(yaml_tree *t, const char *bytes, size_t length, int set, yaml_value **out) {
    static const char byte_order_mark[] = "\xef\xbb\xbf"; /* with which some editors begin a file */
    yaml_parser_t parser;
    if (length >= 3 && !memcmp(bytes, byte_order_mark, 3)) bytes += 3, length -= 3;
    builder b = {.tree = t, .set = set, .bytes = bytes, .length = length};
    if (!yaml_parser_initialize(&parser))
        return fail(t->ctx, SPATE_OUT_OF_MEMORY, "%s: out of memory while reading YAML", t->file);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    spate_status status = read_events(&b, &parser);
    yaml_parser_delete(&parser);
    *out = b.root;
    return status;
}

/* ---- Whole files ----------------------------------------------------------------------------- */

/* Length of the UTF-8 character at s, 0 when it is not one (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static int utf8_length(const unsigned char *s, size_t left) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0x80) return 1;
    int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (n == 0 || s[0] > 0xf4 || left < (size_t)n) return 0;
    uint32_t code = s[0] & (0xffu >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[n] || code > 0x10ffff || surrogate ? 0 : n;
}

static spate_status check_utf8(const yaml_tree *t, const char *bytes, size_t length) {
    int line = 1, column = 1;
    for (size_t i = 0; i < length;) {
        int n = utf8_length((const unsigned char *)bytes + i, length - i);
        if (n == 0)
            return fail(t->ctx, SPATE_BAD_INPUT,
                        "%s:%d:%d: byte 0x%02x is not UTF-8 text; save the scene as UTF-8", t->file,
                        line, column, (unsigned char)bytes[i]);
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
        i += (size_t)n;
    }
    return SPATE_OK;
}

spate_status yaml_tree_read(yaml_tree *t, const char *bytes, size_t length) {
    if (length > YAML_BYTES)
        return fail(t->ctx, SPATE_BAD_INPUT,
                    "%s: %zu bytes, more than the %d a scene may have; put large geometry into a "
                    "mesh file",
                    t->file, length, YAML_BYTES);
    TRY(check_utf8(t, bytes, length));
    TRY(yaml_read(t, bytes, length, -1, &t->root));
    if (!t->root)
        return fail(t->ctx, SPATE_BAD_INPUT,
                    "%s:1:1: the file is empty; a scene begins with 'spate: 1'", t->file);
    return SPATE_OK;
}
