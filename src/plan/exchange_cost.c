/* SPDX-License-Identifier: Apache-2.0
 *
 * The price of one exchange.
 */
#include "plan/exchange_cost.h"

static double part_bytes(const dt__exchange_desc *exchange, const dt__sharding *sharding, const int64_t *coordinate) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    double bytes = (double)exchange->item_bytes;
    dt__sharding_local(sharding, coordinate, shape, offset);
    for (int d = 0; d < sharding->n_dims; d++)
        bytes *= (double)shape[d];
    return bytes;
}

dt_status dt__exchange_price(dt__arena *arena, const dt__machine *machine, const dt__exchange_desc *exchange,
                             double *out) {
    const dt__transfer *transfer = exchange->transfer;
    int64_t source[DT_SPEC_MAX_DIMS], target[DT_SPEC_MAX_DIMS];
    dt__flows flows;
    dt__arena scratch = dt__arena_new(arena->ctx);
    dt_status status = dt__flows_new(&scratch, transfer, exchange->most, &flows);
    dt__arena_free(&scratch);
    DT__TRY(status);
    bool inside = dt__transfer_home(transfer, exchange->most, source) >= 0;
    dt__coordinate(transfer->after->n_mesh_dims, transfer->after->mesh, exchange->most, target);
    *out = dt__machine_price_exchange(machine,
                                      &(dt__priced_exchange){
                                          .peers = flows.n * (transfer->two_phases ? 2 : 1),
                                          .spans_hosts = exchange->spans_hosts,
                                          .received_bytes = (double)exchange->item_bytes * (double)exchange->received,
                                          .before_bytes = inside ? part_bytes(exchange, transfer->before, source) : 0,
                                          .after_bytes = part_bytes(exchange, transfer->after, target),
                                      });
    return DT_OK;
}
