/* Reading and writing checkpoints; see checkpoint.h for the format. */
#include "run/checkpoint.h"
#include "core/file.h"
#include "core/hash.h"
#include "solver/drive.h"
#include "solver/impulses.h"
#include <spate/drive.h>
#include <stdio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "blocks are written as they are in memory");
_Static_assert(sizeof(checkpoint_head) == 72 && sizeof(checkpoint_block) == 56, "no padding");

enum { BLOCKS_MAX = 64, DT_LIMIT_SIZE = 32 };
/* Particles may be a block beyond their own before they are sorted again. */
enum { POSITION_MIN = -2 * BLOCK_EDGE, POSITION_MAX = 3 * BLOCK_EDGE };
enum { COORDS_MAX = 1 << 20 };

/* The single numbers of a simulation, as they lie in the file. */
typedef struct scalars {
    double time, dt, drift, max_speed;
    int64_t step, removed, drained, sorts;
    uint64_t next_id;
    char dt_limit[DT_LIMIT_SIZE];
} scalars;

/* What was done from outside (solver/drive.h). */
typedef struct drive_scalars {
    int64_t next_event, forces_given, recording;
    double until, recorded_until;
} drive_scalars;

/* How the file names the numbers of a field. */
static const char *number_type(const particle_field_info *info) {
    if (info->is_real) return sizeof(real) == 4 ? "f32" : "f64";
    return info->scalar == 1 ? "u8" : info->scalar == 2 ? "u16" : "u64";
}

static size_t type_size(const char type[4]) {
    static const struct {
        char name[4];
        size_t size;
    } types[] = {{"raw", 1}, {"u8", 1},  {"u16", 2}, {"u64", 8},
                 {"i32", 4}, {"i64", 8}, {"f32", 4}, {"f64", 8}};
    for (int i = 0; i < COUNT_OF(types); i++)
        if (!memcmp(type, types[i].name, 4)) return types[i].size;
    return 0;
}

/* ---- Writing ---- */

/* A block to be written: `pieces` stretches of memory, `stride` bytes apart. */
typedef struct entry {
    checkpoint_block head;
    const char *data;
    size_t piece_bytes, stride;
    int pieces;
} entry;

typedef struct entry_list {
    entry entries[BLOCKS_MAX];
    int count;
    scalars scalars;
    drive_scalars drive;
} entry_list;

static entry *list_add(entry_list *list, const char *name, const char *type, uint32_t components,
                       int64_t count, const void *data) {
    entry *e = &list->entries[list->count++];
    *e = (entry){.data = data ? data : "", .pieces = 1};
    snprintf(e->head.name, sizeof e->head.name, "%s", name);
    snprintf(e->head.type, sizeof e->head.type, "%s", type);
    e->head.components = components;
    e->head.count = (uint64_t)count;
    e->piece_bytes = (size_t)components * (size_t)count * type_size(e->head.type);
    return e;
}

static void list_particles(entry_list *list, const particles *p) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        if (!(p->fields & 1u << f) || !(info->flags & FIELD_SAVED)) continue;
        entry *e = list_add(list, info->name, number_type(info), (uint32_t)field_components(info),
                            p->count, particles_field(p, (particle_field)f));
        e->pieces = info->planes;
        e->piece_bytes = (size_t)p->count * info->bytes;
        e->stride = (size_t)p->capacity * info->bytes;
    }
}

static spate_status list_solver(entry_list *list, spate_simulation *sim) {
    state_blocks own;
    TRY(simulation_state(sim, &own));
    for (int i = 0; i < own.count; i++) {
        char name[CHECKPOINT_NAME];
        snprintf(name, sizeof name, "solver.%s", own.list[i].name);
        list_add(list, name, "raw", 1, (int64_t)own.list[i].bytes, own.list[i].data);
    }
    return SPATE_OK;
}

/* Poses of driven colliders, force fields, and what events have left. */
static void list_drive(entry_list *list, const spate_simulation *sim) {
    const drive none = {0}, *d = sim->drive ? sim->drive : &none;
    const boundary *b = &sim->boundary;
    const int64_t poses = b->driven_count ? sim->scene->collider_count : 0;
    list->drive = (drive_scalars){.next_event = d->next_event,
                                  .forces_given = d->forces_given,
                                  .recording = d->recording,
                                  .until = d->until,
                                  .recorded_until = d->recorded_until};
    list_add(list, "drive", "raw", 1, sizeof list->drive, &list->drive);
    list_add(list, "drive.poses", "raw", 1, poses * (int64_t)sizeof *b->driven, b->driven);
    list_add(list, "drive.forces", "raw", 1, sim->forces.count * (int64_t)sizeof(force_field),
             sim->forces.list);
    list_add(list, "drive.scene", "raw", 1, d->own ? (int64_t)strlen(d->own->canonical) : 0,
             d->own ? d->own->canonical : NULL);
    list_add(list, "drive.record", "raw", 1, (int64_t)d->record.length, d->record.data);
    if (d->forces_given)
        list_add(list, "drive.particle_forces", "raw", 1,
                 sim->particles.count * (int64_t)sizeof *sim->particles.force,
                 sim->particles.force);
}

