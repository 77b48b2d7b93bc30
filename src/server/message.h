/*
 * What a viewer says: one line of text to a message, a verb and its arguments with blanks between,
 * "stir 0.5 0.3 0 1 0 0 0.1". Everything about a message that does not depend on the simulation is
 * checked here; what passes is a struct of fixed size, so that queues of them need no memory.
 */
#ifndef SPATE_SERVER_MESSAGE_H
#define SPATE_SERVER_MESSAGE_H

#include "core/context.h"

typedef enum message_kind {
    MESSAGE_FRAME,   /* the last frame is drawn: the next one, please */
    MESSAGE_COLOUR,  /* attribute NAME, or "material" */
    MESSAGE_PLOT,    /* quantities NAME... */
    MESSAGE_PAUSE,   /* the simulation stands still */
    MESSAGE_RESUME,  /* it goes on */
    MESSAGE_STEP,    /* COUNT steps, then it stands still */
    MESSAGE_RESET,   /* to the start */
    MESSAGE_STOP,    /* ends the server */
    MESSAGE_SPEED,   /* simulated seconds a second at most; 0: no limit */
    MESSAGE_STIR,    /* X Y Z, VX VY VZ, RADIUS */
    MESSAGE_PULL,    /* X Y Z, RADIUS */
    MESSAGE_BLAST,   /* X Y Z, RADIUS */
    MESSAGE_POUR,    /* X Y Z, RADIUS, index of the MATERIAL */
    MESSAGE_BALL,    /* X Y Z, RADIUS */
    MESSAGE_RELEASE, /* ends what stir, pull and pour began */
    MESSAGE_TILT,    /* gravity X Y Z */
    MESSAGE_PICK,    /* X Y Z: which particle is nearest, and what are its values? */
    MESSAGE_VALUES,  /* the values of particle ID */
    MESSAGE_SEEK,    /* the frame at an INDEX of the folder */
    MESSAGE_SAVE,    /* the recording so far */
    /* not said but done: */
    MESSAGE_JOINED,
    MESSAGE_LEFT,
} message_kind;

enum {
    MESSAGE_SPOKEN = MESSAGE_JOINED, /* how many kinds can be said */
    MESSAGE_NUMBERS = 8,
    MESSAGE_WORDS = 4,
    MESSAGE_WORD = 64,   /* bytes of a word with its zero */
    MESSAGE_LENGTH = 512 /* bytes of the longest message */
};

typedef struct message {
    message_kind kind;
    double numbers[MESSAGE_NUMBERS]; /* finite */
    char words[MESSAGE_WORDS][MESSAGE_WORD];
    int word_count;
} message;

/* Room for what is wrong with a message. */
typedef struct message_error {
    char text[160];
} message_error;

/* Reads a message. The context is only asked for its locale: any thread may call it. */
bool message_read(const spate_context *ctx, const char *bytes, size_t length, message *out,
                  message_error *error);
const char *message_verb(message_kind kind);
/* Whether a message makes an earlier one of its kind needless: where a tool is now. */
bool message_replaces(const message *newer, const message *older);

#endif
