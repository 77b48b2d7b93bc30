/*
 * What stands in the way, in the dense arrays: walls, sources and colliders.
 *
 * Faces in solids have the solid's velocity as far as the pressure is concerned. A path that is
 * traced back into a collider would bring that into the gas, and shadows of old smoke too; so
 * values within two cells of the gas become the mean of those beside them: copied, as at the sides
 * of the domain. Only where gas sticks to a collider, its velocity stays.
 */
#include "solver/smoke/smoke.h"

#include "core/vec.h"
#include "solver/faces.h"
#include "solver/source_shapes.h"
#include "solver/sources.h"

/* ---- Dense indices of the cells of a brick --------------------------------------------------- */

/* Where cell `at` of a brick is in the domain; false outside of what arrays hold. */
static bool domain_cell(const smoke *s, int64_t brick, const int at[3], int cell[3]) {
    cell[2] = 0;
    for (int a = 0; a < s->layout.dim; a++) {
        cell[a] = s->grid.bricks.coords[brick][a] * BRICK_EDGE + at[a];
        if (cell[a] > s->layout.n[a]) return false;
    }
    return true;
}

/* Whether a cell has a value of a place. */
static bool has_value(const layout *l, int place, const int cell[3]) {
    for (int a = 0; a < l->dim; a++)
        if (cell[a] >= layout_extent(l, place, a)) return false;
    return true;
}

/* ---- Velocities of walls --------------------------------------------------------------------- */

/* Bricks with closed faces: sides, sources, colliders. */
static void hold_faces(void *data, chunk items) {
    smoke *s = data;
    const mac *m = &s->grid;
    const layout *l = &s->layout;
    for (int64_t b = items.begin; b < items.end; b++) {
        if (!s->closed[b]) continue;
        for (int c = 0; c < mac_cells(l->dim); c++) {
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            if (!domain_cell(s, b, at, cell)) continue;
            const int64_t from = b * mac_cells(l->dim) + c;
            for (int a = 0; a < l->dim; a++)
                if (!(m->face_fraction[a][from] > 0) && has_value(l, a, cell))
                    s->velocity[a][layout_at(l, cell[0], cell[1], cell[2])] =
                        m->solid_velocity[a][from];
        }
    }
}

/* A face whose middle is inside: what is left of it, a strip of share w beside the wall, loses its
 * momentum to that through half its width: u - u_wall becomes (u - u_wall) / (1 + 2 nu dt / (w
 * dx)^2). The values beside it see the wall where it is (smoke_gap). */
static void stick_faces(void *data, chunk items) {
    smoke *s = data;
    const mac *m = &s->grid;
    const layout *l = &s->layout;
    const double dx = s->dx;
    const double reach2 = s->viscosity / s->density * s->dt / (dx * dx);
    for (int64_t b = items.begin; b < items.end; b++)
        for (int c = 0; c < mac_cells(l->dim) && s->closed[b]; c++) {
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            if (!domain_cell(s, b, at, cell)) continue;
            const int64_t from = b * mac_cells(l->dim) + c;
            const int64_t to = layout_at(l, cell[0], cell[1], cell[2]);
            for (int a = 0; a < l->dim; a++) {
                const double share = (double)m->face_fraction[a][from],
                             still = (double)m->solid_velocity[a][from];
                if (!(share > 0) || !has_value(l, a, cell) || s->depth[a][to] != DEPTH_STICKY)
                    continue;
                const double slip = (double)s->velocity[a][to] - still;
                s->velocity[a][to] = (real)(still + slip / (1 + 2 * reach2 / (share * share)));
            }
        }
}

void smoke_stick(smoke *s) { parallel_for(s->threads, s->grid.bricks.count, 8, stick_faces, s); }

void smoke_settle_velocity(smoke *s) {
    if (s->options->grid == SMOKE_MAC) {
        parallel_for(s->threads, s->grid.bricks.count, 8, hold_faces, s);
        for (int a = 0; a < s->layout.dim; a++) smoke_extend(s, a, s->velocity[a]);
    }
    for (int a = 0; a < s->layout.dim; a++) smoke_ghost_velocity(s, a, s->velocity[a]);
}

/* ---- Depths ---------------------------------------------------------------------------------- */

/* Takes note of a face's distance from the nearest of some colliders and of which one it is;
 * whether the face is inside (`open`: not as a whole) and gas sticks to that one. */
static bool is_sticky(const smoke *s, const boundary_part *part, int a, bool open,
                      const int cell[3]) {
    const spate_scene *scene = s->scene;
    const int64_t at = layout_at(&s->layout, cell[0], cell[1], cell[2]);
    double x[3];
    int nearest = -1;
    smoke_world(s, a, cell, x);
    const double distance = boundary_part_nearest(part, x, &nearest) / scene->domain.dx;
    s->distance[a][at] = (int8_t)lrint(100 * fmin(fmax(distance, -1.27), 1.27));
    if (s->nearest[a]) s->nearest[a][at] = nearest;
    if (nearest < 0 || scene->colliders[nearest].contact != CONTACT_STICKY) return false;
    return !open || s->distance[a][at] < 0;
}

