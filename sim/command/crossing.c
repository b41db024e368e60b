// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/crossing.h"

#include "base/memory.h"
#include "command/way.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 8 }; /* flows of a link that go into the result */
static const uint64_t most_visits = UINT64_C(1) << 26, most_links = UINT64_C(1) << 18; /* a second or two; 32 MB */
static const double equal = 1 - 1e-9;

/* What is known of the flow that is being looked at: of each link that it crosses. */
struct scratch {
    double *parts; /* [n_links] sum over its queue pairs */
    bool *certain; /* [n_links] */
    uint32_t *touched, n_touched, capacity;
    uint32_t n_pairs;
    uint64_t flow;
};

/* The flows with most bytes on a link, in order of bytes. */
struct top {
    uint64_t flows[KEPT];
    double bytes[KEPT];
};

/* A pass over flows. */
struct pass {
    const struct flow_pairs *pairs;
    struct way_finder *finder;
    struct scratch scratch;
    struct crossings *crossings;
    struct top *tops; /* [n_links]; NULL: too many */
    uint64_t visits;
    uint64_t only; /* looks at this flow alone; UINT64_MAX: at all */
};

static struct pass begin(const struct flow_pairs *pairs, struct crossings *crossings) {
    const uint32_t n_links = pairs->simulation->fabric->n_links;
    if (crossings->place_of == NULL) {
        crossings->place_of = memory_allocate(n_links, sizeof *crossings->place_of);
    }
    return (struct pass){
        .pairs = pairs,
        .finder = way_finder_create(pairs->simulation),
        .crossings = crossings,
        .scratch = {.parts = memory_allocate(n_links, sizeof(double)),
                    .certain = memory_allocate(n_links, sizeof(bool))},
        .only = UINT64_MAX,
    };
}

static void end(struct pass *pass) {
    way_finder_free(pass->finder);
    free(pass->scratch.parts);
    free(pass->scratch.certain);
    free(pass->scratch.touched);
    free(pass->tops);
}

static void touch(struct scratch *scratch, uint32_t link, double share, bool certain) {
    if (scratch->parts[link] == 0) {
        if (scratch->n_touched == scratch->capacity) {
            scratch->capacity = scratch->capacity ? 2 * scratch->capacity : 64;
            scratch->touched = memory_resize(scratch->touched, scratch->capacity, sizeof *scratch->touched);
        }
        scratch->touched[scratch->n_touched++] = link;
    }
    scratch->parts[link] += share;
    scratch->certain[link] = scratch->certain[link] || certain;
}

static void clear(struct scratch *scratch) {
    for (uint32_t i = 0; i < scratch->n_touched; i++) {
        scratch->parts[scratch->touched[i]] = 0;
        scratch->certain[scratch->touched[i]] = false;
    }
    scratch->n_touched = scratch->n_pairs = 0;
}

static void add_user(struct crossing_link *link, const struct crossing_user *user) {
    if (link->n_users == link->capacity) {
        link->capacity = link->capacity ? 2 * link->capacity : 16;
        link->users = memory_resize(link->users, link->capacity, sizeof *link->users);
    }
    link->users[link->n_users++] = *user;
}

/* Puts a flow among the largest of a link; of equal ones the first stays first. */
static void add_top(struct top *top, uint64_t flow, double bytes) {
    if (bytes <= top->bytes[KEPT - 1]) {
        return;
    }
    int place = KEPT - 1;
    for (; place > 0 && bytes > top->bytes[place - 1]; place--) {
        top->bytes[place] = top->bytes[place - 1];
        top->flows[place] = top->flows[place - 1];
    }
    top->bytes[place] = bytes;
    top->flows[place] = flow;
}

/* All queue pairs of a flow have been seen. */
static void finish_flow(struct pass *pass) {
    struct scratch *scratch = &pass->scratch;
    for (uint32_t i = 0; i < scratch->n_touched; i++) {
        const uint32_t link = scratch->touched[i];
        const struct crossing_user user = {
            .flow = scratch->flow, .part = scratch->parts[link] / scratch->n_pairs, .certain = scratch->certain[link]};
        if (pass->crossings->place_of[link] != 0) {
            add_user(&pass->crossings->links[pass->crossings->place_of[link] - 1], &user);
        }
        if (pass->tops != NULL) {
            add_top(&pass->tops[link], user.flow,
                    user.part * (double)pass->pairs->measurement->flows[scratch->flow].bytes);
        }
    }
    clear(scratch);
}

