/* The hub with several threads: a slow reader stops nobody, frames wait to be asked for, and queues
 * have an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/hub.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* A connection whose reader can be held up. */
typedef struct line {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool held, broken;
    int received, entered;
    char last[16];
} line;

static void line_create(line *l) {
    memset(l, 0, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->moved, NULL);
}

static bool write_line(void *connection, bool is_text, const void *bytes, size_t length) {
    line *l = connection;
    (void)is_text;
    pthread_mutex_lock(&l->lock);
    l->entered++;
    pthread_cond_broadcast(&l->moved);
    while (l->held) pthread_cond_wait(&l->moved, &l->lock);
    l->received++;
    memcpy(l->last, bytes, length < sizeof l->last ? length : sizeof l->last);
    const bool well = !l->broken;
    pthread_cond_broadcast(&l->moved);
    pthread_mutex_unlock(&l->lock);
    return well;
}

static void hold(line *l, bool held) {
    pthread_mutex_lock(&l->lock);
    l->held = held;
    pthread_cond_broadcast(&l->moved);
    pthread_mutex_unlock(&l->lock);
}

static void wait_for(line *l, const int *what, int count) {
    pthread_mutex_lock(&l->lock);
    while (*what < count) pthread_cond_wait(&l->moved, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

static void post(hub *h, int viewer, const char *words, bool is_frame) {
    packet *p = hub_packet(h);
    assert_int_equal(hub_grow(h, p, 16), SPATE_OK);
    memset(p->bytes, 0, 16);
    memcpy(p->bytes, words, strlen(words));
    p->length = (int64_t)strlen(words);
    p->is_frame = is_frame;
    hub_send(h, viewer, p);
    hub_release(h, p);
}

static bool says(hub *h, int viewer, const char *words) {
    return hub_hear(h, viewer, words, strlen(words));
}

static void expect(hub *h, int viewer, message_kind kind) {
    message m;
    int who = -1;
    assert_true(hub_take(h, &who, &m));
    assert_int_equal(who, viewer);
    assert_int_equal(m.kind, kind);
}

static spate_context *ctx;
static hub *h;
static int64_t blocks_before;
static int begin(void **state) {
    (void)state;
    if (spate_open(NULL, &ctx)) return 1;
    blocks_before = ctx->blocks_now;
    return hub_create(ctx, write_line, &h);
}
static int end(void **state) {
    (void)state;
    hub_free(h);
    const bool clean = ctx->blocks_now == blocks_before;
    spate_close(ctx);
    return !clean;
}

/* A frame is due only when one was asked for and the last has been sent. */
static void test_pace(void **state) {
    line l;
    (void)state;
    line_create(&l);
    const int v = hub_enter(h, &l);
    assert_false(hub_wants_frame(h, v)); /* the engine does not know it yet */
    expect(h, v, MESSAGE_JOINED);
    assert_false(hub_wants_frame(h, v));
    assert_true(says(h, v, "frame"));
    assert_true(hub_wants_frame(h, v));
    hold(&l, true);
    post(h, v, "one", true);
    assert_false(hub_wants_frame(h, v));
    wait_for(&l, &l.entered, 1);
    assert_true(says(h, v, "frame"));
    assert_false(hub_wants_frame(h, v)); /* the first is still on its way */
    hold(&l, false);
    wait_for(&l, &l.received, 1);
    while (!hub_wants_frame(h, v)) hub_wait(h, 1000000);
    post(h, v, "two", true);
    post(h, v, "after it", false);
    wait_for(&l, &l.received, 3);
    assert_false(hub_wants_frame(h, v)); /* two were asked for, two were sent */
    hub_leave(h, v);
    expect(h, v, MESSAGE_LEFT);
}

/* One reader stands still: the other gets all, and the engine waits for neither. */
static void test_slow_reader(void **state) {
    line slow, quick;
    (void)state;
    line_create(&slow), line_create(&quick);
    const int a = hub_enter(h, &slow), b = hub_enter(h, &quick);
    expect(h, a, MESSAGE_JOINED), expect(h, b, MESSAGE_JOINED);
    hold(&slow, true);
    for (int i = 0; i < 4 * OUTBOX; i++) {
        post(h, a, "x", false);
        post(h, b, "y", false);
        wait_for(&quick, &quick.received, i + 1);
    }
    assert_false(says(h, a, "frame")); /* let go: its outbox was full */
    assert_true(says(h, b, "frame"));
    hold(&slow, false);
    hub_leave(h, a), hub_leave(h, b);
    expect(h, a, MESSAGE_LEFT), expect(h, b, MESSAGE_LEFT);
    assert_true(slow.received < 4 * OUTBOX);
}

static void test_full_inbox(void **state) {
    line l;
    (void)state;
    line_create(&l);
    const int v = hub_enter(h, &l);
    for (int i = 0; i < 1000; i++) assert_true(says(h, v, "pull 1 2 3 4")); /* one for all */
    for (int i = 1; i < INBOX; i++) assert_true(says(h, v, "ball 1 2 3 4"));
    assert_false(says(h, v, "ball 1 2 3 4"));
    expect(h, v, MESSAGE_JOINED);
    expect(h, v, MESSAGE_PULL);
    expect(h, v, MESSAGE_BALL);
    assert_false(says(h, v, "nonsense"));
    hub_leave(h, v);
    for (int i = 2; i < INBOX; i++) expect(h, v, MESSAGE_BALL);
    expect(h, v, MESSAGE_LEFT);
}

static void test_full_house(void **state) {
    line lines[VIEWERS_MOST + 1];
    (void)state;
    for (int i = 0; i < VIEWERS_MOST; i++) {
        line_create(&lines[i]);
        assert_int_equal(hub_enter(h, &lines[i]), i);
    }
    assert_false(hub_has_room(h));
    assert_int_equal(hub_enter(h, &lines[VIEWERS_MOST]), -1);
    assert_int_equal(hub_viewers(h), VIEWERS_MOST);
    hub_leave(h, 3);
    assert_false(hub_has_room(h)); /* until the engine has heard of it */
    message m;
    for (int who; hub_take(h, &who, &m);) continue;
    assert_true(hub_has_room(h));
    assert_int_equal(hub_enter(h, &lines[3]), 3);
    for (int i = 0; i < VIEWERS_MOST; i++) hub_leave(h, i);
    for (int who; hub_take(h, &who, &m);) continue;
    assert_int_equal(hub_viewers(h), 0);
}

/* A connection that broke takes nothing more. */
static void test_broken(void **state) {
    line l;
    (void)state;
    line_create(&l);
    const int v = hub_enter(h, &l);
    expect(h, v, MESSAGE_JOINED);
    l.broken = true;
    post(h, v, "x", false);
    wait_for(&l, &l.received, 1);
    bool heard = true;
    for (int tries = 0; heard && tries < 5000; tries++) {
        heard = says(h, v, "frame");
        usleep(1000);
    }
    assert_false(heard);
    assert_false(hub_wants_frame(h, v));
    hub_leave(h, v);
    message m;
    for (int who; hub_take(h, &who, &m);) continue;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pace, begin, end),
        cmocka_unit_test_setup_teardown(test_slow_reader, begin, end),
        cmocka_unit_test_setup_teardown(test_full_inbox, begin, end),
        cmocka_unit_test_setup_teardown(test_full_house, begin, end),
        cmocka_unit_test_setup_teardown(test_broken, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
