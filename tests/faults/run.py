#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants small mistakes in a copy of the source, one at a time, and shows that the property test of tests/reference finds each.

A test that finds nothing proves only as much as it could have found: this is how we know what it can.

    run.py SOURCE [NAME…]          builds the copy in a temporary folder; for each fault (default: all) prints what found it, as TAP
    run.py --check SOURCE          only looks whether the texts to be replaced are there
    --cases N                      gives up after so many cases (default: 10,000)
    --keep FOLDER                  builds there and leaves it, so that the next call is quicker
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from faults import FAULTS

TARGET = "tests/reference/test-oracle"
HEALTHY_CASES = 200
COPIED = ("meson.build", "meson_options.txt", "sim", "tests")
# What tests look at besides: linked, never changed.
LINKED = ("configs", "topologies", "tools", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")


class TextIsGone(Exception):
    """The source has changed under a fault."""


def pattern(text):
    """Matches a text whatever its white space is; where two words or signs meet, there may be some."""
    return re.compile(r"\s+".join(re.escape(part) for part in text.split()))


def with_edit(source, edit):
    """The source after an edit."""
    found = pattern(edit.text).findall(source)
    if len(found) != 1:
        raise TextIsGone(f"{edit.file} has {len(found)} times, not once: {edit.text}")
    return pattern(edit.text).sub(lambda _: edit.instead, source)


def changed_files(root, fault):
    """New text of every file that a fault changes."""
    texts = {}
    for edit in fault.edits:
        before = texts.get(edit.file) or (root / edit.file).read_text()
        texts[edit.file] = with_edit(before, edit)
    return texts


def missing(root, faults):
    """What keeps faults from being planted, one line each."""
    lines = []
    for fault in faults:
        try:
            changed_files(root, fault)
        except TextIsGone as gone:
            lines.append(f"{fault.name}: {gone}")
    return lines


class Copy:
    """A copy of the source with a build directory of its own."""

    def __init__(self, source, folder):
        self.root = folder / "source"
        self.build = folder / "build"
        self.root.mkdir(exist_ok=True)
        for name in COPIED:
            self.bring(source / name, self.root / name)
        for name in LINKED:
            if (source / name).exists() and not (self.root / name).exists():
                (self.root / name).symlink_to(source / name)
        if not (self.build / "build.ninja").exists():
            self.must("meson", "setup", self.build, self.root, "-Dtests=enabled", "-Dmpi=disabled", "-Doptimization=1")

    def bring(self, origin, copy):
        """Copies a file or folder; what is the same already keeps its time, so that it is not built again."""
        if origin.is_dir():
            copy.mkdir(exist_ok=True)
            for entry in origin.iterdir():
                if entry.name != "__pycache__":
                    self.bring(entry, copy / entry.name)
        elif not copy.exists() or copy.read_bytes() != origin.read_bytes():
            shutil.copy(origin, copy)

    @staticmethod
    def must(*command):
        """Runs a command that has to succeed."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout.decode('utf-8', 'replace')}")

    def found_by(self, cases):
        """Builds, and runs the property test. What finds a difference: a case, or a check of the program itself; None if nothing does."""
        self.must("ninja", "-C", self.build, TARGET)
        environment = dict(os.environ, MOEFABRIC_ORACLE_BRIEF="1", MOEFABRIC_ORACLE_CASES=str(cases), CK_FORK="no")
        # in a session of its own: when a test of Check is ended, it ends its whole process group
        done = subprocess.run(
            [self.build / TARGET], env=environment, capture_output=True, text=True, check=False, start_new_session=True
        )
        found = re.search(r"^case (\d+) differs", done.stderr, re.MULTILINE)
        if found:
            return f"case {found.group(1)}"
        # the engine may notice itself that its books do not balance
        return "a check that ends the program" if done.returncode < 0 else None

    def plant(self, fault, cases):
        """What finds a fault, or None. The copy is healthy again afterwards."""
        texts = changed_files(self.root, fault)
        before = {file: (self.root / file).read_text() for file in texts}
        for file, text in texts.items():
            (self.root / file).write_text(text)
        try:
            return self.found_by(cases)
        finally:
            for file, text in before.items():
                (self.root / file).write_text(text)


def run(source, faults, cases, folder):
    """Plants all faults; returns how many were not found."""
    copy = Copy(source, folder)
    healthy = copy.found_by(HEALTHY_CASES) is None
    print(f"1..{len(faults) + 1}")
    print(f"{'ok' if healthy else 'not ok'} 1 - the source without a fault passes", flush=True)
    lost = 0 if healthy else 1
    for number, fault in enumerate(faults, start=2):
        began = time.monotonic()
        finder = copy.plant(fault, cases)
        lost += finder is None
        what = f"found by {finder}" if finder else f"NOT found in {cases} cases"
        print(f"{'not ok' if finder is None else 'ok'} {number} - {fault.name}: {what} ({time.monotonic() - began:.0f} s)", flush=True)
    return lost


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    options = arguments()
    source = options.source.resolve()
    faults = [fault for fault in FAULTS if not options.names or fault.name in options.names]
    if len({fault.name for fault in FAULTS}) != len(FAULTS) or not faults:
        sys.exit("no such fault, or two of one name")
    lines = missing(source, faults)
    if lines:
        sys.exit("\n".join(lines) + "\nSee tests/faults/faults.py: plant the same mistake in what took the place of these texts.")
    if options.check:
        return
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        sys.exit(run(source, faults, options.cases, options.keep.resolve()) > 0)
    with tempfile.TemporaryDirectory(prefix="moefabric-faults-") as folder:
        sys.exit(run(source, faults, options.cases, pathlib.Path(folder)) > 0)


if __name__ == "__main__":
    main()
