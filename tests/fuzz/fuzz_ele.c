/* The two files of TetGen and Triangle, one after the other with a line `%` between them. */
#include "fuzz_mesh.h"
#include "scene/element_file.h"

#include <string.h>

static int dim;

static spate_status read_both(arena *a, const char *bytes, size_t length, mesh_body *out) {
    element_file f = {.corners = dim + 1};
    const char *mark = length ? memchr(bytes, '%', length) : NULL;
    const size_t nodes = mark ? (size_t)(mark - bytes) : length;
    TRY(elements_read_nodes(a, "fuzz", bytes, nodes, &f));
    TRY(elements_read_ele(a, "fuzz", bytes + nodes + (mark != NULL),
                          length - nodes - (mark != NULL), &f));
    return elements_check(a, "fuzz", MESH_FE, dim, &f, out);
}

static void check_elements(const mesh_body *m) {
    if (m->element_count < 1 || m->vertex_count < dim + 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (dim = 2; dim <= 3; dim++) fuzz_body(read_both, check_elements, data, size);
    return 0;
}
