# SPDX-License-Identifier: GPL-3.0-or-later
# a measured gate: loads, destinations, layers of the file and bytes between racks; pairs of GPUs sum up to the racks
set -e
cp "$SOURCE/tests/workload/data/expert_frequency.csv" .
cat > gate.yaml << END
name: measured
topology: gb200-nvl72-spectrumx.yaml
cluster: {racks: 2, gpus_used: 4}
model: {hidden: 2880, experts: 8, top_k: 2}
traffic: {gate: measured, tokens_per_gpu: 1000}
gate: {file: expert_frequency.csv, layer: 1, domain: each, capacity_factor: 1.25}
policies: [ecmp+none]
END
moefabric gate gate.yaml
moefabric gate gate.yaml --csv > pairs.csv
moefabric gate gate.yaml --json --detail > gate.json
head -n 3 pairs.csv
python3 - << 'END'
import csv
import json

gate = json.load(open("gate.json"))
racks = [[0, 0], [0, 0]]
for pair in csv.DictReader(open("pairs.csv")):
    racks[int(pair["from"]) // 4][int(pair["to"]) // 4] += int(pair["bytes"])
    assert (pair["route"] == "nvlink") == (int(pair["from"]) // 4 == int(pair["to"]) // 4)
assert racks == gate["rack_bytes"], (racks, gate["rack_bytes"])
assert sum(pair["bytes"] for pair in gate["gpu_bytes"]) == sum(map(sum, racks))
print(gate["picks"], gate["dropped_picks"], [layer["layer"] for layer in gate["layers"]])
END
