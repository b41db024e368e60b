// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * How fast a queue pair may send: one file a controller behind this interface.
 *
 * A controller is a pure state machine over its own small state: it is told of notifications, probe replies and
 * acknowledgements with their times, and asked for the rate when a packet starts. Timers that only change its own
 * numbers are caught up when it is next told or asked, by the same recurrence, so they cost nothing while idle.
 * Integers and IEEE + - * / only; no library maths. The engine and the naive simulator of the tests share it.
 */
#ifndef MOEFABRIC_CONGESTION_CONGESTION_H
#define MOEFABRIC_CONGESTION_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

enum congestion_kind {
    CONGESTION_NONE,
    CONGESTION_DCQCN,
    CONGESTION_SPECTRUM_X,
    CONGESTION_TIMELY,
    CONGESTION_SWIFT,
    CONGESTION_NSCC,
    CONGESTION_HPCC,
    CONGESTION_RECEIVER_CREDIT,
    CONGESTION_KINDS
};

/** Parameters of DCQCN (facts and sources: sim/congestion/dcqcn.h). Rates in bits per second, already scaled to the NIC. */
struct dcqcn_parameters {
    uint32_t gain_fxp20;           /**< g, 1 << 20 = 1 */
    uint64_t alpha_period_ps;      /**< alpha is updated this often */
    uint64_t decrease_period_ps;   /**< the rate is cut at most this often */
    uint64_t increase_period_ps;   /**< timer of the rate increase */
    uint32_t fast_recovery_stages; /**< F */
    uint64_t additive_bits_per_s;  /**< R_AI */
    uint64_t hyper_bits_per_s;     /**< R_HAI */
    uint64_t minimum_bits_per_s;   /**< R_min */
    uint32_t first_rate_fxp20;     /**< rate on the first notification, share of the rate then */
    bool clamp_target;             /**< the target follows every cut, not only the first of a series */
};

/** Parameters of the Spectrum-X style controller (facts, sources and approximations: sim/congestion/spectrum_x.h). fxp20: 1 << 20 = line rate or 1. */
struct spectrum_x_parameters {
    uint32_t responsiveness_fxp16;   /**< alpha */
    uint32_t largest_decrease_fxp16; /**< factor a round trip, 0.970 */
    uint32_t largest_increase_fxp16; /**< factor a round trip, 1.060 */
    uint32_t additive_fxp20;         /**< AI step a round trip */
    uint32_t hyper_additive_fxp20;   /**< HAI step a round trip, after hyper_period_ps without congestion */
    uint64_t hyper_period_ps;
    uint64_t delay_threshold_ps;     /**< queueing delay that is tolerated */
    uint64_t largest_delay_ps;       /**< queueing delay from which the strong cut applies */
    uint32_t first_congestion_fxp20; /**< rate at the first congestion */
    uint32_t minimum_fxp20;
    uint64_t base_round_trip_ps; /**< start value of the smallest round trip seen */
    uint64_t probe_bytes;        /**< a probe follows the one before only after so many bytes of data; 0 = at once */
    uint64_t probe_abort_ps;     /**< a probe without reply for so long is given up */
    bool early_pacing;           /**< announced shares set the first rate */
};

/** Parameters of TIMELY (facts and sources: sim/congestion/timely.h). Rates in bits per second, already scaled to the NIC. */
struct timely_parameters {
    double weight;                /**< of a new difference of round trips, alpha */
    double decrease;              /**< beta */
    uint64_t low_ps, high_ps;     /**< T_low, T_high */
    uint64_t least_round_trip_ps; /**< what gradients are relative to, minRTT */
    uint64_t additive_bits_per_s; /**< delta */
    uint64_t hyper_bits_per_s;    /**< step after hyper_stages increases in a row */
    uint32_t hyper_stages;
    uint64_t minimum_bits_per_s;
};

