// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/hash.h"
#include "base/quantity.h"
#include "run_suite.h"

#include <check.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct whole {
    const char *text;
    enum quantity_kind kind;
    uint64_t value;
};

static const struct whole wholes[] = {
    {"800 Gb/s", QUANTITY_RATE, UINT64_C(800000000000)},
    {"50 GB/s", QUANTITY_RATE, UINT64_C(400000000000)},
    {"50GB/s", QUANTITY_BYTE_RATE, UINT64_C(50000000000)},
    {"1 Kb/s", QUANTITY_BYTE_RATE, 125},
    {"1.5 us", QUANTITY_TIME, 1500000},
    {"1.5 \xc2\xb5s", QUANTITY_TIME, 1500000},
    {"1.5 \xce\xbcs", QUANTITY_TIME, 1500000},
    {"0.1 s", QUANTITY_TIME, UINT64_C(100000000000)},
    {"1.234567890123 s", QUANTITY_TIME, UINT64_C(1234567890123)},
    {"0.000001 us", QUANTITY_TIME, 1},
    {"18446744.073709551615 s", QUANTITY_TIME, UINT64_MAX},
    {"2e3 ns", QUANTITY_TIME, 2000000},
    {"15000e-1 ps", QUANTITY_TIME, 1500},
    {"4 KiB", QUANTITY_BYTES, 4096},
    {"4 KB", QUANTITY_BYTES, 4000},
    {"0.5 MiB", QUANTITY_BYTES, 524288},
    {"1.43 MB", QUANTITY_BYTES, 1430000},
    {"67737959 B", QUANTITY_BYTES, 67737959},
    {"5 m", QUANTITY_LENGTH, 5},
    {"1.2 km", QUANTITY_LENGTH, 1200},
    {"2.3 kW", QUANTITY_POWER, 2300},
    {"  8  ", QUANTITY_COUNT, 8},
    {"+8", QUANTITY_COUNT, 8},
    {"18446744073709551615", QUANTITY_COUNT, UINT64_MAX},
    {"1.50000000000000000000000000000000000 us", QUANTITY_TIME, 1500000},
    {"0", QUANTITY_TIME, 0},
    {"-0", QUANTITY_RATE, 0},
};

START_TEST(decimal_texts_become_exact_whole_numbers) {
    const struct whole *is = &wholes[_i];
    uint64_t value = 0;
    struct error error = {0};
    ck_assert_msg(quantity_parse(is->text, is->kind, &value, &error), "%s: %s", is->text, error.message);
    ck_assert_msg(value == is->value, "%s is %" PRIu64, is->text, value);
}
END_TEST

struct refusal {
    const char *text;
    enum quantity_kind kind;
    enum error_id id;
    const char *hint; /* part of it */
};

