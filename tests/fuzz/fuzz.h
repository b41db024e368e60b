// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The entry point that libFuzzer calls, and that replay.c calls with the files of the corpus.
 */
#ifndef MOEFABRIC_TESTS_FUZZ_FUZZ_H
#define MOEFABRIC_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Hands one input to the code under test; always returns 0. A fault is an abort or a sanitizer's report. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* NOLINT: libFuzzer's name */

#endif
