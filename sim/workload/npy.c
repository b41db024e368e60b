// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/npy.h"

#include "base/error_id.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, SHORT_PREAMBLE = 10, LONG_PREAMBLE = 12 };

/* The header's text, being read. */
struct header {
    const char *name;
    const char *begin; /* of the file */
    const char *at, *end;
    struct error *error;
};

static bool refuse(const struct header *header, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A mistake at the byte that is to be read next. False. */
static bool refuse(const struct header *header, const char *format, ...) {
    char message[ERROR_MESSAGE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(header->error, EXIT_CODE_CONFIGURATION, ERROR_ID_EXPERT_LOAD, "%s (at byte %zu)", message,
              (size_t)(header->at - header->begin));
    if (header->error) {
        snprintf(header->error->file, sizeof header->error->file, "%s", header->name);
    }
    return false;
}

static void skip_blanks(struct header *header) {
    while (header->at < header->end && isspace((unsigned char)*header->at)) {
        header->at++;
    }
}

/* Takes a character after blanks, if it is the next one. */
static bool take(struct header *header, char wanted) {
    skip_blanks(header);
    if (header->at < header->end && *header->at == wanted) {
        header->at++;
        return true;
    }
    return false;
}

/* A text in either kind of quotes, without escapes. */
static bool take_text(struct header *header, char *text, size_t size) {
    skip_blanks(header);
    const char quote = header->at < header->end ? *header->at : '\0';
    if (quote != '\'' && quote != '"') {
        return refuse(header, "the header of the array needs a quoted text here");
    }
    const char *from = header->at + 1;
    const char *to = memchr(from, quote, (size_t)(header->end - from));
    if (to == NULL || (size_t)(to - from) >= size) {
        return refuse(header, "this text of the header does not end, or is too long");
    }
    memcpy(text, from, (size_t)(to - from));
    text[to - from] = '\0';
    header->at = to + 1;
    return true;
}

/* '<f8': byte order, kind, bytes. */
static bool read_type(struct header *header, struct npy *array) {
    char type[16];
    skip_blanks(header);
    const char *at = header->at;
    if (at < header->end && *at == '[') {
        return refuse(header, "an array of structures is no array of numbers");
    }
    if (!take_text(header, type, sizeof type)) {
        return false;
    }
    const char *sizes = type[0] == '\0' || type[1] == '\0' ? NULL
                        : type[1] == 'f'                   ? "48"
                        : type[1] == 'b'                   ? "1"
                        : type[1] == 'i' || type[1] == 'u' ? "1248"
                                                           : NULL;
    if (sizes == NULL || strchr("<>|=", type[0]) == NULL || strlen(type) != 3 || strchr(sizes, type[2]) == NULL) {
        header->at = at;
        return refuse(
            header, "numbers of the type `%s` are not read: whole numbers of 1 to 8 bytes, real ones of 4 or 8", type);
    }
    array->kind = type[1];
    array->item_bytes = (uint32_t)(type[2] - '0');
    array->big_endian = type[0] == '>' || (type[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return true;
}

static bool read_order(struct header *header) {
    skip_blanks(header);
    const size_t left = (size_t)(header->end - header->at);
    if (left >= 5 && memcmp(header->at, "False", 5) == 0) {
        header->at += 5;
        return true;
    }
    if (left >= 4 && memcmp(header->at, "True", 4) == 0) {
        refuse(header, "the array is in Fortran order");
        error_hint(header->error, "save it in C order: numpy.save(name, numpy.ascontiguousarray(array))");
        return false;
    }
    return refuse(header, "fortran_order is True or False");
}

static bool read_length(struct header *header, struct npy *array) {
    uint64_t length = 0;
    skip_blanks(header);
    const char *from = header->at;
    while (header->at < header->end && isdigit((unsigned char)*header->at)) {
        const unsigned digit = (unsigned)(*header->at - '0');
        if (length > (UINT64_MAX - digit) / 10) {
            return refuse(header, "a length of the shape is too large");
        }
        length = 10 * length + digit;
        header->at++;
    }
    if (header->at == from) {
        return refuse(header, "the shape has whole numbers in parentheses");
    }
    if (array->n_dimensions == NPY_LARGEST_DIMENSIONS) {
        return refuse(header, "the array has more than %d dimensions", NPY_LARGEST_DIMENSIONS);
    }
    if (length > 0 && array->count > (UINT64_MAX / 16) / length) {
        return refuse(header, "the array is too large");
    }
    array->shape[array->n_dimensions++] = length;
    array->count *= length;
    return true;
}

static bool read_shape(struct header *header, struct npy *array) {
    array->count = 1;
    array->n_dimensions = 0;
    if (!take(header, '(')) {
        return refuse(header, "the shape begins with a parenthesis");
    }
    while (!take(header, ')')) {
        if (!read_length(header, array)) {
            return false;
        }
        skip_blanks(header);
        if (!take(header, ',') && (header->at == header->end || *header->at != ')')) {
            return refuse(header, "a comma or a parenthesis is missing in the shape");
        }
    }
    return true;
}

/* One `key: value`. */
static bool read_entry(struct header *header, struct npy *array, bool *seen) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[32];
    skip_blanks(header);
    const char *at = header->at;
    if (!take_text(header, key, sizeof key)) {
        return false;
    }
    int which = 0;
    while (which < 3 && strcmp(keys[which], key) != 0) {
        which++;
    }
    if (which == 3 || seen[which]) {
        header->at = at;
        return refuse(header, "the header has %s key `%s`", which == 3 ? "an unknown" : "twice the", key);
    }
    seen[which] = true;
    if (!take(header, ':')) {
        return refuse(header, "a colon is missing in the header");
    }
    return which == 0 ? read_type(header, array) : which == 1 ? read_order(header) : read_shape(header, array);
}

static bool read_dictionary(struct header *header, struct npy *array) {
    bool seen[3] = {false};
    if (!take(header, '{')) {
        return refuse(header, "the header is no dictionary");
    }
    while (!take(header, '}')) {
        if (!read_entry(header, array, seen)) {
            return false;
        }
        skip_blanks(header);
        if (!take(header, ',') && (header->at == header->end || *header->at != '}')) {
            return refuse(header, "a comma or a brace is missing in the header");
        }
    }
    skip_blanks(header);
    if (header->at != header->end) {
        return refuse(header, "something follows the header's dictionary");
    }
    return (seen[0] && seen[1] && seen[2]) || refuse(header, "the header lacks descr, fortran_order or shape");
}

/* Finds the text of the header behind magic, version and length. */
static bool open_header(struct header *header, size_t size) {
    const unsigned char *bytes = (const unsigned char *)header->begin;
    if (size < MAGIC_BYTES + 2 || memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        return refuse(header, "this is no NumPy array: the file does not begin with \\x93NUMPY");
    }
    header->at = header->begin + MAGIC_BYTES;
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return refuse(header, "version %u.%u of the format is not known: 1.0, 2.0 and 3.0 are", bytes[6], bytes[7]);
    }
    const size_t preamble = bytes[6] == 1 ? SHORT_PREAMBLE : LONG_PREAMBLE;
    header->at = header->begin + 8;
    if (size < preamble) {
        return refuse(header, "the file ends before the length of its header");
    }
    const size_t length =
        bytes[6] == 1 ? (size_t)bytes[8] | (size_t)bytes[9] << 8
                      : (size_t)bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - preamble) {
        return refuse(header, "the header has %zu bytes, but the file ends after %zu of them", length, size - preamble);
    }
    header->at = header->begin + preamble;
    header->end = header->at + length;
    return true;
}

bool npy_parse(const char *name, const void *bytes, size_t size, struct npy *array, struct error *error) {
    struct header header = {.name = name, .begin = bytes, .at = bytes, .error = error};
    *array = (struct npy){0};
    if (!open_header(&header, size) || !read_dictionary(&header, array)) {
        return false;
    }
    const uint64_t wanted = array->count * array->item_bytes, there = size - (size_t)(header.end - header.begin);
    if (wanted != there) {
        return refuse(&header, "the shape asks for %llu bytes of numbers, the file has %llu: it is %s",
                      (unsigned long long)wanted, (unsigned long long)there, there < wanted ? "cut off" : "too long");
    }
    array->data = (const unsigned char *)header.end;
    return true;
}

double npy_value(const struct npy *array, uint64_t index) {
    const unsigned char *from = array->data + index * array->item_bytes;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < array->item_bytes; i++) {
        bits = bits << 8 | from[array->big_endian ? i : array->item_bytes - 1 - i];
    }
    if (array->kind == 'f') {
        double value;
        float narrow;
        const uint32_t low = (uint32_t)bits;
        memcpy(&value, &bits, sizeof value);
        memcpy(&narrow, &low, sizeof narrow);
        return array->item_bytes == 8 ? value : (double)narrow;
    }
    if (array->kind == 'i') { // the sign bit stands for minus its place value
        const uint64_t sign = UINT64_C(1) << (8 * array->item_bytes - 1);
        return (double)(int64_t)((bits ^ sign) - sign);
    }
    return (double)bits;
}
