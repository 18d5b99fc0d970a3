/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target on each file of the directories on the command line: the corpus as a test, without libFuzzer.
 */
#include "fuzz.h"

#include <dirent.h>

static size_t read_file(const char *path, uint8_t **bytes) {
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file, "%s", path);
    FUZZ_CHECK(fseek(file, 0, SEEK_END) == 0, "%s", path);
    size_t n = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(n ? n : 1); /* exactly as long, so that a sanitizer sees reads past the end */
    FUZZ_CHECK(*bytes && fread(*bytes, 1, n, file) == n, "%s", path);
    fclose(file);
    return n;
}

static int replay(const char *directory) {
    DIR *files = opendir(directory);
    FUZZ_CHECK(files, "%s", directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[4096];
        uint8_t *bytes;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        size_t n = read_file(path, &bytes);
        LLVMFuzzerTestOneInput(bytes, n);
        free(bytes);
        count++;
    }
    closedir(files);
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%d files\n", count);
    return count > 0 ? 0 : 1;
}
