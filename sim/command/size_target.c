// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/size_target.h"

#include "base/error_id.h"
#include "base/memory.h"
#include "base/number.h"
#include "command/batch.h"
#include "command/failures.h"
#include "command/flow_level.h"
#include "command/size_decode.h"
#include "command/size_step.h"
#include "command/sweep_point.h"
#include "command/train_setup.h"
#include "fabric/builder.h"
#include "fabric/describe.h"
#include "fabric/shape.h"
#include "fabric/wiring.h"
#include "results/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_S 1e12

/** The exchanges of a configuration, seed by seed. */
struct size_cache_entry {
    uint64_t hash;
    enum experiment_network_model model;
    uint32_t n_seeds;
    struct training_exchange exchanges[EXPERIMENT_SEEDS];
    double p99_s[EXPERIMENT_SEEDS];
};

void size_cache_fini(struct size_cache *cache) {
    free(cache->entries);
    *cache = (struct size_cache){0};
}

struct front_demand size_target_demand(const struct experiment *experiment) {
    const struct experiment_size *size = &experiment->size;
    const enum size_target target = size_check_target(size);
    const bool filled = experiment->training.global_batch > 0 || target == SIZE_TARGET_TOKENS_PER_S_GPU;
    return (struct front_demand){.target = size_check_asked(size, target),
                                 .least = target == SIZE_TARGET_TOKENS_PER_S || target == SIZE_TARGET_TOKENS_PER_S_GPU,
                                 .priced = size->prices[0] != '\0',
                                 .power_watts = (double)size->power_watts,
                                 .budget = size->budget,
                                 .token_s = (double)size->output_token_time_ps / PS_PER_S,
                                 .memory_bytes = filled ? size->memory_share * size_step_memory(experiment) : 0,
                                 .racks = size->racks};
}

/* ---- parts ---- */

static void count_ports(const struct topology *topology, const struct fabric *fabric, enum fabric_tier tier,
                        struct design_figures *figures, uint64_t *switches, bool above) {
    const struct wiring_ports ports = wiring_ports(topology, fabric, tier);
    *switches = ports.switches;
    figures->ports_used += ports.in_use;
    figures->ports_bought += ports.bought;
    figures->least_spines += above ? ports.least : 0;
}

static void fill_parts(const struct topology *topology, const struct fabric *fabric, const struct parts *parts,
                       struct design_figures *figures) {
    const struct wiring wiring = wiring_of(topology, fabric);
    char text[WIRING_TEXT_SIZE];
    snprintf(figures->wiring, sizeof figures->wiring, "%s", wiring_text(topology, &wiring, text));
    count_ports(topology, fabric, FABRIC_TIER_LEAF, figures, &figures->leaves, false);
    count_ports(topology, fabric, FABRIC_TIER_SPINE, figures, &figures->spines, true);
    count_ports(topology, fabric, FABRIC_TIER_SUPERSPINE, figures, &figures->super_spines, true);
    figures->tiers = figures->super_spines > 0 ? 3 : figures->spines > 0 ? 2 : 1;
    figures->racks = topology->racks;
    figures->planes = topology->nic.planes;
    figures->gpus = (uint64_t)topology->racks * topology->gpus_used;
    figures->spares = topology->nvlink.gpus - topology->gpus_used;
    figures->nic_bits_per_s = topology->nic.planes * topology->nic.rate_bits_per_s;
    figures->leaf_gpus = number_smaller(topology->fabric.leaf_downlinks, figures->gpus);
    figures->modules = parts->modules;
    figures->network_typical_watts = parts->typical_watts;
    figures->network_watts = parts->maximum_watts;
}

