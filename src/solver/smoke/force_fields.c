#include "solver/smoke/force_fields.h"
#include "solver/force_fields.h"

typedef struct field_job {
    smoke *s;
    int axis;
} field_job;

static void change_rows(void *data, chunk items) {
    const field_job *job = data;
    smoke *s = job->s;
    const layout *l = &s->layout;
    const int a = job->axis, place = smoke_place(s, a), last = l->dim - 1;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(l, place, r, l->dim);
        int at[3] = {row.i, row.j, 0};
        for (int k = 0; k < row.length; k++) {
            double x[3], v[3] = {0}, keep;
            at[last] = k;
            smoke_world(s, place, at, x);
            v[a] = (double)s->velocity[a][row.begin + k];
            forces_change(s->sim, x, s->dt, v, &keep);
            s->velocity[a][row.begin + k] = (real)v[a];
        }
    }
}

void smoke_force_fields(smoke *s) {
    for (int a = 0; a < s->layout.dim; a++) {
        field_job job = {s, a};
        smoke_rows(s, smoke_place(s, a), change_rows, &job);
    }
}