/* A face inside a collider; those of sides and sources are prescribed. */
static uint8_t face_depth(const smoke *s, const boundary_part *part, int a, int64_t from,
                          const int cell[3]) {
    const bool open = s->grid.face_fraction[a][from] > 0;
    if (mac_is_prescribed(&s->grid, a, from)) return DEPTH_HELD;
    if (s->distance[a] && is_sticky(s, part, a, open, cell)) return DEPTH_STICKY;
    return open ? DEPTH_GAS : DEPTH_SECOND;
}

/* A cell without an open face, of which at least one is a collider's. */
static uint8_t cell_depth(const smoke *s, int64_t brick, int c, const int at[3]) {
    const mac *m = &s->grid;
    bool solid = false;
    for (int a = 0; a < m->dim; a++) {
        const int64_t low = brick * mac_cells(m->dim) + c;
        const int64_t high = mac_beside(m, brick, c, at, a, 1);
        if (m->face_fraction[a][low] > 0 || high < 0 || m->face_fraction[a][high] > 0)
            return DEPTH_GAS;
        solid |= !mac_is_prescribed(m, a, low) || !mac_is_prescribed(m, a, high);
    }
    return solid ? DEPTH_SECOND : DEPTH_GAS;
}

/* The colliders near a brick. */
static boundary_part part_near(const smoke *s, int64_t brick) {
    const domain *d = &s->scene->domain;
    const int dim = s->layout.dim;
    double middle[3] = {0};
    for (int a = 0; a < dim; a++)
        middle[a] = d->origin[a] + (s->grid.bricks.coords[brick][a] + 0.5) * BRICK_EDGE * d->dx;
    return boundary_around(&s->sim->boundary, middle, d->dx * (0.5 * BRICK_EDGE * sqrt(dim) + 2));
}

static void mark_bricks(void *data, chunk items) {
    smoke *s = data;
    const layout *l = &s->layout;
    for (int64_t b = items.begin; b < items.end; b++) {
        const boundary_part part = s->distance[0] ? part_near(s, b) : (boundary_part){0};
        for (int c = 0; c < mac_cells(l->dim); c++) {
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            if (!domain_cell(s, b, at, cell)) continue;
            const int64_t to = layout_at(l, cell[0], cell[1], cell[2]);
            for (int a = 0; a < l->dim; a++)
                if (has_value(l, a, cell)) {
                    const int64_t from = b * mac_cells(l->dim) + c;
                    s->depth[a][to] = s->closed[b] || part.count
                                          ? face_depth(s, &part, a, from, cell)
                                          : DEPTH_GAS;
                    if (s->face_fraction[a])
                        s->face_fraction[a][to] =
                            s->depth[a][to] == DEPTH_HELD ? 0 : s->grid.face_fraction[a][from];
                }
            if (has_value(l, PLACE_MIDDLE, cell))
                s->depth[PLACE_MIDDLE][to] = s->closed[b] ? cell_depth(s, b, c, at) : DEPTH_GAS;
        }
    }
}

/* Whether a value has one of the given depth beside it. */
static bool is_beside(const layout *l, const uint8_t *depth, int64_t at, int wanted) {
    for (int a = 0; a < l->dim; a++)
        if (depth[at - l->stride[a]] == wanted || depth[at + l->stride[a]] == wanted) return true;
    return false;
}

/* Lists the values of a place that are in solids, nearest to the gas first; the deepest are held.
 * */
static spate_status list_layers(smoke *s, int place) {
    const layout *l = &s->layout;
    smoke_layers *found = &s->layers[place];
    uint8_t *depth = s->depth[place];
    found->count = 0;
    for (int layer = DEPTH_FIRST; layer <= DEPTH_SECOND; layer++) {
        for (int64_t r = 0; r < layout_rows(l, place); r++) {
            const layout_row row = layout_row_at(l, place, r, l->dim);
            for (int64_t at = row.begin; at < row.begin + row.length; at++) {
                if (depth[at] != DEPTH_SECOND || !is_beside(l, depth, at, layer - 1)) continue;
                TRY(GROW(s->sim->ctx, found->list, found->capacity, found->count + 1));
                found->list[found->count++] = (int32_t)at;
            }
        }
        if (layer == DEPTH_SECOND) break;
        found->first = found->count;
        for (int64_t i = 0; i < found->count; i++) depth[found->list[i]] = DEPTH_FIRST;
    }
    return SPATE_OK;
}

/* ---- Values in solids ------------------------------------------------------------------------ */

typedef struct extend_job {
    const smoke *s;
    int place, layer;
    int64_t begin;
    real *values;
} extend_job;

