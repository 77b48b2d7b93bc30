/*
 * The viewer: a simulation, or the folder of a run, in the browser. In libspate_server, which is
 * there where civetweb was when Spate was built.
 *
 *     spate_serve_options o = spate_default_serve_options();
 *     o.ready = print_address;
 *     spate_serve(scene, &o);       // until o.interrupt, or until a viewer says stop
 *
 * It listens on this machine only unless told otherwise, and answers only requests that know the
 * random word in its address. It serves nothing from the disk. docs/viewer.md has the protocol.
 */
#ifndef SPATE_SERVE_H
#define SPATE_SERVE_H

#include <spate/spate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spate_serve_options {
    uint32_t cookie;    /* set by spate_default_serve_options() */
    const char *listen; /* address to listen on; NULL (default): 127.0.0.1, this machine only */
    int port;           /* 0 (default): one that is free */
    double speed;       /* simulated seconds a second at most; 0: as fast as it can; default 1 */
    bool paused;        /* begins at rest; default false */
    const char *record; /* the scene with all that viewers did, written at the end; NULL: none */
    void (*ready)(const char *address, void *user); /* when it listens; may be NULL */
    void *user;
    const volatile int *interrupt; /* when it becomes non-zero: end; may be NULL */
} spate_serve_options;

SPATE_API spate_serve_options spate_default_serve_options(void);
/* Simulates a scene, in the caller's thread, and lets viewers watch it and take part. A simulation
 * that fails stays in view with its message; its status is returned at the end. */
SPATE_API spate_status spate_serve(spate_scene *scene, const spate_serve_options *options);
/* Shows the frames in a run's folder, and those that a run still writes. */
SPATE_API spate_status spate_serve_folder(spate_context *context, const char *folder,
                                          const spate_serve_options *options);

#ifdef __cplusplus
}
#endif

#endif
