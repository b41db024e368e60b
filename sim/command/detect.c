// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/progress.h"
#include "base/table.h"
#include "command/arguments.h"
#include "command/command.h"
#include "command/detect_run.h"
#include "command/interrupt.h"
#include "command/study.h"
#include "command/telemetry_take.h"
#include "fabric/builder.h"
#include "fabric/names.h"
#include "results/json.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct arguments_grammar command_detect_grammar = {
    .command = "detect",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_POLICY | ARGUMENTS_SEED | ARGUMENTS_SET | ARGUMENTS_CASES | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Simulates the traffic of a configuration with all that is wrong in it (`failures`, `cluster.crossed_gpus`, "
        "`training.stragglers`, gate),\nand names slow GPUs, NICs, hosts, links, rails and experts from what "
        "monitoring "
        "would see of it alone, the worst first.\nWith --cases the detector is scored on so many clusters with faults "
        "drawn at random, and healthy ones.\n\"Spreads away\" counts how far a part is from the median of its peers, "
        "in "
        "median distances from it: of parts that are alike hardly one is 3.5 away.",
    .examples = "  moefabric detect configs/detect-straggler.yaml\n"
                "  moefabric detect configs/detect-straggler.yaml --cases 200\n",
};

const struct arguments_grammar command_preflight_grammar = {
    .command = "preflight",
    .operand = "CONFIG",
    .operand_required = true,
    .options = ARGUMENTS_POLICY | ARGUMENTS_SEED | ARGUMENTS_SET | ARGUMENTS_CASES | ARGUMENTS_JSON | ARGUMENTS_QUIET,
    .description =
        "Simulates a probe of a cluster before it trains: rounds in which every GPU sends to one other, a matrix "
        "multiplication on each GPU,\nand a look at ports and neighbours; names marginal clocks, NICs, hosts, links "
        "and "
        "rails. Two minutes on a real cluster.\nWith --cases the probe is scored on so many clusters with faults drawn "
        "at random, and healthy ones.",
    .examples = "  moefabric preflight configs/detect-straggler.yaml\n"
                "  moefabric preflight configs/detect-straggler.yaml --cases 200\n",
};

static const char *place_of(const struct fabric *fabric, const struct detector_finding *finding, char *name,
                            size_t size) {
    if (finding->cable != TELEMETRY_NONE) {
        return fabric_link_name(fabric, finding->cable, name, size);
    }
    return fabric_device_name(fabric, finding->rank, name, size);
}

/* What an amount means depends on the fault. */
static void print_amount(struct table *table, const struct detector_finding *finding) {
    if (finding->fault == DETECTOR_WRONG_RAIL || (finding->fault == DETECTOR_SLOW_HOST && finding->amount == 0)) {
        table_cell(table, "%s", finding->fault == DETECTOR_WRONG_RAIL ? "on the leaf of another" : "pauses its leaf");
    } else if (finding->fault == DETECTOR_LOSSY) {
        table_cell(table, "loses %.2g of packets", finding->amount);
    } else {
        table_cell(table, "%.1f %% more than peers", 100 * finding->amount);
    }
}

/* Least and most of a quantity of ranks. */
static void extent(const struct telemetry *telemetry, size_t offset, double *least, double *most) {
    *least = INFINITY;
    *most = 0;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        double value;
        memcpy(&value, (const char *)&telemetry->ranks[i] + offset, sizeof value);
        *least = fmin(*least, value);
        *most = fmax(*most, value);
    }
}

static void print_seen(const struct telemetry *telemetry) {
    double least, most, retransmissions = 0, utilisation = 0;
    for (uint32_t i = 0; i < telemetry->n_ranks; i++) {
        retransmissions += telemetry->ranks[i].retransmissions;
    }
    for (uint32_t i = 0; i < telemetry->n_links; i++) {
        utilisation = fmax(utilisation, telemetry->links[i].utilisation);
    }
    extent(telemetry, offsetof(struct telemetry_rank, compute), &least, &most);
    printf("seen      %" PRIu32 " GPUs and %" PRIu32 " ports: kernels take %.3g to %.3g of their time",
           telemetry->n_ranks, telemetry->n_links, least, most);
    extent(telemetry, offsetof(struct telemetry_rank, wait_s), &least, &most);
    printf(", transfers %.4g to %.4g us, %.0f packets were sent again, the busiest port is used for %.0f %%\n\n",
           least * 1e6, most * 1e6, retransmissions, 100 * utilisation);
}

