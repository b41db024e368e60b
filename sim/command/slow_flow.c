// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/slow_flow.h"

#include "base/memory.h"
#include "command/crossing.h"
#include "results/explanation.h"
#include "results/reason.h"
#include "results/summary.h"

#include <stdlib.h>

enum { SLOW_FLOWS = 20, SUBJECTS = SLOW_FLOWS + 2 };

/* A flow that is to be explained, and its links. */
struct subject {
    uint64_t flow;
    struct crossing_part *links;
    uint32_t n_links;
};

/* Flows that are to be explained: the slowest one, the slowest victim if there is one, and those with the largest slow-down. */
struct subjects {
    struct subject subjects[SUBJECTS];
    uint32_t count;
    uint64_t slowest, victim; /* EXPLANATION_NO_FLOW: none */
};

/* The hot rank, if one stands out: with a balanced load there is none. */
static uint32_t hot_rank(const struct measurement *measurement) {
    struct summary *summary = summary_create(measurement);
    const uint32_t rank = summary->hot_load >= 1.5 ? summary->hot_rank : MEASUREMENT_NONE;
    summary_free(summary);
    return rank;
}

static struct subject *find_subject(struct subjects *subjects, uint64_t flow) {
    for (uint32_t i = 0; i < subjects->count; i++) {
        if (subjects->subjects[i].flow == flow) {
            return &subjects->subjects[i];
        }
    }
    return NULL;
}

static void add_subject(struct subjects *subjects, uint64_t flow) {
    if (flow != EXPLANATION_NO_FLOW && find_subject(subjects, flow) == NULL) {
        subjects->subjects[subjects->count++] = (struct subject){.flow = flow};
    }
}

/* The flows with the largest slow-down, the largest first; among equals in order of rows. Returns how many. */
static uint32_t find_slow_flows(const struct measurement *measurement, uint64_t slow[SLOW_FLOWS]) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < measurement->n_flows; i++) {
        const struct measurement_flow *flow = &measurement->flows[i];
        uint32_t place = count;
        while (place > 0 && measurement->flows[slow[place - 1]].slowdown < flow->slowdown) {
            place--;
        }
        if (flow->slowdown <= 0 || place == SLOW_FLOWS) {
            continue;
        }
        count += count < SLOW_FLOWS;
        for (uint32_t k = count - 1; k > place; k--) {
            slow[k] = slow[k - 1];
        }
        slow[place] = i;
    }
    return count;
}

static struct subjects find_subjects(const struct measurement *measurement, uint64_t slow[SLOW_FLOWS],
                                     uint32_t *n_slow) {
    struct subjects subjects = {.slowest = explanation_slowest_flow(measurement, MEASUREMENT_NONE),
                                .victim = EXPLANATION_NO_FLOW};
    if (subjects.slowest != EXPLANATION_NO_FLOW) {
        const uint32_t hot = hot_rank(measurement);
        subjects.victim = hot == MEASUREMENT_NONE ? EXPLANATION_NO_FLOW : explanation_slowest_flow(measurement, hot);
    }
    *n_slow = find_slow_flows(measurement, slow);
    add_subject(&subjects, subjects.slowest);
    add_subject(&subjects, subjects.victim);
    for (uint32_t i = 0; i < *n_slow; i++) {
        add_subject(&subjects, slow[i]);
    }
    return subjects;
}

static const struct crossing_link *link_of(const struct crossings *crossings, uint32_t link) {
    return &crossings->links[crossings->place_of[link] - 1];
}

/* A sentence on a flow, from those links that are certain. */
static void explain(struct measurement *measurement, const char *subject_name, const struct subject *subject,
                    const struct crossings *crossings) {
    struct explanation_link *links = memory_allocate(subject->n_links, sizeof *links);
    uint32_t n_links = 0;
    for (uint32_t i = 0; i < subject->n_links; i++) {
        const struct crossing_link *link = link_of(crossings, subject->links[i].link);
        if (!subject->links[i].certain) {
            continue;
        }
        uint64_t *flows = memory_allocate(link->n_users, sizeof *flows), n_flows = 0;
        for (uint64_t k = 0; k < link->n_users; k++) {
            if (link->users[k].certain) {
                flows[n_flows++] = link->users[k].flow;
            }
        }
        links[n_links++] =
            (struct explanation_link){.name = measurement->links[link->link].name, .flows = flows, .n_flows = n_flows};
    }
    explanation_add_flow(measurement, subject_name, subject->flow, links, n_links);
    for (uint32_t i = 0; i < n_links; i++) {
        free((void *)links[i].flows);
    }
    free(links);
}

static struct measurement_slow_flow reason_of(const struct measurement *measurement, const struct subject *subject,
                                              const struct crossings *crossings) {
    struct reason_link *links = memory_allocate(subject->n_links, sizeof *links);
    for (uint32_t i = 0; i < subject->n_links; i++) {
        const struct crossing_link *link = link_of(crossings, subject->links[i].link);
        struct reason_user *users = memory_allocate(link->n_users, sizeof *users);
        for (uint64_t k = 0; k < link->n_users; k++) {
            users[k] = (struct reason_user){.flow = link->users[k].flow, .part = link->users[k].part};
        }
        links[i] = (struct reason_link){
            .link = link->link, .part = subject->links[i].part, .users = users, .n_users = link->n_users};
    }
    const struct measurement_slow_flow reason = reason_of_flow(measurement, subject->flow, links, subject->n_links);
    for (uint32_t i = 0; i < subject->n_links; i++) {
        free((void *)links[i].users);
    }
    free(links);
    return reason;
}

void slow_flow_explain(struct measurement *measurement, const struct flow_pairs *pairs) {
    struct crossings crossings = {0};
    uint64_t slow[SLOW_FLOWS];
    uint32_t n_slow;
    struct subjects subjects = find_subjects(measurement, slow, &n_slow);
    for (uint32_t i = 0; i < subjects.count; i++) {
        struct subject *subject = &subjects.subjects[i];
        subject->n_links = crossing_ask(&crossings, pairs, subject->flow, &subject->links);
    }
    crossing_find(&crossings, pairs, measurement);
    if (subjects.slowest != EXPLANATION_NO_FLOW) {
        explain(measurement, "slowest flow", find_subject(&subjects, subjects.slowest), &crossings);
    }
    if (subjects.victim != EXPLANATION_NO_FLOW && subjects.victim != subjects.slowest) {
        explain(measurement, "slowest flow that does not go to the hot rank", find_subject(&subjects, subjects.victim),
                &crossings);
    }
    measurement->slow_flows = memory_allocate(n_slow, sizeof *measurement->slow_flows);
    for (uint32_t i = 0; i < n_slow; i++) {
        measurement->slow_flows[measurement->n_slow_flows++] =
            reason_of(measurement, find_subject(&subjects, slow[i]), &crossings);
    }
    for (uint32_t i = 0; i < subjects.count; i++) {
        free(subjects.subjects[i].links);
    }
    crossing_fini(&crossings);
}
