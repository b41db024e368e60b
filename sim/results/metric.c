// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/metric.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/** Counts from here on are shown in thousands, from a thousand times here on in millions. */
static const double plain_count_limit = 100000.0;

/* Where a metric is, and for a quantile which one and where its sample's count is. */
#define RUN(field) offsetof(struct summary, field), 0.0, 0
#define PHASE(field) offsetof(struct summary_phase, field), 0.0, 0
#define RUN_QUANTILE(sample, field, share)                                                                             \
    offsetof(struct summary, sample.field), share, offsetof(struct summary, sample.count)
#define PHASE_QUANTILE(sample, field, share)                                                                           \
    offsetof(struct summary_phase, sample.field), share, offsetof(struct summary_phase, sample.count)

static const struct metric time_metrics[] = {
    {"simulated_time", "simulated time", "", METRIC_TIME, METRIC_ALWAYS, RUN(simulated_ps)},
    {"rank_time.mean", "rank time", "mean", METRIC_TIME, METRIC_DETAIL, RUN(rank_time_ps.mean)},
    {"rank_time.p50", "rank time", "p50", METRIC_TIME, METRIC_ALWAYS, RUN_QUANTILE(rank_time_ps, p50, 0.5)},
    {"rank_time.p99", "rank time", "p99", METRIC_TIME, METRIC_ALWAYS, RUN_QUANTILE(rank_time_ps, p99, 0.99)},
    {"rank_time.max", "rank time", "max", METRIC_TIME, METRIC_ALWAYS, RUN(rank_time_ps.max)},
    {"message_time.mean", "message time", "mean", METRIC_TIME, METRIC_DETAIL, RUN(message_time_ps.mean)},
    {"message_time.p50", "message time", "p50", METRIC_TIME, METRIC_ALWAYS, RUN_QUANTILE(message_time_ps, p50, 0.5)},
    {"message_time.p90", "message time", "p90", METRIC_TIME, METRIC_DETAIL, RUN_QUANTILE(message_time_ps, p90, 0.9)},
    {"message_time.p99", "message time", "p99", METRIC_TIME, METRIC_ALWAYS, RUN_QUANTILE(message_time_ps, p99, 0.99)},
    {"message_time.p99_9", "message time", "p99.9", METRIC_TIME, METRIC_DETAIL,
     RUN_QUANTILE(message_time_ps, p999, 0.999)},
    {"message_time.max", "message time", "max", METRIC_TIME, METRIC_ALWAYS, RUN(message_time_ps.max)},
    {"flow_time.p50", "flow time", "p50", METRIC_TIME, METRIC_DETAIL, RUN_QUANTILE(flow_time_ps, p50, 0.5)},
    {"flow_time.p90", "flow time", "p90", METRIC_TIME, METRIC_DETAIL, RUN_QUANTILE(flow_time_ps, p90, 0.9)},
    {"flow_time.p99", "flow time", "p99", METRIC_TIME, METRIC_DETAIL, RUN_QUANTILE(flow_time_ps, p99, 0.99)},
    {"flow_time.p99_9", "flow time", "p99.9", METRIC_TIME, METRIC_DETAIL, RUN_QUANTILE(flow_time_ps, p999, 0.999)},
    {"flow_time.max", "flow time", "max", METRIC_TIME, METRIC_DETAIL, RUN(flow_time_ps.max)},
    {"slowdown.p50", "slow-down", "p50", METRIC_FACTOR, METRIC_DETAIL, RUN_QUANTILE(slowdown, p50, 0.5)},
    {"slowdown.p99", "slow-down", "p99", METRIC_FACTOR, METRIC_ALWAYS, RUN_QUANTILE(slowdown, p99, 0.99)},
    {"slowdown.max", "slow-down", "max", METRIC_FACTOR, METRIC_ALWAYS, RUN(slowdown.max)},
    {"victims.p50", "victims' slow-down", "p50", METRIC_FACTOR, METRIC_DETAIL, RUN_QUANTILE(victim_slowdown, p50, 0.5)},
    {"victims.p99", "victims' slow-down", "p99", METRIC_FACTOR, METRIC_ALWAYS,
     RUN_QUANTILE(victim_slowdown, p99, 0.99)},
    {"victims.max", "victims' slow-down", "max", METRIC_FACTOR, METRIC_ALWAYS, RUN(victim_slowdown.max)},
    {"hot_rank.load", "hot rank load", "", METRIC_FACTOR, METRIC_ALWAYS, RUN(hot_load)},
    {"hot_rank.time", "hot rank time", "", METRIC_TIME, METRIC_ALWAYS, RUN(hot_time_ps)},
    {"hot_rank.limit", "hot rank limit", "", METRIC_TIME, METRIC_ALWAYS, RUN(hot_ideal_ps)},
};

