// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/plan.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/rate.h"
#include "config/flow_file.h"
#include "workload/moe_summary.h"
#include "workload/placement_choose.h"
#include "workload/step_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int by_peers(const void *a, const void *b) {
    const struct connection *first = a, *second = b;
    if (first->source != second->source) {
        return first->source < second->source ? -1 : 1;
    }
    return (first->destination > second->destination) - (first->destination < second->destination);
}

/* Destinations of the rank that has most of them. */
static uint32_t most_peers(const struct connection_matrix *matrix) {
    const size_t n = matrix->n_connections;
    if (n == 0) {
        return 0;
    }
    struct connection *flows = memory_allocate(n, sizeof(*flows));
    memcpy(flows, matrix->connections, n * sizeof(*flows));
    qsort(flows, n, sizeof(*flows), by_peers);
    uint32_t most = 0, peers = 0;
    for (size_t i = 0; i < n; i++) {
        peers =
            i == 0 || flows[i].source != flows[i - 1].source ? 1 : peers + (by_peers(&flows[i - 1], &flows[i]) != 0);
        most = peers > most ? peers : most;
    }
    free(flows);
    return most;
}

/* Queue pairs of a GPU are numbered with 16 bits; config/experiment_check.h cannot know the peers of a file that it does not read. */
static bool check_queue_pairs(const struct connection_matrix *matrix, const struct experiment *experiment,
                              struct error *error) {
    const uint64_t peers = most_peers(matrix);
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const struct experiment_policy *policy = &experiment->policies[p];
        if (peers * policy->queue_pairs > UINT16_MAX) {
            return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_POLICIES,
                             "policy `%s`: %u peers of a GPU in %s × %u queue pairs a peer are more than 65535 queue "
                             "pairs a GPU",
                             policy->name, (unsigned)peers, experiment->matrix_path, policy->queue_pairs);
        }
    }
    return true;
}

/* The file was read before, for its mistakes; it may have been changed since. */
static struct connection_plan *read_connections(const struct experiment *experiment, uint32_t n_ranks,
                                                struct error *error) {
    const char *path = experiment->matrix_path;
    struct error_list errors = {0};
    struct connection_matrix matrix = {0};
    struct connection_plan *plan = NULL;
    if (!flow_file_read(path, &matrix, &errors)) {
        *error = errors.errors[0];
    } else if (matrix.n_nodes > n_ranks) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_MATRIX, "%s has more nodes than there are GPUs", path);
    } else if (check_queue_pairs(&matrix, experiment, error)) {
        plan = connection_plan_create(&matrix, n_ranks);
    }
    connection_matrix_fini(&matrix);
    return plan;
}

/* As above, for a workload text. */
static struct step_plan *read_steps(const struct experiment *experiment, const struct moe_placement *placement,
                                    uint64_t seed, struct error *error) {
    const struct step_plan_start start = {.seed = experiment->traffic.seed + seed,
                                          .jitter_ps = experiment->traffic.jitter_ps};
    const char *path = experiment->workload_path;
    struct error_list errors = {0};
    struct workload_text text = {0};
    struct step_plan *plan = NULL;
    if (!workload_text_read(path, &text, &errors) ||
        !workload_text_check(&text, path, placement->n_ranks, placement->ranks_per_domain, &errors)) {
        *error = errors.errors[0];
    } else {
        struct step_program program;
        step_text_program(&text, placement->n_ranks, placement->ranks_per_domain, &program);
        plan = step_plan_create(&program, &start, path, error);
    }
    workload_text_fini(&text);
    return plan;
}

/* The fewest bytes that so many packets of a message in a row can hold: its tokens are cut apart, so each ends with a shorter one. */
static uint64_t fewest_bytes(uint64_t packets, uint64_t payload_bytes, uint64_t unit_bytes) {
    const uint64_t per_unit = (unit_bytes + payload_bytes - 1) / payload_bytes;
    const uint64_t shortest = unit_bytes - (per_unit - 1) * payload_bytes;
    const uint64_t rest = packets % per_unit;
    return packets / per_unit * unit_bytes + (rest > 0 ? shortest + (rest - 1) * payload_bytes : 0);
}

