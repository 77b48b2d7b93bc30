/*
 * The commands and their options. A command declares its options once, as a table over a struct of
 * settings; reading them, the help texts and "did you mean" all come from that table.
 */
#ifndef SPATE_CLI_OPTIONS_H
#define SPATE_CLI_OPTIONS_H

#include <spate/spate.h>

#define ABOVE_ZERO      1e-300
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef enum option_type {
    OPTION_FLAG,    /* bool; takes no value */
    OPTION_TEXT,    /* const char * */
    OPTION_INTEGER, /* int64_t */
    OPTION_NUMBER,  /* double */
    OPTION_LIST,    /* text_list; may be given again and again */
} option_type;

typedef struct text_list {
    const char **items;
    int count;
} text_list;

typedef struct option {
    const char *name; /* without the dashes */
    const char *also; /* another spelling, NULL for none */
    char letter;      /* short form, 0 for none */
    option_type type;
    size_t offset;        /* into the command's settings */
    const char *argument; /* what the value is called in the help, NULL for a flag */
    double min, max;      /* of a number; min may be ABOVE_ZERO */
    const char *help;
} option;

enum { ARGUMENTS_MAX = 4 };

typedef struct arguments {
    const char *items[ARGUMENTS_MAX];
    int count;
} arguments;

typedef struct command command;
struct command {
    const char *name;
    const char *synopsis; /* the arguments, e.g. "SCENE" */
    const char *summary;  /* one line */
    const char *details;  /* a paragraph for `spate help NAME` */
    const option *options;
    int option_count;
    int arguments_min, arguments_max;
    /* Runs the command on the words after its name; returns the exit code. */
    int (*run)(const command *self, int argc, char **argv);
};

extern const command command_run, command_check, command_info, command_list, command_render,
    command_mesh, command_view, command_bench, command_docs, command_help;

/* All of them in the order of the help, closed by NULL. */
extern const command *const commands[];

/* Reads the words into `settings` (already holding the defaults) and `args`. On a mistake it says
 * so and returns false: the command exits with 2. `--help` prints the help and returns false with
 * *exit_code 0. */
bool options_read(const command *self, int argc, char **argv, void *settings, arguments *args,
                  int *exit_code);
/* Gives back the lists in `settings`. */
void options_free(const command *self, void *settings);

/* Whole-token numbers in the C locale. */
bool read_number(const char *text, double *value);
bool read_integer(const char *text, int64_t *value);
/* A range of frames: "7", "7:20", "7-20", "7:" or ":20"; *to is -1 up to the end. */
bool read_frame_range(const char *text, int *from, int *to);

/* Says that an option's value has not the form it needs; returns false. */
bool wrong_value(const command *self, const char *name, const char *value, const char *form);
/* Reads the value of --frames, if there is one, and says so when it is none. */
bool read_frames_option(const command *self, const char *text, int *first, int *last);

/* The word nearest to `word`, or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *words, int count);

void print_overview(void);
void print_command_help(const command *c);

/* Options that several commands have; AT is defined beside the table. */
#define THREADS_OPTION(words)                                                              \
    {                                                                                      \
        .name = "threads", .type = OPTION_INTEGER, AT(threads), .argument = "N", .min = 1, \
        .max = 1024, .help = words                                                         \
    }
#define QUIET_OPTION \
    { .name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet), .help = "No progress" }
#define FRAMES_OPTION                                                                         \
    {                                                                                         \
        .name = "frames", .type = OPTION_TEXT, AT(frames), .argument = "A:B",                 \
        .help = "Only frame A, or A to B (A-B too); A: goes to the end, :B is from the start" \
    }

#endif
