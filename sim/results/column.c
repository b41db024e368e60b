// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/column.h"

#include <stdlib.h>

#define FIELD(row, field) offsetof(struct row, field), sizeof(((struct row *)0)->field)

static const struct column phase_columns[] = {
    {"name", "1", "Name of the phase", COLUMN_TEXT, FIELD(measurement_phase, name)},
    {"kind", "1", "0 = payload, 1 = control (left out of completion times and slow-downs), 2 = background (the same)",
     COLUMN_UINT32, FIELD(measurement_phase, kind)},
    {"participants", "1", "Ranks that take part", COLUMN_UINT32, FIELD(measurement_phase, participants)},
    {"collective_bytes", "B",
     "Sum over ranks of what an all-to-all buffer holds, own part included (base of algbw and busbw); 0 = not defined",
     COLUMN_UINT64, FIELD(measurement_phase, collective_bytes)},
    {"rdma_logical_bytes", "B",
     "Sum over tokens of distinct destination nodes, the local one included, times bytes a token; 0 = not defined",
     COLUMN_UINT64, FIELD(measurement_phase, rdma_logical_bytes)},
    {"nvl_received_bytes", "B",
     "Sum over tokens of distinct destination ranks, own rank included, times bytes a token; 0 = not defined",
     COLUMN_UINT64, FIELD(measurement_phase, nvl_received_bytes)},
    {"ideal_ps", "ps",
     "Least time for this traffic: bytes of the fullest port over its rate, plus latency; 0 = unknown", COLUMN_UINT64,
     FIELD(measurement_phase, ideal_ps)},
};

static const struct column message_columns[] = {
    {"source", "1", "Sending rank", COLUMN_UINT32, FIELD(measurement_message, source)},
    {"destination", "1", "Receiving rank", COLUMN_UINT32, FIELD(measurement_message, destination)},
    {"tag", "1", "Number given by the traffic plan; (source, destination, tag) is unique", COLUMN_UINT32,
     FIELD(measurement_message, tag)},
    {"phase", "1", "Row of the phases table", COLUMN_UINT32, FIELD(measurement_message, phase)},
    {"bytes", "B", "Payload", COLUMN_UINT64, FIELD(measurement_message, bytes)},
    {"posted_ps", "ps", "Handed to the NIC of the sender", COLUMN_UINT64, FIELD(measurement_message, posted_ps)},
    {"completed_ps", "ps", "Wholly delivered at the receiver; 0 = never", COLUMN_UINT64,
     FIELD(measurement_message, completed_ps)},
    {"acknowledged_ps", "ps", "Completion known to the sender; 0 = never or not acknowledged", COLUMN_UINT64,
     FIELD(measurement_message, acknowledged_ps)},
};

static const struct column flow_columns[] = {
    {"source", "1", "Sending rank", COLUMN_UINT32, FIELD(measurement_flow, source)},
    {"destination", "1", "Receiving rank", COLUMN_UINT32, FIELD(measurement_flow, destination)},
    {"phase", "1", "Row of the phases table", COLUMN_UINT32, FIELD(measurement_flow, phase)},
    {"messages", "1", "Messages of this flow", COLUMN_UINT32, FIELD(measurement_flow, messages)},
    {"bytes", "B", "Payload of all its messages", COLUMN_UINT64, FIELD(measurement_flow, bytes)},
    {"first_posted_ps", "ps", "First message handed to the NIC", COLUMN_UINT64,
     FIELD(measurement_flow, first_posted_ps)},
    {"last_completed_ps", "ps", "Last message delivered; 0 = unfinished", COLUMN_UINT64,
     FIELD(measurement_flow, last_completed_ps)},
    {"active_ps", "ps", "Time with at least one message posted and not delivered; 0 = unfinished", COLUMN_UINT64,
     FIELD(measurement_flow, active_ps)},
    {"ideal_ps", "ps", "Time of the same bytes alone on the fabric; 0 = unknown", COLUMN_UINT64,
     FIELD(measurement_flow, ideal_ps)},
    {"slowdown", "1", "active_ps over ideal_ps; 0 = unknown or unfinished", COLUMN_DOUBLE,
     FIELD(measurement_flow, slowdown)},
};

