/* Crowds: water, jelly and sand beside each other are each drawn as what they are; colours come
 * from the body, else from the material; grains differ by their ids. */
#include "pictures.h"

#include "pictures/particle_batches.h"

enum { COUNT = 64 };

static const char words[] =
    "spate: 1\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.1}\nmaterials:\n"
    "  water: {model: liquid}\n"
    "  jelly: {model: neo_hookean, young_modulus: 1.0e4, color: \"#ff0000\"}\n"
    "  sand: {model: sand, young_modulus: 1.0e6}\n"
    "  steel: {model: metal, young_modulus: 1.0e6, yield_stress: 1.0e4}\n"
    "  gel: {model: neo_hookean, young_modulus: 1.0e4}\n"
    "  glue: {model: neo_hookean, young_modulus: 1.0e4}\n"
    "bodies:\n"
    "  - {material: jelly, shape: &s {box: {min: [0, 0, 0], max: [0.5, 0.5, 0.5]}}}\n"
    "  - {material: jelly, color: [0, 1, 0], shape: *s}\n"
    "sources:\n"
    "  - {material: water, color: blue, velocity: [1, 0, 0], shape: *s}\n";

static spate_scene *read_scene(spate_context *ctx, const char *set) {
    spate_scene *s = NULL;
    assert_int_equal(
        spate_scene_parse(ctx, words, sizeof words - 1, "f.yaml", ".", &set, set ? 1 : 0, &s),
        SPATE_OK);
    return s;
}

/* Particles of all materials in turn; of group 1, 2 and none in turn after the first 32. */
static snapshot make_snapshot(void) {
    static float x[COUNT][3], size[COUNT];
    static uint32_t kind[COUNT], group[COUNT], id[COUNT];
    snapshot s = {.count = COUNT};
    for (int i = 0; i < COUNT; i++) {
        size[i] = 0.02f, id[i] = (uint32_t)(1000 + i);
        kind[i] = (uint32_t)(i % 4);
        group[i] = kind[i] == 1 ? (i >= 32) : kind[i] == 0 ? 2 : 99;
        for (int a = 0; a < 3; a++) x[i][a] = 0.5f;
    }
    const snapshot_array all[] = {
        {"P", SNAPSHOT_FLOAT32, 3, (const void *)x},
        {"pscale", SNAPSHOT_FLOAT32, 1, (const void *)size},
        {"material", SNAPSHOT_UINT32, 1, (const void *)kind},
        {"id", SNAPSHOT_UINT32, 1, (const void *)id},
        {"group", SNAPSHOT_UINT32, 1, (const void *)group},
    };
    memcpy(s.arrays, all, sizeof all);
    s.array_count = COUNT_OF(all);
    return s;
}

typedef struct drawn {
    spate_scene *scene;
    stage stage;
    colouring shades;
    batches batches;
} drawn;

static drawn draw(spate_context *ctx, const char *set, const char *colour, const snapshot *frame) {
    drawn d = {.scene = read_scene(ctx, set)};
    assert_int_equal(stage_create(d.scene, 0, &d.stage), SPATE_OK);
    assert_int_equal(colouring_create(d.scene, colour, &d.shades), SPATE_OK);
    assert_int_equal(batches_create(&d.shades, &d.stage, frame, "f", false, &d.batches), SPATE_OK);
    return d;
}

static void drop(drawn *d) {
    batches_free(&d->batches);
    stage_free(&d->stage);
    spate_scene_free(d->scene);
}

static int64_t count_of(const drawn *d, material_look look) {
    int64_t n = 0;
    for (int k = 0; k < d->batches.count; k++)
        if (d->batches.list[k].look == look) n += d->batches.list[k].count;
    return n;
}

static void each_is_drawn_as_its_material_says(void **state) {
    snapshot frame = make_snapshot();
    drawn d = draw(*state, NULL, NULL, &frame);
    assert_int_equal(count_of(&d, LOOK_SURFACE), 16);
    assert_int_equal(count_of(&d, LOOK_GRAINS), 16);
    assert_int_equal(count_of(&d, LOOK_SKIN), 32);
    /* jelly and steel have a skin each, with a finish of its own */
    int skins = 0;
    bool jelly = false, metal = false;
    for (int k = 0; k < d.batches.count; k++) {
        const batch *c = &d.batches.list[k];
        if (c->look != LOOK_SKIN || !c->count) continue;
        skins++;
        jelly |= c->finish == FINISH_JELLY, metal |= c->finish == FINISH_METAL;
        assert_true(fabsf(c->radius - 0.02f) < 1e-6f);
    }
    assert_true(skins == 2 && jelly && metal);
    drop(&d);
    /* the scene may want it otherwise */
    d = draw(*state, "materials.sand.look=skin", NULL, &frame);
    assert_int_equal(count_of(&d, LOOK_SKIN), 48);
    assert_null(batches_find(&d.batches, LOOK_GRAINS));
    drop(&d);
    d = draw(*state, "materials.jelly.look=surface", NULL, &frame);
    assert_int_equal(count_of(&d, LOOK_SURFACE), 32);
    drop(&d);
    /* what an attribute colours has a skin in place of a clear surface; grains stay grains */
    d = draw(*state, NULL, "id", &frame);
    assert_int_equal(count_of(&d, LOOK_GRAINS), 16);
    assert_int_equal(count_of(&d, LOOK_SKIN), 48);
    assert_null(batches_find(&d.batches, LOOK_SURFACE));
    int flowing = 0;
    for (int k = 0; k < d.batches.count; k++) {
        const batch *c = &d.batches.list[k];
        flowing += c->flows && c->count;
        if (c->look == LOOK_SKIN) assert_int_equal(c->finish, FINISH_GLOSS);
    }
    assert_int_equal(flowing, 1);
    drop(&d);
}