static spate_status list_all(spate_simulation *sim, const run_record *record, entry_list *list) {
    const blocks *b = &sim->blocks;
    list->scalars = (scalars){.time = sim->time,
                              .dt = sim->dt,
                              .drift = sim->drift,
                              .max_speed = sim->max_speed,
                              .step = sim->step,
                              .removed = sim->removed,
                              .drained = sim->drained,
                              .sorts = b->sorts,
                              .next_id = sim->next_id};
    snprintf(list->scalars.dt_limit, DT_LIMIT_SIZE, "%s", sim->dt_limit ? sim->dt_limit : "");
    list_add(list, "scalars", "raw", 1, sizeof list->scalars, &list->scalars);
    list_add(list, "run", "raw", 1, sizeof *record, record);
    list_particles(list, &sim->particles);
    list_add(list, "blocks.coords", "i32", 3, b->count, b->coords);
    list_add(list, "blocks.first", "i64", 1, b->count ? b->count + 1 : 0, b->first);
    list_add(list, "blocks.pending", "i32", 3, b->pending_count, b->pending);
    list_add(list, "sources", "raw", 1, sim->scene->source_count * (int64_t)sizeof(source_state),
             sim->sources);
    list_drive(list, sim);
    TRY(list_solver(list, sim));
    list_add(list, "end", "raw", 1, 0, NULL);
    return SPATE_OK;
}

static uint64_t entry_hash(const entry *e) {
    hash_state h;
    hash_begin(&h, 0);
    hash_add(&h, &e->head, offsetof(checkpoint_block, hash));
    for (int i = 0; i < e->pieces; i++)
        hash_add(&h, e->data + (size_t)i * e->stride, e->piece_bytes);
    return hash_end(&h);
}

/* That it is the checkpoint of, whatever was added since. */
static const spate_scene *scene_given(const spate_simulation *sim) {
    return sim->drive && sim->drive->given ? sim->drive->given : sim->scene;
}

static checkpoint_head make_head(const spate_simulation *sim, const entry_list *list) {
    checkpoint_head head = {.version = CHECKPOINT_VERSION,
                            .real_bytes = sizeof(real),
                            .scene_hash = scene_given(sim)->hash,
                            .file_bytes = sizeof head,
                            .particles = (uint64_t)sim->particles.count,
                            .dim = (uint32_t)sim->scene->dim,
                            .blocks = (uint32_t)list->count,
                            .step = (uint64_t)sim->step,
                            .time = sim->time};
    memcpy(head.magic, CHECKPOINT_MAGIC, sizeof head.magic);
    for (int i = 0; i < list->count; i++)
        head.file_bytes += sizeof(checkpoint_block) +
                           list->entries[i].piece_bytes * (size_t)list->entries[i].pieces;
    head.hash = hash_bytes(&head, offsetof(checkpoint_head, hash), 0);
    return head;
}

static void write_entries(file_writer *w, entry_list *list) {
    for (int i = 0; i < list->count; i++) {
        entry *e = &list->entries[i];
        e->head.hash = entry_hash(e);
        file_write(w, &e->head, sizeof e->head);
        for (int k = 0; k < e->pieces; k++)
            file_write(w, e->data + (size_t)k * e->stride, e->piece_bytes);
    }
}

