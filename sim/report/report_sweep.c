// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_sweep.h"

#include "report/page.h"
#include "report/report_page.h"
#include "results/sweep_csv.h"
#include "results/sweep_print.h"

enum { MOST_CHARTS = 64 };

static void put_headlines(const struct sweep_table *table, struct json *json) {
    uint32_t metrics[MOST_CHARTS];
    const uint32_t n = sweep_print_headlines(table, true, metrics, MOST_CHARTS);
    json_name(json, "headlines");
    json_array(json);
    for (uint32_t i = 0; i < n; i++) {
        json_object(json);
        json_member_text(json, "name", table->metrics[metrics[i]].name);
        json_member_text(json, "title", table->metrics[metrics[i]].title);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_data(const void *context, struct json *json) {
    json_object(json);
    put_headlines(context, json);
    json_name(json, "sweep");
    sweep_csv_json(context, json);
    json_object_end(json);
}

bool report_sweep_write(const struct sweep_table *table, const char *path, struct error *error) {
    const struct report_page page = {.title = "moefabric sweep",
                                     .body = page_sweep_body,
                                     .script = page_sweep_script,
                                     .put_data = put_data,
                                     .context = table};
    return report_page_write(&page, path, error);
}
