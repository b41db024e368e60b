// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/gate_measured.h"

#include "base/error_id.h"
#include "workload/expert_load_file.h"
#include "workload/gate_sample.h"

#include <string.h>

/* A mistake of the file, or of what is asked of it. False. */
#define REFUSE(...)                                                                                                    \
    error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, measured->load->file, __VA_ARGS__)

static bool find_domain(struct gate_measured *measured, const char *name, struct error *error) {
    const struct expert_load *load = measured->load;
    measured->n_domains = 1;
    if (strcmp(name, "each") == 0) {
        measured->first_domain = 1;
        measured->n_domains = load->n_domains - 1;
        return load->n_domains > 1 || REFUSE("gate.domain each takes the columns after the first, there is one only");
    }
    measured->first_domain = name[0] == '\0' ? 0 : expert_load_find_domain(load, name);
    if (measured->first_domain < load->n_domains) {
        return true;
    }
    char names[ERROR_MESSAGE_SIZE / 2] = "";
    for (uint32_t i = 0; i < load->n_domains; i++) {
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, load->domains[i].name, sizeof names - strlen(names) - 1);
    }
    REFUSE("there is no column `%s`", name);
    if (error) {
        error_hint(error, "columns: %s", names);
    }
    return false;
}

bool gate_measured_open(struct gate_measured *measured, const struct gate_parameters *parameters, uint32_t n_steps,
                        struct error *error) {
    const struct experiment_routing *routing = &parameters->routing;
    *measured = (struct gate_measured){.top_k = parameters->top_k, .first_step = routing->step};
    measured->load = expert_load_file_read(routing->path[0] ? routing->path : routing->file, routing->dataset, error);
    const struct expert_load *load = measured->load;
    if (!load) {
        return false;
    }
    if (load->n_experts != parameters->experts) {
        return REFUSE("the file has %u experts, the model %u", load->n_experts, parameters->experts);
    }
    if (routing->layer < load->first_layer || routing->layer - load->first_layer >= load->n_layers) {
        return REFUSE("there is no layer %u (gate.layer): the file has layers %u to %u", routing->layer,
                      load->first_layer, load->first_layer + load->n_layers - 1);
    }
    if (routing->step >= load->n_steps || n_steps > load->n_steps - routing->step) {
        return REFUSE("%u micro-batches from step %u on need more steps than the %u of the file", n_steps,
                      routing->step, load->n_steps);
    }
    measured->layer = routing->layer - load->first_layer;
    return find_domain(measured, routing->domain, error);
}

/* What is known of the loads of a layer. */
struct extent {
    double sum, largest;
    uint32_t largest_expert, n_loaded;
};

static struct extent extent_of(const double *row, uint32_t experts) {
    struct extent extent = {0};
    for (uint32_t i = 0; i < experts; i++) {
        extent.sum += row[i];
        extent.n_loaded += row[i] > 0;
        if (row[i] > extent.largest) {
            extent.largest = row[i];
            extent.largest_expert = i;
        }
    }
    return extent;
}

static bool check_extent(const struct gate_measured *measured, const struct extent *extent, const char *where,
                         struct error *error) {
    const double top_k = measured->top_k;
    const bool shares = extent->largest <= 1 && extent->sum <= 1.05 * top_k;
    if (extent->n_loaded < measured->top_k) {
        return REFUSE("%s: only %u experts were ever picked, but a token picks %u", where, extent->n_loaded,
                      measured->top_k);
    }
    if (shares && extent->sum < 0.9 * top_k) {
        return REFUSE("%s: the shares of tokens sum to %.4g, but a token picks %u experts", where, extent->sum,
                      measured->top_k);
    }
    if (!shares && extent->largest > 1.0001 * extent->sum / top_k) {
        return REFUSE("%s: expert %u has %.4g of %.4g picks: with %u a token that is more than one a token", where,
                      extent->largest_expert, extent->largest, extent->sum, measured->top_k);
    }
    return true;
}

bool gate_measured_shares(const struct gate_measured *measured, uint32_t domain, uint32_t step, double *shares,
                          struct error *error) {
    const struct expert_load *load = measured->load;
    const uint32_t column = measured->first_domain + domain, row_step = measured->first_step + step;
    const double *row = expert_load_row(load, row_step, column, measured->layer);
    const struct extent extent = extent_of(row, load->n_experts);
    char where[128];
    if (load->n_steps > 1) {
        snprintf(where, sizeof where, "step %u, layer %u", row_step, load->first_layer + measured->layer);
    } else {
        snprintf(where, sizeof where, "layer %u%s%s", load->first_layer + measured->layer,
                 load->domains[column].name[0] ? ", column " : "", load->domains[column].name);
    }
    if (!check_extent(measured, &extent, where, error)) {
        return false;
    }
    gate_sample_shares(row, load->n_experts, measured->top_k, shares);
    return true;
}

void gate_measured_close(struct gate_measured *measured) {
    expert_load_free(measured->load);
}
