// SPDX-License-Identifier: GPL-3.0-or-later
#include "feature.h"

#include <inttypes.h>

/** A run as sums. */
struct summary {
    struct reference_link_counts links;
    struct reference_endpoint_counts endpoints;
    uint64_t events[TRACE_EVENTS];
    uint64_t starts[16]; /* by kind */
    uint64_t control_drops;
    uint64_t marked_probes;
    uint64_t super_spine_starts;
    bool slower_way, fewer_cables;
    const struct random_case *random_case;
    const struct reference *reference;
};

static bool is_super_spine(const struct summary *s, uint32_t number) {
    const struct fabric_device *device = &s->random_case->fabric->devices[number];
    return device->kind == FABRIC_SWITCH && device->tier == FABRIC_TIER_SUPERSPINE;
}

static void sum_trace(struct summary *s, const struct trace *trace) {
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *record = &trace->records[i];
        const bool data = record->kind == PACKET_DATA || record->kind == PACKET_PROBE;
        s->events[record->event]++;
        s->starts[record->kind] += record->event == TRACE_START;
        s->super_spine_starts += record->event == TRACE_START && is_super_spine(s, record->device);
        s->control_drops += record->event == TRACE_DROP && !data;
        s->marked_probes += record->event == TRACE_START && record->kind == PACKET_PROBE &&
                            (record->flags_transmission & PACKET_FLAG_MARKED);
    }
}

static void sum_links(struct summary *s, const struct reference *reference) {
    for (uint32_t link = 0; link < reference->n_links; link++) {
        const struct reference_link_counts *counts = &reference->links[link];
        s->links.marks += counts->marks;
        s->links.drops_lossless += counts->drops_lossless;
        s->links.drops_lossy += counts->drops_lossy;
        s->links.pauses += counts->pauses;
        s->links.trims += counts->trims;
        s->links.changed_places += counts->changed_places;
        s->links.credit_stalls += counts->credit_stalls;
        s->links.lane_stalls += counts->lane_stalls;
        s->links.renewed_credits += counts->renewed_credits;
        s->links.held_back += counts->held_back;
        s->links.ties += counts->ties;
        s->links.turns += counts->turns;
        s->links.lost_packets += counts->lost_packets;
        s->links.lost_at_random += counts->lost_at_random;
        s->links.lengthened_packets += counts->lengthened_packets;
        s->links.slowed_packets += counts->slowed_packets;
        s->links.detours += counts->detours;
        s->links.weighed += counts->weighed;
        s->links.unrouted_packets += counts->unrouted_packets;
        s->links.forgotten_pauses += counts->forgotten_pauses;
        s->links.repeated_pauses += counts->repeated_pauses;
        s->links.watchdog_drops += counts->watchdog_drops;
        s->links.watchdog_forwards += counts->watchdog_forwards;
        s->links.watchdog_restorations += counts->watchdog_restorations;
    }
}

/** Cables of a leaf to the device at the head of one of its links. */
static uint32_t cables_to(const struct fabric_link *ways, uint32_t n, uint32_t head) {
    uint32_t cables = 0;
    for (uint32_t i = 0; i < n; i++) {
        cables += ways[i].head_device == head;
    }
    return cables;
}

/** Whether of the ways that a switch may choose among one is slower, or leads over fewer cables, and is used all the same. */
static void look_at_ways(struct summary *s, uint32_t device, struct fabric_route route) {
    const struct fabric *fabric = s->random_case->fabric;
    const uint32_t first = fabric->devices[device].first_port + route.first_port;
    const struct fabric_link *ways = &fabric->links[first];
    for (uint32_t i = 0; i < route.count; i++) {
        const bool used = s->reference->links[first + i].packets > 0;
        const uint32_t cables = cables_to(ways, route.count, ways[i].head_device);
        for (uint32_t j = 0; j < route.count && used; j++) {
            s->slower_way |= ways[i].rate_bits_per_s < ways[j].rate_bits_per_s;
            s->fewer_cables |= cables < cables_to(ways, route.count, ways[j].head_device);
        }
    }
}

