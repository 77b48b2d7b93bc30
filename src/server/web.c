#include "server/web.h"

#include "server/page.h"
#include <civetweb.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_FRAME = 1,
    BINARY_FRAME = 2,
    CLOSE_FRAME = 8,
    OPCODE = 0x0f,
    LAST_PART = 0x80,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    UPGRADE_REQUIRED = 426,
    UNAVAILABLE = 503,
    GOING_AWAY = 1001,
    POLICY = 1008 /* why a WebSocket is closed: it said what it may not */
};

struct web {
    spate_context *ctx;
    hub *hub;
    struct mg_context *server;
    char token[TOKEN_LENGTH + 1];
    char live[TOKEN_LENGTH + 8]; /* path of the WebSocket */
    char host[ADDRESS_SIZE / 2]; /* where it can be reached */
    thread_lock lock;            /* of what follows */
    int port;
    thread_condition at_rest;
    bool stopped;
    char trouble[256];               /* what civetweb said first */
    void *connections[VIEWERS_MOST]; /* by their places in the hub */
};

hub *web_hub(web *w) { return w->hub; }

/* ---- Answers --------------------------------------------------------------------------------- */

/* No other page may frame this one, read from it or lend it scripts. */
static const char headers[] = "Cache-Control: no-store\r\n"
                              "Connection: close\r\n"
                              "X-Content-Type-Options: nosniff\r\n"
                              "X-Frame-Options: DENY\r\n"
                              "Referrer-Policy: no-referrer\r\n"
                              "Cross-Origin-Opener-Policy: same-origin\r\n"
                              "Cross-Origin-Resource-Policy: same-origin\r\n"
                              "Content-Security-Policy: default-src 'none'; script-src 'self'; "
                              "style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
                              "media-src blob:; base-uri 'none'; form-action 'none'; "
                              "frame-ancestors 'none'\r\n";

static int answer(struct mg_connection *c, int status, const char *words, const char *type,
                  const void *body, size_t length) {
    mg_printf(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n", status,
              words, type, length, headers);
    const bool head_only = !strcmp(mg_get_request_info(c)->request_method, "HEAD");
    if (!head_only) mg_write(c, body, length);
    return status;
}

static int refuse(struct mg_connection *c, int status, const char *words, const char *why) {
    return answer(c, status, words, "text/plain; charset=utf-8", why, strlen(why));
}

static int answer_file(struct mg_connection *c, const char *name) {
    for (int i = 0; i < page_file_count; i++)
        if (!strcmp(page_files[i].name, *name ? name : "index.html"))
            return answer(c, 200, "OK", page_files[i].type, page_files[i].bytes,
                          page_files[i].length);
    return refuse(c, NOT_FOUND, "Not Found", "there is no such file in the viewer\n");
}

/* ---- Requests -------------------------------------------------------------------------------- */

static int port_of(web *w) {
    thread_lock_take(&w->lock);
    const int port = w->port;
    thread_lock_give(&w->lock);
    return port;
}

/* 0: a WebSocket that may be opened. Everything else is answered here, so that civetweb itself
 * never looks for a file. */
static int begin_request(struct mg_connection *c) {
    const struct mg_request_info *r = mg_get_request_info(c);
    web *w = r->user_data;
    const char *host = mg_get_header(c, "Host"), *upgrade = mg_get_header(c, "Upgrade");
    if (!access_host(host, port_of(w)))
        return refuse(c, FORBIDDEN, "Forbidden",
                      "the viewer answers to its number, as printed, and to localhost\n");
    if (!access_origin(mg_get_header(c, "Origin"), host))
        return refuse(c, FORBIDDEN, "Forbidden", "the viewer does not answer other pages\n");
    const char *rest = access_path(r->local_uri_raw, w->token);
    if (!rest)
        return refuse(c, FORBIDDEN, "Forbidden",
                      "open the whole address that spate view has printed\n");
    if (strcmp(r->request_method, "GET") && strcmp(r->request_method, "HEAD"))
        return refuse(c, NOT_ALLOWED, "Method Not Allowed", "the viewer only knows GET\n");
    if (strcmp(rest, "live")) return answer_file(c, rest);
    if (!upgrade || strcmp(upgrade, "websocket"))
        return refuse(c, UPGRADE_REQUIRED, "Upgrade Required", "this is a WebSocket\n");
    if (!hub_has_room(w->hub))
        return refuse(c, UNAVAILABLE, "Service Unavailable",
                      "eight viewers are connected, which is the most; close one of them\n");
    return 0;
}

