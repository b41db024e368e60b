# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes that somebody could make in the engine and the devices, each as a replacement of text.

White space in what is to be replaced stands for any white space, so that another layout does not matter. When a change of
the source takes a text away, plant the same mistake in what took its place; delete a fault only if it cannot be made any more.
"""

from typing import NamedTuple


class Edit(NamedTuple):
    """Text of a file, which must occur there exactly once, and what takes its place."""

    file: str
    text: str
    instead: str


class Fault(NamedTuple):
    """A mistake: a name that says what goes wrong, and its edits."""

    name: str
    edits: tuple


def fault(name, file, *texts):
    """A fault in one file: text, instead, text, instead, …"""
    return Fault(name, tuple(Edit(file, texts[i], texts[i + 1]) for i in range(0, len(texts), 2)))


SWITCH = [
    fault("departure_one_picosecond_late", "sim/device/switch_internal.h",
          "port->decision_ps = now_ps + duration_ps;", "port->decision_ps = now_ps + duration_ps + 1;"),
    fault("arrival_one_picosecond_late", "sim/device/switch_internal.h",
          "ENGINE_PACKET, now_ps + port->latency_ps +", "ENGINE_PACKET, now_ps + 1 + port->latency_ps +"),
    fault("fraction_of_a_picosecond_is_not_carried", "sim/device/switch_internal.h",
          "rate_next_ps(port->ps_per_byte, size, &port->carry)", "rate_next_ps(port->ps_per_byte, size, &(uint32_t){0})"),
    fault("mark_by_stale_depth", "sim/device/switch_port.c",
          "if (is_marked(device->parameters, port, port->depth[class]))",
          "if (is_marked(device->parameters, port, device->views[port->number].depth_bytes))"),
    fault("mark_by_depth_without_the_packet", "sim/device/switch_port.c",
          "if (is_marked(device->parameters, port, port->depth[class]))",
          "if (is_marked(device->parameters, port, port->depth[class] - packet->size_bytes))"),
    fault("draw_taken_twice", "sim/device/switch_port.c",
          "hash_draw(port->mark_stream, port->mark_draws++)", "hash_draw(port->mark_stream, port->mark_draws++ / 2)"),
    fault("draw_for_a_packet_that_is_marked_already", "sim/device/switch_port.c",
          "if (!device->parameters->ecn || (packet->flags_transmission & PACKET_FLAG_MARKED))",
          "if (!device->parameters->ecn)"),
    fault("control_class_marked", "sim/device/switch_port.c",
          "if (class == PACKET_CLASS_CONTROL) { return; } if (device->telemetry)", "if (device->telemetry)"),
    fault("utilisation_of_the_last_port_instead_of_the_fullest", "sim/device/switch_port.c",
          "if (packet_kind(packet) == PACKET_DATA && told > packet_telemetry(packet->number))",
          "if (packet_kind(packet) == PACKET_DATA)"),
    fault("utilisation_told_of_another_class", "sim/device/switch_port.c",
          "tell(device, port, packet, class, now_ps);", "tell(device, port, packet, PACKET_CLASS_CONTROL, now_ps);"),
    fault("mark_at_the_minimum_depth", "sim/device/switch_port.c",
          "if (depth_bytes <= parameters->ecn_minimum_bytes)", "if (depth_bytes < parameters->ecn_minimum_bytes)",
          "if (depth_bytes > parameters->ecn_maximum_bytes)", "if (depth_bytes >= parameters->ecn_maximum_bytes)"),
    fault("pause_lost", "sim/device/switch_buffer.c",
          "context_send_control(device->context, worker, ingress->link, now_ps, CONTROL_PAUSE, 0);", "(void)worker;"),
    fault("resume_lost", "sim/device/switch_buffer.c",
          "context_send_control(device->context, worker, ingress->link, now_ps, CONTROL_RESUME, 0);", "(void)worker;"),
    fault("resume_one_departure_late", "sim/device/switch_buffer.c",
          "ingress->headroom_bytes -= from_headroom;",
          "const bool may = may_resume(device, ingress); ingress->headroom_bytes -= from_headroom;",
          "if (!ingress->pausing || !may_resume(device, ingress))", "if (!ingress->pausing || !may)"),
    fault("resume_only_below_its_level", "sim/device/switch_buffer.c",
          "(ingress->shared_bytes <= xon_bytes ||", "(ingress->shared_bytes < xon_bytes ||"),
    fault("headroom_never_quite_full", "sim/device/switch_buffer.c",
          "ingress->headroom_bytes + size_bytes > ingress->headroom_limit_bytes",
          "ingress->headroom_bytes + size_bytes >= ingress->headroom_limit_bytes"),
    fault("pause_sent_for_every_packet", "sim/device/switch_buffer.c",
          "if (!ingress->pausing) { ingress->pausing = true; device->n_pausing++; switch_send_pause",
          "if (!ingress->pausing || true) { device->n_pausing += !ingress->pausing; ingress->pausing = true; switch_send_pause"),
    fault("buffer_filled_by_what_has_left", "sim/device/switch_buffer.c",
          "switch_port_drain(device, worker, &device->ports[w * 64 + (uint32_t)__builtin_ctzll(bits)], now_ps);",
          "(void)worker; (void)now_ps;"),
    fault("departures_of_one_time_in_another_order", "sim/device/switch_buffer.c",
          "heap_push(&device->departures, port->decision_ps, port->number, 0);",
          "heap_push(&device->departures, port->decision_ps, device->n_ports - 1 - port->number, 0);",
          "&device->ports[entry.tie];", "&device->ports[device->n_ports - 1 - entry.tie];"),
    fault("drop_in_the_wrong_class", "sim/device/switch.c",
          "if (packet_class(packet) == PACKET_CLASS_LOSSLESS) { counters->lossless_drops++;",
          "if (packet_class(packet) != PACKET_CLASS_LOSSY) { counters->lossless_drops++;"),
    fault("wrong_byte_count_of_a_drop", "sim/device/switch.c",
          "counters->dropped_bytes += packet->size_bytes;", "counters->dropped_bytes++;"),
    fault("lossless_class_admitted_by_the_lossy_rule", "sim/device/switch.c",
          "if (class != PACKET_CLASS_LOSSLESS) { return switch_admit_lossy",
          "if (class != PACKET_CLASS_LOSSLESS || size_bytes <= 1024) { return switch_admit_lossy"),
    fault("cut_through_waits_for_the_last_bit", "sim/device/switch.c",
          "return last_bit_ps - out_ps > now_ps ? last_bit_ps - out_ps : now_ps;", "return last_bit_ps + 0 * out_ps;"),
    fault("cut_through_runs_dry", "sim/device/switch.c",
          "return last_bit_ps - out_ps > now_ps ? last_bit_ps - out_ps : now_ps;",
          "return last_bit_ps - out_ps - 1 > now_ps ? last_bit_ps - out_ps - 1 : now_ps;"),
    fault("refresh_after_what_arrives_with_it", "sim/device/switch.c",
          "if (device->next_refresh_ps <= now_ps)", "if (device->next_refresh_ps < now_ps)"),
    fault("view_of_a_port_that_fell_idle_stays_old", "sim/device/switch.c",
          "device->stale[w] |= device->active[w];", ""),
    fault("pause_hidden_from_the_path_policy", "sim/device/switch.c",
          "device->views[p].paused = port->paused;", "device->views[p].paused = false;"),
    fault("turn_kept_while_one_class_sends", "sim/device/switch.c",
          "egress->turn = (uint8_t) class;", ""),
    fault("deficit_kept_while_one_class_sends", "sim/device/switch_port.c",
          "port->deficit[PACKET_CLASS_LOSSLESS] = port->deficit[PACKET_CLASS_LOSSY] = 0;", ""),
    fault("weight_of_the_other_class", "sim/device/switch_port.c",
          "device->parameters->class_weight[port->turn] * DEFICIT_STEP_BYTES",
          "device->parameters->class_weight[turn] * DEFICIT_STEP_BYTES"),
    fault("paused_class_takes_part_in_turns", "sim/device/switch_port.c",
          "port->paused ? TIME_NEVER : head_ready_ps(&port->queues[PACKET_CLASS_LOSSLESS]); const uint64_t lossy_ps",
          "port->paused && queue_is_empty(&port->queues[PACKET_CLASS_LOSSY]) ? TIME_NEVER : "
          "head_ready_ps(&port->queues[PACKET_CLASS_LOSSLESS]); const uint64_t lossy_ps"),
    fault("block_of_a_queue_given_back_before_its_last_packet", "sim/device/queue.h",
          "queue->head = chunk->next->slots[0]; chunk_give(pool, chunk);",
          "struct chunk *next = chunk->next; queue->head = next->slots[0]; chunk_give(pool, chunk); chunk_give(pool, next);"),
]

NIC = [
    fault("pace_from_the_end_of_a_packet", "sim/device/nic.c",
          "in->next_ps = now_ps + gap_ps;", "in->next_ps = now_ps + duration_ps + gap_ps;"),
    fault("paced_queue_pair_before_those_that_wait", "sim/device/nic.c",
          "while (heap_time_ps(&port->paced) <= now_ps)", "while (port->ring_count == 0 && heap_time_ps(&port->paced) <= now_ps)"),
    fault("probes_are_not_paused", "sim/device/nic.c",
          "!is_held(nic, port) && decide_data(", "(!is_held(nic, port) || !queue_is_empty(&port->probes)) && decide_data("),
    fault("ring_of_queue_pairs_grows_out_of_order", "sim/device/nic.c",
          "port->ring[(port->ring_first + i) & (old - 1)];", "port->ring[i];"),
    fault("window_one_packet_too_large", "sim/device/endpoint_internal.h",
          "(int64_t)pair->n_lost < (int64_t)pair->window", "(int64_t)pair->n_lost <= (int64_t)pair->window"),
    fault("window_holds_what_is_sent_again", "sim/device/endpoint_internal.h",
          "pair->next_number < pair->sent_number || (int64_t)pair->next_number", "(int64_t)pair->next_number"),
    fault("timer_not_armed_again_after_progress", "sim/device/pair.c",
          "if (deadline_of(endpoint, pair) > now_ps) { // there was progress since it was set "
          "pair_arm_timer(endpoint, pair);", "if (deadline_of(endpoint, pair) > now_ps) {"),
    fault("timer_not_armed_again_after_a_timeout", "sim/device/pair.c",
          "rewind_to(endpoint, pair, pair->cumulative, now_ps); } pair_arm_timer(endpoint, pair);",
          "rewind_to(endpoint, pair, pair->cumulative, now_ps); }"),
    fault("back_off_kept_after_progress", "sim/device/pair.c",
          "pair->repeats = 0;", ""),
    fault("back_off_one_doubling_short", "sim/device/pair.c",
          "pair->repeats < NIC_LONGEST_BACK_OFF;", "pair->repeats < NIC_LONGEST_BACK_OFF - 1;"),
    fault("nack_of_the_oldest_packet_ignored", "sim/device/pair.c",
          "if (packet->number >= pair->cumulative) {", "if (packet->number > pair->cumulative) {"),
    fault("rewind_one_packet_short", "sim/device/pair.c",
          "rewind_to(endpoint, pair, packet->number, now_ps);", "rewind_to(endpoint, pair, packet->number + 1, now_ps);"),
    fault("late_acknowledgement_leaves_the_next_number", "sim/device/pair.c",
          "if (pair->next_number < cumulative) {", "if (pair->next_number + 1 < cumulative) {"),
    fault("reply_to_a_probe_that_was_given_up_counts", "sim/device/pair.c",
          "if (!in->probing || number + 1 != in->probes) {", "if (!in->probing) {"),
    fault("probe_given_up_one_picosecond_early", "sim/device/nic.c",
          "now_ps - in->probe_ps > context->parameters", "now_ps - in->probe_ps >= context->parameters"),
    fault("round_trip_from_the_wrong_moment", "sim/device/pair.c",
          "now_ps - in->probe_ps, now_ps);", "now_ps - in->probe_ps + 1000, now_ps);"),
    fault("rate_cut_twice_by_one_notification", "sim/device/pair.c",
          "context->controller->notified(&context->parameters->congestion, "
          "&pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion, now_ps);",
          "context->controller->notified(&context->parameters->congestion, "
          "&pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion, now_ps); "
          "context->controller->notified(&context->parameters->congestion, "
          "&pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion, now_ps);"),
    fault("controller_not_told_of_a_loss", "sim/device/pair.c",
          "context->controller->lost(&context->parameters->congestion, &pair_context(&endpoint->nic, pair, plane)->congestion, now_ps);",
          "(void)now_ps; (void)context;"),
    fault("controller_not_told_of_an_announcement", "sim/device/pair.c",
          "} else if (message->share) {", "} else if (message->share && false) {"),
    fault("window_not_asked_for_after_a_loss", "sim/device/pair.c",
          "&pair_context(&endpoint->nic, pair, plane)->congestion, now_ps); pair_ask_window(endpoint, pair, plane);",
          "&pair_context(&endpoint->nic, pair, plane)->congestion, now_ps);"),
    fault("round_trip_of_a_packet_sent_again", "sim/device/echo.c",
          "return same ? now_ps - (start >> TRANSMISSION_BITS) : 0;",
          "return same || true ? now_ps - (start >> TRANSMISSION_BITS) : 0;"),
    fault("times_of_sending_mixed_up_when_their_table_grows", "sim/device/echo.c",
          "grown.starts[(oldest + i) & (grown.capacity - 1)] =", "grown.starts[i & (grown.capacity - 1)] ="),
    fault("time_of_posting_of_an_armed_message", "sim/device/endpoint.c",
          "post(endpoint, worker, &message, entry.time_ps);", "post(endpoint, worker, &message, entry.time_ps + 1);"),
    fault("timers_before_what_arrives_with_them", "sim/device/endpoint.c",
          "if (start_ps >= limit_ps && timer_ps >= limit_ps && take_ps", "if (start_ps > limit_ps && timer_ps > limit_ps && take_ps"),
    fault("timer_before_a_start_of_the_same_time", "sim/device/endpoint.c",
          "if (start_ps <= timer_ps)", "if (start_ps < timer_ps)"),
]

RECEIVER = [
    fault("acknowledged_one_byte_late", "sim/device/receiver.c",
          "receiver->unacknowledged_bytes >= ", "receiver->unacknowledged_bytes > "),
    fault("mark_waits_for_the_next_acknowledgement", "sim/device/receiver.c",
          "((packet->flags_transmission & PACKET_FLAG_MARKED) && context->controller->wants_acknowledgements)", "false"),
    fault("headers_count_as_payload", "sim/device/receiver.c",
          "receiver->received++; receiver->unacknowledged_bytes += packet->size_bytes - "
          "endpoint->context->parameters->nic.header_bytes; if (packet->flags_transmission & PACKET_FLAG_LAST) "
          "{ note_completed",
          "receiver->received++; receiver->unacknowledged_bytes += packet->size_bytes; "
          "if (packet->flags_transmission & PACKET_FLAG_LAST) { note_completed"),
    fault("notified_again_one_picosecond_late", "sim/device/receiver.c",
          "now_ps - *notified_ps < ", "now_ps - *notified_ps <= "),
    fault("nack_again_one_picosecond_late", "sim/device/receiver.c",
          "now_ps - receiver->nack_ps < ", "now_ps - receiver->nack_ps <= "),
    fault("early_packet_stays_noted", "sim/device/receiver.c",
          "set_early_bit(receiver, receiver->expected, false);", ""),
    fault("early_packets_lost_when_their_table_grows", "sim/device/receiver.c",
          "set_early_bit(&grown, receiver->expected + i, true);", ""),
    fault("end_of_a_message_that_came_early_forgotten", "sim/device/receiver.c",
          "complete_early(endpoint, receiver, receiver->expected, &completed);", ""),
    fault("duplicates_not_counted", "sim/device/receiver.c",
          "endpoint->counters.duplicates += duplicate;", ""),
    fault("reordering_depth_off_by_one", "sim/device/receiver.c",
          "counters->reordering_depth = depth > counters->reordering_depth ? depth : counters->reordering_depth;",
          "counters->reordering_depth = depth > counters->reordering_depth ? depth + 1 : counters->reordering_depth;"),
]

NVLINK = [
    fault("record_at_the_wrong_port", "sim/device/lane.c",
          "endpoint->lane_numbers.port = endpoint->n_lanes ? endpoint->device % endpoint->n_lanes : 0;",
          "endpoint->lane_numbers.port = 0;"),
    fault("channels_not_in_turn", "sim/device/lane.c",
          "lane->last_channel = (uint8_t)next->channel;", ""),
    fault("series_numbered_as_if_posted_later", "sim/device/lane.c",
          ".sequence = endpoint->lane_numbers.sequence,", ".sequence = endpoint->lane_numbers.sequence + 100,"),
    fault("series_ends_with_its_first_block", "sim/device/series.c",
          "!last || last->count == SERIES_BLOCK ?", "!last ?"),
    fault("port_enters_another_block_of_its_series", "sim/device/series.c",
          "block->series != series->destination || block->messages[0].sequence != numbers->sequence",
          "block->series != series->destination"),
    fault("message_that_came_in_part_forgotten", "sim/device/missing.c",
          "if (distance(missing, home, at) >= distance(missing, gap, at)) {", "if (false && home) {"),
    fault("credit_of_exactly_a_record_is_too_little", "sim/device/lane.c",
          "if (lane->credit_bytes < endpoint->context->parameters->nvlink.record_bytes)",
          "if (lane->credit_bytes <= endpoint->context->parameters->nvlink.record_bytes)"),
    fault("credit_does_not_date_the_next_start", "sim/device/lane.c",
          "lane->unblocked_ps = now_ps;", ""),
    fault("credits_unsorted", "sim/device/chip.c",
          "insertion_sort(chip->departures, chip->n_departures);", ""),
    fault("credits_of_one_time_in_another_order", "sim/device/chip.c",
          "a->time_ps < b->time_ps : a->port < b->port;", "a->time_ps < b->time_ps : a->port > b->port;"),
    fault("departures_in_the_wrong_bucket", "sim/device/chip.c",
          "starts[b + 1] += starts[b];", "starts[b + 1] += b % 8 ? starts[b] : 0;"),
    fault("chip_port_does_not_follow_the_in_port", "sim/device/chip.c",
          "routes.first_port + ingress % routes.count", "routes.first_port + 0 * ingress"),
    fault("credit_only_beyond_a_grain", "sim/device/credit.c",
          "if (*gathered_bytes < context->parameters", "if (*gathered_bytes <= context->parameters"),
    fault("credit_leaves_a_rest", "sim/device/credit.c",
          "*gathered_bytes = 0;", "*gathered_bytes = 1;"),
    fault("first_credit_of_one_way_only", "sim/device/credit.c",
          "2 * rate_time_ps(slower, nvlink->record_bytes)", "rate_time_ps(slower, nvlink->record_bytes)"),
]

ENGINE = [
    fault("control_records_after_packets_of_their_time", "sim/engine/gather.c",
          "*key = (time_ps << KEY_TIME_SHIFT) + place;", "*key = ((time_ps + !queue) << KEY_TIME_SHIFT) + place;"),
    fault("control_records_of_one_link_in_reverse", "sim/engine/gather.c",
          "*key = (time_ps << KEY_TIME_SHIFT) + place;",
          "*key = (time_ps << KEY_TIME_SHIFT) + place; "
          "if (queue == ENGINE_CONTROL && key > &worker->keys[first] && key[0] >> 32 == key[-1] >> 32) "
          "{ struct engine_record swap = *record; record[0] = record[-1]; record[-1] = swap; }"),
    fault("two_rings_taken_to_be_in_order", "sim/engine/gather.c",
          "if (worker->n_rings <= 1)", "if (worker->n_rings <= 2)"),
    fault("arrivals_of_a_crowded_window_lost", "sim/engine/gather.c",
          "sum_up(starts, n_buckets);", "sum_up(starts, n_buckets - 2);"),
    fault("ties_overlap_when_they_are_many", "sim/engine/gather.c",
          "*spread = worker->ties + n;", "*spread = worker->ties + 1;"),
    fault("ties_by_port", "sim/engine/gather.c",
          "return hash_draw(streams[engine_stamp_port(worker->records[key & ENGINE_KEY_RECORD].stamp)], time_ps);",
          "return (streams && time_ps) + engine_stamp_port(worker->records[key & ENGINE_KEY_RECORD].stamp);"),
    fault("ties_by_a_draw_without_the_time", "sim/engine/gather.c",
          "return hash_draw(streams[engine_stamp_port(worker->records[key & ENGINE_KEY_RECORD].stamp)], time_ps);",
          "return hash_draw(streams[engine_stamp_port(worker->records[key & ENGINE_KEY_RECORD].stamp)], 0 * time_ps);"),
    fault("last_of_several_ties_left_out", "sim/engine/gather.c",
          "&keys[first], i - first);", "&keys[first], i - first - (i - first > 2));"),
    fault("wake_by_a_later_record_only", "sim/engine/run.c",
          "listing->arrival_ps < *due_ps ? listing->arrival_ps : *due_ps;",
          "*due_ps == TIME_NEVER ? listing->arrival_ps : *due_ps;"),
    fault("record_left_on_a_link_forgotten", "sim/engine/run.c",
          "return own_ps < worker->next_arrival_ps ? own_ps : worker->next_arrival_ps;",
          "return own_ps != TIME_NEVER ? own_ps : worker->next_arrival_ps;"),
    fault("worker_does_not_hear_of_others", "sim/engine/run.c",
          "&engine->workers[w].listings[worker->window & 1]", "&worker->listings[worker->window & 1]"),
    fault("block_of_a_link_given_back_before_its_last_record", "sim/engine/ring.c",
          "struct chunk *read = chunk_of(end), *next = read->next; chunk_give(pool, read);",
          "struct chunk *read = chunk_of(end), *next = read->next; chunk_give(pool, read); chunk_give(pool, next);"),
]

FAILURE = [
    fault("last_way_excluded_too", "sim/device/switch_failure.c",
          "if (n == 0 || n == ports.count)", "if (n == ports.count)"),
    fault("pause_survives_a_dead_link", "sim/device/switch_failure.c",
          "port->paused = false;", ""),
    fault("paused_time_runs_on_over_a_dead_link", "sim/device/switch_failure.c",
          "port->counters->paused_ps += now_ps - port->paused_since_ps;", ""),
    fault("pause_not_repeated_on_a_revived_link", "sim/device/switch_failure.c",
          "} else if (port->pausing) {", "} else if (port->pausing && false) {"),
    fault("rate_of_a_link_at_the_arrival_of_a_packet", "sim/device/switch_failure.c",
          "now_ps - links[in].latency_ps)", "now_ps)"),
    fault("bytes_without_a_way_not_counted", "sim/device/switch_failure.c",
          "unrouted_bytes += packet->size_bytes;", "unrouted_bytes += 0 * packet->size_bytes;"),
    fault("packet_survives_a_link_that_dies_on_its_way", "sim/device/wire.c",
          "failure_plan_is_down(context->failures, link, now_ps, arrival_ps)",
          "failure_plan_is_down(context->failures, link, now_ps, now_ps + 0 * arrival_ps)"),
    fault("all_links_lose_by_the_same_draws", "sim/device/wire.c",
          "HASH_PURPOSE_LOSS, link, 0)", "HASH_PURPOSE_LOSS, 0 * link, 0)"),
    fault("control_record_survives_a_dead_link", "sim/device/context.c",
          "failure_plan_is_down(context->failures, link, now_ps, control->time_ps)", "0 * now_ps"),
    fault("nic_stays_paused_by_a_dead_link", "sim/device/nic.c",
          "if (change->down && port->paused)", "if (change->down && false)"),
]

PULL = [
    fault("ring_of_pulls_grows_out_of_order", "sim/device/pull.c",
          "desk->ring[(desk->ring_first + i) & (old - 1)];", "desk->ring[i];"),
    fault("pull_for_a_packet_that_was_thrown_away", "sim/device/pull.c",
          "if (taken) {", "if (taken || true) {"),
    fault("pull_one_picosecond_late", "sim/device/pull.c",
          "desk->next_ps = now_ps + receiver_credit_gap_ps", "desk->next_ps = now_ps + 1 + receiver_credit_gap_ps"),
    fault("rest_of_what_is_owed_forgotten", "sim/device/pull.c",
          "if (flow->owed > 0) {", "if (flow->owed > 0 && false) {"),
]

PLANE = [
    fault("plane_chosen_although_its_window_is_full", "sim/device/endpoint_internal.h",
          "planes[plane].in_flight < in->window", "planes[plane].in_flight <= in->window"),
    fault("queue_pair_keeps_to_the_plane_of_another", "sim/device/pair_plane.c",
          "uint32_t own = pair->number % nic->n_planes;", "uint32_t own = (pair->number + 1u) % nic->n_planes;"),
    fault("context_of_the_wrong_plane_told_of_a_loss", "sim/device/pair.c",
          "ledger && number < pair->sent_number ? plane_ledger_plane(ledger, number) : 0;",
          "ledger && number < pair->sent_number ? 0 * plane_ledger_plane(ledger, number) : 0;"),
    fault("context_of_the_wrong_plane_notified", "sim/device/pair.c",
          "&pair_context(&endpoint->nic, pair, endpoint->nic.reply_plane)->congestion, now_ps); break;",
          "&pair->plane.congestion, now_ps); break;"),
    fault("port_that_was_free_last_chooses_first", "sim/device/nic.c",
          "(!next || port->free_ps < next->free_ps)", "(!next || port->free_ps > next->free_ps)"),
    fault("reply_by_the_first_plane", "sim/device/receiver.c",
          "const uint32_t came_by = endpoint->nic.reply_plane;", "const uint32_t came_by = 0;"),
    fault("fail_over_leaves_out_one_plane_too_many", "sim/device/failover.c",
          "? 0 : 1u << plane;", "? 0 : 3u << plane & ((1u << n_planes) - 1);"),
    fault("fail_over_forgets_what_is_on_its_way", "sim/device/failover.c",
          "if (loses(nic, pair, after & ~before & dead)) {", "if (loses(nic, pair, after & ~before & dead) && false) {"),
]

CREDIT = [
    fault("credit_block_returned_twice", "sim/device/link_credit.c",
          "*gathered = 0;", "*gathered = 1;"),
    fault("credit_of_the_wrong_lane", "sim/device/nic_credit.c",
          "worker, port->link, lane, &port->credit->gathered[lane],",
          "worker, port->link, PACKET_CLASS_CONTROL, &port->credit->gathered[lane],"),
    fault("grain_of_credit_one_block_too_large", "sim/device/link_credit.c",
          "if (*gathered >= grain(", "if (*gathered > grain("),
    fault("credit_of_exactly_a_packet_is_too_little", "sim/device/switch_credit.c",
          "credit->left[lane] >= link_credit_blocks(head->size_bytes)", "credit->left[lane] > link_credit_blocks(head->size_bytes)"),
    fault("nic_waits_for_a_block_more_than_a_packet", "sim/device/nic_credit.c",
          "credit->left[nic->data_class] < credit->largest", "credit->left[nic->data_class] <= credit->largest"),
]

RECOVERY = [
    fault("loss_inferred_one_packet_early", "sim/device/recovery.c",
          "recovery->inferred + distance < recovery->told", "recovery->inferred + distance <= recovery->told"),
    fault("selective_repeat_repeats_what_is_there", "sim/device/recovery.c",
          "(STATE_THERE | STATE_LOST)", "STATE_LOST"),
    fault("packet_that_was_sent_again_inferred_lost", "sim/device/recovery.c",
          "if (*packet_of(recovery, recovery->inferred) == 0) {",
          "if (!(*packet_of(recovery, recovery->inferred) & (STATE_THERE | STATE_LOST))) {"),
    fault("recovery_begins_with_every_loss", "sim/device/recovery.c",
          "recovery->n_lost == before || recovery->cumulative < recovery->until", "recovery->n_lost == before"),
    fault("nack_of_an_earlier_transmission_believed", "sim/device/recovery.c",
          "*packet_of(recovery, number) >> TRANSMISSION_SHIFT != transmission", "transmission > 15"),
    fault("nack_of_the_wrong_number", "sim/device/receiver.c",
          "PACKET_NACK, receiver->expected, whole.number, now_ps);", "PACKET_NACK, receiver->expected, receiver->expected, now_ps);"),
    fault("packet_after_a_gap_not_acknowledged_at_once", "sim/device/receiver.c",
          "(gap || receiver->received != receiver->expected)", "gap"),
    fault("nacks_that_were_believed_not_settled", "sim/device/pair_plane.c",
          "recovery->packets.n_trimmed : 0)", "0 * recovery->packets.n_trimmed : 0)"),
    fault("nack_does_not_restart_the_clock", "sim/device/pair_recovery.c",
          "pair->clock_ps = now_ps; pair_arm_timer(endpoint, pair); context->controller->trimmed", "context->controller->trimmed"),
]

TRIM = [
    fault("trimmed_header_without_priority", "sim/device/switch_trim.c",
          "(PACKET_TRIMMED | PACKET_CLASS_CONTROL << 4)", "(PACKET_TRIMMED | PACKET_CLASS_LOSSY << 4)",
          "egress->depth[PACKET_CLASS_CONTROL] += header->size_bytes; queue_push(&egress->queues[PACKET_CLASS_CONTROL],",
          "egress->depth[PACKET_CLASS_LOSSY] += header->size_bytes; queue_push(&egress->queues[PACKET_CLASS_LOSSY],"),
]

WATCHDOG = [
    fault("watchdog_one_picosecond_early", "sim/device/watchdog.c",
          "TIME_NEVER : now_ps + watchdog->detection_ps", "TIME_NEVER : now_ps + watchdog->detection_ps - 1"),
]

FAULTS = SWITCH + NIC + RECEIVER + NVLINK + ENGINE + FAILURE + PULL + PLANE + CREDIT + RECOVERY + TRIM + WATCHDOG