static const struct column rank_phase_columns[] = {
    {"rank", "1", "Rank", COLUMN_UINT32, FIELD(measurement_rank_phase, rank)},
    {"phase", "1", "Row of the phases table", COLUMN_UINT32, FIELD(measurement_rank_phase, phase)},
    {"start_ps", "ps", "Its own first message could start; where it only receives: the first one to it was posted",
     COLUMN_UINT64, FIELD(measurement_rank_phase, start_ps)},
    {"finish_ps", "ps", "Its last byte of this phase arrived; 0 = never", COLUMN_UINT64,
     FIELD(measurement_rank_phase, finish_ps)},
    {"ideal_ps", "ps",
     "Least time of its received bytes: headers included ÷ the rate of its port, plus the latency of the shortest way; "
     "0 = unknown",
     COLUMN_UINT64, FIELD(measurement_rank_phase, ideal_ps)},
};

static const struct column link_columns[] = {
    {"name", "1", "Name of the link, after the port that it leaves", COLUMN_TEXT, FIELD(measurement_link, name)},
    {"kind", "1", "0 = Ethernet or InfiniBand, 1 = NVLink", COLUMN_UINT32, FIELD(measurement_link, kind)},
    {"tail_device", "1", "Device that it leaves", COLUMN_UINT32, FIELD(measurement_link, tail_device)},
    {"head_device", "1", "Device that it enters", COLUMN_UINT32, FIELD(measurement_link, head_device)},
    {"rate_bits_per_s", "bit/s", "Rate", COLUMN_UINT64, FIELD(measurement_link, rate_bits_per_s)},
    {"bytes", "B", "Sent, headers included", COLUMN_UINT64, FIELD(measurement_link, bytes)},
    {"packets", "1", "Data packets sent", COLUMN_UINT64, FIELD(measurement_link, packets)},
    {"control_packets", "1", "Control packets sent (acknowledgements, notifications, probes)", COLUMN_UINT64,
     FIELD(measurement_link, control_packets)},
    {"marks", "1", "Packets that got their congestion mark here", COLUMN_UINT64, FIELD(measurement_link, marks)},
    {"drops_lossless", "1", "Packets of the lossless class dropped at this port", COLUMN_UINT64,
     FIELD(measurement_link, drops_lossless)},
    {"drops_lossy", "1", "Packets of the other classes dropped at this port", COLUMN_UINT64,
     FIELD(measurement_link, drops_lossy)},
    {"trims", "1", "Packets cut to their header at this port for want of buffer", COLUMN_UINT64,
     FIELD(measurement_link, trims)},
    {"lost_packets", "1", "Packets put on this link and lost: it was dead, died, or is lossy", COLUMN_UINT64,
     FIELD(measurement_link, lost_packets)},
    {"unrouted", "1", "Packets that came in by the port which this link leaves, and knew no way on", COLUMN_UINT64,
     FIELD(measurement_link, unrouted)},
    {"drops_watchdog", "1", "Lossless packets that the PFC watchdog discarded at this port", COLUMN_UINT64,
     FIELD(measurement_link, watchdog_drops)},
    {"watchdog_storms", "1", "Times that the PFC watchdog declared a storm at this port", COLUMN_UINT64,
     FIELD(measurement_link, watchdog_storms)},
    {"pauses", "1", "Pauses obeyed by the transmitter of this link", COLUMN_UINT64, FIELD(measurement_link, pauses)},
    {"paused_ps", "ps", "Time that the transmitter was paused", COLUMN_UINT64, FIELD(measurement_link, paused_ps)},
    {"credit_stalls", "1", "InfiniBand: times that packets waited for this link and none had credit", COLUMN_UINT64,
     FIELD(measurement_link, credit_stalls)},
    {"credit_stalled_ps", "ps", "InfiniBand: time that packets waited and none had credit (hardware: PortXmitWait)",
     COLUMN_UINT64, FIELD(measurement_link, credit_stalled_ps)},
    {"deepest_bytes", "B", "Deepest queue of the port that it leaves", COLUMN_UINT64,
     FIELD(measurement_link, deepest_bytes)},
    {"busy_ps", "ps", "Time that the transmitter was sending; over totals/simulated_ps: its utilisation", COLUMN_UINT64,
     FIELD(measurement_link, busy_ps)},
};