static const struct refusal refusals[] = {
    {"400 Gbps", QUANTITY_RATE, ERROR_ID_UNIT_UNKNOWN, "did you mean \"Gb/s\"?"},
    {"50 GBps", QUANTITY_RATE, ERROR_ID_UNIT_UNKNOWN, "did you mean \"GB/s\"?"},
    {"400 Gbit/s", QUANTITY_RATE, ERROR_ID_UNIT_UNKNOWN, "did you mean \"Gb/s\"?"},
    {"400 gb/s", QUANTITY_RATE, ERROR_ID_UNIT_UNKNOWN, "did you mean \"Gb/s\"?"},
    {"4 kB", QUANTITY_BYTES, ERROR_ID_UNIT_UNKNOWN, "did you mean \"KB\"?"},
    {"4 Kb", QUANTITY_BYTES, ERROR_ID_UNIT_UNKNOWN, "powers of 1024"},
    {"3 usec", QUANTITY_TIME, ERROR_ID_UNIT_UNKNOWN, "did you mean \"us\"?"},
    {"3 US", QUANTITY_TIME, ERROR_ID_UNIT_UNKNOWN, "ps, ns, us, ms, s"},
    {"3 GB/s", QUANTITY_TIME, ERROR_ID_UNIT_KIND, "ps, ns, us, ms, s"},
    {"3 us", QUANTITY_BYTES, ERROR_ID_UNIT_KIND, "a size in bytes is needed"},
    {"3 us", QUANTITY_COUNT, ERROR_ID_UNIT_KIND, "a whole number is needed"},
    {"3", QUANTITY_TIME, ERROR_ID_UNIT_MISSING, "1.5 us"},
    {"-3 us", QUANTITY_TIME, ERROR_ID_NUMBER_NEGATIVE, "a time is needed"},
    {"nan", QUANTITY_COUNT, ERROR_ID_NUMBER, "a whole number"},
    {"inf us", QUANTITY_TIME, ERROR_ID_NUMBER, "a time"},
    {"", QUANTITY_TIME, ERROR_ID_NUMBER, "a time"},
    {".5 us", QUANTITY_TIME, ERROR_ID_NUMBER, "a time"},
    {"1,5 us", QUANTITY_TIME, ERROR_ID_NUMBER, "decimal point"},
    {"1_000", QUANTITY_COUNT, ERROR_ID_NUMBER, "not grouped"},
    {"1.5.2 us", QUANTITY_TIME, ERROR_ID_NUMBER, "a time"},
    {"0x10", QUANTITY_COUNT, ERROR_ID_UNIT_UNKNOWN, "a whole number"},
    {"3 us 4", QUANTITY_TIME, ERROR_ID_NUMBER, "a time"},
    {"0.5 ps", QUANTITY_TIME, ERROR_ID_NUMBER_FRACTION, "a time"},
    {"0.1 B", QUANTITY_BYTES, ERROR_ID_NUMBER_FRACTION, "bytes"},
    {"0.3 KiB", QUANTITY_BYTES, ERROR_ID_NUMBER_FRACTION, "bytes"},
    {"1.5", QUANTITY_COUNT, ERROR_ID_NUMBER_FRACTION, "a whole number"},
    {"12 b/s", QUANTITY_BYTE_RATE, ERROR_ID_NUMBER_FRACTION, "a rate"},
    {"18446744.073709551616 s", QUANTITY_TIME, ERROR_ID_NUMBER_OVERFLOW, "a time"},
    {"18446744073709551616", QUANTITY_COUNT, ERROR_ID_NUMBER_OVERFLOW, "a whole number"},
    {"1e40", QUANTITY_COUNT, ERROR_ID_NUMBER_OVERFLOW, "a whole number"},
    {"1e999999999999", QUANTITY_COUNT, ERROR_ID_NUMBER_OVERFLOW, "a whole number"},
};

START_TEST(what_cannot_be_kept_is_refused_with_what_is_allowed) {
    const struct refusal *is = &refusals[_i];
    uint64_t value;
    struct error error = {0};
    ck_assert_msg(!quantity_parse(is->text, is->kind, &value, &error), "%s is taken as %" PRIu64, is->text, value);
    ck_assert_msg(error.id == (int)is->id, "%s: MF-%03d %s", is->text, error.id, error.message);
    ck_assert_msg(strstr(error.hint, is->hint) != NULL, "%s: %s", is->text, error.hint);
    ck_assert_int_eq(error.exit_code, EXIT_CODE_CONFIGURATION);
}
END_TEST

START_TEST(printing_is_exact_in_the_unit_that_reads_best) {
    static const struct whole wanted[] = {
        {"1.5 us", QUANTITY_TIME, 1500000},
        {"0 ps", QUANTITY_TIME, 0},
        {"999 ps", QUANTITY_TIME, 999},
        {"18446744.073709551615 s", QUANTITY_TIME, UINT64_MAX},
        {"400 Gb/s", QUANTITY_RATE, UINT64_C(400000000000)},
        {"46.25 GB/s", QUANTITY_BYTE_RATE, UINT64_C(46250000000)},
        {"4 KiB", QUANTITY_BYTES, 4096},
        {"1.5 MB", QUANTITY_BYTES, 1500000},
        {"67737959 B", QUANTITY_BYTES, 67737959},
        {"2 GiB", QUANTITY_BYTES, UINT64_C(2) << 30},
        {"42", QUANTITY_COUNT, 42},
    };
    char text[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        ck_assert_str_eq(quantity_print(text, wanted[i].kind, wanted[i].value), wanted[i].text);
    }
}
END_TEST

START_TEST(a_thousand_values_of_every_size_survive_print_and_parse) {
    static const enum quantity_kind kinds[] = {QUANTITY_RATE, QUANTITY_BYTE_RATE, QUANTITY_BYTES, QUANTITY_TIME,
                                               QUANTITY_COUNT};
    const uint64_t stream = hash_stream(1, HASH_PURPOSE_TEST, 0, 0);
    for (uint64_t i = 0; i < 5000; i++) {
        const enum quantity_kind kind = kinds[i % 5];
        uint64_t value = hash_draw(stream, i) >> (i % 64), again = 0;
        char text[QUANTITY_TEXT_SIZE];
        ck_assert(quantity_parse(quantity_print(text, kind, value), kind, &again, NULL));
        ck_assert_msg(value == again, "%" PRIu64 " is printed as %s", value, text);
    }
}
END_TEST

