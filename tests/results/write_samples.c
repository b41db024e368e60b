// SPDX-License-Identifier: GPL-3.0-or-later
/* Writes a result file, its provenance, a comparison as JSON and as text into the folder given: for tools.sh and for renewing comparison.txt. */
#include "golden.h"
#include "results/comparison_table.h"
#include "results/provenance.h"
#include "results/store.h"
#include "sample.h"

#include <stdlib.h>

static bool write_result(const char *path) {
    const struct store_header header = {
        .title = "sample", .program_version = "0", .configuration = "cluster: {racks: 2}\n"};
    struct store *store = store_open(path, &header, NULL);
    if (store == NULL) {
        return false;
    }
    struct measurement *measurement = sample_measurement("a/b \"c\"", 1, 1, false);
    const bool added = store_add_run(store, measurement, NULL);
    measurement_free(measurement);
    return store_commit(store, NULL) && added;
}

static bool write_comparison(const char *folder) {
    char *text_path = sample_path(folder, "comparison.txt"), *json_path = sample_path(folder, "comparison.json");
    FILE *text = fopen(text_path, "w"), *values = fopen(json_path, "w");
    free(text_path);
    free(json_path);
    if (text == NULL || values == NULL) {
        return false;
    }
    struct comparison *comparison = golden_comparison();
    struct json json = json_begin(values);
    comparison_json(comparison, &json);
    json_end(&json);
    comparison_table_print(comparison, false, text);
    comparison_free(comparison);
    const bool text_done = fclose(text) == 0;
    return fclose(values) == 0 && text_done;
}

int main(int n_arguments, char **arguments) {
    if (n_arguments != 2) {
        fputs("usage: write_samples FOLDER\n", stderr);
        return EXIT_CODE_USAGE;
    }
    char *path = sample_path(arguments[1], "result.h5");
    struct provenance provenance = provenance_start("0", n_arguments, arguments);
    provenance_stop(&provenance);
    const bool done = write_result(path) && provenance_write(&provenance, path, NULL) && write_comparison(arguments[1]);
    provenance_free(&provenance);
    free(path);
    return done ? EXIT_CODE_OK : EXIT_CODE_INPUT_OUTPUT;
}
