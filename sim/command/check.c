// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/quantity.h"
#include "base/table.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/failures.h"
#include "command/headroom_report.h"
#include "command/ideal.h"
#include "command/job_report.h"
#include "command/preview.h"
#include "command/rail_report.h"
#include "command/record.h"
#include "command/setup.h"
#include "fabric/builder.h"
#include "results/json.h"

#include <math.h>
#include <stdlib.h>

const struct arguments_grammar command_check_grammar = {
    .command = "check",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_THREADS | ARGUMENTS_JSON,
    .description = "Reads a configuration, draws the traffic of its first seed, and says what would be simulated: "
                   "cluster, load, what is in\n"
                   "force under each policy, packets, memory and time. Simulates nothing, writes nothing.",
    .examples = "  moefabric check configs/quickstart-incast.yaml\n"
                "  moefabric check configs/quickstart-incast.yaml --set traffic.tokens_per_gpu=4096 --json\n",
};

static void print_rate(struct table *table, enum quantity_kind kind, double value) {
    char text[QUANTITY_TEXT_SIZE];
    table_cell(table, "%s", quantity_print_short(text, kind, value));
}

/* The load of a mixture-of-experts plan: what bounds each phase. */
static void print_load(const struct experiment *experiment, const struct fabric *fabric, const struct plan *plan) {
    const struct ideal ideal = {.fabric = fabric, .experiment = experiment, .plan = plan};
    const struct moe_counts *counts = moe_plan_counts(plan->moe);
    struct table *table = table_create();
    table_column(table, "phase", TABLE_LEFT);
    table_column(table, "fabric, mean GPU", TABLE_RIGHT);
    table_column(table, "fabric, fullest sender", TABLE_RIGHT);
    table_column(table, "fullest receiver", TABLE_RIGHT);
    table_column(table, "NVLink, fullest receiver", TABLE_RIGHT);
    table_column(table, "least time", TABLE_RIGHT);
    for (enum moe_summary_phase phase = 0; phase < MOE_SUMMARY_PHASES; phase++) {
        if (!moe_summary_has_phase(plan->moe, phase)) {
            continue;
        }
        const struct moe_summary_extent extent = moe_summary_extent(plan->moe, phase);
        table_cell(table, "%s", moe_summary_phase_name(phase));
        print_rate(table, QUANTITY_BYTES, (double)extent.total.fabric_sent.bytes / moe_counts_participants(counts));
        print_rate(table, QUANTITY_BYTES, (double)extent.largest.fabric_sent.bytes);
        print_rate(table, QUANTITY_BYTES, (double)extent.largest.fabric_received.bytes);
        print_rate(table, QUANTITY_BYTES, (double)extent.largest.nvlink_received.bytes);
        print_rate(table, QUANTITY_TIME, (double)ideal_phase_ps(&ideal, phase));
    }
    table_print(table, stdout, 2);
    table_free(table);
    if (counts->shape.groups) {
        job_report_print(stdout, counts->shape.groups, plan->placement.ranks_per_domain);
    }
    const struct moe_summary_balance experts = moe_summary_expert_balance(plan->moe);
    const struct moe_summary_balance ranks = moe_summary_rank_balance(plan->moe);
    printf("  load      experts: largest ÷ mean %.3f (expert %u); GPUs: largest ÷ mean %.3f (GPU %u)\n",
           (double)experts.largest / experts.mean, experts.index, (double)ranks.largest / ranks.mean, ranks.index);
    if (experiment->traffic.routing.capacity_factor > 0) {
        printf("  dropped   %llu (token, expert) pairs: their experts were full\n",
               (unsigned long long)moe_summary_dropped(plan->moe));
    }
}

static void print_switch(const char *name, const struct experiment *experiment, const struct topology_switch *given) {
    char pool[QUANTITY_TEXT_SIZE], minimum[QUANTITY_TEXT_SIZE], maximum[QUANTITY_TEXT_SIZE];
    printf("  %-9s ", name);
    if (experiment->topology.fabric.link_layer == TOPOLOGY_LINK_INFINIBAND) {
        printf("InfiniBand, %s a port and virtual lane; ",
               experiment->topology.infiniband.buffer_bytes == 0
                   ? "one round trip"
                   : quantity_print_short(pool, QUANTITY_BYTES, (double)experiment->topology.infiniband.buffer_bytes));
    } else if (given->pfc) {
        printf("PFC, %s shared, alpha %g; ",
               quantity_print_short(pool, QUANTITY_BYTES, (double)given->lossless_pool_bytes),
               ldexp(1, given->lossless_alpha_shift));
    } else {
        printf("no PFC, %s shared, alpha %g; ",
               quantity_print_short(pool, QUANTITY_BYTES, (double)given->lossy_pool_bytes),
               ldexp(1, given->lossy_alpha_shift));
    }
    if (given->ecn) {
        printf("ECN from %s to %s, at most %g %%\n",
               quantity_print_short(minimum, QUANTITY_BYTES, (double)given->ecn_minimum_bytes),
               quantity_print_short(maximum, QUANTITY_BYTES, (double)given->ecn_maximum_bytes),
               100 * given->ecn_probability);
    } else {
        printf("no ECN\n");
    }
}

