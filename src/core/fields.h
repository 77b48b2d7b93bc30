/*
 * Field tables: what a user may write in a scene, declared once. A table maps the fields of a YAML
 * mapping onto a C struct and drives reading, --set, range checks, error messages and the reference
 * in docs/scene.md. Solvers and materials declare their own tables; the scene reader is handed them
 * in a registry (scene/registry.h).
 */
#ifndef SPATE_CORE_FIELDS_H
#define SPATE_CORE_FIELDS_H

#include "core/context.h"
#include <math.h>
#include <stddef.h>

typedef enum field_type {
    FIELD_NUMBER,  /* double */
    FIELD_INTEGER, /* int64_t */
    FIELD_FLAG,    /* bool: true or false */
    FIELD_TEXT,    /* const char *, NULL when absent */
    FIELD_CHOICE,  /* int: index into choices */
    FIELD_VECTOR,  /* double[3]; the scene's dimension decides how many are read; 2D: z is 0 */
    FIELD_PAIR,    /* double[2]; one number stands for both */
    FIELD_NUMBERS, /* number_list of any length; one number stands for a list of one */
    FIELD_SPIN,    /* double[3]; 3D: a vector, 2D: one number, about z */
    FIELD_COLOR,   /* field_color: a name, "#rrggbb" or three numbers */
    FIELD_PART,    /* a list or mapping the scene reader reads itself; `unit` says what it is */
    FIELD_GROUP, /* void *: a mapping read by `table` into a struct of its own; NULL when absent */
    FIELD_LIST,  /* struct_list: any number of such mappings; one stands for a list of one */
} field_type;

/* What FIELD_LIST fills: structs of its table in the scene's arena. */
typedef struct struct_list {
    void *items; /* NULL when there is none */
    int count;
} struct_list;

/* What FIELD_NUMBERS fills: values in the scene's arena. */
typedef struct number_list {
    double *values; /* NULL when there is none */
    int count;
} number_list;

/* What FIELD_COLOR fills: red, green and blue as screens have them, 0 to 1 each. */
typedef struct field_color {
    bool given;
    double rgb[3];
} field_color;

typedef struct field {
    const char *name;
    field_type type;
    size_t offset;    /* into the struct the table describes */
    const char *unit; /* SI unit, "" for a pure number; products by a space, powers by ^:
                         "kg/m^3", "Pa s". Defaults and ranges are in it and are converted
                         where a scene says `units: cgs` */
    bool required;
    double fallback;            /* default of a number, integer, flag, choice, and of each component
                        of a vector or pair; of a list: its only entry, NAN: an empty list;
                        of a choice NAN: -1, none; else NAN: `help` tells it; HUGE_VAL: no limit */
    double min, max;            /* allowed range, inclusive; of each component or entry */
    const char *const *choices; /* FIELD_CHOICE: words, closed by NULL */
    const struct field_table *table; /* FIELD_GROUP, FIELD_LIST: what the mapping may hold */
    const char *help;                /* one sentence */
} field;

typedef struct field_table {
    const char *name; /* e.g. "solver: mpm" */
    const char *help;
    const field *fields;
    int count;
    size_t size; /* of the struct */
} field_table;

/* A table of an array of fields that maps onto `type`. */
#define FIELD_TABLE(title, about, array, type)                                         \
    {                                                                                  \
        .name = (title), .help = (about), .fields = (array), .count = COUNT_OF(array), \
        .size = sizeof(type)                                                           \
    }

/* Fields in one line each, for the member of the same name; REQUIRED_* must be given. */
#define NUMBER_FIELD(type_, member, unit_, default_, min_, max_, help_)                            \
    {                                                                                              \
        .name = #member, .type = FIELD_NUMBER, .offset = offsetof(type_, member), .unit = (unit_), \
        .fallback = (default_), .min = (min_), .max = (max_), .help = (help_)                      \
    }
#define REQUIRED_NUMBER(type_, member, unit_, min_, max_, help_)                                   \
    {                                                                                              \
        .name = #member, .type = FIELD_NUMBER, .offset = offsetof(type_, member), .unit = (unit_), \
        .required = true, .min = (min_), .max = (max_), .help = (help_)                            \
    }