static void sum_ways(struct summary *s) {
    const struct fabric *fabric = s->random_case->fabric;
    for (uint32_t i = 0; i < fabric->n_switches; i++) {
        for (uint32_t endpoint = 0; endpoint < fabric->n_endpoints; endpoint++) {
            if (fabric->endpoints[endpoint].n_nics > 0) {
                const uint32_t device = fabric->switch_devices[i];
                look_at_ways(s, device, fabric_route_to(fabric, device, endpoint));
            }
        }
    }
}

static void sum_endpoints(struct summary *s, const struct reference *reference) {
    for (uint32_t endpoint = 0; endpoint < reference->n_endpoints; endpoint++) {
        const struct reference_endpoint_counts *counts = &reference->endpoints[endpoint];
        s->endpoints.retransmitted_packets += counts->retransmitted_packets;
        s->endpoints.duplicate_packets += counts->duplicate_packets;
        s->endpoints.out_of_order_packets += counts->out_of_order_packets;
        s->endpoints.notifications_received += counts->notifications_received;
        s->endpoints.timeouts += counts->timeouts;
        s->endpoints.paced_packets += counts->paced_packets;
        s->endpoints.probes_given_up += counts->probes_given_up;
        s->endpoints.late_acknowledgements += counts->late_acknowledgements;
        s->endpoints.window_stalls += counts->window_stalls;
        s->endpoints.round_trips += counts->round_trips;
        s->endpoints.untold_round_trips += counts->untold_round_trips;
        s->endpoints.telemetry += counts->telemetry;
        s->endpoints.pulls += counts->pulls;
        s->endpoints.copied_records += counts->copied_records;
        s->endpoints.messages_held += counts->messages_held;
        s->endpoints.receive_discards += counts->receive_discards;
        s->endpoints.receive_pauses += counts->receive_pauses;
        s->endpoints.inferred += counts->inferred;
        s->endpoints.probes_held += counts->probes_held;
        s->endpoints.urgent_again += counts->urgent_again;
        s->endpoints.spurious += counts->spurious;
    }
}

static bool any_message(const struct summary *s, bool (*is)(const struct random_case_message *)) {
    for (uint32_t i = 0; i < s->random_case->n_messages; i++) {
        if (is(&s->random_case->messages[i])) {
            return true;
        }
    }
    return false;
}

static bool message_waits(const struct random_case_message *m) {
    return m->n_awaited > 0;
}
static bool message_has_units(const struct random_case_message *m) {
    return m->message.unit_bytes > 0;
}
static bool message_on_second_channel(const struct random_case_message *m) {
    return m->message.route == TRAFFIC_NVLINK && m->message.channel == 1;
}
static bool message_is_series(const struct random_case_message *m) {
    return m->copies > 1;
}
static bool message_starts_later(const struct random_case_message *m) {
    return m->message.start_ps > 0;
}

