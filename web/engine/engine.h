/*
 * The engine as the page calls it: one simulation, the public library underneath. WebAssembly has
 * numbers only, so a text goes through a room that the page asks for (engine_room), and comes back
 * as a pointer and a length (engine_answer).
 *
 * Calls that can fail return a spate_status; engine_message() tells why.
 */
#ifndef SPATE_ENGINE_H
#define SPATE_ENGINE_H

#include <spate/drive.h>
#include <spate/spate.h>

#define ENGINE_CALL(name) __attribute__((export_name(#name))) name

/* What the page must offer: called after every stage of a step that engine_step_stages makes. */
__attribute__((import_module("page"), import_name("stage"))) void page_stage(const char *name);
/* Called with what the library has to say besides. */
__attribute__((import_module("page"), import_name("log"))) void page_log(int level,
                                                                         const char *text);

typedef struct engine {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
    char *room; /* what the page writes to */
    size_t room_size;
    char *answer; /* text or numbers that the page reads, until the next call */
    size_t answer_length, answer_size;
} engine;

engine *engine_get(void);
/* Opens the context where there is none. */
spate_status engine_ready(engine *e);
/* Room for an answer of so many bytes; NULL: no memory, and the message says so. */
void *engine_answer_take(size_t bytes);
void engine_answer_add(const char *text, void *unused);

#endif
