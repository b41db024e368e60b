// SPDX-License-Identifier: GPL-3.0-or-later
/* A series of NVLink messages is what its messages are, posted one by one: the same to the last record, in less memory. */
#include "base/hash.h"
#include "rig.h"
#include "run_suite.h"
#include "workload/moe.h"

#include <check.h>

/* A traffic, asked for series or for single messages. */
struct asked {
    struct traffic traffic;
    bool takes_series;
};

static void ask_begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    const struct asked *asked = plan;
    outbox->takes_series = asked->takes_series;
    asked->traffic.begin(asked->traffic.plan, rank, outbox);
}

static void ask_delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                          struct traffic_outbox *outbox) {
    const struct asked *asked = plan;
    outbox->takes_series = asked->takes_series;
    asked->traffic.delivered(asked->traffic.plan, rank, source, tag, now_ps, outbox);
}

static uint32_t ask_series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                           struct traffic_message *messages, uint32_t capacity) {
    const struct asked *asked = plan;
    ck_assert(asked->takes_series);
    return asked->traffic.series(asked->traffic.plan, rank, tag, cursor, messages, capacity);
}

/* What one run did. */
struct outcome {
    struct trace trace;
    uint64_t end_ps, hops, posted;
    size_t bytes;
};

static struct outcome run(const struct fabric *fabric, const struct network_parameters *parameters,
                          const struct traffic *traffic, bool takes_series) {
    struct asked asked = {.traffic = *traffic, .takes_series = takes_series};
    const struct traffic outer = {.plan = &asked,
                                  .n_ranks = traffic->n_ranks,
                                  .begin = ask_begin,
                                  .delivered = ask_delivered,
                                  .series = ask_series};
    struct outcome outcome = {0};
    struct network *network = network_create(fabric, parameters, &outer, &outcome.trace);
    ck_assert_int_eq(network_run(network, NULL, NULL), NETWORK_FINISHED);
    outcome.end_ps = network_end_ps(network);
    outcome.hops = network_hops(network);
    outcome.posted = network_posted_messages(network);
    for (uint32_t rank = 0; rank < traffic->n_ranks; rank++) {
        outcome.bytes += endpoint_bytes(network_endpoint(network, rank));
    }
    network_free(network);
    trace_sort(&outcome.trace);
    return outcome;
}

/* Runs both ways and compares; returns bytes of all endpoints with single messages ÷ with series. */
static double compare(const struct fabric *fabric, const struct network_parameters *parameters,
                      const struct traffic *traffic) {
    struct outcome singles = run(fabric, parameters, traffic, false), series = run(fabric, parameters, traffic, true);
    ck_assert_uint_eq(singles.end_ps, series.end_ps);
    ck_assert_uint_eq(singles.hops, series.hops);
    ck_assert_uint_eq(singles.posted, series.posted);
    ck_assert(trace_compare(stderr, "singles", &singles.trace, "series", &series.trace));
    const double ratio = (double)singles.bytes / (double)series.bytes;
    trace_free(&singles.trace);
    trace_free(&series.trace);
    return ratio;
}

/* Every GPU: a message, a long series, a message behind it, a short, an empty and a late series, and a message on the other channel. */
enum { GPUS = 4, LONG_SERIES = 1000, SHORT_SERIES = 32 /* exactly one batch of the devices */, LATE_SERIES = 33 };
enum { TAG_LONG = 1 << 20, TAG_SHORT = 2 << 20, TAG_EMPTY = 3 << 20, TAG_LATE = 4 << 20 };

static uint32_t length_of(uint32_t tag) {
    return tag == TAG_LONG ? LONG_SERIES : tag == TAG_SHORT ? SHORT_SERIES : tag == TAG_LATE ? LATE_SERIES : 0;
}

static struct traffic_message message_of(uint32_t rank, uint32_t tag) {
    const uint64_t draw = hash_mix(hash_mix(rank) + tag);
    return (struct traffic_message){.destination = (rank + 1 + (uint32_t)(draw % (GPUS - 1))) % GPUS,
                                    .tag = tag,
                                    .bytes = 1 + (draw >> 8) % (5 * RIG_RECORD_BYTES),
                                    .start_ps = tag >= TAG_LATE ? 7000000 : 0,
                                    .unit_bytes = draw & 64 ? 700 : 0,
                                    .route = TRAFFIC_NVLINK,
                                    .channel = tag < TAG_LONG && tag % 2};
}