static const struct column endpoint_columns[] = {
    {"rack", "1", "Rack; 4294967295 = none", COLUMN_UINT32, FIELD(measurement_endpoint, rack)},
    {"fabric_sent_bytes", "B", "Payload of fabric messages posted", COLUMN_UINT64,
     FIELD(measurement_endpoint, fabric_sent_bytes)},
    {"fabric_received_bytes", "B", "Payload of fabric messages delivered", COLUMN_UINT64,
     FIELD(measurement_endpoint, fabric_received_bytes)},
    {"nvlink_sent_bytes", "B", "Sent on its own NVLink ports", COLUMN_UINT64,
     FIELD(measurement_endpoint, nvlink_sent_bytes)},
    {"nvlink_received_bytes", "B", "Received on its own NVLink ports", COLUMN_UINT64,
     FIELD(measurement_endpoint, nvlink_received_bytes)},
    {"retransmitted_packets", "1", "Data packets sent again", COLUMN_UINT64,
     FIELD(measurement_endpoint, retransmitted_packets)},
    {"duplicate_packets", "1", "Data packets received although already there", COLUMN_UINT64,
     FIELD(measurement_endpoint, duplicate_packets)},
    {"spurious_packets", "1", "Data packets sent again that turned out to have arrived before (selective repeat)",
     COLUMN_UINT64, FIELD(measurement_endpoint, spurious_packets)},
    {"nacks", "1", "Negative acknowledgements sent as receiver", COLUMN_UINT64, FIELD(measurement_endpoint, nacks)},
    {"out_of_order_packets", "1", "Data packets received that were not the next one", COLUMN_UINT64,
     FIELD(measurement_endpoint, out_of_order_packets)},
    {"reordering_packets", "1", "Largest distance of a received packet from the next expected one, in packets",
     COLUMN_UINT64, FIELD(measurement_endpoint, reordering_packets)},
    {"notifications_sent", "1", "Congestion notifications sent as receiver", COLUMN_UINT64,
     FIELD(measurement_endpoint, notifications_sent)},
    {"notifications_received", "1", "Congestion notifications received as sender", COLUMN_UINT64,
     FIELD(measurement_endpoint, notifications_received)},
    {"receive_discards", "1", "Packets that found the receive buffer of its NIC full", COLUMN_UINT64,
     FIELD(measurement_endpoint, receive_discards)},
    {"receive_pauses", "1", "Pauses that its NIC sent to its leaf", COLUMN_UINT64,
     FIELD(measurement_endpoint, receive_pauses)},
    {"receive_deepest_bytes", "B", "Most that the receive buffer of its NIC held of a data class", COLUMN_UINT64,
     FIELD(measurement_endpoint, receive_deepest_bytes)},
    {"expert_tokens", "1", "(token, expert) pairs for experts on this rank", COLUMN_UINT64,
     FIELD(measurement_endpoint, expert_tokens)},
};

static const struct column expert_columns[] = {
    {"rank", "1", "Rank that holds it", COLUMN_UINT32, FIELD(measurement_expert, rank)},
    {"tokens", "1", "Tokens that chose it", COLUMN_UINT64, FIELD(measurement_expert, tokens)},
};

static const struct column explanation_columns[] = {
    {"text", "1", "One sentence", COLUMN_TEXT, FIELD(measurement_explanation, text)},
};

static const struct column crossing_columns[] = {
    {"link", "1", "Row of the links table", COLUMN_UINT32, FIELD(measurement_crossing, link)},
    {"flow", "1", "Row of the flows table", COLUMN_UINT64, FIELD(measurement_crossing, flow)},
    {"bytes", "B", "Payload of it that crossed the link; where packets are spread over several ways, what is expected",
     COLUMN_UINT64, FIELD(measurement_crossing, bytes)},
};

static const struct column slow_flow_columns[] = {
    {"flow", "1", "Row of the flows table", COLUMN_UINT64, FIELD(measurement_slow_flow, flow)},
    {"link", "1", "Link that had most to carry for others while it was active; 4294967295 = none", COLUMN_UINT32,
     FIELD(measurement_slow_flow, link)},
    {"sharers", "1", "Other flows on that link meanwhile", COLUMN_UINT64, FIELD(measurement_slow_flow, sharers)},
    {"text", "1", "Why it was slow, as far as is known", COLUMN_TEXT, FIELD(measurement_slow_flow, text)},
};

static const struct column totals_columns[] = {
    {"simulated_ps", "ps", "Time of the last thing that happened", COLUMN_UINT64,
     FIELD(measurement_totals, simulated_ps)},
    {"data_hops", "1", "Data packets put on a link", COLUMN_UINT64, FIELD(measurement_totals, data_hops)},
    {"control_hops", "1", "Control packets put on a link", COLUMN_UINT64, FIELD(measurement_totals, control_hops)},
    {"traffic_digest", "1", "Digest of the traffic: equal under every policy with the same seed", COLUMN_UINT64,
     FIELD(measurement_totals, traffic_digest)},
    {"sent_bytes", "B", "Wire bytes put into the fabric by endpoints", COLUMN_UINT64,
     FIELD(measurement_totals, sent_bytes)},
    {"delivered_bytes", "B", "Wire bytes that reached their endpoint", COLUMN_UINT64,
     FIELD(measurement_totals, delivered_bytes)},
    {"dropped_bytes", "B", "Wire bytes dropped on the way, or lost on links", COLUMN_UINT64,
     FIELD(measurement_totals, dropped_bytes)},
};

