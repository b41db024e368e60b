#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the same work in moefabric and in its peers, one after the other, and prints a Markdown table of ratios.

    compare.py BENCH DRIVERS [CASE…]    bench_network of a release build, and the folder of the drivers; see tools/peers/run
"""

import argparse
import dataclasses
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIGS = ROOT / "tests" / "benchmark" / "cases"

# What peers do not have: cut-through, a pool that ends. Their queues have no end, and nothing controls senders.
AS_PEERS = (
    "topology.leaf.cut_through=false", "topology.spine.cut_through=false",
    "topology.leaf.lossless_pool=3 GiB", "topology.spine.lossless_pool=3 GiB",
)
# What SimGrid's flow model has: fixed ways by destination, and no ACKs but one at the end.
AS_FLOWS = ("policies=[d_mod_k+dcqcn]", "transport.acknowledge=1 GiB")
SMALL_POOL = ("topology.leaf.lossless_pool=2 MiB", "topology.spine.lossless_pool=2 MiB")
ONE_FLOW = ("traffic.pattern=single", "traffic.source=0", "traffic.destination=127", "traffic.bytes=1 MiB")

TITLES = {
    "ns3_bare": "ns-3, bare devices",
    "ns3_udp": "ns-3, UDP and IPv4",
    "simgrid_flows": "SimGrid, flow model",
}


@dataclasses.dataclass
class Case:
    name: str
    config: str
    peers: tuple
    overrides: tuple = ()
    full: tuple = ()  # further overrides of the run with everything on
    runs: int = 5


CASES = (
    Case("one-flow", "permutation-128", ("ns3_bare", "ns3_udp", "simgrid_flows"), ONE_FLOW),
    Case("permutation-128", "permutation-128", ("ns3_bare", "simgrid_flows")),
    Case("permutation-128-1MiB", "permutation-128", ("ns3_bare", "ns3_udp"), ("traffic.bytes=1 MiB",), runs=3),
    Case("permutation-1024", "permutation-1024", ("ns3_bare",), runs=3),
    Case("all-to-all", "all-to-all", ("ns3_bare", "simgrid_flows")),
    Case("incast", "incast", ("ns3_bare", "simgrid_flows"), (), SMALL_POOL),
    Case("incast-1MiB", "incast", ("ns3_udp",), ("traffic.bytes=1 MiB",), SMALL_POOL, runs=3),
)


def bench_command(bench, case, overrides, *options):
    command = [bench, *options]
    for override in (*case.overrides, *overrides):
        command += ["--set", override]
    return command + [str(CONFIGS / f"{case.config}.yaml")]


def run(command):
    """Runs one simulation in a process of its own. Returns its `key value` pairs."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if done.returncode != 0 or words[:1] != ["hops"]:
        sys.exit(f"compare.py: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return {key: float(value) for key, value in zip(words[::2], words[1::2])}


def commands_of(case, bench, drivers, work):
    """Who runs, and how: moefabric as its peers are and with everything on, then the peers."""
    yield "moefabric, as peers", bench_command(bench, case, AS_PEERS, "--once", "--policy", "adaptive+none")
    yield "moefabric, all", bench_command(bench, case, case.full, "--once", "--policy", "adaptive+dcqcn")
    if "simgrid_flows" in case.peers:
        yield "moefabric, fluid", bench_command(bench, case, AS_FLOWS, "--fluid")
    for peer in case.peers:
        yield TITLES[peer], [str(drivers / peer), str(work)]


def measure(case, bench, drivers):
    """Medians of all simulators, which take turns, so that a busy machine is busy for each of them."""
    with tempfile.NamedTemporaryFile("w", prefix="moefabric-work-") as work:
        subprocess.run(bench_command(bench, case, (), "--work"), stdout=work, check=True)
        commands = dict(commands_of(case, bench, drivers, work.name))
        results = {who: [] for who in commands}
        for _ in range(case.runs):
            for who, command in commands.items():
                results[who].append(run(command))
    return {who: {key: statistics.median(one[key] for one in runs) for key in runs[0]} for who, runs in results.items()}


def rows(case, results):
    full = results["moefabric, all"]
    for who, result in results.items():
        packets = result["hops"] > 0
        rate = result["hops"] / result["cpu_s"] * 1e-6 if packets else None
        ratio = full["hops"] / full["cpu_s"] * 1e-6 / rate if packets else None
        yield (
            case.name, who, f"{result['end_us']:.3f}", f"{result['hops'] * 1e-6:.2f}" if packets else "",
            f"{result['cpu_s']:.3f}", f"{rate:.2f}" if packets else "", f"{result['peak_mb']:.0f}",
            "" if who.startswith("moefabric") or not packets else f"{ratio:.0f}",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("drivers", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(case.name for case in CASES))
    given = parser.parse_args()
    unknown = set(given.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"no case is called {', '.join(sorted(unknown))}")
    print("| case | simulator | simulated us | M hops | CPU s | M hops/CPU-s | peak MB | moefabric, all, is × faster a hop |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for case in CASES:
        if given.cases and case.name not in given.cases:
            continue
        print(f"compare.py: {case.name}", file=sys.stderr)
        for row in rows(case, measure(case, given.bench, given.drivers)):
            print("| " + " | ".join(row) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
