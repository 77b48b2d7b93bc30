/*
 * Validation cases 12 and 13: sand that stands, slides, collapses, is poured and runs out.
 *
 * Plastic flow here keeps the volume and is coaxial with stress, so a layer in simple shear has
 * equal normal stresses and flows at tau / P = sin(phi) (Davis 1968), in 2D and, by Mohr and
 * Coulomb's law, in 3D. A heap may stand at up to phi; once it slides, it comes to rest at about
 * atan(sin(phi)).
 *   -   a layer on a slope: stands below that friction, slides above it
 *   13  a heap, friction angle 20/30/40: the steepest slope at which it stands is within -5 and +2
 *       degrees of it; what slid down follows, monotone
 *   12  column collapse, a = 2, phi 31: runout (L - L0) / L0 in [2.0, 3.6], H / L0 in [0.8, 1.7]
 *   -   poured sand takes up the volume of its mass
 *   -   a silo discharges as (opening)^1.5, whatever its filling (Beverloo et al. 1961)
 */
#include "physics.h"

static const char *const integrators[] = {"apic", "asflip"};

static double radians(double degrees) { return degrees * M_PI / 180; }
static double degrees_of(double slope) { return atan(slope) * 180 / M_PI; }

/* ---- A layer on a slope ---- */

/* tau / P at which sand flows in simple shear. */
static double shear_friction(double phi) { return sin(radians(phi)); }

/* Speed along a slope of steepness `slope` after a second, in m/s: an endless layer half a metre
 * thick, at rest at the start. On a lattice: in a domain of four cells any irregular one sets it
 * creeping. */
static double layer_speed(int dim, const char *integrator, double phi, const char *cone,
                          double slope) {
    const bool flat = dim == 2;
    double along = 10 * sin(atan(slope)), into = -10 * cos(atan(slope));
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: [%.17g, %.17g%s]\n"
        "domain: {size: %s, dx: 0.0625, walls: {x_min: periodic, x_max: periodic, y_min: sticky, "
        "y_max: open%s}}\n"
        "solver: {integrator: %s}\n"
        "materials: {s: {model: sand, density: 1500, young_modulus: 1.0e6, friction_angle: %g%s}}\n"
        "bodies: [{material: s, sampling: regular, shape: {box: {min: %s, max: %s}}}]\n",
        dim, along, into, flat ? "" : ", 0", flat ? "[0.25, 1]" : "[0.25, 1, 0.25]",
        flat ? "" : ", z_min: periodic, z_max: periodic", integrator, phi, cone,
        flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[0.25, 0.5]" : "[0.25, 0.5, 0.25]");
    play_until(&p, 1);
    double speed = play_quantity(&p, "momentum_x") / play_quantity(&p, "mass");
    play_close(&p);
    return speed;
}

static void layer_slides_by_the_cone(void **state) {
    (void)state;
    for (int k = 0; k < COUNT_OF(integrators); k++)
        for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
            for (double phi = 20; phi <= 40; phi += 10) {
                double mu = shear_friction(phi);
                double below = layer_speed(dim, integrators[k], phi, "", 0.9 * mu);
                double above = layer_speed(dim, integrators[k], phi, "", 1.1 * mu);
                print_message("layer, %s %dD, phi %g: %.4f m/s at 0.9 of its friction, %.3f at "
                              "1.1\n",
                              integrators[k], dim, phi, below, above);
                CHECK_BELOW(fabs(below), 0.03);
                /* Without waves and a shear zone it would be g (sin - mu cos) t. */
                double slope = atan(1.1 * mu), ideal = 10 * (sin(slope) - mu * cos(slope));
                CHECK_ABOVE(above, 0.8 * ideal);
                CHECK_BELOW(above, 1.3 * ideal);
            }
    /* Negative controls: five degrees less slide where it stood, five more stand where it slid. */
    double mu = shear_friction(30);
    CHECK_ABOVE(layer_speed(2, "apic", 25, "", 0.9 * mu), 0.1);
    CHECK_BELOW(layer_speed(2, "apic", 35, "", 1.1 * mu), 0.03);
    /* In 3D the cone of compression is as strong as 6 / (sqrt(3) (3 - sin(phi))) times sin(phi). */
    if (WATCHED) return;
    CHECK_BELOW(layer_speed(3, "apic", 30, ", cone: compression", 1.2 * mu), 0.03);
    CHECK_ABOVE(layer_speed(3, "apic", 30, ", cone: plane_strain", 1.2 * mu), 0.5);
}

