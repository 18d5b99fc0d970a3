/* SPDX-License-Identifier: Apache-2.0
 *
 * The terminal and files.
 */
#include "output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, MIN_WIDTH = 20, MAX_WIDTH = 1000 };

/* What the terminal says, then what the shell says. */
static int terminal_width(void) {
    struct winsize size;
    int width = 0;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    else if (columns)
        width = atoi(columns);
    return width < MIN_WIDTH || width > MAX_WIDTH ? USUAL_WIDTH : width;
}

/* As NO_COLOR asks for: set to anything but the empty text means no. */
static bool wants_colour(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && !(terminal && !strcmp(terminal, "dumb"));
}

static dt_status read_colour(const args *given, bool *out) {
    const char *when = args_value(given, "color");
    if (!when || !strcmp(when, "auto")) {
        *out = wants_colour();
        return DT_OK;
    }
    *out = !strcmp(when, "always");
    if (*out || !strcmp(when, "never"))
        return DT_OK;
    args_misused(given->command, "--color wants auto, always or never, not '%s'", when);
    return DT_ERR_VALUE;
}

dt_status output_style(const args *given, canvas_style *out) {
    int64_t width = terminal_width();
    DT__TRY(read_colour(given, &out->colour));
    if (args_has(given, "width"))
        DT__TRY(args_number(given, "width", MIN_WIDTH, MAX_WIDTH, &width));
    setlocale(LC_CTYPE, "");
    out->utf8 = !args_has(given, "ascii") && !strcmp(nl_langinfo(CODESET), "UTF-8");
    out->width = (int)width;
    return DT_OK;
}

dt_status output_write(const dt__text *text, const char *path) {
    bool is_stdout = !path || !strcmp(path, "-");
    FILE *file = is_stdout ? stdout : fopen(path, "w");
    bool ok = file && fwrite(dt__text_chars(text), 1, text->n_chars, file) == text->n_chars;
    ok = file && (is_stdout ? fflush(file) : fclose(file)) == 0 && ok;
    if (!ok)
        return dt__fail_local(text->ctx, DT_ERR_SYSTEM, "%s: %s", is_stdout ? "standard output" : path,
                              strerror(errno));
    return DT_OK;
}
