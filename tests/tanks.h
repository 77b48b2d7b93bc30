/*
 * Two tanks of water that every solver of liquids is held against.
 *   17  sloshing, L 1 m, h 0.5 m: linear theory, w^2 = g k tanh(k h), T = 1.1818 s
 *   14  dam break, Martin and Moyce 1952, n^2 = 2: the front Z over T = t sqrt(2 g / a)
 */
#ifndef SPATE_TESTS_TANKS_H
#define SPATE_TESTS_TANKS_H

#include "physics.h"

/* ---- Case 17 --------------------------------------------------------------------------------- */

static const double sloshing_depth = 0.5, sloshing_wave = M_PI; /* m, 1/m */

static inline double sloshing_theory(void) {
    return 2 * M_PI / sqrt(9.81 * sloshing_wave * tanh(sloshing_wave * sloshing_depth));
}
/* What it would be without the bottom: for negative controls. */
static inline double sloshing_deep(void) { return 2 * M_PI / sqrt(9.81 * sloshing_wave); }

static inline double momentum_along_x(const spate_simulation *sim) {
    double sum = 0;
    for (int64_t i = 0; i < sim->particles.count; i++)
        sum += (double)sim->particles.mass[i] * (double)sim->particles.velocity[i][0];
    return sum;
}

/* Half a wave in a tank, begun flat with the velocity of linear theory: the liquid's momentum along
 * x goes as cos(w t). Returns the time between its first and third change of sign; where it
 * trembles about zero, that is the mean of all changes before it has swung to the other side.
 * `solver` and `water` are what stands in the scene's braces. */
static inline double sloshing_period(double dx, const char *solver, const char *water) {
    const double k = sloshing_wave, h = sloshing_depth, speed = 0.1;
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 0.75], dx: %.17g}\nsolver: {%s}\n"
                       "materials: {w: {model: liquid%s}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1, %g]}}}]\n",
                       dx, solver, water, h);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        real *v = p.sim->particles.velocity[i];
        v[0] = (real)(-speed * sin(k * x[0]) * cosh(k * x[1]) / sinh(k * h));
        v[1] = (real)(speed * cos(k * x[0]) * sinh(k * x[1]) / sinh(k * h));
    }
    p.sim->max_speed = 2 * speed;
    double before = momentum_along_x(p.sim), largest = fabs(before), crossings[3] = {0};
    double side = before, sum = 0;
    for (int found = 0, changes = 0; found < 3 && p.sim->time < 3;) {
        double then = p.sim->time;
        play_steps(&p, 1);
        double now = momentum_along_x(p.sim);
        if (now * before < 0)
            sum += then + (p.sim->time - then) * before / (before - now), changes++;
        if (now * side < 0 && fabs(now) > 0.3 * largest) {
            crossings[found++] = sum / changes;
            side = now, sum = changes = 0;
        }
        before = now;
    }
    play_close(&p);
    return crossings[2] - crossings[0];
}

/* ---- Case 14 --------------------------------------------------------------------------------- */

enum { FRONTS = 400 };
static const double front_step = 0.01; /* in T */

/* The front Z at T = 0, front_step, ... with `cells` to the width of the dam. */
static inline void dam_fronts(double gravity, int cells, const char *solver, const char *water,
                              double fronts[FRONTS]) {
    const double a = 0.05715, unit = sqrt(a / (2 * 9.81));
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, %g]\n"
                       "domain: {size: [%.17g, %.17g], dx: %.17g}\nsolver: {%s}\n"
                       "materials: {w: {model: liquid%s}}\n"
                       "bodies: [{name: dam, material: w, shape: {box: {min: [0, 0], max: [%.17g, "
                       "%.17g]}}}]\nprobes: [{name: front, extent: {axis: x, side: max}}]\n",
                       -gravity, 6 * a, 2.5 * a, a / cells, solver, water, a, 2 * a);
    for (int n = 0; n < FRONTS; n++) {
        if (n) play_until(&p, n * front_step * unit);
        fronts[n] = play_quantity(&p, "front") / a;
    }
    play_close(&p);
}

/* The largest relative error, with the start offset up to 0.3 that makes it least. */
static inline double dam_error(double gravity, int cells, const char *solver, const char *water,
                               double *offset) {
    static const double measured[][2] = {{0.41, 1.11}, {0.84, 1.22}, {1.19, 1.44}, {1.43, 1.67},
                                         {1.63, 1.89}, {1.83, 2.11}, {1.98, 2.33}, {2.20, 2.56},
                                         {2.51, 3.00}, {2.83, 3.44}, {3.11, 3.89}, {3.33, 4.11}};
    double fronts[FRONTS], best = HUGE_VAL;
    dam_fronts(gravity, cells, solver, water, fronts);
    for (int shift = -30; shift <= 30; shift++) {
        double worst = 0;
        for (int n = 0; n < COUNT_OF(measured); n++) {
            int at = (int)lround(measured[n][0] / front_step) - shift;
            worst = fmax(worst, fabs(fronts[at < 0 ? 0 : at] / measured[n][1] - 1));
        }
        if (worst < best) best = worst, *offset = shift * front_step;
    }
    return best;
}

#endif
