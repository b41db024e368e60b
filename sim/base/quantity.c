// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/quantity.h"

#include "base/error_id.h"
#include "base/rate.h" /* rate_wide: one product is wider than 64 bits */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** A unit: its size in base units of its kind. */
struct unit {
    const char *name;
    uint64_t size;
};

/** A kind of quantity. The first n_printed units ascend by 1000 and are those for printing. */
struct kind {
    const char *name;  /**< with article */
    const char *units; /**< as messages list them */
    const char *example;
    const struct unit *table;
    size_t n_units, n_printed;
    const char *pattern;
};

/* Real values stay where their printed exponent is one that is read (QUANTITY_EXPONENT). */
#define QUANTITY_REAL_LEAST 1e-40
#define QUANTITY_REAL_BOUND 1e40

enum { QUANTITY_DIGITS = 20, QUANTITY_EXPONENT = 40, QUANTITY_INPUT_SIZE = 64 };

static const struct unit rate_units[] = {
    {"b/s", 1}, {"Kb/s", 1000}, {"Mb/s", 1000000}, {"Gb/s", 1000000000}, {"Tb/s", 1000000000000},
    {"B/s", 8}, {"KB/s", 8000}, {"MB/s", 8000000}, {"GB/s", 8000000000}, {"TB/s", 8000000000000},
};
static const struct unit byte_units[] = {
    {"B", 1},      {"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000}, {"TB", 1000000000000},
    {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
};
static const struct unit time_units[] = {
    {"ps", 1},
    {"ns", 1000},
    {"us", 1000000},
    {"ms", 1000000000},
    {"s", 1000000000000},
    {"\xc2\xb5s", 1000000}, /* micro sign */
    {"\xce\xbcs", 1000000}, /* Greek mu */
};
static const struct unit duration_units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
static const struct unit length_units[] = {{"m", 1}, {"km", 1000}};
static const struct unit power_units[] = {{"W", 1}, {"kW", 1000}, {"MW", 1000000}};

#define NUMBER_PATTERN "^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?"

#define UNITS(table, printed) table, sizeof table / sizeof table[0], printed

static const struct kind kinds[QUANTITY_KINDS] = {
    [QUANTITY_RATE] = {"a rate", "b/s, Kb/s, Mb/s, Gb/s, Tb/s (bits) or B/s, KB/s, MB/s, GB/s, TB/s (bytes)",
                       "400 Gb/s", UNITS(rate_units, 5), NUMBER_PATTERN " *[KMGT]?[bB]/s$|^0$"},
    [QUANTITY_BYTE_RATE] = {"a rate", "B/s, KB/s, MB/s, GB/s, TB/s (bytes) or b/s, Kb/s, Mb/s, Gb/s, Tb/s (bits)",
                            "50 GB/s", UNITS(rate_units, 5), NUMBER_PATTERN " *[KMGT]?[bB]/s$|^0$"},
    [QUANTITY_BYTES] = {"a size in bytes", "B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB (powers of 1024)",
                        "4 KiB", UNITS(byte_units, 5), NUMBER_PATTERN " *([KMGT]?B|[KMG]iB)$|^0$"},
    [QUANTITY_TIME] = {"a time", "ps, ns, us, ms, s", "1.5 us", UNITS(time_units, 5),
                       NUMBER_PATTERN " *([pnum\xc2\xb5]|\xce\xbc)?s$|^0$"},
    [QUANTITY_LENGTH] = {"a length", "m, km", "5 m", UNITS(length_units, 1), NUMBER_PATTERN " *k?m$|^0$"},
    [QUANTITY_POWER] = {"a power", "W, kW, MW", "1700 W", UNITS(power_units, 1), NUMBER_PATTERN " *[kM]?W$|^0$"},
    [QUANTITY_COUNT] = {"a whole number", "", "8", NULL, 0, 0, NUMBER_PATTERN "$"},
    [QUANTITY_SHARE] = {"a share", "none (0.8) or %", "80 %", NULL, 0, 0, NUMBER_PATTERN "( *%)?$"},
    [QUANTITY_REAL] = {"a number", "", "1.5", NULL, 0, 0, NUMBER_PATTERN "$"},
    [QUANTITY_DURATION] = {"a duration", "s, min, h, d", "30 min", UNITS(duration_units, 4),
                           NUMBER_PATTERN " *(s|min|h|d)$|^0$"},
};

/** A decimal number: ± mantissa × 10^exponent, without trailing zeros in the mantissa. */
struct number {
    uint64_t mantissa;
    int exponent;
    bool negative;
};

const char *quantity_kind_name(enum quantity_kind kind) {
    return kinds[kind].name;
}

const char *quantity_units(enum quantity_kind kind) {
    return kinds[kind].units;
}

const char *quantity_pattern(enum quantity_kind kind) {
    return kinds[kind].pattern;
}

static bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

static void hint_of_kind(struct error *error, enum quantity_kind kind) {
    const struct kind *is = &kinds[kind];
    if (is->units[0] == '\0') {
        error_hint(error, "%s is needed, for example %s", is->name, is->example);
    } else {
        error_hint(error, "%s is needed, for example \"%s\"; units: %s", is->name, is->example, is->units);
    }
}

static bool fail(struct error *error, enum error_id id, enum quantity_kind kind, const char *text, const char *what) {
    error_set(error, EXIT_CODE_CONFIGURATION, (int)id, "\"%.40s\" %s", text, what);
    hint_of_kind(error, kind);
    return false;
}

/** Appends a digit; zeros wait until a digit after them needs them, so that 1.50000 has two digits. False if there are too many. */
static bool push_digit(struct number *number, unsigned *digits, unsigned *zeros, char letter) {
    if (letter == '0') {
        *zeros += number->mantissa > 0;
        return true;
    }
    *digits += *zeros + 1;
    if (*digits > QUANTITY_DIGITS) {
        return false;
    }
    bool fits = true; /* 20 digits hold all of uint64_t and a little more */
    for (*zeros += 1; *zeros > 0; (*zeros)--) {
        fits = fits && !__builtin_mul_overflow(number->mantissa, (uint64_t)10, &number->mantissa);
    }
    return fits && !__builtin_add_overflow(number->mantissa, (uint64_t)(letter - '0'), &number->mantissa);
}

/** Reads e±digits at *place, if it is there ("1 e" is not an exponent). False if it is out of all reason. */
static bool scan_exponent(const char **place, int *exponent) {
    const char *next = *place;
    if (*next != 'e' && *next != 'E') {
        return true;
    }
    next++;
    const bool negative = *next == '-';
    next += *next == '-' || *next == '+';
    if (!is_digit(*next)) {
        return true;
    }
    int value = 0;
    for (; is_digit(*next); next++) {
        value = value > QUANTITY_EXPONENT ? value : value * 10 + (*next - '0');
    }
    *exponent += negative ? -value : value;
    *place = next;
    return value <= QUANTITY_EXPONENT;
}

/** Reads the digits of a number at *place. False if there are too many to be kept exactly. */
static bool scan_digits(const char **place, struct number *number) {
    unsigned digits = 0, zeros = 0;
    bool fits = true;
    const char *next = *place;
    for (; is_digit(*next); next++) {
        fits = fits && push_digit(number, &digits, &zeros, *next);
    }
    const unsigned zeros_before_point = zeros;
    if (next[0] == '.' && is_digit(next[1])) {
        const char *first = ++next;
        for (; is_digit(*next); next++) {
            fits = fits && push_digit(number, &digits, &zeros, *next);
        }
        number->exponent -= (int)((next - first > 1000) ? 1000 : next - first);
    } else {
        zeros = zeros_before_point;
    }
    number->exponent += (int)(zeros > 1000 ? 1000 : zeros);
    *place = next;
    return scan_exponent(place, &number->exponent) && fits;
}

/** Splits text into a number and what follows it. */
static bool scan_number(const char *text, enum quantity_kind kind, struct number *number, const char **rest,
                        struct error *error) {
    const char *next = text + strspn(text, " ");
    *number = (struct number){.negative = *next == '-'};
    next += *next == '-' || *next == '+';
    if (!is_digit(*next)) {
        return fail(error, ERROR_ID_NUMBER, kind, text, text[0] == '\0' ? "is empty" : "is not a number");
    }
    if (!scan_digits(&next, number)) {
        return fail(error, ERROR_ID_NUMBER_OVERFLOW, kind, text, "has too many digits");
    }
    if ((*next == ',' || *next == '_') && is_digit(next[1])) {
        fail(error, ERROR_ID_NUMBER, kind, text, "is not a number");
        error_hint(error, "a decimal point is written \".\"; digits are not grouped");
        return false;
    }
    if (*next == '.') {
        return fail(error, ERROR_ID_NUMBER, kind, text, "is not a number");
    }
    *rest = next + strspn(next, " ");
    return true;
}

static const struct unit *find_unit(enum quantity_kind kind, const char *name) {
    for (size_t i = 0; i < kinds[kind].n_units; i++) {
        if (strcmp(kinds[kind].table[i].name, name) == 0) {
            return &kinds[kind].table[i];
        }
    }
    return NULL;
}

/** Replaces the ending of name if it is `from`; the result is in buffer. */
static bool replace_ending(char *buffer, size_t size, const char *name, const char *from, const char *to) {
    const size_t length = strlen(name), ending = strlen(from);
    if (length < ending || strcmp(name + length - ending, from) != 0) {
        return false;
    }
    snprintf(buffer, size, "%.*s%s", (int)(length - ending), name, to);
    return true;
}

/** The right spelling of a unit as people misspell it (Gbps, kB, Gbit/s, usec), or NULL. */
static const struct unit *respell(enum quantity_kind kind, const char *name) {
    static const char *const endings[][2] = {
        {"bps", "b/s"},  {"Bps", "B/s"}, {"bit/s", "b/s"}, {"bits/s", "b/s"}, {"bytes", "B"},  {"byte", "B"},
        {"Byte", "B"},   {"sec", "s"},   {"secs", "s"},    {"seconds", "s"},  {"second", "s"}, {"meters", "m"},
        {"metres", "m"}, {"watts", "W"}, {"w", "W"},       {"iB/s", "B/s"},   {"", ""},
    };
    char spelled[QUANTITY_INPUT_SIZE];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (!replace_ending(spelled, sizeof spelled, name, endings[i][0], endings[i][1])) {
            continue;
        }
        const struct unit *unit = find_unit(kind, spelled);
        if (unit == NULL && spelled[0] >= 'a' && spelled[0] <= 'z') {
            spelled[0] = (char)(spelled[0] - 'a' + 'A');
            unit = find_unit(kind, spelled);
        }
        if (unit == NULL && spelled[0] >= 'A' && spelled[0] <= 'Z') {
            spelled[0] = (char)(spelled[0] - 'A' + 'a');
            unit = find_unit(kind, spelled);
        }
        if (unit != NULL) {
            return unit;
        }
    }
    return NULL;
}

/** Says what is wrong with a unit: misspelled, of another kind, bits for bytes, or unknown. */
static bool fail_unit(struct error *error, enum quantity_kind kind, const char *text, const char *name) {
    const struct unit *right = respell(kind, name);
    if (right != NULL) {
        error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_UNIT_UNKNOWN, "\"%.40s\": unknown unit \"%.20s\"", text,
                  name);
        error_hint(error, "did you mean \"%s\"? Units are case-sensitive: %s", right->name, kinds[kind].units);
        return false;
    }
    for (int other = 0; other < QUANTITY_KINDS; other++) {
        if (find_unit((enum quantity_kind)other, name) != NULL) {
            error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_UNIT_KIND, "\"%.40s\" is %s", text, kinds[other].name);
            hint_of_kind(error, kind);
            return false;
        }
    }
    const bool bits = kind == QUANTITY_BYTES && strchr(name, 'b') != NULL;
    error_set(error, EXIT_CODE_CONFIGURATION, ERROR_ID_UNIT_UNKNOWN, "\"%.40s\": unknown unit \"%.20s\"%s", text, name,
              bits ? " (b is bits, B is bytes)" : "");
    hint_of_kind(error, kind);
    return false;
}

