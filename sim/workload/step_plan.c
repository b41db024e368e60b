// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/step_plan.h"

#include "base/error_id.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "workload/jitter.h"

#include <stdlib.h>
#include <string.h>

/* A collective that a rank has begun and that has not ended there. */
struct open {
    uint32_t collective;
    uint32_t missing; /* messages that have not arrived */
    uint64_t begin_ps;
};

/* What a rank knows. Written by that rank only. */
struct rank {
    uint32_t next_step;
    uint64_t ready_ps; /* the step before has ended, or will have */
    uint64_t end_ps;
    struct open *open; /* in ascending order */
    uint32_t n_open, open_capacity;
    uint32_t *early; /* tags of messages of collectives that it has not begun */
    uint32_t n_early, early_capacity;
};

/* Groups of a kind that some collective is among; NULL if none is. */
struct among {
    uint8_t *rings; /* [groups] */
    uint32_t most_rings;
};

struct step_plan {
    struct step_program program;
    struct step_plan_start start;
    struct among among[PARALLEL_GROUPS];
    uint32_t *first_tags; /* [n_collectives + 1] */
    uint32_t *alike;      /* [n_collectives] the first collective that is as this one: layers repeat */
    struct rank *ranks;
};

static bool is_near(const struct step_plan *plan, uint32_t rank, uint32_t other) {
    return rank / plan->program.layout.domain_ranks == other / plan->program.layout.domain_ranks;
}

/* What a collective is to one rank. */
struct part {
    const struct step_collective *collective;
    struct collective_group group;
    uint32_t member, rings, steps;
    uint64_t message_bytes;
};

static struct part part_of(const struct step_plan *plan, uint32_t rank, uint32_t number) {
    const struct step_collective *collective = &plan->program.collectives[number];
    const uint32_t of = collective_group_of(&plan->program.layout, collective->group, rank);
    struct part part = {.collective = collective,
                        .group = collective_group(&plan->program.layout, collective->group, of),
                        .rings = plan->among[collective->group].rings[of]};
    part.member = collective_member(&part.group, rank);
    part.steps = collective_steps(collective->operation, part.group.count);
    part.message_bytes =
        collective_message_bytes(collective->operation, collective->bytes, part.group.count, part.rings);
    return part;
}

static uint32_t expected(const struct part *part) {
    return part->steps == 0 ? part->group.count - 1 : part->rings * part->steps;
}

static void post(const struct step_plan *plan, uint32_t rank, const struct part *part, uint32_t to, uint32_t tag,
                 uint64_t start_ps, struct traffic_outbox *outbox) {
    const struct traffic_message message = {.destination = to,
                                            .tag = tag,
                                            .bytes = part->message_bytes,
                                            .start_ps = start_ps,
                                            .route = is_near(plan, rank, to) ? TRAFFIC_NVLINK : TRAFFIC_FABRIC};
    traffic_outbox_add(outbox, &message);
}

static void post_ring(const struct step_plan *plan, uint32_t rank, const struct part *part, uint32_t tag, uint32_t ring,
                      uint64_t start_ps, struct traffic_outbox *outbox) {
    const uint32_t next = collective_next(&part->group, plan->program.layout.domain_ranks, ring, part->member);
    post(plan, rank, part, collective_rank(&part->group, next), tag, start_ps, outbox);
}

/* What has arrived in a ring goes on, unless this was its last step. */
static void pass_on(const struct step_plan *plan, uint32_t rank, uint32_t number, uint32_t tag, uint64_t start_ps,
                    struct traffic_outbox *outbox) {
    const struct part part = part_of(plan, rank, number);
    const uint32_t place = tag - plan->first_tags[number];
    if (part.steps > 0 && place % part.steps + 1 < part.steps) {
        post_ring(plan, rank, &part, tag + 1, place / part.steps, start_ps, outbox);
    }
}

/* Messages of a collective that came before this rank had begun it: counted, and passed on now. */
static uint32_t take_early(const struct step_plan *plan, uint32_t number, uint32_t rank, uint64_t begin_ps,
                           struct traffic_outbox *outbox) {
    struct rank *of = &plan->ranks[rank];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < of->n_early; i++) {
        const uint32_t tag = of->early[i];
        if (tag < plan->first_tags[number] || tag >= plan->first_tags[number + 1]) {
            of->early[kept++] = tag;
        } else {
            pass_on(plan, rank, number, tag, begin_ps, outbox);
        }
    }
    const uint32_t taken = of->n_early - kept;
    of->n_early = kept;
    return taken;
}

