/* A sheet of pictures: which frames, one colour scale, cells, words. */
#include "pictures/sheet.h"
#include "pictures/draw/plot.h"
#include "pictures/render.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const rgb ink = {0.045f, 0.055f, 0.07f}, paper = {0.93f, 0.94f, 0.95f};
static const rgb alarm = {0.61f, 0.05f, 0.0f};

/* ---- Where things are ------------------------------------------------------------------------ */

sheet_layout sheet_place(const spate_scene *scene, int rows, int columns, int about, bool bar) {
    /* A cell has the shape of a flat domain, and always about the same area. */
    double ratio = 16.0 / 9;
    if (scene->dim == 2) ratio = fmin(fmax(scene->domain.size[0] / scene->domain.size[1], 0.5), 4);
    double width = about * sqrt(ratio * 9 / 16), letters = fmax(6, about / 48.0);
    sheet_layout l = {.rows = rows, .columns = columns, .letters = letters};
    l.cell[0] = (int)fmax(width, 16), l.cell[1] = (int)fmax(width / ratio, 16);
    l.strip = (int)(2.6 * letters);
    l.gap = (int)letters;
    l.left = (int)letters;
    l.top = (int)(3.2 * letters);
    l.right = (int)(bar ? 9 * letters : letters);
    l.width = l.left + columns * l.cell[0] + (columns - 1) * l.gap + l.right;
    l.height = l.top + rows * (l.cell[1] + l.strip) + l.gap / 2;
    return l;
}

void sheet_cell(const sheet_layout *l, int row, int column, int at[2]) {
    at[0] = l->left + column * (l->cell[0] + l->gap);
    at[1] = l->top + row * (l->cell[1] + l->strip);
}

/* ---- Which frames ---------------------------------------------------------------------------- */

typedef struct sheet_row {
    const spate_variant *variant;
    int pen; /* which of all variants it is */
    spate_scene *scene;
    frame_list frames;
    colouring colouring;
} sheet_row;

typedef struct sheet {
    spate_context *ctx;
    const spate_compare_options *options;
    sheet_row *rows;
    int row_count, column_count;
    bool alike; /* all rows begin with the same picture, which is left out */
    double end; /* time of the last frame of all */
    sheet_layout layout;
    picture all, cell;
} sheet;

static bool has_trouble(const sheet_row *r) { return r->variant->trouble && *r->variant->trouble; }

static double frame_time(const sheet_row *r, int64_t index) {
    return (double)r->frames.numbers[index] / r->scene->fps;
}

/* Columns are spread evenly up to the end, from the beginning on where there is something to
 * see. */
static double column_time(const sheet *s, int column) {
    if (s->alike) return s->end * (column + 1) / s->column_count;
    return s->column_count > 1 ? s->end * column / (s->column_count - 1) : s->end;
}

/* The frame (its index) that a cell shows, -1 for none. A run that ended early shows its last frame
 * once more past its end: that is what became of it. */
static int64_t cell_frame(const sheet *s, const sheet_row *r, int column) {
    const int64_t last = r->frames.count - 1;
    const double time = column_time(s, column);
    int64_t best = 0;
    for (int64_t i = 1; i <= last; i++)
        if (fabs(frame_time(r, i) - time) < fabs(frame_time(r, best) - time)) best = i;
    if (time <= frame_time(r, last) + 0.501 / r->scene->fps) return best;
    if (column == 0) return last;
    const int64_t before = cell_frame(s, r, column - 1);
    return before >= 0 && before < last ? last : -1;
}

/* Variants of one material differ in how it moves. */
static const char *choose_colour(const spate_scene *scene) {
    const bool plain = scene->material_count == 1 && !colouring_gives_colour(scene);
    return scene->dim == 2 && plain && !scene_on_grid(scene) ? "speed" : NULL;
}

static spate_status open_row(sheet *s, const spate_variant *v, int index) {
    sheet_row *r = &s->rows[s->row_count];
    if (!file_is_folder(s->ctx, v->folder)) return SPATE_OK;
    *r = (sheet_row){.variant = v, .pen = index, .frames = {.ctx = s->ctx}};
    TRY(frame_list_read(v->folder, &r->frames));
    if (!r->frames.count) return SPATE_OK;
    s->row_count++;
    TRY(render_load_scene(s->ctx, v->folder, NULL, &r->scene));
    r->frames.scene = r->scene;
    TRY(render_choose_colouring(r->scene, choose_colour(r->scene), v->folder, &r->frames,
                                &r->colouring));
    r->colouring.plain = true;
    s->end = fmax(s->end, frame_time(r, r->frames.count - 1));
    return SPATE_OK;
}

/* No more columns than the longest run has frames to show. */
static void choose_columns(sheet *s) {
    int64_t most = 1;
    for (int i = 0; i < s->row_count; i++) {
        const int64_t frames = s->rows[i].frames.count - s->alike;
        if (frames > most) most = frames;
    }
    s->column_count = (int)(most < s->options->times ? most : s->options->times);
}

