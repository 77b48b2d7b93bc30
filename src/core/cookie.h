/* Cookies of public option structs: what a struct that was not made by its spate_default_...() does
 * not have. One for each kind, so that one is not taken for another. */
#ifndef SPATE_CORE_COOKIE_H
#define SPATE_CORE_COOKIE_H

#include "core/context.h"

enum {
    COOKIE_READING = 0x5ba7e001,
    COOKIE_POSE = 0x5ba7e002,
    COOKIE_WRITING = 0x5ba7e003,
    COOKIE_FORCE = 0x5ba7e004,
    COOKIE_BODY = 0x5ba7e005,
    COOKIE_COLLIDER = 0x5ba7e006,
    COOKIE_SOURCE = 0x5ba7e007,
    COOKIE_SINK = 0x5ba7e008,
    COOKIE_MESH_READING = 0x5ba7e009,
    COOKIE_RUN = 0x5ba7e011,
    COOKIE_MESH = 0x5ba7e012,
    COOKIE_RENDER = 0x5ba7e013,
    COOKIE_COMPARE = 0x5ba7e014,
    COOKIE_BENCH = 0x5ba7e015,
    COOKIE_SERVE = 0x5ba7e016,
};

/* `name`: of the struct, "reading". */
static inline spate_status cookie_check(spate_context *ctx, uint32_t given, uint32_t cookie,
                                        const char *name) {
    if (given == cookie) return SPATE_OK;
    return fail(ctx, SPATE_BAD_INPUT,
                "the spate_%s was not made by spate_default_%s(); begin with that and then set "
                "fields",
                name, name);
}

#endif
