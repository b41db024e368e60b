// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/pipeline_sharing.h"

#include <math.h>
#include <stddef.h>

/* What one of two gets of a link. */
static double fair(double wanted, double others) {
    return fmin(wanted, fmax(0.5, 1 - others));
}

/* Times as long as with all that it takes by itself. */
static double slower(double alone, double wanted, double others) {
    return wanted > 0 ? alone / fair(wanted, others) : 1;
}

static double compute_factor(const struct pipeline_sharing *sharing, bool exchange, bool gradients) {
    const uint32_t taken = (exchange ? sharing->exchange_sms : 0) + (gradients ? sharing->gradient_sms : 0);
    return (double)sharing->sms / (sharing->sms - taken);
}

struct pipeline_factors pipeline_sharing_factors(const struct pipeline_sharing *sharing, bool computing,
                                                 const struct pipeline_load *exchange,
                                                 const struct pipeline_load *gradients) {
    struct pipeline_factors factors = {1, 1, 1};
    if (sharing->sms == 0) {
        return factors;
    }
    const double latency = computing ? fmax(1, sharing->latency) : 1;
    if (computing) {
        factors.compute = compute_factor(sharing, exchange != NULL, gradients != NULL);
    }
    const struct pipeline_load none = {0}, *one = exchange ? exchange : &none, *other = gradients ? gradients : &none;
    const struct pipeline_load wanted = {one->nvlink / latency, one->nic / latency};
    const struct pipeline_load gradients_want = {fmin(other->nvlink, 1 / latency), other->nic};
    factors.network = latency * fmax(slower(wanted.nvlink, wanted.nvlink, gradients_want.nvlink),
                                     slower(wanted.nic, wanted.nic, gradients_want.nic));
    factors.gradients = fmax(slower(other->nvlink, gradients_want.nvlink, wanted.nvlink),
                             slower(other->nic, gradients_want.nic, wanted.nic));
    return factors;
}

double pipeline_sharing_slowest(const struct pipeline_sharing *sharing) {
    return sharing->sms == 0 ? 1 : fmax(compute_factor(sharing, true, true), 2 * fmax(1, sharing->latency));
}
