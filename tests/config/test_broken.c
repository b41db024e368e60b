// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Every file of broken/ is refused with exactly the messages and the exit code that the file beside it says.
 *
 * Lines `# --set KEY=VALUE` at the top of a file are overrides of the command line. When a message changes on purpose:
 * The folders of topologies read @SOURCE@ and @INSTALLED@.
 * MOEFABRIC_UPDATE=1 meson test -C build config-broken, then read the difference.
 */
#include "base/file.h"
#include "config/experiment_file.h"
#include "config/topology_search.h"
#include "run_suite.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 256, OVERRIDES_LIMIT = 8, EXPECTED_LIMIT_BYTES = 1 << 20 };

static struct dirent **files;

static int is_yaml(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/** Collects the overrides that stand in a file's first lines; *text is cut into them. */
static size_t find_overrides(char *text, const char **overrides) {
    static const char prefix[] = "# --set ";
    size_t n = 0;
    while (n < OVERRIDES_LIMIT && strncmp(text, prefix, sizeof prefix - 1) == 0) {
        overrides[n++] = text + sizeof prefix - 1;
        text = strchr(text, '\n');
        *text++ = '\0';
    }
    return n;
}

/** Writes a text with a name in place of a folder of this machine. */
static char *rename_folder(char *text, const char *folder, const char *name) {
    char *renamed = NULL;
    size_t size;
    FILE *stream = open_memstream(&renamed, &size);
    for (const char *at = text; *at != '\0';) {
        const bool found = strncmp(at, folder, strlen(folder)) == 0;
        fprintf(stream, "%.*s", (int)(found ? strlen(name) : 1), found ? name : at);
        at += found ? strlen(folder) : 1;
    }
    fclose(stream);
    free(text);
    return renamed;
}

/** What the program would print for a file, with the exit code as last line. */
static char *print_result(const char *name) {
    const char *overrides[OVERRIDES_LIMIT];
    struct file_text text = {0};
    const size_t n = file_read(name, EXPECTED_LIMIT_BYTES, &text, NULL) ? find_overrides(text.bytes, overrides) : 0;
    struct experiment *experiment = calloc(1, sizeof *experiment);
    struct error_list *errors = calloc(1, sizeof *errors);
    char *printed = NULL;
    size_t size;
    FILE *stream = open_memstream(&printed, &size);
    const bool good = experiment_read(name, overrides, n, experiment, errors);
    const enum exit_code exit_code = experiment_report(stream, errors);
    fprintf(stream, "exit %d\n", (int)exit_code);
    fclose(stream);
    ck_assert_msg(!good, "%s is taken as correct", name);
    ck_assert_int_ne(exit_code, EXIT_CODE_OK);
    free(errors);
    free(experiment);
    free(text.bytes);
    printed = rename_folder(printed, topology_search_folder(false), "@SOURCE@");
    return rename_folder(printed, topology_search_folder(true), "@INSTALLED@");
}

static void write_text(const char *path, const char *text) {
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
}

START_TEST(each_mistake_has_its_message) {
    const char *name = files[_i]->d_name;
    char expected_name[NAME_SIZE + 16];
    snprintf(expected_name, sizeof expected_name, "%.*s.expected", (int)strlen(name) - 5, name);
    char *printed = print_result(name);
    if (getenv("MOEFABRIC_UPDATE") != NULL) {
        write_text(expected_name, printed);
    }
    struct file_text expected;
    ck_assert_msg(file_read(expected_name, EXPECTED_LIMIT_BYTES, &expected, NULL), "%s cannot be read", expected_name);
    if (strcmp(printed, expected.bytes) != 0) { /* Check cannot pass on a message of any length */
        fprintf(stderr, "%s\n--- printed\n%s--- expected\n%s", name, printed, expected.bytes);
    }
    ck_assert_msg(strcmp(printed, expected.bytes) == 0, "%s: not as expected, see above", name);
    free(expected.bytes);
    free(printed);
}
END_TEST

int main(void) {
    if (chdir(BROKEN_DIRECTORY) != 0) {
        return EXIT_FAILURE;
    }
    const int n = scandir(".", &files, is_yaml, alphasort);
    if (n < 25) {
        fprintf(stderr, "only %d broken files found\n", n);
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("config-broken");
    TCase *group = tcase_create("broken");
    tcase_add_loop_test(group, each_mistake_has_its_message, 0, n);
    suite_add_tcase(suite, group);
    const int status = run_suite(suite);
    for (int i = 0; i < n; i++) {
        free(files[i]);
    }
    free(files);
    return status;
}
