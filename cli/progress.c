/* Progress of a run; see progress.h. */
#include "progress.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 512, FIELD_SIZE = 64 };
static const double seconds_between_lines = 0.1;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- A line as wide as the terminal ---- */

/* What may be said, in the order of the line; `rank` 1 is given up last. Empty: not known. */
enum { FIELD_FRAME, FIELD_PARTICLES, FIELD_DT, FIELD_PHASE, FIELD_LEFT, FIELD_COUNT };
static const int ranks[FIELD_COUNT] = {1, 4, 3, 5, 2};

typedef char progress_fields[FIELD_COUNT][FIELD_SIZE];

static void fill_fields(const spate_progress *p, progress_fields fields) {
    char shown[SHORT_TEXT];
    memset(fields, 0, sizeof(progress_fields));
    snprintf(fields[FIELD_FRAME], FIELD_SIZE, "frame %d/%d", p->frame, p->frames);
    if (p->particles)
        snprintf(fields[FIELD_PARTICLES], FIELD_SIZE, "%s particles",
                 short_count((double)p->particles, shown));
    if (p->dt > 0) snprintf(fields[FIELD_DT], FIELD_SIZE, "dt %.1e (%s)", p->dt, p->dt_limit);
    if (*p->worst_phase)
        snprintf(fields[FIELD_PHASE], FIELD_SIZE, "%s %.0f%%", p->worst_phase,
                 100 * p->worst_share);
    if (p->eta_seconds >= 0)
        snprintf(fields[FIELD_LEFT], FIELD_SIZE, "%s left", short_time(p->eta_seconds, shown));
}

static int width_of_fields(const progress_fields fields, int rank) {
    int width = 0;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (ranks[i] <= rank && *fields[i]) width += 2 + text_columns(fields[i]);
    return width;
}

/* " 42% [=====>     ]"; without the bar when there is no room for it. */
static void draw_bar(double done, int width, char out[LINE_SIZE]) {
    enum { NARROWEST = 4, WIDEST = 40 };
    int used = snprintf(out, LINE_SIZE, "%3d%%", (int)(100 * done));
    int room = width - used - (int)strlen(" []");
    if (room < NARROWEST) return;
    if (room > WIDEST) room = WIDEST;
    const int full = (int)(done * room);
    used += snprintf(out + used, (size_t)(LINE_SIZE - used), " [");
    for (int i = 0; i < room; i++) out[used++] = i < full ? '=' : i == full ? '>' : ' ';
    snprintf(out + used, (size_t)(LINE_SIZE - used), "]");
}

/* The bar takes what the fields leave; fields give way until a bar of some length fits. */
static void draw_line(const char *label, const spate_progress *p, int width, char out[LINE_SIZE]) {
    enum { BAR_COLUMNS = 16 };
    progress_fields fields;
    char bar[LINE_SIZE];
    fill_fields(p, fields);
    const int front = *label ? text_columns(label) + 2 : 0;
    int rank = FIELD_COUNT;
    while (rank > 1 && front + BAR_COLUMNS + width_of_fields(fields, rank) > width) rank--;
    draw_bar(p->done, width - front - width_of_fields(fields, rank), bar);
    int used = snprintf(out, LINE_SIZE, "%s%s%s", label, *label ? "  " : "", bar);
    for (int i = 0; i < FIELD_COUNT; i++)
        if (ranks[i] <= rank && *fields[i] && used < LINE_SIZE)
            used += snprintf(out + used, (size_t)(LINE_SIZE - used), "  %s", fields[i]);
}

/* ---- Plain lines ---- */

/* As things stood at the last step. */
void tell_last_frame(progress_line *line, int frame) {
    char particles[SHORT_TEXT] = "", eta[SHORT_TEXT], pace[SHORT_TEXT];
    spate_progress *p = &line->last;
    if (!line->seen || frame <= p->frame) return;
    p->frame = frame;
    if (p->particles) short_count((double)p->particles, particles);
    fprintf(line->out, "%s%sframe %d/%d  t %.4g s  %s%s%s steps/s", line->label,
            *line->label ? "  " : "", p->frame, p->frames, p->time, particles,
            p->particles ? " particles  " : "", short_count(p->steps_per_second, pace));
    if (p->eta_seconds >= 0) fprintf(line->out, "  eta %s", short_time(p->eta_seconds, eta));
    if (p->dt > 0) fprintf(line->out, "  dt %.1e (%s)", p->dt, line->last_limit);
    fprintf(line->out, "  %s %.0f %%\n", line->last_phase, 100 * p->worst_share);
    fflush(line->out);
}

static void keep(progress_line *line, const spate_progress *p) {
    line->last = *p;
    line->seen = true;
    snprintf(line->last_limit, SHORT_TEXT, "%s", p->dt_limit);
    snprintf(line->last_phase, SHORT_TEXT, "%s", p->worst_phase);
}

/* On a terminal one line is rewritten a few times a second; otherwise every frame gets a line. */
void tell_progress(const spate_progress *p, void *user) {
    progress_line *line = user;
    if (!line->terminal) {
        tell_last_frame(line, p->frame);
        keep(line, p);
        return;
    }
    double now = seconds_now();
    if (now - line->told_at < seconds_between_lines) return;
    char text[LINE_SIZE];
    line->told_at = now;
    draw_line(line->label, p, status_columns(), text);
    status_line(text);
}

/* On a terminal a counter, otherwise only the last file is named. */
static void tell_file(int done, int total, const char *file, void *user) {
    const frame_work *w = user;
    if (w->terminal && done < total) {
        char line[128];
        snprintf(line, sizeof line, "%s %d/%d", w->item, done, total);
        status_line(line);
    } else if (done >= total && file) {
        status_line_clear();
        puts(file);
    }
}

spate_status frame_work_open(frame_work *w, const char *item, int64_t threads, bool quiet) {
    *w = (frame_work){.item = item, .progress = quiet ? NULL : tell_file};
    w->terminal = isatty(STDOUT_FILENO);
    const spate_status status = session_open(threads, quiet, &w->ctx);
    if (status == SPATE_OK) catch_interrupts();
    return status;
}

spate_status frame_work_close(frame_work *w, spate_status status) {
    report_failure(w->ctx, status);
    spate_close(w->ctx);
    return status;
}