static void begin_collective(const struct step_plan *plan, uint32_t rank, uint32_t number,
                             struct traffic_outbox *outbox) {
    struct rank *of = &plan->ranks[rank];
    const struct part part = part_of(plan, rank, number);
    const uint32_t tag = plan->first_tags[number];
    for (uint32_t i = 1; part.steps == 0 && i < part.group.count; i++) {
        const uint32_t to = collective_rank(&part.group, (part.member + i) % part.group.count);
        post(plan, rank, &part, to, tag, of->ready_ps, outbox);
    }
    for (uint32_t ring = 0; part.steps > 0 && ring < part.rings; ring++) {
        post_ring(plan, rank, &part, tag + ring * part.steps, ring, of->ready_ps, outbox);
    }
    const uint32_t missing = expected(&part) - take_early(plan, number, rank, of->ready_ps, outbox);
    if (missing == 0) {
        return;
    }
    if (of->n_open == of->open_capacity) {
        of->open_capacity = of->open_capacity ? 2 * of->open_capacity : 4;
        of->open = memory_resize(of->open, of->open_capacity, sizeof *of->open);
    }
    of->open[of->n_open++] = (struct open){.collective = number, .missing = missing, .begin_ps = of->ready_ps};
}

/* The entry of a collective, or NULL: not begun, or ended. */
static struct open *find_open(const struct rank *rank, uint32_t collective) {
    uint32_t low = 0, high = rank->n_open;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (rank->open[middle].collective < collective) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rank->n_open && rank->open[low].collective == collective ? &rank->open[low] : NULL;
}

/*
 * Takes steps until one has to wait. Time runs ahead of the clock: what is computed meanwhile is known, and messages start when it is done.
 * A wait that is over at last ends now, or when the step before it does.
 */
static void advance(const struct step_plan *plan, uint32_t rank, uint64_t now_ps, struct traffic_outbox *outbox) {
    struct rank *of = &plan->ranks[rank];
    for (; of->next_step < plan->program.n_steps; of->next_step++) {
        const struct step *step = &plan->program.steps[of->next_step];
        switch (step->kind) {
        case STEP_COMPUTE:
            of->ready_ps += step->compute_ps;
            break;
        case STEP_BEGIN:
            begin_collective(plan, rank, step->collective, outbox);
            break;
        case STEP_WAIT:
            if (find_open(of, step->collective) != NULL) {
                return;
            }
            of->ready_ps = number_larger(of->ready_ps, now_ps);
            break;
        }
    }
    if (of->n_open == 0) {
        of->end_ps = number_larger(of->ready_ps, now_ps);
    }
}

static void begin(void *context, uint32_t rank, struct traffic_outbox *outbox) {
    const struct step_plan *plan = context;
    struct rank *of = &plan->ranks[rank];
    of->next_step = 0;
    of->end_ps = TIME_NEVER;
    of->n_open = of->n_early = 0;
    of->ready_ps = jitter_start_ps(plan->start.seed, rank, plan->start.jitter_ps);
    advance(plan, rank, 0, outbox);
}

/* The collective that a tag belongs to. */
static uint32_t collective_of(const struct step_plan *plan, uint32_t tag) {
    uint32_t low = 0, high = plan->program.n_collectives;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (plan->first_tags[middle] <= tag) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void keep_early(struct rank *rank, uint32_t tag) {
    if (rank->n_early == rank->early_capacity) {
        rank->early_capacity = rank->early_capacity ? 2 * rank->early_capacity : 8;
        rank->early = memory_resize(rank->early, rank->early_capacity, sizeof *rank->early);
    }
    rank->early[rank->n_early++] = tag;
}

static void delivered(void *context, uint32_t rank, uint32_t source, uint32_t tag, uint64_t now_ps,
                      struct traffic_outbox *outbox) {
    (void)source;
    const struct step_plan *plan = context;
    struct rank *of = &plan->ranks[rank];
    const uint32_t number = collective_of(plan, tag);
    struct open *open = find_open(of, number);
    if (open == NULL) {
        keep_early(of, tag);
        return;
    }
    pass_on(plan, rank, number, tag, number_larger(now_ps, open->begin_ps), outbox);
    if (--open->missing == 0) {
        memmove(open, open + 1, (size_t)(of->open + of->n_open - open - 1) * sizeof *open);
        of->n_open--;
        advance(plan, rank, now_ps, outbox);
    }
}

struct traffic step_plan_traffic(struct step_plan *plan) {
    return (struct traffic){
        .plan = plan, .n_ranks = plan->program.layout.n_ranks, .begin = begin, .delivered = delivered};
}

static void init_among(struct step_plan *plan, enum parallel_group kind) {
    const struct collective_layout *layout = &plan->program.layout;
    struct among *among = &plan->among[kind];
    const uint32_t n = collective_groups(layout, kind);
    among->rings = memory_allocate(n, sizeof *among->rings);
    for (uint32_t number = 0; number < n; number++) {
        const struct collective_group group = collective_group(layout, kind, number);
        const uint32_t rings = collective_rings(&group, layout->domain_ranks);
        among->rings[number] = (uint8_t)rings;
        among->most_rings = (uint32_t)number_larger(among->most_rings, rings);
    }
}

/* A collective and its number, to be sorted. */
struct numbered {
    struct step_collective collective;
    uint32_t number;
};

static int compare_numbered(const void *left_pointer, const void *right_pointer) {
    const struct numbered *left = left_pointer, *right = right_pointer;
    const struct step_collective *a = &left->collective, *b = &right->collective;
    int by = (a->operation > b->operation) - (a->operation < b->operation);
    by = by ? by : (a->group > b->group) - (a->group < b->group);
    by = by ? by : (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return by ? by : (left->number > right->number) - (left->number < right->number);
}

static void find_alike(struct step_plan *plan) {
    const uint32_t n = plan->program.n_collectives;
    struct numbered *sorted = memory_allocate((size_t)n + 1, sizeof *sorted);
    plan->alike = memory_allocate((size_t)n + 1, sizeof *plan->alike);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = (struct numbered){.collective = plan->program.collectives[i], .number = i};
    }
    qsort(sorted, n, sizeof *sorted, compare_numbered);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        const struct step_collective *a = &sorted[first].collective, *b = &sorted[i].collective;
        const bool same = a->operation == b->operation && a->group == b->group && a->bytes == b->bytes;
        first = same ? first : i;
        plan->alike[sorted[i].number] = sorted[first].number;
    }
    free(sorted);
}

