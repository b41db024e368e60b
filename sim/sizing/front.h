// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which designs are worth a second look: the Pareto front of expense and value, and what is left out on the way there.
 */
#ifndef MOEFABRIC_SIZING_FRONT_H
#define MOEFABRIC_SIZING_FRONT_H

#include "sizing/design_figures.h"

/** What is asked of designs. A limit of 0 is none. */
struct front_demand {
    double target;
    bool least;  /**< the target is the least that will do (tokens a second); else the most (times) */
    bool priced; /**< designs are compared by cost, else by power */
    double power_watts, budget, memory_bytes, token_s;
    uint32_t racks;
};

/** What a design costs, or draws. */
double front_expense(const struct front_demand *demand, const struct design_figures *design);

/** True if value one is better than the other. */
bool front_is_better(const struct front_demand *demand, double one, double other);

/** Limits that a design does not keep before anything is simulated: all but the target. */
unsigned front_static_limits(const struct front_demand *demand, const struct design_figures *design);

/** Sets limits and sure of a design whose value is known. */
void front_judge(const struct front_demand *demand, struct design_figures *design);

/**
 * The next design to be simulated by packets, of those in state DESIGN_FLUID: it may meet the target, and may be on the front, were its value wrong by `error` (a
 * share) and those of other such designs too; values of designs that have been simulated count as they are. Of several the one that the fewest others beat as values
 * stand, then the cheapest, then the first. UINT32_MAX: none is left. *left receives how many there are, it included.
 */
uint32_t front_finalist(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                        double error, uint32_t *left);

/** Sets front of all designs in this state: those that keep all limits and that no other such one is better than in one respect and as good in the other. */
void front_mark(const struct front_demand *demand, struct design_figures *designs, uint32_t n, enum design_state state);

/** The design on the front that costs least (of several the better one); UINT32_MAX if the front is empty. */
uint32_t front_cheapest(const struct front_demand *demand, const struct design_figures *designs, uint32_t n);

/** The next dearer design on the front; UINT32_MAX if there is none. */
uint32_t front_next(const struct front_demand *demand, const struct design_figures *designs, uint32_t n, uint32_t from);

/** Of the designs that are cheaper than that and break a limit the one that breaks fewest, of several the dearest: what binds. UINT32_MAX: none. */
uint32_t front_missed(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                      uint32_t than);

#endif
