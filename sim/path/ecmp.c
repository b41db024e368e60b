// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/ecmp.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stddef.h>

struct path_state {
    struct ecmp_rule rule;
};

uint64_t ecmp_switch_seed(uint64_t seed, uint32_t device, bool polarised) {
    return hash_stream(seed, HASH_PURPOSE_ECMP, polarised ? 0 : device, 0);
}

uint16_t ecmp_choose_port(uint64_t switch_seed, const struct path_request *request) {
    const uint64_t hash = ecmp_hash(switch_seed, request->source, request->destination, request->entropy);
    return path_candidate(request, hash_below(hash, request->count));
}

/* Four bits at a time: the CRC of each value of the high half-byte, polynomial x^16 + x^12 + x^5 + 1. */
uint16_t ecmp_crc16(uint16_t first, const uint8_t *bytes, size_t n_bytes) {
    static const uint16_t step[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                      0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    uint16_t crc = first;
    for (size_t i = 0; i < n_bytes; i++) {
        crc = (uint16_t)(crc << 4 ^ step[crc >> 12 ^ bytes[i] >> 4]);
        crc = (uint16_t)(crc << 4 ^ step[crc >> 12 ^ (bytes[i] & 15)]);
    }
    return crc;
}

static void put_big_endian(uint8_t *bytes, uint32_t value, unsigned n_bytes) {
    for (unsigned i = 0; i < n_bytes; i++) {
        bytes[i] = (uint8_t)(value >> 8 * (n_bytes - 1 - i));
    }
}

void ecmp_header(uint8_t bytes[ECMP_HEADER_BYTES], uint32_t source, uint32_t destination, uint16_t entropy) {
    enum { NET_10 = 10 << 24, UDP = 17, ROCE_PORT = 4791 };
    put_big_endian(bytes, NET_10 + source, 4);
    put_big_endian(bytes + 4, NET_10 + destination, 4);
    bytes[8] = UDP;
    put_big_endian(bytes + 9, entropy, 2);
    put_big_endian(bytes + 11, ROCE_PORT, 2);
}

struct ecmp_rule ecmp_rule_of(const struct path_parameters *parameters, uint64_t seed, uint32_t device) {
    return (struct ecmp_rule){.switch_seed = ecmp_switch_seed(seed, device, parameters->polarised),
                              .hash = parameters->hash};
}

uint16_t ecmp_rule_port(const struct ecmp_rule *rule, const struct path_request *request) {
    if (rule->hash == PATH_HASH_MIX) {
        return ecmp_choose_port(rule->switch_seed, request);
    }
    uint8_t header[ECMP_HEADER_BYTES];
    ecmp_header(header, request->source, request->destination, request->entropy);
    const uint16_t crc = ecmp_crc16((uint16_t)rule->switch_seed, header, sizeof header);
    return path_candidate(request, crc % request->count);
}

static struct path_state *ecmp_create(const struct path_parameters *parameters, uint64_t seed, uint32_t device,
                                      uint32_t n_ports) {
    (void)n_ports;
    struct path_state *state = memory_allocate(1, sizeof *state);
    state->rule = ecmp_rule_of(parameters, seed, device);
    return state;
}

static void ecmp_refresh(struct path_state *state, const struct path_port *ports) {
    (void)state; /* load does not matter */
    (void)ports;
}

static uint16_t ecmp_choose(struct path_state *state, const struct path_request *request) {
    return ecmp_rule_port(&state->rule, request);
}

const struct path_policy ecmp_policy = {
    .name = "ecmp",
    .reads_ports = false,
    .reorders = false,
    .hashes = true,
    .create = ecmp_create,
    .refresh = ecmp_refresh,
    .choose = ecmp_choose,
};
