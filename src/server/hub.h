/*
 * The hub between the simulation and its viewers. One thread, the engine's, makes steps and frames;
 * each viewer has a thread that hears it (the web server's) and one that sends to it. Nobody waits
 * for anybody else: what a viewer says goes into a queue of fixed length, what it gets is held by
 * packets that several viewers may share, and a frame is made for a viewer only when it has asked
 * for one and the last is on its way. Who does not keep up is let go.
 *
 * Memory is the engine's alone: the other threads take and give none.
 */
#ifndef SPATE_SERVER_HUB_H
#define SPATE_SERVER_HUB_H

#include "port/thread.h"
#include "server/message.h"

enum {
    VIEWERS_MOST = 8,
    INBOX = 64, /* messages that wait for the engine, of one viewer */
    OUTBOX = 16 /* packets that wait for a slow reader */
};

/* What goes to viewers: whole WebSocket messages. */
typedef struct packet {
    struct packet *next;
    char *bytes;
    int64_t length, capacity;
    int holders; /* the engine and outboxes; 0: free for another use */
    bool is_text, is_frame;
} packet;

/* Sends a whole message to a connection; false: it is gone. It may wait, but not for ever. */
typedef bool (*hub_write)(void *connection, bool is_text, const void *bytes, size_t length);

typedef struct hub hub;

spate_status hub_create(spate_context *ctx, hub_write write, hub **out);
/* When no viewer is connected any more; NULL is fine. */
void hub_free(hub *h);

/* ---- For the threads of connections ---------------------------------------------------------- */

/* A place for a viewer, from 0; -1: there is none left. */
int hub_enter(hub *h, void *connection);
/* Whether another could enter. */
bool hub_has_room(hub *h);
/* A message has come. False: the connection is to be closed. */
bool hub_hear(hub *h, int viewer, const char *bytes, size_t length);
/* Waits for the thread that sends. */
void hub_leave(hub *h, int viewer);

/* ---- For the engine -------------------------------------------------------------------------- */

/* Waits until a viewer has said something, but not longer than this. */
void hub_wait(hub *h, int64_t nanoseconds);
/* The next thing that was said, if any. The first of a viewer is MESSAGE_JOINED, the last
 * MESSAGE_LEFT. */
bool hub_take(hub *h, int *viewer, message *out);
/* Whether a viewer has asked for a frame and can be given one. */
bool hub_wants_frame(hub *h, int viewer);
int hub_viewers(hub *h);

/* An empty packet that the engine holds; NULL: no memory. */
packet *hub_packet(hub *h);
/* More room in it: at least `more` bytes behind what it has. */
spate_status hub_grow(hub *h, packet *p, int64_t more);
/* Puts it into the outbox of a viewer. One whose outbox is full is let go. */
void hub_send(hub *h, int viewer, packet *p);
void hub_release(hub *h, packet *p);
/* Ends all sending, with a last word of each viewer's own thread; waits for these so long at
 * most. */
typedef void (*hub_goodbye)(void *connection);
void hub_end(hub *h, hub_goodbye goodbye, int64_t nanoseconds);

#endif
