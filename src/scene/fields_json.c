/* JSON of the field tables. Numbers that JSON cannot hold (no limit, told by the help) are left
 * out. */
#include "scene/fields_json.h"

#include "scene/event_tables.h"
#include "scene/scene_tables.h"
#include <string.h>

static const char *const type_words[] = {
    [FIELD_NUMBER] = "number", [FIELD_INTEGER] = "integer", [FIELD_FLAG] = "flag",
    [FIELD_TEXT] = "text",     [FIELD_CHOICE] = "choice",   [FIELD_VECTOR] = "vector",
    [FIELD_PAIR] = "pair",     [FIELD_NUMBERS] = "numbers", [FIELD_SPIN] = "spin",
    [FIELD_COLOR] = "color",   [FIELD_PART] = "part",       [FIELD_GROUP] = "group",
    [FIELD_LIST] = "list"};

static void put_word(text *out, const char *word) { text_add_json(out, word, strlen(word)); }

static void put_number(text *out, const char *name, double value) {
    if (isfinite(value)) text_add(out, ",\"%s\":%.17g", name, value);
}

static void put_choices(text *out, const field *f) {
    text_add(out, ",\"choices\":[");
    for (int i = 0; f->choices[i]; i++) {
        if (i) text_add(out, ",");
        put_word(out, f->choices[i]);
    }
    text_add(out, "]");
}

static void put_fields(text *out, const field_table *t);

static void put_field(text *out, const field *f) {
    text_add(out, "{\"name\":");
    put_word(out, f->name);
    text_add(out, ",\"type\":\"%s\"", type_words[f->type]);
    if (f->unit && *f->unit) {
        text_add(out, ",\"unit\":");
        put_word(out, f->unit);
    }
    if (f->required) text_add(out, ",\"required\":true");
    const bool has_numbers = f->type != FIELD_TEXT && f->type != FIELD_PART;
    if (has_numbers && !f->required) put_number(out, "default", f->fallback);
    if (has_numbers && f->min < f->max)
        put_number(out, "min", f->min), put_number(out, "max", f->max);
    if (f->choices) put_choices(out, f);
    if (f->table) {
        text_add(out, ",\"fields\":");
        put_fields(out, f->table);
    }
    text_add(out, ",\"help\":");
    put_word(out, f->help ? f->help : "");
    text_add(out, "}");
}

static void put_fields(text *out, const field_table *t) {
    text_add(out, "[");
    for (int i = 0; i < t->count; i++) {
        if (i) text_add(out, ",\n");
        put_field(out, &t->fields[i]);
    }
    text_add(out, "]");
}

static void put_table(text *out, const char *what, const char *name, const field_table *t) {
    text_add(out, "%s\"%s%s%s\":", out->length > 1 ? ",\n" : "", what, *name ? " " : "", name);
    put_fields(out, t);
}

void fields_json(text *out, const registry *all) {
    static const struct {
        const char *name;
        const field_table *table;
    } plain[] = {
        {"scene", &scene_top_table},
        {"domain", &scene_domain_table},
        {"walls", &scene_walls_table},
        {"wall_velocity", &scene_wall_velocity_table},
        {"solver", &scene_solver_table},
        {"material", &scene_material_table},
        {"body", &scene_body_table},
        {"flow", &scene_flow_table},
        {"fe", &scene_fe_table},
        {"cloth", &scene_cloth_table},
        {"strands", &scene_strands_table},
        {"hold", &scene_hold_table},
        {"collider", &scene_collider_table},
        {"source", &scene_source_table},
        {"sink", &scene_sink_table},
        {"coupling", &scene_coupling_table},
        {"motion", &scene_motion_table},
        {"motion key", &scene_motion_key_table},
        {"shape", &scene_shape_table},
        {"probe", &scene_probe_table},
        {"force", &scene_force_table},
        {"event", &scene_event_table},
        {"event pose", &scene_pose_table},
        {"output", &scene_output_table},
        {"camera", &scene_camera_table},
        {"camera key", &scene_camera_key_table},
    };
    text_add(out, "{");
    for (int i = 0; i < COUNT_OF(plain); i++) put_table(out, plain[i].name, "", plain[i].table);
    for (int i = 0; i < all->solver_count; i++)
        put_table(out, "solver", all->solvers[i]->name, &all->solvers[i]->table);
    for (int i = 0; i < all->material_count; i++)
        put_table(out, "material", all->materials[i]->name, &all->materials[i]->table);
    for (int i = 0; i < SHAPE_DECLARATIONS; i++)
        put_table(out, "shape", scene_shapes[i].name, &scene_shapes[i].table);
    for (int i = 0; i < PROBE_DECLARATIONS; i++)
        put_table(out, "probe", scene_probes[i].name, &scene_probes[i].table);
    for (int i = 0; i < FORCE_KINDS; i++)
        put_table(out, "force", scene_forces[i].name, &scene_forces[i].table);
    text_add(out, "}");
}

/* Whatever follows begins with its name; a comma comes before it unless it is the first. */
static void put_name(text *out, const char *name) {
    const bool first = out->length && out->data[out->length - 1] == '{';
    text_add(out, "%s\"%s\":", first ? "" : ",", name);
}

void values_json(text *out, const field_table *table, const void *values) {
    for (int i = 0; i < table->count; i++) {
        const field *f = &table->fields[i];
        const void *at = (const char *)values + f->offset;
        if (f->type == FIELD_NUMBER && isfinite(*(const double *)at)) {
            put_name(out, f->name), text_add(out, "%.17g", *(const double *)at);
        } else if (f->type == FIELD_INTEGER) {
            put_name(out, f->name), text_add(out, "%lld", (long long)*(const int64_t *)at);
        } else if (f->type == FIELD_FLAG) {
            put_name(out, f->name), text_add(out, *(const bool *)at ? "true" : "false");
        } else if (f->type == FIELD_CHOICE && *(const int *)at >= 0) {
            put_name(out, f->name), put_word(out, f->choices[*(const int *)at]);
        }
    }
}
