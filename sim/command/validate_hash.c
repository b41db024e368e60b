// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_hash.h"

#include "base/memory.h"
#include "command/ideal.h"
#include "command/validate_messages.h"
#include "device/entropy.h"
#include "path/ecmp.h"
#include "path/replay.h"

#include <math.h>
#include <stdlib.h>

/* What is compared; order of the names of key `quantity`. */
enum quantity { QUANTITY_MAX_LOAD, QUANTITY_SLOWDOWN, QUANTITY_SHARE_OF_DEMAND };

static const char *const load_quantities[] = {"max_load", "slowdown", "share", NULL};
static const char *const load_required[] = {"flows", "uplinks", "quantity", NULL};
static const char *const packets_required[] = {"flows", "uplinks", "quantity", "uplink_bytes", "configuration", NULL};

#define COMMON_KEYS                                                                                                     \
    {"flows",                                                                                                           \
     KEY_QUANTITY,                                                                                                      \
     QUANTITY_COUNT,                                                                                                    \
     "1",                                                                                                               \
     "1048576",                                                                                                         \
     .doc = "Equal flows that leave the leaf; a multiple of uplinks.",                                                  \
     VALIDATE_KIND_FIELD(flows)},                                                                                       \
        {"uplinks", KEY_QUANTITY, QUANTITY_COUNT, "1", "2048", .doc = "Of the leaf.", VALIDATE_KIND_FIELD(uplinks)},    \
        {"seeds",                                                                                                       \
         KEY_QUANTITY,                                                                                                  \
         QUANTITY_COUNT,                                                                                                \
         "1",                                                                                                           \
         "1000000",                                                                                                     \
         .doc = "The mean over hash seeds 1 to this is compared.",                                                      \
         VALIDATE_KIND_FIELD(seeds)},                                                                                   \
    {                                                                                                                   \
        "quantity", KEY_CHOICE,                                                                                         \
            .names = load_quantities,                                                                                   \
            .doc = "max_load: flows on the fullest uplink; slowdown: that ÷ the mean load; share: mean over flows of " \
                   "rate ÷ demand.",                                                                                    \
            VALIDATE_KIND_FIELD(quantity)                                                                               \
    }

static const struct key load_keys[] = {COMMON_KEYS};
static const struct key packets_keys[] = {
    COMMON_KEYS,
    {"uplink_bytes", KEY_QUANTITY, QUANTITY_BYTES, "64 KiB", "1 TB",
     .doc = "Payload of all flows ÷ uplinks: long enough that latency does not matter.",
     VALIDATE_KIND_FIELD(uplink_bytes)},
};

static const char *unit(const struct validate_row *row) {
    static const char *const units[] = {"flows", "× even", "of demand"};
    return units[row->parameters.quantity];
}

/* Flow f is queue pair f ÷ uplinks of host f mod uplinks, to the host of the same place under the other leaf. */
static struct replay_flow *flows_of(const struct validate_row_parameters *parameters) {
    struct replay_flow *flows = memory_allocate(parameters->flows, sizeof(*flows));
    for (uint32_t f = 0; f < parameters->flows; f++) {
        const uint32_t source = f % parameters->uplinks, destination = source + parameters->uplinks;
        flows[f] = (struct replay_flow){
            .source = source,
            .destination = destination,
            .entropy = entropy_of_pair(destination, f / parameters->uplinks),
        };
    }
    return flows;
}

static double quantity_of(const struct validate_row_parameters *parameters, const struct replay_load *load) {
    switch ((enum quantity)parameters->quantity) {
    case QUANTITY_MAX_LOAD:
        return load->max_load;
    case QUANTITY_SLOWDOWN:
        return (double)load->max_load * parameters->uplinks / parameters->flows;
    default:
        return load->mean_share;
    }
}

/* Mean over the seeds of what the hash of the first leaf does to the flows. Its device number follows the hosts' of both leaves. */
static double replay(const struct validate_row_parameters *parameters) {
    const uint32_t leaf = 2 * parameters->uplinks;
    struct replay_flow *flows = flows_of(parameters);
    double sum = 0;
    for (uint32_t seed = 1; seed <= parameters->seeds; seed++) {
        const struct replay_load load = replay_max_load(ecmp_switch_seed(seed, leaf, false), flows, parameters->flows,
                                                        (uint16_t)parameters->uplinks);
        sum += quantity_of(parameters, &load);
    }
    free(flows);
    return sum / parameters->seeds;
}

static bool prepare_load(struct validate_row *row, const struct validate_setup *setup) {
    struct validate_row_parameters *parameters = &row->parameters;
    if (parameters->seeds == 0) {
        parameters->seeds = 1;
    }
    if (parameters->flows % parameters->uplinks != 0) {
        return validate_setup_refuse(setup, "%u flows are no multiple of %u uplinks", parameters->flows,
                                     parameters->uplinks);
    }
    return true;
}

static bool run_load(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    (void)error;
    run->simulated = replay(&row->parameters);
    return true;
}