spate_status checkpoint_write(spate_simulation *sim, const run_record *record, const char *path,
                              const char *previous) {
    spate_context *ctx = sim->ctx;
    if (sim->broken)
        return fail(ctx, SPATE_BAD_INPUT, "%s: the state after a failed step is not worth keeping",
                    path);
    entry_list *list = take(ctx, 1, sizeof *list);
    if (!list) return SPATE_OUT_OF_MEMORY;
    file_writer w = {0};
    bool moved = false;
    spate_status status;
    TRY_OR_DONE(status, list_all(sim, record, list));
    const checkpoint_head head = make_head(sim, list);
    TRY_OR_DONE(status, file_create(ctx, path, true, &w));
    file_write(&w, &head, sizeof head);
    write_entries(&w, list);
    /* The new file is whole under its temporary name before the old one gives way. */
    TRY_OR_DONE(status, file_flush(&w));
    if (previous && file_exists(ctx, path)) {
        TRY_OR_DONE(status, file_rename(ctx, path, previous));
        moved = true;
    }
    status = file_close(&w);
    if (status != SPATE_OK && moved) file_rename(ctx, previous, path);
done:
    file_abandon(&w);
    give(ctx, list);
    return status;
}

/* The run's part of a checkpoint that no run has made. */
static spate_status own_record(spate_simulation *sim, run_record **out) {
    run_record *record = take(sim->ctx, 1, sizeof *record);
    if (!record) return SPATE_OUT_OF_MEMORY;
    record->frame = (int64_t)floor(sim->time * sim->scene->fps + 1e-9);
    record->frame_step = sim->step;
    *out = record;
    return SPATE_OK;
}

static void copy_entries(char *to, entry_list *list) {
    for (int i = 0; i < list->count; i++) {
        entry *e = &list->entries[i];
        e->head.hash = entry_hash(e);
        memcpy(to, &e->head, sizeof e->head);
        to += sizeof e->head;
        for (int k = 0; k < e->pieces; k++, to += e->piece_bytes)
            if (e->piece_bytes) memcpy(to, e->data + (size_t)k * e->stride, e->piece_bytes);
    }
}

/* To memory of the context, or where there is room for `capacity` bytes; *length is what it
 * needs. */
static spate_status to_memory(spate_simulation *sim, char **bytes, size_t capacity,
                              size_t *length) {
    run_record *record;
    spate_status status;
    TRY(own_record(sim, &record));
    entry_list *list = take(sim->ctx, 1, sizeof *list);
    if (!list) {
        give(sim->ctx, record);
        return SPATE_OUT_OF_MEMORY;
    }
    TRY_OR_DONE(status, list_all(sim, record, list));
    const checkpoint_head head = make_head(sim, list);
    *length = (size_t)head.file_bytes;
    if (!*bytes && !capacity) *bytes = take(sim->ctx, *length, 1);
    if (!*bytes) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    if (capacity && capacity < *length) goto done;
    memcpy(*bytes, &head, sizeof head);
    copy_entries(*bytes + sizeof head, list);
done:
    give(sim->ctx, list), give(sim->ctx, record);
    return status;
}

spate_status checkpoint_to_memory(spate_simulation *sim, char **bytes, size_t *length) {
    *bytes = NULL;
    return to_memory(sim, bytes, 0, length);
}

/* ---- Checking ---- */

/* A block of a file in memory. */
typedef struct view {
    checkpoint_block head;
    const char *data;
    size_t bytes;
} view;

typedef struct reading {
    spate_context *ctx;
    const char *name; /* for messages */
    checkpoint_head head;
    view views[BLOCKS_MAX];
    bool damaged;
    bool grows; /* into a simulation that has more than it */
} reading;

static spate_status fail_damaged(reading *r, const char *what, const char *detail) {
    r->damaged = true;
    return fail(r->ctx, SPATE_BAD_INPUT,
                "%s: damaged checkpoint: %s%s; use an older checkpoint or run the scene again",
                r->name, what, detail);
}

static spate_status read_head(reading *r, const char *bytes, size_t length) {
    if (length < sizeof r->head || memcmp(bytes, CHECKPOINT_MAGIC, sizeof r->head.magic)) {
        if (length == 0) return fail_damaged(r, "the file is empty", "");
        if (memcmp(bytes, CHECKPOINT_MAGIC, length < 8 ? length : 8))
            return fail_damaged(r, "it does not begin like one", "");
        return fail_damaged(r, "the file is cut short", "");
    }
    memcpy(&r->head, bytes, sizeof r->head);
    if (r->head.hash != hash_bytes(&r->head, offsetof(checkpoint_head, hash), 0))
        return fail_damaged(r, "its head does not match its checksum", "");
    if (r->head.version != CHECKPOINT_VERSION)
        return fail(r->ctx, SPATE_BAD_INPUT,
                    "%s: checkpoint of format %u, this build reads format %d; run the scene again",
                    r->name, r->head.version, CHECKPOINT_VERSION);
    if (r->head.file_bytes > length) return fail_damaged(r, "the file is cut short", "");
    if (r->head.file_bytes < length) return fail_damaged(r, "there is more after its end", "");
    if (r->head.blocks < 1 || r->head.blocks > BLOCKS_MAX)
        return fail_damaged(r, "it has an impossible number of blocks", "");
    return SPATE_OK;
}

