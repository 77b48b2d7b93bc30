/*
 * The folder of a run: what is in it, when it may be written to, and how it is brought back to the
 * moment of a checkpoint.
 */
#ifndef SPATE_RUN_RUN_FOLDER_H
#define SPATE_RUN_RUN_FOLDER_H

#include "core/file.h"
#include "core/text.h"
#include "frames/frame_names.h"
#include "scene/scene.h"

#define RUN_CHECKPOINT "checkpoint.spate"
#define RUN_PREVIOUS   "checkpoint.prev.spate"
#define RUN_REPORT     "run.json"
#define RUN_SCENE      "run.scene.yaml"
#define RUN_ADDED      "run.added.yaml"
#define RUN_STATISTICS "stats.csv"
#define RUN_STEPS      "steps.jsonl"
#define RUN_COLLECTION "particles.pvd"
#define RUN_VOLUMES    "volume.pvd"
#define RUN_SURFACES   "surface.pvd"
#define RUN_MESHES     "mesh.pvd"

/* The folder's path: as given, or the scene file's name without folder and extension. */
spate_status run_folder_choose(spate_context *ctx, const char *scene_path, const char *given,
                               char out[PATH_SIZE]);

/* Whether a run makes files of this name; only such files are ever removed. The number of a frame's
 * file goes to *frame (may be NULL), -1 for the others. */
bool run_folder_owns(const char *name, int64_t *frame);

/* A new run must not mix with what is there: refused unless the folder is empty or `force`. */
spate_status run_folder_check(spate_context *ctx, const char *folder, bool force);
/* Nothing is written to a folder that took the place of the run's own, which was locked. */
spate_status run_folder_check_lock(spate_context *ctx, const char *folder, int lock);
/* Removes the files of an earlier run that belong to frames after `frame`; all of them for -1. */
spate_status run_folder_clear(spate_context *ctx, const char *folder, int64_t frame);

/* Cuts stats.csv after the row of `frame`; *rows tells how many rows stay. A first line other than
 * `header` is refused: the columns have changed. A missing file is started anew. */
spate_status run_folder_trim_statistics(spate_context *ctx, const char *folder, const char *header,
                                        int64_t frame, int64_t *rows);
/* Cuts steps.jsonl after the line of `step`. A missing file is fine. */
spate_status run_folder_trim_steps(spate_context *ctx, const char *folder, int64_t step);
/* Lines of particles.pvd, mesh.pvd, surface.pvd or volume.pvd for the frames 0..frame that exist. */
spate_status run_folder_list_frames(const spate_scene *scene, const char *folder, frame_kind kind,
                                    int64_t frame, double last_time, text *lines);

#endif