/** Parameters of Swift (facts and sources: sim/congestion/swift.h). Windows in packets. */
struct swift_parameters {
    uint64_t base_target_ps;     /**< delay that is aimed at: without queues, and a little more */
    uint64_t hop_ps;             /**< more for each switch on the way */
    uint64_t scaling_range_ps;   /**< fs_range: how much more for the smallest windows */
    double scaling_least_window; /**< fs_min_cwnd: from here down all of the range */
    double scaling_most_window;  /**< fs_max_cwnd: from here up nothing */
    double additive;             /**< ai: packets a round trip */
    double decrease;             /**< beta */
    double largest_decrease;     /**< max_mdf */
    double least_window, most_window;
    double first_window;   /**< 0: what a round trip of an idle fabric takes at line rate */
    uint32_t reset_losses; /**< so many losses without an ACK between them: least_window */
};

/** Parameters of NSCC (facts and sources: sim/congestion/nscc.h). */
struct nscc_parameters {
    double target;           /**< queueing delay that is aimed at, in round trips of the idle path */
    double largest_window;   /**< in bandwidth-delay products of the idle path */
    double proportional;     /**< alpha */
    double fair;             /**< fi */
    double steady;           /**< eta */
    double fast;             /**< fi_scale */
    double decrease;         /**< gamma */
    double delay_weight;     /**< of a new delay in its mean */
    double quick_share;      /**< of the largest window: less than that acknowledged is a collapse (qa_gate) */
    double quick_delay;      /**< in targets: delay that lets the window collapse (qa_threshold) */
    uint64_t fast_delay_ps;  /**< queueing delays below it count as none */
    uint32_t adjust_packets; /**< acknowledged between changes of the window */
};

/** Parameters of HPCC (facts and sources: sim/congestion/hpcc.h). */
struct hpcc_parameters {
    double target;                /**< eta: utilisation that is aimed at */
    uint32_t largest_stage;       /**< maxStage: additive increases before the window is set by the utilisation again */
    uint64_t round_trip_ps;       /**< T: of the idle fabric; switches know it too */
    uint64_t additive_bits_per_s; /**< W_AI / T, already scaled to the NIC */
};

/** Parameters of receiver credit (facts and sources: sim/congestion/receiver_credit.h). */
struct receiver_credit_parameters {
    double first_window;   /**< sent unasked, in bandwidth-delay products of the idle path */
    uint32_t pull_packets; /**< a pull asks for so many at most */
    bool adapts_pace;      /**< marks and trims change the pace; else it is line rate */
    uint64_t interval_ps;  /**< between changes of the pace */
    double tolerated;      /**< share of marked packets */
    double decrease;       /**< of the pace by what is above it */
    double step;           /**< of the pace */
};

/** Parameters of all controllers (configuration section `congestion`). Their usual values, with sources, stand in its key tables, and nowhere else. */
struct congestion_parameters {
    enum congestion_kind kind;
    uint64_t notification_interval_ps; /**< receiver: at most one notification per queue pair in this time */
    struct dcqcn_parameters dcqcn;
    struct spectrum_x_parameters spectrum_x;
    struct timely_parameters timely;
    struct swift_parameters swift;
    struct nscc_parameters nscc;
    struct hpcc_parameters hpcc;
    struct receiver_credit_parameters receiver_credit;
};

/** State of one queue pair: opaque to all but the controller. Zero-initialise, then start. */
struct congestion_state {
    uint64_t words[8];
};

/** The way of a queue pair, as NICs are told at their set-up. */
struct congestion_way {
    uint64_t line_bits_per_s;    /**< of the NIC */
    uint64_t base_round_trip_ps; /**< of a full packet and its ACK while nothing is in their way */
    uint32_t packet_bytes;       /**< of a full packet, on the wire */
    uint32_t switches;           /**< on the way there */
};

/** What an ACK tells. Numbers are those of packets on the queue pair, as they are once the ACK has been booked. */
struct congestion_acknowledgement {
    uint64_t
        round_trip_ps; /**< since the packet that caused it started; 0: not known (that packet was sent again, or is acknowledged) */
    uint32_t packets;     /**< newly acknowledged */
    uint32_t in_flight;   /**< sent and not acknowledged */
    uint32_t cumulative;  /**< all below it are acknowledged */
    uint32_t next_number; /**< of the packet to send next */
    bool marked;          /**< the packet that caused it was marked (ECN) */
    uint8_t telemetry;    /**< of the packet that caused it (telemetry.h); 0: none */
};

