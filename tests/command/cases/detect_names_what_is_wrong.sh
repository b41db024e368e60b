# SPDX-License-Identifier: GPL-3.0-or-later
# A detector and a probe name what is wrong in a cluster, and little else: both are scored on a dozen clusters with faults drawn at random.
cp "$SOURCE/configs/detect-straggler.yaml" "$SOURCE/topologies/gb200-nvl72-spectrumx.yaml" .
moefabric detect detect-straggler.yaml -q
moefabric preflight detect-straggler.yaml -q
sed 's/, crossed_gpus: "9, 10"//' detect-straggler.yaml > healthy.yaml
moefabric detect healthy.yaml -q --set failures=[] --set training.stragglers.slow_gpu_clock=1 --set traffic.gate=balanced
moefabric detect healthy.yaml --set network_model=fluid --set failures=[] --set training.stragglers.slow_gpu_clock=1 2>&1 | grep "^note"
for command in detect preflight; do
    moefabric $command detect-straggler.yaml -q --json --cases 8 --set traffic.tokens_per_gpu=128 > score.json
    python3 - <<'END'
import json
score = json.load(open("score.json"))
good = score["precision"] >= 0.85 and score["recall"] >= 0.85 and score["healthy_named"] <= 1
print(score["cases"], "cases", "well found" if good else score)
END
done
moefabric detect detect-straggler.yaml -q --set traffic.pattern=permutation
echo "exit $?"
moefabric preflight detect-straggler.yaml -q --cases 0
echo "exit $?"
