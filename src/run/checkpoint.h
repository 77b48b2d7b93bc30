/*
 * Checkpoints: the whole state of a simulation in a file, bit for bit, in storage order.
 *
 * A head, then named blocks, each with its type, size and checksum (XXH3), then a block named
 * "end". One block a particle field from the field list, the block list of the sparse grid,
 * particles that wait for the next sort, scalars, sources, the solver's own state, and the run's
 * bookkeeping. All little endian. Every length is checked against the bytes that remain before
 * anything is allocated, and every byte of the file is covered by a checksum or a comparison.
 */
#ifndef SPATE_RUN_CHECKPOINT_H
#define SPATE_RUN_CHECKPOINT_H

#include "solver/solver.h"

#define CHECKPOINT_MAGIC "SPATE\r\n\032"
enum { CHECKPOINT_VERSION = 7, CHECKPOINT_NAME = 32 };

/* As it lies in the file. */
typedef struct checkpoint_head {
    char magic[8];
    uint32_t version;
    uint32_t real_bytes; /* precision of the build: 4 or 8 */
    uint64_t scene_hash;
    uint64_t file_bytes;
    uint64_t particles;
    uint32_t dim;
    uint32_t blocks; /* "end" included */
    uint64_t step;
    double time;
    uint64_t hash; /* of all above */
} checkpoint_head;

typedef struct checkpoint_block {
    char name[CHECKPOINT_NAME]; /* closed and filled up by zeros */
    char type[4];               /* "u8", "u16", "u64", "i32", "i64", "f32", "f64", "raw" (bytes) */
    uint32_t components;
    uint64_t count; /* of each component; components follow one another, or are records */
    uint64_t hash;  /* of all above and the data that follow */
} checkpoint_block;

/* What a run keeps besides the state, so that it goes on as if it had never stopped. */
enum { RECORD_LIMITS = 16, RECORD_NAME = 40 };

typedef struct named_count {
    char name[RECORD_NAME];
    int64_t count;
} named_count;

typedef struct named_seconds {
    char name[RECORD_NAME];
    double seconds;
} named_seconds;

typedef struct run_record {
    int64_t frame;         /* the last one that was written */
    int64_t frame_step;    /* the step it was written after */
    int64_t max_steps_met; /* whether solver.max_steps has ended the run, 0 or 1 */
    int64_t collapsed;     /* whether this frame has been warned of, 0 or 1 */
    double wall_seconds;
    double particle_steps;
    int64_t limit_count, warning_count, phase_count;
    named_count limits[RECORD_LIMITS];   /* how often each limit set the time step */
    int64_t frame_limits[RECORD_LIMITS]; /* of these, before the frame began */
    named_count warnings[WARNING_KINDS];
    named_seconds phases[PHASES_MAX];
} run_record;

/* Writes a checkpoint that replaces `path`; with `previous` the old file is kept under that name.
 * At every moment one of the two is whole. */
spate_status checkpoint_write(spate_simulation *sim, const run_record *record, const char *path,
                              const char *previous);

/* Makes a simulation from a checkpoint. *damaged (may be NULL) tells whether the file itself is at
 * fault, so that an older one may be tried. `record` may be NULL. */
spate_status checkpoint_read(spate_scene *scene, const char *path, spate_simulation **sim,
                             run_record *record, bool *damaged);
spate_status checkpoint_parse(spate_scene *scene, const char *name, const char *bytes,
                              size_t length, spate_simulation **sim, run_record *record,
                              bool *damaged);

/* The same bytes in memory of the context, to be given back. */
spate_status checkpoint_to_memory(spate_simulation *sim, char **bytes, size_t *length);
/* Puts the state in these bytes into a simulation that was just opened, whose scene has the entries
 * of the one that it is of and more behind them; of colliders it had so many. What the bytes do not
 * have stays as it is. */
spate_status checkpoint_refill(spate_simulation *sim, int colliders, const char *bytes,
                               size_t length);

/* Checks the whole file and gives its head, without a scene. */
spate_status checkpoint_check(spate_context *ctx, const char *name, const char *bytes,
                              size_t length, checkpoint_head *head);

#endif
