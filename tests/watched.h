#ifndef SPATE_TESTS_WATCHED_H
#define SPATE_TESTS_WATCHED_H

/* Sanitizers slow a build down some twenty times: long tests do less there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WATCHED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { WATCHED = 1 };
#else
enum { WATCHED = 0 };
#endif
#else
enum { WATCHED = 0 };
#endif

#endif
