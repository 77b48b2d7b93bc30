/*
 * The document tree of a scene file: words, lists and mappings, each with the place it came from.
 *
 * It is built from libyaml's events, so that the limits hold while reading and not after: depth 64,
 * a million values with every alias written out, one document, no alias inside what it stands for.
 * Duplicate fields and tags are refused. Overrides ("--set path=value") are applied to the tree,
 * which can then be written out again as YAML or as a stable text for hashing.
 */
#ifndef SPATE_SCENE_YAML_H
#define SPATE_SCENE_YAML_H

#include "core/arena.h"
#include "core/text.h"

enum {
    YAML_BYTES = 16 << 20, /* longest scene file */
    YAML_DEPTH = 64,       /* deepest nesting of lists and mappings */
    YAML_VALUES = 1000000, /* values in all, aliases written out */
    YAML_FIELDS = 4096,    /* fields in one mapping */
    YAML_NAME_BYTES = 128, /* longest name of a field */
    YAML_ANCHORS = 4096,   /* anchors in a file */
    YAML_SHOWN = 64,       /* longest piece of the user's text in a message */
    YAML_PLACE_SIZE = 512, /* of a place such as "dam.yaml:7:12" */
    YAML_PATH_SIZE = 512,  /* of a field's path such as "bodies.0.shape" */
};

typedef enum yaml_kind { YAML_WORD, YAML_LIST, YAML_MAPPING } yaml_kind;

typedef struct yaml_value yaml_value;
typedef struct yaml_entry yaml_entry;

struct yaml_entry {
    yaml_value *key; /* NULL in a list */
    yaml_value *value;
    yaml_entry *next;
};

/* A value may be shared by several entries (aliases); nothing but the overrides changes a tree, and
 * these copy what they change. */
struct yaml_value {
    yaml_kind kind;
    bool quoted;      /* word: written in quotes, so never a number, true or null */
    bool open;        /* still being read: an alias to it would be a cycle */
    int line, column; /* from 1 */
    int set;          /* the override it came from, -1 for the file */
    const char *text; /* word: closed by a zero, none inside */
    size_t length;
    yaml_entry *first, *last; /* list, mapping */
    int count;
    int height;   /* nesting inside, 0 for a word */
    int64_t size; /* values inside and itself, aliases written out */
};

typedef struct yaml_tree {
    spate_context *ctx;
    arena arena;
    const char *file;        /* for messages */
    const char *const *sets; /* overrides, for messages */
    yaml_value *root;
} yaml_tree;

yaml_tree yaml_tree_create(spate_context *ctx, const char *file);
void yaml_tree_free(yaml_tree *t);
/* Reads the one document of a text. */
spate_status yaml_tree_read(yaml_tree *t, const char *bytes, size_t length);
/* Applies overrides, each "path=value": a dotted path of field names, list indices (the length adds
 * an entry) or names of entries, and a value in YAML. The texts must outlive the tree. */
spate_status yaml_tree_set(yaml_tree *t, const char *const *sets, int count);

/* Reads the value of one text, NULL when there is none. `set`: the override it is of, or -1. */
spate_status yaml_read(yaml_tree *t, const char *bytes, size_t length, int set, yaml_value **out);

/* The value of a field of a mapping, or NULL. */
yaml_value *yaml_find(const yaml_value *mapping, const char *name);
/* Entry `index` of a list. */
yaml_value *yaml_item(const yaml_value *list, int index);
/* Nothing was written, or `~` or `null`. */
bool yaml_is_null(const yaml_value *v);
bool yaml_is_word(const yaml_value *v, const char *word);

/* Where a value was written: "dam.yaml:7:12" or "--set solver.cfl=2". */
void yaml_place(const yaml_tree *t, const yaml_value *v, char out[YAML_PLACE_SIZE]);
/* The user's text made fit for a message: one line, not too long. Returns `out`. */
const char *yaml_shown(const char *given, char out[YAML_SHOWN]);
/* What kind of value it is, with its text: "a list", "'abc'". Returns `out`. */
const char *yaml_described(const yaml_value *v, char out[YAML_SHOWN + 8]);

/* Writes a value as YAML that reads back as the same tree (aliases written out). */
void yaml_emit(const yaml_value *v, text *out);
/* Writes a value in a form for hashing: numbers by value, fields in the order of their names, those
 * of a field called `ordered` (NULL: of this mapping) in the order written, without the fields at
 * the paths `left_out` from here, "solver.max_steps", where "*" is any field or entry (at most 16,
 * closed by NULL; NULL for none). */
spate_status yaml_serialise(const yaml_tree *t, const yaml_value *v, const char *ordered,
                            const char *const *left_out, text *out);

#endif
