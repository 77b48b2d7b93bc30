/* A tank that leaks, and a pump that keeps its level: a controller measures the level and opens and
 * closes the inlet. Writes frames to the folder that is named, and draws the last one. */
#include "world.h"

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 0.8], dx: 0.025}\n"
    "solver: {type: flip}\n"
    "materials: {water: {model: liquid, density: 1000}}\n"
    "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, 0.25]}}}]\n"
    "sinks: [{name: leak, shape: {box: {min: [0.975, 0], max: [1, 0.025]}}}]\n"
    "probes: [{name: level, depth: {at: 0.7}}]\n";

/* The inlet is a source, which comes and goes. */
static spate_status switch_pump(spate_simulation *sim, bool on) {
    if (!on) return spate_simulation_remove(sim, "pump");
    spate_source pump = spate_default_source();
    pump.name = "pump", pump.material = "water";
    pump.shape.max[0] = 0.05, pump.shape.min[1] = 0.4, pump.shape.max[1] = 0.5;
    pump.velocity[0] = 1;
    return spate_simulation_add_source(sim, &pump);
}

/* On below the level that is wanted, off above. */
static spate_status control(spate_simulation *sim, bool *on, double *level) {
    const double wanted = 0.3, play = 0.01;
    spate_status status = spate_simulation_quantity(sim, "level", level);
    const bool should = *level < wanted - (*on ? 0 : play);
    if (status || should == *on) return status;
    *on = should;
    return switch_pump(sim, should);
}

static spate_status draw(world *w, const char *folder, int frame) {
    spate_render_options o = spate_default_render_options();
    o.width = 640, o.height = 480;
    o.first = o.last = frame;
    return spate_render(w->ctx, folder, &o);
}

int main(int count, char **words) {
    const char *folder = count > 1 ? words[1] : "pump_run";
    world w;
    bool on = false;
    double level = 0, mean = 0;
    int frame = 0;
    spate_status status = world_open(&w, "pump", scene_text);
    for (; frame < 50 && !status; frame++) {
        status = control(w.sim, &on, &level);
        if (!status && frame % 10 == 0) status = spate_simulation_write_frame(w.sim, folder, frame);
        if (!status) status = world_step_to(&w, (frame + 1) / 25.0);
        if (frame >= 25) mean += level / 25;
    }
    if (!status) status = draw(&w, folder, 40);
    if (!status) printf("level %.3f m, over the last second %.3f m\n", level, mean);
    return world_close(&w, status);
}