static void print_report(const struct fabric *fabric, const struct detector_report *report,
                         const struct telemetry *seen, bool probe) {
    char name[NAMES_LINK_SIZE];
    if (probe) {
        printf("probe     %d rounds of pairs, %.0f s on a cluster\n", DETECT_RUN_ROUNDS, DETECT_RUN_PROBE_S);
    }
    print_seen(seen);
    if (report->count == 0) {
        printf("nothing is wrong, as far as can be seen\n");
        return;
    }
    struct table *table = table_create();
    table_column(table, "what", TABLE_LEFT);
    table_column(table, "where", TABLE_LEFT);
    table_column(table, "how much", TABLE_LEFT);
    table_column(table, "spreads away", TABLE_RIGHT);
    for (uint32_t i = 0; i < report->count; i++) {
        const struct detector_finding *finding = &report->findings[i];
        table_cell(table, "%s", detector_fault_names[finding->fault]);
        table_cell(table, "%s", place_of(fabric, finding, name, sizeof name));
        print_amount(table, finding);
        if (isfinite(finding->spreads) && finding->spreads > 0) {
            table_cell(table, "%.3g", finding->spreads);
        } else {
            table_cell(table, "–");
        }
    }
    table_print(table, stdout, 0);
    table_free(table);
    if (report->more) {
        printf("and more\n");
    }
}

