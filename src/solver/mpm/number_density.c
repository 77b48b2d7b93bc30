/*
 * Densities of liquids by summation, `density: sph` (as multiphase MPM has them). At the start of a
 * step every particle of a liquid gets its volume ratio from where the particles are,
 *
 *    delta_i = sum_j W(x_i - x_j),   J_i = 1 / (V0_i delta_i),   p = (kappa / gamma)(J^-gamma - 1)
 *
 * with all particles in the sum, whatever their material, each as one: a number density
 * (Solenthaler and Pajarola 2008). rho_i = m_i delta_i is then right at an interface of any density
 * ratio, as long as all particles have the same volume at rest, which the scene must see to.
 * Summing masses, rho_i = sum m_j W, gives the light side of an interface 1 : 3 one and a half
 * times its density.
 *
 * W = (R^2 - r^2)^3 within R = 1.25 cells (Mueller et al. 2003), scaled so that a lattice at rest
 * has J = 1. Closed sides of the domain are mirrors: every particle near one counts with its image,
 * so a lattice that ends at a wall has J = 1 up to it. Of a collider the share of W's integral
 * beyond a flat surface at the particle's distance is added.
 *
 * At a free surface the sum is a quarter short. Liquids hold no tension unless they have
 * `negative_pressure`, so the first layer of particles carries no pressure. Nothing drifts: J is
 * what the places say, in every step anew, and the gather's own update (liquid_wide.h) is what it
 * will be at the end of the step, for output and the next step's length.
 *
 * No lists: a block takes the particles of its neighbours within reach and sorts them into bins of
 * half a cell; eight of its own at a time then pass over the rows of bins that come near their box
 * (number_density_kernels.c). Places are read and J is written, so blocks do not meet.
 *
 * Bodies that begin at rest (rest.c) are put into equilibrium by their places: a column is pressed
 * together along gravity by what its load makes of J, from the bottom up (mpm_settle_density).
 */
#include "solver/mpm/number_density.h"
#include "core/isa.h"
#include "core/vec.h"
#include "solver/rest.h"

enum { BLOCKS_A_TIME = 2 };

ISA_TABLES(number_density_passes, number_density);

/* ---- The kernel ------------------------------------------------------------------------------ */

/* One layer of a lattice, `height` cells away. */
static double layer_sum(int dim, double spacing, double height) {
    const double square = DENSITY_SUPPORT * DENSITY_SUPPORT - height * height;
    const int reach = (int)(DENSITY_SUPPORT / spacing);
    double sum = 0;
    for (int x = -reach; x <= reach; x++)
        for (int z = dim == 3 ? -reach : 0; z <= (dim == 3 ? reach : 0); z++) {
            const double q = square - spacing * spacing * (x * x + z * z);
            sum += q > 0 ? q * q * q : 0;
        }
    return sum;
}

double density_lattice_sum(int dim, double spacing) {
    double sum = layer_sum(dim, spacing, 0);
    for (int k = 1; k * spacing < DENSITY_SUPPORT; k++)
        sum += 2 * layer_sum(dim, spacing, k * spacing);
    return sum;
}

/* Integral of (1 - z^2)^(3 + (d - 1) / 2), what W leaves on a plane at z, from 0 to s. */
static double plane_integral(int dim, double s) {
    const double z = s * s;
    if (dim == 3) return s * (1 + z * (-4.0 / 3 + z * (6.0 / 5 + z * (-4.0 / 7 + z / 9))));
    const double t = asin(s);
    return (35 * t + 28 * sin(2 * t) + 7 * sin(4 * t) + 4.0 / 3 * sin(6 * t) + sin(8 * t) / 8) /
           128;
}

double density_share_beyond(int dim, double s) {
    const double kept = fmax(-1, fmin(1, s)), half = plane_integral(dim, 1);
    return (half - plane_integral(dim, kept)) / (2 * half);
}

/* ---- Creation -------------------------------------------------------------------------------- */

spate_status mpm_density_create(mpm *m) {
    const spate_scene *scene = m->sim->scene;
    const mpm_options *o = scene->solver_options;
    if (o->density != DENSITY_SPH) return SPATE_OK;
    number_density *d = m->density = take(m->sim->ctx, 1, sizeof *d);
    if (!d) return SPATE_OUT_OF_MEMORY;
    const double dx = scene->domain.dx,
                 per_cell = scene->body_count     ? scene->bodies[0].particles_per_cell
                            : scene->source_count ? scene->sources[0].particles_per_cell
                                                  : 1;
    d->view = &m->view;
    d->volume = pow(dx, scene->dim) / per_cell;
    d->lattice = density_lattice_sum(scene->dim, pow(1 / per_cell, 1.0 / scene->dim));
    const size_t bins = (size_t)pool_size(m->threads) * (BINS_MAX + 1);
    d->first = take(m->sim->ctx, bins, sizeof *d->first);
    return d->first ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

void mpm_density_free(mpm *m) {
    if (!m->density) return;
    give(m->sim->ctx, m->density->places), give(m->sim->ctx, m->density->bins);
    give(m->sim->ctx, m->density->first), give(m->sim->ctx, m->density);
}

/* The volume at rest of a group's particles, m^3. */
static double group_volume(const spate_scene *scene, int g) {
    return pow(scene->domain.dx, scene->dim) /
           (g < scene->body_count ? scene->bodies[g].particles_per_cell
                                  : scene->sources[g - scene->body_count].particles_per_cell);
}

bool mpm_density_check(const spate_scene *scene, field_report *report) {
    const mpm_options *o = scene->solver_options;
    const double alike = 0.01, most = pow(scene->domain.dx / 2, scene->dim);
    if (o->density != DENSITY_SPH) return true;
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind)
            return field_complain(report, NULL,
                                  "solver.density is sph, which counts particles of one volume, "
                                  "but body '%s' is a mesh; use density J",
                                  scene->bodies[b].name);
    for (int g = 0; g < scene_group_count(scene); g++) {
        const double volume = group_volume(scene, g), first = group_volume(scene, 0);
        if (volume > most * (1 + alike))
            return field_complain(
                report, NULL,
                "solver.density is sph, which needs at least %d particles_per_cell, but a body "
                "or source has %g; give it more",
                scene->dim == 2 ? 4 : 8, pow(scene->domain.dx, scene->dim) / volume);
        if (fabs(volume / first - 1) > alike)
            return field_complain(
                report, NULL,
                "solver.density is sph, which counts particles, but their volumes differ by %.3g "
                "%%: give all bodies and sources the same particles_per_cell, or "
                "use density J",
                100 * fabs(volume / first - 1));
    }
    return true;
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* The most points that a block can have around it: its neighbours' and their images. */
static int64_t most_points(const blocks *b) {
    int64_t most = 0;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t *others = b->neighbours[b->occupied[o]];
        int64_t sum = 0;
        for (int k = 0; k < neighbour_count(b->dim); k++)
            if (others[k] >= 0) sum += b->first[others[k] + 1] - b->first[others[k]];
        most = sum > most ? sum : most;
    }
    return most;
}