/* Takes the block at *at, whose length is checked against what remains. */
static spate_status read_view(reading *r, const char *bytes, size_t length, size_t *at, view *v) {
    if (length - *at < sizeof v->head) return fail_damaged(r, "the file is cut short", "");
    memcpy(&v->head, bytes + *at, sizeof v->head);
    const size_t remain = length - *at - sizeof v->head, size = type_size(v->head.type);
    uint64_t total;
    if (v->head.name[CHECKPOINT_NAME - 1]) return fail_damaged(r, "a block has no proper name", "");
    /* Until its checksum holds, nothing in a head is believed, nor its name repeated. */
    if (!size) return fail_damaged(r, "a block of unknown type", "");
    if (__builtin_mul_overflow(v->head.count, (uint64_t)v->head.components, &total) ||
        __builtin_mul_overflow(total, (uint64_t)size, &total) || total > remain)
        return fail_damaged(r, "the file is too short for a block", "");
    v->data = bytes + *at + sizeof v->head;
    v->bytes = (size_t)total;
    hash_state h;
    hash_begin(&h, 0);
    hash_add(&h, &v->head, offsetof(checkpoint_block, hash));
    hash_add(&h, v->data, v->bytes);
    if (hash_end(&h) != v->head.hash)
        return fail_damaged(r, "a block does not match its checksum", "");
    *at += sizeof v->head + v->bytes;
    return SPATE_OK;
}

static spate_status read_views(reading *r, const char *bytes, size_t length) {
    TRY(read_head(r, bytes, length));
    size_t at = sizeof r->head;
    for (uint32_t i = 0; i < r->head.blocks; i++)
        TRY(read_view(r, bytes, length, &at, &r->views[i]));
    const view *last = &r->views[r->head.blocks - 1];
    if (at != length || strcmp(last->head.name, "end") || last->bytes)
        return fail_damaged(r, "it does not end as it should", "");
    return SPATE_OK;
}

spate_status checkpoint_check(spate_context *ctx, const char *name, const char *bytes,
                              size_t length, checkpoint_head *head) {
    reading *r = take(ctx, 1, sizeof *r);
    if (!r) return SPATE_OUT_OF_MEMORY;
    *r = (reading){.ctx = ctx, .name = name};
    spate_status status = read_views(r, bytes, length);
    *head = r->head;
    give(ctx, r);
    return status;
}

/* ---- Reading ---- */

/* The block of that name, which must have this type and size. A count of -1 is any. */
static spate_status find_view(reading *r, const char *name, const char *type, uint32_t components,
                              int64_t count, const view **out) {
    for (uint32_t i = 0; i < r->head.blocks; i++) {
        const view *v = &r->views[i];
        if (strcmp(v->head.name, name)) continue;
        if (strncmp(v->head.type, type, sizeof v->head.type) || v->head.components != components ||
            (count >= 0 && v->head.count != (uint64_t)count))
            return fail_damaged(r, "unexpected type or size of block ", name);
        *out = v;
        return SPATE_OK;
    }
    return fail_damaged(r, "there is no block ", name);
}

static bool has_view(const reading *r, const char *name) {
    for (uint32_t i = 0; i < r->head.blocks; i++)
        if (!strcmp(r->views[i].head.name, name)) return true;
    return false;
}

/* As much of it as there is. */
static spate_status read_grown(reading *r, const char *name, size_t bytes, void *out) {
    const view *v;
    if (!has_view(r, name)) return SPATE_OK;
    TRY(find_view(r, name, "raw", 1, -1, &v));
    const size_t both = v->bytes < bytes ? v->bytes : bytes;
    if (both) memcpy(out, v->data, both);
    return SPATE_OK;
}

static spate_status read_raw(reading *r, const char *name, size_t bytes, void *out) {
    const view *v;
    if (r->grows) return read_grown(r, name, bytes, out);
    TRY(find_view(r, name, "raw", 1, (int64_t)bytes, &v));
    if (bytes) memcpy(out, v->data, bytes);
    return SPATE_OK;
}