bool size_target_describe(const struct experiment *experiment, const struct parts_prices *prices,
                          struct design_figures *figures, struct error *error) {
    struct topology whole = experiment->topology;
    struct describe_facts facts;
    struct parts parts;
    struct parts_cost cost;
    whole.racks = experiment->design.worked_out ? experiment->design.racks : whole.racks;
    struct fabric *fabric = fabric_build_plane(&whole, error);
    if (fabric == NULL) {
        return false;
    }
    describe_measure(fabric, &facts);
    parts_list(&whole, &facts, &parts);
    fill_parts(&whole, fabric, &parts, figures);
    parts_add_racks(&parts, &whole, (double)experiment->size.rack_power_watts);
    figures->watts = parts.maximum_watts;
    figures->cost = NAN;
    if (prices != NULL) {
        parts_prices_apply(prices, &parts, &cost, NULL);
        figures->cost = cost.total;
    }
    snprintf(figures->policy, sizeof figures->policy, "%s", experiment->policies[0].name);
    fabric_free(fabric);
    figures->memory_bytes = NAN;
    if (size_check_target(&experiment->size) == SIZE_TARGET_TOKENS_PER_S_GPU) {
        return size_decode_memory(experiment, &figures->memory_bytes, error);
    }
    return experiment->training.global_batch == 0 ||
           size_step_state(experiment, &figures->memory_bytes, &figures->goodput, &figures->mtbf_s, error);
}

/* ---- exchanges ---- */

/* What an exchange depends on: not on training and, within one NVLink domain, not on NICs and switches. */
static struct experiment *exchange_of(const struct experiment *experiment, const struct size_measure *measure) {
    struct experiment *copy = memory_allocate(1, sizeof *copy);
    *copy = *experiment;
    copy->network_model = measure->model;
    if (measure->model == EXPERIMENT_NETWORK_FLUID) {
        copy->n_seeds = 1;
    }
    return copy;
}

static uint64_t hash_of(const struct experiment *experiment) {
    struct experiment *copy = memory_allocate(1, sizeof *copy);
    char *resolved = NULL;
    *copy = *experiment;
    memset(&copy->training, 0, sizeof copy->training);
    if (copy->topology.racks == 1 && shape_has_nvlink(&copy->topology)) {
        memset(&copy->topology.nic, 0, sizeof copy->topology.nic);
        memset(&copy->topology.leaf, 0, sizeof copy->topology.leaf);
        memset(&copy->topology.spine, 0, sizeof copy->topology.spine);
        memset(&copy->topology.fabric, 0, sizeof copy->topology.fabric);
    }
    const uint64_t hash = sweep_point_hash(copy, &resolved);
    free(resolved);
    free(copy);
    return hash;
}

static bool take(const struct experiment *experiment, const struct batch_result *result, struct size_cache_entry *entry,
                 struct error *error) {
    const bool layer = size_check_target(&experiment->size) != SIZE_TARGET_ALL_TO_ALL_P99;
    entry->n_seeds = experiment->n_seeds;
    for (uint32_t seed = 0; seed < entry->n_seeds; seed++) {
        const struct measurement *measurement = result->measurements[seed];
        if (result->exit_code == EXIT_CODE_INTERRUPTED) {
            return error_set(error, EXIT_CODE_INTERRUPTED, 0, "interrupted");
        }
        if (measurement == NULL || measurement->outcome != MEASUREMENT_FINISHED) {
            return error_set(error, EXIT_CODE_LIMIT, ERROR_ID_RUN_LIMIT, "%s, seed %" PRIu64 ": %s",
                             experiment->policies[0].name, experiment->seeds[seed],
                             comparison_outcome_name(measurement != NULL ? measurement->outcome : result->stopped));
        }
        struct summary *summary = summary_create(measurement);
        entry->p99_s[seed] = summary->rank_time_ps.p99 / PS_PER_S;
        summary_free(summary);
        if (layer) {
            train_setup_take(measurement, &entry->exchanges[seed]);
            if (!train_setup_load(experiment, experiment->seeds[seed], &entry->exchanges[seed], error)) {
                return false;
            }
        }
    }
    return true;
}

