/* The grid's velocity anywhere, for particles that a long step takes out of their block's tile. */
#include "solver/flip/flip.h"

#include "core/vec.h"

/* The velocity across a face by its number along each axis; false where there is no brick. */
static bool face_velocity(const flip *f, int component, const int face[3], double *v) {
    const mac *m = &f->grid;
    int kept[3] = {0}, at[3];
    real sign = 1, mirrored;
    for (int a = 0; a < m->dim; a++) {
        kept[a] = flip_mirror(f->domain, a, face[a], a != component, &mirrored);
        sign *= mirrored;
        const int period = m->bricks.period[a] * BRICK_EDGE;
        if (period) kept[a] = (kept[a] % period + period) % period;
    }
    const int32_t home = mac_find(m, kept, at);
    if (home < 0) return false;
    *v = (double)(sign * m->velocity[component][mac_cell(m, home, at)]);
    return true;
}

bool flip_sample(const flip *f, const double x[3], double v[3]) {
    const int dim = f->grid.dim;
    vec_set(v, 0, 0, 0);
    for (int c = 0; c < dim; c++) {
        double sum = 0, weights = 0;
        for (int corner = 0; corner < 1 << dim; corner++) {
            double w = 1, value;
            int face[3] = {0};
            for (int a = 0; a < dim; a++) {
                double at = x[a] - (a == c ? 0 : 0.5), first = floor(at);
                face[a] = (int)first + (corner >> a & 1);
                w *= corner >> a & 1 ? at - first : 1 - (at - first);
            }
            if (!face_velocity(f, c, face, &value)) continue;
            sum += w * value, weights += w;
        }
        if (weights <= 0) return false;
        v[c] = sum / weights;
    }
    return true;
}