/* ---- Case 13 ---- */

enum { HEAP_CELLS_MOST = 32 };

/* Steepness of the surface from a fit through the highest particle over each cell, without the
 * ends. */
static double surface_slope(const play *p) {
    const int cells = (int)p->sim->scene->domain.cells[0];
    double top[HEAP_CELLS_MOST] = {0}, n = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        if (p->sim->particles.group[i] == GROUP_REMOVED) continue;
        simulation_position(p->sim, block, i, x);
        int cell = (int)floor(x[0] * cells);
        if (cell >= 0 && cell < cells) top[cell] = fmax(top[cell], x[1]);
    }
    for (int cell = cells / 8; cell < cells * 7 / 8; cell++) {
        double x = (cell + 0.5) / cells, y = top[cell];
        n++, x1 += x, y1 += y, xx += x * x, xy += x * y;
    }
    return (x1 * y1 - n * xy) / (n * xx - x1 * x1);
}

/* Half a heap that leans on a smooth wall, on rough ground that ends at its foot; in 3D a slice of
 * it, four cells thick, without ends. Its slope in degrees after `seconds`. */
static double heap_slope_on(int dim, int cells, const char *integrator, double phi,
                            const char *cone, double start, double seconds) {
    const bool flat = dim == 2;
    char outline[256];
    double steepness = tan(radians(start)), thickness = 4.0 / cells;
    snprintf(outline, sizeof outline,
             flat ? "{polygon: [[0, 0], [1, 0], [0, %.17g]]}"
                  : "{intersection: [{plane: {point: [1, 0, 0], normal: [%.17g, 1, 0]}}, "
                    "{box: {min: [0, 0, 0], max: [1, 1.5, %.17g]}}]}",
             steepness, thickness);
    char depth[32] = "";
    if (!flat) snprintf(depth, sizeof depth, ", %.17g", thickness);
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: [1, 1.5%s], dx: %.17g, walls: {x_min: slip, x_max: open, y_min: sticky, "
        "y_max: open%s}}\n"
        "solver: {integrator: %s}\n"
        "materials: {s: {model: sand, density: 1500, young_modulus: 1.0e6, friction_angle: %g%s}}\n"
        "bodies: [{material: s, shape: %s}]\n",
        dim, depth, 1.0 / cells, flat ? "" : ", z_min: periodic, z_max: periodic", integrator, phi,
        cone, outline);
    play_until(&p, seconds);
    double slope = degrees_of(surface_slope(&p));
    play_close(&p);
    return slope;
}

static double heap_slope(const char *integrator, double phi, double start, double seconds) {
    return heap_slope_on(2, 32, integrator, phi, "", start, seconds);
}

/* In 3D as in the plane. Where SPATE_FULL is set: two degrees below phi it stands, two above it
 * does not. */
static void heap_stands_in_3d(void **state) {
    (void)state;
    if (WATCHED) skip();
    double stood = heap_slope_on(3, 16, "apic", 40, "", 38, 0.8);
    double slid = heap_slope_on(3, 16, "apic", 40, "", 50, 0.8);
    double strong = heap_slope_on(3, 16, "apic", 40, ", cone: compression", 50, 0.8);
    print_message("heap in 3D, phi 40: of 38 is %.2f, of 50 is %.2f, with the cone of compression "
                  "%.2f\n",
                  stood, slid, strong);
    CHECK_BELOW(fabs(stood - 38), 1.2);
    CHECK_BELOW(slid, 42);
    CHECK_ABOVE(strong, 48); /* negative control */
    if (IN_DOUBLE || !getenv("SPATE_FULL")) return;
    for (int k = 0; k < COUNT_OF(integrators); k++)
        for (double phi = 20; phi <= 40; phi += 10) {
            stood = heap_slope_on(3, 32, integrators[k], phi, "", phi - 2, 1.5);
            slid = heap_slope_on(3, 32, integrators[k], phi, "", phi + 2, 1.5);
            print_message("case 13 in 3D: %s, phi %g: a heap of %g is one of %.2f, one of %g is "
                          "%.2f\n",
                          integrators[k], phi, phi - 2, stood, phi + 2, slid);
            CHECK_BELOW(fabs(stood - (phi - 2)), 0.8);
            CHECK_BELOW(slid, phi + 1.4);
        }
}

