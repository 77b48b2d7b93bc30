/* Reading values by field tables. See reader.h. */
#include "scene/reader.h"
#include "scene/color_names.h"

#include <stdio.h>
#include <string.h>

/* ---- Path and errors ------------------------------------------------------------------------- */

int reader_enter(reader *r, const char *name) {
    int back = r->path_length;
    char shown[YAML_SHOWN];
    size_t left = sizeof r->path - (size_t)back;
    int n = snprintf(r->path + back, left, "%s%s", back > 0 ? "." : "", yaml_shown(name, shown));
    r->path_length = back + n < (int)sizeof r->path ? back + n : (int)sizeof r->path - 1;
    return back;
}

int reader_enter_index(reader *r, int index) {
    char name[16];
    snprintf(name, sizeof name, "%d", index);
    return reader_enter(r, name);
}

void reader_leave(reader *r, int back) {
    r->path_length = back;
    r->path[back] = 0;
}

PRINTF_LIKE(3, 0)
static spate_status fail_at(reader *r, const yaml_value *at, const char *format,
                            va_list arguments) {
    char place[YAML_PLACE_SIZE], what[1024];
    yaml_place(r->tree, at, place);
    text_format(r->ctx, what, sizeof what, format, arguments);
    return fail(r->ctx, SPATE_BAD_INPUT, "%s: %s%s%s", place, r->path, *r->path ? ": " : "", what);
}

spate_status reader_fail(reader *r, const yaml_value *at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    spate_status status = fail_at(r, at, format, arguments);
    va_end(arguments);
    return status;
}

spate_status reader_fail_field(reader *r, const yaml_value *at, const char *name,
                               const char *format, ...) {
    va_list arguments;
    int back = reader_enter(r, name);
    va_start(arguments, format);
    spate_status status = fail_at(r, at, format, arguments);
    va_end(arguments);
    reader_leave(r, back);
    return status;
}

spate_status reader_fail_word(reader *r, const yaml_value *at, const char *what, const char *word,
                              const char *const *words, int count) {
    char shown[YAML_SHOWN], hint[YAML_SHOWN + 40] = "", near[YAML_SHOWN], list[512] = "";
    const char *nearest = text_nearest(word, words, count);
    if (nearest)
        snprintf(hint, sizeof hint,
                 text_is_same_but_case(word, nearest) ? "only the case is wrong, write '%s' "
                                                      : "did you mean '%s'? ",
                 yaml_shown(nearest, near));
    size_t n = 0;
    for (int i = 0; i < count && n < sizeof list - YAML_SHOWN - 8; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "",
                              yaml_shown(words[i], near));
    return reader_fail(r, at, "%s '%s'; %s%s(%s)", what, yaml_shown(word, shown), hint,
                       nearest     ? ""
                       : count > 1 ? "use one of these "
                                   : "use ",
                       list);
}

/* ---- Single values --------------------------------------------------------------------------- */

spate_status reader_mapping(reader *r, const yaml_value *v) {
    char found[YAML_SHOWN + 8];
    if (v->kind == YAML_MAPPING) return SPATE_OK;
    return reader_fail(r, v, "expected a mapping, found %s; write fields like {name: value}",
                       yaml_described(v, found));
}

spate_status reader_list(reader *r, const yaml_value *v) {
    char found[YAML_SHOWN + 8];
    if (v->kind == YAML_LIST) return SPATE_OK;
    return reader_fail(r, v, "expected a list, found %s; %s", yaml_described(v, found),
                       v->kind == YAML_MAPPING ? "put it into brackets, as [{...}]"
                                               : "write entries like [a, b] or '- a'");
}

/* The number that a word with a comma for its point stands for. */
static bool has_decimal_comma(const reader *r, const yaml_value *v, char point[YAML_SHOWN]) {
    double number;
    const char *comma = v->kind == YAML_WORD ? strchr(v->text, ',') : NULL;
    if (!comma || strchr(comma + 1, ',') || v->length >= YAML_SHOWN) return false;
    memcpy(point, v->text, v->length + 1);
    point[comma - v->text] = '.';
    return text_to_double(r->ctx, point, v->length, &number);
}

