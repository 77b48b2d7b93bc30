/* A clock that only goes forward, for measuring how long things take. */
#ifndef SPATE_PORT_CLOCK_H
#define SPATE_PORT_CLOCK_H

#include <stdint.h>

int64_t clock_nanoseconds(void);

#endif
