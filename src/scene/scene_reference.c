/* The reference of every scene field in Markdown (docs/scene.md), generated from the field tables.
 */
#include "scene/color_names.h"
#include "scene/event_tables.h"
#include "scene/scene_tables.h"

#include "core/text.h"

#include <string.h>

typedef struct page {
    spate_context *ctx;
    const registry *registry;
    void (*write)(const char *, void *);
    void *user;
} page;

PRINTF_LIKE(2, 3)
static void put(page *p, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    text_format(p->ctx, line, sizeof line, format, arguments);
    va_end(arguments);
    p->write(line, p->user);
}

static void put_type(page *p, const field *f) {
    switch (f->type) {
    case FIELD_NUMBER: put(p, "number"); break;
    case FIELD_INTEGER: put(p, "whole number"); break;
    case FIELD_FLAG: put(p, "true or false"); break;
    case FIELD_TEXT: put(p, "text"); break;
    case FIELD_VECTOR: put(p, "vector"); break;
    case FIELD_PAIR: put(p, "number or two"); break;
    case FIELD_NUMBERS: put(p, "number or list of numbers"); break;
    case FIELD_SPIN: put(p, "vector; 2D: number"); break;
    case FIELD_COLOR: put(p, "colour"); break;
    case FIELD_PART: put(p, "%s", f->unit); break;
    case FIELD_GROUP: put(p, "mapping"); break;
    case FIELD_LIST: put(p, "list of mappings"); break;
    case FIELD_CHOICE:
        for (int i = 0; f->choices[i]; i++) put(p, "%s`%s`", i > 0 ? ", " : "", f->choices[i]);
        break;
    }
}

static void put_default(page *p, const field *f) {
    if (f->required)
        put(p, "**required**");
    else if (f->type == FIELD_PART || f->type == FIELD_TEXT || isnan(f->fallback))
        return;
    else if (f->type == FIELD_CHOICE && f->fallback < 0)
        return; /* told by its help */
    else if (f->type == FIELD_CHOICE)
        put(p, "`%s`", f->choices[(int)f->fallback]);
    else if (f->type == FIELD_FLAG)
        put(p, "%s", f->fallback != 0 ? "true" : "false");
    else if (isinf(f->fallback))
        put(p, "no limit");
    else
        put(p, "%.10g", f->fallback);
}

static void put_range(page *p, const field *f) {
    bool numbers = f->type == FIELD_NUMBER || f->type == FIELD_INTEGER || f->type == FIELD_VECTOR ||
                   f->type == FIELD_PAIR || f->type == FIELD_SPIN || f->type == FIELD_NUMBERS;
    bool low = !isinf(f->min), high = !isinf(f->max);
    bool positive = f->min > 0 && f->min <= SMALLEST;
    if (!numbers || (!low && !high)) return;
    if (positive) put(p, "> 0%s", high ? ", " : "");
    if (low && high && !positive)
        put(p, "%.10g to %.10g", f->min, f->max);
    else if (low && !positive)
        put(p, ">= %.10g", f->min);
    else if (high)
        put(p, "<= %.10g", f->max);
}

/* With a capital and a full stop, as a table's cell should have. */
static void put_sentence(page *p, const char *s) {
    size_t length = strlen(s);
    if (length == 0) return;
    bool small = s[0] >= 'a' && s[0] <= 'z';
    put(p, "%c%s%s", small ? s[0] - 'a' + 'A' : s[0], s + 1, s[length - 1] == '.' ? "" : ".");
}

static void put_fields(page *p, const field_table *t) {
    if (t->count == 0) return;
    put(p, "| field | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
        put(p, "| `%s` | ", f->name);
        put_type(p, f);
        put(p, " | %s | ", f->type == FIELD_PART || !f->unit ? "" : f->unit);
        put_default(p, f);
        put(p, " | ");
        put_range(p, f);
        put(p, " | ");
        put_sentence(p, f->help ? f->help : "");
        put(p, " |\n");
    }
    put(p, "\n");
}

/* The tables of a table's groups, and of theirs. */
static void put_groups(page *p, const field_table *t) {
    for (int i = 0; i < t->count; i++) {
        const field_table *group = t->fields[i].table;
        if (!group) continue;
        put(p, "#### %s\n\n%s\n\n", group->name, group->help);
        put_fields(p, group);
        put_groups(p, group);
    }
}

static void put_table(page *p, const char *heading, const field_table *t) {
    put(p, "%s %s\n\n", heading, t->name);
    if (t->help && *t->help) put(p, "%s\n\n", t->help);
    put_fields(p, t);
}

void scene_describe_table(spate_context *context, const field_table *table,
                          void (*write)(const char *, void *), void *user) {
    put_table(&(page){.ctx = context, .write = write, .user = user}, "##", table);
}

static void put_colors(page *p) {
    put(p,
        "- Colours are names, six hexadecimal digits in quotes (`\"#e8a317\"`; without the quotes "
        "YAML takes it for a comment), or red, green and blue from 0 to 1 (`[0.91, 0.64, "
        "0.09]`). Names:");
    for (int i = 0; i < COLOR_NAMES; i++) put(p, "%s %s", i > 0 ? "," : "", color_names[i]);
    put(p, ".\n");
}

