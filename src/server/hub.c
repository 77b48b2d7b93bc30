#include "server/hub.h"

#include <string.h>

typedef enum place_state {
    PLACE_FREE,
    PLACE_TAKEN,
    PLACE_LEFT /* until the engine knows */
} place_state;

typedef struct place {
    hub *hub;
    place_state state;
    void *connection;
    thread_handle sender;
    thread_condition to_send; /* something is in the outbox, or it is over */
    bool over;                /* nothing is to be sent any more */
    bool silent;              /* its sender has ended */
    bool told_joined, asked, frame_on_its_way;
    message inbox[INBOX];
    int first, waiting;
    packet *outbox[OUTBOX];
    int first_out, waiting_out;
} place;

struct hub {
    spate_context *ctx;
    hub_write write;
    thread_lock lock; /* of all that follows */
    thread_condition said;
    bool rung; /* since the engine last waited */
    hub_goodbye goodbye;
    place places[VIEWERS_MOST];
    packet *packets; /* all there are */
};

spate_status hub_create(spate_context *ctx, hub_write write, hub **out) {
    hub *h = take(ctx, 1, sizeof *h);
    *out = h;
    if (!h) return SPATE_OUT_OF_MEMORY;
    h->ctx = ctx, h->write = write;
    thread_lock_create(&h->lock);
    thread_condition_create(&h->said);
    for (int i = 0; i < VIEWERS_MOST; i++) {
        h->places[i].hub = h;
        thread_condition_create(&h->places[i].to_send);
    }
    return SPATE_OK;
}

