/*
 * Sums and largest values over all particles, for statistics and probes. Chunks of blocks have
 * fixed borders and are put together in their order: nothing depends on the number of threads.
 */
#ifndef SPATE_MEASURE_TALLY_H
#define SPATE_MEASURE_TALLY_H

#include "measure/attributes.h"

enum { TALLY_SUMS = 15, TALLY_TOPS = 5 };

typedef struct tally {
    double sums[TALLY_SUMS];
    double tops[TALLY_TOPS]; /* start at -HUGE_VAL */
} tally;

typedef struct tally_job tally_job;
typedef void tally_visit(const tally_job *job, particle_range range, tally *t);
struct tally_job {
    spate_simulation *sim;
    const probe *probe;  /* NULL for the columns of every run */
    const double *about; /* a point that the visit needs */
    tally_visit *visit;
    tally *chunks;
};

spate_status tally_all(tally_job *job, tally *total);

static inline void raise_to(double *top, double value) {
    if (value > *top) *top = value;
}

/* The middle of a range's block; returns how far from it its particles may be: half a block and
 * what they have drifted since the sort. Anywhere at the seam of a periodic axis. */
double range_middle(const spate_simulation *sim, particle_range range, double middle[3]);

#endif
