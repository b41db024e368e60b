// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_series.h"

#include "base/error.h"
#include "dice.h"

enum topic { TOPIC_SERIES = 600 };

enum { SERIES_PERCENT = 20, STEP_BYTES = 997 };

void random_series_draw(struct random_case *random_case) {
    static const uint64_t copies[] = {2, 5, 16, 17, 32, 33, 70}; /* devices take them by blocks of 16 */
    struct dice dice = dice_of(random_case->recipe.number, TOPIC_SERIES);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        struct random_case_message *drawn = &random_case->messages[i];
        const uint32_t n = (uint32_t)dice_pick(&dice, copies, sizeof copies / sizeof *copies);
        const bool series = dice_chance(&dice, SERIES_PERCENT) && drawn->message.route == TRAFFIC_NVLINK;
        drawn->copies = series ? n : 1;
        drawn->message.bytes = 1 + (drawn->message.bytes - 1) / drawn->copies;
    }
}

/** The endpoint of a domain that follows another, apart from one that is passed over. */
static uint32_t next_in_domain(const struct fabric *fabric, uint32_t endpoint, uint32_t passed) {
    const struct fabric_domain *domain = &fabric->domains[fabric->endpoints[endpoint].domain];
    const uint32_t index = fabric->endpoints[endpoint].index_in_domain;
    const uint32_t next = domain->first_endpoint + (index + 1) % domain->n_endpoints;
    return next != passed ? next : domain->first_endpoint + (index + 2) % domain->n_endpoints;
}

struct traffic_message random_series_copy(const struct random_case *random_case,
                                          const struct random_case_message *message, uint32_t index) {
    struct traffic_message copy = message->message;
    if (index == 0) {
        return copy;
    }
    copy.tag += index;
    copy.bytes = 1 + (copy.bytes + (uint64_t)index * STEP_BYTES) % (2 * copy.bytes);
    if (index % 2 == 1) {
        copy.destination = next_in_domain(random_case->fabric, copy.destination, message->source);
    }
    return copy;
}

static const struct random_case_message *message_of(const struct random_case *random_case, uint32_t tag) {
    return &random_case->messages[tag / RANDOM_SERIES_TAGS];
}

/** All copies of a message are set free together: they lie side by side in the outbox. */
static void compress(const struct random_case *random_case, struct traffic_outbox *outbox) {
    if (!outbox->takes_series) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < outbox->count; kept++) {
        outbox->messages[kept] = outbox->messages[i];
        const struct random_case_message *whole = message_of(random_case, outbox->messages[kept].tag);
        outbox->messages[kept].series = whole->copies > 1;
        i += whole->copies;
        REQUIRE(i <= outbox->count, "a series is not whole in the outbox");
    }
    outbox->count = kept;
}

static void begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    const struct random_case *random_case = plan;
    const struct traffic singles = traffic_list_traffic(random_case->list);
    singles.begin(singles.plan, rank, outbox);
    compress(random_case, outbox);
}

static void delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                      struct traffic_outbox *outbox) {
    const struct random_case *random_case = plan;
    const struct traffic singles = traffic_list_traffic(random_case->list);
    singles.delivered(singles.plan, rank, source, tag, now_ps, outbox);
    compress(random_case, outbox);
}

static uint32_t series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                       struct traffic_message *messages, uint32_t capacity) {
    const struct random_case *random_case = plan;
    const struct random_case_message *whole = message_of(random_case, tag);
    REQUIRE(whole->source == rank, "rank %u is asked for a series of rank %u", rank, whole->source);
    uint32_t count = 0;
    for (; count < capacity && *cursor < whole->copies; count++) {
        messages[count] = random_series_copy(random_case, whole, (uint32_t)(*cursor)++);
    }
    return count;
}

struct traffic random_series_traffic(struct random_case *random_case) {
    const struct traffic singles = traffic_list_traffic(random_case->list);
    return (struct traffic){
        .plan = random_case, .n_ranks = singles.n_ranks, .begin = begin, .delivered = delivered, .series = series};
}
