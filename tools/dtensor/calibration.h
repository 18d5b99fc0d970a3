/* SPDX-License-Identifier: Apache-2.0
 *
 * The measurements of `dtensor calibrate`: times of redistributions on forked ranks of this machine, over kinds of
 * collectives, sizes of groups and bytes, and the line (start-up, rate) that fits them.
 */
#ifndef TOOLS_DTENSOR_CALIBRATION_H
#define TOOLS_DTENSOR_CALIBRATION_H

#include "base/machine.h"

typedef struct calibration_options {
    int64_t max_ranks;
    bool quick;
    bool progress; /* on standard error, from two seconds on */
} calibration_options;

/* The steps of one kind, layout, group and number of ranks, over several sizes. */
enum { CALIBRATION_MAX_POINTS = 24 };
typedef struct calibration_point {
    double bytes; /* of the largest result */
    double us;    /* from the first rank's start to the last rank's end */
} calibration_point;

typedef struct calibration_series {
    dt__step_kind kind;
    bool strided;
    int64_t group, ranks;
    int n_points;
    calibration_point points[CALIBRATION_MAX_POINTS];
} calibration_series;

/* Measures every series; *out has *n of them, to be freed. Otherwise false, and *error has the reason, to be
 * freed, or NULL when out of memory. */
bool calibration_measure(const calibration_options *options, calibration_series **out, int *n, char **error);

/* The line through a series whose largest ratio to a point, in either direction, is smallest; returns that ratio. */
double calibration_fit(const calibration_series *series, dt__measured_step *out);

/* calibration_ops.c: measures how fast one rank computes, and sets the rates of ops. False with the error reported. */
bool calibration_ops(bool quick, dt__machine *out);

#endif
