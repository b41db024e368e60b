// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_id.h"
#include "base/file.h"
#include "run_suite.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/moefabric-file-XXXXXX";

/** Each case has a folder of its own and runs in it. */
static void setup(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void) {
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (unlink(entry->d_name) != 0) {
            rmdir(entry->d_name);
        }
    }
    closedir(directory);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *stream = fopen(name, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

static unsigned count_files(void) {
    unsigned count = 0;
    DIR *directory = opendir(".");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

/** A file that must be refused with a number. */
static void check_refused(const char *name, enum error_id id) {
    struct file_text text = {.size = 1};
    struct error error = {0};
    ck_assert(!file_read(name, 1000, &text, &error));
    ck_assert_msg(error.id == (int)id, "MF-%03d: %s", error.id, error.message);
    ck_assert_int_eq(error.exit_code, EXIT_CODE_INPUT_OUTPUT);
    ck_assert_str_eq(error.file, name);
    ck_assert_ptr_null(text.bytes);
}

START_TEST(what_is_no_text_file_is_refused_for_its_reason) {
    check_refused("none", ERROR_ID_FILE_MISSING);
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    check_refused("folder", ERROR_ID_FILE_DIRECTORY);
    write_bytes("empty", "", 0);
    check_refused("empty", ERROR_ID_FILE_EMPTY);
    check_refused("empty/below", ERROR_ID_FILE_MISSING);
    write_bytes("binary", "a\0b", 3);
    check_refused("binary", ERROR_ID_FILE_BINARY);
    char large[1001];
    memset(large, 'x', sizeof large);
    write_bytes("large", large, sizeof large);
    check_refused("large", ERROR_ID_FILE_SIZE);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    check_refused("loop", ERROR_ID_FILE_UNREADABLE);
}
END_TEST

START_TEST(a_file_is_read_whole_up_to_its_limit) {
    char bytes[1000];
    memset(bytes, 'y', sizeof bytes);
    write_bytes("text", bytes, sizeof bytes);
    struct file_text text;
    ck_assert(file_read("text", 1000, &text, NULL));
    ck_assert_uint_eq(text.size, 1000);
    ck_assert_mem_eq(text.bytes, bytes, 1000);
    ck_assert_int_eq(text.bytes[1000], '\0');
    free(text.bytes);
}
END_TEST

START_TEST(a_name_in_a_file_is_meant_beside_it) {
    char path[16];
    file_beside(path, sizeof path, "a/b.yaml", "c.csv");
    ck_assert_str_eq(path, "a/c.csv");
    file_beside(path, sizeof path, "b.yaml", "../c.csv");
    ck_assert_str_eq(path, "../c.csv");
    file_beside(path, sizeof path, "a/b.yaml", "/c.csv");
    ck_assert_str_eq(path, "/c.csv");
    file_beside(path, sizeof path, "a/b.yaml", "a-long-name.csv");
    ck_assert_str_eq(path, "a/a-long-name.c");
}
END_TEST

START_TEST(a_written_file_appears_only_when_it_is_committed) {
    struct file_writer writer = {0};
    struct file_text text;
    write_bytes("result", "old", 3);
    ck_assert(file_writer_open(&writer, "result", NULL));
    fputs("new", writer.stream);
    ck_assert(file_read("result", 100, &text, NULL));
    ck_assert_str_eq(text.bytes, "old");
    free(text.bytes);
    ck_assert(file_writer_commit(&writer, NULL));
    ck_assert(file_read("result", 100, &text, NULL));
    ck_assert_str_eq(text.bytes, "new");
    free(text.bytes);
    ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(an_abandoned_file_leaves_nothing) {
    struct file_writer writer = {0};
    ck_assert(file_writer_open(&writer, "result", NULL));
    fputs("half", writer.stream);
    file_writer_abandon(&writer);
    file_writer_abandon(&writer);
    ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(what_cannot_be_written_is_known_before) {
    struct error error = {0};
    struct file_writer writer = {0};
    ck_assert(!file_check_writable("none/result", &error));
    ck_assert_int_eq(error.id, ERROR_ID_FILE_UNWRITABLE);
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    ck_assert(!file_writer_open(&writer, "folder", &error));
    ck_assert_int_eq(error.id, ERROR_ID_FILE_DIRECTORY);
    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    ck_assert(!file_writer_open(&writer, "pipe", &error));
    ck_assert_int_eq(error.id, ERROR_ID_FILE_UNWRITABLE);
    ck_assert(!file_check_writable("/dev/null", &error));
    ck_assert(file_check_writable("folder/result", &error));
    ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(a_full_disc_is_an_error_and_keeps_the_old_file) {
    struct file_writer writer = {0};
    struct error error = {0};
    write_bytes("result", "old", 3);
    ck_assert(file_writer_open(&writer, "result", NULL));
    fclose(writer.stream);
    writer.stream = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(writer.stream);
    fputs("new", writer.stream);
    ck_assert(!file_writer_commit(&writer, &error));
    ck_assert_int_eq(error.id, ERROR_ID_FILE_UNWRITABLE);
    struct file_text text;
    ck_assert(file_read("result", 100, &text, NULL));
    ck_assert_str_eq(text.bytes, "old");
    free(text.bytes);
    ck_assert_uint_eq(count_files(), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base-file");
    TCase *group = tcase_create("file");
    tcase_add_checked_fixture(group, setup, teardown);
    tcase_add_test(group, what_is_no_text_file_is_refused_for_its_reason);
    tcase_add_test(group, a_file_is_read_whole_up_to_its_limit);
    tcase_add_test(group, a_name_in_a_file_is_meant_beside_it);
    tcase_add_test(group, a_written_file_appears_only_when_it_is_committed);
    tcase_add_test(group, an_abandoned_file_leaves_nothing);
    tcase_add_test(group, what_cannot_be_written_is_known_before);
    tcase_add_test(group, a_full_disc_is_an_error_and_keeps_the_old_file);
    suite_add_tcase(suite, group);
    return run_suite(suite);
}