static const struct metric phase_metrics[] = {
    {"time", "phase time", "time", METRIC_TIME, METRIC_ALWAYS, PHASE(time_ps)},
    {"rank_time.mean", "phase rank time", "rank time mean", METRIC_TIME, METRIC_DETAIL, PHASE(rank_time_ps.mean)},
    {"rank_time.p99", "phase rank time", "rank time p99", METRIC_TIME, METRIC_DETAIL,
     PHASE_QUANTILE(rank_time_ps, p99, 0.99)},
    {"slowdown.p50", "background slow-down", "slow-down p50", METRIC_FACTOR, METRIC_ALWAYS,
     PHASE_QUANTILE(slowdown, p50, 0.5)},
    {"slowdown.p99", "background slow-down", "slow-down p99", METRIC_FACTOR, METRIC_ALWAYS,
     PHASE_QUANTILE(slowdown, p99, 0.99)},
    {"ideal_share", "phase of ideal", "of ideal", METRIC_SHARE, METRIC_ALWAYS, PHASE(ideal_share)},
    {"algbw", "algbw, logical", "algbw, logical", METRIC_BANDWIDTH, METRIC_ALWAYS, PHASE(algbw)},
    {"busbw", "busbw", "busbw", METRIC_BANDWIDTH, METRIC_ALWAYS, PHASE(busbw)},
    {"rdma_logical", "RDMA, logical", "RDMA, logical", METRIC_BANDWIDTH, METRIC_ALWAYS, PHASE(rdma_logical)},
    {"nvl_received", "NVL, logical", "NVL, logical", METRIC_BANDWIDTH, METRIC_ALWAYS, PHASE(nvl_received)},
    {"fabric_payload", "fabric, payload", "fabric, payload", METRIC_BANDWIDTH, METRIC_ALWAYS, PHASE(fabric_payload)},
};

static const struct metric network_metrics[] = {
    {"worst_queue", "worst queue", "", METRIC_BYTES, METRIC_ALWAYS, RUN(worst_queue_bytes)},
    {"ecn_marks", "ECN marks", "", METRIC_PACKETS, METRIC_ALWAYS, RUN(marks)},
    {"notifications", "notifications", "", METRIC_PACKETS, METRIC_DETAIL, RUN(notifications)},
    {"pauses", "pauses", "", METRIC_PAUSES, METRIC_ALWAYS, RUN(pauses)},
    {"paused_time", "paused time", "", METRIC_TIME, METRIC_ALWAYS, RUN(paused_ps)},
    {"receive_pauses", "pauses by receivers", "", METRIC_PAUSES, METRIC_IF_ANY, RUN(receive_pauses)},
    {"watchdog_storms", "watchdog storms", "", METRIC_PAUSES, METRIC_IF_ANY, RUN(watchdog_storms)},
    {"credit_stalls", "credit stalls", "", METRIC_STALLS, METRIC_IF_ANY, RUN(credit_stalls)},
    {"credit_stalled_time", "time without credit", "", METRIC_TIME, METRIC_IF_ANY, RUN(credit_stalled_ps)},
    {"retransmissions", "retransmissions", "", METRIC_PACKETS, METRIC_ALWAYS, RUN(retransmitted)},
    {"duplicates", "duplicates", "", METRIC_PACKETS, METRIC_DETAIL, RUN(duplicates)},
    {"spurious", "spurious, known", "", METRIC_PACKETS, METRIC_DETAIL, RUN(spurious)},
    {"nacks", "NACKs", "", METRIC_PACKETS, METRIC_DETAIL, RUN(nacks)},
    {"out_of_order", "out of order", "", METRIC_PACKETS, METRIC_ALWAYS, RUN(out_of_order)},
    {"reordering_depth", "reordering depth", "", METRIC_PACKETS, METRIC_ALWAYS, RUN(reordering)},
    {"drops_lossy", "drops, lossy", "", METRIC_PACKETS, METRIC_ALWAYS, RUN(drops_lossy)},
    {"drops_lossless", "drops, lossless", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(drops_lossless)},
    {"receive_discards", "receive discards", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(receive_discards)},
    {"trims", "trims", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(trims)},
    {"drops_watchdog", "drops, watchdog", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(watchdog_drops)},
    {"lost_on_links", "lost on links", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(lost)},
    {"unrouted", "unrouted", "", METRIC_PACKETS, METRIC_IF_ANY, RUN(unrouted)},
    {"undelivered", "undelivered", "", METRIC_MESSAGES, METRIC_IF_ANY, RUN(undelivered)},
    {"data_hops", "packet hops", "data", METRIC_PACKETS, METRIC_DETAIL, RUN(data_hops)},
    {"control_hops", "packet hops", "control", METRIC_PACKETS, METRIC_DETAIL, RUN(control_hops)},
};

