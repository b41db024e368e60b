// SPDX-License-Identifier: GPL-3.0-or-later
#include "star.h"

#include "base/memory.h"
#include "fabric/irregular.h"

#include <stdlib.h>

enum { PLENTY_BYTES = 1 << 28 };

struct fabric *star_ethernet(uint32_t n_endpoints, uint64_t up_bits_per_s, uint64_t down_bits_per_s, bool cut_through) {
    uint32_t *leaves = memory_allocate(n_endpoints, sizeof *leaves);
    const struct irregular_description description = {
        .n_domains = 1,
        .domain_gpus = &n_endpoints,
        .n_leaves = 1,
        .endpoint_leaf = leaves,
        .leaf_cut_through = cut_through,
        .host = {.up = {up_bits_per_s, STAR_LATENCY_PS, 0}, .down = {down_bits_per_s, STAR_LATENCY_PS, 0}}};
    struct fabric *fabric = irregular_build(&description);
    free(leaves);
    return fabric;
}

struct fabric *star_nvlink(uint32_t n_endpoints, uint32_t n_chips, uint64_t rate_bits_per_s) {
    uint32_t *leaves = memory_allocate(n_endpoints, sizeof *leaves);
    uint32_t *links = memory_allocate(n_chips, sizeof *links);
    for (uint32_t i = 0; i < n_endpoints; i++) {
        leaves[i] = FABRIC_NONE;
    }
    for (uint32_t i = 0; i < n_chips; i++) {
        links[i] = 1;
    }
    const struct irregular_figures figures = {rate_bits_per_s, STAR_LATENCY_PS, 0};
    const struct irregular_description description = {.n_domains = 1,
                                                      .domain_gpus = &n_endpoints,
                                                      .n_chips = n_chips,
                                                      .links_per_chip = links,
                                                      .endpoint_leaf = leaves,
                                                      .nvlink = {.up = figures, .down = figures}};
    struct fabric *fabric = irregular_build(&description);
    free(leaves);
    free(links);
    return fabric;
}

struct network_parameters star_parameters(void) {
    const struct switch_parameters plenty = {.pfc = true,
                                             .lossless_pool_bytes = PLENTY_BYTES,
                                             .lossy_pool_bytes = PLENTY_BYTES,
                                             .headroom_bytes = PLENTY_BYTES,
                                             .class_weight = {0, 1, 1}};
    return (struct network_parameters){.seed = 1,
                                       .leaf = plenty,
                                       .spine = plenty,
                                       .nic = {.payload_bytes = STAR_PAYLOAD_BYTES,
                                               .header_bytes = STAR_HEADER_BYTES,
                                               .control_bytes = STAR_CONTROL_BYTES,
                                               .acknowledge_bytes = PLENTY_BYTES,
                                               .queue_pairs = 1,
                                               .data_class = PACKET_CLASS_LOSSLESS,
                                               .retransmit_timeout_ps = UINT64_C(1000000000)},
                                       .nvlink = {.record_bytes = STAR_RECORD_BYTES, .credit_grain_bytes = 1},
                                       .path = {.kind = PATH_ECMP, .refresh_period_ps = 1000000},
                                       .congestion = {.kind = CONGESTION_NONE},
                                       .limit_ps = UINT64_C(1000000000000)};
}

struct traffic_message star_message(uint32_t destination, uint32_t tag, uint64_t bytes) {
    return (struct traffic_message){.destination = destination, .tag = tag, .bytes = bytes, .route = TRAFFIC_FABRIC};
}
