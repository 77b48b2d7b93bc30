#include "solver/source_fill.h"

#include "core/random.h"
#include "core/vec.h"
#include "scene/sample.h"
#include "solver/source_shapes.h"
#include "solver/sources.h"

#include <stdlib.h>

/* The lattice around a source: places low .. low + count - 1 along each axis. */
typedef struct source_lattice {
    spate_simulation *sim;
    int index;
    double spacing;
    int64_t low[3], count[3], all;
    source_shapes *room;
} source_lattice;

static spate_status lay_lattice(source_lattice *l) {
    const spate_scene *scene = l->sim->scene;
    const domain *d = &scene->domain;
    const bounds box = source_box(l->sim, l->index);
    const double *shift = l->sim->sources[l->index].shift;
    l->spacing = sample_spacing(d, scene->dim, scene->sources[l->index].particles_per_cell);
    l->all = 1;
    for (int a = 0; a < 3; a++) {
        l->low[a] = 0, l->count[a] = 1;
        if (a >= scene->dim) continue;
        const double from = fmax(box.min[a], d->origin[a]);
        const double to = fmin(box.max[a], d->origin[a] + d->size[a]);
        if (!(to > from)) l->all = 0;
        l->low[a] = (int64_t)floor((from - shift[a]) / l->spacing) - 1;
        l->count[a] = (int64_t)ceil((fmax(to, from) - shift[a]) / l->spacing) + 1 - l->low[a];
        l->all *= l->count[a];
    }
    source_shapes *room = l->room;
    TRY(GROW(l->sim->ctx, room->counts, room->count_capacity, l->all));
    TRY(GROW(l->sim->ctx, room->inside, room->inside_capacity, l->all));
    memset(room->counts, 0, (size_t)l->all);
    return SPATE_OK;
}

static int64_t place_of(const source_lattice *l, const int64_t k[3]) {
    return k[0] - l->low[0] + l->count[0] * (k[1] - l->low[1] + l->count[1] * (k[2] - l->low[2]));
}

static bool has_place(const source_lattice *l, const int64_t k[3]) {
    for (int a = 0; a < 3; a++)
        if (k[a] < l->low[a] || k[a] >= l->low[a] + l->count[a]) return false;
    return true;
}

static void position_of(const source_lattice *l, const int64_t k[3], double x[3]) {
    const spate_scene *scene = l->sim->scene;
    const source *nozzle = &scene->sources[l->index];
    double move[3];
    sample_move(scene, nozzle->sampling, nozzle->jitter, k, move);
    for (int a = 0; a < 3; a++)
        x[a] = a < scene->dim ? ((double)k[a] + 0.5 + move[a]) * l->spacing +
                                    l->sim->sources[l->index].shift[a]
                              : 0;
}

/* ---- What is there --------------------------------------------------------------------------- */

/* Whether a particle is inside; notes the place of the lattice that it is at. */
static bool count_particle(const source_lattice *l, const double x[3]) {
    const double *shift = l->sim->sources[l->index].shift;
    int64_t k[3] = {0};
    if (!(source_distance(l->sim, l->index, x, NULL) < 0)) return false;
    for (int a = 0; a < l->sim->scene->dim; a++)
        k[a] = (int64_t)floor((x[a] - shift[a]) / l->spacing);
    if (!has_place(l, k)) return false;
    uint8_t *count = &l->room->counts[place_of(l, k)];
    if (*count < UINT8_MAX) ++*count;
    return true;
}

static int64_t count_particles(const source_lattice *l) {
    const spate_simulation *sim = l->sim;
    const blocks *b = &sim->blocks;
    const double reach = simulation_reach(sim);
    int64_t inside = 0;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        double x[3];
        simulation_middle(sim, b->coords[block], x);
        if (!simulation_at_seam(sim, block) && source_distance(sim, l->index, x, NULL) > reach)
            continue;
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            if (sim->particles.group[i] != sim->scene->body_count + l->index) continue;
            simulation_position(sim, block, i, x);
            inside += count_particle(l, x);
        }
    }
    return inside;
}

