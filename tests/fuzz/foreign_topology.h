// SPDX-License-Identifier: GPL-3.0-or-later
/* What holds of every reader of other simulators' topologies: any text is refused, or becomes a topology without a mistake of our making. */
#ifndef MOEFABRIC_TESTS_FUZZ_FOREIGN_TOPOLOGY_H
#define MOEFABRIC_TESTS_FUZZ_FOREIGN_TOPOLOGY_H

#include "fuzz.h"

#include "base/error.h"
#include "config/topology_file.h"

#include <stdlib.h>
#include <string.h>

/** Gives a reader, such as htsim_topology_read_text, the bytes as a text. */
static inline void foreign_topology_check(struct tree_node *(*read)(struct tree *, const char *, const char *,
                                                                    struct error_list *),
                                          const char *name, const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    struct error_list *errors = calloc(1, sizeof *errors);
    struct topology *topology = calloc(1, sizeof *topology);
    if (text == NULL || errors == NULL || topology == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    struct tree *tree = tree_create();
    const struct tree_node *root = read(tree, name, text, errors);
    REQUIRE((root == NULL) == (errors->count > 0), "a topology with mistakes, or none without");
    if (root != NULL) {
        topology_read_node(root, topology, errors);
        for (unsigned i = 0; i < errors->count; i++) {
            REQUIRE(errors->errors[i].id == ERROR_ID_VALUE_RANGE, "a value of our making is wrong: %s",
                    errors->errors[i].message);
        }
    }
    tree_free(tree);
    free(topology);
    free(errors);
    free(text);
}

#endif
