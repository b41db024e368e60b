// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How a message is cut: into pieces of a largest size that never straddle a multiple of a unit (one token copy).
 */
#ifndef MOEFABRIC_DEVICE_PIECES_H
#define MOEFABRIC_DEVICE_PIECES_H

#include <stdint.h>

/** A message as it is cut. unit_bytes 0 = the whole message. */
struct pieces {
    uint64_t bytes;
    uint32_t unit_bytes;
    uint32_t largest_bytes;
};

/** Number of pieces. */
static inline uint64_t pieces_count(const struct pieces *pieces) {
    const uint64_t largest = pieces->largest_bytes;
    if (pieces->unit_bytes == 0) {
        return (pieces->bytes + largest - 1) / largest;
    }
    const uint64_t units = pieces->bytes / pieces->unit_bytes;
    const uint64_t rest = pieces->bytes - units * pieces->unit_bytes;
    return units * ((pieces->unit_bytes + largest - 1) / largest) + (rest + largest - 1) / largest;
}

/** Bytes of piece number index (below pieces_count). */
static inline uint32_t pieces_size(const struct pieces *pieces, uint64_t index) {
    uint64_t whole = pieces->bytes; // of the unit that the piece is in, and the piece's number within it
    if (pieces->unit_bytes != 0) {
        const uint64_t per_unit = ((uint64_t)pieces->unit_bytes + pieces->largest_bytes - 1) / pieces->largest_bytes;
        const uint64_t unit = index / per_unit;
        index -= unit * per_unit;
        const uint64_t left = pieces->bytes - unit * pieces->unit_bytes;
        whole = left < pieces->unit_bytes ? left : pieces->unit_bytes;
    }
    const uint64_t left = whole - index * pieces->largest_bytes;
    return (uint32_t)(left < pieces->largest_bytes ? left : pieces->largest_bytes);
}

/**
 * The part of a message that goes by queue pair `index` of n: equal parts in order, of a multiple of 128 bytes each, or of whole units
 * where there are units (ours); the last ones are smaller, or empty (NVIDIA nccl, src/transport/net_ib, ncclIbMultiSend with
 * NCCL_IB_SPLIT_DATA_ON_QPS).
 */
static inline struct pieces pieces_part(const struct pieces *whole, uint32_t n, uint32_t index) {
    enum { ALIGNMENT_BYTES = 128 };
    const uint64_t grain = whole->unit_bytes ? whole->unit_bytes : ALIGNMENT_BYTES;
    const uint64_t share = (whole->bytes + n - 1) / n;
    const uint64_t part = (share + grain - 1) / grain * grain;
    const uint64_t begin = part * index < whole->bytes ? part * index : whole->bytes;
    const uint64_t left = whole->bytes - begin;
    return (struct pieces){
        .bytes = left < part ? left : part, .unit_bytes = whole->unit_bytes, .largest_bytes = whole->largest_bytes};
}

/** Bytes of all pieces up to and with number index (below pieces_count). */
static inline uint64_t pieces_end(const struct pieces *pieces, uint64_t index) {
    uint64_t begin = index * pieces->largest_bytes;
    if (pieces->unit_bytes != 0) {
        const uint64_t per_unit = ((uint64_t)pieces->unit_bytes + pieces->largest_bytes - 1) / pieces->largest_bytes;
        begin = index / per_unit * pieces->unit_bytes + index % per_unit * pieces->largest_bytes;
    }
    return begin + pieces_size(pieces, index);
}

#endif
