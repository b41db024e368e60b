// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a flow file of HPCC's ns-3, and as a connection matrix of htsim: refused with a message, or flows that can be sent. */
#include "fuzz.h"

#include "base/error.h"
#include "config/flow_file.h"

#include <stdlib.h>
#include <string.h>

static void check(bool good, const struct connection_matrix *matrix, const struct error_list *errors) {
    REQUIRE(good == (errors->count == 0), "a list with mistakes, or none without");
    for (uint32_t i = 0; good && i < matrix->n_connections; i++) {
        const struct connection *flow = &matrix->connections[i];
        REQUIRE(flow->source < matrix->n_nodes && flow->destination < matrix->n_nodes, "a node that does not exist");
        REQUIRE(flow->source != flow->destination && flow->bytes > 0, "a flow that cannot be sent");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    struct error_list *errors = calloc(1, sizeof *errors);
    if (text == NULL || errors == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    struct connection_matrix matrix = {0};
    check(flow_file_read_hpcc("input.txt", text, &matrix, errors), &matrix, errors);
    connection_matrix_fini(&matrix);
    memset(errors, 0, sizeof *errors);
    check(connection_matrix_read_text("input.cm", text, &matrix, errors), &matrix, errors);
    connection_matrix_fini(&matrix);
    free(errors);
    free(text);
    return 0;
}
