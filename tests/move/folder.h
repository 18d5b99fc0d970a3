/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder for the files of a test: created before and removed after the test.
 */
#ifndef DT_TESTS_FOLDER_H
#define DT_TESTS_FOLDER_H

#include "support/ranks.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

/* The path of a name in the folder; the last eight results are valid. */
static inline const char *in_folder(const char *name) {
    static _Thread_local char path[8][600];
    static _Thread_local int next;
    char *out = path[next++ % 8];
    (void)snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static inline int folder_begin(void **state) {
    (void)state;
    return test_make_folder(folder, sizeof folder) ? 0 : 1;
}

/* Calls fn for each entry; returns the number of entries. */
static inline int folder_each(void (*fn)(const char *name)) {
    int n = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        n++;
        if (fn)
            fn(entry->d_name);
    }
    if (dir)
        closedir(dir);
    return n;
}

static inline int folder_count(void) { return folder_each(NULL); }
static inline void folder_print_name(const char *name) { fprintf(stderr, "in the folder: %s\n", name); }
static inline int folder_remove_path(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind, (void)at;
    return remove(path);
}
static inline void folder_unlink(const char *name) {
    (void)nftw(in_folder(name), folder_remove_path, 16, FTW_DEPTH | FTW_PHYS);
}
static inline void folder_empty(void) { (void)folder_each(folder_unlink); }

static inline int folder_end(void **state) {
    (void)state;
    if (!test_started_ranks())
        folder_empty();
    return test_remove_folder(folder);
}

#endif
