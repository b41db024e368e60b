// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Which moefabric this is, and what it was built from and with.
 */
#ifndef MOEFABRIC_COMMAND_VERSION_H
#define MOEFABRIC_COMMAND_VERSION_H

/** Version of the program, e.g. 0.1.0. The same source has the same one: it is stored in result files. */
const char *version_number(void);

/** The commit that it was built from, with -dirty if files had been changed since; the version if it was built outside a git checkout. */
const char *version_commit(void);

/** The compiler and its version. */
const char *version_compiler(void);

#endif
