/* What the commands share in talking to people: the session with the library, signals, output. */
#ifndef SPATE_CLI_TERMINAL_H
#define SPATE_CLI_TERMINAL_H

#include <spate/spate.h>
#include <stdio.h>

/* Opens a context whose warnings go to standard error (and its information too unless `quiet`).
 * On failure it says why. */
spate_status session_open(int64_t threads, bool quiet, spate_context **ctx);

/* Says the context's message and returns the status, for `return report_failure(...)`. */
int report_failure(const spate_context *ctx, spate_status status);

/* Set by the first Ctrl-C, SIGTERM or SIGHUP; the second one ends the program at once. */
extern volatile int interrupt_flag;
void catch_interrupts(void);

/* A write callback for the library that prints to a FILE. */
void write_to_file(const char *text, void *file);

enum { SHORT_TEXT = 32 };
/* "412k", "1.24M": a count in three digits. */
const char *short_count(double count, char out[SHORT_TEXT]);
/* "1:23", "2:01:40". */
const char *short_time(double seconds, char out[SHORT_TEXT]);

/* "40 s", "12 min", "3.4 h", "5 days". */
const char *short_duration(double seconds, char out[SHORT_TEXT]);
/* "310 kB", "1.2 GB". */
const char *short_bytes(double bytes, char out[SHORT_TEXT]);

/* A JSON string with its quotes. */
void print_json_text(FILE *out, const char *text);
/* The same on standard output behind `before`, such as ", \"name\": ". */
void json_text(const char *before, const char *text);

/* The warnings so far, as they were told; those of a kind that were only counted are not among
 * them. */
int warnings_kept(void);
const char *warning_kept(int index);

/* How many columns a text takes up, if it is UTF-8 of letters as wide as one. */
int text_columns(const char *text);

/* A line that is rewritten in place, cut to the terminal's width as it is now; it is wiped before
 * anything else is printed. */
int status_columns(void);
void status_line(const char *text);
void status_line_clear(void);

#endif