static void write_ranks(struct json *json, const struct telemetry *seen) {
    json_name(json, "gpus");
    json_array(json);
    for (uint32_t i = 0; i < seen->n_ranks; i++) {
        const struct telemetry_rank *rank = &seen->ranks[i];
        json_object(json);
        json_member_short(json, "compute", rank->compute);
        json_member_short(json, "tokens", rank->tokens);
        json_member_short(json, "transfer_us", rank->wait_s * 1e6);
        json_member_short(json, "retransmissions", rank->retransmissions);
        json_member_short(json, "receive_pauses", rank->receive_pauses);
        json_member_short(json, "send_share", rank->send_share);
        json_member_short(json, "receive_share", rank->receive_share);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_ports(struct json *json, const struct fabric *fabric, const struct telemetry *seen) {
    char name[NAMES_LINK_SIZE];
    json_name(json, "ports");
    json_array(json);
    for (uint32_t link = 0, i = 0; link < fabric->n_links && i < seen->n_links; link++) {
        if (fabric->links[link].kind == FABRIC_ETHERNET) {
            const struct telemetry_link *port = &seen->links[i++];
            json_object(json);
            json_member_text(json, "name", fabric_link_name(fabric, link, name, sizeof name));
            json_member_short(json, "utilisation", port->utilisation);
            json_member_short(json, "busy_rate_share", port->rate_bytes_per_s / port->nominal_bytes_per_s);
            json_member_short(json, "errors", port->errors);
            json_object_end(json);
        }
    }
    json_array_end(json);
}

static void print_report_json(const struct fabric *fabric, const struct detector_report *report,
                              const struct telemetry *seen) {
    struct json json = json_begin(stdout);
    char name[NAMES_LINK_SIZE];
    json_object(&json);
    json_name(&json, "findings");
    json_array(&json);
    for (uint32_t i = 0; i < report->count; i++) {
        const struct detector_finding *finding = &report->findings[i];
        json_object(&json);
        json_member_text(&json, "what", detector_fault_names[finding->fault]);
        json_member_text(&json, "where", place_of(fabric, finding, name, sizeof name));
        json_member_short(&json, "amount", finding->amount);
        json_member_short(&json, "spreads", finding->spreads);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_member_boolean(&json, "more", report->more);
    write_ranks(&json, seen);
    write_ports(&json, fabric, seen);
    json_object_end(&json);
    json_end(&json);
}

/* ---- campaigns ---- */

/* Of nothing there is no share. */
enum { SHARE_SIZE = 16 };

/* A share of nothing is none. Returns text. */
static const char *share_text(char text[SHARE_SIZE], double share) {
    snprintf(text, SHARE_SIZE, isnan(share) ? "–" : "%.3f", share);
    return text;
}

static void print_score(const struct fault_campaign_score *score) {
    char precision[SHARE_SIZE], recall[SHARE_SIZE];
    struct table *table = table_create();
    table_column(table, "fault", TABLE_LEFT);
    table_column(table, "there", TABLE_RIGHT);
    table_column(table, "found", TABLE_RIGHT);
    table_column(table, "wrongly named", TABLE_RIGHT);
    table_column(table, "precision", TABLE_RIGHT);
    table_column(table, "recall", TABLE_RIGHT);
    for (uint32_t fault = 0; fault < DETECTOR_FAULTS; fault++) {
        table_cell(table, "%s", detector_fault_names[fault]);
        table_cell(table, "%" PRIu32, score->there[fault]);
        table_cell(table, "%" PRIu32, score->found[fault]);
        table_cell(table, "%" PRIu32, score->wrong[fault]);
        table_cell(table, "%s", share_text(precision, fault_campaign_precision(score, fault)));
        table_cell(table, "%s", share_text(recall, fault_campaign_recall(score, fault)));
    }
    table_print(table, stdout, 0);
    table_free(table);
    printf("\n%" PRIu32 " cases: precision %s, recall %s; something named in %" PRIu32 " of %" PRIu32
           " healthy ones; of %" PRIu32 " with faults one is named first in %" PRIu32 "\n",
           score->cases, share_text(precision, fault_campaign_precision(score, DETECTOR_FAULTS)),
           share_text(recall, fault_campaign_recall(score, DETECTOR_FAULTS)), score->healthy_named, score->healthy,
           score->faulty, score->first_right);
}

static void print_score_json(const struct fault_campaign_score *score) {
    struct json json = json_begin(stdout);
    json_object(&json);
    json_member_whole(&json, "cases", score->cases);
    json_member_number(&json, "precision", fault_campaign_precision(score, DETECTOR_FAULTS));
    json_member_number(&json, "recall", fault_campaign_recall(score, DETECTOR_FAULTS));
    json_member_whole(&json, "healthy", score->healthy);
    json_member_whole(&json, "healthy_named", score->healthy_named);
    json_member_whole(&json, "faulty", score->faulty);
    json_member_whole(&json, "first_right", score->first_right);
    json_name(&json, "faults");
    json_array(&json);
    for (uint32_t fault = 0; fault < DETECTOR_FAULTS; fault++) {
        json_object(&json);
        json_member_text(&json, "what", detector_fault_names[fault]);
        json_member_whole(&json, "there", score->there[fault]);
        json_member_whole(&json, "found", score->found[fault]);
        json_member_whole(&json, "wrong", score->wrong[fault]);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_end(&json);
}

static void show(void *context, uint32_t done, uint32_t of) {
    struct progress *shown = context;
    const struct progress_sample sample = {.share_done = (double)done / of,
                                           .parts = of,
                                           .parts_done = done,
                                           .part_name = "cases",
                                           .without_packets = true};
    if (done < of) {
        progress_update(shown, &sample);
    } else {
        progress_finish(shown, &sample);
    }
}

static bool score(const struct arguments *given, const struct experiment *experiment, const struct detect_run *how,
                  struct error *error) {
    struct fault_campaign_score result;
    struct progress progress;
    progress_init(&progress, stderr, how->probe ? "preflight" : "detect", given->quiet);
    const struct detect_run_watch watch = {.show = show, .context = &progress};
    if (!detect_run_campaign(&result, experiment, how, given->cases, &watch, error)) {
        return false;
    }
    if (result.cases < given->cases) {
        return error_set(error, EXIT_CODE_INTERRUPTED, ERROR_ID_RUN_LIMIT, "interrupted after %" PRIu32 " cases",
                         result.cases);
    }
    if (given->json) {
        print_score_json(&result);
    } else {
        print_score(&result);
    }
    return true;
}

static bool look(const struct arguments *given, const struct experiment *experiment, const struct detect_run *how,
                 struct error *error) {
    struct detector_report report;
    struct telemetry *seen = NULL;
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    const bool done = fabric != NULL && detect_run_look(&report, experiment, how, &seen, error);
    if (done && given->json) {
        print_report_json(fabric, &report, seen);
    } else if (done) {
        print_report(fabric, &report, seen, how->probe);
    }
    telemetry_take_free(seen);
    fabric_free(fabric);
    return done;
}

static int run(const struct arguments *given, bool probe) {
    struct experiment experiment;
    struct error error = {0};
    struct detect_run how = {.probe = probe};
    const enum exit_code code = arguments_experiment(given, &experiment);
    if (code != EXIT_CODE_OK) {
        return (int)code;
    }
    if (given->policy != NULL && !study_find_policy(&experiment, given->policy, &how.policy)) {
        return EXIT_CODE_USAGE;
    }
    how.seed = experiment.seeds[0];
    if (experiment.network_model == EXPERIMENT_NETWORK_FLUID && !given->quiet) {
        fprintf(stderr, "note: simulated packet by packet: the fluid model (network_model) has no losses and pauses to "
                        "see\n");
    }
    if (experiment.traffic.pattern != EXPERIMENT_PATTERN_MOE) {
        error_set(&error, EXIT_CODE_CONFIGURATION, ERROR_ID_CONFLICT_TRAFFIC,
                  "stragglers are looked for in the exchanges of a layer with experts: traffic.pattern must be moe");
    } else if (given->cases > 0 ? score(given, &experiment, &how, &error) : look(given, &experiment, &how, &error)) {
        return EXIT_CODE_OK;
    }
    if (error.exit_code == EXIT_CODE_CONFIGURATION && error.file[0] == '\0') {
        snprintf(error.file, sizeof error.file, "%s", given->operand);
    }
    error_print(stderr, &error);
    return (int)error.exit_code;
}

int command_detect(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    interrupt_listen();
    return arguments_read(&given, &command_detect_grammar, n_arguments, arguments, &code) ? run(&given, false) : code;
}

int command_preflight(int n_arguments, char **arguments) {
    struct arguments given;
    int code;
    interrupt_listen();
    return arguments_read(&given, &command_preflight_grammar, n_arguments, arguments, &code) ? run(&given, true) : code;
}
