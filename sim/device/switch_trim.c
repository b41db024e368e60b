// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Packet trimming: what finds no room in a lossy data queue is cut to its header, which goes on in the control class.
 * Rules: loss.md of this folder. As in NDP (Handley and others, SIGCOMM 2017), and as NVIDIA's Spectrum-4 has it (Cumulus
 * Linux 5.15, Packet Trimming).
 */
#include "base/hash.h"
#include "device/switch_internal.h"

static bool may_be_cut(const struct switch_device *device, const struct packet *packet) {
    return packet_kind(packet) == PACKET_DATA && packet_class(packet) == PACKET_CLASS_LOSSY &&
           packet->size_bytes > device->parameters->trim_bytes;
}

/* The arriving packet takes the place of the one that joined its queue last, which *packet is then. Returns false if that does not make room. */
static bool take_place(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                       struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    struct queue *queue = &egress->queues[PACKET_CLASS_LOSSY];
    if (queue_is_empty(queue) || !may_be_cut(device, queue_last(queue))) {
        return false;
    }
    struct packet *place = queue_last(queue);
    const struct packet last = *place;
    egress->depth[PACKET_CLASS_LOSSY] -= last.size_bytes;
    device->lossy.used_bytes -= last.size_bytes;
    if (!switch_admit_lossy(device, worker, egress, PACKET_CLASS_LOSSY, packet->size_bytes, now_ps)) {
        egress->depth[PACKET_CLASS_LOSSY] += last.size_bytes;
        device->lossy.used_bytes += last.size_bytes;
        return false;
    }
    egress->depth[PACKET_CLASS_LOSSY] += packet->size_bytes;
    const uint64_t start_ps = switch_ready_ps(device, ingress, egress, packet->size_bytes, now_ps);
    packet->time_ps = queue_stamp(start_ps, ingress);
    *place = *packet;
    *packet = last;
    return true;
}

/* The header of a packet that was cut joins the control class. */
static void forward(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                    struct packet *header, uint32_t ingress, uint64_t now_ps) {
    const uint64_t limit_bytes = device->parameters->trim_limit_bytes;
    const uint64_t depth_bytes = (uint64_t)egress->depth[PACKET_CLASS_CONTROL] + header->size_bytes;
    if ((limit_bytes > 0 && depth_bytes > limit_bytes) ||
        !switch_admit_lossy(device, worker, egress, PACKET_CLASS_CONTROL, header->size_bytes, now_ps)) {
        switch_drop(device, egress, header, ingress, now_ps);
        return;
    }
    header->time_ps = queue_stamp(now_ps, ingress);
    egress->depth[PACKET_CLASS_CONTROL] += header->size_bytes;
    queue_push(&egress->queues[PACKET_CLASS_CONTROL], &worker->pool, header);
}

static bool is_last_hop(const struct fabric *fabric, uint32_t link) {
    return fabric->devices[fabric->links[link].head_device].kind == FABRIC_ENDPOINT;
}

static void cut(const struct switch_device *device, const struct switch_port *egress, struct packet *packet,
                uint32_t ingress, uint64_t now_ps) {
    const uint32_t left_bytes = device->parameters->trim_bytes;
    if (device->context->trace) {
        trace_add_packet(device->context->trace, TRACE_TRIM, now_ps, device->device, (uint16_t)ingress, packet,
                         egress->number);
    }
    egress->counters->trims++;
    egress->counters->trimmed_bytes += packet->size_bytes - left_bytes;
    packet->size_bytes = (uint16_t)left_bytes;
    packet->kind_class = (uint8_t)(PACKET_TRIMMED | PACKET_CLASS_CONTROL << 4);
    packet->flags_transmission |= is_last_hop(device->context->fabric, egress->link) ? PACKET_FLAG_LAST_HOP : 0;
}

bool switch_trim(struct switch_device *device, struct engine_worker *worker, struct switch_port *egress,
                 struct packet *packet, uint32_t ingress, uint64_t now_ps) {
    if (!may_be_cut(device, packet)) {
        return false;
    }
    const uint64_t stream =
        hash_stream(device->context->parameters->seed, HASH_PURPOSE_TRIM, device->device, egress->number);
    const bool arriving = hash_draw(stream, egress->trim_draws++) >> 32 < device->parameters->trim_arriving_fxp32;
    if (!arriving && take_place(device, worker, egress, packet, ingress, now_ps)) {
        ingress = queue_ingress(packet); // of the one that waited
    }
    cut(device, egress, packet, ingress, now_ps);
    forward(device, worker, egress, packet, ingress, now_ps);
    if (egress->sending_bytes == 0) {
        switch_port_note_stale(device, egress);
        switch_port_kick(device, worker, egress, now_ps);
    }
    return true;
}
