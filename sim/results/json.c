// SPDX-License-Identifier: GPL-3.0-or-later
#include "results/json.h"

#include "base/error.h"
#include "base/text.h"
#include "results/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct json json_begin(FILE *stream) {
    return (struct json){.stream = stream};
}

static void new_line(const struct json *json) {
    if (json->compact) {
        return;
    }
    fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
}

/** Comma and new line where the next value or name needs them. */
static void separate(struct json *json) {
    if (json->after_name) {
        json->after_name = false;
        return;
    }
    if (json->filled[json->depth]) {
        fputc(',', json->stream);
    }
    json->filled[json->depth] = true;
    if (json->depth > 0) {
        new_line(json);
    }
}

static void open_value(struct json *json, char bracket) {
    REQUIRE(json->depth < JSON_DEPTH, "JSON nested deeper than %d", JSON_DEPTH);
    separate(json);
    fputc(bracket, json->stream);
    json->filled[++json->depth] = false;
}

static void close_value(struct json *json, char bracket) {
    REQUIRE(json->depth > 0 && !json->after_name, "JSON closed where nothing is open or a value is due");
    json->depth--;
    if (json->filled[json->depth + 1]) {
        new_line(json);
    }
    fputc(bracket, json->stream);
}

void json_object(struct json *json) {
    open_value(json, '{');
}

void json_object_end(struct json *json) {
    close_value(json, '}');
}

void json_array(struct json *json) {
    open_value(json, '[');
}

void json_array_end(struct json *json) {
    close_value(json, ']');
}

/** Length of the UTF-8 character at text, 0 if it is none (Unicode 15, table 3-7: well-formed byte sequences). */
static size_t character_length(const unsigned char *text) {
    const unsigned char first = text[0], second = first != 0 ? text[1] : 0;
    if (first < 0x80) {
        return 1;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/** Writes one character, escaped if JSON wants it so; returns how many bytes of the text it took. */
static size_t put_character(FILE *stream, const char *text) {
    const unsigned char first = (unsigned char)text[0];
    const size_t length = character_length((const unsigned char *)text);
    if (length == 0) {
        fputs("\xef\xbf\xbd", stream);
        return 1;
    }
    if (first == '"' || first == '\\') {
        fprintf(stream, "\\%c", first);
    } else if (first == '\n') {
        fputs("\\n", stream);
    } else if (text_control(text) > 0) {
        fprintf(stream, "\\u%04x", length == 1 ? first : (unsigned char)text[1]); /* C1 in UTF-8: its second byte */
    } else {
        fwrite(text, 1, length, stream);
    }
    return length;
}

static void put_quoted(FILE *stream, const char *text) {
    fputc('"', stream);
    while (*text != '\0') {
        text += put_character(stream, text);
    }
    fputc('"', stream);
}

void json_name(struct json *json, const char *name) {
    REQUIRE(!json->after_name, "JSON name %s where a value is due", name);
    separate(json);
    put_quoted(json->stream, name);
    fputs(": ", json->stream);
    json->after_name = true;
}

void json_text(struct json *json, const char *text) {
    separate(json);
    if (text == NULL) {
        fputs("null", json->stream);
    } else {
        put_quoted(json->stream, text);
    }
}

void json_whole(struct json *json, uint64_t value) {
    separate(json);
    fprintf(json->stream, "%" PRIu64, value);
}

void json_number(struct json *json, double value) {
    char text[NUMBER_TEXT_SIZE];
    separate(json);
    fputs(isfinite(value) ? number_print(text, value) : "null", json->stream);
}

void json_short(struct json *json, double value) {
    char text[32];
    if (isfinite(value)) {
        separate(json);
        snprintf(text, sizeof text, "%.5g", value);
        fputs(text, json->stream);
    } else {
        json_number(json, value);
    }
}

void json_boolean(struct json *json, bool value) {
    separate(json);
    fputs(value ? "true" : "false", json->stream);
}

void json_member_text(struct json *json, const char *name, const char *text) {
    json_name(json, name);
    json_text(json, text);
}

void json_member_whole(struct json *json, const char *name, uint64_t value) {
    json_name(json, name);
    json_whole(json, value);
}

void json_member_number(struct json *json, const char *name, double value) {
    json_name(json, name);
    json_number(json, value);
}

void json_member_short(struct json *json, const char *name, double value) {
    json_name(json, name);
    json_short(json, value);
}

void json_member_boolean(struct json *json, const char *name, bool value) {
    json_name(json, name);
    json_boolean(json, value);
}

void json_end(struct json *json) {
    REQUIRE(json->depth == 0 && !json->after_name, "JSON ends inside an object or array");
    fputc('\n', json->stream);
}
