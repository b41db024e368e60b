// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_page.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"

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

static void put_data(const struct report_page *page, FILE *stream) {
    char *text = NULL;
    size_t size = 0;
    FILE *buffer = open_memstream(&text, &size);
    if (buffer == NULL) {
        memory_exhausted("the data of a page");
    }
    struct json json = json_begin(buffer);
    json.compact = true;
    page->put_data(page->context, &json);
    json_end(&json);
    if (fclose(buffer) != 0) { /* what was written of it may be cut */
        memory_exhausted("the data of a page");
    }
    put_escaped(text, stream);
    free(text);
}

/** Writes the frame from *rest up to a mark, the part in place of the mark, and moves *rest behind it. */
static void put_part(const char **rest, const char *mark, const char *part, FILE *stream) {
    const char *found = strstr(*rest, mark);
    REQUIRE(found != NULL, "the page has no %s", mark);
    fwrite(*rest, 1, (size_t)(found - *rest), stream);
    fputs(part, stream);
    *rest = found + strlen(mark);
}

bool report_page_write(const struct report_page *page, const char *path, struct error *error) {
    struct file_writer file = {0};
    if (!file_writer_open(&file, path, error)) {
        return false;
    }
    const char *rest = page_frame;
    put_part(&rest, "{title}", page->title, file.stream);
    put_part(&rest, "{style}", page_style, file.stream);
    put_part(&rest, "{body}", page->body, file.stream);
    put_part(&rest, "{library}", page_library, file.stream);
    put_part(&rest, "{data}", "", file.stream);
    put_data(page, file.stream);
    put_part(&rest, "{common}", page_common, file.stream);
    put_part(&rest, "{script}", page->script, file.stream);
    fputs(rest, file.stream);
    return file_writer_commit(&file, error);
}
