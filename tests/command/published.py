#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every reference value of configs/validation is met, but for the misses that known_misses.txt lists with their reasons.

A row that is missed and is not listed fails, and so does one that is listed and is met: the list says what is known, no more.

    published.py PROGRAM FOLDER
"""

import json
import pathlib
import re
import subprocess
import sys

KNOWN = pathlib.Path(__file__).resolve().parent / "known_misses.txt"


def known_misses():
    """Ids of the list, each the first word of its line."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


# What the default of size.model_error is the largest error of.
LARGE_MODELS = ("V13.4096", "V13.8192", "V13.405b.gb200", "V13.405b.gb300")


def says_model_error(program, rows):
    """Whether size.model_error is, to a tenth of a per cent, the largest error of a large model's time to train."""
    largest = max(abs(row["error"]) for row in rows if row["id"] in LARGE_MODELS)
    told = subprocess.run([program, "explain", "size.model_error"], capture_output=True, text=True, check=True).stdout
    said = float(re.search(r"default:? ([0-9.]+)", told).group(1))
    said = said / 100 if said > 1 else said
    if abs(said - largest) > 0.0005:
        print(f"size.model_error is {said}, and the largest error of a large model {largest:.4f}")
    return abs(said - largest) <= 0.0005


def main():
    program, folder = sys.argv[1:3]
    done = subprocess.run([program, "validate", "--quiet", "--json", folder], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"validate ended with {done.returncode}: {done.stderr}")
    rows = json.loads(done.stdout)["rows"]
    missed = {row["id"] for row in rows if row["verdict"] == "missed"}
    known = known_misses()
    for name in sorted(missed - known):
        print(f"{name} is missed")
    for name in sorted(known - missed):
        print(f"{name} is listed as a known miss, and is not missed")
    print(f"{len(rows)} rows, {len(missed)} missed, {len(known)} of them known")
    good = says_model_error(program, rows)
    return 1 if missed != known or not good else 0


if __name__ == "__main__":
    sys.exit(main())
