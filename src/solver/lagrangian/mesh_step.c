#include "solver/lagrangian/mesh_step.h"

#include "core/isa.h"
#include "solver/lagrangian/mesh_system.h"
#include "solver/lagrangian/strand_lanes.h"
#include <math.h>

enum { GROUP_GRAIN = 4, ALIGNMENT = 64 };

ISA_TABLES(strand_passes, strand_passes);

size_t strand_work_size(int64_t vertices) {
    const size_t size =
        (size_t)vertices * sizeof(strand_node) +
        (size_t)(vertices + VERTICES_BEYOND) * VERTEX_UNKNOWNS * sizeof(strand_column);
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t strand_length(const mesh_body *b, int64_t s) {
    return b->strand_first[s + 1] - b->strand_first[s];
}

/* Neighbours of equal length, four at most. */
static void find_groups(const mesh_body *b, mesh_step *step) {
    for (int64_t s = 0; s < b->strand_count; s++) {
        const int64_t begin = step->group_count ? step->groups[step->group_count - 1] : 0;
        if (s == 0 || s - begin == STRAND_GROUP || strand_length(b, s) != strand_length(b, begin))
            step->groups[step->group_count++] = s;
    }
    step->groups[step->group_count] = b->strand_count;
}

static spate_status prepare_strands(lagrangian_mesh *m) {
    const mesh_body *b = m->of;
    mesh_step *step = m->step;
    int64_t longest = 0;
    for (int64_t s = 0; s < b->strand_count; s++)
        if (strand_length(b, s) > longest) longest = strand_length(b, s);
    step->work_size = strand_work_size(longest);
    step->reports = take(m->ctx, (size_t)b->strand_count + 1, sizeof *step->reports);
    step->groups = take(m->ctx, (size_t)b->strand_count + 1, sizeof *step->groups);
    step->work = take(m->ctx, (size_t)pool_size(m->ctx->pool) * step->work_size + ALIGNMENT, 1);
    if (!step->reports || !step->groups || !step->work) return SPATE_OUT_OF_MEMORY;
    find_groups(b, step);
    return SPATE_OK;
}

spate_status mesh_step_create(lagrangian_mesh *m) {
    m->step = take(m->ctx, 1, sizeof *m->step);
    if (!m->step) return SPATE_OUT_OF_MEMORY;
    if (m->of->kind != MESH_STRANDS) return mesh_system_create(m, &m->step->system);
    return prepare_strands(m);
}

void mesh_step_free(lagrangian_mesh *m) {
    if (!m->step) return;
    mesh_system_free(m->ctx, m->step->system);
    void *all[] = {m->step->reports, m->step->groups, m->step->work, m->step};
    for (int k = 0; k < COUNT_OF(all); k++) give(m->ctx, all[k]);
    m->step = NULL;
}

static void *aligned(void *p) {
    const uintptr_t at = (uintptr_t)p;
    return (char *)p + (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
}

static void collect_strands(lagrangian_mesh *m) {
    m->extremes =
        (mesh_extremes){.J_min = 1, .J_max = 1, .stretch = 1, .altitude = m->rest_altitude};
    m->fault = -1;
    m->step->halvings = 0;
    for (int64_t s = 0; s < m->of->strand_count; s++) {
        const strand_report *r = &m->step->reports[s];
        m->energies[s] = r->energy;
        m->step->halvings += r->halvings;
        m->extremes.altitude = fmin(m->extremes.altitude, r->shortest);
        if (r->folded && m->fault < 0) m->fault = s;
    }
}

static void step_strands(lagrangian_mesh *m, const mesh_positions *at, const mesh_motion *how,
                         double (*f)[3]) {
    strand_step s = {.material = m->material.rod,
                     .dt = how->dt,
                     .inertia = 0.25 + 0.75 * how->damping,
                     .ahead = how->damping,
                     .gravity = {how->gravity[0], how->gravity[1], how->gravity[2]},
                     .x = at->x,
                     .v = how->v,
                     .mass = m->mass,
                     .there = at->there,
                     .held = at->held,
                     .turns = at->turns,
                     .walls = how->walls,
                     .pressed = how->pressed,
                     .length = m->lengths,
                     .bend = m->bends,
                     .rest = m->rest_edges,
                     .edge = m->edges,
                     .reference = m->references,
                     .f = f,
                     .first = m->of->strand_first,
                     .reports = m->step->reports,
                     .groups = m->step->groups,
                     .work = aligned(m->step->work),
                     .work_size = m->step->work_size};
    parallel_for(m->ctx->pool, m->step->group_count, GROUP_GRAIN,
                 ISA_CHOOSE(strand_passes, m->ctx->isa)->step, &s);
    collect_strands(m);
}

void mesh_step_forces(lagrangian_mesh *m, const mesh_positions *at, const mesh_motion *how,
                      double (*f)[3]) {
    if (m->of->kind != MESH_STRANDS) {
        mesh_system_forces(m, at, how, f);
        return;
    }
    step_strands(m, at, how, f);
    m->step->energy = lagrangian_mesh_energy(m);
}
