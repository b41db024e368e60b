#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the scenarios of configs/ and holds what comes out against configs/expected.csv.

A row of that table is one figure of one scenario:
    scenario    configs/SCENARIO.yaml
    set         what is set over it, as --set takes it, with semicolons between; empty = nothing
    policy      column of the comparison; * = each of them
    metric      as in `compare --json`; PHASE:METRIC for those of a phase, for example dispatch:time; traffic_digest (its ratio to another is 1
                if they are equal); exit: the program's exit code; says:TEXT: how often it says that. Runs that have such rows may end with
                another code than 0, and times of what did not finish are no figures
    over        empty, or what it is divided by: POLICY, PHASE:METRIC or METRIC, or {SET} for another run, or several of them with
                spaces between; what is not said is as in the row. {} is the scenario with nothing set
    seeds       mean: the mean over the seeds is held against the bounds; each: the value of every seed
    low, high   bounds, both allowed; an empty one is none
    unit        of the bounds: us, ms, KB, MB, GB/s, %, or empty (a ratio, or a count)
    basis       law (exact or a bound), derived (from a law and what the set-up adds), published, or spread (of many seeds)
    why         where the bounds come from

    run.py PROGRAM [SCENARIO…]     speaks TAP; each line says what came out and the bounds
    run.py --table PROGRAM [SCENARIO…]   prints what comes out, and judges nothing
"""

import argparse
import csv
import json
import math
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "configs"
TABLE = CONFIGS / "expected.csv"
FIELDS = ["scenario", "set", "policy", "metric", "over", "seeds", "low", "high", "unit", "basis", "why"]
UNITS = {"": 1, "us": 1e6, "ms": 1e9, "KB": 1e3, "MB": 1e6, "GB/s": 1e9, "%": 0.01}
BASES = {"law", "derived", "published", "spread"}
SECONDS = 1200


class Wrong(Exception):
    """A row of the table, or a run, is not as it should be."""


class Runs:
    """What each scenario gives with each setting; every one is simulated once."""

    def __init__(self, program, rows):
        self.program = program
        self.known = {}
        self.may_fail = {(row["scenario"], row["set"]) for row in rows if row["metric"] == "exit"}

    def simulate(self, scenario, settings):
        """One comparison as JSON, with the processor time that it took, the exit code and all that was said besides."""
        overrides = [word for setting in settings.split(";") if setting.strip() for word in ("--set", setting.strip())]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [self.program, "compare", CONFIGS / f"{scenario}.yaml", "--json", "--quiet", "--output",
                 pathlib.Path(folder) / "result.h5", *overrides],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode != 0 and (scenario, settings) not in self.may_fail:
            raise Wrong(f"{scenario} {settings}: ended with {done.returncode}: {said}")
        report = json.loads(done.stdout)
        digests = {}
        for run in report["runs"]:
            digests.setdefault(run["seed"], set()).add(run["traffic_digest"])
        if any(len(shown) != 1 for shown in digests.values()):
            raise Wrong(f"{scenario} {settings}: policies were shown different traffic")
        report["exit"], report["said"] = done.returncode, said
        return report, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def of(self, scenario, settings):
        """The same, from memory if it is there."""
        key = scenario, settings
        if key not in self.known:
            self.known[key] = self.simulate(scenario, settings)
            print(f"# {scenario} {settings}: {self.known[key][1]:.1f} s of processor time", flush=True)
        return self.known[key][0]

    def values(self, scenario, settings, policy, metric):
        """A figure, one value a seed."""
        if metric == "traffic_digest":
            return [int(run["traffic_digest"], 16) % 1000003 + 1 for run in self.of(scenario, settings)["runs"] if run["policy"] == policy]
        if metric == "exit":
            return [self.of(scenario, settings)["exit"]]
        if metric.startswith("says:"):
            return [self.of(scenario, settings)["said"].count(metric.removeprefix("says:"))]
        phase, _, name = metric.rpartition(":")
        for row in self.of(scenario, settings)["metrics"]:
            if row["metric"] == name and row.get("phase", "") == phase:
                for value in row["policies"]:
                    if value["policy"] == policy and None not in value["seeds"]:
                        return value["seeds"]
        raise Wrong(f"{scenario} {settings}: no figure {metric} of {policy}")

    def policies(self, scenario, settings):
        """Columns of a comparison, in order."""
        return list(dict.fromkeys(run["policy"] for run in self.of(scenario, settings)["runs"]))


def divisor(runs, row, policy):
    """The values that a row's are divided by."""
    settings, metric = row["set"], row["metric"]
    rest = row["over"]
    if "{" in rest:
        settings = rest[rest.index("{") + 1 : rest.index("}")]
        rest = rest[: rest.index("{")] + rest[rest.index("}") + 1 :]
    for word in rest.split():
        if word in runs.policies(row["scenario"], settings):
            policy = word
        else:
            metric = word
    return runs.values(row["scenario"], settings, policy, metric)


