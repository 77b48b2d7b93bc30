/* Wrong scenes: every message with its place, and what to do. A '^' marks the expected place. */
#include "scene/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static spate_context *ctx;
static int64_t blocks_at_start;

static int open_context(void **state) {
    (void)state;
    spate_config config = spate_default_config();
    config.threads = 1;
    if (spate_open(&config, &ctx) != SPATE_OK) return -1;
    blocks_at_start = ctx->blocks_now;
    return 0;
}

/* Fails when something was not given back. */
static int close_context(void **state) {
    (void)state;
    int64_t left = ctx->blocks_now - blocks_at_start;
    spate_close(ctx);
    return left == 0 ? 0 : -1;
}

/* ---- Wrong scenes ---------------------------------------------------------------------------- */

/* A small good scene, a line each; a case replaces one line (from 1) or adds one (line 6). */
static const char *const small[] = {
    "spate: 1",
    "dimension: 2",
    "domain: {size: [4, 2], dx: 0.1}",
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 2e5, gamma: 7}}",
    "bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [1, 1]}}}]",
};

static void compose(int line, const char *replacement, char out[4096]) {
    size_t n = 0;
    for (int i = 1; i <= COUNT_OF(small); i++)
        n += (size_t)snprintf(out + n, 4096 - n, "%s\n", i == line ? replacement : small[i - 1]);
    if (line > COUNT_OF(small)) snprintf(out + n, 4096 - n, "%s\n", replacement);
}

/* Takes the '^' out of a text and tells where it was. */
static void unmark(char *document, int *line, int *column) {
    char *mark = strchr(document, '^');
    *line = *column = 1;
    if (!mark) fail_msg("no place marked in:\n%s", document);
    for (const char *s = document; s < mark; s++) {
        *column = *s == '\n' ? 1 : *column + 1;
        *line += *s == '\n';
    }
    memmove(mark, mark + 1, strlen(mark));
}

static void expect_failure(int at_line, const char *replacement, const char *fragment) {
    char document[4096], place[64];
    int line, column;
    spate_scene *s;
    compose(at_line, replacement, document);
    unmark(document, &line, &column);
    snprintf(place, sizeof place, "f.yaml:%d:%d: ", line, column);
    spate_status status =
        spate_scene_parse(ctx, document, strlen(document), "f.yaml", "no/such/folder", NULL, 0, &s);
    if (status == SPATE_OK) fail_msg("accepted:\n%s", document);
    assert_null(s);
    assert_int_equal(status, SPATE_BAD_INPUT);
    const char *message = spate_message(ctx);
    if (strncmp(message, place, strlen(place)) != 0 || !strstr(message, fragment))
        fail_msg("for:\n%s\nexpected '%s...%s', got '%s'", document, place, fragment, message);
    /* what is wrong; what to do */
    if (!strchr(message, ';')) fail_msg("no remedy in: %s", message);
}

typedef struct wrong {
    int line;
    const char *text, *fragment;
} wrong;

static void expect_failures(const wrong *cases, int count) {
    for (int i = 0; i < count; i++) expect_failure(cases[i].line, cases[i].text, cases[i].fragment);
}

#define BODY(rest)  "bodies: [{name: dam, material: water, " rest "}]"
#define SHAPE(rest) "bodies: [{material: water, shape: {" rest "}}]"