static void bodies_colours_come_before_their_materials(void **state) {
    snapshot frame = make_snapshot();
    drawn d = draw(*state, NULL, NULL, &frame);
    const batch *jelly = batches_find(&d.batches, LOOK_SKIN),
                *water = batches_find(&d.batches, LOOK_SURFACE);
    assert_true(jelly->colours[0][0] == 1 && jelly->colours[0][1] == 0);
    assert_true(jelly->colours[15][0] == 0 && jelly->colours[15][1] == 1);
    assert_true(water->colours[0][2] > 4 * water->colours[0][0]); /* the source's */
    assert_true(water->colours[0][3] > 1);                        /* so it is no clear water */
    drop(&d);
    frame.array_count--; /* without groups the material's */
    d = draw(*state, NULL, NULL, &frame);
    jelly = batches_find(&d.batches, LOOK_SKIN);
    assert_true(jelly->colours[15][0] == 1 && jelly->colours[15][1] == 0);
    assert_true(batches_find(&d.batches, LOOK_SURFACE)->colours[0][3] == 1);
    drop(&d);
}

/* The first of a model that has no colour given has the model's, the next one of the palette. */
static void models_have_colours(void **state) {
    spate_scene *scene = read_scene(*state, NULL);
    colouring sh;
    static const uint32_t kinds[] = {4, 5};
    const snapshot_array materials = {"material", SNAPSHOT_UINT32, 1, (const void *)kinds};
    assert_int_equal(colouring_create(scene, NULL, &sh), SPATE_OK);
    const rgb gel = colouring_colour(&sh, &materials, &(colour_source){0}, 0),
              glue = colouring_colour(&sh, &materials, &(colour_source){0}, 1),
              own = colour_from_hex(scene->materials[4].type->color), other = colour_material(5);
    assert_memory_equal(&gel, &own, sizeof own);
    assert_memory_equal(&glue, &other, sizeof other);
    spate_scene_free(scene);
}

/* Same ids, same grains; others, other grains; all of them near what the material is. */
static void grains_differ_by_their_ids(void **state) {
    snapshot frame = make_snapshot();
    drawn d = draw(*state, NULL, NULL, &frame), again = draw(*state, NULL, NULL, &frame);
    const batch *a = batches_find(&d.batches, LOOK_GRAINS),
                *b = batches_find(&again.batches, LOOK_GRAINS);
    rgb sand = colour_from_hex(0xcfae7c);
    float least = 1e9f, most = 0;
    assert_memory_equal(a->colours, b->colours, (size_t)a->count * sizeof *a->colours);
    assert_memory_equal(a->centers, b->centers, (size_t)a->count * sizeof *a->centers);
    for (int64_t i = 0; i < a->count; i++) {
        assert_true(a->colours[i][0] > 0.5f * sand.r && a->colours[i][0] < 1.5f * sand.r);
        assert_true(i == 0 || a->colours[i][0] != a->colours[i - 1][0]);
        least = fminf(least, a->centers[i][3]), most = fmaxf(most, a->centers[i][3]);
    }
    assert_true(most > 1.05f * least && most < 2 * least);
    drop(&d);
    drop(&again);
}

/* Half of the frame is far away, or not a number. */
static void strays_are_left_out(void **state) {
    snapshot frame = make_snapshot();
    static float x[COUNT][3];
    for (int i = 0; i < COUNT; i++) x[i][0] = i % 8 == 1 ? NAN : i % 8 == 5 ? 1e9f : 0.5f;
    frame.arrays[0].data = (const void *)x;
    drawn d = draw(*state, NULL, NULL, &frame);
    assert_int_equal(count_of(&d, LOOK_SKIN), 16);
    assert_int_equal(count_of(&d, LOOK_SURFACE), 16);
    drop(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_drawn_as_its_material_says),
        cmocka_unit_test(bodies_colours_come_before_their_materials),
        cmocka_unit_test(models_have_colours),
        cmocka_unit_test(grains_differ_by_their_ids),
        cmocka_unit_test(strays_are_left_out),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
