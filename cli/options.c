/* Reads options, finds near misses, prints help. */
#include "options.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool read_number(const char *text, double *value) {
    /* Only what a number is made of: strtod would also take "nan", "inf" and hexadecimal. */
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    char *end;
    double number = strtod(text, &end);
    if (*end || !isfinite(number)) return false;
    *value = number;
    return true;
}

bool read_integer(const char *text, int64_t *value) {
    if (!*text || strspn(text, "+-0123456789") != strlen(text)) return false;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end || errno) return false;
    *value = number;
    return true;
}

/* Edit distance (Levenshtein) of two short words. */
static int word_distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    int rows[2][LONGEST + 1];
    int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST || lb > LONGEST) return LONGEST;
    for (int j = 0; j <= lb; j++) rows[0][j] = j;
    for (int i = 1; i <= la; i++) {
        const int *above = rows[(i - 1) & 1];
        int *row = rows[i & 1];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return rows[la & 1][lb];
}

const char *nearest_word(const char *word, const char *const *words, int count) {
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 2;
    for (int i = 0; i < count; i++) {
        int distance = word_distance(word, words[i]);
        if (distance < best_distance) best_distance = distance, best = words[i];
    }
    return best;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const option help_option = {.name = "help", .letter = 'h', .help = "Show this help"};

static bool is_name(const char *own, const char *name, size_t length) {
    return own && strlen(own) == length && !memcmp(own, name, length);
}

static const option *find_option(const command *c, const char *name, size_t length, char letter) {
    for (int i = -1; i < c->option_count; i++) {
        const option *o = i < 0 ? &help_option : &c->options[i];
        if (letter ? o->letter == letter
                   : is_name(o->name, name, length) || is_name(o->also, name, length))
            return o;
    }
    return NULL;
}

static void say_unknown_option(const command *c, const char *word) {
    enum { MOST = 32 };
    const char *names[MOST];
    int count = 0;
    for (int i = 0; i < c->option_count && count < MOST; i++) names[count++] = c->options[i].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + strspn(word, "-"), "="),
             word + strspn(word, "-"));
    const char *near = nearest_word(name, names, count);
    if (near)
        fprintf(stderr, "spate %s: unknown option %s; did you mean --%s?\n", c->name, word, near);
    else
        fprintf(stderr, "spate %s: unknown option %s; `spate help %s` lists them\n", c->name, word,
                c->name);
}

static bool store_value(const command *c, const option *o, const char *text, int argc,
                        void *settings) {
    void *at = (char *)settings + o->offset;
    double number = 0;
    int64_t whole = 0;
    switch (o->type) {
    case OPTION_FLAG: *(bool *)at = true; return true;
    case OPTION_TEXT: *(const char **)at = text; return true;
    case OPTION_LIST: {
        text_list *list = at;
        if (!list->items) list->items = calloc((size_t)argc, sizeof *list->items);
        if (!list->items) {
            fputs("spate: out of memory\n", stderr);
            return false;
        }
        list->items[list->count++] = text;
        return true;
    }
    case OPTION_INTEGER:
        if (!read_integer(text, &whole)) {
            fprintf(stderr, "spate %s: --%s needs a whole number, not '%s'\n", c->name, o->name,
                    text);
            return false;
        }
        *(int64_t *)at = whole;
        number = (double)whole;
        break;
    case OPTION_NUMBER:
        if (!read_number(text, &number)) {
            fprintf(stderr, "spate %s: --%s needs a number, not '%s'\n", c->name, o->name, text);
            return false;
        }
        *(double *)at = number;
        break;
    }
    if (o->min == ABOVE_ZERO && !(number > 0)) {
        fprintf(stderr, "spate %s: --%s must be greater than 0, not %s\n", c->name, o->name, text);
        return false;
    }
    if (number < o->min || number > o->max) {
        fprintf(stderr, "spate %s: --%s must be from %g to %g, not %s\n", c->name, o->name, o->min,
                o->max, text);
        return false;
    }
    return true;
}

/* Whether a word is one of the options; -1 is a number. */
static bool is_option(const command *c, const char *word) {
    double number;
    if (word[0] != '-' || !word[1] || read_number(word, &number)) return false;
    if (word[1] != '-') return find_option(c, "", 0, word[1]) != NULL;
    return find_option(c, word + 2, strcspn(word + 2, "="), 0) != NULL;
}

/* Reads the option at argv[*at] with its value, which may be the next word. */
static bool read_option(const command *c, int argc, char **argv, int *at, void *settings,
                        bool *help) {
    const char *word = argv[*at];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 1) - 1;
    const option *o =
        is_long ? find_option(c, word + 2, length, 0) : find_option(c, "", 0, word[1]);
    if (!o) {
        say_unknown_option(c, word);
        return false;
    }
    bool attached = !is_long && word[2];
    if (o == &help_option) return *help = true;
    if (!o->argument) {
        if (equals || attached) {
            fprintf(stderr, "spate %s: --%s takes no value\n", c->name, o->name);
            return false;
        }
        return store_value(c, o, NULL, argc, settings);
    }
    const char *value = equals ? equals + 1 : attached ? word + 2 : NULL;
    if (!value) {
        if (*at + 1 >= argc) {
            fprintf(stderr, "spate %s: --%s needs a value (%s)\n", c->name, o->name, o->argument);
            return false;
        }
        value = argv[++*at];
        if (is_option(c, value)) {
            fprintf(stderr,
                    "spate %s: --%s needs a value (%s), but %s follows, which is an option\n",
                    c->name, o->name, o->argument, value);
            return false;
        }
    }
    return store_value(c, o, value, argc, settings);
}

