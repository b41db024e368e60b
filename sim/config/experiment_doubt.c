// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/experiment_doubt.h"

#include "base/number.h"
#include "base/quantity.h"
#include "base/rate.h"

#include <stdarg.h>
#include <string.h>

/** Where policies are written, and where doubts go. */
struct doubts {
    const struct tree_node *root;
    struct error_list *notes;
};

/** The place of a policy: its item of the list, or the only one. */
static struct tree_place place_of(const struct doubts *doubts, uint32_t policy) {
    const struct tree_entry *entry = tree_find_path(doubts->root, "policies");
    if (entry == NULL) {
        return (struct tree_place){0};
    }
    const struct tree_node *node = entry->value;
    return node->kind == TREE_LIST && policy < node->n_entries ? node->entries[policy].value->place : node->place;
}

static void __attribute__((format(printf, 3, 0)))
note_list(const struct doubts *doubts, struct tree_place place, const char *format, va_list arguments) {
    struct error error = {0};
    tree_locate(&error, place);
    error.source[0] = '\0'; // one line a note is enough
    vsnprintf(error.message, sizeof error.message, format, arguments);
    error_list_add(doubts->notes, &error);
}

static void __attribute__((format(printf, 3, 4)))
note_at(const struct doubts *doubts, struct tree_place place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note_list(doubts, place, format, arguments);
    va_end(arguments);
}

static void __attribute__((format(printf, 3, 4)))
note(const struct doubts *doubts, uint32_t policy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note_list(doubts, place_of(doubts, policy), format, arguments);
    va_end(arguments);
}

bool experiment_doubt_reorders(const char *path) {
    static const char *const ordered[] = {"ecmp", "flowlet", "d_mod_k"};
    for (size_t i = 0; i < sizeof ordered / sizeof ordered[0]; i++) {
        if (strcmp(path, ordered[i]) == 0) {
            return false;
        }
    }
    return true;
}

static uint64_t queue_ps(const struct topology *topology, const struct topology_switch *device) {
    const uint64_t packet = topology->nic.payload_bytes + topology->nic.header_bytes;
    if (device->port_rate_bits_per_s == 0) {
        return 0;
    }
    return rate_time_ps(rate_ps_per_byte(device->port_rate_bits_per_s),
                        device->ecn ? device->ecn_minimum_bytes : packet);
}

uint64_t experiment_doubt_skew_ps(const struct topology *topology) {
    if (topology->fabric.spines == 0) {
        return 0;
    }
    const uint64_t of_spines = topology->fabric.super_spines > 0 ? 3 : 1;
    return queue_ps(topology, &topology->leaf) + of_spines * queue_ps(topology, &topology->spine);
}

/** Controllers with a window of their own against the ACKs and marks that they live on. */
static void doubt_feedback(const struct doubts *doubts, const struct experiment *experiment, uint32_t p) {
    const struct experiment_policy *policy = &experiment->policies[p];
    const struct topology *topology = &experiment->topology;
    const bool nscc = strcmp(policy->congestion, "nscc") == 0;
    char bytes[QUANTITY_TEXT_SIZE];
    if ((nscc || strcmp(policy->congestion, "swift") == 0 || strcmp(policy->congestion, "hpcc") == 0) &&
        experiment->transport.acknowledge_bytes > topology->nic.payload_bytes) {
        note(doubts, p,
             "policy `%s`: the window of %s may fall to one packet, and an ACK only every %s (transport.acknowledge) "
             "then comes no sooner than the retransmission time-out",
             policy->name, policy->congestion,
             quantity_print(bytes, QUANTITY_BYTES, experiment->transport.acknowledge_bytes));
    }
    if (strcmp(policy->congestion, "receiver_credit") == 0 && !topology->leaf.ecn && !topology->spine.ecn) {
        note(doubts, p,
             "policy `%s`: what the first windows of many senders put into a queue stays there while they send, for "
             "receivers slow down by marks only and no switch marks (leaf.ecn, spine.ecn)",
             policy->name);
    }
    if (nscc && !topology->leaf.ecn && !topology->spine.ecn) {
        note(doubts, p,
             "policy `%s`: nscc cuts its window on marked packets only, and no switch marks (leaf.ecn, spine.ecn): it "
             "slows down only where next to nothing arrives any more",
             policy->name);
    }
}

/** No less than can come by any link after a pause: fabric/headroom.h works it out link by link, here the longest cable has the highest rate. */
static uint64_t most_in_flight_bytes(const struct topology *topology) {
    enum { PACKETS = 4 };
    const struct topology_fabric *fabric = &topology->fabric;
    const struct topology_nic *nic = &topology->nic;
    const struct topology_switch *leaf = &topology->leaf, *spine = &topology->spine;
    const uint64_t cable_m =
        number_larger(fabric->host_cable_m, number_larger(fabric->spine_cable_m, fabric->super_spine_cable_m));
    const uint64_t device_ps = number_larger(nic->latency_ps, number_larger(leaf->latency_ps, spine->latency_ps));
    const uint64_t built_ps = cable_m * fabric->cable_latency_ps_per_m + device_ps;
    const uint64_t link_ps = fabric->link_latency_ps > 0 ? fabric->link_latency_ps : built_ps;
    const uint64_t rate =
        number_larger(nic->rate_bits_per_s, number_larger(leaf->port_rate_bits_per_s, spine->port_rate_bits_per_s));
    return (uint64_t)(2 * (double)link_ps * (double)rate / 8e12) + PACKETS * (nic->payload_bytes + nic->header_bytes);
}