def measure(runs, row, policy):
    """The values of a row, in its unit: one a seed, or their mean alone."""
    values = runs.values(row["scenario"], row["set"], policy, row["metric"])
    if row["over"]:
        under = divisor(runs, row, policy)
        if row["seeds"] == "mean":
            return [sum(values) / len(values) / (sum(under) / len(under))]
        return [value / other for value, other in zip(values, under)]
    scaled = [value / UNITS[row["unit"]] for value in values]
    return scaled if row["seeds"] == "each" else [sum(scaled) / len(scaled)]


def read_rows(scenarios):
    """All rows of the table, checked; those of some scenarios if any are named."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != FIELDS:
            raise Wrong(f"{TABLE.name}: the first line must be {','.join(FIELDS)}")
        rows = list(reader)
    for number, row in enumerate(rows, 2):
        place = f"{TABLE.name}:{number}"
        if None in row.values() or None in row or row["unit"] not in UNITS or row["basis"] not in BASES:
            raise Wrong(f"{place}: unknown unit or basis, or too many or too few columns")
        if row["seeds"] not in ("mean", "each") or not row["why"] or not (row["low"] or row["high"]):
            raise Wrong(f"{place}: `seeds` is mean or each; a reason and a bound are needed")
        if not (CONFIGS / f"{row['scenario']}.yaml").exists():
            raise Wrong(f"{place}: there is no {row['scenario']}.yaml")
    return [row for row in rows if not scenarios or row["scenario"] in scenarios]


def judge(row, values):
    """Whether all values are within the bounds, and a line that says so."""
    low = float(row["low"]) if row["low"] else -math.inf
    high = float(row["high"]) if row["high"] else math.inf
    shown = f"{min(values):.4g}" if min(values) == max(values) else f"{min(values):.4g} … {max(values):.4g}"
    bounds = f"{row['low'] or '-'} … {row['high'] or '-'}"
    return all(low <= value <= high for value in values), f"{shown} {row['unit'] or '×' if row['over'] else row['unit']} in {bounds}"


def name_of(row, policy):
    """What a row is about, for people."""
    parts = [row["scenario"], row["set"] and f"({row['set']})", policy, row["metric"], row["over"] and f"÷ {row['over']}"]
    return " ".join(part for part in parts if part)


def judge_all(runs, rows):
    """Prints a line a row and policy; returns how many are out of bounds, and how many there are."""
    count = missed = 0
    for row in rows:
        policies = runs.policies(row["scenario"], row["set"]) if row["policy"] == "*" else [row["policy"]]
        for policy in policies:
            count += 1
            try:
                good, line = judge(row, measure(runs, row, policy))
            except (Wrong, subprocess.TimeoutExpired) as wrong:
                good, line = False, str(wrong)
            missed += not good
            print(f"{'ok' if good else 'not ok'} {count} - {name_of(row, policy)}: {line}", flush=True)
            if not good:
                print(f"# {row['basis']}: {row['why']}", flush=True)
    return missed, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--table", action="store_true", help="print what comes out, and judge nothing")
    given = parser.parse_args()
    try:
        rows = read_rows(set(given.scenarios))
        runs = Runs(given.program.resolve(), rows)
        if given.table:
            for row in rows:
                for policy in runs.policies(row["scenario"], row["set"]) if row["policy"] == "*" else [row["policy"]]:
                    print(f"{name_of(row, policy)}: {judge(row, measure(runs, row, policy))[1]}", flush=True)
            return 0
        missed, count = judge_all(runs, rows)
    except Wrong as wrong:
        print(f"Bail out! {wrong}")
        return 1
    print(f"1..{count}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
