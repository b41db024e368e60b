// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/collective.h"

#include "base/error.h"
#include "base/number.h"

uint32_t collective_groups(const struct collective_layout *layout, enum parallel_group kind) {
    switch (kind) {
    case PARALLEL_TENSOR:
        return layout->n_ranks / layout->tensor;
    case PARALLEL_DATA:
        return layout->tensor;
    case PARALLEL_EXPERT:
        return layout->n_ranks / layout->expert;
    case PARALLEL_EXPERT_DATA:
        return layout->tensor * layout->expert;
    default:
        BUG("group kind %d", (int)kind);
    }
}

uint32_t collective_group_of(const struct collective_layout *layout, enum parallel_group kind, uint32_t rank) {
    const uint32_t position = rank % layout->tensor, group = rank / layout->tensor;
    switch (kind) {
    case PARALLEL_TENSOR:
        return group;
    case PARALLEL_DATA:
        return position;
    case PARALLEL_EXPERT:
        return group / layout->expert * layout->tensor + position;
    case PARALLEL_EXPERT_DATA:
        return group % layout->expert * layout->tensor + position;
    default:
        BUG("group kind %d", (int)kind);
    }
}

struct collective_group collective_group(const struct collective_layout *layout, enum parallel_group kind,
                                         uint32_t number) {
    const uint32_t tensor = layout->tensor, data = layout->n_ranks / tensor, expert = layout->expert;
    switch (kind) {
    case PARALLEL_TENSOR:
        return (struct collective_group){.first = number * tensor, .stride = 1, .count = tensor};
    case PARALLEL_DATA:
        return (struct collective_group){.first = number, .stride = tensor, .count = data};
    case PARALLEL_EXPERT:
        return (struct collective_group){
            .first = number / tensor * expert * tensor + number % tensor, .stride = tensor, .count = expert};
    case PARALLEL_EXPERT_DATA:
        return (struct collective_group){.first = number, .stride = expert * tensor, .count = data / expert};
    default:
        BUG("group kind %d", (int)kind);
    }
}

/* The members of a group that are in one domain: those from first on, up to end. */
struct run {
    uint32_t first, end;
    uint32_t number; /* of the domain among those of the group */
};

/* First member at or beyond a rank. */
static uint32_t member_from(const struct collective_group *group, uint64_t rank) {
    const uint64_t beyond = rank > group->first ? number_divide_up(rank - group->first, group->stride) : 0;
    return (uint32_t)number_smaller(beyond, group->count);
}

static struct run run_of(const struct collective_group *group, uint32_t domain_ranks, uint32_t member) {
    const uint32_t domain = collective_rank(group, member) / domain_ranks;
    // a step that is as long as a domain passes some by
    const bool alone = group->stride >= domain_ranks;
    return (struct run){.first = member_from(group, (uint64_t)domain * domain_ranks),
                        .end = member_from(group, ((uint64_t)domain + 1) * domain_ranks),
                        .number = alone ? member : domain - group->first / domain_ranks};
}

uint32_t collective_rings(const struct collective_group *group, uint32_t domain_ranks) {
    struct run run = run_of(group, domain_ranks, 0);
    if (run.end == group->count) {
        return 1;
    }
    uint32_t rings = COLLECTIVE_RINGS_MOST;
    for (uint32_t member = 0; member < group->count; member = run.end) {
        run = run_of(group, domain_ranks, member);
        rings = (uint32_t)number_smaller(rings, run.end - run.first);
    }
    return rings;
}

/* Where a ring enters a domain, counted from its first member. */
static uint32_t entry(const struct run *run, uint32_t ring) {
    const uint32_t length = run->end - run->first;
    return (ring + length - run->number % length) % length;
}

uint32_t collective_next(const struct collective_group *group, uint32_t domain_ranks, uint32_t ring, uint32_t member) {
    const struct run here = run_of(group, domain_ranks, member);
    const uint32_t length = here.end - here.first, at = member - here.first;
    const uint32_t following = at + 1 == length ? 0 : at + 1;
    if (following != entry(&here, ring)) {
        return here.first + following;
    }
    const struct run next = run_of(group, domain_ranks, here.end == group->count ? 0 : here.end);
    return next.first + entry(&next, ring);
}

uint32_t collective_near(const struct collective_group *group, uint32_t domain_ranks, uint32_t member) {
    const struct run run = run_of(group, domain_ranks, member);
    return run.end - run.first;
}

uint32_t collective_entries(const struct collective_group *group, uint32_t domain_ranks, uint32_t rings,
                            uint32_t member) {
    const struct run run = run_of(group, domain_ranks, member);
    const uint32_t length = run.end - run.first;
    // ring r enters at (r - number) modulo the length, and there are no more rings than members
    return length < group->count && (member - run.first + run.number) % length < rings;
}

uint32_t collective_steps(enum parallel_operation operation, uint32_t count) {
    switch (operation) {
    case PARALLEL_ALL_REDUCE:
        return 2 * (count - 1);
    case PARALLEL_ALL_GATHER:
    case PARALLEL_REDUCE_SCATTER:
        return count - 1;
    default:
        return 0;
    }
}

uint64_t collective_message_bytes(enum parallel_operation operation, uint64_t bytes, uint32_t count, uint32_t rings) {
    const uint64_t shares = operation == PARALLEL_ALL_TO_ALL ? 1 : rings;
    return number_divide_up(bytes, count * shares);
}
