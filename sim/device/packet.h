// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What travels on links: 32 bytes a packet, by value.
 */
#ifndef MOEFABRIC_DEVICE_PACKET_H
#define MOEFABRIC_DEVICE_PACKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum packet_kind {
    PACKET_DATA,   /**< part of a message, over the fabric */
    PACKET_URGENT, /**< a one-packet message in the control class */
    PACKET_ACK, /**< number = next expected packet; message: packet_ack_message; mark and transmission of its cause */
    PACKET_NACK, /**< number = expected packet; selective repeat: message = number of a packet that was trimmed, its transmission */
    PACKET_CONGESTION,    /**< congestion notification (CNP) */
    PACKET_PROBE,         /**< round-trip probe, in the data class */
    PACKET_PROBE_REPLY,   /**< its echo, in the control class */
    PACKET_RECORD,        /**< one NVLink record */
    PACKET_PULL,          /**< credit from a receiver; number = packets asked for so far */
    PACKET_SELECTIVE_ACK, /**< selective repeat: an ACK whose message is the number of the packet that caused it */
    PACKET_URGENT_ACK,    /**< of an urgent message; number echoed */
    PACKET_TRIMMED,       /**< what a switch has left of a data packet: its header, in the control class */
};

/** Queue of a port. Control is strict; the two data classes share the rest by weight. */
enum packet_class { PACKET_CLASS_CONTROL, PACKET_CLASS_LOSSLESS, PACKET_CLASS_LOSSY, PACKET_CLASSES };

enum packet_flag {
    PACKET_FLAG_MARKED = 1,   /**< ECN congestion experienced */
    PACKET_FLAG_ADAPTIVE = 2, /**< may be re-ordered: eligible for adaptive routing */
    PACKET_FLAG_LAST = 4,     /**< last packet of its message */
    PACKET_FLAG_LAST_HOP = 8, /**< of a trimmed packet: trimmed at the port of its destination */
};

/** A packet on a link, or in a queue. Lives in rings and queues only, never allocated on its own. */
struct packet {
    uint64_t time_ps;     /**< on a link: arrival (first bit at cut-through devices, else last bit) */
    uint32_t source;      /**< endpoint that sent it */
    uint32_t destination; /**< endpoint that it goes to */
    uint32_t number;      /**< data: sequence number on its queue pair; replies: see packet_kind */
    uint32_t message;     /**< data: tag of its message; ACK: packet_ack_message */
    uint16_t queue_pair;  /**< number of the queue pair at the sender of the data (echoed by replies) */
    uint16_t size_bytes;  /**< on the wire, headers included */
    uint16_t entropy;     /**< what ECMP hashes besides source and destination (UDP source port) */
    uint8_t kind_class;   /**< kind | class << 4 */
    uint8_t
        flags_transmission; /**< packet_flag bits | (number of rewinds of the queue pair, or, under selective repeat, times that the packet was sent again; mod 16) << 4 */
};

static_assert(sizeof(struct packet) == 32, "a packet record is 32 bytes");

static inline enum packet_kind packet_kind(const struct packet *packet) {
    return (enum packet_kind)(packet->kind_class & 15);
}

static inline enum packet_class packet_class(const struct packet *packet) {
    return (enum packet_class)(packet->kind_class >> 4);
}

/*
 * An ACK's message field: in the low 20 bits how many packets beyond the expected one are here, in the high 12 bits the
 * packet that caused it less the expected number, plus 2048; 0 = too far apart to be told.
 */
enum { PACKET_ACK_EARLY_BITS = 20, PACKET_ACK_EARLY_MOST = (1 << 20) - 1, PACKET_ACK_CAUSE_ZERO = 1 << 11 };

/** The message field of an ACK of what is below expected, when received packets are here in all. */
static inline uint32_t packet_ack_message(uint32_t expected, uint32_t received, uint32_t cause) {
    const uint32_t early = received - expected;
    const uint32_t apart = cause - expected + PACKET_ACK_CAUSE_ZERO;
    return (early < PACKET_ACK_EARLY_MOST ? early : PACKET_ACK_EARLY_MOST) |
           (apart < 2 * PACKET_ACK_CAUSE_ZERO ? apart : 0) << PACKET_ACK_EARLY_BITS;
}

/** Packets received, according to an ACK. */
static inline uint32_t packet_ack_received(const struct packet *packet) {
    return packet->number + (packet->message & PACKET_ACK_EARLY_MOST);
}

/** Whether an ACK (selective or not) tells which packet caused it, and which. */
static inline bool packet_ack_cause(const struct packet *packet, uint32_t *cause) {
    if (packet_kind(packet) == PACKET_SELECTIVE_ACK) {
        *cause = packet->message;
        return true;
    }
    const uint32_t apart = packet->message >> PACKET_ACK_EARLY_BITS;
    *cause = packet->number + apart - PACKET_ACK_CAUSE_ZERO;
    return apart > 0;
}

/*
 * Where the controller wants telemetry, the number of a data packet or an ACK has 24 bits, as InfiniBand's, and the high byte is
 * what switches told the data packet.
 */
enum { PACKET_NUMBER_BITS = 24 };

/** The number field with what was told. */
static inline uint32_t packet_number_telling(uint32_t number, uint8_t telemetry) {
    return (number & ((1u << PACKET_NUMBER_BITS) - 1)) | (uint32_t)telemetry << PACKET_NUMBER_BITS;
}

/** What a number field tells. */
static inline uint8_t packet_telemetry(uint32_t field) {
    return (uint8_t)(field >> PACKET_NUMBER_BITS);
}

/** The number that a field stands for, the one nearest to `near`. */
static inline uint32_t packet_number_near(uint32_t field, uint32_t near) {
    const uint32_t half = 1u << (PACKET_NUMBER_BITS - 1), mask = (1u << PACKET_NUMBER_BITS) - 1;
    return near - half + ((field - near + half) & mask);
}

#endif
