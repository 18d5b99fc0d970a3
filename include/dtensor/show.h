/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of tensors: which rank holds which elements, as `dtensor show` draws it.
 */
#ifndef DTENSOR_SHOW_H
#define DTENSOR_SHOW_H

#include <dtensor/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shards of a spec as an SVG document, to be freed with free(). NULL after an agreed error: more than three dims or
 * 64 ranks, no elements, or too many pieces. Local. */
DT_API char *dt_spec_svg_site(const dt_spec *spec, DT_CALLER);

#ifndef __cplusplus
#define dt_spec_svg(...) dt_spec_svg_site(__VA_ARGS__, DT_SITE)
#endif

#ifdef __cplusplus
}
#endif

#endif
