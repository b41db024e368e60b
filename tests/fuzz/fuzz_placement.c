// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Placement files: any text is read, or refused with messages that have a number; what is read is sorted, without gaps, and fits or does not fit a
 * model without anything breaking.
 */
#include "config/placement_file.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_rows(const struct placement_file *file) {
    REQUIRE(file->n_rows > 0, "an empty file was taken");
    for (uint32_t i = 0; i < file->n_rows; i++) {
        const struct placement_file_row *row = &file->rows[i], *before = row - 1;
        const bool same = i > 0 && row->layer == before->layer && row->expert == before->expert;
        REQUIRE(row->replica == (same ? before->replica + 1 : 0), "a gap before line %u", row->line);
        REQUIRE(i == 0 || row->layer >= before->layer, "layers are not sorted");
        REQUIRE(row->rank <= PLACEMENT_FILE_LARGEST, "rank %u", row->rank);
    }
}

/* A text that begins with a letter of `layers` is YAML as well. */
static void read_as(const char *name, const char *text) {
    static const struct placement_file_fit fit = {.layer = 0, .experts = 4, .ranks = 2};
    struct error_list *errors = calloc(1, sizeof *errors);
    struct placement_file file = {0};
    if (errors == NULL) {
        abort();
    }
    if (placement_file_read_text(name, text, &file, errors)) {
        check_rows(&file);
        placement_file_check(&file, &fit, errors);
    } else {
        REQUIRE(errors->count > 0, "refused without a message");
    }
    for (unsigned i = 0; i < errors->count; i++) {
        REQUIRE(errors->errors[i].id > 0 && errors->errors[i].message[0] != '\0', "an error without number or message");
        REQUIRE(strchr(errors->errors[i].source, '\n') == NULL, "a source line that is two");
    }
    placement_file_fini(&file);
    free(errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(size + 1, 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    read_as("input.csv", text);
    if (text[0] == 'l' || text[0] == '{') {
        read_as("input.yaml", text);
    }
    free(text);
    return 0;
}
