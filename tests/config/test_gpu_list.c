// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gpu_list.h"
#include "run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 20, MOST = 20 };

static const struct {
    const char *text;
    uint32_t n, gpus[MOST];
} good[] = {
    {"all", 20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}},
    {"7", 1, {7}},
    {"3-5", 3, {3, 4, 5}},
    {"8-8", 1, {8}},
    {"0-19/7", 3, {0, 7, 14}},
    {"12, 0-2,19", 5, {12, 0, 1, 2, 19}},
    {" 1 - 5 / 2 , 2 ", 4, {1, 3, 5, 2}},
    {"3-10/100", 1, {3}},
};

START_TEST(gpus_come_in_the_order_in_which_they_are_named) {
    char problem[200];
    struct gpu_list list;
    ck_assert_msg(gpu_list_read(&list, good[_i].text, GPUS, problem, sizeof problem), "%s", problem);
    ck_assert_uint_eq(list.n_gpus, good[_i].n);
    ck_assert_mem_eq(list.gpus, good[_i].gpus, good[_i].n * sizeof(uint32_t));
    uint32_t *places = gpu_list_places(&list, GPUS);
    for (uint32_t gpu = 0, found = 0; gpu < GPUS; gpu++) {
        if (places[gpu] != UINT32_MAX) {
            ck_assert_uint_eq(list.gpus[places[gpu]], gpu);
            found++;
        }
        ck_assert(gpu < GPUS - 1 || found == list.n_gpus);
    }
    free(places);
    gpu_list_fini(&list);
}
END_TEST

static const struct {
    const char *text, *words;
} wrong[] = {
    {"", "names no GPUs"},
    {"none", "names no GPUs"},
    {"1,", "names no GPUs"},
    {"1;2", "names no GPUs"},
    {"-3", "names no GPUs"},
    {"3-", "names no GPUs"},
    {"3-5/", "names no GPUs"},
    {"3/2", "names no GPUs"},
    {"1 2", "names no GPUs"},
    {"all, 1", "names no GPUs"},
    {"9999999999", "numbers end at 19"},
    {"0-1000000000", "numbers end at 19"},
    {"0-99999999999999999999/3", "numbers end at 19"},
    {"5-3", "upwards"},
    {"0-5/0", "steps of 1"},
    {"20", "GPU 20 does not exist"},
    {"0-40/3", "GPU 40 does not exist"},
    {"1, 0-3", "GPU 1 is named twice"},
};

START_TEST(what_is_wrong_is_said) {
    char problem[200] = "";
    struct gpu_list list;
    ck_assert(!gpu_list_read(&list, wrong[_i].text, GPUS, problem, sizeof problem));
    ck_assert_msg(strstr(problem, wrong[_i].words) != NULL, "%s: %s", wrong[_i].text, problem);
    ck_assert_ptr_null(list.gpus);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("gpu_list");
    tcase_add_loop_test(cases, gpus_come_in_the_order_in_which_they_are_named, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(cases, what_is_wrong_is_said, 0, sizeof wrong / sizeof wrong[0]);
    Suite *suite = suite_create("gpu_list");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