#define INTEGER_FIELD(type_, member, default_, min_, max_, help_)                              \
    {                                                                                          \
        .name = #member, .type = FIELD_INTEGER, .offset = offsetof(type_, member), .unit = "", \
        .fallback = (default_), .min = (min_), .max = (max_), .help = (help_)                  \
    }
#define FLAG_FIELD(type_, member, default_, help_)                                          \
    {                                                                                       \
        .name = #member, .type = FIELD_FLAG, .offset = offsetof(type_, member), .unit = "", \
        .fallback = (default_), .help = (help_)                                             \
    }
#define TEXT_FIELD(type_, member, help_)                                                    \
    {                                                                                       \
        .name = #member, .type = FIELD_TEXT, .offset = offsetof(type_, member), .unit = "", \
        .help = (help_)                                                                     \
    }
#define CHOICE_FIELD(type_, member, default_, words, help_)                                   \
    {                                                                                         \
        .name = #member, .type = FIELD_CHOICE, .offset = offsetof(type_, member), .unit = "", \
        .fallback = (default_), .choices = (words), .help = (help_)                           \
    }
#define VECTOR_FIELD(type_, member, unit_, default_, min_, max_, help_)                            \
    {                                                                                              \
        .name = #member, .type = FIELD_VECTOR, .offset = offsetof(type_, member), .unit = (unit_), \
        .fallback = (default_), .min = (min_), .max = (max_), .help = (help_)                      \
    }
#define REQUIRED_VECTOR(type_, member, unit_, min_, max_, help_)                                   \
    {                                                                                              \
        .name = #member, .type = FIELD_VECTOR, .offset = offsetof(type_, member), .unit = (unit_), \
        .required = true, .min = (min_), .max = (max_), .help = (help_)                            \
    }
#define PAIR_FIELD(type_, member, unit_, default_, min_, max_, help_)                            \
    {                                                                                            \
        .name = #member, .type = FIELD_PAIR, .offset = offsetof(type_, member), .unit = (unit_), \
        .fallback = (default_), .min = (min_), .max = (max_), .help = (help_)                    \
    }
#define NUMBERS_FIELD(type_, member, unit_, default_, min_, max_, help_)                       \
    {                                                                                          \
        .name = #member, .type = FIELD_NUMBERS, .offset = offsetof(type_, member),             \
        .unit = (unit_), .fallback = (default_), .min = (min_), .max = (max_), .help = (help_) \
    }
#define COLOR_FIELD(type_, help_)                                                           \
    {                                                                                       \
        .name = "color", .type = FIELD_COLOR, .offset = offsetof(type_, color), .unit = "", \
        .fallback = NAN, .help = (help_)                                                    \
    }
#define PART_FIELD(name_, what, required_, help_)                                     \
    {                                                                                 \
        .name = (name_), .type = FIELD_PART, .unit = (what), .required = (required_), \
        .help = (help_)                                                               \
    }

#define GROUP_FIELD(type_, member, table_, help_)                                            \
    {                                                                                        \
        .name = #member, .type = FIELD_GROUP, .offset = offsetof(type_, member), .unit = "", \
        .fallback = NAN, .table = (table_), .help = (help_)                                  \
    }
#define LIST_FIELD(type_, member, table_, help_)                                            \
    {                                                                                       \
        .name = #member, .type = FIELD_LIST, .offset = offsetof(type_, member), .unit = "", \
        .fallback = NAN, .table = (table_), .help = (help_)                                 \
    }

/* Ranges of use. A number that must be > 0 has SMALLEST as its min. */
#define ANY_MIN  (-HUGE_VAL)
#define ANY_MAX  (HUGE_VAL)
#define SMALLEST 1e-300

/* Units of the scene: the default gravity and the documentation follow them. */
typedef enum unit_system { UNITS_SI, UNITS_CGS } unit_system;

/* What a solver or material is told when its fields have been read and it checks them together. On
 * bad values it writes the field's name ("flow.period" for one of a group) to *at and a message to
 * `message`, and returns false. */
typedef struct field_report {
    const char *at;
    char message[512];
} field_report;

/* Writes such a message, and returns false. */
bool field_complain(field_report *report, const char *at, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
