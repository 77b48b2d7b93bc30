#include "server/message.h"

#include "core/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers first, then words. */
typedef struct verb {
    const char *name;
    int numbers, words_least, words_most;
} verb;

static const verb verbs[MESSAGE_SPOKEN] = {
    [MESSAGE_FRAME] = {"frame", 0, 0, 0},     [MESSAGE_COLOUR] = {"colour", 0, 1, 1},
    [MESSAGE_PLOT] = {"plot", 0, 0, 4},       [MESSAGE_PAUSE] = {"pause", 0, 0, 0},
    [MESSAGE_RESUME] = {"resume", 0, 0, 0},   [MESSAGE_STEP] = {"step", 1, 0, 0},
    [MESSAGE_RESET] = {"reset", 0, 0, 0},     [MESSAGE_STOP] = {"stop", 0, 0, 0},
    [MESSAGE_SPEED] = {"speed", 1, 0, 0},     [MESSAGE_STIR] = {"stir", 7, 0, 0},
    [MESSAGE_PULL] = {"pull", 4, 0, 0},       [MESSAGE_BLAST] = {"blast", 4, 0, 0},
    [MESSAGE_POUR] = {"pour", 5, 0, 0},       [MESSAGE_BALL] = {"ball", 4, 0, 0},
    [MESSAGE_RELEASE] = {"release", 0, 0, 0}, [MESSAGE_TILT] = {"tilt", 3, 0, 0},
    [MESSAGE_PICK] = {"pick", 3, 0, 0},       [MESSAGE_VALUES] = {"values", 1, 0, 0},
    [MESSAGE_SEEK] = {"seek", 1, 0, 0},       [MESSAGE_SAVE] = {"save", 0, 0, 0},
};

/* Far beyond any scene, and far from the ends of a double's range. */
static const double number_most = 1e12;

const char *message_verb(message_kind kind) {
    return (int)kind < (int)MESSAGE_SPOKEN ? verbs[kind].name : "";
}

/* The next word of what remains; its length 0: there is none. */
static size_t next_word(const char **at, const char *end) {
    while (*at < end && **at == ' ') ++*at;
    const char *stop = *at;
    while (stop < end && *stop != ' ') stop++;
    return (size_t)(stop - *at);
}

/* Names of attributes and quantities; a probe may be called anything that can be read. */
static bool is_plain(const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] < 0x21 || word[i] == 0x7f) return false;
    return length < MESSAGE_WORD;
}

static bool wrong(message_error *error, const char *name, const char *what) {
    snprintf(error->text, sizeof error->text, "%.16s: %s", name, what);
    return false;
}

static bool read_arguments(const spate_context *ctx, const verb *v, const char *at, const char *end,
                           message *out, message_error *error) {
    for (int i = 0; i < v->numbers; i++) {
        const size_t length = next_word(&at, end);
        if (!length || !text_to_double(ctx, at, length, &out->numbers[i]) ||
            !(fabs(out->numbers[i]) <= number_most))
            return wrong(error, v->name, "it needs more finite numbers than were given");
        at += length;
    }
    for (size_t length; (length = next_word(&at, end)); at += length) {
        if (out->word_count == v->words_most) return wrong(error, v->name, "too many arguments");
        if (!is_plain(at, length)) return wrong(error, v->name, "a name that cannot be one");
        memcpy(out->words[out->word_count++], at, length);
    }
    if (out->word_count < v->words_least) return wrong(error, v->name, "it needs a name");
    return true;
}

bool message_read(const spate_context *ctx, const char *bytes, size_t length, message *out,
                  message_error *error) {
    const char *at = bytes, *end = bytes + length;
    *out = (message){0};
    if (length > MESSAGE_LENGTH) return wrong(error, "message", "it is longer than 512 bytes");
    if (memchr(bytes ? bytes : "", 0, length)) return wrong(error, "message", "it holds a zero");
    const size_t first = next_word(&at, end);
    for (int k = 0; k < MESSAGE_SPOKEN; k++) {
        if (strlen(verbs[k].name) != first || memcmp(verbs[k].name, at, first)) continue;
        out->kind = (message_kind)k;
        return read_arguments(ctx, &verbs[k], at + first, end, out, error);
    }
    return wrong(error, "message", "it begins with no verb of the protocol");
}

bool message_replaces(const message *newer, const message *older) {
    return newer->kind == older->kind &&
           (newer->kind == MESSAGE_STIR || newer->kind == MESSAGE_PULL ||
            newer->kind == MESSAGE_SEEK || newer->kind == MESSAGE_TILT ||
            newer->kind == MESSAGE_COLOUR || newer->kind == MESSAGE_SPEED);
}
