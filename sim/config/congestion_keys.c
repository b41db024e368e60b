// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/congestion_keys.h"

#include "config/experiment.h"

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)

#define HPCC_NS3 "alibaba-edu/High-Precision-Congestion-Control 9f4be2a"
#define UET_HTSIM "ultraethernet/uet-htsim 40ccb05"

const struct key congestion_keys_timely[9] = {
    {"weight", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.875",
     .doc = "Of a new difference between two round trips in their mean (" HPCC_NS3 " rdma-hw.cc).",
     FIELD(experiment_timely, weight)},
    {"decrease", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.8",
     .doc = "beta: how strongly the gradient, or a round trip above high_round_trip, cuts the rate (TIMELY, SIGCOMM "
            "2015).",
     FIELD(experiment_timely, decrease)},
    {"low_round_trip", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "50 us",
     .doc = "T_low: below it the rate always rises (TIMELY, SIGCOMM 2015).", FIELD(experiment_timely, low_ps)},
    {"high_round_trip", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "500 us",
     .doc = "T_high: above it the rate always falls (TIMELY, SIGCOMM 2015).", FIELD(experiment_timely, high_ps)},
    {"least_round_trip", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "20 us",
     .doc = "minRTT: gradients are differences of round trips as shares of it (" HPCC_NS3 " rdma-hw.cc).",
     FIELD(experiment_timely, least_round_trip_ps)},
    {"additive_step", KEY_QUANTITY, QUANTITY_RATE, "1 Mb/s", "100 Gb/s", "10 Mb/s",
     .doc = "delta: added a round trip at 10 Gb/s, in proportion to the NIC's rate (TIMELY, SIGCOMM 2015).",
     FIELD(experiment_timely, additive_bits_per_s)},
    {"hyper_step", KEY_QUANTITY, QUANTITY_RATE, "1 Mb/s", "100 Gb/s", "50 Mb/s",
     .doc = "Added instead after hyper_stages increases in a row, at 10 Gb/s, in proportion to the NIC's rate (TIMELY, "
            "SIGCOMM 2015: 5 deltas).",
     FIELD(experiment_timely, hyper_bits_per_s)},
    {"hyper_stages", KEY_QUANTITY, QUANTITY_COUNT, "0", "1000000", "5",
     .doc = "Increases in a row before the hyper step (TIMELY, SIGCOMM 2015).", FIELD(experiment_timely, hyper_stages)},
    {"minimum_rate", KEY_QUANTITY, QUANTITY_RATE, "1 Mb/s", "1 Tb/s", "100 Mb/s",
     .doc = "Smallest rate (estimate: as " HPCC_NS3 " has for DCQCN).", FIELD(experiment_timely, minimum_bits_per_s)},
};

