/*
 * Who may speak to the server. A page of any site can send requests to this machine; none may learn
 * or do anything by it. So the address holds a random word that no other page knows; requests must
 * be for a host that cannot be another site's name (a name can be made to lead here: DNS
 * rebinding), and must not come from another site's page.
 */
#ifndef SPATE_SERVER_ACCESS_H
#define SPATE_SERVER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_LENGTH = 32 }; /* hexadecimal digits: 128 bits */

/* Fills in random digits and a zero; false where the system has none to give. */
bool access_token(char token[TOKEN_LENGTH + 1]);

/* What of a path follows "/TOKEN/"; NULL where it does not begin so. Takes as long for every
 * token of the right length. */
const char *access_path(const char *path, const char *token);

/* Whether a Host header is a number of an address, "127.0.0.1:8000" or "[::1]:8000", or
 * localhost, and has this port. */
bool access_host(const char *host, int port);
/* Whether an Origin header, if there is one, is the page that this Host serves. */
bool access_origin(const char *origin, const char *host);

#endif
