// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Kinds of checks: what a row of a kind may say, and how it is run. One file a kind (or two that share their set-up), one line in
 * the table of validate_kind.c.
 */
#ifndef MOEFABRIC_COMMAND_VALIDATE_KIND_H
#define MOEFABRIC_COMMAND_VALIDATE_KIND_H

#include "base/error.h"
#include "command/validate_row.h"
#include "command/validate_setup.h"
#include "config/key.h"
#include "device/network.h"

#include <stddef.h>

/** Fields of keys of a kind: base struct validate_row. */
#define VALIDATE_KIND_FIELD(member)                                                                                    \
    .offset = offsetof(struct validate_row, parameters.member),                                                        \
    .size = sizeof(((struct validate_row *)0)->parameters.member)

/** A row being run. */
struct validate_kind_run {
    network_observer *observer; /**< to be given to simulations; may be NULL */
    void *observer_context;
    const char *
        data; /**< folder of files that do not come with the program; NULL = none, and no row with parameters.data is run */
    uint64_t hops;    /**< packet-hops simulated */
    double reference; /**< what to compare with: preset to the published value; kinds that compute their own set it */
    double simulated; /**< the result; NAN if a simulation did not finish */
};

/** A kind of check. */
struct validate_kind {
    const char *name;
    const char *doc;        /**< one sentence */
    const struct key *keys; /**< what its rows may say besides the keys of every row */
    size_t n_keys;
    const char *const *required; /**< names of keys that a row or its table must give; ended by NULL */
    bool computes_reference;     /**< a row may leave out `published` */
    /** Unit of a row's values, for people. */
    const char *(*unit)(const struct validate_row *row);
    /** Checks what the keys together say and reads the configuration, if it needs one, into row->experiment. False with mistakes reported. */
    bool (*prepare)(struct validate_row *row, const struct validate_setup *setup);
    /** Simulates. False with *error if a simulation could not start. */
    bool (*run)(const struct validate_row *row, struct validate_kind_run *run, struct error *error);
};

/** All kinds, ended by NULL. */
extern const struct validate_kind *const validate_kind_table[];

/** The kind of a name, or NULL. */
const struct validate_kind *validate_kind_find(const char *name);

#endif