/* Tags of each collective follow those of the one before. False if all messages together are too many. */
static bool number_tags(struct step_plan *plan, const char *name, struct error *error) {
    const struct step_program *program = &plan->program;
    uint64_t messages = 0;
    plan->first_tags = memory_allocate((size_t)program->n_collectives + 1, sizeof *plan->first_tags);
    for (uint32_t i = 0; i < program->n_collectives; i++) {
        const struct step_collective *collective = &program->collectives[i];
        const uint32_t count = collective_group(&program->layout, collective->group, 0).count;
        const uint32_t steps = collective_steps(collective->operation, count);
        const uint64_t tags = steps == 0 ? 1 : (uint64_t)plan->among[collective->group].most_rings * steps;
        messages += program->layout.n_ranks * (steps == 0 ? count - 1 : tags);
        if (messages > STEP_PLAN_MESSAGES_MOST) {
            return error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_WORKLOAD_TEXT, name,
                                  "more than the 2^27 messages of a run: %u collectives of the %u make %llu on %u GPUs",
                                  i + 1, program->n_collectives, (unsigned long long)messages, program->layout.n_ranks);
        }
        plan->first_tags[i + 1] = (uint32_t)(plan->first_tags[i] + tags);
    }
    return messages > 0 ||
           error_set_file(error, EXIT_CODE_CONFIGURATION, ERROR_ID_WORKLOAD_TEXT, name,
                          "nothing is sent on %u GPUs: no layer has a collective among more than one of them",
                          program->layout.n_ranks);
}

struct step_plan *step_plan_create(struct step_program *program, const struct step_plan_start *start, const char *name,
                                   struct error *error) {
    struct step_plan *plan = memory_allocate(1, sizeof *plan);
    plan->program = *program;
    *program = (struct step_program){0};
    plan->start = *start;
    const uint32_t n = plan->program.layout.n_ranks;
    plan->ranks = memory_allocate(n, sizeof *plan->ranks);
    for (uint32_t rank = 0; rank < n; rank++) {
        plan->ranks[rank].end_ps = TIME_NEVER;
    }
    for (uint32_t i = 0; i < plan->program.n_collectives; i++) {
        if (plan->among[plan->program.collectives[i].group].rings == NULL) {
            init_among(plan, plan->program.collectives[i].group);
        }
    }
    find_alike(plan);
    if (!number_tags(plan, name, error)) {
        step_plan_free(plan);
        return NULL;
    }
    return plan;
}

void step_plan_free(struct step_plan *plan) {
    if (plan == NULL) {
        return;
    }
    for (uint32_t rank = 0; rank < plan->program.layout.n_ranks; rank++) {
        free(plan->ranks[rank].open);
        free(plan->ranks[rank].early);
    }
    for (int kind = 0; kind < PARALLEL_GROUPS; kind++) {
        free(plan->among[kind].rings);
    }
    free(plan->ranks);
    free(plan->first_tags);
    free(plan->alike);
    step_program_fini(&plan->program);
    free(plan);
}

const struct step_program *step_plan_program(const struct step_plan *plan) {
    return &plan->program;
}

struct step_plan_times step_plan_times(const struct step_plan *plan, uint32_t rank) {
    return (struct step_plan_times){.start_ps = jitter_start_ps(plan->start.seed, rank, plan->start.jitter_ps),
                                    .end_ps = plan->ranks[rank].end_ps};
}

