/*
 * Threads, locks and conditions of the system: thread_posix.c. Where there are none
 * (-DSPATE_THREADS=OFF: thread_none.c) no thread can be started, THREADS_MOST is 1, and locks do
 * nothing.
 */
#ifndef SPATE_PORT_THREAD_H
#define SPATE_PORT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SPATE_NO_THREADS
enum { THREADS_MOST = 1 };
typedef struct thread_handle {
    char none;
} thread_handle;
typedef thread_handle thread_lock, thread_condition;
#else
#include <pthread.h>
enum { THREADS_MOST = 256 };
typedef pthread_t thread_handle;
typedef pthread_mutex_t thread_lock;
typedef pthread_cond_t thread_condition;
#endif

/* Starts a thread; 0 or an errno value. It blocks all signals: those belong to the program's own
 * threads. */
int thread_start(thread_handle *t, void *(*run)(void *), void *argument);
void thread_join(const thread_handle *t);
bool thread_is_current(const thread_handle *t);
/* An address that no other living thread has. */
const void *thread_self(void);
/* Cores that this process may run on. */
int thread_cores(void);

void thread_lock_create(thread_lock *l);
void thread_lock_free(thread_lock *l);
void thread_lock_take(thread_lock *l);
void thread_lock_give(thread_lock *l);

void thread_condition_create(thread_condition *c);
void thread_condition_free(thread_condition *c);
/* Gives the lock back while it waits. */
void thread_condition_wait(thread_condition *c, thread_lock *l);
/* The same for at most this long. */
void thread_condition_wait_for(thread_condition *c, thread_lock *l, int64_t nanoseconds);
void thread_condition_wake_one(thread_condition *c);
void thread_condition_wake_all(thread_condition *c);

#endif
