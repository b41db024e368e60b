#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs small configurations through the program and compares every figure with what it was when somebody last looked.

A case is a configuration cases/NAME.yaml; cases/NAME.expected holds its figures, one metric a line, for each policy and seed,
and why the slowest flows of each run were slow.
Besides, for every case:
    the result file is the same to the byte on repeat, for 1, 2, 3 and 8 threads, in another folder, at another time, in another
    time zone and with other bytes in fresh memory (runs are compared with each other: the bytes depend on the version of HDF5);
    `run` gives the figures of one column of `compare`;
    the traffic is the same under every policy, and another for another seed (where anything is drawn).

    run.py PROGRAM [NAME…]            speaks TAP
    run.py --update PROGRAM [NAME…]   rewrites what is expected; read the diff before you commit it (tools/update-golden)
"""

import argparse
import difflib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120
DRAWS_NOTHING = {"single"}  # the pattern is spelled out in full


class ProgramFailed(Exception):
    """The program ended otherwise than expected."""


class Place:
    """A folder of its own with copies of the cases and their topologies, and an environment."""

    def __init__(self, program, folder, **environment):
        self.program = program
        self.folder = pathlib.Path(folder)
        for name in ("cases", "topologies"):
            shutil.copytree(HERE / name, self.folder / name, ignore=shutil.ignore_patterns("*.expected"))
        self.environment = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        self.environment.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=str(self.folder), LC_ALL="C", **environment)

    def run(self, subcommand, name, *options):
        """Runs one case; returns what was printed, as JSON, and a hash of the result file."""
        result = self.folder / f"{name}.h5"
        result.unlink(missing_ok=True)
        done = subprocess.run(
            [self.program, subcommand, "--json", "--quiet", "--output", result, *options, f"cases/{name}.yaml"],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )
        if done.returncode != 0 or not result.exists():
            raise ProgramFailed(f"{subcommand} ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')}")
        return json.loads(done.stdout), hashlib.sha256(result.read_bytes()).hexdigest()


THREADS_OF_A_RUN = (1, 2, 3, 8)


def number(value):
    """Whole numbers as they are, others to nine digits."""
    return str(value) if isinstance(value, int) or value is None else f"{value:.9g}"


def figures(report):
    """All figures of a report as lines."""
    lines = []
    for run in report["runs"]:
        lines.append(
            f"{run['policy']}, seed {run['seed']}: {run['outcome']}, traffic {run['traffic_digest']}, "
            f"hot rank {run['hot_rank']}, worst queue {run['worst_queue']}"
        )
        lines += [f"  {explanation}" for explanation in run["explanations"]]
    for metric in report["metrics"]:
        lines += [
            f"{metric['metric']} [{metric['unit']}] {policy['policy']}: {' '.join(map(number, policy['seeds']))}"
            for policy in metric["policies"]
        ]
    return lines


def columns(report, policy, seed):
    """Figures of one policy and seed by metric."""
    place = [run["seed"] for run in report["runs"] if run["policy"] == policy].index(seed)
    return {
        metric["metric"]: column["seeds"][place]
        for metric in report["metrics"] for column in metric["policies"] if column["policy"] == policy
    }


def check_figures(name, report):
    path = HERE / "cases" / f"{name}.expected"
    expected = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return list(difflib.unified_diff(expected, figures(report), "expected", "actual", lineterm="", n=0))


def check_bytes(name, hashes):
    return [] if len(set(hashes)) == 1 else [f"result files of {name} differ: {' '.join(hashes)}"]


def check_run(name, place, report):
    """The last run of the comparison on its own, split over several threads: the same figures, and the same bytes for any number."""
    last = report["runs"][-1]
    digests = set()
    for threads in THREADS_OF_A_RUN:
        alone, digest = place.run(
            "run", name, "--policy", last["policy"], "--seed", str(last["seed"]), "--threads", str(threads)
        )
        digests.add(digest)
    if len(digests) != 1:
        return [f"a run on {', '.join(map(str, THREADS_OF_A_RUN))} threads gives {len(digests)} different files"]
    expected, actual = (columns(r, last["policy"], last["seed"]) for r in (report, alone))
    return [f"{metric}: run {actual.get(metric)}, compare {expected.get(metric)}"
            for metric in sorted(expected.keys() | actual.keys()) if expected.get(metric) != actual.get(metric)]


def check_traffic(name, report):
    """Digests by seed: one for all policies, all different."""
    digests = {}
    for run in report["runs"]:
        digests.setdefault(run["seed"], set()).add(run["traffic_digest"])
    wrong = [f"seed {seed}: {len(found)} different traffics" for seed, found in digests.items() if len(found) != 1]
    if name not in DRAWS_NOTHING and len(set.union(*digests.values())) < max(2, len(digests)):
        wrong.append("seeds do not change the traffic, or there is one seed only")
    return wrong


def wait_for_another_second(since):
    while int(time.time()) == int(since):
        time.sleep(0.05)


class Tap:
    """Counts and prints."""

    def __init__(self, n_tests):
        self.number = self.failed = 0
        print(f"1..{n_tests}", flush=True)

    def result(self, title, wrong):
        self.number += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.number} - {title}", flush=True)
        for line in wrong:
            print(f"# {line}", flush=True)


def check_all(names, places):
    """Runs every case everywhere, then judges."""
    tap = Tap(4 * len(names))
    reports, hashes, failures = {}, {name: [] for name in names}, {}
    started = time.time()
    for threads, place in enumerate(places, 1):
        for name in names:
            try:
                report, digest = place.run("compare", name, "--threads", str(threads))
                reports.setdefault(name, report)
                hashes[name].append(digest)
            except ProgramFailed as failure:
                failures[name] = str(failure).splitlines()
        wait_for_another_second(started)
    for name in names:
        report, failure = reports.get(name), failures.get(name)
        tap.result(f"{name}: figures are as expected", failure or check_figures(name, report))
        tap.result(f"{name}: the same bytes for any threads, anywhere, any time", failure or check_bytes(name, hashes[name]))
        tap.result(f"{name}: a run gives what the comparison gives", failure or check_run(name, places[0], report))
        tap.result(f"{name}: one traffic for all policies, another for each seed", failure or check_traffic(name, report))
    return tap.failed


def update_all(names, place):
    for name in names:
        report, _ = place.run("compare", name, "--threads", "1")
        (HERE / "cases" / f"{name}.expected").write_text("\n".join(figures(report)) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="golden configurations")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = sorted(path.stem for path in (HERE / "cases").glob("*.yaml"))
    if options.names:
        names = [name for name in names if name in options.names]
    if not names:
        sys.exit("run.py: no such case")
    with tempfile.TemporaryDirectory(prefix="moefabric-golden-") as scratch:
        program = options.program.resolve()
        places = [
            Place(program, f"{scratch}/first", TZ="UTC"),
            Place(program, f"{scratch}/a longer way down/second", TZ="Asia/Seoul", MALLOC_PERTURB_="165"),
            Place(program, f"{scratch}/third", TZ="America/New_York", NO_COLOR="1"),
        ]
        if options.update:
            update_all(names, places[0])
        sys.exit(1 if check_all(names, places) else 0)


if __name__ == "__main__":
    main()
