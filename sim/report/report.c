// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"
#include "report/report_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Writes JSON into a page: a `<` could end the element that holds it, so it is written as an escape, which only texts can contain. */
static void put_escaped(const char *text, FILE *stream) {
    for (size_t length; *text != '\0'; text += length) {
        length = strcspn(text, "<");
        fwrite(text, 1, length, stream);
        if (text[length] == '<') {
            fputs("\\u003c", stream);
            length++;
        }
    }
}

static void put_data(const struct report_result *results, uint32_t n, FILE *stream) {
    char *text = NULL;
    size_t size = 0;
    FILE *buffer = open_memstream(&text, &size);
    REQUIRE(buffer != NULL, "no memory for a report");
    struct json json = json_begin(buffer);
    json.compact = true;
    json_array(&json);
    for (uint32_t i = 0; i < n; i++) {
        report_data(results[i].name, results[i].load, &json);
    }
    json_array_end(&json);
    json_end(&json);
    fclose(buffer);
    put_escaped(text, stream);
    free(text);
}

/** Writes the template up to a mark and returns what is behind it. */
static const char *put_until(const char *text, const char *mark, FILE *stream) {
    const char *found = strstr(text, mark);
    REQUIRE(found != NULL, "the page has no %s", mark);
    fwrite(text, 1, (size_t)(found - text), stream);
    return found + strlen(mark);
}

static void put_page(const struct report_result *results, uint32_t n, FILE *stream) {
    const char *rest = put_until(page_template, "{style}", stream);
    fputs(page_style, stream);
    rest = put_until(rest, "{library}", stream);
    fputs(page_library, stream);
    rest = put_until(rest, "{data}", stream);
    put_data(results, n, stream);
    rest = put_until(rest, "{script}", stream);
    fputs(page_script, stream);
    fputs(rest, stream);
}

bool report_write(const struct report_result *results, uint32_t n, const char *path, struct error *error) {
    struct file_writer file = {0};
    if (!file_writer_open(&file, path, error)) {
        return false;
    }
    put_page(results, n, file.stream);
    return file_writer_commit(&file, error);
}
