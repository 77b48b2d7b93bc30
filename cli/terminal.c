#include "terminal.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Whether a status line stands on the terminal; the log hook must wipe it first. */
static bool line_shown;

static bool begins_letter(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

int text_columns(const char *text) {
    int columns = 0;
    for (; *text; text++) columns += begins_letter(*text);
    return columns;
}

/* The last column stays free: some terminals go to the next line after it. */
int status_columns(void) {
    enum { USUAL = 80 };
    struct winsize size;
    const bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0;
    return (known ? size.ws_col : USUAL) - 1;
}

void status_line(const char *text) {
    int length = 0;
    for (int left = status_columns(); text[length]; length++)
        if (begins_letter(text[length]) && left-- == 0) break;
    printf("\r\033[K%.*s", length, text);
    fflush(stdout);
    line_shown = true;
}

void status_line_clear(void) {
    if (!line_shown) return;
    fputs("\r\033[K", stdout);
    fflush(stdout);
    line_shown = false;
}

static void log_all(spate_log_level level, const char *message, void *user) {
    const bool *quiet = user;
    if (level == SPATE_LOG_INFO && *quiet) return;
    status_line_clear();
    fprintf(stderr, "spate: %s%s\n", level == SPATE_LOG_WARNING ? "warning: " : "", message);
}

spate_status session_open(int64_t threads, bool quiet, spate_context **ctx) {
    static bool log_quiet;
    log_quiet = quiet;
    spate_config config = spate_default_config();
    config.log = log_all;
    config.user = &log_quiet;
    config.threads = (int)threads;
    spate_status status = spate_open(&config, ctx);
    if (status) fputs("spate: cannot start: out of memory or threads\n", stderr);
    return status;
}

int report_failure(const spate_context *ctx, spate_status status) {
    status_line_clear();
    if (status) fprintf(stderr, "spate: %s\n", spate_message(ctx));
    return (int)status;
}

volatile int interrupt_flag;

static void on_signal(int number) {
    if (interrupt_flag) {
        signal(number, SIG_DFL);
        raise(number);
    }
    interrupt_flag = 1;
}

void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A closed terminal, unless nohup has seen to that. */
    struct sigaction before;
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

void write_to_file(const char *text, void *file) { fputs(text, file); }

const char *short_count(double count, char out[SHORT_TEXT]) {
    const char *suffix = "";
    if (count >= 999.5e6)
        count /= 1e9, suffix = "G";
    else if (count >= 999.5e3)
        count /= 1e6, suffix = "M";
    else if (count >= 1000)
        count /= 1e3, suffix = "k";
    int digits = !*suffix || count >= 100 ? 0 : count >= 10 ? 1 : 2;
    snprintf(out, SHORT_TEXT, "%.*f%s", digits, count, suffix);
    return out;
}

const char *short_time(double seconds, char out[SHORT_TEXT]) {
    if (!(seconds >= 0 && seconds < 1e7)) return strcpy(out, "?");
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, SHORT_TEXT, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, SHORT_TEXT, "%ld:%02ld", s / 60, s % 60);
    return out;
}

void print_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}
