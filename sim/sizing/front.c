// SPDX-License-Identifier: GPL-3.0-or-later
#include "sizing/front.h"

double front_expense(const struct front_demand *demand, const struct design_figures *design) {
    return demand->priced ? design->cost : design->watts;
}

bool front_is_better(const struct front_demand *demand, double one, double other) {
    return demand->least ? one > other : one < other;
}

unsigned front_static_limits(const struct front_demand *demand, const struct design_figures *design) {
    unsigned limits = 0;
    limits |= demand->power_watts > 0 && design->watts > demand->power_watts ? DESIGN_LIMIT_POWER : 0;
    limits |= demand->racks > 0 && design->racks > demand->racks ? DESIGN_LIMIT_RACKS : 0;
    limits |= demand->budget > 0 && design->cost > demand->budget ? DESIGN_LIMIT_BUDGET : 0;
    limits |= demand->memory_bytes > 0 && design->memory_bytes > demand->memory_bytes ? DESIGN_LIMIT_MEMORY : 0;
    limits |= demand->token_s > 0 && design->token_s > demand->token_s ? DESIGN_LIMIT_TOKEN_TIME : 0;
    return limits;
}

void front_judge(const struct front_demand *demand, struct design_figures *design) {
    const struct design_value *value = &design->value;
    const double worst = demand->least ? value->low : value->high;
    design->limits = front_static_limits(demand, design);
    design->limits |= front_is_better(demand, demand->target, value->mean) ? DESIGN_LIMIT_TARGET : 0;
    design->sure = !front_is_better(demand, demand->target, worst);
}

/* A value that is better by a share. */
static double better_by(const struct front_demand *demand, double value, double share) {
    return demand->least ? value * (1 + share) : value * (1 - share);
}

/* Is one as good in both respects and better in one, also if it is worse and the other better than they say by shares? */
static bool dominates(const struct front_demand *demand, const struct design_figures *one, double worse,
                      const struct design_figures *other, double better) {
    const double mine = better_by(demand, one->value.mean, -worse), its = better_by(demand, other->value.mean, better);
    const double expense = front_expense(demand, one), its_expense = front_expense(demand, other);
    if (expense > its_expense || front_is_better(demand, its, mine)) {
        return false;
    }
    return expense < its_expense || front_is_better(demand, mine, its);
}

/* How many others leave a design behind, if values by the fluid model may be wrong by a share. */
static uint32_t count_better(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                             uint32_t index, double error) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct design_figures *other = &designs[i];
        const bool packets = other->state == DESIGN_PACKETS && other->limits == 0;
        const bool fluid = other->state == DESIGN_FLUID && front_static_limits(demand, other) == 0;
        count +=
            i != index && (packets || fluid) && dominates(demand, other, packets ? 0 : error, &designs[index], error);
    }
    return count;
}

/* May a design be the best, as far as is known? */
static bool is_open(const struct front_demand *demand, const struct design_figures *designs, uint32_t n, uint32_t index,
                    double error) {
    const struct design_figures *design = &designs[index];
    return design->state == DESIGN_FLUID && front_static_limits(demand, design) == 0 &&
           !front_is_better(demand, demand->target, better_by(demand, design->value.mean, error)) &&
           count_better(demand, designs, n, index, error) == 0;
}

uint32_t front_finalist(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                        double error, uint32_t *left) {
    uint32_t best = UINT32_MAX, fewest = 0;
    *left = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_open(demand, designs, n, i, error)) {
            continue;
        }
        const uint32_t behind = count_better(demand, designs, n, i, 0);
        const bool cheaper =
            best != UINT32_MAX && front_expense(demand, &designs[i]) < front_expense(demand, &designs[best]);
        if (best == UINT32_MAX || behind < fewest || (behind == fewest && cheaper)) {
            best = i;
            fewest = behind;
        }
        ++*left;
    }
    return best;
}

void front_mark(const struct front_demand *demand, struct design_figures *designs, uint32_t n,
                enum design_state state) {
    for (uint32_t i = 0; i < n; i++) {
        bool front = designs[i].state == state && designs[i].limits == 0;
        for (uint32_t k = 0; k < n && front; k++) {
            front = k == i || designs[k].state != state || designs[k].limits != 0 ||
                    !dominates(demand, &designs[k], 0, &designs[i], 0);
        }
        designs[i].front = front;
    }
}

uint32_t front_cheapest(const struct front_demand *demand, const struct design_figures *designs, uint32_t n) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (designs[i].front &&
            (best == UINT32_MAX || front_expense(demand, &designs[i]) < front_expense(demand, &designs[best]))) {
            best = i;
        }
    }
    return best;
}

uint32_t front_next(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                    uint32_t from) {
    const double floor = front_expense(demand, &designs[from]);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const double expense = front_expense(demand, &designs[i]);
        if (designs[i].front && expense > floor &&
            (best == UINT32_MAX || expense < front_expense(demand, &designs[best]))) {
            best = i;
        }
    }
    return best;
}

static unsigned count_bits(unsigned bits) {
    return (unsigned)__builtin_popcount(bits);
}

uint32_t front_missed(const struct front_demand *demand, const struct design_figures *designs, uint32_t n,
                      uint32_t than) {
    const double ceiling = front_expense(demand, &designs[than]);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const struct design_figures *design = &designs[i];
        if ((design->state != DESIGN_FLUID && design->state != DESIGN_PACKETS && design->state != DESIGN_OUTSIDE) ||
            design->limits == 0 || !(front_expense(demand, design) < ceiling)) {
            continue;
        }
        const bool fewer = best == UINT32_MAX || count_bits(design->limits) < count_bits(designs[best].limits);
        const bool dearer = best != UINT32_MAX && count_bits(design->limits) == count_bits(designs[best].limits) &&
                            front_expense(demand, design) > front_expense(demand, &designs[best]);
        best = fewer || dearer ? i : best;
    }
    return best;
}