static spate_status read_record(reading *r, run_record *record) {
    TRY(read_raw(r, "run", sizeof *record, record));
    bool good = record->frame >= 0 && record->frame <= INT32_MAX && record->frame_step >= 0 &&
                record->limit_count >= 0 && record->limit_count <= RECORD_LIMITS &&
                record->warning_count >= 0 && record->warning_count <= WARNING_KINDS &&
                record->phase_count >= 0 && record->phase_count <= PHASES_MAX &&
                isfinite(record->wall_seconds) && isfinite(record->particle_steps);
    for (int i = 0; i < RECORD_LIMITS; i++) good &= !record->limits[i].name[RECORD_NAME - 1];
    for (int i = 0; i < WARNING_KINDS; i++) good &= !record->warnings[i].name[RECORD_NAME - 1];
    for (int i = 0; i < PHASES_MAX; i++) good &= !record->phases[i].name[RECORD_NAME - 1];
    return good ? SPATE_OK : fail_damaged(r, "impossible values in block ", "run");
}

static spate_status read_scalars(reading *r, spate_simulation *sim, scalars *s) {
    TRY(read_raw(r, "scalars", sizeof *s, s));
    if (!isfinite(s->time) || !isfinite(s->dt) || !isfinite(s->drift) || !isfinite(s->max_speed) ||
        s->step < 0 || s->next_id > (UINT64_C(1) << 32) || r->head.particles > s->next_id ||
        s->dt_limit[DT_LIMIT_SIZE - 1])
        return fail_damaged(r, "impossible values in block ", "scalars");
    sim->dt_limit = arena_text(&sim->scene->arena, s->dt_limit, strlen(s->dt_limit));
    return sim->dt_limit ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void set_scalars(spate_simulation *sim, const scalars *s) {
    sim->time = s->time;
    sim->dt = s->dt;
    sim->drift = s->drift;
    sim->max_speed = s->max_speed;
    sim->step = s->step;
    sim->removed = s->removed;
    sim->drained = s->drained;
    sim->next_id = s->next_id;
    sim->blocks.sorts = s->sorts;
}

static spate_status check_particles(reading *r, const spate_simulation *sim, uint64_t next_id) {
    const particles *p = &sim->particles;
    const int groups = scene_group_slots(sim->scene);
    for (int64_t i = 0; i < p->count; i++) {
        if (p->id[i] >= next_id) return fail_damaged(r, "impossible values in block ", "id");
        if (p->group[i] >= groups && p->group[i] != GROUP_REMOVED)
            return fail_damaged(r, "impossible values in block ", "group");
        for (int a = 0; a < sim->scene->dim; a++) {
            real x = PLANE(p, position, a)[i];
            if (!(x >= POSITION_MIN && x <= POSITION_MAX))
                return fail_damaged(r, "impossible values in block ", "position");
        }
    }
    return SPATE_OK;
}

/* Output settings may change when a run goes on; but what has not been followed from the start
 * cannot be known later. */
static spate_status check_followed(const reading *r, const spate_simulation *sim) {
    const char *gradient = particle_fields[PARTICLE_gradient].name;
    if (!(sim->particles.fields & PARTICLE_BIT(gradient)) || has_view(r, gradient)) return SPATE_OK;
    return fail(r->ctx, SPATE_BAD_INPUT,
                "%s: the run did not follow the deformation gradient, which output.fields asks for "
                "now; leave F, green_strain and linear_strain out, or run the scene again",
                r->name);
}

static spate_status read_particles(reading *r, spate_simulation *sim) {
    particles *p = &sim->particles;
    const view *v;
    /* Every field's block is there and long enough before room is made for them. */
    for (int pass = 0; pass < 2; pass++) {
        for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
            const particle_field_info *info = &particle_fields[f];
            if (!(p->fields & 1u << f) || !(info->flags & FIELD_SAVED)) continue;
            if (r->grows && !has_view(r, info->name)) continue;
            TRY(find_view(r, info->name, number_type(info), (uint32_t)field_components(info),
                          (int64_t)r->head.particles, &v));
            if (pass == 0 || v->bytes == 0) continue;
            const size_t bytes = v->bytes / (size_t)info->planes;
            for (int c = 0; c < info->planes; c++)
                memcpy(particles_element(p, (particle_field)f, c, 0), v->data + (size_t)c * bytes,
                       bytes);
        }
        if (pass == 0) TRY(particles_reserve(p, (int64_t)r->head.particles + 64));
    }
    p->count = (int64_t)r->head.particles;
    return SPATE_OK;
}

static bool good_coords(const int32_t (*coords)[3], int64_t count, int dim) {
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < dim; a++)
            if (coords[i][a] <= -COORDS_MAX || coords[i][a] >= COORDS_MAX) return false;
        if (dim == 2 && coords[i][2] != 0) return false;
    }
    return true;
}