const struct key congestion_keys_swift[12] = {
    {"base_target", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "20 us",
     .doc = "Round trip that is aimed at, without switches and scaling (" UET_HTSIM
            " swift.cpp; a guess according to it, the paper gives no figure).",
     FIELD(experiment_swift, base_target_ps)},
    {"hop", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 s", "3053435 ps",
     .doc = "More for each switch on the way there (" UET_HTSIM " swift.cpp: base target / 6.55).",
     FIELD(experiment_swift, hop_ps)},
    {"scaling_range", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 s", "100 us",
     .doc = "fs_range: how much more for the smallest windows, so that many flows share a port (" UET_HTSIM
            " swift.cpp: 5 × base target).",
     FIELD(experiment_swift, scaling_range_ps)},
    {"scaling_least_window", KEY_REAL, QUANTITY_REAL, "0.0001", "1000", "0.1",
     .doc = "fs_min_cwnd: packets; at and below it all of the range (Swift, SIGCOMM 2020; figure: " UET_HTSIM
            " swift.cpp).",
     FIELD(experiment_swift, scaling_least_window)},
    {"scaling_most_window", KEY_REAL, QUANTITY_REAL, "0.001", "100000", "100",
     .doc =
         "fs_max_cwnd: packets; from here up nothing is added (Swift, SIGCOMM 2020; figure: " UET_HTSIM " swift.cpp).",
     FIELD(experiment_swift, scaling_most_window)},
    {"additive_step", KEY_REAL, QUANTITY_REAL, "0.001", "1000", "1",
     .doc = "ai: packets added a round trip below the target (" UET_HTSIM " swift.cpp).",
     FIELD(experiment_swift, additive)},
    {"decrease", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.8",
     .doc = "beta: how strongly the excess over the target cuts the window (" UET_HTSIM " swift.cpp).",
     FIELD(experiment_swift, decrease)},
    {"largest_decrease", KEY_REAL, QUANTITY_SHARE, "0", "0.99", "0.5",
     .doc = "max_mdf: the window is never cut by more at once (" UET_HTSIM " swift.cpp).",
     FIELD(experiment_swift, largest_decrease)},
    {"least_window", KEY_REAL, QUANTITY_REAL, "0.0001", "1", "0.001",
     .doc = "Packets a round trip at least (estimate: Swift, SIGCOMM 2020, paces below one packet).",
     FIELD(experiment_swift, least_window)},
    {"most_window", KEY_REAL, QUANTITY_REAL, "1", "1000000", "1000", .doc = "Packets a round trip at most (estimate).",
     FIELD(experiment_swift, most_window)},
    {"first_window", KEY_REAL, QUANTITY_REAL, "0", "1000000", "0",
     .doc = "Packets at the start; 0 = what a round trip of the idle fabric takes at line rate.",
     FIELD(experiment_swift, first_window)},
    {"reset_losses", KEY_QUANTITY, QUANTITY_COUNT, "1", "1000", "5",
     .doc = "So many losses without an ACK between them: least_window (RETX_RESET_THRESHOLD; " UET_HTSIM " swift.cpp).",
     FIELD(experiment_swift, reset_losses)},
};