/** Finds the size of the unit that rest names. Zero needs none. */
static bool read_unit(const char *text, const char *rest, enum quantity_kind kind, bool is_zero, uint64_t *size,
                      struct error *error) {
    char name[QUANTITY_INPUT_SIZE];
    snprintf(name, sizeof name, "%s", rest);
    name[strcspn(name, " ")] = '\0';
    *size = kind == QUANTITY_BYTE_RATE ? 8 : 1;
    if (rest[strlen(name) + strspn(rest + strlen(name), " ")] != '\0') {
        return fail(error, ERROR_ID_NUMBER, kind, text, "has text after its unit");
    }
    if (name[0] == '\0') {
        if (kinds[kind].n_units == 0 || is_zero) {
            return true;
        }
        return fail(error, ERROR_ID_UNIT_MISSING, kind, text, "has no unit");
    }
    const struct unit *unit = find_unit(kind, name);
    if (unit == NULL) {
        return fail_unit(error, kind, text, name);
    }
    *size = unit->size;
    return true;
}

/** mantissa × size × 10^exponent ÷ divisor as a whole number. */
static bool scale(const struct number *number, uint64_t size, unsigned divisor, uint64_t *value, enum error_id *id) {
    rate_wide wide = (rate_wide)number->mantissa * size;
    int exponent = number->exponent;
    for (; exponent > 0 && wide > 0; exponent--) {
        if (wide > (rate_wide)UINT64_MAX * divisor) {
            break;
        }
        wide *= 10;
    }
    *id = ERROR_ID_NUMBER_FRACTION;
    for (; exponent < 0 && wide > 0; exponent++) {
        if (wide % 10 != 0) {
            return false;
        }
        wide /= 10;
    }
    if (wide % divisor != 0) {
        return false;
    }
    *id = ERROR_ID_NUMBER_OVERFLOW;
    *value = (uint64_t)(wide / divisor);
    return wide / divisor <= UINT64_MAX;
}

