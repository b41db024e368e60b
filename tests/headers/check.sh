#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles every header of sim/ alone, twice in a row (so include guards are proven too), with all warnings as errors.
# Speaks TAP: one test a header.
#     check.sh SIM-FOLDER COMPILER…
sim=$1
shift
cd "$sim" || exit 99
libraries=$(pkg-config --cflags hdf5 yaml-0.1 gsl)
number=0
for header in $(find . -name '*.h' | sort); do
    number=$((number + 1))
    header=${header#./}
    # shellcheck disable=SC2086 # the flags are several words
    if printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$@" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I. $libraries -x c - >&2; then
        echo "ok $number - $header"
    else
        echo "not ok $number - $header"
    fi
done
echo "1..$number"
[ "$number" -gt 0 ]
