#include "server/access.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool access_token(char token[TOKEN_LENGTH + 1]) {
    unsigned char bytes[TOKEN_LENGTH / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

const char *access_path(const char *path, const char *token) {
    unsigned different = 0;
    if (!path || strnlen(path, TOKEN_LENGTH + 2) < TOKEN_LENGTH + 2) return NULL;
    if (path[0] != '/' || path[TOKEN_LENGTH + 1] != '/') return NULL;
    for (int i = 0; i < TOKEN_LENGTH; i++)
        different |= (unsigned)((unsigned char)path[1 + i] ^ (unsigned char)token[i]);
    return different ? NULL : path + TOKEN_LENGTH + 2;
}

static bool is_number_v4(const char *host, size_t length) {
    int dots = 0;
    for (size_t i = 0; i < length; i++) {
        if (host[i] == '.')
            dots++;
        else if (host[i] < '0' || host[i] > '9')
            return false;
    }
    return dots == 3;
}

static bool is_number_v6(const char *host, size_t length) {
    return length > 2 && host[0] == '[' && host[length - 1] == ']' &&
           strspn(host + 1, "0123456789abcdefABCDEF:.") == length - 2;
}

/* How long a host's name is without the port, which browsers leave out when it is 80; 0: another
 * port. */
static size_t name_length(const char *host, int port) {
    char ending[16];
    const int tail = snprintf(ending, sizeof ending, ":%d", port);
    const size_t length = strlen(host);
    if (tail > 0 && length > (size_t)tail && !strcmp(host + length - tail, ending))
        return length - (size_t)tail;
    return port == 80 ? length : 0;
}

bool access_host(const char *host, int port) {
    if (!host || strlen(host) > 64) return false;
    const size_t name = name_length(host, port);
    return is_number_v4(host, name) || is_number_v6(host, name) ||
           (name == strlen("localhost") && !memcmp(host, "localhost", name));
}

bool access_origin(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    if (!origin) return true;
    return !strncmp(origin, scheme, sizeof scheme - 1) && host &&
           !strcmp(origin + sizeof scheme - 1, host);
}
