// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/barrier.h"

enum {
    SPINS = 200
}; /* some 10 us (a pause takes up to 140 cycles): as long as windows differ, short enough for a busy machine */

void barrier_init(struct barrier *barrier, uint32_t n_threads) {
    barrier->n_threads = n_threads;
    atomic_init(&barrier->waiting, 0);
    atomic_init(&barrier->round, 0);
    atomic_init(&barrier->sleepers, 0);
    pthread_mutex_init(&barrier->lock, NULL);
    pthread_cond_init(&barrier->wake, NULL);
}

void barrier_fini(struct barrier *barrier) {
    pthread_mutex_destroy(&barrier->lock);
    pthread_cond_destroy(&barrier->wake);
}

static void release(struct barrier *barrier) {
    atomic_store(&barrier->waiting, 0);
    atomic_fetch_add(&barrier->round, 1);
    if (atomic_load(&barrier->sleepers) > 0) {
        pthread_mutex_lock(&barrier->lock);
        pthread_cond_broadcast(&barrier->wake);
        pthread_mutex_unlock(&barrier->lock);
    }
}

static void sleep_until_after(struct barrier *barrier, uint32_t round) {
    pthread_mutex_lock(&barrier->lock);
    atomic_fetch_add(&barrier->sleepers, 1);
    while (atomic_load(&barrier->round) == round) {
        pthread_cond_wait(&barrier->wake, &barrier->lock);
    }
    atomic_fetch_sub(&barrier->sleepers, 1);
    pthread_mutex_unlock(&barrier->lock);
}

void barrier_wait(struct barrier *barrier) {
    if (barrier->n_threads <= 1) {
        return;
    }
    const uint32_t round = atomic_load(&barrier->round);
    if (atomic_fetch_add(&barrier->waiting, 1) + 1 == barrier->n_threads) {
        release(barrier);
        return;
    }
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&barrier->round, memory_order_acquire) != round) {
            return;
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    sleep_until_after(barrier, round);
}
