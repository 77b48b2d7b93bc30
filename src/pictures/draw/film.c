/*
 * ffmpeg reads raw pictures from its standard input, which is one end of a socket pair: unlike a
 * pipe, writing to it after ffmpeg has gone gives an error instead of a signal.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_CLOEXEC, posix_spawnp */
#endif
#include "pictures/draw/film.h"
#include "core/file_hooks.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The child reads from `input`, says nothing, and is in a group of its own, so that an interrupt
 * from the keyboard reaches us and the film is still ended properly. */
static int start(char *const *arguments, int input, pid_t *process) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    error = posix_spawnattr_init(&how);
    if (error) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    error = posix_spawn_file_actions_adddup2(&files, input, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    if (!error) error = posix_spawnattr_setpgroup(&how, 0);
    if (!error) error = posix_spawnp(process, arguments[0], &files, &how, arguments, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Runs ffmpeg on what comes from `input`: 0, or an errno value. */
static int start_encoder(const film *f, int width, int height, double fps, int input,
                         pid_t *process) {
    char size[32], rate[32], target[PATH_SIZE + 8];
    snprintf(size, sizeof size, "%dx%d", width, height);
    /* A whole fraction, for no locale to spoil. */
    snprintf(rate, sizeof rate, "%lld/1000", (long long)(fps * 1000 + 0.5));
    /* "file:" keeps ffmpeg from reading a path as an option or a protocol. */
    snprintf(target, sizeof target, "file:%s", f->temporary);
    /* clang-format off */
    char *arguments[] = {"ffmpeg", "-loglevel", "error", "-y",
                         "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", rate,
                         "-i", "pipe:0", "-an",
                         "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p",
                         "-c:v", "libx264", "-preset", "medium", "-crf", "18",
                         "-movflags", "+faststart", "-f", "mp4", target, NULL};
    /* clang-format on */
    return start(arguments, input, process);
}

spate_status film_open(spate_context *ctx, const char *path, int width, int height, double fps,
                       film *f) {
    *f = (film){.ctx = ctx, .pipe = -1, .frame_bytes = (size_t)width * (size_t)height * 3};
    if (snprintf(f->temporary, sizeof f->temporary, "%s.part", path) >= (int)sizeof f->temporary)
        return fail(ctx, SPATE_BAD_INPUT, "%s: the path is too long", path);
    memcpy(f->path, path, strlen(path) + 1);
    if (has_file_hooks(ctx)) {
        warn(ctx, "film", "no film: ffmpeg writes to the disk, and files are the program's own");
        return SPATE_OK;
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return fail(ctx, SPATE_IO_ERROR, "%s: no pipe to ffmpeg: %s", path, strerror(errno));
    const int error = start_encoder(f, width, height, fps, ends[0], &f->process);
    close(ends[0]);
    f->pipe = ends[1];
    if (!error) return SPATE_OK;
    close(ends[1]);
    f->process = 0, f->pipe = -1;
    warn(ctx, "film",
         "no film: ffmpeg cannot be started (%s); install it, the pictures are made all the same",
         strerror(error));
    return SPATE_OK;
}

void film_add(film *f, const unsigned char *bytes) {
    if (!f->process || f->broken) return;
    for (size_t done = 0; done < f->frame_bytes;) {
        ssize_t sent = send(f->pipe, bytes + done, f->frame_bytes - done, MSG_NOSIGNAL);
        if (sent > 0)
            done += (size_t)sent;
        else if (errno != EINTR) {
            f->broken = true;
            return;
        }
    }
}

spate_status film_close(film *f, bool keep) {
    if (!f->process) return SPATE_OK;
    int ended = 0;
    close(f->pipe);
    while (waitpid(f->process, &ended, 0) < 0 && errno == EINTR) continue;
    bool good = !f->broken && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
    f->process = 0;
    if (good && keep) return file_rename(f->ctx, f->temporary, f->path);
    if (!good)
        warn(f->ctx, "film",
             "%s: no film: ffmpeg ended with an error; it needs libx264 and room on the disk. "
             "The pictures are made all the same",
             f->path);
    return file_remove(f->ctx, f->temporary);
}
