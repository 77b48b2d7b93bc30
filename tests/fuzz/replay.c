/*
 * Replays a fuzz target: an empty input, then every file of the folders and files given, then each
 * of those files cut short at a few places. What a fuzzer once found stays found.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    struct stat s;
    if (!f || fstat(fileno(f), &s)) {
        perror(path);
        return 1;
    }
    /* Exactly as large as the file, so that a sanitizer sees a read beyond its end. */
    size_t size = (size_t)s.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes || fread(bytes, 1, size, f) != size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, size);
    for (size_t part = 1; part < 8; part++) {
        size_t length = size * part / 8;
        uint8_t *cut = malloc(length ? length : 1);
        if (!cut) exit(1);
        memcpy(cut, bytes, length);
        LLVMFuzzerTestOneInput(cut, length);
        free(cut);
    }
    free(bytes);
    return 0;
}

static int replay(const char *path, int *count) {
    struct stat s;
    if (stat(path, &s)) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(s.st_mode)) {
        ++*count;
        return replay_file(path);
    }
    struct dirent **names;
    int failed = 0, found = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.') failed |= replay(inside, count);
        free(names[i]);
    }
    if (found >= 0) free(names);
    return failed;
}

int main(int argc, char **argv) {
    int count = 0, failed = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) failed |= replay(argv[i], &count);
    printf("%d files replayed\n", count);
    return failed || !count;
}
