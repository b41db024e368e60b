// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample.h"

#include "base/memory.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, RACKS = 2, PHASES = 3, LINKS = 3, EXPERTS = 2 };

/** Times in µs; completed is 10 µs × scale after posting unless told. */
static const struct {
    uint32_t source, destination, tag, phase;
    uint64_t bytes, posted_us, transfer_us;
} transfers[] = {
    {0, 2, 1, 0, 64, 0, 1},         {0, 2, 2, 1, 1000000, 0, 20},   {0, 3, 3, 1, 4000000, 0, 100},
    {1, 3, 4, 1, 4000000, 5, 110},  {1, 2, 5, 1, 1000000, 5, 30},   {2, 0, 6, 2, 2000000, 120, 40},
    {2, 0, 7, 2, 2000000, 150, 40}, {3, 1, 8, 2, 2000000, 130, 40}, {2, 0, 9, 2, 2000000, 300, 50},
};

static uint64_t sample_ideal(const void *context, uint32_t source, uint32_t destination, uint32_t phase,
                             uint64_t bytes) {
    (void)source;
    (void)destination;
    (void)phase;
    return bytes * *(const uint64_t *)context; /* 20 ps a byte: 400 Gb/s */
}

static void add_transfers(struct measurement *measurement, uint64_t scale, bool reversed) {
    const size_t count = sizeof transfers / sizeof transfers[0];
    for (size_t i = 0; i < count; i++) {
        const size_t at = reversed ? count - 1 - i : i;
        const uint64_t posted_ps = transfers[at].posted_us * 1000000;
        const struct measurement_message message = {
            .source = transfers[at].source,
            .destination = transfers[at].destination,
            .tag = transfers[at].tag,
            .phase = transfers[at].phase,
            .bytes = transfers[at].bytes,
            .posted_ps = posted_ps,
            .completed_ps = posted_ps + transfers[at].transfer_us * 1000000 * scale,
        };
        measurement_add_message(measurement, &message);
    }
}

static void fill_phases(struct measurement *measurement, uint64_t scale) {
    static const char *const names[PHASES] = {"counts", "dispatch", "combine"};
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        struct measurement_phase *row = &measurement->phases[phase];
        snprintf(row->name, sizeof row->name, "%s", names[phase]);
        row->kind = phase == 0 ? MEASUREMENT_PHASE_CONTROL : MEASUREMENT_PHASE_DATA;
        row->participants = RANKS;
        row->ideal_ps = phase == 0 ? 0 : 80000000;
        row->collective_bytes = phase == 1 ? 40000000 : 0;
        row->rdma_logical_bytes = phase == 1 ? 20000000 : 0;
        row->nvl_received_bytes = phase == 1 ? 30000000 : 0;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint32_t phase = 0; phase < PHASES; phase++) {
            struct measurement_rank_phase *row = &measurement->rank_phases[rank * PHASES + phase];
            row->start_ps = phase * 100000000;
            row->finish_ps = row->start_ps + (rank + 1) * 25000000 * scale;
            row->ideal_ps = 20000000;
        }
    }
}

static void fill_links(struct measurement *measurement, uint64_t scale) {
    for (uint32_t link = 0; link < LINKS; link++) {
        struct measurement_link *row = &measurement->links[link];
        snprintf(row->name, sizeof row->name, link == 2 ? "gpu0:nvlink0" : "leaf%u:up17", link);
        row->kind = link == 2 ? MEASUREMENT_LINK_NVLINK : MEASUREMENT_LINK_ETHERNET;
        row->rate_bits_per_s = 400000000000;
        row->bytes = 1000000 * (link + 1);
        row->packets = 250 * (link + 1);
        row->control_packets = 10;
        row->marks = 7 * link;
        row->pauses = link;
        row->paused_ps = 1500000 * link * scale;
        row->deepest_bytes = 70000 * (link + 1);
        row->busy_ps = 20000000 * (link + 1);
    }
}

struct measurement *sample_measurement(const char *policy, uint64_t seed, uint64_t scale, bool reversed) {
    const struct measurement_shape shape = {
        .n_ranks = RANKS, .n_racks = RACKS, .n_phases = PHASES, .n_links = LINKS, .n_experts = EXPERTS};
    const uint64_t ps_per_byte = 20;
    struct measurement *measurement = measurement_create(&shape);
    snprintf(measurement->policy, sizeof measurement->policy, "%s", policy);
    measurement->seed = seed;
    fill_phases(measurement, scale);
    fill_links(measurement, scale);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        measurement->endpoints[rank].rack = rank / 2;
        measurement->endpoints[rank].expert_tokens = rank == 3 ? 400 : 100;
        measurement->endpoints[rank].retransmitted_packets = rank * scale;
        measurement->endpoints[rank].reordering_packets = 5 * rank;
        measurement->endpoints[rank].out_of_order_packets = 2;
    }
    for (uint32_t expert = 0; expert < EXPERTS; expert++) {
        measurement->experts[expert] = (struct measurement_expert){.rank = expert + 2, .tokens = 100 + 300 * expert};
    }
    measurement->totals = (struct measurement_totals){.simulated_ps = 350000000 * scale,
                                                      .data_hops = 1234567,
                                                      .control_hops = 89,
                                                      .traffic_digest = 0xfeedface,
                                                      .sent_bytes = 18000100,
                                                      .delivered_bytes = 18000000,
                                                      .dropped_bytes = 100};
    add_transfers(measurement, scale, reversed);
    measurement_finish(measurement, sample_ideal, &ps_per_byte);
    measurement_explain(measurement, "slowest flow gpu%u → gpu%u", 1u, 3u);
    static const struct measurement_crossing crossings[] = {{0, 1, 5000000}, {0, 2, 77}, {2, 4, 1}};
    measurement->n_crossings = sizeof crossings / sizeof crossings[0];
    measurement->crossings = memory_allocate(measurement->n_crossings, sizeof *crossings);
    memcpy(measurement->crossings, crossings, sizeof crossings);
    measurement->n_slow_flows = 1;
    measurement->slow_flows = memory_allocate(1, sizeof *measurement->slow_flows);
    *measurement->slow_flows =
        (struct measurement_slow_flow){.flow = 4, .link = 2, .sharers = 1, .text = "shares link2 with 1 other flow"};
    return measurement;
}

char *sample_folder(void) {
    const char *place = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char *folder = sample_path(place, "moefabric-results-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

char *sample_path(const char *folder, const char *name) {
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = memory_allocate(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

char *sample_read(const char *path, size_t *size) {
    FILE *stream = fopen(path, "rb");
    ck_assert_msg(stream != NULL, "%s cannot be read", path);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    char *content = memory_allocate(*size + 1, 1);
    ck_assert_uint_eq(fread(content, 1, *size, stream), *size);
    fclose(stream);
    return content;
}

unsigned sample_count_files(const char *folder) {
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(directory);
    return count;
}
