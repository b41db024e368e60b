// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Workload text of SimAI and ASTRA-sim: one pass of training or inference, layer by layer, as a plain struct.
 *
 * The form is that of their reader (github.com/aliyun/SimAI, astra-sim-alibabacloud/astra-sim/workload/Workload.cc, initialize_workload;
 * in ASTRA-sim 1.0 the same): a first line with the kind of parallelism, a line with the number of layers, and a line of 12 words a layer:
 * name, dependency (not used), then compute time, collective and its bytes for the forward pass, the gradient of the input and that of the weights,
 * and the time of the update (which counts only before a next pass, and here there is one). Times are nanoseconds: ticks of the clock of 1 GHz.
 *
 * Kinds, and what their collectives are among (decode_involved_dimensions; MockNcclGroup.cc for _EP and _DP_EP):
 *
 * | kind | forward, input | weights |
 * | DATA | - | all ranks |
 * | MODEL | all ranks | - |
 * | DISTRIBUTED_INFERENCE | all ranks; there is no backward pass | - |
 * | HYBRID_DATA_MODEL | an NVLink domain (the first dimension) | the same position in every domain |
 * | HYBRID_MODEL_DATA | the same position in every domain | an NVLink domain |
 * | HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD | tensor group | data group; both: _EP expert group, _DP_EP ranks with the same experts |
 *
 * An ALLGATHER's bytes are the whole that each rank ends with in SimAI (MockNcclGroup.cc, genAllGatherFlowModels), but what each rank brings in
 * ASTRA-sim (collective/Ring.cc). A first line with all_gpus is SimAI's; anything else is taken as ASTRA-sim's.
 *
 * What is not simulated is refused by name and line: other kinds (MICRO, HYBRID_DLRM, HYBRID_DLRM_ENHANCED, HYBRID_CUSTOMIZED), several pipeline stages,
 * checkpoints, ALLREDUCEALLTOALL, and collectives where a kind has none. `ga` and, with one stage, `vpp` and `pp_comm` change nothing there either:
 * the layers of all micro-batches stand in the file.
 */
#ifndef MOEFABRIC_CONFIG_WORKLOAD_TEXT_H
#define MOEFABRIC_CONFIG_WORKLOAD_TEXT_H

#include "base/error.h"
#include "config/parallel.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WORKLOAD_TEXT_LAYERS = 1 << 20, /**< at most */
};

/** A collective's largest buffer, in bytes. */
#define WORKLOAD_TEXT_LARGEST_BYTES (UINT64_C(1) << 40)

enum workload_text_kind {
    WORKLOAD_TEXT_DATA,
    WORKLOAD_TEXT_MODEL,
    WORKLOAD_TEXT_HYBRID_DATA_MODEL,
    WORKLOAD_TEXT_HYBRID_MODEL_DATA,
    WORKLOAD_TEXT_HYBRID_TRANSFORMER,
    WORKLOAD_TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD,
    WORKLOAD_TEXT_DISTRIBUTED_INFERENCE,
    WORKLOAD_TEXT_KINDS
};

/** Parts of a layer, in the order of the file. */
enum workload_text_part {
    WORKLOAD_TEXT_FORWARD,
    WORKLOAD_TEXT_INPUT_GRADIENT,
    WORKLOAD_TEXT_WEIGHT_GRADIENT,
    WORKLOAD_TEXT_PARTS
};

/** A time of computing, then a collective. */
struct workload_text_phase {
    uint64_t compute_ps;
    uint64_t bytes; /**< 0 = no collective */
    enum parallel_operation operation;
    enum parallel_group group;
};

/** One layer. */
struct workload_text_layer {
    struct workload_text_phase phases[WORKLOAD_TEXT_PARTS];
    uint32_t line; /**< of the file */
};

/** A whole file. Zero-initialise; ends with workload_text_fini. */
struct workload_text {
    enum workload_text_kind kind;
    uint32_t tensor;   /**< ranks of a tensor group (model_parallel_NPU_group), transformers only; else 0 */
    uint32_t expert;   /**< tensor groups of an expert group; at least 1 */
    uint32_t all_gpus; /**< that the file is made for; 0 = it does not say */
    bool parts;        /**< bytes of ALLGATHER are what each rank brings, not what it ends with */
    struct workload_text_layer *layers;
    uint32_t n_layers, layer_capacity;
};

/** Reads a file. False with all its mistakes appended to *errors; *text is then not to be used, but to be ended. */
bool workload_text_read(const char *path, struct workload_text *text, struct error_list *errors);

/** The same from memory; name stands for the path in messages. */
bool workload_text_read_text(const char *name, const char *bytes, struct workload_text *text,
                             struct error_list *errors);

/** Ranks of a tensor group among n_ranks in NVLink domains of domain_ranks: the file's, a domain, all or one, as its kind has it. */
uint32_t workload_text_tensor(const struct workload_text *text, uint32_t n_ranks, uint32_t domain_ranks);

/** Does a file fit a cluster of so many ranks in NVLink domains of domain_ranks? If not, what is wrong is appended to *errors, at the first line of the file. */
bool workload_text_check(const struct workload_text *text, const char *name, uint32_t n_ranks, uint32_t domain_ranks,
                         struct error_list *errors);

/** Frees what it owns. */
void workload_text_fini(struct workload_text *text);

#endif