/* Block ranges follow one another, and every block with particles has all of its neighbours. */
static bool good_ranges(const blocks *b, int64_t sorted) {
    if (b->count == 0) return sorted == 0;
    if (b->first[0] != 0 || b->first[b->count] != sorted) return false;
    for (int32_t i = 0; i < b->count; i++)
        if (b->first[i] > b->first[i + 1]) return false;
    return true;
}

static bool good_neighbours(const blocks *b) {
    for (int32_t o = 0; o < b->occupied_count; o++)
        for (int n = 0; n < neighbour_count(b->dim); n++)
            if (b->neighbours[b->occupied[o]][n] < 0) return false;
    return true;
}

static spate_status read_blocks(reading *r, spate_simulation *sim) {
    blocks *b = &sim->blocks;
    const view *coords, *first, *pending;
    TRY(find_view(r, "blocks.coords", "i32", 3, -1, &coords));
    const uint64_t count = coords->head.count;
    if (count > INT32_MAX / 2) return fail_damaged(r, "impossible size of block ", "blocks.coords");
    TRY(find_view(r, "blocks.first", "i64", 1, count ? (int64_t)count + 1 : 0, &first));
    TRY(find_view(r, "blocks.pending", "i32", 3, -1, &pending));
    if (pending->head.count > r->head.particles)
        return fail_damaged(r, "impossible size of block ", "blocks.pending");
    TRY(blocks_reserve(b, (int64_t)count + 1));
    b->count = (int32_t)count;
    if (count) {
        memcpy(b->coords, coords->data, coords->bytes);
        memcpy(b->first, first->data, first->bytes);
    }
    b->pending_count = (int64_t)pending->head.count;
    TRY(GROW(sim->ctx, b->pending, b->pending_capacity, b->pending_count + 1));
    if (pending->bytes) memcpy(b->pending, pending->data, pending->bytes);
    if (!good_coords(b->coords, b->count, b->dim) ||
        !good_coords(b->pending, b->pending_count, b->dim) ||
        !good_ranges(b, sim->particles.count - b->pending_count))
        return fail_damaged(r, "impossible values in the block list", "");
    TRY(blocks_rebuild(b, sim->ctx->pool));
    return good_neighbours(b) ? SPATE_OK : fail_damaged(r, "the block list has gaps", "");
}

/* For a list of the solver's, of the length that it has in the file. */
static spate_status make_room(reading *r, spate_simulation *sim, const char *name,
                              state_block *list) {
    const view *v;
    TRY(find_view(r, name, "raw", 1, -1, &v));
    list->bytes = v->bytes;
    return list->resize(sim, v->bytes, &list->data);
}

static spate_status read_solver(reading *r, spate_simulation *sim) {
    state_blocks own;
    TRY(simulation_state(sim, &own));
    for (int i = 0; i < own.count; i++) {
        char name[CHECKPOINT_NAME];
        snprintf(name, sizeof name, "solver.%s", own.list[i].name);
        if (own.list[i].resize) TRY(make_room(r, sim, name, &own.list[i]));
        TRY(read_raw(r, name, own.list[i].bytes, own.list[i].data));
    }
    return SPATE_OK;
}

static bool good_forces(const spate_scene *scene, const force_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        const force_field *f = &l->list[i];
        if (f->kind < 0 || f->kind >= FORCE_KINDS || f->name[FORCE_NAME - 1]) return false;
        if (f->region < -1 || f->region >= scene->force_count) return false;
    }
    return true;
}

static spate_status read_forces(reading *r, spate_simulation *sim) {
    const view *v;
    TRY(find_view(r, "drive.forces", "raw", 1, -1, &v));
    sim->forces.count = (int64_t)(v->bytes / sizeof(force_field));
    if (v->bytes % sizeof(force_field) || sim->forces.count > FORCES_MAX)
        return fail_damaged(r, "impossible size of block ", "drive.forces");
    memset(sim->forces.list, 0, sizeof sim->forces.list);
    if (v->bytes) memcpy(sim->forces.list, v->data, v->bytes);
    return good_forces(sim->scene, &sim->forces)
               ? SPATE_OK
               : fail_damaged(r, "impossible values in block ", "drive.forces");
}

static spate_status read_poses(reading *r, spate_simulation *sim) {
    boundary *b = &sim->boundary;
    const size_t count = b->driven_count ? (size_t)sim->scene->collider_count : 0;
    TRY(read_raw(r, "drive.poses", count * sizeof *b->driven, b->driven));
    for (size_t k = 0; k < count * sizeof *b->driven / sizeof(double); k++)
        if (!isfinite(((const double *)b->driven)[k]))
            return fail_damaged(r, "impossible values in block ", "drive.poses");
    return SPATE_OK;
}