static bool prepare_packets(struct validate_row *row, const struct validate_setup *setup) {
    const struct validate_row_parameters *parameters = &row->parameters;
    const uint32_t uplinks = parameters->uplinks;
    char own[7][VALIDATE_SETUP_OVERRIDE_SIZE];
    if (!prepare_load(row, setup)) {
        return false;
    }
    snprintf(own[0], sizeof(own[0]), "cluster.racks=%u", 2 * uplinks);
    snprintf(own[1], sizeof(own[1]), "cluster.leaf_downlinks=%u", uplinks);
    snprintf(own[2], sizeof(own[2]), "cluster.leaf_uplinks=%u", uplinks);
    snprintf(own[3], sizeof(own[3]), "cluster.spines=%u", uplinks);
    snprintf(own[4], sizeof(own[4]), "topology.leaf.ports=%u", 2 * uplinks);
    snprintf(own[5], sizeof(own[5]), "topology.spine.ports=2");
    snprintf(own[6], sizeof(own[6]), "policies=[ecmp(%u)+none]", parameters->flows / uplinks);
    if (!validate_setup_read(setup, row, own, 7)) {
        return false;
    }
    const uint64_t payload = row->experiment->topology.nic.payload_bytes;
    const uint64_t packets = parameters->uplink_bytes * uplinks / parameters->flows / payload;
    if (packets == 0 || packets * payload * parameters->flows != parameters->uplink_bytes * uplinks) {
        return validate_setup_refuse(setup, "uplink_bytes × %u ÷ %u is no whole number of packets of %u B", uplinks,
                                     parameters->flows, (unsigned)payload);
    }
    return true;
}

/* The traffic: every flow is one message; a host's messages take its queue pairs in turn, so each has one of its own. */
static struct traffic_list *traffic_of(const struct validate_row_parameters *parameters) {
    struct traffic_list *list = traffic_list_create(2 * parameters->uplinks);
    for (uint32_t f = 0; f < parameters->flows; f++) {
        const uint32_t source = f % parameters->uplinks;
        const struct traffic_message message = {
            .destination = source + parameters->uplinks,
            .tag = f / parameters->uplinks,
            .bytes = parameters->uplink_bytes * parameters->uplinks / parameters->flows,
            .route = TRAFFIC_FABRIC,
        };
        traffic_list_add(list, source, &message);
    }
    return list;
}

/* Time on the wire of a host's data at its NIC's rate, and how long the first packet takes besides its own time on the wire. */
struct unloaded {
    double wire_ps, way_ps;
};

static struct unloaded unloaded_of(const struct validate_row *row, const struct fabric *fabric) {
    const struct plan no_moe = {0};
    const struct ideal ideal = {.fabric = fabric, .experiment = row->experiment, .plan = &no_moe};
    const uint64_t bytes = row->parameters.uplink_bytes, packet = row->experiment->topology.nic.payload_bytes;
    const double all_ps = (double)ideal_flow_ps(&ideal, 0, row->parameters.uplinks, 0, bytes);
    const double one_ps = (double)ideal_flow_ps(&ideal, 0, row->parameters.uplinks, 0, packet);
    const double packets = (double)bytes / (double)packet;
    struct unloaded unloaded = {.wire_ps = (all_ps - one_ps) * packets / (packets - 1)};
    unloaded.way_ps = all_ps - unloaded.wire_ps;
    return unloaded;
}

/* From when each flow was delivered, less the latency: the slowest against perfect balance, or the mean of what each got of its demand. */
static double measure(const struct validate_row *row, const struct fabric *fabric, const struct network *network) {
    const struct validate_row_parameters *parameters = &row->parameters;
    const struct unloaded unloaded = unloaded_of(row, fabric);
    double largest = 0, share = 0;
    uint32_t delivered = 0;
    for (uint32_t host = parameters->uplinks; host < 2 * parameters->uplinks; host++) {
        uint32_t n;
        const struct endpoint_received *received = endpoint_received_messages(network_endpoint(network, host), &n);
        for (uint32_t i = 0; i < n; i++) {
            const double slowdown = ((double)received[i].delivered_ps - unloaded.way_ps) / unloaded.wire_ps;
            largest = fmax(largest, slowdown);
            share += fmin(1, 1 / slowdown);
        }
        delivered += n;
    }
    REQUIRE(delivered == parameters->flows, "%u of %u flows were delivered", delivered, parameters->flows);
    switch ((enum quantity)parameters->quantity) {
    case QUANTITY_MAX_LOAD:
        return largest * parameters->flows / parameters->uplinks;
    case QUANTITY_SLOWDOWN:
        return largest;
    default:
        return share / parameters->flows;
    }
}

static bool run_packets(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    const uint32_t n_seeds = row->parameters.seeds;
    uint64_t *seeds = memory_allocate(n_seeds, sizeof(*seeds));
    for (uint32_t s = 0; s < n_seeds; s++) {
        seeds[s] = s + 1;
    }
    struct traffic_list *list = traffic_of(&row->parameters);
    const bool good = validate_messages(row, list, seeds, n_seeds, measure, run, error);
    if (row->published_text[0] == '\0') {
        run->reference = replay(&row->parameters);
    }
    traffic_list_free(list);
    free(seeds);
    return good;
}

const struct validate_kind validate_hash_load = {
    .name = "hash_load",
    .doc = "loads of a leaf's uplinks by hash alone, mean over seeds",
    .keys = load_keys,
    .n_keys = sizeof(load_keys) / sizeof(load_keys[0]),
    .required = load_required,
    .unit = unit,
    .prepare = prepare_load,
    .run = run_load,
};

const struct validate_kind validate_hash_packets = {
    .name = "hash_packets",
    .doc = "the same with packets; without a published value it is compared with the hash alone",
    .keys = packets_keys,
    .n_keys = sizeof(packets_keys) / sizeof(packets_keys[0]),
    .required = packets_required,
    .computes_reference = true,
    .unit = unit,
    .prepare = prepare_packets,
    .run = run_packets,
};
