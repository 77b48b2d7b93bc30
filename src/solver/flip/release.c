/*
 * Sides that let liquid go (`walls: separate`). The pressure holds liquid to a closed side, and a
 * sheet under a lid would hang there. Where a layer of a few cells moves away from such a side, its
 * face is opened, with air behind it, for this step.
 */
#include "solver/flip/flip.h"

enum { THIN = 3 }; /* cells of a layer */

typedef struct side_face {
    int axis, high; /* 1: the side where the axis ends */
    int64_t brick;  /* of the cell before the side */
    int at[3];      /* and its place there */
    int64_t face;   /* where the face's velocity is kept */
    int64_t behind; /* the cell behind the side */
} side_face;

/* Whether there is air within a few cells of the side. */
static bool is_thin(const mac *m, const side_face *s) {
    const int away = s->high ? -1 : 1;
    for (int n = 1; n <= THIN; n++) {
        int next[3] = {s->at[0], s->at[1], s->at[2]};
        next[s->axis] += n * away;
        int64_t other = mac_cell(m, s->brick, next);
        if (other < 0 || m->phi[0][other] >= 0) return true;
    }
    return false;
}

/* Opens the face if the liquid before it leaves. */
static void release_face(const flip *f, const side_face *s) {
    const mac *m = &f->grid;
    const real u =
        m->velocity_old[s->axis][s->face] + (real)(f->sim->scene->gravity[s->axis] * f->sim->dt);
    const bool leaves = m->mass[s->axis][s->face] > 0 && (s->high ? u < 0 : u > 0);
    if (!leaves || !is_thin(m, s)) return;
    m->face_fraction[s->axis][s->face] = 1;
    m->velocity[s->axis][s->face] = u;
    m->valid[0][s->face] &= (uint8_t) ~(1 << (s->axis + PRESCRIBED_SHIFT));
    mac_set_valid(m, s->axis, s->face);
    m->phi[0][s->behind] = 1;
}

static void release_brick(const flip *f, int64_t brick) {
    const mac *m = &f->grid;
    const domain *d = f->domain;
    for (int a = 0; a < m->dim; a++)
        for (int high = 0; high < 2; high++) {
            const int last = high ? d->cells[a] - 1 : 0,
                      in = last - m->bricks.coords[brick][a] * BRICK_EDGE;
            if (d->walls[a][high] != WALL_SEPARATE || in < 0 || in >= BRICK_EDGE) continue;
            for (int c = 0; c < mac_cells(m->dim); c++) {
                side_face s = {.axis = a, .high = high, .brick = brick};
                mac_place(c, m->dim, s.at);
                const int64_t here = brick * mac_cells(m->dim) + c;
                if (s.at[a] != in || !(m->phi[0][here] < 0)) continue;
                s.behind = mac_beside(m, brick, c, s.at, a, high ? 1 : -1);
                s.face = high ? s.behind : here;
                if (s.behind >= 0) release_face(f, &s);
            }
        }
}

static void release_bricks(void *data, chunk items) {
    for (int64_t brick = items.begin; brick < items.end; brick++) release_brick(data, brick);
}

spate_status flip_release(flip *f) {
    const domain *d = f->domain;
    bool any = false;
    for (int a = 0; a < f->grid.dim; a++)
        any |= d->walls[a][0] == WALL_SEPARATE || d->walls[a][1] == WALL_SEPARATE;
    if (any) parallel_for(f->threads, f->grid.bricks.count, 16, release_bricks, f);
    return SPATE_OK;
}
