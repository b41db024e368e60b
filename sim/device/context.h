// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What all devices of a run share, read-only while it runs (but for the trace, which only single-threaded tests set).
 */
#ifndef MOEFABRIC_DEVICE_CONTEXT_H
#define MOEFABRIC_DEVICE_CONTEXT_H

#include "device/counters.h"
#include "device/parameters.h"
#include "device/trace.h"
#include "engine/engine.h"
#include "fabric/fabric.h"
#include "workload/traffic.h"

struct failure_plan;

/** What the traffic answers to one worker: filled and emptied again within one step of a device. */
struct context_outbox {
    _Alignas(64) struct traffic_outbox outbox;
};

/** Shared by the devices of one run; kept alive by struct network. */
struct context {
    const struct fabric *fabric;
    const struct network_parameters *parameters;
    const struct traffic *traffic;
    struct engine_rings *rings;
    struct trace *trace;             /**< NULL: none is kept */
    struct link_counters *links;     /**< [n_links] */
    struct context_outbox *outboxes; /**< [worker] */
    const struct path_policy *path;
    const struct congestion_controller *controller;
    const struct failure_plan *failures; /**< NULL: nothing fails */
};

/** Puts a control record on the link that leaves a port (global number), decided at now_ps; a link that dies loses it. */
void context_send_control(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                          uint32_t kind, uint32_t amount);

/** The same for a credit of a lane of an InfiniBand link, in blocks (link_credit.h). */
void context_send_credit(const struct context *context, struct engine_worker *worker, uint32_t link, uint64_t now_ps,
                         enum packet_class lane, uint32_t blocks);

enum control_kind { CONTROL_PAUSE, CONTROL_RESUME, CONTROL_CREDIT };

/** A control record on a link: 32 bytes like a packet. */
struct control {
    uint64_t time_ps; /**< arrival */
    uint32_t kind;    /**< enum control_kind */
    uint32_t amount;  /**< of a credit: bytes (NVLink) or blocks (InfiniBand) */
    uint32_t lane;    /**< of an InfiniBand credit: enum packet_class */
    uint32_t unused[3];
};

#endif
