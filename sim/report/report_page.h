// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A page from its template: style, library, data and script are put in their places, and the file appears when it is complete.
 */
#ifndef MOEFABRIC_REPORT_REPORT_PAGE_H
#define MOEFABRIC_REPORT_REPORT_PAGE_H

#include "base/error.h"
#include "results/json.h"

#include <stdbool.h>

/** What is put together. */
struct report_page {
    const char *template; /**< with the marks {style}, {library}, {data} and {script} */
    const char *script;
    void (*put_data)(const void *context, struct json *json); /**< writes one JSON value */
    const void *context;
};

/** Writes the page. On failure *error is set (exit code 4) and an older file is untouched. */
bool report_page_write(const struct report_page *page, const char *path, struct error *error);

#endif
