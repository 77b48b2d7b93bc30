/*
 * What viewers say, under fuzzing. A message that is accepted has a verb of the protocol, finite
 * numbers and closed words; one that is refused says why. The Host, Origin and path of a request
 * are checked with the same bytes: none of them may pass as the viewer's own by accident.
 */
#include "server/access.h"
#include "server/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const message *m) {
    if (!*message_verb(m->kind) || m->word_count < 0 || m->word_count > MESSAGE_WORDS) abort();
    for (int i = 0; i < MESSAGE_NUMBERS; i++)
        if (!isfinite(m->numbers[i])) abort();
    for (int i = 0; i < m->word_count; i++)
        if (!m->words[i][0] || !memchr(m->words[i], 0, MESSAGE_WORD)) abort();
}

static void check_access(const char *text) {
    static const char token[] = "0123456789abcdef0123456789abcdef";
    const char *rest = access_path(text, token);
    if (rest && (strncmp(text + 1, token, TOKEN_LENGTH) || rest[-1] != '/')) abort();
    if (access_host(text, 8080) && !strstr(text, ":8080")) abort();
    if (access_origin(text, "127.0.0.1:8080") && strcmp(text, "http://127.0.0.1:8080")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spate_config config = spate_default_config();
    spate_context *ctx;
    message m;
    message_error error = {""};
    char *text = malloc(size + 1);
    config.threads = 1;
    if (!text || spate_open(&config, &ctx) != SPATE_OK) abort();
    memcpy(text, data, size);
    text[size] = 0;
    /* The bytes themselves: what a socket gives is not closed by a zero. */
    if (message_read(ctx, (const char *)data, size, &m, &error))
        check_message(&m);
    else if (!error.text[0])
        abort();
    check_access(text);
    spate_close(ctx);
    free(text);
    return 0;
}
