/* What a page must know of a scene before the first frame. */
#include "server/subject.h"
#include <stdio.h>

void hello_numbers(text *out, const char *name, const double *values, int count) {
    text_add(out, ", \"%s\": [", name);
    for (int i = 0; i < count; i++) text_add(out, "%s%.9g", i ? ", " : "", values[i]);
    text_add(out, "]");
}

static void add_word(text *out, const char *name, const char *word) {
    text_add(out, ", \"%s\": ", name);
    text_add_json(out, word, strlen(word));
}

void hello_notice(text *out, const char *words) {
    text_add(out, "{\"kind\": \"notice\"");
    add_word(out, "text", words);
    text_add(out, "}");
}

/* The colour that the scene gives, else that of the model; of models that come again `nth` tells
 * the page to take another one. */
static void add_material(const spate_scene *s, int index, text *out) {
    const material *m = &s->materials[index];
    double color[3];
    int nth = 0;
    for (int i = 0; i < index; i++)
        nth += s->materials[i].type == m->type && !s->materials[i].color.given;
    for (int a = 0; a < 3; a++)
        color[a] = m->color.given ? m->color.rgb[a]
                                  : (double)(m->type->color >> (16 - 8 * a) & 0xff) / 255;
    text_add(out, "%s{\"nth\": %d, \"look\": %d, \"finish\": %d", index ? ", " : "",
             m->color.given ? 0 : nth, m->look, (int)m->type->finish);
    add_word(out, "name", m->name);
    hello_numbers(out, "color", color, 3);
    text_add(out, "}");
}

/* Half the spacing of particles at rest. */
static double radius_of_group(const spate_scene *s, int group) {
    const double per_cell = group < s->body_count
                                ? s->bodies[group].particles_per_cell
                                : s->sources[group - s->body_count].particles_per_cell;
    return 0.5 * s->domain.dx / pow(per_cell > 0 ? per_cell : 1, 1.0 / s->dim);
}

static void add_groups(const spate_scene *s, text *out) {
    text_add(out, ", \"groups\": [");
    for (int g = 0; g < scene_group_slots(s); g++) {
        const int origin = scene_group_origin(s, g);
        const field_color *color = scene_group_color(s, origin);
        text_add(out, "%s{\"material\": %d, \"radius\": %.9g", g ? ", " : "",
                 scene_group_material(s, g), radius_of_group(s, origin));
        add_word(out, "name", scene_group_name(s, origin));
        if (color->given) hello_numbers(out, "color", color->rgb, 3);
        if (origin < s->body_count && s->bodies[origin].mesh.kind)
            text_add(out, ", \"mesh\": true, \"strand_radius\": %.9g",
                     s->bodies[origin].mesh.radius);
        text_add(out, "}");
    }
    text_add(out, "]");
}

static void add_camera(const spate_scene *s, text *out) {
    if (!s->camera.given) return;
    hello_numbers(out, "camera_from", s->camera.from, s->dim);
    hello_numbers(out, "camera_to", s->camera.to, s->dim);
    if (s->dim == 3 && s->camera.fov > 0) text_add(out, ", \"fov\": %.9g", s->camera.fov);
}

void hello_scene(const spate_scene *s, text *out) {
    text_add(out, "\"protocol\": %d, \"dimension\": %d, \"up\": %d", PROTOCOL_VERSION, s->dim,
             scene_up_axis(s));
    add_word(out, "name", s->name);
    add_word(out, "solver", s->solver->name);
    hello_numbers(out, "origin", s->domain.origin, s->dim);
    hello_numbers(out, "size", s->domain.size, s->dim);
    hello_numbers(out, "gravity", s->gravity, s->dim);
    text_add(out, ", \"dx\": %.9g, \"duration\": %.9g, \"fps\": %.9g, \"grid\": %s", s->domain.dx,
             s->duration, s->fps, scene_on_grid(s) ? "true" : "false");
    text_add(out, ", \"length_unit\": \"%s\"", s->units == UNITS_CGS ? "cm" : "m");
    text_add(out, ", \"materials\": [");
    for (int i = 0; i < s->material_count; i++) add_material(s, i, out);
    text_add(out, "]");
    add_groups(s, out);
    text_add(out, ", \"colliders\": [");
    for (int i = 0; i < s->collider_count; i++) {
        text_add(out, i ? ", " : "");
        text_add_json(out, s->colliders[i].name, strlen(s->colliders[i].name));
    }
    text_add(out, "]");
    add_camera(s, out);
}

int subject_component(const char *colour, char name[MESSAGE_WORD]) {
    static const char *const endings[] = {"_x", "_y", "_z"};
    const size_t length = strlen(colour);
    snprintf(name, MESSAGE_WORD, "%s", colour);
    for (int c = 0; c < COUNT_OF(endings) && length > 2; c++)
        if (!strcmp(colour + length - 2, endings[c])) {
            name[length - 2] = 0;
            return c;
        }
    return -1;
}

float subject_scalar(const float *values, int components, int component) {
    if (components == 1) return values[0];
    if (component >= 0 && component < components) return values[component];
    float sum = 0;
    for (int c = 0; c < components; c++) sum += values[c] * values[c];
    return sqrtf(sum);
}
