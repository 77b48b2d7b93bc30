/*
 * The web server, civetweb's: it answers for the page, whose files are in the program, and for its
 * WebSocket, which it hands to the hub. Nothing comes from the disk.
 */
#ifndef SPATE_SERVER_WEB_H
#define SPATE_SERVER_WEB_H

#include "server/access.h"
#include "server/hub.h"

enum { ADDRESS_SIZE = 256 };

typedef struct web web;

/* Listens on an address and port (0: any that is free). `address` is where a browser finds it. */
spate_status web_open(spate_context *ctx, const char *listen, int port, web **out,
                      char address[ADDRESS_SIZE]);
hub *web_hub(web *w);
/* Ends all connections and their threads; NULL is fine. */
void web_close(web *w);

#endif