static bool mark(const struct summary *s) {
    return s->links.marks > 0;
}
static bool marked_probe(const struct summary *s) {
    return s->marked_probes > 0;
}
static bool lossless_drop(const struct summary *s) {
    return s->links.drops_lossless > 0;
}
static bool lossy_drop(const struct summary *s) {
    return s->links.drops_lossy > s->control_drops;
}
static bool control_drop(const struct summary *s) {
    return s->control_drops > 0;
}
static bool pause_sent(const struct summary *s) {
    return s->events[TRACE_PAUSE] > 0;
}
static bool resume_sent(const struct summary *s) {
    return s->events[TRACE_RESUME] > 0;
}
static bool pause_often(const struct summary *s) {
    return s->events[TRACE_PAUSE] > 10;
}
static bool timeout(const struct summary *s) {
    return s->endpoints.timeouts > 0;
}
static bool nack(const struct summary *s) {
    return s->starts[PACKET_NACK] > 0;
}
static bool retransmission(const struct summary *s) {
    return s->endpoints.retransmitted_packets > 0;
}
static bool duplicate(const struct summary *s) {
    return s->endpoints.duplicate_packets > 0;
}
static bool reordering(const struct summary *s) {
    return s->endpoints.out_of_order_packets > 0 && s->random_case->parameters.nic.out_of_order;
}
static bool notification(const struct summary *s) {
    return s->endpoints.notifications_received > 0;
}
static bool probe_reply(const struct summary *s) {
    return s->starts[PACKET_PROBE_REPLY] > 0;
}
static bool probe_held(const struct summary *s) {
    return s->endpoints.probes_held > 0;
}
static bool probe_given_up(const struct summary *s) {
    return s->endpoints.probes_given_up > 0;
}
static bool late_acknowledgement(const struct summary *s) {
    return s->endpoints.late_acknowledgements > 0;
}
static bool paced(const struct summary *s) {
    return s->endpoints.paced_packets > 0;
}
static bool early_pacing(const struct summary *s) {
    return s->starts[PACKET_PROBE] > 0 && s->random_case->parameters.congestion.spectrum_x.early_pacing;
}
static bool round_trip(const struct summary *s) {
    return s->endpoints.round_trips > 0;
}
static bool untold_round_trip(const struct summary *s) {
    return s->endpoints.untold_round_trips > 0;
}
static bool telemetry(const struct summary *s) {
    return s->endpoints.telemetry > 0;
}
static bool pull(const struct summary *s) {
    return s->endpoints.pulls > 0;
}
static bool window_stall(const struct summary *s) {
    return s->endpoints.window_stalls > 0;
}
static bool urgent(const struct summary *s) {
    return s->starts[PACKET_URGENT] > 0;
}
static bool urgent_again(const struct summary *s) {
    return s->endpoints.urgent_again > 0;
}
static bool nvlink(const struct summary *s) {
    return s->starts[PACKET_RECORD] > 0;
}
static bool second_channel(const struct summary *s) {
    return any_message(s, message_on_second_channel);
}
static bool copied(const struct summary *s) {
    return s->endpoints.copied_records > 0;
}
static bool lengthened(const struct summary *s) {
    return s->links.lengthened_packets > 0;
}
static bool series(const struct summary *s) {
    return any_message(s, message_is_series);
}
static bool credit_stall(const struct summary *s) {
    return s->links.credit_stalls > 0;
}
static bool lane_stall(const struct summary *s) {
    return s->links.lane_stalls > 0;
}
static bool renewed_credit(const struct summary *s) {
    return s->links.renewed_credits > 0;
}
static bool held_back(const struct summary *s) {
    return s->links.held_back > 0;
}
static bool queue_pairs(const struct summary *s) {
    return s->random_case->parameters.nic.queue_pairs > 1 && s->starts[PACKET_DATA] > 0;
}
static bool split_message(const struct summary *s) {
    return queue_pairs(s) && s->random_case->parameters.nic.split_messages;
}
static bool adaptive(const struct summary *s) {
    const struct network_parameters *p = &s->random_case->parameters;
    return p->path.kind == PATH_ADAPTIVE && p->nic.adaptive_marking && s->starts[PACKET_DATA] > 0 &&
           s->random_case->fabric->n_leaves > 1;
}
static bool ecmp(const struct summary *s) {
    return s->random_case->parameters.path.kind == PATH_ECMP && s->starts[PACKET_DATA] > 0 &&
           s->random_case->fabric->n_leaves > 1;
}
static bool takes(const struct summary *s, enum path_kind kind) {
    const struct network_parameters *p = &s->random_case->parameters;
    return p->path.kind == kind && (p->nic.adaptive_marking || kind == PATH_FLOWLET) && s->starts[PACKET_DATA] > 0 &&
           s->random_case->fabric->n_leaves > 1;
}
static bool spray_random(const struct summary *s) {
    return takes(s, PATH_SPRAY_RANDOM);
}
static bool spray_round_robin(const struct summary *s) {
    return takes(s, PATH_SPRAY_ROUND_ROBIN);
}
static bool two_choices(const struct summary *s) {
    return takes(s, PATH_TWO_CHOICES);
}
static bool drill(const struct summary *s) {
    return takes(s, PATH_DRILL);
}
static bool flowlet(const struct summary *s) {
    return takes(s, PATH_FLOWLET);
}
static bool d_mod_k(const struct summary *s) {
    return s->random_case->parameters.path.kind == PATH_D_MOD_K && s->starts[PACKET_DATA] > 0 &&
           s->random_case->fabric->n_leaves > 1;
}
static bool turns(const struct summary *s) {
    return s->links.turns > 0;
}
static bool three_tiers(const struct summary *s) {
    return s->super_spine_starts > 0;
}
static bool slower_way(const struct summary *s) {
    return s->slower_way;
}
static bool fewer_cables(const struct summary *s) {
    return s->fewer_cables;
}
static bool tie(const struct summary *s) {
    return s->links.ties > 0;
}
static bool many_ties(const struct summary *s) {
    return s->links.ties > 20;
}
static bool dependency(const struct summary *s) {
    return any_message(s, message_waits);
}
static bool units(const struct summary *s) {
    return any_message(s, message_has_units);
}
static bool held_start(const struct summary *s) {
    return s->endpoints.messages_held > 0;
}
static bool later_start(const struct summary *s) {
    return any_message(s, message_starts_later);
}
static bool lost_on_dead_link(const struct summary *s) {
    return s->links.lost_packets > s->links.lost_at_random;
}
static bool lost_at_random(const struct summary *s) {
    return s->links.lost_at_random > 0;
}
static bool slowed_link(const struct summary *s) {
    return s->links.slowed_packets > 0;
}
static bool detour(const struct summary *s) {
    return s->links.detours > 0;
}
static bool weighed(const struct summary *s) {
    return s->links.weighed > 0;
}
static bool unrouted(const struct summary *s) {
    return s->links.unrouted_packets > 0;
}
static bool forgotten_pause(const struct summary *s) {
    return s->links.forgotten_pauses > 0;
}
static bool repeated_pause(const struct summary *s) {
    return s->links.repeated_pauses > 0;
}
static bool receive_pause(const struct summary *s) {
    return s->endpoints.receive_pauses > 0;
}
static bool receive_discard(const struct summary *s) {
    return s->endpoints.receive_discards > 0;
}

