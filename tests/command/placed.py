#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `place` finds beats EPLB by a fifth of the time, packet by packet, on tokens that neither has seen.

For layers of measured gates: `place` learns from earlier micro-batches and writes a placement; ten runs with other tokens are simulated under it and under
EPLB with as many replicas. The saving of dispatch and combine is paired seed by seed, and the lower end of its 95 % interval (Student's t) must be 20 % or more.

    placed.py PROGRAM SOURCE [FOLDER]      FOLDER: of gpt_oss_20b_expert_frequency.csv, whose layers 12 and 23 are then tried as well
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

LEAST_PERCENT = 20
STUDENT_9 = 2.262  # 97.5 % quantile, 9 degrees of freedom
SEEDS = 10

CONFIGURATION = """
name: placed
topology: {source}/topologies/gb200-nvl72-spectrumx.yaml
cluster: {{racks: 4, gpus_used: 8}}
model: {{preset: gpt-oss-20b}}
traffic: {{tokens_per_gpu: 256, gate: measured}}
gate: {{file: {gate}, layer: {layer}, domain: all}}
placement: {{kind: eplb, redundant_experts: 32}}
policies: [adaptive+none]
seeds: {seeds}
"""


def call(*arguments):
    """Standard output of a call that must end well."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def times(program, configuration, folder, *settings):
    """Simulated time of each seed."""
    extra = [word for setting in settings for word in ("--set", setting)]
    text = call(program, "compare", configuration, "--quiet", "--json", "--output", folder / "result.h5", *extra)
    metric = next(row for row in json.loads(text)["metrics"] if row["metric"] == "simulated_time")
    return metric["policies"][0]["seeds"]


def saving(program, source, gate, layer, folder):
    """Per cent of EPLB's time that is saved: mean, and half the width of its interval."""
    configuration = folder / "placed.yaml"
    configuration.write_text(CONFIGURATION.format(source=source, gate=gate, layer=layer, seeds=SEEDS), encoding="utf-8")
    placement = folder / "placed.placement.yaml"
    call(program, "place", configuration, "--quiet", "--layers", str(layer), "--output", placement)
    before = times(program, configuration, folder)
    after = times(program, configuration, folder, "placement.kind=file", "placement.redundant_experts=0",
                  f"placement.file={placement}", f"placement.layer={layer}")
    saved = [100 * (1 - new / old) for old, new in zip(before, after, strict=True)]
    return statistics.mean(saved), STUDENT_9 * statistics.stdev(saved) / math.sqrt(len(saved))


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    gates = [(source / "configs" / "measured-gate.csv", layer) for layer in (0, 2)]
    if len(sys.argv) > 3:
        measured = pathlib.Path(sys.argv[3]) / "gpt_oss_20b_expert_frequency.csv"
        gates += [(measured, layer) for layer in (12, 23)]
    failed = False
    print(f"1..{len(gates)}")
    for number, (gate, layer) in enumerate(gates, 1):
        with tempfile.TemporaryDirectory() as folder:
            mean, half = saving(program, source, gate, layer, pathlib.Path(folder))
        good = mean - half >= LEAST_PERCENT
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {gate.name}, layer {layer}: saves {mean:.1f} % "
              f"[{mean - half:.1f}, {mean + half:.1f}]", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