static bool fail_scale(struct error *error, enum quantity_kind kind, const char *text, enum error_id id) {
    static const char *const bases[QUANTITY_KINDS] = {
        [QUANTITY_RATE] = "bits per second", [QUANTITY_BYTE_RATE] = "bytes per second",
        [QUANTITY_BYTES] = "bytes",          [QUANTITY_TIME] = "picoseconds",
        [QUANTITY_LENGTH] = "metres",        [QUANTITY_POWER] = "watts",
        [QUANTITY_COUNT] = "pieces",
    };
    if (id == ERROR_ID_NUMBER_OVERFLOW) {
        return fail(error, id, kind, text, "is too large");
    }
    error_set(error, EXIT_CODE_CONFIGURATION, (int)id, "\"%.40s\" is no whole number of %s", text, bases[kind]);
    hint_of_kind(error, kind);
    return false;
}

bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value, struct error *error) {
    REQUIRE(kind != QUANTITY_SHARE && kind != QUANTITY_REAL && kind != QUANTITY_DURATION, "a share is no whole number");
    struct number number;
    const char *rest;
    uint64_t size;
    if (!scan_number(text, kind, &number, &rest, error) ||
        !read_unit(text, rest, kind, number.mantissa == 0, &size, error)) {
        return false;
    }
    if (number.negative && number.mantissa != 0) {
        return fail(error, ERROR_ID_NUMBER_NEGATIVE, kind, text, "is negative");
    }
    enum error_id id;
    if (!scale(&number, size, kind == QUANTITY_BYTE_RATE ? 8 : 1, value, &id)) {
        return fail_scale(error, kind, text, id);
    }
    return true;
}