START_TEST(shares_are_fractions_or_per_cent) {
    static const struct {
        const char *text;
        double value;
    } wanted[] = {{"0.8", 0.8}, {"80 %", 0.8}, {"82.4%", 0.824}, {"100 %", 1}, {"0", 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        double value = -1;
        ck_assert(quantity_parse_real(wanted[i].text, QUANTITY_SHARE, &value, NULL));
        ck_assert_double_eq(value, wanted[i].value);
    }
}
END_TEST

START_TEST(real_values_survive_print_and_parse) {
    const uint64_t stream = hash_stream(2, HASH_PURPOSE_TEST, 0, 0);
    char text[QUANTITY_TEXT_SIZE];
    for (uint64_t i = 0; i < 1000; i++) {
        const double value = hash_unit(hash_draw(stream, i)) * (i % 7 == 0 ? 1e12 : 2);
        const enum quantity_kind kind = i % 2 ? QUANTITY_REAL : QUANTITY_BYTE_RATE;
        double again = -1;
        ck_assert(quantity_parse_real(quantity_print_real(text, kind, value), kind, &again, NULL));
        ck_assert_msg(value == again, "%.17g is printed as %s", value, text);
    }
    ck_assert_str_eq(quantity_print_real(text, QUANTITY_POWER, 1700), "1700 W");
    ck_assert_str_eq(quantity_print_real(text, QUANTITY_SHARE, 0.8), "0.8");
}
END_TEST

START_TEST(short_texts_have_four_digits_and_a_fitting_unit) {
    char text[QUANTITY_TEXT_SIZE];
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_TIME, 1234567890.0), "1.235 ms");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_TIME, 999999.0), "1 us");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_TIME, NAN), "–");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_TIME, -INFINITY), "-∞");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_BYTE_RATE, 46.25e9), "46.25 GB/s");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_RATE, 400e9), "400 Gb/s");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_BYTES, 114e6), "114 MB");
    ck_assert_str_eq(quantity_print_short(text, QUANTITY_DURATION, 126432 * 86400.0), "126400 d");
    ck_assert_str_eq(quantity_print_number(text, 9999.4), "9999");
    ck_assert_str_eq(quantity_print_number(text, 9999.6), "10000");
    ck_assert_str_eq(quantity_print_number(text, -99996), "-100000");
    ck_assert_str_eq(quantity_print_number(text, 2388888), "2389000");
    ck_assert_str_eq(quantity_print_number(text, 1e9), "1e+09");
    ck_assert_str_eq(quantity_print_number(text, 0.000884), "0.000884");
}
END_TEST

START_TEST(signed_numbers_have_a_range_of_64_bits) {
    int64_t value = 0;
    struct error error;
    ck_assert(quantity_parse_signed("-8", &value, NULL));
    ck_assert_int_eq(value, -8);
    ck_assert(quantity_parse_signed("9223372036854775807", &value, NULL));
    ck_assert_int_eq(value, INT64_MAX);
    ck_assert(!quantity_parse_signed("9223372036854775808", &value, &error));
    ck_assert_int_eq(error.id, ERROR_ID_NUMBER_OVERFLOW);
    ck_assert(!quantity_parse_signed("- 8", &value, &error));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base-quantity");
    TCase *group = tcase_create("quantity");
    tcase_add_loop_test(group, decimal_texts_become_exact_whole_numbers, 0, sizeof wholes / sizeof wholes[0]);
    tcase_add_loop_test(group, what_cannot_be_kept_is_refused_with_what_is_allowed, 0,
                        sizeof refusals / sizeof refusals[0]);
    tcase_add_test(group, printing_is_exact_in_the_unit_that_reads_best);
    tcase_add_test(group, a_thousand_values_of_every_size_survive_print_and_parse);
    tcase_add_test(group, shares_are_fractions_or_per_cent);
    tcase_add_test(group, real_values_survive_print_and_parse);
    tcase_add_test(group, short_texts_have_four_digits_and_a_fitting_unit);
    tcase_add_test(group, signed_numbers_have_a_range_of_64_bits);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
