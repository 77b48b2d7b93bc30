/* Turning what is written by right angles; see axes.h. */
#include "frames/axes.h"
#include <string.h>

file_axes axes_of_files(const spate_scene *scene) {
    file_axes a = {.from = {0, 1, 2}, .sign = {1, 1, 1}};
    const int up = scene_up_axis(scene), wanted = scene->output.up == UP_Y ? 1 : 2;
    a.turned = scene->output.up != UP_AS_SCENE && up != wanted;
    if (!a.turned) return a;
    a.from[wanted] = up;
    a.from[up] = wanted, a.sign[up] = -1;
    return a;
}

file_axes axes_back(const file_axes *a) {
    file_axes back = {.turned = a->turned};
    for (int i = 0; i < 3; i++) back.from[a->from[i]] = i, back.sign[a->from[i]] = a->sign[i];
    return back;
}

void axes_turn_point(const file_axes *a, double x[3]) { axes_turn_doubles(a, x, 1, 3); }

/* ---- Rows of numbers ------------------------------------------------------------------------- */

enum { MOST = 9 };

/* Which component of a row a new one is, and its sign. */
typedef struct row_map {
    int from[MOST], sign[MOST];
} row_map;

static const int symmetric[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};

static int symmetric_place(int i, int j) {
    for (int k = 0; k < 6; k++)
        if ((symmetric[k][0] == i && symmetric[k][1] == j) ||
            (symmetric[k][0] == j && symmetric[k][1] == i))
            return k;
    return 0;
}

/* A'_ij = s_i s_j A_kl for the axes k and l that i and j come from. False without a direction. */
static bool map_rows(const file_axes *a, int components, row_map *m) {
    const bool vector = components == 3;
    if (!vector && components != 6 && components != 9) return false;
    for (int c = 0; c < components; c++) {
        const int i = vector ? c : components == 6 ? symmetric[c][0] : c / 3;
        const int j = components == 6 ? symmetric[c][1] : c % 3;
        const int k = a->from[i], l = a->from[j];
        m->from[c] = vector ? k : components == 6 ? symmetric_place(k, l) : 3 * k + l;
        m->sign[c] = vector ? a->sign[i] : a->sign[i] * a->sign[j];
    }
    return true;
}

#define TURN_ROWS(name, type)                                                    \
    void name(const file_axes *a, type *values, int64_t rows, int components) {  \
        row_map m;                                                               \
        type old[MOST];                                                          \
        if (!a->turned || !map_rows(a, components, &m)) return;                  \
        for (int64_t i = 0; i < rows; i++, values += components) {               \
            memcpy(old, values, (size_t)components * sizeof *old);               \
            for (int c = 0; c < components; c++)                                 \
                values[c] = m.sign[c] < 0 ? 0 - old[m.from[c]] : old[m.from[c]]; \
        }                                                                        \
    }
TURN_ROWS(axes_turn_floats, float)
TURN_ROWS(axes_turn_doubles, double)

/* ---- Grids ----------------------------------------------------------------------------------- */

void axes_turn_grid(const file_axes *a, int cells[3], double origin[3], double spacing) {
    int old[3];
    double low[3];
    memcpy(old, cells, sizeof old);
    memcpy(low, origin, sizeof low);
    for (int i = 0; i < 3; i++) {
        const int k = a->from[i];
        cells[i] = old[k];
        origin[i] = a->sign[i] > 0 ? low[k] : -(low[k] + spacing * old[k]);
    }
}

void axes_turn_cells(const file_axes *a, const int old_cells[3], size_t bytes, const void *from,
                     void *to) {
    const int64_t strides[3] = {1, old_cells[0], (int64_t)old_cells[0] * old_cells[1]};
    int64_t step[3], first = 0;
    int cells[3];
    for (int i = 0; i < 3; i++) {
        const int k = a->from[i];
        cells[i] = old_cells[k];
        step[i] = a->sign[i] * strides[k];
        if (a->sign[i] < 0) first += (cells[i] - 1) * strides[k];
    }
    char *out = to;
    for (int z = 0; z < cells[2]; z++)
        for (int y = 0; y < cells[1]; y++)
            for (int x = 0; x < cells[0]; x++, out += bytes)
                memcpy(out,
                       (const char *)from +
                           (size_t)(first + x * step[0] + y * step[1] + z * step[2]) * bytes,
                       bytes);
}

/* ---- A frame that was read ------------------------------------------------------------------- */

/* Its arrays are not aligned, so they are turned in a copy. */
static void turn_array(const file_axes *a, const snapshot *s, const snapshot_array *array,
                       void *first, void *second) {
    const size_t bytes = (size_t)array->components * snapshot_type_size(array->type);
    const size_t all = (size_t)s->count * bytes;
    void *result = first;
    memcpy(first, array->data, all);
    if (array->type == SNAPSHOT_FLOAT32) axes_turn_floats(a, first, s->count, array->components);
    if (array->type == SNAPSHOT_FLOAT64) axes_turn_doubles(a, first, s->count, array->components);
    if (s->on_grid) {
        axes_turn_cells(a, s->cells, bytes, first, second);
        result = second;
    }
    memcpy(s->bytes + (array->data - (const unsigned char *)s->bytes), result, all);
}

spate_status axes_turn_snapshot(const file_axes *a, snapshot *s) {
    size_t widest = 1;
    if (!a->turned) return SPATE_OK;
    for (int i = 0; i < s->array_count; i++) {
        const size_t bytes =
            (size_t)s->arrays[i].components * snapshot_type_size(s->arrays[i].type);
        if (bytes > widest) widest = bytes;
    }
    const size_t room = (size_t)s->count + 1;
    void *first = take(s->ctx, room, widest), *second = take(s->ctx, room, widest);
    const bool taken = first && second;
    for (int i = 0; i < s->array_count && taken; i++)
        turn_array(a, s, &s->arrays[i], first, second);
    if (taken && s->on_grid) axes_turn_grid(a, s->cells, s->origin, s->spacing[0]);
    give(s->ctx, first);
    give(s->ctx, second);
    return taken ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
