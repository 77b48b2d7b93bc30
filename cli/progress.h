/* How far a run is: one line with a bar on a terminal, a plain line a frame elsewhere. */
#ifndef SPATE_CLI_PROGRESS_H
#define SPATE_CLI_PROGRESS_H

#include "terminal.h"

typedef struct progress_line {
    FILE *out;
    const char *label; /* in front of every line; "" for none */
    bool terminal;
    bool seen;                                           /* whether `last` holds something */
    spate_progress last;                                 /* of the step before */
    char last_limit[SHORT_TEXT], last_phase[SHORT_TEXT]; /* its words */
    double told_at;                                      /* seconds */
} progress_line;

/* spate_run's callback; `user` is a progress_line. */
void tell_progress(const spate_progress *p, void *user);
/* A plain line for the last frame, when it was not told. */
void tell_last_frame(progress_line *line, int frame);

/* Work on the frames of a finished run, file after file: pictures or surfaces. */
typedef struct frame_work {
    spate_context *ctx;
    const char *item; /* what a file holds, for the counter */
    bool terminal;
    /* For the options of the library's function, whose `user` is the frame_work; NULL: quiet. */
    void (*progress)(int done, int total, const char *file, void *user);
} frame_work;

/* Opens a session and catches interrupts; on failure it says why. Close it with the status that
 * the work ended with: it says what went wrong, and returns it. */
spate_status frame_work_open(frame_work *w, const char *item, int64_t threads, bool quiet);
spate_status frame_work_close(frame_work *w, spate_status status);

#endif