static spate_status load_frame(const sheet *s, const sheet_row *r, int64_t index,
                               char path[PATH_SIZE], snapshot *frame) {
    if (s->options->interrupt && *s->options->interrupt)
        return fail(s->ctx, SPATE_INTERRUPTED, "%s: interrupted while drawing the sheet",
                    s->options->folder);
    return frame_list_load(&r->frames, r->variant->folder, index, path, frame);
}

static spate_status load_cell(const sheet *s, const sheet_row *r, int column, char path[PATH_SIZE],
                              snapshot *frame, bool *there) {
    const int64_t index = cell_frame(s, r, column);
    *there = index >= 0;
    return *there ? load_frame(s, r, index, path, frame) : SPATE_OK;
}

/* ---- Whether they begin alike ---------------------------------------------------------------- */

/* Widens [low, high] by the first frame of a row. */
static spate_status measure_first(const sheet *s, const sheet_row *r, double *low, double *high) {
    char path[PATH_SIZE];
    snapshot frame;
    if (colouring_by_material(&r->colouring)) return SPATE_OK;
    TRY(load_frame(s, r, 0, path, &frame));
    spate_status status = colouring_measure(&r->colouring, &frame, path, low, high);
    snapshot_free(&frame);
    return status;
}

static spate_status draw_first(const sheet *s, const sheet_row *r, double low, double high,
                               picture *out) {
    char path[PATH_SIZE];
    snapshot frame;
    colouring by = r->colouring;
    if (!colouring_by_material(&by)) colouring_set_range(&by, low, high);
    TRY(load_frame(s, r, 0, path, &frame));
    spate_status status = render_frame(&by, &frame, path, frame.time, 1, out);
    snapshot_free(&frame);
    return status;
}

/* A first column of the same picture over and over tells nothing. It is looked at small. */
static spate_status compare_first(sheet *s) {
    enum { WIDTH = 160, HEIGHT = 90 };
    double low = HUGE_VAL, high = -HUGE_VAL;
    picture first = {0}, other = {0};
    spate_status status = SPATE_OK;
    s->alike = s->row_count > 1;
    if (!s->alike) return SPATE_OK;
    for (int i = 0; i < s->row_count; i++) TRY(measure_first(s, &s->rows[i], &low, &high));
    TRY_OR_DONE(status, picture_create(s->ctx, WIDTH, HEIGHT, &first));
    TRY_OR_DONE(status, picture_create(s->ctx, WIDTH, HEIGHT, &other));
    TRY_OR_DONE(status, draw_first(s, &s->rows[0], low, high, &first));
    for (int i = 1; i < s->row_count && s->alike; i++) {
        TRY_OR_DONE(status, draw_first(s, &s->rows[i], low, high, &other));
        s->alike = !memcmp(first.pixels, other.pixels, WIDTH * HEIGHT * sizeof *first.pixels);
    }
done:
    picture_free(s->ctx, &first);
    picture_free(s->ctx, &other);
    return status;
}

/* ---- Colours --------------------------------------------------------------------------------- */

/* One scale for the rows that are coloured alike, from those that ended well where there are
 * any. */
static spate_status choose_scale(sheet *s) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    bool well = false;
    for (int i = 0; i < s->row_count; i++) well |= !has_trouble(&s->rows[i]);
    for (int i = 0; i < s->row_count; i++) {
        const sheet_row *r = &s->rows[i];
        if (colouring_by_material(&r->colouring) || (well && has_trouble(r))) continue;
        for (int c = 0; c < s->column_count; c++) {
            char path[PATH_SIZE];
            snapshot frame;
            bool there;
            TRY(load_cell(s, r, c, path, &frame, &there));
            if (!there) continue;
            spate_status status = colouring_measure(&r->colouring, &frame, path, &low, &high);
            snapshot_free(&frame);
            TRY(status);
        }
    }
    for (int i = 0; i < s->row_count; i++)
        if (!colouring_by_material(&s->rows[i].colouring))
            colouring_set_range(&s->rows[i].colouring, low, high);
    return SPATE_OK;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void lay_cell(picture *on, const picture *cell, const int at[2]) {
    for (int y = 0; y < cell->height; y++)
        memcpy(on->pixels + (int64_t)(at[1] + y) * on->width + at[0],
               cell->pixels + (int64_t)y * cell->width, (size_t)cell->width * sizeof *cell->pixels);
}

/* Below a cell: the variant behind its pen, the time at the right, trouble in between. */
static void write_strip(sheet *s, const sheet_row *r, const int at[2], double time) {
    const sheet_layout *l = &s->layout;
    const double size = l->letters, y = at[1] + l->cell[1] + 1.55 * size;
    double x = at[0], right = at[0] + l->cell[0] - 0.4 * size;
    char words[64] = "";
    if (!isnan(time)) snprintf(words, sizeof words, "t = %.3f s", time);
    for (char *c = words; *c; c++)
        if (*c == ',') *c = '.'; /* a locale's decimal comma */
    picture_text(&s->all, right, y, size, ALIGN_RIGHT, ink, words);
    plot_sample(&s->all, x + 0.2 * size, x + 2 * size, y - 0.45 * size, 0.3 * size,
                plot_choose_pen(r->pen));
    x += 2.8 * size;
    const char *trouble = has_trouble(r) ? r->variant->trouble : "";
    double room = right - x - picture_text_width(size, words) - size;
    if (*trouble) room -= picture_text_width(size, trouble) + size;
    const double letters = picture_fit_text(size, room, variant_words(r->variant));
    picture_text(&s->all, x, y, letters, ALIGN_LEFT, ink, variant_words(r->variant));
    picture_text(&s->all, x + picture_text_width(letters, variant_words(r->variant)) + size, y,
                 size, ALIGN_LEFT, alarm, trouble);
}