/* What switches do under every policy. */
static void print_switches(const struct experiment *experiment, const struct fabric *fabric) {
    print_switch("leaf", experiment, &experiment->topology.leaf);
    if (fabric->n_switches > fabric->n_leaves) {
        print_switch("spine", experiment, &experiment->topology.spine);
    }
}

static void print_policies(const struct experiment *experiment) {
    struct table *table = table_create();
    table_column(table, "policy", TABLE_LEFT);
    table_column(table, "path", TABLE_LEFT);
    table_column(table, "controller", TABLE_LEFT);
    table_column(table, "queue pairs a peer", TABLE_RIGHT);
    table_column(table, "early pacing", TABLE_LEFT);
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const struct experiment_policy *policy = &experiment->policies[p];
        table_cell(table, "%s", policy->name);
        table_cell(table, "%s%s", policy->path, policy->polarised ? ", polarised" : "");
        table_cell(table, "%s", policy->congestion);
        table_cell(table, "%u%s", policy->queue_pairs, policy->split_messages ? ", each message split" : "");
        table_cell(table, "%s", policy->early_pacing ? "yes" : "no");
    }
    table_print(table, stdout, 2);
    table_free(table);
}

static void print_json(const struct experiment *experiment, const struct estimate *estimate,
                       const struct fabric *fabric) {
    char digest[24];
    snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)estimate->digest);
    struct json json = json_begin(stdout);
    json_object(&json);
    json_member_text(&json, "name", experiment->name);
    json_member_whole(&json, "gpus", fabric->n_endpoints);
    json_member_whole(&json, "policies", experiment->n_policies);
    json_member_whole(&json, "seeds", experiment->n_seeds);
    json_member_whole(&json, "fabric_payload_bytes", estimate->volume.fabric_bytes);
    json_member_whole(&json, "nvlink_payload_bytes", estimate->volume.nvlink_bytes);
    json_member_whole(&json, "background_fabric_payload_bytes", estimate->background.fabric_bytes);
    json_member_whole(&json, "background_nvlink_payload_bytes", estimate->background.nvlink_bytes);
    json_member_whole(&json, "least_time_ps", estimate->ideal_ps);
    json_member_number(&json, "estimated_packet_hops_a_run", estimate->hops);
    json_member_number(&json, "estimated_memory_bytes_a_run", estimate->memory_bytes);
    json_member_number(&json, "estimated_cpu_seconds_a_run", estimate->cpu_seconds);
    json_member_text(&json, "traffic_digest", digest);
    rail_report_json(&json, fabric);
    json_object_end(&json);
    json_end(&json);
}

/* Every policy must be able to start. */
static bool check_policies(const struct experiment *experiment, struct error *error) {
    struct network_parameters parameters;
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        if (!setup_network(experiment, &experiment->policies[p], experiment->seeds[0], &parameters, error)) {
            return false;
        }
    }
    return true;
}

static void print_text(const struct arguments *given, const struct experiment *experiment, const struct fabric *fabric,
                       const struct plan *plan, const struct estimate *estimate) {
    preview_print(stdout, experiment, fabric, estimate, experiment->n_policies, given->threads);
    if (plan->moe) {
        printf("\n");
        print_load(experiment, fabric, plan);
    }
    rail_report_print(stdout, experiment, fabric, plan);
    printf("\n");
    print_switches(experiment, fabric);
    headroom_report_print(stdout, &experiment->topology, fabric);
    printf("\n");
    print_policies(experiment);
}

static bool print_all(const struct arguments *given, const struct experiment *experiment, const struct fabric *fabric,
                      struct error *error) {
    struct estimate estimate;
    struct plan plan;
    if (!check_policies(experiment, error) || !failures_check(experiment, fabric, error) ||
        !record_check(experiment, fabric, experiment->n_policies, error) ||
        !estimate_prepare(&plan, experiment, error)) {
        return false;
    }
    estimate_plan(&plan, experiment, fabric, &estimate);
    if (!given->quiet) {
        rail_report_doubt(stderr, experiment, fabric, &plan);
    }
    if (given->json) {
        print_json(experiment, &estimate, fabric);
    } else {
        print_text(given, experiment, fabric, &plan, &estimate);
    }
    plan_fini(&plan);
    return true;
}

int command_check(int n_arguments, char **arguments) {
    struct arguments given;
    struct experiment experiment;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_check_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = (int)arguments_experiment(&given, &experiment);
    if (code != EXIT_CODE_OK) {
        return code;
    }
    struct fabric *fabric = fabric_build(&experiment.topology, &error);
    if (fabric && !given.quiet) {
        headroom_report_doubt(stderr, &experiment.topology, fabric);
    }
    if (!fabric || !print_all(&given, &experiment, fabric, &error)) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    }
    fabric_free(fabric);
    return code;
}
