/* How much memory the machine has. */
#ifndef SPATE_PORT_MEMORY_H
#define SPATE_PORT_MEMORY_H

/* Bytes; 0 where it is not known. */
double memory_of_machine(void);

#endif
