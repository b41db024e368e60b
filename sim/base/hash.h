// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Counter-based random numbers: a draw is a hash of what it is for, never of what was drawn before it.
 *
 * Every random decision of a run is mix(stream, count), where the stream names the seed, the purpose,
 * the device and the port. Results therefore do not depend on the order in which devices are handled.
 */
#ifndef MOEFABRIC_BASE_HASH_H
#define MOEFABRIC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** What a draw is for; part of every stream, so that two uses never share numbers. Values are part of the results: never renumber. */
enum hash_purpose {
    HASH_PURPOSE_TIE = 1,           /**< order of steps at one picosecond */
    HASH_PURPOSE_ECMP = 2,          /**< seed of a switch's path hash */
    HASH_PURPOSE_ADAPTIVE = 3,      /**< tie-break among equally loaded ports */
    HASH_PURPOSE_ECN = 4,           /**< probabilistic marking */
    HASH_PURPOSE_GATE = 5,          /**< which experts a token picks */
    HASH_PURPOSE_POPULARITY = 6,    /**< popularity of experts */
    HASH_PURPOSE_JITTER = 7,        /**< start times of ranks */
    HASH_PURPOSE_PATTERN = 8,       /**< permutations and other traffic patterns */
    HASH_PURPOSE_SAMPLE = 9,        /**< offset of periodic state refreshes */
    HASH_PURPOSE_TEST = 10,         /**< test generators */
    HASH_PURPOSE_PATH = 11,         /**< ports that path policies other than `adaptive` draw */
    HASH_PURPOSE_TELEMETRY = 12,    /**< rounding of what switches tell packets */
    HASH_PURPOSE_LOSS = 13,         /**< packets that a lossy link loses */
    HASH_PURPOSE_ENTROPY = 14,      /**< entropies that senders draw */
    HASH_PURPOSE_TRIM = 15,         /**< which of two packets a full queue trims */
    HASH_PURPOSE_BURST = 20,        /**< when popularity changes from one micro-batch to the next */
    HASH_PURPOSE_BALANCE = 21,      /**< order in which a balanced gate deals experts */
    HASH_PURPOSE_REPLICA = 24,      /**< which of several replicas of an expert a token goes to */
    HASH_PURPOSE_SCATTER = 26,      /**< which ranks form a group */
    HASH_PURPOSE_INTERRUPTION = 40, /**< when what interrupts training */
    HASH_PURPOSE_CLOCK = 41,        /**< clocks of GPUs */
    HASH_PURPOSE_CAMPAIGN = 42,     /**< which faults a campaign puts where */
    HASH_PURPOSE_NOISE = 43,        /**< of what is measured */
    HASH_PURPOSE_HISTORY = 25,      /**< tokens before the run, from which expert placements learn */
};

/** Finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). A bijection of 64-bit words. */
static inline uint64_t hash_mix(uint64_t word) {
    word ^= word >> 30;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    word ^= word >> 27;
    word *= UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/** Folds bytes into a hash of those before them, which begins with 0. The parts of a longer text may be folded in one after the other, however it is cut. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        hash = hash_mix(hash + ((const unsigned char *)bytes)[i] + UINT64_C(0x9e3779b97f4a7c15));
    }
    return hash;
}

/** Names a stream of draws: seed of the run, purpose, and two free coordinates (device and port; or source rank and token). */
static inline uint64_t hash_stream(uint64_t seed, enum hash_purpose purpose, uint64_t first, uint64_t second) {
    uint64_t state = hash_mix(seed + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)purpose);
    state = hash_mix(state ^ (first + UINT64_C(0x632be59bd9b4e019)));
    return hash_mix(state ^ (second + UINT64_C(0x9e3779b97f4a7c15)));
}

/** The draw number count of a stream: 64 uniform bits. */
static inline uint64_t hash_draw(uint64_t stream, uint64_t count) {
    return hash_mix(stream + (count + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/** Maps 64 uniform bits to 0 … bound-1 (bound > 0) without division; bias below bound / 2^32. */
static inline uint32_t hash_below(uint64_t draw, uint32_t bound) {
    return (uint32_t)(((draw >> 32) * (uint64_t)bound) >> 32);
}

/** Maps 64 uniform bits to a double in [0, 1) with 53 significant bits. */
static inline double hash_unit(uint64_t draw) {
    return (double)(draw >> 11) * 0x1.0p-53;
}

#endif
