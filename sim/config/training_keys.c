// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/training_keys.h"

#include "config/experiment.h"

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct experiment_training, member), .size = sizeof(((struct experiment_training *)0)->member)

static const char *const gpus[] = {"h100", "h800", "h200", "b200", "gb200", "gb300", "b300", NULL};
static const char *const precisions[] = {"bf16", "fp8", "mxfp8", "nvfp4", NULL};
static const char *const context_exchanges[] = {"ring", "all_gather", "all_to_all", NULL};
static const char *const group_orders[] = {"data_pipeline", "pipeline_data", NULL};
static const char *const schedules[] = {"1f1b", "interleaved", "1f1b_overlap", NULL};

static const char *const collectives[] = {"rings", "hierarchical", "nvls", "sharp", NULL};
static const char *const kernels[] = {"matrices", "separate", "fused", "fused_permute", NULL};
static const char *const routers[] = {"matrices", "cuda_cores", "tensor_cores", NULL};
static const char *const recomputes[] = {"none", "operators", "layers", NULL};
static const char *const buffers[] = {"paged", "worst_case", NULL};

#define CALIBRATED                                                                                                     \
    "share of the GPU's dense peak. Ours: no share is published by kind of operation; calibrate it on one measured "   \
    "step"

const struct key training_keys[TRAINING_KEYS] = {
    {"gpus", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576", "0",
     .doc = "GPUs that train, in copies of the cluster that is simulated: expert-parallel groups are alike. 0 = those "
            "of the cluster.",
     FIELD(gpus)},
    {"gpu", KEY_CHOICE, .fallback = "gb300", .names = gpus,
     .doc = "Dense peaks and memory are those of NVIDIA's data sheets (sim/training/gpu.c).", FIELD(gpu)},
    {"tensor_parallelism", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1",
     .doc = "GPUs that share every matrix of a layer, with sequence parallelism.", FIELD(tensor_parallelism)},
    {"overlap_tensor", KEY_FLAG, .fallback = "false",
     .doc =
         "Collectives of tensor parallelism run piece by piece behind the matrices before and after them, all but one "
         "of as many pieces as there are GPUs (Megatron-Core's tp_comm_overlap, on user buffers of Transformer "
         "Engine).",
     FIELD(overlap_tensor)},
    {"context_parallelism", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1",
     .doc = "GPUs that share a sequence: each has its part of the tokens in all layers, and needs the others' keys and "
            "values for attention (Megatron-Core, context_parallel_size).",
     FIELD(context_parallelism)},
    {"context_exchange", KEY_CHOICE, .fallback = "ring", .names = context_exchanges,
     .doc = "ring: keys and values are passed on from GPU to GPU while scores with those that are there are computed "
            "(arXiv:2310.01889). all_gather: all of them first (arXiv:2407.21783, section 3.3.2). all_to_all: before "
            "and after "
            "attention a GPU gets all tokens of its share of the heads (arXiv:2309.14509). As Megatron-Core's "
            "cp_comm_type.",
     FIELD(context_exchange)},
    {"pipeline_parallelism", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "1", .doc = "Stages of the pipeline.",
     FIELD(pipeline_parallelism)},
    {"group_order", KEY_CHOICE, .fallback = "data_pipeline", .names = group_orders,
     .doc =
         "Which GPUs follow each other, after those that share a layer (tensor, context, expert parallelism). "
         "data_pipeline: copies of a stage, then stages (Megatron-Core's order tp-cp-ep-dp-pp), so that gradients are "
         "reduced inside NVLink domains as far as they go. pipeline_data: the stages of a copy, then copies "
         "(use_tp_pp_dp_mapping): then a pipeline is inside a domain, and gradients go between them.",
     FIELD(group_order)},
    {"virtual_stages", KEY_QUANTITY, QUANTITY_COUNT, "1", "64", "1",
     .doc = "interleaved, 1f1b_overlap: parts of the model on each stage (arXiv:2104.04473).", FIELD(virtual_stages)},
    {"sequence", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777216", "0",
     .doc = "Tokens of a sequence; 0 = as the model's preset.", FIELD(sequence_tokens)},
    {"micro_batch", KEY_QUANTITY, QUANTITY_COUNT, "1", "65536", "1", .doc = "Sequences that a stage takes at once.",
     FIELD(micro_batch)},
    {"global_batch", KEY_QUANTITY, QUANTITY_COUNT, "0", "16777216", "0",
     .doc = "Sequences of a step, over all GPUs; 0 = no training step is described.", FIELD(global_batch)},
    {"schedule", KEY_CHOICE, .fallback = "interleaved", .names = schedules,
     .doc = "1f1b: one forward, one backward (arXiv:2104.04473). interleaved: the same with virtual_stages. "
            "1f1b_overlap: a forward and a backward pass of two micro-batches run together, so that the all-to-all of "
            "one is behind the computing of the other (DualPipe, arXiv:2412.19437; Megatron-Core's "
            "overlap_moe_expert_parallel_comm).",
     FIELD(schedule)},
    {"pipeline_layout", KEY_TEXT, .fallback = "auto",
     .doc = "Layers of each virtual stage, comma-separated and in the order of the model: the embedding, dense layers, "
            "layers with experts, multi-token prediction, the logits, each counts as one. auto: the cut whose largest "
            "part is least.",
     FIELD(pipeline_layout)},
    {"precision", KEY_CHOICE, .fallback = "mxfp8", .names = precisions,
     .doc = "Of all matrices but those of experts, of the attention itself and of the output layer.", FIELD(precision)},
    {"expert_precision", KEY_CHOICE, .fallback = "mxfp8", .names = precisions, .doc = "Of experts' matrices.",
     FIELD(expert_precision)},
    {"attention_precision", KEY_CHOICE, .fallback = "bf16", .names = precisions,
     .doc = "Of attention's scores and weighted values.", FIELD(attention_precision)},
    {"logits_precision", KEY_CHOICE, .fallback = "bf16", .names = precisions,
     .doc =
         "Of the output layer: Megatron-Core's low-precision recipes are for the linear layers of transformer blocks "
         "alone (Megatron-Bridge, performance guide).",
     FIELD(logits_precision)},
    {"matrix_efficiency", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.5", .doc = "Matrices: " CALIBRATED ".",
     FIELD(matrix_efficiency)},
    {"attention_efficiency", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.5",
     .doc = "Scores and weighted values: " CALIBRATED ".", FIELD(attention_efficiency)},
    {"expert_efficiency", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.5",
     .doc = "Grouped matrices of experts: " CALIBRATED ".", FIELD(expert_efficiency)},
    {"launch", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 ms", "5 us",
     .doc = "Host's time to launch a kernel (estimate: CUDA launches take 2.5 us and more, and frameworks add to "
            "it). A layer takes at least its kernels times this, unless cuda_graphs.",
     FIELD(launch_ps)},
    {"kernels_per_layer", KEY_QUANTITY, QUANTITY_COUNT, "0", "100000", "60",
     .doc = "Kernels of a layer's forward pass; the backward pass has twice as many (estimate).",
     FIELD(kernels_per_layer)},
    {"kernel_gap", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 ms", "0.8 us",
     .doc = "From the end of a kernel to the begin of the next, when the GPU computes nothing and hides no "
            "communication. Measured with CUDA graphs: 0.8 us on B200 (arXiv:2512.22219), 1.3 on H100, 0.5 on V100; "
            "2.1 and 0.9 us on H100 and V100 where each is launched (Hazy Research, Look Ma, No Bubbles, 2025-05-27; "
            "NVIDIA, Getting Started with CUDA Graphs, 2019).",
     FIELD(kernel_gap_ps)},
    {"cuda_graphs", KEY_FLAG, .fallback = "true",
     .doc = "The whole iteration is launched at once: launches cost nothing, and kernels begin kernel_gap after each "
            "other.",
     FIELD(cuda_graphs)},
    {"overlap_gradients", KEY_FLAG, .fallback = "true",
     .doc = "Gradients of a part of the model are reduced as soon as its last backward pass is over; else after all.",
     FIELD(overlap_gradients)},
    {"gradient_bytes", KEY_QUANTITY, QUANTITY_COUNT, "1", "8", "4",
     .doc = "Bytes of a gradient on the network (Megatron-LM accumulates and reduces in FP32 by default).",
     FIELD(gradient_bytes)},
    {"parameter_bytes", KEY_QUANTITY, QUANTITY_COUNT, "0", "8", "2",
     .doc = "Bytes of a parameter that is gathered after the optimiser's step (distributed optimiser, BF16).",
     FIELD(parameter_bytes)},
    {"step_overhead", KEY_QUANTITY, QUANTITY_TIME, "0 s", "281 s", "0 s",
     .doc = "What every step takes beside: data, logging, checks.", FIELD(step_overhead_ps)},
    {"gradient_collective", KEY_CHOICE, .fallback = "rings", .names = collectives,
     .doc =
         "How gradients are reduced and parameters gathered (sim/training/collective.h). rings: as many as an NVLink "
         "domain has GPUs of the group. hierarchical: in the domain, then between domains. nvls: the same, in NVLink "
         "by its switches. sharp: between domains too, by the switches of InfiniBand.",
     FIELD(gradient_collective)},
    {"overlap_parameters", KEY_FLAG, .fallback = "true",
     .doc = "Parameters are gathered behind the next step's forward passes, but for those of the part that is needed "
            "first (Megatron-Core's overlap_param_gather); else all before it.",
     FIELD(overlap_parameters)},
    {"optimiser_state_bytes", KEY_QUANTITY, QUANTITY_COUNT, "0", "64", "12",
     .doc = "Of an element, over its copies: 12 are an FP32 master copy and Adam's two moments (arXiv:1910.02054), 8 "
            "with moments in BF16 (DeepSeek-V3, arXiv:2412.19437, section 3.3.2).",
     FIELD(optimiser_state_bytes)},
    {"memory_efficiency", KEY_REAL, QUANTITY_SHARE, "0.01", "1", "0.9",
     .doc = "Share of the memory's rate that kernels reach which only read and write (estimate: copies reach about as "
            "much).",
     FIELD(memory_efficiency)},
    {"copied_tables", KEY_QUANTITY, QUANTITY_BYTES, "0 B", "1 TB", "0 B",
     .doc =
         "Recommenders: tables smaller than this, rows and AdaGrad's sums of squares, are on every GPU; all others are "
         "spread (DP_SHARDING_THRESHOLD of NVIDIA's dlrm_dcnv2 submissions: 0 on 64 GPUs, 8 MB on 8).",
     FIELD(copied_tables_bytes)},
    {"kernels", KEY_CHOICE, .fallback = "matrices", .names = kernels,
     .doc = "Kernels beside matrices (sim/training/kernel_bytes.h). matrices: they are in the share of the peak. "
            "separate: each reads and writes memory. fused: normalisation, activation and conversion of numbers with "
            "their neighbours. fused_permute: tokens' permutation with the exchanges too.",
     FIELD(kernels)},
    {"router", KEY_CHOICE, .fallback = "matrices", .names = routers,
     .doc = "Scores of experts. matrices: in `precision`. cuda_cores: in FP32 (the GPU's FP32 peak). tensor_cores: in "
            "FP32 made of nine products in BF16 (cuBLAS, FP32 emulation by BF16x9).",
     FIELD(router)},
    {"recompute", KEY_CHOICE, .fallback = "none", .names = recomputes,
     .doc = "What the backward pass computes again to keep less. operators: normalisation, activation and what latent "
            "attention makes of its ranks (arXiv:2412.19437, section 3.2.3), whose time is left out. layers: all of a "
            "layer, with its exchanges.",
     FIELD(recompute)},
    {"expert_buffers", KEY_CHOICE, .fallback = "paged", .names = buffers,
     .doc = "Room for tokens at experts. paged: for those that come. worst_case: for all of the group's (needed "
            "where the host does not know how many come; Megatron-Core's paged stash avoids it).",
     FIELD(expert_buffers)},
    {"memory_refuses", KEY_FLAG, .fallback = "true",
     .doc = "A step that does not fit the GPU's memory is a mistake; else it is only noted.", FIELD(memory_refuses)},
    {"host_sync", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 ms", "0 s",
     .doc = "What a layer with experts waits forward for the host, which has to know how many tokens come; nothing "
            "with cuda_graphs.",
     FIELD(host_sync_ps)},
    {"rank_skew", KEY_QUANTITY, QUANTITY_TIME, "0 s", "1 s", "0 s",
     .doc = "How much later than a GPU the last of its expert-parallel group comes to an exchange, whose kernels wait "
            "for it: as measured (1.38 ms in deepseek-ai's trace of DeepSeek-V3's training, median of cached_notify).",
     FIELD(rank_skew_ps)},
    {"notify", KEY_FLAG, .fallback = "false",
     .doc = "Each exchange comes after a kernel in which GPUs tell each other what is to come and wait for rank_skew "
            "too (DeepEP's notify_dispatch and cached_notify).",
     FIELD(notify)},
    {"contention", KEY_FLAG, .fallback = "false",
     .doc = "While computing, an exchange and gradients run at once, computing has all SMs but traffic.sms and "
            "gradient_sms, accesses to memory wait for those of computing, and the exchange and the gradients share "
            "NVLink and NIC fairly (sim/training/contention.h, pipeline_sharing.h).",
     FIELD(contention)},
    {"gradient_sms", KEY_QUANTITY, QUANTITY_COUNT, "0", "131", "16",
     .doc = "SMs that the kernels of gradients keep with contention. Megatron-LM "
            "(distributed_data_parallel_config.py, nccl_ub, 0011998) with registered buffers: 16 over NVLink and "
            "NICs, 6 with SHARP; 5 inside an NVLink domain; 4 over NICs alone, 1 with SHARP. NCCL 2.27's "
            "announcement: 16 or more, with SHARP 6 or fewer.",
     FIELD(gradient_sms)},
    {"defer_weight_gradients", KEY_FLAG, .fallback = "false",
     .doc = "A backward pass goes on to its exchange before gradients of weights, which no other pass waits for, are "
            "computed (DualPipe, arXiv:2412.19437, figure 4; Megatron-Core's delay_wgrad_compute).",
     FIELD(defer_weight_gradients)},
    {"steps", KEY_QUANTITY, QUANTITY_COUNT, "0", "4294967295", "0", .doc = "Steps to the target; 0 = not known.",
     FIELD(steps)},
    {"evaluation_batch", KEY_QUANTITY, QUANTITY_COUNT, "0", "1073741824", "0",
     .doc = "Sequences that an evaluation takes forward (MLPerf Training, llm_moe_pretraining: 1024 after every step); "
            "0 = "
            "none.",
     FIELD(evaluation_batch)},
    {"evaluation_every", KEY_QUANTITY, QUANTITY_COUNT, "1", "16777216", "1",
     .doc = "Steps from one evaluation to the next.", FIELD(evaluation_every)},
};