#define ROWS_OF(table, pointer, count)                                                                                 \
    static const void *table##_rows(const struct measurement *measurement) {                                           \
        return pointer;                                                                                                \
    }                                                                                                                  \
    static uint64_t table##_count(const struct measurement *measurement) {                                             \
        (void)measurement;                                                                                             \
        return count;                                                                                                  \
    }

/* How a table that was read comes back into a measurement. */
#define TAKE(table, pointer, set_count)                                                                                \
    static void table##_take(struct measurement *measurement, void *rows, uint64_t n_rows) {                           \
        (void)n_rows;                                                                                                  \
        free(measurement->pointer);                                                                                    \
        measurement->pointer = rows;                                                                                   \
        set_count;                                                                                                     \
    }

ROWS_OF(phase, measurement->phases, measurement->n_phases)
ROWS_OF(message, measurement->messages, measurement->n_messages)
ROWS_OF(flow, measurement->flows, measurement->n_flows)
ROWS_OF(rank_phase, measurement->rank_phases, (uint64_t)measurement->n_ranks * measurement->n_phases)
ROWS_OF(link, measurement->links, measurement->n_links)
ROWS_OF(endpoint, measurement->endpoints, measurement->n_ranks)
ROWS_OF(expert, measurement->experts, measurement->n_experts)
ROWS_OF(explanation, measurement->explanations, measurement->n_explanations)
ROWS_OF(crossing, measurement->crossings, measurement->n_crossings)
ROWS_OF(slow_flow, measurement->slow_flows, measurement->n_slow_flows)
ROWS_OF(totals, &measurement->totals, 1)

TAKE(phase, phases, measurement->n_phases = (uint32_t)n_rows)
TAKE(message, messages, measurement->n_messages = measurement->messages_capacity = n_rows)
TAKE(flow, flows, measurement->n_flows = n_rows)
TAKE(rank_phase, rank_phases, (void)0)
TAKE(link, links, measurement->n_links = (uint32_t)n_rows)
TAKE(endpoint, endpoints, measurement->n_ranks = (uint32_t)n_rows)
TAKE(expert, experts, measurement->n_experts = (uint32_t)n_rows)
TAKE(explanation, explanations, measurement->n_explanations = (uint32_t)n_rows)

TAKE(crossing, crossings, measurement->n_crossings = n_rows)
TAKE(slow_flow, slow_flows, measurement->n_slow_flows = (uint32_t)n_rows)

#define TABLE_OF(group, meaning, row_name, table, most, taker, younger)                                                \
    {                                                                                                                  \
        group, meaning, row_name, table##_columns, sizeof table##_columns / sizeof table##_columns[0],                 \
            sizeof(struct measurement_##table), table##_rows, table##_count, most, taker, younger                      \
    }
#define TABLE(group, meaning, row, table) TABLE_OF(group, meaning, row, table, UINT32_MAX - 1, table##_take, false)
#define LONG_TABLE(group, meaning, row, table) TABLE_OF(group, meaning, row, table, INT64_MAX, table##_take, false)

const struct column_table column_tables[] = {
    TABLE("phases", "One phase of the traffic; row number = phase id", "phase", phase),
    LONG_TABLE("messages", "One message over the fabric, in order of (source, destination, tag)", "message", message),
    LONG_TABLE("flows", "All messages of one (source, destination, phase), in that order", "flow", flow),
    LONG_TABLE("rank_phases", "One rank in one phase, in order of (rank, phase)", "rank_phase", rank_phase),
    TABLE("links", "One directed link; row number = link id", "link", link),
    TABLE("endpoints", "One endpoint; row number = rank", "rank", endpoint),
    TABLE("experts", "One expert of one expert-parallel group; row number = group × experts + expert", "expert",
          expert),
    TABLE("explanations", "Short texts for people", "explanation", explanation),
    TABLE_OF("crossings", "A flow on a link: of each link the 8 with most payload there", "crossing", crossing,
             INT64_MAX, crossing_take, true),
    TABLE_OF("slow_flows", "One of the 20 flows with the largest slow-down, and why", "slow_flow", slow_flow,
             UINT32_MAX - 1, slow_flow_take, true),
};

const size_t column_tables_count = sizeof column_tables / sizeof column_tables[0];

const struct column_table column_totals = TABLE_OF("totals", "Sums over the run", NULL, totals, 1, NULL, false);