/* What stands where a number is expected, and how it would be one. */
static spate_status fail_number(reader *r, const yaml_value *v, const char *kind,
                                const char *form) {
    char found[YAML_SHOWN + 8], point[YAML_SHOWN];
    double number;
    yaml_described(v, found);
    if (v->quoted && text_to_double(r->ctx, v->text, v->length, &number))
        return reader_fail(r, v, "expected %s, found the text %s; write it without quotes", kind,
                           found);
    if (has_decimal_comma(r, v, point))
        return reader_fail(r, v, "expected %s, found %s; write %s, with a point for the comma",
                           kind, found, point);
    return reader_fail(r, v, "expected %s, found %s; write it like %s", kind, found, form);
}

spate_status reader_number(reader *r, const yaml_value *v, double *out) {
    bool good = v->kind == YAML_WORD && !v->quoted &&
                text_to_double(r->ctx, v->text, v->length, out) && isfinite(*out);
    return good ? SPATE_OK : fail_number(r, v, "a number", "0.02 or 2e5, without a unit");
}

spate_status reader_integer(reader *r, const yaml_value *v, int64_t *out) {
    double number;
    bool word = v->kind == YAML_WORD && !v->quoted;
    if (word && text_to_int64(v->text, v->length, out)) return SPATE_OK;
    /* 2e5 and 3.0 are whole numbers too. */
    if (word && text_to_double(r->ctx, v->text, v->length, &number) && number == floor(number) &&
        fabs(number) < 9e15) {
        *out = (int64_t)number;
        return SPATE_OK;
    }
    return fail_number(r, v, "a whole number", "8");
}

spate_status reader_flag(reader *r, const yaml_value *v, bool *out) {
    char found[YAML_SHOWN + 8];
    *out = yaml_is_word(v, "true");
    if (!v->quoted && (*out || yaml_is_word(v, "false"))) return SPATE_OK;
    return reader_fail(r, v, "found %s; write true or false", yaml_described(v, found));
}