const struct key congestion_keys_nscc[12] = {
    {"target", KEY_REAL, QUANTITY_REAL, "0", "100", "0",
     .doc = "Queueing delay that is aimed at, in round trips of the idle path; 0 = 1, or 0.75 where switches trim "
            "packets (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, target)},
    {"largest_window", KEY_REAL, QUANTITY_REAL, "0.01", "100", "1.5",
     .doc = "Largest and first window, in bandwidth-delay products of the idle path (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, largest_window)},
    {"proportional", KEY_REAL, QUANTITY_REAL, "0", "100", "4",
     .doc = "alpha: packets added a window while there is no delay, at 100 Gb/s and 12 us (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, proportional)},
    {"fair", KEY_REAL, QUANTITY_REAL, "0", "100", "5",
     .doc =
         "fi: packets added a window where there is delay but no mark, at 100 Gb/s and 12 us (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, fair)},
    {"steady", KEY_REAL, QUANTITY_REAL, "0", "100", "0.15",
     .doc = "eta: packets added each round trip of the idle path, whatever is told, at 100 Gb/s and 12 us (" UET_HTSIM
            " uec.cpp).",
     FIELD(experiment_nscc, steady)},
    {"fast", KEY_REAL, QUANTITY_REAL, "0", "100", "0.25",
     .doc = "fi_scale: packets added for each acknowledged one after a window without delay, at 100 Gb/s and 12 us "
            "(" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, fast)},
    {"decrease", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.8",
     .doc = "gamma: how strongly the mean delay's excess over the target cuts the window (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, decrease)},
    {"delay_weight", KEY_REAL, QUANTITY_SHARE, "0.0001", "1", "0.0125",
     .doc = "Of a new delay in the mean delay (" UET_HTSIM " uec.cpp).", FIELD(experiment_nscc, delay_weight)},
    {"quick_share", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.125",
     .doc = "Quick adapt: if less than this share of the largest window was acknowledged in a round trip, it becomes "
            "the window (" UET_HTSIM " uec.cpp: 2^-qa_gate).",
     FIELD(experiment_nscc, quick_share)},
    {"quick_delay", KEY_REAL, QUANTITY_REAL, "0", "1000", "4",
     .doc = "Quick adapt: acts after losses, or above a delay of so many targets (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, quick_delay)},
    {"fast_delay", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 s", "1 us",
     .doc = "Delays below it count as none (" UET_HTSIM " uec.cpp).", FIELD(experiment_nscc, fast_delay_ps)},
    {"adjust_packets", KEY_QUANTITY, QUANTITY_COUNT, "1", "16383", "8",
     .doc = "The window changes after so many acknowledged packets, or a round trip (" UET_HTSIM " uec.cpp).",
     FIELD(experiment_nscc, adjust_packets)},
};

const struct key congestion_keys_hpcc[4] = {
    {"target", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.95",
     .doc = "eta: utilisation that is aimed at (HPCC, SIGCOMM 2019).", FIELD(experiment_hpcc, target)},
    {"largest_stage", KEY_QUANTITY, QUANTITY_COUNT, "0", "1000", "5",
     .doc = "maxStage: additive increases before the utilisation sets the window again (HPCC, SIGCOMM 2019).",
     FIELD(experiment_hpcc, largest_stage)},
    {"base_round_trip", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "10 us",
     .doc =
         "T: a little more than the longest round trip of the idle fabric; NICs and switches know it (estimate: HPCC, "
         "SIGCOMM 2019, has about 9 us in its testbed).",
     FIELD(experiment_hpcc, base_round_trip_ps)},
    {"additive_step", KEY_QUANTITY, QUANTITY_RATE, "0 b/s", "100 Gb/s", "10 Mb/s",
     .doc = "W_AI / T: added a round trip at 25 Gb/s, in proportion to the NIC's rate (" HPCC_NS3 ").",
     FIELD(experiment_hpcc, additive_bits_per_s)},
};

const struct key congestion_keys_receiver_credit[7] = {
    {"first_window", KEY_REAL, QUANTITY_REAL, "0", "100", "1.5",
     .doc = "Sent without having been asked for, in bandwidth-delay products of the idle path (" UET_HTSIM ").",
     FIELD(experiment_receiver_credit, first_window)},
    {"pull_packets", KEY_QUANTITY, QUANTITY_COUNT, "1", "10000", "4",
     .doc = "A pull asks for so many packets at most (" UET_HTSIM ": 16 KiB).",
     FIELD(experiment_receiver_credit, pull_packets)},
    {"adapt_pace", KEY_FLAG, .fallback = "true",
     .doc =
         "The pace of pulls follows marks and what is trimmed on the way, for fabrics that are oversubscribed or where "
         "flows collide; else the receiver pulls at line rate (" UET_HTSIM
         ", main_uec.cpp: off with -receiver_cc_only, which its validation suites use).",
     FIELD(experiment_receiver_credit, adapts_pace)},
    {"interval", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", "18 us",
     .doc = "Between changes of the pace of pulls (" UET_HTSIM ": 1.5 × 12 us).",
     FIELD(experiment_receiver_credit, interval_ps)},
    {"tolerated_marks", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.3",
     .doc = "Mean share of marked packets up to which the pace rises (" UET_HTSIM ").",
     FIELD(experiment_receiver_credit, tolerated)},
    {"decrease", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.5",
     .doc = "How strongly what is above tolerated_marks slows the pace (" UET_HTSIM ").",
     FIELD(experiment_receiver_credit, decrease)},
    {"step", KEY_REAL, QUANTITY_SHARE, "0", "1", "0.01",
     .doc = "Rise of the pace, as a share of line rate; doubles with each interval without marks (" UET_HTSIM ").",
     FIELD(experiment_receiver_credit, step)},
};
