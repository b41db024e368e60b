// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/validate_contention.h"

#include "training/contention.h"
#include "training/gpu.h"

#define PS_PER_S 1e12

/* What is compared; order of the names of key `quantity`. */
enum quantity { QUANTITY_EXCHANGE, QUANTITY_MULTIPLICATION };

enum { BF16_BYTES = 2, COPIES = 2 /* read and written */ };

static const char *const quantities[] = {"exchange", "multiplication", NULL};
static const char *const required[] = {
    "quantity", "gpu", "gpus", "sms", "matrix", "peer_bytes", "exchange_alone", "multiplication_alone", NULL};

static const struct key keys[] = {
    {"quantity", KEY_CHOICE, .names = quantities,
     .doc =
         "exchange, multiplication: time of an all-to-all, or of a multiplication, with the other beside it ÷ alone.",
     VALIDATE_KIND_FIELD(quantity)},
    {"gpu", KEY_CHOICE, .names = gpu_names, .doc = "What has SMs and memory.", VALIDATE_KIND_FIELD(gpu)},
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "2", "1024", .doc = "Of the all-to-all.", VALIDATE_KIND_FIELD(gpus)},
    {"sms", KEY_QUANTITY, QUANTITY_COUNT, "1", "131", .doc = "That the all-to-all's kernel keeps.",
     VALIDATE_KIND_FIELD(sms)},
    {"matrix", KEY_QUANTITY, QUANTITY_COUNT, "256", "65536", .doc = "Rows and columns of BF16 matrices.",
     VALIDATE_KIND_FIELD(matrix)},
    {"peer_bytes", KEY_QUANTITY, QUANTITY_BYTES, "1 B", "1 TB", .doc = "From a GPU to each, itself too.",
     VALIDATE_KIND_FIELD(peer_bytes)},
    {"exchange_alone", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", .doc = "As measured.",
     VALIDATE_KIND_FIELD(exchange_alone_ps)},
    {"multiplication_alone", KEY_QUANTITY, QUANTITY_TIME, "1 ns", "1 s", .doc = "As measured.",
     VALIDATE_KIND_FIELD(multiplication_alone_ps)},
};

static const char *unit(const struct validate_row *row) {
    (void)row;
    return "× alone";
}

static bool prepare(struct validate_row *row, const struct validate_setup *setup) {
    const struct gpu *gpu = gpu_find((enum experiment_gpu)row->parameters.gpu);
    return row->parameters.sms < gpu->sms ||
           validate_setup_refuse(setup, "a GPU `%s` has %u SMs: the all-to-all cannot keep %u", gpu->name, gpu->sms,
                                 row->parameters.sms);
}

static bool run(const struct validate_row *row, struct validate_kind_run *run, struct error *error) {
    (void)error;
    const struct validate_row_parameters *parameters = &row->parameters;
    const struct gpu *gpu = gpu_find((enum experiment_gpu)parameters->gpu);
    const struct contention_gpu shared = {.sms = gpu->sms, .hbm_bytes_per_s = gpu->memory_tb_per_s * 1e12};
    const struct contention_multiplication multiplication = {.n = parameters->matrix,
                                                             .element_bytes = BF16_BYTES,
                                                             .alone_s = (double)parameters->multiplication_alone_ps /
                                                                        PS_PER_S};
    const struct contention_exchange exchange = {.gpus = parameters->gpus,
                                                 .sms = parameters->sms,
                                                 .hbm_bytes =
                                                     COPIES * (double)parameters->gpus * (double)parameters->peer_bytes,
                                                 .alone_s = (double)parameters->exchange_alone_ps / PS_PER_S};
    const struct contention_times times = contention_times(&shared, &multiplication, &exchange);
    run->simulated = parameters->quantity == QUANTITY_EXCHANGE ? times.exchange_s / exchange.alone_s
                                                               : times.multiplication_s / multiplication.alone_s;
    return true;
}

const struct validate_kind validate_contention = {
    .name = "contention",
    .doc = "an all-to-all and matrix multiplications at once on a GPU, from the SMs and the memory that they share",
    .keys = keys,
    .n_keys = sizeof keys / sizeof keys[0],
    .required = required,
    .unit = unit,
    .prepare = prepare,
    .run = run,
};