/** Pauses come in time if there is headroom enough. A watchdog drops, or sends more than there is room for. */
static bool is_lossless(const struct topology_switch *device, uint64_t in_flight_bytes) {
    const bool room = device->headroom_bytes == 0 || device->headroom_bytes >= in_flight_bytes; /* 0: automatic */
    return device->pfc && room && !(device->watchdog && device->watchdog_action != TOPOLOGY_WATCHDOG_ALERT);
}

/** Is it sure that nothing is lost? Lossless queues never overflow, or links have credits; hosts take what arrives; nothing fails. */
static bool loses_nothing(const struct experiment *experiment) {
    const struct topology *topology = &experiment->topology;
    const uint64_t in_flight_bytes = most_in_flight_bytes(topology);
    const bool lossless =
        topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND ||
        (is_lossless(&topology->leaf, in_flight_bytes) && is_lossless(&topology->spine, in_flight_bytes));
    return lossless && topology->nic.receive_rate_bits_per_s == 0 && experiment->n_failures == 0;
}

/** Selective repeat where nothing is lost, or where time-outs are all that tells of a loss. */
static void doubt_recovery(const struct doubts *doubts, const struct experiment *experiment) {
    const struct tree_entry *entry = tree_find_path(doubts->root, "transport.recovery");
    if (entry != NULL && experiment->transport.recovery == EXPERIMENT_RECOVERY_SELECTIVE_REPEAT &&
        loses_nothing(experiment)) {
        note_at(doubts, entry->value->place,
                "selective repeat changes next to nothing: this fabric is lossless (%s) and nothing fails, so "
                "nothing is sent again",
                experiment->topology.fabric.link_layer == TOPOLOGY_LINK_INFINIBAND ? "fabric.link_layer" : "leaf.pfc");
    }
}

/** More than credits can count: 2,048 blocks of 64 B ahead, in fields of 12 bits (InfiniBand Architecture Specification, volume 1, 7.9.4). */
static void doubt_credit(const struct doubts *doubts, const struct experiment *experiment) {
    enum { MOST_BYTES = 2048 * 64 };
    const struct tree_entry *entry = tree_find_path(doubts->root, "topology.infiniband.buffer");
    const struct topology *topology = &experiment->topology;
    if (topology->fabric.link_layer == TOPOLOGY_LINK_INFINIBAND && topology->infiniband.buffer_bytes > MOST_BYTES) {
        note_at(doubts, entry != NULL ? entry->value->place : (struct tree_place){0},
                "infiniband.buffer: credits of a virtual lane count up to 128 KiB (12 bits of 64 B blocks), so no port "
                "can offer more");
    }
}

/** Path policies that switches of this link layer do not have. */
static void doubt_path(const struct doubts *doubts, const struct experiment *experiment, uint32_t p) {
    const struct experiment_policy *policy = &experiment->policies[p];
    const bool has = strcmp(policy->path, "d_mod_k") == 0 || strcmp(policy->path, "adaptive") == 0;
    if (experiment->topology.fabric.link_layer == TOPOLOGY_LINK_INFINIBAND && !has &&
        experiment->topology.fabric.spines > 0) {
        note(doubts, p,
             "policy `%s`: InfiniBand switches do not hash; they have a port for each destination (d_mod_k), or route "
             "adaptively (adaptive)",
             policy->name);
    }
}

void experiment_doubt(const struct experiment *experiment, const struct tree_node *root, struct error_list *notes) {
    const struct doubts doubts = {.root = root, .notes = notes};
    const uint64_t gap_ps = experiment->path.flowlet_gap_ps;
    const uint64_t skew_ps = experiment_doubt_skew_ps(&experiment->topology);
    char gap[QUANTITY_TEXT_SIZE], skew[QUANTITY_TEXT_SIZE];
    doubt_recovery(&doubts, experiment);
    doubt_credit(&doubts, experiment);
    for (uint32_t p = 0; p < experiment->n_policies; p++) {
        const struct experiment_policy *policy = &experiment->policies[p];
        doubt_feedback(&doubts, experiment, p);
        doubt_path(&doubts, experiment, p);
        if (experiment_doubt_reorders(policy->path) && !experiment->topology.nic.out_of_order &&
            experiment->topology.fabric.spines > 0 && experiment->network_model != EXPERIMENT_NETWORK_FLUID) {
            note(&doubts, p,
                 "policy `%s` lets packets of a queue pair overtake each other, but the NIC cannot place them "
                 "(nic.out_of_order: false): each that comes early is discarded and sent again",
                 policy->name);
        }
        if (strcmp(policy->path, "flowlet") == 0 && gap_ps < skew_ps) {
            note(
                &doubts, p,
                "policy `%s`: packets overtake each other where a flow moves after a gap of %s (path.flowlet_gap), for "
                "queues at their marking threshold make paths differ by %s",
                policy->name, quantity_print(gap, QUANTITY_TIME, gap_ps), quantity_print(skew, QUANTITY_TIME, skew_ps));
        }
    }
}
