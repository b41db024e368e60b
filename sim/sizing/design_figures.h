// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A design in figures: what it is made of, what it reaches, and how it stands to what was asked.
 */
#ifndef MOEFABRIC_SIZING_DESIGN_FIGURES_H
#define MOEFABRIC_SIZING_DESIGN_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

enum { DESIGN_FIGURES_TEXT_SIZE = 512, DESIGN_FIGURES_NAME_SIZE = 64 };

/** How far a design has come. */
enum design_state {
    DESIGN_REFUSED, /**< cannot be built, or its configuration contradicts itself */
    DESIGN_OUTSIDE, /**< beyond a limit before anything is simulated */
    DESIGN_FLUID,   /**< its value is the fluid model's */
    DESIGN_PACKETS, /**< simulated packet by packet */
    DESIGN_FAILED,  /**< a run did not finish */
};

/** What a design may be held against, as bits. */
enum design_limit {
    DESIGN_LIMIT_TARGET = 1,
    DESIGN_LIMIT_POWER = 2,
    DESIGN_LIMIT_RACKS = 4,
    DESIGN_LIMIT_BUDGET = 8,
    DESIGN_LIMIT_MEMORY = 16,
    DESIGN_LIMIT_TOKEN_TIME = 32,
};
enum { DESIGN_LIMITS = 6 };

/** A value over seeds. */
struct design_value {
    double mean, low, high; /**< in the target's unit; low and high widened by the model's error */
    uint32_t seeds;
};

/** One design. */
struct design_figures {
    uint64_t number; /**< in the design space */
    enum design_state state;
    char why[DESIGN_FIGURES_TEXT_SIZE]; /**< refused or failed: the reason */
    char policy[DESIGN_FIGURES_NAME_SIZE];
    uint32_t racks, planes, tiers;
    uint64_t gpus;                                  /**< in use */
    uint64_t nic_bits_per_s;                        /**< of a GPU */
    uint64_t leaves, spines, super_spines, modules; /**< of all planes */
    uint64_t ports_used, ports_bought;              /**< of all switches */
    uint64_t least_spines; /**< spines and super-spines whose ports would be enough, were links spread as it fits */
    char wiring[192];
    double network_typical_watts, network_watts; /**< the latter at most */
    double watts;                                /**< with racks where their figure is known, at most */
    double cost;                                 /**< NAN: no prices */
    double memory_bytes;                         /**< of a GPU; NAN: no training step is described */
    double goodput;  /**< share of the time that is of use; NAN: rates of failures, or a training run, are not given */
    double token_s;  /**< decoding: of a sequence, from one token to the next; NAN until it is known */
    double mtbf_s;   /**< from one interruption to the next; NAN as goodput */
    uint32_t spares; /**< GPUs of a rack that are not used */
    uint64_t leaf_gpus; /**< below a leaf */
    struct design_value value;
    unsigned limits; /**< bits of enum design_limit that it does not keep; a target by its mean */
    bool sure;       /**< the whole interval meets the target */
    bool front;      /**< no other one that keeps all limits is as cheap and better, or as good and cheaper */
};

#endif
