// SPDX-License-Identifier: GPL-3.0-or-later
/* How every Check suite ends. */
#ifndef MOEFABRIC_TESTS_RUN_SUITE_H
#define MOEFABRIC_TESTS_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/** Runs a suite, which it frees, as the environment says (CK_…), and returns what main returns. */
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
