// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/contention.h"

#include "base/error.h"
#include "base/number.h"

#include <math.h>

/* The most efficient tile of NVIDIA's Matrix Multiplication Background User's Guide: 256 × 128. */
enum { TILE_ROWS = 128, TILE_COLUMNS = 256 };

/* Beyond this a queue is not one any more: the memory is full and rates are shared. Ours. */
#define FULLEST 0.95

static uint64_t tiles_of(uint32_t n) {
    return number_divide_up(n, TILE_ROWS) * number_divide_up(n, TILE_COLUMNS);
}

uint32_t contention_waves(uint32_t n, uint32_t sms) {
    return (uint32_t)number_divide_up(tiles_of(n), sms);
}

double contention_latency(double own, double others) {
    return (1 - fmin(own, FULLEST)) / (1 - fmin(own + others, FULLEST));
}

/* Rows and columns of elements that a wave's tiles lie in: as near to a square as can be. */
static double side_of(uint32_t sms) {
    return sqrt((double)sms * TILE_ROWS * TILE_COLUMNS);
}

/* side · depth elements of either matrix make 2 · side² · depth operations. */
double contention_memory_rate(double operations_per_s, double element_bytes, uint32_t sms) {
    return operations_per_s * element_bytes / side_of(sms);
}

/*
 * Tiles that are under way together lie in a block as near to a square as its elements allow, r rows and c columns of tiles with
 * r · TILE_ROWS = c · TILE_COLUMNS: those rows and columns are read once, from the caches by all but the first.
 */
double contention_multiplication_bytes(const struct contention_multiplication *multiplication, uint32_t sms) {
    const double n = multiplication->n, element = multiplication->element_bytes;
    const double side = fmin(n, side_of(sms)); // of the block, elements
    const double waves = (double)tiles_of(multiplication->n) / sms;
    return waves * 2 * side * n * element + n * n * element;
}

struct contention_times contention_times(const struct contention_gpu *gpu,
                                         const struct contention_multiplication *multiplication,
                                         const struct contention_exchange *exchange) {
    REQUIRE(exchange->sms < gpu->sms, "an exchange on %u of %u SMs", exchange->sms, gpu->sms);
    const uint32_t left = gpu->sms - exchange->sms;
    const double longer = (double)contention_waves(multiplication->n, left) /
                          contention_waves(multiplication->n, gpu->sms); // beside an exchange
    const double own = exchange->hbm_bytes / exchange->alone_s / gpu->hbm_bytes_per_s;
    const double others = contention_multiplication_bytes(multiplication, left) / (multiplication->alone_s * longer) /
                          gpu->hbm_bytes_per_s;
    /* it comes at any time of a multiplication, on each GPU another: half of one remains on a GPU, n ÷ (n + 1) on the last of n */
    const double waits_s = multiplication->alone_s * exchange->gpus / (exchange->gpus + 1.0);
    const double together_s = waits_s + exchange->alone_s * contention_latency(own, others);
    const double share = (together_s - multiplication->alone_s / 2) / together_s; // of time, that it keeps its SMs
    return (struct contention_times){.exchange_s = together_s,
                                     .multiplication_s = multiplication->alone_s / (share / longer + 1 - share)};
}
