// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_case.h"

#include <inttypes.h>

static const char *kind_name(const struct fabric_device *device) {
    switch (device->kind) {
    case FABRIC_ENDPOINT:
        return "endpoint";
    case FABRIC_NVSWITCH:
        return "chip";
    case FABRIC_SWITCH:
        break;
    }
    return device->tier == FABRIC_TIER_LEAF ? "leaf" : device->tier == FABRIC_TIER_SPINE ? "spine" : "super-spine";
}

static void print_fabric(FILE *stream, const struct fabric *fabric) {
    for (uint32_t i = 0; i < fabric->n_devices; i++) {
        const struct fabric_device *device = &fabric->devices[i];
        fprintf(stream, "device %" PRIu32 " %s%s\n", i, kind_name(device), device->cut_through ? " cut-through" : "");
        for (uint32_t port = 0; port < device->n_ports; port++) {
            const struct fabric_link *link = &fabric->links[device->first_port + port];
            fprintf(stream, "  port %" PRIu32 " -> device %" PRIu32 " port %" PRIu32 ", %g Gb/s, %" PRIu64 " ps\n",
                    port, link->head_device, link->head_port, (double)link->rate_bits_per_s / 1e9, link->latency_ps);
        }
    }
}

static void print_switch(FILE *stream, const char *name, const struct switch_parameters *p) {
    fprintf(stream,
            "%s: pfc %d pools %" PRIu64 " %" PRIu64 " shifts %d %d headroom %" PRIu64 " xon %" PRIu64 " ecn %d %" PRIu64
            " %" PRIu64 " %" PRIu32 " watchdog %" PRIu64 " %" PRIu64 " action %d\n",
            name, p->pfc, p->lossless_pool_bytes, p->lossy_pool_bytes, p->lossless_alpha_shift, p->lossy_alpha_shift,
            p->headroom_bytes, p->xon_bytes, p->ecn, p->ecn_minimum_bytes, p->ecn_maximum_bytes,
            p->ecn_probability_fxp20, p->watchdog_detection_ps, p->watchdog_restoration_ps, (int)p->watchdog_action);
}

static void print_nic(FILE *stream, const struct nic_parameters *p) {
    fprintf(stream,
            "nic: payload %" PRIu32 " header %" PRIu32 " control %" PRIu32 " acknowledge %" PRIu32
            " queue pairs %" PRIu32 "%s window %" PRIu32 " out of order %d adaptive %d class %d (other every %" PRIu32
            ") timeout %" PRIu64 " nack interval %" PRIu64 " receive %" PRIu64 " buffer %" PRIu64 " xoff %" PRIu64
            " xon %" PRIu64 "\n",
            p->payload_bytes, p->header_bytes, p->control_bytes, p->acknowledge_bytes, p->queue_pairs,
            p->split_messages ? ", all for each message," : "", p->window_packets, p->out_of_order, p->adaptive_marking,
            (int)p->data_class, p->other_class_every, p->retransmit_timeout_ps, p->nack_interval_ps,
            p->receive_ps_per_byte, p->receive_buffer_bytes, p->receive_xoff_bytes, p->receive_xon_bytes);
    if (p->message_gap_ps > 0) {
        fprintf(stream, "message gap %" PRIu64 "\n", p->message_gap_ps);
    }
    if (p->selective_repeat) {
        fprintf(stream,
                "selective repeat: distance %" PRIu32 " short timeout %" PRIu64 " for %" PRIu32
                " packets, %g products\n",
                p->loss_distance, p->short_timeout_ps, p->short_timeout_packets, p->window_products);
    }
}

static void print_message(FILE *stream, uint32_t number, const struct random_case_message *drawn) {
    const struct traffic_message *m = &drawn->message;
    fprintf(stream,
            "message %" PRIu32 ": %" PRIu32 " -> %" PRIu32 " tag %" PRIu32 " bytes %" PRIu64 " start %" PRIu64
            " unit %" PRIu32 " local %" PRIu32 " share %" PRIu32 " %s channel %d%s",
            number, drawn->source, m->destination, m->tag, m->bytes, m->start_ps, m->unit_bytes, m->local_units,
            m->share, m->route == TRAFFIC_NVLINK ? "nvlink" : "fabric", m->channel, m->urgent ? " urgent" : "");
    if (drawn->copies > 1) {
        fprintf(stream, " and a series of %" PRIu32 " like it", drawn->copies - 1);
    }
    for (uint32_t i = 0; i < drawn->n_awaited; i++) {
        fprintf(stream, " after %" PRIu32, drawn->awaited[i]);
    }
    fprintf(stream, "\n");
}

static void print_failures(FILE *stream, const struct failure_list *list) {
    static const char *const kinds[] = {"down", "slow", "lossy", "slow to receive"};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct failure *failure = &list->failures[i];
        fprintf(stream,
                "link %" PRIu32 " is %s from %" PRIu64 " until %" PRIu64 " ps, %" PRIu64 " ps a byte, loss %" PRIu64
                "\n",
                failure->link, kinds[failure->kind], failure->from_ps, failure->until_ps, failure->ps_per_byte,
                failure->loss_fxp32);
    }
    if (list->count > 0) {
        fprintf(stream, "exclusion %" PRIu64 " convergence %" PRIu64 "\n", list->exclusion_ps, list->convergence_ps);
    }
}

void random_case_print(FILE *stream, const struct random_case *random_case) {
    const struct network_parameters *p = &random_case->parameters;
    fprintf(stream, "case %" PRIu64 " simpler 0x%" PRIx32 " left out 0x%" PRIx32 "\n", random_case->recipe.number,
            random_case->recipe.simpler, random_case->recipe.left_out);
    print_fabric(stream, random_case->fabric);
    print_switch(stream, "leaf", &p->leaf);
    print_switch(stream, "spine", &p->spine);
    print_nic(stream, &p->nic);
    fprintf(stream, "nvlink: record %" PRIu32 " grain %" PRIu32 " buffer %" PRIu64 " copy %" PRIu64 "\n",
            p->nvlink.record_bytes, p->nvlink.credit_grain_bytes, p->nvlink.buffer_bytes, p->nvlink.copy_ps_per_byte);
    fprintf(stream, "infiniband: %d grain %" PRIu32 " buffer %" PRIu64 "\n", p->infiniband.links,
            p->infiniband.credit_grain_bytes, p->infiniband.buffer_bytes);
    fprintf(stream, "path %d period %" PRIu64 " hash %d rounds %" PRIu32 " gap %" PRIu64 " entries %" PRIu32 "\n",
            (int)p->path.kind, p->path.refresh_period_ps, (int)p->path.hash, p->path.round_robin_rounds,
            p->path.flowlet_gap_ps, p->path.flowlet_entries);
    fprintf(stream, "controller %d notification interval %" PRIu64 "\n", (int)p->congestion.kind,
            p->congestion.notification_interval_ps);
    print_failures(stream, &random_case->failures);
    for (uint32_t i = 0; i < random_case->n_messages; i++) {
        if (!(random_case->recipe.left_out >> i & 1)) {
            print_message(stream, i, &random_case->messages[i]);
        }
    }
}