/* ---- The WebSocket --------------------------------------------------------------------------- */

static bool write_message(void *connection, bool is_text, const void *bytes, size_t length) {
    const int written =
        mg_websocket_write(connection, is_text ? TEXT_FRAME : BINARY_FRAME, bytes, length);
    return written > 0 && (size_t)written >= length;
}

static void close_with(struct mg_connection *c, int code, const char *why) {
    char body[125];
    body[0] = (char)(code >> 8), body[1] = (char)(code & 0xff);
    const size_t length = strlen(why) < sizeof body - 2 ? strlen(why) : sizeof body - 2;
    memcpy(body + 2, why, length);
    mg_websocket_write(c, CLOSE_FRAME, body, length + 2);
}

static void ready(struct mg_connection *c, void *user) {
    web *w = user;
    const int place = hub_enter(w->hub, c);
    thread_lock_take(&w->lock);
    if (place >= 0) w->connections[place] = c;
    thread_lock_give(&w->lock);
    if (place < 0) close_with(c, 1013, "too many viewers");
}

static int place_of(web *w, const struct mg_connection *c) {
    int place = VIEWERS_MOST - 1;
    thread_lock_take(&w->lock);
    while (place >= 0 && w->connections[place] != c) place--;
    thread_lock_give(&w->lock);
    return place;
}

/* 0 closes the connection. */
static int hear(struct mg_connection *c, int bits, char *bytes, size_t length, void *user) {
    web *w = user;
    const int place = place_of(w, c), opcode = bits & OPCODE;
    if (opcode == CLOSE_FRAME || place < 0) return 0;
    if (opcode > CLOSE_FRAME) return 1; /* ping and pong */
    if (opcode == TEXT_FRAME && bits & LAST_PART && hub_hear(w->hub, place, bytes, length))
        return 1;
    close_with(c, POLICY, "not a message of the protocol, or too many of them");
    return 0;
}

