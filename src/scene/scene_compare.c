/* Comparing scenes as trees, field by field; see scene_compare.h. */
#include "scene/scene_compare.h"
#include "scene/yaml.h"
#include <stdio.h>
#include <string.h>

typedef struct comparison {
    const yaml_tree *tree;
    void (*tell)(const char *path, void *user);
    void *user;
} comparison;

static spate_status serialise(const comparison *c, const yaml_value *v, const char *name,
                              text *out) {
    *out = (text){.ctx = c->tree->ctx};
    if (!v) return SPATE_OK;
    /* Materials have an order, as in the hash of a scene. */
    const char *ordered = strcmp(name, "materials") ? "materials" : NULL;
    TRY(yaml_serialise(c->tree, v, ordered, NULL, out));
    return out->failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
}

static spate_status differ(const comparison *c, const char *name, const yaml_value *a,
                           const yaml_value *b, bool *out) {
    text one, two = {.ctx = c->tree->ctx};
    spate_status status = serialise(c, a, name, &one);
    if (status == SPATE_OK) status = serialise(c, b, name, &two);
    *out = one.length != two.length || (one.length && memcmp(one.data, two.data, one.length));
    text_free(&one);
    text_free(&two);
    return status;
}

static spate_status compare_mappings(const comparison *c, const char *prefix, const yaml_value *a,
                                     const yaml_value *b);

/* Fields are told one by one, where both have such a mapping or one has none. */
static spate_status compare_field(const comparison *c, const char *prefix, const char *name,
                                  const yaml_value *a, const yaml_value *b) {
    char path[YAML_PATH_SIZE];
    bool apart;
    TRY(differ(c, name, a, b, &apart));
    if (!apart) return SPATE_OK;
    snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", name);
    const bool open = (!a || a->kind == YAML_MAPPING) && (!b || b->kind == YAML_MAPPING);
    if (open && !*prefix) return compare_mappings(c, name, a, b);
    c->tell(path, c->user);
    return SPATE_OK;
}

static spate_status compare_mappings(const comparison *c, const char *prefix, const yaml_value *a,
                                     const yaml_value *b) {
    for (const yaml_entry *e = a ? a->first : NULL; e; e = e->next)
        TRY(compare_field(c, prefix, e->key->text, e->value, yaml_find(b, e->key->text)));
    for (const yaml_entry *e = b ? b->first : NULL; e; e = e->next)
        if (!yaml_find(a, e->key->text))
            TRY(compare_field(c, prefix, e->key->text, NULL, e->value));
    return SPATE_OK;
}

static void forget_field(yaml_value *v, const char *name) {
    if (v->kind != YAML_MAPPING) return;
    for (yaml_entry **e = &v->first; *e;)
        if (strcmp((*e)->key->text, name))
            e = &(*e)->next;
        else
            *e = (*e)->next, v->count--;
}

/* Colours and looks are no part of what a run computes, and not of its hash. */
static void forget_looks(const yaml_value *root) {
    static const char *const parts[] = {"materials", "bodies", "colliders", "sources"};
    for (int i = 0; i < COUNT_OF(parts); i++) {
        const yaml_value *part = yaml_find(root, parts[i]);
        for (const yaml_entry *e = part ? part->first : NULL; e; e = e->next) {
            forget_field(e->value, "color");
            if (i == 0) forget_field(e->value, "look");
        }
    }
}

spate_status scene_compare(const spate_scene *scene, const char *name, const char *bytes,
                           size_t length, void (*tell)(const char *path, void *user), void *user) {
    yaml_tree own = yaml_tree_create(scene->ctx, scene->path);
    yaml_tree other = yaml_tree_create(scene->ctx, name);
    const comparison c = {.tree = &own, .tell = tell, .user = user};
    spate_status status;
    TRY_OR_DONE(status, yaml_tree_read(&own, scene->canonical, strlen(scene->canonical)));
    TRY_OR_DONE(status, yaml_tree_read(&other, bytes, length));
    const bool mappings = own.root->kind == YAML_MAPPING && other.root->kind == YAML_MAPPING;
    if (mappings) forget_looks(own.root), forget_looks(other.root);
    if (mappings) status = compare_mappings(&c, "", own.root, other.root);
done:
    yaml_tree_free(&own);
    yaml_tree_free(&other);
    return status;
}
