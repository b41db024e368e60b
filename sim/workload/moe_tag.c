// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/moe_tag.h"

const char *moe_tag_kind_name(enum moe_tag_kind kind) {
    static const char *const names[MOE_TAG_KINDS] = {
        "counts", "grant", "dispatch", "dispatch_forward", "combine_gather", "combine", "acknowledge",
    };
    return kind < MOE_TAG_KINDS ? names[kind] : "unknown";
}