enum { CONGESTION_UNLIMITED = 0xffffffff }; /**< a window */

/** One controller. now_ps never goes back between calls on one state. */
struct congestion_controller {
    const char *name;         /**< as the configuration spells it */
    bool wants_notifications; /**< receivers answer marked packets with notifications */
    bool wants_probes;        /**< the queue pair keeps one round-trip probe in flight while it has work */
    bool counts_bytes;        /**< wants to be told of every data packet: `sent` */
    bool
        wants_acknowledgements; /**< NICs remember when packets started; receivers answer marked packets at once. With placed, acknowledged, window */
    bool
        wants_telemetry; /**< and switches tell packets of their ports, ACKs bring it back. With wants_acknowledgements only */
    bool wants_pulls; /**< receivers pull packets at their pace (receiver_credit.h). With wants_acknowledgements only */
    /** A queue pair begins. share: announced share of the destination's port (1 << 20 = all), 0 = not announced. */
    void (*start)(const struct congestion_parameters *parameters, struct congestion_state *state,
                  uint64_t line_bits_per_s, uint32_t share, uint64_t now_ps);
    /** A message with a (new) announced share is posted on a queue pair that has started; share 0 is not told. */
    void (*announced)(const struct congestion_parameters *parameters, struct congestion_state *state, uint32_t share,
                      uint64_t now_ps);
    /** A congestion notification has arrived. */
    void (*notified)(const struct congestion_parameters *parameters, struct congestion_state *state, uint64_t now_ps);
    /** The echo of a probe has arrived, round_trip_ps after it was queued at the NIC. */
    void (*probed)(const struct congestion_parameters *parameters, struct congestion_state *state,
                   uint64_t round_trip_ps, uint64_t now_ps);
    /** A data packet of size_bytes (on the wire) starts now. Called before rate, and only if counts_bytes. */
    void (*sent)(const struct congestion_parameters *parameters, struct congestion_state *state, uint32_t size_bytes,
                 uint64_t now_ps);
    /** Something was lost (negative acknowledgement or time-out). */
    void (*lost)(const struct congestion_parameters *parameters, struct congestion_state *state, uint64_t now_ps);
    /** A packet was trimmed on its way and is lost (its NACK has come); in_flight: packets sent and neither acknowledged nor lost. */
    void (*trimmed)(const struct congestion_parameters *parameters, struct congestion_state *state, uint32_t in_flight,
                    uint64_t now_ps);
    /** Right after start: the way of the queue pair. */
    void (*placed)(const struct congestion_parameters *parameters, struct congestion_state *state,
                   const struct congestion_way *way);
    /** An ACK has arrived. */
    void (*acknowledged)(const struct congestion_parameters *parameters, struct congestion_state *state,
                         const struct congestion_acknowledgement *acknowledgement, uint64_t now_ps);
    /** Packets that may be unacknowledged, at least 1; asked when acknowledged (packets acknowledged so far, and packets that were trimmed) or the state has changed. The transport's own window holds too. */
    uint32_t (*window)(const struct congestion_parameters *parameters, const struct congestion_state *state,
                       uint32_t acknowledged);
    /** Only with wants_pulls: a pull has come, the receiver has asked for so many packets in all. */
    void (*pulled)(const struct congestion_parameters *parameters, struct congestion_state *state, uint32_t packets);
    /** The rate for a packet that starts now: at least 1; the line or more does not hold it back. */
    uint64_t (*rate)(const struct congestion_parameters *parameters, struct congestion_state *state, uint64_t now_ps);
};

/** The controller of a kind; the table is in congestion.c. All function pointers are set, those that flags are named with only then. */
const struct congestion_controller *congestion_controller_of(enum congestion_kind kind);

#endif