static bool check_arguments(const command *c, const arguments *args, const char *extra) {
    if (extra) {
        fprintf(stderr, "spate %s: '%s' is one argument too many; usage: spate %s %s\n", c->name,
                extra, c->name, c->synopsis);
        return false;
    }
    if (args->count < c->arguments_min) {
        fprintf(stderr, "spate %s: usage: spate %s %s\n", c->name, c->name, c->synopsis);
        return false;
    }
    return true;
}

bool options_read(const command *self, int argc, char **argv, void *settings, arguments *args,
                  int *exit_code) {
    bool only_arguments = false, help = false;
    const char *extra = NULL;
    *args = (arguments){0};
    *exit_code = SPATE_BAD_INPUT;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_arguments && !strcmp(word, "--")) {
            only_arguments = true;
        } else if (!only_arguments && word[0] == '-' && word[1]) {
            if (!read_option(self, argc, argv, &i, settings, &help)) goto wrong;
            if (help) {
                print_command_help(self);
                *exit_code = SPATE_OK;
                goto wrong;
            }
        } else if (args->count < self->arguments_max) {
            args->items[args->count++] = word;
        } else if (!extra) {
            extra = word;
        }
    }
    if (check_arguments(self, args, extra)) return true;
wrong:
    options_free(self, settings);
    return false;
}

void options_free(const command *self, void *settings) {
    for (int i = 0; i < self->option_count; i++)
        if (self->options[i].type == OPTION_LIST) {
            text_list *list = (void *)((char *)settings + self->options[i].offset);
            free((void *)list->items);
            *list = (text_list){0};
        }
}

/* ---- Help ------------------------------------------------------------------------------------ */

void print_overview(void) {
    puts("spate: liquids, sand, clay, snow, metal, elastic solids and smoke on particles and "
         "grids\n\n"
         "usage: spate COMMAND ...\n");
    for (const command *const *c = commands; *c; c++)
        printf("  %-8s %-12s %s\n", (*c)->name, (*c)->synopsis, (*c)->summary);
    puts("\n`spate help COMMAND` says more about one of them. First steps:\n"
         "  spate list                    what there is to run\n"
         "  spate run splash -o splash    simulate a scene into the folder splash\n"
         "  spate render splash           pictures and a film of it\n\n"
         "Exit codes: 0 done, 2 bad usage or input, 3 the simulation became unstable, 4 a solver "
         "did\n"
         "not converge, 5 input/output, 6 out of memory, 130 interrupted (after a checkpoint).");
}

static void print_option(const option *o) {
    char left[48];
    int used = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                         : snprintf(left, sizeof left, "    --%s", o->name);
    if (o->argument) snprintf(left + used, sizeof left - (size_t)used, " %s", o->argument);
    printf("  %-26s %s\n", left, o->help);
}

void print_command_help(const command *c) {
    printf("usage: spate %s%s%s%s\n\n%s.\n", c->name, *c->synopsis ? " " : "", c->synopsis,
           c->option_count ? " [options]" : "", c->summary);
    if (c->details) printf("\n%s\n", c->details);
    puts("\nOptions:");
    for (int i = 0; i < c->option_count; i++) print_option(&c->options[i]);
    print_option(&help_option);
}

bool read_frame_range(const char *text, int *from, int *to) {
    enum { MOST = 100000000 };
    char begin[32];
    int64_t first = 0, last = MOST;
    const char *middle = strpbrk(text, ":-"), *end = middle ? middle + 1 : begin;
    const size_t length = middle ? (size_t)(middle - text) : strlen(text);
    if (length >= sizeof begin) return false;
    memcpy(begin, text, length);
    begin[length] = 0;
    if ((!*begin || !*end) && (!middle || *middle == '-' || !strcmp(text, ":"))) return false;
    if (*begin && !read_integer(begin, &first)) return false;
    if (*end && !read_integer(end, &last)) return false;
    if (first < 0 || last > MOST || last < first) return false;
    *from = (int)first;
    *to = *end ? (int)last : -1;
    return true;
}

bool wrong_value(const command *self, const char *name, const char *value, const char *form) {
    fprintf(stderr, "spate %s: --%s needs %s, not '%s'\n", self->name, name, form, value);
    return false;
}

bool read_frames_option(const command *self, const char *text, int *first, int *last) {
    return !text || read_frame_range(text, first, last) ||
           wrong_value(self, "frames", text,
                       "a frame such as 7, or the first and the last such as 10:20");
}