/** number × 10^shift as a double, rounded once. The text has no decimal point, so the locale does not matter. */
static double to_double(const struct number *number, int shift) {
    char text[QUANTITY_INPUT_SIZE];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", number->mantissa, number->exponent + shift);
    return strtod(text, NULL);
}

bool quantity_parse_real(const char *text, enum quantity_kind kind, double *value, struct error *error) {
    struct number number;
    const char *rest;
    uint64_t size = 1;
    if (!scan_number(text, kind, &number, &rest, error)) {
        return false;
    }
    const bool percent = kind == QUANTITY_SHARE && rest[0] == '%' && rest[1 + strspn(rest + 1, " ")] == '\0';
    if (!percent && !read_unit(text, rest, kind, number.mantissa == 0, &size, error)) {
        return false;
    }
    if (number.negative && number.mantissa != 0) {
        return fail(error, ERROR_ID_NUMBER_NEGATIVE, kind, text, "is negative");
    }
    const double divisor = kind == QUANTITY_BYTE_RATE ? 8 : 1;
    *value = to_double(&number, percent ? -2 : 0) * ((double)size / divisor);
    if (*value != 0 && (*value < QUANTITY_REAL_LEAST || *value >= QUANTITY_REAL_BOUND)) {
        return fail(error, ERROR_ID_NUMBER_OVERFLOW, kind, text, "is out of all reason");
    }
    return true;
}