static void test_wrong_top(void **state) {
    (void)state;
    static const wrong cases[] = {
        {1, "spate: ^2", "spate: this scene is for format 2; this build reads 1"},
        {1, "^name: x", "spate: is missing; add it (version"},
        {1, "spate: ^'1'", "spate: expected a whole number, found the text '1'; write it without"},
        {2, "dimension: ^4", "dimension: 4 is out of range; give a number from 2 to 3"},
        {2, "dimension: ^2.5", "dimension: expected a whole number"},
        {2, "dimension: 2\n^dimension: 3", "duplicate field 'dimension', first given at line 2"},
        {2, "dimension: 2\n^gravty: [0, 0]",
         "gravty: unknown field 'gravty'; did you mean 'gravity'?"},
        {2, "dimension: 2\n^qqqqqqq: 0", "unknown field 'qqqqqqq'; use one of these (spate, name"},
        {2, "dimension: 2\nname: ^[a]", "name: expected a word, found a list"},
        {2, "dimension: 2\nname:^ ", "name: has no value"},
        {2, "dimension: 2\nname: ^\"a\\nb\"", "control character"},
        {2, "dimension: 2\nseed: ^-1", "seed: -1 is out of range; give a number from 0 up"},
        {2, "dimension: 2\nunits: ^imperial",
         "units: unknown word 'imperial'; use one of these (si, cgs)"},
        {2, "dimension: 2\nunits: ^SI", "unknown word 'SI'; only the case is wrong, write 'si'"},
        {2, "dimension: 2\ngravity: ^[0, -9.81, 0]",
         "gravity: 3 components in a 2D scene; remove the third"},
        {2, "dimension: 3\ngravity: ^[0, -9.81]", "gravity: 2 components in a 3D scene; add"},
        {2, "dimension: 2\ngravity: ^[0]", "gravity: expected 2 numbers, found 1"},
        {2, "dimension: 2\ngravity: ^9.81", "gravity: expected a list of 2 numbers, found '9.81'"},
        {2, "dimension: 2\ngravity: [0, ^down]", "gravity.1: expected a number, found 'down'"},
        {2, "dimension: 2\nduration: ^0", "duration: 0 is out of range; give a number greater"},
        {2, "dimension: 2\nduration: ^-1", "duration: -1 is out of range"},
        {2, "dimension: 2\nduration: ^2s", "duration: expected a number, found '2s'"},
        {2, "dimension: 2\nduration: ^nan", "duration: expected a number, found 'nan'"},
        {2, "dimension: 2\nduration: ^.inf", "duration: expected a number"},
        {2, "dimension: 2\nduration: ^1e999", "duration: expected a number"},
        {2, "dimension: 2\nduration: ^1,5", "duration: expected a number, found '1,5'"},
        {2, "dimension: 2\nfps: ^0", "fps: 0 is out of range"},
        {2, "dimension: 2\nduration: 2000\nfps: ^1000", "fps: 2000 s at 1000 frames a second are"},
        {2, "dimension: 2\nfps: ^1e9", "fps: 1000000000 is out of range"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

static void test_wrong_domain(void **state) {
    (void)state;
    static const wrong cases[] = {
        {3, "domain: {size: [4, 2], dx: ^0}", "domain.dx: 0 is out of range; give a number greate"},
        {3, "domain: {size: [4, 2], dx: ^-0.1}", "domain.dx: -0.1 is out of range"},
        {3, "domain: {size: [4, 2], dx: ^0.02m}", "domain.dx: expected a number, found '0.02m'"},
        {3, "domain: {size: [4, 2], dx: ^0,1}",
         "domain.dx: '0,1' is two values here; write 0.1, wi"},
        {3, "domain: {dx: ^-2,05, size: [4, 2]}",
         "domain.dx: '-2,05' is two values here; write -2."},
        {3, "domain: {size: [4, 2], dx: 0.1, ^05}", "domain.05: unknown field '05'"},
        {3, "domain:\n  size: [4, 2]\n  dx: ^0,05", "found '0,05'; write 0.05, with a point for"},
        {3, "domain:\n  size: [4, 2]\n  dx: ^0,05,1", "found '0,05,1'; write it like 0.02"},
        {3, "domain: {size: [4, 2], dx: ^\"0.1\"}",
         "found the text '0.1'; write it without quotes"},
        {3, "domain: {size: [4, 2], dx: ^\"0.1m\"}", "found '0.1m'; write it like 0.02"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: ^Slip}",
         "unknown word 'Slip'; only the case is wrong, write 'slip' (slip, sticky"},
        {3, "domain:\n^\tsize: [4, 2]\n\tdx: 0.1", "a tab; YAML is indented by spaces only"},
        {3, "domain:\n  size: [4, 2] # \xc3\xa4\n ^\tdx: 0.1", "a tab; YAML is indented"},
        {3, "domain: ^{size: [4, 2]}", "domain.dx: is missing; add it"},
        {3, "domain: ^{dx: 0.1}", "domain.size: is missing"},
        {3, "domain: ^[4, 2]", "domain: expected a mapping, found a list"},
        {3, "domain:^ ", "domain: has no value"},
        {3, "domain: {size: [4, ^-2], dx: 0.1}", "domain.size.1: -2 is out of range"},
        {3, "domain: {size: [4, ^0], dx: 0.1}", "domain.size.1: 0 is out of range"},
        {3, "domain: {size: [^4, 2], dx: 1e-7}", "40000000 cells along x, more than 1000000; use"},
        {3, "domain: {size: [4, ^2], dx: 1}", "2 cells along y, fewer than 4; use a dx of 0.5 or"},
        {3, "domain: {size: [4, 2], dx: 0.1, ^dy: 1}", "domain.dy: unknown field 'dy'"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: ^slipp}",
         "domain.walls: unknown word 'slipp'; did you mean 'slip'? (slip, sticky, separate, open,"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: ^[slip, slip]}", "domain.walls: 2 words; give"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: [slip, slip, ^wet, slip]}", "walls.2: unknown"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: {^z_min: slip}}", "walls.z_min: unknown field"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: {x_min: ^3}}", "walls.x_min: unknown word '3'"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: ^{x_min: periodic}}",
         "only one side of x is periodic; make x_max periodic"},
        {3, "domain: {size: [4, 2.2], dx: 0.1, walls: ^[open, open, periodic, periodic]}",
         "periodic along y needs a multiple of 4 cells, there are 22; use dx: 0.0916666667 for 24"},
        {3, "domain: {size: [4, 2], dx: 0.1, wall_friction: ^-1}", "wall_friction: -1 is out of"},
        {3, "domain: {size: [4, 2], dx: 0.1, walls: sticky, wall_velocity: {y_max: ^[1, 0]}}",
         "domain.wall_velocity.y_max: mpm does not know sides that move; leave it out"},
        {3, "domain: {size: [4, 2], dx: 0.1, wall_velocity: ^[1, 0]}",
         "domain.wall_velocity: expected a mapping"},
        {3, "domain: {size: [4, 2], dx: 0.1, wall_velocity: {^z_max: [1, 0]}}",
         "wall_velocity.z_max: unknown field 'z_max'"},
        {3, "domain: {size: [4, 2], dx: 0.1, wall_velocity: {y_max: ^1}}",
         "wall_velocity.y_max: expected a list of 2 numbers"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

static void test_wrong_solver_and_materials(void **state) {
    (void)state;
    static const wrong cases[] = {
        {6, "solver: {type: ^mpn}", "solver.type: unknown solver 'mpn'; did you mean 'mpm'?"},
        {6, "solver: ^mpm", "solver: expected a mapping, found 'mpm'; write {type: mpm}"},
        {6, "solver: {type: ^FLIP}",
         "solver.type: unknown solver 'FLIP'; only the case is wrong, write 'flip' (mpm, flip"},
        {6, "solver: {integrator: ^aplic}",
         "solver.integrator: unknown word 'aplic'; did you mean 'apic'?"},
        {6, "solver: {cfl: ^0}", "solver.cfl: 0 is out of range; give a number greater than 0"},
        {6, "solver: {cfl: ^2}", "solver.cfl: is 2; mpm goes up to 1"},
        {6, "solver: {cfl: ^[1]}", "solver.cfl: expected a number, found a list"},
        {6, "solver: {dt: ^0}", "solver.dt: 0 is out of range"},
        {6, "solver: {max_steps: ^1.5}", "solver.max_steps: expected a whole number, found '1.5'"},
        {6, "solver: {^clf: 1}", "solver.clf: unknown field 'clf'; did you mean 'cfl'?"},
        {4, "materials: ^{}", "materials: there is none; add one"},
        {4, "materials: ^[]", "materials: expected a mapping"},
        {4, "materials: {water: ^liquid}", "materials.water: expected a mapping, found 'liquid'"},
        {4, "materials: {water: ^{density: 1}}", "materials.water.model: is missing"},
        {4, "materials: {water: {model: ^liqid}}",
         "materials.water.model: unknown model 'liqid'; did you mean 'liquid'?"},
        {4, "materials: {water: {model: liquid, density: ^-1}}", "density: -1 is out of range"},
        {4, "materials: {water: {model: liquid, ^young_modulus: 1}}",
         "materials.water.young_modulus: unknown field"},
        {4, "materials: {water: {model: liquid}, ^water: {model: liquid}}",
         "materials: duplicate field 'water'"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

static void test_wrong_colours(void **state) {
    (void)state;
    static const wrong cases[] = {
        {4, "materials: {water: {model: liquid, color: ^blurple}}",
         "materials.water.color: 'blurple' is no colour; did you mean 'purple'? Or write a name"},
        {4, "materials: {water: {model: liquid, color: ^xyzzy}}",
         "'xyzzy' is no colour; write a name such as orange, \"#e8a317\" in quotes, or [0.91"},
        {4, "materials: {water: {model: liquid, color: ^\"#12345\"}}", "'#12345' is no colour;"},
        {4, "materials: {water: {model: liquid, color: ^0.5}}", "'0.5' is no colour;"},
        {4, "materials: {water: {model: liquid, color: ^{r: 1}}}", "a mapping is no colour;"},
        {4, "materials:\n  water:\n    model: liquid\n    color:^ #ff0000",
         "color: has no value; give one, and put one that begins with # in quotes"},
        {4, "materials: {water: {model: liquid, color: ^[1, 0]}}",
         "color: has 2 numbers; give red, green and blue"},
        {4, "materials: {water: {model: liquid, color: ^[255, 128, 0]}}",
         "go from 0 to 1, not to 255; write [1, 0.502, 0]"},
        {4, "materials: {water: {model: liquid, color: ^[1, -1, 0]}}", "go from 0 to 1; write it"},
        {4, "materials: {water: {model: liquid, color: [1, ^red, 0]}}", "color.1: expected a numb"},
        {4, "materials: {water: {model: liquid, ^colour: red}}",
         "materials.water.colour: unknown field 'colour'; did you mean 'color'?"},
        {5, BODY("^colour: red"), "bodies.0.colour: unknown field 'colour'; did you mean 'color'?"},
        {5, BODY("color: ^rad, shape: {box: {min: [0, 0], max: [1, 1]}}"), "did you mean 'red'?"},
        {6, "colliders: [{^colour: red}]", "did you mean 'color'?"},
        {6, "sources: [{^colour: red}]", "did you mean 'color'?"},
        {4, "materials: {water: {model: liquid, look: ^skn}}",
         "look: unknown word 'skn'; did you mean 'skin'? (surface, skin, grains)"},
        {4, "solver: {type: smoke}\nmaterials: {water: {model: gas, look: ^skin}}",
         "materials.water.look: gas is drawn as smoke alone; leave it out"},
        {4,
         "solver: {type: smoke}\nmaterials: {gas: {model: gas}, water: {model: gas}}\nsources: "
         "[{material: gas, color: ^red, shape: {box: {min: [0, 0], max: [1, 1]}}}]",
         "sources.0.color: matter on a grid has the colour of its material; give it to"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

/* What flip asks of a scene. Its checks of the scene as a whole have no field to point at. */
static void test_wrong_flip(void **state) {
    (void)state;
    static const wrong cases[] = {
        {6, "solver: {type: flip, tolerance: ^0}",
         "solver.tolerance: 0 is out of range; give a number from 1e-14 to 0.1"},
        {6, "solver: {type: flip, max_iterations: ^0}", "max_iterations: 0 is out of range"},
        {6, "solver: {type: flip, cfl: ^6}", "solver.cfl: is 6; flip goes up to 5"},
        {6, "solver: {type: flip, ^integrator: apic}", "unknown field 'integrator'"},
        {6, "solver: {type: flip, transfer: ^asflip}",
         "solver.transfer: unknown word 'asflip'; did you mean 'aflip'"},
        {6, "solver: {type: flip, kernel: ^cubic}", "solver.kernel: unknown word 'cubic'"},
        {6, "solver: {type: flip, surface_order: ^3}", "surface_order: 3 is out of range"},
        {6, "solver: {type: flip, volume_correction: ^-1}", "volume_correction: -1 is out of"},
        {6, "solver: {type: flip, alpha: ^1.5}", "solver.alpha: 1.5 is out of range"},
        {5, "bodies: ^[]\nsolver: {type: flip}", "nothing to simulate; add a body, or a source"},
        {3, "domain: {size: [4, ^0.3], dx: 0.1}\nsolver: {type: flip}",
         "3 cells along y, fewer than 4"},
        {4, "solver: {type: flip}\nmaterials: {water: {model: ^sand, young_modulus: 1}}",
         "materials.water.model: solver flip cannot run model 'sand'; use liquid, or solver.type "
         "mpm"},
        {3,
         "domain: {size: [4.4, 2], dx: 0.1, walls: ^[periodic, periodic, slip, slip]}\n"
         "solver: {type: flip}",
         "periodic along x needs a multiple of 8 cells, there are 44"},
    };
    expect_failures(cases, COUNT_OF(cases));
    /* what concerns the whole scene is told at its beginning */
    static const wrong whole[] = {
        {4,
         "solver: {type: flip}\nmaterials: {water: {model: liquid}, oil: {model: liquid, density: "
         "900}}\nsources: [{material: oil, shape: {box: {min: [2, 0], max: [3, 1]}}}]",
         "materials 'water' and 'oil' differ in density, viscosity or surface_tension; flip has"},
    };
    for (int i = 0; i < COUNT_OF(whole); i++) {
        char document[4096];
        spate_scene *s;
        compose(whole[i].line, whole[i].text, document);
        assert_int_equal(
            spate_scene_parse(ctx, document, strlen(document), "f.yaml", ".", NULL, 0, &s),
            SPATE_BAD_INPUT);
        if (!strstr(spate_message(ctx), whole[i].fragment))
            fail_msg("for:\n%s\nexpected '...%s', got '%s'", document, whole[i].fragment,
                     spate_message(ctx));
    }
}

/* Phases and how they meet. */
static void test_wrong_couplings(void **state) {
    (void)state;
    static const wrong cases[] = {
        {6, "coupling: ^sticky", "coupling: unknown word 'sticky'"},
        {6, "coupling: [{between: [water, ^oil], type: contact}]",
         "coupling.0.between.1: unknown phase 'oil'; use (water)"},
        {6, "coupling: [{between: ^[water], type: contact}]",
         "coupling.0.between: give the names of two phases"},
        {6, "coupling: [{between: ^[water, water], type: contact}]",
         "'water' twice; bodies of one phase have one velocity"},
        {6, "coupling: [{type: contact, beta: ^2}]", "coupling.0.beta: 2 is out of range"},
        {6, "coupling: [{type: contact, beta: 1, tau: ^0.1}]",
         "coupling.0.tau: stands beside beta, which says the same"},
        {6, "coupling: [{type: ^glued, beta: 1}]", "glued phases move as one"},
        {6, "coupling: [{type: immiscible, friction: ^0.1}]", "is for `type: contact`"},
        {6, "coupling: ^miscible", "coupling: miscible needs numbers; write [{type: miscible"},
        {6, "coupling: [^{type: miscible}]", "diffusion: is missing; say how fast they mix"},
        {6, "coupling: [^{type: dissolves}]", "dissolution: is missing"},
        {6, "coupling: [{type: contact, diffusion: ^0.1}]",
         "diffusion: is for `type: miscible` and `dissolves`; leave it out"},
        {6, "solver: {dt: 0.01}\ncoupling: [{type: miscible, diffusion: ^10}]",
         "coupling.0.diffusion: with solver.dt 0.01 and cells of 0.1, more than 0.25 is not "
         "stable"},
        {6, "solver: {dt: 0.01}\ncoupling: [{type: dissolves, dissolution: ^200}]",
         "coupling.0.dissolution: with solver.dt 0.01, more than 100 is not stable"},
        {6, "solver: {type: flip}\ncoupling: ^contact",
         "coupling: flip gives all material one velocity; leave it out, or use solver.type mpm"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

/* Scenes that are well formed and cannot be begun. */
static void test_liquid_that_cannot_begin(void **state) {
    (void)state;
    static const struct {
        const char *more, *fragment;
    } cases[] = {
        {"solver: {type: flip}\ncolliders: [{shape: {box: {min: [-1, -1], max: [2, 2]}}}]",
         "body 'dam' has no particles; move it out of the colliders"},
        {"solver: {type: mpm}\n",
         "'water' has surface_tension, which mpm does not know; leave it out, or"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char document[4096];
        spate_scene *s;
        spate_simulation *sim;
        snprintf(
            document, sizeof document,
            "spate: 1\ndimension: 2\ndomain: {size: [4, 2], dx: 0.1}\n"
            "materials: {water: {model: liquid, surface_tension: 0.07}}\n"
            "bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n"
            "%s\n",
            cases[i].more);
        spate_status status =
            spate_scene_parse(ctx, document, strlen(document), "f.yaml", ".", NULL, 0, &s);
        if (!status) {
            status = spate_simulation_create(s, &sim);
            spate_scene_free(s);
        }
        assert_int_equal(status, SPATE_BAD_INPUT);
        if (!strstr(spate_message(ctx), cases[i].fragment))
            fail_msg("expected '...%s', got '%s'", cases[i].fragment, spate_message(ctx));
    }
}

static void test_wrong_bodies(void **state) {
    (void)state;
    static const wrong cases[] = {
        {5, "bodies: ^{}", "bodies: expected a list, found a mapping; put it into brackets, as "},
        {5, "bodies:^ ", "bodies: has no value"},
        {5, "bodies: ^[]", "bodies: nothing to simulate; add a body"},
        {5, "bodies: [^dam]", "bodies.0: expected a mapping, found 'dam'"},
        {5, "bodies: [^{material: water}]", "bodies.0.shape: is missing"},
        {5, "bodies: [^{shape: {sphere: {center: [1, 1], radius: 1}}}]",
         "bodies.0.material: is missing"},
        {5, "bodies: [{material: ^watr, shape: {sphere: {center: [1, 1], radius: 1}}}]",
         "bodies.0.material: materials has no 'watr'; did you mean 'water'?"},
        {5, "bodies: [{material: ^mercury, shape: {sphere: {center: [1, 1], radius: 1}}}]",
         "materials has no 'mercury'; use a name such as 'water'"},
        {5, BODY("^shap: 1"), "bodies.0.shap: unknown field 'shap'; did you mean 'shape'?"},
        {5, BODY("shape: ^{box: {min: [5, 0], max: [6, 1]}}"),
         "bodies.0.shape: lies outside the domain: x from 5 to 6, the domain's from 0 to 4; move"},
        {5, BODY("shape: ^{points: [[1, -1]]}"), "lies outside the domain: y from -1 to -1"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, velocity: ^[1, 0, 0]"),
         "bodies.0.velocity: 3 components in a 2D scene; remove the third"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, spin: ^[0, 0, 1]"),
         "bodies.0.spin: a list in a 2D scene; give one number"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, particles_per_cell: ^0"), "range"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, vortices: ^[1, 0]"),
         "bodies.0.vortices: the wave length is 0; give [speed, length] with a length greater"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, vortices: ^-2"),
         "bodies.0.vortices: the wave length is -2; give"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, vortices: ^[1]"),
         "bodies.0.vortices: expected 2 numbers"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, jitter: ^1.5"),
         "bodies.0.jitter: 1.5 is out of range; give a number from 0 to 1"},
        {5, BODY("shape: {box: {min: [0, 0], max: [1, 1]}}, sampling: ^random"),
         "bodies.0.sampling: unknown word 'random'; use one of these (regular, jittered, glass, "
         "poisson)"},
        {5,
         BODY("shape: {sphere: {center: [1, 1], radius: 1}}}, {name: ^dam, material: water, "
              "shape: {sphere: {center: [1, 1], radius: 1}}"),
         "bodies.1.name: 'dam' is the name of another one"},
        {6,
         "sources: [{name: ^dam, material: water, shape: {sphere: {center: [1, 1], radius: 1}}}]",
         "sources.0.name: 'dam' is the name of another one; choose a different"},
        {6, "sources: [{material: water, shape: ^{sphere: {center: [9, 1], radius: 1}}}]",
         "sources.0.shape: lies outside the domain"},
        {6, "sources: [{material: water, shape: ^{points: [[1, 1]]}}]",
         "sources.0.shape: points have no inside"},
        {6,
         "sources: [{material: water, shape: {sphere: {center: [1, 1], radius: 1}}, from: 2, "
         "until: ^1}]",
         "sources.0.until: 1 is not after from (2)"},
        {6,
         "sources: [{material: water, shape: {sphere: {center: [1, 1], radius: 1}}, limit: ^-1}]",
         "sources.0.limit: -1 is out of range"},
        {6, "colliders: [{shape: ^{points: [[1, 1]]}}]",
         "colliders.0.shape: points have no inside"},
        {6, "colliders: [{shape: {plane: {point: [0, 0], normal: [0, 1]}}, contact: ^stick}]",
         "colliders.0.contact: unknown word 'stick'; did you mean 'sticky'?"},
        {6, "colliders: [{shape: {plane: {point: [0, 0], normal: [0, 1]}}, friction: ^-0.1}]",
         "colliders.0.friction: -0.1 is out of range"},
        {6,
         "colliders: [{name: a, shape: {plane: {point: [0, 0], normal: [0, 1]}}}, {name: ^a, "
         "shape: {plane: {point: [0, 0], normal: [0, 1]}}}]",
         "colliders.1.name: 'a' is the name of another one"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

static void test_wrong_shapes(void **state) {
    (void)state;
    static const wrong cases[] = {
        {5, BODY("flow: [^{}], shape: {sphere: {center: [1, 1], radius: 1}}"),
         "flow.0: nothing moves"},
        {5, BODY("flow: [{shear: 1, across: ^x}], shape: {sphere: {center: [1, 1], radius: 1}}"),
         "flow.0.across: is the axis that the shear moves along"},
        {5, BODY("flow: [^{shear: 1, along: y}], shape: {sphere: {center: [1, 1], radius: 1}}"),
         "flow.0.across: is the axis that the shear moves along"},
        {5, BODY("flow: [{shear: 1, along: ^z}], shape: {sphere: {center: [1, 1], radius: 1}}"),
         "flow.0.along: 'z' in a 2D scene"},
        {5, "bodies: [{material: water, shape: ^box}]", "bodies.0.shape: expected a mapping"},
        {5, "bodies: [{material: water, shape: ^{}}]", "bodies.0.shape: no kind of shape; add"},
        {5, "bodies: [{material: water, shape: ^{scale: 2}}]", "no kind of shape"},
        {5, SHAPE("^spere: {}"), "shape.spere: unknown field 'spere'; did you mean 'sphere'?"},
        {5, SHAPE("box: {min: [0, 0], max: [1, 1]}, ^sphere: {center: [0, 0], radius: 1}"),
         "bodies.0.shape: both 'box' and 'sphere'; keep one"},
        {5, SHAPE("box: {min: [1, 0], max: ^[0, 1]}"),
         "bodies.0.shape.box.max: x is 0, not above min (1); swap"},
        {5, SHAPE("box: {min: [0, 1], max: ^[1, 1]}"), "box.max: y is 1, not above min (1)"},
        {5, SHAPE("box: ^{min: [0, 0]}"), "bodies.0.shape.box.max: is missing; add it"},
        {5, SHAPE("box: ^[[0, 0], [1, 1]]"),
         "bodies.0.shape.box: expected a mapping, found a list"},
        {5, SHAPE("box: {min: ^[0, 0, 0], max: [1, 1, 1]}"), "box.min: 3 components in a 2D scene"},
        {5, SHAPE("rounded_box: {min: [0, 0], max: [1, 2], radius: ^0.6}"),
         "rounded_box.radius: 0.6 is more than half the shortest side; use at most 0.5"},
        {5, SHAPE("sphere: {center: [1, 1], radius: ^0}"),
         "sphere.radius: 0 is out of range; give"},
        {5, SHAPE("sphere: {center: [1, 1], radius: ^-1}"), "sphere.radius: -1 is out of range"},
        {5, SHAPE("cylinder: {from: [1, 1], to: ^[1, 1], radius: 1}"), "cylinder.to: is the same"},
        {5, SHAPE("capsule: {from: [1, 1], to: ^[1, 1], radius: 1}"), "capsule.to: is the same"},
        {5, SHAPE("torus: {center: [1, 1], radius: 1, thickness: ^1}"),
         "torus.thickness: 1 closes"},
        {5, SHAPE("torus: {center: [1, 1], axis: ^[0, 1], radius: 1, thickness: 0.1}"),
         "torus.axis: has no meaning in a 2D scene; remove it"},
        {5, SHAPE("plane: {point: [1, 1], normal: ^[0, 0]}"), "plane.normal: has no direction"},
        {5, SHAPE("polygon: ^[[0, 0], [1, 0]]"), "polygon: 2 points; give at least 3"},
        {5, SHAPE("polygon: ^[[0, 0], [1, 0], [2, 0]]"), "polygon: its corners enclose nothing"},
        {5, SHAPE("polygon: [[0, 0], ^[1], [0, 1]]"), "polygon.1: expected 2 numbers, found 1"},
        {5, SHAPE("points: ^[]"), "points: 0 points; give at least 1"},
        {5, SHAPE("union: ^[]"), "union: has no shapes"},
        {5, SHAPE("union: ^{}"), "union: expected a list"},
        {5, SHAPE("union: [^{points: [[1, 1]]}]"), "union.0: points have no inside to combine"},
        {5, SHAPE("difference: [{sphere: {center: [1, 1], radius: ^x}}]"),
         "bodies.0.shape.difference.0.sphere.radius: expected a number, found 'x'"},
        {5, SHAPE("sphere: {center: [1, 1], radius: 1}, rotate: ^[0, 0, 1, 90]"),
         "shape.rotate: a list in a 2D scene; give one angle in degrees"},
        {5, SHAPE("sphere: {center: [1, 1], radius: 1}, scale: ^0"), "shape.scale: 0 is out of"},
        {5, SHAPE("sphere: {center: [1, 1], radius: 1}, scale: [1, ^-1]"), "scale.1: -1 is out of"},
        {5, SHAPE("sphere: {center: [1, 1], radius: 1}, scale: ^[1, 1, 2]"),
         "shape.scale: 3 numbers; give one, or one for each of the 2 axes"},
        {5, SHAPE("torus: {center: [1, 1], radius: 1, thickness: 0.1}, scale: ^[1, 2]"),
         "shape.scale: a stretched torus has no exact distance; use one factor, or a mesh"},
        {5, SHAPE("capsule: {from: [1, 1], to: [2, 1], radius: 1}, scale: ^[1, 2]"),
         "shape.scale: a stretched capsule"},
        {5, SHAPE("rounded_box: {min: [0, 0], max: [1, 1], radius: 0.1}, scale: ^[1, 2]"),
         "shape.scale: a stretched rounded_box"},
        {5, SHAPE("cylinder: {from: [1, 1], to: [2, 2], radius: 1}, scale: ^[1, 2]"),
         "shape.scale: a cylinder stays one only along its axis"},
        {5, SHAPE("union: [{box: {min: [0, 0], max: [1, 1]}, rotate: 30}], scale: ^[1, 2]"),
         "shape.scale: what is rotated inside cannot be stretched"},
        {5, SHAPE("mesh: {file: ^/etc/passwd}"),
         "mesh.file: an absolute path; put the mesh beside"},
        {5, SHAPE("mesh: {file: ^../secret.obj}"), "mesh.file: '..' leaves the scene's folder"},
        {5, SHAPE("mesh: {file: ^a/../../secret.obj}"),
         "mesh.file: '..' leaves the scene's folder"},
        {5, SHAPE("mesh: {file: ^a_##.obj}"), "mesh.file: # stands for numbers of a sequence; add"},
        {5, SHAPE("mesh: {file: ^a/..}"), "mesh.file: '..' leaves the scene's folder"},
        {5, SHAPE("mesh: {file: ^''}"), "mesh.file: expected a word"},
        {5, SHAPE("mesh: ^rock.obj"), "mesh: expected a mapping, found 'rock.obj'"},
    };
    expect_failures(cases, COUNT_OF(cases));
    /* a mesh that is not there is told at its place in the scene */
    char document[4096];
    spate_scene *s;
    compose(5, SHAPE("mesh: {file: ..rock.obj}"), document);
    assert_int_equal(
        spate_scene_parse(ctx, document, strlen(document), "f.yaml", "no/such/folder", NULL, 0, &s),
        SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "f.yaml:5:49: bodies.0.shape.mesh.file: "));
    assert_non_null(strstr(spate_message(ctx), "no/such/folder/..rock.obj"));
}

#define SINK(rest) "sinks: [{shape: {box: {min: [0, 0], max: [1, 1]}}, " rest "}]"

static void test_wrong_sinks(void **state) {
    (void)state;
    static const wrong cases[] = {
        {6, "sinks: ^{}", "sinks: expected a list, found a mapping"},
        {6, "sinks: [^{name: a}]", "sinks.0.shape: is missing"},
        {6, "sinks: [{shape: ^{points: [[1, 1]]}}]",
         "sinks.0.shape: points have no inside; a sink"},
        {6, "sinks: [{shape: ^{sphere: {center: [9, 1], radius: 1}}}]",
         "sinks.0.shape: lies outside the domain: x from 8 to 10"},
        {6, SINK("until: ^0"), "sinks.0.until: 0 is not after from (0); make it later"},
        {6, SINK("from: 2, until: ^1"), "sinks.0.until: 1 is not after from (2)"},
        {6, SINK("from: ^-1"), "sinks.0.from: -1 is out of range"},
        {6, SINK("^limit: 5"), "sinks.0.limit: unknown field 'limit'"},
        {6,
         "sinks: [{name: a, shape: {box: {min: [0, 0], max: [1, 1]}}}, {name: ^a, shape: {box: "
         "{min: [0, 0], max: [1, 1]}}}]",
         "sinks.1.name: 'a' is the name of another one"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

#define MOTION(keys) \
    "colliders: [{shape: {plane: {point: [0, 0], normal: [0, 1]}}, motion: {keys: " keys "}}]"

static void test_wrong_motion_probes_output(void **state) {
    (void)state;
    static const wrong cases[] = {
        {6, MOTION("^[]"), "colliders.0.motion.keys: has no keys"},
        {6, MOTION("[^{translate: [0, 1]}]"), "motion.keys.0.t: is missing"},
        {6, MOTION("[{t: 1}, {t: ^1}]"), "motion.keys.1.t: 1 is not after the key before (1)"},
        {6, MOTION("[{t: 1, rotate: ^[0, 1, 0, 90]}]"), "keys.0.rotate: a list in a 2D scene"},
        {6, "colliders: [{from: 2, until: ^1, shape: {sphere: {center: [1, 1], radius: 1}}}]",
         "colliders.0.until: 1 is not after from (2)"},
        {6, MOTION("[{t: 1}], interpolate: ^cubic"), "motion.interpolate: unknown word 'cubic'"},
        {6, MOTION("[{t: 1}], repeat: ^yes"), "motion.repeat: found 'yes'; write true or false"},
        {6, "probes: [^{name: a}]", "probes.0: nothing to measure; add extent"},
        {6, "probes: [^{height: {at: 1}, pressure: {at: [1, 1]}}]", "both 'height' and 'pressure'"},
        {6, "probes: [{name: ^'a,b', height: {at: 1}}]", "probes.0.name: a comma or quote"},
        {6, "probes: [{name: ^mass, height: {at: 1}}]", "stats.csv has a column 'mass' already"},
        {6, "probes: [{name: a, height: {at: 1}}, {name: ^a, height: {at: 1}}]", "another one"},
        {6, "probes: [{extent: {of: ^dom, axis: x, side: max}}]",
         "probes.0.extent.of: no body or source is named 'dom'; did you mean 'dam'?"},
        {6, "probes: [{extent: ^{axis: x}}]", "probes.0.extent.side: is missing"},
        {6, "probes: [{extent: {axis: ^z, side: max}}]", "extent.axis: 'z' in a 2D scene; use x"},
        {6, "probes: [{extent: {axis: ^w, side: max}}]", "extent.axis: unknown word 'w'"},
        {6, "probes: [{depth: {at: 0.5, width: ^1000}}]", "wider than the domain"},
        {6, "probes: [{height: {at: ^[1, 1]}}]", "height.at: expected a number, found a list"},
        {6, "probes: [{height: {at: ^5}}]",
         "height.at: x = 5 is outside the domain; give one from"},
        {6, "probes: [{pressure: {at: ^[1, 3]}}]", "pressure.at: y = 3 is outside the domain"},
        {6, "probes: [{velocity: {at: ^[1, 3]}}]", "velocity.at: y = 3 is outside the domain"},
        {6, "probes: [{velocity: ^{}}]", "probes.0.velocity.at: is missing"},
        {6, "probes: [{velocity: {at: ^[1, 1, 1]}}]", "velocity.at: 3 components in a 2D scene"},
        {6, "probes: [{count: ^{of: dam}}]", "probes.0.count.shape: is missing"},
        {6, "probes: [{count: {shape: ^{points: [[1, 1]]}}}]",
         "count.shape: points have no inside; a probe needs a solid shape"},
        {6, "probes: [{count: {shape: ^{box: {min: [5, 0], max: [6, 1]}}}}]",
         "count.shape: lies outside the domain"},
        {6, "probes: [{mean_speed: {of: ^dom}}]", "mean_speed.of: no body or source is named"},
        {6, "probes: [{mean_speed: {shape: {sphere: {center: [1, 1], radius: ^0}}}}]",
         "mean_speed.shape.sphere.radius: 0 is out of range"},
        {6, "probes: [{spread: {axis: ^z}}]", "spread.axis: 'z' in a 2D scene; use x or y"},
        {6, "probes: [{spread: {axis: ^vertical}}]", "spread.axis: unknown word 'vertical'"},
        {6, "probes: [{pieces: {gap: ^0}}]", "pieces.gap: 0 is out of range"},
        {6, "probes: [{pieces: {gap: ^1e-9}}]",
         "pieces.gap: 1e-09 is less than a millionth of a cell; give at least 1e-07"},
        {6, "probes: [{pieces: {at_least: ^0}}]", "pieces.at_least: 0 is out of range"},
        {6, "probes: [{largest_piece: {^at_least: 2}}]", "unknown field 'at_least'"},
        {6, "probes: [{mixing: ^{of: dam}}]", "mixing.axis: is missing"},
        {6, "probes: [{mixing: {axis: ^z}}]", "mixing.axis: 'z' in a 2D scene"},
        {6,
         "sources: [{name: tap, material: water, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n"
         "probes: [{mixing: {of: ^tap, axis: x}}]",
         "probes.0.mixing.of: a source has no order at the start; name a body"},
        {5,
         "sources: [{name: tap, material: water, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n"
         "probes: [{mixing: ^{axis: x}}]",
         "probes.0.mixing: there are no bodies, whose order it could follow; remove it"},
        {6, "output: {particles: ^vtk}",
         "output.particles: unknown word 'vtk'; did you mean 'vtp'"},
        {6, "output: {particles: ^vdb}",
         "output.particles: unknown word 'vdb'; use one of these (none, vtp, ply, bgeo)"},
        {6, "output: {particles: [vtp, ^none]}", "output.particles.1: 'none' beside other formats"},
        {6, "output: {fields: [J, ^J]}", "output.fields.1: named twice"},
        {6, "output: {fields: [J, ^densty]}",
         "output.fields.1: unknown word 'densty'; did you mean 'density'"},
        {6, "output: {fields: [^[J]]}", "output.fields.0: expected a word, found a list"},
        {6, "solver: {type: flip}\noutput: {fields: [J, ^F]}",
         "output.fields.1: flip does not follow the deformation gradient of its particles; leave "
         "it out, or use solver.type mpm"},
        {6, "solver: {type: flip}\noutput: {fields: ^green_strain}",
         "output.fields: flip does not follow"},
        {6, "output: {volume: ^vtk}", "output.volume: unknown word 'vtk'; did you mean 'vti'"},
        {6, "output: {checkpoint: ^-1}", "output.checkpoint: -1 is out of range"},
        {6, "output: {surface: ^gltf}",
         "output.surface: unknown word 'gltf'; use one of these (none, ply, obj, vtp)"},
        {6, "camera: ^{from: [1, 1]}", "camera.to: is missing"},
        {6, "camera: ^{to: [1, 1]}", "camera.from: is missing; add it (the opposite corner"},
        {6, "camera: {from: [1, 1], to: ^[1, 2]}", "camera.to: no area lies between it and from"},
        {6, "camera: {from: [1, 1], to: [0, 0], fov: ^0}", "camera.fov: 0 is out of range; give"},
        {6, "camera: {fov: ^40}", "camera.fov: a 2D picture is flat; leave it out"},
        {6, "camera: {orbit: ^90}", "camera.orbit: a 2D picture is flat; leave it out"},
        {6, "camera: {keys: ^[]}", "camera.keys: has no keys; add one such as"},
        {6, "camera: {keys: [{t: 0}, {t: ^0}]}",
         "camera.keys.1.t: 0 is not after the key before (0); put keys in order"},
        {6, "camera: {keys: [{t: 0}, ^{t: 1, from: [0, 0], to: [1, 1]}]}",
         "camera.keys.1.from: the keys before have no from and to; give them in the first key"},
        {6, "camera: {keys: [{t: 0, from: [0, 0], to: [1, 1]}, {t: 1, to: ^[0, 0]}]}",
         "camera.keys.1.to: no area lies between"},
        {6, "camera: {keys: [^{t: 0, from: [0, 0]}]}", "camera.keys.0.to: is missing; add it"},
        {6, "camera: {keys: [{t: 0, fov: ^20}]}", "camera.keys.0.fov: a 2D picture is flat"},
    };
    expect_failures(cases, COUNT_OF(cases));
}

static void test_wrong_overrides(void **state) {
    (void)state;
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"solver.cfl=7", "--set solver.cfl=7: solver.cfl: is 7; mpm goes up to 1"},
        {"solver.clf=1", "--set solver.clf=1: solver.clf: unknown field 'clf'; did you mean 'cfl'"},
        {"solver.cfl=~", "--set solver.cfl=~: solver.cfl: has no value"},
        {"bodies.0.velocity=[1,0,0,0]",
         "--set bodies.0.velocity=[1,0,0,0]: bodies.0.velocity: exp"},
        {"bodies.1.name=x", "--set bodies.1.name=x: bodies.1.material: is missing"},
        {"bodies.dan.name=x", "--set bodies.dan.name=x: no entry named 'dan'; did you mean 'dam'?"},
        {"gravity=[0, x]", "--set gravity=[0, x]: gravity.1: expected a number, found 'x'"},
        {"dimension=3", "f.yaml:3:16: domain.size: 2 components in a 3D scene; add the third"},
        {"spate=3", "--set spate=3: spate: this scene is for format 3"},
        {"solver", "--set solver: expected path=value"},
    };
    char document[4096];
    compose(6, "", document);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        spate_scene *s;
        assert_int_equal(
            spate_scene_parse(ctx, document, strlen(document), "f.yaml", ".", &cases[i].set, 1, &s),
            SPATE_BAD_INPUT);
        if (strncmp(spate_message(ctx), cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("expected '%s', got '%s'", cases[i].message, spate_message(ctx));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_wrong_top),
        TEST(test_wrong_domain),
        TEST(test_wrong_solver_and_materials),
        TEST(test_wrong_colours),
        TEST(test_wrong_flip),
        TEST(test_wrong_couplings),
        TEST(test_liquid_that_cannot_begin),
        TEST(test_wrong_bodies),
        TEST(test_wrong_shapes),
        TEST(test_wrong_sinks),
        TEST(test_wrong_motion_probes_output),
        TEST(test_wrong_overrides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
