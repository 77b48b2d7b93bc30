/* The command `spate`: picks the command, and sees to it that lost output is noticed. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const command *const commands[] = {
    &command_run,    &command_check, &command_info, &command_list,
    &command_render, &command_mesh,  &command_view, &command_bench,
    &command_docs,   &command_help,  NULL,
};

/* A standard stream that is closed would lend its number to the next file opened, and messages
 * would end up inside that file. Each gets a stand-in on which its own use fails. */
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int stand_in = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (stand_in >= 0 && stand_in != fd) close(stand_in);
        }
}

/* What was printed must have arrived: a pipe that was closed or a full disk is an error. */
static int finish_output(int exit_code) {
    bool lost = ferror(stdout) != 0;
    if (fflush(stdout) || lost) {
        fputs("spate: standard output could not be written\n", stderr);
        if (exit_code == SPATE_OK) exit_code = SPATE_IO_ERROR;
    }
    return exit_code;
}

/* What is meant where the command was left out before a scene or a file. */
static const char *command_for(const char *word) {
    char path[SCENE_PATH_SIZE];
    const char *dot = strrchr(word, '.');
    if (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"))) return "run";
    if (scene_path(word, path) != word) return "run";
    return access(word, F_OK) ? NULL : "info";
}

static int say_unknown_command(const char *word) {
    const char *names[16];
    const char *meant = command_for(word);
    int count = 0;
    if (meant) {
        fprintf(stderr, "spate: '%s' is not a command; did you mean: spate %s %s\n", word, meant,
                word);
        return SPATE_BAD_INPUT;
    }
    for (const command *const *c = commands; *c; c++) names[count++] = (*c)->name;
    const char *near = nearest_word(word, names, count);
    if (near)
        fprintf(stderr, "spate: unknown command '%s'; did you mean '%s'?\n", word, near);
    else
        fprintf(stderr, "spate: unknown command '%s'; `spate --help` lists them\n", word);
    return SPATE_BAD_INPUT;
}

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        print_overview();
        return SPATE_BAD_INPUT;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        print_overview();
        return SPATE_OK;
    }
    if (!strcmp(word, "--version")) {
        printf("spate %s\n", spate_version());
        return SPATE_OK;
    }
    for (const command *const *c = commands; *c; c++)
        if (!strcmp((*c)->name, word)) return (*c)->run(*c, argc - 2, argv + 2);
    return say_unknown_command(word);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    hold_standard_streams();
    return finish_output(run_command(argc, argv));
}
