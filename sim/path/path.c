// SPDX-License-Identifier: GPL-3.0-or-later
#include "path/path.h"

#include "base/error.h"
#include "base/hash.h"
#include "path/adaptive.h"
#include "path/d_mod_k.h"
#include "path/drill.h"
#include "path/ecmp.h"
#include "path/flowlet.h"
#include "path/host_reps.h"
#include "path/spray_random.h"
#include "path/spray_round_robin.h"
#include "path/two_choices.h"

#include <stdlib.h>

/* The table of policies: a new policy is one line here. */
static const struct path_policy *const policies[PATH_KINDS] = {
    [PATH_ECMP] = &ecmp_policy,
    [PATH_ADAPTIVE] = &adaptive_policy,
    [PATH_SPRAY_RANDOM] = &spray_random_policy,
    [PATH_SPRAY_ROUND_ROBIN] = &spray_round_robin_policy,
    [PATH_TWO_CHOICES] = &two_choices_policy,
    [PATH_DRILL] = &drill_policy,
    [PATH_FLOWLET] = &flowlet_policy,
    [PATH_HOST_REPS] = &host_reps_policy,
    [PATH_D_MOD_K] = &d_mod_k_policy,
};

const struct path_policy *path_policy_of(enum path_kind kind) {
    REQUIRE((unsigned)kind < PATH_KINDS, "path policy %d of %d", (int)kind, PATH_KINDS);
    return policies[kind];
}

struct path_state *path_state_create(const struct path_policy *policy, const struct path_parameters *parameters,
                                     uint64_t seed, const struct fabric *fabric, uint32_t device) {
    struct path_state *state = policy->create(parameters, seed, device, fabric->devices[device].n_ports);
    if (policy->place != NULL) {
        policy->place(state, fabric, device);
    }
    return state;
}

void path_state_free(struct path_state *state) {
    free(state); /* every policy keeps its state in one block */
}

uint64_t path_refresh_offset_ps(const struct path_parameters *parameters, uint64_t seed, uint32_t device) {
    const uint64_t period_ps = parameters->refresh_period_ps;
    return period_ps == 0 ? 0 : hash_draw(hash_stream(seed, HASH_PURPOSE_SAMPLE, device, 0), 0) % period_ps;
}