/* A receiver that waits for more bytes than a window can hold never acknowledges: only time-outs would go on. */
static bool check_window(const struct plan *plan, const struct experiment *experiment, struct error *error) {
    const uint64_t payload = experiment->topology.nic.payload_bytes, window = experiment->transport.window_bytes;
    const uint64_t acknowledge = experiment->transport.acknowledge_bytes;
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; plan->moe && window > 0 && phase < MOE_SUMMARY_PHASES;
         phase++) {
        const uint64_t unit =
            moe_summary_has_phase(plan->moe, phase) ? moe_summary_packet_unit_bytes(plan->moe, phase) : 0;
        const uint64_t fewest = unit == 0 ? window : fewest_bytes((window + payload - 1) / payload, payload, unit);
        if (fewest < acknowledge) {
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_CONTROL,
                      "an ACK every %llu B (transport.acknowledge) never comes within a window of %llu packets "
                      "(transport.window), which "
                      "hold %llu B or more: packets end with their token of %llu B",
                      (unsigned long long)acknowledge, (unsigned long long)((window + payload - 1) / payload),
                      (unsigned long long)fewest, (unsigned long long)unit);
            return false;
        }
    }
    return true;
}

/* The routing map says of each token of a rank to which ranks of the group it goes. */
static void set_kernel(const struct plan *plan, const struct experiment *experiment) {
    if (plan->moe) {
        const struct moe_counts_shape *shape = &moe_plan_counts(plan->moe)->shape;
        const struct kernel kernel = kernel_of(experiment, (uint64_t)shape->tokens * shape->group_ranks);
        moe_set_kernel(plan->moe, &kernel);
    } else if (plan->pattern) {
        const struct kernel kernel = kernel_of(experiment, 0);
        pattern_set_kernel(plan->pattern, &kernel);
    }
}

bool plan_init(struct plan *plan, const struct experiment *experiment, bool early_pacing, uint64_t seed,
               struct error *error) {
    const struct topology *topology = &experiment->topology;
    *plan = (struct plan){
        .placement = {.n_ranks = topology->racks * topology->gpus_used, .ranks_per_domain = topology->gpus_used}};
    if (topology->nvlink.gpus == 1) {
        plan->placement.ranks_per_domain = 1;
    }
    if (experiment->traffic.pattern == EXPERIMENT_PATTERN_MOE) {
        if (!placement_choose(experiment, &plan->placement, seed, &plan->experts, error)) {
            return false;
        }
        plan->placement.experts = plan->experts;
        plan->placement.even_replicas = experiment->placement.replica_choice == EXPERIMENT_REPLICA_EVEN;
        plan->moe = moe_create(&experiment->model, &experiment->traffic, &plan->placement, early_pacing, seed, error);
    } else if (experiment->traffic.pattern == EXPERIMENT_PATTERN_CONNECTION_MATRIX) {
        plan->connections = read_connections(experiment, plan->placement.n_ranks, error);
    } else if (experiment->traffic.pattern == EXPERIMENT_PATTERN_WORKLOAD_TEXT) {
        plan->steps = read_steps(experiment, &plan->placement, seed, error);
    } else {
        plan->pattern = pattern_create(&experiment->traffic, &plan->placement, seed, error);
    }
    const bool measured = plan->moe || plan->pattern || plan->connections || plan->steps;
    if (measured && experiment->n_backgrounds > 0) {
        plan->background = background_create(experiment, &plan->placement, error);
    }
    if (!measured || (experiment->n_backgrounds > 0 && !plan->background) || !check_window(plan, experiment, error)) {
        plan_fini(plan);
        return false;
    }
    set_kernel(plan, experiment);
    return true;
}