static spate_status read_drive(reading *r, spate_simulation *sim) {
    drive_scalars given;
    const view *record;
    drive *d;
    TRY(read_poses(r, sim));
    TRY(read_forces(r, sim));
    TRY(read_raw(r, "drive", sizeof given, &given));
    TRY(find_view(r, "drive.record", "raw", 1, -1, &record));
    if (given.next_event < 0 || !isfinite(given.until) || !isfinite(given.recorded_until))
        return fail_damaged(r, "impossible values in block ", "drive");
    const bool keeps = r->grows; /* all but particles' forces is where it was */
    if (!keeps && !given.next_event && !given.forces_given && !given.recording &&
        given.until == 0 && !record->bytes)
        return SPATE_OK;
    TRY(drive_of(sim, &d));
    if (!keeps) {
        d->next_event = given.next_event, d->recording = given.recording != 0;
        d->until = given.until, d->recorded_until = given.recorded_until;
    }
    if (record->bytes && !keeps) text_add_bytes(&d->record, record->data, record->bytes);
    if (d->record.failed) return SPATE_OUT_OF_MEMORY;
    if (!given.forces_given) return SPATE_OK;
    d->forces_given = 1;
    particles *p = &sim->particles;
    TRY(particles_add_fields(p, PARTICLE_BIT(force)));
    return read_raw(r, "drive.particle_forces", (size_t)p->count * sizeof *p->force, p->force);
}

static spate_status check_origin(reading *r, const spate_scene *scene) {
    if (r->head.real_bytes != sizeof(real))
        return fail(r->ctx, SPATE_BAD_INPUT,
                    "%s: made by a build in %s precision, this one is in %s; use the other build",
                    r->name, r->head.real_bytes == 8 ? "double" : "float", REAL_NAME);
    if (r->head.scene_hash != scene->hash || r->head.dim != (uint32_t)scene->dim)
        return fail(
            r->ctx, SPATE_BAD_INPUT,
            "%s: made from another scene than %s (hash %016llx, not %016llx); only duration, "
            "output, camera, colours, solver.max_steps and the number of threads may change when a "
            "run goes on",
            r->name, scene->path ? scene->path : scene->name,
            (unsigned long long)r->head.scene_hash, (unsigned long long)scene->hash);
    return SPATE_OK;
}

static spate_status fill_simulation(reading *r, spate_simulation *sim) {
    scalars numbers;
    source_state *sources = sim->sources;
    TRY(read_scalars(r, sim, &numbers));
    TRY(check_followed(r, sim));
    TRY(read_particles(r, sim));
    TRY(check_particles(r, sim, numbers.next_id));
    TRY(read_blocks(r, sim));
    TRY(read_raw(r, "sources", (size_t)sim->scene->source_count * sizeof *sources, sources));
    for (int i = 0; i < sim->scene->source_count; i++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(sources[i].shift[a]) || !isfinite(sources[i].motion[a]) ||
                !isfinite(sources[i].emitted_at[a]) || !(sources[i].dilation > -1) ||
                !(sources[i].dilation <= 0))
                return fail_damaged(r, "impossible values in block ", "sources");
    TRY(read_drive(r, sim));
    set_scalars(sim, &numbers);
    TRY(boundary_move(&sim->boundary, sim->time));
    boundary_appear(&sim->boundary, sim->time);
    TRY(sim->type->create(sim));
    set_scalars(sim, &numbers); /* whatever the solver's start has made of them */
    return read_solver(r, sim);
}

/* Sums of new colliders are 0: what stands behind those of all of them moves on. */
static void move_impulses(const spate_simulation *sim, int colliders) {
    const size_t old = 6 * (size_t)colliders, new = 6 * (size_t)sim->scene->collider_count;
    double *sums = impulses_of(sim->impulses, 0);
    if (old == new) return;
    memmove(sums + new, sums + old, old * sizeof *sums);
    memset(sums + old, 0, (new - old) * sizeof *sums);
    memset(sums + new + old, 0, (new - old) * sizeof *sums);
}