static void heap_stands_up_to_its_friction_angle(void **state) {
    (void)state;
    if (WATCHED) skip();
    for (int k = 0; k < COUNT_OF(integrators); k++)
        for (double phi = 20; phi <= 40; phi += 10) {
            double stood = heap_slope(integrators[k], phi, phi - 5, 1.5);
            double slid = heap_slope(integrators[k], phi, phi + 2, 1.5);
            print_message("case 13: %s, phi %g: a heap of %g is one of %.2f, one of %g is %.2f\n",
                          integrators[k], phi, phi - 5, stood, phi + 2, slid);
            CHECK_BELOW(fabs(stood - (phi - 5)), 0.6);
            CHECK_BELOW(slid, phi + 1.4);
        }
    /* Negative control: sand of ten degrees less does not stand there. */
    CHECK_BELOW(heap_slope("apic", 30, 35, 1.5), 32);
}

static void heap_slides_to_its_flowing_slope(void **state) {
    (void)state;
    if (WATCHED) skip();
    double slope[3];
    for (int k = 0; k < COUNT_OF(integrators); k++) {
        for (int a = 0; a < 3; a++) {
            double phi = 20 + 10 * a, flowing = degrees_of(sin(radians(phi)));
            slope[a] = heap_slope(integrators[k], phi, 50, 2);
            print_message("case 13: %s, phi %g: 50 degrees slide to %.2f (%.2f)\n", integrators[k],
                          phi, slope[a], flowing);
            CHECK_ABOVE(slope[a], flowing - 4); /* it overshoots */
            CHECK_BELOW(slope[a], phi + 2);
        }
        CHECK_ABOVE(slope[1], slope[0] + 3);
        CHECK_ABOVE(slope[2], slope[1] + 3);
        /* Negative control: sand of 20 degrees is not taken for one of 40. */
        CHECK_BELOW(slope[0], degrees_of(sin(radians(40))) - 4);
    }
}

/* ---- Case 12 ---- */

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half a column of one metre by `aspect`, in 3D a quarter of a cylinder of that radius, collapses
 * along rough ground: how far its front came, behind which 99 % of it lies (single grains run
 * ahead), and its height at the axis. */
static void collapse(int dim, int cells, const char *integrator, double phi, double aspect,
                     double seconds, double *runout, double *height) {
    const bool flat = dim == 2;
    char outline[256];
    snprintf(
        outline, sizeof outline,
        flat ? "{box: {min: [0, 0], max: [1, %g]}}"
             : "{intersection: [{cylinder: {from: [0, -1, 0], to: [0, %g, 0], radius: 1}}, {box: "
               "{min: [0, 0, 0], max: [1, %g, 1]}}]}",
        aspect, aspect);
    play p = play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: [%g, %g%s], dx: %.17g, walls: {x_min: slip, x_max: open, y_min: sticky, "
        "y_max: open%s}}\n"
        "solver: {integrator: %s}\n"
        "materials: {s: {model: sand, density: 1500, young_modulus: 1.0e6, friction_angle: %g}}\n"
        "bodies: [{material: s, shape: %s}]\n",
        dim, flat ? 14.0 : 7, aspect + 1, flat ? "" : ", 7", 1.0 / cells,
        flat ? "" : ", z_min: slip, z_max: open", integrator, phi, outline);
    play_until(&p, seconds);
    int64_t count = p.sim->particles.count, n = 0;
    double *front = malloc((size_t)count * sizeof *front);
    *height = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        front[n++] = flat ? x[0] : hypot(x[0], x[2]);
        if (front[n - 1] < 2.0 / cells) *height = fmax(*height, x[1]);
    }
    qsort(front, (size_t)n, sizeof *front, compare_numbers);
    *runout = front[n * 99 / 100] - 1;
    free(front);
    play_close(&p);
}

static bool in_band(double runout, double height) {
    return runout >= 2 && runout <= 3.6 && height >= 0.8 && height <= 1.7;
}

static void column_collapses(void **state) {
    (void)state;
    if (WATCHED) skip();
    for (int k = 0; k < COUNT_OF(integrators); k++) {
        double runout, height;
        collapse(2, 16, integrators[k], 31, 2, 2, &runout, &height);
        print_message("case 12: %s: runout %.2f (2.0 to 3.6), height %.2f (0.8 to 1.7)\n",
                      integrators[k], runout, height);
        assert_true(in_band(runout, height));
    }
    double runout, height;
    collapse(2, 16, "apic", 5, 2, 2, &runout, &height); /* negative control */
    assert_true(runout > 3.6 && height < 0.8);
}