void plan_fini(struct plan *plan) {
    moe_free(plan->moe);
    placement_free(plan->experts);
    pattern_free(plan->pattern);
    connection_plan_free(plan->connections);
    step_plan_free(plan->steps);
    background_free(plan->background);
    *plan = (struct plan){0};
}

static struct traffic measured_traffic(const struct plan *plan) {
    return plan->moe           ? moe_traffic(plan->moe)
           : plan->connections ? connection_plan_traffic(plan->connections)
           : plan->steps       ? step_plan_traffic(plan->steps)
                               : pattern_traffic(plan->pattern);
}

struct traffic plan_traffic(const struct plan *plan) {
    const struct traffic measured = measured_traffic(plan);
    return plan->background ? background_traffic(plan->background, &measured) : measured;
}

uint64_t plan_digest(const struct plan *plan) {
    const uint64_t digest = plan->moe           ? moe_summary_digest(plan->moe)
                            : plan->connections ? connection_plan_digest(plan->connections)
                            : plan->steps       ? step_plan_digest(plan->steps)
                                                : pattern_digest(plan->pattern);
    return plan->background ? background_digest(plan->background, digest) : digest;
}

static bool background_finished(const struct plan *plan, const struct experiment *experiment) {
    const struct plan_volume volume = plan_background_volume(plan, experiment);
    return !plan->background || background_delivered(plan->background) + plan->background_elsewhere ==
                                    volume.fabric_messages + volume.nvlink_messages;
}

bool plan_finished(const struct plan *plan, const struct experiment *experiment) {
    if (!background_finished(plan, experiment)) {
        return false;
    }
    if (plan->connections) {
        return connection_plan_delivered(plan->connections) + plan->delivered_elsewhere ==
               connection_plan_count(plan->connections);
    }
    for (uint32_t rank = 0; plan->steps && rank < plan->placement.n_ranks; rank++) {
        if (step_plan_times(plan->steps, rank).end_ps == TIME_NEVER) {
            return false;
        }
    }
    return !plan->moe || moe_finished(plan->moe);
}

/* As below, for the ends of the ranks of a pattern or of a program of steps. */
static void gather_ends(struct plan *plan, const struct exchange *exchange) {
    const uint32_t n = plan->placement.n_ranks;
    uint64_t *ends_ps = memory_allocate(n, sizeof(*ends_ps));
    for (uint32_t rank = 0; rank < n; rank++) {
        ends_ps[rank] =
            plan->steps ? step_plan_times(plan->steps, rank).end_ps : pattern_times(plan->pattern, rank).end_ps;
    }
    exchange->minimum(exchange->context, ends_ps, n);
    for (uint32_t rank = 0; exchange->rank == 0 && rank < n; rank++) {
        if (plan->steps) {
            step_plan_take_end(plan->steps, rank, ends_ps[rank]);
        } else {
            pattern_take_end(plan->pattern, rank, ends_ps[rank]);
        }
    }
    free(ends_ps);
}

static void gather_background(struct plan *plan, uint32_t n_items, const struct exchange *exchange) {
    const uint32_t n = plan->placement.n_ranks;
    uint64_t *ends_ps = memory_allocate(n, sizeof(*ends_ps));
    for (uint32_t item = 0; item < n_items; item++) {
        for (uint32_t rank = 0; rank < n; rank++) {
            ends_ps[rank] = background_times(plan->background, item, rank).end_ps;
        }
        exchange->minimum(exchange->context, ends_ps, n);
        for (uint32_t rank = 0; exchange->rank == 0 && rank < n; rank++) {
            background_take_end(plan->background, item, rank, ends_ps[rank]);
        }
    }
    free(ends_ps);
    uint64_t delivered = exchange->rank == 0 ? 0 : background_delivered(plan->background);
    exchange->sum(exchange->context, &delivered, 1);
    plan->background_elsewhere = exchange->rank == 0 ? delivered : 0;
}

