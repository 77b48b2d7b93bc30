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

enum { WARNINGS_MOST = 128 };
static char *kept_warnings[WARNINGS_MOST];
static int kept_count;

int warnings_kept(void) { return kept_count; }
const char *warning_kept(int index) { return kept_warnings[index]; }

static void keep_warning(const char *message) {
    char *copy = kept_count < WARNINGS_MOST ? strdup(message) : NULL;
    if (copy) kept_warnings[kept_count++] = copy;
}

static void log_all(spate_log_level level, const char *message, void *user) {
    const bool *quiet = user;
    if (level == SPATE_LOG_INFO && *quiet) return;
    if (level == SPATE_LOG_WARNING) keep_warning(message);
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

/* A number in two digits, with the largest unit that leaves it at least 1. */
static const char *with_unit(double value, const double *sizes, const char *const *units, int count,
                             char out[SHORT_TEXT]) {
    int unit = 0;
    while (unit + 1 < count && value >= 0.995 * sizes[unit + 1]) unit++;
    value /= sizes[unit];
    snprintf(out, SHORT_TEXT, value < 9.95 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

const char *short_duration(double seconds, char out[SHORT_TEXT]) {
    static const double sizes[] = {1, 60, 3600, 86400, 31557600};
    static const char *const units[] = {"s", "min", "h", "days", "years"};
    if (seconds < 1) return strcpy(out, "a second");
    return with_unit(seconds, sizes, units, 5, out);
}

const char *short_bytes(double bytes, char out[SHORT_TEXT]) {
    static const double sizes[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15};
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    return with_unit(bytes, sizes, units, 6, out);
}

void json_text(const char *before, const char *text) {
    fputs(before, stdout);
    print_json_text(stdout, text);
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
