#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the instructions that a packet-hop takes, with callgrind, and holds them to what is expected.

    instructions.py BENCH COMPILER            compares with instructions.txt; speaks TAP, one test a case
    instructions.py --update BENCH COMPILER   rewrites what is expected of this compiler; read the diff before you commit it

BENCH is the program bench_network of a release build, COMPILER its compiler as `gcc 12.2.0 x86_64`. Counts depend on the
compiler: one that instructions.txt does not know is skipped, and what was counted is printed. Only network_run is
counted, not the set-up.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "instructions.txt"
TOLERANCE = 0.05
SECONDS = 300


def read_expected():
    """Returns the comment at the top, the cases in order, and instructions a hop by (case, compiler)."""
    comment, cases, counts = [], {}, {}
    compiler = None
    for line in EXPECTED.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            comment.append(line)
        elif line.startswith("case "):
            name, arguments = line[len("case "):].split(":", 1)
            cases[name] = [word.strip() for word in arguments.split("|")]
        elif line.startswith("compiler "):
            compiler = line[len("compiler "):]
        elif line:
            name, instructions = line.split()
            counts[name, compiler] = float(instructions)
    return comment, cases, counts


def write_expected(comment, cases, counts):
    lines = list(comment)
    lines += [""] + [f"case {name}: " + " | ".join(arguments) for name, arguments in cases.items()]
    for compiler in sorted({key[1] for key in counts}):
        lines += ["", f"compiler {compiler}"]
        lines += [f"{name} {counts[name, compiler]:.1f}" for name in cases if (name, compiler) in counts]
    EXPECTED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def count(bench, arguments):
    """Runs one case under callgrind. Returns (hops, instructions)."""
    config, policy, *overrides = arguments
    command = [bench, "--once", "--policy", policy]
    for override in overrides:
        command += ["--set", override]
    command.append(str(HERE.parent.parent / config))
    # meson lets malloc fill what it gives, which costs instructions
    environment = {key: value for key, value in os.environ.items() if key != "MALLOC_PERTURB_"}
    with tempfile.TemporaryDirectory(prefix="moefabric-callgrind-") as folder:
        out = pathlib.Path(folder) / "out"
        valgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=network_run", f"--callgrind-out-file={out}"]
        done = subprocess.run(
            valgrind + command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )
        hops = re.search(r"^hops (\d+)", done.stdout, re.MULTILINE)
        if done.returncode != 0 or not hops:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        instructions = re.search(r"^(?:summary|totals): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    return int(hops.group(1)), int(instructions.group(1))


def count_all(bench, cases):
    """All cases, as many at a time as there are processors. Yields (name, hops, instructions or None, what went wrong)."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.submit(count, bench, arguments) for name, arguments in cases.items()}
        for name, job in jobs.items():
            try:
                yield (name, *job.result(), "")
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                yield name, 0, None, str(error)


def verdict(number, name, each, expected):
    """The TAP line of one case; True if it holds."""
    if expected is None:
        print(f"ok {number} - {name} # SKIP {each:.1f} instructions a hop; none are expected of this compiler")
        return True
    change = each / expected - 1
    holds = abs(change) <= TOLERANCE
    print(f"{'ok' if holds else 'not ok'} {number} - {name}")
    print(f"# {each:.1f} instructions a hop, expected {expected:.1f} ({change:+.1%})")
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="rewrite what is expected of this compiler")
    parser.add_argument("bench")
    parser.add_argument("compiler")
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        print("1..0 # SKIP valgrind is not installed")
        return 0
    comment, cases, counts = read_expected()
    good = True
    print(f"1..{len(cases)}")
    for number, (name, hops, instructions, wrong) in enumerate(count_all(given.bench, cases), start=1):
        if instructions is None:
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in wrong.splitlines()))
            good = False
            continue
        each = instructions / hops
        if given.update:
            counts[name, given.compiler] = each
            print(f"ok {number} - {name}\n# {each:.1f} instructions a hop, {hops} hops")
        else:
            good &= verdict(number, name, each, counts.get((name, given.compiler)))
    if given.update and good:
        write_expected(comment, cases, counts)
    if not good and not given.update:
        print("# If the change is meant: tests/benchmark/instructions.py --update BENCH COMPILER, and say why in the commit.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