static uint32_t synthetic_series(const void *plan, uint32_t rank, uint32_t tag, uint64_t *cursor,
                                 struct traffic_message *messages, uint32_t capacity) {
    (void)plan;
    uint32_t count = 0;
    for (; count < capacity && *cursor < length_of(tag); count++) {
        messages[count] = message_of(rank, tag + 1 + (uint32_t)(*cursor)++);
    }
    return count;
}

static void add_series(uint32_t rank, uint32_t tag, struct traffic_outbox *outbox) {
    if (outbox->takes_series) {
        struct traffic_message series = message_of(rank, tag);
        series.series = 1;
        traffic_outbox_add(outbox, &series);
        return;
    }
    uint64_t cursor = 0;
    struct traffic_message message;
    while (synthetic_series(NULL, rank, tag, &cursor, &message, 1) == 1) {
        traffic_outbox_add(outbox, &message);
    }
}

static void synthetic_begin(void *plan, uint32_t rank, struct traffic_outbox *outbox) {
    (void)plan;
    static const uint32_t posted[] = {2, TAG_LATE, TAG_LONG, 4, TAG_SHORT, 1, TAG_EMPTY, 6, 3};
    for (uint32_t i = 0; i < sizeof(posted) / sizeof(posted[0]); i++) {
        if (posted[i] < TAG_LONG) {
            const struct traffic_message message = message_of(rank, posted[i]);
            traffic_outbox_add(outbox, &message);
        } else {
            add_series(rank, posted[i], outbox);
        }
    }
}

static void synthetic_delivered(void *plan, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                                struct traffic_outbox *outbox) {
    (void)plan, (void)source, (void)now_ps;
    if (tag == TAG_LONG + 5) { /* posted while the series is under way, on both channels */
        const struct traffic_message behind = message_of(rank, 8 + 2 * source),
                                     beside = message_of(rank, 9 + 2 * source);
        traffic_outbox_add(outbox, &behind);
        traffic_outbox_add(outbox, &beside);
    }
}

START_TEST(series_keep_their_place_among_messages) {
    const struct rig_shape shape = {
        .hosts_per_leaf = GPUS, .domain_gpus = GPUS, .chips = 3, .links_per_chip = 1, .nvlink_ps = 20};
    struct fabric *fabric = rig_fabric(&shape);
    struct network_parameters parameters = rig_parameters();
    parameters.nvlink.buffer_bytes = _i ? 4 * RIG_RECORD_BYTES : 0; /* ports that wait for credit, or do not */
    const struct traffic traffic = {
        .n_ranks = GPUS, .begin = synthetic_begin, .delivered = synthetic_delivered, .series = synthetic_series};
    ck_assert_double_gt(compare(fabric, &parameters, &traffic), 3);
    fabric_free(fabric);
}
END_TEST

START_TEST(two_hop_combine_does_the_same_with_series) {
    const struct rig_shape shape = {.leaves = 2,
                                    .hosts_per_leaf = 8,
                                    .spines = 2,
                                    .domain_gpus = 4,
                                    .chips = 2,
                                    .links_per_chip = 2,
                                    .up_ps = 20,
                                    .nvlink_ps = 40};
    const struct experiment_model model = {.hidden = 256, .experts = 32, .top_k = 4};
    const struct experiment_traffic given = {.tokens_per_gpu = 60,
                                             .algorithm = EXPERIMENT_ALGORITHM_TWO_HOP,
                                             .chunk_tokens = 3,
                                             .dispatch = true,
                                             .combine = true,
                                             .exchange_counts = true,
                                             .expert_parallelism = 8,
                                             .group_placement = EXPERIMENT_GROUP_PLACEMENT_STRIDED,
                                             .jitter_ps = 500000,
                                             .expert_time_ps = _i ? 3000000 : 0};
    const struct moe_placement placement = {.n_ranks = 16, .ranks_per_domain = 4};
    struct fabric *fabric = rig_fabric(&shape);
    const struct network_parameters parameters = rig_parameters();
    struct moe *moe = moe_create(&model, &given, &placement, false, (uint64_t)_i, NULL);
    const struct traffic traffic = moe_traffic(moe);
    compare(fabric, &parameters, &traffic);
    ck_assert(moe_finished(moe));
    moe_free(moe);
    fabric_free(fabric);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("series");
    TCase *cases = tcase_create("series");
    tcase_add_loop_test(cases, series_keep_their_place_among_messages, 0, 2);
    tcase_add_loop_test(cases, two_hop_combine_does_the_same_with_series, 0, 4);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
