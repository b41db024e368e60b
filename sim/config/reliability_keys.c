// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reliability_keys.h"

#include "config/experiment.h"

#define FIELD(base, member) .offset = offsetof(struct base, member), .size = sizeof(((struct base *)0)->member)
#define FAILURES(member) FIELD(experiment_interruptions, member)
#define STRAGGLERS(member) FIELD(experiment_stragglers, member)
#define CHECKPOINT(member) FIELD(experiment_checkpoint, member)

static const char *const sources[] = {"none", "llama3", "rsc1", "rsc2", NULL};

#define MTBF(what) "Mean time between failures of " what "; 0 = as `rates` say."

const struct key reliability_keys_failures[RELIABILITY_KEYS_FAILURES] = {
    {"rates", KEY_CHOICE, .fallback = "none", .names = sources,
     .doc = "Published rates of failures (sim/training/failure_rates.c has each with its source). none: nothing fails. "
            "llama3: by component, as counted on 16,384 H100 in 54 days (arXiv:2407.21783, table 5), links and "
            "switches as counted by Alibaba (HPN, SIGCOMM 2024). rsc1, rsc2: all causes together, as counted on Meta's "
            "two A100 research clusters (arXiv:2410.21680: 6.50 and 2.34 failures in 1,000 days of a node of 8 GPUs).",
     FAILURES(rates)},
    {"gpu_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0", .doc = MTBF("a GPU, its memory included"),
     FAILURES(gpu_mtbf_s)},
    {"nic_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0", .doc = MTBF("a NIC"), FAILURES(nic_mtbf_s)},
    {"host_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0",
     .doc = MTBF("a host without its GPUs and NICs, its unplanned maintenance included"), FAILURES(host_mtbf_s)},
    {"nvlink_switch_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0",
     .doc = MTBF("an NVLink switch chip, which takes its whole domain along"), FAILURES(nvlink_switch_mtbf_s)},
    {"link_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0",
     .doc = MTBF("a link with its transceivers, NIC to leaf or above"), FAILURES(link_mtbf_s)},
    {"leaf_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0", .doc = MTBF("a leaf switch"), FAILURES(leaf_mtbf_s)},
    {"spine_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0", .doc = MTBF("a switch above the leaves"),
     FAILURES(spine_mtbf_s)},
    {"software_mtbf", KEY_REAL, QUANTITY_DURATION, "0", "1e9 h", "0",
     .doc = "Mean time between failures of software, of a job of one GPU: a job of N GPUs has N times as many; 0 = as "
            "`rates` say.",
     FAILURES(software_mtbf_s)},
    {"reroute", KEY_FLAG, .fallback = "true",
     .doc = "What fails above the leaves is routed around. With NICs of several planes, so is a link of a NIC or a "
            "leaf. Else each of them interrupts training.",
     FAILURES(reroute)},
    {"host_gpus", KEY_QUANTITY, QUANTITY_COUNT, "1", "1024", "4",
     .doc = "GPUs of a host, which go out with it: 4 in a compute tray of NVL72, 8 in an HGX node.",
     FAILURES(host_gpus)},
    {"warm_spares", KEY_QUANTITY, QUANTITY_COUNT, "0", "1048576", "0",
     .doc = "GPUs that stand by beside those that train, in whole hosts. What fails is replaced at once while there "
            "are any; else training waits until a host has been repaired.",
     FAILURES(warm_spares)},
    {"detection", KEY_REAL, QUANTITY_DURATION, "0", "1 d", "10 min",
     .doc = "From a failure until the job knows (ByteRobust, arXiv:2509.16293: about 10 minutes by default, 30 s where "
            "NICs and ports are watched; NVIDIA Resiliency Extension: soft time-out 60 s).",
     FAILURES(detection_s)},
    {"restart", KEY_REAL, QUANTITY_DURATION, "0", "7 d", "10 min",
     .doc = "From there to the first step: scheduling, start, loading of the checkpoint (arXiv:2410.21680: 5 to 20 "
            "minutes).",
     FAILURES(restart_s)},
    {"warm_restart", KEY_REAL, QUANTITY_DURATION, "0", "7 d", "55 s",
     .doc = "The same where a warm spare takes over (ByteRobust, arXiv:2509.16293: 10.87 times as fast).",
     FAILURES(warm_restart_s)},
    {"repair", KEY_REAL, QUANTITY_DURATION, "0", "365 d", "4 h",
     .doc = "Until hardware that failed can be used again (estimate: many faults need no more than a reset, others new "
            "parts).",
     FAILURES(repair_s)},
    {"runs", KEY_QUANTITY, QUANTITY_COUNT, "2", "1000000", "1000",
     .doc = "Courses of training that are simulated for confidence intervals.", FAILURES(runs)},
};

