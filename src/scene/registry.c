#include "scene/registry.h"

#include <stdio.h>
#include <string.h>

void name_add(name_text *out, const char *between, const char *name) {
    const size_t used = strlen(out->text);
    snprintf(out->text + used, sizeof out->text - used, "%s%s", used ? between : "", name);
}

name_text solvers_that(const registry *all, bool (*can)(const solver_declaration *)) {
    name_text names = {0};
    for (int i = 0; i < all->solver_count; i++)
        if (can(all->solvers[i])) name_add(&names, " or ", all->solvers[i]->name);
    return names;
}

bool solver_moves_walls(const solver_declaration *s) { return s->moves_walls; }
bool solver_knows_contacts(const solver_declaration *s) { return s->contacts; }
bool solver_follows_gradient(const solver_declaration *s) { return s->follows_gradient; }
bool solver_couples(const solver_declaration *s) { return s->couples; }
