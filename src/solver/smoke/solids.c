/*
 * What stands in the way, in the dense arrays: walls, sources and colliders.
 *
 * Faces in solids have the solid's velocity as far as the pressure is concerned. A path that is traced
 * back into a collider would bring that into the gas, and shadows of old smoke too; so values within
 * two cells of the gas become the mean of those beside them: copied, as at the sides of the domain. Only
 * where gas sticks to a collider, its velocity stays.
 */
#include "solver/smoke/smoke.h"

#include "solver/faces.h"
#include "solver/sources.h"

/* ---- Dense indices of the cells of a brick -------------------------------------------------------- */

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

/* ---- Velocities of walls -------------------------------------------------------------------------- */

/* Bricks with closed faces: sides, sources, colliders. */
static void hold_faces(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const mac *m = &s->grid;
    const layout *l = &s->layout;
    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        if (!s->closed[b]) continue;
        for (int c = 0; c < mac_cells(l->dim); c++) {
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            if (!domain_cell(s, b, at, cell)) continue;
            const int64_t from = b * mac_cells(l->dim) + c;
            for (int a = 0; a < l->dim; a++)
                if (!(m->open[a][from] > 0) && has_value(l, a, cell))
                    s->velocity[a][layout_at(l, cell[0], cell[1], cell[2])] = m->wall[a][from];
        }
    }
}

void smoke_settle_velocity(smoke *s) {
    if (s->options->grid == SMOKE_MAC) {
        parallel_for(s->sim->ctx->pool, s->grid.bricks.count, 8, hold_faces, s);
        for (int a = 0; a < s->layout.dim; a++) smoke_extend(s, a, s->velocity[a]);
    }
    for (int a = 0; a < s->layout.dim; a++) smoke_border_velocity(s, a, s->velocity[a]);
}

/* ---- Depths --------------------------------------------------------------------------------------- */

/* How many cells below the surface of a collider that gas sticks to; -1: of another. */
static double sticky_depth(const smoke *s, const int cell[3], int place) {
    const spate_scene *scene = s->sim->scene;
    const boundary_part all = boundary_all(&s->sim->boundary);
    double x[3];
    int nearest = -1;
    smoke_world(s, place, cell, x);
    const double distance = boundary_part_nearest(&all, x, &nearest);
    if (nearest < 0 || scene->colliders[nearest].contact != CONTACT_STICKY) return -1;
    return fmin(fmax(-distance / scene->domain.dx, 0), 1);
}

/* A face inside a collider; those of sides and sources are prescribed. */
static uint8_t face_depth(const smoke *s, int a, int64_t from, const int cell[3]) {
    if (s->grid.open[a][from] > 0) return DEPTH_GAS;
    if (s->grid.known[0][from] >> (a + 4) & 1) return DEPTH_HELD;
    const double below = sticky_depth(s, cell, a);
    return below < 0 ? DEPTH_SECOND : (uint8_t)(DEPTH_STICKY + (int)(100 * below + 0.5));
}

/* A cell without an open face, of which at least one is a collider's. */
static uint8_t cell_depth(const smoke *s, int64_t brick, int c, const int at[3]) {
    const mac *m = &s->grid;
    bool solid = false;
    for (int a = 0; a < m->dim; a++) {
        const int64_t low = brick * mac_cells(m->dim) + c;
        const int64_t high = mac_beside(m, brick, c, at, a, 1);
        if (m->open[a][low] > 0 || high < 0 || m->open[a][high] > 0) return DEPTH_GAS;
        solid |= !(m->known[0][low] >> (a + 4) & 1) || !(m->known[0][high] >> (a + 4) & 1);
    }
    return solid ? DEPTH_SECOND : DEPTH_GAS;
}

static void mark_bricks(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const layout *l = &s->layout;
    (void)worker;
    for (int64_t b = begin; b < end; b++)
        for (int c = 0; c < mac_cells(l->dim); c++) {
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            if (!domain_cell(s, b, at, cell)) continue;
            const int64_t to = layout_at(l, cell[0], cell[1], cell[2]);
            for (int a = 0; a < l->dim; a++)
                if (has_value(l, a, cell))
                    s->depth[a][to] = s->closed[b]
                                          ? face_depth(s, a, b * mac_cells(l->dim) + c, cell)
                                          : DEPTH_GAS;
            if (has_value(l, PLACE_MIDDLE, cell))
                s->depth[PLACE_MIDDLE][to] = s->closed[b] ? cell_depth(s, b, c, at) : DEPTH_GAS;
        }
}

/* Whether a value has one of the given depth beside it. */
static bool is_beside(const layout *l, const uint8_t *depth, int64_t at, int wanted) {
    for (int a = 0; a < l->dim; a++)
        if (depth[at - l->stride[a]] == wanted || depth[at + l->stride[a]] == wanted) return true;
    return false;
}

/* Lists the values of a place that are in solids, nearest to the gas first; the deepest are held. */
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

/* ---- Values in solids ----------------------------------------------------------------------------- */

typedef struct extend_job {
    const smoke *s;
    int place, layer;
    int64_t begin;
    real *values;
} extend_job;

static void extend_values(void *data, int64_t begin, int64_t end, int worker) {
    const extend_job *job = data;
    const layout *l = &job->s->layout;
    const uint8_t *depth = job->s->depth[job->place];
    (void)worker;
    for (int64_t i = job->begin + begin; i < job->begin + end; i++) {
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
    parallel_for(s->sim->ctx->pool, found->first, 1024, extend_values, &job);
    job.layer = DEPTH_SECOND, job.begin = found->first;
    parallel_for(s->sim->ctx->pool, found->count - found->first, 1024, extend_values, &job);
}

/* ---- When something has changed ------------------------------------------------------------------- */

/* Which bricks have closed faces, and the inside of the domain. */
static void mark_inside(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    mac *m = &s->grid;
    const layout *l = &s->layout;
    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        s->closed[b] = false;
        for (int c = 0; c < mac_cells(l->dim); c++) {
            const int64_t to = b * mac_cells(l->dim) + c;
            int at[3], cell[3];
            mac_place(c, l->dim, at);
            const bool inside = domain_cell(s, b, at, cell) && has_value(l, PLACE_MIDDLE, cell);
            m->phi[0][to] = inside ? -1 : 1;
            for (int a = 0; a < l->dim; a++) s->closed[b] |= !(m->open[a][to] > 0);
        }
    }
}

/* Whether the faces are still as they were prepared; takes note of the sources that run. */
static bool is_unchanged(smoke *s) {
    const spate_scene *scene = s->sim->scene;
    bool same = s->prepared && s->changes == s->sim->boundary.changes;
    s->changes = s->sim->boundary.changes;
    for (int c = 0; c < scene->collider_count; c++) same &= !scene->colliders[c].motion.key_count;
    for (int i = 0; i < scene->source_count; i++) {
        const bool runs = source_is_running(s->sim, i);
        same &= runs == s->running[i];
        s->running[i] = runs;
    }
    s->prepared = true;
    return same;
}

spate_status smoke_walls(smoke *s) {
    spate_simulation *sim = s->sim;
    if (is_unchanged(s)) return SPATE_OK;
    boundary_move(&sim->boundary, sim->time + sim->dt);
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
    return SPATE_OK;
}
