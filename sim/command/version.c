// SPDX-License-Identifier: GPL-3.0-or-later
#include "command/version.h"

#include "version_commit.h" /* made by Meson in the build directory */

const char *version_number(void) {
    return VERSION_NUMBER;
}

const char *version_commit(void) {
    return VERSION_COMMIT;
}

const char *version_compiler(void) {
#if defined __clang__
    return __VERSION__; /* it names itself: "Debian Clang 14.0.6" */
#else
    return "GCC " __VERSION__;
#endif
}
