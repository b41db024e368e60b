// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A barrier for windows of microseconds: those who arrive early spin for a moment, then sleep.
 */
#ifndef MOEFABRIC_ENGINE_BARRIER_H
#define MOEFABRIC_ENGINE_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/** For a fixed number of threads, used again and again. */
struct barrier {
    uint32_t n_threads;
    _Atomic uint32_t waiting;
    _Atomic uint32_t round;    /**< grows when all have arrived */
    _Atomic uint32_t sleepers; /**< threads that may be asleep in this round */
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/** A barrier for n_threads. */
void barrier_init(struct barrier *barrier, uint32_t n_threads);

/** Ends a barrier that nobody waits at. */
void barrier_fini(struct barrier *barrier);

/** Returns when all threads have called it; what they wrote before is visible then. */
void barrier_wait(struct barrier *barrier);

#endif
