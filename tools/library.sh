# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the scripts in tools/ and .ci/run share. Sourced, never run:
#     source "$(dirname "${BASH_SOURCE[0]}")/library.sh"
# It sets $root (the checkout) and moves there, so that scripts work from any folder.

set -euo pipefail

tool_name=${0##*/}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"

# One line to the reader; standard output is left to results.
say() {
    printf '%s: %s\n' "$tool_name" "$*" >&2
}

# One clear line, and the end.
fail() {
    say "$*"
    exit 1
}

# Packages of the given groups of tools/packages.txt.
packages_of() {
    local group
    for group in "$@"; do
        awk -v group="$group" '$1 == group { print $2 }' tools/packages.txt
    done
}

# Of the packages named, those that are not installed.
packages_missing() {
    local package
    for package in "$@"; do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        'install ok installed') ;;
        *) printf '%s\n' "$package" ;;
        esac
    done
}

# Runs a command as root: directly, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Runs a command silently; where it fails, shows the end of what it said and stops with one clear line.
# quietly WHAT-IT-DOES COMMAND…
quietly() {
    local what=$1 log
    shift
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        fail "$what failed (the end of its output is above)"
    fi
    rm -f "$log"
}

# Installs what is missing of the given groups; asks nothing and touches nothing if all is there.
packages_need() {
    local wanted missing
    if ! command -v dpkg-query >/dev/null; then
        say "this is no Debian system: the packages of tools/packages.txt must be installed by hand"
        return
    fi
    mapfile -t wanted < <(packages_of "$@")
    mapfile -t missing < <(packages_missing "${wanted[@]}")
    if [ "${#missing[@]}" -eq 0 ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        fail "packages are missing and this is not root: as root, run apt-get install ${missing[*]}"
    fi
    say "installing by apt: ${missing[*]}"
    quietly 'apt-get update' as_root apt-get -o DPkg::Lock::Timeout=300 update
    quietly "apt-get install ${missing[*]}" as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}"
}

# Configures a build directory once (meson keeps it up to date afterwards) and builds it.
# build_directory DIRECTORY TARGET MESON-OPTION…   (TARGET: all, or a target's name)
build_directory() {
    local directory=$1 target=$2
    shift 2
    if [ ! -f "$directory/build.ninja" ]; then
        say "configuring $directory"
        quietly "configuring $directory" meson setup "$directory" "$@"
    elif [ "$target" = all ] && [ ! -d "$directory/tests" ]; then
        quietly "configuring $directory" meson setup --reconfigure "$directory" "$@"
    fi
    say "building $directory"
    local command=(meson compile -C "$directory")
    [ "$target" = all ] || command+=("$target")
    if [ -t 1 ]; then
        "${command[@]}" || fail "the build in $directory failed (the compiler's words are above)"
    else
        quietly "the build in $directory" "${command[@]}"
    fi
}

# Tests passed, failed and skipped by the last `meson test` in a build directory, from its machine-readable report.
test_counts() {
    grep -o '<testsuite [^>]*>' "$1/meson-logs/testlog.junit.xml" 2>/dev/null |
        sed 's/.* tests="\([0-9]*\)" errors="\([0-9]*\)" failures="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3 \4/' |
        awk '{ tests += $1; failed += $2 + $3; skipped += $4 } END { print tests - failed - skipped, failed + 0, skipped + 0 }'
}

# Runs suites of a build directory and says how many tests passed; false if one failed or none ran.
# test_directory DIRECTORY MESON-TEST-OPTION…   ($test_wrapper: what meson is to be started by, if anything)
test_wrapper=()
test_directory() {
    local directory=$1 status=0 passed failed skipped
    shift
    rm -f "$directory/meson-logs/testlog.junit.xml"
    "${test_wrapper[@]}" meson test -C "$directory" --no-rebuild --print-errorlogs "$@" </dev/null || status=$?
    read -r passed failed skipped < <(test_counts "$directory")
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
        failed=1 # died before it could report a case
    fi
    count_tests "$directory" "$passed" "$failed" "$skipped"
    if [ "$((passed + failed))" -eq 0 ]; then
        say "no test ran in $directory"
        return 1
    fi
    [ "$status" -eq 0 ]
}

# Says a result, and adds it to the totals of .ci/run where that is the caller.
# count_tests WHERE PASSED FAILED SKIPPED
count_tests() {
    say "$1: passed $2, failed $3, skipped $4"
    if [ -n "${MOEFABRIC_TEST_TOTALS:-}" ]; then
        printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" >>"$MOEFABRIC_TEST_TOTALS"
    fi
}
