/*
 * Reading values of a document tree by field tables, with errors that name the place and the field:
 * "dam.yaml:7:12: solver.integrator: unknown word 'aplic'; did you mean 'apic'? (pic, apic)".
 */
#ifndef SPATE_SCENE_READER_H
#define SPATE_SCENE_READER_H

#include "scene/registry.h"
#include "scene/scene.h"
#include "scene/yaml.h"

/* Makes something of a file's bytes; `name` is used in messages. */
typedef spate_status (*file_parser)(arena *a, const char *name, const char *bytes, size_t length,
                                    void **out);

typedef struct loaded_file loaded_file;
struct loaded_file {
    const char *given; /* as the scene wrote it */
    const char *file;  /* as a run keeps it: below the folder */
    const char *path;
    bool outside;  /* the scene's folder */
    uint64_t hash; /* of the file's bytes */
    file_parser parse;
    void *content; /* what it made */
    loaded_file *next;
};

typedef struct reader {
    spate_context *ctx;
    spate_scene *scene;
    arena *arena; /* the scene's: what is read lives there */
    yaml_tree *tree;
    const registry *registry;
    int dim;
    unit_system units;
    char path[YAML_PATH_SIZE]; /* of the field being read, "bodies.0.shape" */
    int path_length;
    loaded_file *files;
} reader;

/* Goes into a field or entry; the result is handed to reader_leave. */
int reader_enter(reader *r, const char *name);
int reader_enter_index(reader *r, int index);
void reader_leave(reader *r, int back);

/* Fails with "PLACE: PATH: message". The message says what is wrong; then what to do. */
spate_status reader_fail(reader *r, const yaml_value *at, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The same for a field of the mapping being read, shown at its value, or at the mapping where the
 * field is not given: reader_at finds which. */
spate_status reader_fail_field(reader *r, const yaml_value *at, const char *name,
                               const char *format, ...) PRINTF_LIKE(4, 5);
static inline const yaml_value *reader_at(const yaml_value *mapping, const char *name) {
    const yaml_value *given = yaml_find(mapping, name);
    return given ? given : mapping;
}
/* Fails for a word that is not one of `words`. `what`: "unknown field", "unknown word". */
spate_status reader_fail_word(reader *r, const yaml_value *at, const char *what, const char *word,
                              const char *const *words, int count);

spate_status reader_mapping(reader *r, const yaml_value *v);
spate_status reader_list(reader *r, const yaml_value *v);
spate_status reader_number(reader *r, const yaml_value *v, double *out);
spate_status reader_integer(reader *r, const yaml_value *v, int64_t *out);
spate_status reader_flag(reader *r, const yaml_value *v, bool *out);
/* A word, copied to the scene. */
spate_status reader_text(reader *r, const yaml_value *v, const char **out);
spate_status reader_choice(reader *r, const yaml_value *v, const char *const *words, int *out);
/* A list of exactly `count` numbers. */
spate_status reader_numbers(reader *r, const yaml_value *v, int count, double *out);
/* A vector of the scene's dimension; z is 0 in 2D. */
spate_status reader_vector(reader *r, const yaml_value *v, double out[3]);

/* A table and the struct it fills. */
typedef struct reader_part {
    const field_table *table;
    void *out;
} reader_part;

/* Reads a mapping by tables: defaults, then what is given. A field of several tables goes to each.
 * Unknown and missing fields fail. Fields of type FIELD_PART are only known, not read. */
spate_status reader_fields(reader *r, const yaml_value *mapping, const reader_part *parts,
                           int count);
spate_status reader_table(reader *r, const yaml_value *mapping, const field_table *table,
                          void *out);
/* One field of a table, given or not. */
spate_status reader_field(reader *r, const yaml_value *mapping, const field_table *table,
                          const char *name, void *out);

/* The factor that turns a quantity in an SI unit into the scene's units. */
double reader_unit(const reader *r, const char *unit);

#endif
