/* The files of the page, as the build has put them into the program (cmake/embed.cmake). */
#ifndef SPATE_SERVER_PAGE_H
#define SPATE_SERVER_PAGE_H

#include <stddef.h>

typedef struct page_file {
    const char *name, *type; /* its type for browsers */
    const unsigned char *bytes;
    size_t length;
} page_file;

extern const page_file page_files[];
extern const int page_file_count;

#endif