/* Laws fitted to experiments on sands that come to rest at about 31 degrees, whatever the ground:
 * in a channel (L - L0) / L0 = 1.2 a for a < 1.8, 1.9 a^(2/3) for a > 2.8 (Lube et al. 2005;
 * Lajeunesse et al. 2005), of a cylinder 1.24 a for a < 1.7, 1.6 sqrt(a) beyond (Lube et al. 2004).
 * Layers of ours come to rest at atan(sin(phi)), so in the plane that sand has phi =
 * asin(tan(31)). */
static void columns_collapse_by_the_laws(void **state) {
    (void)state;
    if (WATCHED || IN_DOUBLE || !getenv("SPATE_FULL")) skip();
    static const struct {
        int dim, cells;
        double aspect, law;
    } columns[] = {
        {2, 32, 1, 1.2}, {2, 16, 4, 4.79}, {2, 16, 8, 7.6}, {3, 8, 4, 3.2}, {3, 8, 8, 4.53}};
    for (int c = 0; c < COUNT_OF(columns); c++) {
        double runout, height, a = columns[c].aspect, law = columns[c].law;
        double phi = columns[c].dim == 3 ? 31 : asin(tan(radians(31))) * 180 / M_PI;
        collapse(columns[c].dim, columns[c].cells, "apic", phi, a, 5 * sqrt(a / 9.81), &runout,
                 &height);
        print_message("column in %dD, a = %g: runout %.2f (%.2f), height %.2f\n", columns[c].dim, a,
                      runout, law, height);
        CHECK_BELOW(fabs(runout / law - 1), 0.25);
    }
}

/* ---- Pouring ---- */

enum { POUR_COLUMNS = 64 };

/* Volume under the surface of sand that was poured into a box and came to rest, over mass /
 * density. */
static double poured_volume(const char *integrator, bool corrected) {
    play p = play_open(1,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 2], dx: 0.03125, walls: {x_min: separate, x_max: "
                       "separate, y_min: sticky, y_max: open}}\n"
                       "sources: [{material: s, shape: {box: {min: [0.4, 1.5], max: [0.6, 1.6]}}, "
                       "velocity: [0, -1], until: 1}]\n"
                       "solver: {integrator: %s}\nbodies: []\n"
                       "materials: {s: {model: sand, density: 1500, young_modulus: 1.0e6, "
                       "%s}}\n",
                       integrator, corrected ? "" : "volume_correction: false");
    play_until(&p, 2.2);
    double top[POUR_COLUMNS] = {0}, volume = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        int c = (int)floor(x[0] * POUR_COLUMNS);
        if (c >= 0 && c < POUR_COLUMNS) top[c] = fmax(top[c], x[1] + 0.03125 / 4);
    }
    for (int c = 0; c < POUR_COLUMNS; c++) volume += top[c] / POUR_COLUMNS;
    double share = volume * 1500 / play_quantity(&p, "mass");
    play_close(&p);
    return share;
}

static void poured_sand_keeps_its_volume(void **state) {
    (void)state;
    if (WATCHED) skip();
    double apic = poured_volume("apic", true), loose = poured_volume("apic", false);
    double asflip = poured_volume("asflip", true), most = poured_volume("asflip", false);
    print_message("poured sand takes up %.2f of its volume with apic, %.2f with asflip; without "
                  "correction %.2f and %.2f\n",
                  apic, asflip, loose, most);
    CHECK_BELOW(fabs(apic - 1), 0.15);
    CHECK_BELOW(asflip, 1.7); /* what moves apart within a cell is not seen */
    CHECK_ABOVE(loose, 1.5);  /* negative controls */
    CHECK_ABOVE(most, 2);
}

/* ---- A silo ---- */

/* What runs out of a silo of 24 cells through an opening of `opening` cells, which begins and ends
 * at nodes, in kg/(m s). */
