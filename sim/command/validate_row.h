// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * One published value and how to simulate it: a row of a table of configs/validation.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_ROW_H
#define MOEFABRIC_COMMAND_VALIDATE_ROW_H

#include "config/experiment.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    VALIDATE_ROW_SHORT_SIZE = 48,
    VALIDATE_ROW_TEXT_SIZE = 1024,
    VALIDATE_ROW_DESTINATIONS = 256,
    VALIDATE_ROW_LOADS = 256
};

/** Was the value used to set a free figure of the model, or not? */
enum validate_row_use { VALIDATE_ROW_PREDICTION, VALIDATE_ROW_CALIBRATION };

/** What a reference value is. Order of the names of the key `reference`. */
enum validate_row_reference {
    VALIDATE_ROW_PUBLISHED,   /**< printed in a publication, however it came about */
    VALIDATE_ROW_LAW,         /**< computed from a law: a formula, or a distribution drawn many times */
    VALIDATE_ROW_PEER,        /**< of another simulator */
    VALIDATE_ROW_MEASUREMENT, /**< of hardware */
    VALIDATE_ROW_REFERENCES,
};

/** How far a simulated value may be from the published one. */
enum validate_row_tolerance {
    VALIDATE_ROW_SHARE,    /**< a share of the published value: `2 %` */
    VALIDATE_ROW_ABSOLUTE, /**< in the row's unit: `0.42` */
    VALIDATE_ROW_DIGITS,   /**< `exact`: equal to the digits that were published */
};

/** What the kinds of checks take; each kind has keys for its own. Numbers of choices are indexes into its names. */
struct validate_row_parameters {
    uint32_t flows, uplinks;  /**< hash_load, hash_packets */
    uint32_t seeds;           /**< hash_load, hash_packets: 1 … seeds */
    uint64_t uplink_bytes;    /**< hash_packets: payload of a leaf ÷ its uplinks */
    uint32_t nodes, gpus;     /**< alltoall_busbw, rail_alltoall: gpus of a node */
    uint32_t gpus_beside;     /**< phase */
    uint32_t quantity;        /**< hash_load, hash_packets, eplb, rail_alltoall, time_to_train */
    uint32_t unit;            /**< alltoall_busbw, completion */
    uint32_t statistic, side; /**< completion */
    uint64_t destinations[VALIDATE_ROW_DESTINATIONS]; /**< completion: of rank 0, 1, … */
    uint32_t n_destinations;
    uint64_t loads[VALIDATE_ROW_LOADS]; /**< eplb: of expert 0, 1, … */
    uint32_t n_loads;
    char data[128];                   /**< measured_load: file in the folder of --data; empty = none */
    uint32_t top_k;                   /**< measured_load */
    uint32_t replicas, groups, index; /**< eplb, with nodes and gpus (of all nodes) */
    uint32_t gpu, sms, matrix;        /**< contention, with gpus */
    uint64_t peer_bytes, exchange_alone_ps, multiplication_alone_ps; /**< contention */
    char against[256]; /**< time_to_train: overrides of the run that is compared with */
};

struct validate_kind;

/** A row. Owned by its table. */
struct validate_row {
    char id[VALIDATE_ROW_SHORT_SIZE];
    char what[128];
    char published_text[VALIDATE_ROW_SHORT_SIZE]; /**< empty: the kind computes its own reference */
    char tolerance_text[VALIDATE_ROW_SHORT_SIZE];
    char needs[256];                   /**< what is missing to run it; empty = nothing */
    char note[VALIDATE_ROW_TEXT_SIZE]; /**< what differs between the publication's set-up and ours */
    char configuration[256];           /**< file, relative to the table's */
    enum validate_row_use use;
    enum validate_row_reference reference;
    enum validate_row_tolerance tolerance;
    double published; /**< NAN without published_text */
    int decimals;     /**< digits after the point of published_text */
    double allowed;   /**< share, or value in the unit; half a digit for VALIDATE_ROW_DIGITS */
    struct validate_row_parameters parameters;
    const struct validate_kind *kind;
    struct experiment
        *experiment;          /**< owned; NULL for kinds without a configuration, and for rows that cannot be run */
    struct experiment *other; /**< owned; what the row is compared with: kinds that compare two configurations */
};

#endif