spate_status reader_text(reader *r, const yaml_value *v, const char **out) {
    char found[YAML_SHOWN + 8];
    if (v->kind != YAML_WORD || yaml_is_null(v) || v->length == 0)
        return reader_fail(r, v, "expected a word, found %s; write a text of one line",
                           v->kind == YAML_WORD ? "nothing" : yaml_described(v, found));
    for (size_t i = 0; i < v->length; i++)
        if ((unsigned char)v->text[i] < 0x20 || v->text[i] == 0x7f)
            return reader_fail(r, v, "a line break, tab or control character in a text; remove it");
    *out = arena_text(r->arena, v->text, v->length);
    return *out ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

spate_status reader_choice(reader *r, const yaml_value *v, const char *const *words, int *out) {
    char found[YAML_SHOWN + 8];
    int count = 0;
    for (; words[count]; count++)
        if (yaml_is_word(v, words[count])) {
            *out = count;
            return SPATE_OK;
        }
    if (v->kind == YAML_WORD && !yaml_is_null(v))
        return reader_fail_word(r, v, "unknown word", v->text, words, count);
    return reader_fail(r, v, "expected a word, found %s; write one such as '%s'",
                       yaml_described(v, found), words[0]);
}

spate_status reader_numbers(reader *r, const yaml_value *v, int count, double *out) {
    char found[YAML_SHOWN + 8];
    if (v->kind != YAML_LIST)
        return reader_fail(r, v, "expected a list of %d numbers, found %s; write it like %s", count,
                           yaml_described(v, found),
                           count == 4   ? "[0, 1, 0, 90]"
                           : count == 3 ? "[0, 1, 0]"
                                        : "[0, 1]");
    if (v->count != count)
        return reader_fail(r, v, "expected %d numbers, found %d; %s", count, v->count,
                           v->count > count ? "remove the rest" : "add what is missing");
    int i = 0;
    for (const yaml_entry *e = v->first; e; e = e->next, i++) {
        int back = reader_enter_index(r, i);
        TRY(reader_number(r, e->value, &out[i]));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

spate_status reader_vector(reader *r, const yaml_value *v, double out[3]) {
    if (r->dim == 2 && v->kind == YAML_LIST && v->count == 3)
        return reader_fail(r, v,
                           "3 components in a 2D scene; remove the third, or say dimension: 3");
    if (r->dim == 3 && v->kind == YAML_LIST && v->count == 2)
        return reader_fail(r, v, "2 components in a 3D scene; add the third, or say dimension: 2");
    out[2] = 0;
    return reader_numbers(r, v, r->dim, out);
}

/* ---- Units ----------------------------------------------------------------------------------- */

/* How many of the cgs unit are in one SI unit. */
static double factor_of_unit(const char *name, size_t length) {
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"m", 100}, {"kg", 1000}, {"N", 1e5}, {"Pa", 10}, {"J", 1e7}, {"W", 1e7}};
    for (int i = 0; i < COUNT_OF(units); i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return units[i].factor;
    return 1;
}

double reader_unit(const reader *r, const char *unit) {
    double factor = 1;
    if (r->units == UNITS_SI || !unit) return factor;
    bool below = false; /* behind the '/' */
    for (const char *s = unit; *s;) {
        size_t length = strcspn(s, " /^");
        int power = 1;
        double one = factor_of_unit(s, length);
        s += length;
        if (*s == '^') {
            power = s[1] >= '1' && s[1] <= '9' ? s[1] - '0' : 1;
            s += s[1] ? 2 : 1;
        }
        factor *= pow(one, below ? -power : power);
        if (*s == '/') below = true;
        if (*s) s++;
    }
    return factor;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void *member(const field *f, void *out) { return (char *)out + f->offset; }

/* How many numbers a field holds. */
static int components(const field *f) {
    switch (f->type) {
    case FIELD_VECTOR:
    case FIELD_SPIN: return 3;
    case FIELD_PAIR: return 2;
    default: return 1;
    }
}

static int64_t whole_number(double value) {
    if (value >= 9.2e18) return INT64_MAX;
    return value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

/* Room in the scene for a list of numbers. */
static spate_status take_numbers(reader *r, int count, number_list *list) {
    *list = (number_list){.values = arena_take(r->arena, (size_t)count, sizeof(double))};
    if (!list->values) return SPATE_OUT_OF_MEMORY;
    list->count = count;
    return SPATE_OK;
}

static spate_status default_list(reader *r, double value, number_list *list) {
    *list = (number_list){.values = NULL};
    if (isnan(value)) return SPATE_OK;
    TRY(take_numbers(r, 1, list));
    list->values[0] = value;
    return SPATE_OK;
}

static spate_status set_default(reader *r, const field *f, void *out) {
    void *to = member(f, out);
    double value = f->fallback * reader_unit(r, f->unit);
    switch (f->type) {
    case FIELD_INTEGER: *(int64_t *)to = isnan(value) ? 0 : whole_number(value); break;
    case FIELD_FLAG: *(bool *)to = f->fallback != 0; break;
    case FIELD_CHOICE: *(int *)to = isnan(f->fallback) ? -1 : (int)f->fallback; break;
    case FIELD_TEXT: *(const char **)to = NULL; break;
    case FIELD_NUMBERS: return default_list(r, value, to);
    case FIELD_COLOR: *(field_color *)to = (field_color){0}; break;
    case FIELD_PART: break;
    case FIELD_GROUP: *(void **)to = NULL; break;
    case FIELD_LIST: *(struct_list *)to = (struct_list){0}; break;
    default:
        for (int i = 0; i < components(f); i++) ((double *)to)[i] = value;
        /* What a 2D scene does not have is 0. */
        if (f->type == FIELD_VECTOR && r->dim == 2) ((double *)to)[2] = 0;
        if (f->type == FIELD_SPIN && r->dim == 2) ((double *)to)[0] = ((double *)to)[1] = 0;
    }
    return SPATE_OK;
}

static spate_status check_range(reader *r, const yaml_value *v, const field *f, double value) {
    double factor = reader_unit(r, f->unit), min = f->min * factor, max = f->max * factor;
    if (value >= min && value <= max) return SPATE_OK;
    bool positive = f->min > 0 && f->min <= SMALLEST;
    if (isinf(max))
        return positive
                   ? reader_fail(r, v, "%.10g is out of range; give a number greater than 0", value)
                   : reader_fail(r, v, "%.10g is out of range; give a number from %.10g up", value,
                                 min);
    if (isinf(min))
        return reader_fail(r, v, "%.10g is out of range; give a number up to %.10g", value, max);
    if (positive)
        return reader_fail(r, v, "%.10g is out of range; give a number greater than 0, up to %.10g",
                           value, max);
    return reader_fail(r, v, "%.10g is out of range; give a number from %.10g to %.10g", value, min,
                       max);
}

static spate_status read_pair(reader *r, const yaml_value *v, double out[2]) {
    if (v->kind == YAML_LIST) return reader_numbers(r, v, 2, out);
    TRY(reader_number(r, v, &out[0]));
    out[1] = out[0];
    return SPATE_OK;
}

static spate_status read_list(reader *r, const yaml_value *v, number_list *out) {
    bool list = v->kind == YAML_LIST;
    if (list && v->count == 0) return reader_fail(r, v, "an empty list; give at least one number");
    TRY(take_numbers(r, list ? v->count : 1, out));
    return list ? reader_numbers(r, v, v->count, out->values) : reader_number(r, v, out->values);
}

static spate_status read_spin(reader *r, const yaml_value *v, double out[3]) {
    if (r->dim == 3) return reader_vector(r, v, out);
    if (v->kind == YAML_LIST)
        return reader_fail(r, v, "a list in a 2D scene; give one number, the turn about z");
    out[0] = out[1] = 0;
    return reader_number(r, v, &out[2]);
}

static spate_status fail_color(reader *r, const yaml_value *v) {
    char shown[YAML_SHOWN + 8], hint[YAML_SHOWN] = "";
    const char *near =
        v->kind == YAML_WORD ? text_nearest(v->text, color_names, COLOR_NAMES) : NULL;
    if (near) snprintf(hint, sizeof hint, "did you mean '%s'? Or ", near);
    return reader_fail(r, v,
                       "%s is no colour; %swrite a name such as orange, \"#e8a317\" in quotes, or "
                       "[0.91, 0.64, 0.09]",
                       yaml_described(v, shown), hint);
}

/* 0 to 1 each; whoever writes 0 to 255 is told what that is. */
static spate_status check_channels(reader *r, const yaml_value *v, const double c[3]) {
    const double low = fmin(c[0], fmin(c[1], c[2])), high = fmax(c[0], fmax(c[1], c[2]));
    if (low >= 0 && high <= 1) return SPATE_OK;
    if (low >= 0 && high <= 255)
        return reader_fail(r, v,
                           "red, green and blue go from 0 to 1, not to 255; write [%.3g, %.3g, "
                           "%.3g]",
                           c[0] / 255, c[1] / 255, c[2] / 255);
    return reader_fail(r, v,
                       "red, green and blue go from 0 to 1; write it like [0.91, 0.64, 0.09]");
}

static spate_status read_color(reader *r, const yaml_value *v, field_color *out) {
    out->given = true;
    if (v->kind == YAML_LIST) {
        if (v->count != 3)
            return reader_fail(r, v, "has %d numbers; give red, green and blue, 0 to 1 each",
                               v->count);
        TRY(reader_numbers(r, v, 3, out->rgb));
        return check_channels(r, v, out->rgb);
    }
    if (v->kind == YAML_WORD && color_from_text(v->text, out->rgb)) return SPATE_OK;
    return fail_color(r, v);
}

/* A mapping of its own table, in the scene. */
static spate_status read_group(reader *r, const yaml_value *v, const field_table *table,
                               void **out) {
    *out = arena_take(r->arena, 1, table->size);
    if (!*out) return SPATE_OUT_OF_MEMORY;
    return reader_table(r, v, table, *out);
}

static spate_status read_groups(reader *r, const yaml_value *v, const field_table *table,
                                struct_list *out) {
    const bool list = v->kind == YAML_LIST;
    if (list && v->count == 0) return reader_fail(r, v, "an empty list; give at least one entry");
    out->count = 0;
    if (!list) {
        out->count = 1;
        return read_group(r, v, table, &out->items);
    }
    out->items = arena_take(r->arena, (size_t)v->count, table->size);
    if (!out->items) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next, out->count++) {
        int back = reader_enter_index(r, out->count);
        TRY(reader_table(r, e->value, table,
                         (char *)out->items + (size_t)out->count * table->size));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_member(reader *r, const yaml_value *v, const field *f, void *to) {
    double *numbers = to;
    switch (f->type) {
    case FIELD_NUMBER: TRY(reader_number(r, v, numbers)); break;
    case FIELD_VECTOR: TRY(reader_vector(r, v, numbers)); break;
    case FIELD_PAIR: TRY(read_pair(r, v, numbers)); break;
    case FIELD_SPIN: TRY(read_spin(r, v, numbers)); break;
    case FIELD_NUMBERS:
        TRY(read_list(r, v, to));
        numbers = ((number_list *)to)->values;
        break;
    case FIELD_INTEGER:
        TRY(reader_integer(r, v, to));
        return check_range(r, v, f, (double)*(int64_t *)to);
    case FIELD_FLAG: return reader_flag(r, v, to);
    case FIELD_TEXT: return reader_text(r, v, to);
    case FIELD_CHOICE: return reader_choice(r, v, f->choices, to);
    case FIELD_COLOR: return read_color(r, v, to);
    case FIELD_PART: return SPATE_OK;
    case FIELD_GROUP: return read_group(r, v, f->table, to);
    case FIELD_LIST: return read_groups(r, v, f->table, to);
    }
    if (v->kind != YAML_LIST) return check_range(r, v, f, numbers[f->type == FIELD_SPIN ? 2 : 0]);
    int i = 0;
    for (const yaml_entry *e = v->first; e; e = e->next, i++) {
        int back = reader_enter_index(r, i);
        TRY(check_range(r, e->value, f, numbers[i]));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_field(reader *r, const yaml_value *mapping, const field *f, void *out) {
    const yaml_value *v = yaml_find(mapping, f->name);
    if (!v && f->required) {
        size_t length = strlen(f->help);
        if (length > 0 && f->help[length - 1] == '.') length--;
        return reader_fail_field(r, mapping, f->name, "is missing; add it (%.*s)", (int)length,
                                 f->help);
    }
    if (!v) return set_default(r, f, out);
    int back = reader_enter(r, f->name);
    if (yaml_is_null(v) && f->type == FIELD_COLOR)
        return reader_fail(r, v,
                           "has no value; give one, and put one that begins with # in quotes, "
                           "\"#e8a317\": it would be a comment");
    if (yaml_is_null(v)) return reader_fail(r, v, "has no value; give one or remove the field");
    TRY(read_member(r, v, f, member(f, out)));
    reader_leave(r, back);
    return SPATE_OK;
}

static const field *find_field(const field_table *table, const char *name) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].name, name) == 0) return &table->fields[i];
    return NULL;
}

/* In braces "dx: 0,05" reads as dx: 0 and a field 05 without a value. */
static bool is_behind_comma(const yaml_entry *before, const yaml_entry *e) {
    return before && !e->value->quoted && yaml_is_null(e->value) && e->key->length > 0 &&
           strspn(e->key->text, "0123456789") == e->key->length &&
           before->value->kind == YAML_WORD && !before->value->quoted &&
           before->value->length > 0 &&
           strspn(before->value->text, "+-0123456789") == before->value->length;
}

static spate_status fail_comma(reader *r, const yaml_entry *before, const yaml_entry *e) {
    char whole[YAML_SHOWN], part[YAML_SHOWN];
    yaml_shown(before->value->text, whole);
    yaml_shown(e->key->text, part);
    return reader_fail_field(r, before->value, before->key->text,
                             "'%s,%s' is two values here; write %s.%s, with a point for the comma",
                             whole, part, whole, part);
}

static spate_status unknown_field(reader *r, const yaml_value *key, const reader_part *parts,
                                  int count) {
    enum { MOST = 128 };
    const char *names[MOST];
    int n = 0;
    for (int p = 0; p < count; p++)
        for (int i = 0; i < parts[p].table->count && n < MOST; i++)
            names[n++] = parts[p].table->fields[i].name;
    int back = reader_enter(r, key->text);
    spate_status status = reader_fail_word(r, key, "unknown field", key->text, names, n);
    reader_leave(r, back);
    return status;
}

spate_status reader_fields(reader *r, const yaml_value *mapping, const reader_part *parts,
                           int count) {
    TRY(reader_mapping(r, mapping));
    for (const yaml_entry *e = mapping->first, *before = NULL; e; before = e, e = e->next) {
        bool known = false;
        for (int p = 0; p < count && !known; p++)
            known = find_field(parts[p].table, e->key->text) != NULL;
        if (!known && is_behind_comma(before, e)) return fail_comma(r, before, e);
        if (!known) return unknown_field(r, e->key, parts, count);
    }
    for (int p = 0; p < count; p++)
        for (int i = 0; i < parts[p].table->count; i++)
            TRY(read_field(r, mapping, &parts[p].table->fields[i], parts[p].out));
    return SPATE_OK;
}

spate_status reader_table(reader *r, const yaml_value *mapping, const field_table *table,
                          void *out) {
    return reader_fields(r, mapping, &(reader_part){table, out}, 1);
}

spate_status reader_field(reader *r, const yaml_value *mapping, const field_table *table,
                          const char *name, void *out) {
    return read_field(r, mapping, find_field(table, name), out);
}
