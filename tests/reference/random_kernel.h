// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What kernels take in some cases: SMs that copy records out, and NICs that take long for a message.
 */
#ifndef MOEFABRIC_TESTS_RANDOM_KERNEL_H
#define MOEFABRIC_TESTS_RANDOM_KERNEL_H

#include "random_case.h"

/** Draws both rates, and what is copied at home before NVLink messages. */
void random_kernel_draw(struct random_case *random_case);

#endif
