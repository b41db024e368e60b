// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Connection matrices of htsim (`.cm` files): a list of flows with start times or triggers, as a plain struct.
 *
 * The form is that of htsim's reader (github.com/Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp): header lines
 * `Nodes n`, `Connections n`, `Triggers n`, `Failures n`; then `SRC->DST id I start PS size BYTES`, with `trigger T` in place
 * of `start` for a flow that waits and `recv_done_trigger T` at flows that set it free; and `trigger id T oneshot` or
 * `trigger id T barrier count N`. Lines that begin with # and empty lines are passed over.
 *
 * What this program cannot do in the same way is refused by name and line, never passed over: failures, priorities, flows that are
 * sent several times (`multishot`, `addon`), triggers at the sender's end of a flow (`send_done_trigger`), and triggers that reach
 * another host than the one where the flow ended: there hosts learn of each other in no time, here only by messages.
 */
#ifndef MOEFABRIC_CONFIG_CONNECTION_MATRIX_H
#define MOEFABRIC_CONFIG_CONNECTION_MATRIX_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/** One flow. */
struct connection {
    uint32_t source, destination; /**< ranks */
    uint64_t bytes;               /**< payload */
    uint64_t start_ps;            /**< 0 for a flow that waits for a trigger */
    uint32_t id;                  /**< as the file says; 0 = none given */
    uint32_t trigger;             /**< that it waits for; 0 = none */
    uint32_t sets_free;           /**< trigger that its delivery pulls; 0 = none */
    uint32_t line;                /**< of the file */
};

/** A trigger that flows wait for: all flows that pull it must be delivered. Sorted by id. */
struct connection_trigger {
    uint32_t id;
    uint32_t count; /**< barrier: flows that it waits for */
    uint32_t line;  /**< of the file */
    bool barrier;
    uint32_t pulls; /**< flows that pull it */
    uint32_t host;  /**< where all of them end */
};

/** A whole file. Zero-initialise; ends with connection_matrix_fini. */
struct connection_matrix {
    uint32_t n_nodes;
    struct connection *connections;
    uint32_t n_connections, connection_capacity;
    struct connection_trigger *triggers;
    uint32_t n_triggers, trigger_capacity;
};

/** Reads a file. False with all its mistakes appended to *errors; *matrix is then not to be used, but to be ended. */
bool connection_matrix_read(const char *path, struct connection_matrix *matrix, struct error_list *errors);

/** The same from memory; name stands for the path in messages. */
bool connection_matrix_read_text(const char *name, const char *text, struct connection_matrix *matrix,
                                 struct error_list *errors);

/** Appends a copy of a flow; n_nodes stays the caller's. */
void connection_matrix_add(struct connection_matrix *matrix, const struct connection *connection);

/** Frees what a matrix owns. */
void connection_matrix_fini(struct connection_matrix *matrix);

#endif