/* Of designs: see sim/command/size_result.c. */
#define DESIGN 0, 0.0, 0
static const struct metric design_metrics[] = {
    {"step_time", "step time", "", METRIC_TIME, METRIC_ALWAYS, DESIGN},
    {"time_to_train", "time to train", "", METRIC_TIME, METRIC_ALWAYS, DESIGN},
    {"tokens_per_s", "tokens a second", "", METRIC_TOKENS, METRIC_ALWAYS, DESIGN},
    {"tokens_per_s_gpu", "tokens a second and GPU", "", METRIC_TOKENS, METRIC_ALWAYS, DESIGN},
    {"output_token_time", "time of an output token", "", METRIC_TIME, METRIC_ALWAYS, DESIGN},
    {"all_to_all.p99", "all-to-all p99", "", METRIC_TIME, METRIC_ALWAYS, DESIGN},
    {"power", "power", "", METRIC_POWER, METRIC_ALWAYS, DESIGN},
    {"network_power", "network power", "", METRIC_POWER, METRIC_ALWAYS, DESIGN},
    {"cost", "cost", "", METRIC_COST, METRIC_ALWAYS, DESIGN},
    {"goodput", "goodput", "", METRIC_SHARE, METRIC_ALWAYS, DESIGN},
    {"racks", "racks", "", METRIC_PIECES, METRIC_ALWAYS, DESIGN},
    {"switches", "switches", "", METRIC_PIECES, METRIC_ALWAYS, DESIGN},
    {"optical_modules", "optical modules", "", METRIC_PIECES, METRIC_ALWAYS, DESIGN},
    {"gpu_memory", "memory of a GPU", "", METRIC_BYTES, METRIC_ALWAYS, DESIGN},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct metric_section metric_sections[] = {
    {.metrics = time_metrics, .count = COUNT(time_metrics), .of_finished = true},
    {.metrics = phase_metrics, .count = COUNT(phase_metrics), .of_finished = true, .per_phase = true},
    {.metrics = network_metrics, .count = COUNT(network_metrics)},
    {.metrics = design_metrics, .count = COUNT(design_metrics), .of_design = true},
};

const size_t metric_sections_count = COUNT(metric_sections);

static const struct {
    const char *group, *text;
} legends[] = {
    {"simulated time", "from the start of the run to the last thing that happened"},
    {"rank time", "of one GPU over all phases: its own start to its last byte's arrival; max = slowest GPU"},
    {"message time", "of one fabric message: posted at the sender's NIC to last byte delivered"},
    {"flow time", "of all messages of one (source, destination, phase): time with any of them under way"},
    {"slow-down", "flow time ÷ time of the same bytes alone on the fabric (ACKs of other flows are load)"},
    {"victims' slow-down", "the same, of flows that do not go to the hot rank"},
    {"hot rank load",
     "the GPU that receives the most payload over the fabric in one phase ÷ the mean GPU in that phase"},
    {"hot rank time", "in that phase: first message to that GPU posted to last one delivered"},
    {"hot rank limit", "least of that: its bytes with headers ÷ the rate of its port, plus latency"},
    {"phase time", "first start to last finish of any GPU in that phase"},
    {"phase rank time", "of one GPU: its start to its last byte's arrival in that phase"},
    {"background slow-down",
     "of traffic beside what is measured: time with any message of a flow under way ÷ time of its bytes alone"},
    {"phase of ideal", "least time for this traffic (the fullest port's bytes ÷ its rate + latency) ÷ phase time"},
    {"algbw, logical", "bytes of a GPU's all-to-all buffer, own part included, ÷ phase time; mean per GPU"},
    {"busbw", "algbw × (n - 1) ÷ n, n = GPUs of an expert-parallel group (all GPUs where there is no model)"},
    {"RDMA, logical",
     "DeepEP's: bytes of tokens × distinct destination nodes, own node included, ÷ phase time; per GPU"},
    {"NVL, logical", "DeepEP's: bytes of tokens × distinct destination GPUs, itself included, ÷ phase time; per GPU"},
    {"fabric, payload", "bytes that crossed the fabric, without headers, ÷ phase time; per GPU, mean of all GPUs"},
    {"worst queue",
     "deepest queue of any port of the fabric; below it the link that leaves the port, in the worst seed"},
    {"ECN marks", "packets marked as having met congestion"},
    {"notifications", "congestion notifications sent by receivers"},
    {"pauses", "PFC pauses obeyed, all links together"},
    {"paused time", "time under pause, all links together (so it may exceed the simulated time)"},
    {"pauses by receivers", "of these, sent by NICs whose host does not take data as it arrives"},
    {"watchdog storms", "times that a PFC watchdog found a queue paused for too long"},
    {"credit stalls", "times that packets waited at a port of InfiniBand and none had credit, all links together"},
    {"time without credit", "for how long, all links together (hardware: PortXmitWait)"},
    {"retransmissions", "data packets sent again"},
    {"duplicates", "data packets received although already there"},
    {"spurious, known",
     "data packets sent again that turned out to have arrived before (as selective repeat can tell)"},
    {"NACKs", "negative acknowledgements sent: of a gap under go-back-N, of a trimmed packet under selective repeat"},
    {"trims", "packets that a switch cut to their header for want of buffer"},
    {"out of order", "data packets received that were not the next one of their queue pair"},
    {"reordering depth", "largest distance of a received packet from the next expected one"},
    {"drops, lossy", "packets of lossy classes dropped for want of buffer"},
    {"drops, lossless", "packets dropped although PFC is on: headroom or pool is too small for these cables"},
    {"receive discards", "packets that found the receive buffer of a NIC full"},
    {"drops, watchdog", "lossless packets that PFC watchdogs discarded"},
    {"lost on links", "packets that a dead, dying or lossy link did not carry to its end"},
    {"unrouted", "packets that a switch dropped since no way on was left"},
    {"undelivered", "messages not delivered when the run ended"},
    {"packet hops", "packets put on a link, once for each link"},
    {"step time", "of a design: a training step, without evaluations"},
    {"time to train", "of a design: all steps and their evaluations, if nothing fails"},
    {"tokens a second", "of a design: trained by all GPUs together"},
    {"tokens a second and GPU", "of a design: decoded"},
    {"time of an output token", "of a design: that a sequence waits from one token to the next"},
    {"all-to-all p99", "of a design: 99 % of the GPUs have finished all phases after so long"},
    {"power", "of a design: racks, where their figure is given, and network, at most"},
    {"network power", "of a design: switches and optical modules, at most"},
    {"cost", "of a design: all parts that the file of prices knows, in its currency"},
    {"goodput", "of a design: part of the time in which training makes progress that lasts"},
    {"racks", "of a design: NVLink domains"},
    {"switches", "of a design: of all tiers and planes"},
    {"optical modules", "of a design: at NICs and switches"},
    {"memory of a GPU", "of a design: weights, gradients, optimiser and activations, of the fullest stage"},
};

const char *metric_legend(const char *group) {
    for (size_t i = 0; i < COUNT(legends); i++) {
        if (strcmp(legends[i].group, group) == 0) {
            return legends[i].text;
        }
    }
    BUG("no legend for the rows %s", group);
}

double metric_value(const struct metric *metric, const void *summary) {
    double value;
    memcpy(&value, (const char *)summary + metric->offset, sizeof value);
    return value;
}

bool metric_is_thin(const struct metric *metric, const void *summary, uint64_t *count) {
    if (metric->quantile == 0.0) {
        return false;
    }
    memcpy(count, (const char *)summary + metric->count_offset, sizeof *count);
    return *count > 0 && (double)*count * (1.0 - metric->quantile) < 1.0 - 1e-9; /* 100 values are enough for p99 */
}

/** A unit and how many of the kept unit it is. */
struct scale {
    double size;
    const char *name;
};

enum { SCALES = 5, SCALE_OF_ZERO = 2 };
static const struct scale time_scales[SCALES] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}};
static const struct scale byte_scales[SCALES] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}};