static double discharge(const char *filled_with, int opening, double filling) {
    const double dx = 1.0 / 32, half = 0.5 * opening * dx, floor_y = 0.5;
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
        "domain: {origin: [-0.375, 0], size: [0.75, %.17g], dx: %.17g, walls: {x_min: separate, "
        "x_max: "
        "separate, y_min: open, y_max: open}, wall_friction: 0.5}\n"
        "colliders:\n"
        "  - {shape: {box: {min: [-1, 0.25], max: [%.17g, %.17g]}}, contact: separate, friction: "
        "0.5}\n"
        "  - {shape: {box: {min: [%.17g, 0.25], max: [1, %.17g]}}, contact: separate, friction: "
        "0.5}\n"
        "materials: {s: {%s}}\n"
        "bodies: [{material: s, shape: {box: {min: [-0.375, %.17g], max: [0.375, %.17g]}}}]\n",
        floor_y + filling + 0.25, dx, -half, floor_y, half, floor_y, filled_with, floor_y,
        floor_y + filling);
    double mass[2];
    for (int k = 0; k < 2; k++) {
        int64_t above = 0;
        play_until(&p, 0.3 + 0.25 * k);
        EACH_PARTICLE(p.sim, block, i) {
            double x[3];
            if (p.sim->particles.group[i] == GROUP_REMOVED) continue;
            simulation_position(p.sim, block, i, x);
            above += x[1] > floor_y;
        }
        mass[k] = (double)above * 1500 * dx * dx / 4;
    }
    play_close(&p);
    return (mass[0] - mass[1]) / 0.25;
}

/* Q = C rho sqrt(g) (W - k)^1.5: the opening that the grid has is k off, so Q^(2/3) is linear in W.
 * The filling does not matter; of water it does, and the openings do less. */
static void silo_runs_out_evenly(void **state) {
    (void)state;
    if (WATCHED) skip();
    const char *sand = "model: sand, density: 1500, young_modulus: 1.0e6, friction_angle: 30";
    const char *water = "model: liquid, density: 1500, bulk_modulus: 1.0e6";
    double root[3], filled = discharge(sand, 6, 1.4) / discharge(sand, 6, 0.7);
    for (int k = 0; k < 3; k++) root[k] = cbrt(pow(discharge(sand, 4 + 2 * k, 0.7), 2));
    double slope = (root[2] - root[0]) / 4, lost = 6 - root[1] / slope;
    double bend = (root[0] + root[2]) / 2 / root[1] - 1;
    double deep = discharge(water, 6, 1.4) / discharge(water, 6, 0.7);
    print_message("silo: C %.2f, opening less %.2f cells, bend %.3f; twice the filling: sand %.2f, "
                  "water %.2f\n",
                  pow(slope * 32, 1.5) / (1500 * sqrt(9.81)), lost, bend, filled, deep);
    CHECK_BELOW(fabs(bend), 0.03);
    CHECK_BELOW(fabs(lost), 1.5);
    CHECK_BELOW(fabs(filled - 1), 0.06);
    CHECK_ABOVE(deep, 1.25); /* negative control: sqrt(2) */
}

/* A grain alone keeps its velocity gradient under an affine scheme; the volume it seems to gain
 * must not run away. */
static void a_single_grain_does_not_run_away(void **state) {
    (void)state;
    play p = play_open(
        1, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
           "domain: {size: [2, 2], dx: 0.0625}\nsolver: {integrator: apic, dt: 0.001}\n"
           "materials: {s: {model: sand, density: 1000, young_modulus: 1.0e5, volume_correction: "
           "true}}\n"
           "bodies: [{material: s, shape: {points: [[1, 1]]}}]\n");
    p.sim->particles.affine[0][0][0] = p.sim->particles.affine[0][1][1] = (real)(0.0625 * 40);
    play_steps(&p, 2000);
    double kept = (double)p.sim->particles.hardening[0];
    CHECK_BELOW(kept, 20.001);
    CHECK_ABOVE(kept, 5); /* it has grown */
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_slides_by_the_cone),
        cmocka_unit_test(heap_stands_up_to_its_friction_angle),
        cmocka_unit_test(heap_stands_in_3d),
        cmocka_unit_test(heap_slides_to_its_flowing_slope),
        cmocka_unit_test(column_collapses),
        cmocka_unit_test(columns_collapse_by_the_laws),
        cmocka_unit_test(poured_sand_keeps_its_volume),
        cmocka_unit_test(silo_runs_out_evenly),
        cmocka_unit_test(a_single_grain_does_not_run_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
