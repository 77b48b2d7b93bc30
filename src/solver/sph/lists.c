/* Neighbour lists: made anew in every step, or where the skin no longer serves. */
#include "solver/sph/sph.h"

static double list_radius(const sph *s) {
    return (s->support + s->options->skin * s->spacing) / s->dx;
}

static spate_status build(sph *s) {
    spate_simulation *sim = s->sim;
    const double radius = list_radius(s);
    TRY(neighbours_build(&s->view.fluid_neighbours, &sim->blocks, &sim->particles, &sim->blocks,
                         &sim->particles, radius, sim->ctx->pool));
    TRY(neighbours_build(&s->view.boundary_neighbours, &sim->blocks, &sim->particles,
                         &s->boundary.blocks, &s->boundary.particles, radius, sim->ctx->pool));
    s->lists_valid = true;
    return SPATE_OK;
}

/* Whether the references of all particles are in the order of their cells, as a sort leaves them.
 * */
static bool is_in_order(const sph *s) {
    const particles *p = &s->sim->particles;
    const blocks *b = &s->sim->blocks;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        int before = 0;
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            int cell = 0;
            for (int a = 0; a < s->scene->dim; a++) {
                const real x = PLANE(p, reference, a)[i];
                if (!(x >= 0 && x < BLOCK_EDGE)) return false;
                cell = cell * BLOCK_EDGE + (int)x;
            }
            if (cell < before) return false;
            before = cell;
        }
    }
    return true;
}

/* Lists that a checkpoint has cut off are made again from where particles were when they were made.
 * */
static spate_status build_again(sph *s) {
    particles *p = &s->sim->particles;
    real *now = p->position;
    if (!is_in_order(s))
        return fail(s->sim->ctx, SPATE_BAD_INPUT,
                    "the checkpoint is damaged: impossible values in block reference; take an "
                    "earlier one");
    p->position = p->reference;
    spate_status status = build(s);
    p->position = now;
    return status;
}

/* With a skin, lists hold whoever may come near until particles have moved by half of it. */
static bool lists_serve(const sph *s) {
    const spate_simulation *sim = s->sim;
    const double skin = s->options->skin * s->spacing / sim->scene->domain.dx;
    return skin > 0 && (s->lists_valid || sim->step > 0) && sim->blocks.pending_count == 0 &&
           2 * sim->drift <= skin && !s->boundary.moving;
}

/* ---- Colliders that appear ------------------------------------------------------------------- */

/* Takes away the liquid that a collider would appear in: walls cannot be pressed into it at once,
 * or it would be thrown out. Half a spacing around it is where its walls allow no particle. */
static void clear_for(const sph *s, int c) {
    spate_simulation *sim = s->sim;
    for (int32_t o = 0; o < sim->blocks.occupied_count; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            double x[3];
            if (sim->particles.group[i] == GROUP_REMOVED) continue;
            simulation_position(sim, block, i, x);
            if (boundary_distance(&sim->boundary, c, x, NULL, NULL) >= 0.5 * s->spacing) continue;
            sim->particles.group[i] = GROUP_REMOVED;
            sim->drained++;
            simulation_must_sort(sim);
        }
    }
}

static void clear_for_new_walls(const sph *s) {
    spate_simulation *sim = s->sim;
    const spate_scene *scene = sim->scene;
    for (int c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].from > 0 && simulation_is_now(sim, scene->colliders[c].from))
            clear_for(s, c);
}

spate_status sph_lists(sph *s) {
    spate_simulation *sim = s->sim;
    particles *p = &sim->particles;
    TRY(sph_boundary_records(s));
    clear_for_new_walls(s);
    if (lists_serve(s)) return s->lists_valid ? SPATE_OK : build_again(s);
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, p, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return sph_unstable(s, lost, "a particle moved more than a block");
    sim->drift = 0;
    TRY(build(s));
    s->memory.builds++;
    for (int a = 0; a < sim->scene->dim && p->reference; a++)
        memcpy(PLANE(p, reference, a), PLANE(p, position, a), (size_t)p->count * sizeof(real));
    int64_t pairs = 0;
    for (int64_t i = 0; i < p->count; i++) pairs += s->view.fluid_neighbours.number[i];
    s->memory.neighbours = p->count ? (double)pairs / (double)p->count : 0;
    return SPATE_OK;
}