static void put_introduction(page *p) {
    put(p, "# Scene files\n\n"
           "A scene is one YAML document. This page is generated from the field tables that also "
           "read the file (`spate_scene_reference`), so it is complete.\n\n");
    put(p, "- Vectors have as many components as the scene has dimensions: `[x, y]` or `[x, y, "
           "z]`.\n"
           "- Units are SI. With `units: cgs` all lengths are in cm, masses in g, and the defaults "
           "and ranges below are converted.\n"
           "- Numbers stand alone (`0.02`, `2e5`), without a unit.\n");
    put_colors(p);
    put(p, "- Unknown, missing, duplicate and out-of-range fields are errors with line and "
           "column.\n"
           "- `--set path=value` changes any field: `--set solver.cfl=0.3`, `--set "
           "bodies.0.velocity=[1,0,0]`, `--set bodies.dam.velocity=[1,0,0]`. An index one past "
           "the end of a list adds an entry.\n"
           "- Limits: 16 MB, nesting 64 deep, a million values with aliases written out.\n\n");
    put(p, "```yaml\n"
           "spate: 1\n"
           "dimension: 2\n"
           "domain: {size: [2, 1], dx: 0.02}\n"
           "materials:\n"
           "  water: {model: liquid, density: 1000, bulk_modulus: 2.0e5}\n"
           "bodies:\n"
           "  - {name: dam, material: water, shape: {box: {min: [0, 0], max: [0.5, 0.8]}}}\n"
           "```\n\n");
}

static void put_shapes(page *p) {
    put_table(p, "##", &scene_shape_table);
    for (int i = 0; i < SHAPE_DECLARATIONS; i++) {
        put_table(p, "###", &scene_shapes[i].table);
        if (scene_shapes[i].kind == SHAPE_MESH) put_table(p, "###", &scene_frames_table);
    }
}

/* The models whose bodies and sources are sampled as a glass by default. */
static void put_irregular(page *p, const solver_declaration *s) {
    int flowing = 0, others = 0;
    for (int i = 0; i < p->registry->material_count; i++) {
        const material_type *m = p->registry->materials[i];
        if (!solver_runs(s, m)) continue;
        if (m->flows)
            put(p, "%s `%s`", flowing++ ? "," : " Bodies and sources of", m->name);
        else
            others++;
    }
    put(p, " have `sampling: glass` by default%s.", others ? ", all others `regular`" : "");
}

/* What differs from solver to solver in the fields that all have. */
static void put_abilities(page *p, const solver_declaration *s) {
    put(p, "`solver.cfl` is %g by default and at most %g.", s->cfl, s->cfl_most);
    if (s->irregular)
        put_irregular(p, s);
    else if (!s->on_grid)
        put(p, " Bodies and sources have `sampling: regular` by default.");
    if (s->meshes) put(p, " It knows bodies with `fe`, `cloth` and `strands`.");
    if (s->moves_walls) put(p, " It knows `domain.wall_velocity`.");
    if (s->on_grid)
        put(p,
            " Its matter is on the grid: bodies and sources make no particles, and of the probes "
            "it has `pressure` and `velocity`.");
    if (s->follows_gradient)
        put(p, " `output.fields` may ask for `F`, `green_strain` and `linear_strain`.");
    put(p, "\n\n");
}

static void put_solvers_and_materials(page *p) {
    put_table(p, "##", &scene_solver_table);
    for (int i = 0; i < p->registry->solver_count; i++) {
        const solver_declaration *s = p->registry->solvers[i];
        put(p, "### solver type `%s`\n\n%s\n\n", s->name, s->table.help ? s->table.help : "");
        put_fields(p, &s->table);
        put_groups(p, &s->table);
        put_abilities(p, s);
        put(p, "Material models it runs:");
        for (int k = 0, listed = 0; k < p->registry->material_count; k++)
            if (solver_runs(s, p->registry->materials[k]))
                put(p, "%s `%s`", listed++ ? "," : "", p->registry->materials[k]->name);
        put(p, "\n\n");
    }
    put_table(p, "##", &scene_material_table);
    for (int i = 0; i < p->registry->material_count; i++) {
        const material_type *m = p->registry->materials[i];
        put(p, "### model `%s`\n\n%s\n\n", m->name, m->table.help ? m->table.help : "");
        put_fields(p, &m->table);
    }
}

spate_status scene_reference(spate_context *ctx, const registry *all,
                             void (*write)(const char *, void *), void *user) {
    page p = {.ctx = ctx, .registry = all, .write = write, .user = user};
    put_introduction(&p);
    put_table(&p, "##", &scene_top_table);
    put_table(&p, "##", &scene_domain_table);
    put_table(&p, "###", &scene_walls_table);
    put_table(&p, "###", &scene_wall_velocity_table);
    put_solvers_and_materials(&p);
    put_table(&p, "##", &scene_body_table);
    put_table(&p, "###", &scene_flow_table);
    put_table(&p, "###", &scene_fe_table);
    put_table(&p, "###", &scene_cloth_table);
    put_table(&p, "###", &scene_strands_table);
    put_table(&p, "###", &scene_body_file_table);
    put_table(&p, "###", &scene_brush_table);
    put_table(&p, "###", &scene_hair_table);
    put_table(&p, "###", &scene_hold_table);
    put_table(&p, "###", &scene_contact_table);
    put_table(&p, "##", &scene_collider_table);
    put_table(&p, "##", &scene_source_table);
    put_table(&p, "##", &scene_sink_table);
    put_table(&p, "##", &scene_coupling_table);
    put_table(&p, "##", &scene_motion_table);
    put_table(&p, "###", &scene_motion_key_table);
    put_shapes(&p);
    put_table(&p, "##", &scene_probe_table);
    for (int i = 0; i < PROBE_DECLARATIONS; i++) put_table(&p, "###", &scene_probes[i].table);
    put_table(&p, "##", &scene_force_table);
    for (int i = 0; i < FORCE_KINDS; i++) put_table(&p, "###", &scene_forces[i].table);
    put_table(&p, "##", &scene_event_table);
    put_table(&p, "###", &scene_pose_table);
    put_table(&p, "##", &scene_output_table);
    put_table(&p, "##", &scene_camera_table);
    put_table(&p, "###", &scene_camera_key_table);
    return SPATE_OK;
}
