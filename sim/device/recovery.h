// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What the sender of a queue pair knows of each packet under selective repeat: there, lost, how often sent.
 *
 * The rules are those of IRN (Mittal and others, Revisiting network support for RDMA, SIGCOMM 2018): a receiver keeps what
 * comes out of order and says which packet that was; the sender sends again what is missing below it, once, and leaves what
 * gets lost again to the retransmission clock. A trimmed packet is known to be lost by its own NACK. README.md of this folder.
 */
#ifndef MOEFABRIC_DEVICE_RECOVERY_H
#define MOEFABRIC_DEVICE_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

/** Packets of one queue pair from the cumulative number on. Zero-initialise; ends with recovery_fini. */
struct recovery {
    uint8_t *packets;  /**< circular by number: enum recovery_state bits | times sent again (mod 16) << 4 */
    uint32_t capacity; /**< 0 or a power of two */
    uint32_t cumulative;
    uint32_t sent;      /**< one past the highest ever sent */
    uint32_t there;     /**< packets at or above the cumulative number that are there */
    uint32_t n_lost;    /**< packets that wait to be sent again */
    uint32_t n_trimmed; /**< NACKs that were believed so far */
    uint32_t lost_from; /**< no packet below it is lost */
    uint32_t told;      /**< one past the highest number that is known to be there */
    uint32_t inferred;  /**< packets below it have been looked at for what is missing */
    uint32_t until;     /**< a loss is being recovered from until the cumulative number gets here */
};

/** Frees what it owns. */
void recovery_fini(struct recovery *recovery);

/** A packet starts for the first time: the next number. */
void recovery_send_new(struct recovery *recovery);

/** The lowest lost packet starts again; there must be one. Returns its number; *transmission: times sent again, mod 16. */
uint32_t recovery_send_lost(struct recovery *recovery, uint8_t *transmission);

/** The cumulative number moves up. Returns whether it did. */
bool recovery_acknowledge(struct recovery *recovery, uint32_t cumulative);

/**
 * The packet `number` is there; `transmission` is that of the sending that arrived. Returns true if it had been sent again
 * although an earlier sending had arrived, as far as that shows: it was not known to be there, and another sending was the last.
 */
bool recovery_arrived(struct recovery *recovery, uint32_t number, uint8_t transmission);

/**
 * Packets that are missing and never were sent again are lost, if one `distance` or more above them is there. Returns true if
 * that begins a recovery. distance 0: nothing is inferred.
 */
bool recovery_infer(struct recovery *recovery, uint32_t distance);

/** A NACK says that this sending of the packet was trimmed. Returns whether that is news: it is lost now. */
bool recovery_trimmed(struct recovery *recovery, uint32_t number, uint8_t transmission);

/** The clock ran out: all that is not known to be there is lost. */
void recovery_time_out(struct recovery *recovery);

/** Packets that have arrived as far as is known: the cumulative number and those beyond it. */
static inline uint32_t recovery_received(const struct recovery *recovery) {
    return recovery->cumulative + recovery->there;
}

#endif