static bool simulate(const struct experiment *experiment, const struct size_measure *measure,
                     struct size_cache_entry *entry, struct error *error) {
    const uint32_t policy = 0;
    struct batch_result result = {0};
    struct fabric *fabric = fabric_build(&experiment->topology, error);
    const struct batch batch = {.experiment = experiment,
                                .fabric = fabric,
                                .policies = &policy,
                                .n_policies = 1,
                                .threads = measure->threads,
                                .quiet = true};
    const bool fluid = measure->model == EXPERIMENT_NETWORK_FLUID;
    const bool done = fabric != NULL && failures_check(experiment, fabric, error) &&
                      (!fluid || flow_level_check(experiment, fabric, NULL, error)) &&
                      batch_run(&batch, &result, error) && take(experiment, &result, entry, error);
    batch_result_fini(&result);
    fabric_free(fabric);
    return done;
}

/* The exchanges of a design, simulated if no other one had the same. */
static bool find_exchange(const struct experiment *experiment, const struct size_measure *measure,
                          struct size_cache_entry *found, struct error *error) {
    struct size_cache *cache = measure->cache;
    const uint64_t hash = hash_of(experiment);
    for (uint32_t i = 0; i < cache->n_entries; i++) {
        if (cache->entries[i].hash == hash && cache->entries[i].model == measure->model) {
            *found = cache->entries[i];
            return true;
        }
    }
    *found = (struct size_cache_entry){.hash = hash, .model = measure->model};
    if (!simulate(experiment, measure, found, error)) {
        return false;
    }
    cache->entries = memory_resize(cache->entries, cache->n_entries + 1, sizeof *cache->entries);
    cache->entries[cache->n_entries++] = *found;
    return true;
}

/* ---- values ---- */

/* Of all seeds; what follows from a step goes to the figures: the mean time of a token, the memory of the fullest GPU. */
static bool values_of(const struct experiment *experiment, const struct size_cache_entry *entry, double *values,
                      struct design_figures *figures, struct error *error) {
    const enum size_target target = size_check_target(&experiment->size);
    bool done = true;
    for (uint32_t seed = 0; seed < entry->n_seeds && done; seed++) {
        if (target == SIZE_TARGET_ALL_TO_ALL_P99) {
            values[seed] = entry->p99_s[seed];
        } else if (target == SIZE_TARGET_TOKENS_PER_S_GPU) {
            double one_s = 0;
            done = size_decode_value(experiment, &entry->exchanges[seed], &values[seed], &one_s, error);
            figures->token_s = (seed == 0 ? 0 : figures->token_s) + one_s / entry->n_seeds;
        } else {
            double bytes = 0;
            done = size_step_value(experiment, &entry->exchanges[seed], target, &values[seed], &bytes, error);
            figures->memory_bytes = seed == 0 ? bytes : fmax(figures->memory_bytes, bytes);
        }
    }
    return done;
}

bool size_target_measure(const struct experiment *experiment, const struct size_measure *measure,
                         struct design_figures *figures, struct error *error) {
    struct experiment *exchange = exchange_of(experiment, measure);
    struct size_cache_entry *entry = memory_allocate(1, sizeof *entry);
    double values[EXPERIMENT_SEEDS];
    const bool done =
        find_exchange(exchange, measure, entry, error) && values_of(experiment, entry, values, figures, error);
    if (done) {
        const struct comparison_range range = comparison_range_of(values, entry->n_seeds);
        const double e = experiment->size.model_error;
        const bool interval = !isnan(range.interval.low);
        figures->value = (struct design_value){.mean = range.mean,
                                               .low = (interval ? range.interval.low : range.low) * (1 - e),
                                               .high = (interval ? range.interval.high : range.high) * (1 + e),
                                               .seeds = range.count};
        figures->state = measure->model == EXPERIMENT_NETWORK_FLUID ? DESIGN_FLUID : DESIGN_PACKETS;
    }
    free(entry);
    free(exchange);
    return done;
}
