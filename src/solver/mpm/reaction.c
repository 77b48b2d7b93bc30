/*
 * What material does to colliders: the other side of what contacts do to nodes and what pushes
 * particles out (penetration.h), so that it is the momentum that the material lost.
 *
 * A body's part in it (probe contact_force): what pushes its own particles out, and of what a node
 * loses, its share of the node's mass. That is also what its particles lose when they gather.
 */
#include "solver/mpm/mpm.h"

static void add_contact(const mpm_view *m, int32_t block, int k, double share,
                        const double lost[3]) {
    double *sum = m->contacts.parts + 3 * ((int64_t)block * m->contacts.count + k);
    for (int a = 0; a < 3; a++) sum[a] += share * lost[a];
}

void mpm_contact_particle(const mpm_view *m, int32_t block, int c, int64_t i,
                          const double lost[3]) {
    for (int k = 0; k < m->contacts.count; k++) {
        const probe *p = m->contacts.list[k].probe;
        if (p->collider == c && p->group == m->particles->group[i])
            add_contact(m, block, k, 1, lost);
    }
}

void mpm_contact_node(const mpm_view *m, int32_t block, int c, const real *shares, real mass,
                      const double lost[3]) {
    for (int k = 0; k < m->contacts.count; k++)
        if (m->contacts.list[k].probe->collider == c)
            add_contact(m, block, k, (double)(shares[m->contacts.list[k].body] / mass), lost);
}

/* ---- Contacts of bodies ---------------------------------------------------------------------- */

static int body_of(mpm_view *m, int group) {
    int b = 0;
    while (b < m->contacts.body_count && m->contacts.group[b] != group) b++;
    if (b == m->contacts.body_count) m->contacts.group[m->contacts.body_count++] = group;
    return b;
}

spate_status mpm_contacts_create(mpm *m) {
    const spate_scene *scene = m->sim->scene;
    mpm_view *v = &m->view;
    int count = 0;
    for (int i = 0; i < scene->probe_count; i++)
        count += scene->probes[i].kind == PROBE_CONTACT_FORCE;
    v->contacts.list = take(m->sim->ctx, (size_t)count + 1, sizeof *v->contacts.list);
    m->contact_sums = take(m->sim->ctx, 3 * (size_t)count + 1, sizeof *m->contact_sums);
    if (!v->contacts.list || !m->contact_sums) return SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < scene->probe_count; i++)
        if (scene->probes[i].kind == PROBE_CONTACT_FORCE)
            v->contacts.list[v->contacts.count++] =
                (mpm_contact){&scene->probes[i], body_of(v, scene->probes[i].group)};
    return SPATE_OK;
}

void mpm_contacts_free(mpm *m) {
    spate_context *ctx = m->sim->ctx;
    give(ctx, m->view.contacts.list), give(ctx, m->view.contacts.parts);
    give(ctx, m->view.contacts.tiles), give(ctx, m->contact_sums);
}

void mpm_contact_force(const spate_simulation *sim, const probe *p, double force[3]) {
    const mpm *m = sim->solver;
    const double seconds = m->impulses.values[IMPULSES_SECONDS];
    for (int k = 0; k < m->view.contacts.count; k++)
        for (int a = 0; a < 3 && m->view.contacts.list[k].probe == p; a++)
            force[a] = seconds > 0 ? m->contact_sums[3 * k + a] / seconds : 0;
}

static void add_contacts(mpm *m) {
    const int values = 3 * m->view.contacts.count;
    for (int64_t block = 0; block < m->sim->blocks.count; block++)
        for (int v = 0; v < values; v++)
            m->contact_sums[v] += m->view.contacts.parts[block * values + v];
}

/* ---- A step ---------------------------------------------------------------------------------- */

void mpm_add_touches(mpm *m) {
    add_contacts(m);
    impulses_add(&m->impulses, m->view.touches, m->sim->blocks.count);
}

void mpm_force(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const mpm *m = sim->solver;
    impulses_mean(&m->impulses, c, force, torque);
}