bool quantity_parse_signed(const char *text, int64_t *value, struct error *error) {
    struct number number;
    const char *rest;
    uint64_t size, magnitude = 0;
    enum error_id id;
    if (!scan_number(text, QUANTITY_COUNT, &number, &rest, error) ||
        !read_unit(text, rest, QUANTITY_COUNT, number.mantissa == 0, &size, error)) {
        return false;
    }
    if (!scale(&number, size, 1, &magnitude, &id)) {
        return fail_scale(error, QUANTITY_COUNT, text, id);
    }
    if (magnitude > INT64_MAX) {
        return fail_scale(error, QUANTITY_COUNT, text, ERROR_ID_NUMBER_OVERFLOW);
    }
    *value = number.negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/** whole.fraction of value ÷ size (a power of ten), exactly, with the unit. */
static char *print_exact(char *buffer, uint64_t value, uint64_t size, const char *unit) {
    int length = snprintf(buffer, QUANTITY_TEXT_SIZE, "%" PRIu64, value / size);
    uint64_t rest = value % size;
    if (rest != 0) {
        buffer[length++] = '.';
        while (rest != 0) {
            size /= 10;
            buffer[length++] = (char)('0' + rest / size);
            rest %= size;
        }
        buffer[length] = '\0';
    }
    snprintf(buffer + length, (size_t)(QUANTITY_TEXT_SIZE - length), "%s%s", unit[0] == '\0' ? "" : " ", unit);
    return buffer;
}

/** Sizes of memory are read best in binary units, sizes of data in decimal ones: whichever divides the value. */
static const struct unit *unit_for_bytes(uint64_t value) {
    enum { FIRST_BINARY = 5, LARGEST_NUMBER = 10000 };
    for (size_t i = sizeof byte_units / sizeof byte_units[0]; i-- > FIRST_BINARY;) {
        if (value >= byte_units[i].size && value % byte_units[i].size == 0 &&
            value / byte_units[i].size < LARGEST_NUMBER) {
            return &byte_units[i];
        }
    }
    for (size_t i = FIRST_BINARY; i-- > 1;) {
        if (value >= byte_units[i].size && value % (byte_units[i].size / 10) == 0) {
            return &byte_units[i];
        }
    }
    return &byte_units[0];
}

char *quantity_print(char *buffer, enum quantity_kind kind, uint64_t value) {
    const struct kind *is = &kinds[kind];
    if (is->n_printed == 0 || value == 0) {
        return print_exact(buffer, value, 1, is->n_printed == 0 ? "" : is->table[0].name);
    }
    if (kind == QUANTITY_BYTES) {
        const struct unit *unit = unit_for_bytes(value);
        return print_exact(buffer, value, unit->size, unit->name);
    }
    if (kind == QUANTITY_BYTE_RATE) {
        const struct unit *unit = &rate_units[5];
        while (unit < &rate_units[9] && value >= unit[1].size / 8) {
            unit++;
        }
        return print_exact(buffer, value, unit->size / 8, unit->name);
    }
    size_t unit = 0;
    while (unit + 1 < is->n_printed && value >= is->table[unit + 1].size) {
        unit++;
    }
    return print_exact(buffer, value, is->table[unit].size, is->table[unit].name);
}

/** Puts '.' where the locale put its decimal separator. */
static void point_decimal(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("0123456789eE+-", *from) != NULL) {
            *to++ = *from;
        } else if (to == text || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

char *quantity_print_real(char *buffer, enum quantity_kind kind, double value) {
    const bool rate = kind == QUANTITY_BYTE_RATE || kind == QUANTITY_RATE;
    const char *unit = kind == QUANTITY_BYTE_RATE ? "B/s" : kinds[kind].n_units > 0 ? kinds[kind].table[0].name : "";
    const bool plain = fabs(value) >= 1e-4 && fabs(value) < 1e15; /* no exponent: 1700, not 1.7e+03 */
    for (int digits = rate ? 15 : 1; digits <= 17; digits++) {
        char number[QUANTITY_TEXT_SIZE - 8];
        snprintf(number, sizeof number, "%.*g", digits, value);
        point_decimal(number);
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%s%s%s", number, unit[0] == '\0' ? "" : " ", unit);
        double read;
        if (plain && digits < 15 && strchr(number, 'e') != NULL) {
            continue;
        }
        if (quantity_parse_real(buffer, kind, &read, NULL) && read == value) {
            break;
        }
    }
    return buffer;
}

char *quantity_print_number(char *buffer, double value) {
    const double most = fabs(value);
    if (most >= 9999.5 && most < 1e9) {
        const double step = pow(10, floor(log10(most)) - 3);
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%.0f", round(value / step) * step);
    } else {
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%.4g", value);
        point_decimal(buffer);
    }
    return buffer;
}

char *quantity_print_short(char *buffer, enum quantity_kind kind, double value) {
    const struct kind *is = &kinds[kind];
    if (!isfinite(value)) {
        snprintf(buffer, QUANTITY_TEXT_SIZE, "%s", isnan(value) ? "–" : value < 0 ? "-∞" : "∞");
        return buffer;
    }
    const size_t first = kind == QUANTITY_BYTE_RATE ? 5 : 0;
    const double base = kind == QUANTITY_BYTE_RATE ? 8 : 1;
    size_t unit = first;
    while (is->n_printed > 0 && unit + 1 < first + is->n_printed &&
           fabs(value) >= 0.99995 * (double)is->table[unit + 1].size / base) {
        unit++;
    }
    char number[QUANTITY_TEXT_SIZE];
    quantity_print_number(number, is->n_printed > 0 ? value * base / (double)is->table[unit].size : value);
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%.32s%s%s", number, is->n_printed > 0 ? " " : "",
             is->n_printed > 0 ? is->table[unit].name : "");
    return buffer;
}
