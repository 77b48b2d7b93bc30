/*
 * Parts of a scene as structs (spate/drive.h): written down as YAML, so that they are checked,
 * added and recorded as those that a program or a scene writes itself. Numbers have 17 digits: the
 * same bits.
 */
#include "core/cookie.h"
#include "core/text.h"
#include "run/commands.h"
#include <spate/drive.h>

spate_body spate_default_body(void) { return (spate_body){.cookie = COOKIE_BODY}; }
spate_collider spate_default_collider(void) {
    return (spate_collider){.cookie = COOKIE_COLLIDER, .contact = SPATE_SEPARATE, .driven = true};
}
spate_source spate_default_source(void) {
    return (spate_source){.cookie = COOKIE_SOURCE, .until = HUGE_VAL};
}
spate_sink spate_default_sink(void) {
    return (spate_sink){.cookie = COOKIE_SINK, .until = HUGE_VAL};
}

/* One entry on its way to YAML. */
typedef struct part {
    spate_simulation *sim;
    const char *kind; /* "body" */
    text yaml;
} part;

/* ---- Fields ---------------------------------------------------------------------------------- */

static spate_status put_number(part *p, const char *name, double value) {
    if (!isfinite(value))
        return fail(p->sim->ctx, SPATE_BAD_INPUT, "%s.%s is %g; give a finite one", p->kind, name,
                    value);
    text_add(&p->yaml, ", %s: %.17g", name, value);
    return SPATE_OK;
}

static spate_status check_vector(const part *p, const char *name, const double v[3]) {
    const int dim = p->sim->scene->dim;
    for (int a = 0; a < 3; a++)
        if (!isfinite(v[a]) || (a >= dim && v[a] != 0))
            return fail(p->sim->ctx, SPATE_BAD_INPUT, "%s.%s has %c = %g; give %s", p->kind, name,
                        "xyz"[a], v[a], a < dim ? "a finite one" : "0, the scene is in 2D");
    return SPATE_OK;
}

static spate_status put_vector(part *p, const char *name, const double v[3]) {
    TRY(check_vector(p, name, v));
    text_add(&p->yaml, ", %s: [", name);
    for (int a = 0; a < p->sim->scene->dim; a++) text_add(&p->yaml, "%s%.17g", a ? ", " : "", v[a]);
    text_add(&p->yaml, "]");
    return SPATE_OK;
}

static void put_word(part *p, const char *name, const char *word) {
    text_add(&p->yaml, ", %s: ", name);
    text_add_json(&p->yaml, word, strlen(word));
}

static spate_status put_material(part *p, const char *name) {
    if (!name)
        return fail(p->sim->ctx, SPATE_BAD_INPUT,
                    "%s.material is not set; name one of the scene's materials", p->kind);
    put_word(p, "material", name);
    return SPATE_OK;
}

static spate_status put_times(part *p, double from, double until) {
    TRY(put_number(p, "from", from));
    return until == HUGE_VAL ? SPATE_OK : put_number(p, "until", until);
}

/* In 2D a spin is one number. */
static spate_status put_spin(part *p, const double spin[3]) {
    if (p->sim->scene->dim == 3) return put_vector(p, "spin", spin);
    if (spin[0] != 0 || spin[1] != 0)
        return fail(p->sim->ctx, SPATE_BAD_INPUT,
                    "%s.spin is about z alone in 2D; set x and y to 0", p->kind);
    return put_number(p, "spin", spin[2]);
}

static spate_status put_shape(part *p, const spate_shape *s) {
    static const char *const words[] = {"box", "sphere", "cylinder", "capsule"};
    if ((int)s->kind < 0 || (int)s->kind >= COUNT_OF(words))
        return fail(p->sim->ctx, SPATE_BAD_INPUT,
                    "%s.shape is of no kind %d; use SPATE_BOX, SPATE_SPHERE, SPATE_CYLINDER or "
                    "SPATE_CAPSULE",
                    p->kind, (int)s->kind);
    text_add(&p->yaml, "shape: {%s: {", words[s->kind]);
    const size_t begin = p->yaml.length;
    if (s->kind == SPATE_BOX) {
        TRY(put_vector(p, "min", s->min));
        TRY(put_vector(p, "max", s->max));
    } else {
        if (s->kind == SPATE_SPHERE) TRY(put_vector(p, "center", s->center));
        if (s->kind != SPATE_SPHERE) TRY(put_vector(p, "from", s->from));
        if (s->kind != SPATE_SPHERE) TRY(put_vector(p, "to", s->to));
        TRY(put_number(p, "radius", s->radius));
    }
    if (!p->yaml.failed) p->yaml.data[begin] = ' '; /* not the first comma */
    text_add(&p->yaml, "}}");
    return SPATE_OK;
}