spate_status checkpoint_refill(spate_simulation *sim, int colliders, const char *bytes,
                               size_t length) {
    reading *r = take(sim->ctx, 1, sizeof *r);
    if (!r) return SPATE_OUT_OF_MEMORY;
    *r = (reading){.ctx = sim->ctx, .name = "the simulation", .grows = true};
    spate_status status = read_views(r, bytes, length);
    if (!status) status = fill_simulation(r, sim);
    if (!status) move_impulses(sim, colliders);
    give(sim->ctx, r);
    return status;
}

/* A simulation of the scene, or of what it had become. */
static spate_status prepare(reading *r, spate_scene *scene, spate_simulation **sim) {
    const view *v;
    spate_scene *own = NULL;
    drive *d = NULL;
    TRY(find_view(r, "drive.scene", "raw", 1, -1, &v));
    if (!v->bytes) return simulation_prepare(scene, sim);
    TRY(spate_scene_parse(r->ctx, v->data, v->bytes, scene->path, scene->folder, NULL, 0, &own));
    spate_status status = simulation_prepare(own, sim);
    if (!status) status = drive_of(*sim, &d);
    if (status)
        spate_scene_free(own);
    else
        d->own = own, d->given = scene;
    return status;
}

spate_status checkpoint_parse(spate_scene *scene, const char *name, const char *bytes,
                              size_t length, spate_simulation **out, run_record *record,
                              bool *damaged) {
    spate_context *ctx = scene->ctx;
    spate_simulation *sim = NULL;
    *out = NULL;
    if (damaged) *damaged = false;
    reading *r = take(ctx, 1, sizeof *r);
    if (!r) return SPATE_OUT_OF_MEMORY;
    run_record *own = take(ctx, 1, sizeof *own);
    *r = (reading){.ctx = ctx, .name = name};
    spate_status status = own ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) status = read_views(r, bytes, length);
    if (status == SPATE_OK) status = check_origin(r, scene);
    if (status == SPATE_OK) status = read_record(r, own);
    if (status == SPATE_OK) status = prepare(r, scene, &sim);
    if (status == SPATE_OK) status = fill_simulation(r, sim);
    if (damaged) *damaged = r->damaged;
    if (status == SPATE_OK && record) *record = *own;
    if (status == SPATE_OK)
        *out = sim;
    else
        spate_simulation_free(sim);
    give(ctx, own);
    give(ctx, r);
    return status;
}

spate_status checkpoint_read(spate_scene *scene, const char *path, spate_simulation **sim,
                             run_record *record, bool *damaged) {
    char *bytes;
    size_t length;
    if (damaged) *damaged = false;
    *sim = NULL;
    TRY(file_read(scene->ctx, path, SIZE_MAX / 2, &bytes, &length));
    spate_status status = checkpoint_parse(scene, path, bytes, length, sim, record, damaged);
    give(scene->ctx, bytes);
    return status;
}

/* ---- Public ---- */

static spate_status save(spate_simulation *sim, const char *path) {
    run_record *record;
    TRY(own_record(sim, &record));
    spate_status status = checkpoint_write(sim, record, path, NULL);
    give(sim->ctx, record);
    return status;
}

/* In the midst of a step there is no state to keep. */
spate_status spate_simulation_save(spate_simulation *sim, const char *path) {
    TRY(simulation_enter(sim, true));
    spate_status status = save(sim, path);
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_restore(spate_scene *scene, const char *path,
                                      spate_simulation **simulation) {
    return checkpoint_read(scene, path, simulation, NULL, NULL);
}

static spate_status save_memory(spate_simulation *sim, void *bytes, size_t capacity,
                                size_t *length) {
    char *own = NULL, *to = bytes;
    if (sim->broken != SPATE_OK)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "the state after a failed step is not worth keeping");
    if (!bytes) {
        TRY(checkpoint_to_memory(sim, &own, length));
        give(sim->ctx, own);
        return SPATE_OK;
    }
    TRY(to_memory(sim, &to, capacity ? capacity : 1, length));
    if (capacity >= *length) return SPATE_OK;
    return fail(sim->ctx, SPATE_BAD_INPUT, "a checkpoint needs %zu bytes, there is room for %zu",
                *length, capacity);
}

spate_status spate_simulation_save_memory(spate_simulation *sim, void *bytes, size_t capacity,
                                          size_t *length) {
    TRY(simulation_enter(sim, true));
    spate_status status = save_memory(sim, bytes, capacity, length);
    simulation_leave(sim);
    return status;
}

spate_status spate_simulation_restore_memory(spate_scene *scene, const void *bytes, size_t length,
                                             spate_simulation **simulation) {
    return checkpoint_parse(scene, "memory", bytes, length, simulation, NULL, NULL);
}
