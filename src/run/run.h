/*
 * A run: a scene played from its start, or from a checkpoint, into a folder of frames, statistics
 * and checkpoints. What happens in a run and in which order: run.c. Its report: run_report.c.
 */
#ifndef SPATE_RUN_RUN_H
#define SPATE_RUN_RUN_H

#include "core/background.h"
#include "core/file.h"
#include "frames/frame_files.h"
#include "measure/statistics.h"
#include "run/checkpoint.h"
#include "run/run_folder.h"

enum { REASON_SIZE = MESSAGE_SIZE + 64 };

typedef struct run {
    spate_context *ctx;
    spate_scene *scene;
    const spate_run_options *options;
    char folder[PATH_SIZE];
    spate_simulation *sim;
    statistics statistics;
    bool touched;      /* something of this run is in the folder: it needs an end */
    int64_t frames;    /* the last frame that is wanted */
    run_record before; /* what earlier parts of the run have added up */
    run_record record; /* the same with this part, as of run_refresh */
    int64_t warnings_known[WARNING_KINDS]; /* of the context, when this part began */
    double start;                          /* wall clock, seconds */
    int64_t start_step;
    double start_time;
    int64_t saved_step; /* of the newest checkpoint, -1 for none */
    int64_t saved_frame;
    int lock; /* of the folder, -1 for none: one run at a time writes to it */
    /* Lines of particles.pvd, mesh.pvd, surface.pvd and volume.pvd. */
    text frame_list, mesh_list, surface_list, volume_list;
    uint64_t added;     /* hash of the scene in run.added.yaml; 0: none */
    mesh_cells cells;   /* of the scene's meshes, for their frames */
    background *writer; /* of frames, on a thread of its own */
    bool writing;       /* a frame is under way: */
    frame_files files;  /* its files */
    text row;           /* of stats.csv, which follows them */
    file_writer statistics_file, step_file;
    uint64_t state_hash; /* at the last report */
} run;

/* Brings run.record up to date: wall time, phases, warnings. */
void run_refresh(run *r);

/* The limit that has set most steps of the present frame so far. */
const char *run_usual_limit(const run *r);

/* Writes run.json. A negative exit code stands for a run that goes on. */
spate_status run_report_write(run *r, int exit_code, const char *reason);
/* Adds a line about the last step to steps.jsonl. */
spate_status run_report_step(run *r);

#endif