const struct key reliability_keys_stragglers[RELIABILITY_KEYS_STRAGGLERS] = {
    {"slow_gpus", KEY_TEXT,
     .doc = "GPUs of those that train whose clock is low, such as \"5, 64-67\". Slow NICs and links are `failures` "
            "(action slow), NICs on another rail `cluster.crossed_gpus`.",
     STRAGGLERS(slow_gpus)},
    {"slow_gpu_clock", KEY_REAL, QUANTITY_SHARE, "0.05", "1", "1", .doc = "Share of their clock that is left to them.",
     STRAGGLERS(slow_gpu_clock)},
    {"clock_deviation", KEY_REAL, QUANTITY_SHARE, "0", "0.3", "0",
     .doc = "Standard deviation of the clocks of all GPUs, normal: chips and cooling differ (arXiv:2208.11035: GPUs of "
            "one model differ by 8 % in time on average). Shares of the peak that were calibrated on a measured step "
            "have it in them already.",
     STRAGGLERS(clock_deviation)},
    {"seed", KEY_QUANTITY, QUANTITY_COUNT, "0", "4294967295", "1", .doc = "Which clocks clock_deviation draws.",
     STRAGGLERS(seed)},
};

const struct key reliability_keys_checkpoint[RELIABILITY_KEYS_CHECKPOINT] = {
    {"interval", KEY_REAL, QUANTITY_DURATION, "0", "365 d", "0",
     .doc = "Of training between two checkpoints; 0 = the one with which training ends soonest.",
     CHECKPOINT(interval_s)},
    {"asynchronous", KEY_FLAG, .fallback = "false",
     .doc = "Training goes on as soon as GPUs have copied their part to host memory; a checkpoint is good once it is "
            "written. Else training waits until it is written.",
     CHECKPOINT(asynchronous)},
    {"bytes", KEY_REAL, QUANTITY_BYTES, "0", "1e6 TB", "0",
     .doc = "Of a checkpoint; 0 = of each parameter that is trained 2 B, its weight in BF16, and "
            "training.optimiser_state_bytes.",
     CHECKPOINT(bytes)},
    {"storage_rate", KEY_QUANTITY, QUANTITY_BYTE_RATE, "1 MB/s", "1000 TB/s", "2 TB/s",
     .doc = "At which storage takes the checkpoints of all GPUs together (arXiv:2407.21783, section 3.3.1: 2 TB/s "
            "sustained for 16,384 GPUs).",
     CHECKPOINT(storage_bytes_per_s)},
    {"copy_rate", KEY_QUANTITY, QUANTITY_BYTE_RATE, "1 MB/s", "10 TB/s", "51.2 GB/s",
     .doc = "asynchronous: at which a GPU copies its part to host memory (PCIe 5.0 x16 at 80 %, calbusbw.h of "
            "aliyun/SimAI).",
     CHECKPOINT(copy_bytes_per_s)},
    {"cost", KEY_REAL, QUANTITY_DURATION, "0", "1 d", "0",
     .doc = "That training stands still for a checkpoint; 0 = from bytes and rates.", CHECKPOINT(cost_s)},
};
