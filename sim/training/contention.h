// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An exchange's kernel and a matrix multiplication at once on a GPU: what each takes, from what they share.
 *
 * SMs: blocks start in the order in which their kernels came, so an exchange first waits for the multiplication that was there before it, on every GPU
 * of its group; while it runs its blocks keep their SMs, and the multiplication has the others. Its tiles are computed in waves, one on each SM: with fewer
 * SMs there are more waves (NVIDIA, Matrix Multiplication Background User's Guide, wave quantization).
 * Memory: an SM that copies has so many loads under way, so its rate goes as one over their latency; queues make latency grow as 1 ÷ (1 − utilisation)
 * (an M/M/1 queue). The multiplication fetches ahead and is not slowed by latency.
 */
#ifndef MOEFABRIC_TRAINING_CONTENTION_H
#define MOEFABRIC_TRAINING_CONTENTION_H

#include <stdint.h>

/** A GPU's shared parts. */
struct contention_gpu {
    uint32_t sms;
    double hbm_bytes_per_s;
};

/** A square multiplication of n × n × n, again and again. */
struct contention_multiplication {
    uint32_t n;
    uint32_t element_bytes;
    double alone_s; /**< of one, with all SMs */
};

/** An exchange, again and again. */
struct contention_exchange {
    uint32_t gpus;    /**< of its group */
    uint32_t sms;     /**< that its kernel keeps */
    double hbm_bytes; /**< read and written on a GPU */
    double alone_s;   /**< of one */
};

/** Times of one of each when both run. */
struct contention_times {
    double exchange_s, multiplication_s;
};

/** Works them out. sms of the exchange must be less than the GPU's. */
struct contention_times contention_times(const struct contention_gpu *gpu,
                                         const struct contention_multiplication *multiplication,
                                         const struct contention_exchange *exchange);

/** How many times as long an access takes when so much of the memory is used by others beside its own use: shares of its rate. */
double contention_latency(double own, double others);

/** Waves of a square multiplication's tiles over so many SMs. */
uint32_t contention_waves(uint32_t n, uint32_t sms);

/** Bytes that a square multiplication moves between memory and so many SMs: its waves' rows and columns, and the result. */
double contention_multiplication_bytes(const struct contention_multiplication *multiplication, uint32_t sms);

/** Bytes a second that large multiplications of so many operations a second read from memory: the rows and columns of waves on so many SMs. */
double contention_memory_rate(double operations_per_s, double element_bytes, uint32_t sms);

#endif