/* Points come by eights, and each may have an image across every axis. */
spate_status mpm_sum_density(mpm *m) {
    number_density *d = m->density;
    if (!d) return SPATE_OK;
    const blocks *b = &m->sim->blocks;
    int64_t images = 1;
    for (int a = 0; a < b->dim; a++)
        images *= is_closed(m->view.domain, a, 0) || is_closed(m->view.domain, a, 1) ? 2 : 1;
    d->most = (most_points(b) + WIDE) * images;
    TRY(ENSURE(m->sim->ctx, d->capacity, pool_size(m->threads) * d->most, EACH(d->places, 6),
               EACH(d->bins, 1)));
    const number_density_passes *passes = ISA_CHOOSE(number_density, m->sim->ctx->isa);
    parallel_for(m->threads, b->occupied_count, BLOCKS_A_TIME, passes->density[b->dim - 2], d);
    return SPATE_OK;
}

/* ---- Bodies at rest -------------------------------------------------------------------------- */

/* How much a liquid of thickness `from` to `to` along gravity shrinks that carries these loads at
 * its ends: the integral of 1 - J, J^-gamma = 1 + gamma load / kappa. */
static double shrinkage(const liquid_constants *l, double thickness, double top, double bottom) {
    const double kappa_over_gamma = (double)l->stiffness, a = 1 - 1 / (double)l->gamma;
    const double low = log1p(top / kappa_over_gamma), high = log1p(bottom / kappa_over_gamma);
    if (!(high - low > 1e-9)) return -thickness * expm1(-high / (double)l->gamma);
    const double mean = a > 1e-6 ? (expm1(a * high) - expm1(a * low)) / a : high - low;
    return thickness * (1 - mean / (exp(high) - exp(low)));
}

/* Loads of body b at height h of x. */
static double load_at(const rest_state *r, int b, const double x[3], double height) {
    double y[3];
    vec_add_scaled(y, x, height - vec_dot(x, r->up), r->up);
    return rest_load(r, b, y);
}

/* How far down a particle of body b goes, m: what is below it in its own and in other liquids
 * shrinks. */
static double settlement(const mpm *m, const rest_state *r, int b, const double x[3]) {
    double sum = 0;
    for (int c = 0; c < m->sim->scene->body_count; c++) {
        const material_constants *k = &m->view.materials[m->view.group_material[c]];
        const rest_body *other = &r->bodies[c];
        if (k->kind != MATERIAL_LIQUID || (c != b && !rest_is_below(r, c, b, x))) continue;
        const double top = c == b ? vec_dot(x, r->up) : other->top;
        sum += shrinkage(&k->liquid, top - other->bottom, load_at(r, c, x, top),
                         load_at(r, c, x, other->bottom));
    }
    return sum;
}

static spate_status settle_particle(mpm *m, const rest_state *r, int32_t block, int64_t i) {
    spate_simulation *sim = m->sim;
    const double follows = 3; /* cells that a sort does */
    double x[3], most = 0;
    simulation_position(sim, block, i, x);
    const int b = sim->particles.group[i];
    const double down = settlement(m, r, b, x) / sim->scene->domain.dx;
    for (int a = 0; a < sim->scene->dim; a++) {
        PLANE(&sim->particles, position, a)[i] -= (real)(down * r->up[a]);
        most = fmax(most, fabs(down * r->up[a]));
    }
    if (most <= follows) return SPATE_OK;
    return blocks_carry(&sim->blocks, &sim->particles, block, i);
}

spate_status mpm_settle_density(mpm *m) {
    spate_simulation *sim = m->sim;
    rest_state r;
    if (!m->density) return SPATE_OK;
    TRY(rest_create(sim, &r));
    spate_status status = SPATE_OK;
    for (int32_t block = 0; block < sim->blocks.count && r.bodies; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1] && !status; i++)
            if (rest_holds(&r, sim->particles.group[i])) status = settle_particle(m, &r, block, i);
    m->must_sort |= r.bodies != NULL;
    rest_free(&r);
    return status;
}
