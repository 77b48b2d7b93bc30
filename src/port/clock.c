/* The clock of POSIX, which WebAssembly's C libraries have too. */
#include "port/clock.h"
#include <time.h>

int64_t clock_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