static void closed(const struct mg_connection *c, void *user) {
    web *w = user;
    const int place = place_of(w, c);
    if (place < 0) return;
    thread_lock_take(&w->lock);
    w->connections[place] = NULL;
    thread_lock_give(&w->lock);
    hub_leave(w->hub, place);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

/* What civetweb has to say: nothing is printed. */
static int keep_trouble(const struct mg_connection *c, const char *words) {
    const struct mg_context *server = c ? mg_get_context(c) : NULL;
    web *w = server ? mg_get_user_data(server) : NULL;
    if (!w) return 1;
    thread_lock_take(&w->lock);
    if (!w->trouble[0]) snprintf(w->trouble, sizeof w->trouble, "%s", words);
    thread_lock_give(&w->lock);
    return 1;
}

static spate_status start(web *w, const char *listen, int port) {
    const struct mg_callbacks calls = {.begin_request = begin_request, .log_message = keep_trouble};
    char where[ADDRESS_SIZE];
    snprintf(where, sizeof where, "%s:%d", listen, port);
    /* Viewers take a thread each while they are connected, requests for a moment. */
    const char *options[] = {"listening_ports",
                             where,
                             "num_threads",
                             "40",
                             "connection_queue",
                             "64",
                             "request_timeout_ms",
                             "5000",
                             "websocket_timeout_ms",
                             "5000",
                             "enable_websocket_ping_pong",
                             "yes",
                             "enable_directory_listing",
                             "no",
                             "tcp_nodelay",
                             "1",
                             NULL};
    w->server = mg_start(&calls, w, options);
    if (w->server) return SPATE_OK;
    return fail(w->ctx, SPATE_IO_ERROR,
                "the viewer cannot listen on %s%s%s; choose another --port, or none for one that "
                "is free",
                where, w->trouble[0] ? ": " : "", w->trouble);
}

static void tell_address(web *w, const char *listen, char address[ADDRESS_SIZE]) {
    struct mg_server_port ports[4];
    memset(ports, 0, sizeof ports);
    if (mg_get_server_ports(w->server, COUNT_OF(ports), ports) < 1) return;
    thread_lock_take(&w->lock);
    w->port = ports[0].port;
    thread_lock_give(&w->lock);
    const bool everywhere = !strcmp(listen, "0.0.0.0") || !strcmp(listen, "[::]");
    snprintf(w->host, sizeof w->host, "%s", everywhere ? "127.0.0.1" : listen);
    snprintf(address, ADDRESS_SIZE, "http://%s:%d/%s/", w->host, ports[0].port, w->token);
}

spate_status web_open(spate_context *ctx, const char *listen, int port, web **out,
                      char address[ADDRESS_SIZE]) {
    web *w = take(ctx, 1, sizeof *w);
    *out = w;
    if (!w) return SPATE_OUT_OF_MEMORY;
    w->ctx = ctx;
    thread_lock_create(&w->lock);
    thread_condition_create(&w->at_rest);
    if (!access_token(w->token))
        return fail(ctx, SPATE_IO_ERROR, "the system has no random numbers to give");
    TRY(hub_create(ctx, write_message, &w->hub));
    if (!(mg_init_library(MG_FEATURES_WEBSOCKET) & MG_FEATURES_WEBSOCKET))
        return fail(ctx, SPATE_IO_ERROR, "this civetweb was built without WebSocket");
    TRY(start(w, listen, port));
    tell_address(w, listen, address);
    snprintf(w->live, sizeof w->live, "/%s/live", w->token);
    mg_set_websocket_handler(w->server, w->live, NULL, ready, hear, closed, w);
    return SPATE_OK;
}

/* Browsers answer by closing the connection, which wakes the thread that hears it. */
static void say_goodbye(void *connection) {
    close_with(connection, GOING_AWAY, "the viewer has ended");
}

/* civetweb's threads look every two seconds whether they are to stop, or when something comes: a
 * connection, which is ours, or an answer. */
static void *knock(void *data) {
    enum { PAUSE = 5000000 };
    web *w = data;
    char ignored[80];
    thread_lock_take(&w->lock);
    while (!w->stopped) {
        const int port = w->port;
        thread_lock_give(&w->lock);
        struct mg_connection *c = mg_connect_client(w->host, port, 0, ignored, sizeof ignored);
        if (c) mg_close_connection(c);
        thread_lock_take(&w->lock);
        if (!w->stopped) thread_condition_wait_for(&w->at_rest, &w->lock, PAUSE);
    }
    thread_lock_give(&w->lock);
    return NULL;
}

static void stop(web *w) {
    enum { MOMENT = 100000000 };
    thread_handle knocker;
    hub_end(w->hub, say_goodbye, MOMENT);
    const bool knocks = !thread_start(&knocker, knock, w);
    mg_stop(w->server);
    thread_lock_take(&w->lock);
    w->stopped = true;
    thread_condition_wake_one(&w->at_rest);
    thread_lock_give(&w->lock);
    if (knocks) thread_join(&knocker);
    mg_exit_library();
}

void web_close(web *w) {
    if (!w) return;
    if (w->server) stop(w);
    hub_free(w->hub);
    thread_condition_free(&w->at_rest);
    thread_lock_free(&w->lock);
    give(w->ctx, w);
}