static const struct scale power_scales[SCALES] = {{1e9, "GW"}, {1e6, "MW"}, {1e3, "kW"}, {1, "W"}, {1, "W"}};

/** The largest unit that the value reaches, else the smallest; for nothing but zeros, one in the middle. */
static struct scale pick_scale(const struct scale *scales, double largest) {
    size_t i = 0;
    if (!(largest > 0.0)) {
        return scales[SCALE_OF_ZERO];
    }
    while (i < SCALES - 1 && !(largest >= scales[i].size)) {
        i++;
    }
    return scales[i];
}

static double count_unit(enum metric_quantity quantity, double largest, char *name) {
    const bool millions = largest >= 1e3 * plain_count_limit, thousands = largest >= plain_count_limit;
    snprintf(name, METRIC_UNIT_SIZE, "%s%s",
             millions    ? "million "
             : thousands ? "thousand "
                         : "",
             metric_kept_unit(quantity));
    return millions ? 1e6 : thousands ? 1e3 : 1.0;
}

double metric_unit(enum metric_quantity quantity, double largest, char name[METRIC_UNIT_SIZE]) {
    struct scale scale = {1.0, "×"};
    switch (quantity) {
    case METRIC_TIME:
        scale = pick_scale(time_scales, largest);
        break;
    case METRIC_BYTES:
        scale = pick_scale(byte_scales, largest);
        break;
    case METRIC_BANDWIDTH:
        scale = (struct scale){1e9, "GB/s"};
        break;
    case METRIC_SHARE:
        scale = (struct scale){0.01, "%"};
        break;
    case METRIC_POWER:
        scale = pick_scale(power_scales, largest);
        break;
    case METRIC_FACTOR:
        break;
    case METRIC_PACKETS:
    case METRIC_PAUSES:
    case METRIC_STALLS:
    case METRIC_MESSAGES:
    case METRIC_PIECES:
    case METRIC_COST:
    case METRIC_TOKENS:
        return count_unit(quantity, largest, name);
    }
    snprintf(name, METRIC_UNIT_SIZE, "%s", scale.name);
    return scale.size;
}

const char *metric_kept_unit(enum metric_quantity quantity) {
    static const char *const units[] = {
        [METRIC_TIME] = "ps",         [METRIC_BYTES] = "B",       [METRIC_BANDWIDTH] = "B/s",
        [METRIC_FACTOR] = "1",        [METRIC_SHARE] = "1",       [METRIC_PACKETS] = "packets",
        [METRIC_PAUSES] = "pauses",   [METRIC_STALLS] = "stalls", [METRIC_MESSAGES] = "messages",
        [METRIC_PIECES] = "pieces",   [METRIC_POWER] = "W",       [METRIC_COST] = "currency",
        [METRIC_TOKENS] = "tokens/s",
    };
    return units[quantity];
}
