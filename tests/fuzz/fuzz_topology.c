// SPDX-License-Identifier: GPL-3.0-or-later
/* Topology files: any text becomes a topology, or is refused with messages that have a number; what is taken has figures that fit each other. */
#include "base/error.h"
#include "config/topology_check.h"
#include "config/topology_file.h"
#include "config/tree.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error_list *errors = calloc(1, sizeof *errors);
    struct topology *topology = calloc(1, sizeof *topology);
    if (errors == NULL || topology == NULL) {
        abort();
    }
    struct tree *tree = tree_create();
    const struct tree_node *root = tree_parse(tree, "input.yaml", (const char *)data, size, 0, errors);
    if (root != NULL && root->kind == TREE_MAPPING) {
        topology_read_node(root, topology, errors);
        const struct contradiction_scope scope = {.topology = root, .errors = errors};
        topology_check(topology, &scope);
    }
    REQUIRE(root != NULL || errors->count > 0, "refused without a message");
    if (root != NULL && root->kind == TREE_MAPPING && errors->count == 0) {
        REQUIRE(topology_check_gpus(topology) > 0, "a cluster without GPUs");
    }
    for (unsigned i = 0; i < errors->count; i++) {
        REQUIRE(errors->errors[i].id > 0 && errors->errors[i].message[0] != '\0', "an error without number or message");
        REQUIRE(strpbrk(errors->errors[i].source, "\n\r") == NULL, "a source line that is two");
    }
    tree_free(tree);
    free(topology);
    free(errors);
    return 0;
}
