/*
 * Overrides on a document tree: "--set path=value".
 *
 * Values may be shared by aliases, so an override copies every list and mapping on its path and
 * changes the copies: only the named field changes, not its namesakes.
 */
#include "scene/yaml.h"

#include <stdio.h>
#include <string.h>

typedef struct override {
    yaml_tree *tree;
    int set;
    char path[YAML_PATH_SIZE]; /* the part before '=' */
    yaml_value *value;
} override;

PRINTF_LIKE(2, 3)
static spate_status refuse(const override *o, const char *format, ...) {
    char what[512], shown[YAML_SHOWN];
    va_list arguments;
    va_start(arguments, format);
    text_format(o->tree->ctx, what, sizeof what, format, arguments);
    va_end(arguments);
    return fail(o->tree->ctx, SPATE_BAD_INPUT, "--set %s: %s",
                yaml_shown(o->tree->sets[o->set], shown), what);
}

static yaml_value *create_value(const override *o, yaml_kind kind) {
    yaml_value *v = arena_take(&o->tree->arena, 1, sizeof *v);
    if (!v) return NULL;
    v->kind = kind;
    v->set = o->set;
    v->size = 1;
    return v;
}

static yaml_entry *add_entry(const override *o, yaml_value *container, yaml_value *key,
                             yaml_value *value) {
    yaml_entry *e = arena_take(&o->tree->arena, 1, sizeof *e);
    if (!e) return NULL;
    *e = (yaml_entry){.key = key, .value = value};
    if (container->last)
        container->last->next = e;
    else
        container->first = e;
    container->last = e;
    container->count++;
    return e;
}

/* A list or mapping of its own with the same entries. */
static yaml_value *copy_container(const override *o, const yaml_value *v) {
    yaml_value *copy = arena_take(&o->tree->arena, 1, sizeof *copy);
    if (!copy) return NULL;
    *copy = *v;
    copy->first = copy->last = NULL;
    copy->count = 0;
    for (const yaml_entry *e = v->first; e; e = e->next)
        if (!add_entry(o, copy, e->key, e->value)) return NULL;
    return copy;
}

static spate_status unknown_entry(const override *o, const yaml_value *list, const char *name) {
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    char shown[YAML_SHOWN], near[YAML_SHOWN];
    for (const yaml_entry *e = list->first; e && count < MOST; e = e->next) {
        const yaml_value *n = yaml_find(e->value, "name");
        if (n && n->kind == YAML_WORD) names[count++] = n->text;
    }
    const char *nearest = text_nearest(name, names, count);
    if (nearest)
        return refuse(o, "no entry named '%s'; did you mean '%s'?", yaml_shown(name, shown),
                      yaml_shown(nearest, near));
    return refuse(o, "no entry named '%s'; give its name, or its index from 0 to %d (%d adds one)",
                  yaml_shown(name, shown), list->count - 1, list->count);
}

/* The entry of a list that a path segment names; one more than there are adds an empty one. */
static spate_status find_in_list(const override *o, yaml_value *list, const char *segment,
                                 yaml_entry **out) {
    int64_t index;
    *out = NULL;
    if (text_to_int64(segment, strlen(segment), &index)) {
        if (index < 0 || index > list->count)
            return refuse(o, "index %s of a list of %d; use 0 to %d, or %d to add an entry",
                          segment, list->count, list->count - 1, list->count);
        if (index == list->count) {
            *out = add_entry(o, list, NULL, NULL);
            return *out ? SPATE_OK : SPATE_OUT_OF_MEMORY;
        }
        yaml_entry *e = list->first;
        while (index-- > 0) e = e->next;
        *out = e;
        return SPATE_OK;
    }
    for (yaml_entry *e = list->first; e && !*out; e = e->next) {
        const yaml_value *name = yaml_find(e->value, "name");
        if (name && yaml_is_word(name, segment)) *out = e;
    }
    return *out ? SPATE_OK : unknown_entry(o, list, segment);
}

/* The entry of a mapping that a path segment names; it is added when there is none. */
static spate_status find_in_mapping(const override *o, yaml_value *mapping, const char *segment,
                                    yaml_entry **out) {
    for (yaml_entry *e = mapping->first; e; e = e->next)
        if (strcmp(e->key->text, segment) == 0) {
            *out = e;
            return SPATE_OK;
        }
    if (strlen(segment) > YAML_NAME_BYTES || mapping->count >= YAML_FIELDS)
        return refuse(o, "a name of %zu bytes, or too many fields; shorten it", strlen(segment));
    yaml_value *key = create_value(o, YAML_WORD);
    if (!key) return SPATE_OUT_OF_MEMORY;
    key->text = arena_text(&o->tree->arena, segment, strlen(segment));
    key->length = strlen(segment);
    if (!key->text || !(*out = add_entry(o, mapping, key, NULL))) return SPATE_OUT_OF_MEMORY;
    return SPATE_OK;
}

/* What stands in *slot made ready to be walked into: a copy, or a new list or mapping. */
static spate_status open_container(const override *o, yaml_value **slot, const char *segment,
                                   const char *segment_before) {
    char shown[YAML_SHOWN], name[YAML_SHOWN];
    if (!*slot || yaml_is_null(*slot)) {
        *slot = create_value(o, strcmp(segment, "0") == 0 ? YAML_LIST : YAML_MAPPING);
    } else if ((*slot)->kind == YAML_WORD) {
        return refuse(o, "'%s' is a single value, it has no '%s'; shorten the path",
                      yaml_shown(segment_before, shown), yaml_shown(segment, name));
    } else {
        *slot = copy_container(o, *slot);
    }
    return *slot ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status apply(override *o) {
    yaml_value **slot = &o->tree->root;
    const char *before = "the scene";
    int depth = 0;
    for (char *segment = o->path, *next; segment; segment = next) {
        next = strchr(segment, '.');
        if (next) *next++ = 0;
        if (!*segment) return refuse(o, "an empty name in the path; write it like solver.cfl=0.3");
        if (++depth + o->value->height > YAML_DEPTH)
            return refuse(o, "nested deeper than %d; shorten the path", YAML_DEPTH);
        yaml_entry *e = NULL;
        TRY(open_container(o, slot, segment, before));
        if ((*slot)->kind == YAML_LIST)
            TRY(find_in_list(o, *slot, segment, &e));
        else
            TRY(find_in_mapping(o, *slot, segment, &e));
        slot = &e->value;
        before = segment;
    }
    *slot = o->value;
    return SPATE_OK;
}

spate_status yaml_tree_set(yaml_tree *t, const char *const *sets, int count) {
    t->sets = sets;
    for (int i = 0; i < count; i++) {
        override o = {.tree = t, .set = i};
        const char *equals = strchr(sets[i], '=');
        if (!equals || equals == sets[i])
            return refuse(&o, "expected path=value; write it like solver.cfl=0.3");
        size_t length = (size_t)(equals - sets[i]);
        if (length >= sizeof o.path) return refuse(&o, "the path is too long; shorten it");
        memcpy(o.path, sets[i], length);
        TRY(yaml_read(t, equals + 1, strlen(equals + 1), i, &o.value));
        if (!o.value && equals[1] == '#')
            return refuse(&o, "a # begins a comment; write it in quotes, '%.*s=\"%s\"'",
                          (int)length, sets[i], equals + 1);
        if (!o.value) return refuse(&o, "there is no value behind '='; add one");
        TRY(apply(&o));
    }
    return SPATE_OK;
}