static bool selective_ack(const struct summary *s) {
    return s->starts[PACKET_SELECTIVE_ACK] > 0;
}
static bool inferred_loss(const struct summary *s) {
    return s->endpoints.inferred > 0;
}
static bool spurious(const struct summary *s) {
    return s->endpoints.spurious > 0;
}
static bool watchdog_storm(const struct summary *s) {
    return s->links.watchdog_drops > 0;
}
static bool watchdog_forward(const struct summary *s) {
    return s->links.watchdog_forwards > 0;
}
static bool watchdog_restoration(const struct summary *s) {
    return s->links.watchdog_restorations > 0;
}
static bool trim(const struct summary *s) {
    return s->links.trims > 0;
}
static bool trim_waiting(const struct summary *s) {
    return s->links.changed_places > 0;
}
static bool finished(const struct summary *s) {
    return s->reference->finished;
}

static const struct {
    const char *name;
    bool (*occurred)(const struct summary *s);
} features[FEATURES] = {
    [FEATURE_FINISHED] = {"finished", finished},
    [FEATURE_ECN_MARK] = {"ECN mark", mark},
    [FEATURE_MARKED_PROBE] = {"marked probe", marked_probe},
    [FEATURE_LOSSLESS_DROP] = {"drop in the lossless class", lossless_drop},
    [FEATURE_LOSSY_DROP] = {"drop in the lossy class", lossy_drop},
    [FEATURE_CONTROL_DROP] = {"drop of a control packet", control_drop},
    [FEATURE_PAUSE_SENT] = {"pause", pause_sent},
    [FEATURE_PAUSE_OFTEN] = {"more than 10 pauses", pause_often},
    [FEATURE_RESUME_SENT] = {"resume", resume_sent},
    [FEATURE_TIMEOUT] = {"rewind by timeout", timeout},
    [FEATURE_NACK] = {"NACK", nack},
    [FEATURE_RETRANSMISSION] = {"retransmission", retransmission},
    [FEATURE_DUPLICATE] = {"duplicate", duplicate},
    [FEATURE_REORDERING] = {"reordering, placed", reordering},
    [FEATURE_NOTIFICATION] = {"congestion notification", notification},
    [FEATURE_PROBE_REPLY] = {"probe reply", probe_reply},
    [FEATURE_PROBE_HELD] = {"probe that waits for data", probe_held},
    [FEATURE_PROBE_GIVEN_UP] = {"probe given up", probe_given_up},
    [FEATURE_LATE_ACKNOWLEDGEMENT] = {"late acknowledgement", late_acknowledgement},
    [FEATURE_PACED] = {"pacing below line rate", paced},
    [FEATURE_EARLY_PACING] = {"early pacing", early_pacing},
    [FEATURE_ROUND_TRIP] = {"ACK that tells a round trip", round_trip},
    [FEATURE_UNTOLD_ROUND_TRIP] = {"ACK that tells none", untold_round_trip},
    [FEATURE_TELEMETRY] = {"ACK with telemetry", telemetry},
    [FEATURE_PULL] = {"pull", pull},
    [FEATURE_WINDOW_STALL] = {"window holds a queue pair", window_stall},
    [FEATURE_URGENT] = {"urgent message", urgent},
    [FEATURE_URGENT_AGAIN] = {"urgent message sent again", urgent_again},
    [FEATURE_NVLINK] = {"NVLink", nvlink},
    [FEATURE_SECOND_CHANNEL] = {"second NVLink channel", second_channel},
    [FEATURE_COPIED] = {"NVLink records that SMs copy out", copied},
    [FEATURE_LENGTHENED] = {"packet that takes the time of a message", lengthened},
    [FEATURE_SERIES] = {"series of NVLink messages", series},
    [FEATURE_CREDIT_STALL] = {"credit stall", credit_stall},
    [FEATURE_LANE_STALL] = {"InfiniBand link without credit", lane_stall},
    [FEATURE_RENEWED_CREDIT] = {"credit of an InfiniBand link renewed", renewed_credit},
    [FEATURE_HELD_BACK] = {"cut-through from slow to fast", held_back},
    [FEATURE_QUEUE_PAIRS] = {"several queue pairs", queue_pairs},
    [FEATURE_SPLIT_MESSAGE] = {"message split over queue pairs", split_message},
    [FEATURE_ADAPTIVE] = {"adaptive routing", adaptive},
    [FEATURE_ECMP] = {"ECMP", ecmp},
    [FEATURE_SPRAY_RANDOM] = {"random spray", spray_random},
    [FEATURE_SPRAY_ROUND_ROBIN] = {"round-robin spray", spray_round_robin},
    [FEATURE_TWO_CHOICES] = {"two choices", two_choices},
    [FEATURE_DRILL] = {"DRILL", drill},
    [FEATURE_FLOWLET] = {"flowlets", flowlet},
    [FEATURE_D_MOD_K] = {"routing by destination", d_mod_k},
    [FEATURE_TURNS] = {"turns of two data classes", turns},
    [FEATURE_THREE_TIERS] = {"three tiers", three_tiers},
    [FEATURE_SLOWER_WAY] = {"slower link among equal ways", slower_way},
    [FEATURE_FEWER_CABLES] = {"fewer cables to one spine", fewer_cables},
    [FEATURE_TIE] = {"arrivals at one time", tie},
    [FEATURE_MANY_TIES] = {"many arrivals at one time", many_ties},
    [FEATURE_DEPENDENCY] = {"dependency", dependency},
    [FEATURE_UNITS] = {"unit", units},
    [FEATURE_LATER_START] = {"later start", later_start},
    [FEATURE_HELD_START] = {"start held back by a late GPU", held_start},
    [FEATURE_LOST_ON_DEAD_LINK] = {"lost on a dead link", lost_on_dead_link},
    [FEATURE_LOST_AT_RANDOM] = {"lost at random", lost_at_random},
    [FEATURE_SLOWED_LINK] = {"packet on a slowed link", slowed_link},
    [FEATURE_DETOUR] = {"way around a dead link", detour},
    [FEATURE_WEIGHED] = {"choice between ports of different weight", weighed},
    [FEATURE_UNROUTED] = {"packet without a way", unrouted},
    [FEATURE_FORGOTTEN_PAUSE] = {"pause that a dead link ends", forgotten_pause},
    [FEATURE_REPEATED_PAUSE] = {"pause repeated on a revived link", repeated_pause},
    [FEATURE_RECEIVE_PAUSE] = {"pause by a receiver", receive_pause},
    [FEATURE_RECEIVE_DISCARD] = {"discard by a receiver", receive_discard},
    [FEATURE_SELECTIVE_ACK] = {"selective ACK", selective_ack},
    [FEATURE_INFERRED_LOSS] = {"loss told by later packets", inferred_loss},
    [FEATURE_SPURIOUS] = {"packet sent again without need", spurious},
    [FEATURE_WATCHDOG_STORM] = {"queue emptied by the PFC watchdog", watchdog_storm},
    [FEATURE_WATCHDOG_FORWARD] = {"queue that sends in spite of pauses", watchdog_forward},
    [FEATURE_WATCHDOG_RESTORATION] = {"queue restored by the PFC watchdog", watchdog_restoration},
    [FEATURE_TRIM] = {"trimmed packet", trim},
    [FEATURE_TRIM_WAITING] = {"trimmed packet that had waited", trim_waiting},
};
_Static_assert((int)FEATURES <= 128, "a set of features has too few bits");

