/* POSIX threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "port/thread.h"
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int thread_start(thread_handle *t, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(t, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void thread_join(const thread_handle *t) { pthread_join(*t, NULL); }
bool thread_is_current(const thread_handle *t) { return pthread_equal(pthread_self(), *t); }

const void *thread_self(void) {
    static _Thread_local const char here = 0;
    return &here;
}

int thread_cores(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < THREADS_MOST ? (int)online : online > 0 ? THREADS_MOST : 1;
}

void thread_lock_create(thread_lock *l) { pthread_mutex_init(l, NULL); }
void thread_lock_free(thread_lock *l) { pthread_mutex_destroy(l); }
void thread_lock_take(thread_lock *l) { pthread_mutex_lock(l); }
void thread_lock_give(thread_lock *l) { pthread_mutex_unlock(l); }

/* By the clock that nobody sets. */
void thread_condition_create(thread_condition *c) {
    pthread_condattr_t by;
    pthread_condattr_init(&by);
    pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    pthread_cond_init(c, &by);
    pthread_condattr_destroy(&by);
}
void thread_condition_free(thread_condition *c) { pthread_cond_destroy(c); }
void thread_condition_wait(thread_condition *c, thread_lock *l) { pthread_cond_wait(c, l); }
void thread_condition_wait_for(thread_condition *c, thread_lock *l, int64_t nanoseconds) {
    const int64_t second = 1000000000;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t sum = until.tv_nsec + nanoseconds;
    until.tv_sec += (time_t)(sum / second);
    until.tv_nsec = (long)(sum % second);
    pthread_cond_timedwait(c, l, &until);
}
void thread_condition_wake_one(thread_condition *c) { pthread_cond_signal(c); }
void thread_condition_wake_all(thread_condition *c) { pthread_cond_broadcast(c); }
