/* Elements from files: .msh, .vtk and surfaces, as triangles and as tetrahedra. */
#include "fuzz_mesh.h"
#include "scene/element_file.h"

static int dim;

static spate_status read_elements(arena *a, const char *bytes, size_t length, mesh_body *out) {
    element_file f = {.corners = dim + 1};
    TRY(elements_read(a, "fuzz", bytes, length, &f));
    return elements_check(a, "fuzz", MESH_FE, dim, &f, out);
}

static void check_elements(const mesh_body *m) {
    if (m->element_count < 1 || !(m->spacing > 0)) abort();
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 0; k <= dim; k++)
            if (m->elements[e][k] < 0 || m->elements[e][k] >= m->vertex_count) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (dim = 2; dim <= 3; dim++) fuzz_body(read_elements, check_elements, data, size);
    return 0;
}