void step_plan_take_end(struct step_plan *plan, uint32_t rank, uint64_t end_ps) {
    plan->ranks[rank].end_ps = end_ps;
}

struct step_plan_volume step_plan_received(const struct step_plan *plan, uint32_t rank, uint32_t collective) {
    const struct part part = part_of(plan, rank, collective);
    const uint32_t domain = plan->program.layout.domain_ranks;
    const uint64_t far = part.group.count - collective_near(&part.group, domain, part.member);
    const uint64_t entries = collective_entries(&part.group, domain, part.rings, part.member);
    const uint64_t fabric = part.steps == 0 ? far : entries * part.steps;
    const uint64_t nvlink = expected(&part) - fabric;
    return (struct step_plan_volume){.fabric_bytes = fabric * part.message_bytes,
                                     .fabric_messages = fabric,
                                     .nvlink_bytes = nvlink * part.message_bytes,
                                     .nvlink_messages = nvlink};
}

static void add_volume(struct step_plan_volume *sum, const struct step_plan_volume *volume) {
    sum->fabric_bytes += volume->fabric_bytes;
    sum->fabric_messages += volume->fabric_messages;
    sum->nvlink_bytes += volume->nvlink_bytes;
    sum->nvlink_messages += volume->nvlink_messages;
}

struct step_plan_volume step_plan_total(const struct step_plan *plan) {
    const struct step_program *program = &plan->program;
    struct step_plan_volume total = {0};
    struct step_plan_volume *volumes = memory_allocate(program->n_collectives, sizeof *volumes);
    for (uint32_t i = 0; i < program->n_collectives; i++) {
        for (uint32_t rank = 0; plan->alike[i] == i && rank < program->layout.n_ranks; rank++) {
            const struct step_plan_volume received = step_plan_received(plan, rank, i);
            add_volume(&volumes[i], &received);
        }
        add_volume(&total, &volumes[plan->alike[i]]);
    }
    free(volumes);
    return total;
}

static uint64_t mix(uint64_t digest, uint64_t value) {
    return hash_mix(digest ^ hash_mix(value));
}

uint64_t step_plan_digest(const struct step_plan *plan) {
    const struct step_program *program = &plan->program;
    const struct collective_layout *layout = &program->layout;
    uint64_t digest = mix(mix(0, (uint64_t)layout->n_ranks << 32 | layout->domain_ranks),
                          (uint64_t)layout->tensor << 32 | layout->expert);
    for (uint32_t i = 0; i < program->n_steps; i++) {
        const struct step *step = &program->steps[i];
        digest = mix(mix(digest, (uint64_t)step->kind << 32 | step->collective), step->compute_ps);
    }
    for (uint32_t i = 0; i < program->n_collectives; i++) {
        const struct step_collective *collective = &program->collectives[i];
        digest = mix(mix(digest, (uint64_t)collective->operation << 32 | collective->group), collective->bytes);
    }
    for (uint32_t rank = 0; rank < layout->n_ranks; rank++) {
        digest = mix(digest, step_plan_times(plan, rank).start_ps);
    }
    return digest;
}

/* When the first rank can begin each collective; returns when it can have taken the last step. */
static uint64_t find_begins(const struct step_plan *plan, const struct step_plan_least *least, uint64_t *begins_ps) {
    uint64_t now_ps = 0;
    for (uint32_t i = 0; i < plan->program.n_steps; i++) {
        const struct step *step = &plan->program.steps[i];
        const uint32_t number = step->collective;
        switch (step->kind) {
        case STEP_COMPUTE:
            now_ps += step->compute_ps;
            break;
        case STEP_BEGIN:
            begins_ps[number] = now_ps;
            break;
        case STEP_WAIT:
            now_ps = number_larger(now_ps,
                                   begins_ps[number] + number_larger(least[number].fabric_ps, least[number].nvlink_ps));
            break;
        }
    }
    return now_ps;
}

uint64_t step_plan_least_ps(const struct step_plan *plan,
                            struct step_plan_least (*least)(const void *context, uint32_t collective),
                            const void *context) {
    const uint32_t n = plan->program.n_collectives;
    struct step_plan_least *times = memory_allocate(n, sizeof *times), after = {0};
    uint64_t *begins_ps = memory_allocate(n, sizeof *begins_ps);
    for (uint32_t i = 0; i < n; i++) {
        times[i] = plan->alike[i] == i ? least(context, i) : times[plan->alike[i]];
    }
    uint64_t end_ps = find_begins(plan, times, begins_ps);
    for (uint32_t i = n; i-- > 0;) {
        after.fabric_ps += times[i].fabric_ps;
        after.nvlink_ps += times[i].nvlink_ps;
        end_ps = number_larger(end_ps, begins_ps[i] + number_larger(after.fabric_ps, after.nvlink_ps));
    }
    free(times);
    free(begins_ps);
    return end_ps;
}
