/* SPDX-License-Identifier: Apache-2.0
 *
 * Where text goes: how wide the terminal is, whether it takes colour and box characters, and writing a finished text.
 */
#ifndef TOOLS_DTENSOR_OUTPUT_H
#define TOOLS_DTENSOR_OUTPUT_H

#include "args.h"
#include "base/text.h"
#include "canvas.h"

/* Rows for a command's options; what output_style reads. */
#define OUTPUT_STYLE_OPTIONS                                                                                         \
    {.name = "color", .value = "WHEN", .help = "auto (on a terminal, unless NO_COLOR is set), always or never"},     \
        {.name = "ascii", .help = "draw with - | + even where the locale has box characters"}, {                     \
        .name = "width", .value = "COLUMNS", .help = "width to draw in; default: the terminal's, else 80"            \
    }

/* Reads the options above; tells what is wrong otherwise. */
dt_status output_style(const args *given, canvas_style *out);

/* Writes to standard output, or to a file where path is given; "-" is standard output. */
dt_status output_write(const dt__text *text, const char *path);

#endif
