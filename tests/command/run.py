#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the command-line cases of tests/command/cases and compares what they print and how they end.

A case is a script NAME.sh (POSIX sh) with, beside it, what is expected:
    NAME.stdout, NAME.stderr   the exact text; a stream without such a file must stay empty
    NAME.*.glob                or a pattern for each line (* ? [a-z]); a line `...` stands for any number of lines
    NAME.exit                  the exit code of the script; 0 without the file
A script that ends with 77 is skipped: it says on standard output what it lacks.
Each script runs in an empty folder of its own with `moefabric` in its PATH, LC_ALL=C, NO_COLOR=1, no standard input, and
SOURCE = the checkout. In what is compared, the checkout reads @SOURCE@, the folder @SCRATCH@, and the version @VERSION@.

    run.py PROGRAM [NAME…]            speaks TAP: one test a case
    run.py --update PROGRAM [NAME…]   rewrites exact expectations (patterns are never rewritten); read the diff before you commit it
"""

import argparse
import difflib
import fnmatch
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "cases"
SOURCE = CASES.parent.parent.parent
SECONDS = 120
SKIPPED = 77


def default_signals():
    """Cases must not depend on what whoever runs them ignores (nohup, background jobs)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run_case(script, program, version):
    """Returns the exit code and the two streams of one case, with places made neutral."""
    with tempfile.TemporaryDirectory(prefix="moefabric-case-") as folder:
        scratch = pathlib.Path(folder).resolve()
        tools = scratch / "bin"
        work = scratch / "work"
        tools.mkdir()
        work.mkdir()
        (tools / "moefabric").symlink_to(program)
        # only sanitizers' options are inherited: a case must not depend on who runs it
        environment = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        environment.update(
            PATH=f"{tools}:/usr/local/bin:/usr/bin:/bin", HOME=str(work), LC_ALL="C", NO_COLOR="1", SOURCE=str(SOURCE)
        )
        try:
            done = subprocess.run(
                ["/bin/sh", "-u", str(script)],
                cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
                preexec_fn=default_signals,
            )
        except subprocess.TimeoutExpired:
            return None, "", f"no end after {SECONDS} s\n"

    def neutral(stream):
        text = stream.decode("utf-8", "backslashreplace")
        return text.replace(str(work), "@SCRATCH@").replace(str(SOURCE), "@SOURCE@").replace(version, "@VERSION@")

    return done.returncode, neutral(done.stdout), neutral(done.stderr)


def lines_match(patterns, lines):
    """Whether lines fit the patterns, `...` standing for any number of lines."""
    reachable = {0}
    for pattern in patterns:
        if pattern == "...":
            reachable = set(range(min(reachable, default=len(lines) + 1), len(lines) + 1))
        else:
            reachable = {i + 1 for i in reachable if i < len(lines) and fnmatch.fnmatchcase(lines[i], pattern)}
    return len(lines) in reachable


def compare_stream(script, stream, actual):
    """Returns what is wrong with one stream, as lines; none if it is as expected."""
    exact = script.with_suffix(f".{stream}")
    pattern = script.with_suffix(f".{stream}.glob")
    if pattern.exists():
        if lines_match(pattern.read_text().splitlines(), actual.splitlines()):
            return []
        return [f"{stream} does not fit {pattern.name}:", *actual.splitlines()]
    expected = exact.read_text() if exact.exists() else ""
    return list(
        difflib.unified_diff(expected.splitlines(), actual.splitlines(), f"expected {stream}", f"actual {stream}", lineterm="")
    )


def expected_exit(script):
    path = script.with_suffix(".exit")
    return int(path.read_text()) if path.exists() else 0


def write_or_remove(path, text):
    if text:
        path.write_text(text)
    else:
        path.unlink(missing_ok=True)


def update_case(script, status, streams):
    """Writes what was seen as what is expected."""
    write_or_remove(script.with_suffix(".exit"), f"{status}\n" if status else "")
    for stream, actual in streams.items():
        if not script.with_suffix(f".{stream}.glob").exists():
            write_or_remove(script.with_suffix(f".{stream}"), actual)


def check_case(script, status, streams):
    """Returns all differences of one case."""
    wrong = []
    if status != expected_exit(script):
        wrong.append(f"exit code {status}, expected {expected_exit(script)}")
    for stream, actual in streams.items():
        wrong += compare_stream(script, stream, actual)
    return wrong


def main():
    parser = argparse.ArgumentParser(description="command-line cases")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--version", default="", help="the program's version, shown as @VERSION@")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    scripts = sorted(CASES.glob("*.sh"))
    if options.names:
        scripts = [script for script in scripts if script.stem in options.names]
    if not scripts:
        sys.exit("run.py: no such case")
    failed = 0
    print(f"1..{len(scripts)}", flush=True)
    for number, script in enumerate(scripts, 1):
        status, out, err = run_case(script, options.program.resolve(), options.version or "\0")
        if status == SKIPPED:
            print(f"ok {number} - {script.stem} # SKIP {out.strip()}", flush=True)
            continue
        streams = {"stdout": out, "stderr": err}
        if options.update and status is not None:
            update_case(script, status, streams)
        wrong = check_case(script, status, streams)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {script.stem}", flush=True)
        for line in wrong:
            print(f"# {line}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
