/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole library in one include.
 */
#ifndef DTENSOR_DTENSOR_H
#define DTENSOR_DTENSOR_H

#include <dtensor/base.h>
#include <dtensor/comm.h>
#include <dtensor/mesh.h>

#endif
