/*
 * What is viewed: a simulation that runs (live.c), or the folder of a run (folder.c). The loop of
 * serve.c asks one for everything that viewers get.
 */
#ifndef SPATE_SERVER_SUBJECT_H
#define SPATE_SERVER_SUBJECT_H

#include "core/text.h"
#include "scene/scene.h"
#include "server/packing.h"
#include <spate/serve.h>

/* What a viewer has asked to see. */
typedef struct viewer {
    bool here;
    char colour[MESSAGE_WORD]; /* attribute or field; "material": none */
    char plots[MESSAGE_WORDS][MESSAGE_WORD];
    int plot_count;
    int64_t seek;       /* index of a frame; of a folder */
    uint64_t seen;      /* stamp of the frame that it got last; 0: none */
    uint64_t settings;  /* grows when it wants to see something else */
    int64_t plotted_at; /* clock, when it got its quantities last; 0: never */
} viewer;

/* To whom, and about what, a subject answers a message. */
typedef struct subject_call {
    viewer *viewer;
    int index; /* of the viewer */
    const message *message;
    text *reply; /* a JSON object for this viewer, if not empty */
} subject_call;

typedef struct subject {
    void *self;
    /* What a page must know before the first frame: members of a JSON object. */
    spate_status (*hello)(void *self, text *out);
    /* The solid parts; `parts_stamp` tells whether they have become others. */
    spate_status (*parts)(void *self, packing *out);
    uint64_t (*parts_stamp)(void *self);
    /* Works for a while; returns after how many nanoseconds it wants to do so again. */
    int64_t (*advance)(void *self);
    /* Something for all viewers, where there is: a JSON object. */
    void (*news)(void *self, text *out);
    /* Not 0; another one when a frame for this viewer would be another. */
    uint64_t (*stamp)(void *self, const viewer *v);
    spate_status (*head)(void *self, const viewer *v, packed_head *out);
    spate_status (*frame)(void *self, viewer *v, packing *out);
    /* Does what a message asks; a failure is told to the viewer. */
    spate_status (*act)(void *self, const subject_call *call);
    /* At the end: how it went. */
    spate_status (*finish)(void *self);
    void (*free)(void *self);
} subject;

spate_status live_create(spate_scene *scene, const spate_serve_options *o, subject *out);
spate_status folder_create(spate_context *ctx, const char *path, subject *out);

/* The members of hello that come from the scene. */
void hello_scene(const spate_scene *scene, text *out);
/* "name": [x, y, z], behind a comma. */
void hello_numbers(text *out, const char *name, const double *values, int count);
/* A JSON object {"kind": "notice", "text": ...}. */
void hello_notice(text *out, const char *words);
/* "name" or, of a vector, "name_y": which attribute and which component of it; -1: all. */
int subject_component(const char *colour, char name[MESSAGE_WORD]);
/* One number of several components: the one, or the length. */
float subject_scalar(const float *values, int components, int component);

#endif
