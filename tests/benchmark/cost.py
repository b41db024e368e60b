#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each path policy and each controller costs: instructions a packet-hop, against ecmp+none, as a Markdown table.

    cost.py BENCH [CASE …]

BENCH is the program bench_network of a release build; a case is CONFIGURATION|OVERRIDE|…, from the top folder (default: those of
tests/benchmark/README.md). Counted by callgrind as instructions.py does, so that what else the machine does has no part in it.
"""

import argparse
import concurrent.futures
import os

import instructions

PATHS = ("ecmp", "adaptive", "spray_random", "spray_round_robin", "two_choices", "drill", "flowlet", "host_reps", "d_mod_k")
CONTROLLERS = ("dcqcn", "spectrum_x", "timely", "swift", "nscc", "hpcc", "receiver_credit")
CASES = (
    "tests/benchmark/cases/permutation-128.yaml|traffic.bytes=512 KiB",
    "tests/benchmark/cases/all-to-all.yaml|traffic.bytes=64 KiB",
    "tests/benchmark/cases/all-to-all.yaml|traffic.bytes=4 KiB",
)


def measure(bench, case, policy):
    """(hops, instructions) of one policy in one case."""
    configuration, *overrides = case.split("|")
    return instructions.count(bench, [configuration, policy, f"policies=[{policy}]", *overrides])


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="program bench_network")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=CASES, help="CONFIGURATION|OVERRIDE|…")
    given = parser.parse_args()
    policies = [f"{path}+none" for path in PATHS] + [f"ecmp+{controller}" for controller in CONTROLLERS]
    work = [(case, policy) for case in given.cases for policy in policies]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip(work, pool.map(lambda item: measure(given.bench, *item), work)))
    print("| policy | " + " | ".join(case.split("/")[-1].replace("|", ", ") for case in given.cases) + " |")
    print("|---|" + "---:|" * len(given.cases))
    for policy in policies:
        cells = []
        for case in given.cases:
            hops, number = counted[case, policy]
            least_hops, least = counted[case, policies[0]]
            more = f", {hops / least_hops:.2f} × the hops" if abs(hops / least_hops - 1) > 0.05 else ""
            cells.append(f"{number / hops:.0f} ({100 * (number / hops / (least / least_hops) - 1):+.0f} %{more})")
        print(f"| `{policy}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
