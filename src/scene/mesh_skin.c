/* The skin of finite elements: faces that one element alone has. */
#include "scene/mesh_body.h"

#include <stdlib.h>
#include <string.h>

typedef struct element_face {
    int32_t key[3]; /* its corners in ascending order; 2D: -1 and two */
    int32_t corners[3];
} element_face;

static int compare_faces(const void *a, const void *b) {
    const element_face *f = a, *g = b;
    for (int k = 0; k < 3; k++)
        if (f->key[k] != g->key[k]) return f->key[k] < g->key[k] ? -1 : 1;
    return 0;
}

static void sort_key(int32_t key[3]) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (key[k] > key[k + 1]) {
                const int32_t swapped = key[k];
                key[k] = key[k + 1], key[k + 1] = swapped;
            }
}

/* Corners so that a face looks outwards: those of a positive element without corner `skip`. */
static element_face face_of(const int32_t element[4], int dim, int skip) {
    static const int of_tetrahedron[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    static const int of_triangle[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    element_face f = {.corners = {-1, -1, -1}};
    for (int k = 0; k < dim; k++)
        f.corners[k] = element[dim == 3 ? of_tetrahedron[skip][k] : of_triangle[skip][k]];
    memcpy(f.key, f.corners, sizeof f.key);
    sort_key(f.key);
    return f;
}

spate_status mesh_body_skin(arena *a, const mesh_body *m, int dim, int32_t (**faces)[3],
                            int64_t *count) {
    const int64_t all = m->element_count * (dim + 1);
    element_face *list = take(a->ctx, (size_t)all + 1, sizeof *list);
    if (!list) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 0; k <= dim; k++) list[e * (dim + 1) + k] = face_of(m->elements[e], dim, k);
    qsort(list, (size_t)all, sizeof *list, compare_faces);
    int64_t kept = 0;
    for (int64_t i = 0, next; i < all; i = next) {
        for (next = i + 1; next < all && compare_faces(&list[i], &list[next]) == 0;) next++;
        if (next == i + 1) list[kept++] = list[i];
    }
    *count = kept;
    *faces = arena_take(a, (size_t)kept + 1, sizeof **faces);
    for (int64_t i = 0; i < kept && *faces; i++)
        memcpy((*faces)[i], list[i].corners, sizeof **faces);
    give(a->ctx, list);
    return *faces ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