static spate_status draw_cell(sheet *s, int row, int column) {
    const sheet_row *r = &s->rows[row];
    char path[PATH_SIZE];
    snapshot frame;
    bool there;
    int at[2];
    sheet_cell(&s->layout, row, column, at);
    TRY(load_cell(s, r, column, path, &frame, &there));
    if (!there) {
        picture_box(&s->all, at[0], at[1], at[0] + s->layout.cell[0], at[1] + s->layout.cell[1],
                    paper, 1);
        write_strip(s, r, at, NAN);
        return SPATE_OK;
    }
    spate_status status =
        render_frame(&r->colouring, &frame, path, frame.time, s->options->samples, &s->cell);
    const double time = frame.time;
    snapshot_free(&frame);
    TRY(status);
    lay_cell(&s->all, &s->cell, at);
    write_strip(s, r, at, time);
    return SPATE_OK;
}

static void draw_scale(sheet *s, const colouring *by) {
    const sheet_layout *l = &s->layout;
    const double size = l->letters, x0 = l->width - l->right + size, x1 = x0 + 1.4 * size;
    const double y0 = l->top + 2 * size, y1 = y0 + fmin(l->cell[1] - 2 * size, 24 * size);
    picture_colour_bar(&s->all, x0, y0, x1, y1, colouring_map(by));
    plot_ticks t = plot_choose_ticks(by->low, by->high, 4);
    for (int i = 0; i < t.count; i++) {
        double v = plot_tick(&t, i), y = y1 + (v - by->low) / (by->high - by->low) * (y0 - y1);
        char number[48];
        plot_tick_text(&t, v, number, sizeof number);
        picture_line(&s->all, (picture_ends){x1, y, x1 + 0.5 * size, y}, 1, ink, 1);
        picture_text(&s->all, x1 + size, y + 0.5 * size, size, ALIGN_LEFT, ink, number);
    }
    picture_text(&s->all, x0, l->top + 0.8 * size,
                 picture_fit_text(size, l->right - 1.5 * size, by->label), ALIGN_LEFT, ink,
                 by->label);
}

static spate_status draw_sheet(sheet *s) {
    const sheet_row *scaled = NULL;
    for (int i = 0; i < s->row_count && !scaled; i++)
        if (!colouring_by_material(&s->rows[i].colouring)) scaled = &s->rows[i];
    s->layout =
        sheet_place(s->rows[0].scene, s->row_count, s->column_count, s->options->cell, scaled);
    const sheet_layout *l = &s->layout;
    TRY(picture_create(s->ctx, l->width, l->height, &s->all));
    TRY(picture_create(s->ctx, l->cell[0], l->cell[1], &s->cell));
    TRY(choose_scale(s));
    picture_fill(&s->all, (rgb){1, 1, 1});
    const char *title = s->options->title;
    picture_text(&s->all, l->left, 2.1 * l->letters,
                 picture_fit_text(1.2 * l->letters, l->width - 2 * l->left, title), ALIGN_LEFT, ink,
                 title);
    for (int row = 0; row < s->row_count; row++)
        for (int column = 0; column < s->column_count; column++) TRY(draw_cell(s, row, column));
    if (scaled) draw_scale(s, &scaled->colouring);
    return SPATE_OK;
}

static void sheet_free(sheet *s, int room) {
    for (int i = 0; i < room && s->rows; i++) {
        give(s->ctx, s->rows[i].frames.numbers);
        spate_scene_free(s->rows[i].scene);
    }
    give(s->ctx, s->rows);
    picture_free(s->ctx, &s->all);
    picture_free(s->ctx, &s->cell);
}

spate_status sheet_write(spate_context *ctx, const spate_variant *variants, int count,
                         const spate_compare_options *options, const char *path, bool *drawn) {
    sheet s = {.ctx = ctx, .options = options};
    spate_status status = SPATE_OK;
    *drawn = false;
    s.rows = take(ctx, (size_t)count, sizeof *s.rows);
    if (!s.rows) return SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < count; i++) TRY_OR_DONE(status, open_row(&s, &variants[i], i));
    if (!s.row_count) goto done;
    TRY_OR_DONE(status, compare_first(&s));
    choose_columns(&s);
    TRY_OR_DONE(status, draw_sheet(&s));
    TRY_OR_DONE(status, picture_save(ctx, &s.all, path));
    *drawn = true;
done:
    sheet_free(&s, count);
    return status;
}
