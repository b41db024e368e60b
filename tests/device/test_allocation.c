// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * No packet is allocated: four times as many packets of the same messages on the same fabric cost no more calls of the
 * allocator. Pools, queues and tables grow to what is in flight at one time, which a longer message leaves as it is.
 *
 * This program is linked so that the calls of base/memory.c, the only ones in the simulator, come here first.
 */
#include "congestion/dcqcn.h"
#include "rig.h"
#include "run_suite.h"

#include <check.h>

enum { R_PS = 20, HOSTS = 16, PACKETS = 2000, TIMES = 4, FEW = 16 };

static uint64_t n_calls;

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
    n_calls++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    n_calls++;
    return __real_realloc(block, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    n_calls++;
    return __real_posix_memalign(block, alignment, size);
}

/* What one run did. */
struct count {
    uint64_t calls, hops;
};

static struct count count_run(struct rig *rig) {
    const uint64_t before = n_calls;
    ck_assert_int_eq(rig_run_on(rig, 1), NETWORK_FINISHED);
    const struct count count = {.calls = n_calls - before, .hops = network_hops(rig->network)};
    rig_free(rig);
    return count;
}

static void assert_none_per_packet(const struct count *few, const struct count *many) {
    ck_assert_uint_gt(few->calls, 0); // or nothing would be counted
    ck_assert_uint_gt(many->hops, (TIMES - 1) * few->hops);
    ck_assert_uint_le(many->calls, few->calls + FEW);
}

/* Every host sends to the host that is `step` further. */
static struct count fabric_run(enum congestion_kind controller, uint32_t packets) {
    const struct rig_shape shape = {
        .leaves = 4, .hosts_per_leaf = HOSTS / 4, .spines = 4, .up_ps = R_PS, .cut_through = true};
    struct rig *rig = rig_create(&shape);
    rig->parameters.nic.out_of_order = true;
    rig->parameters.nic.adaptive_marking = true;
    rig->parameters.nic.acknowledge_bytes = 1;
    rig->parameters.path.kind = PATH_ADAPTIVE;
    rig->parameters.congestion.kind = controller;
    uint64_t interval_ps;
    ck_assert(dcqcn_profile("paper", UINT64_C(400000000000), true, &rig->parameters.congestion.dcqcn, &interval_ps));
    rig->parameters.congestion.notification_interval_ps = interval_ps;
    for (uint32_t host = 0; host < HOSTS; host++) {
        rig_send(rig, host, (host + 5) % HOSTS, (uint64_t)packets * RIG_PAYLOAD_BYTES);
    }
    return count_run(rig);
}

START_TEST(packets_over_the_fabric_are_not_allocated) {
    static const enum congestion_kind controllers[] = {CONGESTION_NONE, CONGESTION_DCQCN};
    const struct count few = fabric_run(controllers[_i], PACKETS), many = fabric_run(controllers[_i], TIMES * PACKETS);
    assert_none_per_packet(&few, &many);
}
END_TEST

static struct count nvlink_run(uint32_t records) {
    const struct rig_shape shape = {
        .hosts_per_leaf = 8, .domain_gpus = 8, .chips = 2, .links_per_chip = 1, .nvlink_ps = 160};
    struct rig *rig = rig_create(&shape);
    for (uint32_t gpu = 0; gpu < 8; gpu++) {
        const struct traffic_message message = {
            .destination = (gpu + 3) % 8, .bytes = (uint64_t)records * RIG_RECORD_BYTES, .route = TRAFFIC_NVLINK};
        rig_add(rig, gpu, &message);
    }
    return count_run(rig);
}

START_TEST(records_over_nvlink_are_not_allocated) {
    const struct count few = nvlink_run(PACKETS), many = nvlink_run(TIMES * PACKETS);
    assert_none_per_packet(&few, &many);
}
END_TEST

int main(void) {
    TCase *packets = tcase_create("packets");
    tcase_add_loop_test(packets, packets_over_the_fabric_are_not_allocated, 0, 2);
    tcase_add_test(packets, records_over_nvlink_are_not_allocated);
    Suite *suite = suite_create("allocation");
    suite_add_tcase(suite, packets);
    return run_suite(suite);
}
