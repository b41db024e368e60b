// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/setup_congestion.h"

#include "base/error_id.h"
#include "congestion/dcqcn.h"

#include <string.h>

static uint32_t fixed_point(double share, int bits) {
    return (uint32_t)(share * (double)(UINT64_C(1) << bits) + 0.5);
}

static bool find_controller(const char *name, enum congestion_kind *kind, struct error *error) {
    for (int k = 0; k < CONGESTION_KINDS; k++) {
        if (strcmp(congestion_controller_of((enum congestion_kind)k)->name, name) == 0) {
            *kind = (enum congestion_kind)k;
            return true;
        }
    }
    return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_POLICY, "there is no congestion controller \"%s\"", name);
}

static struct spectrum_x_parameters spectrum_x_of(const struct experiment_spectrum_x *given, bool early_pacing) {
    return (struct spectrum_x_parameters){
        .responsiveness_fxp16 = fixed_point(given->responsiveness, 16),
        .largest_decrease_fxp16 = fixed_point(given->largest_decrease, 16),
        .largest_increase_fxp16 = fixed_point(given->largest_increase, 16),
        .additive_fxp20 = given->additive_step,
        .hyper_additive_fxp20 = given->hyper_additive_step,
        .hyper_period_ps = given->hyper_period_ps,
        .delay_threshold_ps = given->delay_threshold_ps,
        .largest_delay_ps = given->largest_delay_ps,
        .first_congestion_fxp20 = fixed_point(given->first_congestion_rate, 20),
        .minimum_fxp20 = given->minimum_rate,
        .base_round_trip_ps = given->base_round_trip_ps,
        .probe_abort_ps = given->probe_abort_ps,
        .probe_bytes = given->probe_bytes,
        .early_pacing = early_pacing,
    };
}

/* Steps are given for 10 Gb/s. */
static struct timely_parameters timely_of(const struct experiment_timely *given, uint64_t line_bits_per_s) {
    const double scale = (double)line_bits_per_s / 10e9;
    return (struct timely_parameters){
        .weight = given->weight,
        .decrease = given->decrease,
        .low_ps = given->low_ps,
        .high_ps = given->high_ps,
        .least_round_trip_ps = given->least_round_trip_ps,
        .additive_bits_per_s = (uint64_t)((double)given->additive_bits_per_s * scale),
        .hyper_bits_per_s = (uint64_t)((double)given->hyper_bits_per_s * scale),
        .hyper_stages = given->hyper_stages,
        .minimum_bits_per_s = given->minimum_bits_per_s,
    };
}

static struct swift_parameters swift_of(const struct experiment_swift *given) {
    return (struct swift_parameters){
        .base_target_ps = given->base_target_ps,
        .hop_ps = given->hop_ps,
        .scaling_range_ps = given->scaling_range_ps,
        .scaling_least_window = given->scaling_least_window,
        .scaling_most_window = given->scaling_most_window,
        .additive = given->additive,
        .decrease = given->decrease,
        .largest_decrease = given->largest_decrease,
        .least_window = given->least_window,
        .most_window = given->most_window,
        .first_window = given->first_window,
        .reset_losses = given->reset_losses,
    };
}

/* Trims tell early of full queues, so less delay is aimed at (ultraethernet/uet-htsim, uec.cpp). */
static struct nscc_parameters nscc_of(const struct experiment_nscc *given, bool trim) {
    return (struct nscc_parameters){
        .target = given->target > 0 ? given->target
                  : trim            ? 0.75
                                    : 1,
        .largest_window = given->largest_window,
        .proportional = given->proportional,
        .fair = given->fair,
        .steady = given->steady,
        .fast = given->fast,
        .decrease = given->decrease,
        .delay_weight = given->delay_weight,
        .quick_share = given->quick_share,
        .quick_delay = given->quick_delay,
        .fast_delay_ps = given->fast_delay_ps,
        .adjust_packets = given->adjust_packets,
    };
}

/* The step is given for 25 Gb/s. */
static struct hpcc_parameters hpcc_of(const struct experiment_hpcc *given, uint64_t line_bits_per_s) {
    return (struct hpcc_parameters){
        .target = given->target,
        .largest_stage = given->largest_stage,
        .round_trip_ps = given->base_round_trip_ps,
        .additive_bits_per_s = (uint64_t)((double)given->additive_bits_per_s * (double)line_bits_per_s / 25e9),
    };
}

static struct receiver_credit_parameters receiver_credit_of(const struct experiment_receiver_credit *given) {
    return (struct receiver_credit_parameters){
        .first_window = given->first_window,
        .pull_packets = given->pull_packets,
        .adapts_pace = given->adapts_pace,
        .interval_ps = given->interval_ps,
        .tolerated = given->tolerated,
        .decrease = given->decrease,
        .step = given->step,
    };
}

bool setup_congestion(const struct experiment *experiment, const struct experiment_policy *policy,
                      struct congestion_parameters *congestion, struct error *error) {
    if (!find_controller(policy->congestion, &congestion->kind, error)) {
        return false;
    }
    const struct topology_nic *nic = &experiment->topology.nic;
    const uint32_t planes = policy->global_context ? nic->planes : 1; /* that share a context */
    const uint64_t line = planes * (uint64_t)((double)nic->rate_bits_per_s * nic->usable_fraction + 0.5);
    uint64_t interval_ps = 0;
    if (!dcqcn_profile(experiment->dcqcn.profile, line, experiment->dcqcn.scale_steps, &congestion->dcqcn,
                       &interval_ps)) {
        return error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_POLICY, "there is no DCQCN profile \"%s\"",
                         experiment->dcqcn.profile);
    }
    congestion->spectrum_x = spectrum_x_of(&experiment->spectrum_x, policy->early_pacing);
    congestion->timely = timely_of(&experiment->timely, line);
    congestion->swift = swift_of(&experiment->swift);
    congestion->nscc = nscc_of(&experiment->nscc, experiment->topology.leaf.trim || experiment->topology.spine.trim);
    congestion->hpcc = hpcc_of(&experiment->hpcc, line);
    congestion->receiver_credit = receiver_credit_of(&experiment->receiver_credit);
    if (congestion->kind == CONGESTION_SPECTRUM_X) {
        congestion->notification_interval_ps = experiment->spectrum_x.notification_interval_ps;
    } else {
        const uint64_t given_ps = experiment->dcqcn.notification_interval_ps;
        congestion->notification_interval_ps = given_ps ? given_ps : interval_ps;
    }
    return true;
}
