// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/expert_load_file.h"

#include "base/error_id.h"
#include "workload/expert_load_csv.h"
#include "workload/tensor.h"

#include <math.h>
#include <string.h>

enum { LARGEST_STEPS = 1 << 24, LARGEST_CELLS = 1 << 28 };

#define REFUSE(...) error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, path, __VA_ARGS__)

/* shape[0 … 2] = steps, layers, experts; two dimensions are one step. */
static bool take_shape(const struct tensor *tensor, const char *path, uint64_t *shape, struct error *error) {
    uint64_t lengths[TENSOR_LARGEST_DIMENSIONS];
    const uint32_t n = tensor_shape(tensor, lengths);
    if (n != 2 && n != 3) {
        return REFUSE("counts are [layer, expert] or [step, layer, expert], the array has %u dimension%s", n,
                      n == 1 ? "" : "s");
    }
    shape[0] = n == 3 ? lengths[0] : 1;
    shape[1] = lengths[n - 2];
    shape[2] = lengths[n - 1];
    if (shape[0] == 0 || shape[1] == 0 || shape[2] == 0 || shape[0] > LARGEST_STEPS ||
        shape[1] > EXPERT_LOAD_LARGEST_LAYERS || shape[2] > EXPERT_LOAD_LARGEST_EXPERTS ||
        shape[0] * shape[1] * shape[2] > LARGEST_CELLS) {
        return REFUSE("%llu steps, %llu layers and %llu experts are none or too many: up to %d layers, %d experts and "
                      "%d counts",
                      (unsigned long long)shape[0], (unsigned long long)shape[1], (unsigned long long)shape[2],
                      EXPERT_LOAD_LARGEST_LAYERS, EXPERT_LOAD_LARGEST_EXPERTS, LARGEST_CELLS);
    }
    return true;
}

static bool check_counts(const struct expert_load *load, const char *path, struct error *error) {
    const uint64_t cells = (uint64_t)load->n_steps * load->n_layers * load->n_experts;
    for (uint64_t i = 0; i < cells; i++) {
        if (!(load->load[i] >= 0) || !isfinite(load->load[i])) {
            const uint64_t row = i / load->n_experts;
            return REFUSE("the count at [step %llu, layer %llu, expert %llu] is %g",
                          (unsigned long long)(row / load->n_layers), (unsigned long long)(row % load->n_layers),
                          (unsigned long long)(i % load->n_experts), load->load[i]);
        }
    }
    return true;
}

static struct expert_load *read_counts(const char *path, const char *dataset, struct error *error) {
    struct tensor *tensor = tensor_open(path, dataset, error);
    struct expert_load *load = NULL;
    const uint64_t first[3] = {0};
    uint64_t shape[3] = {0};
    if (tensor && take_shape(tensor, path, shape, error)) {
        uint64_t lengths[TENSOR_LARGEST_DIMENSIONS];
        load = expert_load_create((uint32_t)shape[0], 1, (uint32_t)shape[1], (uint32_t)shape[2]);
        snprintf(load->file, sizeof load->file, "%s", path);
        tensor_shape(tensor, lengths);
        if (!tensor_read(tensor, first, lengths, load->load, error) || !check_counts(load, path, error)) {
            expert_load_free(load);
            load = NULL;
        }
    }
    tensor_close(tensor);
    return load;
}

struct expert_load *expert_load_file_read(const char *path, const char *dataset, struct error *error) {
    return tensor_is_named(path) ? read_counts(path, dataset, error) : expert_load_csv_read(path, error);
}
