/* SPDX-License-Identifier: Apache-2.0
 *
 * dtrun starts the ranks of a launch on this machine. It is two processes: the front (front.c), which the user
 * started and which represents the launch to terminal and shell, and the supervisor (supervise.c), which is the
 * parent of the ranks.
 */
#include "dtrun/front.h"

int main(int argc, char **argv) {
    struct options options;
    int code;
    if (options_read(argc, argv, &options, &code))
        code = front_run(&options);
    options_free(&options);
    return code;
}
