// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/rail_report.h"

#include "base/memory.h"
#include "base/quantity.h"
#include "base/table.h"
#include "config/gpu_list.h"
#include "fabric/describe.h"
#include "workload/moe_summary.h"

#include <stdlib.h>
#include <string.h>

enum { RAILS_OF_A_TABLE = 16, GPUS_OF_A_LINE = 8 };

/* Rails of a fabric; 0: it has none. */
static uint32_t rails_of(const struct experiment *experiment, const struct fabric *fabric) {
    return fabric->n_endpoints > 0 && fabric->devices[0].rail != FABRIC_NONE ? experiment->topology.fabric.rails : 0;
}

/* What the NICs of each rail send and receive in a phase. */
struct rail_bytes {
    double *sent, *received; /* [rails] */
};

static void sum_rails(const struct fabric *fabric, const struct moe *moe, enum moe_summary_phase phase,
                      struct rail_bytes *bytes) {
    for (uint32_t rank = 0; rank < fabric->n_endpoints; rank++) {
        const struct moe_summary_volume volume = moe_summary_volume(moe, rank, phase);
        bytes->sent[fabric->devices[rank].rail] += (double)volume.fabric_sent.bytes;
        bytes->received[fabric->devices[rank].rail] += (double)volume.fabric_received.bytes;
    }
}

static double largest_over_mean(const double *values, uint32_t count) {
    double largest = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = values[i] > largest ? values[i] : largest;
        sum += values[i];
    }
    return sum > 0 ? largest * count / sum : 1;
}

/* One column of bytes, and its largest ÷ mean below it. */
static void print_column(char (*cells)[QUANTITY_TEXT_SIZE], const double *values, uint32_t rails) {
    for (uint32_t rail = 0; rail < rails; rail++) {
        quantity_print_short(cells[rail], QUANTITY_BYTES, values[rail]);
    }
    snprintf(cells[rails], sizeof cells[rails], "%.3f", largest_over_mean(values, rails));
}

/* GPUs of the first domain that a rail has: "0, 4, 8, …". */
static void name_gpus(const struct experiment *experiment, uint32_t rail, uint32_t rails, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t gpu = rail, n = 0; gpu < experiment->topology.gpus_used && length < size; gpu += rails, n++) {
        if (n == GPUS_OF_A_LINE) {
            snprintf(text + length, size - length, ", …");
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%u", n > 0 ? ", " : "", gpu);
    }
}

static void print_rows(struct table *table, const struct experiment *experiment, uint32_t rails, uint32_t n_columns,
                       char (*cells)[RAILS_OF_A_TABLE + 1][QUANTITY_TEXT_SIZE]) {
    for (uint32_t row = 0; row <= rails; row++) {
        char gpus[64] = "";
        if (row < rails) {
            name_gpus(experiment, row, rails, gpus, sizeof gpus);
            table_cell(table, "%u", row);
        } else {
            table_cell(table, "largest ÷ mean");
        }
        table_cell(table, "%s", gpus);
        for (uint32_t column = 0; column < n_columns; column++) {
            table_cell(table, "%s", cells[column][row]);
        }
    }
}

static void print_table(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                        const struct moe *moe, uint32_t rails) {
    char cells[2 * MOE_SUMMARY_PHASES][RAILS_OF_A_TABLE + 1][QUANTITY_TEXT_SIZE];
    uint32_t n_columns = 0;
    struct table *table = table_create();
    table_column(table, "rail", TABLE_LEFT);
    table_column(table, "GPUs of a domain", TABLE_LEFT);
    for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; moe && phase < MOE_SUMMARY_PHASES; phase++) {
        double sent[RAILS_OF_A_TABLE] = {0}, received[RAILS_OF_A_TABLE] = {0};
        char title[64];
        if (!moe_summary_has_phase(moe, phase)) {
            continue;
        }
        sum_rails(fabric, moe, phase, &(struct rail_bytes){sent, received});
        snprintf(title, sizeof title, "%s, sent", moe_summary_phase_name(phase));
        table_column(table, title, TABLE_RIGHT);
        table_column(table, "received", TABLE_RIGHT);
        print_column(cells[n_columns++], sent, rails);
        print_column(cells[n_columns++], received, rails);
    }
    print_rows(table, experiment, rails, n_columns, cells);
    table_print(table, stream, 2);
    table_free(table);
}

void rail_report_print(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                       const struct plan *plan) {
    const uint32_t rails = rails_of(experiment, fabric);
    if (rails == 0) {
        return;
    }
    fprintf(stream, "\n");
    if (rails <= RAILS_OF_A_TABLE) {
        print_table(stream, experiment, fabric, plan->moe, rails);
    } else {
        fprintf(stream, "  rails     %u: GPU n of a domain is on rail n mod %u\n", rails, rails);
    }
    if (experiment->topology.fabric.crossed_gpus[0] != '\0') {
        fprintf(stream, "  NICs      GPUs %s have each other's, pair by pair\n",
                experiment->topology.fabric.crossed_gpus);
    }
}

