// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Writes JSON to a stream, value by value, indented by two spaces. Independent of the locale.
 */
#ifndef MOEFABRIC_RESULTS_JSON_H
#define MOEFABRIC_RESULTS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };

/** A document being written. Errors of the stream are the caller's to check (ferror) at the end. */
struct json {
    FILE *stream;
    unsigned depth;              /**< open objects and arrays; at most JSON_DEPTH */
    bool filled[JSON_DEPTH + 1]; /**< the open object or array has a member already */
    bool after_name;             /**< a member's name stands, its value is due */
    bool compact; /**< no new lines and no blanks: set it after json_begin for documents that only programs read */
};

/** An empty document on a stream, which stays the caller's. */
struct json json_begin(FILE *stream);

/** Opens and closes an object or array as the next value. */
void json_object(struct json *json);
void json_object_end(struct json *json);
void json_array(struct json *json);
void json_array_end(struct json *json);

/** The name of the next member of an object. */
void json_name(struct json *json, const char *name);

/** A text; control characters are escaped, bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void json_text(struct json *json, const char *text);

/** A whole number, exact. Readers that keep numbers as doubles lose digits from 2^53 on: digests are better written as texts. */
void json_whole(struct json *json, uint64_t value);

/** A number, with as many digits as bring the same double back; null if it is not finite. */
void json_number(struct json *json, double value);

/** A number rounded to five significant digits, for what is only looked at; null if it is not finite. */
void json_short(struct json *json, double value);

void json_boolean(struct json *json, bool value);

/** A member of an object: its name and its value at once. */
void json_member_text(struct json *json, const char *name, const char *text);
void json_member_whole(struct json *json, const char *name, uint64_t value);
void json_member_number(struct json *json, const char *name, double value);
void json_member_short(struct json *json, const char *name, double value);
void json_member_boolean(struct json *json, const char *name, bool value);

/** Ends the document with a newline. An object or array left open is a bug and aborts. */
void json_end(struct json *json);

#endif
