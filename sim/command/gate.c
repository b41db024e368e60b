// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/memory.h"
#include "base/quantity.h"
#include "base/table.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/estimate.h"
#include "command/gate_matrix.h"
#include "command/plan.h"
#include "results/json.h"
#include "workload/expert_load_file.h"
#include "workload/load_balance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct arguments_grammar command_gate_grammar = {
    .command = "gate",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_SET | ARGUMENTS_SEED | ARGUMENTS_DETAIL | ARGUMENTS_JSON | ARGUMENTS_CSV | ARGUMENTS_QUIET,
    .description =
        "Draws the tokens of a mixture-of-experts configuration for its first seed, and says how evenly they load\n"
        "experts and GPUs, how many destinations a token has, and how many bytes go between racks (NVLink domains);\n"
        "of measured frequencies also every layer of the file. --csv prints the bytes between every pair of GPUs, and "
        "so\n"
        "does --json with --detail.",
    .examples = "  moefabric gate configs/quickstart-collision.yaml\n"
                "  moefabric gate configs/quickstart-collision.yaml --set traffic.gate=dirichlet --csv > pairs.csv\n",
};

/* What is said of a plan. */
struct view {
    const struct experiment *experiment;
    const struct moe *moe;
    struct load_balance experts, ranks;    /* of all groups together */
    double domains_a_token, ranks_a_token; /* distinct ones, the own included */
    uint64_t dropped, picks;               /* (token, expert) pairs: without room; all */
    struct expert_load *load;              /* measured: the whole file, else NULL */
    struct gate_matrix racks;
};

static struct load_balance expert_balance(const struct moe_counts *counts) {
    const uint32_t n = counts->n_groups * counts->shape.experts;
    double *loads = memory_allocate(n, sizeof *loads);
    for (uint32_t i = 0; i < n; i++) {
        loads[i] = (double)counts->expert_tokens[i];
    }
    const struct load_balance balance = load_balance_of(loads, n);
    free(loads);
    return balance;
}

static struct load_balance rank_balance(const struct moe *moe, uint32_t n_ranks) {
    double *loads = memory_allocate(n_ranks, sizeof *loads);
    uint32_t *ranks = memory_allocate(n_ranks, sizeof *ranks), n = 0; /* that take part */
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        if (moe_counts_takes_part(moe_plan_counts(moe), rank)) {
            ranks[n] = rank;
            loads[n++] = (double)moe_summary_rank_tokens(moe, rank);
        }
    }
    struct load_balance balance = load_balance_of(loads, n);
    balance.index = ranks[balance.index];
    free(loads);
    free(ranks);
    return balance;
}

static bool view_init(struct view *view, const struct experiment *experiment, const struct moe *moe,
                      struct error *error) {
    const struct moe_counts *counts = moe_plan_counts(moe);
    const struct experiment_routing *routing = &experiment->traffic.routing;
    const uint32_t n_ranks = counts->shape.placement.n_ranks;
    const double tokens = (double)moe_counts_participants(counts) * counts->shape.tokens;
    *view = (struct view){.experiment = experiment, .moe = moe};
    view->experts = expert_balance(counts);
    view->ranks = rank_balance(moe, n_ranks);
    view->picks = (uint64_t)moe_counts_participants(counts) * counts->shape.tokens * counts->shape.top_k;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        view->domains_a_token += (double)counts->domains_sent[rank] / tokens;
        view->ranks_a_token += (double)counts->ranks_received[rank] / tokens;
        view->dropped += counts->dropped[rank];
    }
    gate_matrix_init(&view->racks, moe);
    if (experiment->traffic.gate == EXPERIMENT_GATE_MEASURED) {
        view->load = expert_load_file_read(routing->path[0] ? routing->path : routing->file, routing->dataset, error);
        return view->load != NULL;
    }
    return true;
}

static void view_fini(struct view *view) {
    gate_matrix_fini(&view->racks);
    expert_load_free(view->load);
}

/* Figures of a layer of the file as it is there: of the column and step that the configuration names, else the first ones. */
struct layer {
    struct load_balance experts;
    double rank_imbalance; /* largest ÷ mean load of consecutive experts; 0 if they do not divide */
};