/* Bytes of a GPU's phases, both ways, over the fabric to GPUs of other rails than the given one. */
static double bytes_off_rail(const struct fabric *fabric, const struct plan *plan, uint32_t gpu, uint32_t rail) {
    const uint32_t n_ranks = plan->placement.n_ranks;
    uint64_t *row = memory_allocate(n_ranks, sizeof *row);
    double bytes = 0;
    for (uint32_t from = 0; from < n_ranks; from++) {
        memset(row, 0, n_ranks * sizeof *row);
        for (enum moe_summary_phase phase = MOE_SUMMARY_DISPATCH; phase < MOE_SUMMARY_PHASES; phase++) {
            moe_summary_matrix_row(plan->moe, phase, from, row);
        }
        for (uint32_t to = 0; to < n_ranks; to++) {
            const uint32_t peer = from == gpu ? to : from;
            if ((from == gpu || to == gpu) && moe_placement_route(&plan->placement, from, to) == TRAFFIC_FABRIC &&
                fabric->devices[peer].rail != rail) {
                bytes += (double)row[to];
            }
        }
    }
    free(row);
    return bytes;
}

/* The way to the GPU in the next domain that has the index of another. */
static struct describe_path way_to_mate(const struct experiment *experiment, const struct fabric *fabric, uint32_t gpu,
                                        uint32_t of) {
    const struct topology_nic *nic = &experiment->topology.nic;
    const uint32_t mate = (of + experiment->topology.gpus_used) % fabric->n_endpoints;
    struct describe_path path = {0};
    describe_path(fabric, gpu, mate, FABRIC_ETHERNET, nic->payload_bytes + nic->header_bytes, &path);
    return path;
}

static void doubt_gpu(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                      const struct plan *plan, uint32_t gpu, uint32_t other) {
    char with[QUANTITY_TEXT_SIZE], without[QUANTITY_TEXT_SIZE], first[QUANTITY_TEXT_SIZE], second[QUANTITY_TEXT_SIZE];
    const uint32_t rail = fabric->devices[gpu].rail, own = fabric->devices[other].rail;
    fprintf(stream, "warning: GPU %u uses the NIC of GPU %u (fabric.crossed_gpus), on rail %u in place of rail %u", gpu,
            other, rail, own);
    if (plan->moe) {
        fprintf(stream, "; %s of its traffic leave the rail, with its own NIC %s",
                quantity_print_short(with, QUANTITY_BYTES, bytes_off_rail(fabric, plan, gpu, rail)),
                quantity_print_short(without, QUANTITY_BYTES, bytes_off_rail(fabric, plan, gpu, own)));
    }
    const struct describe_path crossed = way_to_mate(experiment, fabric, gpu, gpu);
    const struct describe_path usual =
        way_to_mate(experiment, fabric, gpu, other); /* on its rail: as long as its own would be */
    fprintf(stream, "; to the next domain's GPU of its index a packet takes %u links and %s, elsewhere %u and %s\n",
            crossed.n_hops, quantity_print_short(first, QUANTITY_TIME, (double)crossed.latency_ps), usual.n_hops,
            quantity_print_short(second, QUANTITY_TIME, (double)usual.latency_ps));
}

void rail_report_doubt(FILE *stream, const struct experiment *experiment, const struct fabric *fabric,
                       const struct plan *plan) {
    char problem[ERROR_MESSAGE_SIZE];
    struct gpu_list list;
    const char *crossed = experiment->topology.fabric.crossed_gpus;
    if (crossed[0] == '\0' || rails_of(experiment, fabric) == 0 ||
        !gpu_list_read(&list, crossed, fabric->n_endpoints, problem, sizeof problem)) {
        return;
    }
    for (uint32_t i = 0; i < list.n_gpus; i++) {
        const uint32_t gpu = list.gpus[i], other = list.gpus[i ^ 1];
        if (fabric->devices[gpu].rail != fabric->devices[other].rail) {
            doubt_gpu(stream, experiment, fabric, plan, gpu, other);
        }
    }
    gpu_list_fini(&list);
}

void rail_report_json(struct json *json, const struct fabric *fabric) {
    if (fabric->n_endpoints == 0 || fabric->devices[0].rail == FABRIC_NONE) {
        return;
    }
    json_name(json, "nics");
    json_array(json);
    for (uint32_t gpu = 0; gpu < fabric->n_endpoints; gpu++) {
        const struct fabric_endpoint *endpoint = &fabric->endpoints[gpu];
        json_object(json);
        json_member_whole(json, "gpu", gpu);
        json_member_whole(json, "rail", fabric->devices[gpu].rail);
        json_member_whole(json, "leaf", endpoint->leaf);
        json_member_whole(json, "leaf_port", endpoint->leaf_port);
        json_object_end(json);
    }
    json_array_end(json);
}