/* A visitor: the links of a queue pair of a flow. */
static void see(void *context, uint64_t flow, uint32_t index, uint32_t number) {
    struct pass *pass = context;
    struct scratch *scratch = &pass->scratch;
    if (pass->only != UINT64_MAX && pass->only != flow) {
        return;
    }
    if (scratch->n_pairs > 0 && scratch->flow != flow) {
        finish_flow(pass);
    }
    const struct measurement_flow *row = &pass->pairs->measurement->flows[flow];
    const struct way_pair pair = {
        .source = row->source, .destination = row->destination, .index = index, .number = number};
    uint32_t n_links;
    double largest = 0;
    const struct way_link *links =
        way_find(pass->finder, &pair, pass->only == UINT64_MAX && pass->tops == NULL, &n_links);
    for (uint32_t i = 0; i < n_links; i++) {
        largest = links[i].share > largest ? links[i].share : largest;
    }
    for (uint32_t i = 0; i < n_links; i++) {
        touch(scratch, links[i].link, links[i].share, links[i].share >= equal * largest);
    }
    scratch->flow = flow;
    scratch->n_pairs++;
    pass->visits += n_links;
    if (pass->tops != NULL && pass->visits > most_visits) {
        free(pass->tops);
        pass->tops = NULL;
    }
}

static void ask(struct crossings *crossings, uint32_t link) {
    if (crossings->place_of[link] != 0) {
        return;
    }
    if (crossings->n_links == crossings->capacity) {
        crossings->capacity = crossings->capacity ? 2 * crossings->capacity : 64;
        crossings->links = memory_resize(crossings->links, crossings->capacity, sizeof *crossings->links);
    }
    crossings->links[crossings->n_links++] = (struct crossing_link){.link = link};
    crossings->place_of[link] = crossings->n_links;
}

uint32_t crossing_ask(struct crossings *crossings, const struct flow_pairs *pairs, uint64_t flow,
                      struct crossing_part **own) {
    struct pass pass = begin(pairs, crossings);
    struct scratch *scratch = &pass.scratch;
    pass.only = flow;
    flow_pairs_visit(pairs, pairs->measurement->flows[flow].source, see, &pass);
    const uint32_t count = scratch->n_touched;
    *own = memory_allocate(count, sizeof **own);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t link = scratch->touched[i];
        ask(crossings, link);
        (*own)[i] = (struct crossing_part){
            .link = link, .part = scratch->parts[link] / scratch->n_pairs, .certain = scratch->certain[link]};
    }
    end(&pass);
    return count;
}

/* What was found of all links becomes the table of the result. */
static void store(const struct top *tops, uint32_t n_links, struct measurement *measurement) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < (uint64_t)n_links * KEPT; i++) {
        count += tops[i / KEPT].bytes[i % KEPT] >= 1;
    }
    measurement->crossings = memory_allocate(count, sizeof *measurement->crossings);
    for (uint32_t link = 0; link < n_links; link++) {
        for (int i = 0; i < KEPT && tops[link].bytes[i] >= 1; i++) {
            measurement->crossings[measurement->n_crossings++] = (struct measurement_crossing){
                .link = link, .flow = tops[link].flows[i], .bytes = (uint64_t)(tops[link].bytes[i] + 0.5)};
        }
    }
}

void crossing_find(struct crossings *crossings, const struct flow_pairs *pairs, struct measurement *measurement) {
    struct pass pass = begin(pairs, crossings);
    const uint32_t n_links = pairs->simulation->fabric->n_links;
    pass.tops = n_links <= most_links ? memory_allocate(n_links, sizeof *pass.tops) : NULL;
    for (uint32_t rank = 0; rank < measurement->n_ranks; rank++) {
        flow_pairs_visit(pairs, rank, see, &pass);
        if (pass.scratch.n_pairs > 0) {
            finish_flow(&pass);
        }
    }
    if (pass.tops != NULL) {
        store(pass.tops, n_links, measurement);
    }
    end(&pass);
}

void crossing_fini(struct crossings *crossings) {
    for (uint32_t i = 0; i < crossings->n_links; i++) {
        free(crossings->links[i].users);
    }
    free(crossings->links);
    free(crossings->place_of);
    *crossings = (struct crossings){0};
}
