// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_alltoall.h"

#include "command/validate_seeds.h"
#include "results/summary.h"

#include <stdio.h>

/* Order of the names of key `unit`. */
enum unit { UNIT_NIC, UNIT_BYTE_RATE };

static const char *const units[] = {"NIC", "GB/s", NULL};
static const char *const required[] = {"nodes", "gpus", "unit", "configuration", NULL};

static const struct key keys[] = {
    {"nodes", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", .doc = "NVLink domains.", VALIDATE_KIND_FIELD(nodes)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", .doc = "GPUs, each with a NIC, used of a node.",
     VALIDATE_KIND_FIELD(gpus)},
    {"unit", KEY_CHOICE, .names = units, .doc = "NIC: multiples of the NIC's payload rate; or GB/s.",
     VALIDATE_KIND_FIELD(unit)},
};

static const char *unit(const struct validate_row *row) {
    return row->parameters.unit == UNIT_NIC ? "× NIC payload rate" : "GB/s busbw";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    char own[3][VALIDATE_SETUP_OVERRIDE_SIZE];
    snprintf(own[0], sizeof(own[0]), "traffic.pattern=all_to_all");
    snprintf(own[1], sizeof(own[1]), "cluster.racks=%u", row->parameters.nodes);
    snprintf(own[2], sizeof(own[2]), "cluster.gpus_used=%u", row->parameters.gpus);
    return validate_setup_read(setup, row, own, 3);
}

/* Payload bytes a second that a NIC puts on its links in full packets. */
static double nic_bytes_per_s(const struct experiment *experiment, const struct fabric *fabric) {
    const struct topology_nic *nic = &experiment->topology.nic;
    const double wire =
        (double)fabric->n_planes * (double)fabric->links[fabric->devices[0].first_port].rate_bits_per_s / 8;
    return wire * (double)nic->payload_bytes / (double)(nic->payload_bytes + nic->header_bytes);
}

static double busbw(const struct validate_row *row, const struct fabric *fabric,
                    const struct measurement *measurement) {
    struct summary *summary = summary_create(measurement);
    const double base = row->parameters.unit == UNIT_NIC ? nic_bytes_per_s(row->experiment, fabric) : 1e9;
    const double value = summary->phases[0].busbw / base;
    summary_free(summary);
    return value;
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    return validate_seeds(row, run, busbw, error);
}

const struct validate_kind validate_alltoall_busbw = {
    .name = "alltoall_busbw",
    .doc = "bus bandwidth (logical) of a uniform all-to-all over nodes with NVLink",
    .keys = keys,
    .n_keys = sizeof(keys) / sizeof(keys[0]),
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
