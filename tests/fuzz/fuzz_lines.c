/* Strands from files of lines. */
#include "fuzz_mesh.h"
#include "scene/strands.h"

static spate_status read_strands(arena *a, const char *bytes, size_t length, mesh_body *out) {
    mesh lines = {.vertex_count = 0};
    TRY(mesh_read_lines(a, "fuzz", bytes, length, &lines));
    return mesh_of_lines(a, "fuzz", &lines, out);
}

static void check_strands(const mesh_body *m) {
    if (m->strand_first[m->strand_count] != m->vertex_count || !(m->spacing > 0)) abort();
    for (int64_t s = 0; s < m->strand_count; s++)
        if (m->strand_first[s + 1] < m->strand_first[s] + 3) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_body(read_strands, check_strands, data, size);
}
