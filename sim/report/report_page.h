// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A page from its parts: they are put in their places in the frame that all pages share, and the file appears when it is complete.
 */
#ifndef MOEFABRIC_REPORT_REPORT_PAGE_H
#define MOEFABRIC_REPORT_REPORT_PAGE_H

#include "base/error.h"
#include "results/json.h"

#include <stdbool.h>

/** What is put together. */
struct report_page {
    const char *title;                                        /**< until the script knows a better one */
    const char *body;                                         /**< header and main of the page, HTML */
    const char *script;                                       /**< draws it; finds what page.js gives */
    void (*put_data)(const void *context, struct json *json); /**< writes one JSON value */
    const void *context;
};

/** Writes the page. On failure *error is set (exit code 4) and an older file is untouched. */
bool report_page_write(const struct report_page *page, const char *path, struct error *error);

#endif