feature_bits feature_set(const struct random_case *random_case, const struct reference *reference) {
    struct summary s = {.random_case = random_case, .reference = reference};
    sum_trace(&s, &reference->trace);
    sum_links(&s, reference);
    sum_endpoints(&s, reference);
    sum_ways(&s);
    feature_bits set = 0;
    for (int i = 0; i < FEATURES; i++) {
        set |= (feature_bits)features[i].occurred(&s) << i;
    }
    return set;
}

const char *feature_name(enum feature feature) {
    return features[feature].name;
}

void feature_count(struct feature_table *table, feature_bits set) {
    table->cases++;
    for (int i = 0; i < FEATURES; i++) {
        table->counts[i] += (uint32_t)(set >> i & 1);
    }
}

void feature_print(FILE *stream, const struct feature_table *table) {
    fprintf(stream, "# %" PRIu32 " cases, in which occurred\n", table->cases);
    for (int i = 0; i < FEATURES; i++) {
        fprintf(stream, "# %6" PRIu32 " %s\n", table->counts[i], features[i].name);
    }
    fflush(stream);
}

bool feature_all_covered(const struct feature_table *table) {
    bool covered = true;
    for (int i = 0; i < FEATURES; i++) {
        if (table->counts[i] < FEATURE_LEAST_CASES) {
            fprintf(stderr, "too few cases with: %s\n", features[i].name);
            covered = false;
        }
    }
    return covered;
}
