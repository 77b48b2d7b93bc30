/*
 * What particles measure at a flat surface; see shapes.h. They stand on a cubic lattice, so that
 * the axes of all shapes are known and those of a layer are alike; what is measured is the mean
 * over the plane at a distance.
 */
#include "surface/shapes.h"
#include <math.h>

/* Chosen so that balls, single layers and threads of jittered particles have the size they should
 * (tests/test_surface_shapes.c); flat faces are right with any numbers. */
const shape_rule anisotropic_rule = {.support = (real)2.75,
                                     .least = (real)0.5,
                                     .most = 1,
                                     .own = (real)1.06,
                                     .floor = (real)1.75,
                                     .move = (real)0.1,
                                     .thicken_sheet = (real)0.35,
                                     .thicken_thread = 1,
                                     .thicken_spray = 6};
/* Flat and wide: of the nearest one only a small part is seen, and few stick out. */
const shape_rule sheets_rule = {.support = (real)2.97,
                                .least = (real)0.314,
                                .most = (real)0.6,
                                .floor = (real)1.1,
                                .move = (real)0.41,
                                .bias = (real)0.055};

enum { LAYERS = 12, PLACES = 6, HEIGHTS = 600 };

/* A layer of particles: where its centres are, and half axes. */
typedef struct flat_layer {
    double height, along, across;
} flat_layer;

/* The half axis of an eigenvalue of k_s C, in lattice spacings. */
static double half_axis(const shape_rule *rule, double eigenvalue, double size) {
    const double share = fmin(fmax(eigenvalue, (double)rule->least), (double)rule->most);
    const double support = fmin((double)rule->support * fmax(size, 1), (double)SUPPORT_MAX);
    return fmax(share * support, (double)rule->floor);
}

/* Sums over the half-space below height 0 around a particle of layer k. */
static flat_layer layer_at(const shape_rule *rule, int dim, int k, double spacing) {
    const double radius = fmin(SHAPE_RADIUS * fmax(spacing, 1), BRICK_EDGE) / spacing;
    const double scale = 1 / (SHAPE_COVARIANCE(dim) * radius * radius);
    const int span = (int)ceil(radius);
    double weight = 0, mean = 0, along = 0, across = 0;
    for (int z = -span; z <= (k < span ? k : span); z++)
        for (int y = -span; y <= span; y++)
            for (int x = dim == 3 ? -span : 0; x <= (dim == 3 ? span : 0); x++) {
                const double w = fmax(1 - (x * x + y * y + z * z) / (radius * radius), 0);
                weight += w, mean += w * z, along += w * y * y, across += w * z * z;
            }
    mean /= weight, along /= weight, across = across / weight - mean * mean;
    const double even = SHAPE_WEIGHT(dim) * pow(radius, dim);
    const bool whole = weight >= SHARE_WHOLE * even;
    return (flat_layer){.height = (-0.5 - k + (double)rule->move * mean) * spacing,
                        .along = half_axis(rule, whole ? 1 : scale * along, spacing),
                        .across = half_axis(rule, whole ? 1 : scale * across, spacing)};
}

/* Kernels integrated along the layers. */
static double mean_sum(const flat_layer *layers, int dim, double spacing, double height) {
    double sum = 0;
    for (int k = 0; k < LAYERS; k++) {
        const double u = (height - layers[k].height) / layers[k].across, t = fmax(1 - u * u, 0);
        sum += (dim == 3 ? 315.0 / 256 * t * t : 128 / (35 * 3.14159265358979324) * t * sqrt(t)) *
               t * t * spacing / layers[k].across;
    }
    return sum;
}

/* Half axes to the nearest particle from a place over the square between four of them. */
static double nearest_at(const flat_layer *layers, int dim, double spacing, double height, int i,
                         int j) {
    const double x = dim == 3 ? (i + 0.5) / (2 * PLACES) * spacing : 0,
                 y = (j + 0.5) / (2 * PLACES) * spacing;
    double least = 1;
    for (int k = 0; k < LAYERS; k++) {
        const double z = (height - layers[k].height) / layers[k].across;
        least = fmin(least, (x * x + y * y) / (layers[k].along * layers[k].along) + z * z);
    }
    return sqrt(least);
}

static double mean_nearest(const flat_layer *layers, int dim, double spacing, double height) {
    double sum = 0;
    for (int i = 0; i < (dim == 3 ? PLACES : 1); i++)
        for (int j = 0; j < PLACES; j++) sum += nearest_at(layers, dim, spacing, height, i, j);
    return sum / (PLACES * (dim == 3 ? PLACES : 1));
}

flat_profile flat_profile_create(surface_method method, int dim, double spacing) {
    const shape_rule *rule = shape_rule_of(method);
    const bool sum = method == SURFACE_ANISOTROPIC;
    const double top = 1.5 * (double)rule->support * fmax(spacing, 1), depth = fmax(spacing, 1);
    flat_layer layers[LAYERS];
    flat_profile out;
    for (int k = 0; k < LAYERS; k++) layers[k] = layer_at(rule, dim, k, spacing);
    /* From outside inwards the sum grows and the distance to the nearest falls; the first height
     * that has a value is its own. */
    for (int s = 0; s <= PROFILE_STEPS + 1; s++) out.distance[s] = (real)(sum ? -depth : top);
    int done = sum ? 0 : PROFILE_STEPS;
    for (int h = HEIGHTS; h >= 0; h--) {
        const double height = -depth + (top + depth) * h / HEIGHTS;
        const double value = sum ? mean_sum(layers, dim, spacing, height)
                                 : mean_nearest(layers, dim, spacing, height);
        if (sum)
            while (done <= PROFILE_STEPS && value >= (double)done / PROFILE_STEPS && value > 0)
                out.distance[done++] = (real)height;
        else
            while (done >= 0 && value <= (double)done / PROFILE_STEPS && value < 1)
                out.distance[done--] = (real)height;
    }
    for (; !sum && done >= 0; done--) out.distance[done] = (real)-depth;
    for (int s = 0; s <= PROFILE_STEPS; s++)
        out.distance[s] += (real)((double)rule->bias * spacing);
    out.distance[PROFILE_STEPS + 1] = out.distance[PROFILE_STEPS];
    return out;
}
