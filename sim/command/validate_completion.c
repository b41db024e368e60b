// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_completion.h"

#include "base/memory.h"
#include "command/validate_messages.h"
#include "command/validate_seeds.h"
#include "results/summary.h"

#include <stdlib.h>

/* Order of the names of the keys. */
enum statistic { STATISTIC_MAX, STATISTIC_P99, STATISTIC_P50, STATISTIC_MEAN };
enum side { SIDE_SENDER, SIDE_RECEIVER };

static const char *const statistics[] = {"max", "p99", "p50", "mean", NULL};
static const char *const sides[] = {"sender", "receiver", NULL};
static const char *const units[] = {"ns", "us", "ms", NULL};
static const char *const required[] = {"unit", "configuration", NULL};

static const struct key keys[] = {
    {"statistic", KEY_CHOICE, .names = statistics,
     .doc = "Of all messages of a run: max (the default), p99, p50 or mean; the mean of it over the seeds is compared.",
     VALIDATE_KIND_FIELD(statistic)},
    {"side", KEY_CHOICE, .names = sides,
     .doc = "sender (the default): until the last acknowledgement is there; receiver: until the last byte is there.",
     VALIDATE_KIND_FIELD(side)},
    {"unit", KEY_CHOICE, .names = units, .doc = "Of time.", VALIDATE_KIND_FIELD(unit)},
    {"destinations", KEY_NUMBERS, .doc = "Of rank 0, 1, …: a permutation in place of the configuration's pattern.",
     VALIDATE_KIND_FIELD(destinations), .count_offset = offsetof(struct validate_row, parameters.n_destinations)},
};

static const char *unit(const struct validate_row *row) {
    return units[row->parameters.unit];
}

/* Destinations must be a permutation of all hosts without fixed points, and there is no NVLink in it. */
static bool check_destinations(const struct validate_row *row, const struct validate_setup *setup) {
    const struct validate_row_parameters *parameters = &row->parameters;
    const struct topology *topology = &row->experiment->topology;
    bool taken[VALIDATE_ROW_DESTINATIONS] = {false};
    if (topology->gpus_used != 1 || topology->racks != parameters->n_destinations) {
        return validate_setup_refuse(setup, "%u destinations are given for %u hosts of %u GPUs",
                                     parameters->n_destinations, topology->racks, topology->gpus_used);
    }
    for (uint32_t rank = 0; rank < parameters->n_destinations; rank++) {
        const uint64_t destination = parameters->destinations[rank];
        if (destination >= parameters->n_destinations || destination == rank || taken[destination]) {
            return validate_setup_refuse(
                setup, "rank %u cannot send to %llu: destinations are a permutation without fixed points", rank,
                (unsigned long long)destination);
        }
        taken[destination] = true;
    }
    return true;
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    return validate_setup_read(setup, row, NULL, 0) &&
           (row->parameters.n_destinations == 0 || check_destinations(row, setup));
}

static double statistic_of(enum statistic statistic, const struct summary_quantiles *quantiles) {
    switch (statistic) {
    case STATISTIC_MAX:
        return quantiles->max;
    case STATISTIC_P99:
        return quantiles->p99;
    case STATISTIC_P50:
        return quantiles->p50;
    default:
        return quantiles->mean;
    }
}

static double in_unit(const struct validate_row *row, double *times_ps, size_t n) {
    static const double ps_per_unit[] = {1e3, 1e6, 1e9};
    const struct summary_quantiles quantiles = summary_quantiles(times_ps, n);
    return statistic_of((enum statistic)row->parameters.statistic, &quantiles) / ps_per_unit[row->parameters.unit];
}

static double completion(const struct validate_row *row, const struct fabric *fabric,
                         const struct measurement *measurement) {
    (void)fabric;
    double *times = memory_allocate(measurement->n_messages, sizeof(*times));
    for (uint64_t i = 0; i < measurement->n_messages; i++) {
        const struct measurement_message *message = &measurement->messages[i];
        const bool sender = row->parameters.side == SIDE_SENDER;
        times[i] = (double)((sender ? message->acknowledged_ps : message->completed_ps) - message->posted_ps);
    }
    const double value = in_unit(row, times, measurement->n_messages);
    free(times);
    return value;
}

/* The same of a given permutation: every rank sends one message, at time 0, and one is sent to every rank. */
static double list_completion(const struct validate_row *row, const struct fabric *fabric,
                              const struct network *network) {
    const uint32_t n_ranks = row->parameters.n_destinations;
    (void)fabric;
    double *times = memory_allocate(n_ranks, sizeof(*times));
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        const struct endpoint *endpoint = network_endpoint(network, rank);
        uint32_t n_sent, n_received;
        const struct endpoint_sent *sent = endpoint_sent_messages(endpoint, &n_sent);
        const struct endpoint_received *received = endpoint_received_messages(endpoint, &n_received);
        REQUIRE(n_sent == 1 && n_received == 1, "rank %u sent %u and received %u messages", rank, n_sent, n_received);
        times[rank] = (double)(row->parameters.side == SIDE_SENDER ? sent->acknowledged_ps : received->delivered_ps);
    }
    const double value = in_unit(row, times, n_ranks);
    free(times);
    return value;
}

static bool run_list(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    const struct experiment *experiment = row->experiment;
    struct traffic_list *list = traffic_list_create(row->parameters.n_destinations);
    for (uint32_t rank = 0; rank < row->parameters.n_destinations; rank++) {
        const struct traffic_message message = {.destination = (uint32_t)row->parameters.destinations[rank],
                                                .bytes = experiment->traffic.bytes,
                                                .route = TRAFFIC_FABRIC};
        traffic_list_add(list, rank, &message);
    }
    const bool good = validate_messages(row, list, experiment->seeds, experiment->n_seeds, list_completion, run, error);
    traffic_list_free(list);
    return good;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    return row->parameters.n_destinations > 0 ? run_list(row, run, error) : validate_seeds(row, run, completion, error);
}

const struct validate_kind validate_completion = {
    .name = "completion",
    .doc = "completion time of the messages of any configuration",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
