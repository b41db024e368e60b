// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report.h"

#include "report/page.h"
#include "report/report_data.h"
#include "report/report_page.h"

/** Results one after the other. */
struct results {
    const struct report_result *results;
    uint32_t count;
};

static void put_data(const void *context, struct json *json) {
    const struct results *all = context;
    json_array(json);
    for (uint32_t i = 0; i < all->count; i++) {
        report_data(all->results[i].name, all->results[i].load, json);
    }
    json_array_end(json);
}

bool report_write(const struct report_result *results, uint32_t n, const char *path, struct error *error) {
    const struct results all = {.results = results, .count = n};
    const struct report_page page = {.title = "moefabric report",
                                     .body = page_result_body,
                                     .script = page_result_script,
                                     .put_data = put_data,
                                     .context = &all};
    return report_page_write(&page, path, error);
}