static struct layer layer_of(const struct view *view, uint32_t layer) {
    const struct moe_counts *counts = moe_plan_counts(view->moe);
    const struct experiment_routing *routing = &view->experiment->traffic.routing;
    const uint32_t found = expert_load_find_domain(view->load, routing->domain);
    const uint32_t domain = found < view->load->n_domains ? found : 0;
    const double *row = expert_load_row(view->load, routing->step, domain, layer);
    const uint32_t n_experts = view->load->n_experts, ranks = counts->shape.group_ranks;
    return (struct layer){
        .experts = load_balance_of(row, n_experts),
        .rank_imbalance =
            n_experts % ranks == 0 ? expert_load_imbalance(view->load, routing->step, domain, layer, ranks) : 0,
    };
}

static void print_balance(const char *name, const char *busiest, const struct load_balance *balance) {
    printf("%-9s largest ÷ mean %.3f (%s), Gini %.3f, entropy %.2f of %.2f bits\n", name, balance->max_over_mean,
           busiest, balance->gini, balance->entropy_bits, balance->largest_bits);
}

static void print_layers(const struct view *view) {
    struct table *table = table_create();
    double worst = 0, worst_rank = 0;
    table_column(table, "layer", TABLE_RIGHT);
    table_column(table, "experts, largest ÷ mean", TABLE_RIGHT);
    table_column(table, "busiest expert", TABLE_RIGHT);
    table_column(table, "Gini", TABLE_RIGHT);
    table_column(table, "entropy, bits", TABLE_RIGHT);
    table_column(table, "GPUs, largest ÷ mean", TABLE_RIGHT);
    for (uint32_t i = 0; i < view->load->n_layers; i++) {
        const struct layer layer = layer_of(view, i);
        worst = layer.experts.max_over_mean > worst ? layer.experts.max_over_mean : worst;
        worst_rank = layer.rank_imbalance > worst_rank ? layer.rank_imbalance : worst_rank;
        table_cell(table, "%" PRIu32, view->load->first_layer + i);
        table_cell(table, "%.3f", layer.experts.max_over_mean);
        table_cell(table, "%" PRIu32, layer.experts.index);
        table_cell(table, "%.3f", layer.experts.gini);
        table_cell(table, "%.2f", layer.experts.entropy_bits);
        table_cell(table, "%.3f", layer.rank_imbalance);
    }
    printf("\nlayers of the file, GPUs with consecutive experts\n");
    table_print(table, stdout, 2);
    table_free(table);
    printf("  worst of %" PRIu32 " layers: experts %.3f, GPUs %.3f\n", view->load->n_layers, worst, worst_rank);
}

static void print_text(const struct view *view) {
    const struct moe_counts *counts = moe_plan_counts(view->moe);
    printf("tokens    %" PRIu32 " of each of %" PRIu32 " GPUs, %" PRIu32 " of %" PRIu32 " experts each\n",
           counts->shape.tokens, moe_counts_participants(counts), counts->shape.top_k, counts->shape.experts);
    const uint32_t experts = counts->shape.experts, index = view->experts.index;
    char busiest[64];
    snprintf(busiest, sizeof(busiest), "expert %" PRIu32, index % experts);
    if (counts->n_groups > 1) {
        snprintf(busiest, sizeof(busiest), "expert %" PRIu32 " of group %" PRIu32, index % experts, index / experts);
    }
    print_balance("experts", busiest, &view->experts);
    snprintf(busiest, sizeof(busiest), "GPU %" PRIu32, view->ranks.index);
    print_balance("GPUs", busiest, &view->ranks);
    printf("distinct  %.3f racks and %.3f GPUs a token, its own included where it has an expert there\n",
           view->domains_a_token, view->ranks_a_token);
    if (view->experiment->traffic.routing.capacity_factor > 0) {
        printf("dropped   %" PRIu64 " of %" PRIu64 " picks (%.2f %%): their experts were full\n", view->dropped,
               view->picks, 100.0 * (double)view->dropped / (double)view->picks);
    }
    if (view->load) {
        print_layers(view);
    }
    printf("\nbytes between racks, all phases together; within a rack over NVLink\n");
    gate_matrix_print(&view->racks, stdout);
}

static void json_balance(struct json *json, const char *name, const struct load_balance *balance) {
    json_name(json, name);
    json_object(json);
    json_member_number(json, "max_over_mean", balance->max_over_mean);
    json_member_number(json, "largest", balance->largest);
    json_member_number(json, "mean", balance->mean);
    json_member_whole(json, "busiest", balance->index);
    json_member_number(json, "gini", balance->gini);
    json_member_number(json, "entropy_bits", balance->entropy_bits);
    json_object_end(json);
}