/* A rank that another process simulated has kept the times of the beginning: never. The smallest of all is what happened. */
void plan_gather(struct plan *plan, const struct experiment *experiment, const struct exchange *exchange) {
    enum { TIMES = sizeof(struct moe_phase_times) / sizeof(uint64_t) };
    static_assert(sizeof(struct moe_phase_times) == TIMES * sizeof(uint64_t), "times are nothing but 64-bit numbers");
    const uint32_t n = plan->placement.n_ranks;
    if (plan->pattern || plan->steps) {
        gather_ends(plan, exchange);
    }
    if (plan->connections) {
        uint64_t delivered = exchange->rank == 0 ? 0 : connection_plan_delivered(plan->connections);
        exchange->sum(exchange->context, &delivered, 1);
        plan->delivered_elsewhere = exchange->rank == 0 ? delivered : 0;
    }
    if (plan->background) {
        gather_background(plan, experiment->n_backgrounds, exchange);
    }
    if (!plan->moe) {
        return;
    }
    struct moe_phase_times *times = memory_allocate(n, sizeof(*times));
    for (uint32_t rank = 0; rank < n; rank++) {
        times[rank] = moe_phase_times(plan->moe, rank);
    }
    exchange->minimum(exchange->context, (uint64_t *)times, (size_t)n * TIMES);
    for (uint32_t rank = 0; exchange->rank == 0 && rank < n; rank++) {
        moe_take_times(plan->moe, rank, &times[rank]);
    }
    free(times);
}

static struct plan_volume moe_volume(const struct moe *moe) {
    struct plan_volume volume = {0};
    for (int phase = 0; phase < MOE_SUMMARY_PHASES; phase++) {
        const struct moe_summary_extent extent = moe_summary_extent(moe, (enum moe_summary_phase)phase);
        volume.fabric_bytes += extent.total.fabric_sent.bytes;
        volume.fabric_messages += extent.total.fabric_sent.messages;
        volume.nvlink_bytes += extent.total.nvlink_sent.bytes;
        volume.nvlink_messages += extent.total.nvlink_sent.messages;
    }
    return volume;
}

struct plan_volume plan_volume(const struct plan *plan, const struct experiment *experiment) {
    if (plan->moe) {
        return moe_volume(plan->moe);
    }
    if (plan->connections) {
        return (struct plan_volume){.fabric_bytes = connection_plan_bytes(plan->connections),
                                    .fabric_messages = connection_plan_count(plan->connections)};
    }
    struct plan_volume volume = {0};
    if (plan->steps) {
        const struct step_plan_volume total = step_plan_total(plan->steps);
        return (struct plan_volume){.fabric_bytes = total.fabric_bytes,
                                    .fabric_messages = total.fabric_messages,
                                    .nvlink_bytes = total.nvlink_bytes,
                                    .nvlink_messages = total.nvlink_messages};
    }
    for (uint32_t rank = 0; rank < plan->placement.n_ranks; rank++) {
        const uint32_t n = pattern_messages(plan->pattern, rank);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t destination = pattern_destination(plan->pattern, rank, i);
            if (moe_placement_route(&plan->placement, rank, destination) == TRAFFIC_NVLINK) {
                volume.nvlink_messages++;
            } else {
                volume.fabric_messages++;
            }
        }
    }
    volume.fabric_bytes = volume.fabric_messages * experiment->traffic.bytes;
    volume.nvlink_bytes = volume.nvlink_messages * experiment->traffic.bytes;
    return volume;
}

struct plan_volume plan_background_volume(const struct plan *plan, const struct experiment *experiment) {
    struct plan_volume volume = {0};
    for (uint32_t item = 0; plan->background && item < experiment->n_backgrounds; item++) {
        const struct background_volume one = background_volume(plan->background, item);
        volume.fabric_bytes += one.fabric_bytes;
        volume.fabric_messages += one.fabric_messages;
        volume.nvlink_bytes += one.nvlink_bytes;
        volume.nvlink_messages += one.nvlink_messages;
    }
    return volume;
}
