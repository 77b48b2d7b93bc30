/*
 * The loop behind the viewer, in the caller's thread: hear what viewers say, let the subject work,
 * give a frame to each viewer who has asked for one and has not seen this one.
 */
#include "core/cookie.h"
#include "server/subject.h"
#include "server/web.h"
#include <math.h>

enum { WAIT_MOST = 50000000 };

typedef struct server {
    spate_context *ctx;
    const spate_serve_options *options;
    web *web;
    hub *hub;
    subject subject;
    viewer viewers[VIEWERS_MOST];
    uint64_t parts_seen;
    /* the frame made last, for others who want the same */
    packet *last;
    uint64_t last_stamp;
    char last_colour[MESSAGE_WORD];
    bool last_shared;
    bool stopped;
} server;

spate_serve_options spate_default_serve_options(void) {
    return (spate_serve_options){.cookie = COOKIE_SERVE, .speed = 1};
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* To one viewer, or with -1 to all. Takes the text's memory. */
static void send_text(server *s, int to, text *words) {
    packet *p = words->length && !words->failed ? hub_packet(s->hub) : NULL;
    if (p && !hub_grow(s->hub, p, (int64_t)words->length)) {
        memcpy(p->bytes, words->data, words->length);
        p->length = (int64_t)words->length;
        p->is_text = true;
        for (int i = 0; i < VIEWERS_MOST; i++)
            if (s->viewers[i].here && (to < 0 || to == i)) hub_send(s->hub, i, p);
    }
    hub_release(s->hub, p);
    text_free(words);
}

static void send_failure(server *s, int to) {
    text words = {.ctx = s->ctx};
    hello_notice(&words, spate_message(s->ctx));
    send_text(s, to, &words);
}

/* ---- Viewers --------------------------------------------------------------------------------- */

/* Hello, and the solid parts. */
static void send_start(server *s, int to) {
    const packed_head head = {.magic = "SPP1"};
    text words = {.ctx = s->ctx};
    text_add(&words, "{\"kind\": \"hello\", \"spate\": \"%s\", ", spate_version());
    if (s->subject.hello(s->subject.self, &words)) {
        text_free(&words);
        send_failure(s, to);
        return;
    }
    text_add(&words, "}");
    send_text(s, to, &words);
    packing made = packing_begin(s->hub, &head);
    const spate_status status = s->subject.parts(s->subject.self, &made);
    packet *p = packing_end(&made, false);
    for (int i = 0; p && !status && i < VIEWERS_MOST; i++)
        if (s->viewers[i].here && (to < 0 || to == i)) hub_send(s->hub, i, p);
    hub_release(s->hub, p);
}

static void hear(server *s, int index, const message *m) {
    viewer *v = &s->viewers[index];
    text reply = {.ctx = s->ctx};
    if (m->kind == MESSAGE_JOINED) {
        *v = (viewer){.here = true, .colour = "material"};
        send_start(s, index);
        return;
    }
    if (m->kind == MESSAGE_LEFT) v->here = false;
    if (m->kind == MESSAGE_STOP) {
        s->stopped = true;
        return;
    }
    const subject_call call = {.viewer = v, .index = index, .message = m, .reply = &reply};
    if (s->subject.act(s->subject.self, &call)) send_failure(s, index);
    send_text(s, index, &reply);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Whether two viewers with the same stamp and colour get the same bytes. */
static bool is_shared(const server *s, const viewer *v, uint64_t stamp) {
    return s->last && s->last_shared && !v->plot_count && s->last_stamp == stamp &&
           !strcmp(s->last_colour, v->colour);
}

static packet *make_frame(server *s, viewer *v) {
    packed_head head = {.magic = "SPF1"};
    if (s->subject.head(s->subject.self, v, &head)) return NULL;
    packing made = packing_begin(s->hub, &head);
    if (!s->subject.frame(s->subject.self, v, &made)) return packing_end(&made, true);
    hub_release(s->hub, made.packet);
    return NULL;
}

static void give_frame(server *s, int index) {
    viewer *v = &s->viewers[index];
    const uint64_t stamp = s->subject.stamp(s->subject.self, v);
    if (stamp == v->seen) return;
    v->seen = stamp;
    if (!is_shared(s, v, stamp)) {
        hub_release(s->hub, s->last);
        s->last = make_frame(s, v);
        s->last_stamp = stamp, s->last_shared = !v->plot_count;
        memcpy(s->last_colour, v->colour, sizeof s->last_colour);
    }
    if (s->last)
        hub_send(s->hub, index, s->last);
    else
        send_failure(s, index);
}

static void tell_news(server *s) {
    text words = {.ctx = s->ctx};
    s->subject.news(s->subject.self, &words);
    send_text(s, -1, &words);
    const uint64_t parts = s->subject.parts_stamp(s->subject.self);
    if (parts != s->parts_seen) send_start(s, -1);
    s->parts_seen = parts;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static bool is_interrupted(const server *s) {
    return s->options->interrupt && *s->options->interrupt;
}

static void loop(server *s) {
    while (!s->stopped && !is_interrupted(s)) {
        message m;
        for (int who; !s->stopped && hub_take(s->hub, &who, &m);) hear(s, who, &m);
        const int64_t wait = s->subject.advance(s->subject.self);
        tell_news(s);
        for (int i = 0; i < VIEWERS_MOST; i++)
            if (s->viewers[i].here && hub_wants_frame(s->hub, i)) give_frame(s, i);
        if (wait > 0) hub_wait(s->hub, wait < WAIT_MOST ? wait : WAIT_MOST);
    }
}

static spate_status check_options(spate_context *ctx, const spate_serve_options *o) {
    TRY(cookie_check(ctx, o->cookie, COOKIE_SERVE, "serve_options"));
    if (o->port < 0 || o->port > 65535)
        return fail(ctx, SPATE_BAD_INPUT, "port %d; it must be 0 to 65535", o->port);
    if (!(o->speed >= 0 && isfinite(o->speed)))
        return fail(ctx, SPATE_BAD_INPUT, "speed %g; it must be 0 or more", o->speed);
    return SPATE_OK;
}

/* The subject is there; shows it until the end, and frees it. */
static spate_status show(server *s) {
    const spate_serve_options *o = s->options;
    char address[ADDRESS_SIZE];
    spate_status status =
        web_open(s->ctx, o->listen ? o->listen : "127.0.0.1", o->port, &s->web, address);
    if (!status) {
        s->hub = web_hub(s->web);
        s->parts_seen = s->subject.parts_stamp(s->subject.self);
        if (o->ready) o->ready(address, o->user);
        loop(s);
        hub_release(s->hub, s->last);
    }
    web_close(s->web);
    if (!status) status = s->subject.finish(s->subject.self);
    s->subject.free(s->subject.self);
    return status;
}

spate_status spate_serve(spate_scene *scene, const spate_serve_options *options) {
    const spate_serve_options defaults = spate_default_serve_options();
    server s = {.ctx = scene->ctx, .options = options ? options : &defaults};
    TRY(check_options(s.ctx, s.options));
    TRY(live_create(scene, s.options, &s.subject));
    return show(&s);
}

spate_status spate_serve_folder(spate_context *ctx, const char *folder,
                                const spate_serve_options *options) {
    const spate_serve_options defaults = spate_default_serve_options();
    server s = {.ctx = ctx, .options = options ? options : &defaults};
    TRY(check_options(ctx, s.options));
    TRY(folder_create(ctx, folder, &s.subject));
    return show(&s);
}