void hub_free(hub *h) {
    if (!h) return;
    for (packet *p = h->packets, *next; p; p = next) {
        next = p->next;
        give(h->ctx, p->bytes);
        give(h->ctx, p);
    }
    for (int i = 0; i < VIEWERS_MOST; i++) thread_condition_free(&h->places[i].to_send);
    thread_condition_free(&h->said);
    thread_lock_free(&h->lock);
    give(h->ctx, h);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void ring(hub *h) {
    h->rung = true;
    thread_condition_wake_one(&h->said);
}

static void end_sending(place *v) {
    v->over = true;
    thread_condition_wake_one(&v->to_send);
}

/* The thread of one viewer: what is in its outbox, in turn, until it is over. */
static void *send_all(void *data) {
    place *v = data;
    hub *h = v->hub;
    thread_lock_take(&h->lock);
    while (!v->over) {
        if (!v->waiting_out) {
            thread_condition_wait(&v->to_send, &h->lock);
            continue;
        }
        packet *p = v->outbox[v->first_out];
        thread_lock_give(&h->lock);
        const bool sent = h->write(v->connection, p->is_text, p->bytes, (size_t)p->length);
        thread_lock_take(&h->lock);
        v->first_out = (v->first_out + 1) % OUTBOX;
        v->waiting_out--;
        p->holders--;
        if (p->is_frame) v->frame_on_its_way = false;
        if (!sent) v->over = true;
        ring(h);
    }
    for (; v->waiting_out; v->waiting_out--, v->first_out = (v->first_out + 1) % OUTBOX)
        v->outbox[v->first_out]->holders--;
    const hub_goodbye goodbye = h->goodbye;
    thread_lock_give(&h->lock);
    if (goodbye) goodbye(v->connection);
    thread_lock_take(&h->lock);
    v->silent = true;
    ring(h);
    thread_lock_give(&h->lock);
    return NULL;
}

/* ---- The threads of connections -------------------------------------------------------------- */

static int free_place(const hub *h) {
    for (int i = 0; i < VIEWERS_MOST; i++)
        if (h->places[i].state == PLACE_FREE) return i;
    return -1;
}

bool hub_has_room(hub *h) {
    thread_lock_take(&h->lock);
    const bool room = free_place(h) >= 0;
    thread_lock_give(&h->lock);
    return room;
}

int hub_enter(hub *h, void *connection) {
    thread_lock_take(&h->lock);
    const int i = free_place(h);
    place *v = i < 0 ? NULL : &h->places[i];
    if (v) {
        v->connection = connection;
        v->over = v->silent = v->told_joined = v->asked = v->frame_on_its_way = false;
        v->first = v->waiting = v->first_out = v->waiting_out = 0;
        v->state = PLACE_TAKEN;
        if (thread_start(&v->sender, send_all, v)) v->state = PLACE_FREE, v = NULL;
    }
    if (v) ring(h);
    thread_lock_give(&h->lock);
    return v ? i : -1;
}

/* Behind what waits, or in the place of the last where that is needless now. */
static bool put_in_inbox(place *v, const message *m) {
    if (v->waiting) {
        message *last = &v->inbox[(v->first + v->waiting - 1) % INBOX];
        if (message_replaces(m, last)) {
            *last = *m;
            return true;
        }
    }
    if (v->waiting == INBOX) return false;
    v->inbox[(v->first + v->waiting++) % INBOX] = *m;
    return true;
}

bool hub_hear(hub *h, int viewer, const char *bytes, size_t length) {
    place *v = &h->places[viewer];
    message m;
    message_error error;
    if (!message_read(h->ctx, bytes, length, &m, &error)) return false;
    thread_lock_take(&h->lock);
    bool goes_on = !v->over;
    if (goes_on && m.kind == MESSAGE_FRAME)
        v->asked = true;
    else if (goes_on)
        goes_on = put_in_inbox(v, &m);
    ring(h);
    thread_lock_give(&h->lock);
    return goes_on;
}

void hub_leave(hub *h, int viewer) {
    place *v = &h->places[viewer];
    thread_lock_take(&h->lock);
    end_sending(v);
    thread_lock_give(&h->lock);
    thread_join(&v->sender);
    thread_lock_take(&h->lock);
    v->state = PLACE_LEFT;
    ring(h);
    thread_lock_give(&h->lock);
}

/* ---- The engine ------------------------------------------------------------------------------ */

static bool has_news(const place *v) {
    return (v->state == PLACE_TAKEN && (!v->told_joined || v->waiting)) || v->state == PLACE_LEFT;
}

void hub_wait(hub *h, int64_t nanoseconds) {
    thread_lock_take(&h->lock);
    if (!h->rung) thread_condition_wait_for(&h->said, &h->lock, nanoseconds);
    h->rung = false;
    thread_lock_give(&h->lock);
}

static void take_from(place *v, message *out) {
    *out = (message){0};
    if (!v->told_joined) {
        v->told_joined = true;
        out->kind = MESSAGE_JOINED;
    } else if (v->waiting) {
        *out = v->inbox[v->first];
        v->first = (v->first + 1) % INBOX;
        v->waiting--;
    } else {
        v->state = PLACE_FREE;
        out->kind = MESSAGE_LEFT;
    }
}

bool hub_take(hub *h, int *viewer, message *out) {
    bool found = false;
    thread_lock_take(&h->lock);
    for (int i = 0; i < VIEWERS_MOST && !found; i++) {
        if (!has_news(&h->places[i])) continue;
        *viewer = i;
        take_from(&h->places[i], out);
        found = true;
    }
    thread_lock_give(&h->lock);
    return found;
}

bool hub_wants_frame(hub *h, int viewer) {
    const place *v = &h->places[viewer];
    thread_lock_take(&h->lock);
    const bool wants = v->state == PLACE_TAKEN && v->told_joined && !v->over && v->asked &&
                       !v->frame_on_its_way && v->waiting_out < OUTBOX;
    thread_lock_give(&h->lock);
    return wants;
}

int hub_viewers(hub *h) {
    int count = 0;
    thread_lock_take(&h->lock);
    for (int i = 0; i < VIEWERS_MOST; i++) count += h->places[i].state == PLACE_TAKEN;
    thread_lock_give(&h->lock);
    return count;
}

packet *hub_packet(hub *h) {
    thread_lock_take(&h->lock);
    packet *p = h->packets;
    while (p && p->holders) p = p->next;
    if (p) p->holders = 1;
    thread_lock_give(&h->lock);
    if (!p) {
        p = take(h->ctx, 1, sizeof *p);
        if (!p) return NULL;
        p->holders = 1;
        p->next = h->packets; /* only the engine goes along this list */
        h->packets = p;
    }
    p->length = 0;
    p->is_text = p->is_frame = false;
    return p;
}

spate_status hub_grow(hub *h, packet *p, int64_t more) {
    return GROW(h->ctx, p->bytes, p->capacity, p->length + more);
}

void hub_send(hub *h, int viewer, packet *p) {
    place *v = &h->places[viewer];
    thread_lock_take(&h->lock);
    if (v->state == PLACE_TAKEN && !v->over) {
        if (v->waiting_out == OUTBOX) {
            end_sending(v);
        } else {
            v->outbox[(v->first_out + v->waiting_out++) % OUTBOX] = p;
            p->holders++;
            if (p->is_frame) v->asked = false, v->frame_on_its_way = true;
            thread_condition_wake_one(&v->to_send);
        }
    }
    thread_lock_give(&h->lock);
}

void hub_release(hub *h, packet *p) {
    if (!p) return;
    thread_lock_take(&h->lock);
    p->holders--;
    thread_lock_give(&h->lock);
}

static bool all_silent(const hub *h) {
    bool silent = true;
    for (int i = 0; i < VIEWERS_MOST; i++)
        silent &= h->places[i].state != PLACE_TAKEN || h->places[i].silent;
    return silent;
}

void hub_end(hub *h, hub_goodbye goodbye, int64_t nanoseconds) {
    enum { LOOKS = 10 };
    thread_lock_take(&h->lock);
    h->goodbye = goodbye;
    for (int i = 0; i < VIEWERS_MOST; i++)
        if (h->places[i].state == PLACE_TAKEN) end_sending(&h->places[i]);
    for (int look = 0; look < LOOKS && !all_silent(h); look++)
        thread_condition_wait_for(&h->said, &h->lock, nanoseconds / LOOKS);
    thread_lock_give(&h->lock);
}