static void extend_values(void *data, chunk items) {
    const extend_job *job = data;
    const layout *l = &job->s->layout;
    const uint8_t *depth = job->s->depth[job->place];
    for (int64_t i = job->begin + items.begin; i < job->begin + items.end; i++) {
        const int64_t at = job->s->layers[job->place].list[i];
        real sum = 0, count = 0;
        for (int a = 0; a < l->dim; a++)
            for (int way = -1; way <= 1; way += 2) {
                const int64_t beside = at + way * l->stride[a];
                if (depth[beside] != job->layer - 1) continue;
                sum += job->values[beside];
                count += 1;
            }
        job->values[at] = sum / count;
    }
}

void smoke_extend(const smoke *s, int place, real *values) {
    if (!s->depth[place]) return;
    const smoke_layers *found = &s->layers[place];
    extend_job job = {s, place, DEPTH_FIRST, 0, values};
    parallel_for(s->threads, found->first, 1024, extend_values, &job);
    job.layer = DEPTH_SECOND, job.begin = found->first;
    parallel_for(s->threads, found->count - found->first, 1024, extend_values, &job);
}

/* ---- When something has changed -------------------------------------------------------------- */

/* Which bricks have faces that are not quite open, and the inside of the domain. */
static void mark_inside(void *data, chunk items) {
    smoke *s = data;
    mac *m = &s->grid;
    const layout *l = &s->layout;
    for (int64_t b = items.begin; b < items.end; b++) {
        s->closed[b] = false;
        for (int c = 0; c < mac_cells(l->dim); c++) {
            const int64_t to = b * mac_cells(l->dim) + c;
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            const bool inside = domain_cell(s, b, at, cell) && has_value(l, PLACE_MIDDLE, cell);
            m->phi[0][to] = inside ? -1 : 1;
            for (int a = 0; a < l->dim; a++) s->closed[b] |= m->face_fraction[a][to] < 1;
        }
    }
}

/* What the velocities of colliders change by from cell to cell. */
static void find_turning(const smoke *s) {
    const int count = s->turning ? s->scene->collider_count : 0;
    for (int c = 0; c < count; c++)
        for (int b = 0; b < 3; b++) {
            double along[3] = {0}, change[3];
            along[b] = s->dx;
            vec_cross(change, s->sim->boundary.poses[c].spin, along);
            for (int a = 0; a < 3; a++) s->turning[9 * c + 3 * a + b] = (real)change[a];
        }
}

/* Whether the same sources run and colliders are there as when the faces were prepared; takes note
 * of them. */
static bool has_same_sources(smoke *s) {
    const spate_scene *scene = s->scene;
    bool same = s->prepared && s->changes == s->sim->boundary.changes;
    s->changes = s->sim->boundary.changes;
    for (int i = 0; i < scene->source_count; i++) {
        const bool runs = source_is_running(s->sim, i);
        same &= runs == s->running[i] && !(runs && source_deforms(scene, i));
        s->running[i] = runs;
    }
    s->prepared = true;
    return same;
}

/* Puts colliders where they are at time t, and all that follows from it. */
static spate_status place_walls(smoke *s, double t) {
    spate_simulation *sim = s->sim;
    TRY(boundary_move(&sim->boundary, t));
    TRY(source_shapes_move(sim, t));
    s->walls_time = t;
    find_turning(s);
    const bool blow = s->options->grid == SMOKE_MAC;
    faces_prepare(&(faces){
        .sim = sim, .grid = &s->grid, .sources = blow ? FACES_MOVING_SOURCES : FACES_NO_SOURCES});
    parallel_for(sim->ctx->pool, s->grid.bricks.count, 8, mark_inside, s);
    if (!s->depth[0]) return SPATE_OK;
    for (int place = 0; place <= PLACE_MIDDLE; place++)
        if (s->depth[place]) memset(s->depth[place], DEPTH_HELD, (size_t)s->layout.reals);
    parallel_for(sim->ctx->pool, s->grid.bricks.count, 8, mark_bricks, s);
    for (int place = 0; place <= PLACE_MIDDLE; place++)
        if (s->depth[place]) TRY(list_layers(s, place));
    return smoke_find_control_volumes(s);
}

/* Where colliders move, the shares before the step are wanted too (reaction.c): those of its
 * beginning, whether or not the run goes on from a checkpoint there. */
static spate_status move_walls(smoke *s, bool same_sources) {
    const double start = s->sim->time, end = start + s->sim->dt;
    if (s->part == 0 && (!same_sources || s->walls_time != start)) TRY(place_walls(s, start));
    for (int a = 0; a < s->layout.dim; a++)
        memcpy(s->face_fraction_before[a], s->face_fraction[a],
               (size_t)s->layout.reals * sizeof(real));
    return s->walls_time == end ? SPATE_OK : place_walls(s, end);
}

spate_status smoke_walls(void *solver) {
    smoke *s = solver;
    const bool same = has_same_sources(s);
    if (smoke_colliders_move(s)) return move_walls(s, same);
    return same ? SPATE_OK : place_walls(s, s->sim->time + s->sim->dt);
}