/* Notes which places are inside; returns the volume, in particles: a place that the surface runs
 * through counts by its share. */
static double measure_volume(const source_lattice *l) {
    const domain *d = &l->sim->scene->domain;
    double volume = 0;
    int64_t k[3];
    for (k[2] = l->low[2]; k[2] < l->low[2] + l->count[2]; k[2]++)
        for (k[1] = l->low[1]; k[1] < l->low[1] + l->count[1]; k[1]++)
            for (k[0] = l->low[0]; k[0] < l->low[0] + l->count[0]; k[0]++) {
                double x[3];
                position_of(l, k, x);
                double distance = source_distance(l->sim, l->index, x, NULL);
                for (int a = 0; a < l->sim->scene->dim; a++)
                    distance = fmax(distance,
                                    fmax(d->origin[a] - x[a], x[a] - (d->origin[a] + d->size[a])));
                volume += fmin(fmax(0.5 - distance / l->spacing, 0), 1);
                l->room->inside[place_of(l, k)] = distance < 0;
            }
    return volume;
}

/* ---- What is added --------------------------------------------------------------------------- */

static double crowd_at(const source_lattice *l, const int64_t k[3]) {
    double matter = 0, places = 0;
    const int depth = l->sim->scene->dim == 3;
    for (int c = -depth; c <= depth; c++)
        for (int b = -1; b <= 1; b++)
            for (int a = -1; a <= 1; a++) {
                const int64_t at[3] = {k[0] + a, k[1] + b, k[2] + c};
                if (!has_place(l, at)) continue;
                const int64_t place = place_of(l, at);
                matter += l->room->counts[place];
                places += l->room->inside[place];
            }
    return matter / places;
}

static int compare_sites(const void *first, const void *second) {
    const source_site *a = first, *b = second;
    if (a->crowd != b->crowd) return a->crowd < b->crowd ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static spate_status find_sites(const source_lattice *l, int64_t *count) {
    source_shapes *room = l->room;
    *count = 0;
    for (int64_t place = 0; place < l->all; place++) {
        if (!room->inside[place] || room->counts[place]) continue;
        const int64_t k[3] = {l->low[0] + place % l->count[0],
                              l->low[1] + place / l->count[0] % l->count[1],
                              l->low[2] + place / l->count[0] / l->count[1]};
        TRY(GROW(l->sim->ctx, room->sites, room->site_capacity, *count + 1));
        room->sites[(*count)++] =
            (source_site){.k = {k[0], k[1], k[2]},
                          .crowd = crowd_at(l, k),
                          .key = random_bits((uint64_t)k[0], (uint64_t)k[1], (uint64_t)k[2])};
    }
    qsort(room->sites, (size_t)*count, sizeof *room->sites, compare_sites);
    return SPATE_OK;
}

static spate_status add_particle(const source_lattice *l, const int64_t k[3]) {
    spate_simulation *sim = l->sim;
    double x[3], v[3];
    position_of(l, k, x);
    source_distance(sim, l->index, x, v);
    sim->sources[l->index].emitted++;
    return source_add(sim, l->index, x, v, pow(l->spacing, sim->scene->dim));
}

spate_status source_fill(spate_simulation *sim, int index) {
    source_lattice l = {.sim = sim, .index = index, .room = sim->source_shapes};
    source_state *state = &sim->sources[index];
    int64_t sites = 0, there = 0;
    TRY(lay_lattice(&l));
    if (state->filled) there = count_particles(&l);
    const double wanted = measure_volume(&l) - (double)there;
    if (state->filled && wanted < 1) return SPATE_OK;
    TRY(find_sites(&l, &sites));
    const int64_t left = sim->scene->sources[index].limit - state->emitted;
    /* At the start all that it has room for, so that its lattice is whole. */
    int64_t added = state->filled && (double)sites > wanted ? (int64_t)wanted : sites;
    if (added > left) added = left;
    for (int64_t i = 0; i < added; i++) TRY(add_particle(&l, l.room->sites[i].k));
    return SPATE_OK;
}
