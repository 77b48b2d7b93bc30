#include "frames/poses.h"

#include "core/vec.h"
#include "scene/rotation.h"

spate_status frame_poses_take(const spate_simulation *sim, frame_poses *out) {
    const boundary *b = &sim->boundary;
    const bool changing = sim->drive || sim->scene->event_count;
    *out = (frame_poses){.counted = changing, .colliders = sim->scene->collider_count};
    if (!b->driven_count) return SPATE_OK;
    out->values = take(sim->ctx, (size_t)b->driven_count, sizeof *out->values);
    if (!out->values) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < sim->scene->collider_count; c++) {
        if (!sim->scene->colliders[c].driven) continue;
        double *to = out->values[out->count++];
        const pose at = driven_pose_at(&b->driven[c], sim->time);
        vec_add(to, at.pivot, at.move);
        quaternion_of_rotation((const double(*)[3])at.turn, to + 3);
    }
    return SPATE_OK;
}
