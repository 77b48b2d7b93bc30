/*
 * Meshes in 2D; see mesh_2d.h. All triangles are laid on an empty sheet first, each by how many
 * points of a pixel it has: two that share an edge leave no seam between them.
 */
#include "pictures/mesh_2d.h"
#include "pictures/mesh_pictures.h"

enum { POINTS = 4 }; /* of a pixel, along an axis */

static const float outline_share = 0.45f; /* of the colour inside */
static const double outline_width = 1.3, thinnest = 1.6;

typedef struct mesh_2d_job {
    mesh_drawing of;
    const frame_2d_map *map;
    v3 *sheet; /* sums of colours, and how many */
    picture *out;
} mesh_2d_job;

static void place(const mesh_2d_job *j, int32_t vertex, double out[2]) {
    const double *origin = j->of.colouring->scene->domain.origin;
    const snapshot_array *x = &j->of.frame->arrays[0];
    out[0] = j->map->left + (snapshot_value(x, vertex, 0) - origin[0]) * j->map->scale;
    out[1] = j->map->bottom - (snapshot_value(x, vertex, 1) - origin[1]) * j->map->scale;
}

static double side_of(const double a[2], const double b[2], double x, double y) {
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/* How many points of a pixel lie in a triangle, which may be turned either way. */
static int points_in(const double x[3][2], double area, int px, int py) {
    int count = 0;
    for (int k = 0; k < POINTS * POINTS; k++) {
        const double cx = px + (k % POINTS + 0.5) / POINTS, cy = py + (k / POINTS + 0.5) / POINTS;
        bool inside = true;
        for (int c = 0; c < 3; c++) inside &= side_of(x[c], x[(c + 1) % 3], cx, cy) * area >= 0;
        count += inside;
    }
    return count;
}

static int clamp_to(double at, int most) { return at < 0 ? 0 : at > most ? most : (int)at; }

static void lay_triangle(mesh_2d_job *j, int64_t t) {
    double x[3][2], low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    v3 colour = {0, 0, 0, 1};
    for (int k = 0; k < 3; k++) {
        const int32_t v = snapshot_triangle(j->of.frame, t, k);
        const rgb c = mesh_drawing_colour(&j->of, v);
        place(j, v, x[k]);
        colour += v3_set(c.r, c.g, c.b) * v3_splat(1.0f / 3);
        for (int a = 0; a < 2; a++)
            low[a] = fmin(low[a], x[k][a]), high[a] = fmax(high[a], x[k][a]);
    }
    const double area = side_of(x[0], x[1], x[2][0], x[2][1]);
    if (!isfinite(area) || area == 0) return;
    const int w = j->out->width, h = j->out->height;
    for (int py = clamp_to(floor(low[1]), h); py < clamp_to(ceil(high[1]), h); py++)
        for (int px = clamp_to(floor(low[0]), w); px < clamp_to(ceil(high[0]), w); px++) {
            const float count = (float)points_in((const double(*)[2])x, area, px, py);
            j->sheet[(int64_t)py * w + px] += colour * (v3){count, count, count, count};
        }
}

static void lay_sheet(const mesh_2d_job *j) {
    for (int py = 0; py < j->out->height; py++)
        for (int px = 0; px < j->out->width; px++) {
            const v3 s = j->sheet[(int64_t)py * j->out->width + px];
            if (!(s[3] > 0)) continue;
            const rgb colour = {s[0] / s[3], s[1] / s[3], s[2] / s[3]};
            picture_blend(j->out, px, py, colour, min_of(s[3] / (POINTS * POINTS), 1));
        }
}

static void draw_line(const mesh_2d_job *j, int32_t from, int32_t to) {
    const bool strand = mesh_pictures_kind(j->of.colouring->scene, j->of.groups, from) != MESH_FE;
    const double radius = j->of.radii ? snapshot_value(j->of.radii, from, 0) : 0;
    double a[2], b[2];
    rgb c = mesh_drawing_colour(&j->of, from);
    place(j, from, a), place(j, to, b);
    if (!isfinite(a[0] + a[1] + b[0] + b[1])) return;
    if (!strand) c = (rgb){c.r * outline_share, c.g * outline_share, c.b * outline_share};
    picture_line(j->out, (picture_ends){a[0], a[1], b[0], b[1]},
                 strand ? fmax(2 * radius * j->map->scale, thinnest) : outline_width, c, 1);
}

static void draw_lines(const mesh_2d_job *j) {
    int32_t at = 0;
    for (int64_t k = 0; k < j->of.frame->line_count; k++, at++)
        for (; at + 1 < snapshot_line_end(j->of.frame, k); at++)
            draw_line(j, snapshot_line_corner(j->of.frame, at),
                      snapshot_line_corner(j->of.frame, at + 1));
}

spate_status mesh_2d_draw(const colouring *s, const frame_2d_map *map, const snapshot *frame,
                          const char *file, picture *out) {
    mesh_2d_job job = {.map = map, .out = out};
    TRY(mesh_drawing_of(s, frame, file, &job.of));
    job.sheet = take(s->scene->ctx, (size_t)out->width * (size_t)out->height, sizeof *job.sheet);
    if (!job.sheet) return SPATE_OUT_OF_MEMORY;
    for (int64_t t = 0; t < frame->triangle_count; t++) lay_triangle(&job, t);
    lay_sheet(&job);
    draw_lines(&job);
    give(s->scene->ctx, job.sheet);
    return SPATE_OK;
}