static void json_layers(struct json *json, const struct view *view) {
    json_name(json, "layers");
    json_array(json);
    for (uint32_t i = 0; view->load && i < view->load->n_layers; i++) {
        const struct layer layer = layer_of(view, i);
        json_object(json);
        json_member_whole(json, "layer", view->load->first_layer + i);
        json_balance(json, "experts", &layer.experts);
        json_member_number(json, "gpus_max_over_mean", layer.rank_imbalance);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_racks(struct json *json, const struct gate_matrix *racks) {
    json_name(json, "rack_bytes");
    json_array(json);
    for (uint32_t from = 0; racks->bytes && from < racks->n_racks; from++) {
        json_array(json);
        for (uint32_t to = 0; to < racks->n_racks; to++) {
            json_whole(json, racks->bytes[(size_t)from * racks->n_racks + to]);
        }
        json_array_end(json);
    }
    json_array_end(json);
}

static void json_row(struct json *json, enum moe_summary_phase phase, uint32_t rank, const uint64_t *row,
                     uint32_t n_ranks) {
    for (uint32_t peer = 0; peer < n_ranks; peer++) {
        if (row[peer] > 0) {
            json_object(json);
            json_member_text(json, "phase", moe_summary_phase_name(phase));
            json_member_whole(json, "from", rank);
            json_member_whole(json, "to", peer);
            json_member_whole(json, "bytes", row[peer]);
            json_object_end(json);
        }
    }
}

/* Of every pair of GPUs that exchange any. */
static void json_ranks(struct json *json, const struct moe *moe) {
    const uint32_t n_ranks = moe_plan_counts(moe)->shape.placement.n_ranks;
    uint64_t *row = memory_allocate(n_ranks, sizeof *row);
    json_name(json, "gpu_bytes");
    json_array(json);
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
        for (uint32_t rank = 0; rank < n_ranks; rank++) {
            memset(row, 0, n_ranks * sizeof *row);
            moe_summary_matrix_row(moe, phase, rank, row);
            json_row(json, phase, rank, row, n_ranks);
        }
    }
    json_array_end(json);
    free(row);
}

static void print_json(const struct view *view, bool detail) {
    struct json json = json_begin(stdout);
    json_object(&json);
    json_member_text(&json, "name", view->experiment->name);
    json_balance(&json, "experts", &view->experts);
    json_balance(&json, "gpus", &view->ranks);
    json_member_number(&json, "racks_a_token", view->domains_a_token);
    json_member_number(&json, "gpus_a_token", view->ranks_a_token);
    json_member_whole(&json, "picks", view->picks);
    json_member_whole(&json, "dropped_picks", view->dropped);
    json_layers(&json, view);
    json_racks(&json, &view->racks);
    if (detail) {
        json_ranks(&json, view->moe);
    }
    json_object_end(&json);
    json_end(&json);
}

static bool print_plan(const struct arguments *given, const struct experiment *experiment, struct error *error) {
    struct plan plan;
    struct view view;
    if (!estimate_prepare(&plan, experiment, error)) {
        return false;
    }
    const bool good = view_init(&view, experiment, plan.moe, error);
    if (good && given->csv) {
        gate_matrix_print_ranks(plan.moe, stdout);
    } else if (good && given->json) {
        print_json(&view, given->detail);
    } else if (good) {
        print_text(&view);
    }
    view_fini(&view);
    plan_fini(&plan);
    return good;
}

int command_gate(int n_arguments, char **arguments) {
    struct arguments given;
    struct experiment experiment;
    struct error error = {0};
    int code;
    if (!arguments_read(&given, &command_gate_grammar, n_arguments, arguments, &code)) {
        return code;
    }
    code = (int)arguments_experiment(&given, &experiment);
    if (code != EXIT_CODE_OK) {
        return code;
    }
    bool good = experiment.traffic.pattern == EXPERIMENT_PATTERN_MOE;
    if (!good) {
        error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "only the traffic pattern moe has a gate (traffic.pattern)");
    }
    good = good && print_plan(&given, &experiment, &error);
    if (!good) {
        error_print(stderr, &error);
        code = (int)error.exit_code;
    }
    return code;
}
