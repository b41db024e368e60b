// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/job_report.h"

#include "base/memory.h"

#include <stdlib.h>

static void extend(uint32_t *fewest, uint32_t *most, uint32_t value) {
    *fewest = value < *fewest ? value : *fewest;
    *most = value > *most ? value : *most;
}

/* Domains that a group has GPUs of; seen holds for each the last group that was found there, + 1. */
static uint32_t domains_of(const struct gpu_groups *groups, uint32_t domain_gpus, uint32_t group, uint32_t *seen) {
    uint32_t domains = 0;
    for (uint32_t local = 0; local < groups->group_gpus; local++) {
        const uint32_t domain = groups->gpu[group * groups->group_gpus + local] / domain_gpus;
        domains += seen[domain] != group + 1;
        seen[domain] = group + 1;
    }
    return domains;
}

struct job_report job_report_of(const struct gpu_groups *groups, uint32_t domain_gpus) {
    const uint32_t n_domains = groups->n_gpus / domain_gpus;
    struct job_report report = {
        .fewest_gpus = UINT32_MAX, .groups = groups->n_members / groups->group_gpus, .fewest_domains = UINT32_MAX};
    uint32_t *seen = memory_allocate(n_domains, sizeof *seen), *count = memory_allocate(n_domains, sizeof *count);
    for (uint32_t member = 0; member < groups->n_members; member++) {
        count[groups->gpu[member] / domain_gpus]++;
    }
    for (uint32_t domain = 0; domain < n_domains; domain++) {
        if (count[domain] > 0) {
            report.domains++;
            extend(&report.fewest_gpus, &report.most_gpus, count[domain]);
        }
    }
    for (uint32_t group = 0; group < report.groups; group++) {
        const uint32_t domains = domains_of(groups, domain_gpus, group, seen);
        report.whole_groups += domains == 1;
        extend(&report.fewest_domains, &report.most_domains, domains);
    }
    free(seen);
    free(count);
    return report;
}

static void print_range(FILE *stream, uint32_t fewest, uint32_t most) {
    if (fewest == most) {
        fprintf(stream, "%u", most);
    } else {
        fprintf(stream, "%u to %u", fewest, most);
    }
}

void job_report_print(FILE *stream, const struct gpu_groups *groups, uint32_t domain_gpus) {
    const struct job_report report = job_report_of(groups, domain_gpus);
    fprintf(stream, "  job       %u of the %u GPUs, ", groups->n_members, groups->n_gpus);
    print_range(stream, report.fewest_gpus, report.most_gpus);
    fprintf(stream, " of each of %u NVLink domains; %u expert-parallel group%s of %u, %u within one domain, on ",
            report.domains, report.groups, report.groups == 1 ? "" : "s", groups->group_gpus, report.whole_groups);
    print_range(stream, report.fewest_domains, report.most_domains);
    fprintf(stream, " domain%s\n", report.most_domains == 1 ? "" : "s each");
}
