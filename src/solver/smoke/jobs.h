/* What the kernels over rows are given, which smoke_kernels.c has for each instruction set. */
#ifndef SPATE_SOLVER_SMOKE_JOBS_H
#define SPATE_SOLVER_SMOKE_JOBS_H

#include "solver/smoke/smoke.h"

enum { ADVECT_FIELDS = 4 };

/* Fields of one place, moved along with the gas. */
typedef struct advect_job {
    const layout *layout;
    const real *velocity[3];
    int home[3]; /* places of its components */
    real step;   /* time step over dx: cells a m/s */
    int order;   /* of the Runge-Kutta scheme */
    int place;   /* of the fields */
    bool twice;  /* MacCormack's second pass comes too */
    bool sharp;  /* the fields have sharp edges, which shed ripples */
    int count;
    const real *from[ADVECT_FIELDS];
    real *ahead[ADVECT_FIELDS]; /* after the first pass */
    real *to[ADVECT_FIELDS];    /* after the second; between them the least that it may give */
    real *most[ADVECT_FIELDS];  /* and the most */
} advect_job;

/* An iteration for center f - side (sum of the neighbours) = right. */
typedef struct relax_job {
    const layout *layout;
    int place;
    real center, side;
    real reflect[3][2];   /* what the ghost next to a value is of that value, times -1, by sides */
    const uint8_t *depth; /* values in solids stay; NULL: there are none */
    const int8_t *distance;
    smoke_turning turning;
    const real *right;
    real *values;
    const real *now; /* Chebyshev: the last iterate; `values` is the one before, and the next */
    real weight;     /* of Chebyshev's step */
    int colour;      /* Gauss-Seidel: which half of the values is set */
} relax_job;

typedef struct curl_job {
    const layout *layout;
    const real *velocity[3];
    bool on_faces;
    real *curl[3]; /* in 2D one, then the acceleration of the confinement */
    real *size;
    real scale; /* 1 / (2 dx); of the confinement its strength times dx */
} curl_job;

#endif
