/* Colour map and palette; OKLab after Ottosson 2020, the screen's curve after IEC 61966-2-1. */
#include "pictures/draw/colour.h"
#include <math.h>

static float from_screen(float v) {
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

float colour_to_screen(float linear) {
    if (!(linear > 0)) return 0;
    if (linear >= 1) return 1;
    return linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
}

rgb colour_from_hex(unsigned hex) {
    return (rgb){from_screen((float)(hex >> 16 & 255) / 255),
                 from_screen((float)(hex >> 8 & 255) / 255), from_screen((float)(hex & 255) / 255)};
}

rgb colour_from_screen(const double channels[3]) {
    return (rgb){from_screen((float)channels[0]), from_screen((float)channels[1]),
                 from_screen((float)channels[2])};
}

rgb colour_given(const field_color *c, rgb otherwise) {
    return c->given ? colour_from_screen(c->rgb) : otherwise;
}

/* Ottosson's matrices. Cone responses l, m, s are between light and OKLab, where they are cubed. */
static const float cones_of_oklab[3][3] = {{1, 0.3963377774f, 0.2158037573f},
                                           {1, -0.1055613458f, -0.0638541728f},
                                           {1, -0.0894841775f, -1.2914855480f}};
static const float light_of_cones[3][3] = {{4.0767416621f, -3.3077115913f, 0.2309699292f},
                                           {-1.2684380046f, 2.6097574011f, -0.3413193965f},
                                           {-0.0041960863f, -0.7034186147f, 1.7076147010f}};
static const float cones_of_light[3][3] = {{0.4122214708f, 0.5363325363f, 0.0514459929f},
                                           {0.2119034982f, 0.6806995451f, 0.1073969566f},
                                           {0.0883024619f, 0.2817188376f, 0.6299787005f}};
static const float lightness_of_cones[3] = {0.2104542553f, 0.7936177850f, -0.0040720468f};

static float dot(const float row[3], const float x[3]) {
    return row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
}

rgb colour_from_oklab(float lightness, float a, float b) {
    const float lab[3] = {lightness, a, b};
    float cones[3];
    for (int i = 0; i < 3; i++) {
        const float root = dot(cones_of_oklab[i], lab);
        cones[i] = root * root * root;
    }
    return (rgb){dot(light_of_cones[0], cones), dot(light_of_cones[1], cones),
                 dot(light_of_cones[2], cones)};
}

float colour_lightness(rgb c) {
    const float light[3] = {c.r, c.g, c.b};
    float roots[3];
    for (int i = 0; i < 3; i++) roots[i] = cbrtf(dot(cones_of_light[i], light));
    return dot(lightness_of_cones, roots);
}

rgb colour_mix(rgb a, rgb b, float share_of_b) {
    return (rgb){a.r + (b.r - a.r) * share_of_b, a.g + (b.g - a.g) * share_of_b,
                 a.b + (b.b - a.b) * share_of_b};
}

/* Points of the maps, and between them. Indigo, blue, teal, leaf, cream: lightness in equal steps,
 * all inside the screen's gamut. */
enum { SPANS = 4 };
static const float map_points[SPANS + 1][3] = {
    {0.285f, 0.018f, -0.125f}, {0.440f, -0.035f, -0.125f}, {0.595f, -0.085f, -0.045f},
    {0.750f, -0.075f, 0.080f}, {0.905f, -0.010f, 0.125f},
};

/* Blue, white, red: as light at one end as at the other. */
static const float signed_points[SPANS + 1][3] = {
    {0.460f, -0.030f, -0.140f}, {0.705f, -0.035f, -0.070f}, {0.950f, 0.000f, 0.000f},
    {0.705f, 0.095f, 0.055f},   {0.460f, 0.150f, 0.075f},
};

static float unit(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static rgb colour_along(const float points[SPANS + 1][3], double at) {
    if (isnan(at)) return (rgb){0.35f, 0.35f, 0.35f};
    float x = (float)(at < 0 ? 0 : at > 1 ? 1 : at) * SPANS;
    int i = x >= SPANS ? SPANS - 1 : (int)x;
    float f = x - (float)i, lab[3];
    /* Catmull-Rom in the two hue axes keeps the path round; lightness stays straight. */
    const float *p1 = points[i], *p2 = points[i + 1];
    const float *p0 = i > 0 ? points[i - 1] : p1, *p3 = i + 2 <= SPANS ? points[i + 2] : p2;
    lab[0] = p1[0] + (p2[0] - p1[0]) * f;
    for (int c = 1; c < 3; c++) {
        float m1 = 0.5f * (p2[c] - p0[c]), m2 = 0.5f * (p3[c] - p1[c]), d = p2[c] - p1[c];
        lab[c] = p1[c] + f * (m1 + f * (3 * d - 2 * m1 - m2 + f * (m1 + m2 - 2 * d)));
    }
    rgb out = colour_from_oklab(lab[0], lab[1], lab[2]);
    return (rgb){unit(out.r), unit(out.g), unit(out.b)};
}

rgb colour_map(double at) { return colour_along(map_points, at); }
rgb colour_map_signed(double at) { return colour_along(signed_points, at); }

rgb colour_material(int index) {
    static const unsigned palette[COLOUR_PALETTE] = {0x2f7fb8, 0xe07a4b, 0x4fa678, 0xc9a23f,
                                                     0x8d6bb5, 0xc75c7a, 0x5b9aa6, 0x8a7a66};
    return colour_from_hex(palette[((index % COLOUR_PALETTE) + COLOUR_PALETTE) % COLOUR_PALETTE]);
}