static spate_status put_samples(part *p, double particles_per_cell) {
    if (particles_per_cell == 0) return SPATE_OK;
    return put_number(p, "particles_per_cell", particles_per_cell);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static spate_status put_body(part *p, const void *given) {
    const spate_body *b = given;
    TRY(cookie_check(p->sim->ctx, b->cookie, COOKIE_BODY, p->kind));
    TRY(put_shape(p, &b->shape));
    if (b->name) put_word(p, "name", b->name);
    TRY(put_material(p, b->material));
    TRY(put_vector(p, "velocity", b->velocity));
    TRY(put_spin(p, b->spin));
    return put_samples(p, b->particles_per_cell);
}

static spate_status put_collider(part *p, const void *given) {
    static const char *const contacts[] = {"sticky", "slip", "separate"};
    const spate_collider *c = given;
    TRY(cookie_check(p->sim->ctx, c->cookie, COOKIE_COLLIDER, p->kind));
    if ((int)c->contact < 0 || (int)c->contact >= COUNT_OF(contacts))
        return fail(p->sim->ctx, SPATE_BAD_INPUT,
                    "collider.contact is %d; use SPATE_STICKY, SPATE_SLIP or SPATE_SEPARATE",
                    (int)c->contact);
    TRY(put_shape(p, &c->shape));
    if (c->name) put_word(p, "name", c->name);
    text_add(&p->yaml, ", contact: %s, driven: %s", contacts[c->contact],
             c->driven ? "true" : "false");
    return put_number(p, "friction", c->friction);
}

static spate_status put_source(part *p, const void *given) {
    const spate_source *s = given;
    TRY(cookie_check(p->sim->ctx, s->cookie, COOKIE_SOURCE, p->kind));
    TRY(put_shape(p, &s->shape));
    if (s->name) put_word(p, "name", s->name);
    TRY(put_material(p, s->material));
    TRY(put_vector(p, "velocity", s->velocity));
    TRY(put_times(p, s->from, s->until));
    if (s->limit) text_add(&p->yaml, ", limit: %lld", (long long)s->limit);
    return put_samples(p, s->particles_per_cell);
}

static spate_status put_sink(part *p, const void *given) {
    const spate_sink *s = given;
    TRY(cookie_check(p->sim->ctx, s->cookie, COOKIE_SINK, p->kind));
    TRY(put_shape(p, &s->shape));
    if (s->name) put_word(p, "name", s->name);
    return put_times(p, s->from, s->until);
}

static spate_status add_entered(part *p, const char *list,
                                spate_status (*put)(part *p, const void *given),
                                const void *given) {
    text_add(&p->yaml, "%s: [{", list);
    TRY(put(p, given));
    text_add(&p->yaml, "}]");
    if (p->yaml.failed) return SPATE_OUT_OF_MEMORY;
    return command_give(p->sim, &(scene_event){.kind = EVENT_ADD, .text = p->yaml.data});
}

static spate_status add(spate_simulation *sim, const char *kind, const char *list,
                        spate_status (*put)(part *p, const void *given), const void *given) {
    TRY(simulation_enter(sim, true));
    part p = {.sim = sim, .kind = kind, .yaml.ctx = sim->ctx};
    spate_status status = add_entered(&p, list, put, given);
    text_free(&p.yaml);
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_add_body(spate_simulation *sim, const spate_body *given) {
    return add(sim, "body", "bodies", put_body, given);
}

spate_status spate_simulation_add_collider(spate_simulation *sim, const spate_collider *given) {
    return add(sim, "collider", "colliders", put_collider, given);
}

spate_status spate_simulation_add_source(spate_simulation *sim, const spate_source *given) {
    return add(sim, "source", "sources", put_source, given);
}

spate_status spate_simulation_add_sink(spate_simulation *sim, const spate_sink *given) {
    return add(sim, "sink", "sinks", put_sink, given);
}
