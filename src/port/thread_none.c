/* No threads: whoever would start one does the work itself. */
#include "port/thread.h"
#include <errno.h>

int thread_start(thread_handle *t, void *(*run)(void *), void *argument) {
    (void)t, (void)run, (void)argument;
    return ENOSYS;
}

void thread_join(const thread_handle *t) { (void)t; }

bool thread_is_current(const thread_handle *t) {
    (void)t;
    return false;
}

const void *thread_self(void) {
    static const char here = 0;
    return &here;
}

int thread_cores(void) { return 1; }

void thread_lock_create(thread_lock *l) { (void)l; }
void thread_lock_free(thread_lock *l) { (void)l; }
void thread_lock_take(thread_lock *l) { (void)l; }
void thread_lock_give(thread_lock *l) { (void)l; }

void thread_condition_create(thread_condition *c) { (void)c; }
void thread_condition_free(thread_condition *c) { (void)c; }
void thread_condition_wait(thread_condition *c, thread_lock *l) { (void)c, (void)l; }
void thread_condition_wait_for(thread_condition *c, thread_lock *l, int64_t nanoseconds) {
    (void)c, (void)l, (void)nanoseconds;
}
void thread_condition_wake_one(thread_condition *c) { (void)c; }
void thread_condition_wake_all(thread_condition *c) { (void)c; }
