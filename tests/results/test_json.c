// SPDX-License-Identifier: GPL-3.0-or-later
/* JSON to the letter, and the provenance file made with it. */
#include "results/json.h"
#include "results/provenance.h"
#include "run_suite.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/** A literal as an argument of main has it: not const, and not written to. */
#define TEXT(literal) ((char *)(literal))

static char *text;
static size_t size;
static struct json json;

static void begin(void) {
    json = json_begin(open_memstream(&text, &size));
}

static void finish(void) {
    free(text);
}

/** Ends the document and returns its text. */
static const char *ended(void) {
    json_end(&json);
    fclose(json.stream);
    return text;
}

START_TEST(objects_and_arrays_nest) {
    json_object(&json);
    json_name(&json, "empty");
    json_array(&json);
    json_array_end(&json);
    json_name(&json, "list");
    json_array(&json);
    json_whole(&json, UINT64_MAX);
    json_boolean(&json, true);
    json_text(&json, NULL);
    json_array_end(&json);
    json_object_end(&json);
    ck_assert_str_eq(ended(),
                     "{\n  \"empty\": [],\n  \"list\": [\n    18446744073709551615,\n    true,\n    null\n  ]\n}\n");
}
END_TEST

START_TEST(texts_are_escaped) {
    json_text(&json, "\"\\\n\t\x7f\xc2\x9b 한 →");
    ck_assert_str_eq(ended(), "\"\\\"\\\\\\n\\u0009\\u007f\\u009b 한 →\"\n");
}
END_TEST

START_TEST(bytes_that_are_no_utf8_are_replaced) {
    json_text(&json, "a\xff"
                     "b\xc0\x80"
                     "c\xed\xa0\x80"
                     "d\xe2\x82"); /* stray, overlong, surrogate, cut off */
    ck_assert_str_eq(ended(), "\"a\xef\xbf\xbd"
                              "b\xef\xbf\xbd\xef\xbf\xbd"
                              "c\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                              "d\xef\xbf\xbd\xef\xbf\xbd\"\n");
}
END_TEST

START_TEST(numbers_come_back_as_they_were) {
    static const double values[] = {0.1, 1.0 / 3.0, 1e300, -2.5e-10, 123456789012345678.0};
    json_array(&json);
    for (size_t i = 0; i < 5; i++) {
        json_number(&json, values[i]);
    }
    json_number(&json, NAN);
    json_number(&json, INFINITY);
    json_array_end(&json);
    const char *at = ended() + 1;
    for (size_t i = 0; i < 5; i++) {
        char *end;
        ck_assert_double_eq(strtod(at, &end), values[i]);
        at = end + 1;
    }
    ck_assert_ptr_nonnull(strstr(text, "0.1,"));
    ck_assert_str_eq(at, "\n  null,\n  null\n]\n");
}
END_TEST

START_TEST(a_document_left_open_is_a_bug) {
    json_object(&json);
    json_end(&json); /* aborts */
}
END_TEST

START_TEST(a_name_without_value_is_a_bug) {
    json_object(&json);
    json_name(&json, "name");
    json_object_end(&json); /* aborts */
}
END_TEST

START_TEST(provenance_stands_beside_the_result) {
    char *path = provenance_path("runs/a.h5"), *other = provenance_path("runs/a");
    ck_assert_str_eq(path, "runs/a.run.json");
    ck_assert_str_eq(other, "runs/a.run.json");
    free(path);
    free(other);
}
END_TEST

START_TEST(command_line_is_quoted_as_a_shell_needs_it) {
    char *arguments[] = {TEXT("moefabric"), TEXT("run"), TEXT("my file.yaml"), TEXT("it's"), TEXT("")};
    struct provenance provenance = provenance_start("0.1.0", 5, arguments);
    ck_assert_str_eq(provenance.command_line, "moefabric run 'my file.yaml' 'it'\\''s' ''");
    provenance_free(&provenance);
}
END_TEST

START_TEST(provenance_tells_time_and_memory) {
    char *folder = sample_folder(), *result = sample_path(folder, "x.h5"), *path = sample_path(folder, "x.run.json");
    char *arguments[] = {TEXT("moefabric")};
    struct provenance provenance = provenance_start("0.1.0", 1, arguments);
    provenance.threads = 2;
    provenance.commit = "0123456789ab-dirty";
    provenance.compiler = "GCC 12";
    provenance_stop(&provenance);
    ck_assert_double_gt(provenance.wall_s, 0.0);
    ck_assert_uint_gt(provenance.peak_memory_bytes, 100000);
    ck_assert(provenance_write(&provenance, result, NULL));
    size_t length;
    char *content = sample_read(path, &length);
    ck_assert_ptr_nonnull(strstr(content, "\"threads\": 2,"));
    ck_assert_ptr_nonnull(strstr(content, "\"version\": \"0.1.0\","));
    ck_assert_ptr_nonnull(strstr(content, "\"commit\": \"0123456789ab-dirty\","));
    ck_assert_ptr_nonnull(strstr(content, "\"compiler\": \"GCC 12\","));
    remove(path);
    remove(folder);
    provenance_free(&provenance);
    free(content);
    free(path);
    free(result);
    free(folder);
}
END_TEST

START_TEST(provenance_in_a_missing_folder_is_an_error) {
    char *arguments[] = {TEXT("moefabric")};
    struct error error = {0};
    struct provenance provenance = provenance_start("0.1.0", 1, arguments);
    ck_assert(!provenance_write(&provenance, "/nonexistent/x.h5", &error));
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_str_eq(error.file, "/nonexistent/x.run.json");
    provenance_free(&provenance);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("json");
    TCase *letters = tcase_create("json");
    tcase_add_checked_fixture(letters, begin, finish);
    tcase_add_test(letters, objects_and_arrays_nest);
    tcase_add_test(letters, texts_are_escaped);
    tcase_add_test(letters, bytes_that_are_no_utf8_are_replaced);
    tcase_add_test(letters, numbers_come_back_as_they_were);
    tcase_add_test_raise_signal(letters, a_document_left_open_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(letters, a_name_without_value_is_a_bug, SIGABRT);
    suite_add_tcase(suite, letters);
    TCase *provenance = tcase_create("provenance");
    tcase_add_test(provenance, provenance_stands_beside_the_result);
    tcase_add_test(provenance, command_line_is_quoted_as_a_shell_needs_it);
    tcase_add_test(provenance, provenance_tells_time_and_memory);
    tcase_add_test(provenance, provenance_in_a_missing_folder_is_an_error);
    suite_add_tcase(suite, provenance);
    return run_suite(suite);
}
